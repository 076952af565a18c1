//! From a path to a diagnosis.

use std::path::{Path, PathBuf};

use partune_analysis::{ANALYSES, Analysis, Input, Needs, Options, Outcome, Shared, Waits, analyses_of, repeats};
use partune_base::Time;
use partune_diag::{Code, Diagnostic, Quality};
use partune_index::clock_repair::Repair;
use partune_index::{Index, Ties, clock_repair};
use partune_operations::Operations;
use partune_trace::Trace;
use rayon::prelude::*;

use crate::advise::predict;
use crate::diagnosis::{Diagnosis, pause_notes, rank, recording_note};
use crate::formats::{self, OpenError};
use crate::run::Matched;
use crate::selection::{Selection, SelectionError};
use crate::{OperationsError, Progress, Run, operations, timed};

/// What to analyse, and how.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub struct Request {
    /// Thresholds.
    pub options: Options,
    /// Names of the analyses to run; all if empty.
    pub only: Vec<String>,
    /// Correct messages that run backwards in time.
    pub repair_clocks: bool,
    /// Predict what mending the first findings saves, where that takes no longer than a moment.
    pub predicts: bool,
    /// Learn of slices what a comparison of the run asks, too; without it, what was [looked at in slices](crate::analyze_in_slices) cannot be compared.
    pub compares: bool,
    /// Learn of slices what pictures show, too; without it, there are none of what was looked at in slices.
    pub draws: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            options: Options::default(),
            only: Vec::new(),
            repair_clocks: true,
            predicts: true,
            compares: false,
            draws: false,
        }
    }
}

/// An archive that was read, and is to be analysed.
pub struct Opened {
    pub(crate) trace: Trace,
    /// What was said beside it about its functions.
    pub(crate) operations: Option<Result<Operations, OperationsError>>,
}

/// Opens and imports an archive of any known format. A folder stands for the only archive in it; of several runs in it, as `partune record --repeat`
/// makes them, the one with the median run time is taken, and its quality says so. One in which no PE recorded anything is an error: there is
/// nothing to say of it. Cost: several runs are read once each, and the one that is taken twice.
pub fn open(path: &Path, progress: &dyn Progress) -> Result<Opened, OpenError> {
    let runs = formats::runs(path)?;
    if let [entry] = runs.as_slice() {
        return open_entry(entry, progress);
    }
    let times = run_times(&runs, progress)?;
    let taken = repeats::middle(&times).unwrap_or_default();
    let mut opened = open_entry(&runs[taken], progress)?;
    let order = repeats::order(&times);
    let at = |rank: usize| order.get(rank).map_or(0.0, |run| times[*run]);
    let message = format!(
        "one of {} runs, the one with the median run time: {} ({}; all took {} to {})",
        runs.len(),
        runs[taken].parent().unwrap_or(&runs[taken]).display(),
        partune_diag::seconds(times[taken]),
        partune_diag::seconds(at(0)),
        partune_diag::seconds(at(runs.len() - 1)),
    );
    let mut quality = Quality::default();
    quality.add(Diagnostic::info(Code::MedianRun, message, ""));
    opened.trace.add_quality(quality);
    Ok(opened)
}

fn run_times(runs: &[PathBuf], progress: &dyn Progress) -> Result<Vec<f64>, OpenError> {
    runs.iter().map(|run| Ok(partune_analysis::run_seconds(&open_entry(run, progress)?.trace))).collect()
}

/// Of runs, of which there is one at least, what the one with the median run time is opened by. Cost: several are read.
pub fn median_entry(mut runs: Vec<PathBuf>, progress: &dyn Progress) -> Result<PathBuf, OpenError> {
    let taken = if runs.len() > 1 { repeats::middle(&run_times(&runs, progress)?) } else { None };
    Ok(runs.swap_remove(taken.unwrap_or_default()))
}

fn open_entry(entry: &Path, progress: &dyn Progress) -> Result<Opened, OpenError> {
    let format = formats::detect(entry)?;
    progress.stage("reading");
    let trace = timed(progress, "reading", || formats::read(format, entry, progress))?;
    if trace.active_pes().next().is_some() {
        return Ok(Opened { trace, operations: operations::beside(entry) });
    }
    let worst = trace.quality().entries().iter().max_by_key(|it| (it.severity, std::cmp::Reverse(it.message.as_str())));
    let (noticed, remedy) = worst.map_or_else(Default::default, |it| (format!(": {}", it.message), it.remedy.clone()));
    let path = entry.to_owned();
    if trace.was_off() {
        return Err(OpenError::Off { path });
    }
    Err(OpenError::Empty { path, noticed, remedy })
}

impl Opened {
    /// Which of several runs this is, and why; none if there is one only.
    pub fn median_run(&self) -> Option<&str> {
        let entries = self.trace.quality().entries();
        entries.iter().find(|it| it.code == Code::MedianRun).map(|it| it.message.as_str())
    }
}

/// Everything that can be said about a run. The result does not depend on the number of threads.
pub fn analyze(opened: impl Into<Opened>, request: &Request, progress: &dyn Progress) -> Diagnosis {
    analyze_piece(opened, &Selection::default(), request, progress).expect("the whole run is always there")
}

/// The same of a piece of the run. Clocks are repaired, operations matched and waits found on the whole run, and cut then: what happened
/// before the piece explains what is in it, and counts with nothing.
pub fn analyze_piece(
    opened: impl Into<Opened>,
    selection: &Selection,
    request: &Request,
    progress: &dyn Progress,
) -> Result<Diagnosis, SelectionError> {
    let Opened { mut trace, operations } = opened.into();
    let operations = operations::chosen(&request.options.operations, operations, &mut trace);
    let request = &Request { options: Options { operations, ..request.options.clone() }, ..request.clone() };
    let trace = request.options.operations.assign(trace);
    let (trace, index, repair) = matched(trace, request, progress);
    let piece = selection.find(&trace)?;
    let (trace, index, waits, ties) = timed(progress, "waits", || match piece {
        None => {
            let ties = Ties::build(&trace, &index);
            let waits = Waits::in_ties(&trace, &index, &ties, &request.options);
            (trace, index, waits, Some(ties))
        }
        Some(piece) => {
            let (trace, index, waits) = within(trace, index, piece, request);
            (trace, index, waits, None)
        }
    });
    let mut diagnosis = diagnose(trace, index, (waits, ties), repair, request, progress);
    if request.predicts && request.only.is_empty() {
        predict(&mut diagnosis, request.options.machine.as_ref(), progress);
    }
    Ok(diagnosis)
}

/// A piece, with the waits in it: these are found before it is cut.
pub(crate) fn within(trace: Trace, index: Index, piece: (Time, Time), request: &Request) -> (Trace, Index, Waits) {
    let waits = Waits::find_with(&trace, &index, &request.options);
    let (trace, index, moves) = partune_index::cut(trace, index, piece);
    let waits = waits.within(&trace, &moves);
    (trace, index, waits)
}

/// The trace with times that do not run backwards, and what belongs together in it.
pub(crate) fn matched(trace: Trace, request: &Request, progress: &dyn Progress) -> (Trace, Index, Repair) {
    progress.stage("matching");
    let mut trace = trace;
    let mut index = timed(progress, "matching", || Index::build(&trace));
    let mut repair = index.clocks.found;
    if request.repair_clocks && repair.is_needed() {
        progress.stage("repairing clocks");
        (trace, repair) = clock_repair::repair(trace, &index);
        if repair.changed_times() {
            index = Index::build(&trace);
        }
    }
    progress.stage("waits");
    (trace, index, repair)
}

/// Runs the analyses.
pub(crate) fn diagnose(
    trace: Trace,
    index: Index,
    (waits, ties): (Waits, Option<Ties>),
    repair: Repair,
    request: &Request,
    progress: &dyn Progress,
) -> Diagnosis {
    progress.stage("analysing");
    let shared = Shared::default();
    let input = Input { trace: &trace, index: &index, waits: &waits, options: &request.options, shared: &shared };
    if request.only.is_empty() {
        let ties = ties.unwrap_or_else(|| Ties::build(&trace, &index));
        timed(progress, "shared", || Shared::prepare(&input, ties));
    } else {
        drop(ties);
    }
    let able = analyses_of(if trace.profile().is_some() { Needs::Sums } else { Needs::Events });
    let outcome = run_analyses(&able, &input, request, progress);
    let matched = Matched::of(&index);
    conclude(
        Run::new((trace, index, waits), request.compares.then_some(shared), None, (repair, matched)),
        outcome,
        &able,
        request,
    )
}

/// Runs those of some analyses that are asked for, side by side.
pub(crate) fn run_analyses(
    able: &[&Analysis],
    input: &Input<'_>,
    request: &Request,
    progress: &dyn Progress,
) -> Outcome {
    let run = |analysis: &&&Analysis| timed(progress, analysis.name, || (analysis.run)(input));
    let wanted: Vec<&&Analysis> = able.iter().filter(|analysis| request.asks_for(analysis)).collect();
    let outcomes: Vec<_> = wanted.par_iter().map(run).collect();
    debug_assert_eq!(undeclared(&outcomes), None, "an analysis declares all that it shows");
    let mut all = Outcome::default();
    for outcome in outcomes {
        all.findings.extend(outcome.findings);
        all.sections.extend(outcome.sections);
    }
    all
}

impl Request {
    fn asks_for(&self, analysis: &Analysis) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == analysis.name)
    }
}

/// What analyses of a run found, ranked, with what is to be told of the recording.
pub(crate) fn conclude(run: Run, outcome: Outcome, able: &[&Analysis], request: &Request) -> Diagnosis {
    let findings = rank(outcome.findings, &run.trace, &request.options);
    let mut diagnosis = Diagnosis::new(run, outcome.sections, findings, request.options.clone());
    diagnosis.sought = able.iter().any(|analysis| request.asks_for(analysis) && analysis.finds);
    let unable = request.only.iter().filter(|name| !able.iter().any(|analysis| analysis.name == **name));
    for name in unable.filter(|_| diagnosis.run.is_profile()) {
        let message = format!("the analysis {name} needs events, and this is a profile");
        diagnosis.quality.add(Diagnostic::info(Code::NeedsEvents, message, "record without --profile"));
    }
    if diagnosis.run.is_profile() && !request.options.operations.patterns.is_empty() {
        let message = "patterns of the file of operations need events, and this is a profile";
        diagnosis.quality.add(Diagnostic::info(Code::NeedsEvents, message, "record without --profile"));
    }
    for note in pause_notes(&diagnosis.run.trace) {
        diagnosis.quality.add(note);
    }
    if let Some(note) = recording_note(&diagnosis.run.trace, &request.options) {
        diagnosis.quality.add(note);
    }
    diagnosis
}

/// A scalar or column of some section that its analysis does not declare, so that the schema of documents has no word of it.
fn undeclared(outcomes: &[Outcome]) -> Option<String> {
    let shapes: Vec<_> = ANALYSES.iter().flat_map(|analysis| analysis.shows).copied().collect();
    outcomes.iter().flat_map(|outcome| &outcome.sections).find_map(|section| section.undeclared(&shapes))
}
