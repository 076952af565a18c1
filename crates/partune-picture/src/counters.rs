//! Metrics over time: what counters and gauges say in each column of a view, exactly, however many samples are in it.
//!
//! A metric has a *level* at each moment. That of a counter is what it counted since its first sample, and grows evenly between two samples
//! (where it was set back it stays, for what it counted meanwhile is not known); that of a gauge is its last sample. Sums of levels over time are
//! kept beside them, so that the mean of any interval is found by two searches. Memory: 24 bytes a sample.

use partune_base::{MetricId, PeId, Table, Time};
use partune_trace::{MetricSample, MetricValues, Trace};
use rayon::prelude::*;

use crate::{Fold, View};

/// The levels of one metric on all PEs.
#[derive(Clone, Debug)]
pub struct Counters {
    pes: Table<PeId, Levels>,
    ticks_per_second: f64,
}

/// What is told of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The mean level, in the metric's unit.
    Level,
    /// How much it grew, a second.
    Rate,
}

/// The levels of one PE, known from the first of these moments to the last.
#[derive(Clone, Debug, Default)]
struct Levels {
    times: Vec<Time>,
    values: Vec<f64>,
    /// Values × ticks since the first moment.
    areas: Vec<f64>,
    grows_between: bool,
}

impl Counters {
    /// Linear in samples; parallel over PEs.
    pub fn new(trace: &Trace, metric: MetricId) -> Counters {
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let known = trace.metrics().get(metric);
        let of_pe = |pe: PeId| {
            let Some(known) = known else { return Levels::default() };
            let own = trace.streams()[pe].metrics.iter().filter(|sample| sample.metric == metric);
            let scaled = own.map(|sample| MetricSample { value: sample.value * known.scale, ..*sample });
            Levels::new(known.values, scaled.filter(|sample| sample.value.is_finite()), (trace.begin(), trace.end()))
        };
        let pes: Vec<Levels> = pes.into_par_iter().map(of_pe).collect();
        Counters { pes: Table::from(pes), ticks_per_second: trace.clock().ticks_per_second() as f64 }
    }

    /// The PEs that have samples of it, sources of metrics among them.
    pub fn pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.pes.iter_ids().filter(|(_, levels)| !levels.times.is_empty()).map(|(pe, _)| pe)
    }

    /// A number a column, row by row: the sum over the PEs of the row of which it is known there. A column needs two searches a PE.
    pub fn read(&self, fold: &Fold, view: View, reading: Reading) -> Vec<Vec<Option<f64>>> {
        let rows: Vec<&[PeId]> = fold.rows().collect();
        let edges: Vec<Time> = (0..=view.columns).map(|column| view.edge(column)).collect();
        let of_row = |pes: &[PeId]| {
            let mut row = vec![None; view.columns];
            for levels in pes.iter().filter_map(|pe| self.pes.get(*pe)) {
                for (sum, column) in row.iter_mut().zip(edges.windows(2)) {
                    if let Some(value) = levels.read(column[0], column[1], reading, self.ticks_per_second) {
                        *sum = Some(sum.unwrap_or(0.0) + value);
                    }
                }
            }
            row
        };
        rows.into_par_iter().map(of_row).collect()
    }
}

impl Levels {
    fn new(kind: MetricValues, samples: impl Iterator<Item = MetricSample>, (begin, end): (Time, Time)) -> Levels {
        let mut levels = Levels { grows_between: kind.counts(), ..Levels::default() };
        let mut before = None;
        for sample in samples {
            let level = levels.values.last().copied();
            match kind {
                MetricValues::Accumulated => {
                    let grown = before.replace(sample.value).map_or(0.0, |before| (sample.value - before).max(0.0));
                    levels.push(sample.time, level.unwrap_or(0.0) + grown);
                }
                // The first one counted since the run began.
                MetricValues::Last => {
                    if level.is_none() {
                        levels.push(begin.min(sample.time), 0.0);
                    }
                    levels.push(sample.time, level.unwrap_or(0.0) + sample.value);
                }
                MetricValues::Point | MetricValues::Next => levels.push(sample.time, sample.value),
            }
        }
        if let Some(last) = levels.values.last().copied().filter(|_| !kind.counts()) {
            levels.push(end, last);
        }
        levels
    }

    fn push(&mut self, time: Time, level: f64) {
        let area = match (self.times.last(), self.values.last(), self.areas.last()) {
            (Some(last), Some(before), Some(area)) => {
                let mean = if self.grows_between { before + (level - before) / 2.0 } else { *before };
                area + mean * time.since(*last).0 as f64
            }
            _ => 0.0,
        };
        self.times.push(time);
        self.values.push(level);
        self.areas.push(area);
    }

    /// In a column; nothing where it is not known in any part of it.
    fn read(&self, begin: Time, end: Time, reading: Reading, ticks_per_second: f64) -> Option<f64> {
        let (begin, end) = (begin.max(*self.times.first()?), end.min(*self.times.last()?));
        let ticks = end.since(begin).0;
        if ticks <= 0 {
            return None;
        }
        let (from, to) = (self.at(begin), self.at(end));
        Some(match reading {
            Reading::Level => (to.1 - from.1) / ticks as f64,
            Reading::Rate => (to.0 - from.0) / ticks as f64 * ticks_per_second,
        })
    }

    /// The level at a moment at which it is known, and its area until then.
    fn at(&self, time: Time) -> (f64, f64) {
        let sample = self.times.partition_point(|at| *at <= time).max(1) - 1;
        let (level, area) = (self.values[sample], self.areas[sample]);
        let since = time.since(self.times[sample]).0 as f64;
        match (self.grows_between, self.times.get(sample + 1)) {
            (true, Some(next)) => {
                let growth = (self.values[sample + 1] - level) / next.since(self.times[sample]).0 as f64;
                (level + growth * since, area + (level + growth * since / 2.0) * since)
            }
            _ => (level, area + level * since),
        }
    }
}
