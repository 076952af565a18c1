//! What came of a program whose regions were adapted while it ran: text and JSON of `partune run --adapt`.

use std::fmt::Write;

use partune_diag::seconds;
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::{base_name, percent};
use crate::runs::{pretty, schema_of};

/// Changes that are told one by one.
const FEW: usize = 6;

/// What `partune run --adapt --adapted FILE` writes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdaptedDocument<'a> {
    /// Version of this document.
    pub partune: u32,
    pub command: &'a str,
    /// Processes that ended in order and had a parallel region.
    pub processes: usize,
    /// Parallel regions in which something could be chosen, the longest first.
    pub regions: Vec<AdaptedEntry<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AdaptedEntry<'a> {
    /// The function that it is in; empty where that is not known, as are the next two.
    pub function: &'a str,
    pub file: &'a str,
    pub line: u32,
    /// Of one process.
    pub threads: u64,
    /// Of its longest loop with `schedule(runtime)`, in one execution; 0 if there is none.
    pub iterations: u64,
    /// The environment's schedule, as `OMP_SCHEDULE` has it; empty if there is no such loop.
    pub schedule: &'a str,
    /// Of its executions in all processes; the first ones, by which it is decided what to try, are in none of the numbers.
    pub took_s: f64,
    /// What that is less than with the program's own settings, by the pairs of executions that were compared, after what trying has cost.
    pub saved_s: f64,
    /// Executions with each setting, `own` first.
    pub settings: Vec<SettingEntry<'a>>,
    /// What was kept; of a region that several processes ran, or that was inlined at several places, in the one that took longest.
    pub changes: Vec<ChangeEntry<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingEntry<'a> {
    pub setting: &'a str,
    pub executions: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeEntry<'a> {
    /// How many executions there were before.
    pub at: u64,
    pub to: &'a str,
}

pub fn adapted_json(document: &AdaptedDocument<'_>) -> String {
    pretty(document)
}

/// The JSON schema of the document.
pub fn adapted_schema() -> String {
    schema_of::<AdaptedDocument<'_>>()
}

/// For the terminal, after the program's own output: what was chosen, or why nothing was.
pub fn adapted_text(document: &AdaptedDocument<'_>) -> String {
    if document.processes == 0 {
        return "nothing was adapted: no process that ended in order had a parallel region of OpenMP (a program that is linked statically, or ended by a signal, cannot say it)".to_owned();
    }
    if document.regions.is_empty() {
        return "nothing was adapted: no parallel region has a loop that leaves its schedule to the environment, or may have fewer threads\n  \
                remedy: schedule(runtime) at loops, or partune run --adapt=threads where fewer threads do no harm"
            .to_owned();
    }
    let mut out = String::new();
    for region in &document.regions {
        let function = if region.function.is_empty() { "a function without a name" } else { region.function };
        let place =
            if region.line > 0 { format!(" ({}:{})", base_name(region.file), region.line) } else { String::new() };
        let time = if region.saved_s >= 0.0 { "saved" } else { "cost" };
        let by = region.saved_s.abs();
        let own_s = region.took_s + region.saved_s;
        let share = by / own_s.max(f64::MIN_POSITIVE);
        let _ = writeln!(out, "{function}{place}: {time} {} of {} ({})", seconds(by), seconds(own_s), percent(share));
        let own = if region.schedule.is_empty() { "own".to_owned() } else { format!("own ({})", region.schedule) };
        let name = |setting: &str| if setting == "own" { own.clone() } else { setting.to_owned() };
        let ran: Vec<String> = region
            .settings
            .iter()
            .filter(|it| it.executions > 0)
            .map(|it| format!("{} {}", name(it.setting), it.executions))
            .collect();
        let _ = writeln!(out, "  executions  {}", ran.join(", "));
        let changes = &region.changes;
        let kept = match changes.last() {
            None => format!("{own} from the first to the last"),
            Some(last) if changes.len() > FEW => {
                format!("{} at the end, after {} changes", name(last.to), changes.len())
            }
            Some(_) => {
                changes.iter().map(|it| format!("{} from {} on", name(it.to), it.at)).collect::<Vec<_>>().join(", ")
            }
        };
        let _ = writeln!(out, "  kept        {kept}");
    }
    out.truncate(out.trim_end().len());
    out
}
