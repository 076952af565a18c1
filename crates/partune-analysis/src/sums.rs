//! What a run adds up to, whether events or a profile were recorded: transfers and extremes by call path, useful time, run intervals.
//!
//! The only place besides [`crate::times`] that knows the difference, so that a profile and a trace of the same run give the same figures.
//! For a trace, useful time and intervals are those of [`crate::useful`]; this is the same from sums.

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_trace::{PeProfile, Profile, Role, SIZE_CLASSES, Stream, Trace, Transfers};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::fold::{Fold, fold};
use crate::queries::Query;
use crate::times::PathTimes;
use crate::useful::{Useful, cpu_pes, role_of_path};

/// Executions of one operation's call path on one PE, one by one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OperationSums {
    pub(crate) count: u64,
    pub(crate) time: Span,
    pub(crate) min: Span,
    pub(crate) max: Span,
    pub(crate) transfers: Transfers,
}

impl OperationSums {
    /// Adds one execution.
    fn add(&mut self, time: Span) {
        self.min = if self.count == 0 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
        self.count += 1;
        self.time += time;
    }

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

/// Useful ticks of PEs, see [`useful`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UsefulTicks(pub(crate) Vec<i64>);

impl Query for UsefulTicks {
    fn of(input: &Input<'_>) -> UsefulTicks {
        let (pes, windows) = (cpu_pes(input.trace), input.windows());
        UsefulTicks(pes.par_iter().map(|pe| useful(input.trace, *pe, windows[*pe])).collect())
    }

    fn add(&mut self, next: UsefulTicks) {
        self.0.iter_mut().zip(next.0).for_each(|(sum, ticks)| *sum = sum.saturating_add(ticks));
    }
}

/// See [`operation_sums`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SumsByPath(pub(crate) Table<CallPathId, OperationSums>);

impl Query for SumsByPath {
    fn of(input: &Input<'_>) -> SumsByPath {
        SumsByPath(operation_sums(input.trace))
    }

    fn add(&mut self, next: SumsByPath) {
        self.0.iter_mut().zip(&next.0).for_each(|(sum, next)| sum.merge(next));
    }
}

/// The sums of every operation's call path over all PEs, which have a count of zero where nothing was executed. What was transferred
/// outside of operations is with the innermost user code.
pub(crate) fn operation_sums(trace: &Trace) -> Table<CallPathId, OperationSums> {
    fold(&Operations(trace), trace.pes().ids().collect())
}

/// Sums of one PE after the other, for call paths that have some.
struct Operations<'a>(&'a Trace);

impl Fold for Operations<'_> {
    type Part = PeId;
    type Partial = Vec<(CallPathId, OperationSums)>;
    type Output = Table<CallPathId, OperationSums>;
    type Room = (Table<CallPathId, OperationSums>, Vec<CallPathId>);

    fn room(&self) -> Self::Room {
        (self.finish(None), Vec::new())
    }

    fn map(&self, room: &mut Self::Room, pe: PeId) -> Self::Partial {
        match self.0.profile() {
            Some(profile) => profile.pes.get(pe).map(|pe| of_profile(self.0, pe)).unwrap_or_default(),
            None => of_stream(room, &self.0.streams()[pe]),
        }
    }

    fn merge(&self, all: &mut Self::Partial, next: Self::Partial) {
        all.extend(next);
    }

    fn finish(&self, all: Option<Self::Partial>) -> Self::Output {
        let mut sums: Table<CallPathId, OperationSums> = Table::filled(self.0.paths().len(), OperationSums::default());
        all.into_iter().flatten().for_each(|(path, more)| sums[path].merge(&more));
        sums
    }
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

/// In order of paths; leaves the room empty.
fn of_stream(
    (sums, touched): &mut (Table<CallPathId, OperationSums>, Vec<CallPathId>),
    stream: &Stream,
) -> Vec<(CallPathId, OperationSums)> {
    let mut add = |path: CallPathId, more: &mut dyn FnMut(&mut OperationSums)| {
        let sum = &mut sums[path];
        if sum.count == 0 && sum.transfers.count == 0 {
            touched.push(path);
        }
        more(sum);
    };
    for visit in &stream.operations {
        let visit = stream.visits.at(*visit);
        add(visit.path, &mut |sum| sum.add(visit.duration()));
    }
    for (visit, more) in stream.repeated() {
        add(stream.visits.path[visit.index()], &mut |sum| sum.count += more);
    }
    for (visit, sent, received) in stream.moved() {
        if let Some(visit) = visit.some() {
            add(stream.visits.path[visit.index()], &mut |sum| sum.transfers.add(sent, received));
        }
    }
    touched.sort_unstable();
    touched.drain(..).map(|path| (path, std::mem::take(&mut sums[path]))).collect()
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

/// What main threads did in none of the recorded regions, between their first and last event, of those that did something there; pauses are not counted. From a
/// profile: useful time of the whole run less that inside of regions. `times` are those of the trace.
pub fn outside(trace: &Trace, times: &PathTimes) -> Vec<(PeId, Span)> {
    let run = (trace.begin(), trace.end());
    let of_pe = |pe: &PeId| match trace.profile() {
        None => (*pe, crate::useful::outside_of(&trace.streams()[*pe])),
        Some(profile) => {
            let code = times[*pe].iter().filter(|row| !trace.paths().operation(row.path).is_some());
            let inside: Span = code.map(|row| row.exclusive).sum();
            (*pe, (Span(from_sums(trace, profile, *pe, run, None)) - inside).clamp_positive())
        }
    };
    let main: Vec<PeId> = cpu_pes(trace).into_iter().filter(|pe| trace.pes()[*pe].thread == 0).collect();
    let all: Vec<(PeId, Span)> = main.par_iter().map(of_pe).collect();
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
