//! The work of every PE in every tile of a world: the tensor of [`crate::bounds`] with its places in the source.

use std::collections::BTreeMap;

use partune_base::{CallPathId, PeId, Time};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Input;
use crate::edges::Edges;
use crate::iterations::Part;
use crate::spending::{Kinds, Meter, Spent};
use crate::tiling::{Tile, Tiling};

/// One iteration of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) region: usize,
    /// Its region of the tensor.
    pub(crate) phase: usize,
    /// The tile it is, or is a part of.
    pub(crate) tile: usize,
    /// From the first begin to the last end over PEs.
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// What a tile adds to the chain of bounds besides the work in its rows, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    pub(crate) region: usize,
    /// From the last arrival before it to the last arrival at its own end, without what the PE was away.
    pub(crate) length: i64,
    /// Until the PE that arrives last left the synchronisation before it.
    pub(crate) release: i64,
    /// What that PE works, and what it waits.
    pub(crate) work: i64,
    pub(crate) wait: i64,
    /// Largest and sum over PEs: user code, and user code with communication.
    pub(crate) user: (i64, i64),
    pub(crate) on_cpu: (i64, i64),
}

/// Work of PEs in tiles: 8 bytes for each PE in each.
#[derive(Default)]
pub(crate) struct BlockWork {
    pub(crate) pes: Vec<PeId>,
    /// The regions of the source: what closes their tiles, and what was before the first.
    pub(crate) regions: Vec<Tile>,
    /// For each region the marked loop whose turns its tiles are cut at; none if they are not.
    pub(crate) turns: Vec<CallPathId>,
    /// The regions of the tensor: for each the region of the source that it is a part of, and which part. The same, if nothing is marked.
    pub(crate) phases: Vec<(usize, Part)>,
    pub(crate) rows: Vec<Row>,
    /// One for each tile. Those of tiles that are not all in the slice have regions beyond the others: that which was begun before, and that which goes on.
    pub(crate) links: Vec<Link>,
    pub(crate) edges: Edges,
    work: Vec<i64>,
}

/// A tile in which a PE works longer than it took is joined to the one before; after so many rounds, all are.
const ROUNDS: usize = 16;

impl BlockWork {
    /// Measures the tiles; joins those that their synchronisation does not keep apart, so that no bound is above the run (theory:
    /// max_q w of a tile is at most the time from last arrival to last arrival). Linear in operations and in PEs times tiles.
    pub(crate) fn find(input: &Input<'_>, tiling: &mut Tiling, kinds: &Kinds) -> BlockWork {
        for round in 0.. {
            let columns = measure(input, tiling, kinds);
            let too_long = |tile: usize| {
                let (begin, end) = tiling.stretch(tile);
                tile > 0
                    && !tiling.is_cut(tile)
                    && columns.iter().any(|column| column[tile].work() > end.since(begin).0)
            };
            let joined: Vec<bool> =
                (0..tiling.tiles.len()).map(|tile| too_long(tile) || round > ROUNDS && tile > 0).collect();
            if !joined.contains(&true) {
                return BlockWork::of(input, tiling, &columns);
            }
            tiling.join(&joined);
        }
        BlockWork::default()
    }

    fn of(input: &Input<'_>, tiling: &Tiling, columns: &[Vec<Spent>]) -> BlockWork {
        let edges = Edges::of(input, tiling, columns);
        let mut found = BlockWork { pes: tiling.pes.clone(), edges, ..BlockWork::default() };
        let mut known: FxHashMap<CallPathId, usize> = FxHashMap::default();
        let mut spent: Vec<Spent> = Vec::with_capacity(columns.len());
        for (tile, about) in tiling.tiles.iter().enumerate() {
            if tiling.is_cut(tile) {
                found.links.push(Link::default());
                continue;
            }
            spent.clear();
            spent.extend(columns.iter().map(|column| column[tile]));
            let region = *known.entry(about.closes).or_insert_with(|| {
                found.regions.push(*about);
                found.turns.push(CallPathId::NONE);
                found.phases.push((found.phases.len(), Part::Outside));
                found.regions.len() - 1
            });
            let of_pes: Vec<(Time, Time)> = tiling.extents_of(tile).collect();
            found.links.push(Link::of(*about, &of_pes, tiling.stretch(tile), region, &spent));
            let extents = || of_pes.iter().zip(&spent).filter(|(_, spent)| spent.work() > 0);
            let begin = extents().map(|(extent, _)| extent.0).min().unwrap_or_default();
            let end = extents().map(|(extent, _)| extent.1).max().unwrap_or_default();
            if spent.iter().any(|spent| spent.work() > 0) {
                found.rows.push(Row { region, phase: region, tile, begin, end });
                found.work.extend(spent.iter().map(|spent| spent.work()));
            }
        }
        let beyond = found.regions.len();
        let [begins, ends] = tiling.cut;
        if let Some(last) = found.links.last_mut().filter(|_| ends) {
            last.region = beyond + 1;
        }
        if let Some(first) = found.links.first_mut().filter(|_| begins) {
            first.region = beyond;
        }
        found
    }

    pub(crate) fn push(&mut self, row: Row, ticks: &[i64]) {
        self.rows.push(row);
        self.work.extend_from_slice(ticks);
    }

    /// The same PEs, tiles and regions of the source, without work and regions of the tensor.
    pub(crate) fn without_rows(&self) -> BlockWork {
        let (pes, regions, turns, links) =
            (self.pes.clone(), self.regions.clone(), self.turns.clone(), self.links.clone());
        BlockWork { pes, regions, turns, links, ..BlockWork::default() }
    }

    /// The work of each PE, row by row.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = &[i64]> {
        self.work.chunks_exact(self.pes.len().max(1))
    }

    /// See [`Tile::is_known`].
    pub(crate) fn is_known(&self, region: usize) -> bool {
        self.regions[region].is_known(self.turns[region])
    }

    /// Regions with the work of each PE, row by row.
    pub(crate) fn iterations(&self) -> impl Iterator<Item = (usize, &[i64])> {
        self.rows.iter().map(|row| row.region).zip(self.ticks())
    }

    /// In so many of the tiles of a region that a PE, by its position, makes others lose most in: what all lose, and where it spends most time above the PE that
    /// works least: a call path of user code, or of operations without their waits, none for what is on no recorded path. First where most is lost.
    pub(crate) fn excess(
        &self,
        input: &Input<'_>,
        region: usize,
        position: usize,
        tiles: usize,
    ) -> Vec<(i64, CallPathId)> {
        let slow = self.pes[position];
        let mut worst: Vec<(i64, usize, Time, Time)> = Vec::new();
        for ((_, ticks), row) in self.iterations().zip(&self.rows).filter(|(it, _)| it.0 == region) {
            let most = ticks[position];
            if !ticks.iter().enumerate().all(|(pe, ticks)| (*ticks, position) <= (most, pe)) {
                // Another PE is charged with it.
                continue;
            }
            if let Some((fast, least)) = ticks.iter().enumerate().min_by_key(|(pe, ticks)| (**ticks, *pe))
                && *least < most
            {
                let lost = ticks.iter().fold(0_i64, |sum, ticks| sum.saturating_add(most - ticks));
                worst.push((lost, fast, row.begin, row.end));
            }
        }
        worst.sort_by_key(|tile| std::cmp::Reverse(tile.0));
        let place = |(lost, fast, begin, end): (i64, usize, Time, Time)| {
            let [slow, fast] = [slow, self.pes[fast]].map(|pe| work_times(input, pe, begin, end));
            (lost, excess(slow, &fast))
        };
        worst.into_iter().take(tiles).map(place).collect()
    }
}

/// Adds up ticks, of which a damaged archive may have more than there can be.
pub(crate) fn add(sum: &mut i64, ticks: i64) {
    *sum = sum.saturating_add(ticks);
}

/// What each PE spends in each tile.
fn measure(input: &Input<'_>, tiling: &Tiling, kinds: &Kinds) -> Vec<Vec<Spent>> {
    let column = |(pe, extents): (&PeId, &Vec<(Time, Time)>)| {
        let mut meter = Meter::new(input, *pe, tiling.span, kinds);
        let spent = |(begin, end): &(Time, Time)| {
            let before = meter.up_to(*begin);
            meter.up_to(*end) - before
        };
        extents.iter().map(spent).collect()
    };
    tiling.pes.par_iter().zip(&tiling.extents).map(column).collect()
}

impl Link {
    /// What a tile adds to the chain, by the extents of PEs in it. Of PEs that arrive last together it follows the one that tells most of its time.
    pub(crate) fn of(
        about: Tile,
        extents: &[(Time, Time)],
        (begin, end): (Time, Time),
        region: usize,
        spent: &[Spent],
    ) -> Link {
        let sums = |of: &dyn Fn(&Spent) -> i64| {
            let of_pes = spent.iter().map(of);
            (of_pes.clone().max().unwrap_or(0), of_pes.sum())
        };
        let told = |(at, extent): &(usize, (Time, Time))| {
            let spent = spent[*at];
            (extent.1, spent.work() + spent.wait + spent.away, extent.0)
        };
        let last = extents.iter().copied().enumerate().max_by_key(told);
        let (last, extent) = last.unwrap_or_default();
        let Spent { wait, away, .. } = spent.get(last).copied().unwrap_or_default();
        let release = if about.synchronised { extent.0.since(begin).0.max(0) } else { 0 };
        Link {
            region,
            length: (end.since(begin).0 - away).max(sums(&|spent| spent.work()).0),
            release,
            work: spent.get(last).map_or(0, |spent| spent.work()),
            wait,
            user: sums(&|spent| spent.user),
            on_cpu: sums(&|spent| spent.user + spent.comm),
        }
    }
}

/// Where one PE works most more than another one, by what they work; none if nowhere.
pub(crate) fn excess(slow: BTreeMap<CallPathId, i64>, fast: &BTreeMap<CallPathId, i64>) -> CallPathId {
    let mut times = slow;
    fast.iter().for_each(|(path, ticks)| *times.entry(*path).or_default() -= ticks);
    let most = times.into_iter().max_by_key(|(path, ticks)| (*ticks, std::cmp::Reverse(*path)));
    most.filter(|(_, ticks)| *ticks > 0).map_or(CallPathId::NONE, |(path, _)| path)
}

/// What a PE works between two times, by call path: exclusive time in user code, and operations less the waits in them.
pub(crate) fn work_times(input: &Input<'_>, pe: PeId, begin: Time, end: Time) -> BTreeMap<CallPathId, i64> {
    let (visits, paths) = (&input.trace.streams()[pe].visits, input.trace.paths());
    let mut times = BTreeMap::new();
    let mut add = |path: CallPathId, ticks: i64| {
        if path.is_some() {
            // What is inside of an operation is the operation's.
            *times.entry(paths.operation(path).some().unwrap_or(path)).or_insert(0) += ticks;
        }
    };
    let waits = input.waits.of_pe(pe);
    let first = waits.partition_point(|wait| wait.end <= begin);
    for wait in waits[first..].iter().take_while(|wait| wait.begin < end) {
        let ticks = wait.end.min(end).since(wait.begin.max(begin)).0;
        add(visits.path[wait.operation.index()], -ticks);
    }
    // A visit that ended right at the begin is over.
    let entered = visits.enter.partition_point(|enter| *enter < begin);
    let first = (entered..visits.len()).find(|visit| visits.exit[*visit] > begin).unwrap_or(visits.len());
    // What goes on at the begin, innermost first, until what goes on at the end as well. Most often it is beside the end of a visit within it, and
    // what comes after the end is within it, too; else it takes a look at the visits within it.
    let parent = |visit: usize| visits.path.get(visit).map_or(CallPathId::NONE, |path| paths.parent(*path));
    let after = parent(visits.enter.partition_point(|enter| *enter < end));
    let goes_on = |visit: &usize| visits.exit[*visit] > begin;
    let (mut around, mut before) = (parent(first), first);
    let mut is_known = first.checked_sub(1).is_some_and(|last| !goes_on(&last) && parent(last) == around);
    let is_last = |path: CallPathId| !path.is_some() || paths.ancestors(after).any(|it| it == path);
    while !(is_known && is_last(around)) {
        let Some(open) = (0..before).rev().find(goes_on) else { break };
        (around, before, is_known) = (visits.path[open], open, true);
        if visits.exit[open] >= end {
            break;
        }
        let ticks = visits.exit[open].since(begin).0;
        add(around, ticks);
        around = paths.parent(around);
        add(around, -ticks);
    }
    add(around, end.since(begin).0);
    for index in first..visits.len() {
        if visits.enter[index] >= end {
            break;
        }
        let ticks = visits.exit[index].min(end).since(visits.enter[index]).0;
        add(visits.path[index], ticks);
        add(paths.parent(visits.path[index]), -ticks);
    }
    times
}
