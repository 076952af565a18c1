//! A piece of a run: the run seen by a clock that stands still before and after it.
//!
//! Operations are matched on the whole run (the k-th send meets the k-th receive whatever is looked at later) and cut then, so nothing
//! becomes unmatched by cutting. All times are clipped to the piece. What lies in it with at least one end stays, and with it the other
//! ends: a message that was sent before the piece and received in it was sent at its begin, by an operation without duration; an
//! operation of a group of which one member is in the piece has all its members. Everything else goes.

mod keep;
mod metrics;
mod streams;

use partune_base::{PeId, Table, Time};
use partune_trace::{MetricValues, Trace, VisitIx};
use rayon::prelude::*;

use crate::{Blocks, Index, Place, Polls, RmaIndex};

/// Where things of a run are in a piece of it. Memory: 4 bytes a visit and a row that others refer to.
#[derive(Clone, Debug)]
pub struct Moves {
    interval: Interval,
    visits: Table<PeId, Vec<u32>>,
    pub(crate) sends: Table<PeId, Vec<u32>>,
    pub(crate) recvs: Table<PeId, Vec<u32>>,
    pub(crate) collectives: Table<PeId, Vec<u32>>,
    rma: Table<PeId, Vec<u32>>,
    instances: Vec<u32>,
    grants: Vec<u32>,
    transfers: Vec<u32>,
}

/// The piece in time: from its begin to before its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    begin: Time,
    end: Time,
    /// The run ends with it, so what happens at its end is in it.
    last: bool,
}

/// Not in the piece.
const GONE: u32 = u32::MAX;

/// Leaves the piece from `begin` to `end` of a run and what was derived from it; both must lie in the run. Linear in visits and rows; what
/// was noticed about the run stays.
pub fn cut(trace: Trace, index: Index, (begin, end): (Time, Time)) -> (Trace, Index, Moves) {
    let interval = Interval { begin, end, last: end >= trace.end() };
    let keep = keep::Keep::of(&trace, &index, interval);
    let number = |kept: &Table<PeId, Vec<bool>>| -> Table<PeId, Vec<u32>> {
        kept.as_slice().par_iter().map(|kept| numbers(kept)).collect::<Vec<_>>().into()
    };
    let moves = Moves {
        interval,
        visits: number(&keep.visits),
        sends: number(&keep.sends),
        recvs: number(&keep.recvs),
        collectives: number(&keep.collectives),
        rma: number(&keep.transfers),
        instances: numbers(&keep.instances),
        grants: numbers(&keep.grants),
        transfers: numbers(&keep.accesses),
    };
    let metrics: Vec<MetricValues> = trace.metrics().iter().map(|metric| metric.values).collect();
    let paths = trace.paths().clone();
    let trace = trace.cut((begin, end), |streams| {
        let streams = streams.as_mut_slice().par_iter_mut().enumerate();
        streams.for_each(|(pe, stream)| streams::cut(stream, &paths, &metrics, &keep, &moves, pe));
    });
    let index = index.within(&trace, &keep, &moves);
    (trace, index, moves)
}

impl Moves {
    /// The place in the piece; none if it is not in it.
    pub fn place(&self, place: Place) -> Place {
        let visit = self.visit(place.pe, place.visit);
        if visit.is_some() { Place { visit, ..place } } else { Place::NONE }
    }

    pub fn visit(&self, pe: PeId, visit: VisitIx) -> VisitIx {
        let found = self.visits.get(pe).and_then(|visits| visits.get(visit.index()));
        found.map_or(VisitIx::NONE, |position| VisitIx(*position))
    }

    /// The moment of the piece that is nearest.
    pub fn time(&self, time: Time) -> Time {
        self.interval.clip(time)
    }

    /// Position in [`crate::Collectives::instances`]; `u32::MAX` if it is not in the piece.
    pub fn instance(&self, instance: u32) -> u32 {
        self.instances.get(instance as usize).copied().unwrap_or(GONE)
    }

    /// The same in [`crate::Locks::grants`].
    pub fn grant(&self, grant: u32) -> u32 {
        self.grants.get(grant as usize).copied().unwrap_or(GONE)
    }

    /// The same in [`RmaIndex::transfers`].
    pub fn transfer(&self, transfer: u32) -> u32 {
        self.transfers.get(transfer as usize).copied().unwrap_or(GONE)
    }
}

impl Interval {
    fn clip(self, time: Time) -> Time {
        time.clamp(self.begin, self.end.max(self.begin))
    }

    /// Whether something of what lasts from `begin` to `end` is in the piece.
    fn holds(self, begin: Time, end: Time) -> bool {
        let starts = begin < self.end || self.last && begin == self.end;
        starts && (end > self.begin || begin >= self.begin)
    }
}

/// Positions among what is kept.
fn numbers(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    let number = |kept: &bool| {
        if !kept {
            return GONE;
        }
        next += 1;
        next - 1
    };
    kept.iter().map(number).collect()
}

/// Leaves of some rows those that are kept.
fn retain<T>(rows: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    rows.retain(|_| kept.next().is_some_and(|kept| *kept));
}

impl Index {
    fn within(mut self, trace: &Trace, keep: &keep::Keep, moves: &Moves) -> Index {
        self.messages = self.messages.within(moves);
        self.collectives = self.collectives.within(&keep.instances, moves);
        retain(&mut self.locks.grants, &keep.grants);
        for grant in &mut self.locks.grants {
            grant.operation = moves.visit(grant.pe, grant.operation);
            grant.release = moves.visit(grant.pe, grant.release);
            grant.enabled_by = moves.grant(grant.enabled_by);
            for time in [&mut grant.requested, &mut grant.acquired, &mut grant.released] {
                *time = moves.time(*time);
            }
        }
        self.rma = self.rma.within(&keep.accesses, moves);
        let forks: Vec<bool> = self.teams.forks.iter().map(|fork| moves.interval.holds(fork.fork, fork.join)).collect();
        retain(&mut self.teams.forks, &forks);
        let forks = numbers(&forks);
        for instance in &mut self.collectives.instances {
            instance.fork = forks.get(instance.fork as usize).copied().unwrap_or(GONE);
        }
        for fork in &mut self.teams.forks {
            fork.place.visit = moves.visit(fork.place.pe, fork.place.visit);
            (fork.fork, fork.join) = (moves.time(fork.fork), moves.time(fork.join));
            for (_, begin, end) in &mut fork.members {
                (*begin, *end) = (moves.time(*begin), moves.time(*end));
            }
        }
        self.blocks = Blocks::build(trace, &self.collectives);
        self.polls = Polls::build(trace);
        self
    }
}

impl RmaIndex {
    fn within(mut self, kept: &[bool], moves: &Moves) -> RmaIndex {
        retain(&mut self.transfers, kept);
        for transfer in &mut self.transfers {
            transfer.row = moves.rma[transfer.pe][transfer.row as usize];
            transfer.start = moves.visit(transfer.pe, transfer.start);
            transfer.completion = moves.visit(transfer.pe, transfer.completion);
            transfer.completed = moves.time(transfer.completed);
        }
        for wait in &mut self.value_waits {
            wait.operation = moves.visit(wait.pe, wait.operation);
            wait.cause = moves.place(wait.cause);
            wait.fulfilled = moves.time(wait.fulfilled);
        }
        self.value_waits.retain(|wait| wait.operation.is_some());
        for epoch in &mut self.epoch_ends {
            (epoch.wait, epoch.complete) = (moves.place(epoch.wait), moves.place(epoch.complete));
        }
        self.epoch_ends.retain(|epoch| epoch.wait.is_some() && epoch.complete.is_some());
        self
    }
}
