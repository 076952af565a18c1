//! `summary`: what kind of loss it is.

use partune_analysis::{Section, Values};
use partune_report::sentences::{self, Piece};
use partune_report::{paradigms, words};
use serde::Serialize;

use super::Ask;
use super::findings::{Row, row};
use crate::reply::Error;
use crate::run::Run;
use crate::text;

/// Findings that are told.
const WORST: usize = 10;
/// Of these, so many in sentences.
const TOLD: usize = 3;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Summary {
    name: String,
    path: String,
    producer: Option<String>,
    paradigms: Vec<String>,
    pes: usize,
    processes: usize,
    device_streams: usize,
    devices: usize,
    events: u64,
    duration_s: f64,
    profile_only: bool,
    waiting_s: Option<f64>,
    waiting: Option<f64>,
    /// Times of different PEs can be compared.
    clocks_aligned: bool,
    sentences: Vec<String>,
    efficiency: Vec<Factor>,
    bounds: Vec<Bound>,
    gaps: Vec<Gap>,
    quality: Vec<Quality>,
    findings: Vec<Row>,
    findings_count: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Factor {
    name: &'static str,
    label: &'static str,
    meaning: &'static str,
    level: &'static str,
    value: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Bound {
    name: &'static str,
    seconds: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Gap {
    name: &'static str,
    label: &'static str,
    meaning: &'static str,
    seconds: f64,
}

/// What was noticed about the input.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Quality {
    #[cfg_attr(test, schemars(extend("enum" = partune_diag::Severity::ALL.map(partune_diag::Severity::name))))]
    severity: &'static str,
    message: String,
    remedy: String,
    count: u64,
}

pub(super) fn summary(run: &Run, _: &Ask<'_>) -> Result<Summary, Error> {
    let trace = run.trace();
    let duration = run.seconds(trace.duration());
    let profile = trace.profile().is_some();
    let waiting = partune_report::waiting(&run.diagnosis);
    let section = |name: &str| run.diagnosis.section(name);
    let (bounds, gaps) = section("bounds").map(bounds).unwrap_or_default();
    let worst = run.diagnosis.findings.iter().take(TOLD);
    let told = sentences::verdict(&run.diagnosis).into_iter();
    let told = told.chain(worst.map(|ranked| sentences::loss(&run.diagnosis, ranked)));
    Ok(Summary {
        name: text::name(&run.name),
        path: text::long(&run.path.to_string_lossy()),
        producer: None,
        paradigms: paradigms(&run.diagnosis),
        pes: trace.cpu_pes().count(),
        processes: trace.cpu_processes().count(),
        device_streams: trace.device_pes().count(),
        devices: trace.devices(),
        events: trace.events(),
        duration_s: duration,
        profile_only: profile,
        waiting_s: waiting.map(|it| it.0),
        waiting: waiting.map(|it| it.1),
        clocks_aligned: run.diagnosis.clocks_aligned(),
        sentences: told.map(|pieces| sentence(&pieces)).collect(),
        efficiency: section("efficiency").map(efficiency).unwrap_or_default(),
        bounds,
        gaps,
        quality: quality(run),
        findings: (0..run.diagnosis.findings.len().min(WORST)).map(|position| row(run, position)).collect(),
        findings_count: run.diagnosis.findings.len(),
    })
}

/// The text of a sentence.
pub(super) fn sentence(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Code(name) => text::name(name),
        Piece::Plain(_) | Piece::Strong(_) => piece.text().to_owned(),
    };
    pieces.iter().map(piece).collect()
}

fn efficiency(section: &Section) -> Vec<Factor> {
    const LEVELS: [(&str, &str); 4] = [
        ("", "all PEs"),
        ("process_", "between processes"),
        ("thread_", "inside of processes"),
        ("device_", "devices"),
    ];
    const NAMES: [&str; 6] =
        ["parallel", "load_balance", "communication", "orchestration", "serialization", "transfer"];
    let value = |prefix: &str, name: &str| {
        let scalar = section.scalars.iter().find(|it| it.name.strip_prefix(prefix) == Some(name))?;
        Some(scalar.value).filter(|value| value.is_finite())
    };
    let factor = |level: (&str, &'static str), name: &'static str| {
        let (label, meaning) = words::factor(name);
        Some(Factor { name, label, meaning, level: level.1, value: value(level.0, name)? })
    };
    LEVELS.iter().flat_map(|level| NAMES.iter().filter_map(|name| factor(*level, name))).collect()
}

fn bounds(section: &Section) -> (Vec<Bound>, Vec<Gap>) {
    let rows = |table: &str, column: &str| {
        let table = section.tables.iter().find(|it| it.name == table);
        let values = |column: &str| table?.columns.iter().find(|it| it.name == column).map(|it| &it.values);
        match (values("name"), values(column)) {
            (Some(Values::Word(names)), Some(Values::Number(_, numbers))) => {
                names.iter().copied().zip(numbers.iter().copied()).collect()
            }
            _ => Vec::new(),
        }
    };
    let bounds = rows("bounds", "seconds").into_iter().map(|(name, seconds)| Bound { name, seconds });
    let gaps = rows("gaps", "seconds").into_iter().map(|(name, seconds)| {
        let (label, meaning) = words::gap(name);
        Gap { name, label, meaning, seconds }
    });
    (bounds.collect(), gaps.collect())
}

/// All diagnostics, at most 200.
pub(super) fn quality(run: &Run) -> Vec<Quality> {
    let entries = run.diagnosis.quality.entries().iter().take(200);
    let row = |entry: &partune_diag::Diagnostic| Quality {
        severity: entry.severity.name(),
        message: text::long(&entry.message),
        remedy: text::long(&entry.remedy),
        count: entry.count,
    };
    entries.map(row).collect()
}
