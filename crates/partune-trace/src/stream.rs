//! What one PE did, in order of time.

use partune_base::{CallPathId, Span, Time};

use crate::rows::{
    Collective, IoTransfer, LockEvent, MetricSample, Pause, Recv, RequestEvent, RmaCompletion, RmaSync, RmaTransfer,
    RmaTransferKind, Send, TaskEvent, TeamEvent, VisitIx,
};

/// One execution of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    pub enter: Time,
    pub exit: Time,
    pub path: CallPathId,
}

impl Visit {
    pub fn duration(self) -> Span {
        self.exit.since(self.enter)
    }
}

/// All visits of a PE in the order of their enters, in columns: 20 bytes a visit, 10 an event.
///
/// Visits nest: of two that overlap, the later one lies within the earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    pub enter: Vec<Time>,
    pub exit: Vec<Time>,
    pub path: Vec<CallPathId>,
}

impl Visits {
    pub fn push(&mut self, visit: Visit) -> VisitIx {
        let index = VisitIx(self.enter.len() as u32);
        self.enter.push(visit.enter);
        self.exit.push(visit.exit);
        self.path.push(visit.path);
        index
    }

    pub fn get(&self, index: VisitIx) -> Option<Visit> {
        (index.index() < self.len()).then(|| self.at(index))
    }

    /// The visit at an index that belongs to this PE.
    pub fn at(&self, index: VisitIx) -> Visit {
        let i = index.index();
        Visit { enter: self.enter[i], exit: self.exit[i], path: self.path[i] }
    }

    pub fn len(&self) -> usize {
        self.enter.len()
    }

    pub fn is_empty(&self) -> bool {
        self.enter.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = Visit> + '_ {
        (0..self.len()).map(|i| Visit { enter: self.enter[i], exit: self.exit[i], path: self.path[i] })
    }
}

/// Everything one PE did. Rows of every table are in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// Number of event records it was read from; in a piece of a run, about that of its piece.
    pub events: u64,
    /// From its first event to its last, where rows do not tell: a piece of a run has none of what lies around it.
    pub present: Option<(Time, Time)>,
    pub visits: Visits,
    /// The operations: visits that are outermost among those with a role that is not transparent. They do not overlap.
    pub operations: Vec<VisitIx>,
    pub sends: Vec<Send>,
    pub recvs: Vec<Recv>,
    pub requests: Vec<RequestEvent>,
    pub collectives: Vec<Collective>,
    pub transfers: Vec<RmaTransfer>,
    pub completions: Vec<RmaCompletion>,
    pub rma_syncs: Vec<RmaSync>,
    pub locks: Vec<LockEvent>,
    pub teams: Vec<TeamEvent>,
    pub tasks: Vec<TaskEvent>,
    pub metrics: Vec<MetricSample>,
    pub io: Vec<IoTransfer>,
    pub pauses: Vec<Pause>,
}

impl Stream {
    /// Time of the first event; `None` if it has none.
    pub fn begin(&self) -> Option<Time> {
        let rows = self.row_times().map(|(first, _)| first).min();
        let present = self.present.map(|(begin, _)| begin);
        [present, self.visits.enter.first().copied(), rows].into_iter().flatten().min()
    }

    /// Time of the last event; `None` if it has none.
    pub fn end(&self) -> Option<Time> {
        let rows = self.row_times().map(|(_, last)| last).max();
        // The last visit to end is an ancestor of the last one to begin, or that one itself.
        let visits = self.visits.exit.iter().copied().max();
        [self.present.map(|(_, end)| end), visits, rows].into_iter().flatten().max()
    }

    /// First and last time of each table that has rows.
    fn row_times(&self) -> impl Iterator<Item = (Time, Time)> {
        fn ends<T>(rows: &[T], time: impl Fn(&T) -> Time) -> Option<(Time, Time)> {
            Some((time(rows.first()?), time(rows.last()?)))
        }
        [
            ends(&self.sends, |row| row.time),
            ends(&self.recvs, |row| row.time),
            ends(&self.requests, |row| row.time),
            ends(&self.collectives, |row| row.end),
            ends(&self.transfers, |row| row.time),
            ends(&self.completions, |row| row.time),
            ends(&self.rma_syncs, |row| row.time),
            ends(&self.locks, |row| row.time),
            ends(&self.teams, |row| row.time),
            ends(&self.tasks, |row| row.time),
            ends(&self.metrics, |row| row.time),
            ends(&self.io, |row| row.begin + row.duration),
            ends(&self.pauses, |row| row.end),
        ]
        .into_iter()
        .flatten()
    }

    /// The bytes that each transfer sent and received, and the visit it is in, by kind of transfer: messages, parts in collectives that move
    /// something, remote accesses, files.
    pub fn moved(&self) -> impl Iterator<Item = (VisitIx, u64, u64)> + '_ {
        let sends = self.sends.iter().map(|row| (row.visit, row.bytes, 0));
        let recvs = self.recvs.iter().map(|row| (row.visit, 0, row.bytes));
        let parts = self.collectives.iter().filter(|row| row.sent | row.received != 0);
        let accesses = self.transfers.iter().map(|row| match row.kind {
            RmaTransferKind::Get => (row.visit, 0, row.bytes),
            RmaTransferKind::Put | RmaTransferKind::Atomic => (row.visit, row.bytes, 0),
        });
        let files =
            self.io.iter().map(|row| if row.write { (row.visit, row.bytes, 0) } else { (row.visit, 0, row.bytes) });
        sends.chain(recvs).chain(parts.map(|row| (row.visit, row.sent, row.received))).chain(accesses).chain(files)
    }

    /// Changes the visit of every row that has one.
    pub fn map_visits(&mut self, mut map: impl FnMut(VisitIx) -> VisitIx) {
        let mut change = |visit: &mut VisitIx| {
            if visit.is_some() {
                *visit = map(*visit);
            }
        };
        self.sends.iter_mut().for_each(|row| change(&mut row.visit));
        self.recvs.iter_mut().for_each(|row| change(&mut row.visit));
        self.requests.iter_mut().for_each(|row| change(&mut row.visit));
        self.collectives.iter_mut().for_each(|row| change(&mut row.visit));
        self.transfers.iter_mut().for_each(|row| change(&mut row.visit));
        self.completions.iter_mut().for_each(|row| change(&mut row.visit));
        self.rma_syncs.iter_mut().for_each(|row| change(&mut row.visit));
        self.locks.iter_mut().for_each(|row| change(&mut row.visit));
        self.teams.iter_mut().for_each(|row| change(&mut row.visit));
        self.tasks.iter_mut().for_each(|row| change(&mut row.visit));
        self.metrics.iter_mut().for_each(|row| change(&mut row.visit));
        self.io.iter_mut().for_each(|row| change(&mut row.visit));
    }

    /// Changes every time by a function that must not change their order.
    pub fn map_times(&mut self, mut map: impl FnMut(Time) -> Time) {
        self.present = self.present.map(|(begin, end)| (map(begin), map(end)));
        self.visits.enter.iter_mut().for_each(|time| *time = map(*time));
        self.visits.exit.iter_mut().for_each(|time| *time = map(*time));
        self.sends.iter_mut().for_each(|row| row.time = map(row.time));
        self.recvs.iter_mut().for_each(|row| row.time = map(row.time));
        self.requests.iter_mut().for_each(|row| row.time = map(row.time));
        for row in &mut self.collectives {
            row.begin = map(row.begin);
            row.end = map(row.end);
        }
        self.transfers.iter_mut().for_each(|row| row.time = map(row.time));
        self.completions.iter_mut().for_each(|row| row.time = map(row.time));
        self.rma_syncs.iter_mut().for_each(|row| row.time = map(row.time));
        self.locks.iter_mut().for_each(|row| row.time = map(row.time));
        self.teams.iter_mut().for_each(|row| row.time = map(row.time));
        self.tasks.iter_mut().for_each(|row| row.time = map(row.time));
        self.metrics.iter_mut().for_each(|row| row.time = map(row.time));
        for row in &mut self.io {
            let end = map(row.begin + row.duration);
            row.begin = map(row.begin);
            row.duration = end - row.begin;
        }
        for row in &mut self.pauses {
            row.begin = map(row.begin);
            row.end = map(row.end);
        }
    }
}
