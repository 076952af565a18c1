//! What could be set without changing the program, as far as a replay says that it saves time.

mod cases;
mod search;
mod tried;

use partune_advice::{Knob, Value};
use partune_machine::Machine;

use crate::what_if::{Followed, Saving, WhatIfError, follow};
use crate::{Diagnosis, Progress};

use search::Search;

pub use tried::{Measured, Tried};

/// Where the program ran, and will run again.
pub trait Installed {
    /// The programming models of the run, and what their libraries say of their versions.
    fn libraries(&self) -> &[(String, String)];
    /// What a command prints with a variable set; none if it cannot be started or does not end well.
    fn prints(&self, command: &[String], set: Option<(&str, &str)>) -> Option<String>;
    /// What a variable of the environment is set to.
    fn variable(&self, name: &str) -> Option<String>;
}

/// What could be set for a run.
#[derive(Debug)]
pub struct Tunable {
    /// Without changes.
    pub followed: Followed,
    /// By knob, what saves most first: values to be tried one after the other until one keeps what was predicted.
    pub settings: Vec<Vec<Setting>>,
    /// What the libraries that ran have no name for that is known here.
    pub unknown: Vec<Unknown>,
}

/// What a value of a knob, or any of them, is predicted to save.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// What was replayed, each on top of those before it.
    pub changes: Vec<String>,
    pub saving: Saving,
    /// Whether no value saves more, and nothing says what this one saves.
    pub is_most: bool,
}

/// A value of a knob.
#[derive(Debug)]
pub struct Setting {
    /// In hints files, for people, and what it does.
    pub what: String,
    pub name: String,
    pub text: &'static str,
    pub value: Value,
    /// Variables and their values.
    pub environment: Vec<(String, String)>,
    pub predicted: Predicted,
}

/// A knob that the libraries that ran do not have, by the names that are known here.
#[derive(Debug)]
pub struct Unknown {
    pub what: String,
    pub name: String,
    pub predicted: Predicted,
}

/// Finds what is worth a try. Cost: a replay, one for what bounds a knob, and one for each value that a change predicts.
pub fn tunable(
    diagnosis: &Diagnosis,
    machine: Option<&Machine>,
    installed: &dyn Installed,
    progress: &dyn Progress,
) -> Result<Tunable, WhatIfError> {
    let run = &diagnosis.run;
    if run.is_profile() {
        return Err(WhatIfError::Profile);
    }
    let (replay, followed) = follow(&run.trace, &run.index, machine, progress);
    progress.stage("trying changes");
    let search = Search { diagnosis, replay: &replay, followed, installed };
    let (mut settings, mut unknown) = (Vec::new(), Vec::new());
    let ran = |knob: &&Knob| installed.libraries().iter().any(|(model, _)| *model == knob.model);
    for knob in partune_advice::knobs().iter().filter(ran) {
        for case in cases::of(knob, diagnosis, &replay) {
            match search.suited(knob, &case) {
                Ok(values) => settings.extend(Some(values).filter(|values| !values.is_empty())),
                Err(predicted) => {
                    let word = case.word.as_deref();
                    unknown.push(Unknown { what: knob.what(word), name: knob.name(word), predicted });
                }
            }
        }
    }
    settings.sort_by(|a, b| b[0].predicted.saving.saves_s.total_cmp(&a[0].predicted.saving.saves_s));
    Ok(Tunable { followed, settings, unknown })
}
