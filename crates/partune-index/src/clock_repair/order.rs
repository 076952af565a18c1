//! What must come before what: the causes and effects of messages, collectives and epochs of windows between processes.

use partune_base::{Id, PeId, Time};
use partune_trace::{Completion, Role, Trace};
use rayon::prelude::*;

use crate::EpochEnd;
use crate::collectives::{Collectives, Instance, Member};
use crate::messages::{Message, Messages};
use crate::requests::{operation_enter, operation_exit};

/// Begins and ends of communication, by clock. A *node* is a message, a collective, or the end of an exposure epoch: its effects come after all its causes.
pub(super) struct Order {
    /// For each clock, in order of (time, effects first).
    pub(super) domains: Vec<Vec<Event>>,
    /// The clock of each PE: its process.
    pub(super) domain_of: Vec<u32>,
    /// The first event of each clock.
    pub(super) begins: Vec<Time>,
    /// For each node, how many causes it has.
    pub(super) causes: Vec<u32>,
}

/// A cause or an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) time: Time,
    is_cause: bool,
    pub(super) node: u32,
}

impl Event {
    pub(super) fn is_cause(&self) -> bool {
        self.is_cause
    }
}

impl Order {
    pub(super) fn of(trace: &Trace, messages: &Messages, collectives: &Collectives, ends: &[EpochEnd]) -> Order {
        let processes = trace.processes().len() as u32;
        let domain_of: Vec<u32> = trace
            .pes()
            .iter_ids()
            .map(|(id, pe)| if pe.process.0 < processes { pe.process.0 } else { processes + id.0 })
            .collect();
        let clocks = trace.processes().len() + trace.pes().len();
        let mut begins = vec![Time::MAX; clocks];
        for (stream, domain) in trace.streams().iter().zip(&domain_of) {
            let begin = &mut begins[*domain as usize];
            *begin = stream.begin().map_or(*begin, |first| first.min(*begin));
        }
        let mut order = Order { domains: vec![Vec::new(); clocks], domain_of, begins, causes: Vec::new() };
        for message in messages {
            if let Some((cause, effect)) = self::message(trace, message) {
                let node = order.node(1);
                order.push(message.sender, cause, true, node);
                order.push(message.receiver, effect, false, node);
            }
            if let Some((cause, effect)) = handshake(trace, message) {
                let node = order.node(1);
                order.push(message.receiver, cause, true, node);
                order.push(message.sender, effect, false, node);
            }
        }
        for instance in &collectives.instances {
            if let Some(parts) = collective(trace, collectives, instance) {
                let node = order.node(parts.causes().count() as u32);
                parts.causes().for_each(|member| order.push(member.pe, member.enter, true, node));
                parts.effects().for_each(|member| order.push(member.pe, member.exit, false, node));
            }
        }
        for ends in ends.chunk_by(|a, b| a.wait == b.wait) {
            if let Some((causes, effect)) = exposure(trace, ends) {
                let node = order.node(causes.len() as u32);
                causes.into_iter().for_each(|cause| order.push(cause.0, cause.1, true, node));
                order.push(effect.0, effect.1, false, node);
            }
        }
        order.domains.par_iter_mut().for_each(|events| events.sort_unstable());
        order
    }

    fn node(&mut self, causes: u32) -> u32 {
        self.causes.push(causes);
        self.causes.len() as u32 - 1
    }

    fn push(&mut self, pe: PeId, time: Time, is_cause: bool, node: u32) {
        let domain = self.domain_of[pe.index()] as usize;
        self.domains[domain].push(Event { time, is_cause, node });
    }
}

/// When the send of a message began and its receive ended, if they are in different processes.
///
/// Operations count rather than the events in them, since producers write those at different moments of the operation.
pub(super) fn message(trace: &Trace, message: &Message) -> Option<(Time, Time)> {
    let pes = trace.pes();
    if pes[message.sender].process == pes[message.receiver].process {
        return None;
    }
    let (sender, receiver) = (&trace.streams()[message.sender], &trace.streams()[message.receiver]);
    let (send, recv) = (&sender.sends[message.send as usize], &receiver.recvs[message.recv as usize]);
    let begin = operation_enter(sender, trace.paths(), send.visit).map_or(send.time, |enter| enter.min(send.time));
    let end = operation_exit(receiver, trace.paths(), recv.visit).map_or(recv.time, |exit| exit.max(recv.time));
    Some((begin, end))
}

/// When the receive of a message was posted and its send ended, if the send cannot end before: a synchronous one.
pub(super) fn handshake(trace: &Trace, message: &Message) -> Option<(Time, Time)> {
    let pes = trace.pes();
    let visit = trace.streams()[message.sender].sends[message.send as usize].visit;
    let synchronous = visit.is_some() && trace.region_of(message.sender, visit).completion == Completion::Synchronous;
    if !synchronous || pes[message.sender].process == pes[message.receiver].process {
        return None;
    }
    let (sender, receiver) = (&trace.streams()[message.sender], &trace.streams()[message.receiver]);
    let posted = operation_enter(receiver, trace.paths(), message.recv_post).unwrap_or(message.recv_posted);
    Some((posted.min(message.recv_posted), operation_exit(sender, trace.paths(), visit)?))
}

/// A moment on a PE.
pub(super) type Moment = (PeId, Time);

/// When the access epochs to an exposure epoch began to end, and when it had ended; those of its own process excepted. `None` if
/// no other is left.
pub(super) fn exposure(trace: &Trace, ends: &[EpochEnd]) -> Option<(Vec<Moment>, Moment)> {
    let wait = ends.first()?.wait;
    let process = |pe: PeId| trace.pes()[pe].process;
    let others = ends.iter().filter(|end| process(end.complete.pe) != process(wait.pe));
    let causes: Vec<Moment> = others.map(|end| (end.complete.pe, end.complete.enter(trace))).collect();
    (!causes.is_empty()).then(|| (causes, (wait.pe, wait.exit(trace))))
}

/// The members of a collective whose begins and ends depend on each other.
pub(super) struct Parts<'a> {
    members: &'a [Member],
    role: Role,
    root: PeId,
}

impl<'a> Parts<'a> {
    pub(super) fn causes(&self) -> impl Iterator<Item = &'a Member> {
        let (role, root) = (self.role, self.root);
        self.members.iter().filter(move |member| match role {
            Role::OneToAll => member.pe == root,
            Role::AllToOne => member.pe != root,
            _ => true,
        })
    }

    pub(super) fn effects(&self) -> impl Iterator<Item = &'a Member> {
        let (role, root) = (self.role, self.root);
        self.members.iter().filter(move |member| match role {
            Role::OneToAll => member.pe != root,
            Role::AllToOne => member.pe == root,
            _ => true,
        })
    }
}

/// What a collective says of the order of time; `None` if nothing is certain: start-up, shut-down and creation of groups need not
/// synchronise, nothing is moved in those without data, and threads of a process share a clock.
pub(super) fn collective<'a>(trace: &Trace, collectives: &'a Collectives, instance: &Instance) -> Option<Parts<'a>> {
    let members = collectives.members(instance);
    let parts = Parts { members, role: instance.role, root: instance.root };
    let moves_data = |member: &Member| {
        let row = trace.streams()[member.pe].collectives.get(member.row as usize);
        row.is_some_and(|row| row.sent > 0 || row.received > 0)
    };
    let rooted = || instance.root.is_some() && parts.causes().next().is_some() && parts.effects().next().is_some();
    let holds = match instance.role {
        Role::GroupSync => instance.fork == u32::MAX,
        Role::AllToAll => members.iter().all(moves_data),
        Role::OneToAll | Role::AllToOne => rooted() && members.iter().all(moves_data),
        _ => false,
    };
    let process = |member: &Member| trace.pes()[member.pe].process;
    let several = || members.iter().any(|member| process(member) != process(&members[0]));
    (holds && several()).then_some(parts)
}
