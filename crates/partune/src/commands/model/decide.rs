//! `partune model decide`: when which alternative is best, and for each phase of a plan the one that is, with redistributions between them.

use std::path::PathBuf;

use partune_expr::{Number, Rat};
use partune_model::Diagnostic;
use partune_model::decide::decide;
use partune_model::estimate::{closed_form, numbers};
use partune_model::model::{Model, Term};
use partune_model::plan::{Chosen, plan, with_plans};
use partune_model::simulate::{Options, simulate};
use partune_report::{Decided, model_decide_document, model_decide_schema};

use super::{Input, Source, assumptions, definition, show};
use crate::output;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model decide adi.pam -D P=8 --for N\n  \
                        partune model decide adi_sweeps.pam -D P=8 -D S=100")]
pub(super) struct Decide {
    /// The model: a file that ends in .pam
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// The value of a parameter
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    define: Vec<(String, Rat)>,
    /// Compare only these alternatives, and no plans
    #[arg(long, value_name = "NAME")]
    alt: Vec<String>,
    /// The parameter to solve for
    #[arg(long = "for", value_name = "NAME")]
    variable: Option<String>,
    /// Take what simulation says for what phases of plans take, in place of head-tail estimates
    #[arg(long)]
    simulate: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
}

pub(super) fn run(args: &Decide) -> anyhow::Result<()> {
    let Some(file) = args.file.as_ref().filter(|_| !args.schema) else { return output::print(&model_decide_schema()) };
    let input = Input { file: file.clone(), define: args.define.clone() };
    let source = input.source()?;
    let open = source.model(&input.values())?;
    let with_plan = !open.plans.is_empty() && args.alt.is_empty();
    let given = if with_plan { with_values(&input, &source, &open)? } else { None };
    let plans = match &given {
        Some(given) => choose(&source, given, args.simulate)?,
        None => Vec::new(),
    };
    // Plans that are chosen with values are told, whatever formulas can do.
    let (general, not_compared) = if with_plan { compared(&source, &open, given.is_some())? } else { (open, None) };
    let decision = match &not_compared {
        Some(_) => None,
        None => Some(decide(&general, &args.alt, args.variable.as_deref()).map_err(|error| source.failed(&error))?),
    };
    if args.json {
        let found = Decided {
            model: &general,
            decision: decision.as_ref(),
            not_compared,
            plans: given.as_ref().map(|given| (given, &plans[..])),
            simulated: args.simulate,
            assumptions: assumptions(&general),
        };
        return output::print(&model_decide_document(&found));
    }
    let mut text = String::new();
    if let Some(given) = &given {
        for (plan, chosen) in given.plans.iter().zip(&plans) {
            show::plan(&mut text, &plan.name, chosen, given);
        }
    }
    // What was chosen with values is the answer, unless somebody asks for a condition.
    if let Some(decision) = decision.filter(|_| !with_plan || given.is_none() || args.variable.is_some()) {
        if with_plan {
            show::choices(&mut text, &decision, &general);
        } else {
            show::decision(&mut text, &decision, &general, args.variable.as_deref());
        }
    }
    output::print(&text)
}

/// The model with values for all parameters, if there are: those given, and defaults.
fn with_values(input: &Input, source: &Source, open: &Model) -> anyhow::Result<Option<Model>> {
    let values = input.complete(source);
    let has_all = open.params.iter().all(|param| values.contains_key(&param.name));
    if has_all { Ok(Some(source.model(&values)?)) } else { Ok(None) }
}

fn choose(source: &Source, model: &Model, simulated: bool) -> anyhow::Result<Vec<Chosen>> {
    let mut cost = |term: &Term| -> Result<Number, Diagnostic> {
        if simulated {
            return Ok(simulate(model, term, &Options::default())?.makespan);
        }
        Ok(numbers(&closed_form(model, term), model, model, term)?.bounds.head_tail)
    };
    let all = model.plans.iter().map(|it| plan(model, it, &mut cost).map_err(|error| source.failed(&error)));
    all.collect()
}

/// The model with choices of its plans as alternatives; where there are too many of them, the reason, if there is something else to tell.
fn compared(source: &Source, open: &Model, is_told: bool) -> anyhow::Result<(Model, Option<String>)> {
    match with_plans(open) {
        Ok(model) => {
            let count = model.alternatives.iter().filter(|it| it.stage.is_none() && it.name != "main").count();
            let few = || format!("there are {count} of them");
            Ok((model, (count < 2 && is_told).then(few)))
        }
        Err(error) if is_told => Ok((open.clone(), Some(error.message))),
        Err(error) => Err(source.failed(&error)),
    }
}
