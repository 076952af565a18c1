//! Collectives of every paradigm, from message passing to barriers of threads: who came last, and who needed whom.
//!
//! | shape | who waits | until |
//! |---|---|---|
//! | barrier, all-to-all, RMA fence | everybody | the last enter |
//! | one-to-all | all but the root | the root's enter, unless they left before it |
//! | all-to-one | the root | the last enter of another |
//! | scan | everybody | the last enter among the ranks up to its own |
//!
//! Waits begin when a member can do nothing else (the enter of a blocking call, or of the completion of a non-blocking one)
//! and never reach beyond its own exit. Clock repair leaves the exit of a member whose data came "before" the root sent it at
//! the root's enter, so the two may be equal; a member that left earlier got no data from the root (none was to be moved), or its
//! clock contradicts the root's: neither waited as far as anybody can tell. Between two groups (inter-communicators) members need those of the other group only.
//! Instances with missing members tell nothing.

use std::cmp::Reverse;

use partune_base::PeId;
use partune_index::{Index, Instance, Member, Place};
use partune_trace::{GroupKind, Members, Role, Trace};
use rayon::prelude::*;

use super::Wait;
use crate::Pattern;

/// Instances that one task looks at.
const CHUNK: usize = 4096;

/// All waits in collectives, in order of their instances.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let chunks: Vec<Vec<Wait>> = index
        .collectives
        .instances
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, instances)| {
            let mut rows = Vec::new();
            for (i, instance) in instances.iter().enumerate() {
                let members = index.collectives.members(instance);
                let number = (chunk * CHUNK + i) as u32;
                Meeting { trace, instance, members, number }.find(&mut rows);
            }
            rows
        })
        .collect();
    chunks.concat()
}

/// One instance.
#[derive(Clone, Copy)]
struct Meeting<'a> {
    trace: &'a Trace,
    instance: &'a Instance,
    members: &'a [Member],
    number: u32,
}

impl<'a> Meeting<'a> {
    fn find(self, rows: &mut Vec<Wait>) {
        if self.instance.missing > 0 {
            return;
        }
        match self.instance.role {
            Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::Init | Role::Finalize => {
                self.all_wait(Pattern::WaitAtBarrier, rows);
            }
            Role::AllToAll | Role::GlobalAlloc => self.all_wait(Pattern::WaitAtNxn, rows),
            Role::RmaGroupSync => self.all_wait(Pattern::LateFence, rows),
            Role::OneToAll => self.others_wait(rows),
            Role::AllToOne => self.root_waits(rows),
            Role::Scan => self.later_ranks_wait(rows),
            Role::Inquiry
            | Role::Put
            | Role::Get
            | Role::Atomic
            | Role::CommSync
            | Role::DeviceWait
            | Role::RmaPost
            | Role::RmaStart
            | Role::RmaComplete
            | Role::RmaWait
            | Role::Send
            | Role::Recv
            | Role::SendRecv
            | Role::Probe
            | Role::LockAcquire
            | Role::LockRelease
            | Role::WaitOnValue
            | Role::Signal
            | Role::WorkSharing
            | Role::Parallel
            | Role::TaskCreate
            | Role::TaskRun
            | Role::TaskWait
            | Role::PeManagement
            | Role::Io
            | Role::Management
            | Role::Measurement
            | Role::User => {}
        }
    }

    fn all_wait(self, pattern: Pattern, rows: &mut Vec<Wait>) {
        // The last of either side; without sides, everybody is on side 0 and needs side 0.
        let mut last: [Option<&Member>; 2] = [None, None];
        for member in self.members {
            let last = &mut last[self.side(member.pe)];
            if last.is_none_or(|last| member.enter > last.enter) {
                *last = Some(member);
            }
        }
        let other = usize::from(self.sides().is_some());
        for member in self.members {
            if let Some(last) = last[self.side(member.pe) ^ other] {
                self.push(pattern, member, last, rows);
            }
        }
    }

    fn others_wait(self, rows: &mut Vec<Wait>) {
        let Some(root) = self.root() else { return };
        for member in self.members {
            if self.exchange(member, root) && member.exit >= root.enter {
                self.push(Pattern::LateBroadcast, member, root, rows);
            }
        }
    }

    fn root_waits(self, rows: &mut Vec<Wait>) {
        let Some(root) = self.root() else { return };
        let others = self.members.iter().filter(|member| self.exchange(member, root));
        if let Some(last) = others.max_by_key(|member| (member.enter, Reverse(member.pe))) {
            self.push(Pattern::EarlyReduce, root, last, rows);
        }
    }

    fn later_ranks_wait(self, rows: &mut Vec<Wait>) {
        let Some(group) = self.trace.groups().get(self.instance.group) else { return };
        let mut latest: Option<&Member> = None;
        // Members are in order of PE, ranks are positions in the group.
        let rank = |member: &'a Member| Some((group.members.rank(member.pe)?, member));
        let mut ranked: Vec<(usize, &Member)> = self.members.iter().filter_map(rank).collect();
        ranked.sort_unstable_by_key(|(rank, _)| *rank);
        for (_, member) in ranked {
            if let Some(latest) = latest {
                self.push(Pattern::EarlyScan, member, latest, rows);
            }
            if latest.is_none_or(|latest| member.enter > latest.enter) {
                latest = Some(member);
            }
        }
    }

    /// `member` waits until `cause` enters.
    fn push(self, pattern: Pattern, member: &Member, cause: &Member, rows: &mut Vec<Wait>) {
        let end = cause.enter.min(member.exit);
        if member.pe != cause.pe && member.wait_enter < end {
            rows.push(Wait {
                pe: member.pe,
                operation: member.wait,
                pattern,
                begin: member.wait_enter,
                end,
                cause: Place { pe: cause.pe, visit: cause.start },
                instance: self.number,
            });
        }
    }

    fn root(self) -> Option<&'a Member> {
        let i = self.members.binary_search_by_key(&self.instance.root, |member| member.pe).ok()?;
        Some(&self.members[i])
    }

    /// Whether data goes between two members of a collective with a root.
    fn exchange(self, member: &Member, root: &Member) -> bool {
        member.pe != root.pe && (self.sides().is_none() || self.side(member.pe) != self.side(root.pe))
    }

    /// The two groups, if it is between two.
    fn sides(self) -> Option<&'a Members> {
        let group = self.trace.groups().get(self.instance.group)?;
        (group.kind == GroupKind::Inter).then_some(&group.members)
    }

    /// On which side a PE is; 0 where there are no sides.
    fn side(self, pe: PeId) -> usize {
        self.sides().map_or(0, |sides| usize::from(!sides.first_contains(pe)))
    }
}
