//! What could be set without changing the program, as far as a replay says that it saves time.

use partune_advice::Knob;
use partune_analysis::{Interval, repeats};
use partune_machine::Machine;
use partune_replay::{Change, Replay};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::advise::WORTH;
use crate::what_if::{Followed, Saving, WhatIfError, follow};
use crate::{Diagnosis, Progress};

/// What could be set for a run.
#[derive(Debug)]
pub struct Tunable {
    /// Without changes.
    pub followed: Followed,
    /// By knob, what saves most first: values to be tried one after the other until one keeps what was predicted.
    pub settings: Vec<Vec<Setting>>,
}

/// A value of a knob.
#[derive(Debug)]
pub struct Setting {
    pub knob: &'static Knob,
    pub value: u64,
    /// What was replayed.
    pub change: String,
    pub saving: Saving,
}

/// Bytes that a library puts before a message, at most.
const HEADER: u64 = 256;

/// Finds what is worth a try. Cost: a replay, and one a knob.
pub fn tunable(
    diagnosis: &Diagnosis,
    machine: Option<&Machine>,
    progress: &dyn Progress,
) -> Result<Tunable, WhatIfError> {
    let run = &diagnosis.run;
    if run.is_profile() {
        return Err(WhatIfError::Profile);
    }
    let (trace, index) = (&run.trace, &run.index);
    let (replay, followed) = follow(trace, index, machine, progress);
    let run_s = followed.run_s;
    let mut settings = Vec::new();
    progress.stage("trying changes");
    for knob in partune_advice::knobs() {
        let predicted = |value: u64| {
            let change = knob.change(value);
            let outcome = replay.under(&[change.parse::<Change>().ok()?]);
            let saving = Saving::of(trace, followed, &outcome, replay.plain());
            let is_worth_it = outcome.refused.is_empty() && saving.saves_s >= WORTH * run_s;
            is_worth_it.then_some(Setting { knob, value, change, saving })
        };
        settings.push(suited(&knob.what, &replay).into_iter().map_while(predicted).collect::<Vec<Setting>>());
    }
    settings.retain(|values| !values.is_empty());
    settings.sort_by(|a, b| b[0].saving.saves_s.total_cmp(&a[0].saving.saves_s));
    Ok(Tunable { followed, settings })
}

/// Values of a knob that suit a run, in the order in which they are worth a try; none if it does not matter.
fn suited(what: &str, replay: &Replay<'_>) -> Vec<u64> {
    let limit = |bytes: u64| bytes.checked_add(HEADER)?.checked_next_power_of_two();
    match what {
        // The limit counts for each of several messages on their way: how many share a buffer is the library's own.
        "eager_limit" => {
            let least = replay.longest_waiting().and_then(limit);
            least.into_iter().flat_map(|least| [1, 4, 16].map(|times| least.saturating_mul(times))).collect()
        }
        _ => Vec::new(),
    }
}

/// A setting that was measured in turns with what was kept before it.
#[derive(Debug)]
pub struct Tried {
    pub setting: Setting,
    /// Variables and their values.
    pub environment: Vec<(String, String)>,
    /// Runs of each kind.
    pub runs: usize,
    /// Seconds of wall-clock time of the whole command without it, and what it saves of them.
    pub without: Interval,
    pub saved: Interval,
    /// Whether it is to be kept.
    pub kept: bool,
}

impl Tried {
    /// Of times that were measured in turns; none without any.
    pub fn new(setting: Setting, environment: Vec<(String, String)>, without: &[f64], with: &[f64]) -> Option<Tried> {
        let saved = repeats::difference(with, without)?;
        Some(Tried { setting, environment, runs: with.len(), without: repeats::median(without)?, saved, kept: false })
    }

    /// Whether it saves time beyond noise.
    pub fn helps(&self) -> bool {
        self.saved.is_known() && self.saved.is_above(0.0)
    }

    /// Whether it saves most of what was predicted.
    pub fn is_as_predicted(&self) -> bool {
        self.helps() && self.saved.estimate >= 0.5 * self.setting.saving.saves_s
    }
}

/// What is worth keeping, as a file of hints: TOML, with the evidence of each.
pub fn hints(command: &str, pes: usize, tried: &[Tried]) -> String {
    let mut document = DocumentMut::new();
    document["hints"] = value(1);
    document["program"] = value(command);
    document["run"] = value(InlineTable::from_iter([("pes", pes as i64)]));
    let mut knobs = ArrayOfTables::new();
    for Tried { setting, environment, runs, saved, .. } in tried.iter().filter(|it| it.kept) {
        let mut table = Table::new();
        table["what"] = value(&setting.knob.what);
        table["value"] = value(i64::try_from(setting.value).unwrap_or(i64::MAX));
        table["environment"] =
            value(environment.iter().map(|(name, set)| (name, set.as_str())).collect::<InlineTable>());
        let numbers = [
            ("predicted_saves_s", setting.saving.saves_s),
            ("saves_s", saved.estimate),
            ("saves_low_s", saved.low),
            ("saves_high_s", saved.high),
            ("confidence", saved.confidence),
        ];
        let mut evidence = InlineTable::from_iter(numbers);
        evidence.insert("runs", (*runs as i64).into());
        table["evidence"] = value(evidence);
        knobs.push(table);
    }
    document["knob"] = Item::ArrayOfTables(knobs);
    document.to_string()
}
