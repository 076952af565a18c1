//! Rows of polls: tests and probes that found nothing, one after the other, kept as one record for each place.
//!
//! A program that polls calls millions of times a second, and every call says the same. So a lane's header holds the row that goes on: when it
//! began and ended, and for each place how often it was polled and how long that took. It is written when anything else happens on its thread;
//! that of a process that was killed is in the header, and the launcher writes it.
//!
//! What lies between two polls is the loop around them if it is short, and belongs to the row; otherwise it is the program's work, which is
//! left out of the row's time. The row is written as if all its work had come first: a visit for each place, in the order of their first polls, each as
//! long as its polls. A row in which the program works is ended soon, so that little is moved.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::encode::At;
use crate::layout::attributes;

/// Places in a row.
pub const PLACES: usize = 4;
/// Events that a row becomes at most.
pub const EVENTS: usize = 2 * PLACES;
/// What lies between two polls belongs to them if it is not longer, in microseconds.
const LOOP: u64 = 1;
/// A row in which the program works ends after so many microseconds.
const WORKING: u64 = 1000;

/// The row of polls that goes on, in a lane's header.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Polls {
    begin: AtomicU64,
    end: AtomicU64,
    /// Ticks in polls, and in the loop around them.
    busy: AtomicU64,
    /// The used ones come first.
    places: [Place; PLACES],
}

/// Polls of one call path.
#[derive(Debug, Default)]
#[repr(C)]
struct Place {
    path: AtomicU64,
    /// Ticks in its polls.
    ticks: AtomicU64,
    /// 0: the place is not used.
    count: AtomicU64,
}

/// Words of [`Polls`].
pub const WORDS: usize = 3 + 3 * PLACES;

/// One poll that found nothing.
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    pub enter: u64,
    pub leave: u64,
    pub path: u32,
}

fn add(to: &AtomicU64, more: u64) {
    to.store(to.load(Relaxed).saturating_add(more), Relaxed);
}

impl Polls {
    /// Begins a row.
    #[inline]
    pub fn begin(&self, poll: Poll) {
        let Poll { enter, leave, path } = poll;
        let took = leave.saturating_sub(enter);
        self.begin.store(enter, Relaxed);
        self.end.store(leave, Relaxed);
        self.busy.store(took, Relaxed);
        self.places[1..].iter().for_each(|place| place.count.store(0, Relaxed));
        self.places[0].begin(path, took);
    }

    /// Adds a poll to the row; false if it belongs to another one. `microsecond`: in ticks.
    #[inline]
    pub fn add(&self, poll: Poll, microsecond: u64) -> bool {
        let Poll { enter, leave, path } = poll;
        let took = leave.saturating_sub(enter);
        let around = if self.is_loop(enter, microsecond) {
            self.since(enter)
        } else if enter.saturating_sub(self.begin.load(Relaxed)) <= WORKING * microsecond {
            0
        } else {
            return false;
        };
        let known = |place: &&Place| place.count.load(Relaxed) == 0 || place.path.load(Relaxed) == u64::from(path);
        let Some(place) = self.places.iter().find(known) else { return false };
        if place.count.load(Relaxed) == 0 {
            place.begin(path, took);
        } else {
            add(&place.ticks, took);
            add(&place.count, 1);
        }
        add(&self.busy, around + took);
        self.end.store(leave, Relaxed);
        true
    }

    /// Whether what came since the last poll is the loop around it.
    #[inline]
    pub fn is_loop(&self, now: u64, microsecond: u64) -> bool {
        self.since(now) <= LOOP * microsecond
    }

    /// Ticks since the last poll.
    #[inline]
    pub fn since(&self, now: u64) -> u64 {
        now.saturating_sub(self.end.load(Relaxed))
    }

    /// The loop around the polls goes on until now, whatever interrupted it.
    pub fn carry(&self, now: u64) {
        add(&self.busy, self.since(now));
        self.end.store(now, Relaxed);
    }

    /// Its words, in the order of the file.
    pub fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let about = [&self.begin, &self.end, &self.busy].into_iter();
        let all = about.chain(self.places.iter().flat_map(|place| [&place.path, &place.ticks, &place.count]));
        words.iter_mut().zip(all).for_each(|(word, stored)| *word = stored.load(Relaxed));
        words
    }
}

impl Place {
    fn begin(&self, path: u32, took: u64) {
        self.path.store(path.into(), Relaxed);
        self.ticks.store(took, Relaxed);
        self.count.store(1, Relaxed);
    }
}

/// Writes a row of these words; `at_time` writes a time. Returns where it ends, and how many events it is.
pub fn write(words: [u64; WORDS], is_flat: bool, mut at: At, mut at_time: impl FnMut(At, u64) -> At) -> (At, u64) {
    let ([begin, end, busy, ..], places) = (words, &words[3..]);
    let places = places.chunks_exact(3).map(|place| (place[0] as u32, place[1], place[2]));
    let all: u64 = places.clone().fold(0, |sum, (_, ticks, _)| sum.saturating_add(ticks));
    let length = busy.min(end.saturating_sub(begin));
    let (mut time, mut before, mut events) = (end.saturating_sub(length), 0_u64, 0);
    for (path, ticks, count) in places.filter(|(.., count)| *count > 0) {
        at = at_time(at, time);
        at = at.attribute(attributes::POLLS, Some(count)).enter(path, is_flat);
        before = before.saturating_add(ticks);
        // Of the row what is its share: the last one ends it.
        let done = if all == 0 { length } else { (u128::from(length) * u128::from(before) / u128::from(all)) as u64 };
        time = end.saturating_sub(length - done.min(length));
        at = at_time(at, time).leave(path, is_flat);
        events += 2;
    }
    (at, events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::MAX_EVENT;

    const TICKS: u64 = 10;

    fn poll(enter: u64, took: u64, path: u32) -> Poll {
        Poll { enter, leave: enter + took, path }
    }

    /// Times at which visits begin and end, and how many bytes and events they are.
    fn written(row: &Polls) -> (Vec<u64>, usize, u64) {
        let mut bytes = [0_u8; EVENTS * MAX_EVENT];
        let mut times = Vec::new();
        // SAFETY: a row is at most as long as the bytes.
        let begin = unsafe { At::new(bytes.as_mut_ptr()) };
        let (end, events) = write(row.words(), false, begin, |at, time| {
            times.push(time);
            at.time(time)
        });
        (times, end.place() as usize - begin.place() as usize, events)
    }

    #[test]
    fn a_loop_of_polls_is_one_visit() {
        let row = Polls::default();
        row.begin(poll(1000, 4, 7));
        (1..100).for_each(|i| assert!(row.add(poll(1000 + 6 * i, 4, 7), TICKS)));
        let (times, bytes, events) = written(&row);
        assert_eq!((times, events), (vec![1000, 1000 + 6 * 99 + 4], 2));
        // Two times, an attribute with a small number and context enter and leave of a small path.
        assert_eq!(bytes, 2 * 9 + (2 + 2 + 2 + 1 + 2) + 6 + 4);
        assert_eq!(row.words()[5], 100);
    }

    #[test]
    fn work_between_polls_is_none_of_them() {
        let row = Polls::default();
        row.begin(poll(0, 4, 7));
        // Three polls of 4 ticks, with 96 ticks of work before each.
        (1..4).for_each(|i| assert!(row.add(poll(100 * i, 4, 7), TICKS)));
        assert_eq!(written(&row).0, [304 - 16, 304]);
        assert!(!row.add(poll(WORKING * TICKS + 1, 4, 7), TICKS), "a row with work is soon at its end");
        assert!(row.add(poll(305, 20_000, 7), TICKS) && row.add(poll(20_306, 4, 7), TICKS), "one without is not");
        row.carry(30_000);
        assert!(row.add(poll(30_001, 4, 7), TICKS) && written(&row).0 == [30_005 - (16 + 29_701), 30_005]);
    }

    #[test]
    fn places_in_turns_share_the_row() {
        let row = Polls::default();
        row.begin(poll(0, 3, 7));
        (1..20).for_each(|i| assert!(row.add(poll(10 * i, if i % 2 == 0 { 3 } else { 9 }, 7 + i as u32 % 2), TICKS)));
        // 10 polls of 3 and 10 of 9 ticks in 199.
        assert_eq!(written(&row).0, [0, 49, 49, 199]);
        assert!((0..2).all(|more| row.add(poll(200 + more, 0, 20 + more as u32), TICKS)));
        assert!(!row.add(poll(203, 0, 30), TICKS), "there is no room for more places");
        let (times, bytes, events) = written(&row);
        assert!(times.is_sorted() && events == EVENTS as u64 && bytes <= EVENTS * MAX_EVENT);
    }
}
