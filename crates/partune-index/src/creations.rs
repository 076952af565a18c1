//! PEs that others create and whose end others wait for.

use partune_base::{GroupId, Time};
use partune_trace::{TeamKind, Trace};

use crate::Place;

/// Where and when something was done.
type Moment = (Place, Time);

/// One that is created, as far as two PEs tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// Who created it, and its begin.
    pub begun: Option<(Moment, Moment)>,
    /// Who waited for it, and its end.
    pub ended: Option<(Moment, Moment)>,
}

/// All of them, by group and sequence number. O(n log n) in what is told of teams.
pub fn creations(trace: &Trace) -> Vec<Creation> {
    type Key = (GroupId, u64, TeamKind);
    let mut events: Vec<(Key, Time, Place)> = Vec::new();
    for (pe, stream) in trace.streams().iter_ids() {
        for row in &stream.teams {
            let is_creation = match row.kind {
                TeamKind::Create | TeamKind::Begin | TeamKind::Wait | TeamKind::End => true,
                TeamKind::Fork | TeamKind::Join | TeamKind::TeamBegin | TeamKind::TeamEnd => false,
            };
            if is_creation && row.group.is_some() {
                events.push(((row.group, row.sequence, row.kind), row.time, Place { pe, visit: row.visit }));
            }
        }
    }
    events.sort_unstable();
    let of_one = |same: &[(Key, Time, Place)]| {
        let of = |kind: TeamKind| same.iter().find(|event| event.0.2 == kind).map(|(_, time, place)| (*place, *time));
        let both = |one, other| of(one).zip(of(other)).filter(|(one, other)| one.0.pe != other.0.pe);
        Creation { begun: both(TeamKind::Create, TeamKind::Begin), ended: both(TeamKind::Wait, TeamKind::End) }
    };
    events.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)).map(of_one).collect()
}
