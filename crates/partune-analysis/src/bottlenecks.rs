//! Bottlenecks on the profile: call paths that take much of the run, and more than they should.
//!
//! PPW's filter (Su, "Parallel Performance Wizard", chapter 5): an entry is a call path on one PE, of an operation or of a user's
//! function. It is a hotspot if its total is at least h of the run; a hotspot is a bottleneck if its average is more than β times its
//! baseline on the machine, or, without a baseline, if its longest execution is more than δ times its average or its average more than δ times
//! its shortest. (The thesis prints min/avg, which can never exceed a threshold above one; avg/min is what its text means.) The filter
//! only ranks: causes are known for all waits. Cost: that of [`path_times`]; memory: an entry a call path and PE.

use partune_base::{CallPathId, PeId, Span};

use crate::expected::Expected;
use crate::times::PathTime;
use crate::useful::role_of_path;
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Section, SectionShape, Shape, TableShape, Unit, Values,
};

/// The analysis.
pub(crate) static BOTTLENECKS: Analysis = Analysis {
    name: "bottlenecks",
    title: "Places that take much of the run, and more than they should",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
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
            ("role", Shape::Word),
            ("count", Shape::Count),
            ("seconds", Shape::SECONDS),
            ("share", Shape::RATIO),
            ("mean", Shape::SECONDS),
            ("min", Shape::SECONDS),
            ("max", Shape::SECONDS),
            ("factor", Shape::RATIO),
            ("by", Shape::Word),
        ],
    }],
}];

const DOCS: &str = "
Which places are worth looking at, from sums alone: the first stage of PPW, which a trace and a profile allow alike. An entry is one call path on one PE,
of an operation or of a function; what lies inside of an operation belongs to it. Its executions last from enter to leave.

1. **Hotspot**: total(e) ≥ h · run time (option `hotspot`, 2 %).
2. **Bottleneck**: with a machine (`--machine`) that has baselines for all executions, total / Σ baseline > β (option
   `baseline-factor`, 1.5); without, executions of the entry differ among themselves: longest/average > δ or average/shortest > δ (option
   `deviation`, 2).

`factor` is the ratio that decided and `by` says which: `baseline`, `longest`, `shortest`; of the last two the larger one. Nothing is shorter
than a tick of the clock. How one PE compares with the others is told by the analysis `balance`.

Example: of ten barriers on a PE, nine take 0.1 ms and one 50 ms. The average is 5.09 ms, so the longest is 9.8 times and the shortest 50.9 times as far away:
factor 50.9, by `shortest`. Ten executions of 1 ms on one PE and one of 1 ms on another are no bottleneck.

A function that was executed once deviates from nothing. A profile knows the longest and the shortest execution of operations and marked regions, and of functions that were
executed once; of other functions only the sum. A note counts the hotspots that have neither a baseline nor these.

Source: Su, Parallel Performance Wizard, chapter 5.
";

/// A hotspot that takes more than it should.
struct Row {
    pe: PeId,
    time: PathTime,
    factor: f64,
    by: &'static str,
}

fn run(input: &Input<'_>) -> Outcome {
    let (trace, options) = (input.trace, input.options);
    let duration = input.base().length().0 as f64;
    let baselines = &input.expected().0;
    let (mut rows, mut hotspots, mut not_judged) = (Vec::new(), 0_u64, 0_u64);
    let times = input.times();
    for pe in trace.active_pes() {
        let is_hotspot =
            |time: &&PathTime| time.inclusive.is_positive() && time.inclusive.0 as f64 >= options.hotspot * duration;
        for time in times[pe].iter().filter(|time| is_entry(input, time.path)).filter(is_hotspot) {
            hotspots += 1;
            match judge(input, baselines, pe, time) {
                Some((factor, most, by)) if factor > most => rows.push(Row { pe, time: *time, factor, by }),
                Some(_) => {}
                None => not_judged += 1,
            }
        }
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.time.inclusive), row.time.path, row.pe));
    let mut section = Section { name: "bottlenecks", ..Section::default() };
    if not_judged > 0 {
        let what = "of the executions of functions a profile has the sum alone, so that they are compared with nothing";
        section.notes.push(format!("{not_judged} of {hotspots} hotspots could not be judged: {what}"));
    }
    section.tables.push(table(input, &rows, duration));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// Whether a path is an operation or lies outside of all.
fn is_entry(input: &Input<'_>, path: CallPathId) -> bool {
    let operation = input.trace.paths().operation(path);
    operation == path || !operation.is_some()
}

/// The ratio that decides, the threshold that it is held against, and what it is to; none if there is nothing to compare with.
fn judge(
    input: &Input<'_>,
    baselines: &[(CallPathId, PeId, Expected)],
    pe: PeId,
    time: &PathTime,
) -> Option<(f64, f64, &'static str)> {
    let options = input.options;
    // Only where all executions of an entry have a baseline is the sum of those its own.
    let at = baselines.binary_search_by_key(&(time.path, pe), |(path, pe, _)| (*path, *pe)).ok();
    if let Some(expected) = at.map(|at| baselines[at].2).filter(|expected| expected.count == time.visits) {
        let seconds = input.trace.clock().seconds(time.inclusive);
        return Some((seconds / expected.seconds, options.baseline_factor, "baseline"));
    }
    let (shortest, longest) = time.extremes?;
    let average = time.inclusive.0 as f64 / time.visits.max(1) as f64;
    let (above, below) = (longest.0 as f64 / average, average / shortest.0.max(1) as f64);
    let decisive = if above >= below { (above, "longest") } else { (below, "shortest") };
    Some((decisive.0, options.deviation, decisive.1))
}

fn table(input: &Input<'_>, rows: &[Row], duration: f64) -> DataTable {
    let trace = input.trace;
    let clock = trace.clock();
    let number = |of: &dyn Fn(&Row) -> f64| Values::Number(Unit::Ratio, rows.iter().map(of).collect());
    let mean = rows.iter().map(|row| clock.seconds(row.time.inclusive) / row.time.visits as f64).collect();
    let extreme = |of: fn((Span, Span)) -> Span| {
        let seconds = |row: &Row| row.time.extremes.map_or(f64::NAN, |extremes| clock.seconds(of(extremes)));
        rows.iter().map(seconds).collect()
    };
    let roles = rows.iter().map(|row| role_of_path(trace, row.time.path).name()).collect();
    DataTable {
        name: "bottlenecks",
        columns: vec![
            Column::new("path", Values::Path(rows.iter().map(|row| row.time.path).collect())),
            Column::new("pe", Values::Pe(rows.iter().map(|row| row.pe).collect())),
            Column::new("role", Values::Word(roles)),
            Column::new("count", Values::Count(rows.iter().map(|row| row.time.visits).collect())),
            Column::seconds("seconds", rows.iter().map(|row| clock.seconds(row.time.inclusive)).collect()),
            Column::new("share", number(&|row| row.time.inclusive.0 as f64 / duration.max(1.0))),
            Column::seconds("mean", mean),
            Column::seconds("min", extreme(|extremes| extremes.0)),
            Column::seconds("max", extreme(|extremes| extremes.1)),
            Column::new("factor", number(&|row| row.factor)),
            Column::new("by", Values::Word(rows.iter().map(|row| row.by).collect())),
        ],
    }
}
