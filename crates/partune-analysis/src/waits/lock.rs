//! Locks and critical sections: from the request until the last holder gave the lock back.
//!
//! The holders that a request waited for are those grants of the same lock that began before its own and ended within
//! [request, acquisition] (readers do not wait for readers). Where no holder was recorded although the acquisition took far
//! longer than uncontended ones of the same construct do (PPW: "uncontrollable"), the time beyond is a wait without a cause; with
//! few to compare with, only if no other PE was ever seen with that lock. Nothing is claimed without a holder where the grant is not
//! recorded: `MPI_Win_lock` may come back without the lock, and spend its time on something else.
//! Golden case: PE 0 asks at 2 and gets it at 5, PE 1 gave it back at 4.9: it waited 2.9 for PE 1.

use std::collections::BTreeMap;

use partune_base::{RegionId, Span, Time};
use partune_index::{Grant, Index, Place};
use partune_trace::Trace;

use super::Wait;
use crate::Pattern;

/// An acquisition is contended by somebody unseen if it takes this many times the usual time of uncontended ones.
const UNUSUAL: i64 = 2;
/// From so many uncontended acquisitions on their median is the usual time.
const ENOUGH: usize = 8;

/// All waits for locks, in order of their grants.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let mut rows = Vec::new();
    let mut unheld = Vec::new();
    let mut first = 0;
    for grants in index.locks.by_lock() {
        for (i, grant) in grants.iter().enumerate() {
            let number = (first + i) as u32;
            if !grant.operation.is_some() {
                continue;
            }
            match holders(grants, i).max_by_key(|holder| (holder.released, holder.pe)) {
                Some(holder) => rows.push(Wait {
                    end: holder.released.min(grant.acquired),
                    cause: Place { pe: holder.pe, visit: holder.release },
                    ..unexplained(grant, grant.requested, number)
                }),
                None if !grant.recorded => {}
                None => unheld.push((number, grant, grants.iter().all(|other| other.pe == grant.pe))),
            }
        }
        first += grants.len();
    }
    let usual = usual_times(trace, &unheld);
    for (number, grant, alone) in unheld {
        let known = usual.get(&region(trace, grant)).copied();
        let usual = known.unwrap_or_default();
        let took = grant.acquired.since(grant.requested);
        if (known.is_some() || alone) && took.0 > usual.0.saturating_mul(UNUSUAL) {
            rows.push(unexplained(grant, grant.requested + usual, number));
        }
    }
    rows
}

/// The grants that the `i`-th grant of a lock waited for, latest acquisition first. Looks back until a grant that had ended
/// before the request and was exclusive: nobody can have held the lock since before it.
pub(crate) fn holders(grants: &[Grant], i: usize) -> impl Iterator<Item = &Grant> {
    let own = grants[i];
    let over = move |other: &&Grant| other.shared || other.released > own.requested;
    grants[..i].iter().rev().take_while(over).filter(move |other| {
        other.pe != own.pe
            && !(own.shared && other.shared)
            && other.released > own.requested
            && other.released <= own.acquired
            && other.acquired < own.acquired
    })
}

fn unexplained(grant: &Grant, begin: Time, number: u32) -> Wait {
    Wait {
        pe: grant.pe,
        operation: grant.operation,
        pattern: Pattern::WaitOnLock,
        begin,
        end: grant.acquired,
        cause: Place::NONE,
        instance: number,
    }
}

fn region(trace: &Trace, grant: &Grant) -> RegionId {
    trace.paths().region(trace.visit(grant.pe, grant.operation).path)
}

/// The median duration of uncontended acquisitions by construct.
fn usual_times(trace: &Trace, unheld: &[(u32, &Grant, bool)]) -> BTreeMap<RegionId, Span> {
    let mut durations: BTreeMap<RegionId, Vec<Span>> = BTreeMap::new();
    for (_, grant, _) in unheld {
        durations.entry(region(trace, grant)).or_default().push(grant.acquired.since(grant.requested));
    }
    durations.retain(|_, spans| spans.len() >= ENOUGH);
    let median = |spans: &mut Vec<Span>| {
        let middle = spans.len() / 2;
        *spans.select_nth_unstable(middle).1
    };
    durations.iter_mut().map(|(region, spans)| (*region, median(spans))).collect()
}
