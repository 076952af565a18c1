//! The operations of one PE in order, each with the one message or one-sided access that it started: what searches for small
//! and for serial transfers walk along.

use std::ops::Range;

use partune_base::{CallPathId, Id, PeId, Span};
use partune_trace::{Completion, RmaTransferKind, Role, Stream, Trace, Visit, VisitIx};
use serde::{Deserialize, Serialize};

use crate::receptions::Receptions;
use crate::{Input, Wait};

/// How data is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    Send,
    Put,
    Get,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Send, Kind::Put, Kind::Get];
}

/// Data that an operation started to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    pub(crate) peer: PeId,
    pub(crate) bytes: u64,
    /// The bytes accessed, if their address is recorded.
    pub(crate) range: Option<(u64, u64)>,
    /// Row of the send, or of the access.
    pub(crate) row: usize,
}

/// What an operation is for such a search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// It started one access, and did nothing else with other PEs.
    Moves(Access),
    /// It neither moves data nor orders anything.
    Neutral,
    /// It completes own sends only.
    Completes,
    /// It synchronises, receives, or moves data in another way.
    Orders,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) visit: Visit,
    pub(crate) what: What,
    pub(crate) completion: Completion,
    /// Duration without waiting for others.
    pub(crate) own: Span,
}

impl Operation {
    pub(crate) fn path(&self) -> CallPathId {
        self.visit.path
    }

    /// What the access that it started takes once both sides are there: the operation without waiting; of a message received by an
    /// operation of its own, until that was over, if this is longer.
    pub(crate) fn took(&self, input: &Input<'_>, receptions: &Receptions, pe: PeId, access: &Access) -> Span {
        let messages = &input.index.messages;
        let number = (access.kind == Kind::Send).then(|| messages.number_of_send(pe, access.row)).flatten();
        let comparable = || input.index.clocks.aligned || same_process(input.trace, pe, access.peer);
        let reception = number.filter(|_| comparable()).map(|number| receptions.of(number));
        reception.filter(|it| it.alone).map_or(self.own, |it| self.own.max(it.took))
    }
}

/// Calls a function for every operation of a PE, in order. Linear in its operations and rows.
pub(crate) fn walk(input: &Input<'_>, pe: PeId, mut each: impl FnMut(&Operation)) {
    let trace = input.trace;
    let stream = &trace.streams()[pe];
    let (mut sends, mut recvs, mut transfers) = (0, 0, 0);
    let mut waits = input.waits.of_pe(pe);
    for index in &stream.operations {
        let visit = stream.visits.at(*index);
        let sent = rows_of(&stream.sends, &mut sends, *index, |row| row.visit);
        let received = rows_of(&stream.recvs, &mut recvs, *index, |row| row.visit);
        let accessed = rows_of(&stream.transfers, &mut transfers, *index, |row| row.visit);
        let region = &trace.regions()[trace.paths().region(visit.path)];
        let own = (visit.duration() - waited(&mut waits, *index)).clamp_positive();
        let what = match (sent.len(), received.len(), accessed.len()) {
            (0, 0, 0) => by_role(region.role),
            (1, 0, 0) => sends_one(stream, sent.start),
            (0, 0, 1) => accesses_one(stream, accessed.start),
            _ => What::Orders,
        };
        let what = match what {
            What::Moves(access) if access.peer.index() >= trace.pes().len() => What::Orders,
            other => other,
        };
        each(&Operation { visit, what, completion: region.completion, own });
    }
}

fn sends_one(stream: &Stream, row: usize) -> What {
    let send = &stream.sends[row];
    What::Moves(Access { kind: Kind::Send, peer: send.peer, bytes: send.bytes, range: None, row })
}

fn accesses_one(stream: &Stream, row: usize) -> What {
    let (number, row) = (row, &stream.transfers[row]);
    let kind = match row.kind {
        RmaTransferKind::Put => Kind::Put,
        RmaTransferKind::Get => Kind::Get,
        RmaTransferKind::Atomic => return What::Orders,
    };
    let range = row.address.map(|address| (address, address.saturating_add(row.bytes.max(1))));
    What::Moves(Access { kind, peer: row.target, bytes: row.bytes, range, row: number })
}

/// Whether two PEs have one clock.
fn same_process(trace: &Trace, a: PeId, b: PeId) -> bool {
    trace.pes()[a].process == trace.pes()[b].process
}

/// The rows of one operation; rows of earlier ones are passed.
fn rows_of<T>(rows: &[T], next: &mut usize, visit: VisitIx, of: impl Fn(&T) -> VisitIx) -> Range<usize> {
    while rows.get(*next).is_some_and(|row| of(row) < visit) {
        *next += 1;
    }
    let first = *next;
    while rows.get(*next).is_some_and(|row| of(row) == visit) {
        *next += 1;
    }
    first..*next
}

/// How long an operation waited; waits of earlier ones are passed.
fn waited(waits: &mut &[Wait], visit: VisitIx) -> Span {
    let mut sum = Span::ZERO;
    while let Some((wait, rest)) = waits.split_first().filter(|(wait, _)| wait.operation <= visit) {
        if wait.operation == visit {
            sum += wait.duration();
        }
        *waits = rest;
    }
    sum
}

/// What an operation without rows does.
fn by_role(role: Role) -> What {
    match role {
        Role::Inquiry
        | Role::Management
        | Role::Measurement
        | Role::Io
        | Role::TaskCreate
        | Role::WorkSharing
        | Role::Parallel
        | Role::TaskRun
        | Role::User => What::Neutral,
        Role::CommSync => What::Completes,
        Role::Init
        | Role::Finalize
        | Role::GroupSync
        | Role::GroupNotify
        | Role::GroupWait
        | Role::OneToAll
        | Role::AllToOne
        | Role::AllToAll
        | Role::Scan
        | Role::GlobalAlloc
        | Role::Put
        | Role::Get
        | Role::Atomic
        | Role::DeviceWait
        | Role::RmaGroupSync
        | Role::RmaPost
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::Send
        | Role::Recv
        | Role::SendRecv
        | Role::Probe
        | Role::LockAcquire
        | Role::LockRelease
        | Role::WaitOnValue
        | Role::Signal
        | Role::TaskWait
        | Role::PeManagement => What::Orders,
    }
}

/// Sums per call path of what findings of one pattern report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    rows: Vec<Loss>,
}

/// What one PE loses at one place, as sums over runs of transfers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Loss {
    pub(crate) path: CallPathId,
    pub(crate) kind: Kind,
    pub(crate) time: f64,
    pub(crate) runs: u64,
    pub(crate) transfers: u64,
    pub(crate) bytes: u64,
    /// Transfers to the same PE as the one before, of which no address is recorded.
    pub(crate) unknown: u64,
}

impl Losses {
    pub(crate) fn add(&mut self, loss: Loss) {
        match self.rows.iter_mut().find(|row| row.path == loss.path && row.kind == loss.kind) {
            Some(row) => {
                row.time += loss.time;
                row.runs += loss.runs;
                row.transfers += loss.transfers;
                row.bytes = row.bytes.saturating_add(loss.bytes);
                row.unknown += loss.unknown;
            }
            None => self.rows.push(loss),
        }
    }

    pub(crate) fn into_rows(self) -> Vec<Loss> {
        self.rows
    }
}

/// Adds what a PE loses later to what it lost before.
pub(crate) fn join(losses: &mut Vec<Loss>, later: Vec<Loss>) {
    let mut sum = Losses { rows: std::mem::take(losses) };
    later.into_iter().for_each(|loss| sum.add(loss));
    *losses = sum.rows;
}

/// One finding a call path and kind, from the losses of PEs in order.
pub(crate) fn findings(
    trace: &Trace,
    pattern: crate::Pattern,
    losses: Vec<(PeId, Vec<Loss>)>,
    facts: impl Fn(&Loss) -> Vec<(&'static str, f64)>,
) -> Vec<crate::Finding> {
    let mut rows: Vec<(PeId, Loss)> =
        losses.into_iter().flat_map(|(pe, rows)| rows.into_iter().map(move |row| (pe, row))).collect();
    rows.sort_by_key(|(pe, loss)| (loss.path, loss.kind, *pe));
    let groups = rows.chunk_by(|a, b| (a.1.path, a.1.kind) == (b.1.path, b.1.kind));
    let finding = |rows: &[(PeId, Loss)]| {
        let pes: Vec<(PeId, Span)> = rows.iter().map(|(pe, loss)| (*pe, Span(loss.time.round() as i64))).collect();
        let mut all = Losses::default();
        rows.iter().for_each(|(_, loss)| all.add(*loss));
        let all = all.into_rows()[0];
        crate::Finding {
            time: pes.iter().map(|(_, time)| *time).sum(),
            count: all.runs,
            pes,
            facts: facts(&all),
            ..crate::Finding::at(trace, pattern, all.path)
        }
    };
    groups.map(finding).filter(|finding| finding.time.is_positive()).collect()
}
