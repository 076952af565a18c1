//! Which values of a knob are worth a try: by what changes save, and by what the library that ran has.

use partune_advice::{Knob, Library, Value};
use partune_replay::{Change, Replay};

use super::cases::Case;
use super::{Installed, Predicted, Setting};
use crate::Diagnosis;
use crate::advise::WORTH;
use crate::what_if::{Followed, Saving};

/// A run, and where it ran.
pub(super) struct Search<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) replay: &'a Replay<'a>,
    pub(super) followed: Followed,
    pub(super) installed: &'a dyn Installed,
}

/// What a bound says is rarely saved, so it has to be this share of the run to be worth a try.
const WORTH_AT_MOST: f64 = 0.05;

impl Search<'_> {
    /// Values of a knob in the order in which they are worth a try: what is predicted to save most first, and what nobody can predict last. None if the
    /// knob does not matter; an error if it does, and no library has it.
    pub(super) fn suited(&self, knob: &'static Knob, case: &Case) -> Result<Vec<Setting>, Predicted> {
        let most = self.most(knob, case);
        // What may save next to nothing needs no question about values.
        if most.as_ref().is_some_and(|it| it.saving.saves_s < WORTH_AT_MOST * self.followed.run_s) {
            return Ok(Vec::new());
        }
        let found = Found::of(knob, case, self.installed);
        let values = match &found {
            _ if !case.values.is_empty() => case.values.clone(),
            _ if !knob.values.is_empty() => knob.values.clone(),
            Some(found) => found.values(self.installed),
            None => Vec::new(),
        };
        let predicted =
            values.into_iter().filter_map(|value| Some((self.predicted(knob, case, &value, most.as_ref())?, value)));
        let mut predicted: Vec<(Predicted, Value)> = predicted.collect();
        let Some(found) = found else {
            return predicted.into_iter().next().map(|it| it.0).or(most).map_or_else(|| Ok(Vec::new()), Err);
        };
        predicted
            .sort_by(|(a, _), (b, _)| a.is_most.cmp(&b.is_most).then(b.saving.saves_s.total_cmp(&a.saving.saves_s)));
        let setting = |(predicted, value): (Predicted, Value)| {
            let environment = found.environment(&value);
            let (what, name) = (knob.what(found.word), knob.name(found.word));
            let setting = Setting { what, name, text: &knob.text, value, environment, predicted };
            self.is_new(knob, &setting).then_some(setting)
        };
        Ok(predicted.into_iter().filter_map(setting).collect())
    }

    /// What any value saves at most; none if nothing bounds it.
    fn most(&self, knob: &Knob, case: &Case) -> Option<Predicted> {
        let of_share = |share| Saving::of_share(self.followed.run_s, share);
        let (saving, changes) = if let Some(share) = case.share {
            (of_share(share), Vec::new())
        } else {
            let changes = knob.most(&case.places, case.factor)?;
            (self.saving(&changes).unwrap_or_else(|| of_share(0.0)), changes)
        };
        Some(Predicted { changes, saving, is_most: true })
    }

    /// What a value saves, or at most; none if that is not worth a try.
    fn predicted(&self, knob: &Knob, case: &Case, value: &Value, most: Option<&Predicted>) -> Option<Predicted> {
        let of_value = knob.changes(&case.places, value).and_then(|changes| Some((self.saving(&changes)?, changes)));
        match of_value {
            Some((saving, changes)) if saving.saves_s >= WORTH * self.followed.run_s => {
                Some(Predicted { changes, saving, is_most: false })
            }
            // The replay does not know which algorithm ran: what seems to be the same may be another one. What is predicted to be slower is not tried.
            Some((saving, _)) if saving.saves_s <= -WORTH * self.followed.run_s => None,
            _ => most.cloned(),
        }
    }

    /// What changes save together; none if one of them is not possible.
    fn saving(&self, changes: &[String]) -> Option<Saving> {
        let changes: Vec<Change> = changes.iter().map(|change| change.parse().ok()).collect::<Option<_>>()?;
        let outcome = self.replay.under(&changes);
        let saving = Saving::of(&self.diagnosis.run.trace, self.followed, &outcome, self.replay.plain());
        (outcome.refused.is_empty() && !changes.is_empty()).then_some(saving)
    }

    /// Whether the environment does not say the same, and says something else if only that counts.
    fn is_new(&self, knob: &Knob, setting: &Setting) -> bool {
        let now = |name: &str| self.installed.variable(name);
        let is_new = setting.environment.iter().any(|(name, value)| now(name).as_ref() != Some(value));
        is_new && (!knob.replaces || setting.environment.iter().any(|(name, _)| now(name).is_some()))
    }
}

/// A knob in a library that ran.
struct Found<'a> {
    library: &'a Library,
    listing: String,
    word: Option<&'a str>,
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
            (!variables.is_empty()).then_some(Found { library, listing, word, variables })
        })
    }

    fn values(&self, installed: &dyn Installed) -> Vec<Value> {
        let Some(variable) = self.variables.first() else { return Vec::new() };
        let accepts = |name: &str| installed.prints(&self.library.lists, Some((variable, name))).is_some();
        self.library.values(&self.listing, self.word, &accepts)
    }

    fn environment(&self, value: &Value) -> Vec<(String, String)> {
        let set = self.variables.iter().map(|name| (name.clone(), value.to_string()));
        set.chain(self.library.with()).collect()
    }
}
