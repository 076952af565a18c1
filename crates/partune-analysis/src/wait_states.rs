//! Waits as findings: one for each pattern and call path, with the PEs that wait and those that make them wait.

use partune_base::{CallPathId, PeId, Span};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::blame::{self, Account, Charge};
use crate::delay::Origins;
use crate::{Analysis, Cause, Finding, Input, Occurrence, Outcome, Pattern, Wait};

/// The analysis.
pub(crate) static WAIT_STATES: Analysis = Analysis {
    name: "wait_states",
    title: "Waiting: who waits where, and for whom",
    docs: DOCS,
    finds: true,
    shows: &[],
    run,
};

const DOCS: &str = "
Time inside operations that another PE's behaviour cost: it goes if the other comes earlier. One finding for each pattern and call
path of the waiting operation.

| pattern | the wait of one operation |
|---|---|
| late_sender | enter of the receiving operation → enter of the send |
| late_receiver | enter of the sending (or completing) operation → receive posted, if it returned after that |
| wait_at_barrier, wait_at_nxn, late_fence | own enter → last enter of the group |
| late_fence (post/start/complete/wait) | start, access or complete: own enter → the post, if that came within; wait: own enter → last complete |
| late_broadcast | own enter → enter of the root |
| early_reduce | enter of the root → last enter of another |
| early_scan | own enter → last enter of the ranks up to one's own |
| wait_on_lock | request → the last holder gave it back |
| wait_on_value | own enter → the remote access that fulfilled the condition was done |
| competing_put_get | duration − usual duration of such accesses, at most the time that others accessed the same PE |

An operation that completes several messages waits for the one that came last. Waiting is never counted from messages without
partner, collectives with missing members, or epochs of windows without counterpart.

**Causes** say who pays: the PE, the call path of the operation that ended the wait, and as *origin* the call path in which that PE
spent more time than the waiting one since both were last together. In groups the waiting is divided by its Shapley value: while
k members are missing, each of them pays 1/k of everybody's waiting. Locks are paid by their holders, each for the time it held
them. What nobody pays is *unexplained*.

Sources: Su, Parallel Performance Wizard (delays by operation type, figures 4-4 to 4-7); the pattern manual of Scalasca.
";

/// What waits at one call path.
#[derive(Clone, Debug, Default)]
struct Place {
    time: Span,
    count: u64,
    pes: Vec<(PeId, Span)>,
    longest: Vec<Wait>,
}

fn run(input: &Input<'_>) -> Outcome {
    let places = places(input);
    let delays = input.waits.delays();
    let ledger = blame::ledger(input.trace, input.index, input.waits, delays);
    let origins = Origins::new(input.trace, input.index, input.waits);
    let pes = input.trace.active_pes().count();
    let minimum = input.options.minimum * input.trace.duration().0 as f64 * pes as f64;
    let findings = places
        .into_par_iter()
        .filter(|(_, place)| place.time.0 as f64 >= minimum)
        .map(|((pattern, path), place)| {
            let first = ledger.partition_point(|(account, _)| (account.pattern, account.path) < (pattern, path));
            let end = ledger.partition_point(|(account, _)| (account.pattern, account.path) <= (pattern, path));
            finding(input, pattern, path, place, &ledger[first..end], &origins)
        })
        .collect();
    Outcome { findings, sections: Vec::new() }
}

/// Sums of waits by pattern and call path, in that order.
fn places(input: &Input<'_>) -> Vec<((Pattern, CallPathId), Place)> {
    let details = input.options.details;
    let pes: Vec<PeId> = input.trace.pes().ids().collect();
    let parts: Vec<FxHashMap<(Pattern, CallPathId), Place>> = pes
        .par_iter()
        .map(|pe| {
            let mut places: FxHashMap<(Pattern, CallPathId), Place> = FxHashMap::default();
            for wait in input.waits.of_pe(*pe) {
                let path = input.trace.visit(*pe, wait.operation).path;
                places.entry((wait.pattern, path)).or_default().add(wait, details);
            }
            places
        })
        .collect();
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    // Stable: parts of one place stay in order of PE.
    all.sort_by_key(|(key, _)| *key);
    let mut merged: Vec<((Pattern, CallPathId), Place)> = Vec::new();
    for (key, place) in all {
        match merged.last_mut() {
            Some((last, sum)) if *last == key => sum.join(place, details),
            _ => merged.push((key, place)),
        }
    }
    merged
}

impl Place {
    fn add(&mut self, wait: &Wait, details: usize) {
        let time = wait.duration();
        self.time += time;
        self.count += 1;
        match self.pes.last_mut() {
            Some((pe, sum)) if *pe == wait.pe => *sum += time,
            _ => self.pes.push((wait.pe, time)),
        }
        self.keep(wait, details);
    }

    fn join(&mut self, other: Place, details: usize) {
        self.time += other.time;
        self.count += other.count;
        self.pes.extend(other.pes);
        other.longest.iter().for_each(|wait| self.keep(wait, details));
    }

    /// Keeps the longest waits, longest first, equal ones in order of time and PE.
    fn keep(&mut self, wait: &Wait, details: usize) {
        let key = |wait: &Wait| (std::cmp::Reverse(wait.duration()), wait.begin, wait.pe);
        let at = self.longest.partition_point(|kept| key(kept) < key(wait));
        if at < details {
            self.longest.insert(at, *wait);
            self.longest.truncate(details);
        }
    }
}

fn finding(
    input: &Input<'_>,
    pattern: Pattern,
    path: CallPathId,
    place: Place,
    charges: &[(Account, Charge)],
    origins: &Origins<'_>,
) -> Finding {
    let trace = input.trace;
    let explained: f64 = charges.iter().map(|(_, charge)| charge.ticks).sum();
    let mut charges: Vec<&(Account, Charge)> = charges.iter().filter(|(_, charge)| charge.ticks >= 0.5).collect();
    charges.sort_by(|a, b| b.1.ticks.total_cmp(&a.1.ticks).then(a.0.cmp(&b.0)));
    charges.truncate(input.options.details);
    let cause = |(account, charge): &(Account, Charge)| {
        let told = charge.origin();
        let origin = told.or_else(|| charge.sample.map(|wait| origins.of(&wait))).unwrap_or(CallPathId::NONE);
        let origin = if origin == account.cause { CallPathId::NONE } else { origin };
        Cause { pe: account.pe, path: account.cause, origin, time: Span(charge.ticks.round() as i64) }
    };
    let occurrence = |wait: &Wait| Occurrence { pe: wait.pe, begin: wait.begin, end: wait.end, cause: wait.cause.pe };
    Finding {
        pattern,
        role: trace.regions()[trace.paths().region(path)].role,
        path,
        time: place.time,
        count: place.count,
        pes: place.pes,
        causes: charges.into_iter().map(cause).collect(),
        unexplained: Span((place.time.0 as f64 - explained).round() as i64).clamp_positive(),
        occurrences: place.longest.iter().map(occurrence).collect(),
        facts: Vec::new(),
    }
}
