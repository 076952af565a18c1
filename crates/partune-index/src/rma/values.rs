//! Waits for a value, and the access of another PE that may have made the condition true.
//!
//! The cause is the last access to the PE's memory in the window that touches the address (theory: "last remote write of that address by
//! another PE inside the wait"), or one of its addresses where a call waits for several values. Where the address of the wait or of the access is not
//! recorded, any access in the window may be it; that is the best that can be said then, and the documentation of the pattern says so. Where threads wait for an object that is nobody's (a condition, a
//! semaphore), it is the last sign that another one gave for it, to whoever waits.

use partune_base::{Id, PeId, Time, WindowId};
use partune_trace::{Participants, RmaSyncKind, RmaTransfer, RmaTransferKind, Stream, Trace, VisitIx};
use rayon::prelude::*;

use super::{Transfer, ValueWait};
use crate::Place;
use crate::requests::operation_exit;
use crate::scan::Scan;

/// A wait for one value: where, and in which window if that is recorded.
#[derive(Clone, Copy)]
struct Waiting {
    operation: VisitIx,
    window: WindowId,
    address: Option<u64>,
}

/// An access to memory of a PE that waits at some time.
#[derive(Clone, Copy)]
struct Access {
    target: PeId,
    window: WindowId,
    /// The first byte that it writes, and the byte after the last.
    bytes: Option<(u64, u64)>,
    end: Time,
    begin: Time,
    by: Place,
}

impl Access {
    /// Whether it may have written there.
    fn touches(&self, address: Option<u64>) -> bool {
        address.zip(self.bytes).is_none_or(|(address, (first, end))| first <= address && address < end)
    }
}

/// The bytes that an access writes. An atomic one is of a value, whose bytes its row counts for each way.
fn written(row: &RmaTransfer) -> Option<(u64, u64)> {
    let length = if row.kind == RmaTransferKind::Atomic { 1 } else { row.bytes };
    row.address.map(|first| (first, first.saturating_add(length)))
}

/// All waits in order of (PE, operation). Accesses are kept (64 bytes each) only for PEs that wait at all.
pub(super) fn find(trace: &Trace, scans: &[Scan], transfers: &[Transfer]) -> Vec<ValueWait> {
    let streams = trace.streams().as_slice();
    let waits: Vec<Vec<Waiting>> = streams.par_iter().zip(scans).map(|(stream, scan)| waiting(stream, scan)).collect();
    if waits.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let mut accesses = accesses(trace, transfers, &waits);
    accesses.par_sort_unstable_by_key(|access| (access.target, access.end, access.begin, access.by));
    let mut signs = signs(trace);
    signs.par_sort_unstable();
    let found: Vec<Vec<ValueWait>> = waits
        .par_iter()
        .enumerate()
        .map(|(pe, waits)| {
            let pe = PeId::from_index(pe);
            let first = accesses.partition_point(|access| access.target < pe);
            let end = accesses.partition_point(|access| access.target <= pe);
            causes(trace, pe, waits, &accesses[first..end], &signs)
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// Operations that wait for a value by their role, and those that a row says it of; of an operation that waits for several, each.
fn waiting(stream: &Stream, scan: &Scan) -> Vec<Waiting> {
    let told = stream.rma_syncs.iter().filter(|row| row.kind == RmaSyncKind::WaitChange && row.visit.is_some());
    let told = told.map(|row| Waiting { operation: row.visit, window: row.window, address: row.address });
    let mut waits: Vec<Waiting> = told.collect();
    let role = |&operation: &VisitIx| Waiting { operation, window: WindowId::NONE, address: None };
    waits.extend(scan.value_waits.iter().map(role));
    // What a row says comes first, since no window is the largest id.
    waits.sort_unstable_by_key(|wait| (wait.operation, wait.window, wait.address));
    waits.dedup_by(|next, wait| {
        next.operation == wait.operation
            && (!next.window.is_some() || (next.window, next.address) == (wait.window, wait.address))
    });
    waits
}

fn accesses(trace: &Trace, transfers: &[Transfer], waits: &[Vec<Waiting>]) -> Vec<Access> {
    let streams = trace.streams();
    let waits_at = |target: PeId| waits.get(target.index()).is_some_and(|waits| !waits.is_empty());
    let puts = transfers.par_iter().filter_map(|transfer| {
        let row = &streams[transfer.pe].transfers[transfer.row as usize];
        let writes = matches!(row.kind, RmaTransferKind::Put | RmaTransferKind::Atomic);
        let by = Place { pe: transfer.pe, visit: transfer.start };
        let (target, window, bytes) = (row.target, row.window, written(row));
        let access = Access { target, window, bytes, end: transfer.completed, begin: row.time, by };
        (writes && row.target != transfer.pe && waits_at(row.target)).then_some(access)
    });
    let mut accesses: Vec<Access> = puts.collect();
    for (pe, stream) in streams.iter_ids() {
        // Who meets those that it names notifies them of nothing else.
        let meets = |visit: VisitIx| visit.is_some() && trace.region_of(pe, visit).participants == Participants::Named;
        let told = stream.rma_syncs.iter().filter(|row| row.kind == RmaSyncKind::NotifyOut && row.target != pe);
        let told = told.filter(|row| !meets(row.visit));
        accesses.extend(told.filter(|row| waits_at(row.target)).map(|row| Access {
            target: row.target,
            window: row.window,
            bytes: None,
            end: operation_exit(stream, trace.paths(), row.visit).unwrap_or(row.time),
            begin: row.time,
            by: Place { pe, visit: row.visit },
        }));
    }
    accesses
}

/// A sign for whoever waits for an object: where, of what, when, and who gave it.
type Sign = ((WindowId, u64), Time, Place);

fn signs(trace: &Trace) -> Vec<Sign> {
    let of = |(pe, stream): (PeId, &Stream)| -> Vec<Sign> {
        let told = stream.rma_syncs.iter().filter(|row| row.kind == RmaSyncKind::NotifyOut && !row.target.is_some());
        told.filter_map(|row| Some(((row.window, row.address?), row.time, Place { pe, visit: row.visit }))).collect()
    };
    trace.streams().iter_ids().flat_map(of).collect()
}

/// The last sign that another PE gave for an object within a span of time.
fn last_sign(signs: &[Sign], object: (WindowId, u64), pe: PeId, (begin, end): (Time, Time)) -> Option<Access> {
    let first = signs.partition_point(|sign| (sign.0, sign.1) < (object, begin));
    let after = signs.partition_point(|sign| (sign.0, sign.1) <= (object, end));
    let &(_, time, by) = signs[first..after].iter().rev().find(|sign| sign.2.pe != pe)?;
    Some(Access { target: pe, window: object.0, bytes: None, end: time, begin: time, by })
}

/// The cause of each wait of a PE, from the accesses to its memory in order of their ends.
fn causes(trace: &Trace, pe: PeId, waits: &[Waiting], accesses: &[Access], signs: &[Sign]) -> Vec<ValueWait> {
    // Without a window, at least of the same paradigm: threads wait for values too.
    let paradigm = |pe: PeId, visit: VisitIx| visit.some().map(|visit| trace.region_of(pe, visit).paradigm);
    let ends = |wait: &Waiting, access: &Access| match wait.window.some() {
        Some(window) => window == access.window && access.touches(wait.address),
        None => paradigm(pe, wait.operation) == paradigm(access.by.pe, access.by.visit),
    };
    waits
        .chunk_by(|wait, next| wait.operation == next.operation)
        .map(|waits| {
            let operation = waits[0].operation;
            let ends_one = |access: &Access| waits.iter().any(|wait| ends(wait, access));
            let visit = trace.visit(pe, operation);
            let ended = accesses.partition_point(|access| access.end <= visit.exit);
            let first = accesses.partition_point(|access| access.end < visit.enter);
            let within = accesses[first..ended].iter().rev().find(|access| ends_one(access));
            // Values arrive before the call that wrote them comes back.
            let under_way = || {
                let later = accesses[ended..].iter().take(UNDER_WAY);
                let begun = later.filter(|access| access.begin <= visit.exit && ends_one(access));
                begun.max_by_key(|access| (access.begin, access.by))
            };
            let sign_of =
                |wait: &Waiting| last_sign(signs, (wait.window, wait.address?), pe, (visit.enter, visit.exit));
            let sign = || waits.iter().filter_map(sign_of).max_by_key(|access| (access.end, access.by));
            let cause = within.copied().or_else(sign).or_else(|| under_way().copied());
            ValueWait {
                pe,
                operation,
                cause: cause.map_or(Place::NONE, |access| access.by),
                fulfilled: cause.map_or(visit.exit, |access| access.end.min(visit.exit)),
            }
        })
        .collect()
}

/// How many accesses that end after a wait are looked at for one that was under way: keeps the search linear.
const UNDER_WAY: usize = 64;
