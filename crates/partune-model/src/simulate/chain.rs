//! For every process that lives, the chain of uses and delays that made it as late as it is.
//!
//! A chain is a list from its end backwards; chains share what they have in common, and what no process leads to is freed. When many links
//! are kept, each stretch that belongs to a single chain is summed by key: its order is lost, its sums are not. So memory follows the number
//! of chains that live and of keys on them, not the number of uses.

use std::collections::BTreeMap;

use super::time::{Clock, Stop};
use crate::diagnostic::{Diagnostic, Span};

/// The chain of who began with the run.
pub(super) const EMPTY: u32 = u32::MAX;
/// Links before stretches are summed for the first time.
const FOLD: usize = 1 << 16;

/// Whose time a link is, at which resource, and whether the server came from another process that had it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) row: u32,
    pub(super) resource: u32,
    pub(super) handed: bool,
}

/// Time, and so many uses or delays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount<S> {
    pub(super) time: S,
    pub(super) count: u64,
}

struct Link<S> {
    before: u32,
    /// Processes and links that lead here; none if the link is free.
    refs: u32,
    key: Key,
    amount: Amount<S>,
}

/// All chains of a run.
pub(super) struct Chains<'a, C: Clock> {
    clock: &'a C,
    links: Vec<Link<C::Sum>>,
    free: Vec<u32>,
    fold_at: usize,
    limit: usize,
    pub(super) most: usize,
}

type Sums<S> = BTreeMap<Key, Amount<S>>;

impl<'a, C: Clock> Chains<'a, C> {
    /// More links than the limit, after all that can be summed is, are an error.
    pub(super) fn new(clock: &'a C, limit: usize) -> Self {
        Chains { clock, links: Vec::new(), free: Vec::new(), fold_at: FOLD.min(limit), limit, most: 0 }
    }

    fn live(&self) -> usize {
        self.links.len() - self.free.len()
    }

    /// The same chain for one more process.
    pub(super) fn share(&mut self, chain: u32) -> u32 {
        if chain != EMPTY {
            self.links[chain as usize].refs += 1;
        }
        chain
    }

    /// A process does not need this chain any more.
    pub(super) fn drop(&mut self, mut chain: u32) {
        while chain != EMPTY {
            let link = &mut self.links[chain as usize];
            link.refs -= 1;
            if link.refs > 0 {
                return;
            }
            self.free.push(chain);
            chain = link.before;
        }
    }

    /// A chain, which the caller gives up, with more time at its end.
    pub(super) fn append(&mut self, chain: u32, key: Key, time: C::Sum) -> Result<u32, Stop> {
        if chain != EMPTY {
            let last = &mut self.links[chain as usize];
            if last.refs == 1 && last.key == key {
                let sum = self.clock.plus(last.amount.time, time);
                last.amount = Amount { time: sum, count: last.amount.count + 1 };
                return Ok(chain);
            }
        }
        if self.live() >= self.fold_at {
            self.fold();
            if self.live() >= self.limit {
                let text = format!("the chains of all processes have more than {} links", self.limit);
                let diagnostic = Diagnostic::error(Span::default(), text).help("break down a smaller case");
                return Err(Stop::Error(diagnostic));
            }
            self.fold_at = FOLD.max(2 * self.live()).min(self.limit);
        }
        let link = Link { before: chain, refs: 1, key, amount: Amount { time, count: 1 } };
        let at = if let Some(at) = self.free.pop() {
            self.links[at as usize] = link;
            at
        } else {
            self.links.push(link);
            self.links.len() as u32 - 1
        };
        self.most = self.most.max(self.live());
        Ok(at)
    }

    fn add(&self, sums: &mut Sums<C::Sum>, key: Key, amount: Amount<C::Sum>) {
        let sum = sums.entry(key).or_default();
        sum.time = self.clock.plus(sum.time, amount.time);
        sum.count += amount.count;
    }

    /// The sums of a chain by key.
    pub(super) fn sums(&self, chain: u32) -> Sums<C::Sum> {
        let mut sums = Sums::new();
        let mut at = chain;
        while at != EMPTY {
            let link = &self.links[at as usize];
            self.add(&mut sums, link.key, link.amount);
            at = link.before;
        }
        sums
    }

    /// Sums each stretch of links that a single link or process leads to.
    fn fold(&mut self) {
        let mut inner = vec![false; self.links.len()];
        for link in &self.links {
            if link.refs > 0 && link.before != EMPTY && self.links[link.before as usize].refs == 1 {
                inner[link.before as usize] = true;
            }
        }
        for head in 0..self.links.len() as u32 {
            if self.links[head as usize].refs > 0 && !inner[head as usize] {
                self.fold_from(head);
            }
        }
    }

    /// Sums the stretch that ends with a link; the link stays the end of it.
    fn fold_from(&mut self, head: u32) {
        let mut sums = Sums::new();
        let mut places = vec![head];
        let Link { key, amount, mut before, .. } = self.links[head as usize];
        self.add(&mut sums, key, amount);
        while before != EMPTY && self.links[before as usize].refs == 1 {
            let Link { key, amount, before: next, .. } = self.links[before as usize];
            self.add(&mut sums, key, amount);
            places.push(before);
            before = next;
        }
        for place in places.drain(sums.len()..) {
            self.links[place as usize].refs = 0;
            self.free.push(place);
        }
        // From the begin of the stretch on, so that each finds the one before it.
        for (place, (key, amount)) in places.into_iter().rev().zip(sums) {
            let link = &mut self.links[place as usize];
            (link.key, link.amount, link.before) = (key, amount, before);
            before = place;
        }
    }
}
