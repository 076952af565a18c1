//! Scaling: the same program on several numbers of PEs, against the ideal, and what keeps it from it.
//!
//! With p₀ the smallest number of PEs, T run times, k = p/p₀. Strong scaling (one problem): speed-up T₀/T, efficiency
//! E = T₀p₀/(Tp), serial fraction of Karp and Flatt (k/S − 1)/(k − 1) from the speed-up S. Weak scaling (a problem that grows with
//! the PEs): E = T₀/T, scaled speed-up kE, serial fraction of Gustafson k(1 − E)/(k − 1). Source: scalability analysis of PPW
//! (theory 6.5); E is the product of [`factors`].

mod factors;
mod law;
mod places;
mod predict;

use std::collections::BTreeMap;

use partune_base::{CallPathId, RegionId};
use partune_trace::Trace;

use crate::Section;
use crate::compare::align::{self, Names};
use crate::compare::{Figure, Note, Run, figures, measure_all, notes};
use crate::repeats::{self, Interval};
use crate::useful::cpu_pes;

pub use factors::{Factors, Limit};
pub use law::{Fitted, Law, Term};
pub use places::{Growth, ScaledRow, ScaledSums};
pub use predict::{PlaceName, Predicted, PredictedRow, RunPlaces, predict};

/// What stays the same while PEs are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The problem.
    #[default]
    Strong,
    /// The problem of each PE.
    Weak,
}

/// Runs on several numbers of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    pub mode: Mode,
    /// By number of PEs; at least two.
    pub points: Vec<Point>,
    pub outcome: ScalingOutcome,
    /// Efficiencies, bounds and gaps; a value a point.
    pub figures: Vec<Figure>,
    /// By what they lose at the largest number of PEs.
    pub callpaths: Vec<ScaledRow<CallPathId>>,
    pub regions: Vec<ScaledRow<RegionId>>,
    /// Runs are positions of points.
    pub notes: Vec<Note>,
}

/// The runs on one number of PEs. The one with the median time (of two in the middle the faster) stands for them in all figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// PEs of CPUs that recorded something.
    pub pes: usize,
    /// Position of the run that stands for all.
    pub run: usize,
    /// Positions of all runs, fastest first.
    pub runs: Vec<usize>,
    /// From the first event to the last.
    pub seconds: f64,
    pub shortest: f64,
    pub longest: f64,
    pub speed_up: f64,
    /// What the speed-up would be: PEs to those of the first point.
    pub ideal: f64,
    pub efficiency: f64,
    /// What the efficiency may be, by the runs on this number of PEs and on the first; none for the first.
    pub efficiency_range: Option<Interval>,
    /// Of Karp and Flatt, or of Gustafson for weak scaling; none for the first point.
    pub serial_fraction: Option<f64>,
    /// Seconds of all PEs more than ideal.
    pub lost: f64,
    /// To the first point; none if a run has no efficiency.
    pub factors: Option<Factors>,
}

/// What a series says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalingOutcome {
    /// Nowhere more than 1 %, or than runs on the same number of PEs differ, from the ideal.
    Ideal,
    /// Faster than ideal at this point, and nowhere slower.
    Better { point: usize },
    /// Slowest, compared with the ideal, at this point; by the smallest factor, if factors are known.
    Limited { point: usize, by: Option<Limit> },
}

/// From this share a difference to the ideal counts.
pub(crate) const CONSIDERABLE: f64 = 0.01;

impl Mode {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Strong => "strong",
            Mode::Weak => "weak",
        }
    }

    /// Seconds of all PEs on k times as many PEs, if those of the first point were these and scaled ideally.
    pub(crate) fn ideal(self, k: f64, first: f64) -> f64 {
        match self {
            Mode::Strong => first,
            Mode::Weak => k * first,
        }
    }
}

/// How runs scale; `None` if they do not have at least two numbers of PEs, or one of them took no time. Linear in visits.
pub fn scale(runs: &[Run<'_>], mode: Mode) -> Option<Scaling> {
    let mut of_count: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        of_count.entry(cpu_pes(run.trace()).len()).or_default().push(number);
    }
    let seconds = |run: usize| runs[run].trace_seconds();
    if of_count.len() < 2 || of_count.contains_key(&0) || (0..runs.len()).any(|run| seconds(run) <= 0.0) {
        return None;
    }
    let mut points: Vec<Point> = Vec::new();
    for (pes, numbers) in of_count {
        let times: Vec<f64> = numbers.iter().map(|run| seconds(*run)).collect();
        let run = numbers[repeats::middle(&times)?];
        let numbers: Vec<usize> = repeats::order(&times).into_iter().map(|at| numbers[at]).collect();
        let (shortest, longest) = (seconds(numbers[0]), seconds(numbers[numbers.len() - 1]));
        let first = points.first().map_or((pes, run), |first| (first.pes, first.run));
        let point = Point { pes, run, runs: numbers, seconds: seconds(run), shortest, longest, ..Point::EMPTY };
        points.push(against(mode, (first.0, seconds(first.1)), point));
        let last = points.len() - 1;
        if let [first, .., point] = &mut points[..] {
            let times = |point: &Point| point.runs.iter().map(|run| seconds(*run)).collect::<Vec<_>>();
            let share = point.efficiency * point.seconds / first.seconds;
            let slower = repeats::ratio(&times(point), &times(first));
            point.efficiency_range = slower.map(|it| it.map(|times| share * times));
        }
        points[last].factors = factors::relative(mode, (first.0, &runs[first.1]), (pes, &runs[run]));
    }
    let medians: Vec<Run<'_>> = points.iter().map(|point| runs[point.run]).collect();
    let traces: Vec<&Trace> = medians.iter().map(Run::trace).collect();
    let names = Names::new(&traces);
    let (paths, regions) = (align::call_paths(&traces, &names), align::regions(&traces, &names));
    let (of_paths, of_regions) = (measure_all(&medians, &paths), measure_all(&medians, &regions));
    let sections: Vec<&[Section]> = medians.iter().map(|run| run.sections).collect();
    let mut notes = notes(&medians, &of_regions);
    notes.retain(|note| *note != Note::Layout);
    Some(Scaling {
        mode,
        outcome: outcome(&points),
        figures: figures::side_by_side(&sections),
        callpaths: places::rows(mode, &points, &paths, &of_paths, |run, path| places::role(traces[run], path)),
        regions: places::rows(mode, &points, &regions, &of_regions, |run, region| {
            places::role_of_region(traces[run], region)
        }),
        notes,
        points,
    })
}

impl Point {
    const EMPTY: Point = Point {
        pes: 0,
        run: 0,
        runs: Vec::new(),
        seconds: 0.0,
        shortest: 0.0,
        longest: 0.0,
        speed_up: 1.0,
        ideal: 1.0,
        efficiency: 1.0,
        efficiency_range: None,
        serial_fraction: None,
        lost: 0.0,
        factors: None,
    };

    /// The share by which runs on this number of PEs differ.
    pub fn spread(&self) -> f64 {
        (self.longest - self.shortest) / self.seconds
    }
}

/// A point against the first one: its PEs and seconds.
fn against(mode: Mode, (pes, seconds): (usize, f64), point: Point) -> Point {
    let k = point.pes as f64 / pes as f64;
    let ideal = mode.ideal(k, pes as f64 * seconds);
    let used = point.pes as f64 * point.seconds;
    let efficiency = ideal / used;
    let speed_up = match mode {
        Mode::Strong => seconds / point.seconds,
        Mode::Weak => k * efficiency,
    };
    let fraction = match mode {
        Mode::Strong => (k / speed_up - 1.0) / (k - 1.0),
        Mode::Weak => k * (1.0 - efficiency) / (k - 1.0),
    };
    Point {
        speed_up,
        ideal: k,
        efficiency,
        serial_fraction: (k > 1.0).then_some(fraction),
        lost: used - ideal,
        ..point
    }
}

fn outcome(points: &[Point]) -> ScalingOutcome {
    let spread = points.iter().map(Point::spread).fold(CONSIDERABLE, f64::max);
    let by_efficiency = |a: &usize, b: &usize| points[*a].efficiency.total_cmp(&points[*b].efficiency);
    // Of equals the one with the most PEs says it: order of points is that of PEs.
    let worst = (1..points.len()).rev().min_by(by_efficiency).unwrap_or(0);
    let best = (1..points.len()).max_by(by_efficiency).unwrap_or(0);
    if points[worst].efficiency < 1.0 - spread {
        ScalingOutcome::Limited { point: worst, by: points[worst].factors.map(|factors| factors.smallest()) }
    } else if points[best].efficiency > 1.0 + spread {
        ScalingOutcome::Better { point: best }
    } else {
        ScalingOutcome::Ideal
    }
}
