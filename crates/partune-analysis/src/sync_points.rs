//! Where two PEs were last known to be together: the begin of the interval in which one of them came to be late.
//!
//! A common synchronisation point of a wait is a message between the two PEs, in either direction, a collective of both, the
//! end of an epoch of a window in which one accessed memory of the other (complete and wait), or its begin where one waited for it (start and post), a value that
//! one waited for and the other wrote, the creation of one by the other or its end for which that waited, or the fork of a team of both, that was over on both sides before: on the waiting side at the begin of the wait, on the late side at its end.
//! (Böhme et al., "Identifying the root causes of wait states", take only points with waits; taking all makes intervals shorter
//! and costs linear.) It is looked for backwards from the wait; who is not found near is taken to have been together at the last
//! collective of most PEs, or at the begin of the run; of a thread that was made later, when it began. Memory: 16 bytes a member of a collective or team, 48 an epoch between two PEs.

use partune_base::{PeId, Table, Time};
use partune_index::{EpochEnd, Index, Instance, Place, creations};
use partune_trace::{Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

use crate::Wait;

/// How many messages, collectives, epochs and forks of the waiting PE to look back.
const LOOK_BACK: usize = 256;

/// The collectives of every PE.
pub(crate) struct Meetings<'a> {
    index: &'a Index,
    /// When each PE left each of its collectives, and its position, in order of time.
    of_pe: Table<PeId, Vec<(Time, u32)>>,
    /// Instances that most PEs took part in: last enter and position, in order.
    large: Vec<(Time, u32)>,
    /// For each PE when it had ended an epoch, waited for a value or written it, created a PE or begun, with whom, and when that one had, in order of time.
    epochs: Table<PeId, Vec<(Time, PeId, Time)>>,
    /// When each PE began its part in each team, and the position of that, in order of time.
    parts: Table<PeId, Vec<(Time, u32)>>,
}

/// The synchronisation points of one PE with every other. Moves forward: waits are asked for in order of time.
pub(crate) struct SyncPoints<'a> {
    trace: &'a Trace,
    meetings: &'a Meetings<'a>,
    pe: PeId,
    /// Rows and collectives that began or ended before the last wait asked for.
    sends: usize,
    recvs: usize,
    met: usize,
    epochs: usize,
    parts: usize,
}

impl<'a> Meetings<'a> {
    pub(crate) fn new(trace: &Trace, index: &'a Index) -> Meetings<'a> {
        let mut of_pe: Table<PeId, Vec<(Time, u32)>> = trace.pes().ids().map(|_| Vec::new()).collect();
        let most = index.collectives.instances.iter().map(|it| index.collectives.members(it).len()).max().unwrap_or(0);
        let mut large = Vec::new();
        for (number, instance) in (0_u32..).zip(&index.collectives.instances) {
            let members = index.collectives.members(instance);
            for member in members {
                of_pe[member.pe].push((member.exit, number));
            }
            if members.len() * 2 > most {
                large.push((members.iter().map(|member| member.enter).max().unwrap_or_default(), number));
            }
        }
        of_pe.as_mut_slice().par_iter_mut().for_each(|met| met.sort());
        let mut epochs: Table<PeId, Vec<(Time, PeId, Time)>> = trace.pes().ids().map(|_| Vec::new()).collect();
        for EpochEnd { wait, complete } in &index.rma.epoch_ends {
            let (at_target, at_origin) = (wait.exit(trace), complete.exit(trace));
            epochs[wait.pe].push((at_target, complete.pe, at_origin));
            epochs[complete.pe].push((at_origin, wait.pe, at_target));
        }
        let both = |epochs: &mut Table<PeId, Vec<(Time, PeId, Time)>>,
                    (one, at): (PeId, Time),
                    (other, there): (PeId, Time)| {
            epochs[one].push((at, other, there));
            epochs[other].push((there, one, at));
        };
        for wait in index.rma.value_waits.iter().filter(|wait| wait.cause.is_some() && wait.operation.is_some()) {
            let is_value = trace.role_of(wait.pe, wait.operation) == Role::WaitOnValue;
            let is_post = trace.role_of(wait.cause.pe, wait.cause.visit) == Role::RmaPost;
            if wait.cause.pe != wait.pe && (is_value || is_post) {
                let own = Place { pe: wait.pe, visit: wait.operation }.exit(trace);
                both(&mut epochs, (wait.pe, own), (wait.cause.pe, wait.cause.exit(trace)));
            }
        }
        for created in creations(trace) {
            for ((one, at), (other, there)) in created.begun.into_iter().chain(created.ended) {
                both(&mut epochs, (one.pe, at), (other.pe, there));
            }
        }
        epochs.as_mut_slice().par_iter_mut().for_each(|ends| ends.sort_unstable());
        let mut parts: Table<PeId, Vec<(Time, u32)>> = trace.pes().ids().map(|_| Vec::new()).collect();
        for (number, fork) in (0_u32..).zip(&index.teams.forks) {
            fork.members.iter().for_each(|(pe, begin, _)| parts[*pe].push((*begin, number)));
        }
        parts.as_mut_slice().par_iter_mut().for_each(|parts| parts.sort_unstable());
        Meetings { index, of_pe, large, epochs, parts }
    }

    fn instance(&self, number: u32) -> &Instance {
        &self.index.collectives.instances[number as usize]
    }

    /// When a PE left an instance, if it took part.
    fn exit(&self, number: u32, pe: PeId) -> Option<Time> {
        let members = self.index.collectives.members(self.instance(number));
        // Most often everybody takes part, and members are in order of PE.
        if let Some(member) = members.get(pe.0 as usize).filter(|member| member.pe == pe) {
            return Some(member.exit);
        }
        members.binary_search_by_key(&pe, |member| member.pe).ok().map(|i| members[i].exit)
    }

    /// The last instance of both among those that the PE left before, and among large ones.
    fn last(&self, pe: PeId, met: usize, own_limit: Time, other: PeId, other_limit: Time) -> Option<Time> {
        let both = |own: Time, number: u32| {
            let there = self.exit(number, other)?;
            (there <= other_limit).then_some(own.min(there))
        };
        let near = self.of_pe[pe][..met].iter().rev().take(LOOK_BACK).find_map(|(own, number)| both(*own, *number));
        if near.is_some() || met <= LOOK_BACK {
            return near;
        }
        // In order of last enters, which no exit precedes.
        let before = self.large.partition_point(|(entered, _)| *entered <= own_limit);
        self.large[..before].iter().rev().take(LOOK_BACK).find_map(|(_, number)| {
            let own = self.exit(*number, pe).filter(|own| *own <= own_limit)?;
            both(own, *number)
        })
    }
}

impl<'a> SyncPoints<'a> {
    pub(crate) fn new(trace: &'a Trace, meetings: &'a Meetings<'a>, pe: PeId) -> SyncPoints<'a> {
        SyncPoints { trace, meetings, pe, sends: 0, recvs: 0, met: 0, epochs: 0, parts: 0 }
    }

    /// The last common point of this PE and the one that a wait of it waited for; the begin of the run if there is none.
    ///
    /// It is one moment, the same for both: when the first of them was through. So what the late PE did since then, including
    /// its waits, is never less than the wait plus what the waiting PE did, and all of the wait is accounted for.
    pub(crate) fn before(&mut self, wait: &Wait) -> Time {
        let met = &self.meetings.of_pe[self.pe];
        self.met += met[self.met..].partition_point_near(|(exit, _)| *exit <= wait.begin);
        let stream = &self.trace.streams()[self.pe];
        self.sends += stream.sends[self.sends..].partition_point_near(|row| row.time <= wait.begin);
        self.recvs += stream.recvs[self.recvs..].partition_point_near(|row| row.time <= wait.begin);
        let meeting = self.meetings.last(self.pe, self.met, wait.begin, wait.cause.pe, wait.end);
        let message = self.last_message(stream, wait, meeting.unwrap_or(Time::MIN));
        let found = message.max(meeting).max(self.last_epoch(wait)).max(self.last_fork(wait));
        found.unwrap_or_else(|| self.since(stream, wait.cause.pe))
    }

    /// Since when this PE can have met another one: a thread that its process made, when it began; and all have met where a slice begins.
    fn since(&self, stream: &Stream, other: PeId) -> Time {
        if self.trace.slice().is_some_and(|slice| slice.number > 0) {
            let there = self.trace.streams().get(other).and_then(Stream::begin);
            return stream.begin().into_iter().chain(there).min().unwrap_or_default();
        }
        let is_made = self.trace.main_of(self.pe) != self.pe;
        let begin = stream.visits.enter.first().filter(|_| is_made);
        begin.copied().unwrap_or_default().max(self.trace.begin())
    }

    /// The last end of an epoch of this PE and the cause of a wait.
    fn last_epoch(&mut self, wait: &Wait) -> Option<Time> {
        let ends = &self.meetings.epochs[self.pe];
        self.epochs += ends[self.epochs..].partition_point_near(|end| end.0 <= wait.begin);
        let before = ends[..self.epochs].iter().rev().take(LOOK_BACK);
        before
            .filter(|(_, other, there)| *other == wait.cause.pe && *there <= wait.end)
            .map(|(own, _, there)| *own.min(there))
            .next()
    }

    /// The last fork of a team of this PE and the cause of a wait.
    fn last_fork(&mut self, wait: &Wait) -> Option<Time> {
        let parts = &self.meetings.parts[self.pe];
        self.parts += parts[self.parts..].partition_point_near(|(begin, _)| *begin <= wait.begin);
        parts[..self.parts].iter().rev().take(LOOK_BACK).find_map(|(_, number)| {
            let fork = &self.meetings.index.teams.forks[*number as usize];
            let member = fork.members.binary_search_by_key(&wait.cause.pe, |(pe, ..)| *pe).ok()?;
            (fork.members[member].1 <= wait.end).then_some(fork.fork)
        })
    }

    /// The last message with the cause of a wait, if it is later than `floor`.
    fn last_message(&self, stream: &Stream, wait: &Wait, floor: Time) -> Option<Time> {
        let other = wait.cause.pe;
        // Ranks name the main PE of a process, for which the other one may have acted.
        let named = [other, self.trace.main_of(other)];
        let messages = &self.meetings.index.messages;
        let both = |own: VisitIx, place: Place| {
            let own = stream.visits.get(own)?.exit;
            let there = self.trace.streams().get(place.pe)?.visits.get(place.visit)?.exit;
            (own <= wait.begin && there <= wait.end && place.pe == other).then_some(own.min(there))
        };
        let recvs = stream.recvs[..self.recvs].iter().enumerate().rev().take(LOOK_BACK);
        let received =
            recvs.take_while(|(_, row)| row.time > floor).filter(|(_, row)| named.contains(&row.peer)).find_map(|it| {
                let message = messages.of_recv(self.pe, it.0)?;
                both(it.1.visit, message.send_place(self.trace))
            });
        let sends = stream.sends[..self.sends].iter().enumerate().rev().take(LOOK_BACK);
        let sent =
            sends.take_while(|(_, row)| row.time > floor).filter(|(_, row)| named.contains(&row.peer)).find_map(|it| {
                let message = messages.of_send(self.pe, it.0)?;
                both(it.1.visit, message.recv_place(self.trace))
            });
        received.max(sent)
    }
}

trait PartitionNear<T> {
    /// `partition_point` for a point that is most often near the begin.
    fn partition_point_near(&self, is_before: impl Fn(&T) -> bool) -> usize;
}

impl<T> PartitionNear<T> for [T] {
    fn partition_point_near(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let mut step = 1;
        let mut begin = 0;
        while begin + step <= self.len() && is_before(&self[begin + step - 1]) {
            begin += step;
            step *= 2;
        }
        let end = (begin + step).min(self.len());
        begin + self[begin..end].partition_point(is_before)
    }
}
