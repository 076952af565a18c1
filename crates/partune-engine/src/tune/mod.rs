//! What could be set without changing the program, as far as a replay says that it saves time.

mod cases;
mod hints;

use partune_advice::{Knob, Library, Value};
use partune_analysis::{Interval, repeats};
use partune_machine::Machine;
use partune_replay::{Change, Replay};

use crate::advise::WORTH;
use crate::what_if::{Followed, Saving, WhatIfError, follow};
use crate::{Diagnosis, Progress};

use cases::Case;
pub use hints::{Hints, HintsError, hints, read_hints};

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

/// What a bound says is rarely saved, so it has to be this share of the run to be worth a try.
const WORTH_AT_MOST: f64 = 0.05;

/// Finds what is worth a try. Cost: a replay, and one a knob and value.
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
    let saving = |changes: &[String]| saving(diagnosis, &replay, followed.run_s, changes);
    let (mut settings, mut unknown) = (Vec::new(), Vec::new());
    let ran = |knob: &&Knob| installed.libraries().iter().any(|(model, _)| *model == knob.model);
    for knob in partune_advice::knobs().iter().filter(ran) {
        for case in cases::of(knob, diagnosis, &replay) {
            match suited(knob, &case, installed, (followed.run_s, &saving)) {
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

/// What changes save together; none if one of them is not possible.
fn saving(diagnosis: &Diagnosis, replay: &Replay<'_>, run_s: f64, changes: &[String]) -> Option<Saving> {
    let changes: Vec<Change> = changes.iter().map(|change| change.parse().ok()).collect::<Option<_>>()?;
    let outcome = replay.under(&changes);
    let saving = Saving::of(&diagnosis.run.trace, run_s, &outcome, replay.plain());
    (outcome.refused.is_empty() && !changes.is_empty()).then_some(saving)
}

/// Values of a knob in the order in which they are worth a try: what is predicted to save most first, and what nobody can predict last. None if the knob
/// does not matter; an error if it does, and no library has it.
fn suited(
    knob: &'static Knob,
    case: &Case,
    installed: &dyn Installed,
    (run_s, saving): (f64, &dyn Fn(&[String]) -> Option<Saving>),
) -> Result<Vec<Setting>, Predicted> {
    let most = match (case.share, knob.most(&case.places, case.factor)) {
        (Some(share), _) => Some((Saving::of_share(run_s, share), Vec::new())),
        (None, Some(changes)) => Some((saving(&changes).unwrap_or(Saving::of_share(run_s, 0.0)), changes)),
        (None, None) => None,
    };
    // What may save next to nothing needs no question about values.
    if most.as_ref().is_some_and(|(saving, _)| saving.saves_s < WORTH_AT_MOST * run_s) {
        return Ok(Vec::new());
    }
    let most = most.map(|(saving, changes)| Predicted { changes, saving, is_most: true });
    let found = Found::of(knob, case, installed);
    let values = match &found {
        Some(found) if case.values.is_empty() && knob.values.is_empty() => found.values(case, installed),
        _ if case.values.is_empty() => knob.values.clone(),
        _ => case.values.clone(),
    };
    let mut settings = Vec::new();
    for value in values {
        let of_value = knob.changes(&case.places, &value).and_then(|changes| Some((saving(&changes)?, changes)));
        let predicted = match (of_value, &most) {
            (Some((saving, changes)), _) if saving.saves_s >= WORTH * run_s => {
                Predicted { changes, saving, is_most: false }
            }
            // The replay does not know which algorithm ran: what seems to be the same may be another one. What is predicted to be slower is not tried.
            (Some((saving, _)), Some(most)) if saving.saves_s > -WORTH * run_s => most.clone(),
            (None, Some(most)) => most.clone(),
            _ => continue,
        };
        let Some(found) = &found else { return Err(predicted) };
        let environment = found.environment(&value);
        let now: Vec<Option<String>> = environment.iter().map(|(name, _)| installed.variable(name)).collect();
        let is_new = environment.iter().zip(&now).any(|((_, value), now)| now.as_ref() != Some(value));
        if is_new && (!knob.replaces || now.iter().any(Option::is_some)) {
            let word = case.word.as_deref();
            let (what, name) = (knob.what(word), knob.name(word));
            settings.push(Setting { what, name, text: &knob.text, value, environment, predicted });
        }
    }
    match (found, most) {
        (None, Some(most)) => Err(most),
        _ => {
            settings.sort_by_key(|setting| setting.predicted.is_most);
            Ok(settings)
        }
    }
}

/// A knob in a library that ran.
struct Found<'a> {
    library: &'a Library,
    listing: String,
    variables: Vec<String>,
}

impl<'a> Found<'a> {
    fn of(knob: &'a Knob, case: &'a Case, installed: &'a dyn Installed) -> Option<Found<'a>> {
        let word = case.word.as_deref();
        let of_model = installed.libraries().iter().filter(|(model, _)| *model == knob.model);
        let mut known = of_model.flat_map(|(_, version)| knob.libraries(version));
        known.find_map(|library| {
            let listing = match library.lists.as_slice() {
                [] => String::new(),
                command => installed.prints(command, None)?,
            };
            let variables = library.variables(&listing, word);
            (!variables.is_empty()).then_some(Found { library, listing, variables })
        })
    }

    fn values(&self, case: &Case, installed: &dyn Installed) -> Vec<Value> {
        let Some(variable) = self.variables.first() else { return Vec::new() };
        let accepts = |name: &str| installed.prints(&self.library.lists, Some((variable, name))).is_some();
        self.library.values(&self.listing, case.word.as_deref(), &accepts)
    }

    fn environment(&self, value: &Value) -> Vec<(String, String)> {
        let set = self.variables.iter().map(|name| (name.clone(), value.to_string()));
        set.chain(self.library.with()).collect()
    }
}

/// A setting that was tried in turns with what was kept before it.
#[derive(Debug)]
pub struct Tried {
    pub setting: Setting,
    /// What came of it, or how the program ended that did not end well.
    pub measured: Result<Measured, String>,
    /// Whether it is to be kept.
    pub kept: bool,
}

/// Runs of the whole command with and without a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Of each kind.
    pub runs: usize,
    /// Seconds of wall-clock time without it, and what it saves of them.
    pub without: Interval,
    pub saved: Interval,
}

impl Measured {
    /// Of times that were measured in turns; none without any.
    pub fn new(without: &[f64], with: &[f64]) -> Option<Measured> {
        let saved = repeats::difference(with, without)?;
        Some(Measured { runs: with.len(), without: repeats::median(without)?, saved })
    }

    /// Whether it saves time beyond noise.
    pub fn helps(&self) -> bool {
        self.saved.is_known() && self.saved.is_above(0.0)
    }

    /// What it saves of the command, as a share.
    pub fn share(&self) -> f64 {
        self.saved.estimate / self.without.estimate.max(f64::MIN_POSITIVE)
    }
}

impl Tried {
    /// What it saves, in seconds, if that is beyond noise.
    pub fn saves(&self) -> Option<f64> {
        let measured = self.measured.as_ref().ok()?;
        (measured.helps() && !self.is_too_good()).then_some(measured.saved.estimate)
    }

    /// Whether more was saved than could be, so that something else changed.
    pub fn is_too_good(&self) -> bool {
        let Predicted { saving, is_most, .. } = &self.setting.predicted;
        let most = saving.saves_high_s / (saving.predicted_run_s + saving.saves_s).max(f64::MIN_POSITIVE);
        *is_most && self.measured.as_ref().is_ok_and(|it| it.share() > TOO_GOOD * most)
    }

    /// Whether it saves most of what was predicted.
    pub fn is_as_predicted(&self) -> bool {
        self.saves().is_some_and(|saves| saves >= 0.5 * self.setting.predicted.saving.saves_s)
    }
}

/// How many times what is most may be saved: the run that was recorded is one of many.
const TOO_GOOD: f64 = 2.0;
