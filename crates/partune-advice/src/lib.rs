//! What can be done about losses: tuning knowledge as data, and which of it a run calls for.
//!
//! For the engine, which has findings and gaps. [`steps`] goes through the tuning steps of Hung and Davidson and ranks the actions of each
//! that is worth a look; [`candidates`] goes from findings to actions at a place, each with the change that predicts it. Nothing is
//! predicted here: a replay evaluates the changes. docs/advice.md is the manual. Sentences for people stand in the data files and
//! nowhere else; nothing here opens a file.

mod action;
mod calls;
mod candidates;
mod gap;
mod knobs;
mod knowledge;
mod listing;
mod loops;
mod steps;

pub use action::{Action, Change, Doubt, Issue, Level, Recheck, Recipe, Rule, Step};
pub use candidates::{Candidate, Evidence, Harm, candidates};
pub use gap::{GapName, Shares};
pub use knobs::{Knob, Library, Value, When, knobs};
pub use knowledge::{Knowledge, knowledge};
pub use steps::{Ranked, StepActions, reenter, steps};

/// What decides what is advised, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// A gap counts from this share of the run on.
    pub significant: f64,
    /// What harm to another issue takes from the score of an action, per share of the run that the issue concerns.
    pub harm: f64,
    /// What good to another issue adds, likewise.
    pub benefit: f64,
    /// A loss is one PE's doing from this share on.
    pub by_one_pe: f64,
    /// Other code of a loop counts from this share of the loop's time on, and a loop from this share of what it is to blame for.
    pub beside: f64,
    /// At most so many candidates that can be predicted, and of these …
    pub predicted: usize,
    /// … so many for what is mainly one finding; and …
    pub per_finding: usize,
    /// … so many that cannot be.
    pub unpredicted: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            significant: 0.05,
            harm: 1.0,
            benefit: 0.5,
            by_one_pe: 0.8,
            beside: 0.05,
            predicted: 32,
            per_finding: 8,
            unpredicted: 8,
        }
    }
}
