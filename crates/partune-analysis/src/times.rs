//! Inclusive time and visits of every call path on every PE, in one pass over the columns of visits.
//!
//! Exclusive time needs no stack: it is a path's inclusive time less that of its children in the tree. The pass goes over
//! pieces of at most a million visits, so that one long PE is shared among threads; sums of integers make the result
//! independent of the split.

use partune_base::{CallPathId, Id, PeId, Span, Table};
use partune_trace::{CallPaths, PathProfile, Trace};
use rayon::prelude::*;

/// What one PE spent on one call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTime {
    pub path: CallPathId,
    /// From enter to exit, over all visits.
    pub inclusive: Span,
    /// Without the call paths directly below.
    pub exclusive: Span,
    pub visits: u64,
}

/// Per PE, the call paths that it visited, in order of path: 32 bytes each.
pub type PathTimes = Table<PeId, Vec<PathTime>>;

/// Ticks and visits of a call path.
type PathSum = (CallPathId, i64, u64);

/// Visits that one task goes over.
const PIECE: usize = 1 << 20;

/// Adds up sums per path in a dense array that is used again by the next task.
struct Scratch {
    sums: Vec<(i64, u64)>,
    touched: Vec<CallPathId>,
}

impl Scratch {
    fn new(paths: usize) -> Scratch {
        Scratch { sums: vec![(0, 0); paths], touched: Vec::new() }
    }

    fn add(&mut self, path: CallPathId, ticks: i64, visits: u64) {
        let sum = &mut self.sums[path.index()];
        if sum.1 == 0 {
            self.touched.push(path);
        }
        sum.0 = sum.0.saturating_add(ticks);
        sum.1 += visits;
    }

    /// The sums in order of path; empties the scratch.
    fn take(&mut self) -> Vec<PathSum> {
        self.touched.sort_unstable();
        let sums = &mut self.sums;
        self.touched
            .drain(..)
            .map(|path| {
                let (ticks, visits) = std::mem::take(&mut sums[path.index()]);
                (path, ticks, visits)
            })
            .collect()
    }
}

/// Times of all PEs; those that a profile has, if that was recorded. Linear in visits.
pub fn path_times(trace: &Trace) -> PathTimes {
    if let Some(profile) = trace.profile() {
        let time = |row: &PathProfile| {
            let PathProfile { path, inclusive, exclusive, visits, .. } = *row;
            PathTime { path, inclusive, exclusive, visits }
        };
        let of_pe = |pe| profile.of(pe).map(|it| it.rows.iter().map(time).collect()).unwrap_or_default();
        return trace.pes().ids().map(of_pe).collect();
    }
    let pieces: Vec<(PeId, usize)> = trace
        .streams()
        .iter_ids()
        .flat_map(|(pe, stream)| (0..stream.visits.len().div_ceil(PIECE)).map(move |piece| (pe, piece * PIECE)))
        .collect();
    let paths = trace.paths().len();
    let sums: Vec<(PeId, Vec<PathSum>)> = pieces
        .into_par_iter()
        .map_init(
            || Scratch::new(paths),
            |scratch, (pe, first)| {
                let visits = &trace.streams()[pe].visits;
                let range = first..visits.len().min(first + PIECE);
                let times = visits.enter[range.clone()].iter().zip(&visits.exit[range.clone()]);
                for ((enter, exit), path) in times.zip(&visits.path[range]) {
                    scratch.add(*path, exit.since(*enter).0, 1);
                }
                (pe, scratch.take())
            },
        )
        .collect();
    let mut merged = Scratch::new(paths);
    let mut times: PathTimes = trace.pes().ids().map(|_| Vec::new()).collect();
    for pieces in sums.chunk_by(|a, b| a.0 == b.0) {
        for (path, ticks, visits) in pieces.iter().flat_map(|(_, sums)| sums) {
            merged.add(*path, *ticks, *visits);
        }
        times[pieces[0].0] = exclusive(trace.paths(), merged.take());
    }
    times
}

/// Takes the time of children from that of their parents. A parent that this PE did not visit (a team's code hangs under the
/// path that forked it) has nothing to give.
fn exclusive(paths: &CallPaths, sums: Vec<PathSum>) -> Vec<PathTime> {
    let mut rows: Vec<PathTime> = sums
        .into_iter()
        .map(|(path, ticks, visits)| PathTime { path, inclusive: Span(ticks), exclusive: Span(ticks), visits })
        .collect();
    for index in 0..rows.len() {
        let parent = paths.parent(rows[index].path);
        if let Ok(at) = rows.binary_search_by_key(&parent, |row| row.path) {
            let inclusive = rows[index].inclusive;
            rows[at].exclusive = (rows[at].exclusive - inclusive).clamp_positive();
        }
    }
    rows
}
