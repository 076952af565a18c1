//! What one run spent in each row of a comparison, with the spread over visits and PEs by which a difference is judged.
//!
//! From the same sums as the analyses `profile` and `operations`, so that a comparison shows the figures that they show.

use partune_base::{CallPathId, Id, PeId, Table, Time};
use partune_trace::{Stream, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Run;
use super::align::Rows;
use super::spread::Spread;
use crate::Wait;
use crate::sums::operation_sums;
use crate::times::path_times;

/// What a run spent in a place, summed over PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlaceSums {
    /// Seconds without the call paths directly below.
    pub exclusive: f64,
    /// Seconds from enter to exit; of a region its outermost visits only.
    pub inclusive: f64,
    pub visits: u64,
    /// Seconds that operations waited here; none for a profile, which does not tell.
    pub waiting: Option<f64>,
    pub bytes: u64,
    /// PEs that were here.
    pub pes: u64,
    /// Exclusive seconds of the PE that spent the most.
    pub longest: f64,
}

/// The same with what a verdict needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) sums: PlaceSums,
    /// Position of each PE that was here, among the active ones, and its exclusive seconds; in order.
    pes: Vec<(u32, f64)>,
    /// Of the sum, from the spread over visits.
    variance: Option<f64>,
}

/// The rows of a run, none where it never was.
pub(crate) struct RunSums {
    pub(crate) rows: Vec<Option<Measured>>,
    /// Active PEs.
    pub(crate) pes: usize,
    seconds_a_tick: f64,
    /// The variance of the run's sum by the spread over visits, of all places together and without waiting, which follows what it waits for; none if
    /// nothing was visited twice.
    pub(crate) variance: Option<f64>,
}

impl RunSums {
    /// A row as a value with its spread, zero where the run never was.
    pub(crate) fn spread(&self, row: usize) -> Spread<'_> {
        let nothing = Spread { sum: 0.0, pes: &[], count: self.pes, variance: None, resolution: 0.0 };
        self.rows[row].as_ref().map_or(nothing, |measured| Spread {
            sum: measured.sums.exclusive,
            pes: &measured.pes,
            count: self.pes,
            variance: measured.variance,
            resolution: measured.sums.visits as f64 * self.seconds_a_tick,
        })
    }
}

/// Adds up a run by rows. Linear in visits.
pub(crate) fn measure<I>(run: &Run<'_>, number: usize, rows: &Rows<I>) -> RunSums {
    let trace = run.trace;
    let of_path = &rows.of_path[number];
    let clock = trace.clock();
    let outermost = outermost(trace, of_path, rows.ids.len());
    let times = path_times(trace);
    let active: Vec<PeId> = trace.active_pes().collect();
    let mut sums: Vec<Option<Measured>> = vec![None; rows.ids.len()];
    for (position, pe) in active.iter().enumerate() {
        let mut on_pe: FxHashMap<u32, f64> = FxHashMap::default();
        let mut touched = Vec::new();
        for time in &times[*pe] {
            let row = of_path[time.path];
            let Some(measured) = sums.get_mut(row as usize) else { continue };
            let measured = measured.get_or_insert_with(Measured::default);
            let exclusive = clock.seconds(time.exclusive);
            measured.sums.exclusive += exclusive;
            measured.sums.inclusive += if outermost[time.path] { clock.seconds(time.inclusive) } else { 0.0 };
            measured.sums.visits += time.visits;
            let share = on_pe.entry(row).or_insert_with(|| {
                touched.push(row);
                0.0
            });
            *share += exclusive;
        }
        for row in touched {
            let share = on_pe.get(&row).copied().unwrap_or_default();
            let Some(measured) = &mut sums[row as usize] else { continue };
            measured.pes.push((position as u32, share));
            measured.sums.pes += 1;
            measured.sums.longest = measured.sums.longest.max(share);
        }
    }
    let mut at = |path: CallPathId, add: &dyn Fn(&mut Measured)| {
        if let Some(Some(measured)) = of_path.get(path).and_then(|row| sums.get_mut(*row as usize)) {
            add(measured);
        }
    };
    for (path, operation) in operation_sums(trace).iter_ids() {
        at(path, &|measured| {
            measured.sums.bytes = measured.sums.bytes.saturating_add(operation.transfers.bytes());
            measured.sums.waiting = trace.profile().is_none().then_some(0.0);
        });
    }
    for wait in run.waits {
        let seconds = clock.seconds(wait.duration());
        at(trace.visit(wait.pe, wait.operation).path, &|measured| {
            measured.sums.waiting = Some(measured.sums.waiting.unwrap_or(0.0) + seconds);
        });
    }
    let tick = clock.seconds(partune_base::Span(1));
    let no_moments = || vec![[Moments::default(); 2]; trace.paths().len()];
    let spreads: Vec<Vec<(CallPathId, [f64; 2])>> = active
        .par_iter()
        .map_init(no_moments, |moments, pe| visit_variances(trace.streams().get(*pe), run.waits.of_pe(*pe), moments))
        .collect();
    let mut of_run: Option<f64> = None;
    for (path, [ticks, working]) in spreads.into_iter().flatten() {
        at(path, &|measured| {
            measured.variance = Some(measured.variance.unwrap_or(0.0) + ticks * tick * tick);
        });
        of_run = Some(of_run.unwrap_or(0.0) + working * tick * tick);
    }
    RunSums { rows: sums, pes: active.len(), seconds_a_tick: tick, variance: of_run }
}

/// Whether no ancestor of a path is in the same row.
fn outermost(trace: &Trace, of_path: &Table<CallPathId, u32>, rows: usize) -> Table<CallPathId, bool> {
    trace.paths().outermost(rows, |path| Some(of_path[path] as usize).filter(|row| *row < rows))
}

/// Count, mean and sum of squared differences from it (Welford).
#[derive(Clone, Copy, Default)]
pub(crate) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let from = value - self.mean;
        self.mean += from / self.count;
        self.squares += from * (value - self.mean);
    }

    pub(crate) fn count(&self) -> f64 {
        self.count
    }

    /// The variance of the sum of the values; none of fewer than two.
    pub(crate) fn of_sum(&self) -> Option<f64> {
        (self.count > 1.0).then(|| self.count * self.squares / (self.count - 1.0))
    }
}

/// For each path that was visited at least twice, count × variance of its visits' exclusive ticks: of all, and of those in which it does not wait.
fn visit_variances(
    stream: Option<&Stream>,
    waits: &[Wait],
    moments: &mut [[Moments; 2]],
) -> Vec<(CallPathId, [f64; 2])> {
    let mut add = |(_, path, ticks, waiting): (Time, CallPathId, i64, i64)| {
        let [all, working] = &mut moments[path.index()];
        all.add(ticks as f64);
        working.add((ticks - waiting) as f64);
    };
    // Exit, path, and exclusive and waiting ticks of the visits around.
    let mut open: Vec<(Time, CallPathId, i64, i64)> = Vec::new();
    let mut waits = waits.iter().peekable();
    for (index, visit) in stream.into_iter().flat_map(|stream| stream.visits.iter()).enumerate() {
        while let Some(over) = open.pop_if(|it| it.0 <= visit.enter) {
            add(over);
        }
        let ticks = visit.duration().0;
        if let Some(around) = open.last_mut() {
            around.2 = around.2.saturating_sub(ticks);
        }
        let mut waiting = 0;
        while let Some(wait) = waits.next_if(|wait| wait.operation.index() <= index) {
            waiting += if wait.operation.index() == index { wait.duration().0 } else { 0 };
        }
        open.push((visit.exit, visit.path, ticks, waiting));
    }
    while let Some(over) = open.pop() {
        add(over);
    }
    let mut paths: Vec<CallPathId> =
        stream.into_iter().flat_map(|stream| stream.visits.iter()).map(|it| it.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let spread = |path: CallPathId| {
        let [all, working] = std::mem::take(&mut moments[path.index()]);
        Some((path, [all.of_sum()?, working.of_sum()?]))
    };
    paths.into_iter().filter_map(spread).collect()
}
