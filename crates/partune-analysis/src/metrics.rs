//! Metrics by call path: what counters counted where, exclusive and inclusive.
//!
//! Between two samples of a counter on a PE its growth belongs to the code that ran: the visit in which the first sample was
//! taken, or, if that was at its exit, the caller; and if another one begins right then, that one, since some recorders write a sample before the enter that
//! it belongs to. Counters (accumulated, or sums since the last sample) add up over visits and
//! PEs; point values are averaged over samples. What is kept grows with metrics and call paths, and with metrics and PEs.
//!
//! Functions that are known from callers alone begin where the call before ended, so what a sample at the end of a slice belongs to is known with the next one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use partune_base::{CallPathId, Id, MetricId, PeId, Table, Time};
use partune_trace::{MetricSample, MetricValues, Stream, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::queries::Query;
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
    needs: Needs::Queries,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

/// A value of a metric, and what ran from then on.
type Sample = (CallPathId, f64);

/// The first and the last sample of a counter on a PE.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ends {
    /// Values are what was counted since the start, and not since the sample before.
    grows: bool,
    first: Sample,
    last: Sample,
    /// The last one was taken where the slice ends: what begins there is in the next one.
    is_at_end: bool,
}

/// What was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sampled {
    is_any: bool,
    places: BTreeMap<(MetricId, CallPathId), Sums>,
    ends: BTreeMap<(PeId, MetricId), Ends>,
    /// Samples of gauges that were taken where the slice ends.
    at_end: Vec<(PeId, MetricId, Sample)>,
    /// What begins on each PE where the slice begins.
    calls: Table<PeId, Calls>,
}

/// Visits that begin on a PE at one time, the last one first: their paths, and those that they are called from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Calls(Vec<(CallPathId, CallPathId)>);

impl Query for Sampled {
    /// Linear in samples.
    fn of(input: &Input<'_>) -> Sampled {
        let trace = input.trace;
        let mut sampled = Sampled::default();
        if trace.metrics().is_empty() {
            return sampled;
        }
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let of_pes: Vec<OfPe> = pes.par_iter().map(|pe| OfPe::of(trace, *pe)).collect();
        for (pe, of_pe) in pes.into_iter().zip(of_pes) {
            sampled.is_any |= !trace.samples(pe).is_empty();
            of_pe.sums.into_iter().for_each(|(place, sums)| sampled.put(place, sums));
            sampled.ends.extend(of_pe.ends.into_iter().map(|(metric, ends)| ((pe, metric), ends)));
            sampled.at_end.extend(of_pe.at_end.into_iter().map(|(metric, sample)| (pe, metric, sample)));
            sampled.calls.push(Calls::at_begin(trace, pe));
        }
        sampled
    }

    fn add(&mut self, next: Sampled) {
        self.is_any |= next.is_any;
        self.settle(&next.calls);
        for (key, ends) in next.ends {
            let before = match self.ends.entry(key) {
                Entry::Occupied(mut sum) => {
                    let before = sum.get().last;
                    sum.insert(Ends { first: sum.get().first, ..ends });
                    Some(before)
                }
                Entry::Vacant(sum) => {
                    sum.insert(ends);
                    None
                }
            };
            if let Some((path, amount)) = counted_until(ends.grows, before, ends.first) {
                self.put((key.1, path), Sums::of(amount));
            }
        }
        self.at_end = next.at_end;
        next.places.into_iter().for_each(|(place, sums)| self.put(place, sums));
    }
}

impl Sampled {
    fn put(&mut self, place: (MetricId, CallPathId), sums: Sums) {
        self.places.entry(place).and_modify(|all| all.add(&sums)).or_insert(sums);
    }

    /// Says what samples that were taken where the slice ends belong to, by what begins there on each PE.
    fn settle(&mut self, calls: &Table<PeId, Calls>) {
        let from = |pe: PeId, around: CallPathId| calls.get(pe).map_or(around, |calls| calls.from(around));
        for ((pe, _), ends) in self.ends.iter_mut().filter(|(_, ends)| ends.is_at_end) {
            ends.last.0 = from(*pe, ends.last.0);
            ends.is_at_end = false;
        }
        for (pe, metric, (around, value)) in std::mem::take(&mut self.at_end) {
            self.put((metric, from(pe, around)), Sums::of(value));
        }
    }
}

impl Calls {
    /// Those where a slice begins.
    fn at_begin(trace: &Trace, pe: PeId) -> Calls {
        let stream = &trace.streams()[pe];
        let begin = trace.slice().filter(|slice| slice.number > 0).and(stream.present).map(|(begin, _)| begin);
        let path = |path: CallPathId| (path, trace.paths().parent(path));
        Calls(begin.into_iter().flat_map(|begin| begun_at(stream, begun(trace, pe), begin)).map(path).collect())
    }

    /// What runs from then on, where that was another path.
    fn from(&self, around: CallPathId) -> CallPathId {
        self.0.iter().find(|(_, parent)| *parent == around).map_or(around, |(path, _)| *path)
    }
}

/// What a counter counted up to a sample, and where.
fn counted_until(grows: bool, before: Option<Sample>, (here, value): Sample) -> Option<Sample> {
    if grows {
        // A counter that shrinks was set back: what it counted since is not known.
        before.filter(|(_, before)| value >= *before).map(|(path, before)| (path, value - before))
    } else {
        Some((before.map_or(here, |(path, _)| path), value))
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let (trace, sampled) = (input.trace, input.sampled());
    if !sampled.is_any {
        return Outcome::default();
    }
    let mut section = Section { name: "metrics", ..Section::default() };
    let rows = sampled.places.iter().map(|(place, sums)| (*place, *sums));
    let (counters, gauges): (Vec<_>, Vec<_>) =
        rows.partition(|((metric, _), _)| trace.metrics()[*metric].values.counts());
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
        let rows = OfPe::of(trace, *pe).sums.into_iter().filter(|((of, _), _)| *of == metric);
        rows.map(|((_, path), sums)| (path, sums.sum)).collect()
    };
    let pes: Vec<PeId> = trace.pes().ids().collect();
    pes.par_iter().map(of_pe).collect::<Vec<_>>().into()
}

/// What was measured on one PE, in order of metric and path.
struct OfPe {
    sums: Vec<((MetricId, CallPathId), Sums)>,
    ends: Vec<(MetricId, Ends)>,
    /// See [`Sampled`].
    at_end: Vec<(MetricId, Sample)>,
}

impl OfPe {
    /// In a slice behind others, what a counter counted up to its first sample is known where they are added.
    fn of(trace: &Trace, pe: PeId) -> OfPe {
        let stream = &trace.streams()[pe];
        let goes_on = trace.slice().is_some_and(|slice| slice.number > 0);
        let end = trace.slice().filter(|slice| !slice.is_last).and(stream.present).map(|(_, end)| end);
        let begun = begun(trace, pe);
        let mut places = Places::default();
        let metrics = trace.metrics().len();
        let mut of_metrics: Vec<Option<Ends>> = vec![None; metrics];
        let mut at_end = Vec::new();
        for sample in trace.samples(pe).iter().filter(|it| it.metric.index() < metrics && it.value.is_finite()) {
            let metric = &trace.metrics()[sample.metric];
            let here = (place(trace, stream, begun, sample), sample.value * metric.scale);
            let is_at_end = end == Some(sample.time);
            let (path, amount) = if metric.values.counts() {
                let grows = metric.values == MetricValues::Accumulated;
                let ends = &mut of_metrics[sample.metric.index()];
                let before = ends.map(|ends| ends.last);
                *ends = Some(Ends { grows, first: ends.map_or(here, |ends| ends.first), last: here, is_at_end });
                match counted_until(grows, before, here) {
                    Some(counted) if before.is_some() || !goes_on => counted,
                    _ => continue,
                }
            } else if is_at_end {
                at_end.push((sample.metric, here));
                continue;
            } else {
                here
            };
            let sums = Sums::of(amount);
            places.entry((sample.metric, path)).and_modify(|all| all.add(&sums)).or_insert(sums);
        }
        let ends = trace.metrics().ids().zip(of_metrics).filter_map(|(metric, ends)| Some((metric, ends?))).collect();
        OfPe { sums: sorted(&places), ends, at_end }
    }
}

/// How many of a PE's first visits go on from the slice before: these begin nowhere in this one.
fn begun(trace: &Trace, pe: PeId) -> usize {
    trace.slice().and_then(|slice| slice.begun.get(pe)).map_or(0, |begun| *begun as usize)
}

/// The paths of visits, behind so many others, that begin at a time, the last one first.
fn begun_at(stream: &Stream, begun: usize, time: Time) -> impl Iterator<Item = CallPathId> {
    let visits = &stream.visits;
    let entered = visits.enter.partition_point(|enter| *enter <= time);
    let here = (begun..entered).rev().take(AT_ONCE).take_while(move |index| visits.enter[*index] == time);
    here.map(|index| visits.path[index])
}

/// The call path that runs from a sample on: its visit's, the caller's if it was taken when the visit ended, or that of what one of these calls right then.
fn place(trace: &Trace, stream: &Stream, begun: usize, sample: &MetricSample) -> CallPathId {
    let paths = trace.paths();
    let around = match stream.visits.get(sample.visit) {
        Some(visit) if sample.time >= visit.exit && visit.exit > visit.enter => paths.parent(visit.path),
        Some(visit) => visit.path,
        None => CallPathId::NONE,
    };
    let called = begun_at(stream, begun, sample.time).find(|path| paths.parent(*path) == around);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice in which PE 0 has samples of metric 0, a counter; where it counted and how much, and its ends.
    fn slice(grows: bool, counted: &[Sample], first: Sample, last: Sample) -> Sampled {
        let mut sampled = Sampled { is_any: true, ..Sampled::default() };
        counted.iter().for_each(|(path, amount)| sampled.put((MetricId(0), *path), Sums::of(*amount)));
        sampled.ends.insert((PeId(0), MetricId(0)), Ends { grows, first, last, is_at_end: false });
        sampled
    }

    fn counted(sampled: &Sampled) -> Vec<(u32, u64, f64)> {
        sampled.places.iter().map(|((_, path), sums)| (path.0, sums.count, sums.sum)).collect()
    }

    #[test]
    fn what_is_counted_over_a_cut_belongs_to_the_sample_before() {
        let [a, b, c] = [0, 1, 2].map(CallPathId);
        // Samples 10, 12 in the first slice, 17, 18 in the next one, none in the third, and 3 where it was set back.
        let mut sum = slice(true, &[(a, 2.0)], (a, 10.0), (b, 12.0));
        sum.add(slice(true, &[(c, 1.0)], (c, 17.0), (c, 18.0)));
        assert_eq!(counted(&sum), [(0, 1, 2.0), (1, 1, 5.0), (2, 1, 1.0)]);
        sum.add(Sampled::default());
        sum.add(slice(true, &[], (a, 3.0), (a, 3.0)));
        sum.add(slice(true, &[], (b, 7.0), (b, 7.0)));
        assert_eq!(counted(&sum), [(0, 2, 6.0), (1, 1, 5.0), (2, 1, 1.0)]);
        // Sums since the last sample; the first one, in the second slice, belongs to where it was taken.
        let mut sum = Sampled::default();
        sum.add(slice(false, &[(a, 2.0)], (a, 10.0), (b, 2.0)));
        sum.add(slice(false, &[], (c, 4.0), (c, 4.0)));
        assert_eq!(counted(&sum), [(0, 2, 12.0), (1, 1, 4.0)]);
    }

    #[test]
    fn what_begins_where_a_slice_does_is_what_ran_from_a_sample_there_on() {
        let [a, b, c] = [0, 1, 2].map(CallPathId);
        // A counter and a gauge are sampled where the first slice ends, in `a`; there `b` is called from `a`, and `c` from `b`. The next slice has no samples.
        let mut sum = slice(true, &[], (b, 1.0), (a, 10.0));
        sum.ends.values_mut().for_each(|ends| ends.is_at_end = true);
        sum.at_end.push((PeId(0), MetricId(0), (a, 100.0)));
        let calls = Table::from(vec![Calls(vec![(c, b), (b, a)])]);
        sum.add(Sampled { calls, ..Sampled::default() });
        assert_eq!(counted(&sum), [(1, 1, 100.0)]);
        // What begins later has nothing to do with it.
        let calls = Table::from(vec![Calls(vec![(c, b)])]);
        sum.add(Sampled { calls, ..slice(true, &[], (c, 17.0), (c, 17.0)) });
        assert_eq!(counted(&sum), [(1, 2, 107.0)]);
    }
}
