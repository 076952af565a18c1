//! The level of detail: time by kind of any PE in any interval, without a look at what lies in it.
//!
//! The time of an operation is that of its outermost construct, as everywhere; other time of a main thread between its first and last
//! event is computation, and that of other threads inside of recorded regions, but for what forking and joining a team takes and for pauses of the recording outside
//! of all regions; the rest is idle. Waiting is a part of these.
//!
//! The rule: sums are kept at every 16th operation, wait and outermost visit, so a bin costs a binary search and a scan of at most 16 of
//! each, and where bins are fine every row is looked at once. All answers are exact; nothing is estimated. Memory: 5 bytes an
//! operation, 1 a wait, and 5 an outermost visit of threads that are no main threads; built in parallel over PEs.

use partune_analysis::{Wait, Waits, forking};
use partune_base::{CallPathId, PeId, Span, Table, Time};
use partune_trace::{PeKind, Stream, Trace};
use rayon::prelude::*;

use crate::ladder::{Climb, Interval, Ladder};
use crate::tiles::shares;
use crate::{Bin, Fold, Kind, Tiles, View};

/// Kinds that operations have: all but idle and waiting.
const KINDS: usize = Kind::Idle as usize;

/// Ticks by kind; those of [`Kind::Wait`] are among the others.
pub type Times = [i64; Kind::COUNT];

/// Sums of all PEs, from which times in any interval follow.
#[derive(Clone, Debug)]
pub struct Detail {
    pes: Table<PeId, PeDetail>,
    kinds: Kinds,
}

/// The kind of what each call path executes.
type Kinds = Table<CallPathId, u8>;

#[derive(Clone, Debug)]
struct PeDetail {
    operations: Ladder<KINDS>,
    recorded: Recorded,
    forking: Forking,
    waits: Ladder<1>,
    start_up: Ladder<1>,
}

/// When a PE did something, be it in operations or not.
#[derive(Clone, Debug)]
enum Recorded {
    /// From, to, without these: a main thread.
    Whole(Time, Time, Vec<(Time, Time)>, Ladder<1>),
    /// In these visits, the outermost ones.
    Visits(Vec<u32>, Ladder<1>),
}

/// When a PE forked and joined teams, and did nothing else.
#[derive(Clone, Debug)]
struct Forking(Vec<(Time, Time)>, Ladder<1>);

/// Where a walk over the moments of one PE stands.
#[derive(Default)]
struct Walk {
    operations: Climb<KINDS>,
    recorded: Climb<1>,
    forking: Climb<1>,
    waits: Climb<1>,
    start_up: Climb<1>,
}

impl Detail {
    /// Linear in operations, waits, and visits of threads that are no main threads.
    pub fn new(trace: &Trace, waits: &Waits) -> Detail {
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let kind = |path| Kind::of(trace.regions()[trace.paths().region(path)].role) as u8;
        let kinds: Kinds = trace.paths().ids().map(kind).collect();
        let pes: Vec<PeDetail> = pes.into_par_iter().map(|pe| PeDetail::new(trace, waits, &kinds, pe)).collect();
        Detail { pes: Table::from(pes), kinds }
    }

    /// The time of each kind of one PE in an interval.
    pub fn times(&self, trace: &Trace, waits: &Waits, pe: PeId, begin: Time, end: Time) -> Times {
        let mut walk = Walk::default();
        if self.pes.get(pe).is_none() {
            return [0; Kind::COUNT];
        }
        let before = self.before(trace, waits, pe, &mut walk, begin);
        between(before, self.before(trace, waits, pe, &mut walk, end.max(begin)), end.since(begin))
    }

    /// All kinds but idle of one PE, up to each of some moments in order.
    pub(crate) fn at(&self, trace: &Trace, waits: &Waits, pe: PeId, moments: &[Time]) -> Vec<Times> {
        let mut walk = Walk::default();
        moments.iter().map(|moment| self.before(trace, waits, pe, &mut walk, *moment)).collect()
    }

    /// The bins of a view; parallel over rows. Costs a few binary searches a PE and column, whatever the size of the trace.
    pub fn tiles(&self, trace: &Trace, waits: &Waits, fold: &Fold, view: View) -> Tiles {
        let before = |pe, walk: &mut Walk, moment| self.before(trace, waits, pe, walk, moment);
        let bins = shares(fold, view, before, complete).into_iter().map(|shares| Bin { shares }).collect();
        Tiles::new(view, bins)
    }

    /// All kinds but idle, up to a moment.
    fn before(&self, trace: &Trace, waits: &Waits, pe: PeId, walk: &mut Walk, moment: Time) -> Times {
        let Some(detail) = self.pes.get(pe) else { return [0; Kind::COUNT] };
        let (stream, kinds) = (&trace.streams()[pe], &self.kinds);
        let operations =
            detail.operations.before(&mut walk.operations, moment, |index| operation(kinds, stream, index));
        let recorded = match &detail.recorded {
            Recorded::Whole(begin, end, without, ladder) => {
                let moment = moment.min(*end);
                let without = ladder.before(&mut walk.recorded, moment, |index| whole(without, index));
                moment.since(*begin).0 - without[0]
            }
            Recorded::Visits(visits, ladder) => {
                ladder.before(&mut walk.recorded, moment, |index| visited(stream, visits, index))[0]
            }
        };
        let Forking(gaps, ladder) = &detail.forking;
        let forking = ladder.before(&mut walk.forking, moment, |index| whole(gaps, index))[0];
        let (program, start_up) = (waits.of_pe(pe), waits.start_up_of_pe(pe));
        let mut times = [0; Kind::COUNT];
        times[..KINDS].copy_from_slice(&operations);
        // What is recorded and in no operation.
        times[Kind::Computation as usize] += recorded - forking - operations.iter().sum::<i64>();
        times[Kind::Wait as usize] = detail.waits.before(&mut walk.waits, moment, |index| waiting(program, index))[0]
            + detail.start_up.before(&mut walk.start_up, moment, |index| waiting(start_up, index))[0];
        times
    }
}

impl PeDetail {
    fn new(trace: &Trace, waits: &Waits, kinds: &Kinds, pe: PeId) -> PeDetail {
        let stream = &trace.streams()[pe];
        let (program, start_up) = (waits.of_pe(pe), waits.start_up_of_pe(pe));
        let recorded = Recorded::new(trace, stream, pe);
        PeDetail {
            operations: Ladder::new(stream.operations.len(), |index| operation(kinds, stream, index)),
            forking: Forking::new(stream, &recorded),
            recorded,
            waits: Ladder::new(program.len(), |index| waiting(program, index)),
            start_up: Ladder::new(start_up.len(), |index| waiting(start_up, index)),
        }
    }
}

impl Recorded {
    fn new(trace: &Trace, stream: &Stream, pe: PeId) -> Recorded {
        if trace.pes()[pe].thread == 0 && trace.pes()[pe].kind == PeKind::Cpu {
            let (begin, end) = stream.begin().zip(stream.end()).unwrap_or_default();
            let pauses = pauses(stream).into_iter().map(|(from, to)| (from.max(begin), to.min(end))).collect();
            let without = apart(pauses, visits(stream));
            let ladder = Ladder::new(without.len(), |index| whole(&without, index));
            return Recorded::Whole(begin, end, without, ladder);
        }
        let mut end = Time::MIN;
        let mut visits = Vec::new();
        for (index, (enter, exit)) in stream.visits.enter.iter().zip(&stream.visits.exit).enumerate() {
            if *enter >= end && *exit > *enter {
                visits.push(index as u32);
                end = *exit;
            }
        }
        let ladder = Ladder::new(visits.len(), |index| visited(stream, &visits, index));
        Recorded::Visits(visits, ladder)
    }
}

impl Forking {
    fn new(stream: &Stream, recorded: &Recorded) -> Forking {
        let operations = stream.operations.iter().map(|visit| stream.visits.at(*visit));
        let mut gaps = apart(
            apart(forking(stream), operations.map(|visit| (visit.enter, visit.exit))),
            pauses(stream).into_iter(),
        );
        if let Recorded::Visits(..) = recorded {
            let outside = apart(gaps.clone(), visits(stream));
            gaps = apart(gaps, outside.into_iter());
        }
        let ladder = Ladder::new(gaps.len(), |index| whole(&gaps, index));
        Forking(gaps, ladder)
    }
}

/// In order.
fn pauses(stream: &Stream) -> Vec<(Time, Time)> {
    let mut pauses: Vec<(Time, Time)> = stream.pauses.iter().map(|pause| (pause.begin, pause.end)).collect();
    pauses.sort_unstable();
    pauses
}

/// In order of their begin; what is inside of another one ends no later.
fn visits(stream: &Stream) -> impl Iterator<Item = (Time, Time)> + '_ {
    stream.visits.enter.iter().zip(&stream.visits.exit).map(|(enter, exit)| (*enter, *exit))
}

/// What of intervals is in none of the others, disjoint and in order; both are in order of their begins.
fn apart(of: Vec<(Time, Time)>, others: impl Iterator<Item = (Time, Time)>) -> Vec<(Time, Time)> {
    let mut others = others.peekable();
    let mut parts = Vec::new();
    let mut at = Time::MIN;
    for (from, to) in of {
        at = at.max(from);
        while at < to {
            // Of others only the outermost come to their turn.
            while others.next_if(|(_, end)| *end <= at).is_some() {}
            let (begin, end) = others.peek().copied().unwrap_or((to, to));
            if begin > at {
                parts.push((at, begin.min(to)));
            }
            at = if begin < to { end } else { to };
        }
    }
    parts
}

fn whole(intervals: &[(Time, Time)], index: usize) -> Interval {
    (intervals[index].0, intervals[index].1, 0)
}

fn operation(kinds: &Kinds, stream: &Stream, index: usize) -> Interval {
    let visit = stream.visits.at(stream.operations[index]);
    // Operations have roles that are not transparent, so none is idle or waiting.
    (visit.enter, visit.exit, usize::from(kinds[visit.path]).min(KINDS - 1))
}

fn visited(stream: &Stream, visits: &[u32], index: usize) -> Interval {
    let visit = visits[index] as usize;
    (stream.visits.enter[visit], stream.visits.exit[visit], 0)
}

fn waiting(waits: &[Wait], index: usize) -> Interval {
    (waits[index].begin, waits[index].end, 0)
}

/// The times of one PE in an interval, of those up to its begin and its end.
pub(crate) fn between(before: Times, mut after: Times, length: Span) -> Times {
    after.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
    complete(&mut after, length, 1);
    after
}

/// Gives what is left of so many PEs' time to idle.
pub(crate) fn complete(times: &mut Times, length: Span, pes: usize) {
    times[Kind::Idle as usize] = idle(times, length, pes);
}

/// What is left of so many PEs' time.
fn idle(times: &Times, length: Span, pes: usize) -> i64 {
    length.0.saturating_mul(pes as i64) - times[..KINDS].iter().sum::<i64>()
}
