//! Model-driven simulation: an application model is walked, and what its tasks do to data is followed through caches, before there is any code.
//!
//! For the command line. Each phase and PE gets its working set, its misses told apart (first use, too small a cache, true and false sharing,
//! threads that moved) and its time; between phases and PEs is told what flows. A pure function of a model with all parameters given: the same model gives
//! the same figures, to the bit.
//!
//! Source: E. S. Davidson and S.-H. Hung, model-driven performance tuning (MDS, steps 1 to 6), with three additions: false sharing is told apart from
//! true sharing, caches have a size, and PEs take turns by their times.
//!
//! | question | module |
//! |---|---|
//! | where is which element | [`layout`] |
//! | what is done, compiled | [`program`] |
//! | who has which line, and who wrote what | [`memory`] |
//! | which write each read sees, and whether that is sure | [`order`] |
//! | when was which event posted | [`events`] |
//! | who does what when | [`walk`] |
//! | what came of it | [`outcome`] |
//! | the same as a trace, for all analyses of recorded runs | [`trace`] |
//! | which change of the model is best | [`tune`] |
//! | what classes of work cost, by a recorded run | [`calibrate`] |
//! | what is the model of a recorded run | [`extract`] |
//!
//! Cost: some 45 to 90 ns for each element that is touched (`benches/mds.rs`). Memory: 12 bytes for each element, 8 for each line, and some 50 for each line
//! that a PE has touched; 8 bytes for each pair of PEs and each pair of phases of which one reads what the other one wrote.

pub mod calibrate;
mod events;
pub mod extract;
mod layout;
mod memory;
mod order;
mod outcome;
mod program;
mod trace;
pub mod tune;
mod walk;

use partune_model::model::{Alternative, Model};
use partune_model::{Diagnostic, Span};
use partune_trace::Trace;

use trace::Recorder;

pub use order::{Conflict, Order};
pub use outcome::{Bounds, Counts, DataRow, Flow, Outcome, Part, PeRow, PhaseRow, SIZES, Size};

/// What a walk may take.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Elements of all arrays, and lines from the first to the last of them.
    pub max_elements: u64,
    pub max_lines: u64,
    /// References to data, at most 2³² − 2.
    pub max_references: u64,
    /// Turns of loops.
    pub max_turns: u64,
    /// Visits of a run that is recorded.
    pub max_visits: u64,
    /// Whether the walk also tells in which order things are done: [`Outcome::order`].
    pub order: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_elements: 1 << 28,
            max_lines: 1 << 27,
            max_references: u64::from(u32::MAX) - 1,
            max_turns: 10_000_000_000,
            max_visits: 50_000_000,
            order: false,
        }
    }
}

/// Follows the data of an alternative. All parameters must have values; what is wrong is told with its place in the text.
pub fn follow(model: &Model, alternative: &Alternative, options: &Options) -> Result<Outcome, Diagnostic> {
    let (arrays, program) = compile(model, alternative, options)?;
    walk::walk(model, &program, &arrays, options, None)
}

/// The same, and the run as a trace: 20 bytes a visit, of which each PE has up to nine for a loop over a domain, and
/// eight more for each wait for an event.
pub fn record(model: &Model, alternative: &Alternative, options: &Options) -> Result<(Outcome, Trace), Diagnostic> {
    let (arrays, program) = compile(model, alternative, options)?;
    let mut recorder = Recorder::new(program.pes, &model.application.phases);
    let outcome = walk::walk(model, &program, &arrays, options, Some(&mut recorder))?;
    let trace = recorder.finish(outcome.run_s);
    Ok((outcome, trace))
}

fn compile(
    model: &Model,
    alternative: &Alternative,
    options: &Options,
) -> Result<(layout::Arrays, program::Program), Diagnostic> {
    let open: Vec<&str> = model.open().map(|param| param.name.as_str()).collect();
    if !open.is_empty() {
        let text = format!("no value for {}", open.join(", "));
        return Err(Diagnostic::error(Span::default(), text).help("give values with -D NAME=VALUE"));
    }
    let Some(steps) = &alternative.steps else {
        let text = format!("`{}` says nothing of data", alternative.name);
        let help = "name `data`, and what a `task` of a `forall` reads, writes or updates";
        return Err(Diagnostic::error(Span::default(), text).help(help));
    };
    let arrays = layout::place(model, options)?;
    let program = program::compile(model, steps, &arrays)?;
    Ok((arrays, program))
}
