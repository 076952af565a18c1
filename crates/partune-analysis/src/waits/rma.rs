//! One-sided accesses that compete: a blocking put, get or atomic takes longer than it needs while other PEs access the same PE.
//!
//! PPW's delay of such an operation is the time until its transfer begins, which nobody records; its estimate is duration −
//! baseline(size); wait = min(duration − baseline, time overlapped by accesses of other PEs to the same target), counted only where
//! the duration is more than `baseline_factor` times the baseline. What an access needs is found out in [`baseline`].
//! Accesses that do not block wait where they are completed, see `completion`. Fences are collectives of their group, see
//! `collective`; epochs of post, start, complete and wait are in `value`.

mod baseline;

use partune_base::{PeId, Span, Time};
use partune_index::{Index, Place, Transfer};
use partune_trace::{RmaTransferKind, Trace, VisitIx};
use rayon::prelude::*;

use self::baseline::Baselines;
use super::Wait;
use crate::{Options, Pattern};

/// A blocking access and when it ran.
#[derive(Clone, Copy, Debug)]
struct Access {
    target: PeId,
    enter: Time,
    exit: Time,
    pe: PeId,
    operation: VisitIx,
    kind: RmaTransferKind,
    bytes: u64,
    /// Position in [`partune_index::RmaIndex::transfers`].
    number: u32,
}

impl Access {
    fn took(&self) -> Span {
        self.exit.since(self.enter)
    }
}

/// What an access had to share.
#[derive(Clone, Copy, Debug)]
struct Sharing {
    /// How long accesses of others to the same target overlapped it.
    overlap: Span,
    /// The one that overlapped it longest; none if it was alone.
    cause: Place,
    /// ∫ dt / (PEs that access the target): how long the target served it, if it served all of them alike.
    served: f64,
}

/// All waits of accesses for others.
pub(super) fn find(trace: &Trace, index: &Index, options: &Options) -> Vec<Wait> {
    let accesses = accesses(trace, index);
    let targets: Vec<&[Access]> = accesses.chunk_by(|a, b| a.target == b.target).collect();
    let sharing: Vec<Vec<Sharing>> = targets.par_iter().map(|accesses| sharing(accesses)).collect();
    let sharing: Vec<Sharing> = sharing.concat();
    let baselines = Baselines::new(trace, &accesses, &sharing, options.machine.as_ref());
    let mut rows = Vec::new();
    for (access, shared) in accesses.iter().zip(&sharing).filter(|(_, shared)| shared.cause.is_some()) {
        let Some(baseline) = baselines.of(trace, access) else { continue };
        let took = access.took();
        if took.0 as f64 > options.baseline_factor * baseline {
            let beyond = Span(took.0 - baseline.round() as i64);
            rows.push(Wait {
                pe: access.pe,
                operation: access.operation,
                pattern: Pattern::CompetingPutGet,
                begin: access.enter,
                end: access.enter + beyond.min(shared.overlap),
                cause: shared.cause,
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
    (blocking && row.target.is_some() && row.target != transfer.pe).then_some(Access {
        target: row.target,
        enter: visit.enter,
        exit: visit.exit,
        pe: transfer.pe,
        operation: transfer.start,
        kind: row.kind,
        bytes: row.bytes,
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

/// What each access to one target had to share.
fn sharing(accesses: &[Access]) -> Vec<Sharing> {
    let mut found = vec![Sharing { overlap: Span::ZERO, cause: Place::NONE, served: 0.0 }; accesses.len()];
    let mut longest = vec![Span::ZERO; accesses.len()];
    // The end of the union of overlaps so far: others come in order of enter, so it grows at its end only.
    let mut covered: Vec<Time> = accesses.iter().map(|access| access.enter).collect();
    meet(accesses, |own, other| {
        let (a, b) = (&accesses[own], &accesses[other]);
        let (begin, end) = (a.enter.max(b.enter), a.exit.min(b.exit));
        found[own].overlap += end.since(begin.max(covered[own]));
        covered[own] = covered[own].max(end);
        if end.since(begin) > longest[own] {
            longest[own] = end.since(begin);
            found[own].cause = Place { pe: b.pe, visit: b.operation };
        }
    });
    for (sharing, served) in found.iter_mut().zip(served(accesses)) {
        sharing.served = served;
    }
    found
}

/// How long the target served each access, if it served all PEs alike that accessed it at a time. What is served is conserved:
/// over all accesses it is the time in which there was any, whatever the order in which the target really served them.
fn served(accesses: &[Access]) -> Vec<f64> {
    let mut steps: Vec<(Time, bool, usize)> = Vec::with_capacity(2 * accesses.len());
    for (i, access) in accesses.iter().enumerate().filter(|(_, access)| access.exit > access.enter) {
        steps.push((access.enter, true, i));
        steps.push((access.exit, false, i));
    }
    steps.sort_unstable();
    let mut served = vec![0.0; accesses.len()];
    let mut active: Vec<PeId> = Vec::new();
    let (mut last, mut sum) = (Time::MIN, 0.0);
    for (time, begins, i) in steps {
        if !active.is_empty() {
            sum += time.since(last).0 as f64 / active.len() as f64;
        }
        last = time;
        let pe = accesses[i].pe;
        if begins {
            active.push(pe);
            served[i] = sum;
        } else {
            active.iter().position(|it| *it == pe).map(|at| active.swap_remove(at));
            served[i] = sum - served[i];
        }
    }
    served
}
