//! For each wait: what its cause did more than the waiting PE, since both were last together.

use std::ops::Range;
use std::sync::OnceLock;

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_index::Index;
use partune_trace::Trace;
use rayon::prelude::*;

use super::selection::Selection;
use crate::shared::Memo;
use crate::sync_points::{Meetings, SyncPoints};
use crate::timeline::{PathTimes, Timeline};
use crate::{Wait, Waits};

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
}

/// What is behind the waits of one PE.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeExcess {
    /// Of those looked at in detail.
    rows: Vec<Excess>,
    /// Position in `rows` of each wait, [`NOT_LOOKED_AT`] for the others.
    numbers: Vec<u32>,
    /// d(c): a share of D is this number over the sum of a wait's numbers.
    pub(crate) parts: Vec<(CallPathId, f32)>,
}

const NOT_LOOKED_AT: u32 = u32::MAX;

impl PeExcess {
    /// What is behind a wait of the PE, if it was looked at in detail.
    pub(crate) fn of(&self, wait: usize) -> Option<&Excess> {
        self.rows.get(self.numbers[wait] as usize)
    }

    /// The same for all waits of the PE.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&Excess>> {
        self.numbers.iter().map(|number| self.rows.get(*number as usize))
    }
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

/// Some waits of a PE, in order, and since when to look.
pub(super) type Begins = Vec<(u32, Time)>;

/// Looks at all waits; parallel over PEs.
pub(crate) fn all(trace: &Trace, index: &Index, waits: &Waits) -> AllExcess {
    let pes: Vec<PeId> = trace.streams().ids().collect();
    let meetings = Meetings::new(trace, index);
    let many = Selection::by_number(waits);
    let begins: Vec<Begins> = pes
        .par_iter()
        .map(|pe| {
            let mut points = SyncPoints::new(trace, &meetings, *pe);
            let rows = waits.of_pe(*pe).iter().enumerate();
            let rows = rows.filter(|(i, wait)| many.has(*i, wait));
            rows.map(|(i, wait)| (i as u32, points.before(wait))).collect()
        })
        .collect();
    let costly = Selection::by_cost(trace, waits, &begins);
    let timelines: Vec<Timeline<'_>> = pes.par_iter().map(|pe| Timeline::new(trace, *pe)).collect();
    let timelines = Table::from(timelines);
    let compact = Compact::new(trace, waits);
    let no_times = || [PathTimes::new(trace.paths().len()), PathTimes::new(trace.paths().len())];
    let found: Vec<PeExcess> = pes
        .par_iter()
        .map_init(no_times, |times, pe| {
            let waits = waits.of_pe(*pe);
            let mut found = PeExcess { numbers: vec![NOT_LOOKED_AT; waits.len()], ..PeExcess::default() };
            for (i, begin) in &begins[pe.index()] {
                let i = *i as usize;
                let wait = &waits[i];
                if costly.has(i, wait) {
                    let pair = (&timelines[*pe], &timelines[wait.cause.pe]);
                    found.numbers[i] = found.rows.len() as u32;
                    found.rows.push(detailed(&compact, pair, wait, *begin, times, &mut found.parts));
                }
            }
            found
        })
        .collect();
    AllExcess { pes: found.into() }
}

/// What is behind single waits, for callers that ask for few. Links the visits of a PE when it is first asked for.
pub(crate) struct Lookup<'a> {
    trace: &'a Trace,
    index: &'a Index,
    waits: &'a Waits,
    compact: Memo<Compact<'a>>,
    meetings: Memo<Meetings<'a>>,
    timelines: Table<PeId, OnceLock<Timeline<'a>>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(trace: &'a Trace, index: &'a Index, waits: &'a Waits) -> Lookup<'a> {
        let timelines = trace.streams().ids().map(|_| OnceLock::new()).collect();
        Lookup { trace, index, waits, compact: Memo::default(), meetings: Memo::default(), timelines }
    }

    /// The delay behind a wait that has a cause, since a moment or since both PEs were last together, its parts, and about how many visits were looked at.
    pub(crate) fn of(
        &self,
        wait: &Wait,
        since: Option<Time>,
        times: &mut [PathTimes; 2],
    ) -> (Excess, Vec<(CallPathId, f32)>, u64) {
        let meetings = || self.meetings.get(|| Meetings::new(self.trace, self.index));
        let since = since.unwrap_or_else(|| SyncPoints::new(self.trace, meetings(), wait.pe).before(wait));
        let compact = self.compact.get(|| Compact::new(self.trace, self.waits));
        let timeline = |pe: PeId| self.timelines[pe].get_or_init(|| Timeline::new(self.trace, pe));
        let mut parts = Vec::new();
        let pair = (timeline(wait.pe), timeline(wait.cause.pe));
        let excess = detailed(compact, pair, wait, since, times, &mut parts);
        let visits = |pe: PeId| Timeline::cost(&self.trace.streams()[pe].visits, since, wait.end);
        (excess, parts, visits(wait.pe) + visits(wait.cause.pe))
    }
}

fn detailed(
    compact: &Compact<'_>,
    pair: (&Timeline<'_>, &Timeline<'_>),
    wait: &Wait,
    since: Time,
    times: &mut [PathTimes; 2],
    parts: &mut Vec<(CallPathId, f32)>,
) -> Excess {
    let (first, end, waited) = difference(compact, pair, wait, since, times);
    let begin = parts.len() as u32;
    let [late, _] = times;
    let mut delay = Span::ZERO;
    for (path, time) in late.iter().filter(|(_, time)| time.is_positive()) {
        delay += time;
        parts.push((path, time.0 as f32));
    }
    Excess { delay, waited, first, end, parts: (begin, parts.len() as u32) }
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
