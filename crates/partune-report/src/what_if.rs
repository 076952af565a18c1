//! What a run would be under changes: text and JSON of `partune whatif`.

use std::fmt::Write;

use partune_diag::seconds;
use partune_engine::{Followed, OtherPes, RefusedChange, Saving, Wanted, WhatIf, WhyRefused};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::percent;
use crate::runs::{OtherPesEntry, pretty, unpredictable};
use crate::style::{Style, Tone};

/// What `partune whatif --json` prints. Times are seconds of wall-clock time between the end of start-up and the begin of shut-down.
#[derive(Serialize, JsonSchema)]
struct WhatIfDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// Of several on other numbers of PEs, the one on the nearest number.
    archive: &'a str,
    /// In the order in which they were made.
    changes: &'a [String],
    /// As recorded.
    run_s: f64,
    /// Followed without changes, or what the laws over numbers of PEs make of it: how near it is to `run_s` tells how much the rest is worth.
    replayed_s: f64,
    /// `run_s` less `saves_s`.
    predicted_run_s: f64,
    /// What the changes save; less than 0 if they cost time.
    saves_s: f64,
    /// At least, and at most: as far as what operations take decides it.
    saves_low_s: f64,
    saves_high_s: f64,
    /// Changes that were left out.
    refused: Vec<RefusedEntry<'a>>,
    /// Not of other numbers of PEs, for which no run is followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<ReplayEntry>,
    /// Of `set pes` with several runs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_pes: Option<OtherPesEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct RefusedEntry<'a> {
    change: &'a str,
    reason: String,
}

/// How the run without changes was met.
#[derive(Serialize, JsonSchema)]
struct ReplayEntry {
    /// Root of the mean square of the errors of the ends of operations in the second half of the run.
    error_s: f64,
    /// Operations in the second half of the run.
    operations: u64,
    /// Operations of the run that keep the time they took: management, files, partners that nobody knows.
    recorded: u64,
    /// Operations of the second half that are like none of the first, so that their cost is fitted to themselves.
    late: u64,
    /// Needs of operations that could not be met: events are missing.
    unmet: u64,
}

/// The document of `--json`.
pub fn what_if_document(what_if: &WhatIf, archive: &str, changes: &[String]) -> String {
    let refused = what_if.refused.iter().map(|it| RefusedEntry { change: &it.change, reason: reason(&it.why) });
    pretty(&WhatIfDocument {
        partune: 1,
        archive,
        changes,
        run_s: what_if.followed.run_s,
        replayed_s: what_if.followed.replayed_s,
        predicted_run_s: what_if.saving.predicted_run_s,
        saves_s: what_if.saving.saves_s,
        saves_low_s: what_if.saving.saves_low_s,
        saves_high_s: what_if.saving.saves_high_s,
        refused: refused.collect(),
        replay: Some(ReplayEntry {
            error_s: what_if.error_s,
            operations: what_if.operations,
            recorded: what_if.recorded,
            late: what_if.late,
            unmet: what_if.unmet,
        }),
        other_pes: None,
    })
}

/// The same of a program on another number of PEs. `changes`: all that were asked for.
pub fn other_pes_document(said: &OtherPes, changes: &[String]) -> String {
    let run = said.run();
    let run_s = run.map_or(said.saving.predicted_run_s, |run| run.run_s);
    let refused = said.refused.iter().flat_map(|why| {
        let reason = reason(why);
        changes.iter().map(move |change| RefusedEntry { change, reason: reason.clone() })
    });
    pretty(&WhatIfDocument {
        partune: 1,
        archive: run.map_or("", |run| &run.archive),
        changes,
        run_s,
        replayed_s: run.and_then(|run| run.fitted_s).unwrap_or(run_s),
        predicted_run_s: said.saving.predicted_run_s,
        saves_s: said.saving.saves_s,
        saves_low_s: said.saving.saves_low_s,
        saves_high_s: said.saving.saves_high_s,
        refused: refused.collect(),
        replay: None,
        other_pes: Some(OtherPesEntry::of(said)),
    })
}

/// The JSON schema of the document.
pub fn what_if_schema() -> String {
    pretty(&schemars::schema_for!(WhatIfDocument<'_>))
}

/// For the terminal.
pub fn what_if_text(what_if: &WhatIf, changes: &[String], style: Style) -> String {
    let mut out = String::new();
    let row = |out: &mut String, tone: Tone, label: &str, text: &str| {
        style.wrapped(out, (tone, &format!("  {label:<11}")), text);
    };
    row(&mut out, Tone::Plain, "run", &seconds(what_if.followed.run_s));
    let off = if what_if.followed.run_s > 0.0 {
        (what_if.followed.replayed_s - what_if.followed.run_s) / what_if.followed.run_s
    } else {
        0.0
    };
    let followed = format!(
        "{}, {} off; ends of the {} operations in its second half by {}",
        seconds(what_if.followed.replayed_s),
        percent(off.abs()),
        what_if.operations,
        seconds(what_if.error_s)
    );
    row(&mut out, Tone::Plain, "replayed", &followed);
    if let Some(text) = warning(&what_if.followed) {
        row(&mut out, Tone::Warning, "warning", &text);
    }
    if what_if.unmet > 0 {
        let text = format!(
            "{} needs of operations could not be met: events are missing, so all that follows is doubtful",
            what_if.unmet
        );
        row(&mut out, Tone::Warning, "warning", &text);
    }
    let is_refused = |change: &&String| what_if.refused.iter().any(|it| it.change == **change);
    for change in changes.iter().filter(|change| !is_refused(change)) {
        row(&mut out, Tone::Strong, "change", change);
    }
    for RefusedChange { change, why } in &what_if.refused {
        row(&mut out, Tone::Warning, "refused", &format!("{change}: {}", reason(why)));
    }
    if changes.iter().any(|change| !is_refused(&change)) {
        row(&mut out, Tone::Strong, "predicted", &seconds(what_if.saving.predicted_run_s));
        let (word, tone) = verdict(&what_if.saving);
        row(&mut out, tone, word, &saved(&what_if.saving, what_if.followed.run_s));
    }
    out
}

/// What a change does to the run.
pub(crate) fn verdict(saving: &Saving) -> (&'static str, Tone) {
    if saving.saves_s < 0.0 { ("costs", Tone::Warning) } else { ("saves", Tone::Good) }
}

/// What to say of predictions before any of them; nothing where the run can be followed well.
pub(crate) fn warning(followed: &Followed) -> Option<String> {
    let off = followed.off();
    let lost = || {
        format!(
            "the run cannot be followed again: without changes it is {} off, so nothing is predicted; a run that has its processors to \
             itself, and is long enough, can be",
            percent(off)
        )
    };
    followed.is_lost().then(lost).or_else(|| followed.is_doubtful().then(|| doubt(off)))
}

/// What to say where the run that was followed without changes is this far from the one recorded.
pub(crate) fn doubt(off: f64) -> String {
    format!(
        "the run cannot be followed well: without changes it is {} off, so what is predicted is worth no more than its order of size; \
         a run that has its processors to itself, and is long enough, can be followed better",
        percent(off)
    )
}

/// `446 ms (410 ms to 480 ms), 28.1 % of the run`.
pub(crate) fn saved(saving: &Saving, run_s: f64) -> String {
    let sign = saving.saves_s.signum();
    let share = if run_s > 0.0 { saving.saves_s.abs() / run_s } else { 0.0 };
    let told = |value: f64| seconds(value * sign);
    let (mut least, mut most) = (told(saving.saves_low_s), told(saving.saves_high_s));
    if sign < 0.0 {
        std::mem::swap(&mut least, &mut most);
    }
    let range = if least == most { String::new() } else { format!(" ({least} to {most})") };
    format!("{}{range}, {} of the run", seconds(saving.saves_s.abs()), percent(share))
}

/// Why a change was left out, in words.
pub(crate) fn reason(why: &WhyRefused) -> String {
    match why {
        WhyRefused::OneRun => {
            "one run does not tell of another number of PEs: give runs of the program on two numbers of PEs or more"
                .to_owned()
        }
        WhyRefused::Pes(why) => unpredictable(why),
        WhyRefused::Lost => "the run cannot be followed again".to_owned(),
        WhyRefused::NoPlace { near } if near.is_empty() => "there is no such place in this run".to_owned(),
        WhyRefused::NoPlace { near } => format!("there is no such place in this run; there is {}", near.join(", ")),
        WhyRefused::NoPe => "there is no such PE".to_owned(),
        WhyRefused::NoWork => "no code of the program's own runs there".to_owned(),
        WhyRefused::OnePe => "there is one PE only".to_owned(),
        WhyRefused::NoOperation(wanted) => match wanted {
            Wanted::Operation => "no operation there communicates or synchronises",
            Wanted::Transfer => "no operation there brings something from one PE to another, or waits for it",
            Wanted::Collective => "no operation there is a collective",
            Wanted::Barrier => "no operation there is a barrier",
        }
        .to_owned(),
        WhyRefused::MovesData { place } => format!("{place} moves data, which the program needs"),
        WhyRefused::Needed { place } => {
            format!("without {place} the program goes on before what that waits for, or makes, is there")
        }
        WhyRefused::Excludes { place } => format!("{place} keeps others out of what is done while the lock is held"),
        WhyRefused::Orders { accesses, place, origin, target } => {
            let mut text = format!(
                "it orders accesses to memory of other PEs, {accesses} of them; the first is of {origin} to {target}"
            );
            if !place.is_empty() {
                let _ = write!(text, " by {place}");
            }
            text
        }
        WhyRefused::NothingWaits { least: None } => "no send of the run waited for its receive to be posted".to_owned(),
        WhyRefused::NothingWaits { least: Some(bytes) } => {
            format!("no message of fewer bytes waited for its receive to be posted: the shortest that did has {bytes}")
        }
        WhyRefused::Dedicated => "another PE is dedicated already, and its work is done by this one too".to_owned(),
        WhyRefused::NeverFollows => "no wait there is followed by the other place before the next one".to_owned(),
        WhyRefused::GivesMeanwhile { waits, place } => {
            let by = if place.is_empty() { String::new() } else { format!(", by {place} first") };
            format!(
                "before the other place is done, PEs give to others what may depend on what they wait for there: after {waits} of the waits{by}"
            )
        }
        WhyRefused::SharesMemory => {
            "what meets there shares memory, and what is accessed in it is not recorded".to_owned()
        }
        WhyRefused::SharesFile { name } => {
            format!("one of those that meet there writes {name}, and another one reads it")
        }
        WhyRefused::FewNodes { named, processes } => {
            format!("the file names nodes for {named} of {processes} ranks")
        }
        WhyRefused::UnknownLink { remote: true } => {
            "neither this run nor --machine says what messages between nodes take: measure a machine with processes on several nodes".to_owned()
        }
        WhyRefused::UnknownLink { remote: false } => {
            "neither this run nor --machine says what messages within a node take: measure a machine with several processes on a node".to_owned()
        }
        WhyRefused::NotRead => "the file that names the nodes was not read".to_owned(),
        WhyRefused::Circular { needs } => {
            format!("with it, operations would need what only comes after them, {needs} times")
        }
    }
}
