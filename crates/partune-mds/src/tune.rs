//! Tuning of a model: changes of it, each followed as the model is, ranked by the time that is predicted.
//!
//! For who decides what to write next. A try is some [changes](partune_model::change) together. It is *sound* if the program would still compute the same:
//! where loops, barriers or owners are changed, each read must see the same write as before, and where nothing is in doubt in the model, no PE may access
//! what another one writes without a meeting between. Other data flow after other values of parameters is told and is no fault, for a problem may have
//! another size.
//!
//! Cost: that of [`follow`](crate::follow) for each try, and of the bounds on what tasks take.

use partune_model::ast::ChangeKind;
use partune_model::change::{Original, apply};
use partune_model::estimate::bounds;
use partune_model::model::{Alternative, Model};
use partune_model::{Diagnostic, Files, has_errors, parse_changes};

use crate::outcome::{Outcome, Part};
use crate::{Options, follow};

/// What a try has to save of the run to be called better: models are off by more than that.
pub const WORTH: f64 = 0.01;

/// A program followed.
#[derive(Clone, Debug)]
pub struct Evaluated {
    pub outcome: Outcome,
    /// The head-tail bound on its tasks, by their weights: no run is shorter, whatever lines cost. None where it cannot be enumerated.
    pub least_s: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct Tried {
    /// As it was given.
    pub text: String,
    pub found: Evaluated,
    /// Whether each read sees the same write as in the model.
    pub same_data_flow: bool,
    /// Whether the program is sure to compute what the model's does, as far as models tell.
    pub is_sound: bool,
}

#[derive(Clone, Debug)]
pub struct Tuned {
    pub original: Evaluated,
    /// Sound ones first, then by run time; in the order in which they were given where that is the same.
    pub tries: Vec<Tried>,
}

/// What is wrong, and with which of the tries; none is the model itself. Places are in the model's text with a line break and the try behind it.
pub type Wrong = (Option<usize>, Diagnostic);

/// Follows a model and all tries, each alone. Everything that is wrong with tries is told.
pub fn tune(
    original: &Original<'_>,
    tries: &[String],
    files: Files<'_>,
    options: &Options,
) -> Result<Tuned, Vec<Wrong>> {
    let options = Options { order: true, ..*options };
    let base = evaluate(original.model, original.alternative, &options).map_err(|error| vec![(None, error)])?;
    let mut told = Vec::new();
    let mut found = Vec::new();
    for (at, text) in tries.iter().enumerate() {
        match one(original, &base, text, files, &options) {
            Ok(tried) => found.push(tried),
            Err(wrong) => told.extend(wrong.into_iter().map(|error| (Some(at), error))),
        }
    }
    if !told.is_empty() {
        return Err(told);
    }
    found.sort_by(|a, b| {
        let key = |it: &Tried| (!it.is_sound, it.found.outcome.run_s);
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    Ok(Tuned { original: base, tries: found })
}

fn one(
    original: &Original<'_>,
    base: &Evaluated,
    text: &str,
    files: Files<'_>,
    options: &Options,
) -> Result<Tried, Vec<Diagnostic>> {
    let (changes, told) = parse_changes(text, original.text.len() + 1);
    if has_errors(&told) {
        return Err(told);
    }
    let both = format!("{}\n{text}", original.text);
    let changed = apply(original, &both, &changes, files)?;
    let found = evaluate(&changed.model, &changed.alternative, options).map_err(|error| vec![error])?;
    let order = |it: &Evaluated| it.outcome.order.clone().unwrap_or_default();
    let (before, after) = (order(base), order(&found));
    let same_data_flow = before.data_flow == after.data_flow;
    let is_other = |kind: &ChangeKind| matches!(kind, ChangeKind::Set(..) | ChangeKind::Alternative(_));
    let may_differ = changes.iter().any(|change| is_other(&change.node));
    // Where the model itself leaves the order open, no try can be held to it.
    let was_open = !before.conflicts.is_empty();
    let is_sound = was_open || after.conflicts.is_empty() && (same_data_flow || may_differ);
    Ok(Tried { text: text.trim().to_owned(), found, same_data_flow, is_sound })
}

fn evaluate(model: &Model, alternative: &Alternative, options: &Options) -> Result<Evaluated, Diagnostic> {
    let outcome = follow(model, alternative, options)?;
    let term = alternative.steps.as_ref().map(|steps| steps.term(model));
    let least_s = term.and_then(|term| bounds(model, &term).ok()).map(|bounds| bounds.head_tail.to_f64());
    Ok(Evaluated { outcome, least_s })
}

impl Tuned {
    /// What a try saves; nothing where that is what rounding leaves.
    pub fn saves_s(&self, tried: &Tried) -> f64 {
        let saved = self.original.outcome.run_s - tried.found.outcome.run_s;
        if saved.abs() > self.least(tried) { saved } else { 0.0 }
    }

    /// What is left of differences of equal sums is no more than this.
    fn least(&self, tried: &Tried) -> f64 {
        1e-9 * self.original.outcome.run_s.max(tried.found.outcome.run_s)
    }

    /// Of the run.
    pub fn saves(&self, tried: &Tried) -> f64 {
        let run = self.original.outcome.run_s;
        if run > 0.0 { self.saves_s(tried) / run } else { 0.0 }
    }

    /// What a try saves of each part of the run, what moves most first; what does not move is left out.
    pub fn moves(&self, tried: &Tried) -> Vec<(Part, f64)> {
        let of = |it: &Evaluated, part: Part| it.outcome.bounds.part(part);
        let saved = |part: &Part| (*part, of(&self.original, *part) - of(&tried.found, *part));
        let least = self.least(tried);
        let mut moves: Vec<(Part, f64)> =
            Part::ALL.iter().map(saved).filter(|(_, saved)| saved.abs() > least).collect();
        moves.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        moves
    }

    /// The best sound try, if it is worth it.
    pub fn best(&self) -> Option<&Tried> {
        self.tries.first().filter(|tried| tried.is_sound && self.saves(tried) >= WORTH)
    }
}
