//! The cost of a term and how costs join: in sequence, side by side, repeated, by chance.
//!
//! For the walk. Sound for every schedule; theory has the proof. Of what is drawn, times are means; heads and tails, of which the least counts,
//! are what is certain, and of exponential times the mean of the least. The code that `emit` writes for models without closed form computes the
//! same. Cost of each operation: the number of queues that the added term uses.

use std::collections::BTreeMap;

use super::scalar::Scalar;

/// What a term asks of one queue: work, earliest begin of a use from the start of the term, and latest end of one, as a place before the
/// certain end: the tail is the certain time of the term minus this.
#[derive(Clone, Copy)]
pub(super) struct Demand<S> {
    pub(super) work: S,
    pub(super) head: S,
    /// The mean of an exponential time that passes before the first use as well, and after the last.
    pub(super) head_drawn: S,
    pub(super) tail_drawn: S,
    pub(super) reach: S,
    pub(super) servers: S,
}

/// The cost of a term: the two lower bounds, what is certain of its time and the mean of an exponential time besides, its demands by
/// queue, all work over servers, and the longest chain of uninterrupted waits.
#[derive(Clone)]
pub(super) struct Cost<S> {
    pub(super) basic: S,
    pub(super) head_tail: S,
    pub(super) sure: S,
    pub(super) drawn: S,
    pub(super) random: bool,
    pub(super) work: S,
    pub(super) path: S,
    pub(super) demands: BTreeMap<i64, Demand<S>>,
}

/// The mean of the less of two exponential times.
fn less<S: Scalar>(a: S, b: S) -> S {
    let zero = S::int(0);
    if a > zero && b > zero { a.mul(b).div(a.add(b)) } else { zero }
}

impl<S: Scalar> Cost<S> {
    pub(super) fn zero() -> Self {
        let zero = S::int(0);
        Cost {
            basic: zero,
            head_tail: zero,
            sure: zero,
            drawn: zero,
            random: false,
            work: zero,
            path: zero,
            demands: BTreeMap::new(),
        }
    }

    pub(super) fn then(&mut self, next: Cost<S>) {
        if next.drawn > S::int(0) {
            self.demands.values_mut().for_each(|own| own.tail_drawn = own.tail_drawn.max(next.drawn));
        }
        for (queue, mut demand) in next.demands {
            demand.head = demand.head.add(self.sure);
            demand.head_drawn = demand.head_drawn.max(self.drawn);
            demand.reach = demand.reach.add(self.sure);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(demand.work);
                    own.reach = own.reach.max(demand.reach);
                    own.tail_drawn = demand.tail_drawn;
                })
                .or_insert(demand);
        }
        self.basic = self.basic.add(next.basic);
        self.head_tail = self.head_tail.add(next.head_tail);
        self.sure = self.sure.add(next.sure);
        self.drawn = self.drawn.max(next.drawn);
        self.random |= next.random;
        self.work = self.work.add(next.work);
        self.path = self.path.add(next.path);
    }

    /// Beside another, so many times; `reach` holds the tail until `joined`.
    pub(super) fn beside(&mut self, next: Cost<S>, times: S) {
        self.demand_beside(next.demands, next.sure, times, times);
        self.basic = self.basic.max(next.basic);
        self.head_tail = self.head_tail.max(next.head_tail);
        if next.sure.add(next.drawn) > self.sure.add(self.drawn) {
            (self.sure, self.drawn) = (next.sure, next.drawn);
        }
        self.random |= next.random;
        self.work = self.work.add(next.work.mul(times));
        self.path = self.path.max(next.path);
    }

    /// What a term beside this one asks of queues, so many times or so likely: its work adds up, and of heads and tails the least counts.
    /// `sure` is the other term's; `reach` holds tails from here on.
    fn demand_beside(&mut self, demands: BTreeMap<i64, Demand<S>>, sure: S, weight: S, copies: S) {
        for (queue, demand) in demands {
            let demand = Demand {
                work: demand.work.mul(weight),
                reach: sure.sub(demand.reach),
                head_drawn: demand.head_drawn.div(copies),
                tail_drawn: demand.tail_drawn.div(copies),
                ..demand
            };
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(demand.work);
                    own.head = own.head.min(demand.head);
                    own.head_drawn = less(own.head_drawn, demand.head_drawn);
                    own.reach = own.reach.min(demand.reach);
                    own.tail_drawn = less(own.tail_drawn, demand.tail_drawn);
                })
                .or_insert(demand);
        }
    }

    /// All branches are in: the work of resources bounds the time.
    pub(super) fn joined(mut self) -> Self {
        for demand in self.demands.values() {
            let own = demand.work.div(demand.servers);
            self.basic = self.basic.max(own);
            let ends = demand.head.add(demand.head_drawn).add(demand.reach).add(demand.tail_drawn);
            self.head_tail = self.head_tail.max(ends.add(own));
        }
        if !self.random {
            self.sure = self.head_tail;
        }
        for demand in self.demands.values_mut() {
            demand.reach = self.sure.sub(demand.reach);
        }
        self
    }

    /// So many times in a row.
    pub(super) fn times(mut self, times: S) -> Self {
        let extra = self.sure.mul(times).sub(self.sure);
        for demand in self.demands.values_mut() {
            demand.work = demand.work.mul(times);
            demand.reach = demand.reach.add(extra);
        }
        self.basic = self.basic.mul(times);
        self.head_tail = self.head_tail.mul(times);
        self.sure = self.sure.mul(times);
        self.work = self.work.mul(times);
        self.path = self.path.mul(times);
        self
    }

    /// A case of a choice, `settle` follows; what is certain is what is of every case.
    pub(super) fn mixed(&mut self, next: Cost<S>, chance: S, first: bool) {
        self.demand_beside(next.demands, next.sure, chance, S::int(1));
        self.basic = self.basic.add(next.basic.mul(chance));
        self.head_tail = self.head_tail.add(next.head_tail.mul(chance));
        self.sure = if first { next.sure } else { self.sure.min(next.sure) };
        self.work = self.work.add(next.work.mul(chance));
        self.path = self.path.add(next.path.mul(chance));
    }

    /// Where chance decides, a resource may not be used at all: then of its time only `sure` is certain, and no head and no tail.
    pub(super) fn settle(&mut self, sure: S) {
        let zero = S::int(0);
        (self.random, self.sure, self.drawn) = (true, sure, zero);
        for demand in self.demands.values_mut() {
            *demand = Demand { head: zero, head_drawn: zero, reach: sure, tail_drawn: zero, ..*demand };
        }
    }
}
