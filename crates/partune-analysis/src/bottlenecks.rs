//! Bottlenecks on the profile: operations that take much of the run, and more than they should.
//!
//! PPW's filter (Su, "Parallel Performance Wizard", chapter 5): an entry is a call path of an operation on one PE. It is a hotspot if
//! its total is at least h of the run; a hotspot is a bottleneck if its average is more than β times its baseline on the machine, or,
//! without a baseline, if over the PEs that execute it max/avg or avg/min is more than δ. (The thesis prints min/avg, which can never
//! exceed a threshold above one; avg/min is what its text means.) The filter only ranks: causes are known for all waits.
//! Cost: one pass over operations; memory: an entry a call path and PE.

use partune_base::{CallPathId, PeId, Span};
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::expected::{Expected, expected};
use crate::{Analysis, Column, DataTable, Input, Outcome, Section, SectionShape, Shape, TableShape, Unit, Values};

/// The analysis.
pub(crate) static BOTTLENECKS: Analysis = Analysis {
    name: "bottlenecks",
    title: "Operations that take much of the run, and more than they should",
    docs: DOCS,
    finds: false,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "bottlenecks",
    scalars: &[],
    tables: &[TableShape {
        name: "bottlenecks",
        columns: &[
            ("path", Shape::Path),
            ("pe", Shape::Pe),
            ("count", Shape::Count),
            ("seconds", Shape::SECONDS),
            ("share", Shape::RATIO),
            ("factor", Shape::RATIO),
        ],
    }],
}];

const DOCS: &str = "
Which operations are worth looking at, from the profile alone. An entry is one call path on one PE.

1. **Hotspot**: total(e) ≥ h · run time (option `hotspot`, 2 %).
2. **Bottleneck**: with a machine (`--machine`) that has baselines for all its operations, total / Σ baseline > β (option
   `baseline-factor`, 1.5); without, the totals of the PEs that execute the call path differ: max/average > δ or average/min > δ (option
   `deviation`, 2).

`factor` is the ratio that decided: to the baseline, or the larger of the two deviations.

Source: Su, Parallel Performance Wizard, chapter 5.
";

/// One call path on one PE.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    time: Span,
    count: u64,
}

/// A bottleneck.
struct Row {
    path: CallPathId,
    pe: PeId,
    entry: Entry,
    factor: f64,
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let duration = trace.duration().0 as f64;
    let baselines = expected(input);
    let mut rows: Vec<Row> = entries(trace)
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|entries| bottlenecks(input, &baselines, entries))
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.entry.time), row.path, row.pe));
    let clock = trace.clock();
    let seconds = |row: &Row| clock.seconds(row.entry.time);
    let number = |unit, part: &dyn Fn(&Row) -> f64| Values::Number(unit, rows.iter().map(part).collect());
    let table = DataTable {
        name: "bottlenecks",
        columns: vec![
            Column { name: "path", values: Values::Path(rows.iter().map(|row| row.path).collect()) },
            Column { name: "pe", values: Values::Pe(rows.iter().map(|row| row.pe).collect()) },
            Column { name: "count", values: Values::Count(rows.iter().map(|row| row.entry.count).collect()) },
            Column { name: "seconds", values: number(Unit::Seconds, &seconds) },
            Column { name: "share", values: number(Unit::Ratio, &|row| row.entry.time.0 as f64 / duration.max(1.0)) },
            Column { name: "factor", values: number(Unit::Ratio, &|row| row.factor) },
        ],
    };
    let section = Section { name: "bottlenecks", scalars: Vec::new(), tables: vec![table], notes: Vec::new() };
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// Totals of operations in order of (call path, PE).
fn entries(trace: &Trace) -> Vec<(CallPathId, PeId, Entry)> {
    let pes: Vec<PeId> = trace.active_pes().collect();
    let parts: Vec<Vec<(CallPathId, PeId, Entry)>> = pes
        .par_iter()
        .map(|pe| {
            let stream = &trace.streams()[*pe];
            let mut entries: FxHashMap<CallPathId, Entry> = FxHashMap::default();
            for operation in &stream.operations {
                let visit = stream.visits.at(*operation);
                let entry = entries.entry(visit.path).or_default();
                entry.time += visit.duration();
                entry.count += 1;
            }
            entries.into_iter().map(|(path, entry)| (path, *pe, entry)).collect()
        })
        .collect();
    let mut entries = parts.concat();
    entries.sort_unstable_by_key(|(path, pe, _)| (*path, *pe));
    entries
}

/// Those entries of one call path that are bottlenecks.
fn bottlenecks(
    input: &Input<'_>,
    baselines: &[(CallPathId, PeId, Expected)],
    entries: &[(CallPathId, PeId, Entry)],
) -> Vec<Row> {
    let (trace, options) = (input.trace, input.options);
    let times = || entries.iter().map(|(_, _, entry)| entry.time.0 as f64);
    let average = times().sum::<f64>() / entries.len() as f64;
    let deviation = (times().fold(0.0, f64::max) / average).max(average / times().fold(f64::INFINITY, f64::min));
    let least = options.hotspot * trace.duration().0 as f64;
    // Only where all operations of an entry have a baseline is the sum of those its own.
    let baseline = |path: CallPathId, pe: PeId, count: u64| {
        let at = baselines.binary_search_by_key(&(path, pe), |(path, pe, _)| (*path, *pe)).ok()?;
        (baselines[at].2.count == count).then_some(baselines[at].2.seconds)
    };
    let judge = |(path, pe, entry): &(CallPathId, PeId, Entry)| {
        let (factor, most) = match baseline(*path, *pe, entry.count) {
            Some(seconds) => (trace.clock().seconds(entry.time) / seconds, options.baseline_factor),
            None => (deviation, options.deviation),
        };
        let hotspot = entry.time.is_positive() && entry.time.0 as f64 >= least;
        (hotspot && factor > most).then_some(Row { path: *path, pe: *pe, entry: *entry, factor })
    };
    entries.iter().filter_map(judge).collect()
}
