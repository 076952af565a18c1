//! What the data of a model do to caches: text and JSON of `partune model data`.

use std::fmt::Write;

use partune_diag::seconds;
use partune_mds::{Bounds, Counts, Flow, Outcome, PhaseRow};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::{bytes, percent};
use crate::runs::{plural, pretty, schema_of, table};
use crate::style::{Style, Tone};

/// What `partune model data --json` prints. Seconds are in the unit of the model's times. Reads and writes are of elements, all other counts of lines.
#[derive(Serialize, JsonSchema)]
struct DataDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// The alternative of the model.
    name: &'a str,
    pes: usize,
    /// Bytes of a line.
    line: u64,
    /// Bytes that the cache of a PE has; null where it keeps all.
    cache: Option<u64>,
    run_s: f64,
    barriers: u64,
    bounds: BoundsEntry,
    counts: CountsEntry,
    phases: Vec<PhaseEntry<'a>>,
    /// What is read, by who wrote it.
    flow: Vec<FlowEntry<'a>>,
    /// Misses of caches of other sizes, as far as larger ones miss less.
    sizes: Vec<SizeEntry>,
}

/// Parts of the run, which add up to it.
#[allow(clippy::struct_field_names, reason = "the unit is in the name, as everywhere in documents")]
#[derive(Serialize, JsonSchema)]
struct BoundsEntry {
    /// All work, evenly shared, with data at hand.
    ideal_s: f64,
    /// Gap C': waiting for lines, without the next two.
    communication_s: f64,
    /// Waiting for lines that others wrote something else to.
    false_sharing_s: f64,
    /// Waiting for lines that the same thread wrote on another PE.
    migration_s: f64,
    /// Gap L.
    imbalance_s: f64,
    /// Gap M': imbalance of phases that evens out over all of them.
    phases_s: f64,
    /// Gap D: imbalance of turns that evens out over all of them.
    turns_s: f64,
    /// Gap S': barriers, and the mean of what PEs wait for events.
    synchronisation_s: f64,
    events_s: f64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct CountsEntry {
    reads: u64,
    writes: u64,
    /// Misses: the first use of a line by a PE; of what the cache is too small for; of what another PE wrote since; of what it wrote beside that; of what the
    /// same thread wrote on another PE.
    cold: u64,
    capacity: u64,
    true_sharing: u64,
    false_sharing: u64,
    migrated: u64,
    /// Writes to lines that are there, and that others may have too.
    upgrades: u64,
    /// Of all misses and upgrades.
    latency_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct PhaseEntry<'a> {
    name: &'a str,
    turns: u64,
    counts: CountsEntry,
    /// By number.
    pes: Vec<PeEntry>,
    data: Vec<ArrayEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct PeEntry {
    tasks: u64,
    /// Tasks of an index that another PE had the turn before.
    moved: u64,
    work_s: f64,
    latency_s: f64,
    /// Until the others came.
    wait_s: f64,
    misses: u64,
    /// The working set of the turn that has most.
    lines: u64,
    bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct ArrayEntry<'a> {
    name: &'a str,
    counts: CountsEntry,
}

#[derive(Serialize, JsonSchema)]
struct FlowEntry<'a> {
    writer: &'a str,
    reader: &'a str,
    /// Each time that they are read.
    bytes: u64,
    from_others: u64,
    pairs: Vec<PairEntry>,
}

#[derive(Serialize, JsonSchema)]
struct PairEntry {
    from: u32,
    to: u32,
    bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct SizeEntry {
    bytes: u64,
    misses: u64,
}

/// The document of `--json`.
pub fn data_document(name: &str, outcome: &Outcome) -> String {
    let Bounds {
        ideal_s,
        communication_s,
        false_sharing_s,
        migration_s,
        imbalance_s,
        phases_s,
        turns_s,
        synchronisation_s,
        events_s,
        ..
    } = outcome.bounds;
    pretty(&DataDocument {
        partune: 1,
        name,
        pes: outcome.pes,
        line: outcome.line,
        cache: outcome.cache,
        run_s: outcome.run_s,
        barriers: outcome.barriers,
        bounds: BoundsEntry {
            ideal_s,
            communication_s,
            false_sharing_s,
            migration_s,
            imbalance_s,
            phases_s,
            turns_s,
            synchronisation_s,
            events_s,
        },
        counts: counts(&outcome.counts()),
        phases: outcome.phases.iter().map(phase).collect(),
        flow: outcome.flow.iter().map(|flow| flow_entry(outcome, flow)).collect(),
        sizes: outcome.sizes.iter().map(|size| SizeEntry { bytes: size.bytes, misses: size.misses }).collect(),
    })
}

/// The JSON schema of the document.
pub fn data_schema() -> String {
    schema_of::<DataDocument<'_>>()
}

pub(crate) fn counts(it: &Counts) -> CountsEntry {
    CountsEntry {
        reads: it.reads,
        writes: it.writes,
        cold: it.cold,
        capacity: it.capacity,
        true_sharing: it.true_sharing,
        false_sharing: it.false_sharing,
        migrated: it.migrated,
        upgrades: it.upgrades,
        latency_s: it.latency_s,
    }
}

fn phase(it: &PhaseRow) -> PhaseEntry<'_> {
    let pe = |pe: &partune_mds::PeRow| PeEntry {
        tasks: pe.tasks,
        moved: pe.moved,
        work_s: pe.work_s,
        latency_s: pe.counts.latency_s,
        wait_s: pe.wait_s,
        misses: pe.counts.misses(),
        lines: pe.lines,
        bytes: pe.bytes,
    };
    PhaseEntry {
        name: &it.name,
        turns: it.turns,
        counts: counts(&it.counts()),
        pes: it.pes.iter().map(pe).collect(),
        data: it.data.iter().map(|row| ArrayEntry { name: &row.name, counts: counts(&row.counts) }).collect(),
    }
}

fn flow_entry<'a>(outcome: &'a Outcome, it: &Flow) -> FlowEntry<'a> {
    FlowEntry {
        writer: &outcome.phases[it.writer].name,
        reader: &outcome.phases[it.reader].name,
        bytes: it.bytes,
        from_others: it.from_others(),
        pairs: it.pairs.iter().map(|(from, to, bytes)| PairEntry { from: *from, to: *to, bytes: *bytes }).collect(),
    }
}

/// For the terminal.
pub fn data_text(name: &str, outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    let cache = outcome.cache.map_or_else(|| "that keep all".to_owned(), |size| format!("of {}", bytes(size as f64)));
    let pes = plural(outcome.pes, "PE", "PEs");
    let head = style.paint(Tone::Strong, name);
    let _ = writeln!(out, "{head}: {pes}, lines of {} bytes, caches {cache}", outcome.line);
    bounds_text(&mut out, outcome, style);
    phases_text(&mut out, outcome, style);
    sets_text(&mut out, outcome, style);
    arrays_text(&mut out, outcome, style);
    flow_text(&mut out, outcome, style);
    sizes_text(&mut out, outcome, style);
    advice_text(&mut out, outcome, style);
    out
}

pub(crate) fn section(out: &mut String, style: Style, title: &str, rows: &[Vec<String>]) {
    if rows.len() > 1 {
        let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, title));
        table(out, rows);
    }
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A count; what is not there is not told.
fn number(value: u64) -> String {
    if value == 0 { "–".to_owned() } else { value.to_string() }
}

fn bounds_text(out: &mut String, outcome: &Outcome, style: Style) {
    let it = outcome.bounds;
    let mut rows = vec![row(["run", "", ""])];
    rows[0][1] = seconds(outcome.run_s);
    let parts = [
        ("ideal: work evenly shared", it.ideal_s),
        ("C'  communication", it.communication_s),
        ("    false sharing", it.false_sharing_s),
        ("    threads that moved", it.migration_s),
        ("L   imbalance", it.imbalance_s),
        ("M'  imbalance of phases", it.phases_s),
        ("D   imbalance of turns", it.turns_s),
        ("S'  barriers", it.synchronisation_s),
        ("    waits for events", it.events_s),
    ];
    for (name, value) in parts {
        // What is left of differences of equal sums is nothing.
        if value.abs() > 1e-9 * outcome.run_s {
            rows.push(vec![name.to_owned(), seconds(value), percent(value / outcome.run_s)]);
        }
    }
    section(out, style, "where the time goes", &rows);
}

const MISSES: [&str; 6] = ["first use", "too small", "true sharing", "false sharing", "moved", "upgrades"];

fn misses(it: &Counts) -> [String; 6] {
    [it.cold, it.capacity, it.true_sharing, it.false_sharing, it.migrated, it.upgrades].map(number)
}

fn phases_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut rows = vec![row(["phase", "turns", "tasks", "work", "latency", "waiting"])];
    for phase in &outcome.phases {
        let sum = |of: &dyn Fn(&partune_mds::PeRow) -> f64| seconds(phase.pes.iter().map(of).sum());
        rows.push(vec![
            phase.name.clone(),
            phase.turns.to_string(),
            phase.pes.iter().map(|pe| pe.tasks).sum::<u64>().to_string(),
            sum(&|pe| pe.work_s),
            sum(&|pe| pe.counts.latency_s),
            sum(&|pe| pe.wait_s),
        ]);
    }
    section(out, style, "phases, of all PEs", &rows);
}

fn sets_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut rows = vec![row(["phase", "lines", "bytes", "of its lines", "mean of PEs"])];
    for phase in &outcome.phases {
        let Some(most) = phase.pes.iter().max_by_key(|pe| (pe.lines, pe.bytes)).filter(|pe| pe.lines > 0) else {
            continue;
        };
        let lines = phase.pes.iter().map(|pe| pe.lines).sum::<u64>();
        let used = most.bytes as f64 / (most.lines * outcome.line) as f64;
        rows.push(vec![
            phase.name.clone(),
            most.lines.to_string(),
            bytes(most.bytes as f64),
            percent(used),
            bytes((lines * outcome.line) as f64 / outcome.pes as f64),
        ]);
    }
    section(out, style, "working set of a turn, of the PE that has most", &rows);
}

fn arrays_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut rows =
        vec![["data", "in", "reads", "writes"].iter().chain(&MISSES).map(|it| (*it).to_owned()).collect::<Vec<_>>()];
    for phase in &outcome.phases {
        for data in &phase.data {
            let it = &data.counts;
            let mut cells = vec![data.name.clone(), phase.name.clone(), number(it.reads), number(it.writes)];
            cells.extend(misses(it));
            rows.push(cells);
        }
    }
    section(out, style, "elements, and misses of lines by their cause", &rows);
}

fn flow_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut rows = vec![row(["written in", "read in", "bytes", "from other PEs", "pairs", "most"])];
    for flow in &outcome.flow {
        let most = flow.pairs.iter().max_by_key(|(from, to, bytes)| (*bytes, std::cmp::Reverse((*from, *to))));
        let most = most.map(|(from, to, value)| format!("{} from {from} to {to}", bytes(*value as f64)));
        rows.push(vec![
            outcome.phases[flow.writer].name.clone(),
            outcome.phases[flow.reader].name.clone(),
            bytes(flow.bytes as f64),
            bytes(flow.from_others() as f64),
            number(flow.pairs.len() as u64),
            most.unwrap_or_else(|| "–".to_owned()),
        ]);
    }
    section(out, style, "what is read, each time that it is", &rows);
}

fn sizes_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut rows = vec![row(["cache of a PE", "misses"])];
    let mut before = None;
    for size in &outcome.sizes {
        if before != Some(size.misses) {
            rows.push(vec![bytes(size.bytes as f64), size.misses.to_string()]);
        }
        before = Some(size.misses);
    }
    section(out, style, "misses by size of caches, where a larger one misses less", &rows);
}

/// What to change in the layout.
fn advice_text(out: &mut String, outcome: &Outcome, style: Style) {
    let mut shared: Vec<(&str, u64)> = Vec::new();
    for data in outcome.phases.iter().flat_map(|phase| &phase.data).filter(|data| data.counts.false_sharing > 0) {
        match shared.iter_mut().find(|(name, _)| *name == data.name) {
            Some((_, count)) => *count += data.counts.false_sharing,
            None => shared.push((&data.name, data.counts.false_sharing)),
        }
    }
    if shared.is_empty() {
        return;
    }
    shared.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let names: Vec<String> = shared.iter().map(|(name, count)| format!("{name} ({count} misses)")).collect();
    let text = format!(
        "PEs write to different elements of the same lines: {}. Records that fill lines (pad), or a decomposition that gives neighbours to one PE, end that",
        names.join(", ")
    );
    out.push('\n');
    style.wrapped(out, (Tone::Warning, "false sharing: "), &text);
}
