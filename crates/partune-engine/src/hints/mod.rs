//! Hints of a recorded run: what its objects' runtime could do better by itself, as far as a replay says that it saves time.

mod entries;
mod objects;
mod settings;

use partune_analysis::object_run;
use partune_base::Span;
use partune_diag::Quality;
use partune_hints::{Combine, File, Pipeline, Place, Priority, Tree};
use partune_objects::deduce::{Deduced, Options, deduce};
use partune_trace::Trace;

use crate::session::{Opened, Request, matched};
use crate::what_if::{Followed, Saving, WhatIfError};
use crate::{Progress, operations, timed};

pub use objects::ObjectHints;
pub use settings::{Hints, HintsError, read_hints, tuned_hints};

/// What a run says of its program.
#[derive(Debug)]
pub struct Hinted {
    pub pes: usize,
    /// Executions of methods on objects.
    pub executions: usize,
    /// None of runs without objects that send each other messages.
    pub objects: Option<OfObjects>,
    /// What was noticed about the input.
    pub quality: Quality,
}

/// What was deduced from a run of objects. Times are seconds from the first execution of a method to the end of the last.
#[derive(Debug)]
pub struct OfObjects {
    pub followed: Followed,
    /// Executed anew with times on the way that are drawn from all.
    pub redrawn_s: f64,
    /// With all that is kept: as recorded, less what is saved.
    pub hinted_s: f64,
    /// By which share of the run it is off, at most.
    pub off: f64,
    pub objects: usize,
    pub executions: usize,
    pub messages: usize,
    /// Messages whose time on the way was measured.
    pub measured: u64,
    /// In the order in which they were tried, each on top of those that are kept.
    pub tried: Vec<TriedHint>,
    /// What is kept.
    pub file: File,
}

/// A hint, and what it would save.
#[derive(Debug)]
pub struct TriedHint {
    pub entry: Entry,
    pub saving: Saving,
    pub kept: bool,
}

/// What stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Place(Place),
    Tree(Tree),
    /// Of an array, or of several types of messages.
    Priority(Vec<Priority>),
    Pipeline(Pipeline),
    Combine(Combine),
}

/// Deduces hints. `program`: the command that was recorded, where who asks knows it; else the archive does, or it is called by its `name`. Cost: about thirty simulations
/// of the run for each array.
pub fn hints(
    opened: impl Into<Opened>,
    program: Option<&str>,
    name: &str,
    progress: &dyn Progress,
) -> Result<Hinted, WhatIfError> {
    let Opened { mut trace, operations } = opened.into();
    if trace.profile().is_some() {
        return Err(WhatIfError::Profile);
    }
    let operations = operations::chosen(&partune_operations::Operations::default(), operations, &mut trace);
    let (trace, index, _) = matched(operations.assign(trace), &Request::default(), progress);
    let mut quality = trace.quality().clone();
    quality.merge(index.quality);
    let pes = trace.cpu_pes().count();
    progress.stage("deducing hints");
    let program = program.or(trace.command()).unwrap_or(name);
    let objects = timed(progress, "hints", || of_objects(&trace, program));
    let executions = trace.streams().iter().map(|stream| stream.executions.len()).sum();
    Ok(Hinted { pes, executions, objects, quality })
}

fn of_objects(trace: &Trace, program: &str) -> Option<OfObjects> {
    let run = object_run(trace)?;
    let deduced = deduce(&run.graph, &run.known, &Options::default()).ok()?;
    let seconds = |ticks: i64| trace.clock().seconds(Span(ticks));
    let run_s = seconds(deduced.run);
    let names = entries::Names { trace, run: &run };
    let [objects, executions] = run.counts();
    let tried = deduced.judged.iter().map(|it| {
        let (saves_s, saves_low_s, saves_high_s) = (seconds(it.saves), seconds(it.low), seconds(it.high));
        let predicted_run_s = (run_s - saves_s).max(0.0);
        let saving = Saving { predicted_run_s, saves_s, saves_low_s, saves_high_s };
        TriedHint { entry: names.entry(it, &saving), saving, kept: it.is_kept() }
    });
    let tried: Vec<TriedHint> = tried.collect();
    let Deduced { replayed, redrawn, hinted, off, measured, .. } = deduced;
    Some(OfObjects {
        followed: Followed { run_s, replayed_s: seconds(replayed) },
        redrawn_s: seconds(redrawn),
        hinted_s: (run_s - seconds(replayed - hinted)).max(0.0),
        off,
        objects,
        executions,
        messages: run.graph.messages().source.len(),
        measured,
        file: names.file(program, &deduced, &tried),
        tried,
    })
}
