//! One-sided accesses that compete: a blocking put, get or atomic takes longer than usual while other PEs access the same PE.
//!
//! PPW's delay of such an operation is the time until its transfer begins, which nobody records; its estimate is duration −
//! baseline(size). The baseline is the median duration of uncontended accesses of the same kind and the same power of two of
//! bytes in this trace; wait = min(duration − baseline, time overlapped by accesses of other PEs to the same target), counted
//! only where the duration is at least 1.5 times the baseline. Without uncontended accesses to compare with, nothing is claimed.
//! Fences are collectives of their group, see `collective`; epochs of post, start, complete and wait are in `value`.

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
struct Access {
    target: PeId,
    enter: Time,
    exit: Time,
    pe: PeId,
    operation: VisitIx,
    kind: RmaTransferKind,
    bucket: u32,
    /// Position in [`partune_index::RmaIndex::transfers`].
    number: u32,
}

/// All waits of accesses for others.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let accesses = accesses(trace, index);
    let targets: Vec<&[Access]> = accesses.chunk_by(|a, b| a.target == b.target).collect();
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

/// The accesses that overlapped some wanted ones: position of the wanted one in the index, place of the other, and how long;
/// in order of the wanted ones.
pub(crate) fn contenders(
    trace: &Trace,
    index: &Index,
    wanted: &(dyn Fn(u32) -> bool + Sync),
) -> Vec<(u32, Place, Span)> {
    let accesses = accesses(trace, index);
    let mut pairs = Vec::new();
    for accesses in accesses.chunk_by(|a, b| a.target == b.target) {
        meet(accesses, |own, other| {
            let (own, other) = (&accesses[own], &accesses[other]);
            if wanted(own.number) {
                let overlap = own.exit.min(other.exit).since(own.enter.max(other.enter));
                pairs.push((own.number, Place { pe: other.pe, visit: other.operation }, overlap));
            }
        });
    }
    pairs.sort_unstable();
    pairs
}

/// The blocking accesses, in order of (target, enter, PE).
fn accesses(trace: &Trace, index: &Index) -> Vec<Access> {
    let rows = index.rma.transfers.iter().enumerate();
    let mut accesses: Vec<Access> = rows.filter_map(|(i, transfer)| access(trace, transfer, i as u32)).collect();
    accesses.par_sort_unstable_by_key(|access| (access.target, access.enter, access.pe, access.number));
    accesses
}

fn access(trace: &Trace, transfer: &Transfer, number: u32) -> Option<Access> {
    let stream = trace.streams().get(transfer.pe)?;
    let row = stream.transfers.get(transfer.row as usize)?;
    let visit = stream.visits.get(transfer.start)?;
    let blocking =
        transfer.completion == transfer.start && !trace.role_of(transfer.pe, transfer.start).is_transparent();
    (blocking && row.target.is_some() && row.target != transfer.pe).then(|| Access {
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

/// Calls `each` for all ordered pairs of overlapping accesses of different PEs to one target, by position; the others of one
/// access come in order of their enters. Linear in accesses times those active at once.
fn meet(accesses: &[Access], mut each: impl FnMut(usize, usize)) {
    let mut active: Vec<usize> = Vec::new();
    for (i, access) in accesses.iter().enumerate() {
        active.retain(|other| accesses[*other].exit > access.enter);
        for other in &active {
            if accesses[*other].pe != access.pe {
                each(*other, i);
                each(i, *other);
            }
        }
        active.push(i);
    }
}

/// For each access to one target: how long others' accesses overlapped it, and the one that overlapped it longest.
fn overlaps(accesses: &[Access]) -> Vec<(Span, Place)> {
    let mut found = vec![(Span::ZERO, Place::NONE); accesses.len()];
    let mut longest = vec![Span::ZERO; accesses.len()];
    // The end of the union of overlaps so far: others come in order of enter, so it grows at its end only.
    let mut covered: Vec<Time> = accesses.iter().map(|access| access.enter).collect();
    meet(accesses, |own, other| {
        let (a, b) = (&accesses[own], &accesses[other]);
        let (begin, end) = (a.enter.max(b.enter), a.exit.min(b.exit));
        found[own].0 += end.since(begin.max(covered[own]));
        covered[own] = covered[own].max(end);
        if end.since(begin) > longest[own] {
            longest[own] = end.since(begin);
            found[own].1 = Place { pe: b.pe, visit: b.operation };
        }
    });
    found
}

/// The median duration of uncontended accesses by kind and size.
fn baselines(accesses: &[Access], overlaps: &[(Span, Place)]) -> BTreeMap<(RmaTransferKind, u32), Span> {
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
