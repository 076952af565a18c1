//! Comparison of runs of a program: what a revision, another input or another machine changed, place by place.
//!
//! The first run is the base. Places are matched by names ([`align`]), a difference is told only if it is more than the runs' own spread
//! ([`spread`]), or than that of repeats where a run was repeated ([`sets`]). Source: revision analysis of PPW (theory 6.5), which shows the differences of the longest regions.

pub(crate) mod align;
mod aligned;
pub(crate) mod figures;
pub(crate) mod findings;
pub(crate) mod measure;
pub(crate) mod moments;
mod one_pe;
mod sampling;
mod sets;
pub(crate) mod spread;

use std::collections::BTreeSet;

use partune_base::{CallPathId, PeId, RegionId, Table};
use partune_trace::{Activity, Region, RegionKind, Role, Trace};

use self::align::{Names, Rows};
use self::findings::largest;
use self::measure::{RunSums, measure};
use self::sampling::Sampling;
use self::sets::Sets;
use self::spread::{besides, change};
use crate::repeats::{self, Interval, Tail};
use crate::{Finding, Input, Section};

pub use aligned::{Aligned, AlignedStage, Stages, align, has_stages, same_regions};
pub use figures::Figure;
pub use findings::{FindingRow, FindingSums};
pub use measure::PlaceSums;
pub use one_pe::PeChange;
pub use spread::{Change, Verdict};

/// A run that was analysed.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub input: Input<'a>,
    pub sections: &'a [Section],
    pub findings: &'a [&'a Finding],
}

/// Runs beside the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub runs: Vec<RunFigures>,
    /// The runs differ in their number of PEs, so differences are of means over PEs, not of sums.
    pub per_pe: bool,
    /// Efficiencies, bounds and gaps.
    pub figures: Vec<Figure>,
    /// Most of the time is at call paths that only one run has (other functions were recorded, the structure changed), so regions tell
    /// more than call paths; findings are matched by region then.
    pub by_region: bool,
    /// By the size of the largest difference.
    pub callpaths: Vec<PlaceRow<CallPathId>>,
    pub regions: Vec<PlaceRow<RegionId>>,
    /// The same; empty if the runs do not tell of the same patterns.
    pub findings: Vec<FindingRow>,
    pub notes: Vec<Note>,
}

/// A run as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// PEs that recorded something.
    pub pes: usize,
    /// Processes with such a PE.
    pub processes: usize,
    /// From the first event to the last.
    pub seconds: f64,
    /// How many times faster than the base; none if a run took no time.
    pub speed_up: Option<f64>,
    /// Seconds from the end of the start-up to the begin of the shut-down; none if nothing was useful.
    pub measured: Option<f64>,
    /// How many times faster than the base that is.
    pub measured_speed_up: Option<f64>,
    /// Of the seconds from the first event to the last.
    pub change: Change,
    /// The measured seconds of all its repeats, its own first; all seconds where those are not known.
    pub repeats: Vec<f64>,
    /// How many more of them it takes than the base does, and how many times as many.
    pub longer: Option<Interval>,
    pub slower: Option<Interval>,
}

/// A place in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceRow<I> {
    /// For each run what the place is there; several where they could not be told apart.
    pub ids: Vec<Vec<I>>,
    /// For each run; none where it never was.
    pub sums: Vec<Option<PlaceSums>>,
    /// For each run after the base, of exclusive seconds.
    pub changes: Vec<Change>,
    /// For each run after the base the PE on which it changed most, where it did not change so on the others; none of runs that were repeated, or with another
    /// number of PEs.
    pub most: Vec<Option<PeChange>>,
}

/// What makes runs less comparable. Runs are positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Runs differ in the number of PEs or of processes.
    Layout,
    /// Some runs are profiles, others traces: findings are not compared.
    Profiles { runs: Vec<usize> },
    /// This run has other paradigms than the base: these are only in it, those only in the base.
    Paradigms { run: usize, more: Vec<String>, fewer: Vec<String> },
    /// User functions are in some runs only.
    Functions { with: Vec<usize> },
    /// Times of functions come from samples in some runs: how many in each, none where they do not.
    Sampled { samples: Vec<Option<u64>> },
    /// Of the time of this run and of the base, the smaller share that is in regions that both have.
    LittleInCommon { run: usize, share: f64 },
}

/// Below this share of common time, runs are hardly of one program.
const COMMON: f64 = 0.5;

impl Comparison {
    /// What sums of a run are divided by to be compared: its PEs where the runs differ in their number, else nothing.
    pub fn base(&self, run: usize) -> f64 {
        if self.per_pe { self.runs[run].pes.max(1) as f64 } else { 1.0 }
    }
}

impl<'a> Run<'a> {
    pub(crate) fn trace(&self) -> &'a Trace {
        self.input.trace
    }

    pub(crate) fn trace_seconds(&self) -> f64 {
        self.trace().clock().seconds(self.trace().duration())
    }

    /// Seconds of all PEs.
    pub(crate) fn total(&self) -> f64 {
        self.trace_seconds() * self.trace().cpu_pes().count() as f64
    }
}

/// Compares runs with the first of them. Linear in visits; the same for any number of threads.
pub fn compare(runs: &[Run<'_>]) -> Comparison {
    compare_sets(runs, &(0..runs.len()).collect::<Vec<_>>())
}

/// Compares sets of repeated runs with the first set. `set_of` is the set of each run; first comes one run of each set, which stands for it: what is
/// told of a set is of that run, but differences are of all.
pub fn compare_sets(all: &[Run<'_>], set_of: &[usize]) -> Comparison {
    let sets = Sets::new(set_of);
    let traces: Vec<&Trace> = all.iter().map(Run::trace).collect();
    let names = Names::new(&traces);
    let (paths, regions) = (align::call_paths(&traces, &names), align::regions(&traces, &names));
    let sampled: Vec<Option<Sampling>> = all.iter().map(|it| Sampling::of(it.trace(), it.input.times())).collect();
    let measured = |rows: &dyn Fn(usize) -> RunSums| (0..all.len()).map(rows).collect::<Vec<_>>();
    let all_paths = measured(&|run| measure(&all[run], run, &paths, sampled[run].as_ref()));
    let all_regions = measured(&|run| measure(&all[run], run, &regions, sampled[run].as_ref()));
    let (runs, of_paths, of_regions) = (&all[..sets.len()], &all_paths[..sets.len()], &all_regions[..sets.len()]);
    let notes = notes(runs, of_regions);
    let alike = !notes.iter().any(|note| matches!(note, Note::Profiles { .. }));
    let by_region = (1..runs.len()).any(|run| common(of_paths, run) < COMMON);
    let row = |run: usize, path: CallPathId| if by_region { regions.row(run, path) } else { paths.row(run, path) };
    let sections: Vec<&[Section]> = all.iter().map(|run| run.sections).collect();
    let role = |run: usize, region: RegionId| traces[run].regions()[region].role;
    Comparison {
        runs: (0..sets.len()).map(|run| whole(all, &sets, of_regions, run)).collect(),
        per_pe: of_paths.iter().any(|it| it.pes != of_paths[0].pes),
        by_region,
        figures: figures::of_sets(&sections, &sets),
        findings: if alike { findings::compare(all, &sampled, &sets, row) } else { Vec::new() },
        callpaths: rows(&paths, &traces, &all_paths, &sets, |run, path| role(run, traces[run].paths().region(path))),
        regions: rows(&regions, &traces, &all_regions, &sets, role),
        notes,
    }
}

/// Adds up runs by rows, of which nothing is told that needs to know what samples are worth.
pub(crate) fn measure_all<I>(runs: &[Run<'_>], rows: &Rows<I>) -> Vec<RunSums> {
    runs.iter().enumerate().map(|(number, run)| measure(run, number, rows, None)).collect()
}

/// A run as a whole. Its noise is that over visits of all places together, without waiting, as if they were independent. That over PEs is left out, since work that moves between them is why a run gets faster.
fn whole(runs: &[Run<'_>], sets: &Sets, sums: &[RunSums], run: usize) -> RunFigures {
    let trace = runs[run].trace();
    let seconds = runs[run].trace_seconds();
    let base = runs[0].trace_seconds();
    let per_pe = |run: usize| sums[run].variance.map(|variance| variance / (sums[run].pes.max(1) as f64).powi(2));
    let variance = per_pe(0).into_iter().chain(per_pe(run)).reduce(|a, b| a + b);
    let resolution = trace.clock().seconds(partune_base::Span(1));
    let speed_up = |base: f64, seconds: f64| (seconds > 0.0 && base > 0.0).then(|| base / seconds);
    let measured = |run: usize| figures::efficiency(runs[run].sections)?.run_seconds;
    let repeats = |set: usize| sets.values(set, |run| measured(run).unwrap_or_else(|| runs[run].trace_seconds()));
    let change = if sets.are_repeated(run) {
        let seconds = |set: usize| sets.values(set, |run| runs[run].trace_seconds());
        Change::repeated(Tail::ONE, &seconds(0), &seconds(run))
    } else {
        Change::new(base, seconds, variance.map(f64::sqrt), resolution)
    };
    let other = (run > 0).then(|| (repeats(0), repeats(run)));
    RunFigures {
        pes: sums[run].pes,
        processes: processes(trace),
        seconds,
        speed_up: speed_up(base, seconds),
        measured: measured(run),
        measured_speed_up: measured(0).zip(measured(run)).and_then(|(base, seconds)| speed_up(base, seconds)),
        change,
        repeats: repeats(run),
        longer: other.as_ref().and_then(|(base, run)| repeats::difference(base, run)),
        slower: other.as_ref().and_then(|(base, run)| repeats::ratio(base, run)),
    }
}

/// The difference of a row to the base.
fn difference(sums: &[RunSums], sets: &Sets, run: usize, row: usize) -> Change {
    if sets.are_repeated(run) {
        let pes = |run: usize| sums[run].pes;
        return sets.change(run, pes, |run| sums[run].rows[row].as_ref().map(|it| it.sums.exclusive));
    }
    let (mut base, mut value) = (sums[0].spread(row), sums[run].spread(row));
    let there = |run: usize| sums[run].rows[row].is_some().then_some(0.0);
    let Some(one_sided) = Change::one_sided(there(0), there(run)) else { return change(&base, &value) };
    // Where no sample found it, it may have been for as long as one stands for.
    match (base.besides, value.besides) {
        (Some(_), None) => value.besides = sums[run].one_more,
        (None, Some(_)) => base.besides = sums[0].one_more,
        _ => (),
    }
    let change = change(&base, &value);
    match besides(&base, &value).map(f64::sqrt) {
        Some(noise) if !change.is_beyond(noise) => Change { verdict: Verdict::TooSmall, noise: Some(noise), ..change },
        _ => Change { verdict: one_sided.verdict, noise: None, ..change },
    }
}

/// The PE of a run on which a row changed most.
fn most(trace: &Trace, sums: &[RunSums], sets: &Sets, run: usize, row: usize) -> Option<PeChange> {
    let is_there = |run: usize| sums[run].rows[row].is_some();
    if sets.are_repeated(run) || sums[0].pes != sums[run].pes || !is_there(0) || !is_there(run) {
        return None;
    }
    let pe = |position: u32| trace.active_pes().nth(position as usize).unwrap_or(PeId::NONE);
    one_pe::most(&sums[0].each(row), &sums[run].each(row), pe)
}

/// Rows that some run visited, largest difference first.
///
/// All PEs start up and shut down together, once a run, and their launcher decides how long: they are one sample, whatever their number.
fn rows<I: Copy>(
    rows: &Rows<I>,
    traces: &[&Trace],
    sums: &[RunSums],
    sets: &Sets,
    role: impl Fn(usize, I) -> Role,
) -> Vec<PlaceRow<I>> {
    let row = |(row, ids): (usize, &Vec<Vec<I>>)| {
        let once = |run: usize, id: &I| matches!(role(run, *id), Role::Init | Role::Finalize);
        let is_once = ids.iter().enumerate().any(|(run, ids)| ids.iter().any(|id| once(run, id)));
        let change = |run: usize| {
            let change = difference(sums, sets, run, row);
            match change.verdict {
                Verdict::Grown | Verdict::Shrunk | Verdict::TooSmall if is_once && !sets.are_repeated(run) => {
                    Change { noise: None, verdict: Verdict::Unknown, ..change }
                }
                _ => change,
            }
        };
        let most = |run: usize| if is_once { None } else { most(traces[run], sums, sets, run, row) };
        PlaceRow {
            ids: ids[..sets.len()].to_vec(),
            sums: sums[..sets.len()].iter().map(|run| run.rows[row].as_ref().map(|it| it.sums)).collect(),
            changes: (1..sets.len()).map(change).collect(),
            most: (1..sets.len()).map(most).collect(),
        }
    };
    let mut all: Vec<PlaceRow<I>> = rows.ids.iter().enumerate().map(row).collect();
    all.retain(|row| row.sums.iter().any(Option::is_some));
    all.sort_by(|a, b| largest(&b.changes).total_cmp(&largest(&a.changes)));
    all
}

/// What a reader has to know before the differences.
pub(crate) fn notes(runs: &[Run<'_>], sums: &[RunSums]) -> Vec<Note> {
    let mut notes = Vec::new();
    let layout = |run: usize| (sums[run].pes, processes(runs[run].trace()));
    if (1..runs.len()).any(|run| layout(run) != layout(0)) {
        notes.push(Note::Layout);
    }
    let profiles: Vec<usize> = (0..runs.len()).filter(|run| runs[*run].trace().profile().is_some()).collect();
    if !profiles.is_empty() && profiles.len() < runs.len() {
        notes.push(Note::Profiles { runs: profiles });
    }
    let used: Vec<Used> = runs.iter().map(Used::new).collect();
    for (run, it) in used.iter().enumerate().skip(1) {
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<String>>();
        let (more, fewer) = (only(&it.paradigms, &used[0].paradigms), only(&used[0].paradigms, &it.paradigms));
        if !more.is_empty() || !fewer.is_empty() {
            notes.push(Note::Paradigms { run, more, fewer });
        }
    }
    let with: Vec<usize> = (0..runs.len()).filter(|run| used[*run].functions).collect();
    if !with.is_empty() && with.len() < runs.len() {
        notes.push(Note::Functions { with });
    }
    let samples: Vec<Option<u64>> = runs.iter().map(|run| run.trace().shared_out_by()).collect();
    if samples.iter().any(Option::is_some) {
        notes.push(Note::Sampled { samples });
    }
    for run in 1..runs.len() {
        let share = common(sums, run);
        if share < COMMON {
            notes.push(Note::LittleInCommon { run, share });
        }
    }
    notes
}

/// Number of processes with a PE that recorded something.
fn processes(trace: &Trace) -> usize {
    trace.cpu_pes().map(|pe| trace.pes()[pe].process).collect::<BTreeSet<_>>().len()
}

/// What was recorded in a run.
struct Used {
    paradigms: BTreeSet<String>,
    /// Whether there are user functions besides a root.
    functions: bool,
}

impl Used {
    fn new(run: &Run<'_>) -> Used {
        let trace = run.trace();
        let mut used: Table<RegionId, bool> = Table::filled(trace.regions().len(), false);
        let mut functions = false;
        for path in run.input.times().iter().flatten().map(|row| row.path) {
            let region = trace.paths().region(path);
            used[region] = true;
            let it = &trace.regions()[region];
            functions |= !it.paradigm.is_some() && it.kind == RegionKind::Function && trace.paths().depth(path) > 0;
        }
        // What only prepares, asks or records is no sign of another program.
        let programs =
            |region: &Region| !matches!(region.role.activity(), Activity::Measurement | Activity::Management);
        let regions = trace.regions().iter_ids().filter(|(id, region)| used[*id] && programs(region));
        let paradigms = regions.filter_map(|(_, region)| region.paradigm.some());
        Used { paradigms: paradigms.map(|name| trace.strings().get(name).to_owned()).collect(), functions }
    }
}

/// The smaller share of the time of a run and of the base that is in rows of both.
fn common(sums: &[RunSums], run: usize) -> f64 {
    let share = |of: usize, other: usize| {
        let seconds = |row: usize| sums[of].rows[row].as_ref().map_or(0.0, |it| it.sums.exclusive);
        let all: f64 = (0..sums[of].rows.len()).map(seconds).sum();
        let both: f64 = (0..sums[of].rows.len()).filter(|row| sums[other].rows[*row].is_some()).map(seconds).sum();
        if all > 0.0 { both / all } else { 1.0 }
    };
    share(0, run).min(share(run, 0))
}
