//! Frequency: places that run so often and so briefly that recording them costs about as much as they do.
//!
//! Flagged if a PE visits a call path at least [`crate::Options::frequent_count`] times for at most ten times the timer's cost
//! on average (theory 6.8; Su, "Parallel Performance Wizard", chapter 5).

use partune_base::{CallPathId, Id, PeId, Span};

use crate::times::PathTime;
use crate::{Analysis, Finding, Input, Outcome, Pattern};

pub(crate) static FREQUENCY: Analysis = Analysis {
    name: "frequency",
    title: "Places that run too often and too briefly to be recorded",
    docs: DOCS,
    finds: true,
    shows: &[],
    run,
};

const DOCS: &str = "\
# High frequency

A recorded call path is frequent on a PE if it has at least 1000 visits there (`frequent_count`) with a mean of at most ten times what reading
the clock takes. Recording it disturbs the run: exclude it from instrumentation, or merge the calls.

Functions that are known from the call chains of operations or from samples alone cost nothing to record and are never listed.

The cost of reading the clock is estimated from the trace: the smallest mean duration of any recorded call path on any PE, at least one tick and at
most one microsecond; with a machine (`--machine`) it is what that says of recording an event. The time of a finding is that cost for each visit; facts give visits and the mean duration.

**Source**: frequency analysis of PPW (Su, chapter 5).
";

/// Means up to so many times the cost of the clock are short.
const SHORT: f64 = 10.0;

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let times = input.times();
    let is_recorded = |row: &&PathTime| trace.paths().is_recorded(row.path);
    let means = times
        .iter()
        .flatten()
        .filter(is_recorded)
        .filter(|row| row.inclusive.is_positive())
        .map(|row| row.inclusive.0 as f64 / row.visits as f64);
    let microsecond = trace.clock().ticks_per_second() as f64 / 1e6;
    let clock = match &input.options.machine {
        Some(machine) => machine.overheads.event_s * trace.clock().ticks_per_second() as f64,
        None => means.fold(microsecond, f64::min),
    }
    .max(1.0);

    let mut frequent: Vec<Vec<(PeId, u64, Span)>> = vec![Vec::new(); trace.paths().len()];
    for (pe, rows) in times.iter_ids() {
        for row in rows.iter().filter(is_recorded).filter(|row| row.visits >= input.options.frequent_count) {
            if row.inclusive.0 as f64 <= SHORT * clock * row.visits as f64 {
                frequent[row.path.index()].push((pe, row.visits, row.inclusive));
            }
        }
    }
    let mut outcome = Outcome::default();
    for (path, pes) in frequent.into_iter().enumerate().filter(|(_, pes)| !pes.is_empty()) {
        let path = CallPathId::from_index(path);
        let cost = |visits: u64| Span((visits as f64 * clock).round() as i64);
        let visits: u64 = pes.iter().map(|row| row.1).sum();
        let inclusive: Span = pes.iter().map(|row| row.2).sum();
        let pes: Vec<(PeId, Span)> = pes.iter().map(|(pe, visits, _)| (*pe, cost(*visits))).collect();
        outcome.findings.push(Finding {
            time: pes.iter().map(|(_, time)| *time).sum(),
            count: visits,
            pes,
            facts: vec![
                ("visits", visits as f64),
                ("mean_seconds", trace.clock().seconds(inclusive) / visits as f64),
                ("clock_seconds", clock / trace.clock().ticks_per_second() as f64),
            ],
            ..Finding::at(trace, Pattern::HighFrequency, path)
        });
    }
    outcome
}
