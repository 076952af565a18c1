//! Models in text: diagnostics with an excerpt of the source, estimates, runs, decisions.

use std::fmt::Write;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use partune_expr::{Expr, Number, Test};
use partune_model::decide::Decision;
use partune_model::estimate::{ClosedForm, Numbers, Origin};
use partune_model::model::Model;
use partune_model::plan::{Act, Chosen};
use partune_model::simulate::Outcome;
use partune_model::{Diagnostic, Severity, Span};
use partune_report::plural;

/// Queues that a listing shows; the busiest.
const QUEUES: usize = 16;

/// A diagnostic with the lines it is about.
pub(super) fn diagnostic(diagnostic: &Diagnostic, source: &str, path: &Path) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let range = diagnostic.span.range();
    let begin = range.start.min(source.len());
    let range = begin..range.end.clamp(begin, source.len());
    let path = path.display().to_string();
    let mut group = level.primary_title(&diagnostic.message).elements(Vec::<annotate_snippets::Element<'_>>::new());
    // What is about the whole has no place.
    if diagnostic.span != partune_model::Span::default() {
        let snippet = Snippet::source(source).path(path).annotation(AnnotationKind::Primary.span(range));
        group = group.element(snippet);
    }
    if !diagnostic.help.is_empty() {
        group = group.element(Level::HELP.message(&diagnostic.help));
    }
    Renderer::plain().render(&[group])
}

/// A diagnostic of a model with a try behind it, shown in whichever of the two it is about.
pub(super) fn of_try(error: &Diagnostic, (model, path): (&str, &Path), text: &str) -> String {
    let before = model.len() as u32 + 1;
    if error.span.begin < before {
        return diagnostic(error, model, path);
    }
    // A place that begins a text is a place, too, and the default is none.
    let span = Span { begin: error.span.begin - before, end: error.span.end.saturating_sub(before).max(1) };
    diagnostic(&Diagnostic { span, ..error.clone() }, text, Path::new("--try"))
}

pub(super) fn number(value: Number) -> String {
    match value {
        Number::Exact(value) if value.is_integer() => value.to_string(),
        value => significant(value.to_f64()),
    }
}

/// A number with the digits that count, or a formula.
fn valued(cost: &Expr) -> String {
    cost.to_rat().map_or_else(|| short(cost), |value| number(Number::Exact(value)))
}

/// A formula or a condition, if a person can read it; else how long it is, and where it stands.
fn short(formula: &impl ToString) -> String {
    let text = formula.to_string();
    match text.chars().count() {
        ..=LONGEST => text,
        length => format!("(of {length} characters: --json has it, and with values by -D it is shorter)"),
    }
}

/// Characters that are printed of one.
const LONGEST: usize = 600;

/// Six digits that count.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        let digits = if value == 0.0 { 1 } else { 6 - value.abs().log10().floor() as i32 - 1 };
        let text = format!("{value:.*}", digits.clamp(0, 9) as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.5e}")
    }
}

pub(super) fn estimate(text: &mut String, name: &str, form: &ClosedForm, model: &Model, found: Option<&Numbers>) {
    let bounds = found.map(|it| it.bounds);
    let forms = form.printed(model);
    let values = bounds.map(|bounds| [bounds.basic, bounds.head_tail, bounds.upper].map(number));
    let _ = writeln!(text, "{name}");
    let last = if form.random { "of means" } else { "upper" };
    for (index, label) in ["basic", "head-tail", last].into_iter().enumerate() {
        // The upper formula is whole as long as nothing was left out.
        let formula = match index {
            2 if form.upper.is_undefined() => "no formula: a part of the model stays numeric".to_owned(),
            2 => forms[2].clone(),
            _ if form.is_closed() => forms[index].clone(),
            _ => format!("at least {}", forms[index]),
        };
        let own = form.is_closed() || index == 2 && !form.upper.is_undefined();
        match &values {
            Some(values) if values[index] == formula => _ = writeln!(text, "  {label:<10}{formula}"),
            Some(values) if own => _ = writeln!(text, "  {label:<10}{:>14}  = {formula}", values[index]),
            Some(values) => _ = writeln!(text, "  {label:<10}{:>14}  {formula}", values[index]),
            None => _ = writeln!(text, "  {label:<10}{formula}"),
        }
    }
    if !model.assumptions.is_empty() {
        let assumed: Vec<&str> = model.assumptions.iter().map(|assumption| assumption.text.as_str()).collect();
        let _ = writeln!(text, "  assuming  {}; times are not negative", assumed.join(", "));
    }
    for reason in &form.weaker {
        let _ = writeln!(text, "  no closed form: {reason}");
    }
    if form.awaits {
        let _ = writeln!(
            text,
            "  waits for events are left out of basic and head-tail, and upper is all work in a row: partune model simulate follows them"
        );
    }
    if form.random {
        let _ = writeln!(
            text,
            "  times are drawn: basic and head-tail bound the mean time from below; nothing here bounds it from above"
        );
    }
    if let Some(Numbers { bounds, origin }) = found {
        let origin = match origin {
            Origin::Formula if form.is_closed() => None,
            Origin::Formula => Some("the formula for these values, which is a closed form"),
            Origin::Enumeration => Some("enumeration"),
            Origin::Both => Some("enumeration, head-tail from the formula, which is sharper"),
        };
        if let Some(origin) = origin {
            let _ = writeln!(text, "  the numbers come from {origin}");
        }
        if bounds.upper.to_f64() > 2.0 * bounds.head_tail.to_f64() {
            let what = if form.random { "the figures" } else { "the bounds" };
            let _ = writeln!(text, "  {what} are far apart: partune model simulate tells more");
        }
    }
}

pub(super) fn outcome(text: &mut String, name: &str, outcome: &Outcome) {
    let _ = writeln!(
        text,
        "{name}: {} ({}, at most {})",
        number(outcome.makespan),
        plural(outcome.uses as usize, "use", "uses"),
        plural(outcome.processes, "process", "processes")
    );
    let mut resources: Vec<_> = outcome.resources.iter().collect();
    if resources.is_empty() {
        return;
    }
    resources.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    let _ = writeln!(
        text,
        "\n  {:<16} {:>8} {:>10} {:>12} {:>11} {:>10}",
        "resource", "servers", "uses", "utilisation", "mean queue", "max queue"
    );
    for resource in resources.iter().take(QUEUES) {
        let _ = writeln!(
            text,
            "  {:<16} {:>8} {:>10} {:>11.1}% {:>11} {:>10}",
            resource.name,
            resource.servers,
            resource.uses,
            100.0 * resource.utilisation,
            significant(resource.mean_queue),
            resource.max_queue
        );
    }
    if resources.len() > QUEUES {
        let _ = writeln!(text, "  and {} more, less used", resources.len() - QUEUES);
    }
}

/// What was chosen for a plan, what there was to choose from, and what redistributing saves.
pub(super) fn plan(text: &mut String, name: &str, chosen: &Chosen, model: &Model) {
    let values = model.params.iter().filter_map(|it| Some(format!("{} = {}", it.name, it.value?)));
    let values: Vec<String> = values.collect();
    let values = if values.is_empty() { String::new() } else { format!(", with {}", values.join(", ")) };
    let _ = writeln!(text, "{name} costs {}{values}\n", number(chosen.cost));
    let mut rows = Vec::new();
    acts(&mut rows, 1, &chosen.acts, model);
    for (phase, all) in model.phases.iter().zip(&chosen.options).filter(|(_, all)| !all.is_empty()) {
        rows.push([String::new(), String::new()]);
        rows.push([format!("  {phase} could be"), String::new()]);
        for (at, cost) in all {
            let it = &model.alternatives[*at];
            let on = match it.stage.and_then(|stage| stage.mapping) {
                None => String::new(),
                Some((needs, leaves)) if needs == leaves => format!(" on {}", model.mappings[needs]),
                Some((needs, leaves)) => format!(" on {} -> {}", model.mappings[needs], model.mappings[leaves]),
            };
            rows.push([format!("    {}{on}", it.name), number(*cost)]);
        }
    }
    if !model.mappings.is_empty() {
        rows.push([String::new(), String::new()]);
        rows.push(["  all phases in one mapping".to_owned(), String::new()]);
        for (mapping, cost) in model.mappings.iter().zip(&chosen.stays) {
            rows.push([format!("    {mapping}"), cost.map_or_else(|| "not possible".to_owned(), number)]);
        }
    }
    let widths = [0, 1].map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    for [what, cost] in rows {
        let _ = writeln!(text, "{}", format!("{what:<0$}  {cost:>1$}", widths[0], widths[1]).trim_end());
    }
    let best = chosen.stays.iter().zip(&model.mappings).filter_map(|(cost, mapping)| Some(((*cost)?, mapping)));
    if let Some((cost, mapping)) = best.reduce(|a, b| if b.0.compare(a.0).is_lt() { b } else { a }) {
        let saved = cost.to_f64() - chosen.cost.to_f64();
        let _ = if chosen.cost.compare(cost).is_lt() {
            let share = 100.0 * saved / cost.to_f64();
            writeln!(text, "\nredistributing saves {} of {mapping}, {share:.2} %", significant(saved))
        } else {
            writeln!(text, "\nredistributing between phases saves nothing: data stay in {mapping}")
        };
    }
    text.push('\n');
}

fn acts(rows: &mut Vec<[String; 2]>, depth: usize, all: &[Act], model: &Model) {
    let indent = "  ".repeat(depth);
    for act in all {
        match act {
            Act::Other(_) => rows.push([format!("{indent}what is no phase"), String::new()]),
            Act::Run { alternative, cost } => {
                let it = &model.alternatives[*alternative];
                let phase = it.stage.map_or("", |stage| &model.phases[stage.phase]);
                rows.push([format!("{indent}{phase}: {}", it.name), number(*cost)]);
            }
            Act::Redistribute { redistribution, cost } => {
                let it = &model.redistributions[*redistribution];
                let [from, to] = [it.from, it.to].map(|at| &model.mappings[at]);
                rows.push([format!("{indent}redistribute {from} -> {to}"), number(*cost)]);
            }
            Act::Turns { range, first, last, turns } => {
                let variable = range.variable.name.split('.').next().unwrap_or_default();
                let (what, period) =
                    (if first == last { format!("{first}") } else { format!("{first} to {last}") }, turns.len());
                let each = match period {
                    1 if first == last => String::new(),
                    1 => ", each".to_owned(),
                    _ => format!(", {period} turns that come again"),
                };
                rows.push([format!("{indent}{variable} = {what}{each}"), String::new()]);
                for (at, turn) in turns.iter().enumerate() {
                    if period > 1 {
                        rows.push([format!("{indent}  turn {}", at + 1), String::new()]);
                    }
                    acts(rows, depth + if period > 1 { 2 } else { 1 }, turn, model);
                }
            }
        }
    }
}

/// Choices of plans by formulas.
pub(super) fn choices(text: &mut String, decision: &Decision, model: &Model) {
    let _ = writeln!(text, "by formulas, where turns of a loop are alike:\n");
    costs(text, decision, model);
}

pub(super) fn decision(text: &mut String, decision: &Decision, model: &Model, variable: Option<&str>) {
    costs(text, decision, model);
    text.push('\n');
    pairs(text, decision, variable);
}

fn costs(text: &mut String, decision: &Decision, model: &Model) {
    let width = decision.choices.iter().map(|choice| choice.name.len()).max().unwrap_or(0);
    for choice in &decision.choices {
        let cost = choice.form.head_tail.fold(&model.quotients);
        if choice.form.is_closed() {
            let _ = writeln!(text, "{:<width$}  costs {}", choice.name, valued(&cost));
            continue;
        }
        let most = choice.form.upper.fold(&model.quotients);
        let most = if most.is_undefined() { String::new() } else { format!(", at most {}", valued(&most)) };
        let _ = writeln!(text, "{:<width$}  costs at least {}{most}", choice.name, valued(&cost));
        for reason in &choice.form.weaker {
            let _ = writeln!(text, "{:<width$}    no closed form: {reason}", "");
        }
    }
    for choice in decision.choices.iter().filter(|choice| choice.form.awaits) {
        let what = "waits for events, which its cost leaves out: partune model simulate follows them";
        let _ = writeln!(text, "{:<width$}  {what}", choice.name);
    }
    if decision.choices.iter().any(|choice| choice.form.random) {
        let _ = writeln!(text, "times are drawn: costs bound the mean time from below");
    }
    if !model.assumptions.is_empty() {
        let assumed: Vec<&str> = model.assumptions.iter().map(|assumption| assumption.text.as_str()).collect();
        let _ = writeln!(text, "assuming {}; times are not negative", assumed.join(", "));
    }
    text.push('\n');
    for choice in &decision.choices {
        let when = match &choice.dominated_by {
            Some(better) => format!("never: {better} is at least as good"),
            None if choice.chosen == Test::Always => "always best".to_owned(),
            None if choice.chosen == Test::Never => "not best for sure anywhere".to_owned(),
            None => format!("best if {}", short(&choice.chosen)),
        };
        let _ = writeln!(text, "{:<width$}  {when}", choice.name);
    }
    if !decision.is_closed() {
        let _ = writeln!(
            text,
            "elsewhere the costs must be computed: by partune model estimate with -D, and by the code of partune model emit"
        );
    }
}

fn pairs(text: &mut String, decision: &Decision, variable: Option<&str>) {
    for pair in &decision.pairs {
        let _ = writeln!(text, "{} < {}:  {}", pair.left, pair.right, short(&pair.less));
        if pair.at_most != pair.less {
            let _ = writeln!(text, "{} <= {}: {}", pair.left, pair.right, short(&pair.at_most));
        }
        if !pair.closed {
            let _ = writeln!(text, "  for sure; elsewhere it is open");
        }
        if let (false, Some(name)) = (pair.solved, variable) {
            let _ = writeln!(text, "  not solved for {name}: it stands where it cannot be isolated");
        }
    }
}
