//! Operations that take longer than this machine needs, although nobody made them wait.
//!
//! PPW compares an operation with its baseline, found by micro-benchmarks that are free of bottlenecks (Su, "Parallel
//! Performance Wizard", chapter 5). What is left here after waiting was taken away is what no partner explains: contention on
//! the network or for a processor, a slow path of the library, or a transfer that waits for progress.

use partune_base::{CallPathId, PeId, Span};

use crate::expected::Expected;
use crate::useful::role_of_path;
use crate::{
    Analysis, Column, DataTable, Finding, Input, Needs, Outcome, Pattern, Scalar, Section, SectionShape, Shape,
    TableShape, Unit, Values,
};

/// Rows of the table.
const ROWS: usize = 1000;

pub(crate) static ABOVE_BASELINE: Analysis = Analysis {
    name: "above_baseline",
    title: "Operations that take longer than this machine needs, without waiting",
    docs: DOCS,
    finds: true,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "above_baseline",
    scalars: &[("operations_with_baseline", Unit::Count), ("operations_without_baseline", Unit::Count)],
    tables: &[TableShape {
        name: "baseline_places",
        columns: &[
            ("callpath", Shape::Path),
            ("role", Shape::Word),
            ("count", Shape::Count),
            ("seconds", Shape::SECONDS),
            ("waiting", Shape::SECONDS),
            ("baseline", Shape::SECONDS),
            ("excess", Shape::SECONDS),
            ("factor", Shape::RATIO),
        ],
    }],
}];

const DOCS: &str = "\
# Operations above their baseline

Needs a machine: `partune analyze --machine machine.toml`, made by `partune machine measure`. Without one it is silent.

Of each operation the machine file tells what it needs here when nobody is late, by programming model and role, by the bytes that
the PE gave or got (whichever is more) and by the number of PEs that took part. MPI, OpenSHMEM, coarrays, OpenMP and POSIX threads
are measured. One recorded event is added, because it lies inside the operation.

* excess = duration − waiting − baseline, summed over the operations of a call path on a PE;
* factor = (duration − waiting) / baseline.

A call path is a finding on the PEs on which it takes at least 2 % of the run (`hotspot`) and its factor is above 1.5
(`baseline-factor`). The time of the finding is the excess. No cause is named: nobody was late. Look for what shares the network or
the processor, for more PEs than processors, for a slow path of the library, and for non-blocking transfers that only progress inside calls.

A **profile** does not tell waiting from the rest: the column `waiting` is missing, *excess* and *factor* are of the whole duration, so they say
where a trace is worth recording, and no finding is made of them. Its bytes are the mean over the executions of a call path, and a
collective operation has a baseline if the same number of PEs took part in all of them.

An operation that names whom it meets (`sync images`) is held against what as many PEs need.

Operations without a baseline are left out and counted: models and roles that were not measured, and collectives on more PEs than were. Where several operations of a model have one role, the slowest that was measured is
the baseline, so a fast one may hide; so it is with several runtimes of OpenMP.

**Source**: baseline filter of PPW (Su, chapter 5); taking the waiting away first is ours.
";

/// The operations of one call path, over PEs.
struct Place<'a> {
    path: CallPathId,
    rows: &'a [(CallPathId, PeId, Expected)],
    all: Expected,
}

fn run(input: &Input<'_>) -> Outcome {
    if input.options.machine.is_none() {
        return Outcome::default();
    }
    let trace = input.trace;
    let rows = &input.expected().0;
    let mut places: Vec<Place> = rows
        .chunk_by(|a, b| a.0 == b.0)
        .map(|rows| {
            let mut all = Expected::default();
            for (_, _, row) in rows {
                all.add(row);
            }
            Place { path: rows[0].0, rows, all }
        })
        .collect();
    // What is above a baseline in a profile may be waiting, whose cause is elsewhere.
    let is_told = trace.profile().is_none();
    let findings = places.iter().filter(|_| is_told).filter_map(|place| finding(input, place)).collect();

    let operations: u64 = input.operations().iter().map(|sums| sums.count).sum();
    let known: u64 = places.iter().map(|place| place.all.count).sum();
    let mut section = Section { name: "above_baseline", ..Section::default() };
    section.scalars.push(Scalar::new("operations_with_baseline", Unit::Count, known as f64));
    section.scalars.push(Scalar::new("operations_without_baseline", Unit::Count, (operations - known) as f64));
    if let Some(machine) = &input.options.machine {
        let (measured, ran) = (machine.provenance.pes, trace.processes().len());
        if ran > measured as usize {
            section.notes.push(format!(
                "the machine was measured with {measured} PEs and the run has {ran}: collectives on more have no baseline"
            ));
        }
    }
    places.sort_by(|a, b| excess(input, &b.all).total_cmp(&excess(input, &a.all)).then(a.path.cmp(&b.path)));
    if places.len() > ROWS {
        section.notes.push(format!("the table lists the first {ROWS} of {} places", places.len()));
        places.truncate(ROWS);
    }
    section.tables.push(table(input, &places));
    Outcome { findings, sections: vec![section] }
}

/// Seconds without waiting.
fn own(input: &Input<'_>, row: &Expected) -> f64 {
    input.trace.clock().seconds(row.time - row.waiting)
}

/// Seconds above the baseline; negative below it.
fn excess(input: &Input<'_>, row: &Expected) -> f64 {
    own(input, row) - row.seconds
}

fn finding(input: &Input<'_>, place: &Place) -> Option<Finding> {
    let trace = input.trace;
    let least = input.options.hotspot * input.base().length().0 as f64;
    let far =
        |row: &Expected| row.time.0 as f64 >= least && own(input, row) > input.options.baseline_factor * row.seconds;
    let ticks = |seconds: f64| Span((seconds * trace.clock().ticks_per_second() as f64).round() as i64);
    let rows: Vec<&(CallPathId, PeId, Expected)> = place.rows.iter().filter(|(_, _, row)| far(row)).collect();
    let pes: Vec<(PeId, Span)> = rows
        .iter()
        .map(|(_, pe, row)| (*pe, ticks(excess(input, row))))
        .filter(|(_, time)| time.is_positive())
        .collect();
    if pes.is_empty() {
        return None;
    }
    let sum = |part: &dyn Fn(&Expected) -> f64| rows.iter().map(|(_, _, row)| part(row)).sum::<f64>();
    let count: u64 = rows.iter().map(|(_, _, row)| row.count).sum();
    let (own_s, expected_s) = (sum(&|row| own(input, row)), sum(&|row| row.seconds));
    let time: Span = pes.iter().map(|(_, time)| *time).sum();
    Some(Finding {
        time,
        count,
        pes,
        unexplained: time,
        facts: vec![
            ("factor", own_s / expected_s),
            ("mean_seconds", own_s / count as f64),
            ("baseline_seconds", expected_s / count as f64),
        ],
        ..Finding::at(trace, Pattern::AboveBaseline, place.path)
    })
}

fn table(input: &Input<'_>, places: &[Place]) -> DataTable {
    let trace = input.trace;
    let clock = trace.clock();
    let seconds = |part: &dyn Fn(&Expected) -> f64| places.iter().map(|place| part(&place.all)).collect::<Vec<f64>>();
    let roles = places.iter().map(|place| role_of_path(trace, place.path).name()).collect();
    let factors = seconds(&|row| own(input, row) / row.seconds);
    let mut columns = vec![
        Column::new("callpath", Values::Path(places.iter().map(|place| place.path).collect())),
        Column::new("role", Values::Word(roles)),
        Column::new("count", Values::Count(places.iter().map(|place| place.all.count).collect())),
        Column::seconds("seconds", seconds(&|row| clock.seconds(row.time))),
        Column::seconds("waiting", seconds(&|row| clock.seconds(row.waiting))),
        Column::seconds("baseline", seconds(&|row| row.seconds)),
        Column::seconds("excess", seconds(&|row| excess(input, row))),
        Column::new("factor", Values::Number(Unit::Ratio, factors)),
    ];
    if trace.profile().is_some() {
        columns.retain(|column| column.name != "waiting");
    }
    DataTable { name: "baseline_places", columns }
}
