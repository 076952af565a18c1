//! Polls: which operation got what a program had asked for again and again.
//!
//! A row of polls is what a PE did between two operations of another kind, or between two completions: tests and probes that completed nothing. Inquiries
//! and the like may be among them (how long a message is, which rank). What ends the row is its taker: the test that completes something, the
//! receive of what a probe found, the wait that a program does at last. Such a PE waited from the first poll on that can have been for
//! it: a request is tested after it was posted; a probe comes before its receive, and finds what was sent before it returned.

use partune_base::{PeId, Table, Time};
use partune_trace::{NO_REQUEST, RequestKind, Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

use crate::Place;

/// Polls in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// The first and the last poll.
    first: VisitIx,
    last: VisitIx,
    /// The operation that follows them.
    taker: VisitIx,
    /// The last may have found something.
    found: bool,
}

/// All rows of polls by PE, in the order of the program: 16 bytes each.
#[derive(Clone, Debug, Default)]
pub struct Polls {
    rows: Table<PeId, Vec<Row>>,
}

impl Polls {
    pub(crate) fn build(trace: &Trace) -> Polls {
        if !trace.regions().iter().any(|region| region.role == Role::Probe || region.is_poll()) {
            return Polls::default();
        }
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let rows: Vec<Vec<Row>> = pes.par_iter().map(|pe| of_pe(trace, *pe)).collect();
        Polls { rows: rows.into() }
    }

    /// The first poll that looked for what was posted at `posted` and completed in `taker`; none if none did.
    pub(crate) fn of_request(&self, trace: &Trace, taker: Place, posted: Time) -> Option<VisitIx> {
        let row = self.before(taker)?;
        let visits = &trace.streams()[taker.pe].visits;
        polls_of(trace, taker.pe, row).find(|poll| visits.enter[poll.index()] >= posted)
    }

    /// The first of the polls before `taker` that asked whether an epoch of a window has ended, as it did; none if none did.
    pub(crate) fn of_epoch(&self, trace: &Trace, taker: Place) -> Option<VisitIx> {
        polls_of(trace, taker.pe, self.before(taker)?).find(|poll| trace.role_of(taker.pe, *poll) == Role::RmaWait)
    }

    /// The first of the polls that found the message whose receive is posted in `taker`, which was sent at `sent`; none if no probe found it.
    pub(crate) fn of_probe(&self, trace: &Trace, taker: Place, sent: Time) -> Option<VisitIx> {
        let row = self.before(taker)?;
        let found = row.found && trace.role_of(taker.pe, row.last) == Role::Probe;
        (found && trace.visit(taker.pe, row.last).exit >= sent).then_some(row.first)
    }

    /// The polls of a row from this one on, and its taker; `None` if the operation is no poll.
    pub fn from(&self, trace: &Trace, poll: Place) -> Option<impl Iterator<Item = VisitIx>> {
        let rows = self.rows.get(poll.pe)?;
        let row = *rows.get(rows.partition_point(|row| row.last < poll.visit))?;
        let is_in = row.first <= poll.visit && poll.visit <= row.last;
        let polls = polls_of(trace, poll.pe, row).filter(move |visit| *visit >= poll.visit);
        is_in.then(|| polls.chain([row.taker]))
    }

    pub(crate) fn has(&self, pe: PeId) -> bool {
        self.rows.get(pe).is_some_and(|rows| !rows.is_empty())
    }

    fn before(&self, taker: Place) -> Option<Row> {
        let rows = self.rows.get(taker.pe)?;
        let at = rows.binary_search_by_key(&taker.visit, |row| row.taker).ok()?;
        Some(rows[at])
    }
}

/// The polls of a row.
fn polls_of(trace: &Trace, pe: PeId, row: Row) -> impl Iterator<Item = VisitIx> + '_ {
    let operations = &trace.streams()[pe].operations;
    let first = operations.partition_point(|operation| *operation < row.first);
    let row = operations[first..].iter().copied().take_while(move |operation| *operation <= row.last);
    row.filter(move |operation| looks(trace, pe, *operation))
}

/// Whether an operation looks for what others do, and does nothing with it.
fn looks(trace: &Trace, pe: PeId, operation: VisitIx) -> bool {
    let region = trace.region_of(pe, operation);
    region.role == Role::Probe || region.is_poll()
}

fn of_pe(trace: &Trace, pe: PeId) -> Vec<Row> {
    let stream = &trace.streams()[pe];
    if !stream.operations.iter().any(|operation| looks(trace, pe, *operation)) {
        return Vec::new();
    }
    let (completing, posting) = (stream.completing(), posting(stream));
    let mut rows = Vec::new();
    // The row that goes on, and one that ended with a probe, whose message is still to be received.
    let (mut row, mut found): (Option<[VisitIx; 2]>, Option<[VisitIx; 2]>) = (None, None);
    for &operation in &stream.operations {
        let region = trace.region_of(pe, operation);
        if looks(trace, pe, operation) && !completing[operation.index()] {
            row = Some([row.map_or(operation, |[first, _]| first), operation]);
            if !region.is_poll() {
                // It came back, so it found something.
                found = row.take();
            }
            continue;
        }
        if matches!(region.role, Role::Inquiry | Role::Management) {
            continue;
        }
        let is_posting = posting[operation.index()];
        if let Some([_, last]) = row
            && !is_posting
            && trace.role_of(pe, last) == Role::Probe
        {
            found = row.take();
        }
        let taken = if is_posting { row.take().or(found.take()) } else { row.take() };
        if let Some([first, last]) = taken {
            let told = stream.polls.binary_search_by_key(&last, |row| row.visit).ok();
            let found_last = told.is_none_or(|at| stream.polls[at].found);
            rows.push(Row { first, last, taker: operation, found: found_last });
            // What a probe found before these polls is not looked for behind them.
            found = None;
        }
    }
    rows
}

/// By visit, whether a receive was posted there.
fn posting(stream: &Stream) -> Vec<bool> {
    let mut posting = vec![false; stream.visits.len()];
    let posted = stream.requests.iter().filter(|row| row.kind == RequestKind::RecvPosted).map(|row| row.visit);
    let blocking = stream.recvs.iter().filter(|row| row.request == NO_REQUEST).map(|row| row.visit);
    for visit in posted.chain(blocking) {
        if let Some(posting) = posting.get_mut(visit.index()) {
            *posting = true;
        }
    }
    posting
}
