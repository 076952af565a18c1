//! Collective instances: which operations of different PEs are one operation of a group.
//!
//! The k-th collective of a group on one member belongs with the k-th on every other, in the order in which they were
//! *started* (MPI-4.0, section 6.12). Barriers of thread teams, which OTF2 records only as regions, and start-up and shut-down,
//! which some producers record without a group, are found by role.
//!
//! Nothing is aligned in silence: an instance whose members disagree about its shape is left out and reported; if members of
//! the group also have different numbers of collectives, so are all later ones, since events were lost between. Where the newest events were kept,
//! the k-th from the end belong together.

mod align;
mod assemble;
mod bare;
mod report;
mod rows;

use partune_base::{GroupId, PeId, Table, Time};
use partune_diag::Quality;
use partune_trace::{Role, Trace, VisitIx};

use crate::Teams;
use crate::endpoints::Endpoints;
use crate::piece::Moves;
use crate::scan::Scan;
use crate::stretches::Stretches;

/// One PE's part in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub pe: PeId,
    /// The operation that starts its part (a non-blocking start, a notify), or does all of it.
    pub start: VisitIx,
    /// When it announced itself: enter of `start`.
    pub enter: Time,
    /// The operation in which its part ended; the same as `start` if it was blocking.
    pub wait: VisitIx,
    /// From when on it could do nothing else: enter of `wait`.
    pub wait_enter: Time,
    /// When its part ended: exit of `wait`.
    pub exit: Time,
    /// Row in the PE's `collectives`; `u32::MAX` if there is none (thread barriers, start-up).
    pub row: u32,
}

impl Member {
    /// Whether it started its part in one operation and ended it in another (split-phase, non-blocking).
    pub fn is_split(&self) -> bool {
        self.start != self.wait
    }
}

/// One collective operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its shape: a role for which [`Role::is_collective`] holds, never one half of a split-phase barrier, or [`Role::Io`] of a file that
    /// all access together. The role of the region where that is a collective (so start-up, shut-down, creation of communicators and fences of windows are told
    /// from what they are made of), else what the archive's row says.
    pub role: Role,
    /// Its group; for barriers of inferred teams and some start-ups, none.
    pub group: GroupId,
    /// The root, if it has one.
    pub root: PeId,
    /// Members missing (not recorded, or the trace ends before).
    pub missing: u32,
    /// Position in [`Teams::forks`] of the parallel region whose barrier it is, or `u32::MAX`.
    pub fork: u32,
    first: u32,
    count: u32,
}

impl Instance {
    /// Whether everybody waits for everybody: nobody can leave before the last one came.
    pub fn is_symmetric(&self) -> bool {
        matches!(
            self.role,
            Role::GroupSync | Role::AllToAll | Role::Init | Role::Finalize | Role::GlobalAlloc | Role::RmaGroupSync
        )
    }
}

/// All instances in order of their last enter (ties by group, then ordinal): 40 bytes a member, 28 an instance.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    pub instances: Vec<Instance>,
    members: Vec<Member>,
    /// Position in `instances` of each row of a PE, `u32::MAX` if it is in none: 4 bytes a row.
    by_row: Table<PeId, Vec<u32>>,
}

impl Collectives {
    pub(crate) fn build(
        trace: &Trace,
        endpoints: &Endpoints,
        teams: &Teams,
        (scans, stretches): (&[Scan], Option<&Stretches>),
        quality: &mut Quality,
    ) -> Collectives {
        let mut sets = assemble::Sets::default();
        let mut parts = rows::parts(trace, endpoints, &mut sets, quality);
        parts.extend(bare::parts(trace, teams, scans, &mut sets));
        if let Some(stretches) = stretches {
            align::align(trace, stretches, &mut parts);
        }
        assemble::assemble(trace, &sets, &parts, quality)
    }

    /// Those of a piece of the run.
    pub(crate) fn within(mut self, kept: &[bool], moves: &Moves) -> Collectives {
        let mut members = Vec::new();
        let mut kept = kept.iter();
        let left = |rows: &Vec<u32>| vec![u32::MAX; rows.iter().filter(|row| **row != u32::MAX).count()];
        self.by_row = moves.collectives.iter().map(left).collect();
        self.instances.retain(|_| kept.next().is_some_and(|kept| *kept));
        for (position, instance) in (0..).zip(&mut self.instances) {
            let first = members.len();
            let old = &self.members[instance.first as usize..(instance.first + instance.count) as usize];
            for member in old {
                let row = moves.collectives[member.pe].get(member.row as usize).copied().unwrap_or(u32::MAX);
                if let Some(of_row) = self.by_row[member.pe].get_mut(row as usize) {
                    *of_row = position;
                }
                members.push(Member {
                    pe: member.pe,
                    start: moves.visit(member.pe, member.start),
                    enter: moves.time(member.enter),
                    wait: moves.visit(member.pe, member.wait),
                    wait_enter: moves.time(member.wait_enter),
                    exit: moves.time(member.exit),
                    row,
                });
            }
            instance.first = first as u32;
        }
        self.members = members;
        self
    }

    /// The members of an instance, in order of PE.
    pub fn members(&self, instance: &Instance) -> &[Member] {
        &self.members[instance.first as usize..(instance.first + instance.count) as usize]
    }

    /// Position of the instance that a row of a PE's `collectives` is part of.
    pub fn of_row(&self, pe: PeId, row: usize) -> Option<usize> {
        let position = *self.by_row.get(pe)?.get(row)? as usize;
        (position < self.instances.len()).then_some(position)
    }
}
