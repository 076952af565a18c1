//! The dependences of each kind.

use partune_base::{GroupId, PeId, Time};
use partune_trace::{Role, TeamKind, Trace, VisitIx};
use rayon::prelude::*;

use super::{Dependence, DependenceKind};
use crate::{Index, Instance, Member, Message, Place};

pub(super) fn all(trace: &Trace, index: &Index) -> Vec<Dependence> {
    let edges = Edges { trace, index };
    let mut found: Vec<Dependence> =
        index.messages.as_slice().par_iter().flat_map_iter(|it| edges.message(it)).collect();
    found.par_extend(index.collectives.instances.par_iter().flat_map_iter(|instance| edges.collective(instance)));
    found.extend(edges.locks());
    found.extend(edges.values());
    found.extend(edges.teams());
    edges.creations(&mut found);
    found.retain(binds);
    if !index.clocks.aligned {
        let process = |pe: PeId| trace.pes().get(pe).map(|pe| pe.process);
        found.retain(|edge| process(edge.effect.pe) == process(edge.cause.pe));
    }
    found
}

/// Whether the cause came after the effect had begun to wait.
fn binds(edge: &Dependence) -> bool {
    edge.effect.is_some() && edge.effect.pe != edge.cause.pe && edge.at > edge.from
}

struct Edges<'a> {
    trace: &'a Trace,
    index: &'a Index,
}

impl Edges<'_> {
    /// Enter and exit of the operation at a place; `None` for none.
    fn span(&self, place: Place) -> Option<(Time, Time)> {
        let visit = self.trace.streams().get(place.pe)?.visits.get(place.visit)?;
        Some((visit.enter, visit.exit))
    }

    fn message(&self, message: &Message) -> impl Iterator<Item = Dependence> + use<> {
        let (send, recv) = (message.send_place(self.trace), message.recv_place(self.trace));
        let post = Place { pe: message.receiver, visit: message.recv_post };
        let completion = Place { pe: message.sender, visit: message.send_completion };
        let forth = self.span(recv).zip(self.span(send)).and_then(|((enter, exit), (at, _))| {
            (at <= exit).then_some(edge(DependenceKind::Message, (recv, enter), (send, at)))
        });
        // A send that is still at it when the receive is posted waited for it.
        let back = self.span(completion).and_then(|(enter, exit)| {
            let at = message.recv_posted;
            (at <= exit).then_some(edge(DependenceKind::Handshake, (completion, enter), (post, at)))
        });
        [forth, back].into_iter().flatten()
    }

    fn collective(&self, instance: &Instance) -> Vec<Dependence> {
        let members = self.index.collectives.members(instance);
        let last = |members: &mut dyn Iterator<Item = &Member>| {
            members.max_by_key(|member| (member.enter, member.pe)).copied()
        };
        let mut found = Vec::new();
        let mut wait = |member: &Member, cause: Option<Member>| {
            if let Some(cause) = cause.filter(|cause| cause.enter > member.wait_enter && cause.enter <= member.exit) {
                let effect = Place { pe: member.pe, visit: member.wait };
                let cause_place = Place { pe: cause.pe, visit: cause.start };
                found.push(edge(DependenceKind::Collective, (effect, member.wait_enter), (cause_place, cause.enter)));
            }
        };
        match instance.role {
            Role::OneToAll => {
                let root = members.iter().find(|member| member.pe == instance.root).copied();
                for member in members {
                    wait(member, root);
                }
            }
            Role::AllToOne if instance.root.is_some() => {
                let others = last(&mut members.iter().filter(|member| member.pe != instance.root));
                members.iter().filter(|member| member.pe == instance.root).for_each(|root| wait(root, others));
            }
            Role::Scan => {
                let mut so_far: Option<Member> = None;
                for member in self.by_rank(instance, members) {
                    wait(member, so_far);
                    so_far = so_far.into_iter().chain([*member]).max_by_key(|member| (member.enter, member.pe));
                }
            }
            _ => {
                let last = last(&mut members.iter());
                for member in members {
                    wait(member, last);
                }
            }
        }
        found
    }

    /// Members in order of their ranks in the group.
    fn by_rank<'m>(&self, instance: &Instance, members: &'m [Member]) -> Vec<&'m Member> {
        let Some(group) = self.trace.groups().get(instance.group) else { return Vec::new() };
        let of = |member: &'m Member| Some((group.members.rank(member.pe)?, member));
        let mut ranked: Vec<(usize, &Member)> = members.iter().filter_map(of).collect();
        ranked.sort_unstable_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, member)| member).collect()
    }

    fn locks(&self) -> impl Iterator<Item = Dependence> + '_ {
        let grants = &self.index.locks.grants;
        grants.iter().filter_map(|grant| {
            let enabler = grants.get(grant.enabled_by as usize)?;
            let effect = Place { pe: grant.pe, visit: grant.operation };
            Some(edge(DependenceKind::Lock, (effect, grant.requested), (enabler.last_seen(), enabler.released)))
        })
    }

    fn values(&self) -> impl Iterator<Item = Dependence> + '_ {
        self.index.rma.value_waits.iter().filter(|wait| wait.cause.is_some()).filter_map(|wait| {
            let effect = Place { pe: wait.pe, visit: wait.operation };
            let (enter, _) = self.span(effect)?;
            Some(edge(DependenceKind::Value, (effect, enter), (wait.cause, wait.fulfilled)))
        })
    }

    fn teams(&self) -> impl Iterator<Item = Dependence> + '_ {
        self.index.teams.forks.iter().flat_map(move |fork| {
            let begins = fork.members.iter().filter_map(move |&(pe, begin, _)| {
                // The thread did nothing since its last event.
                let first = self.first_after(pe, begin)?;
                Some(edge(DependenceKind::Fork, (first, Time::MIN), (fork.place, fork.fork)))
            });
            let others = fork.members.iter().filter(|member| member.0 != fork.place.pe);
            let last = others.max_by_key(|(pe, _, end)| (*end, *pe));
            let own = fork.members.iter().find(|member| member.0 == fork.place.pe);
            let join = last.map(|&(pe, _, end)| {
                let from = own.map_or(fork.fork, |own| own.2);
                let cause = self.last_before(pe, end).unwrap_or(Place { pe, visit: VisitIx::NONE });
                edge(DependenceKind::Join, (fork.place, from), (cause, end))
            });
            begins.chain(join)
        })
    }

    /// Creation and end of PEs, tied by group and sequence number.
    fn creations(&self, found: &mut Vec<Dependence>) {
        type Key = (GroupId, u64, u32);
        let mut events: Vec<(Key, Time, Place)> = Vec::new();
        for (pe, stream) in self.trace.streams().iter_ids() {
            for row in &stream.teams {
                let order = match row.kind {
                    TeamKind::Create => 0,
                    TeamKind::Begin => 1,
                    TeamKind::End => 2,
                    TeamKind::Wait => 3,
                    TeamKind::Fork | TeamKind::Join | TeamKind::TeamBegin | TeamKind::TeamEnd => continue,
                };
                if row.group.is_some() {
                    events.push(((row.group, row.sequence, order), row.time, Place { pe, visit: row.visit }));
                }
            }
        }
        events.sort_unstable();
        for same in events.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
            let of = |order: u32| same.iter().find(|event| event.0.2 == order);
            if let (Some(create), Some(begin)) = (of(0), of(1))
                && let Some(first) = self.first_after(begin.2.pe, begin.1)
            {
                found.push(edge(DependenceKind::Creation, (first, Time::MIN), (create.2, create.1)));
            }
            if let (Some(end), Some(wait)) = (of(2), of(3))
                && let Some((enter, _)) = self.span(wait.2)
            {
                let cause = self.last_before(end.2.pe, end.1).unwrap_or(end.2);
                found.push(edge(DependenceKind::Creation, (wait.2, enter), (cause, end.1)));
            }
        }
    }

    fn first_after(&self, pe: PeId, time: Time) -> Option<Place> {
        let visits = &self.trace.streams()[pe].visits;
        let first = visits.enter.partition_point(|enter| *enter < time);
        (first < visits.len()).then_some(Place { pe, visit: VisitIx(first as u32) })
    }

    fn last_before(&self, pe: PeId, time: Time) -> Option<Place> {
        let visits = &self.trace.streams()[pe].visits;
        let last = visits.enter.partition_point(|enter| *enter <= time).checked_sub(1)?;
        Some(Place { pe, visit: VisitIx(last as u32) })
    }
}

/// An edge from what waits, since when, to what ended it, and when.
fn edge(kind: DependenceKind, effect: (Place, Time), cause: (Place, Time)) -> Dependence {
    Dependence { kind, effect: effect.0, from: effect.1, cause: cause.0, at: cause.1 }
}
