//! Where two PEs were last known to be together: the begin of the interval in which one of them came to be late.
//!
//! A common synchronisation point of a wait is a message between the two PEs, in either direction, or a collective of both,
//! that was over on both sides before: on the waiting side at the begin of the wait, on the late side at its end.
//! (Böhme et al., "Identifying the root causes of wait states", take only points with waits; taking all makes intervals shorter
//! and costs linear.) Memory: 16 bytes an end of a message while a PE is looked at, 4 bytes a member of a collective.

use partune_base::{PeId, Table, Time};
use partune_index::{Index, Message};
use partune_trace::{Trace, VisitIx};

use crate::Wait;

/// How far back to look at each step before taking a coarser point.
const LOOK_BACK: usize = 64;

/// The collectives of every PE.
pub(crate) struct Meetings<'a> {
    index: &'a Index,
    /// Positions of the instances of each PE, in order of its exits.
    of_pe: Table<PeId, Vec<u32>>,
    /// Instances that most PEs took part in.
    large: Vec<u32>,
}

/// The synchronisation points of one PE with every other.
pub(crate) struct SyncPoints<'a> {
    trace: &'a Trace,
    meetings: &'a Meetings<'a>,
    pe: PeId,
    offsets: Vec<u32>,
    /// Messages by partner: when it was over here, and there; in that order.
    points: Vec<(Time, Time)>,
}

impl<'a> Meetings<'a> {
    pub(crate) fn new(trace: &Trace, index: &'a Index) -> Meetings<'a> {
        let mut of_pe: Table<PeId, Vec<u32>> = trace.pes().ids().map(|_| Vec::new()).collect();
        let instances = &index.collectives.instances;
        for (number, instance) in instances.iter().enumerate() {
            for member in index.collectives.members(instance) {
                of_pe[member.pe].push(number as u32);
            }
        }
        let exit = |pe: PeId, number: u32| own_exit(index, number, pe);
        for pe in trace.pes().ids() {
            of_pe[pe].sort_by_key(|number| exit(pe, *number));
        }
        let most = instances.iter().map(|instance| index.collectives.members(instance).len()).max().unwrap_or(0);
        let is_large = |number: &u32| index.collectives.members(&instances[*number as usize]).len() * 2 > most;
        let large = (0..instances.len() as u32).filter(is_large).collect();
        Meetings { index, of_pe, large }
    }

    /// The last collective of both PEs that was over at `own_limit` on one and at `other_limit` on the other.
    fn last(&self, pe: PeId, own_limit: Time, other: PeId, other_limit: Time) -> Option<(Time, Time)> {
        let both = |number: &u32| {
            let point = (own_exit(self.index, *number, pe)?, own_exit(self.index, *number, other)?);
            (point.0 <= own_limit && point.1 <= other_limit).then_some(point)
        };
        let own = &self.of_pe[pe];
        let before =
            own.partition_point(|number| own_exit(self.index, *number, pe).is_none_or(|exit| exit <= own_limit));
        let near = own[..before].iter().rev().take(LOOK_BACK).find_map(both);
        if near.is_some() || before <= LOOK_BACK {
            return near;
        }
        // Instances are in order of their last enters, which no exit precedes.
        let instances = &self.index.collectives.instances;
        let entered = |number: &u32| {
            let members = self.index.collectives.members(&instances[*number as usize]);
            members.iter().map(|member| member.enter).max().unwrap_or(Time::MIN)
        };
        let before = self.large.partition_point(|number| entered(number) <= own_limit);
        self.large[..before].iter().rev().take(LOOK_BACK).find_map(both)
    }
}

/// When a PE left an instance.
fn own_exit(index: &Index, number: u32, pe: PeId) -> Option<Time> {
    let members = index.collectives.members(&index.collectives.instances[number as usize]);
    members.binary_search_by_key(&pe, |member| member.pe).ok().map(|i| members[i].exit)
}

impl<'a> SyncPoints<'a> {
    /// Collects the points of a PE; linear in its messages but for sorting those of a partner.
    pub(crate) fn new(trace: &'a Trace, meetings: &'a Meetings<'a>, pe: PeId) -> SyncPoints<'a> {
        let stream = &trace.streams()[pe];
        let messages = &meetings.index.messages;
        let rows = || {
            let sent = (0..stream.sends.len()).filter_map(|row| messages.of_send(pe, row));
            let received = (0..stream.recvs.len()).filter_map(|row| messages.of_recv(pe, row));
            sent.chain(received).filter_map(|message| point(trace, message, pe))
        };
        let mut offsets = vec![0_u32; trace.pes().len() + 1];
        rows().for_each(|(partner, _)| offsets[partner.0 as usize + 1] += 1);
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut points = vec![(Time::ZERO, Time::ZERO); offsets.last().map_or(0, |total| *total as usize)];
        for (partner, point) in rows() {
            let next = &mut next[partner.0 as usize];
            points[*next as usize] = point;
            *next += 1;
        }
        for range in offsets.windows(2) {
            points[range[0] as usize..range[1] as usize].sort_unstable();
        }
        SyncPoints { trace, meetings, pe, offsets, points }
    }

    /// The last common point of this PE and the one that a wait of it waited for; the begin of the run if there is none.
    ///
    /// It is one moment, the same for both: when the first of them was through. So what the late PE did since then, including
    /// its waits, is never less than the wait plus what the waiting PE did, and all of the wait is accounted for.
    pub(crate) fn before(&self, wait: &Wait) -> Time {
        let other = wait.cause.pe;
        let message = self.last_message(wait.begin, other, wait.end);
        let meeting = self.meetings.last(self.pe, wait.begin, other, wait.end);
        message.max(meeting).map_or(self.trace.begin(), |(own, there)| own.min(there))
    }

    fn last_message(&self, own_limit: Time, other: PeId, other_limit: Time) -> Option<(Time, Time)> {
        let range = *self.offsets.get(other.0 as usize)? as usize..*self.offsets.get(other.0 as usize + 1)? as usize;
        let points = &self.points[range];
        let before = points.partition_point(|(own, _)| *own <= own_limit);
        points[..before].iter().rev().take(LOOK_BACK).find(|(_, there)| *there <= other_limit).copied()
    }
}

/// The partner of `pe` in a message, and when the message was over on `pe` and on the partner.
fn point(trace: &Trace, message: &Message, pe: PeId) -> Option<(PeId, (Time, Time))> {
    let exit = |pe: PeId, visit: VisitIx| trace.streams()[pe].visits.get(visit).map(|visit| visit.exit);
    let sent = exit(message.sender, message.send_place(trace).visit)?;
    let received = exit(message.receiver, message.recv_place(trace).visit)?;
    match pe {
        _ if message.sender == message.receiver => None,
        pe if pe == message.sender => Some((message.receiver, (sent, received))),
        _ => Some((message.sender, (received, sent))),
    }
}
