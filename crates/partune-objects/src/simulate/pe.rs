//! PEs with what comes to them and what waits there, and which of them acts next.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Something that a PE takes up. By time, and first come first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// From this tick on.
    pub(super) time: i64,
    /// Which came first, of those at one tick.
    pub(super) number: u64,
    /// The smaller, the more urgent.
    pub(super) urgency: u64,
    pub(super) what: What,
}

/// Messages are told by their ids; several by that of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Local(u32),
    Remote(u32),
    /// A dependence on an execution of another PE.
    Met(u32),
    /// A copy of a multicast, for all objects of this PE.
    Copy(u32),
    /// Messages that were sent as one.
    Combined(u32),
    /// An execution that has all that it needs.
    Ready(u32),
    /// The time of messages that wait to be combined is over; the number of their buffer.
    Flush(u32),
}

impl Ord for Item {
    fn cmp(&self, other: &Item) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Item) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pe {
    pub(super) free: i64,
    coming: BinaryHeap<Reverse<Item>>,
    /// What has come, where urgency matters: by that, in order of coming.
    waiting: BTreeMap<u64, VecDeque<What>>,
}

impl Pe {
    pub(super) fn push(&mut self, item: Item) {
        self.coming.push(Reverse(item));
    }

    /// When it acts next; `i64::MAX` for never.
    pub(super) fn next(&self) -> i64 {
        if !self.waiting.is_empty() {
            return self.free;
        }
        self.coming.peek().map_or(i64::MAX, |item| item.0.time.max(self.free))
    }

    /// What it takes up at this tick.
    pub(super) fn take(&mut self, now: i64, by_urgency: bool) -> Option<What> {
        if !by_urgency {
            return self.coming.pop().map(|item| item.0.what);
        }
        while let Some(item) = self.coming.peek().filter(|item| item.0.time <= now) {
            self.waiting.entry(item.0.urgency).or_default().push_back(item.0.what);
            self.coming.pop();
        }
        let mut urgent = self.waiting.first_entry()?;
        let what = urgent.get_mut().pop_front();
        if urgent.get().is_empty() {
            urgent.remove();
        }
        what
    }
}

/// Which PE acts first: a tournament, of equals the one with the smaller number.
pub(super) struct Clock {
    leaves: usize,
    times: Vec<i64>,
}

impl Clock {
    pub(super) fn new(pes: usize) -> Clock {
        let leaves = pes.next_power_of_two();
        Clock { leaves, times: vec![i64::MAX; 2 * leaves] }
    }

    /// O(log PEs).
    pub(super) fn set(&mut self, pe: usize, time: i64) {
        let mut at = self.leaves + pe;
        self.times[at] = time;
        while at > 1 {
            at /= 2;
            let first = self.times[2 * at].min(self.times[2 * at + 1]);
            if self.times[at] == first {
                break;
            }
            self.times[at] = first;
        }
    }

    pub(super) fn first(&self) -> Option<(i64, usize)> {
        let time = self.times[1];
        if time == i64::MAX {
            return None;
        }
        let mut at = 1;
        while at < self.leaves {
            at = if self.times[2 * at] == time { 2 * at } else { 2 * at + 1 };
        }
        Some((time, at - self.leaves))
    }
}
