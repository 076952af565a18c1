//! What one thread did, while the trace is read: marks where something began or ended, and facts, in the order of the file.
//!
//! A moment of a thread may be spread over several lines, so what belongs to a begin (callers, sizes, communicator) is collected until
//! the thread's time moves on.

use partune_base::{MetricId, Time};
use partune_import::lock_key;
use partune_trace::{LockEvent, LockKind, MetricSample, Pause, PauseKind, VisitIx};

use super::kinds::LEVELS;

/// A begin or an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) time: Time,
    /// A position in the actions; or a family that ends, with [`Mark::END`].
    code: u32,
    /// What else is known of a begin: a position in the lane's details.
    detail: u32,
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin { action: u32, detail: Option<u32> },
    End { family: u16 },
}

impl Mark {
    const END: u32 = 1 << 31;

    pub(super) fn step(self) -> Step {
        if self.code & Self::END != 0 {
            Step::End { family: self.code as u16 }
        } else {
            Step::Begin { action: self.code, detail: (self.detail != NONE).then_some(self.detail) }
        }
    }
}

pub(super) const NONE: u32 = u32::MAX;

/// What came with a begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Callers: a position in the chains of the trace; [`NONE`] if not recorded.
    pub(super) chain: u32,
    pub(super) collective: Option<CollectivePart>,
}

/// The part of a thread in a collective, as its events tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CollectivePart {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) is_root: bool,
    /// As the trace numbers it; 0 if not recorded.
    pub(super) communicator: u64,
}

/// One end of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) logical: Time,
    pub(super) physical: Time,
    /// Position of the other thread among the lanes.
    pub(super) peer: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    /// The number of the message in the trace.
    pub(super) message: u64,
}

/// A state that may stand for an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateSpan {
    pub(super) begin: Time,
    pub(super) end: Time,
    pub(super) state: u64,
}

/// Everything that the trace says of one thread.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) application: u64,
    pub(super) task: u64,
    pub(super) thread: u64,
    pub(super) marks: Vec<Mark>,
    pub(super) details: Vec<Detail>,
    pub(super) sends: Vec<Half>,
    pub(super) recvs: Vec<Half>,
    /// Their visits are not known yet.
    pub(super) metrics: Vec<MetricSample>,
    pub(super) locks: Vec<LockEvent>,
    pub(super) pauses: Vec<Pause>,
    /// As long as there is no mark: then they say no more than the marks.
    pub(super) states: Vec<StateSpan>,
    pub(super) events: u64,
    /// From the first record to the last.
    pub(super) present: Option<(Time, Time)>,
    /// Events that are earlier than one before.
    pub(super) disorder: u64,
    last: Option<Time>,
    moment: Moment,
    flushing: Option<Time>,
    off: Option<Time>,
    /// Locks that are asked for or held: family, since when it was asked for, address.
    open_locks: Vec<(u16, Time, u64)>,
}

/// What the events of one moment have said so far.
#[derive(Debug, Default)]
struct Moment {
    /// The last begin.
    begin: Option<u32>,
    functions: [u64; LEVELS],
    lines: [u64; LEVELS],
    levels: usize,
    collective: Option<CollectivePart>,
    lock: u64,
}

/// Functions and lines of callers, innermost first.
pub(super) type Callers<'a> = (&'a [u64], &'a [u64]);

impl Lane {
    pub(super) fn new(application: u64, task: u64, thread: u64) -> Lane {
        Lane { application, task, thread, ..Lane::default() }
    }

    /// The thread was there.
    pub(super) fn seen(&mut self, begin: Time, end: Time) {
        self.present = Some(match self.present {
            None => (begin, end),
            Some((first, last)) => (first.min(begin), last.max(end)),
        });
    }

    /// Events of a moment follow. Those of the moment before are complete then; `chain` gives its callers a number.
    #[inline]
    pub(super) fn at(&mut self, time: Time, chain: impl FnOnce(Callers<'_>) -> u32) {
        self.events += 1;
        if self.last == Some(time) {
            return;
        }
        self.complete(chain);
        self.disorder += u64::from(self.last.is_some_and(|last| time < last));
        self.last = Some(time);
        self.seen(time, time);
    }

    /// Nothing more comes of the moment.
    pub(super) fn complete(&mut self, chain: impl FnOnce(Callers<'_>) -> u32) {
        let moment = &mut self.moment;
        if let Some(begin) = moment.begin
            && (moment.levels > 0 || moment.collective.is_some())
        {
            let levels = moment.levels;
            let chain = if levels > 0 { chain((&moment.functions[..levels], &moment.lines[..levels])) } else { NONE };
            self.marks[begin as usize].detail = self.details.len() as u32;
            self.details.push(Detail { chain, collective: moment.collective });
        }
        if moment.levels > 0 {
            moment.functions[..moment.levels].fill(0);
            moment.lines[..moment.levels].fill(0);
            moment.levels = 0;
        }
        moment.begin = None;
        moment.collective = None;
        moment.lock = 0;
    }

    /// The moment of the events that come.
    fn now(&self) -> Time {
        self.last.unwrap_or_default()
    }

    #[inline]
    pub(super) fn begin(&mut self, action: u32) {
        if self.marks.is_empty() {
            self.states = Vec::new();
        }
        self.moment.begin = Some(self.marks.len() as u32);
        self.marks.push(Mark { time: self.now(), code: action & !Mark::END, detail: NONE });
    }

    #[inline]
    pub(super) fn end(&mut self, family: u16) {
        self.marks.push(Mark { time: self.now(), code: u32::from(family) | Mark::END, detail: NONE });
    }

    pub(super) fn caller(&mut self, level: u8, function: u64) {
        let level = usize::from(level).min(LEVELS - 1);
        self.moment.functions[level] = function;
        self.moment.levels = self.moment.levels.max(level + 1);
    }

    pub(super) fn caller_line(&mut self, level: u8, line: u64) {
        let level = usize::from(level).min(LEVELS - 1);
        self.moment.lines[level] = line;
        self.moment.levels = self.moment.levels.max(level + 1);
    }

    pub(super) fn collective(&mut self) -> &mut CollectivePart {
        self.moment.collective.get_or_insert_default()
    }

    /// The action that the moment began.
    pub(super) fn begun(&self) -> Option<u32> {
        self.moment.begin.map(|begin| self.marks[begin as usize].code)
    }

    pub(super) fn sample(&mut self, metric: MetricId, value: u64) {
        let time = self.now();
        self.metrics.push(MetricSample { visit: VisitIx::NONE, time, metric, value: value as f64 });
    }

    pub(super) fn flush(&mut self, begins: bool) {
        let now = self.now();
        if begins {
            self.flushing.get_or_insert(now);
        } else if let Some(begin) = self.flushing.take() {
            self.pauses.push(Pause { begin, end: now.max(begin), kind: PauseKind::Flush });
        }
    }

    pub(super) fn tracing(&mut self, goes_on: bool) {
        let now = self.now();
        if !goes_on {
            self.off.get_or_insert(now);
        } else if let Some(begin) = self.off.take() {
            self.pauses.push(Pause { begin, end: now.max(begin), kind: PauseKind::Off });
        }
    }

    pub(super) fn lock_address(&mut self, address: u64) {
        self.moment.lock = address;
        // It may follow the event that took the lock.
        let (now, known) = (self.now(), self.open_locks.last().map(|open| open.2));
        if known == Some(0)
            && let Some(open) = self.open_locks.last_mut()
            && self.locks.last().is_some_and(|lock| lock.kind == LockKind::Acquired && lock.time == now)
        {
            open.2 = address;
            let key = lock_key([self.application, self.task, u64::from(open.0), address]);
            self.locks.iter_mut().rev().take(2).for_each(|lock| lock.lock = key);
        }
    }

    /// A lock is asked for, taken or given back. Which one it is, is known when it is taken.
    pub(super) fn lock(&mut self, family: u16, kind: LockKind) {
        let now = self.now();
        let row =
            |time: Time, kind: LockKind, lock: u64| LockEvent { visit: VisitIx::NONE, time, kind, lock, shared: false };
        let at = self.open_locks.iter().rposition(|open| open.0 == family);
        match kind {
            LockKind::Requested => self.open_locks.push((family, now, 0)),
            LockKind::Acquired | LockKind::Tried => {
                let at = at.unwrap_or_else(|| {
                    self.open_locks.push((family, now, 0));
                    self.open_locks.len() - 1
                });
                let address = self.moment.lock;
                self.open_locks[at].2 = address;
                let key = lock_key([self.application, self.task, u64::from(family), address]);
                self.locks.push(row(self.open_locks[at].1, LockKind::Requested, key));
                self.locks.push(row(now, LockKind::Acquired, key));
            }
            LockKind::Released => {
                if let Some(at) = at {
                    let (_, _, address) = self.open_locks.remove(at);
                    let key = lock_key([self.application, self.task, u64::from(family), address]);
                    self.locks.push(row(now, LockKind::Released, key));
                }
            }
        }
    }

    /// Closes what is open at the end of the trace.
    pub(super) fn finish(&mut self) {
        let end = self.present.map_or(Time::ZERO, |(_, last)| last);
        for (begin, kind) in [(self.flushing.take(), PauseKind::Flush), (self.off.take(), PauseKind::Off)] {
            if let Some(begin) = begin {
                self.pauses.push(Pause { begin, end: end.max(begin), kind });
            }
        }
        self.pauses.sort_unstable_by_key(|pause| (pause.kind, pause.begin, pause.end));
        // An event and a state may say the same.
        self.pauses.dedup_by(|next, first| {
            let meet = next.begin <= first.end && next.kind == first.kind;
            if meet {
                first.end = first.end.max(next.end);
            }
            meet
        });
        self.pauses.sort_unstable_by_key(|pause| (pause.end, pause.begin, pause.kind));
        self.metrics.sort_by_key(|row| row.time);
        self.locks.sort_by_key(|row| row.time);
        self.states.sort_by_key(|row| row.begin);
        if self.disorder > 0 {
            self.marks.sort_by_key(|mark| mark.time);
        }
    }
}

/// No trace is longer: a hundred days in nanoseconds. What seems to be is damaged, and sums over all PEs of such times would overflow.
const LONGEST: i64 = 1 << 53;

/// A time of the trace; those that are negative, or later than any can be, are none.
pub(super) fn time(ticks: i64) -> Option<Time> {
    (0..LONGEST).contains(&ticks).then_some(Time(ticks))
}
