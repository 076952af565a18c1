//! For each wait: what its cause did more than the waiting PE, since both were last together.

use std::ops::Range;

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_index::Index;
use partune_trace::Trace;
use rayon::prelude::*;

use crate::sync_points::{Meetings, SyncPoints};
use crate::timeline::{PathTimes, Timeline};
use crate::{Wait, Waits};

/// Share of all waiting that is not looked at in detail.
const NEGLIGIBLE: f64 = 0.01;
/// How often all visits may be looked at.
const LOOKS: u64 = 2;

/// The delay behind one wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excess {
    /// D: what the cause did more, in ticks.
    pub(crate) delay: Span,
    /// W: how long the cause waited itself.
    pub(crate) waited: Span,
    /// Those waits, as positions in [`Waits::as_slice`].
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Where D is, in [`PeExcess::parts`].
    pub(crate) parts: (u32, u32),
    /// The path with the largest part.
    pub(crate) origin: CallPathId,
    /// Whether the wait was looked at in detail.
    pub(crate) detailed: bool,
}

/// What is behind the waits of one PE.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeExcess {
    pub(crate) rows: Vec<Excess>,
    /// d(c): a share of D is this number over the sum of a wait's numbers.
    pub(crate) parts: Vec<(CallPathId, f32)>,
}

/// What is behind all waits.
pub(crate) struct AllExcess {
    pub(crate) pes: Table<PeId, PeExcess>,
}

/// What of the waits is needed most, side by side: when each ended, and the call path of its operation.
struct Compact<'a> {
    waits: &'a Waits,
    ends: Vec<Time>,
    paths: Vec<CallPathId>,
}

impl<'a> Compact<'a> {
    fn new(trace: &Trace, waits: &'a Waits) -> Compact<'a> {
        let rows = waits.as_slice().par_iter();
        let (ends, paths) = rows.map(|wait| (wait.end, trace.visit(wait.pe, wait.operation).path)).unzip();
        Compact { waits, ends, paths }
    }

    /// Positions of the waits of a PE.
    fn of_pe(&self, pe: PeId) -> Range<usize> {
        let first = self.waits.first_of_pe(pe);
        first..first + self.waits.of_pe(pe).len()
    }
}

/// Looks at all waits; parallel over PEs.
pub(crate) fn all(trace: &Trace, index: &Index, waits: &Waits) -> AllExcess {
    let pes: Vec<PeId> = trace.streams().ids().collect();
    let meetings = Meetings::new(trace, index);
    let begins: Vec<Vec<Time>> = pes
        .par_iter()
        .map(|pe| {
            let rows = waits.of_pe(*pe);
            if rows.is_empty() {
                return Vec::new();
            }
            let mut points = SyncPoints::new(trace, &meetings, *pe);
            rows.iter().map(|wait| since(&mut points, wait)).collect()
        })
        .collect();
    let threshold = threshold(trace, waits, &begins);
    let timelines: Vec<Timeline<'_>> = pes.par_iter().map(|pe| Timeline::new(trace, *pe)).collect();
    let timelines = Table::from(timelines);
    let compact = Compact::new(trace, waits);
    let found: Vec<PeExcess> = pes
        .par_iter()
        .map(|pe| {
            let mut times = [PathTimes::new(trace.paths().len()), PathTimes::new(trace.paths().len())];
            let mut found = PeExcess::default();
            for (wait, begin) in waits.of_pe(*pe).iter().zip(&begins[pe.index()]) {
                let row = if wait.cause.is_some() && wait.duration() >= threshold {
                    detailed(&compact, &timelines, wait, *begin, &mut times, &mut found.parts)
                } else {
                    Excess::NONE
                };
                found.rows.push(row);
            }
            found
        })
        .collect();
    AllExcess { pes: found.into() }
}

impl Excess {
    const NONE: Excess = Excess {
        delay: Span::ZERO,
        waited: Span::ZERO,
        first: 0,
        end: 0,
        parts: (0, 0),
        origin: CallPathId::NONE,
        detailed: false,
    };
}

/// Since when to look at both PEs of a wait.
fn since(points: &mut SyncPoints<'_>, wait: &Wait) -> Time {
    if wait.cause.is_some() { points.before(wait) } else { wait.begin }
}

/// Where the causes of single waits lost their time, for callers that ask for few: links the visits of both PEs anew each time.
pub(crate) struct Origins<'a> {
    trace: &'a Trace,
    compact: Compact<'a>,
    meetings: Meetings<'a>,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(trace: &'a Trace, index: &'a Index, waits: &'a Waits) -> Origins<'a> {
        Origins { trace, compact: Compact::new(trace, waits), meetings: Meetings::new(trace, index) }
    }

    /// The call path in which the cause of a wait spent most more than the waiting PE; none if there is none.
    pub(crate) fn of(&self, wait: &Wait) -> CallPathId {
        if !wait.cause.is_some() {
            return CallPathId::NONE;
        }
        let begin = since(&mut SyncPoints::new(self.trace, &self.meetings, wait.pe), wait);
        let paths = self.trace.paths().len();
        let mut times = [PathTimes::new(paths), PathTimes::new(paths)];
        let pair = (&Timeline::new(self.trace, wait.pe), &Timeline::new(self.trace, wait.cause.pe));
        difference(&self.compact, pair, wait, begin, &mut times);
        largest(times[0].iter())
    }
}

fn detailed(
    compact: &Compact<'_>,
    timelines: &Table<PeId, Timeline<'_>>,
    wait: &Wait,
    since: Time,
    times: &mut [PathTimes; 2],
    parts: &mut Vec<(CallPathId, f32)>,
) -> Excess {
    let pair = (&timelines[wait.pe], &timelines[wait.cause.pe]);
    let (first, end, waited) = difference(compact, pair, wait, since, times);
    let begin = parts.len() as u32;
    let [late, _] = times;
    let mut delay = Span::ZERO;
    for (path, time) in late.iter().filter(|(_, time)| time.is_positive()) {
        delay += time;
        parts.push((path, time.0 as f32));
    }
    let origin = largest(late.iter());
    Excess { delay, waited, first, end, parts: (begin, parts.len() as u32), origin, detailed: true }
}

/// The path with the most time, if any has some.
fn largest(times: impl Iterator<Item = (CallPathId, Span)>) -> CallPathId {
    let largest =
        times.filter(|(_, time)| time.is_positive()).max_by_key(|(path, time)| (*time, std::cmp::Reverse(*path)));
    largest.map_or(CallPathId::NONE, |(path, _)| path)
}

/// Leaves in `times[0]` what the cause did minus what the waiting PE did, by call path and without waits; returns the waits of
/// the cause and their sum.
fn difference(
    compact: &Compact<'_>,
    (own, other): (&Timeline<'_>, &Timeline<'_>),
    wait: &Wait,
    begin: Time,
    times: &mut [PathTimes; 2],
) -> (u32, u32, Span) {
    let [late, early] = times;
    late.clear();
    early.clear();
    other.add(begin, wait.end, wait.cause.visit, late);
    own.add(begin, wait.begin, wait.operation, early);
    without_waits(compact, wait.pe, begin, wait.begin, early);
    let (first, end, waited) = without_waits(compact, wait.cause.pe, begin, wait.end, late);
    // Exclusive times of an operation with visits inside can be shorter than its wait: no time is negative.
    for (path, time) in early.iter() {
        late.add(path, -time.clamp_positive());
    }
    (first, end, waited)
}

/// Takes the waits of a PE that ended within `(begin, end)` out of its times; returns their positions and sum.
fn without_waits(compact: &Compact<'_>, pe: PeId, begin: Time, end: Time, times: &mut PathTimes) -> (u32, u32, Span) {
    let all = compact.of_pe(pe);
    let end_at = all.start + compact.ends[all.clone()].partition_point(|ended| *ended < end);
    let mut first = end_at;
    let mut sum = Span::ZERO;
    while first > all.start && compact.ends[first - 1] > begin {
        first -= 1;
        let wait = &compact.waits.as_slice()[first];
        times.add(compact.paths[first], wait.begin.max(begin) - wait.end);
        sum += wait.duration();
    }
    (first as u32, end_at as u32, sum)
}

/// The shortest wait to look at in detail, from the two rules in the documentation of [`crate::delay`].
fn threshold(trace: &Trace, waits: &Waits, begins: &[Vec<Time>]) -> Span {
    let costs: Vec<Box<[(u64, u64)]>> = begins
        .par_iter()
        .enumerate()
        .map(|(pe, begins)| {
            let mut buckets = vec![(0, 0); BUCKETS].into_boxed_slice();
            for (wait, begin) in waits.of_pe(PeId::from_index(pe)).iter().zip(begins) {
                if wait.cause.is_some() {
                    let own = Timeline::cost(&trace.streams()[wait.pe].visits, *begin, wait.begin);
                    let other = Timeline::cost(&trace.streams()[wait.cause.pe].visits, *begin, wait.end);
                    let bucket = &mut buckets[bucket(wait.duration())];
                    bucket.0 += wait.duration().0 as u64;
                    bucket.1 += own + other;
                }
            }
            buckets
        })
        .collect();
    let visits: u64 = trace.streams().iter().map(|stream| stream.visits.len() as u64).sum();
    let mut budget = LOOKS * visits + (1 << 16);
    let total: u64 = costs.iter().flat_map(|buckets| buckets.iter().map(|bucket| bucket.0)).sum();
    let mut rest = total;
    for i in (0..BUCKETS).rev() {
        let cost: u64 = costs.iter().map(|buckets| buckets[i].1).sum();
        if cost > budget || (rest as f64) < NEGLIGIBLE * total as f64 {
            return floor(i + 1);
        }
        budget -= cost;
        rest -= costs.iter().map(|buckets| buckets[i].0).sum::<u64>();
    }
    Span::ZERO
}

const BUCKETS: usize = 64 * 8;

/// Durations by their highest bit and the three below it.
fn bucket(span: Span) -> usize {
    let ticks = span.0.max(1) as u64;
    let log = ticks.ilog2();
    let below = if log >= 3 { ticks >> (log - 3) } else { ticks << (3 - log) };
    log as usize * 8 + (below & 7) as usize
}

/// The smallest duration in a bucket.
fn floor(bucket: usize) -> Span {
    let (log, below) = (bucket / 8, (bucket % 8) as u64);
    if log >= 62 {
        return Span(i64::MAX);
    }
    let ticks = (8 | below) << log;
    Span((ticks >> 3) as i64)
}
