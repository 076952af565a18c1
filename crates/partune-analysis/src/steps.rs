//! What each PE gives to others and needs from others, in order, with the useful time between: the input of [`crate::ideal`].
//!
//! | from | gives | needs |
//! |---|---|---|
//! | message | send, at its enter | receive, at the enter of the operation that completes it |
//! | synchronous send | receive, when posted | send |
//! | all wait for all | each arrival | each member, where it can do nothing else |
//! | one to all, all to one | the root; all others | all others; the root |
//! | scan | each member, after what it needed | the next member |
//! | lock | release | the next acquire, in the order recorded |
//! | wait on value | the access that fulfilled it | the wait |
//! | team | fork; end of each thread | begin of each thread; join |

use partune_base::{CallPathId, Id, PeId, Table, Time};
use partune_index::{Index, Message};
use partune_trace::{Completion, PeKind, Trace, VisitIx};
use rayon::prelude::*;

use crate::useful::Useful;

/// One thing that a PE does for or with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Useful ticks of the PE since its step before.
    pub(crate) useful: i64,
    pub(crate) slot: u32,
    pub(crate) gives: bool,
}

/// All steps: 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Table<PeId, Vec<Step>>,
    /// How many gifts each slot expects.
    pub(crate) expected: Vec<u32>,
    /// Useful ticks after the last step.
    pub(crate) tails: Table<PeId, i64>,
}

/// A step with its place in the PE's program.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) time: Time,
    pub(crate) visit: VisitIx,
    pub(crate) slot: u32,
    pub(crate) order: Order,
}

/// What comes first within one operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Gives,
    Needs,
    /// Gives what it can only give after its needs are met.
    GivesAfter,
}

/// Makes plans of a trace.
pub(crate) struct Planner<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) index: &'a Index,
    pub(crate) windows: &'a Table<PeId, (Time, Time)>,
    /// If set, only main threads act, only these operations count, and everything else takes the time it took.
    pub(crate) between_processes: Option<&'a Table<CallPathId, bool>>,
}

/// The points of all PEs in the making.
pub(crate) struct Points {
    of: Table<PeId, Vec<Point>>,
    pub(crate) expected: Vec<u32>,
}

impl Points {
    fn slot(&mut self, expected: u32) -> u32 {
        self.expected.push(expected);
        self.expected.len() as u32 - 1
    }

    fn push(&mut self, pe: PeId, time: Time, visit: VisitIx, slot: u32, order: Order) {
        self.of[pe].push(Point { time, visit, slot, order });
    }
}

impl Planner<'_> {
    /// Linear in operations, messages and members of collectives; 24 bytes for each while it works.
    pub(crate) fn plan(&self) -> Plan {
        let pes = self.trace.pes().len();
        // The slot of a message is its position.
        let expected = vec![1; self.index.messages.len()];
        let of = (0..pes).map(|_| Vec::new()).collect();
        let mut points = Points { of, expected };
        self.synchronous(&mut points);
        self.locks(&mut points);
        self.values(&mut points);
        self.teams(&mut points);
        let collectives = self.collective_slots(&mut points);
        let Points { of, expected } = points;
        let mut of = of.into_vec();
        // Each task looks at all collectives for its PEs, so a task takes many.
        let share = pes.div_ceil(4 * rayon::current_num_threads()).max(1);
        let planned: Vec<(Vec<Step>, i64)> = of
            .par_chunks_mut(share)
            .enumerate()
            .flat_map_iter(|(chunk, points)| {
                let first = chunk * share;
                let range = first..first + points.len();
                for (pe, points) in range.clone().zip(points.iter_mut()) {
                    let stream = &self.trace.streams()[PeId::from_index(pe)];
                    points.reserve(stream.sends.len() + stream.recvs.len() + 2 * stream.collectives.len());
                }
                self.collectives(&collectives, range.clone(), points);
                let planned: Vec<(Vec<Step>, i64)> = range
                    .zip(points)
                    .map(|(pe, points)| {
                        let (pe, mut points) = (PeId::from_index(pe), std::mem::take(points));
                        self.messages(pe, &mut points);
                        // Sorted runs one after the other: a stable sort merges them.
                        points.sort_by_key(|point| (point.time, point.visit, point.order));
                        self.steps(pe, &points)
                    })
                    .collect();
                planned
            })
            .collect();
        let (steps, tails): (Vec<_>, Vec<_>) = planned.into_iter().unzip();
        Plan { steps: steps.into(), expected, tails: tails.into() }
    }

    fn acts(&self, pe: PeId) -> bool {
        let Some(row) = self.trace.pes().get(pe) else { return false };
        self.between_processes.is_none() || (row.kind == PeKind::Cpu && row.thread == 0)
    }

    /// Whether the operation counts.
    pub(crate) fn counts(&self, pe: PeId, visit: VisitIx) -> bool {
        let path = visit.some().and_then(|visit| self.trace.streams()[pe].visits.path.get(visit.index()));
        self.acts(pe) && self.between_processes.is_none_or(|busy| path.is_some_and(|path| busy[*path]))
    }

    /// Where a row acts: at the enter of its operation, or at its own time in user code.
    fn at(&self, pe: PeId, visit: VisitIx, time: Time) -> (Time, VisitIx) {
        let visits = &self.trace.streams()[pe].visits;
        match visit.some().filter(|visit| visit.index() < visits.len()) {
            Some(visit) if self.trace.paths().operation(visits.path[visit.index()]).is_some() => {
                (visits.enter[visit.index()], visit)
            }
            _ => (time, visit),
        }
    }

    fn messages(&self, pe: PeId, points: &mut Vec<Point>) {
        let (stream, messages) = (&self.trace.streams()[pe], &self.index.messages);
        if !self.acts(pe) {
            return;
        }
        let first = messages.as_slice().as_ptr().addr();
        // Without touching the message: it lies anywhere.
        let slot = |message: &Message| ((std::ptr::from_ref(message).addr() - first) / size_of::<Message>()) as u32;
        let both_act = |other: &dyn Fn() -> PeId| self.between_processes.is_none() || self.acts(other());
        for (row, send) in stream.sends.iter().enumerate() {
            if let Some(message) = messages.of_send(pe, row).filter(|message| both_act(&|| message.receiver)) {
                let (time, visit) = self.at(pe, send.visit, send.time);
                points.push(Point { time, visit, slot: slot(message), order: Order::Gives });
            }
        }
        for (row, recv) in stream.recvs.iter().enumerate() {
            if let Some(message) = messages.of_recv(pe, row).filter(|message| both_act(&|| message.sender)) {
                let (time, visit) = self.at(pe, recv.visit, recv.time);
                points.push(Point { time, visit, slot: slot(message), order: Order::Needs });
            }
        }
    }

    /// Sends that may not end before their receive was posted.
    fn synchronous(&self, points: &mut Points) {
        let trace = self.trace;
        if trace.regions().iter().all(|region| region.completion != Completion::Synchronous) {
            return;
        }
        for message in &self.index.messages {
            let place = message.send_place(trace);
            let acts = self.acts(message.sender) && self.acts(message.receiver);
            if !acts || !place.is_some() || trace.region_of(place.pe, place.visit).completion != Completion::Synchronous
            {
                continue;
            }
            let end = message.send_completion.some().unwrap_or(place.visit);
            let slot = points.slot(1);
            points.push(message.receiver, message.recv_posted, message.recv_post, slot, Order::Gives);
            let (time, visit) = self.at(place.pe, end, place.enter(trace));
            points.push(place.pe, time, visit, slot, Order::Needs);
        }
    }

    fn locks(&self, points: &mut Points) {
        for grants in self.index.locks.by_lock() {
            let mut exclusive = None;
            for (before, grant) in grants.iter().zip(grants.iter().skip(1)) {
                if !before.shared {
                    exclusive = Some(before);
                }
                let Some(before) = (if grant.shared { exclusive } else { Some(before) }) else { continue };
                if before.pe == grant.pe || !self.counts(grant.pe, grant.operation) || !self.acts(before.pe) {
                    continue;
                }
                let slot = points.slot(1);
                points.push(before.pe, before.released, before.release, slot, Order::Gives);
                points.push(grant.pe, grant.requested, grant.operation, slot, Order::Needs);
            }
        }
    }

    fn values(&self, points: &mut Points) {
        for wait in &self.index.rma.value_waits {
            let known = wait.cause.is_some() && wait.cause.pe != wait.pe;
            if known && self.counts(wait.pe, wait.operation) && self.acts(wait.cause.pe) {
                let slot = points.slot(1);
                points.push(wait.cause.pe, wait.cause.enter(self.trace), wait.cause.visit, slot, Order::Gives);
                let (time, visit) = self.at(wait.pe, wait.operation, wait.fulfilled);
                points.push(wait.pe, time, visit, slot, Order::Needs);
            }
        }
    }

    fn teams(&self, points: &mut Points) {
        if self.between_processes.is_some() {
            return;
        }
        for fork in &self.index.teams.forks {
            let others = fork.members.iter().filter(|member| member.0 != fork.place.pe);
            let count = others.clone().count() as u32;
            if count == 0 || !fork.place.pe.is_some() {
                continue;
            }
            let (begin, end) = (points.slot(1), points.slot(count));
            let visit = if fork.place.visit.is_some() { fork.place.visit } else { VisitIx(0) };
            points.push(fork.place.pe, fork.fork, visit, begin, Order::Gives);
            points.push(fork.place.pe, fork.join, visit, end, Order::Needs);
            for (pe, began, ended) in others {
                points.push(*pe, *began, VisitIx(0), begin, Order::Needs);
                points.push(*pe, *ended, VisitIx(0), end, Order::Gives);
            }
        }
    }

    /// Puts the useful time between the points of a PE.
    fn steps(&self, pe: PeId, points: &[Point]) -> (Vec<Step>, i64) {
        let interval = self.windows[pe];
        let works =
            self.acts(pe) && self.trace.pes()[pe].kind == PeKind::Cpu && !self.trace.streams()[pe].visits.is_empty();
        let mut useful = works.then(|| match self.between_processes {
            None => Useful::new(self.trace, pe, interval),
            Some(busy) => Useful::outside(self.trace, pe, interval, busy),
        });
        let mut before = 0;
        let mut advance = |time: Time| {
            let sum = useful.as_mut().map_or(0, |useful| useful.up_to(time));
            // Steps of one operation can lie before its row's own time, never before the last step.
            let ticks = (sum - before).max(0);
            before = before.max(sum);
            ticks
        };
        let steps = points
            .iter()
            .map(|point| Step { useful: advance(point.time), slot: point.slot, gives: point.order != Order::Needs })
            .collect();
        (steps, advance(Time::MAX))
    }
}
