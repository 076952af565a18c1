//! One-sided accesses that compete: a blocking put, get or atomic takes longer than usual while other PEs access the same PE.
//!
//! PPW's delay of such an operation is the time until its transfer begins, which nobody records; its estimate is duration −
//! baseline(size). The baseline is the median duration of uncontended accesses of the same kind and the same power of two of
//! bytes in this trace; wait = min(duration − baseline, time overlapped by accesses of other PEs to the same target), counted
//! only where the duration is at least 1.5 times the baseline. Without uncontended accesses to compare with, nothing is claimed.
//! Fences and post/start/complete/wait are collectives of their group: see `collective`.

use std::collections::BTreeMap;

use partune_base::{PeId, Span, Time};
use partune_index::{Index, Place, Transfer};
use partune_trace::{RmaTransferKind, Trace, VisitIx};
use rayon::prelude::*;

use super::Wait;
use crate::Pattern;

/// From so many uncontended accesses on their median is a baseline.
const ENOUGH: usize = 8;

/// A blocking access and when it ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    pub(crate) target: PeId,
    pub(crate) enter: Time,
    pub(crate) exit: Time,
    pub(crate) pe: PeId,
    pub(crate) operation: VisitIx,
    kind: RmaTransferKind,
    bucket: u32,
    /// Position in [`partune_index::RmaIndex::transfers`].
    number: u32,
}

/// All waits of accesses for others.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let accesses = accesses(trace, index);
    let targets: Vec<&[Contention]> = accesses.chunk_by(|a, b| a.target == b.target).collect();
    let overlaps: Vec<Vec<(Span, Place)>> = targets.par_iter().map(|accesses| overlaps(accesses)).collect();
    let overlaps: Vec<(Span, Place)> = overlaps.concat();
    let baselines = baselines(&accesses, &overlaps);
    let mut rows = Vec::new();
    for (access, (overlap, cause)) in accesses.iter().zip(&overlaps) {
        let Some(baseline) = baselines.get(&(access.kind, access.bucket)) else { continue };
        let took = access.exit.since(access.enter);
        if cause.is_some() && took.0 * 2 >= baseline.0 * 3 {
            rows.push(Wait {
                pe: access.pe,
                operation: access.operation,
                pattern: Pattern::CompetingPutGet,
                begin: access.enter,
                end: access.enter + (took - *baseline).min(*overlap),
                cause: *cause,
                instance: access.number,
            });
        }
    }
    rows
}

/// The accesses of other PEs to the same target that overlapped an access, with the time they did. Linear in the accesses to
/// the target that began before its end, so for few accesses only.
pub(crate) fn competitors(trace: &Trace, index: &Index, number: u32, each: &mut dyn FnMut(Contention, Span)) {
    let Some(own) = index.rma.transfers.get(number as usize).and_then(|transfer| access(trace, transfer, number)) else {
        return;
    };
    for (i, transfer) in index.rma.transfers.iter().enumerate() {
        if let Some(other) = access(trace, transfer, i as u32)
            && other.target == own.target
            && other.pe != own.pe
        {
            let overlap = other.exit.min(own.exit).since(other.enter.max(own.enter));
            if overlap.is_positive() {
                each(other, overlap);
            }
        }
    }
}

/// The blocking accesses, in order of (target, enter, PE).
fn accesses(trace: &Trace, index: &Index) -> Vec<Contention> {
    let rows = index.rma.transfers.iter().enumerate();
    let mut accesses: Vec<Contention> = rows.filter_map(|(i, transfer)| access(trace, transfer, i as u32)).collect();
    accesses.par_sort_unstable_by_key(|access| (access.target, access.enter, access.pe, access.number));
    accesses
}

fn access(trace: &Trace, transfer: &Transfer, number: u32) -> Option<Contention> {
    let stream = trace.streams().get(transfer.pe)?;
    let row = stream.transfers.get(transfer.row as usize)?;
    let visit = stream.visits.get(transfer.start)?;
    let blocking = transfer.completion == transfer.start && !trace.role_of(transfer.pe, transfer.start).is_transparent();
    (blocking && row.target.is_some() && row.target != transfer.pe).then(|| Contention {
        target: row.target,
        enter: visit.enter,
        exit: visit.exit,
        pe: transfer.pe,
        operation: transfer.start,
        kind: row.kind,
        bucket: row.bytes.checked_ilog2().map_or(0, |log| log + 1),
        number,
    })
}

/// For each access to one target: how long others' accesses overlapped it, and the one that overlapped it longest.
fn overlaps(accesses: &[Contention]) -> Vec<(Span, Place)> {
    let mut found = vec![(Span::ZERO, Place::NONE); accesses.len()];
    let mut longest = vec![Span::ZERO; accesses.len()];
    // Union of overlaps so far of each access: others come in order of enter, so the union grows at its end only.
    let mut covered: Vec<Time> = accesses.iter().map(|access| access.enter).collect();
    let mut active: Vec<usize> = Vec::new();
    let mut meet = |own: usize, other: usize| {
        let (a, b) = (accesses[own], accesses[other]);
        let (begin, end) = (a.enter.max(b.enter), a.exit.min(b.exit));
        found[own].0 += end.since(begin.max(covered[own]));
        covered[own] = covered[own].max(end);
        let overlap = end.since(begin);
        if overlap > longest[own] {
            longest[own] = overlap;
            found[own].1 = Place { pe: b.pe, visit: b.operation };
        }
    };
    for (i, access) in accesses.iter().enumerate() {
        active.retain(|other| accesses[*other].exit > access.enter);
        for other in &active {
            if accesses[*other].pe != access.pe {
                meet(*other, i);
                meet(i, *other);
            }
        }
        active.push(i);
    }
    found
}

/// The median duration of uncontended accesses by kind and size.
fn baselines(accesses: &[Contention], overlaps: &[(Span, Place)]) -> BTreeMap<(RmaTransferKind, u32), Span> {
    let mut durations: BTreeMap<(RmaTransferKind, u32), Vec<Span>> = BTreeMap::new();
    for (access, (_, cause)) in accesses.iter().zip(overlaps) {
        if !cause.is_some() {
            durations.entry((access.kind, access.bucket)).or_default().push(access.exit.since(access.enter));
        }
    }
    durations.retain(|_, spans| spans.len() >= ENOUGH);
    let median = |spans: &mut Vec<Span>| {
        let middle = spans.len() / 2;
        *spans.select_nth_unstable(middle).1
    };
    durations.iter_mut().map(|(key, spans)| (*key, median(spans))).collect()
}
