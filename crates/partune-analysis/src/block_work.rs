//! The work of every PE in every block: the tensor of [`crate::bounds`] with its places in the source.

use partune_base::{CallPathId, MetricId, PeId, Time};
use partune_index::{Blocks, Index};
use partune_trace::{PeKind, Role, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Input;
use crate::cpu_time::CpuTime;
use crate::useful::{Useful, cpu_pes, windows};

/// A region of the source: blocks between the same two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlockRegion {
    pub(crate) source: (CallPathId, CallPathId),
    /// The part of such blocks that lies outside of teams.
    pub(crate) outside_teams: bool,
}

/// One iteration of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) region: usize,
    /// Its region of the tensor.
    pub(crate) phase: usize,
    /// The block it is, or is a part of.
    pub(crate) block: usize,
    /// From the first begin to the last end over PEs.
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// Work of PEs in blocks: 8 bytes for each PE in each.
#[derive(Default)]
pub(crate) struct BlockWork {
    pub(crate) pes: Vec<PeId>,
    pub(crate) regions: Vec<BlockRegion>,
    /// For each region the marked loop whose turns its blocks are cut at; none if they are not.
    pub(crate) turns: Vec<CallPathId>,
    /// The regions of the tensor: for each the region of the source that it is a part of. The same, if nothing is marked.
    pub(crate) phases: Vec<usize>,
    pub(crate) rows: Vec<Row>,
    work: Vec<i64>,
}

/// Cumulative work of a PE up to a time that only grows.
type Meter<'a> = Box<dyn FnMut(Time) -> i64 + 'a>;

/// Where blocks are cut, and what lies outside of teams.
pub(crate) struct Cuts<'a> {
    pes: Vec<PeId>,
    blocks: &'a Blocks,
    /// From fork to join of teams with several PEs, in order, and the PE that forks; if the run is one process.
    pub(crate) teams: Option<(PeId, Vec<(Time, Time)>)>,
}

impl Cuts<'_> {
    /// From when to when each PE is in a block.
    pub(crate) fn extents(&self, block: usize) -> Vec<(Time, Time)> {
        let extent = |pe: &PeId| self.blocks.extents[*pe].get(block).copied().unwrap_or_default();
        self.pes.iter().map(extent).collect()
    }
}

impl BlockWork {
    /// Linear in operations and in PEs times blocks.
    pub(crate) fn find(input: &Input<'_>) -> BlockWork {
        let (trace, index) = (input.trace, input.index);
        let windows = windows(trace);
        let whole = whole_run(trace);
        let cuts = cuts(trace, index, &whole);
        let meter = |pe: PeId| -> Meter<'_> {
            let mut useful = Useful::new(trace, pe, windows[pe]);
            Box::new(move |time| useful.up_to(time))
        };
        let (work, outside) = measure(&cuts, meter);
        let n = cuts.pes.len();
        let mut found = BlockWork { pes: cuts.pes.clone(), ..BlockWork::default() };
        let mut known = FxHashMap::default();
        for (block, ticks) in work.chunks_exact(n.max(1)).enumerate() {
            let extents = cuts.pes.iter().filter_map(|pe| cuts.blocks.extents[*pe].get(block));
            let begin = extents.clone().map(|extent| extent.0).min().unwrap_or_default();
            let end = extents.map(|extent| extent.1).max().unwrap_or_default();
            let source = cuts.blocks.blocks[block].source;
            found.row(&mut known, BlockRegion { source, outside_teams: false }, block, (begin, end), ticks);
            if let Some((forker, _)) = &cuts.teams
                && outside[block] > 0
            {
                let ticks: Vec<i64> = cuts.pes.iter().map(|pe| if pe == forker { outside[block] } else { 0 }).collect();
                found.row(&mut known, BlockRegion { source, outside_teams: true }, block, (begin, end), &ticks);
            }
        }
        found
    }

    /// Adds a row, if anybody works in it.
    fn row(
        &mut self,
        known: &mut FxHashMap<BlockRegion, usize>,
        region: BlockRegion,
        block: usize,
        (begin, end): (Time, Time),
        ticks: &[i64],
    ) {
        if ticks.iter().all(|ticks| *ticks == 0) {
            return;
        }
        let region = *known.entry(region).or_insert_with(|| {
            self.regions.push(region);
            self.turns.push(CallPathId::NONE);
            self.phases.push(self.phases.len());
            self.regions.len() - 1
        });
        self.push(Row { region, phase: region, block, begin, end }, ticks);
    }

    pub(crate) fn push(&mut self, row: Row, ticks: &[i64]) {
        self.rows.push(row);
        self.work.extend_from_slice(ticks);
    }

    /// The same PEs and regions of the source, without work and regions of the tensor.
    pub(crate) fn without_rows(&self) -> BlockWork {
        let (pes, regions, turns) = (self.pes.clone(), self.regions.clone(), self.turns.clone());
        BlockWork { pes, regions, turns, ..BlockWork::default() }
    }

    /// The work of each PE, row by row.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = &[i64]> {
        self.work.chunks_exact(self.pes.len().max(1))
    }

    /// Whether a region is not just the whole run: a global synchronisation begins or ends it, it is outside of teams, or cut at
    /// marked turns.
    pub(crate) fn is_known(&self, region: usize) -> bool {
        let BlockRegion { source, outside_teams } = self.regions[region];
        source.0.is_some() || source.1.is_some() || outside_teams || self.turns[region].is_some()
    }

    /// Regions with the work of each PE, row by row.
    pub(crate) fn iterations(&self) -> impl Iterator<Item = (usize, &[i64])> {
        self.rows.iter().map(|row| row.region).zip(self.ticks())
    }

    /// CPU time instead of wall time, in the same rows; `None` if no PE has samples of these metrics.
    pub(crate) fn cpu_time(&self, input: &Input<'_>, metrics: &[MetricId]) -> Option<Vec<i64>> {
        let trace = input.trace;
        if !self.pes.iter().all(|pe| trace.streams()[*pe].metrics.iter().any(|sample| metrics.contains(&sample.metric)))
        {
            return None;
        }
        let windows = windows(trace);
        let whole = whole_run(trace);
        let cuts = cuts(trace, input.index, &whole);
        let meter = |pe: PeId| -> Meter<'_> {
            let mut cpu = CpuTime::new(trace, pe, metrics, windows[pe]);
            Box::new(move |time| cpu.up_to(time))
        };
        let (work, outside) = measure(&cuts, meter);
        let n = cuts.pes.len();
        let mut wall = self.rows.iter().peekable();
        let mut cpu = Vec::with_capacity(self.work.len());
        // The rows with wall time decide which there are: walk along blocks in the same order.
        for (block, ticks) in work.chunks_exact(n.max(1)).enumerate() {
            let source = cuts.blocks.blocks[block].source;
            for outside_teams in [false, true] {
                let region = BlockRegion { source, outside_teams };
                let extents = cuts.pes.iter().filter_map(|pe| cuts.blocks.extents[*pe].get(block));
                let begin = extents.map(|extent| extent.0).min().unwrap_or_default();
                if wall.next_if(|row| self.regions[row.region] == region && row.begin == begin).is_none() {
                    continue;
                }
                match &cuts.teams {
                    Some((forker, _)) if outside_teams => {
                        cpu.extend(cuts.pes.iter().map(|pe| if pe == forker { outside[block] } else { 0 }));
                    }
                    _ => cpu.extend_from_slice(ticks),
                }
            }
        }
        (cpu.len() == self.work.len()).then_some(cpu)
    }

    /// The call path of user code in which a PE spends most time above the PE that works least, in the worst block of a region
    /// in which it works most; none if there is no such code.
    pub(crate) fn excess(&self, trace: &Trace, region: usize, slow: PeId) -> CallPathId {
        let Some(position) = self.pes.iter().position(|pe| *pe == slow) else { return CallPathId::NONE };
        let mut worst = (0, 0, Time::ZERO, Time::ZERO);
        for ((_, ticks), row) in self.iterations().zip(&self.rows).filter(|(it, _)| it.0 == region) {
            if let Some((least, ticks_of_least)) = ticks.iter().enumerate().min_by_key(|(pe, ticks)| (**ticks, *pe))
                && ticks[position] - ticks_of_least > worst.0
            {
                worst = (ticks[position] - ticks_of_least, least, row.begin, row.end);
            }
        }
        let (lost, fast, begin, end) = worst;
        if lost == 0 {
            return CallPathId::NONE;
        }
        let mut times = user_times(trace, slow, begin, end);
        for (path, ticks) in user_times(trace, self.pes[fast], begin, end) {
            *times.entry(path).or_default() -= ticks;
        }
        let most = times.into_iter().max_by_key(|(path, ticks)| (*ticks, std::cmp::Reverse(*path)));
        most.filter(|(_, ticks)| *ticks > 0).map_or(CallPathId::NONE, |(path, _)| path)
    }
}

/// Ticks that synchronisations between blocks take: from the last enter to the first exit. Start-up and shut-down are not
/// among them.
pub(crate) fn synchronisation(input: &Input<'_>) -> i64 {
    let collectives = &input.index.collectives;
    let blocks = input.index.blocks.blocks.iter();
    let instances = blocks.filter_map(|block| collectives.instances.get(block.begin as usize));
    instances
        .filter(|instance| !matches!(instance.role, Role::Init | Role::Finalize))
        .map(|instance| {
            let members = collectives.members(instance);
            let last = members.iter().map(|member| member.enter).max().unwrap_or_default();
            members.iter().map(|member| member.exit).min().unwrap_or_default().since(last).0
        })
        .sum()
}

/// Exclusive time in user code of a PE between two times, by call path.
fn user_times(trace: &Trace, pe: PeId, begin: Time, end: Time) -> std::collections::BTreeMap<CallPathId, i64> {
    let (visits, paths) = (&trace.streams()[pe].visits, trace.paths());
    let mut times = std::collections::BTreeMap::new();
    let mut add = |path: CallPathId, ticks: i64| {
        if path.is_some() && !paths.operation(path).is_some() {
            *times.entry(path).or_insert(0) += ticks;
        }
    };
    let first = visits.enter.partition_point(|enter| *enter < begin);
    let around = match visits.path.get(first) {
        Some(path) if visits.enter[first] < end => paths.parent(*path),
        _ => first.checked_sub(1).map_or(CallPathId::NONE, |before| visits.path[before]),
    };
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

/// The whole run as one block: what is left where there is no global synchronisation.
pub(crate) fn whole_run(trace: &Trace) -> Blocks {
    let none = (CallPathId::NONE, CallPathId::NONE);
    let block = partune_index::Block { begin: u32::MAX, end: u32::MAX, source: none, iteration: 0 };
    let run = (trace.begin(), trace.end());
    let cpu = cpu_pes(trace);
    let extents = trace.pes().ids().map(|pe| if cpu.binary_search(&pe).is_ok() { vec![run] } else { Vec::new() });
    Blocks { blocks: vec![block], extents: extents.collect() }
}

pub(crate) fn cuts<'a>(trace: &Trace, index: &'a Index, whole: &'a Blocks) -> Cuts<'a> {
    let take_part = |blocks: &Blocks| -> Vec<PeId> {
        let pes = blocks
            .extents
            .iter_ids()
            .filter(|(_, extents)| extents.len() == blocks.blocks.len() && !extents.is_empty());
        pes.map(|(pe, _)| pe).filter(|pe| trace.pes()[*pe].kind == PeKind::Cpu).collect()
    };
    let of_index = take_part(&index.blocks);
    let (blocks, pes) = if of_index.is_empty() { (whole, take_part(whole)) } else { (&index.blocks, of_index) };
    let main = pes.first().copied().filter(|pe| trace.pes()[*pe].thread == 0 && pes.len() > 1);
    let one_process =
        pes.iter().all(|pe| main.is_some_and(|main| trace.pes()[*pe].process == trace.pes()[main].process));
    let teams = main.filter(|_| one_process).map(|main| {
        let forks = index.teams.forks.iter().filter(|fork| fork.place.pe == main && fork.members.len() > 1);
        (main, forks.map(|fork| (fork.fork, fork.join)).collect::<Vec<_>>())
    });
    Cuts { pes, blocks, teams: teams.filter(|(_, forks)| !forks.is_empty()) }
}

/// The work of PEs in blocks, row-major, and of the forking PE outside of teams, which is not in the first.
fn measure<'a>(cuts: &Cuts<'_>, meter: impl Fn(PeId) -> Meter<'a> + Sync) -> (Vec<i64>, Vec<i64>) {
    let columns: Vec<Vec<i64>> = cuts
        .pes
        .par_iter()
        .map(|pe| {
            let mut meter = meter(*pe);
            let extents = cuts.blocks.extents[*pe].iter();
            extents
                .map(|(begin, end)| {
                    let before = meter(*begin);
                    (meter(*end) - before).max(0)
                })
                .collect()
        })
        .collect();
    let blocks = cuts.blocks.blocks.len();
    let mut outside = vec![0; blocks];
    let mut inside = Vec::new();
    if let Some((forker, forks)) = &cuts.teams {
        inside = in_teams(&cuts.blocks.extents[*forker], forks, meter(*forker));
    }
    let mut work = Vec::with_capacity(blocks * cuts.pes.len());
    for block in 0..blocks {
        for (pe, column) in cuts.pes.iter().zip(&columns) {
            let ticks = column[block];
            let forks = cuts.teams.as_ref().is_some_and(|(forker, _)| forker == pe);
            if forks {
                outside[block] = (ticks - inside[block]).max(0);
                work.push(inside[block].min(ticks));
            } else {
                work.push(ticks);
            }
        }
    }
    (work, outside)
}

/// Work of the forking PE inside of teams, for each of its blocks.
fn in_teams(extents: &[(Time, Time)], forks: &[(Time, Time)], mut meter: Meter<'_>) -> Vec<i64> {
    let mut next = 0;
    extents
        .iter()
        .map(|(begin, end)| {
            let mut sum = 0;
            while let Some((fork, join)) = forks.get(next).copied().filter(|(fork, _)| fork < end) {
                if join > *begin {
                    let before = meter(fork.max(*begin));
                    sum += (meter(join.min(*end)) - before).max(0);
                }
                if join > *end {
                    break;
                }
                next += 1;
            }
            sum
        })
        .collect()
}
