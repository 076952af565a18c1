//! What was set and measured: text and JSON of `partune tune`.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_diag::seconds;
use partune_engine::{Followed, KnobValue, Predicted, Tried, Unknown};
use schemars::JsonSchema;
use serde::Serialize;

use super::place::{IntervalEntry, interval};
use super::{pretty, schema_of};
use crate::names;
use crate::style::{Style, Tone};
use crate::what_if::{doubt, saved};

/// What `partune tune --json` prints.
#[derive(Serialize, JsonSchema)]
struct TuneDocument<'a> {
    /// Version of this document.
    partune: u32,
    command: &'a str,
    /// Seconds between the end of start-up and the begin of shut-down, as recorded, and followed without changes.
    run_s: f64,
    replayed_s: f64,
    /// In the order in which they were tried, each on top of what was kept before.
    tried: Vec<TriedEntry<'a>>,
    /// What is predicted to help, and the library has no name for.
    unknown: Vec<UnknownEntry<'a>>,
    /// Variables to keep.
    environment: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize, JsonSchema)]
struct TriedEntry<'a> {
    what: &'a str,
    value: ValueEntry<'a>,
    environment: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    predicted: PredictedEntry<'a>,
    /// Of the whole command; null if it did not end well with the setting.
    saved: Option<IntervalEntry>,
    /// With the setting and without it, each.
    runs: usize,
    /// How the command ended with the setting, if not well.
    failed: Option<&'a str>,
    kept: bool,
}

#[derive(Serialize, JsonSchema)]
struct UnknownEntry<'a> {
    what: &'a str,
    #[serde(flatten)]
    predicted: PredictedEntry<'a>,
}

#[derive(Serialize, JsonSchema)]
struct PredictedEntry<'a> {
    /// What `partune whatif --change` takes, each on top of those before it.
    changes: &'a [String],
    predicted_saves_s: f64,
    /// Whether the changes stand for the best that any value could do, since nothing predicts this one.
    at_most: bool,
}

/// A number, or a name.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ValueEntry<'a> {
    Number(u64),
    Text(&'a str),
}

/// What came of tuning.
pub struct Tuning<'a> {
    pub command: &'a str,
    pub followed: Followed,
    pub tried: &'a [Tried],
    pub unknown: &'a [Unknown],
}

impl Tuning<'_> {
    fn kept(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|it| it.kept)
    }
}

/// The document of `--json`.
pub fn tune_document(tuning: &Tuning<'_>) -> String {
    pretty(&TuneDocument {
        partune: 1,
        command: tuning.command,
        run_s: tuning.followed.run_s,
        replayed_s: tuning.followed.replayed_s,
        tried: tuning.tried.iter().map(entry).collect(),
        unknown: tuning
            .unknown
            .iter()
            .map(|it| UnknownEntry { what: &it.what, predicted: predicted(&it.predicted) })
            .collect(),
        environment: tuning.kept().flat_map(variables).collect(),
    })
}

fn variables(tried: &Tried) -> impl Iterator<Item = (&str, &str)> {
    tried.setting.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

fn entry(it: &Tried) -> TriedEntry<'_> {
    let measured = it.measured.as_ref();
    TriedEntry {
        what: &it.setting.what,
        value: match &it.setting.value {
            KnobValue::Number(number) => ValueEntry::Number(*number),
            KnobValue::Text(text) => ValueEntry::Text(text),
        },
        environment: variables(it).collect(),
        predicted: predicted(&it.setting.predicted),
        saved: measured.ok().map(|it| IntervalEntry::of(&it.saved)),
        runs: measured.map_or(0, |it| it.runs),
        failed: measured.err().map(String::as_str),
        kept: it.kept,
    }
}

fn predicted(it: &Predicted) -> PredictedEntry<'_> {
    PredictedEntry { changes: &it.changes, predicted_saves_s: it.saving.saves_s, at_most: it.is_most }
}

/// The JSON schema of the document.
pub fn tune_schema() -> String {
    schema_of::<TuneDocument<'_>>()
}

/// For the terminal.
pub fn tune_text(tuning: &Tuning<'_>, hints: Option<&str>, style: Style) -> String {
    let mut out = String::new();
    if tuning.followed.is_doubtful() {
        style.wrapped(&mut out, (Tone::Warning, "warning: "), &doubt(tuning.followed.off()));
    }
    let saves = |it: &Predicted| {
        let most = if it.is_most { "at most " } else { "" };
        format!("{most}{}", saved(&it.saving, tuning.followed.run_s))
    };
    for it in tuning.unknown {
        let of = saves(&it.predicted);
        let text =
            format!("{}: would save {of}, but the library that ran has no name for it that is known here", it.name);
        style.wrapped(&mut out, (Tone::Plain, "  unknown   "), &text);
    }
    for tried in tuning.tried {
        let setting = &tried.setting;
        let _ = writeln!(out);
        let title = format!("{}: {}: {}", setting.name, setting.value, setting.text);
        style.wrapped(&mut out, (Tone::Strong, "  tried     "), &title);
        let predicted = format!("saves {}", saves(&setting.predicted));
        style.wrapped(&mut out, (Tone::Dim, "  predicted "), &predicted);
        style.wrapped(&mut out, (Tone::Dim, "  measured  "), &measured(tried));
    }
    if tuning.tried.is_empty() && tuning.unknown.is_empty() {
        out.push_str("Nothing that can be set without changing the program is predicted to be worth a try.\n");
    } else if tuning.kept().next().is_none() {
        out.push_str("\nNothing is worth keeping.\n");
    } else {
        let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, "keep"));
        for (name, value) in tuning.kept().flat_map(variables).collect::<BTreeMap<_, _>>() {
            let _ = writeln!(out, "  export {name}={value}");
        }
        if let Some(file) = hints {
            let _ = writeln!(out, "  written to {file}");
        }
    }
    out
}

fn measured(tried: &Tried) -> String {
    let it = match &tried.measured {
        Ok(it) => it,
        Err(status) => return format!("the command ended with {status}: not kept"),
    };
    format!(
        "saves {} of the {} of the whole command, {}, in {} runs of each kind: {}",
        interval(&it.saved, names::seconds),
        seconds(it.without.estimate),
        names::percent(it.share()),
        it.runs,
        match (tried.kept, it.helps()) {
            (true, _) => "kept",
            (false, true) if tried.is_too_good() => "more than this can save, so not kept: something else changed",
            (false, true) => "not kept, another value saves more",
            (false, false) if it.saved.is_known() => "no gain beyond noise",
            (false, false) => "always slower, so given up",
        }
    )
}
