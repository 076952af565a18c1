//! Inclusive time and visits of every call path on every PE, in one pass over the columns of visits.
//!
//! Exclusive time needs no stack: it is a path's inclusive time less that of the paths that stand in it. The pass goes over
//! pieces of at most a million visits, so that one long PE is shared among threads; sums of integers make the result
//! independent of the split.

use std::ops::AddAssign;

use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::{CallPaths, PathProfile, Trace};

use crate::by_path::ByPath;
use crate::fold::{Fold, fold};

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
#[derive(Clone, Copy)]
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

/// Times of all PEs; those that a profile has, if that was recorded. Linear in visits.
pub fn path_times(trace: &Trace) -> PathTimes {
    if let Some(profile) = trace.profile() {
        let time = |row: &PathProfile| {
            let PathProfile { path, inclusive, exclusive, visits, .. } = *row;
            // A function's visits are known by the calls inside; one alone is its own shortest and longest.
            let extremes = row.extremes.or((visits == 1).then_some((inclusive, inclusive)));
            PathTime { path, inclusive, exclusive, visits, extremes }
        };
        let of_pe = |pe| profile.of(pe).map(|it| it.rows.iter().map(time).collect()).unwrap_or_default();
        return trace.pes().ids().map(of_pe).collect();
    }
    let pieces = trace
        .streams()
        .iter_ids()
        .flat_map(|(pe, stream)| (0..stream.visits.len().div_ceil(PIECE)).map(move |piece| (pe, piece * PIECE)));
    fold(&Times(trace), pieces.collect())
}

/// Times from visits, piece by piece.
struct Times<'a>(&'a Trace);

impl Fold for Times<'_> {
    /// A PE, and the first of its visits.
    type Part = (PeId, usize);
    type Partial = Vec<(PeId, Vec<(CallPathId, PathSum)>)>;
    type Output = PathTimes;
    type Room = ByPath<PathSum>;

    fn room(&self) -> ByPath<PathSum> {
        ByPath::new(self.0.paths().len())
    }

    fn map(&self, sums: &mut ByPath<PathSum>, (pe, first): (PeId, usize)) -> Self::Partial {
        let visits = &self.0.streams()[pe].visits;
        let range = first..visits.len().min(first + PIECE);
        let times = visits.enter[range.clone()].iter().zip(&visits.exit[range.clone()]);
        for ((enter, exit), path) in times.zip(&visits.path[range.clone()]) {
            let time = exit.since(*enter);
            sums.add(*path, PathSum { ticks: time.0, visits: 1, min: time, max: time });
        }
        for (visit, more) in self.0.streams()[pe].repeated().filter(|(visit, _)| range.contains(&visit.index())) {
            let more = PathSum { ticks: 0, visits: more, min: Span(i64::MAX), max: Span::ZERO };
            sums.add(visits.path[visit.index()], more);
        }
        vec![(pe, sums.take())]
    }

    fn merge(&self, all: &mut Self::Partial, next: Self::Partial) {
        all.extend(next);
    }

    fn finish(&self, all: Option<Self::Partial>) -> PathTimes {
        let mut merged = self.room();
        let mut times: PathTimes = self.0.pes().ids().map(|_| Vec::new()).collect();
        for pieces in all.unwrap_or_default().chunk_by(|a, b| a.0 == b.0) {
            for (path, sum) in pieces.iter().flat_map(|(_, sums)| sums) {
                merged.add(*path, *sum);
            }
            times[pieces[0].0] = exclusive(self.0.paths(), merged.take());
        }
        times
    }
}

/// Rows of one PE, in order of path, from sums.
fn exclusive(paths: &CallPaths, sums: Vec<(CallPathId, PathSum)>) -> Vec<PathTime> {
    let time = |(path, sum): (CallPathId, PathSum)| PathTime {
        path,
        inclusive: Span(sum.ticks),
        exclusive: Span(sum.ticks),
        visits: sum.visits,
        extremes: Some((sum.min, sum.max)),
    };
    let mut rows: Vec<PathTime> = sums.into_iter().map(time).collect();
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
