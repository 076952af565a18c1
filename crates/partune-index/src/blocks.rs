//! Blocks: what PEs do between one global synchronisation and the next.
//!
//! A global synchronisation is a complete instance of a role in which everybody waits for everybody (barrier, all-to-all,
//! start-up, shut-down, global allocation; a fence of windows too) whose members are of all processes that run on CPUs, one of
//! each; or, in a run of one process, all its threads. Non-blocking ones do not count, but for split-phase barriers.

use partune_base::{CallPathId, Id, PeId, ProcessId, Table, Time};
use partune_trace::{PeKind, Role, Trace};
use rustc_hash::FxHashMap;

use crate::{Collectives, Instance, Member};

/// The k-th block: its end is a global synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Position in [`Collectives::instances`] of the synchronisation that begins it; `u32::MAX` for the begin of the run.
    pub begin: u32,
    /// The same for its end; `u32::MAX` for the end of the run.
    pub end: u32,
    /// Call path of the synchronisation that begins it and ends it (on the first PE), none at the begin and the end of the run:
    /// blocks with equal pairs are iterations of one region of the source.
    pub source: (CallPathId, CallPathId),
    /// How many blocks with the same source came before.
    pub iteration: u32,
}

/// All blocks, and when each PE was in each: 20 bytes a block and 16 a block and PE.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    pub blocks: Vec<Block>,
    /// Per PE, per block: from exit of the synchronisation before to enter of the one after. A thread that does not take part
    /// has the times of the PE of its process that does. Empty for PEs that are not in the global synchronisations
    /// (accelerators, metric sources, PEs without events).
    pub extents: Table<PeId, Vec<(Time, Time)>>,
}

impl Blocks {
    pub(crate) fn build(trace: &Trace, collectives: &Collectives) -> Blocks {
        let participants = Participants::of(trace);
        let syncs: Vec<u32> = (0..collectives.instances.len() as u32)
            .filter(|i| participants.are_all_in(trace, collectives, &collectives.instances[*i as usize]))
            .collect();
        Blocks { blocks: blocks(trace, collectives, &syncs), extents: participants.extents(trace, collectives, &syncs) }
    }
}

fn blocks(trace: &Trace, collectives: &Collectives, syncs: &[u32]) -> Vec<Block> {
    let path_of = |sync: u32| {
        let members = collectives.instances.get(sync as usize).map_or(&[][..], |sync| collectives.members(sync));
        members.first().map_or(CallPathId::NONE, |member| trace.visit(member.pe, member.wait).path)
    };
    let mut iterations: FxHashMap<(CallPathId, CallPathId), u32> = FxHashMap::default();
    let ends = syncs.iter().copied().chain([u32::MAX]);
    let begins = [u32::MAX].into_iter().chain(syncs.iter().copied());
    begins
        .zip(ends)
        .map(|(begin, end)| {
            let source = (path_of(begin), path_of(end));
            let count = iterations.entry(source).or_default();
            *count += 1;
            Block { begin, end, source, iteration: *count - 1 }
        })
        .collect()
}

/// Who has to take part in a global synchronisation.
struct Participants {
    /// PEs of CPUs with visits.
    pes: Vec<PeId>,
    /// Whether a process has such a PE.
    active: Table<ProcessId, bool>,
    processes: usize,
}

impl Participants {
    fn of(trace: &Trace) -> Participants {
        let pes: Vec<PeId> = trace.active_pes().filter(|pe| trace.pes()[*pe].kind == PeKind::Cpu).collect();
        let mut active = Table::filled(trace.processes().len(), false);
        for pe in &pes {
            let process = trace.pes()[*pe].process;
            if active.get(process).is_some() {
                active[process] = true;
            }
        }
        let processes = active.iter().filter(|active| **active).count();
        Participants { pes, active, processes }
    }

    fn are_all_in(&self, trace: &Trace, collectives: &Collectives, instance: &Instance) -> bool {
        let members = collectives.members(instance);
        let blocking = || instance.role == Role::GroupSync || !members.iter().any(Member::is_split);
        let all_known = || members.iter().all(|member| member.start.is_some() && member.wait.is_some());
        if !instance.is_symmetric() || instance.missing > 0 || !all_known() || !blocking() {
            return false;
        }
        if self.processes <= 1 {
            return members.len() == self.pes.len()
                && members.iter().zip(&self.pes).all(|(member, pe)| member.pe == *pe);
        }
        // One of each process: as many as processes, and no process twice.
        let process = |member: &Member| trace.pes()[member.pe].process;
        let known = |process: ProcessId| self.active.get(process) == Some(&true);
        if members.len() != self.processes || !members.iter().all(|member| known(process(member))) {
            return false;
        }
        let mut processes: Vec<ProcessId> = members.iter().map(process).collect();
        processes.sort_unstable();
        processes.windows(2).all(|pair| pair[0] != pair[1])
    }

    fn extents(&self, trace: &Trace, collectives: &Collectives, syncs: &[u32]) -> Table<PeId, Vec<(Time, Time)>> {
        let mut extents: Table<PeId, Vec<(Time, Time)>> = Table::filled(trace.pes().len(), Vec::new());
        let mut begins: Table<PeId, Option<Time>> = trace.streams().iter().map(partune_trace::Stream::begin).collect();
        for &sync in syncs {
            for member in collectives.members(&collectives.instances[sync as usize]) {
                let begin = begins[member.pe].unwrap_or(member.wait_enter);
                extents[member.pe].push((begin, member.wait_enter.max(begin)));
                begins[member.pe] = Some(member.exit.max(begin));
            }
        }
        for &pe in &self.pes {
            let end = trace.streams()[pe].end().unwrap_or_default();
            let begin = begins[pe].unwrap_or(end);
            extents[pe].push((begin, end.max(begin)));
        }
        // Members may be different threads of a process at different times; then none of them has all blocks.
        let blocks = syncs.len() + 1;
        let mut of_process: Table<ProcessId, Option<PeId>> = Table::filled(trace.processes().len(), None);
        for &pe in self.pes.iter().filter(|pe| extents[**pe].len() == blocks) {
            if let Some(first @ None) = of_process.as_mut_slice().get_mut(trace.pes()[pe].process.index()) {
                *first = Some(pe);
            }
        }
        for &pe in self.pes.iter().filter(|_| blocks > 1) {
            if extents[pe].len() != blocks {
                let member = of_process.get(trace.pes()[pe].process).copied().flatten();
                extents[pe] = member.map_or_else(Vec::new, |member| extents[member].clone());
            }
        }
        extents
    }
}
