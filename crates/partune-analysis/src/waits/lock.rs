//! Locks and critical sections: from the request until the last holder gave the lock back.
//!
//! The holders that a request waited for are those grants of the same lock that began before its own and ended within
//! [request, acquisition] (readers do not wait for readers). A grant whose end was not recorded ended when another PE got the lock,
//! at the latest: what its PE did with the lock last, getting it, stands for the release.
//!
//! Where no holder was seen (PPW: "uncontrollable"), the time beyond what an acquisition usually takes is a wait without a cause.
//! Usual is the machine file's time for the role, else the median of acquisitions of the same construct for which no holder was
//! seen (of an even number the shorter of the middle two). A single one has nothing to be compared with: it is a wait as a whole
//! if no other PE was ever seen with the lock, else the others' waits tell who had it.
//! Nothing is claimed without a holder where the grant is not recorded: `MPI_Win_lock` may come back without the lock, and spend
//! its time on something else.
//! Golden case: PE 0 asks at 2 and gets it at 5, PE 1 gave it back at 4.9: it waited 2.9 for PE 1.

use std::collections::BTreeMap;

use partune_base::{RegionId, Span, Time};
use partune_index::{Grant, Index, Place};
use partune_trace::{Role, Trace};

use super::Wait;
use crate::machine_baselines::MachineBaselines;
use crate::{Options, Pattern};

/// All waits for locks, in order of their grants.
pub(super) fn find(trace: &Trace, index: &Index, options: &Options) -> Vec<Wait> {
    let mut rows = Vec::new();
    let mut unheld = Vec::new();
    let mut first = 0;
    for grants in index.locks.by_lock() {
        let alone = grants.windows(2).all(|pair| pair[0].pe == pair[1].pe);
        for (i, grant) in grants.iter().enumerate() {
            let number = (first + i) as u32;
            if !grant.operation.is_some() {
                continue;
            }
            match holders(grants, i).max_by_key(|holder| (holder.released, holder.pe)) {
                Some(holder) => rows.push(Wait {
                    end: holder.released.min(grant.acquired),
                    cause: holder.last_seen(),
                    ..unexplained(grant, grant.requested, number)
                }),
                None if !grant.recorded => {}
                None => unheld.push((number, grant, alone)),
            }
        }
        first += grants.len();
    }
    let usual = usual_times(trace, &unheld);
    let machine = MachineBaselines::new(trace, options.machine.as_ref());
    for (number, grant, alone) in unheld {
        let known = measured(trace, options, &machine, grant).or_else(|| usual.get(&region(trace, grant)).copied());
        let usual = known.unwrap_or_default();
        let took = grant.acquired.since(grant.requested);
        if (known.is_some() || alone) && took.0 as f64 > options.baseline_factor * usual.0 as f64 {
            rows.push(unexplained(grant, grant.requested + usual, number));
        }
    }
    rows
}

/// The grants that the `i`-th grant of a lock waited for, latest acquisition first; the release of each is where it was seen
/// with the lock last. Looks back until a grant that had ended before the request and was exclusive, or until none before reaches the
/// request: nobody can have held the lock since before it.
pub(crate) fn holders(grants: &[Grant], i: usize) -> impl Iterator<Item = Grant> {
    let own = grants[i];
    let asked = own.requested;
    let over = move |other: &&Grant| other.reaches > asked && (other.shared || other.released > asked);
    let holders = grants[..i].iter().rev().take_while(over).filter(move |other| {
        other.pe != own.pe
            && !(own.shared && other.shared)
            && other.released > own.requested
            && other.released <= own.acquired
            && other.acquired < own.acquired
    });
    holders.map(|holder| Grant { release: holder.last_seen().visit, ..*holder })
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

/// What an acquisition takes on this machine, if that was measured.
fn measured(trace: &Trace, options: &Options, machine: &MachineBaselines<'_>, grant: &Grant) -> Option<Span> {
    let path = trace.visit(grant.pe, grant.operation).path;
    let event_s = options.machine.as_ref()?.overheads.event_s;
    let seconds = machine.of_role(trace, path, Role::LockAcquire).seconds(0, 2)? + event_s;
    Some(Span((seconds * trace.clock().ticks_per_second() as f64).round() as i64))
}

/// The median duration of acquisitions without a known holder by construct; none for a single one.
fn usual_times(trace: &Trace, unheld: &[(u32, &Grant, bool)]) -> BTreeMap<RegionId, Span> {
    let mut durations: BTreeMap<RegionId, Vec<Span>> = BTreeMap::new();
    for (_, grant, _) in unheld {
        durations.entry(region(trace, grant)).or_default().push(grant.acquired.since(grant.requested));
    }
    durations.retain(|_, spans| spans.len() > 1);
    let median = |spans: &mut Vec<Span>| {
        let middle = (spans.len() - 1) / 2;
        *spans.select_nth_unstable(middle).1
    };
    durations.iter_mut().map(|(region, spans)| (*region, median(spans))).collect()
}
