//! The JSON document of `scale`, and its schema. Versioned as the one of `analyze`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use partune_engine::{ScaledRow, Scaling, ScalingOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::place::{At, FigureRow, IntervalEntry, PlaceId, figures, first, notes};
use super::{NamedRun, pretty};

/// What `partune scale --json` prints. Lists with an entry a point are in the order of `points`.
#[derive(Serialize, JsonSchema)]
struct ScalingDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// `scale`.
    kind: &'static str,
    /// `strong` or `weak`.
    mode: &'static str,
    /// `ideal`, `better` or `limited`.
    outcome: &'static str,
    /// PEs at which it is limited, or better.
    at_pes: Option<usize>,
    /// The smallest factor there.
    limited_by: Option<&'static str>,
    /// In words.
    text: String,
    /// By number of PEs.
    points: Vec<PointEntry<'a>>,
    notes: Vec<String>,
    /// Efficiencies, bounds and gaps; a value a point.
    figures: Vec<FigureRow>,
    /// By what they lose at the last point.
    callpaths: Vec<PlaceEntry<'a>>,
    regions: Vec<PlaceEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct PointEntry<'a> {
    pes: usize,
    /// The run with the median time, which stands for all.
    archive: &'a str,
    /// All runs on this number of PEs, fastest first.
    archives: Vec<&'a str>,
    duration_s: f64,
    shortest_s: f64,
    longest_s: f64,
    speed_up: f64,
    ideal_speed_up: f64,
    efficiency: f64,
    /// What it is by all runs on this number of PEs and on the first; null for the first.
    efficiency_range: Option<IntervalEntry>,
    /// Of Karp and Flatt; for weak scaling of Gustafson. Null for the first point.
    serial_fraction: Option<f64>,
    /// Seconds of all PEs more than ideal.
    lost_s: f64,
    /// Their product is the efficiency; each 1 if as good as at the first point. `communication` is in place of `serialization` and
    /// `transfer` where a run is a profile. Null if a run has no efficiency.
    factors: Option<BTreeMap<&'static str, f64>>,
}

#[derive(Serialize, JsonSchema)]
struct PlaceEntry<'a> {
    construct: &'a str,
    location: At<'a>,
    callpath: Vec<Cow<'a, str>>,
    /// `code` or `operation`.
    kind: &'static str,
    /// `ideal`, `better`, `serial`, `replicated`, `uneven`, `work`, `waiting`, `transfer`, `operation`, `start_up`.
    growth: &'static str,
    /// Null where a point never was.
    points: Vec<Option<PlaceFigures>>,
}

#[derive(Serialize, JsonSchema)]
struct PlaceFigures {
    exclusive_s: f64,
    inclusive_s: f64,
    visits: u64,
    /// Null for a profile.
    waiting_s: Option<f64>,
    bytes: u64,
    /// PEs that were here.
    pes: u64,
    /// Exclusive seconds of the PE that spent the most.
    longest_s: f64,
    /// Seconds of all PEs more than ideal.
    lost_s: f64,
    /// Scalability factor: ideal to real time.
    factor: Option<f64>,
}

/// The document of how these runs scale, in the order in which they were given to it.
pub fn scaling_document(scaling: &Scaling, runs: &[NamedRun<'_>]) -> String {
    pretty(&document(scaling, runs))
}

/// The same as a value, for a server.
pub fn scaling_value(scaling: &Scaling, runs: &[NamedRun<'_>]) -> Value {
    serde_json::to_value(document(scaling, runs)).expect("the document has string keys only")
}

/// The JSON schema of [`scaling_document`].
pub fn scaling_schema() -> String {
    super::schema_of::<ScalingDocument<'_>>()
}

fn document<'a>(scaling: &Scaling, runs: &[NamedRun<'a>]) -> ScalingDocument<'a> {
    let of_points: Vec<NamedRun<'a>> = scaling.points.iter().map(|point| runs[point.run]).collect();
    let name = |run: usize| of_points[run].archive.to_owned();
    let (outcome, at, by) = match scaling.outcome {
        ScalingOutcome::Ideal => ("ideal", None, None),
        ScalingOutcome::Better { point } => ("better", Some(point), None),
        ScalingOutcome::Limited { point, by } => ("limited", Some(point), by),
    };
    ScalingDocument {
        partune: 1,
        kind: "scale",
        mode: scaling.mode.name(),
        outcome,
        at_pes: at.map(|point| scaling.points[point].pes),
        limited_by: by.map(partune_engine::Limit::name),
        text: super::scaling_text::verdict(scaling, &of_points),
        points: scaling.points.iter().map(|point| entry(point, runs)).collect(),
        notes: notes(&scaling.notes, &of_points, name),
        figures: figures(&scaling.figures),
        callpaths: scaling.callpaths.iter().filter_map(|row| place(row, &of_points)).collect(),
        regions: scaling.regions.iter().filter_map(|row| place(row, &of_points)).collect(),
    }
}

fn entry<'a>(point: &partune_engine::Point, runs: &[NamedRun<'a>]) -> PointEntry<'a> {
    let factors = point.factors.as_ref();
    PointEntry {
        pes: point.pes,
        archive: runs[point.run].archive,
        archives: point.runs.iter().map(|run| runs[*run].archive).collect(),
        duration_s: point.seconds,
        shortest_s: point.shortest,
        longest_s: point.longest,
        speed_up: point.speed_up,
        ideal_speed_up: point.ideal,
        efficiency: point.efficiency,
        efficiency_range: point.efficiency_range.as_ref().map(IntervalEntry::of),
        serial_fraction: point.serial_fraction,
        lost_s: point.lost,
        factors: factors.map(|all| all.all().into_iter().map(|(limit, value)| (limit.name(), value)).collect()),
    }
}

fn place<'a, I: PlaceId>(row: &ScaledRow<I>, runs: &[NamedRun<'a>]) -> Option<PlaceEntry<'a>> {
    let (id, run) = first(&row.ids, runs)?;
    let figures = |it: &partune_engine::ScaledSums| PlaceFigures {
        exclusive_s: it.sums.exclusive,
        inclusive_s: it.sums.inclusive,
        visits: it.sums.visits,
        waiting_s: it.sums.waiting,
        bytes: it.sums.bytes,
        pes: it.sums.pes,
        longest_s: it.sums.longest,
        lost_s: it.lost,
        factor: it.factor,
    };
    Some(PlaceEntry {
        construct: id.construct(run),
        location: At::of(id, run),
        callpath: id.callpath(run),
        kind: if row.code { "code" } else { "operation" },
        growth: row.growth.name(),
        points: row.sums.iter().map(|it| it.as_ref().map(figures)).collect(),
    })
}
