//! How a PE spends its time, by kind, up to any point: the meter of bounds and of the account of time.
//!
//! | kind | what |
//! |---|---|
//! | user | in no operation, and doing something: code of the user |
//! | comm | in operations that communicate, synchronise or manage, less the waits in them |
//! | io | in operations on files; with CPU time, also what user code was off the CPU |
//! | wait | the recorded waits ([`crate::Waits`]), those of start-up and shut-down included |
//! | away | in operations of another level: of a process, while its threads are looked at |
//!
//! What remains of an interval is nobody's: pauses of the recorder, and threads between their regions.

use std::iter::Peekable;
use std::ops::{AddAssign, Sub};

use partune_base::{CallPathId, MetricId, PeId, Table, Time};
use partune_trace::{Role, Stream, Trace};
use serde::{Deserialize, Serialize};

use crate::cpu_time::CpuTime;
use crate::useful::{Useful, operations_between_processes, role_of_path};
use crate::{Input, Wait, Waits};

/// Time of one PE by kind, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) user: i64,
    pub(crate) comm: i64,
    pub(crate) io: i64,
    pub(crate) wait: i64,
    pub(crate) away: i64,
}

impl Spent {
    /// w of the bounds: everything but waiting.
    pub(crate) fn work(self) -> i64 {
        self.user.saturating_add(self.comm).saturating_add(self.io)
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.user = self.user.saturating_add(other.user);
        self.comm = self.comm.saturating_add(other.comm);
        self.io = self.io.saturating_add(other.io);
        self.wait = self.wait.saturating_add(other.wait);
        self.away = self.away.saturating_add(other.away);
    }
}

impl Sub for Spent {
    type Output = Spent;

    fn sub(self, earlier: Spent) -> Spent {
        Spent {
            user: self.user.saturating_sub(earlier.user),
            comm: self.comm.saturating_sub(earlier.comm),
            io: self.io.saturating_sub(earlier.io),
            wait: self.wait.saturating_sub(earlier.wait),
            away: self.away.saturating_sub(earlier.away),
        }
    }
}

/// Whose time is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// PEs that are not told apart into processes and threads.
    Pes,
    /// Processes, by their main threads: what threads do with each other is their work.
    Processes,
    /// Threads of a process: what it does with other processes is none of their business.
    Threads,
}

/// What an operation's time counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    User,
    Comm,
    Io,
    Away,
}

/// What the operations of each call path count as at a level.
pub(crate) struct Kinds {
    level: Level,
    of: Table<CallPathId, Kind>,
    /// Those that are not user code.
    busy: Table<CallPathId, bool>,
    /// Counters of CPU time.
    cpu: Vec<MetricId>,
}

impl Kinds {
    /// Linear in call paths.
    pub(crate) fn new(trace: &Trace, level: Level, cpu: &[MetricId]) -> Kinds {
        let of_process = operations_between_processes(trace);
        let kind = |path: CallPathId| {
            if trace.paths().operation(path) != path {
                Kind::User
            } else if role_of_path(trace, path) == Role::Io {
                Kind::Io
            } else {
                match (level, of_process[path]) {
                    (Level::Processes, false) => Kind::User,
                    (Level::Threads, true) => Kind::Away,
                    (Level::Pes, _) | (Level::Processes, true) | (Level::Threads, false) => Kind::Comm,
                }
            }
        };
        let of: Table<CallPathId, Kind> = trace.paths().ids().map(kind).collect();
        let busy = of.iter().map(|kind| *kind != Kind::User).collect();
        // CPU time is known of single threads, and a process waits while its threads do.
        let cpu = if level == Level::Processes { Vec::new() } else { cpu.to_vec() };
        Kinds { level, of, busy, cpu }
    }
}

impl Kinds {
    /// Whether what waits in an operation of this call path waits at this level.
    pub(crate) fn has_waits(&self, path: CallPathId) -> bool {
        matches!(self.of[path], Kind::Comm | Kind::Io)
    }
}

/// Cumulative time of a PE, asked for at times that do not run backwards. Linear in its operations and waits.
pub(crate) struct Meter<'a> {
    useful: Useful<'a>,
    cpu: Option<CpuTime<'a>>,
    stream: &'a Stream,
    kinds: &'a Kinds,
    next: usize,
    /// Of operations before `next`, waits not taken out.
    operations: Spent,
    waits: Peekable<Box<dyn Iterator<Item = &'a Wait> + 'a>>,
    /// Of waits before the next: what is to be taken out of each kind, and the sum.
    waited: Spent,
    begin: Time,
    end: Time,
}

impl<'a> Meter<'a> {
    /// The time of a PE from the begin of an interval on; none after its end.
    pub(crate) fn new(input: &Input<'a>, pe: PeId, interval: (Time, Time), kinds: &'a Kinds) -> Meter<'a> {
        let trace = input.trace;
        let useful = match kinds.level {
            Level::Pes | Level::Threads => Useful::new(trace, pe, interval),
            Level::Processes => Useful::outside(trace, pe, interval, &kinds.busy),
        };
        let cpu = (!kinds.cpu.is_empty()).then(|| CpuTime::new(trace, pe, &kinds.cpu, interval));
        let (begin, end) = interval;
        Meter {
            useful,
            cpu,
            stream: &trace.streams()[pe],
            kinds,
            next: 0,
            operations: Spent::default(),
            waits: all_waits(input.waits, pe).peekable(),
            waited: Spent::default(),
            begin,
            end,
        }
    }

    /// Time by kind from the begin of the interval to `time`.
    pub(crate) fn up_to(&mut self, time: Time) -> Spent {
        let time = time.min(self.end);
        let (stream, begin) = (self.stream, self.begin);
        let visits = &stream.visits;
        let part = |from: Time, to: Time| to.min(time).since(from.max(begin)).0.max(0);
        while let Some(visit) = stream.operations.get(self.next).filter(|it| visits.exit[it.index()] <= time) {
            let index = visit.index();
            let ticks = part(visits.enter[index], visits.exit[index]);
            self.operations.count(self.kinds.of[visits.path[index]], ticks);
            self.next += 1;
        }
        let mut spent = self.operations;
        if let Some(visit) = stream.operations.get(self.next) {
            let index = visit.index();
            spent.count(self.kinds.of[visits.path[index]], part(visits.enter[index], visits.exit[index]));
        }
        let kind = |wait: &Wait| self.kinds.of[visits.path[wait.operation.index()]];
        while let Some(wait) = self.waits.next_if(|wait| wait.end <= time) {
            self.waited.count_wait(kind(wait), part(wait.begin, wait.end));
        }
        let mut waited = self.waited;
        if let Some(wait) = self.waits.peek() {
            waited.count_wait(kind(wait), part(wait.begin, wait.end));
        }
        spent.comm -= waited.comm;
        spent.io -= waited.io;
        spent.wait = waited.wait;
        spent.user = self.useful.up_to(time);
        if let Some(cpu) = &mut self.cpu {
            let on = cpu.up_to(time);
            spent.io += spent.user - on;
            spent.user = on;
        }
        spent
    }
}

impl Spent {
    fn count(&mut self, kind: Kind, ticks: i64) {
        match kind {
            Kind::User => {}
            Kind::Comm => self.comm += ticks,
            Kind::Io => self.io += ticks,
            Kind::Away => self.away += ticks,
        }
    }

    fn count_wait(&mut self, kind: Kind, ticks: i64) {
        if matches!(kind, Kind::Comm | Kind::Io) {
            self.count(kind, ticks);
            self.wait += ticks;
        }
    }
}

/// The waits of a PE, those in start-up and shut-down too, in order of time.
fn all_waits(waits: &Waits, pe: PeId) -> Box<dyn Iterator<Item = &Wait> + '_> {
    let (own, start_up) = (waits.of_pe(pe), waits.start_up_of_pe(pe));
    if start_up.is_empty() {
        return Box::new(own.iter());
    }
    let mut all: Vec<&Wait> = own.iter().chain(start_up).collect();
    all.sort_by_key(|wait| (wait.begin, wait.end));
    Box::new(all.into_iter())
}
