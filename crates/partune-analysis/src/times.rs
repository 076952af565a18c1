//! Inclusive time and visits of every call path on every PE, in one pass over the columns of visits.
//!
//! Exclusive time needs no stack: it is a path's inclusive time less that of the paths that stand in it. The pass goes over
//! pieces of at most a million visits, so that one long PE is shared among threads; sums of integers make the result
//! independent of the split.

use std::ops::{AddAssign, Range};

use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::{CallPaths, PathProfile, Profile, Trace, VisitIx, Visits};
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::by_path::ByPath;
use crate::fold::{Fold, fold};
use crate::queries::{Query, add_rows};

/// What one PE spent on one call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTime {
    pub path: CallPathId,
    /// From enter to exit, over all visits.
    pub inclusive: Span,
    /// Without the call paths directly below.
    pub exclusive: Span,
    pub visits: u64,
    /// The shortest and the longest visit; `None` where a profile has no more than their sum.
    pub extremes: Option<(Span, Span)>,
}

/// Per PE, the call paths that it visited, in order of path: 56 bytes each.
pub type PathTimes = Table<PeId, Vec<PathTime>>;

/// What visits of one call path add up to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PathSum {
    ticks: i64,
    visits: u64,
    min: Span,
    max: Span,
}

/// Visits that one task goes over.
const PIECE: usize = 1 << 20;

impl AddAssign for PathSum {
    fn add_assign(&mut self, more: PathSum) {
        self.ticks = self.ticks.saturating_add(more.ticks);
        self.visits += more.visits;
        self.min = self.min.min(more.min);
        self.max = self.max.max(more.max);
    }
}

impl PathSum {
    /// A part of a visit, or what stands for none.
    const fn part(ticks: i64, visits: u64) -> PathSum {
        PathSum { ticks, visits, min: Span(i64::MAX), max: Span::ZERO }
    }
}

/// Times of all PEs; those that a profile has, if that was recorded. Linear in visits.
pub fn path_times(trace: &Trace) -> PathTimes {
    PathSums::of_trace(trace).times(trace)
}

/// What [`PathTimes`] are made of, which adds up over slices of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PathSums {
    /// In order of path; nothing of a profile.
    of_pes: Table<PeId, Vec<(CallPathId, PathSum)>>,
    /// The ends of a slice; nothing of a whole run.
    ends: Table<PeId, Ends<Span>>,
}

/// Visits of a PE that are in several slices, outermost first, each with what is to be added up of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ends<T> {
    /// Those that began before this slice: what they have here, and whether they go on.
    begun: Vec<(CallPathId, T, bool)>,
    /// Those that go on in the next one: what they have so far, from where they began.
    open: Vec<(CallPathId, T)>,
}

impl Query for PathSums {
    fn of(input: &Input<'_>) -> PathSums {
        PathSums::of_trace(input.trace)
    }

    fn add(&mut self, next: PathSums) {
        let next = next.of_pes.into_vec().into_iter().zip(next.ends.into_vec());
        for ((sums, ends), (mut more, next)) in self.of_pes.iter_mut().zip(self.ends.iter_mut()).zip(next) {
            let over = |(path, all)| (path, PathSum { ticks: 0, visits: 1, min: all, max: all });
            more.extend(ends.go_on(next).into_iter().map(over));
            add_rows(sums, more, |(path, _)| *path, |sum, more| sum.1 += more.1);
        }
    }
}

impl PathSums {
    fn of_trace(trace: &Trace) -> PathSums {
        let pieces = trace
            .streams()
            .iter_ids()
            .flat_map(|(pe, stream)| (0..stream.visits.len().div_ceil(PIECE)).map(move |piece| (pe, piece * PIECE)));
        let of_pes = fold(&Times(trace), pieces.collect());
        let of_pe = |pe: PeId| {
            let visits = &trace.streams()[pe].visits;
            Ends::of(trace, pe, |visit| visits.at(VisitIx(visit as u32)).duration())
        };
        let ends = trace.pes().ids().map(of_pe).collect();
        PathSums { of_pes, ends }
    }

    /// Of the whole trace, or of a profile what that has.
    pub(crate) fn times(&self, trace: &Trace) -> PathTimes {
        match trace.profile() {
            Some(profile) => of_profile(trace, profile),
            None => self.of_pes.iter().map(|sums| exclusive(trace.paths(), sums)).collect(),
        }
    }
}

impl<T: AddAssign> Ends<T> {
    /// Those of a slice, where something is known of each visit that is in several.
    pub(crate) fn of(trace: &Trace, pe: PeId, what: impl Fn(usize) -> T) -> Ends<T> {
        let (visits, slice) = (&trace.streams()[pe].visits, trace.slice());
        let goes_on = |visit: usize| slice.is_some_and(|slice| slice.open[pe].iter().any(|it| it.index() == visit));
        let (mut begun, mut open) = (Vec::new(), Vec::new());
        for visit in in_several(trace, pe) {
            let path = visits.path[visit];
            if slice.is_some_and(|slice| visit < slice.begun[pe] as usize) {
                begun.push((path, what(visit), goes_on(visit)));
            } else {
                open.push((path, what(visit)));
            }
        }
        Ends { begun, open }
    }

    /// Goes on with the next slice; which visits ended in it, and all that they had.
    pub(crate) fn go_on(&mut self, next: Ends<T>) -> Vec<(CallPathId, T)> {
        let (mut open, mut over) = (Vec::new(), Vec::new());
        for ((path, mut all), (_, part, goes_on)) in self.open.drain(..).zip(next.begun) {
            all += part;
            if goes_on { &mut open } else { &mut over }.push((path, all));
        }
        open.extend(next.open);
        self.open = open;
        over
    }
}

fn of_profile(trace: &Trace, profile: &Profile) -> PathTimes {
    let time = |row: &PathProfile| {
        let PathProfile { path, inclusive, exclusive, visits, .. } = *row;
        // A function's visits are known by the calls inside; one alone is its own shortest and longest.
        let extremes = row.extremes.or((visits == 1).then_some((inclusive, inclusive)));
        PathTime { path, inclusive, exclusive, visits, extremes }
    };
    let of_pe = |pe| profile.of(pe).map(|it| it.rows.iter().map(time).collect()).unwrap_or_default();
    trace.pes().ids().map(of_pe).collect()
}

/// Times from visits, piece by piece.
struct Times<'a>(&'a Trace);

impl Fold for Times<'_> {
    /// A PE, and the first of its visits.
    type Part = (PeId, usize);
    type Partial = Vec<(PeId, Vec<(CallPathId, PathSum)>)>;
    type Output = Table<PeId, Vec<(CallPathId, PathSum)>>;
    type Room = ByPath<PathSum>;

    fn room(&self) -> ByPath<PathSum> {
        ByPath::new(self.0.paths().len())
    }

    fn map(&self, sums: &mut ByPath<PathSum>, (pe, first): (PeId, usize)) -> Self::Partial {
        let visits = &self.0.streams()[pe].visits;
        let range = first..visits.len().min(first + PIECE);
        // Visits that are in several slices are no more than their part here.
        let mut from = range.start;
        for at in in_several(self.0, pe).filter(|at| range.contains(at)) {
            add_all(visits, from..at, sums);
            let ticks = visits.exit[at].since(visits.enter[at]).0;
            sums.add(visits.path[at], PathSum::part(ticks, 0));
            from = at + 1;
        }
        add_all(visits, from..range.end, sums);
        for (visit, more) in self.0.streams()[pe].repeated().filter(|(visit, _)| range.contains(&visit.index())) {
            sums.add(visits.path[visit.index()], PathSum::part(0, more));
        }
        vec![(pe, sums.take())]
    }

    fn merge(&self, all: &mut Self::Partial, next: Self::Partial) {
        all.extend(next);
    }

    fn finish(&self, all: Option<Self::Partial>) -> Self::Output {
        let mut merged = self.room();
        let mut of_pes: Self::Output = self.0.pes().ids().map(|_| Vec::new()).collect();
        for pieces in all.unwrap_or_default().chunk_by(|a, b| a.0 == b.0) {
            for (path, sum) in pieces.iter().flat_map(|(_, sums)| sums) {
                merged.add(*path, *sum);
            }
            of_pes[pieces[0].0] = merged.take();
        }
        of_pes
    }
}

/// Visits of a PE that are in several slices, in order.
pub(crate) fn in_several(trace: &Trace, pe: PeId) -> impl Iterator<Item = usize> {
    let slice = trace.slice();
    let begun = slice.map_or(0, |slice| slice.begun[pe] as usize);
    let open = slice.map_or(&[][..], |slice| &slice.open[pe]);
    (0..begun).chain(open.iter().map(|visit| visit.index()).filter(move |visit| *visit >= begun))
}

fn add_all(visits: &Visits, range: Range<usize>, sums: &mut ByPath<PathSum>) {
    let times = visits.enter[range.clone()].iter().zip(&visits.exit[range.clone()]);
    for ((enter, exit), path) in times.zip(&visits.path[range]) {
        let time = exit.since(*enter);
        sums.add(*path, PathSum { ticks: time.0, visits: 1, min: time, max: time });
    }
}

/// Rows of one PE, in order of path, from sums.
fn exclusive(paths: &CallPaths, sums: &[(CallPathId, PathSum)]) -> Vec<PathTime> {
    let time = |(path, sum): &(CallPathId, PathSum)| PathTime {
        path: *path,
        inclusive: Span(sum.ticks),
        exclusive: Span(sum.ticks),
        visits: sum.visits,
        extremes: Some((sum.min, sum.max)),
    };
    let mut rows: Vec<PathTime> = sums.iter().map(time).collect();
    without_children(paths, &mut rows);
    rows
}

/// Takes the time of children from that of their parents, in the rows of one PE in order of path. A parent that this PE did not visit (a team's
/// code hangs under the path that forked it) has nothing to give.
pub fn without_children(paths: &CallPaths, rows: &mut [PathTime]) {
    for index in 0..rows.len() {
        let parent = paths.within(rows[index].path);
        if let Ok(at) = rows.binary_search_by_key(&parent, |row| row.path) {
            let inclusive = rows[index].inclusive;
            rows[at].exclusive = (rows[at].exclusive - inclusive).clamp_positive();
        }
    }
}
