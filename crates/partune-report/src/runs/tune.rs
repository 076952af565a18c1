//! What was set and measured: text and JSON of `partune tune`.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_diag::seconds;
use partune_engine::{Followed, Setting, Tried};
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
    unknown: Vec<&'a str>,
    /// Variables to keep.
    environment: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize, JsonSchema)]
struct TriedEntry<'a> {
    what: &'a str,
    value: u64,
    environment: BTreeMap<&'a str, &'a str>,
    /// What `partune whatif --change` takes.
    change: &'a str,
    predicted_saves_s: f64,
    /// Of the whole command.
    saved: IntervalEntry,
    runs: usize,
    kept: bool,
}

/// What came of tuning.
pub struct Tuning<'a> {
    pub command: &'a str,
    pub followed: Followed,
    pub tried: &'a [Tried],
    pub unknown: &'a [Setting],
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
        unknown: tuning.unknown.iter().map(|it| it.knob.what.as_str()).collect(),
        environment: tuning.kept().flat_map(variables).collect(),
    })
}

fn variables(tried: &Tried) -> impl Iterator<Item = (&str, &str)> {
    tried.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

fn entry(it: &Tried) -> TriedEntry<'_> {
    TriedEntry {
        what: &it.setting.knob.what,
        value: it.setting.value,
        environment: variables(it).collect(),
        change: &it.setting.change,
        predicted_saves_s: it.setting.saving.saves_s,
        saved: IntervalEntry::of(&it.saved),
        runs: it.runs,
        kept: it.kept,
    }
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
    for setting in tuning.unknown {
        let text = format!(
            "{}: would save {}, but the library that ran has no name for it that is known here",
            setting.knob.name,
            saved(&setting.saving, tuning.followed.run_s)
        );
        style.wrapped(&mut out, (Tone::Plain, "  unknown   "), &text);
    }
    for tried in tuning.tried {
        let setting = &tried.setting;
        let _ = writeln!(out);
        let title = format!("{} of {}: {}", setting.knob.name, setting.value, setting.knob.text);
        style.wrapped(&mut out, (Tone::Strong, "  tried     "), &title);
        let predicted = saved(&setting.saving, tuning.followed.run_s);
        style.wrapped(&mut out, (Tone::Dim, "  predicted "), &format!("saves {predicted}"));
        let share = names::percent(tried.saved.estimate / tried.without.estimate.max(f64::MIN_POSITIVE));
        let text = format!(
            "saves {} of the {} of the whole command, {share}, in {} runs of each kind: {}",
            interval(&tried.saved, names::seconds),
            seconds(tried.without.estimate),
            tried.runs,
            match (tried.kept, tried.helps()) {
                (true, _) => "kept",
                (false, true) => "not kept, another value saves more",
                (false, false) => "no gain beyond noise",
            }
        );
        style.wrapped(&mut out, (Tone::Dim, "  measured  "), &text);
    }
    if tuning.tried.is_empty() && tuning.unknown.is_empty() {
        out.push_str(
            "Nothing that can be set without changing the program is predicted to save a hundredth of the run.\n",
        );
    } else if tuning.kept().next().is_none() {
        out.push_str("\nNothing is worth keeping.\n");
    } else {
        let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, "keep"));
        for (name, value) in tuning.kept().flat_map(variables) {
            let _ = writeln!(out, "  export {name}={value}");
        }
        if let Some(file) = hints {
            let _ = writeln!(out, "  written to {file}");
        }
    }
    out
}
