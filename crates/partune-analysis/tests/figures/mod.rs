//! Tests of the figures: known answers from small traces, silence where there is nothing, and real archives.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests fail and speak as tests do")]

mod affinity;
mod archives;
mod barriers;
mod bottlenecks;
mod bounds;
mod costs;
mod devices;
mod efficiency;
mod files;
mod hostile;
mod iterations;
pub(crate) mod machine;
mod metrics;
mod own_patterns;
mod phases;
mod places;
mod processors;
mod profiles;
mod tensor;
mod transfers;

use partune_analysis::{ANALYSES, Finding, Input, Options, Outcome, Values, Waits};
use partune_index::Index;
use partune_trace::Trace;

/// Runs one analysis on a trace.
fn analyze(trace: &Trace, name: &str) -> Outcome {
    analyze_with(trace, name, &Options::default())
}

fn analyze_with(trace: &Trace, name: &str, options: &Options) -> Outcome {
    let index = Index::build(trace);
    let waits = Waits::find_with(trace, &index, options);
    let analysis = ANALYSES.iter().find(|analysis| analysis.name == name).unwrap();
    (analysis.run)(&Input {
        trace,
        index: &index,
        waits: &waits,
        options,
        shared: &partune_analysis::Shared::default(),
    })
}

/// Runs one analysis on a trace in the testkit's language.
fn figure(text: &str, name: &str) -> (Trace, Outcome) {
    let trace = partune_testkit::trace(text);
    let outcome = analyze(&trace, name);
    (trace, outcome)
}

fn scalar(outcome: &Outcome, name: &str) -> f64 {
    let mut scalars = outcome.sections.iter().flat_map(|section| &section.scalars);
    scalars.find(|scalar| scalar.name == name).unwrap_or_else(|| panic!("there is no scalar {name}")).value
}

fn column<'a>(outcome: &'a Outcome, table: &str, column: &str) -> &'a Values {
    let mut tables = outcome.sections.iter().flat_map(|section| &section.tables);
    let table = tables.find(|it| it.name == table).unwrap_or_else(|| panic!("there is no table {table}"));
    &table.columns.iter().find(|it| it.name == column).unwrap_or_else(|| panic!("there is no column {column}")).values
}

/// A column as numbers.
fn numbers(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    match column(outcome, table, name) {
        Values::Number(_, values) => values.clone(),
        Values::Count(values) => values.iter().map(|value| *value as f64).collect(),
        other => panic!("{other:?} are no numbers"),
    }
}

fn words(outcome: &Outcome, table: &str, name: &str) -> Vec<&'static str> {
    match column(outcome, table, name) {
        Values::Word(values) => values.clone(),
        other => panic!("{other:?} are no words"),
    }
}

/// The seconds of a bound or gap.
fn step(outcome: &Outcome, table: &str, name: &str) -> f64 {
    let row = words(outcome, table, "name").iter().position(|word| *word == name);
    numbers(outcome, table, "seconds")[row.unwrap_or_else(|| panic!("{table} has no {name}"))]
}

/// The seconds of all bounds of a chain, in its order.
fn levels(outcome: &Outcome) -> Vec<f64> {
    ["IPCO", "IPCOL", "IPCOLM", "IPCOLMD", "W", "S'", "actual"].map(|name| step(outcome, "bounds", name)).to_vec()
}

/// The number in the row in which a path column has this call path.
fn at_path(trace: &Trace, outcome: &Outcome, table: &str, path: &str, name: &str) -> f64 {
    let Values::Path(paths) = column(outcome, table, "callpath") else { panic!("no column of paths") };
    let wanted = partune_testkit::path(trace, path);
    let row = paths.iter().position(|path| *path == wanted).unwrap_or_else(|| panic!("no row for {path}"));
    numbers(outcome, table, name)[row]
}

fn seconds(trace: &Trace, finding: &Finding) -> f64 {
    trace.clock().seconds(finding.time)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// All numbers of a column are these.
fn assert_close(found: &[f64], expected: &[f64]) {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| close(*a, *b));
    assert!(same, "{found:?} is not {expected:?}");
}
