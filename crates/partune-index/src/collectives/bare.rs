//! Parts that no row tells of: barriers of thread teams, start-up and shut-down, barriers of everybody.
//!
//! Barriers of a team are told apart by their ordinal in the parallel region, which is the same on all threads (OpenMP 5.2,
//! section 15.3: all threads of the team or none, in the same order); their regions must agree.

use partune_base::{GroupId, Id, PeId, RegionId, StringId, Table, Time};
use partune_trace::{GroupKind, Participants, PeKind, Role, Trace, VisitIx};
use rayon::prelude::*;

use super::Member;
use super::assemble::{Part, Set, Sets};
use crate::Teams;
use crate::scan::Scan;

/// The parts of every PE, in order of PE. Makes one set for each parallel region, and one for each paradigm that starts up, shuts
/// down, or has barriers of everybody without rows.
pub(super) fn parts(trace: &Trace, teams: &Teams, scans: &[Scan], sets: &mut Sets) -> Vec<Vec<Part>> {
    let mut first_fork = u32::MAX;
    for (index, fork) in teams.forks.iter().enumerate() {
        let set =
            Set { group: fork.team, size: fork.members.len() as u32, fork: index as u32, inferred: fork.inferred };
        first_fork = first_fork.min(sets.push(set));
    }
    let memberships = memberships(trace, teams);
    let split: Vec<(Vec<Part>, Vec<Loose>)> = scans
        .par_iter()
        .enumerate()
        .map(|(pe, scan)| split(trace, PeId::from_index(pe), scan, &memberships[pe], first_fork))
        .collect();

    let is_sync = |(_, loose): &(Vec<Part>, Vec<Loose>)| loose.iter().any(|it| it.role == Role::GroupSync);
    let told = if split.iter().any(is_sync) { told(trace) } else { Table::default() };
    let mut world = World { trace, sets, known: Vec::new(), told };
    let mut parts = Vec::with_capacity(split.len());
    for (pe, (mut own, loose)) in split.into_iter().enumerate() {
        own.extend(world.parts(PeId::from_index(pe), &loose));
        parts.push(own);
    }
    parts
}

/// When a PE was in which parallel region.
#[derive(Clone, Copy)]
struct Membership {
    begin: Time,
    end: Time,
    fork: u32,
}

/// An operation of a group outside of any team.
#[derive(Clone, Copy)]
struct Loose {
    role: Role,
    with: Participants,
    start: VisitIx,
    wait: VisitIx,
}

/// For each PE, its parallel regions in order of begin, outer before inner.
fn memberships(trace: &Trace, teams: &Teams) -> Vec<Vec<Membership>> {
    let mut all: Vec<Vec<Membership>> = vec![Vec::new(); trace.pes().len()];
    for (index, fork) in teams.forks.iter().enumerate() {
        for &(pe, begin, end) in &fork.members {
            all[pe.index()].push(Membership { begin, end, fork: index as u32 });
        }
    }
    all.par_iter_mut()
        .for_each(|own| own.sort_by_key(|member| (member.begin, std::cmp::Reverse(member.end), member.fork)));
    all
}

/// Divides a PE's bare operations into parts of team barriers and those outside of teams.
fn split(trace: &Trace, pe: PeId, scan: &Scan, own: &[Membership], first_fork: u32) -> (Vec<Part>, Vec<Loose>) {
    let visits = &trace.streams()[pe].visits;
    let (mut parts, mut loose) = (Vec::new(), Vec::new());
    // Open memberships, each with the number of barriers so far.
    let mut open: Vec<(Membership, u32)> = Vec::new();
    let mut next = own.iter().peekable();
    let mut notified: Option<VisitIx> = None;
    for &(operation, role, with) in &scan.bare {
        let visit = visits.at(operation);
        let close = |open: &mut Vec<(Membership, u32)>, until: Time| {
            while open.last().is_some_and(|(member, _)| member.end < until) {
                open.pop();
            }
        };
        while let Some(member) = next.next_if(|member| member.begin <= visit.enter) {
            close(&mut open, member.begin);
            open.push((*member, 0));
        }
        close(&mut open, visit.enter);
        if role == Role::GroupSync && with == Participants::Team {
            // Outside of all teams a thread is alone.
            if let Some((membership, ordinal)) = open.last_mut() {
                let kind = trace.paths().region(visit.path).0;
                let member = member(trace, pe, operation, resumed(trace, pe, operation));
                let set = first_fork + membership.fork;
                let root = PeId::NONE;
                parts.push(Part { set, ordinal: *ordinal, role, root, kind, member });
                *ordinal += 1;
            }
        } else if role == Role::GroupNotify {
            notified = Some(operation);
        } else if role == Role::GroupWait {
            let start = notified.take().unwrap_or(operation);
            loose.push(Loose { role: Role::GroupSync, with, start, wait: operation });
        } else {
            loose.push(Loose { role, with, start: operation, wait: operation });
        }
    }
    (parts, loose)
}

/// A part that one operation starts and another one, or the same, ends.
fn member(trace: &Trace, pe: PeId, start: VisitIx, wait: VisitIx) -> Member {
    let (begin, end) = (trace.visit(pe, start), trace.visit(pe, wait));
    Member { pe, start, enter: begin.enter, wait, wait_enter: end.enter, exit: end.exit, row: u32::MAX }
}

/// Where a thread is in a barrier for the last time: tasks that it runs there end the operation, and what is left of it is another one. A function whose
/// code the task is may lie around it. Linear in what the tasks do.
fn resumed(trace: &Trace, pe: PeId, barrier: VisitIx) -> VisitIx {
    let (visits, paths) = (&trace.streams()[pe].visits, trace.paths());
    let around = paths.parent(visits.path[barrier.index()]);
    let mut last = barrier.index();
    let mut task: Option<Time> = None;
    for index in last + 1..visits.len() {
        if task.is_some_and(|end| visits.enter[index] < end) {
            continue;
        }
        let role = trace.role_of(pe, VisitIx(index as u32));
        // The path of a task is where it was created.
        if task.is_none() && visits.enter[index] == visits.exit[last] && role.is_transparent() {
            if role == Role::TaskRun {
                task = Some(visits.exit[index]);
            }
        } else if role == Role::TaskWait && paths.parent(visits.path[index]) == around && task.take().is_some() {
            last = index;
        } else {
            break;
        }
    }
    VisitIx(last as u32)
}

/// Whether rows tell of a region somewhere in the trace. Where they do, an operation without one was not recorded to its end.
fn told(trace: &Trace) -> Table<RegionId, bool> {
    let mut told: Table<RegionId, bool> = trace.regions().ids().map(|_| false).collect();
    for stream in trace.streams() {
        for row in stream.collectives.iter().filter(|row| row.visit.is_some()) {
            told[trace.paths().region(stream.visits.path[row.visit.index()])] = true;
        }
    }
    told
}

/// Operations of all main PEs of a paradigm.
struct World<'a> {
    trace: &'a Trace,
    sets: &'a mut Sets,
    /// The sets made so far; few.
    known: Vec<((Role, Participants, StringId), Option<u32>)>,
    /// Regions that rows tell of; empty if nobody asks.
    told: Table<RegionId, bool>,
}

impl World<'_> {
    fn parts(&mut self, pe: PeId, loose: &[Loose]) -> Vec<Part> {
        let about = &self.trace.pes()[pe];
        if about.thread != 0 || about.kind != PeKind::Cpu {
            return Vec::new();
        }
        let mut ordinals: Vec<(u32, u32)> = Vec::new();
        let mut parts = Vec::with_capacity(loose.len());
        for operation in loose {
            let region = self.trace.paths().region(self.trace.visit(pe, operation.wait).path);
            if operation.role == Role::GroupSync && self.told[region] {
                continue;
            }
            let paradigm = self.trace.region_of(pe, operation.start).paradigm;
            let Some(set) = self.set((operation.role, operation.with, paradigm)) else { continue };
            let at = ordinals.iter().position(|(known, _)| *known == set).unwrap_or_else(|| {
                ordinals.push((set, 0));
                ordinals.len() - 1
            });
            let ordinal = ordinals[at].1;
            ordinals[at].1 += 1;
            let member = member(self.trace, pe, operation.start, operation.wait);
            parts.push(Part { set, ordinal, role: operation.role, root: PeId::NONE, kind: 0, member });
        }
        parts
    }

    /// The set of a role in a paradigm. Start-up and shut-down concern everybody; of barriers that is only likely, and only in
    /// a paradigm that has a group of everybody, and no smaller one that the barrier could be of.
    fn set(&mut self, of: (Role, Participants, StringId)) -> Option<u32> {
        if let Some((_, set)) = self.known.iter().find(|(known, _)| *known == of) {
            return *set;
        }
        let (role, with, paradigm) = of;
        let groups = || self.trace.groups().iter_ids().filter(|(_, group)| group.paradigm == paradigm);
        let world = groups().find(|(_, group)| group.kind == GroupKind::World && !group.members.is_empty());
        let whole = world.map_or(0, |(_, world)| world.members.known());
        let is_doubtful =
            with == Participants::Group && groups().any(|(_, group)| (2..whole).contains(&group.members.known()));
        let (group, size) = match world {
            Some((id, group)) => (id, group.members.known()),
            None => (GroupId::NONE, self.trace.active_pes().filter(|pe| self.trace.pes()[*pe].thread == 0).count()),
        };
        let inferred = role == Role::GroupSync;
        let set = Set { group, size: size as u32, fork: u32::MAX, inferred };
        let set = (!inferred || group.is_some() && !is_doubtful).then(|| self.sets.push(set));
        self.known.push((of, set));
        set
    }
}
