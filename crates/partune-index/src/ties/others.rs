//! Ties of locks, values, teams and the creation of PEs.

use partune_base::{PeId, Time};
use partune_trace::{Completion, Participants, Role, VisitIx};

use super::points::{Maker, Points};
use super::{Gift, Part};
use crate::{Fork, Grant, Place, creations, handed_on};

impl Maker<'_> {
    /// A lock goes from one grant to the next in the order recorded; several may share it.
    pub(super) fn locks(&self, points: &mut Points) {
        for grants in self.index.locks.by_lock() {
            handed_on(grants, |_, grant, before| lock(before, grant, points));
        }
    }

    pub(super) fn values(&self, points: &mut Points) {
        for wait in &self.index.rma.value_waits {
            let own = Place { pe: wait.pe, visit: wait.operation };
            if wait.cause.is_some() && own.is_some() && wait.cause.pe != wait.pe {
                let gift = Gift { time: wait.fulfilled, place: wait.cause };
                let first = self.index.polls.of_epoch(self.trace, own);
                let own = Place { visit: first.unwrap_or(own.visit), ..own };
                let since = self.at(wait.pe, own.visit, wait.fulfilled);
                points.pair(gift, (wait.cause, wait.cause.enter(self.trace)), (own, since));
            }
        }
    }

    /// Who waits for tasks, or in a barrier of a team, until which all tasks of the team end: if it then takes up a task, it takes the creation of the
    /// last one that another thread of its process created meanwhile; else, or if there is none, the end of the last one that another ended
    /// meanwhile. Which tasks it waited for is not recorded.
    pub(super) fn tasks(&self, points: &mut Points) {
        if self.trace.regions().iter().all(|region| region.role != Role::TaskRun) {
            return;
        }
        for process in self.trace.processes().as_slice() {
            let visits = |pe: PeId| &self.trace.streams()[pe].visits;
            let all = process
                .pes
                .iter()
                .flat_map(|&pe| (0..visits(pe).len() as u32).map(move |visit| Place { pe, visit: VisitIx(visit) }));
            let (mut created, mut ended) = (Vec::new(), Vec::new());
            for at in all {
                let span = visits(at.pe).at(at.visit);
                let region = self.trace.region_of(at.pe, at.visit);
                if region.role == Role::TaskRun {
                    ended.push((span.exit, at.pe, at));
                } else if region.role == Role::TaskCreate && region.completion == Completion::Blocking {
                    // One that is not for a device.
                    created.push((span.enter, at.pe, at));
                }
            }
            for moments in [&mut created, &mut ended] {
                moments.sort_unstable_by_key(|(time, pe, at)| (*time, *pe, at.visit));
            }
            for &pe in process.pes.iter().filter(|_| !ended.is_empty()) {
                for &visit in &self.trace.streams()[pe].operations {
                    let own = Place { pe, visit };
                    let region = self.trace.region_of(pe, visit);
                    let waits = region.role == Role::TaskWait && region.completion == Completion::Blocking
                        || region.role == Role::GroupSync && region.participants == Participants::Team;
                    if !waits {
                        continue;
                    }
                    let span = visits(pe).at(visit);
                    let by_another = |moments: &[(Time, PeId, Place)]| {
                        let before = moments.partition_point(|(time, ..)| *time <= span.exit);
                        let meanwhile = moments[..before].iter().rev().take_while(|(time, ..)| *time > span.enter);
                        meanwhile.copied().find(|(_, other, _)| *other != pe)
                    };
                    let created = self.takes_up_a_task(pe, span.exit).then(|| by_another(&created)).flatten();
                    if let Some((time, _, place)) = created.or_else(|| by_another(&ended)) {
                        points.pair(Gift { time, place }, (place, time), (own, span.enter));
                    }
                }
            }
        }
    }

    /// Whether a task begins on a PE at a moment.
    fn takes_up_a_task(&self, pe: PeId, time: Time) -> bool {
        let visits = &self.trace.streams()[pe].visits;
        let first = visits.enter.partition_point(|enter| *enter < time);
        let then = (first..visits.len()).take_while(|visit| visits.enter[*visit] == time);
        then.map(|visit| self.trace.role_of(pe, VisitIx(visit as u32))).any(|role| role == Role::TaskRun)
    }

    /// Teams of several threads, and their members but for the PE that forked.
    fn teams(&self) -> impl Iterator<Item = (&Fork, impl Iterator<Item = &(PeId, Time, Time)> + Clone)> {
        self.index.teams.forks.iter().filter(|fork| fork.place.pe.is_some()).filter_map(|fork| {
            let others = fork.members.iter().filter(|member| member.0 != fork.place.pe);
            others.clone().next().is_some().then_some((fork, others))
        })
    }

    pub(super) fn forks(&self, points: &mut Points) {
        for (fork, others) in self.teams() {
            let tie = points.tie(Gift { time: fork.fork, place: fork.place }, 1);
            points.push(forking(fork), fork.fork, tie, Part::Gives);
            others.for_each(|(pe, began, _)| points.push(self.first_after(*pe, *began), *began, tie, Part::Begins));
        }
    }

    pub(super) fn joins(&self, points: &mut Points) {
        for (fork, others) in self.teams() {
            let Some(&(last, _, ended)) = others.clone().max_by_key(|(pe, _, end)| (*end, *pe)) else { continue };
            let gift = Gift { time: ended, place: self.last_before(last, ended) };
            let tie = points.tie(gift, others.clone().count() as u32);
            let own = fork.members.iter().find(|member| member.0 == fork.place.pe);
            let since = own.map_or(fork.fork, |own| own.2);
            points.push(forking(fork), since, tie, Part::Takes);
            for (pe, _, ended) in others {
                points.push(Place { pe: *pe, visit: VisitIx(0) }, *ended, tie, Part::Gives);
            }
        }
    }

    /// Creation and end of PEs.
    pub(super) fn creations(&self, points: &mut Points) {
        for created in creations(self.trace) {
            if let Some(((by, at), (own, began))) = created.begun {
                let tie = points.tie(Gift { time: at, place: by }, 1);
                points.push(by, at, tie, Part::Gives);
                points.push(self.first_after(own.pe, began), began, tie, Part::Begins);
            }
            if let Some(((by, waited), (own, ended))) = created.ended {
                let gift = Gift { time: ended, place: self.running_at(own.pe, ended) };
                points.pair(gift, (gift.place, ended), (by, self.at(by.pe, by.visit, waited)));
            }
        }
    }

    fn first_after(&self, pe: PeId, time: Time) -> Place {
        let visits = &self.trace.streams()[pe].visits;
        let first = visits.enter.partition_point(|enter| *enter < time);
        Place { pe, visit: if first < visits.len() { VisitIx(first as u32) } else { VisitIx::NONE } }
    }

    /// The innermost visit that ends no earlier; linear in those within it.
    fn running_at(&self, pe: PeId, time: Time) -> Place {
        let visits = &self.trace.streams()[pe].visits;
        let entered = visits.enter.partition_point(|enter| *enter <= time);
        let open = (0..entered).rev().find(|visit| visits.exit[*visit] >= time);
        open.map_or_else(|| self.last_before(pe, time), |visit| Place { pe, visit: VisitIx(visit as u32) })
    }

    fn last_before(&self, pe: PeId, time: Time) -> Place {
        let visits = &self.trace.streams()[pe].visits;
        let last = visits.enter.partition_point(|enter| *enter <= time).checked_sub(1);
        Place { pe, visit: last.map_or(VisitIx::NONE, |last| VisitIx(last as u32)) }
    }
}

/// What a request takes from those that held the lock, as far as they are other PEs.
fn lock(holders: &[&Grant], grant: &Grant, points: &mut Points) {
    let others: Vec<&Grant> = holders.iter().copied().filter(|holder| holder.pe != grant.pe).collect();
    let Some(last) = others.iter().max_by_key(|holder| (holder.released, holder.pe)) else { return };
    if !grant.operation.is_some() {
        return;
    }
    let tie = points.tie(Gift { time: last.released, place: last.last_seen() }, others.len() as u32);
    for holder in others {
        points.push(Place { pe: holder.pe, visit: holder.release }, holder.released, tie, Part::Gives);
    }
    points.push(Place { pe: grant.pe, visit: grant.operation }, grant.requested, tie, Part::Takes);
}

/// Where a team was forked: its visit may not be recorded.
fn forking(fork: &Fork) -> Place {
    Place { visit: if fork.place.visit.is_some() { fork.place.visit } else { VisitIx(0) }, ..fork.place }
}
