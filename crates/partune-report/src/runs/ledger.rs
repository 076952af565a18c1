//! What a ledger says of advice, as text and as JSON: each prediction beside what came of it, and how good predictions were.

use std::fmt::Write;

use partune_engine::{Came, Entry, calibration};
use schemars::JsonSchema;
use serde::Serialize;

use super::place::{IntervalEntry, interval, plural, table};
use super::pretty;
use crate::names;
use crate::what_if::saved;

/// What `partune advise --ledger --json` prints. Times are seconds of wall-clock time between the end of start-up and the begin of shut-down.
#[derive(Serialize, JsonSchema)]
struct LedgerDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// `ledger`.
    kind: &'static str,
    file: &'a str,
    /// In the order of the file.
    entries: Vec<LedgerEntry<'a>>,
    /// How many outcomes are in the interval that was predicted, how many may be by noise, and how many are not.
    inside: usize,
    within_noise: usize,
    outside: usize,
    /// The median of `error`; null if there is no entry.
    median_error: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct LedgerEntry<'a> {
    /// Of the advice.
    id: &'a str,
    action: &'a str,
    change: &'a str,
    /// The recordings, from the folder of the file, and of how many runs each is.
    base: &'a str,
    base_runs: u64,
    changed: &'a str,
    changed_runs: u64,
    /// When they were compared.
    date: &'a str,
    /// Of the base.
    run_s: f64,
    predicted_run_s: f64,
    saves_s: f64,
    saves_low_s: f64,
    saves_high_s: f64,
    /// What was saved.
    saved: IntervalEntry,
    /// `inside`, `within_noise`, `outside`.
    outcome: &'static str,
    /// How far what was saved is from what was predicted, as a share of the run.
    error: f64,
}

/// The document of a ledger.
pub fn ledger_document(file: &str, entries: &[Entry]) -> String {
    let all = calibration(entries);
    pretty(&LedgerDocument {
        partune: 1,
        kind: "ledger",
        file,
        entries: entries.iter().map(entry).collect(),
        inside: all.inside,
        within_noise: all.within_noise,
        outside: all.outside,
        median_error: all.median_error,
    })
}

/// The JSON schema of [`ledger_document`].
pub fn ledger_schema() -> String {
    super::schema_of::<LedgerDocument<'_>>()
}

fn entry(it: &Entry) -> LedgerEntry<'_> {
    LedgerEntry {
        id: &it.id,
        action: &it.action,
        change: &it.change,
        base: &it.base,
        base_runs: it.runs.0,
        changed: &it.changed,
        changed_runs: it.runs.1,
        date: &it.date,
        run_s: it.run_s,
        predicted_run_s: it.predicted.predicted_run_s,
        saves_s: it.predicted.saves_s,
        saves_low_s: it.predicted.saves_low_s,
        saves_high_s: it.predicted.saves_high_s,
        saved: IntervalEntry::of(&it.saved),
        outcome: it.came.name(),
        error: it.error(),
    }
}

/// The same for a terminal: a row an entry.
pub fn ledger_text(file: &str, entries: &[Entry]) -> String {
    if entries.is_empty() {
        return format!("{file} has no entry: partune compare BASE CHANGED --advice ID --ledger adds one\n");
    }
    let mut out = String::new();
    let heading = ["advice", "change", "recordings", "predicted to save", "saved", "error", "outcome"];
    let mut rows: Vec<Vec<String>> = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|it| {
        let predicted = saved(&it.predicted, it.run_s);
        let outcome = match it.came {
            Came::Inside => "inside",
            Came::WithinNoise => "within noise",
            Came::Outside => "outside",
        };
        let recordings = format!("{} → {}", it.base, it.changed);
        let realised = interval(&it.saved, names::seconds);
        vec![
            it.id.clone(),
            it.change.clone(),
            recordings,
            predicted,
            realised,
            names::percent(it.error()),
            outcome.to_owned(),
        ]
    }));
    table(&mut out, &rows);
    let all = calibration(entries);
    let _ = writeln!(
        out,
        "\n{}: {} inside of the interval, {} within noise of it, {} outside; median error {} of the run",
        plural(entries.len(), "prediction", "predictions"),
        all.inside,
        all.within_noise,
        all.outside,
        names::percent(all.median_error.unwrap_or_default())
    );
    out
}
