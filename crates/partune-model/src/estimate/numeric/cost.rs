//! The cost of a term and how costs join: in sequence, side by side, repeated, by chance.
//!
//! For the walk. Sound for every schedule; theory has the proof. Cost of each operation: the number of queues that the added term uses.

use std::collections::BTreeMap;

use super::scalar::Scalar;

/// What a term asks of one queue: work, earliest begin of a use from the start of the term, and latest end of one, as a place before the
/// end: the tail is the time of the term minus this.
#[derive(Clone, Copy)]
pub(super) struct Demand<S> {
    pub(super) work: S,
    pub(super) head: S,
    pub(super) reach: S,
    pub(super) servers: S,
}

/// The cost of a term: the two lower bounds, its demands by queue, all work over servers, and the longest chain of uninterrupted waits.
#[derive(Clone)]
pub(super) struct Cost<S> {
    pub(super) basic: S,
    pub(super) head_tail: S,
    pub(super) work: S,
    pub(super) path: S,
    pub(super) demands: BTreeMap<i64, Demand<S>>,
}

impl<S: Scalar> Cost<S> {
    pub(super) fn zero() -> Self {
        let zero = S::int(0);
        Cost { basic: zero, head_tail: zero, work: zero, path: zero, demands: BTreeMap::new() }
    }

    pub(super) fn then(&mut self, next: Cost<S>) {
        for (queue, mut demand) in next.demands {
            demand.head = demand.head.add(self.head_tail);
            demand.reach = demand.reach.add(self.head_tail);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(demand.work);
                    own.reach = own.reach.max(demand.reach);
                })
                .or_insert(demand);
        }
        self.basic = self.basic.add(next.basic);
        self.head_tail = self.head_tail.add(next.head_tail);
        self.work = self.work.add(next.work);
        self.path = self.path.add(next.path);
    }

    /// Beside another; `reach` holds the negated tail until `joined`.
    pub(super) fn beside(&mut self, next: Cost<S>, times: S) {
        self.demand_beside(next.demands, next.head_tail, times);
        self.basic = self.basic.max(next.basic);
        self.head_tail = self.head_tail.max(next.head_tail);
        self.work = self.work.add(next.work.mul(times));
        self.path = self.path.max(next.path);
    }

    /// What a term beside this one asks of queues, so many times or so likely: its work adds up, and of heads and tails the least is certain.
    /// `time` is the other term's; `reach` holds negated tails from here on.
    fn demand_beside(&mut self, demands: BTreeMap<i64, Demand<S>>, time: S, times: S) {
        for (queue, demand) in demands {
            let tail = time.sub(demand.reach);
            let work = demand.work.mul(times);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(work);
                    own.head = own.head.min(demand.head);
                    own.reach = own.reach.min(tail);
                })
                .or_insert(Demand { work, reach: tail, ..demand });
        }
    }

    /// All branches are in: the work of resources bounds the time.
    pub(super) fn joined(mut self) -> Self {
        for demand in self.demands.values() {
            let own = demand.work.div(demand.servers);
            self.basic = self.basic.max(own);
            self.head_tail = self.head_tail.max(demand.head.add(own).add(demand.reach));
        }
        for demand in self.demands.values_mut() {
            demand.reach = self.head_tail.sub(demand.reach);
        }
        self
    }

    /// So many times in a row.
    pub(super) fn times(mut self, times: S) -> Self {
        let extra = self.head_tail.mul(times).sub(self.head_tail);
        for demand in self.demands.values_mut() {
            demand.work = demand.work.mul(times);
            demand.reach = demand.reach.add(extra);
        }
        self.basic = self.basic.mul(times);
        self.head_tail = self.head_tail.mul(times);
        self.work = self.work.mul(times);
        self.path = self.path.mul(times);
        self
    }

    /// A case of a choice; `reach` holds tails until `settle`.
    pub(super) fn mixed(&mut self, next: Cost<S>, chance: S) {
        self.demand_beside(next.demands, next.head_tail, chance);
        self.basic = self.basic.add(next.basic.mul(chance));
        self.head_tail = self.head_tail.add(next.head_tail.mul(chance));
        self.work = self.work.add(next.work.mul(chance));
        self.path = self.path.add(next.path.mul(chance));
    }

    /// Where chance decides, a resource may not be used at all: then no head and no tail is certain.
    pub(super) fn settle(&mut self) {
        for demand in self.demands.values_mut() {
            demand.head = S::int(0);
            demand.reach = self.head_tail;
        }
    }
}
