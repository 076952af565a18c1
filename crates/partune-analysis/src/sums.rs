//! What a run adds up to, whether events or a profile were recorded: transfers and extremes by call path, useful time, run intervals.
//!
//! The only place besides [`crate::times`] that knows the difference, so that a profile and a trace of the same run give the same figures.
//! For a trace, useful time and intervals are those of [`crate::useful`]; this is the same from sums.

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_trace::{PeProfile, Profile, Role, SIZE_CLASSES, Stream, Trace, Transfers};
use rayon::prelude::*;

use crate::times::PathTimes;
use crate::useful::{Useful, cpu_pes, role_of_path};

/// Executions of one operation's call path on one PE, one by one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperationSums {
    pub(crate) count: u64,
    pub(crate) time: Span,
    pub(crate) min: Span,
    pub(crate) max: Span,
    pub(crate) transfers: Transfers,
}

impl OperationSums {
    /// Adds executions of the same kind.
    pub(crate) fn merge(&mut self, other: &OperationSums) {
        if other.count > 0 {
            self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
            self.max = self.max.max(other.max);
        }
        self.count += other.count;
        self.time += other.time;
        self.transfers.merge(&other.transfers);
    }
}

/// The sums of every operation's call path over all PEs, which have a count of zero where nothing was executed. What was transferred
/// outside of operations is with the innermost user code.
pub(crate) fn operation_sums(trace: &Trace) -> Table<CallPathId, OperationSums> {
    let mut all: Table<CallPathId, OperationSums> = Table::filled(trace.paths().len(), OperationSums::default());
    let of_pes: Vec<Vec<(CallPathId, OperationSums)>> = match trace.profile() {
        Some(profile) => profile.pes.as_slice().par_iter().map(|pe| of_profile(trace, pe)).collect(),
        None => trace.streams().as_slice().par_iter().map(|stream| of_stream(trace, stream)).collect(),
    };
    for (path, sums) in of_pes.iter().flatten() {
        all[*path].merge(sums);
    }
    all
}

fn of_profile(trace: &Trace, pe: &PeProfile) -> Vec<(CallPathId, OperationSums)> {
    let sums = |row: &partune_trace::PathProfile| {
        let mut sums = OperationSums { transfers: row.transfers, ..OperationSums::default() };
        if trace.paths().operation(row.path) == row.path {
            (sums.count, sums.time) = (row.visits, row.inclusive);
            (sums.min, sums.max) = row.extremes.unwrap_or_default();
        }
        (row.path, sums)
    };
    pe.rows.iter().map(sums).collect()
}

/// In order of time; only neighbours of one path are one row, the rest is merged by the caller.
fn of_stream(trace: &Trace, stream: &Stream) -> Vec<(CallPathId, OperationSums)> {
    let mut sums: Vec<(CallPathId, OperationSums)> = Vec::new();
    let mut add = |path: CallPathId, more: &OperationSums| match sums.iter_mut().rev().take(8).find(|it| it.0 == path) {
        Some((_, sums)) => sums.merge(more),
        None => sums.push((path, *more)),
    };
    for visit in &stream.operations {
        let visit = stream.visits.at(*visit);
        let (time, transfers) = (visit.duration(), Transfers::default());
        add(visit.path, &OperationSums { count: 1, time, min: time, max: time, transfers });
    }
    for (visit, sent, received) in stream.moved() {
        let Some(visit) = visit.some() else { continue };
        let mut more = OperationSums::default();
        more.transfers.add(sent, received);
        add(stream.visits.path[visit.index()], &more);
    }
    debug_assert!(sums.iter().all(|(path, _)| path.index() < trace.paths().len()), "visits have known paths");
    sums
}

/// Bytes from which on sizes are in each class.
pub(crate) fn size_classes() -> [u64; SIZE_CLASSES] {
    std::array::from_fn(Transfers::least)
}

/// Useful ticks of a CPU's PE in an interval. From a profile: for a main thread the interval less its operations, for others their
/// own time in user code; operations of one call path on both sides of an end of the interval count as inside.
pub(crate) fn useful(trace: &Trace, pe: PeId, interval: (Time, Time)) -> i64 {
    match trace.profile() {
        None => Useful::new(trace, pe, interval).up_to(Time::MAX),
        Some(profile) => from_sums(trace, profile, pe, interval, None),
    }
}

/// What PEs of CPUs did in none of the recorded regions, for those that did something there: useful time of the whole run less that
/// inside of regions. `times` are those of the trace.
pub fn outside(trace: &Trace, times: &PathTimes) -> Vec<(PeId, Span)> {
    let run = (trace.begin(), trace.end());
    let of_pe = |pe: &PeId| {
        let code = times[*pe].iter().filter(|row| !trace.paths().operation(row.path).is_some());
        let inside: Span = code.map(|row| row.exclusive).sum();
        (*pe, (Span(useful(trace, *pe, run)) - inside).clamp_positive())
    };
    let all: Vec<(PeId, Span)> = cpu_pes(trace).par_iter().map(of_pe).collect();
    all.into_iter().filter(|(_, time)| time.is_positive()).collect()
}

/// The same, where only some operations are busy, see [`Useful::outside`].
pub(crate) fn useful_outside(trace: &Trace, pe: PeId, interval: (Time, Time), busy: &Table<CallPathId, bool>) -> i64 {
    match trace.profile() {
        None => Useful::outside(trace, pe, interval, busy).up_to(Time::MAX),
        Some(profile) => from_sums(trace, profile, pe, interval, Some(busy)),
    }
}

fn from_sums(
    trace: &Trace,
    profile: &Profile,
    pe: PeId,
    (begin, end): (Time, Time),
    busy: Option<&Table<CallPathId, bool>>,
) -> i64 {
    let Some(of_pe) = profile.of(pe) else { return 0 };
    let length = end.since(begin);
    if trace.pes()[pe].thread != 0 && busy.is_none() {
        let code = of_pe.rows.iter().filter(|row| !trace.paths().operation(row.path).is_some());
        return (code.map(|row| row.exclusive).sum::<Span>() - of_pe.paused).clamp_positive().min(length).0;
    }
    let operations = of_pe.rows.iter().filter(|row| match busy {
        None => trace.paths().operation(row.path) == row.path,
        Some(busy) => busy[row.path],
    });
    let inside: Span = operations.filter(|row| row.last > begin && row.first < end).map(|row| row.inclusive).sum();
    let paused = if busy.is_none() { of_pe.paused } else { Span::ZERO };
    (length - inside - paused).clamp_positive().0
}

/// [`crate::useful::windows`] from a profile: a start-up is one that ended before any other operation of its process began, a
/// shut-down one that began after all others ended.
pub(crate) fn windows(trace: &Trace, profile: &Profile) -> Table<PeId, (Time, Time)> {
    let of_process: Vec<(Option<Time>, Option<Time>)> = trace
        .processes()
        .iter()
        .map(|process| {
            let pes = || process.pes.iter().filter_map(|pe| profile.of(*pe));
            (pes().filter_map(|pe| start_up(trace, pe)).max(), pes().filter_map(|pe| shut_down(trace, pe)).max())
        })
        .collect();
    let window = |(id, pe): (PeId, &partune_trace::Pe)| {
        let (begin, end) = of_process.get(pe.process.index()).copied().unwrap_or_default();
        let own = profile.of(id).map(|it| (it.begin, it.end));
        let begin = begin.or(own.map(|it| it.0)).unwrap_or(trace.begin());
        (begin, end.or(own.map(|it| it.1)).unwrap_or(begin).max(begin))
    };
    trace.pes().iter_ids().map(window).collect()
}

fn start_up(trace: &Trace, pe: &PeProfile) -> Option<Time> {
    let others = operations(trace, pe, |role| !matches!(role, Role::Init | Role::Inquiry | Role::Management));
    let first = others.map(|row| row.first).min().unwrap_or(Time::MAX);
    let starts = operations(trace, pe, |role| role == Role::Init).filter(|row| row.last <= first);
    starts.map(|row| row.last).max()
}

fn shut_down(trace: &Trace, pe: &PeProfile) -> Option<Time> {
    let others = operations(trace, pe, |role| !matches!(role, Role::Finalize | Role::Inquiry | Role::Management));
    let last = others.map(|row| row.last).max().unwrap_or(Time::MIN);
    let ends = operations(trace, pe, |role| role == Role::Finalize).filter(|row| row.first >= last);
    ends.map(|row| row.first).min()
}

fn operations<'a>(
    trace: &'a Trace,
    pe: &'a PeProfile,
    has: impl Fn(Role) -> bool + 'a,
) -> impl Iterator<Item = &'a partune_trace::PathProfile> {
    pe.rows
        .iter()
        .filter(move |row| trace.paths().operation(row.path) == row.path && has(role_of_path(trace, row.path)))
}
