//! Patterns of the user's own: operations of which a condition is true, one finding for each pattern and place.
//!
//! Every operation of every PE of a CPU is asked once. What counts is the time of the operation, or the gap before it where the condition speaks
//! of that.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_base::{CallPathId, PeId, Span, Time};
use partune_operations::{Figures, Measure, OwnPattern};
use rayon::prelude::*;

use crate::useful::{Useful, cpu_pes};
use crate::{Analysis, Base, Finding, Input, Needs, Occurrence, Outcome, Pattern};

pub(crate) static OWN_PATTERNS: Analysis = Analysis {
    name: "own_patterns",
    title: "Patterns of the user's own",
    docs: DOCS,
    finds: true,
    needs: Needs::Events,
    shows: &[],
    run,
};

const DOCS: &str = "\
# Patterns of the user's own

A file (`--operations`) names patterns, each with a condition on operations: [operations.md](../operations.md) has the language. Every operation of
every PE of a CPU is asked once; a finding is a pattern at a place, with the number of operations for which the condition is true.

Its time is that of these operations, from enter to exit. If the condition speaks of `gap_before`, it is that gap: the user time between the operation
before on the same PE and this one. The first operation of a PE, and of a piece of the run, has none. What is the begin of a wait elsewhere may be
told here too, so findings of these patterns overlap with others. They are told however little they cost; `--minimum` does not apply.

**Source**: ours; Su, \"Parallel Performance Wizard\", asks for patterns that users define.
";

/// What operations of a place cost.
#[derive(Default)]
struct Sums {
    time: Span,
    outside: Span,
    count: u64,
    longest: Vec<Occurrence>,
}

fn run(input: &Input<'_>) -> Outcome {
    let patterns = &input.options.operations.patterns;
    if patterns.is_empty() {
        return Outcome::default();
    }
    let base = input.base();
    let of_pe = |pe: &PeId| (*pe, sums(input, patterns, &base, *pe));
    let of_pes: Vec<_> = cpu_pes(input.trace).par_iter().map(of_pe).collect();
    let mut findings: BTreeMap<(usize, CallPathId), Finding> = BTreeMap::new();
    for (pe, rows) in of_pes {
        for ((number, path), sums) in rows {
            let new = || Finding::at(input.trace, Pattern::User(patterns[number]), path);
            let finding = findings.entry((number, path)).or_insert_with(new);
            finding.time += sums.time;
            finding.outside += sums.outside;
            finding.count += sums.count;
            finding.pes.push((pe, sums.time));
            finding.occurrences.extend(sums.longest);
            keep_longest(&mut finding.occurrences, input.options.details);
        }
    }
    Outcome { findings: findings.into_values().collect(), sections: Vec::new() }
}

/// What operations of a PE cost by pattern and call path.
fn sums(
    input: &Input<'_>,
    patterns: &[&'static OwnPattern],
    base: &Base,
    pe: PeId,
) -> BTreeMap<(usize, CallPathId), Sums> {
    let (trace, stream) = (input.trace, &input.trace.streams()[pe]);
    let asked = |measure: Measure| patterns.iter().any(|pattern| pattern.when.speaks_of(measure));
    let bytes = if asked(Measure::Bytes) { bytes(input, pe) } else { Vec::new() };
    let waiting = if asked(Measure::Waiting) { waiting(input, pe) } else { Vec::new() };
    let counts_gap: Vec<bool> = patterns.iter().map(|pattern| pattern.when.speaks_of(Measure::GapBefore)).collect();
    let mut useful = counts_gap.contains(&true).then(|| Useful::new(trace, pe, (trace.begin(), trace.end())));
    let mut before: Option<(Time, i64)> = None;
    let mut found: BTreeMap<(usize, CallPathId), Sums> = BTreeMap::new();
    for (at, operation) in stream.operations.iter().enumerate() {
        let visit = stream.visits.at(*operation);
        let (mut gap, mut gap_begin) = (Span::ZERO, visit.enter);
        if let Some(useful) = &mut useful {
            let until = useful.up_to(visit.enter);
            if let Some((exit, useful)) = before {
                (gap, gap_begin) = (Span(until - useful).clamp_positive(), exit);
            }
            before = Some((visit.exit, useful.up_to(visit.exit)));
        }
        let region = trace.region_of(pe, *operation);
        let figures = Figures {
            role: region.role,
            construct: trace.strings().get(region.construct),
            ticks_per_second: trace.clock().ticks_per_second(),
            time: visit.duration(),
            gap_before: gap,
            waiting: waiting.get(at).copied().unwrap_or_default(),
            bytes: bytes.get(at).copied().unwrap_or_default(),
        };
        for number in (0..patterns.len()).filter(|number| patterns[*number].when.holds(&figures)) {
            let (all, begin, end) = if counts_gap[number] {
                (gap, gap_begin, visit.enter)
            } else {
                (visit.duration(), visit.enter, visit.exit)
            };
            let inside = base.part(begin, end).min(all);
            let sums = found.entry((number, visit.path)).or_default();
            sums.time += inside;
            sums.outside += all - inside;
            sums.count += 1;
            sums.longest.push(Occurrence { pe, begin, end, cause: PeId::NONE });
            if sums.longest.len() > 2 * input.options.details + 8 {
                keep_longest(&mut sums.longest, input.options.details);
            }
        }
    }
    found
}

fn keep_longest(occurrences: &mut Vec<Occurrence>, details: usize) {
    occurrences.sort_by_key(|it| (Reverse(it.end.since(it.begin)), it.begin, it.pe));
    occurrences.truncate(details);
}

/// Bytes that each operation of a PE moved, in order.
fn bytes(input: &Input<'_>, pe: PeId) -> Vec<u64> {
    let stream = &input.trace.streams()[pe];
    let mut bytes = vec![0_u64; stream.operations.len()];
    for (visit, sent, received) in stream.moved() {
        if let Ok(at) = stream.operations.binary_search(&visit) {
            bytes[at] = bytes[at].saturating_add(sent).saturating_add(received);
        }
    }
    bytes
}

/// What of each operation of a PE was waiting, in order.
fn waiting(input: &Input<'_>, pe: PeId) -> Vec<Span> {
    let stream = &input.trace.streams()[pe];
    let mut waiting = vec![Span::ZERO; stream.operations.len()];
    for wait in input.waits.of_pe(pe).iter().chain(input.waits.start_up_of_pe(pe)) {
        if let Ok(at) = stream.operations.binary_search(&wait.operation) {
            waiting[at] += wait.duration();
        }
    }
    waiting
}
