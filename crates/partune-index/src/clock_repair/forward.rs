//! Forward: effects are moved to their causes, and what follows returns slowly to the recorded times.

use std::collections::BTreeSet;

use partune_base::{Span, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::order::Order;

/// A clock that was set forward goes slower by one part in this many until it is back at its recorded time (γ = 0.99).
pub(super) const RETURN: i64 = 100;

/// A clock is set forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Jump {
    /// The recorded time from which on it holds.
    pub(super) at: Time,
    /// By how much more than without the jump.
    pub(super) gain: Span,
    /// The offset right after.
    pub(super) offset: Span,
}

impl Jump {
    /// The offset that is left at a later time.
    pub(super) fn offset_at(&self, time: Time) -> Span {
        Span((self.offset.0 - time.since(self.at).0 / RETURN).max(0))
    }
}

/// The result: jumps of each clock in order, and when each node's first effect is.
pub(super) struct Forward {
    pub(super) jumps: Vec<Vec<Jump>>,
    pub(super) first_effect: Vec<Time>,
    /// Effects in a circle of causes.
    pub(super) unresolved: u64,
}

/// Replays all clocks, each as far as its effects' causes are known, from where they were set forward before. Linear in events; a clock waits for one node at a time.
pub(super) fn run(order: &Order, carried: &[Option<Jump>]) -> Forward {
    let clocks = order.domains.len();
    let mut replay = Replay {
        order,
        carried,
        next: vec![0; clocks],
        forward: Forward {
            jumps: vec![Vec::new(); clocks],
            first_effect: vec![Time::MAX; order.causes.len()],
            unresolved: 0,
        },
        missing: order.causes.clone(),
        last_cause: vec![Time::MIN; order.causes.len()],
        waiting: FxHashMap::default(),
        blocked: BTreeSet::new(),
        ready: (0..clocks).rev().collect(),
    };
    loop {
        while let Some(clock) = replay.ready.pop() {
            replay.advance(clock, false);
        }
        // Everybody waits in a circle: the earliest goes on without its cause.
        let Some((_, clock)) = replay.blocked.first().copied() else { break };
        replay.advance(clock, true);
    }
    replay.forward
}

struct Replay<'a> {
    order: &'a Order,
    /// For each clock, the last time it was set forward before.
    carried: &'a [Option<Jump>],
    /// For each clock, the position of its next event.
    next: Vec<usize>,
    forward: Forward,
    /// For each node, how many of its causes have not happened, and when the last of the others was.
    missing: Vec<u32>,
    last_cause: Vec<Time>,
    /// Clocks that wait for a node; looked up, never listed.
    waiting: FxHashMap<u32, Vec<usize>>,
    /// All clocks that wait, by the recorded time of their next event.
    blocked: BTreeSet<(Time, usize)>,
    ready: Vec<usize>,
}

impl Replay<'_> {
    /// Goes on with a clock until it has to wait. `force`: takes the next effect without its causes.
    fn advance(&mut self, clock: usize, mut force: bool) {
        let events = &self.order.domains[clock];
        if let Some(event) = events.get(self.next[clock]) {
            self.blocked.remove(&(event.time, clock));
        }
        while let Some(event) = events.get(self.next[clock]) {
            let node = event.node as usize;
            if !event.is_cause() && self.missing[node] > 0 {
                if !force {
                    self.waiting.entry(event.node).or_default().push(clock);
                    self.blocked.insert((event.time, clock));
                    return;
                }
                self.forward.unresolved += 1;
            }
            force = false;
            self.next[clock] += 1;
            let recorded = event.time;
            let last = self.forward.jumps[clock].last().copied().or(self.carried[clock]);
            let time = recorded + last.map_or(Span::ZERO, |jump| jump.offset_at(recorded));
            if event.is_cause() {
                self.last_cause[node] = self.last_cause[node].max(time);
                self.missing[node] -= 1;
                if self.missing[node] == 0 {
                    self.ready.extend(self.waiting.remove(&event.node).unwrap_or_default());
                }
            } else {
                let needed = self.last_cause[node];
                if needed > time {
                    set_forward(&mut self.forward.jumps[clock], recorded, time, needed);
                }
                self.forward.first_effect[node] = self.forward.first_effect[node].min(needed.max(time));
            }
        }
    }
}

/// Adds a jump; several at one moment are one.
fn set_forward(jumps: &mut Vec<Jump>, recorded: Time, time: Time, needed: Time) {
    let (gain, offset) = (needed - time, needed - recorded);
    match jumps.last_mut().filter(|last| last.at == recorded) {
        Some(last) => (last.gain, last.offset) = (last.gain + gain, offset),
        None => jumps.push(Jump { at: recorded, gain, offset }),
    }
}
