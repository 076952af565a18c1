//! What is in an interval on some PEs: time by function, waits, what was moved, how long visits took. Exactly, and without a look at all of it.
//!
//! Sums of each 1,024 visits, waits and transfers that follow each other are kept by what they are of; an interval is the blocks that lie in it,
//! the rows at its two ends, and what is open there. Memory: 32 bytes for each call path, class of durations and block: a byte or two a visit, and 4 for each part in a collective.

use std::collections::BTreeMap;
use std::ops::Range;

use partune_analysis::{ByPath, PathTime, Pattern, Wait, Waits, without_children};
use partune_base::{CallPathId, Clock, PeId, RegionId, Span, Table, Time};
use partune_trace::{IoKind, PeKind, RmaTransferKind, Stream, Trace, VisitIx};
use rayon::prelude::*;

use crate::flat::{Flat, by_region};
use crate::parts::{Parts, Sum};
use crate::{Kind, Spent, Stacks, Times};

/// How something was moved. Counted where it is recorded: at both ends of a message, at the origin of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moving {
    Sent,
    Received,
    Put,
    Got,
    Atomic,
    /// The parts that PEs took in collectives: what they gave and got.
    Collective,
    Read,
    Written,
}

/// Waits of one pattern. They are clipped to the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    pub pattern: Pattern,
    pub count: u64,
    pub time: Span,
}

/// Visits, or messages, whose duration is at least `from` and less than `to`, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasting {
    pub from: i64,
    pub to: i64,
    pub count: u64,
}

/// What is in an interval: what begins in it or is open at its begin. Times are clipped to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// By exclusive time; their bytes are zero.
    pub functions: Vec<Flat>,
    /// By time.
    pub waits: Vec<Waited>,
    /// Rows are transfers that began in it (that ended, for what is received), values their bytes.
    pub moved: [Sum; Moving::COUNT],
    /// From the shortest to the longest, without a gap.
    pub durations: Vec<Lasting>,
}

/// What contents of intervals are made from.
#[derive(Clone, Debug)]
pub struct Contents {
    pes: Table<PeId, OfPe>,
    edges: Edges,
}

/// A call path, and the class of a duration.
type Class = (CallPathId, u8);

#[derive(Clone, Debug)]
struct OfPe {
    visits: Parts<Class>,
    /// Calls that visits stand for besides one, in order of visit.
    repeats: Vec<(VisitIx, u64)>,
    waits: Parts<(CallPathId, Pattern)>,
    sends: Parts<Moving>,
    recvs: Parts<Moving>,
    accesses: Parts<Moving>,
    collectives: Parts<Moving>,
    /// Rows of collectives in order of begin: they are kept by end, and those that do not block may end in another order.
    begun: Vec<u32>,
    files: Parts<Moving>,
}

/// What one PE did in an interval.
struct Found {
    times: Vec<PathTime>,
    waits: BTreeMap<(CallPathId, Pattern), Sum>,
    moved: [Sum; Moving::COUNT],
    durations: Vec<u64>,
}

/// An interval. What has no length is in it if it is not before its begin and before its end, or at the end of the run.
#[derive(Clone, Copy)]
struct Part {
    begin: Time,
    end: Time,
    /// What begins before is in it.
    until: Time,
}

/// The least durations of classes: 0, 1, 2, 5, 10, 20, … ns.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    ns: Vec<i64>,
    ticks: Vec<i64>,
}

impl Moving {
    pub const COUNT: usize = 8;

    pub const ALL: [Moving; Moving::COUNT] = [
        Moving::Sent,
        Moving::Received,
        Moving::Put,
        Moving::Got,
        Moving::Atomic,
        Moving::Collective,
        Moving::Read,
        Moving::Written,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Moving::Sent => "sent",
            Moving::Received => "received",
            Moving::Put => "put",
            Moving::Got => "got",
            Moving::Atomic => "atomic",
            Moving::Collective => "collective",
            Moving::Read => "read",
            Moving::Written => "written",
        }
    }
}

impl Contents {
    /// Linear in visits, waits and transfers; parallel over PEs.
    pub fn new(trace: &Trace, waits: &Waits) -> Contents {
        let edges = Edges::new(trace.clock());
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let of_pe = |pe| OfPe::new(&trace.streams()[pe], waits.of_pe(pe), &edges);
        let pes: Vec<OfPe> = pes.into_par_iter().map(of_pe).collect();
        Contents { pes: Table::from(pes), edges }
    }

    /// What some PEs did in an interval. `times` is their time by kind in it, in their order; durations are those of the visits of a region, or of
    /// all. Parallel over PEs; costs some thousand rows a PE, and the call paths of the blocks in the interval.
    pub fn within(
        &self,
        (trace, waits, stacks): (&Trace, &Waits, &Stacks),
        pes: &[PeId],
        times: &[Times],
        (begin, end): (Time, Time),
        region: Option<RegionId>,
    ) -> Content {
        let found = self.found((trace, waits, stacks), pes, (begin, end), region);
        let mut patterns: BTreeMap<Pattern, Sum> = BTreeMap::new();
        let mut moved = [Sum::default(); Moving::COUNT];
        let mut durations = vec![0u64; self.edges.len()];
        for found in &found {
            for ((_, pattern), sum) in &found.waits {
                *patterns.entry(*pattern).or_default() += *sum;
            }
            moved.iter_mut().zip(found.moved).for_each(|(sum, more)| *sum += more);
            durations.iter_mut().zip(&found.durations).for_each(|(sum, more)| *sum += more);
        }
        let mut waits: Vec<Waited> =
            patterns.into_iter().map(|(pattern, sum)| Waited { pattern, count: sum.rows, time: span(sum) }).collect();
        waits.sort_by_key(|it| (std::cmp::Reverse(it.time), it.pattern));
        Content {
            functions: by_region(trace, &spent(trace, pes, times, found)),
            waits,
            moved,
            durations: self.edges.lasting(&durations),
        }
    }

    /// Where the time of some PEs went in an interval, from the same arguments and at the same costs.
    pub fn spent(
        &self,
        (trace, waits, stacks): (&Trace, &Waits, &Stacks),
        pes: &[PeId],
        times: &[Times],
        interval: (Time, Time),
    ) -> Spent {
        spent(trace, pes, times, self.found((trace, waits, stacks), pes, interval, None))
    }

    fn found(
        &self,
        (trace, waits, stacks): (&Trace, &Waits, &Stacks),
        pes: &[PeId],
        (begin, end): (Time, Time),
        region: Option<RegionId>,
    ) -> Vec<Found> {
        let until = if end >= trace.end() { Time::MAX } else { end };
        let part = Part { begin, end, until };
        let find = |sums: &mut ByPath<Sum>, pe: &PeId| self.find((trace, waits, stacks), sums, *pe, part, region);
        pes.par_iter().map_init(|| ByPath::new(trace.paths().len()), find).collect()
    }

    fn find(
        &self,
        (trace, waits, stacks): (&Trace, &Waits, &Stacks),
        sums: &mut ByPath<Sum>,
        pe: PeId,
        part: Part,
        region: Option<RegionId>,
    ) -> Found {
        let (Some(of_pe), Some(stream)) = (self.pes.get(pe), trace.streams().get(pe)) else { return Found::nothing() };
        let mut durations = vec![0u64; self.edges.len()];
        let is_asked = |path| region.is_none_or(|region| trace.paths().region(path) == region);
        of_pe.visits(trace, stream, &self.edges, (stacks, pe), part, |(path, class), sum| {
            sums.add(path, sum);
            if is_asked(path) {
                durations[usize::from(class)] += sum.rows;
            }
        });
        // What goes on after the end was told whole.
        let later = stacks.open(trace, pe, part.end).into_iter().map(|visit| stream.visits.at(visit));
        for visit in later.filter(|visit| visit.enter >= part.begin && visit.enter < part.until) {
            if let Some(sum) = sums.get_mut(visit.path) {
                sum.value = sum.value.saturating_sub(visit.exit.since(part.end).0 as u64);
            }
        }
        let mut times: Vec<PathTime> = sums.take().into_iter().map(time).collect();
        without_children(trace.paths(), &mut times);
        Found {
            times,
            waits: of_pe.waits_in(stream, waits.of_pe(pe), part),
            moved: of_pe.moved_in(stream, part),
            durations,
        }
    }
}

impl OfPe {
    fn new(stream: &Stream, waits: &[Wait], edges: &Edges) -> OfPe {
        let mut repeats: Vec<(VisitIx, u64)> = stream.repeated().filter(|(_, more)| *more > 0).collect();
        repeats.sort_unstable();
        let mut begun: Vec<u32> = (0..stream.collectives.len() as u32).collect();
        begun.sort_by_key(|row| stream.collectives[*row as usize].begin);
        OfPe {
            visits: Parts::new(stream.visits.len(), |index| visit(stream, &repeats, edges, index)),
            repeats,
            waits: Parts::new(waits.len(), |index| wait(stream, waits, index)),
            sends: Parts::new(stream.sends.len(), |row| sent(stream, row)),
            recvs: Parts::new(stream.recvs.len(), |row| received(stream, row)),
            accesses: Parts::new(stream.transfers.len(), |row| accessed(stream, row)),
            collectives: Parts::new(begun.len(), |at| met(stream, begun[at])),
            begun,
            files: Parts::new(stream.io.len(), |row| filed(stream, row)),
        }
    }

    /// Tells the visits that begin in a part, whole, and those that are open at its begin, clipped.
    fn visits(
        &self,
        trace: &Trace,
        stream: &Stream,
        edges: &Edges,
        (stacks, pe): (&Stacks, PeId),
        part: Part,
        mut tell: impl FnMut(Class, Sum),
    ) {
        let at = |index: usize| visit(stream, &self.repeats, edges, index);
        self.visits.tell(part.rows(&stream.visits.enter, |enter| *enter), at, &mut tell);
        for open in stacks.open(trace, pe, part.begin) {
            let whole = stream.visits.at(open);
            if whole.enter < part.begin {
                let (class, sum) = at(open.index());
                let inside = whole.exit.min(part.end).since(part.begin);
                tell(class, Sum { value: inside.0 as u64, ..sum });
            }
        }
    }

    fn waits_in(&self, stream: &Stream, waits: &[Wait], part: Part) -> BTreeMap<(CallPathId, Pattern), Sum> {
        let from = waits.partition_point(|wait| wait.end <= part.begin);
        let to = from + waits[from..].partition_point(|wait| wait.begin < part.end);
        let mut sums: BTreeMap<_, Sum> = BTreeMap::new();
        let at = |index: usize| wait(stream, waits, index);
        self.waits.tell(from..to, at, |key, sum| *sums.entry(key).or_default() += sum);
        // Waits of a PE follow each other: those that reach over an end are the first and the last.
        let inside = &waits[from..to];
        let early = inside.iter().take_while(|wait| wait.begin < part.begin);
        let late = inside.iter().rev().take_while(|wait| wait.end > part.end);
        let before = early.map(|wait| (wait, part.begin.since(wait.begin)));
        for (wait, outside) in before.chain(late.map(|wait| (wait, wait.end.since(part.end)))) {
            let key = (stream.visits.path[wait.operation.index()], wait.pattern);
            if let Some(sum) = sums.get_mut(&key) {
                sum.value = sum.value.saturating_sub(outside.0 as u64);
            }
        }
        sums
    }

    fn moved_in(&self, stream: &Stream, part: Part) -> [Sum; Moving::COUNT] {
        let mut moved = [Sum::default(); Moving::COUNT];
        let mut tell = |moving: Moving, sum| moved[moving as usize] += sum;
        self.sends.tell(part.rows(&stream.sends, |it| it.time), |row| sent(stream, row), &mut tell);
        self.recvs.tell(part.rows(&stream.recvs, |it| it.time), |row| received(stream, row), &mut tell);
        self.accesses.tell(part.rows(&stream.transfers, |it| it.time), |row| accessed(stream, row), &mut tell);
        let begun = part.rows(&self.begun, |row| stream.collectives[*row as usize].begin);
        self.collectives.tell(begun, |at| met(stream, self.begun[at]), &mut tell);
        self.files.tell(part.rows(&stream.io, |it| it.begin), |row| filed(stream, row), &mut tell);
        moved
    }
}

impl Found {
    fn nothing() -> Found {
        Found {
            times: Vec::new(),
            waits: BTreeMap::new(),
            moved: [Sum::default(); Moving::COUNT],
            durations: Vec::new(),
        }
    }
}

impl Part {
    /// The rows of a table in order of time that are in it.
    fn rows<T>(self, rows: &[T], time: impl Fn(&T) -> Time) -> Range<usize> {
        let from = rows.partition_point(|row| time(row) < self.begin);
        from..from + rows[from..].partition_point(|row| time(row) < self.until)
    }
}

impl Edges {
    pub(crate) fn new(clock: Clock) -> Edges {
        let decades = (0..18).flat_map(|power| [1, 2, 5].map(|step| step * 10i64.pow(power)));
        let ns: Vec<i64> = std::iter::once(0).chain(decades).collect();
        // The least ticks that are so long.
        let ticks = |ns: &i64| (i128::from(*ns) * i128::from(clock.ticks_per_second()) + 999_999_999) / 1_000_000_000;
        let ticks = ns.iter().map(|ns| ticks(ns).min(i128::from(i64::MAX)) as i64).collect();
        Edges { ns, ticks }
    }

    pub(crate) fn len(&self) -> usize {
        self.ns.len()
    }

    pub(crate) fn class(&self, duration: Span) -> u8 {
        (self.ticks.partition_point(|least| *least <= duration.0).max(1) - 1) as u8
    }

    /// The classes from the first to the last that have something.
    pub(crate) fn lasting(&self, counts: &[u64]) -> Vec<Lasting> {
        let to = |class: usize| self.ns.get(class + 1).copied().unwrap_or(i64::MAX);
        used(counts, |count| *count > 0)
            .map(|class| Lasting { from: self.ns[class], to: to(class), count: counts[class] })
            .collect()
    }
}

/// From the first class that has something to the last.
pub(crate) fn used<T>(classes: &[T], has: impl Fn(&T) -> bool) -> Range<usize> {
    let first = classes.iter().position(&has).unwrap_or(classes.len());
    let last = classes.iter().rposition(&has).map_or(first, |last| last + 1);
    first..last
}

/// What PEs were found to do, in their order; `times` is their time by kind.
fn spent(trace: &Trace, pes: &[PeId], times: &[Times], found: Vec<Found>) -> Spent {
    let mut spent = Spent {
        times: trace.pes().ids().map(|_| Vec::new()).collect(),
        waiting: Table::filled(trace.paths().len(), Span::ZERO),
        outside: Vec::new(),
    };
    for ((pe, found), times) in pes.iter().zip(found).zip(times) {
        spent.outside.extend(outside_of(trace, *pe, times, &found.times).map(|time| (*pe, time)));
        for ((path, _), sum) in found.waits {
            spent.waiting[path] += span(sum);
        }
        spent.times[*pe] = found.times;
    }
    spent
}

/// A row of times, with the children's in it.
fn time((path, sum): (CallPathId, Sum)) -> PathTime {
    let inclusive = span(sum);
    PathTime { path, inclusive, exclusive: inclusive, visits: sum.calls, extremes: None }
}

fn span(sum: Sum) -> Span {
    Span(i64::try_from(sum.value).unwrap_or(i64::MAX))
}

/// What a main thread did outside of all regions; threads are recorded inside of them only.
fn outside_of(trace: &Trace, pe: PeId, times: &Times, inside: &[PathTime]) -> Option<Span> {
    let is_main = trace.pes()[pe].thread == 0 && trace.pes()[pe].kind == PeKind::Cpu;
    let recorded: i64 = times[..Kind::Idle as usize].iter().sum();
    let inside: Span = inside.iter().map(|row| row.exclusive).sum();
    let outside = (Span(recorded) - inside).clamp_positive();
    (is_main && outside.is_positive()).then_some(outside)
}

fn visit(stream: &Stream, repeats: &[(VisitIx, u64)], edges: &Edges, index: usize) -> (Class, Sum) {
    let visit = stream.visits.at(VisitIx(index as u32));
    let at = repeats.partition_point(|(other, _)| other.index() < index);
    let same = repeats[at..].iter().take_while(|(other, _)| other.index() == index);
    let calls = same.fold(1u64, |sum, (_, more)| sum.saturating_add(*more));
    let duration = visit.duration();
    ((visit.path, edges.class(duration)), Sum { rows: 1, calls, value: duration.0 as u64 })
}

fn wait(stream: &Stream, waits: &[Wait], index: usize) -> ((CallPathId, Pattern), Sum) {
    let wait = &waits[index];
    ((stream.visits.path[wait.operation.index()], wait.pattern), Sum::one(wait.duration().0 as u64))
}

fn sent(stream: &Stream, row: usize) -> (Moving, Sum) {
    (Moving::Sent, Sum::one(stream.sends[row].bytes))
}

fn received(stream: &Stream, row: usize) -> (Moving, Sum) {
    (Moving::Received, Sum::one(stream.recvs[row].bytes))
}

fn accessed(stream: &Stream, row: usize) -> (Moving, Sum) {
    let access = &stream.transfers[row];
    let moving = match access.kind {
        RmaTransferKind::Put => Moving::Put,
        RmaTransferKind::Get => Moving::Got,
        RmaTransferKind::Atomic => Moving::Atomic,
    };
    (moving, Sum::one(access.bytes))
}

fn met(stream: &Stream, row: u32) -> (Moving, Sum) {
    let part = &stream.collectives[row as usize];
    (Moving::Collective, Sum::one(part.sent.saturating_add(part.received)))
}

fn filed(stream: &Stream, row: usize) -> (Moving, Sum) {
    let access = &stream.io[row];
    match access.kind {
        IoKind::Read => (Moving::Read, Sum::one(access.bytes)),
        IoKind::Write => (Moving::Written, Sum::one(access.bytes)),
        // It moves nothing that was not counted.
        IoKind::Flush => (Moving::Written, Sum::default()),
    }
}
