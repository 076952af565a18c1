//! Rows of polls in a lane: see [`partune_parts::polls`].
//!
//! A poll is told when it is known what it found. One that found nothing extends the row in the lane's header; whatever else is written
//! comes after the row.

use partune_parts::clock;
use partune_parts::draft::{FLAT, POLLS};
use partune_parts::encode::At;
use partune_parts::polls::{self, Poll};

use super::{Lane, NOWHERE};
use crate::current::Current;

/// Microseconds between two looks at how long a thread that polls has run.
const SELDOM: u64 = 100;

/// What the system says of a thread's time on a core.
#[derive(Clone, Copy, Default)]
pub(super) struct OnCore {
    at: u64,
    microseconds: u64,
    /// How often it waited for something, and how often it had to leave.
    switches: [i64; 2],
}

impl OnCore {
    #[inline(never)]
    fn now(at: u64) -> OnCore {
        // SAFETY: zero is valid, and the place outlives the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let time = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        let microseconds = time(usage.ru_utime) + time(usage.ru_stime);
        OnCore { at, microseconds, switches: [usage.ru_nvcsw, usage.ru_nivcsw] }
    }

    /// Whether most of a gap since a time before was spent off the core, and not because the thread waited for something.
    fn was_taken(self, before: OnCore, gap: u64, microsecond: u64) -> bool {
        let [waited, left] = std::array::from_fn(|kind| self.switches[kind] != before.switches[kind]);
        !waited && left && self.microseconds.saturating_sub(before.microseconds) * microsecond < gap / 2
    }
}

impl Lane {
    /// Whether a poll can wait to be written until it is known whether it found something.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn can_join_polls(&self) -> bool {
        self.joins_polls && self.can_draft()
    }

    /// A poll begins: if it finds nothing, it is one of a row.
    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    pub(crate) fn begin_poll(&mut self, call: Current) {
        self.polled = call.time;
        self.current = Current { is_left: true, is_poll: true, ..call };
        self.untold.chunk = NOWHERE;
    }

    /// The current poll found something, or failed: it is a call as all others.
    pub(crate) fn poll_found(&mut self) {
        self.bridge(self.polled);
        let returned = std::mem::replace(&mut self.current.time, self.polled);
        (self.current.is_left, self.current.is_poll) = (false, false);
        self.mark(true);
        self.current.time = returned;
    }

    /// The current poll found nothing.
    pub(crate) fn poll_found_nothing(&mut self) {
        let Current { time, path, is_flat, .. } = self.current;
        let poll = Poll { enter: self.polled, leave: time, path: path.0 };
        self.bridge(self.polled);
        if time.saturating_sub(self.ran.at) > SELDOM * self.microsecond {
            self.ran = OnCore::now(time);
        }
        if self.drafts & POLLS == 0 || !self.header().polls.add(poll, self.microsecond) {
            self.begin_row(poll, is_flat);
        }
    }

    /// If the system took the core away in the loop around a row of polls, the row went on meanwhile.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn bridge(&mut self, now: u64) {
        if self.drafts & POLLS != 0 && self.header().polls.since(now) > SELDOM * self.microsecond {
            self.look_for_core(now);
        }
    }

    #[cold]
    fn look_for_core(&mut self, now: u64) {
        let (before, gap) = (std::mem::replace(&mut self.ran, OnCore::now(now)), self.header().polls.since(now));
        if self.ran.was_taken(before, gap, self.microsecond) {
            self.header().polls.carry(now);
        }
    }

    #[cold]
    fn begin_row(&mut self, poll: Poll, is_flat: bool) {
        if self.drafts & POLLS != 0 {
            self.settle();
            // The next row needs room as well.
            if self.at >= self.limit {
                self.next_chunk(poll.enter);
            }
        } else {
            self.microsecond = clock::microsecond();
        }
        self.header().polls.begin(poll);
        self.drafts |= POLLS | if is_flat { FLAT } else { 0 };
        self.header().publish_drafts(self.drafts);
    }

    /// A tick of the sampler at this time: whether it interrupted the loop around a row of polls, which then goes on until now.
    pub(crate) fn is_tick_in_row(&mut self, time: u64) -> bool {
        let is_in_row = self.drafts & POLLS != 0 && self.header().polls.is_loop(time, self.microsecond);
        if is_in_row {
            self.header().polls.carry(clock::now());
        }
        is_in_row
    }

    #[cold]
    pub(super) fn write_polls(&mut self, (at, count): (At, u64)) -> (At, u64) {
        let is_flat = self.drafts & FLAT != 0;
        let (at, events) = polls::write(self.header().polls.words(), is_flat, at, |at, time| self.at_time(at, time));
        (at, count + events)
    }
}
