//! What a run would be under changes: its replay.

use std::io;
use std::path::{Path, PathBuf};

use partune_base::{CallPathId, PeId, Span};
use partune_diag::Quality;
use partune_index::Index;
use partune_machine::Machine;
use partune_replay::{Change, Fidelity, Outcome, Refusal, Replay, Wanted, mapping};
use partune_trace::Trace;
use thiserror::Error;

use crate::convert::{ConvertError, Converted, write};
use crate::other_pes::Unpredictable;
use crate::session::{Opened, Request, matched};
use crate::{Progress, operations, timed};

/// What is asked of a replay.
#[derive(Clone, Debug, Default)]
pub struct WhatIfRequest {
    /// Each on top of those before it.
    pub changes: Vec<Change>,
    /// What operations need; fitted to the run if none.
    pub machine: Option<Machine>,
    /// Keep the changed run, to be written.
    pub keeps_run: bool,
}

/// Why a run cannot be followed again.
#[derive(Clone, Copy, Debug, Error)]
pub enum WhatIfError {
    #[error(
        "this is a profile, sums without events, so the run cannot be followed again\n  remedy: record without --profile"
    )]
    Profile,
    #[error(
        "clocks of processes were never aligned, so who waited for whom is unknown and the run cannot be followed again\n  remedy: record \
         with a recorder that aligns the clocks of processes, such as partune record"
    )]
    Clocks,
}

/// Whether a run can be followed again at all.
pub(crate) fn can_be_followed(trace: &Trace, index: &Index) -> Result<(), WhatIfError> {
    match trace.profile() {
        Some(_) => Err(WhatIfError::Profile),
        None if !index.clocks.aligned => Err(WhatIfError::Clocks),
        None => Ok(()),
    }
}

/// Why the file that a `map` names cannot be used.
#[derive(Debug, Error)]
pub enum MapError {
    #[error("{}: {error}\n  remedy: name a file with a line `rank N=NODE`, `NODE` or `NODE slots=N` for each rank or node", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{}, line {line}: {reason}\n  remedy: a line is `rank N=NODE`, `NODE` or `NODE slots=N`", path.display())]
    Line { path: PathBuf, line: usize, reason: &'static str },
}

/// Reads the files that changes name.
pub fn read_maps(changes: &mut [Change]) -> Result<(), MapError> {
    for change in changes {
        if let Change::Map { file, nodes } = change {
            let path = PathBuf::from(&*file);
            let bytes =
                partune_files::read_regular(&path).map_err(|error| MapError::Open { path: path.clone(), error })?;
            let known = mapping(&String::from_utf8_lossy(&bytes));
            *nodes = Some(known.map_err(|(line, reason)| MapError::Line { path, line, reason })?);
        }
    }
    Ok(())
}

/// A run under changes. Times are seconds of wall-clock time between the end of start-up and the begin of shut-down.
#[derive(Debug)]
pub struct WhatIf {
    /// Without changes.
    pub followed: Followed,
    /// What the changes save.
    pub saving: Saving,
    /// Ends of operations in the half of the run that costs were not fitted to: root of the mean square of their errors, in seconds.
    pub error_s: f64,
    pub operations: u64,
    /// Operations that keep the time they took.
    pub recorded: u64,
    /// Operations of the second half that are like none of the first, so that their costs are of themselves.
    pub late: u64,
    /// Needs that could not be met: the trace is damaged.
    pub unmet: u64,
    pub refused: Vec<RefusedChange>,
    /// What was noticed about the input.
    pub quality: Quality,
    run: Option<Trace>,
}

/// A run, and how well it can be followed: seconds between the end of start-up and the begin of shut-down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// As recorded.
    pub run_s: f64,
    /// Followed without changes.
    pub replayed_s: f64,
}

/// The share of a run by which another one of the same program may differ, where nobody measured more.
const NOISE: f64 = 0.01;

/// A run that was followed without changes is doubtful from this share on that it is off.
const DOUBTFUL: f64 = 0.05;

/// From this share on nothing is predicted from it: what was followed is another run.
const LOST: f64 = 0.5;

impl Followed {
    fn of(trace: &Trace, replay: &Replay<'_>) -> Followed {
        let seconds = |span| trace.clock().seconds(span);
        Followed { run_s: seconds(replay.recorded_run()), replayed_s: seconds(replay.plain().run()) }
    }

    /// By which share of the run it is off.
    pub fn off(&self) -> f64 {
        (self.replayed_s - self.run_s).abs() / self.run_s.max(f64::MIN_POSITIVE)
    }

    /// Whether what was followed is another run.
    pub fn is_lost(&self) -> bool {
        self.off() >= LOST
    }

    /// Whether predictions are worth no more than their order of size.
    pub fn is_doubtful(&self) -> bool {
        self.off() > DOUBTFUL
    }
}

/// Follows a run without changes, so that it can be followed under some.
pub(crate) fn follow<'a>(
    trace: &'a Trace,
    index: &'a Index,
    machine: Option<&Machine>,
    progress: &dyn Progress,
) -> (Replay<'a>, Followed) {
    progress.stage("replaying");
    let replay = timed(progress, "replay", || Replay::new(trace, index, machine, partune_analysis::windows(trace)));
    let followed = Followed::of(trace, &replay);
    (replay, followed)
}

/// What changes save of the run, in seconds; less than 0 if they cost time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// As recorded, less what is saved.
    pub predicted_run_s: f64,
    pub saves_s: f64,
    /// What two runs will differ by, at least and at most: as far as what operations take decides it, and runs of one program differ.
    pub saves_low_s: f64,
    pub saves_high_s: f64,
}

impl Saving {
    /// The same where no more can be saved.
    pub(crate) fn at_most(self, limit_s: f64) -> Saving {
        let [saves_s, saves_low_s, saves_high_s] =
            [self.saves_s, self.saves_low_s, self.saves_high_s].map(|it| it.min(limit_s));
        Saving { predicted_run_s: self.predicted_run_s + self.saves_s - saves_s, saves_s, saves_low_s, saves_high_s }
    }

    /// What is no change saves nothing, and nobody has to run it to know.
    pub(crate) fn of(trace: &Trace, followed: Followed, outcome: &Outcome, plain: &Outcome) -> Saving {
        let spans = outcome.saves(plain);
        let [low, saves_s, high] = <[Span; 3]>::from(spans).map(|span| trace.clock().seconds(span));
        let is_change = spans != (Span(0), Span(0), Span(0));
        let margin = if is_change { followed.run_s * NOISE.max(followed.off()) } else { 0.0 };
        Saving {
            predicted_run_s: followed.run_s - saves_s,
            saves_s,
            saves_low_s: low - margin,
            saves_high_s: high + margin,
        }
        .at_most(followed.run_s)
    }

    /// This share of a run.
    pub(crate) fn of_share(run_s: f64, share: f64) -> Saving {
        let saves_s = share * run_s;
        Saving { predicted_run_s: run_s - saves_s, saves_s, saves_low_s: saves_s, saves_high_s: saves_s }
    }
}

/// A change that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedChange {
    pub change: String,
    pub why: WhyRefused,
}

/// Why; places and PEs by their names.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyRefused {
    Lost,
    NoPlace { near: Vec<String> },
    NoPe,
    NoWork,
    OnePe,
    NoOperation(Wanted),
    MovesData { place: String },
    Needed { place: String },
    Excludes { place: String },
    Orders { accesses: u64, place: String, origin: String, target: String },
    NothingWaits { least: Option<u64> },
    Dedicated,
    NeverFollows,
    GivesMeanwhile { waits: u64, place: String },
    SharesMemory,
    SharesFile { name: String },
    FewNodes { named: usize, processes: usize },
    UnknownLink { remote: bool },
    NotRead,
    Circular { needs: u64 },
    OneRun,
    Pes(Unpredictable),
}

/// Follows a run under changes.
pub fn what_if(
    opened: impl Into<Opened>,
    request: &WhatIfRequest,
    progress: &dyn Progress,
) -> Result<WhatIf, WhatIfError> {
    let Opened { mut trace, operations } = opened.into();
    let operations = operations::chosen(&partune_operations::Operations::default(), operations, &mut trace);
    let (trace, index, _) = matched(operations.assign(trace), &Request::default(), progress);
    can_be_followed(&trace, &index)?;
    let (replay, followed) = follow(&trace, &index, request.machine.as_ref(), progress);
    let (changes, lost) = request.changes.split_at(if followed.is_lost() { 0 } else { request.changes.len() });
    let (outcome, retimed) = timed(progress, "changes", || {
        if request.keeps_run {
            let (outcome, retimed) = replay.retimed(changes);
            (outcome, Some(retimed))
        } else {
            (replay.under(changes), None)
        }
    });
    let Fidelity { error, operations, recorded, late, unmet } = replay.fidelity();
    let saving = Saving::of(&trace, followed, &outcome, replay.plain());
    let lost = lost.iter().map(|change| RefusedChange { change: change.to_string(), why: WhyRefused::Lost });
    let refused = outcome.refused.iter().map(|it| refused(&trace, it)).chain(lost).collect();
    let mut quality = trace.quality().clone();
    quality.merge(index.quality.clone());
    drop(replay);
    Ok(WhatIf {
        followed,
        saving,
        error_s: error / trace.clock().ticks_per_second() as f64,
        operations,
        recorded,
        late,
        unmet,
        refused,
        quality,
        run: retimed.map(|retimed| retimed.retime(trace)),
    })
}

fn refused(trace: &Trace, it: &partune_replay::Refused) -> RefusedChange {
    let place =
        |path: CallPathId| path.some().map_or_else(String::new, |path| partune_replay::name(trace, path).to_string());
    let pe = |pe: PeId| {
        let Some(pe) = trace.pes().get(pe) else { return String::new() };
        let process = trace.processes().get(pe.process);
        let rank = process.and_then(|process| process.rank).unwrap_or(pe.process.0);
        let is_alone = process.is_none_or(|process| process.pes.len() == 1);
        if is_alone { format!("PE {rank}") } else { format!("PE {rank}.{}", pe.thread) }
    };
    let why = match &it.why {
        Refusal::NoPlace(near) => WhyRefused::NoPlace { near: near.clone() },
        Refusal::NoPe => WhyRefused::NoPe,
        Refusal::NoWork => WhyRefused::NoWork,
        Refusal::OnePe => WhyRefused::OnePe,
        Refusal::NoOperation(wanted) => WhyRefused::NoOperation(*wanted),
        Refusal::MovesData(path) => WhyRefused::MovesData { place: place(*path) },
        Refusal::Needed(path) => WhyRefused::Needed { place: place(*path) },
        Refusal::Excludes(path) => WhyRefused::Excludes { place: place(*path) },
        Refusal::Orders { accesses, path, origin, target } => {
            WhyRefused::Orders { accesses: *accesses, place: place(*path), origin: pe(*origin), target: pe(*target) }
        }
        Refusal::NothingWaits { least } => WhyRefused::NothingWaits { least: *least },
        Refusal::Dedicated => WhyRefused::Dedicated,
        Refusal::NeverFollows => WhyRefused::NeverFollows,
        Refusal::GivesMeanwhile { waits, path } => WhyRefused::GivesMeanwhile { waits: *waits, place: place(*path) },
        Refusal::SharesMemory => WhyRefused::SharesMemory,
        Refusal::SharesFile(file) => WhyRefused::SharesFile {
            name: trace.files().get(*file).map_or_else(String::new, |file| trace.strings().get(file.name).to_owned()),
        },
        Refusal::FewNodes { named, processes } => WhyRefused::FewNodes { named: *named, processes: *processes },
        Refusal::UnknownLink { remote } => WhyRefused::UnknownLink { remote: *remote },
        Refusal::NotRead => WhyRefused::NotRead,
        Refusal::Circular(needs) => WhyRefused::Circular { needs: *needs },
        Refusal::OneRun => WhyRefused::OneRun,
    };
    RefusedChange { change: it.change.to_string(), why }
}

impl WhatIf {
    /// Writes the changed run as an archive, if it was kept.
    pub fn write(&self, to: &Path) -> Option<Result<Converted, ConvertError>> {
        self.run.as_ref().map(|run| write(run, to))
    }
}
