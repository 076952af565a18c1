//! What happened since the runtime's scheduler last had the PE, in the order of time.
//!
//! A user's event with a duration is told when it is over, after what happened inside of it. So acts are kept until nothing is open any more, and such an event is put
//! around those that it contains.

use partune_base::{MetricId, Time};
use partune_import::RegionKey;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) time: Time,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Enter(RegionKey),
    Leave(RegionKey),
    /// A message was made: a position among those of the PE. Its visit has been entered.
    Sent(u32),
    /// An execution began: a position among those of the PE. Its visit has been entered.
    Began(u32),
    Sample(MetricId, f64),
}

#[derive(Default)]
pub(super) struct Acts {
    acts: Vec<Act>,
}

impl Acts {
    #[inline]
    pub(super) fn push(&mut self, time: Time, what: What) {
        self.acts.push(Act { time, what });
    }

    /// When the last of them happened.
    pub(super) fn last(&self) -> Option<Time> {
        self.acts.last().map(|act| act.time)
    }

    pub(super) fn first(&self) -> Option<Time> {
        self.acts.first().map(|act| act.time)
    }

    pub(super) fn get(&self, at: usize) -> Option<Act> {
        self.acts.get(at).copied()
    }

    pub(super) fn clear(&mut self) {
        self.acts.clear();
    }

    /// Puts a visit around what happened from its begin on, inside of what is open; `free` is when the PE was last free. Returns whether it began before that, or in the
    /// middle of something that was over when it ended, and was made to begin after it.
    pub(super) fn surround(&mut self, free: Time, (begin, end): (Time, Time), region: RegionKey) -> bool {
        // Walking back, a leave opens a visit that has to be inside as a whole.
        let (mut depth, mut place) = (0_u32, self.acts.len());
        for (at, act) in self.acts.iter().enumerate().rev() {
            let is_over = depth == 0 && act.time == begin && matches!(act.what, What::Leave(_));
            if act.time < begin || is_over {
                break;
            }
            match act.what {
                What::Leave(_) => depth += 1,
                What::Enter(_) if depth == 0 => break,
                What::Enter(_) => depth -= 1,
                What::Sent(_) | What::Began(_) | What::Sample(..) => {}
            }
            // Rows come right after the enter of their visit.
            let is_row = matches!(act.what, What::Sent(_) | What::Began(_));
            if depth == 0 && !is_row {
                place = at;
            }
        }
        let free = place.checked_sub(1).and_then(|before| self.acts.get(before)).map_or(free, |before| before.time);
        self.acts.insert(place, Act { time: begin.max(free), what: What::Enter(region) });
        let end = self.last().unwrap_or(end).max(end);
        self.push(end, What::Leave(region));
        begin < free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins and ends of numbered visits at times: `(time, number)`, an end is negative.
    fn after(acts: &[(i64, i64)], event: (i64, i64)) -> (Vec<(i64, i64)>, bool) {
        let what = |number: i64| match number {
            ..0 => What::Leave(RegionKey(number.unsigned_abs())),
            _ => What::Enter(RegionKey(number.unsigned_abs())),
        };
        let mut all = Acts::default();
        acts.iter().for_each(|(time, number)| all.push(Time(*time), what(*number)));
        let moved = all.surround(Time(0), (Time(event.0), Time(event.1)), RegionKey(9));
        let number = |act: &Act| match act.what {
            What::Enter(RegionKey(region)) => region as i64,
            What::Leave(RegionKey(region)) => -(region as i64),
            _ => 0,
        };
        (all.acts.iter().map(|act| (act.time.0, number(act))).collect(), moved)
    }

    #[test]
    fn an_event_contains_what_happened_meanwhile() {
        // In visit 1: visit 2 from 3 to 4; the event from 2 to 5.
        let acts = [(1, 1), (3, 2), (4, -2)];
        assert_eq!(after(&acts, (2, 5)), (vec![(1, 1), (2, 9), (3, 2), (4, -2), (5, -9)], false));
        assert_eq!(after(&acts, (4, 5)), (vec![(1, 1), (3, 2), (4, -2), (4, 9), (5, -9)], false));
        assert_eq!(after(&acts, (1, 5)).0, [(1, 1), (1, 9), (3, 2), (4, -2), (5, -9)]);
        // Two that begin together: the one that ends first is inside.
        assert_eq!(after(&[(1, 1), (3, 2), (4, -2)], (3, 6)).0, [(1, 1), (3, 9), (3, 2), (4, -2), (6, -9)]);
    }

    #[test]
    fn an_event_that_began_before_or_across_is_cut() {
        assert_eq!(after(&[(4, 1)], (2, 5)), (vec![(4, 1), (4, 9), (5, -9)], true));
        let across = after(&[(1, 1), (2, 2), (6, -2)], (4, 7));
        assert_eq!(across, (vec![(1, 1), (2, 2), (6, -2), (6, 9), (7, -9)], true));
        assert_eq!(after(&[], (-3, 5)), (vec![(0, 9), (5, -9)], true));
    }
}
