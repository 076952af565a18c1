//! What pictures show of a run that is looked at in slices: sums of bounded size in place of its events, which add up.
//!
//! Time by kind is kept for *stretches* of equal length, a power of two ticks; where the run gets more of them than are kept, two become one. So what is kept does not depend on where
//! the run was cut. In a stretch time is spread evenly: bins of a view are exact where they begin and end with stretches, and the whole run is.
//! Of the critical path the longest part that begins in each stretch is kept, as each slice has it: at a cut it leads by the PE that came last. Of waits the 200 longest of each pattern and call path are kept.
//! Memory: 96 bytes for each PE and stretch, 24 for each PE and call path with waits or bytes, and 64 for each of the longest waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use partune_analysis::{ByPath, CriticalPath, Pattern, Waits, add_rows};
use partune_base::{CallPathId, PeId, RegionId, Span, Table, Time};
use partune_index::Index;
use partune_trace::Trace;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::detail;
use crate::tiles::shares;
use crate::{Bin, Detail, Fold, Kind, Tiles, Times, View};

/// Stretches of all PEs together, and of one at least and at most.
const STRETCHES: usize = 1 << 18;
const LEAST: usize = 16;
const MOST: usize = 1 << 12;
/// Waits that are kept of a place.
const WAITS: usize = 200;

/// What is kept of a run, or of a slice of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sketch {
    course: Course,
    /// In order of path.
    of_pes: Table<PeId, Vec<(CallPathId, Done)>>,
    longest: BTreeMap<(Pattern, CallPathId), Vec<LongWait>>,
    critical: Vec<(PeId, Time, Time)>,
}

/// What a PE waited and moved at a call path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub waited: Span,
    pub bytes: u64,
}

/// A wait, and the operation that ended it, where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWait {
    pub pe: PeId,
    pub begin: Time,
    pub end: Time,
    pub cause_pe: PeId,
    /// Its call path, and from when to when it was.
    pub cause: Option<(CallPathId, Time, Time)>,
}

/// Time by kind over the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Course {
    begin: Time,
    end: Time,
    /// Ticks of a stretch, as a power of two, and the number of the first one: they are counted from the begin of time.
    power: u32,
    first: i64,
    stretches: Table<PeId, Vec<Times>>,
}

/// Where a walk over the moments of one PE stands: stretches that have passed, and what was in them.
#[derive(Default)]
struct Walk {
    passed: usize,
    sums: Times,
}

impl AddAssign for Done {
    fn add_assign(&mut self, more: Done) {
        self.waited += more.waited;
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

impl LongWait {
    fn order(&self) -> (Reverse<Span>, PeId, Time) {
        (Reverse(self.end.since(self.begin)), self.pe, self.begin)
    }
}

impl Sketch {
    /// Of a slice, or of a run. Linear in operations, waits and visits of other threads than main ones; parallel over PEs.
    pub fn new(trace: &Trace, index: &Index, waits: &Waits) -> Sketch {
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let sums = || ByPath::new(trace.paths().len());
        let of_pe = |sums: &mut ByPath<Done>, pe: PeId| {
            let stream = &trace.streams()[pe];
            for wait in waits.of_pe(pe) {
                sums.add(trace.visit(pe, wait.operation).path, Done { waited: wait.duration(), bytes: 0 });
            }
            for (visit, sent, received) in stream.moved().filter(|(visit, ..)| visit.is_some()) {
                let bytes = sent.saturating_add(received);
                sums.add(stream.visits.at(visit).path, Done { waited: Span::ZERO, bytes });
            }
            sums.take()
        };
        let of_pes: Vec<_> = pes.into_par_iter().map_init(sums, of_pe).collect();
        let mut critical = CriticalPath::find(trace, index, waits).parts;
        critical.reverse();
        let (course, longest) = (Course::new(trace, waits), longest(trace, waits));
        let mut sketch = Sketch { course, of_pes: of_pes.into(), longest, critical };
        sketch.thin();
        sketch
    }

    /// Adds that of the next slice.
    pub fn add(&mut self, next: Sketch) {
        self.course.add(next.course);
        for (sums, more) in self.of_pes.iter_mut().zip(next.of_pes.into_vec()) {
            add_rows(sums, more, |(path, _)| *path, |sum, more| sum.1 += more.1);
        }
        for (place, more) in next.longest {
            let waits = self.longest.entry(place).or_default();
            waits.extend(more);
            keep_longest(waits, WAITS);
        }
        self.go_on(next.critical);
        self.thin();
    }

    /// Adds the parts of a later slice. PEs do not leave the meeting between at the same time.
    fn go_on(&mut self, parts: Vec<(PeId, Time, Time)>) {
        let until = self.critical.last().map_or(Time::MIN, |part| part.2);
        for (pe, from, to) in parts.into_iter().filter(|part| part.2 > until) {
            match self.critical.last_mut().filter(|last| last.0 == pe && last.2 >= from) {
                Some(last) => last.2 = to,
                None => self.critical.push((pe, from.max(until), to)),
            }
        }
    }

    /// Leaves of the critical path the longest part that begins in each stretch, the first of equal ones.
    fn thin(&mut self) {
        let power = self.course.power;
        let length = |part: &(PeId, Time, Time)| part.2.since(part.1);
        self.critical.dedup_by(|next, kept| {
            let is_same = next.1.0 >> power == kept.1.0 >> power;
            if is_same && length(next) > length(kept) {
                *kept = *next;
            }
            is_same
        });
    }

    /// The bins of a view.
    pub fn tiles(&self, fold: &Fold, view: View) -> Tiles {
        let before = |pe, walk: &mut Walk, moment| self.course.before(pe, walk, moment);
        let bins = shares(fold, view, before, detail::complete).into_iter().map(|shares| Bin { shares }).collect();
        Tiles::new(view, bins)
    }

    /// The time of each kind of one PE in an interval.
    pub fn times(&self, pe: PeId, begin: Time, end: Time) -> Times {
        let mut walk = Walk::default();
        let before = self.course.before(pe, &mut walk, begin);
        detail::between(before, self.course.before(pe, &mut walk, end.max(begin)), end.since(begin))
    }

    /// Parts of the critical path, in order of time: a PE, from, to.
    pub fn critical_path(&self) -> &[(PeId, Time, Time)] {
        &self.critical
    }

    /// What a PE waited and moved, by call path.
    pub fn of_pe(&self, pe: PeId) -> &[(CallPathId, Done)] {
        self.of_pes.get(pe).map_or(&[], Vec::as_slice)
    }

    /// Bytes that the visits of each region moved.
    pub fn moved(&self, trace: &Trace) -> Table<RegionId, u64> {
        let mut sums = Table::filled(trace.regions().len(), 0u64);
        for (path, done) in self.of_pes.iter().flatten() {
            let sum: &mut u64 = &mut sums[trace.paths().region(*path)];
            *sum = sum.saturating_add(done.bytes);
        }
        sums
    }

    /// The longest waits of a pattern in operations of some call paths, in order, longest first: of each path at most 200.
    pub fn longest(
        &self,
        pattern: Pattern,
        paths: impl Iterator<Item = CallPathId>,
        most: usize,
    ) -> Vec<(CallPathId, LongWait)> {
        let at = |path| self.longest.get(&(pattern, path)).into_iter().flatten().map(move |wait| (path, *wait));
        let mut found: Vec<_> = paths.flat_map(at).collect();
        found.sort_by_key(|(_, wait)| wait.order());
        found.truncate(most);
        found
    }

    /// The longest of all places, longest first.
    pub fn longest_of_all(&self) -> Vec<(Pattern, CallPathId, LongWait)> {
        let places = self.longest.iter();
        let mut all: Vec<_> =
            places.flat_map(|((pattern, path), waits)| waits.iter().map(|wait| (*pattern, *path, *wait))).collect();
        all.sort_by_key(|(pattern, path, wait)| (wait.order(), *pattern, *path));
        all
    }
}

/// The longest waits of each place.
fn longest(trace: &Trace, waits: &Waits) -> BTreeMap<(Pattern, CallPathId), Vec<LongWait>> {
    let mut longest: BTreeMap<(Pattern, CallPathId), Vec<LongWait>> = BTreeMap::new();
    for wait in waits {
        let cause = wait.cause.is_some().then(|| trace.visit(wait.cause.pe, wait.cause.visit));
        let cause = cause.map(|visit| (visit.path, visit.enter, visit.exit));
        let path = trace.visit(wait.pe, wait.operation).path;
        let of_place = longest.entry((wait.pattern, path)).or_default();
        of_place.push(LongWait { pe: wait.pe, begin: wait.begin, end: wait.end, cause_pe: wait.cause.pe, cause });
        if of_place.len() >= 8 * WAITS {
            keep_longest(of_place, WAITS);
        }
    }
    longest.values_mut().for_each(|waits| keep_longest(waits, WAITS));
    longest
}

fn keep_longest(waits: &mut Vec<LongWait>, most: usize) {
    waits.sort_by_key(LongWait::order);
    waits.truncate(most);
}

/// Stretches that are kept of each of so many PEs.
fn most(pes: usize) -> usize {
    (STRETCHES / pes.max(1)).clamp(LEAST, MOST)
}

impl Course {
    fn new(trace: &Trace, waits: &Waits) -> Course {
        let (begin, end) = (trace.begin(), trace.end());
        let mut course = Course { begin, end, power: 0, first: 0, stretches: Table::default() };
        course.power = course.least_power(most(trace.pes().len()));
        course.first = begin.0 >> course.power;
        let count = (end.0 >> course.power) - course.first + 1;
        let detail = Detail::new(trace, waits);
        let edges: Vec<Time> = (0..=count).map(|at| course.edge(at)).collect();
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let of_pe = |pe: PeId| {
            let moments = detail.at(trace, waits, pe, &edges);
            let between = |both: &[Times]| std::array::from_fn(|kind| both[1][kind] - both[0][kind]);
            moments.windows(2).map(between).collect::<Vec<Times>>()
        };
        course.stretches = pes.into_par_iter().map(of_pe).collect::<Vec<_>>().into();
        course
    }

    /// Where a stretch begins.
    fn edge(&self, at: i64) -> Time {
        Time::clamped(i128::from(self.first + at) << self.power)
    }

    /// The shortest stretches of which at most so many are between begin and end.
    fn least_power(&self, most: usize) -> u32 {
        let is_enough = |power: &u32| (self.end.0 >> power).saturating_sub(self.begin.0 >> power) < most as i64;
        (self.power..i64::BITS).find(is_enough).unwrap_or(i64::BITS - 1)
    }

    fn add(&mut self, mut next: Course) {
        (self.begin, self.end) = (self.begin.min(next.begin), self.end.max(next.end));
        let power = self.least_power(most(self.stretches.len())).max(next.power);
        self.lengthen(power);
        next.lengthen(power);
        let first = self.first.min(next.first);
        let [before, at] = [self.first - first, next.first - first].map(|stretches| stretches as usize);
        self.first = first;
        for (sums, more) in self.stretches.iter_mut().zip(next.stretches.into_vec()) {
            sums.splice(0..0, std::iter::repeat_n([0; Kind::COUNT], before));
            sums.resize(sums.len().max(at + more.len()), [0; Kind::COUNT]);
            sums[at..].iter_mut().zip(more).for_each(|(sum, more)| add(sum, more));
        }
    }

    /// Makes one stretch of several, for stretches of a length.
    fn lengthen(&mut self, power: u32) {
        let of_old = |old: i64| old >> (power - self.power);
        let first = of_old(self.first);
        for stretches in &mut self.stretches {
            let mut longer: Vec<Times> = Vec::with_capacity(stretches.len());
            for (old, times) in (self.first..).zip(stretches.drain(..)) {
                match longer.get_mut((of_old(old) - first) as usize) {
                    Some(sum) => add(sum, times),
                    None => longer.push(times),
                }
            }
            *stretches = longer;
        }
        (self.first, self.power) = (first, power);
    }

    /// All kinds but idle, up to a moment, which must not be before that of an earlier call with this walk.
    fn before(&self, pe: PeId, walk: &mut Walk, moment: Time) -> Times {
        let stretches = self.stretches.get(pe).map_or(&[][..], Vec::as_slice);
        let moment = moment.clamp(self.begin, self.end.max(self.begin));
        let here = ((moment.0 >> self.power) - self.first) as usize;
        for times in &stretches[walk.passed.min(stretches.len())..here.min(stretches.len())] {
            add(&mut walk.sums, *times);
        }
        walk.passed = here;
        let mut sums = walk.sums;
        if let Some(times) = stretches.get(here) {
            let (from, to) = (self.edge(here as i64).max(self.begin), self.edge(here as i64 + 1).min(self.end));
            let (part, all) = (i128::from(moment.since(from).0), i128::from(to.since(from).0));
            let share = |ticks: i64| if part < all { (i128::from(ticks) * part / all) as i64 } else { ticks };
            add(&mut sums, times.map(share));
        }
        sums
    }
}

fn add(sums: &mut Times, more: Times) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
}
