//! Iterations that the user marked: they decide what an iteration of the bounds' tensor is, where a trace has them.
//!
//! Without marks every block is an iteration of the region of the place that closes it. With marks an iteration is one turn of the
//! marked loop (of nested ones the outermost), and
//!
//! - a block that ends in a turn belongs to it. Blocks that close at the same place in one turn are regions of their own, by
//!   their order in the turn: imbalance that is the same in every turn is that of regions (M'), what changes is dynamic (D);
//! - a block in which several turns begin, because no global synchronisation is between them, is cut where they begin, and
//!   behind the last of them. PEs may run ahead of each other, so that the sum of the maxima exceeds the time that the block
//!   took and would be no bound. Then 2, 4, 8, … turns are one iteration, as few as needed (theory 2.1: what no barrier
//!   separates is merged); if two such are still too many, the block stays whole.
//!
//! Not cut are serial regions, and blocks in which PEs begin different numbers of turns.

use std::cmp::Reverse;

use partune_base::{CallPathId, Id, PeId, ProcessId, RegionId, Time};
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::block_work::{BlockWork, Row};
use crate::spending::{Kinds, Meter};
use crate::tensor::RegionKind;
use crate::tiling::Tiling;

/// A turn of a marked loop on one PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    begin: Time,
    end: Time,
    path: CallPathId,
}

/// Where a row of the tensor lies in the turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Part {
    /// A block that ends in no turn.
    Outside,
    /// The k-th block of its region in a turn.
    Block(CallPathId, u32),
    /// A turn, and what follows until the next one begins.
    Turn(CallPathId),
    /// In a block that is cut: what comes before its first turn, and after its last one.
    Head,
    Tail,
}

/// A block that is cut at turns.
struct Cut {
    row: usize,
    /// The turns that begin in it.
    paths: Vec<CallPathId>,
    /// For each PE the times between its pieces: head, turns, tail.
    times: Vec<Vec<Time>>,
}

/// The same work with marked iterations as iterations; as it was if nothing is marked. `kinds` are those of its regions.
pub(crate) fn refine(
    input: &Input<'_>,
    tiling: &Tiling,
    of_paths: &Kinds,
    blocks: BlockWork,
    kinds: &[RegionKind],
) -> BlockWork {
    let Some(turns) = turns(input.trace, &blocks.pes) else { return blocks };
    let extents = |tile: usize| tiling.extents_of(tile).collect::<Vec<_>>();
    let is_cut = |row: &Row| kinds[row.region] == RegionKind::Parallel;
    let found: Vec<Cut> = (0..blocks.rows.len())
        .filter(|row| is_cut(&blocks.rows[*row]))
        .filter_map(|row| cut(row, &turns, &extents(blocks.rows[row].tile)))
        .collect();
    let work = measure(input, tiling, of_paths, &blocks, &found);
    let n = blocks.pes.len().max(1);
    let mut refiner = Refiner {
        phases: FxHashMap::default(),
        counts: vec![(usize::MAX, 0); blocks.regions.len()],
        work: blocks.without_rows(),
    };
    let mut found = found.iter().zip(&work).peekable();
    for (index, (row, ticks)) in blocks.rows.iter().zip(blocks.ticks()).enumerate() {
        let cut = found.next_if(|(cut, _)| cut.row == index);
        let limit = i128::from(blocks.links[row.tile].length);
        match cut.and_then(|(cut, work)| Some((cut.merged_to_fit(limit, n, work)?, cut))) {
            Some((pieces, cut)) => refiner.cut(*row, cut, &pieces),
            None => refiner.whole(*row, ticks, turn_at_end(&turns, &extents(row.tile))),
        }
    }
    refiner.work
}

/// When the last PE has begun each turn of the main loop: of the marked loops the one that takes most time, and as many turns as every
/// PE has that has any. `None` if nothing is marked. Linear in visits.
pub fn turn_begins(trace: &Trace) -> Option<Vec<Time>> {
    let turns = turns(trace, &trace.cpu_pes().collect::<Vec<_>>())?;
    let region = |turn: &Turn| trace.paths().region(turn.path);
    let mut times: Vec<(i64, Reverse<RegionId>)> = trace.regions().ids().map(|region| (0, Reverse(region))).collect();
    for turn in turns.iter().flatten() {
        times[region(turn).index()].0 += turn.end.since(turn.begin).0;
    }
    let Reverse(main) = times.into_iter().max()?.1;
    let of_main = |turns: &Vec<Turn>| -> Vec<Time> {
        turns.iter().filter(|turn| region(turn) == main).map(|turn| turn.begin).collect()
    };
    let begins = turns.iter().map(of_main).filter(|begins| !begins.is_empty());
    begins.reduce(|all, begins| all.into_iter().zip(begins).map(|(a, b)| a.max(b)).collect())
}

/// The outermost marked turns of these PEs, in order; of a thread without its own those of its process. `None` if nothing is
/// marked.
fn turns(trace: &Trace, pes: &[PeId]) -> Option<Vec<Vec<Turn>>> {
    let is_turn =
        |path: CallPathId| trace.regions()[trace.paths().region(path)].kind == partune_trace::RegionKind::Iteration;
    let outermost = trace.paths().outermost(1, |path| is_turn(path).then_some(0));
    if !outermost.iter().any(|is| *is) {
        return None;
    }
    let mut turns: Vec<Vec<Turn>> = pes
        .par_iter()
        .map(|pe| {
            let visits = trace.streams()[*pe].visits.iter().filter(|visit| outermost[visit.path]);
            visits.map(|visit| Turn { begin: visit.enter, end: visit.exit, path: visit.path }).collect()
        })
        .collect();
    let mut of_process: FxHashMap<ProcessId, Vec<Turn>> = FxHashMap::default();
    for (pe, turns) in pes.iter().zip(&mut turns) {
        let process = trace.pes()[*pe].process;
        if turns.is_empty() {
            *turns = of_process.get(&process).cloned().unwrap_or_default();
        } else {
            of_process.entry(process).or_insert_with(|| turns.clone());
        }
    }
    Some(turns)
}

/// How a block is cut; `None` if fewer than two turns begin in it, or not as many on every PE.
fn cut(row: usize, turns: &[Vec<Turn>], extents: &[(Time, Time)]) -> Option<Cut> {
    let inside = |(turns, (begin, end)): (&'_ Vec<Turn>, &(Time, Time))| {
        let first = turns.partition_point(|turn| turn.begin < *begin);
        let last = turns.partition_point(|turn| turn.begin < *end);
        first..last.max(first)
    };
    let ranges: Vec<_> = turns.iter().zip(extents).map(inside).collect();
    let count = ranges.first().map_or(0, ExactSizeIterator::len);
    if count < 2 || ranges.iter().any(|range| range.len() != count) {
        return None;
    }
    let paths = turns[0][ranges[0].clone()].iter().map(|turn| turn.path).collect();
    let times = turns.iter().zip(ranges).zip(extents).map(|((turns, range), (_, end))| {
        let turns = &turns[range];
        let tail = turns.last().map(|turn| turn.end.min(*end));
        turns.iter().map(|turn| turn.begin).chain(tail).collect()
    });
    Some(Cut { row, paths, times: times.collect() })
}

/// The work in the pieces of blocks that are cut: PEs of the first piece, of the second, and so on.
fn measure(input: &Input<'_>, tiling: &Tiling, kinds: &Kinds, blocks: &BlockWork, cuts: &[Cut]) -> Vec<Vec<i64>> {
    let columns: Vec<Vec<Vec<i64>>> = (0..blocks.pes.len())
        .into_par_iter()
        .map(|at| {
            let mut meter = Meter::new(input, blocks.pes[at], tiling.span, kinds);
            let mut of_cut = |cut: &Cut| {
                let (begin, end) = tiling.extents[at][blocks.rows[cut.row].tile];
                let mut before = meter.up_to(begin).work();
                let times = cut.times[at].iter().copied().chain([end]);
                let pieces = times.map(|time| {
                    let now = meter.up_to(time).work();
                    (now - std::mem::replace(&mut before, now)).max(0)
                });
                pieces.collect::<Vec<i64>>()
            };
            cuts.iter().map(&mut of_cut).collect()
        })
        .collect();
    let of_cut = |number: usize| {
        let pieces = 0..cuts[number].paths.len() + 2;
        pieces.flat_map(|piece| columns.iter().map(move |column| column[number][piece]).collect::<Vec<_>>()).collect()
    };
    (0..cuts.len()).map(of_cut).collect()
}

/// A piece of a block that is cut.
struct Piece {
    part: Part,
    /// The boundary at its end; past the last one for the tail.
    end: usize,
    /// The boundary at its begin; none for the head.
    begin: Option<usize>,
    work: Vec<i64>,
}

impl Cut {
    /// The head, the turns, and the tail, with as few turns merged as make the sum of the maxima fit; `None` if that takes all.
    fn merged_to_fit(&self, limit: i128, pes: usize, work: &[i64]) -> Option<Vec<Piece>> {
        let turns = self.paths.len();
        let sizes = std::iter::successors(Some(1), |size| Some(size * 2)).take_while(|size| *size < turns);
        let pieces = sizes.map(|size| self.merged(size, pes, work));
        let sum = |pieces: &[Piece]| -> i128 {
            pieces.iter().map(|piece| i128::from(piece.work.iter().copied().max().unwrap_or(0))).sum()
        };
        pieces.into_iter().find(|pieces| sum(pieces) <= limit)
    }

    /// The pieces with `size` turns in each.
    fn merged(&self, size: usize, pes: usize, work: &[i64]) -> Vec<Piece> {
        let turns = self.paths.len();
        let between = (0..turns).step_by(size).map(|first| (Part::Turn(self.paths[first]), first + 1, size));
        let all = [(Part::Head, 0, 1)].into_iter().chain(between).chain([(Part::Tail, turns + 1, 1)]);
        let piece = |(part, first, size): (Part, usize, usize)| {
            let last = if part == Part::Tail { first + 1 } else { (first + size).min(turns + 1) };
            let mut sum = vec![0; pes];
            for ticks in work[first * pes..last * pes].chunks_exact(pes) {
                sum.iter_mut().zip(ticks).for_each(|(sum, ticks)| *sum += ticks);
            }
            Piece { part, begin: first.checked_sub(1), end: last - 1, work: sum }
        };
        all.map(piece).collect()
    }
}

/// The turn in which a block ends, on the first PE that has turns: its number and path.
fn turn_at_end(turns: &[Vec<Turn>], extents: &[(Time, Time)]) -> Option<(usize, CallPathId)> {
    let (turns, (_, end)) = turns.iter().zip(extents).find(|(turns, _)| !turns.is_empty())?;
    let number = turns.partition_point(|turn| turn.begin < *end).checked_sub(1)?;
    Some((number, turns[number].path)).filter(|_| *end <= turns[number].end)
}

/// Fills the rows of `work`.
struct Refiner {
    /// Regions of the tensor: region of the source and part.
    phases: FxHashMap<(usize, Part), usize>,
    /// For each region of the source the turn of its last row, and how many rows it had in that turn before.
    counts: Vec<(usize, u32)>,
    work: BlockWork,
}

impl Refiner {
    fn whole(&mut self, row: Row, ticks: &[i64], turn: Option<(usize, CallPathId)>) {
        let part = turn.map_or(Part::Outside, |(number, path)| {
            let count = &mut self.counts[row.region];
            *count = if count.0 == number { (number, count.1 + 1) } else { (number, 0) };
            Part::Block(path, count.1)
        });
        self.push(row, part, ticks);
    }

    fn cut(&mut self, row: Row, cut: &Cut, pieces: &[Piece]) {
        self.work.turns[row.region] = cut.paths[0];
        let at = |boundary: usize| cut.times.iter().filter_map(move |times| times.get(boundary).copied());
        for piece in pieces {
            let begin = piece.begin.and_then(|boundary| at(boundary).min()).unwrap_or(row.begin);
            let end = at(piece.end).max().unwrap_or(row.end);
            self.push(Row { begin, end, ..row }, piece.part, &piece.work);
        }
    }

    /// Adds a row, if anybody works in it.
    fn push(&mut self, row: Row, part: Part, ticks: &[i64]) {
        if ticks.iter().all(|ticks| *ticks == 0) {
            return;
        }
        let phases = &mut self.work.phases;
        let phase = *self.phases.entry((row.region, part)).or_insert_with(|| {
            phases.push((row.region, part));
            phases.len() - 1
        });
        self.work.push(Row { phase, ..row }, ticks);
    }
}
