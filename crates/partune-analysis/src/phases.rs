//! Efficiency of the phases that the user marked: the factors of [`crate::efficiency`] for each part of the run.
//!
//! A PE's time in a phase is that of its visits to it, within its measured interval; of a thread that visits none, that of its
//! process. With u_q the useful time in it and T the longest time of a PE: PE = avg u / T = LB · Comm, LB = avg u / max u,
//! Comm = max u / T. PEs that are never in a phase do not count for it. How far PEs are apart when they enter it is not in T.

use partune_base::{Id, PeId, ProcessId, RegionId, Span, Time};
use partune_trace::{RegionKind, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::useful::{Useful, cpu_pes};
use crate::{Column, DataTable, Input, Unit, Values};

/// A visit to a phase.
#[derive(Clone, Copy)]
struct Visit {
    phase: RegionId,
    begin: Time,
    end: Time,
    /// It began in this slice of the run.
    is_new: bool,
}

/// What one PE did in a phase.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Share {
    time: i64,
    useful: i64,
    visits: u64,
}

/// What each PE of a CPU did in phases; nothing if none are marked.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shares(Vec<FxHashMap<RegionId, Share>>);

impl Query for Shares {
    /// Linear in visits, if something is marked.
    fn of(input: &Input<'_>) -> Shares {
        let (trace, pes) = (input.trace, cpu_pes(input.trace));
        let of_pe = |(pe, visits): (&PeId, &Vec<Visit>)| shares(trace, *pe, input.windows()[*pe], visits);
        Shares(visits(trace, &pes).map_or_else(Vec::new, |visits| pes.par_iter().zip(&visits).map(of_pe).collect()))
    }

    fn add(&mut self, next: Shares) {
        for (sums, next) in self.0.iter_mut().zip(next.0) {
            #[allow(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
            for (phase, next) in next {
                let sum = sums.entry(phase).or_default();
                sum.time += next.time;
                sum.useful += next.useful;
                sum.visits += next.visits;
            }
        }
    }
}

/// The table of phases, longest first; `None` if there are none.
pub(crate) fn table(trace: &Trace, Shares(shares): &Shares) -> Option<DataTable> {
    let mut rows: Vec<(RegionId, Vec<Share>)> = trace
        .regions()
        .ids()
        .map(|region| (region, shares.iter().filter_map(|shares| shares.get(&region).copied()).collect::<Vec<_>>()))
        .filter(|(_, shares)| shares.iter().any(|share| share.time > 0))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let longest = |shares: &[Share]| shares.iter().map(|share| share.time).max().unwrap_or(0);
    rows.sort_by_key(|(region, shares)| (std::cmp::Reverse(longest(shares)), *region));
    let column = |of: &dyn Fn(&[Share]) -> f64| rows.iter().map(|(_, shares)| of(shares)).collect::<Vec<f64>>();
    let ratio = |name, of: &dyn Fn(&[Share]) -> f64| Column::new(name, Values::Number(Unit::Ratio, column(of)));
    let seconds = |ticks: i64| trace.clock().seconds(Span(ticks));
    let sum = |shares: &[Share]| shares.iter().map(|share| share.useful).sum::<i64>();
    let average = |shares: &[Share]| sum(shares) as f64 / shares.len() as f64;
    let most = |shares: &[Share]| shares.iter().map(|share| share.useful).max().unwrap_or(0) as f64;
    let over = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let visits = |shares: &[Share]| shares.iter().map(|share| share.visits).max().unwrap_or(0);
    Some(DataTable {
        name: "phases",
        columns: vec![
            Column::new("phase", Values::Region(rows.iter().map(|row| row.0).collect())),
            Column::new("visits", Values::Count(rows.iter().map(|row| visits(&row.1)).collect())),
            Column::new("pes", Values::Count(rows.iter().map(|row| row.1.len() as u64).collect())),
            Column::seconds("seconds", column(&|shares| seconds(longest(shares)))),
            Column::seconds("useful", column(&|shares| seconds(sum(shares)))),
            ratio("parallel", &|shares| over(average(shares), longest(shares) as f64)),
            ratio("load_balance", &|shares| over(average(shares), most(shares))),
            ratio("communication", &|shares| over(most(shares), longest(shares) as f64)),
        ],
    })
}

/// The visits of these PEs to phases, those to a phase in itself excepted; `None` if nothing is marked.
fn visits(trace: &Trace, pes: &[PeId]) -> Option<Vec<Vec<Visit>>> {
    let (regions, paths) = (trace.regions(), trace.paths());
    let is_phase = |path| regions[paths.region(path)].kind == RegionKind::Phase;
    let outermost = paths.outermost(regions.len(), |path| is_phase(path).then(|| paths.region(path).index()));
    let phases: Vec<Option<RegionId>> = paths.ids().map(|path| outermost[path].then(|| paths.region(path))).collect();
    if phases.iter().all(Option::is_none) {
        return None;
    }
    let of_pe = |pe: &PeId| -> Vec<Visit> {
        let begun = trace.slice().map_or(0, |slice| slice.begun[*pe] as usize);
        let visit = |(at, visit): (usize, partune_trace::Visit)| {
            let phase = phases[visit.path.index()]?;
            Some(Visit { phase, begin: visit.enter, end: visit.exit, is_new: at >= begun })
        };
        trace.streams()[*pe].visits.iter().enumerate().filter_map(visit).collect()
    };
    let mut visits: Vec<Vec<Visit>> = pes.par_iter().map(of_pe).collect();
    let mut of_process: FxHashMap<ProcessId, Vec<Visit>> = FxHashMap::default();
    for (pe, visits) in pes.iter().zip(&mut visits) {
        let process = trace.pes()[*pe].process;
        if visits.is_empty() {
            *visits = of_process.get(&process).cloned().unwrap_or_default();
        } else {
            of_process.entry(process).or_insert_with(|| visits.clone());
        }
    }
    Some(visits)
}

/// What a PE did in each phase.
fn shares(trace: &Trace, pe: PeId, window: (Time, Time), visits: &[Visit]) -> FxHashMap<RegionId, Share> {
    // Phases may nest, and useful time is asked for in order of time.
    let mut times: Vec<Time> = visits.iter().flat_map(|visit| [visit.begin, visit.end]).collect();
    times.sort_unstable();
    times.dedup();
    let mut meter = Useful::new(trace, pe, window);
    let useful: Vec<i64> = times.iter().map(|time| meter.up_to((*time).max(window.0))).collect();
    let at = |time: Time| times.binary_search(&time).map_or(0, |at| useful[at]);
    let clipped = |time: Time| time.clamp(window.0, window.1.max(window.0));
    let mut shares: FxHashMap<RegionId, Share> = FxHashMap::default();
    for visit in visits {
        let share = shares.entry(visit.phase).or_default();
        share.time += clipped(visit.end).since(clipped(visit.begin)).0;
        share.useful += (at(visit.end) - at(visit.begin)).max(0);
        share.visits += u64::from(visit.is_new);
    }
    shares
}
