//! A session: open an archive, import it, derive, analyse. The only API that a front end sees.
//!
//! [`Diagnosis`] is what was found, and [`Run`] answers whatever else there is to know; neither shows what it is made from. Types from below that
//! stand here are ids and plain values.
//!
//! The first floor that touches files. Everything here is reported to a [`Progress`], and everything that was noticed about the
//! input ends in [`Diagnosis::quality`].

mod advise;
mod called;
mod compare;
mod convert;
mod counted;
mod dealt;
mod diagnosis;
mod files;
mod finite;
mod formats;
mod hints;
pub mod inside;
mod kernels;
mod ledger;
mod machine;
mod operations;
mod other_pes;
mod piece;
mod run;
mod selection;
mod session;
mod sliced;
mod source;
mod tune;
mod verify;
mod what_if;

use std::time::{Duration, Instant};

use partune_analysis::{ANALYSES, Analysis};

pub use advise::{Advice, AdviseRequest, Advised, Scope, advise};
pub use compare::{Checked, CompareError, Condition, ConditionError, compare, compare_sets, middle, scale};
pub use convert::{ConvertError, Converted, convert, create, write};
pub use counted::{Counted, count, read_counts};
pub use diagnosis::{Diagnosis, Ranked};
pub use finite::{Finite, SourceLines, finite_caches};
pub use formats::{FAILED, OPERATIONS, OpenError, bytes, runs};
pub use hints::{
    Entry as HintEntry, Hinted, Hints, HintsError, ObjectHints, OfObjects, TriedHint, hints, read_hints, tuned_hints,
};
pub use kernels::{KernelError, LoopBounds, LoopChoice, Loops, core_named, known_cores, loops};
pub use ledger::{Calibration, Entry, LEDGER, LedgerError, calibration, ledger_beside, read_ledger, write_ledger};
pub use machine::{MachineError, read_machine, write_machine};
pub use operations::{OperationsError, read_operations};
pub use other_pes::{OtherPes, PesPoint, PesRow, PesRuns, Unpredictable};
pub use piece::{PieceError, analyze_large, analyze_piece_alone};
pub use run::{
    Amount, Amounts, Blocks, Clocks, Collective, Counts, Distributed, Doing, Frame, Group, InBoth, LineCost, Location,
    Matched, Measure, Meeting, Member, Metric, Operation, Passed, Pe, Process, Provenance, Region, Run, Sample,
    Selected, Shared, Site, Transfer, TransferKind, Visit, Wait, Way,
};
pub use selection::{Moment, Selection, SelectionError};
pub use session::{Opened, Request, analyze, analyze_piece, median_entry, open};
pub use sliced::{SLICE, Sliced, analyze_in_slices, may_be_in_slices};
pub use source::{SourceError, ask_source, compile_ir, read_ir};
pub use tune::{Installed, Measured, Predicted, Setting, Tried, Tunable, Unknown, tunable};
pub use verify::{Came, Verified};
pub use what_if::{
    Followed, MapError, RefusedChange, Saving, WhatIf, WhatIfError, WhatIfRequest, WhyRefused, read_maps, what_if,
};

pub use partune_replay::{Change as RunChange, ChangeError, FORMS as CHANGE_FORMS, Wanted};

pub use partune_advice::Value as KnobValue;
pub use partune_analysis::{
    Account, Activities, ActivityTimes, Affinity, Aligned, AlignedStage, Bound, Cause, Change, Column, Comparison,
    DataTable, EarlyEnd, Efficiency, Figure, Finding, FindingRow, FindingSums, Gap, Growth, Hierarchies, Hierarchy,
    Interval, Law, Level, LevelFactors, Limit, Loss, Mode, Note, Occurrence, Options, Outline, OutlinePhase, Pair,
    PathTime, PathTimes, Pattern, PeChange, PlaceName, PlaceRow, PlaceSums, Point, RunFigures, Scalar, ScaledRow,
    ScaledSums, Scaling, ScalingOutcome, Section, SectionShape, Shape, Stages, Stand, THRESHOLDS, TableShape, Term,
    Threshold, ThresholdKind, TopOperation, Unit, Values, Verdict, repeats,
};
pub use partune_diag::{Code, Diagnostic, Quality, Severity};
pub use partune_hints as hints_file;
pub use partune_job as job;
pub use partune_kernels::ir::{Asked, SourceLoop};
pub use partune_kernels::roofline::Passing;
pub use partune_kernels::{Bounds as LoopLimits, Ceiling, Ceilings, Core, Kernel, Lines, Roof, Roofline, TrafficError};
pub use partune_machine::Machine;
pub use partune_operations::{Operations, OwnPattern, WrongCondition};
pub use partune_picture::{
    Between, Bin, Block, CallTree, Content, Counters, Exchange, Exchanges, First, Flame, FlameBox, FlameView, Flat,
    Fold, Found, FunctionShares, Heat, Holding, Kind, Lasting, Moving, Node, Reading, Stacking, Sum, Tiles, Times,
    View, Waited,
};
pub use partune_trace::{Activity, Ended, Ending, PeKind, Piece, Role};

/// An analysis, for who lists them.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name of its section, and for who asks for some only.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Its manual; Markdown.
    pub docs: &'static str,
    /// What sections it may have, in order.
    pub shows: &'static [SectionShape],
}

/// All analyses, in the order of a report.
pub fn analyses() -> impl Iterator<Item = About> {
    let about = |it: &&Analysis| About { name: it.name, title: it.title, docs: it.docs, shows: it.shows };
    ANALYSES.iter().map(about)
}

/// Learns what the engine does. Called from several threads.
pub trait Progress: Sync {
    /// A stage began.
    fn stage(&self, name: &'static str);

    /// A stage, or an analysis of the last stage, is done.
    fn finished(&self, name: &'static str, took: Duration) {
        let _ = (name, took);
    }

    /// Several processes have done what they share.
    fn exchanged(&self, exchanged: &Exchanged) {
        let _ = exchanged;
    }

    /// The stage's work: so many of so many bytes.
    fn advance(&self, done: u64, total: u64) {
        let _ = (done, total);
    }
}

/// What it cost that several processes shared the work.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged {
    /// Bytes that they sent each other.
    pub bytes: u64,
    /// Event records of the run.
    pub events: u64,
    /// How long process 0 waited for others, and each of the others on average.
    pub waited: Duration,
    pub others_waited: Duration,
}

/// Nobody listens.
impl Progress for () {
    fn stage(&self, _: &'static str) {}
}

/// Does a stage and reports how long it took.
pub(crate) fn timed<T>(progress: &dyn Progress, name: &'static str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    progress.finished(name, begin.elapsed());
    result
}
