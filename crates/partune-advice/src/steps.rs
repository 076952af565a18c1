//! The steps of tuning: from the gaps of a run to what is worth doing, in which order (Hung and Davidson, section 3).

use crate::{Action, GapName, Options, Shares, Step, knowledge};

/// A step that a significant gap calls for, with its actions, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct StepActions {
    pub step: &'static Step,
    pub actions: Vec<Ranked>,
}

/// An action with what speaks for it and against it, in shares of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub action: &'static Action,
    /// What it gains: predicted, else at most, which is the whole of the gaps that it targets.
    pub potential: f64,
    pub is_predicted: bool,
    /// What is at stake in issues that it makes worse.
    pub harm: f64,
    /// What is at stake in other issues that it is good for.
    pub benefit: f64,
    /// `potential` − λ `harm` + μ `benefit`.
    pub score: f64,
}

/// The steps in order, each with those of its actions that target a significant gap. `predicted` is the gain of an action as a share of the
/// run, where one is known; it stands in place of the whole gaps, which are an upper limit. Nothing is said of a run without a
/// significant gap. Cost: actions × issues.
pub fn steps(shares: &Shares, predicted: &dyn Fn(&Action) -> Option<f64>, options: &Options) -> Vec<StepActions> {
    let knowledge = knowledge();
    let significant = |gap: &GapName| shares.share(*gap) >= options.significant;
    let mut found = Vec::new();
    for step in &knowledge.steps {
        if !step.gaps.iter().chain(&step.own_gaps).any(significant) {
            continue;
        }
        let of_step = |action: &&Action| knowledge.issue(action.issue).is_some_and(|issue| issue.step == step.id);
        let targets = |action: &&Action| action.targeted().iter().any(significant);
        let mut actions: Vec<Ranked> = knowledge
            .actions
            .iter()
            .filter(of_step)
            .filter(targets)
            .map(|action| rank(action, shares, predicted(action), options))
            .collect();
        // Stable: of equal ones the first of the list.
        actions.sort_by(|a, b| b.score.total_cmp(&a.score));
        if !actions.is_empty() {
            found.push(StepActions { step, actions });
        }
    }
    found
}

/// The step to go back to when an action was done: the earliest that considers a gap which it affects. None if it affects none.
pub fn reenter(action: &Action) -> Option<&'static Step> {
    let affected = action.affected_gaps();
    knowledge().steps.iter().find(|step| affected.iter().any(|gap| step.considers(*gap)))
}

/// What speaks for an action and against it.
pub(crate) fn rank(action: &'static Action, shares: &Shares, predicted: Option<f64>, options: &Options) -> Ranked {
    let relevance = |issue: &u8| shares.sum(&knowledge().targets_of_issue(*issue));
    let potential = predicted.unwrap_or_else(|| shares.sum(action.targeted()));
    let harm: f64 = action.negative.iter().map(relevance).sum();
    let benefit: f64 = action.positive.iter().filter(|issue| **issue != action.issue).map(relevance).sum();
    let score = potential - options.harm * harm + options.benefit * benefit;
    Ranked { action, potential, is_predicted: predicted.is_some(), harm, benefit, score }
}
