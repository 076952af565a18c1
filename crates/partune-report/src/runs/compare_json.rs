//! The JSON document of `compare`, and its schema. Versioned as the one of `analyze`.

use std::borrow::Cow;

use partune_engine::{Came, Change, Checked, Comparison, FindingRow, PeChange, PlaceRow, Verdict, Verified};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::place::{At, FigureRow, IntervalEntry, PlaceId, figures, first, letter, notes};
use super::{NamedRun, pretty};
use crate::advise::advice_id;
use crate::{json, names};

/// What `partune compare --json` prints. Lists with an entry per run are in the order of `runs`; the first run is the base. Lists with an
/// entry per change have none for the base.
#[derive(Serialize, JsonSchema)]
struct CompareDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// `compare`.
    kind: &'static str,
    runs: Vec<RunEntry<'a>>,
    /// Differences are of means over PEs, since the runs differ in their number; else of sums over PEs.
    per_pe: bool,
    /// What makes the runs less comparable.
    notes: Vec<String>,
    /// Efficiencies, bounds and gaps side by side.
    figures: Vec<FigureRow>,
    /// Most time is at call paths that only one run has: `regions` tell more than `callpaths`, and findings are matched by region.
    by_region: bool,
    /// Largest difference of exclusive seconds first.
    callpaths: Vec<PlaceEntry<'a>>,
    regions: Vec<PlaceEntry<'a>>,
    /// Largest difference first. Empty if one run is a profile and another is not.
    findings: Vec<FindingEntry<'a>>,
    /// Advice for the base, and what became of it; left out where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<VerifiedEntry<'a>>,
    /// What came of `--fail-on`; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct ConditionEntry<'a> {
    condition: &'a str,
    /// It holds for one of the runs after the base, so the exit status is 3.
    holds: bool,
    /// What is measured is a relative difference to the base, as a share; else a value.
    is_change: bool,
    /// For each run after the base; null where it has no such figure.
    measured: Vec<Option<IntervalEntry>>,
}

/// Seconds from the end of the start-up to the begin of the shut-down.
#[derive(Serialize, JsonSchema)]
struct VerifiedEntry<'a> {
    id: String,
    action: &'static str,
    change: Option<&'a str>,
    saves_s: f64,
    saves_low_s: f64,
    saves_high_s: f64,
    /// What each run after the base saved.
    saved_s: Vec<f64>,
    /// The same by all its repeats.
    saved: Vec<IntervalEntry>,
    /// Whether that is what was predicted: in the range, or no farther from it than a hundredth of the run, or than noise.
    as_predicted: Vec<bool>,
    /// `inside`, `within_noise`, `outside`.
    outcome: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry<'a> {
    archive: &'a str,
    pes: usize,
    processes: usize,
    events: u64,
    /// Sums were recorded, no events.
    profile: bool,
    /// From the first event to the last.
    duration_s: f64,
    /// The piece of the run that is compared; null for the whole run.
    piece: Option<crate::json::PieceEntry>,
    /// How many times faster than the base.
    speed_up: Option<f64>,
    /// From the end of the start-up to the begin of the shut-down; null if nothing was useful.
    measured_s: Option<f64>,
    /// How many times faster than the base that is.
    measured_speed_up: Option<f64>,
    /// Of the duration.
    change: ChangeEntry,
    /// `measured_s`, or else `duration_s`, of each run where they were repeated; first that of the run with the median, whose figures all others are.
    repeats_s: Vec<f64>,
    /// How much longer than the base all these are, in seconds, and how many times as long; null for the base.
    longer: Option<IntervalEntry>,
    slower: Option<IntervalEntry>,
}

#[derive(Serialize, JsonSchema)]
struct ChangeEntry {
    difference_s: f64,
    /// To the base; null if the base has zero.
    ratio: Option<f64>,
    /// Standard deviation of the difference by the runs' own spread; null if nothing is known of it.
    noise_s: Option<f64>,
    /// What the difference is by all repeats; null where there are none.
    interval: Option<IntervalEntry>,
    /// `same`, `too_small_to_tell`, `no_spread_to_tell_by`, `grown`, `shrunk`, `added`, `gone`; of findings `new` and `gone`.
    verdict: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct PlaceEntry<'a> {
    construct: &'a str,
    callpath: Vec<Cow<'a, str>>,
    /// Null where a run never was.
    runs: Vec<Option<PlaceFigures<'a>>>,
    /// Of exclusive seconds.
    changes: Vec<ChangeEntry>,
    /// For each run after the base the PE on which it changed most, where it did not change so on the others; null where none stands out, runs were
    /// repeated, or they have another number of PEs.
    most_on: Vec<Option<PeEntry>>,
}

#[derive(Serialize, JsonSchema)]
struct PeEntry {
    pe: u32,
    /// Of the exclusive seconds of this PE.
    difference_s: f64,
    /// To the base; null if the base has zero.
    ratio: Option<f64>,
    /// Standard deviation of the difference by the visits on this PE, and by the number of samples where functions are known by these.
    noise_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct PlaceFigures<'a> {
    location: At<'a>,
    /// Call paths that could not be told apart and are shown as one.
    places: usize,
    /// Summed over PEs, as all that follows.
    exclusive_s: f64,
    /// Exclusive seconds on the base of the comparison, see `per_pe`: the changes are differences of these.
    compared_s: f64,
    inclusive_s: f64,
    visits: u64,
    /// Null for a profile.
    waiting_s: Option<f64>,
    bytes: u64,
    /// PEs that were here.
    pes: u64,
    /// Exclusive seconds of the PE that spent the most.
    longest_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct FindingEntry<'a> {
    #[schemars(extend("anyOf" = json::patterns()))]
    pattern: &'static str,
    #[schemars(extend("enum" = json::roles()))]
    role: &'static str,
    construct: &'a str,
    /// Where it is, in words; what has no call path is at the processors that PEs waited for.
    place: String,
    callpath: Vec<Cow<'a, str>>,
    /// Null where it is not found: it loses less than the threshold there.
    runs: Vec<Option<FindingFigures<'a>>>,
    changes: Vec<ChangeEntry>,
}

#[derive(Serialize, JsonSchema)]
struct FindingFigures<'a> {
    location: At<'a>,
    /// Summed over PEs.
    seconds: f64,
    /// The same on the base of the comparison, see `per_pe`: the changes are differences of these.
    compared_s: f64,
    fraction: f64,
    count: u64,
}

/// The document of a comparison of these runs, in their order.
pub fn compare_document(
    comparison: &Comparison,
    runs: &[NamedRun<'_>],
    verified: Option<&Verified<'_>>,
    checked: &[Checked],
) -> String {
    let advice = verified.map(|it| VerifiedEntry {
        id: advice_id(it.advice),
        action: &it.advice.candidate.action.id,
        change: it.advice.change.as_deref(),
        saves_s: it.saving.saves_s,
        saves_low_s: it.saving.saves_low_s,
        saves_high_s: it.saving.saves_high_s,
        saved_s: it.saved.iter().map(|saved| saved.estimate).collect(),
        saved: it.saved.iter().map(IntervalEntry::of).collect(),
        as_predicted: it.saved.iter().map(|saved| it.came(saved) != Came::Outside).collect(),
        outcome: it.saved.iter().map(|saved| it.came(saved).name()).collect(),
    });
    let conditions = checked.iter().map(condition).collect();
    pretty(&CompareDocument { advice, conditions, ..document(comparison, runs) })
}

/// The same as a value, for a server.
pub fn compare_value(comparison: &Comparison, runs: &[NamedRun<'_>]) -> Value {
    serde_json::to_value(document(comparison, runs)).expect("the document has string keys only")
}

/// The JSON schema of [`compare_document`].
pub fn compare_schema() -> String {
    super::schema_of::<CompareDocument<'_>>()
}

fn document<'a>(comparison: &Comparison, runs: &[NamedRun<'a>]) -> CompareDocument<'a> {
    let run = |(figures, run): (&partune_engine::RunFigures, &NamedRun<'a>)| RunEntry {
        archive: run.archive,
        pes: figures.pes,
        processes: figures.processes,
        events: run.diagnosis.run.events(),
        profile: run.diagnosis.run.is_profile(),
        duration_s: figures.seconds,
        piece: crate::json::PieceEntry::of(&run.diagnosis.run),
        speed_up: figures.speed_up,
        measured_s: figures.measured,
        measured_speed_up: figures.measured_speed_up,
        change: change(&figures.change),
        repeats_s: figures.repeats.clone(),
        longer: figures.longer.as_ref().map(IntervalEntry::of),
        slower: figures.slower.as_ref().map(IntervalEntry::of),
    };
    CompareDocument {
        partune: 1,
        kind: "compare",
        runs: comparison.runs.iter().zip(runs).map(run).collect(),
        per_pe: comparison.per_pe,
        by_region: comparison.by_region,
        notes: notes(&comparison.notes, runs, letter),
        figures: figures(&comparison.figures),
        callpaths: comparison.callpaths.iter().filter_map(|row| place(comparison, row, runs)).collect(),
        regions: comparison.regions.iter().filter_map(|row| place(comparison, row, runs)).collect(),
        findings: comparison.findings.iter().map(|row| finding(comparison, row, runs)).collect(),
        advice: None,
        conditions: Vec::new(),
    }
}

fn condition(it: &Checked) -> ConditionEntry<'_> {
    ConditionEntry {
        condition: &it.condition,
        holds: it.fails(),
        is_change: it.is_change,
        measured: it.measured.iter().map(|it| it.as_ref().map(IntervalEntry::of)).collect(),
    }
}

fn change(change: &Change) -> ChangeEntry {
    ChangeEntry {
        difference_s: change.difference,
        ratio: change.ratio,
        noise_s: change.noise,
        interval: change.interval.as_ref().map(IntervalEntry::of),
        verdict: change.verdict.name(),
    }
}

fn place<'a, I: PlaceId>(comparison: &Comparison, row: &PlaceRow<I>, runs: &[NamedRun<'a>]) -> Option<PlaceEntry<'a>> {
    let (id, run) = first(&row.ids, runs)?;
    let cell = |(run, ids): (usize, &Vec<I>)| {
        let sums = row.sums[run].as_ref()?;
        Some(PlaceFigures {
            location: At::of(*ids.first()?, &runs[run].diagnosis.run),
            places: ids.len(),
            exclusive_s: sums.exclusive,
            compared_s: sums.exclusive / comparison.base(run),
            inclusive_s: sums.inclusive,
            visits: sums.visits,
            waiting_s: sums.waiting,
            bytes: sums.bytes,
            pes: sums.pes,
            longest_s: sums.longest,
        })
    };
    Some(PlaceEntry {
        construct: id.construct(run),
        callpath: id.callpath(run),
        runs: row.ids.iter().enumerate().map(cell).collect(),
        changes: row.changes.iter().map(change).collect(),
        most_on: row.most.iter().map(|most| most.as_ref().map(of_pe)).collect(),
    })
}

fn of_pe(it: &PeChange) -> PeEntry {
    PeEntry { pe: it.pe.0, difference_s: it.difference, ratio: it.ratio, noise_s: it.noise }
}

fn finding<'a>(comparison: &Comparison, row: &FindingRow, runs: &[NamedRun<'a>]) -> FindingEntry<'a> {
    let known = row.sums.iter().zip(runs).find_map(|(sums, run)| Some((sums.as_ref()?.path, run.diagnosis)));
    let place = known.and_then(|(path, of)| names::spot_at(of, row.pattern, path));
    let cell = |(number, (sums, run)): (usize, (&Option<partune_engine::FindingSums>, &NamedRun<'a>))| {
        sums.as_ref().map(|sums| FindingFigures {
            location: At::of(sums.path, &run.diagnosis.run),
            seconds: sums.seconds,
            compared_s: sums.seconds / comparison.base(number),
            fraction: sums.fraction,
            count: sums.count,
        })
    };
    FindingEntry {
        pattern: row.pattern.name(),
        role: row.role.name(),
        construct: known.map_or("", |(path, of)| path.construct(&of.run)),
        place: place.unwrap_or_default(),
        callpath: known.map_or(Vec::new(), |(path, of)| path.callpath(&of.run)),
        runs: row.sums.iter().zip(runs).enumerate().map(cell).collect(),
        changes: row
            .changes
            .iter()
            .map(|it| ChangeEntry { verdict: finding_verdict(it.verdict), ..change(it) })
            .collect(),
    }
}

/// A finding is new, not added.
pub(super) fn finding_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Added => "new",
        Verdict::Gone | Verdict::Same | Verdict::TooSmall | Verdict::Unknown | Verdict::Grown | Verdict::Shrunk => {
            verdict.name()
        }
    }
}
