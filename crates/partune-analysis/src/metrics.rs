//! Metrics by call path: what counters counted where, exclusive and inclusive.
//!
//! Between two samples of a counter on a PE its growth belongs to the code that ran: the visit in which the first sample was
//! taken, or, if that was at its exit, the caller; and if another one begins right then, that one, since some recorders write a sample before the enter that
//! it belongs to. Counters (accumulated, or sums since the last sample) add up over visits and
//! PEs; point values are averaged over samples.

use partune_base::{CallPathId, Id, MetricId, PeId, Table, Time};
use partune_trace::{MetricValues, Stream, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Section, SectionShape, Shape, TableShape, Unit, Values,
};

/// Rows of the table.
const ROWS: usize = 1000;

/// Visits that begin at one time of which it matters to tell what a sample belongs to; where a clock has more, it tells nothing of them.
const AT_ONCE: usize = 64;

pub(crate) static METRICS: Analysis = Analysis {
    name: "metrics",
    title: "Counters and other metrics by call path",
    docs: DOCS,
    finds: false,
    needs: Needs::Events,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "metrics",
    scalars: &[],
    tables: &[
        TableShape {
            name: "counters",
            columns: &[
                ("metric", Shape::Metric),
                ("callpath", Shape::Path),
                ("exclusive", Shape::PLAIN),
                ("inclusive", Shape::PLAIN),
            ],
        },
        TableShape {
            name: "gauges",
            columns: &[
                ("metric", Shape::Metric),
                ("callpath", Shape::Path),
                ("samples", Shape::Count),
                ("min", Shape::PLAIN),
                ("mean", Shape::PLAIN),
                ("max", Shape::PLAIN),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Metrics

Table `counters`, for metrics that count: how much each call path added, `exclusive` (its own code and its operations) and `inclusive`
(with all below), summed over PEs. The growth between two samples belongs to the code that ran between them: the visit of the
first sample, or its caller if the sample was taken at the exit, or what that calls if it begins at the time of the sample.

Table `gauges`, for values at a moment: number of samples, smallest, mean and largest value.

Values are in the metric's unit, scaled as the archive says. Tables list at most 1000 rows each, by metric, then by value.
";

/// Growth of a counter, or samples of a gauge, at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
}

impl Sums {
    fn of(value: f64) -> Sums {
        Sums { count: 1, sum: value, least: value, most: value }
    }

    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }
}

type Places = FxHashMap<(MetricId, CallPathId), Sums>;

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    if trace.streams().iter().all(|stream| stream.metrics.is_empty()) {
        return Outcome::default();
    }
    let pes: Vec<PeId> = trace.pes().ids().collect();
    let of_pes: Vec<Vec<((MetricId, CallPathId), Sums)>> = pes.par_iter().map(|pe| sums(trace, *pe)).collect();
    let mut places = Places::default();
    for (place, sums) in of_pes.into_iter().flatten() {
        places.entry(place).and_modify(|all| all.add(&sums)).or_insert(sums);
    }
    let mut section = Section { name: "metrics", ..Section::default() };
    let rows = sorted(&places);
    let (counters, gauges): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|((metric, _), _)| trace.metrics()[*metric].values.counts());
    let counters = with_inclusive(trace, &counters);
    section.tables.extend(counter_table(counters, &mut section.notes));
    section.tables.extend(gauge_table(gauges, &mut section.notes));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

fn sorted(places: &Places) -> Vec<((MetricId, CallPathId), Sums)> {
    #[expect(clippy::iter_over_hash_type, reason = "sorted right after")]
    let mut rows: Vec<_> = {
        let mut rows = Vec::with_capacity(places.len());
        for (place, sums) in places {
            rows.push((*place, *sums));
        }
        rows
    };
    rows.sort_unstable_by_key(|(place, _)| *place);
    rows
}

/// What a counter counted in each call path of each PE, without those below; path none is code outside of all. Nothing of a gauge. Linear in samples.
pub fn counted(trace: &Trace, metric: MetricId) -> Table<PeId, Vec<(CallPathId, f64)>> {
    let counts = trace.metrics().get(metric).is_some_and(|it| it.values.counts());
    let of_pe = |pe: &PeId| -> Vec<(CallPathId, f64)> {
        if !counts {
            return Vec::new();
        }
        let rows = sums(trace, *pe).into_iter().filter(|((of, _), _)| *of == metric);
        rows.map(|((_, path), sums)| (path, sums.sum)).collect()
    };
    let pes: Vec<PeId> = trace.pes().ids().collect();
    pes.par_iter().map(of_pe).collect::<Vec<_>>().into()
}

/// Sums of one PE, in order of metric and path.
fn sums(trace: &Trace, pe: PeId) -> Vec<((MetricId, CallPathId), Sums)> {
    let stream = &trace.streams()[pe];
    let mut places = Places::default();
    let metrics = trace.metrics().len();
    let mut last: Vec<Option<(CallPathId, f64)>> = vec![None; metrics];
    for sample in stream.metrics.iter().filter(|sample| sample.metric.index() < metrics && sample.value.is_finite()) {
        let metric = &trace.metrics()[sample.metric];
        let value = sample.value * metric.scale;
        let here = place(trace, stream, sample.visit, sample.time);
        let (path, amount) = match metric.values {
            MetricValues::Accumulated => match last[sample.metric.index()].replace((here, value)) {
                // A counter that shrinks was set back: what it counted since is not known.
                Some((path, before)) if value >= before => (path, value - before),
                _ => continue,
            },
            MetricValues::Last => match last[sample.metric.index()].replace((here, value)) {
                Some((path, _)) => (path, value),
                None => (here, value),
            },
            MetricValues::Point | MetricValues::Next => (here, value),
        };
        let sums = Sums::of(amount);
        places.entry((sample.metric, path)).and_modify(|all| all.add(&sums)).or_insert(sums);
    }
    sorted(&places)
}

/// The call path that runs from a sample on: its visit's, the caller's if it was taken when the visit ended, or that of what one of these calls right then.
fn place(trace: &Trace, stream: &Stream, visit: partune_trace::VisitIx, time: Time) -> CallPathId {
    let (visits, paths) = (&stream.visits, trace.paths());
    let around = match visits.get(visit) {
        Some(visit) if time >= visit.exit && visit.exit > visit.enter => paths.parent(visit.path),
        Some(visit) => visit.path,
        None => CallPathId::NONE,
    };
    let entered = visits.enter.partition_point(|enter| *enter <= time);
    let here = (0..entered).rev().take(AT_ONCE).take_while(|index| visits.enter[*index] == time);
    let called = here.map(|index| visits.path[index]).find(|path| paths.parent(*path) == around);
    called.unwrap_or(around)
}

/// Metric, path, exclusive, inclusive.
type CounterRow = (MetricId, CallPathId, f64, f64);

/// By metric, then largest inclusive first.
fn with_inclusive(trace: &Trace, rows: &[((MetricId, CallPathId), Sums)]) -> Vec<CounterRow> {
    let mut table = Vec::new();
    for rows in rows.chunk_by(|a, b| a.0.0 == b.0.0) {
        let metric = rows[0].0.0;
        let mut inclusive = vec![0.0; trace.paths().len()];
        let mut exclusive = vec![0.0; trace.paths().len()];
        for ((_, path), sums) in rows.iter().filter(|row| row.0.1.is_some()) {
            exclusive[path.index()] = sums.sum;
        }
        for path in trace.paths().ids().rev() {
            inclusive[path.index()] += exclusive[path.index()];
            if let Some(parent) = trace.paths().parent(path).some() {
                inclusive[parent.index()] += inclusive[path.index()];
            }
        }
        let outside =
            rows.iter().filter(|row| !row.0.1.is_some()).map(|row| (metric, CallPathId::NONE, row.1.sum, row.1.sum));
        let inside = trace.paths().ids().map(|path| (metric, path, exclusive[path.index()], inclusive[path.index()]));
        let mut of_metric: Vec<_> = inside.filter(|row| row.3 != 0.0).chain(outside).collect();
        of_metric.sort_by(|a, b| b.3.total_cmp(&a.3).then(a.1.cmp(&b.1)));
        table.extend(of_metric);
    }
    table
}

fn note(name: &str, rows: usize, notes: &mut Vec<String>) {
    if rows > ROWS {
        notes.push(format!("{name} lists the first {ROWS} of {rows} rows"));
    }
}

fn counter_table(mut rows: Vec<CounterRow>, notes: &mut Vec<String>) -> Option<DataTable> {
    note("counters", rows.len(), notes);
    rows.truncate(ROWS);
    let number = |of: &dyn Fn(&CounterRow) -> f64| Values::Number(Unit::Count, rows.iter().map(of).collect());
    (!rows.is_empty()).then(|| DataTable {
        name: "counters",
        columns: vec![
            Column::new("metric", Values::Metric(rows.iter().map(|row| row.0).collect())),
            Column::new("callpath", Values::Path(rows.iter().map(|row| row.1).collect())),
            Column::new("exclusive", number(&|row| row.2)),
            Column::new("inclusive", number(&|row| row.3)),
        ],
    })
}

fn gauge_table(mut rows: Vec<((MetricId, CallPathId), Sums)>, notes: &mut Vec<String>) -> Option<DataTable> {
    note("gauges", rows.len(), notes);
    rows.truncate(ROWS);
    let number = |of: &dyn Fn(&Sums) -> f64| Values::Number(Unit::Count, rows.iter().map(|row| of(&row.1)).collect());
    (!rows.is_empty()).then(|| DataTable {
        name: "gauges",
        columns: vec![
            Column::new("metric", Values::Metric(rows.iter().map(|row| row.0.0).collect())),
            Column::new("callpath", Values::Path(rows.iter().map(|row| row.0.1).collect())),
            Column::new("samples", Values::Count(rows.iter().map(|row| row.1.count).collect())),
            Column::new("min", number(&|sums| sums.least)),
            Column::new("mean", number(&|sums| sums.sum / sums.count.max(1) as f64)),
            Column::new("max", number(&|sums| sums.most)),
        ],
    })
}
