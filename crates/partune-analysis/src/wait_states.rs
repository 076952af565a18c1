//! Waits as findings: one for each pattern and place, with the PEs that wait and those that make them wait. Sums are made by call path, and
//! become one a place ([`told`]) before causes are looked for: a recursive program has tens of thousands of call paths, and few places.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_base::{CallPathId, PeId, Span};
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::blame::{self, Account, Charge};
use crate::delay::{Lookup, NEGLIGIBLE, Root, RootCharge, Roots};
use crate::places::{self, by_place, code_of, together, told};
use crate::queries::{Query, add_rows};
use crate::{Analysis, Cause, Finding, Input, Needs, Occurrence, Outcome, Pattern, Wait};

/// How many visits are looked at for a finding, in operations that kept others and of which no wait was looked at for delays.
const VISITS: u64 = 1 << 22;

/// The analysis.
pub(crate) static WAIT_STATES: Analysis = Analysis {
    name: "wait_states",
    title: "Waiting: who waits where, and for whom",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
    shows: &[],
    run,
};

const DOCS: &str = "
Time inside operations that another PE's behaviour cost: it goes if the other comes earlier. One finding for each pattern and
place of the waiting operation: the same construct in the same function, at whichever lines and whatever call paths lead there (where no
function is known, at the same line). Waits at places that lose less than the threshold (`minimum`, 0.1 % of the run) are told together: those of a construct as one
finding if they reach it, else those of a pattern.

| pattern | the wait of one operation |
|---|---|
| late_sender | enter of the receiving operation → enter of the send |
| late_receiver | enter of the sending (or completing) operation → receive posted, if it returned after that |
| wait_at_barrier, wait_at_nxn, wait_at_set_up, late_fence | own enter → last enter of the group |
| late_fence (post/start/complete/wait) | start, access or complete: own enter → the post, if that came within; wait: own enter → last complete |
| late_broadcast | own enter → enter of the root, unless it left before |
| early_reduce | enter of the root → last enter of another |
| early_scan | own enter → last enter of the ranks up to one's own |
| wait_on_lock | request → the last holder gave it back (if it never did: until the lock was got); without a holder, beyond the usual time → the lock was got |
| wait_on_value | own enter → the remote access that fulfilled the condition was done; where none was seen and it took longer than 10 µs, own exit |
| late_partner | own enter → last enter of those that it names (SYNC IMAGES) |
| wait_for_task | own enter → the last task that another thread created meanwhile, where a task is run next; else the last one that another ended |
| wait_for_thread | own enter → the end of the thread that is joined |
| competing_put_get | duration − what such an access needs, at most the time that others accessed the same PE |
| competing_put_get (collective) | the end of its own wait → the last access was complete that it completed and nothing asked for |

What an access needs: the machine file's time for its size; else the median of those of its kind and size that were alone at their target;
else the line through those of other sizes that were alone; else, where k PEs share the target, each is served for 1/k of the
time, and the mean of what is served is what one needs (if durations vary less than that, the shortest of them). Counted are
accesses above 1.5 times of it (`baseline-factor`).

An operation that completes several messages waits for the one that came last. Waiting is never counted from messages without
partner, collectives with missing members, or epochs of windows without counterpart.

**Causes** say who pays, as *roots*. Whoever ended a wait and had itself been kept waiting since both were last together passes on its
share: the wait is divided among the code in which that PE spent more time than the waiting one, and its own earlier waits, in the
proportions of the delay costs, and so on until all of it is at code. A cause names the PE, its operation that
ended the first wait, as *origin* the call path in which it spent the time, and as *via* the operations that passed it on, the
nearest to the finding first (of several ways the one of the largest part; *via_s* is what came through others). An origin that is the
operation itself means that it took longer there, or that nothing more is known; none is code outside of recorded regions.
What the same function of a PE did before the same construct of a function is one cause, whichever call paths lead there; it has those of the one that cost most.

In groups the waiting is divided by its Shapley value before it is followed: while k members are missing, each of them pays 1/k of
everybody's waiting; of a run that is looked at in slices, within each. Locks are paid by their holders, each for the time it held them, and followed within that time. Competing
accesses are not followed, since nobody was late. Waits that were not looked at in detail (see delay costs) are followed like those
that the same operation of the same PE caused. What nobody pays is *unexplained*.

Sources: Su, Parallel Performance Wizard (delays by operation type, figures 4-4 to 4-7); the pattern manual of Scalasca.
";

/// What waits at one call path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Place {
    time: Span,
    count: u64,
    pes: Vec<(PeId, Span)>,
    longest: Vec<Occurrence>,
    /// How many are kept of the longest.
    details: usize,
}

fn run(input: &Input<'_>) -> Outcome {
    let Places { places, explained } = input.wait_places();
    let findings = places.iter().map(|((pattern, path), place)| place.finding(input, *pattern, *path)).collect();
    let (least, details) = (input.least(), input.options.details);
    let findings = match explained {
        None => {
            let mut findings = told(input.trace, findings, least, details);
            Explainer::new(input).explain(&mut findings, details);
            findings
        }
        Some(explained) => {
            let mut findings = by_place(input.trace, findings, details);
            let first = places::Places::of(input.trace);
            findings.iter_mut().for_each(|finding| explained.tell(finding, input.trace, &first));
            let mut findings = told(input.trace, findings, least, details);
            findings.iter_mut().for_each(|finding| finding.causes.truncate(details));
            findings
        }
    };
    Outcome { findings, sections: Vec::new() }
}

/// Waits by pattern and call path.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Places {
    places: Vec<((Pattern, CallPathId), Place)>,
    /// Who pays for them, where this is known of slices only.
    explained: Option<Explained>,
}

/// Who pays for the waits of slices: by pattern and the first call path of a place.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Explained(BTreeMap<(Pattern, CallPathId), (Span, Vec<Cause>)>);

impl Query for Places {
    fn of(input: &Input<'_>) -> Places {
        let places = places(input);
        let explained = input.trace.slice().map(|_| Explained::of(input, &places));
        Places { places, explained }
    }

    fn add(&mut self, next: Places) {
        add_rows(&mut self.places, next.places, |(key, _)| *key, |sum, more| sum.1.join(std::mem::take(&mut more.1)));
        if let Some((sum, next)) = self.explained.as_mut().zip(next.explained) {
            sum.add(next);
        }
    }
}

impl Explained {
    fn of(input: &Input<'_>, places: &[((Pattern, CallPathId), Place)]) -> Explained {
        let findings = places.iter().map(|((pattern, path), place)| place.finding(input, *pattern, *path)).collect();
        let mut findings = by_place(input.trace, findings, input.options.details);
        Explainer::new(input).explain(&mut findings, usize::MAX);
        let first = places::Places::of(input.trace);
        let row = |it: Finding| ((it.pattern, first.first(it.path)), (it.unexplained, it.causes));
        Explained(findings.into_iter().map(row).collect())
    }

    fn add(&mut self, next: Explained) {
        for (place, (unexplained, causes)) in next.0 {
            let sum = self.0.entry(place).or_default();
            sum.0 += unexplained;
            sum.1.extend(causes);
            sum.1 = together(std::mem::take(&mut sum.1), |cause| (cause.pe, cause.path, cause.origin), Cause::add);
        }
    }

    /// Adds causes to the finding of a place, all of them, largest first.
    fn tell(&self, finding: &mut Finding, trace: &Trace, first: &places::Places) {
        let place = (finding.pattern, first.first(finding.path));
        let Some((unexplained, causes)) = self.0.get(&place) else { return };
        finding.unexplained = *unexplained;
        let code = |cause: &Cause| code_of(trace, cause.pe, cause.path, cause.origin);
        let by_size = |cause: &Cause| (Reverse(cause.time), cause.pe, cause.path, cause.origin);
        let mut causes = causes.clone();
        causes.sort_by_key(by_size);
        finding.causes = together(causes, code, Cause::add);
        finding.causes.sort_by_key(by_size);
    }
}

/// Looks for who pays.
struct Explainer<'a> {
    input: &'a Input<'a>,
    ledger: Vec<(Account, Charge)>,
    lookup: Lookup<'a>,
}

impl<'a> Explainer<'a> {
    fn new(input: &'a Input<'a>) -> Explainer<'a> {
        let (trace, index, waits) = (input.trace, input.index, input.waits);
        Explainer {
            input,
            ledger: blame::ledger(trace, index, waits, input.delays()),
            lookup: Lookup::new(trace, index, waits),
        }
    }

    /// Adds causes to findings, so many to each.
    fn explain(&self, findings: &mut [Finding], details: usize) {
        let each = |finding: &mut Finding| explain(finding, self.input, &self.ledger, &self.lookup, details);
        findings.par_iter_mut().for_each(each);
    }
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
                places.entry((wait.pattern, path)).or_insert_with(|| Place::of(details)).add(wait);
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
            Some((last, sum)) if *last == key => sum.join(place),
            _ => merged.push((key, place)),
        }
    }
    merged
}

impl Place {
    fn of(details: usize) -> Place {
        Place { details, ..Place::default() }
    }

    fn add(&mut self, wait: &Wait) {
        let time = wait.duration();
        self.time += time;
        self.count += 1;
        match self.pes.last_mut() {
            Some((pe, sum)) if *pe == wait.pe => *sum += time,
            _ => self.pes.push((wait.pe, time)),
        }
        self.keep(Occurrence { pe: wait.pe, begin: wait.begin, end: wait.end, cause: wait.cause.pe });
    }

    fn join(&mut self, other: Place) {
        self.time += other.time;
        self.count += other.count;
        let is_later = self.pes.last().map(|(pe, _)| *pe) < other.pes.first().map(|(pe, _)| *pe);
        if is_later {
            self.pes.extend(other.pes);
        } else {
            add_rows(&mut self.pes, other.pes, |(pe, _)| *pe, |sum, more| sum.1 += more.1);
        }
        other.longest.into_iter().for_each(|wait| self.keep(wait));
    }

    /// Without causes.
    fn finding(&self, input: &Input<'_>, pattern: Pattern, path: CallPathId) -> Finding {
        Finding {
            time: self.time,
            count: self.count,
            pes: self.pes.clone(),
            occurrences: self.longest.clone(),
            ..Finding::at(input.trace, pattern, path)
        }
    }

    /// Keeps the longest waits, longest first, equal ones in order of time and PE.
    fn keep(&mut self, wait: Occurrence) {
        let key = |wait: &Occurrence| (Reverse(wait.end.since(wait.begin)), wait.begin, wait.pe);
        let at = self.longest.partition_point(|kept| key(kept) < key(&wait));
        if at < self.details {
            self.longest.insert(at, wait);
            self.longest.truncate(self.details);
        }
    }
}

/// Who pays for the waits of a finding, at which of its call paths, and how much; in order.
fn debts(finding: &Finding, ledger: &[(Account, Charge)]) -> Vec<((PeId, CallPathId), Charge)> {
    let of_path = |path: CallPathId| {
        let key = (finding.pattern, path);
        let first = ledger.partition_point(|(account, _)| (account.pattern, account.path) < key);
        let rows = ledger[first..].iter().take_while(move |(account, _)| (account.pattern, account.path) == key);
        rows.map(|(account, charge)| ((account.pe, account.cause), charge.clone()))
    };
    let rows: Vec<_> = finding.call_paths().flat_map(of_path).collect();
    let mut debts = together(rows, |(payer, _)| *payer, |sum, next| sum.1.join(next.1));
    debts.sort_by_key(|(payer, _)| *payer);
    debts
}

/// Adds causes, largest first: the roots of what was charged.
fn explain(
    finding: &mut Finding,
    input: &Input<'_>,
    ledger: &[(Account, Charge)],
    lookup: &Lookup<'_>,
    details: usize,
) {
    let debts = debts(finding, ledger);
    let explained: f64 = debts.iter().map(|(_, charge)| charge.ticks).sum();
    finding.unexplained = Span((finding.time.0 as f64 - explained).round() as i64).clamp_positive();
    let mut roots = Roots::new(input.trace, input.waits, &input.delays().chains);
    let mut others: Vec<((PeId, CallPathId), Charge)> = Vec::new();
    for debt in debts {
        let charge = &debt.1;
        let looked_at: f64 = charge.links.iter().map(|(_, ticks)| ticks).sum();
        if looked_at > 0.0 {
            // They stand for all that the same operation of the same PE kept.
            let factor = charge.ticks / looked_at;
            charge.links.iter().for_each(|(link, ticks)| roots.of_link(*link, ticks * factor));
        } else {
            others.push(debt);
        }
    }
    others.sort_by(|a, b| b.1.ticks.total_cmp(&a.1.ticks).then(a.0.cmp(&b.0)));
    let mut rest: f64 = others.iter().map(|(_, charge)| charge.ticks).sum();
    let mut visits = 0;
    for ((pe, cause), charge) in others {
        match charge.sample {
            Some(sample) if visits < VISITS && rest >= NEGLIGIBLE * finding.time.0 as f64 => {
                visits += roots.of_sample(lookup, &sample.wait, sample.since, charge.ticks);
            }
            _ => roots.here(Root { pe, path: cause, origin: cause }, charge.ticks),
        }
        rest -= charge.ticks;
    }
    let mut largest: Vec<_> = roots.settle().iter().filter(|(_, charge)| charge.ticks >= 0.5).copied().collect();
    let by_size = |a: &(Root, RootCharge), b: &(Root, RootCharge)| b.1.ticks.total_cmp(&a.1.ticks).then(a.0.cmp(&b.0));
    largest.sort_by(by_size);
    // What the same code of a PE did is one cause, whoever called it.
    let code = |(root, _): &(Root, RootCharge)| code_of(input.trace, root.pe, root.path, root.origin);
    let mut largest = together(largest, code, |sum, next| sum.1.join(&next.1));
    largest.sort_by(by_size);
    largest.truncate(details);
    let cause = |(root, charge): &(Root, RootCharge)| {
        let via = roots.via(charge);
        Cause {
            pe: root.pe,
            path: root.path,
            origin: root.origin,
            time: Span(charge.ticks.round() as i64),
            passed_on: if via.is_empty() { Span::ZERO } else { Span(charge.passed_on().round() as i64) },
            via,
        }
    };
    finding.causes = largest.iter().map(cause).collect();
}
