//! Which alternative is best, and which of each phase of a plan: JSON of `partune model decide`.

use partune_expr::{Expr, Number};
use partune_model::decide::Decision;
use partune_model::model::{Model, Stage};
use partune_model::plan::{Act, Chosen};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::{pretty, schema_of};

/// What `partune model decide --json` prints. Costs are in the unit of the model's times, formulas in its parameters.
#[derive(Serialize, JsonSchema)]
struct DecisionDocument<'a> {
    /// For each plan the cheapest choices, if all parameters have values.
    plans: Vec<PlanEntry<'a>>,
    /// Alternatives; of plans the choices in which turns of a loop are alike, by the names of their alternatives.
    choices: Vec<ChoiceEntry<'a>>,
    pairs: Vec<PairEntry<'a>>,
    /// Whether tests decide everywhere; else, where none of them holds, costs must be computed.
    closed: bool,
    /// Why choices of plans are not among those that are compared.
    not_compared: Option<String>,
    /// What formulas and tests hold under.
    assumptions: Vec<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct ChoiceEntry<'a> {
    name: &'a str,
    cost: Option<String>,
    at_least: Option<String>,
    at_most: Option<String>,
    /// Whether times are drawn, so that costs bound the mean time from below.
    random: bool,
    /// Whether it waits for events, which costs leave out.
    awaits: bool,
    /// Why there is no closed form.
    weaker: &'a [String],
    /// When it is best for sure.
    chosen: String,
    dominated_by: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct PairEntry<'a> {
    left: &'a str,
    right: &'a str,
    /// When `left` costs less for sure, and when not more.
    less: String,
    at_most: String,
    closed: bool,
    solved: bool,
}

#[derive(Serialize, JsonSchema)]
struct PlanEntry<'a> {
    name: &'a str,
    parameters: Vec<ParameterEntry<'a>>,
    /// Whether costs come from simulation, not from head-tail estimates.
    simulated: bool,
    cost: f64,
    /// What is in no phase, and the same whatever is chosen.
    others: f64,
    steps: Vec<StepEntry<'a>>,
    phases: Vec<PhaseEntry<'a>>,
    /// The plan without a redistribution between phases.
    stays: Vec<StayEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct ParameterEntry<'a> {
    name: &'a str,
    value: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
enum StepEntry<'a> {
    Phase {
        phase: &'a str,
        alternative: &'a str,
        cost: f64,
    },
    Redistribute {
        from: &'a str,
        to: &'a str,
        cost: f64,
    },
    /// Turns of a loop from the first to the last value of its variable: those of `turns`, again and again.
    Turns {
        variable: &'a str,
        first: i64,
        last: i64,
        turns: Vec<Vec<StepEntry<'a>>>,
    },
    /// Something that is no phase.
    Other,
}

#[derive(Serialize, JsonSchema)]
struct PhaseEntry<'a> {
    phase: &'a str,
    alternatives: Vec<AlternativeEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct AlternativeEntry<'a> {
    name: &'a str,
    /// The mapping of data that it needs, and the one that it leaves; null if it does not matter where they are.
    needs: Option<&'a str>,
    leaves: Option<&'a str>,
    cost: f64,
}

#[derive(Serialize, JsonSchema)]
struct StayEntry<'a> {
    mapping: &'a str,
    /// With what it takes to get there first, and to where data must be last; null where a phase cannot be done in this mapping.
    cost: Option<f64>,
}

/// What was decided.
pub struct Decided<'a> {
    /// With the choices of plans in which turns are alike, where these are compared.
    pub model: &'a Model,
    pub decision: Option<&'a Decision>,
    pub not_compared: Option<String>,
    /// The model with all values, and what was chosen in each of its plans.
    pub plans: Option<(&'a Model, &'a [Chosen])>,
    pub simulated: bool,
    pub assumptions: Vec<&'a str>,
}

/// The document of `--json`.
pub fn model_decide_document(found: &Decided<'_>) -> String {
    let written = |e: &Expr| e.fold(&found.model.quotients).to_string();
    let choices = found.decision.map_or(&[][..], |it| &it.choices).iter().map(|choice| {
        let form = &choice.form;
        ChoiceEntry {
            name: &choice.name,
            cost: form.is_closed().then(|| written(&form.head_tail)),
            at_least: (!form.is_closed()).then(|| written(&form.head_tail)),
            at_most: (!form.is_closed() && !form.upper.is_undefined()).then(|| written(&form.upper)),
            random: form.random,
            awaits: form.awaits,
            weaker: &form.weaker,
            chosen: choice.chosen.to_string(),
            dominated_by: choice.dominated_by.as_deref(),
        }
    });
    let pairs = found.decision.map_or(&[][..], |it| &it.pairs).iter().map(|pair| PairEntry {
        left: &pair.left,
        right: &pair.right,
        less: pair.less.to_string(),
        at_most: pair.at_most.to_string(),
        closed: pair.closed,
        solved: pair.solved,
    });
    let plans = found.plans.map_or_else(Vec::new, |(model, all)| {
        model.plans.iter().zip(all).map(|(plan, chosen)| entry(model, &plan.name, chosen, found.simulated)).collect()
    });
    pretty(&DecisionDocument {
        plans,
        choices: choices.collect(),
        pairs: pairs.collect(),
        closed: found.decision.is_none_or(Decision::is_closed),
        not_compared: found.not_compared.clone(),
        assumptions: found.assumptions.clone(),
    })
}

/// The JSON schema of the document.
pub fn model_decide_schema() -> String {
    schema_of::<DecisionDocument<'_>>()
}

fn entry<'a>(model: &'a Model, name: &'a str, chosen: &'a Chosen, simulated: bool) -> PlanEntry<'a> {
    let value = |it: &'a partune_model::model::Param| {
        it.value.map(|value| ParameterEntry { name: it.name.as_str(), value: value.to_f64() })
    };
    let alternative = |(at, cost): &(usize, Number)| {
        let it = &model.alternatives[*at];
        let mapping = it.stage.and_then(|stage| stage.mapping);
        AlternativeEntry {
            name: &it.name,
            needs: mapping.map(|it| model.mappings[it.0].as_str()),
            leaves: mapping.map(|it| model.mappings[it.1].as_str()),
            cost: cost.to_f64(),
        }
    };
    let phases = model.phases.iter().zip(&chosen.options).filter(|(_, all)| !all.is_empty());
    let stays = model.mappings.iter().zip(&chosen.stays);
    PlanEntry {
        name,
        parameters: model.params.iter().filter_map(value).collect(),
        simulated,
        cost: chosen.cost.to_f64(),
        others: chosen.others.to_f64(),
        steps: steps(model, &chosen.acts),
        phases: phases
            .map(|(phase, all)| PhaseEntry { phase, alternatives: all.iter().map(alternative).collect() })
            .collect(),
        stays: stays.map(|(mapping, cost)| StayEntry { mapping, cost: cost.map(Number::to_f64) }).collect(),
    }
}

fn steps<'a>(model: &'a Model, acts: &'a [Act]) -> Vec<StepEntry<'a>> {
    let one = |act: &'a Act| match act {
        Act::Other(_) => StepEntry::Other,
        Act::Run { alternative, cost } => {
            let it = &model.alternatives[*alternative];
            let phase = it.stage.map_or("", |Stage { phase, .. }| model.phases[phase].as_str());
            StepEntry::Phase { phase, alternative: &it.name, cost: cost.to_f64() }
        }
        Act::Redistribute { redistribution, cost } => {
            let it = &model.redistributions[*redistribution];
            let [from, to] = [it.from, it.to].map(|at| model.mappings[at].as_str());
            StepEntry::Redistribute { from, to, cost: cost.to_f64() }
        }
        Act::Turns { range, first, last, turns } => StepEntry::Turns {
            // Loop variables of one name are told apart by what is behind a dot.
            variable: range.variable.name.split('.').next().unwrap_or_default(),
            first: *first,
            last: *last,
            turns: turns.iter().map(|turn| steps(model, turn)).collect(),
        },
    };
    acts.iter().map(one).collect()
}
