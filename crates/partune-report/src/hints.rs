//! Hints of a run of objects: text and JSON of `partune hints`.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_diag::{fixed, seconds};
use partune_engine::hints_file::{Datum, Evidence, Urgency};
use partune_engine::{HintEntry, Hinted, OfObjects, TriedHint};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::percent;
use crate::runs::{plural, pretty};
use crate::style::{Style, Tone};

/// What `partune hints --json` prints. Times are seconds; the run is from the first execution of a method to the end of the last.
#[derive(Serialize, JsonSchema)]
struct HintsDocument<'a> {
    /// Version of this document.
    partune: u32,
    archive: &'a str,
    pes: usize,
    /// The run as a graph of executions, and how well it is followed; null of runs without objects.
    run: Option<RunEntry>,
    /// In the order in which they were tried, each on top of those that are kept.
    hints: Vec<HintDocument<'a>>,
    /// The file of hints; null where nothing is kept.
    file: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry {
    objects: usize,
    executions: usize,
    messages: usize,
    /// Messages whose time on the way was measured.
    measured: u64,
    run_s: f64,
    /// Executed anew as it was.
    replayed_s: f64,
    /// Executed anew with times on the way that are drawn from all that were measured.
    redrawn_s: f64,
    /// With all that is kept.
    predicted_run_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct HintDocument<'a> {
    /// The section of the file: place, tree, priority, pipeline or combine.
    kind: &'static str,
    /// The array or the method.
    of: &'a str,
    /// In words.
    text: String,
    saves_s: f64,
    /// At least and at most: as far as the replay is off, and runs differ.
    saves_low_s: f64,
    saves_high_s: f64,
    /// Whether it stands in the file: at least something is saved.
    kept: bool,
    /// By what it was deduced.
    evidence: BTreeMap<&'a str, f64>,
}

/// The document of `--json`.
pub fn hints_document(hinted: &Hinted, archive: &str) -> String {
    let run = hinted.objects.as_ref().map(|it| RunEntry {
        objects: it.objects,
        executions: it.executions,
        messages: it.messages,
        measured: it.measured,
        run_s: it.followed.run_s,
        replayed_s: it.followed.replayed_s,
        redrawn_s: it.redrawn_s,
        predicted_run_s: it.hinted_s,
    });
    let hints = hinted.objects.iter().flat_map(|it| &it.tried).map(|it| HintDocument {
        kind: kind(&it.entry),
        of: of(&it.entry),
        text: words(&it.entry),
        saves_s: it.saving.saves_s,
        saves_low_s: it.saving.saves_low_s,
        saves_high_s: it.saving.saves_high_s,
        kept: it.kept,
        evidence: evidence(&it.entry).iter().filter_map(|(name, it)| Some((name.as_str(), number(it)?))).collect(),
    });
    let file = hinted.objects.as_ref().filter(|it| !it.file.is_empty()).map(|it| it.file.to_string());
    pretty(&HintsDocument { partune: 1, archive, pes: hinted.pes, run, hints: hints.collect(), file })
}

/// The JSON schema of the document.
pub fn hints_schema() -> String {
    pretty(&schemars::schema_for!(HintsDocument<'_>))
}

/// For the terminal: what is kept; `explains`: also by what, and what is not kept and why.
pub fn hints_text(hinted: &Hinted, explains: bool, style: Style) -> String {
    let mut out = String::new();
    let Some(found) = &hinted.objects else {
        if hinted.executions > 0 {
            let text = format!(
                "nothing to hint: of {}, none is of an object of the program's own, as far as the recording tells",
                plural(hinted.executions, "execution of methods", "executions of methods")
            );
            style.wrapped(&mut out, (Tone::Plain, "  "), &text);
            return out;
        }
        let text = "nothing to hint: this run has no objects that send each other messages";
        style.wrapped(&mut out, (Tone::Plain, "  "), text);
        let text = "partune tune tries settings of libraries, partune whatif --change 'map FILE' another map of ranks";
        style.wrapped(&mut out, (Tone::Dim, "  → "), text);
        return out;
    };
    followed(&mut out, found, style);
    let kept = || found.tried.iter().filter(|it| it.kept);
    for it in kept() {
        hint(&mut out, it, explains, style);
    }
    if kept().next().is_none() {
        let text = "nothing to hint: nothing that was tried saves time for certain";
        row(&mut out, Tone::Strong, "hints", text, style);
    } else {
        let text = format!("{} instead of {}", seconds(found.hinted_s), seconds(found.followed.run_s));
        row(&mut out, Tone::Strong, "with them", &text, style);
    }
    let rejected: Vec<&TriedHint> = found.tried.iter().filter(|it| !it.kept).collect();
    if explains && !rejected.is_empty() {
        out.push_str("\nnot kept\n");
        for it in rejected {
            hint(&mut out, it, true, style);
        }
    } else if !rejected.is_empty() {
        let text = format!("{} that were tried and are not kept: --explain", rejected.len());
        row(&mut out, Tone::Dim, "others", &text, style);
    }
    out
}

fn row(out: &mut String, tone: Tone, label: &str, text: &str, style: Style) {
    style.wrapped(out, (tone, &format!("  {label:<10}")), text);
}

fn followed(out: &mut String, found: &OfObjects, style: Style) {
    let text = format!(
        "{} on objects: {} executions of methods of {} objects, {} messages",
        seconds(found.followed.run_s),
        found.executions,
        found.objects,
        found.messages
    );
    row(out, Tone::Plain, "run", &text, style);
    let text = format!(
        "{}; with times on the way drawn from {} measured ones {}: up to {} off",
        seconds(found.followed.replayed_s),
        found.measured,
        seconds(found.redrawn_s),
        percent(found.off)
    );
    row(out, Tone::Plain, "replayed", &text, style);
    if found.off > DOUBTFUL {
        let text = "the run is not followed well, so only what saves more than that is kept: times on the way varied much, or not all that PEs did is recorded";
        row(out, Tone::Warning, "warning", text, style);
    }
}

/// From this share of the run on a replay is doubtful.
const DOUBTFUL: f64 = 0.05;

fn hint(out: &mut String, it: &TriedHint, explains: bool, style: Style) {
    row(out, Tone::Strong, kind(&it.entry), &words(&it.entry), style);
    let saving = &it.saving;
    let range = format!("{} to {}", seconds(saving.saves_low_s), seconds(saving.saves_high_s));
    let text = match (it.kept, saving.saves_s > 0.0) {
        (true, _) => format!("saves {} ({range})", seconds(saving.saves_s)),
        (false, true) => format!("would save {} ({range}), which may be nothing", seconds(saving.saves_s)),
        (false, false) if saving.saves_s < 0.0 => format!("would cost {}", seconds(-saving.saves_s)),
        (false, false) => "would save nothing".to_owned(),
    };
    row(out, Tone::Plain, "", &text, style);
    if explains {
        let is_seconds = |name: &str| ["predicted_saves_s", "low_s", "high_s"].contains(&name);
        let mut text = String::new();
        for (name, value) in evidence(&it.entry).iter().filter(|(name, _)| !is_seconds(name)) {
            let _ =
                write!(text, "{}{} {}", if text.is_empty() { "" } else { ", " }, name.replace('_', " "), plain(value));
        }
        row(out, Tone::Dim, "", &format!("by {text}"), style);
    }
}

fn plain(value: &Datum) -> String {
    match value {
        Datum::Integer(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Text(text) => text.clone(),
    }
}

fn number(value: &Datum) -> Option<f64> {
    match value {
        Datum::Integer(number) => Some(*number as f64),
        Datum::Float(number) => Some(*number),
        Datum::Text(_) => None,
    }
}

fn kind(entry: &HintEntry) -> &'static str {
    match entry {
        HintEntry::Place(_) => "place",
        HintEntry::Tree(_) => "tree",
        HintEntry::Priority(_) => "priority",
        HintEntry::Pipeline(_) => "pipeline",
        HintEntry::Combine(_) => "combine",
    }
}

/// The array or the method that a hint is of.
fn of(entry: &HintEntry) -> &str {
    match entry {
        HintEntry::Place(it) => &it.array,
        HintEntry::Tree(it) => &it.array,
        HintEntry::Priority(several) => several.first().map_or("", |it| match &it.of {
            Urgency::Object { array, .. } => array,
            Urgency::Message { message, .. } => message,
        }),
        HintEntry::Pipeline(it) => &it.message,
        HintEntry::Combine(it) => &it.message,
    }
}

fn evidence(entry: &HintEntry) -> &Evidence {
    const NONE: &Evidence = &Vec::new();
    match entry {
        HintEntry::Place(it) => &it.evidence,
        HintEntry::Tree(it) => &it.evidence,
        HintEntry::Priority(several) => several.first().map_or(NONE, |it| &it.evidence),
        HintEntry::Pipeline(it) => &it.evidence,
        HintEntry::Combine(it) => &it.evidence,
    }
}

fn words(entry: &HintEntry) -> String {
    match entry {
        HintEntry::Place(it) => {
            let list = |all: Vec<String>| all.join(", ");
            let mut text = format!("{}: {}", it.array, it.map.name());
            if !it.a.is_empty() {
                let a = list(it.a.iter().map(ToString::to_string).collect());
                let b = list(it.b.iter().map(ToString::to_string).collect());
                let _ = write!(text, " with blocks of {a} objects on {b} PEs");
            }
            if !it.aspect.is_empty() {
                let aspect = list(it.aspect.iter().map(|edge| fixed(*edge, 3)).collect());
                let _ = write!(text, ", edges of blocks in proportion {aspect}");
            }
            if let Some(pes) = it.pes {
                let _ = write!(text, " of {} objects for {pes} PEs only", it.table.len());
            }
            for aligned in &it.aligned_with {
                let _ = write!(text, "; {} with it", aligned.array);
            }
            let objects = |least: f64| fixed(least, usize::from(least.fract() != 0.0));
            if let Some(least) = it.least_per_pe {
                let _ = write!(text, "; from {} objects a PE on", objects(least));
            }
            if let Some(least) = it.least_per_pe_shared {
                let _ = write!(text, "; from {} on where PEs share processors", objects(least));
            }
            text
        }
        HintEntry::Tree(it) => {
            let spread = match (&it.strategy, it.branch) {
                (Some(strategy), _) => format!(" {}", strategy.replace('_', " ")),
                (None, Some(branch)) => format!(" {branch} children each, PEs shared out by their loads"),
                (None, None) => " PEs shared out by load".to_owned(),
            };
            format!("{}: {} tree,{spread}", it.array, it.kind.replace('_', " "))
        }
        HintEntry::Priority(several) => {
            let one = |it: &partune_engine::hints_file::Priority| match &it.of {
                Urgency::Object { array, linear, offset, .. } => {
                    let linear: Vec<String> = linear.iter().map(ToString::to_string).collect();
                    format!("{array}: objects by ({}) · index + {offset}, the smaller first", linear.join(", "))
                }
                Urgency::Message { message, level } => format!("{message} at level {level}"),
            };
            several.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        HintEntry::Pipeline(it) => format!("{}: in {} pieces", it.message, it.degree),
        HintEntry::Combine(it) => {
            format!("{}: those of a PE to another one together, after {} µs at the latest", it.message, it.timeout_us)
        }
    }
}
