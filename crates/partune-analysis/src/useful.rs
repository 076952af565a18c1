//! Useful time: what a PE of a CPU does outside operations, the basis of efficiencies, bounds and balance.
//!
//! The main thread of a process computes whenever it is not in an operation, also outside of all recorded regions: many
//! recorders see only constructs; forking and joining a team is the runtime's. Other threads compute only inside of recorded regions; between them they idle. Time in which
//! nothing was recorded (pauses) is not useful.
//!
//! The run is measured from the end of the paradigm's start-up to the begin of its shut-down, as on-the-fly tools do, since
//! what a launcher takes says nothing of the program. Without start-up or shut-down a PE's own first and last event count.

use partune_base::{CallPathId, Id, PeId, RegionId, Span, StringId, Table, Time};
use partune_trace::{Role, Stream, TeamKind, Trace, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// PEs of CPUs that recorded something, in order.
pub(crate) fn cpu_pes(trace: &Trace) -> Vec<PeId> {
    trace.cpu_pes().collect()
}

/// The measured interval of each PE: that of its process, from the end of its start-up to the begin of its shut-down; without
/// them, from its own first event to its last.
pub fn windows(trace: &Trace) -> Table<PeId, (Time, Time)> {
    if let Some(profile) = trace.profile() {
        return crate::sums::windows(trace, profile);
    }
    if let Some(windows) = trace.summed() {
        return windows.clone();
    }
    // In the middle of a run nothing starts up and shuts down.
    let (is_first, is_last) = trace.slice().map_or((true, true), |slice| (slice.number == 0, slice.is_last));
    let has = |role: Role| trace.paths().ids().any(|path| role_of_path(trace, path) == role);
    let (init, finalize) = (is_first && has(Role::Init), is_last && has(Role::Finalize));
    let of_process: Vec<(Option<Time>, Option<Time>)> = trace
        .processes()
        .as_slice()
        .par_iter()
        .map(|process| {
            let streams = || process.pes.iter().filter_map(|pe| trace.streams().get(*pe));
            let begin = if init { streams().filter_map(|stream| start_up(trace, stream)).max() } else { None };
            let end = if finalize { streams().filter_map(|stream| shut_down(trace, stream)).max() } else { None };
            (begin, end)
        })
        .collect();
    let windows: Vec<(Time, Time)> = trace
        .pes()
        .as_slice()
        .par_iter()
        .zip(trace.streams().as_slice())
        .map(|(pe, stream)| {
            let (begin, end) = of_process.get(pe.process.index()).copied().unwrap_or_default();
            let begin = begin.or_else(|| stream.begin()).unwrap_or(trace.begin());
            (begin, end.or_else(|| stream.end()).unwrap_or(begin).max(begin))
        })
        .collect();
    windows.into()
}

/// From the first begin to the last end of the windows of some PEs.
pub(crate) fn span_of(windows: &Table<PeId, (Time, Time)>, pes: &[PeId]) -> (Time, Time) {
    let begin = pes.iter().map(|pe| windows[*pe].0).min().unwrap_or_default();
    let end = pes.iter().map(|pe| windows[*pe].1).max().unwrap_or_default();
    (begin, end.max(begin))
}

/// How long a run takes: from the first end of a start-up to the last begin of a shut-down.
pub fn run_seconds(trace: &Trace) -> f64 {
    let (begin, end) = span_of(&windows(trace), &cpu_pes(trace));
    trace.clock().seconds(end.since(begin))
}

/// What shares are shares of: the time between start-up and shut-down, on every PE of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The first end of a start-up; without one the first event.
    pub begin: Time,
    /// The last begin of a shut-down; without one the last event.
    pub end: Time,
    pub pes: usize,
}

impl Base {
    /// Linear in call paths and PEs. A trace without PEs of CPUs is taken whole, with all that recorded something.
    pub fn of(trace: &Trace) -> Base {
        let pes = cpu_pes(trace);
        if pes.is_empty() {
            return Base { begin: trace.begin(), end: trace.end(), pes: trace.active_pes().count() };
        }
        Base::of_pes(&windows(trace), &pes)
    }

    /// The same, where the measured intervals are known.
    pub(crate) fn within(trace: &Trace, windows: &Table<PeId, (Time, Time)>) -> Base {
        let pes = cpu_pes(trace);
        if pes.is_empty() { Base::of(trace) } else { Base::of_pes(windows, &pes) }
    }

    fn of_pes(windows: &Table<PeId, (Time, Time)>, pes: &[PeId]) -> Base {
        let (begin, end) = span_of(windows, pes);
        Base { begin, end, pes: pes.len() }
    }

    /// What of an interval is in it.
    pub fn part(&self, begin: Time, end: Time) -> Span {
        end.min(self.end).since(begin.max(self.begin))
    }

    /// How long it is.
    pub fn length(&self) -> Span {
        self.end.since(self.begin)
    }

    /// Ticks summed over PEs.
    pub fn total(&self) -> i64 {
        self.length().0.saturating_mul(self.pes as i64)
    }
}

/// Exit of the start-up, with calls that only prepare or ask right after it.
fn start_up(trace: &Trace, stream: &Stream) -> Option<Time> {
    let mut operations =
        stream.operations.iter().map(|visit| (role_at(trace, stream, *visit), stream.visits.exit[visit.index()]));
    let (_, mut end) = operations.by_ref().find(|(role, _)| *role == Role::Init)?;
    for (role, exit) in operations {
        match role {
            Role::Init => end = exit,
            Role::Inquiry | Role::Management => {}
            _ => break,
        }
    }
    Some(end)
}

/// Enter of the shut-down; if there are several in a row, of the first.
fn shut_down(trace: &Trace, stream: &Stream) -> Option<Time> {
    let visits = stream.operations.iter().rev();
    let mut operations = visits.map(|visit| (role_at(trace, stream, *visit), stream.visits.enter[visit.index()]));
    let (_, mut begin) = operations.by_ref().find(|(role, _)| *role == Role::Finalize)?;
    for (role, enter) in operations {
        match role {
            Role::Finalize => begin = enter,
            Role::Inquiry | Role::Management => {}
            _ => break,
        }
    }
    Some(begin)
}

fn role_at(trace: &Trace, stream: &Stream, visit: VisitIx) -> Role {
    role_of_path(trace, stream.visits.path[visit.index()])
}

/// The role of the region that a call path ends in.
pub(crate) fn role_of_path(trace: &Trace, path: CallPathId) -> Role {
    trace.regions()[trace.paths().region(path)].role
}

/// Which call paths are operations of a paradigm that acts between processes: one that can send, access memory of other PEs,
/// or start up and shut down. Threads' paradigms can do none of this.
pub(crate) fn operations_between_processes(trace: &Trace) -> Table<CallPathId, bool> {
    let between = |role: Role| {
        let roles = [Role::Init, Role::Finalize, Role::Send, Role::Recv, Role::SendRecv, Role::Put, Role::Get];
        roles.contains(&role)
            || [Role::OneToAll, Role::AllToOne, Role::AllToAll, Role::Scan, Role::GlobalAlloc].contains(&role)
    };
    let paradigms: FxHashSet<StringId> =
        trace.regions().iter().filter(|region| between(region.role)).map(|region| region.paradigm).collect();
    let region = |region: RegionId| paradigms.contains(&trace.regions()[region].paradigm);
    trace
        .paths()
        .ids()
        .map(|path| trace.paths().operation(path) == path && region(trace.paths().region(path)))
        .collect()
}

/// Useful time of a PE in each of some intervals, which are disjoint and in order. Linear in its operations; nothing for a profile.
pub fn useful_in(trace: &Trace, pe: PeId, intervals: &[(Time, Time)]) -> Vec<Span> {
    let mut useful = Useful::new(trace, pe, (trace.begin(), trace.end()));
    let mut between = |(begin, end): &(Time, Time)| {
        let before = useful.up_to(*begin);
        Span(useful.up_to(*end) - before).clamp_positive()
    };
    intervals.iter().map(&mut between).collect()
}

/// How much useful time a PE had up to a point in time; asked for points that do not run backwards. Linear in operations.
pub(crate) struct Useful<'a> {
    stream: &'a Stream,
    /// Which operations count as busy; all if none.
    busy: Option<&'a Table<CallPathId, bool>>,
    next: usize,
    /// Other times that are not useful, in order and disjoint.
    idle: Vec<(Time, Time)>,
    next_idle: usize,
    /// All before this is in `sum`.
    position: Time,
    end: Time,
    sum: i64,
}

impl<'a> Useful<'a> {
    /// Useful time of a PE from the begin of an interval on; none after its end.
    pub(crate) fn new(trace: &'a Trace, pe: PeId, interval: (Time, Time)) -> Useful<'a> {
        let stream = &trace.streams()[pe];
        let mut idle = if trace.pes()[pe].thread == 0 { Vec::new() } else { between_regions(stream) };
        if !stream.pauses.is_empty() || !stream.teams.is_empty() {
            idle.extend(stream.pauses.iter().map(|pause| (pause.begin, pause.end)));
            idle.extend(forking(stream));
            idle.sort_unstable();
        }
        let (position, end) = interval;
        Useful { stream, busy: None, next: 0, idle, next_idle: 0, position, end, sum: 0 }
    }

    /// The same, where only some operations are busy, and idling is not: of the main thread of a process, all that is not in
    /// these operations counts.
    pub(crate) fn outside(
        trace: &'a Trace,
        pe: PeId,
        interval: (Time, Time),
        busy: &'a Table<CallPathId, bool>,
    ) -> Useful<'a> {
        Useful { busy: Some(busy), idle: Vec::new(), ..Useful::new(trace, pe, interval) }
    }

    /// Ticks of useful time from the begin of the interval to `time`.
    pub(crate) fn up_to(&mut self, time: Time) -> i64 {
        let time = time.min(self.end);
        while let Some((begin, end, idle)) = self.next() {
            if begin >= time {
                break;
            }
            if idle {
                self.next_idle += 1;
            } else {
                self.next += 1;
            }
            self.sum += begin.since(self.position).0.max(0);
            self.position = self.position.max(end);
        }
        self.sum + time.since(self.position).0.max(0)
    }

    /// The next time that is not useful, and whether it is from `idle`.
    fn next(&mut self) -> Option<(Time, Time, bool)> {
        let idle = self.idle.get(self.next_idle).copied();
        match (self.operation(), idle) {
            (Some(operation), Some(idle)) if idle.0 < operation.0 => Some((idle.0, idle.1, true)),
            (Some(operation), _) => Some((operation.0, operation.1, false)),
            (None, Some(idle)) => Some((idle.0, idle.1, true)),
            (None, None) => None,
        }
    }

    /// The next busy operation.
    fn operation(&mut self) -> Option<(Time, Time)> {
        let visits = &self.stream.visits;
        while let Some(visit) = self.stream.operations.get(self.next) {
            let index = visit.index();
            if self.busy.is_none_or(|busy| busy[visits.path[index]]) {
                return Some((visits.enter[index], visits.exit[index]));
            }
            self.next += 1;
        }
        None
    }
}

/// What a PE that forks needs until its own part begins, and from its end until the join: the runtime's time, and nobody's code. In order.
pub fn forking(stream: &Stream) -> Vec<(Time, Time)> {
    let mut gaps = Vec::new();
    let (mut forked, mut ended) = (None, None);
    for event in &stream.teams {
        match event.kind {
            TeamKind::Fork => (forked, ended) = (Some(event.time), None),
            TeamKind::TeamBegin => gaps.extend(forked.take().map(|fork| (fork, event.time))),
            TeamKind::TeamEnd => ended = Some(event.time),
            TeamKind::Join => gaps.extend(ended.take().map(|end| (end, event.time))),
            TeamKind::Create | TeamKind::Begin | TeamKind::Wait | TeamKind::End => {}
        }
    }
    gaps.sort_unstable();
    gaps
}

/// Times before, between and after the outermost visits of a PE.
fn between_regions(stream: &Stream) -> Vec<(Time, Time)> {
    let mut gaps = Vec::new();
    let mut end = Time::MIN;
    for (enter, exit) in stream.visits.enter.iter().zip(&stream.visits.exit) {
        if *enter > end {
            gaps.push((end, *enter));
        }
        end = end.max(*exit);
    }
    gaps.push((end, Time::MAX));
    gaps
}

/// The time of a PE between its first and its last event that is in no region and in no pause.
pub(crate) fn outside_of(stream: &Stream) -> Span {
    let (Some(begin), Some(end)) = (stream.begin(), stream.end()) else { return Span::ZERO };
    let mut covered: Vec<(Time, Time)> = stream.pauses.iter().map(|pause| (pause.begin, pause.end)).collect();
    let mut last = Time::MIN;
    for (enter, exit) in stream.visits.enter.iter().zip(&stream.visits.exit) {
        // Of visits only the outermost: what is inside ends no later.
        if *exit > last {
            covered.push((*enter, *exit));
            last = *exit;
        }
    }
    covered.sort_unstable();
    let (position, idle) = (begin, covered);
    Span(Useful { stream, busy: None, next: 0, idle, next_idle: 0, position, end, sum: 0 }.up_to(end))
}

/// The sum of ticks; at most the most that there can be, however damaged the times are.
pub(crate) fn total(ticks: impl IntoIterator<Item = i64>) -> i64 {
    ticks.into_iter().map(Span).sum::<Span>().0
}
