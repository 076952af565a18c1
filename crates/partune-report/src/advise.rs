//! What to do about a run: text and JSON of `partune advise`.

use std::fmt::Write;

use partune_diag::seconds;
use partune_engine::{Advice, Advised, Diagnosis, Ranked, Run, Saving};
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{finding_id, hash};
use crate::names;
use crate::runs::{plural, pretty};
use crate::style::{Style, Tone};
use crate::what_if::{saved, warning};
use crate::words;

/// What `partune advise --json` prints. Times are seconds of wall-clock time between the end of start-up and the begin of shut-down.
#[derive(Serialize, JsonSchema)]
struct AdviceDocument<'a> {
    /// Version of this document.
    partune: u32,
    archive: &'a str,
    /// As recorded.
    run_s: f64,
    /// Followed without changes.
    replayed_s: f64,
    /// Best first; what cannot be predicted comes last.
    advice: Vec<AdviceEntry<'a>>,
    /// Two that together save more than the best one alone; null where pairs were not tried, or none does.
    together: Option<PairEntry>,
    /// Changes that were tried and save nothing.
    in_vain: usize,
    /// The steps of tuning that the gaps of the run call for, in order.
    steps: Vec<StepEntry>,
}

#[derive(Serialize, JsonSchema)]
struct AdviceEntry<'a> {
    /// The same for the same action and change, also of other runs.
    id: String,
    /// Of docs/advice.md.
    action: &'static str,
    name: &'static str,
    text: &'static str,
    /// When what it needs to know is known: `static`, `incremental`, `start_up` or `run_time`.
    level: &'static str,
    /// What partune does of it by itself; null if nothing.
    by_partune: Option<&'static str>,
    /// What `partune whatif --change` takes; null where no change predicts the action, and with it all seconds.
    change: Option<&'a str>,
    place: PlaceEntry<'a>,
    predicted_run_s: Option<f64>,
    saves_s: Option<f64>,
    saves_low_s: Option<f64>,
    saves_high_s: Option<f64>,
    /// The prediction is what the action can save at most.
    upper_limit: bool,
    /// Ids of findings in `partune analyze --json`, longest first.
    findings: Vec<String>,
    /// Other actions that the same change predicts.
    alternatives: Vec<&'static str>,
    side_effects: Vec<&'static str>,
    /// Ids of other advice that it works against.
    harms: Vec<String>,
    /// How to do it; null if there is no recipe for a programming model of the run.
    recipe: Option<&'static str>,
    recipe_for: Option<&'static str>,
    recipe_source: Option<&'static str>,
    /// Why nothing predicts it.
    unpredicted: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct PlaceEntry<'a> {
    file: &'a str,
    /// 0 if unknown.
    line: u32,
    function: &'a str,
    construct: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct PairEntry {
    ids: [String; 2],
    predicted_run_s: f64,
    saves_s: f64,
    saves_low_s: f64,
    saves_high_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct StepEntry {
    step: u8,
    name: &'static str,
    actions: Vec<RankedEntry>,
}

#[derive(Serialize, JsonSchema)]
struct RankedEntry {
    action: &'static str,
    /// Share of the run that it gains: predicted, or at most.
    potential: f64,
    predicted: bool,
    score: f64,
}

/// The document of `--json`.
pub fn advice_document(advised: &Advised, diagnosis: &Diagnosis, archive: &str) -> String {
    let run = &diagnosis.run;
    let ids: Vec<String> = advised.advice.iter().map(advice_id).collect();
    let entry = |advice| entry(run, &diagnosis.findings, advised, &ids, advice);
    let pair = advised.together.map(|(one, two, saving)| PairEntry {
        ids: [ids[one].clone(), ids[two].clone()],
        predicted_run_s: saving.predicted_run_s,
        saves_s: saving.saves_s,
        saves_low_s: saving.saves_low_s,
        saves_high_s: saving.saves_high_s,
    });
    let steps = advised.steps.iter().map(|it| StepEntry {
        step: it.step.id,
        name: &it.step.name,
        actions: it
            .actions
            .iter()
            .map(|it| RankedEntry {
                action: &it.action.id,
                potential: it.potential,
                predicted: it.is_predicted,
                score: it.score,
            })
            .collect(),
    });
    pretty(&AdviceDocument {
        partune: 1,
        archive,
        run_s: advised.followed.run_s,
        replayed_s: advised.followed.replayed_s,
        advice: advised.advice.iter().map(entry).collect(),
        together: pair,
        in_vain: advised.in_vain,
        steps: steps.collect(),
    })
}

fn entry<'a>(
    run: &'a Run,
    findings: &[Ranked],
    advised: &Advised,
    ids: &[String],
    advice: &'a Advice,
) -> AdviceEntry<'a> {
    let (candidate, action) = (&advice.candidate, advice.candidate.action);
    let location = run.location(advice.place);
    // Harms name candidates by action, and so do those that are told.
    let harmed =
        |issue: u8| advised.advice.iter().zip(ids).filter(move |(other, _)| other.candidate.action.helps(issue));
    let mut harms: Vec<String> =
        candidate.harms.iter().flat_map(|harm| harmed(harm.issue)).map(|(_, id)| id.clone()).collect();
    harms.sort();
    harms.dedup();
    harms.retain(|other| *other != advice_id(advice));
    AdviceEntry {
        id: advice_id(advice),
        action: &action.id,
        name: &action.name,
        text: &action.text,
        change: advice.change.as_deref(),
        place: PlaceEntry {
            file: location.file,
            line: location.line,
            function: location.function,
            construct: names::construct(run, advice.place),
        },
        predicted_run_s: advice.saving.map(|it| it.predicted_run_s),
        saves_s: advice.saving.map(|it| it.saves_s),
        saves_low_s: advice.saving.map(|it| it.saves_low_s),
        saves_high_s: advice.saving.map(|it| it.saves_high_s),
        upper_limit: candidate.upper_limit,
        findings: candidate.findings.iter().map(|at| finding_id(run, &findings[*at].finding)).collect(),
        alternatives: candidate.alternatives.iter().map(|action| action.id.as_str()).collect(),
        level: action.level.key(),
        by_partune: action.by_partune.as_deref(),
        side_effects: action.side_effects.iter().map(String::as_str).collect(),
        harms,
        recipe: advice.recipe.map(|(_, recipe)| recipe.text.as_str()),
        recipe_for: advice.recipe.map(|(model, _)| model),
        recipe_source: advice.recipe.map(|(_, recipe)| recipe.source.as_str()),
        unpredicted: action.unpredicted.as_deref().filter(|_| advice.saving.is_none()),
    }
}

/// What advice is called: the same for the same action and change, also of other runs.
pub fn advice_id(advice: &Advice) -> String {
    let change = advice.change.as_deref().unwrap_or_default();
    format!("{}-{:08x}", advice.candidate.action.id, hash(&[change.into()], &[]))
}

/// The JSON schema of the document.
pub fn advice_schema() -> String {
    pretty(&schemars::schema_for!(AdviceDocument<'_>))
}

/// For the terminal: the first `rows` of what can be predicted, and what cannot by name.
pub fn advice_text(advised: &Advised, diagnosis: &Diagnosis, rows: usize, style: Style) -> String {
    let mut out = String::new();
    let run = &diagnosis.run;
    let _ = writeln!(
        out,
        "The run takes {}; followed again without changes it takes {}, {} off.",
        seconds(advised.followed.run_s),
        seconds(advised.followed.replayed_s),
        names::percent(advised.followed.off())
    );
    if let Some(text) = warning(&advised.followed) {
        style.wrapped(&mut out, (Tone::Warning, "warning: "), &text);
    }
    let predicted = || advised.advice.iter().filter(|advice| advice.saving.is_some_and(|saving| saving.saves_s > 0.0));
    let count = predicted().count();
    if count == 0 && !advised.followed.is_lost() {
        out.push_str("Nothing that was tried would make it shorter.\n");
    }
    for (number, advice) in predicted().take(rows).enumerate() {
        one(&mut out, run, &diagnosis.findings, number + 1, advice, advised.followed.run_s, style);
    }
    if count > rows {
        let _ = writeln!(out, "\n{} more: --rows {count}", plural(count - rows, "piece of advice", "pieces of advice"));
    }
    if let Some((one, two, saving)) = advised.together {
        let change = |at: usize| advised.advice[at].change.as_deref().unwrap_or_default();
        let text = format!("{} and {}: saves {}", change(one), change(two), saved(&saving, advised.followed.run_s));
        out.push('\n');
        style.wrapped(&mut out, (Tone::Strong, "Together  "), &text);
    }
    let mut others: Vec<&str> = Vec::new();
    for advice in advised.advice.iter().filter(|it| it.saving.is_none()) {
        let name = advice.candidate.action.name.as_str();
        if !others.contains(&name) {
            others.push(name);
        }
    }
    if !others.is_empty() {
        out.push('\n');
        style.wrapped(&mut out, (Tone::Dim, "Also worth a look, though no replay predicts it: "), &others.join("; "));
    }
    out
}

/// `saves at most 446 ms (410 ms to 480 ms), 28.1 % of the run`.
fn saves(advice: &Advice, saving: &Saving, run_s: f64) -> String {
    let saved = saved(saving, run_s);
    match advice.factor {
        _ if advice.candidate.upper_limit => format!("saves at most {saved}"),
        Some(factor) if factor < 1.0 => format!("{} less time there saves {saved}", names::percent(1.0 - factor)),
        _ => format!("saves {saved}"),
    }
}

fn one(out: &mut String, run: &Run, findings: &[Ranked], number: usize, advice: &Advice, run_s: f64, style: Style) {
    let Some(saving) = &advice.saving else { return };
    let action = advice.candidate.action;
    let _ = writeln!(out);
    let label = format!("{number:>3}  ");
    style.wrapped(out, (Tone::Strong, &label), &format!("{}: {}", action.name, saves(advice, saving, run_s)));
    let mut row = |label: &str, text: &str| style.wrapped(out, (Tone::Dim, &format!("     {label:<8} ")), text);
    row("where", &names::place(run, advice.place));
    if let Some(finding) = advice.candidate.findings.first().map(|at| &findings[*at]) {
        let construct = names::construct(run, finding.finding.path);
        let more = advice.candidate.findings.len() - 1;
        let more =
            if more > 0 { format!(", and {}", plural(more, "more finding", "more findings")) } else { String::new() };
        let lost = seconds(run.seconds(finding.finding.time));
        row("because", &format!("{} in {construct}, {lost} of all PEs{more}", words::title(finding.finding.pattern)));
    }
    row("do", &action.text);
    row("when", action.level.when());
    if let Some(by) = &action.by_partune {
        row("by", by);
    }
    // The same change predicts them.
    let others: Vec<String> =
        advice.candidate.alternatives.iter().map(|it| format!("{} ({})", it.name, it.id)).collect();
    if !others.is_empty() {
        row("or", &others.join("; "));
    }
    if let Some((model, recipe)) = advice.recipe {
        row(model, &recipe.text);
    }
    for effect in &action.side_effects {
        row("but", effect);
    }
    if let Some(change) = &advice.change {
        row("try", &format!("partune whatif RUN --change '{change}'"));
    }
    row("id", &advice_id(advice));
}
