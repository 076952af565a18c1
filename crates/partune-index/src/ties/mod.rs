//! Ties: who gives what to whom, once for all that walk it: waits, and with them critical path and delays; and the replay of a run.
//!
//! A tie has givers and takers: what they take is there when all gave. A PE's *ends* of ties are points of its program, in
//! its order. The structure says what must come before what whatever the times are, so a run can be played again with other times; with
//! the recorded times, a tie *bound* a taker if its latest gift came after that began to wait ([`Ties::binding`]).
//!
//! | tie | givers | takers |
//! |---|---|---|
//! | message | the send, at its enter | the receive, at the enter of the operation that completes it, or of the first poll that looked for it |
//! | synchronous | the receive, when posted | a synchronous send, or what completes it |
//! | rendezvous | the same | another send that may wait, or what completes it, if the receive was posted after it began to |
//! | collective | those that arrive | those that need them, where they can do nothing else |
//! | lock | the last exclusive holder; for an exclusive request those that shared it since | the request |
//! | value | the access that fulfilled the condition | the wait |
//! | task | the creation of a task by another thread; the end of one that another ran | who waited for tasks meanwhile, and then ran one; who did not |
//! | fork, join | the fork; the end of each other thread | the begin of each other thread; the forking PE after its own part |
//! | creation | the creation; the end of a PE | the begin of the PE; who waits for its end |

mod collectives;
mod others;
mod points;
mod turns;

use partune_base::{Id, PeId, Table, Time};
use partune_trace::{Trace, VisitIx};
use rayon::prelude::*;

use crate::{Index, Place};

pub use turns::{Programs, Turns, later};

/// What is given; in the order in which ties are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TieKind {
    /// Data. Its number is the message's position in [`crate::Messages::as_slice`].
    Message,
    /// The leave to end of a send that may not end before.
    Synchronous,
    /// The leave to end of a send that did not wait if what is sent was buffered.
    Rendezvous,
    /// An arrival at a collective operation.
    Collective,
    /// A lock.
    Lock,
    /// A value, or a step of an epoch of a window.
    Value,
    /// A task, or its end.
    Task,
    /// Work for a thread of a team.
    Fork,
    /// The end of that work.
    Join,
    /// The begin of a PE, or its end.
    Creation,
}

/// What a PE does at its end of a tie; what comes first within one moment of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It can do nothing before it takes.
    Begins,
    Gives,
    Takes,
    /// It gives what it can only give after it took.
    PassesOn,
}

/// A PE's end of a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// When it gives, or since when it needs.
    pub time: Time,
    /// The operation or other visit there; none outside of all.
    pub visit: VisitIx,
    pub tie: u32,
    pub part: Part,
}

/// The latest of the gifts that a tie needs: the operation, and when it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gift {
    pub time: Time,
    pub place: Place,
}

/// A tie that made somebody wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub kind: TieKind,
    pub tie: u32,
    /// The operation that waited; for forks and creations, the first visit of the thread after it.
    pub taker: Place,
    /// Since when it waited; for what begins, since ever.
    pub since: Time,
    pub gift: Gift,
}

/// All ties: 8 bytes a message, 20 any other tie and 24 an end of it. The ends of messages are made from their rows whenever they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// When each message was given.
    given: Vec<Time>,
    /// The ends of all other ties, in the order of the program.
    ends: Table<PeId, Vec<End>>,
    gifts: Vec<Gift>,
    /// How many give to each.
    givers: Vec<u32>,
    /// Where each kind begins, in order of kinds; the first is left out.
    firsts: [u32; TieKind::ALL.len() - 1],
    /// The instance of each tie of a collective.
    instances: Vec<u32>,
}

impl TieKind {
    pub const ALL: [TieKind; 10] = [
        TieKind::Message,
        TieKind::Synchronous,
        TieKind::Rendezvous,
        TieKind::Collective,
        TieKind::Lock,
        TieKind::Value,
        TieKind::Task,
        TieKind::Fork,
        TieKind::Join,
        TieKind::Creation,
    ];
}

impl Ties {
    /// Linear in messages, members of collectives, grants, value waits and members of teams, but for merging each PE's ends into the order
    /// of its program.
    pub fn build(trace: &Trace, index: &Index) -> Ties {
        let maker = points::Maker { trace, index };
        let (kept, shapes) =
            rayon::join(|| points::late_posts(trace, index), || collectives::shapes(trace, &index.collectives));
        let mut points = points::Points::new(trace.pes().len(), index.messages.len());
        let mut ties = Ties::default();
        for kind in &TieKind::ALL[1..] {
            ties.firsts[*kind as usize - 1] = points.len();
            match kind {
                TieKind::Message => {}
                TieKind::Synchronous => points.kept(&kept, true),
                TieKind::Rendezvous => points.kept(&kept, false),
                TieKind::Collective => ties.instances = maker.arrivals(&shapes, &mut points),
                TieKind::Lock => maker.locks(&mut points),
                TieKind::Value => maker.values(&mut points),
                TieKind::Task => maker.tasks(&mut points),
                TieKind::Fork => maker.forks(&mut points),
                TieKind::Join => maker.joins(&mut points),
                TieKind::Creation => maker.creations(&mut points),
            }
        }
        let first = ties.firsts[TieKind::Collective as usize - 1];
        let (ends, gifts, givers) = (points.ends, points.gifts, points.givers);
        let share = ends.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let mut ends = ends.into_vec();
        // Each task looks at all collectives for its PEs, so a task takes many.
        let of_others = || {
            ends.par_chunks_mut(share).enumerate().for_each(|(chunk, ends)| {
                let range = chunk * share..chunk * share + ends.len();
                for (pe, ends) in range.clone().zip(ends.iter_mut()) {
                    ends.reserve_exact(2 * trace.streams()[PeId::from_index(pe)].collectives.len());
                }
                maker.members(&shapes, first, range, ends);
                ends.iter_mut().for_each(|ends| ends.sort_by_key(End::order));
            });
        };
        let given = || index.messages.as_slice().par_iter().map(|message| maker.given(message).time).collect();
        let (given, ()) = rayon::join(given, of_others);
        Ties { given, ends: ends.into(), gifts, givers, ..ties }
    }

    /// How many there are; they are numbered from 0.
    pub fn len(&self) -> usize {
        self.given.len() + self.gifts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn kind(&self, tie: u32) -> TieKind {
        TieKind::ALL[self.firsts.partition_point(|first| *first <= tie)]
    }

    /// The ends of a PE, in the order of its program: made anew at each call, from the trace and index that the ties are of.
    pub fn of_pe(&self, trace: &Trace, index: &Index, pe: PeId) -> Vec<End> {
        let others = self.of_others(pe);
        let stream = &trace.streams()[pe];
        let mut ends = Vec::with_capacity(others.len() + stream.sends.len() + stream.recvs.len());
        ends.extend_from_slice(others);
        let maker = points::Maker { trace, index };
        ends.extend(maker.sends(pe));
        ends.extend(maker.recvs(pe));
        // Sorted runs one after the other: a stable sort merges them.
        ends.sort_by_key(End::order);
        ends
    }

    fn of_others(&self, pe: PeId) -> &[End] {
        self.ends.get(pe).map_or(&[], Vec::as_slice)
    }

    /// The latest gift to a tie.
    pub fn gift(&self, trace: &Trace, index: &Index, tie: u32) -> Gift {
        match self.given.get(tie as usize) {
            Some(time) => Gift { time: *time, place: index.messages.as_slice()[tie as usize].send_place(trace) },
            None => self.gifts[tie as usize - self.given.len()],
        }
    }

    /// How many give to a tie.
    pub fn givers(&self, tie: u32) -> u32 {
        (tie as usize).checked_sub(self.given.len()).map_or(1, |other| self.givers[other])
    }

    /// The position in [`crate::Collectives::instances`] of the collective that a tie belongs to.
    pub fn instance(&self, tie: u32) -> Option<u32> {
        let first = self.firsts[TieKind::Collective as usize - 1];
        self.instances.get(tie.checked_sub(first)? as usize).copied()
    }

    /// What bound a PE: the ties whose latest gift came from another PE after it had begun to wait, in the order of its program. Whether it did
    /// wait for it all that time, the end of its operation says.
    pub fn binding(&self, trace: &Trace, index: &Index, pe: PeId) -> impl Iterator<Item = Binding> + use<'_> {
        let bound = |end: &End| {
            let since = end.needed_since()?;
            if self.given.get(end.tie as usize).is_some_and(|given| *given <= since) {
                return None;
            }
            let gift = self.gift(trace, index, end.tie);
            let taker = Place { pe, visit: end.visit };
            let bound = Binding { kind: self.kind(end.tie), tie: end.tie, taker, since, gift };
            (gift.time > since && gift.place.pe.is_some() && gift.place.pe != pe).then_some((end.order(), bound))
        };
        let maker = points::Maker { trace, index };
        let mut found: Vec<_> = self.of_others(pe).iter().filter_map(bound).collect();
        found.extend(maker.recvs(pe).filter_map(|end| bound(&end)));
        found.sort_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, bound)| bound)
    }
}

impl End {
    /// Where it is in the program of its PE.
    fn order(&self) -> (Time, VisitIx, Part) {
        (self.time, self.visit, self.part)
    }

    /// Since when it waits if it takes; what begins, since ever.
    fn needed_since(&self) -> Option<Time> {
        match self.part {
            Part::Begins => Some(Time::MIN),
            Part::Takes => Some(self.time),
            Part::Gives | Part::PassesOn => None,
        }
    }
}
