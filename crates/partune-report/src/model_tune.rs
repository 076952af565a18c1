//! Changes of a model, ranked: text and JSON of `partune model tune`.

use std::fmt::Write;

use partune_diag::seconds;
use partune_mds::tune::{Evaluated, Tried, Tuned, WORTH};
use partune_mds::{Conflict, Part};
use schemars::JsonSchema;
use serde::Serialize;

use crate::data::{CountsEntry, counts, section};
use crate::names::percent;
use crate::runs::{plural, pretty, schema_of};
use crate::style::{Style, Tone};

/// Tries that the table of parts has columns for.
const COLUMNS: usize = 6;

/// What `partune model tune --json` prints. Seconds are in the unit of the model's times.
#[derive(Serialize, JsonSchema)]
struct TuneDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// The alternative of the model.
    name: &'a str,
    /// The model as it is.
    model: RunEntry,
    /// What PEs of the model access in no order, so that no try can be held to one.
    conflicts: Vec<ConflictEntry<'a>>,
    /// Those that compute the same first, by predicted time.
    tries: Vec<TryEntry<'a>>,
    /// The try that is best, if it computes the same and saves 1 % of the run or more.
    best: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry {
    pes: usize,
    run_s: f64,
    /// What its tasks take at least, whatever their data cost; null where it cannot be computed.
    least_s: Option<f64>,
    /// They add up to the run.
    parts: Vec<PartEntry>,
    counts: CountsEntry,
}

#[derive(Serialize, JsonSchema)]
struct PartEntry {
    part: &'static str,
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
struct TryEntry<'a> {
    /// As it was given.
    r#try: &'a str,
    /// Whether it would compute the same as the model, as far as models tell.
    is_sound: bool,
    /// Whether each read sees the same write as in the model.
    same_data_flow: bool,
    saves_s: f64,
    /// Of the run of the model.
    saves: f64,
    /// What it saves of each part, what moves most first; negative where a part becomes longer.
    moves: Vec<PartEntry>,
    predicted: RunEntry,
    /// What PEs would access in no order.
    conflicts: Vec<ConflictEntry<'a>>,
}

/// Accesses of two PEs to an element, at least one of them a write, and nothing between that all wait for.
#[derive(Serialize, JsonSchema)]
struct ConflictEntry<'a> {
    data: &'a str,
    /// Phases, by the order in which they were followed.
    first: &'a str,
    second: &'a str,
    is_first_write: bool,
    count: u64,
    /// Of one of them.
    element: u64,
    first_pe: u32,
    second_pe: u32,
}

/// The document of `--json`.
pub fn model_tune_document(name: &str, tuned: &Tuned) -> String {
    pretty(&TuneDocument {
        partune: 1,
        name,
        model: run(&tuned.original),
        conflicts: conflicts(&tuned.original),
        tries: tuned.tries.iter().map(|tried| entry(tuned, tried)).collect(),
        best: tuned.best().map(|tried| tried.text.as_str()),
    })
}

/// The JSON schema of the document.
pub fn model_tune_schema() -> String {
    schema_of::<TuneDocument<'_>>()
}

fn entry<'a>(tuned: &Tuned, tried: &'a Tried) -> TryEntry<'a> {
    let part = |(part, seconds): (Part, f64)| PartEntry { part: id(part), seconds };
    TryEntry {
        r#try: &tried.text,
        is_sound: tried.is_sound,
        same_data_flow: tried.same_data_flow,
        saves_s: tuned.saves_s(tried),
        saves: tuned.saves(tried),
        moves: tuned.moves(tried).into_iter().map(part).collect(),
        predicted: run(&tried.found),
        conflicts: conflicts(&tried.found),
    }
}

fn run(it: &Evaluated) -> RunEntry {
    let part = |part: &Part| PartEntry { part: id(*part), seconds: it.outcome.bounds.part(*part) };
    RunEntry {
        pes: it.outcome.pes,
        run_s: it.outcome.run_s,
        least_s: it.least_s,
        parts: Part::ALL.iter().map(part).collect(),
        counts: counts(&it.outcome.counts()),
    }
}

fn conflicts(it: &Evaluated) -> Vec<ConflictEntry<'_>> {
    it.outcome.order.iter().flat_map(|order| &order.conflicts).map(conflict).collect()
}

fn conflict(it: &Conflict) -> ConflictEntry<'_> {
    ConflictEntry {
        data: &it.data,
        first: &it.first,
        second: &it.second,
        is_first_write: it.is_first_write,
        count: it.count,
        element: it.element,
        first_pe: it.pes.0,
        second_pe: it.pes.1,
    }
}

/// The name of a part in documents.
fn id(part: Part) -> &'static str {
    match part {
        Part::Work => "work",
        Part::FirstUse => "first_use",
        Part::Capacity => "capacity",
        Part::TrueSharing => "true_sharing",
        Part::Upgrades => "upgrades",
        Part::FalseSharing => "false_sharing",
        Part::Migration => "migration",
        Part::Imbalance => "imbalance",
        Part::Phases => "phases",
        Part::Turns => "turns",
        Part::Barriers => "barriers",
        Part::Events => "events",
    }
}

/// The gap of a part, and what it is.
fn words(part: Part) -> [&'static str; 2] {
    match part {
        Part::Work => ["", "work, evenly shared"],
        Part::FirstUse => ["C'", "first use of lines"],
        Part::Capacity => ["C'", "caches too small"],
        Part::TrueSharing => ["C'", "true sharing"],
        Part::Upgrades => ["C'", "upgrades"],
        Part::FalseSharing => ["", "false sharing"],
        Part::Migration => ["", "threads that moved"],
        Part::Imbalance => ["L", "imbalance"],
        Part::Phases => ["M'", "imbalance of phases"],
        Part::Turns => ["D", "imbalance of turns"],
        Part::Barriers => ["S'", "barriers"],
        Part::Events => ["S'", "waits for events"],
    }
}

/// For the terminal.
pub fn model_tune_text(name: &str, tuned: &Tuned, style: Style) -> String {
    let mut out = String::new();
    let original = &tuned.original.outcome;
    let head = style.paint(Tone::Strong, name);
    let pes = plural(original.pes, "PE", "PEs");
    let _ = writeln!(out, "{head}: {pes}, a run of {} as it is", seconds(original.run_s));
    ranking(&mut out, tuned, style);
    parts(&mut out, tuned, style);
    doubts(&mut out, tuned, style);
    verdict(&mut out, tuned, style);
    out
}

/// More, with a sign.
fn change(saved: f64) -> String {
    let sign = if saved > 0.0 { "−" } else { "+" };
    format!("{sign}{}", seconds(saved.abs()))
}

fn ranking(out: &mut String, tuned: &Tuned, style: Style) {
    let titles = ["", "predicted", "saves", "of run", "at least", "what moves most"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for (at, tried) in tuned.tries.iter().enumerate() {
        let most = tuned.moves(tried).first().map(|(part, saved)| format!("{} {}", words(*part)[1], change(*saved)));
        let saves_s = tuned.saves_s(tried);
        let (saves, share) = match saves_s {
            saved if saved > 0.0 => (seconds(saved), percent(tuned.saves(tried))),
            saved if saved < 0.0 => (format!("−{}", seconds(-saved)), format!("−{}", percent(-tuned.saves(tried)))),
            _ => ("–".to_owned(), "–".to_owned()),
        };
        rows.push(vec![
            format!("{}  {}", if tried.is_sound { (at + 1).to_string() } else { "–".to_owned() }, tried.text),
            seconds(tried.found.outcome.run_s),
            saves,
            share,
            tried.found.least_s.map_or_else(|| "–".to_owned(), seconds),
            most.unwrap_or_else(|| "nothing".to_owned()),
        ]);
    }
    section(out, style, "tries, by predicted time", &rows);
}

fn parts(out: &mut String, tuned: &Tuned, style: Style) {
    let shown: Vec<&Tried> = tuned.tries.iter().take(COLUMNS).collect();
    let mut title = vec![String::new(), "as it is".to_owned()];
    let number = |(at, tried): (usize, &&Tried)| if tried.is_sound { (at + 1).to_string() } else { "–".to_owned() };
    title.extend(shown.iter().enumerate().map(number));
    let all: Vec<&Evaluated> = std::iter::once(&tuned.original).chain(shown.iter().map(|it| &it.found)).collect();
    let longest = all.iter().map(|it| it.outcome.run_s).fold(0.0, f64::max);
    let mut rows = vec![title];
    for part in Part::ALL {
        let values: Vec<f64> = all.iter().map(|it| it.outcome.bounds.part(part)).collect();
        // What is left of differences of equal sums is nothing.
        let is_something = |value: &f64| value.abs() > 1e-9 * longest;
        if values.iter().any(is_something) {
            let cells = values.iter().map(|it| if is_something(it) { seconds(*it) } else { "–".to_owned() });
            let [gap, what] = words(part);
            rows.push([format!("{gap:<3} {what}")].into_iter().chain(cells).collect());
        }
    }
    let heading = match tuned.tries.len() {
        all if all > COLUMNS => {
            &format!("where the time would go, with the first {COLUMNS} of {all} tries (--json has all)")
        }
        _ => "where the time would go",
    };
    section(out, style, heading, &rows);
}

fn doubts(out: &mut String, tuned: &Tuned, style: Style) {
    let list = |it: &Evaluated| {
        let said = |it: &Conflict| {
            let (what, then) = if it.is_first_write { ("writes", "accesses") } else { ("reads", "writes") };
            format!(
                "PE {} {what} element {} of {} in {}, and PE {} {then} it in {}",
                it.pes.0, it.element, it.data, it.first, it.pes.1, it.second
            )
        };
        let conflicts = it.outcome.order.as_ref().map_or(&[][..], |order| &order.conflicts);
        conflicts.first().map(|first| match conflicts.len() {
            1 => said(first),
            more => format!("{}, and {}", said(first), plural(more - 1, "other such pair", "other such pairs")),
        })
    };
    if let Some(said) = list(&tuned.original) {
        out.push('\n');
        let text =
            format!("nothing orders some accesses of the model as it is, so no try can be held to their order: {said}");
        style.wrapped(out, (Tone::Warning, "warning: "), &text);
    }
    for tried in &tuned.tries {
        let why = match (tried.is_sound, list(&tried.found)) {
            (false, Some(said)) => format!("is no gain, for nothing orders this any more: {said}"),
            (false, None) => "is no gain: reads would see other writes than in the model".to_owned(),
            (true, _) if !tried.same_data_flow => {
                "computes something else than the model does, so that times are not of the same work".to_owned()
            }
            (true, _) => continue,
        };
        out.push('\n');
        style.wrapped(out, (Tone::Warning, "note: "), &format!("{} {why}", tried.text));
    }
}

fn verdict(out: &mut String, tuned: &Tuned, style: Style) {
    out.push('\n');
    if let Some(best) = tuned.best() {
        let saves = (seconds(tuned.saves_s(best)), percent(tuned.saves(best)));
        let text = format!("{} would save {}, {} of the run", best.text, saves.0, saves.1);
        style.wrapped(out, (Tone::Strong, "best: "), &text);
    } else {
        let text = format!("no try saves {} of the run, and models are off by more", percent(WORTH));
        style.wrapped(out, (Tone::Strong, "no try is better: "), &text);
    }
}
