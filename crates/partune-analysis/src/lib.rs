//! The analyses, one file each: from a trace and its index to findings and figures.
//!
//! An analysis is a value in [`ANALYSES`]: name, one-line title, documentation, and a function from [`Input`] to [`Outcome`].
//! Analyses know roles, never construct names; they return ids and ticks, never text for people. To add one: one new file,
//! one line in the list.

mod above_baseline;
mod accesses;
mod account;
mod adjacent_barriers;
mod affinity;
mod balance;
mod barriers;
mod blame;
mod block_loss;
mod block_work;
mod bottlenecks;
mod bounds;
mod by_path;
mod chain;
mod compare;
mod costs;
mod cpu_time;
mod critical_path;
mod crowds;
mod delay;
mod devices;
mod edges;
mod efficiency;
mod ending;
mod expected;
mod file_findings;
mod files;
mod finding;
mod fit;
mod fold;
mod frequency;
mod ideal;
mod input;
mod iterations;
mod machine_baselines;
mod matrix;
mod measurement;
mod memory;
mod metrics;
mod objects;
mod operations;
mod outline;
mod overlap;
mod own_patterns;
mod phases;
mod places;
mod processors;
mod profile;
mod profile_bounds;
mod profile_matrix;
mod queries;
mod receptions;
pub mod repeats;
mod results;
mod same_loss;
mod scaling;
mod section;
mod serial_transfers;
mod shared;
mod small_transfers;
mod spending;
mod stabbing;
mod steps;
mod sums;
mod sync_points;
mod tensor;
mod thresholds;
mod tiling;
mod timeline;
mod times;
mod top_operations;
mod transfer_sizes;
mod transfers;
mod useful;
mod wait_states;
mod waits;
mod world_sums;

pub use affinity::{Affinity, Blocking, RankedAccess, SharedArray, shared_accesses};
pub use blame::shapley;
pub use by_path::ByPath;
pub use compare::{
    Aligned, AlignedStage, Change, Comparison, Figure, FindingRow, FindingSums, Note, PeChange, PlaceRow, PlaceSums,
    Run, RunFigures, Stages, Verdict, align, compare, compare_sets, has_stages, same_regions,
};
pub use critical_path::{CriticalPath, Impact};
pub use delay::{DelayCost, Delays};
pub use ending::{EarlyEnd, Stand};
pub use finding::{Cause, Finding, Loss, Occurrence, Pattern};
pub use fit::{Fit, Line};
pub use input::{Input, Options};
pub use iterations::turn_begins;
pub use metrics::counted;
pub use objects::{ObjectRun, object_run};
pub use outline::{Outline, OutlinePhase};
pub use places::by_place;
pub use processors::{Crowded, processors};
pub use queries::{Answered, Costs, Gathered, add_rows};
pub use repeats::Interval;
pub use results::{
    Account, Activities, ActivityTimes, AnalysisResult, Bound, Efficiency, Gap, Hierarchies, Hierarchy, Level,
    LevelFactors, Pair, TopOperation,
};
pub use same_loss::once;
pub use scaling::{
    Factors as ScalingFactors, Fitted, Growth, Law, Limit, Mode, PlaceName, Point, Predicted, PredictedRow, RunPlaces,
    ScaledRow, ScaledSums, Scaling, ScalingOutcome, Term, predict, scale,
};
pub use section::{Column, DataTable, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values};
pub use shared::Shared;
pub use stabbing::{SharedAccess, conflicts, keep};
pub use sums::outside;
pub use tensor::{Bounds, RegionKind, Tensor};
pub use thresholds::{THRESHOLDS, Threshold, ThresholdKind};
pub use times::{PathTime, PathTimes, path_times, without_children};
pub use useful::{Base, forking, run_seconds, useful_in, windows};
pub use waits::{Wait, Waits};

/// What an analysis found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Places that lose time, in any order; the engine ranks them.
    pub findings: Vec<Finding>,
    /// Figures and tables.
    pub sections: Vec<Section>,
}

/// What has to be known of a run beside its tables, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Sums, which a profile has.
    Sums,
    /// Answers to [queries](Gathered), which add up over slices of a run.
    Queries,
    /// Events.
    Events,
}

/// One analysis.
pub struct Analysis {
    /// Name for `--only` and for its section (snake_case).
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// The manual: what it computes, with formula and source; Markdown.
    pub docs: &'static str,
    /// Whether it looks for findings; others only show figures.
    pub finds: bool,
    pub needs: Needs,
    /// The sections that it may have.
    pub shows: &'static [SectionShape],
    pub run: fn(&Input<'_>) -> Outcome,
}

/// All analyses, in the order of a report.
pub static ANALYSES: &[&Analysis] = &[
    &ending::ENDING,
    &account::ACCOUNT,
    &efficiency::EFFICIENCY,
    &bounds::BOUNDS,
    &balance::BALANCE,
    &profile::PROFILE,
    &operations::OPERATIONS,
    &matrix::MATRIX,
    &overlap::OVERLAP,
    &objects::OBJECTS,
    &barriers::BARRIERS,
    &affinity::AFFINITY,
    &processors::PROCESSORS,
    &memory::MEMORY,
    &frequency::FREQUENCY,
    &transfer_sizes::TRANSFER_SIZES,
    &small_transfers::SMALL_TRANSFERS,
    &serial_transfers::SERIAL_TRANSFERS,
    &files::FILES,
    &metrics::METRICS,
    &wait_states::WAIT_STATES,
    &costs::COSTS,
    &bottlenecks::BOTTLENECKS,
    &above_baseline::ABOVE_BASELINE,
    &measurement::MEASUREMENT,
    &critical_path::CRITICAL_PATH,
    &delay::DELAY,
    &own_patterns::OWN_PATTERNS,
];

/// Those that ask no more of a run than is known, in the order of a report.
pub fn analyses_of(known: Needs) -> Vec<&'static Analysis> {
    ANALYSES.iter().copied().filter(|analysis| analysis.needs <= known).collect()
}
