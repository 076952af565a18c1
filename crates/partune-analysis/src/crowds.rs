//! Crowds: from when to when threads that the program created itself live beside those that nobody created.
//!
//! A crowd begins where the first is created and ends when the last one has ended, with the call that waits for it if that was waiting
//! already. Between crowds the process has only the threads that it began with.

use partune_base::{CallPathId, GroupId, PeId, Time};
use partune_index::Place;
use partune_trace::{TeamKind, Trace, VisitIx};

/// From the first thread's creation to the last one's end, with the call paths of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowd {
    pub(crate) begin: Time,
    pub(crate) end: Time,
    /// The call that created the first.
    pub(crate) opens: CallPathId,
    /// The call that waited for the last, if only after its end; where none did, what that thread ran last.
    pub(crate) closes: CallPathId,
}

/// Which creation it was.
type Key = (GroupId, u64);

/// The crowds of a process, in order. Linear in its team events, but for sorting; nothing where no thread's creation is recorded.
pub(crate) fn crowds(trace: &Trace, pes: &[PeId]) -> Vec<Crowd> {
    let mut creators: Vec<(Key, TeamKind, Place)> = Vec::new();
    let mut lives: Vec<Crowd> = Vec::new();
    for pe in pes {
        let stream = &trace.streams()[*pe];
        let calls = stream.teams.iter().filter(|row| matches!(row.kind, TeamKind::Create | TeamKind::Wait));
        creators.extend(calls.map(|row| ((row.group, row.sequence), row.kind, Place { pe: *pe, visit: row.visit })));
    }
    creators.sort_unstable();
    let call = |key: Key, kind: TeamKind| {
        let at = creators.binary_search_by_key(&(key, kind), |row| (row.0, row.1)).ok()?;
        let (place, visits) = (creators[at].2, &trace.streams()[creators[at].2.pe].visits);
        let visit = place.visit.some()?.index();
        Some((visits.enter[visit], visits.exit[visit], visits.path[visit]))
    };
    for pe in pes.iter().filter(|pe| trace.pes()[**pe].thread != 0) {
        let stream = &trace.streams()[*pe];
        let path = |visit: VisitIx| visit.some().map_or(CallPathId::NONE, |visit| stream.visits.path[visit.index()]);
        let mut open: Option<Crowd> = None;
        for row in &stream.teams {
            let key = (row.group, row.sequence);
            match row.kind {
                TeamKind::Begin => {
                    let created = call(key, TeamKind::Create);
                    let (begin, _, opens) = created.unwrap_or((row.time, row.time, path(row.visit)));
                    open = Some(Crowd { begin: begin.min(row.time), end: Time::MAX, opens, closes: CallPathId::NONE });
                }
                TeamKind::End => {
                    // A piece of a run may lack the begin.
                    let whole =
                        Crowd { begin: Time::MIN, end: Time::MAX, opens: CallPathId::NONE, closes: CallPathId::NONE };
                    let life = open.take().unwrap_or(whole);
                    let waited = call(key, TeamKind::Wait);
                    let end = waited.filter(|wait| wait.0 <= row.time).map_or(row.time, |wait| wait.1);
                    let ran = || stream.visits.path.last().copied().unwrap_or(CallPathId::NONE);
                    let closes = waited.map_or_else(ran, |wait| wait.2);
                    lives.push(Crowd { end: end.max(row.time), closes, ..life });
                }
                TeamKind::Create
                | TeamKind::Wait
                | TeamKind::Fork
                | TeamKind::Join
                | TeamKind::TeamBegin
                | TeamKind::TeamEnd => {}
            }
        }
        lives.extend(open);
    }
    lives.sort_unstable_by_key(|life| (life.begin, life.end, life.opens, life.closes));
    let mut crowds: Vec<Crowd> = Vec::new();
    for life in lives {
        match crowds.last_mut().filter(|crowd| life.begin < crowd.end) {
            Some(crowd) if life.end > crowd.end => (crowd.end, crowd.closes) = (life.end, life.closes),
            Some(_) => {}
            None => crowds.push(life),
        }
    }
    crowds
}
