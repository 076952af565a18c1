//! The outline of a run: its blocks one after the other, with what every PE worked in each, which functions it called there, and what PEs sent each other. What
//! a model of the run is made from.

use std::collections::BTreeMap;

use partune_base::{CallPathId, PeId, RegionId, Table, Time};
use rayon::prelude::*;

use crate::Input;
use crate::block_work::BlockWork;
use crate::bounds::{Measured, measured};
use crate::iterations::Part;
use crate::tiling::Tiling;
use crate::world_sums::WorldSums;

/// What blocks that end at the same place are: a region of the bounds' tensor, so of marked loops each block of a turn is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlinePhase {
    /// The synchronisation that closes its blocks; none at the end of the run.
    pub closes: CallPathId,
    /// The marked loop whose turns they are, if they are.
    pub turns: CallPathId,
}

#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Processes by their main threads, or the PEs of a run of one process.
    pub pes: Vec<PeId>,
    pub phases: Vec<OutlinePhase>,
    /// Blocks in order of time: their phase, and whether a synchronisation of all PEs ends them.
    pub blocks: Vec<(usize, bool)>,
    /// What synchronisations took by themselves, all together, in ticks: the gap S' of the bounds.
    pub synchronising: f64,
    work: Vec<i64>,
    /// Bytes of messages by phase, sender and receiver, as positions in `phases` and `pes`. A message belongs to where it is received.
    pub flows: BTreeMap<(usize, usize, usize), u64>,
    /// By phase and function of the user's: calls of each PE.
    pub calls: BTreeMap<(usize, RegionId), Vec<u64>>,
}

impl Outline {
    /// Empty for a profile and where nothing ran. Linear in operations, visits and messages, and in PEs times blocks.
    pub fn find(input: &Input<'_>) -> Outline {
        let run = if input.trace.profile().is_some() { None } else { measured(input).map(|it| it.run) };
        let Some(measured) = run else { return Outline::default() };
        let chain = WorldSums::of(input, &measured).chain();
        let Measured { tiling, work, .. } = measured;
        let phase = |(region, _): &(usize, Part)| OutlinePhase {
            closes: work.regions[*region].closes,
            turns: work.turns[*region],
        };
        let last_of_tile = |row: usize| work.rows.get(row + 1).is_none_or(|next| next.tile != work.rows[row].tile);
        let blocks = work.rows.iter().enumerate();
        let blocks = blocks.map(|(row, it)| (it.phase, last_of_tile(row) && tiling.tiles[it.tile].closes.is_some()));
        let mut outline = Outline {
            pes: work.pes.clone(),
            phases: work.phases.iter().map(phase).collect(),
            blocks: blocks.collect(),
            synchronising: chain.synchronising(),
            work: work.ticks().flatten().copied().collect(),
            ..Outline::default()
        };
        let rows = Rows { tiling: &tiling, work: &work };
        outline.add_flows(input, &rows);
        outline.add_calls(input, &rows);
        outline
    }

    /// What each PE worked in a block, communication included, in ticks.
    pub fn work(&self, block: usize) -> &[i64] {
        self.work.chunks_exact(self.pes.len().max(1)).nth(block).unwrap_or_default()
    }

    fn add_flows(&mut self, input: &Input<'_>, rows: &Rows<'_>) {
        let mut position: Table<PeId, Option<usize>> = input.trace.pes().ids().map(|_| None).collect();
        self.pes.iter().enumerate().for_each(|(at, pe)| position[*pe] = Some(at));
        for message in input.index.messages.as_slice() {
            let (Some(from), Some(to)) = (position[message.sender], position[message.receiver]) else { continue };
            let recv = &input.trace.streams()[message.receiver].recvs[message.recv as usize];
            if let Some(row) = rows.at(to, recv.time) {
                let bytes = self.flows.entry((rows.work.rows[row].phase, from, to)).or_default();
                *bytes = bytes.saturating_add(recv.bytes);
            }
        }
    }

    fn add_calls(&mut self, input: &Input<'_>, rows: &Rows<'_>) {
        let trace = input.trace;
        let is_function: Table<CallPathId, bool> =
            trace.paths().ids().map(|path| trace.regions()[trace.paths().region(path)].is_function()).collect();
        let of_pe = |(at, pe): (usize, &PeId)| {
            let visits = &trace.streams()[*pe].visits;
            let mut calls: BTreeMap<(usize, RegionId), u64> = BTreeMap::new();
            let mut counts: Table<RegionId, u64> = trace.regions().ids().map(|_| 0).collect();
            let mut touched: Vec<RegionId> = Vec::new();
            let mut now = None;
            for (enter, path) in visits.enter.iter().zip(&visits.path).filter(|(_, path)| is_function[**path]) {
                let phase = rows.at(at, *enter).map(|row| rows.work.rows[row].phase);
                if phase != now {
                    settle(&mut calls, now, &mut touched, &mut counts);
                    now = phase;
                }
                let region = trace.paths().region(*path);
                if counts[region] == 0 {
                    touched.push(region);
                }
                counts[region] += 1;
            }
            settle(&mut calls, now, &mut touched, &mut counts);
            calls
        };
        let all: Vec<_> = self.pes.par_iter().enumerate().map(of_pe).collect();
        let pes = self.pes.len();
        for (at, calls) in all.into_iter().enumerate() {
            for (key, count) in calls {
                self.calls.entry(key).or_insert_with(|| vec![0; pes])[at] = count;
            }
        }
    }
}

/// What was counted belongs to a phase; the next begins.
fn settle(
    calls: &mut BTreeMap<(usize, RegionId), u64>,
    phase: Option<usize>,
    touched: &mut Vec<RegionId>,
    counts: &mut Table<RegionId, u64>,
) {
    for region in touched.drain(..) {
        let count = std::mem::take(&mut counts[region]);
        if let Some(phase) = phase {
            *calls.entry((phase, region)).or_default() += count;
        }
    }
}

/// Where a PE is at a time.
struct Rows<'a> {
    tiling: &'a Tiling,
    work: &'a BlockWork,
}

impl Rows<'_> {
    /// The block; none before the first and where nobody works.
    fn at(&self, pe: usize, time: Time) -> Option<usize> {
        let tile = self.tiling.at(pe, time)?;
        let rows = &self.work.rows;
        let (first, end) = (rows.partition_point(|row| row.tile < tile), rows.partition_point(|row| row.tile <= tile));
        let begun = rows[first..end].partition_point(|row| row.begin <= time);
        (first < end).then(|| first + begun.saturating_sub(1))
    }
}
