//! `summary`: what kind of loss it is.

use partune_engine::{Efficiency, Hierarchy, Level, LevelFactors, TopOperation};
use partune_report::sentences::{self, Piece};
use partune_report::{paradigms, words};
use serde::Serialize;

use super::Ask;
use super::findings::{Row, row};
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Findings that are listed.
const WORST: usize = 10;
/// Constructs that are listed.
const OPERATIONS: usize = 8;
/// Of these, so many in sentences.
const TOLD: usize = 3;
/// What was noticed, in a list.
pub(super) const NOTICES: usize = 200;

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
    /// The piece of the run that is looked at, in words; none if it is all of it.
    piece: Option<String>,
    profile_only: bool,
    waiting_s: Option<f64>,
    waiting: Option<f64>,
    /// Times of different PEs can be compared.
    clocks_aligned: bool,
    /// How the run ended, if not in order.
    ending: Vec<String>,
    sentences: Vec<String>,
    efficiency: Vec<Factor>,
    bounds: Vec<Bound>,
    gaps: Vec<Gap>,
    /// The same of the threads of a process, on average: they end where `bounds` begin.
    thread_bounds: Vec<Bound>,
    thread_gaps: Vec<Gap>,
    quality: Vec<Quality>,
    /// What constructs took of the run, longest first.
    operations: Vec<Operation>,
    /// All others together.
    operations_rest: Option<Operation>,
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

/// What constructs took of the run, on all PEs of CPUs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Operation {
    construct: String,
    /// How many constructs it is of.
    constructs: usize,
    count: u64,
    seconds: f64,
    /// Null for a profile.
    waiting_s: Option<f64>,
    bytes: u64,
    fraction: f64,
}

/// What was noticed about the input.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Quality {
    /// What it is, for programs.
    #[cfg_attr(test, schemars(extend("enum" = partune_diag::Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>())))]
    code: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = partune_diag::Severity::ALL.map(partune_diag::Severity::name))))]
    severity: &'static str,
    message: String,
    remedy: String,
    count: u64,
}

pub(super) fn summary(run: &Run, ask: &Ask<'_>) -> Result<Summary, Error> {
    let recorded = run.recorded();
    let duration = run.seconds(recorded.duration());
    let profile = recorded.is_profile();
    let waiting = partune_report::waiting(&run.diagnosis);
    let of_run = run.diagnosis.bounds();
    let (bounds, gaps) = of_run.map(|it| chain(&it.run)).unwrap_or_default();
    let (thread_bounds, thread_gaps) = of_run.and_then(|it| it.threads.as_ref()).map(chain).unwrap_or_default();
    let worst = run.diagnosis.findings.iter().take(TOLD);
    let told = sentences::verdict(&run.diagnosis).into_iter();
    let told = told.chain(worst.map(|ranked| sentences::loss(&run.diagnosis, ranked)));
    let counts = recorded.counts();
    let operations = run.diagnosis.operations();
    let (shown, others) = operations.split_at(operations.len().min(OPERATIONS));
    Ok(Summary {
        name: text::name(&run.name),
        path: text::long(&run.path.to_string_lossy()),
        producer: recorded.provenance().producer.map(text::name),
        paradigms: paradigms(recorded),
        pes: counts.pes,
        processes: counts.processes,
        device_streams: counts.device_streams,
        devices: counts.devices,
        events: recorded.events(),
        duration_s: duration,
        ending: partune_report::ending_lines(&run.diagnosis)
            .iter()
            .map(|(label, line)| text::long(&format!("{label} {line}")))
            .collect(),
        piece: words::piece(recorded),
        profile_only: profile,
        waiting_s: waiting.map(|it| it.0),
        waiting: waiting.map(|it| it.1),
        clocks_aligned: run.diagnosis.clocks_aligned(),
        sentences: told.map(|pieces| sentence(&pieces)).collect(),
        efficiency: run.diagnosis.efficiency().map(efficiency).unwrap_or_default(),
        bounds,
        gaps,
        thread_bounds,
        thread_gaps,
        quality: quality(run, ask.most),
        operations: shown.iter().map(|it| operation(run, it, 1)).collect(),
        operations_rest: TopOperation::sum(others).map(|sum| operation(run, &sum, others.len())),
        findings: run.diagnosis.first(WORST.min(ask.most)).into_iter().map(|position| row(run, position)).collect(),
        findings_count: run.diagnosis.findings.len(),
    })
}

/// What so many constructs took together; named is the first.
fn operation(run: &Run, row: &TopOperation, constructs: usize) -> Operation {
    let TopOperation { count, seconds, bytes, .. } = *row;
    let construct = text::name(run.recorded().region(row.construct).map_or("", |region| region.construct));
    Operation { construct, constructs, count, seconds, waiting_s: row.waiting, bytes, fraction: row.share }
}

/// The text of a sentence.
pub(super) fn sentence(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Code(name) => text::name(name),
        Piece::Plain(_) => piece.text().to_owned(),
    };
    pieces.iter().map(piece).collect()
}

fn efficiency(efficiency: &Efficiency) -> Vec<Factor> {
    let of_level = |(level, factors): (Level, LevelFactors)| {
        factors.into_iter().filter_map(move |(name, value)| {
            let (label, meaning) = words::factor(name);
            let value = value.filter(|value| value.is_finite())?;
            Some(Factor { name, label, meaning, level: words::level(level), value })
        })
    };
    efficiency.levels().into_iter().flat_map(of_level).collect()
}

fn chain(hierarchy: &Hierarchy) -> (Vec<Bound>, Vec<Gap>) {
    let bounds = hierarchy.bounds.iter().map(|it| Bound { name: it.name, seconds: it.seconds });
    let gaps = hierarchy.gaps.iter().map(|it| {
        let (label, meaning) = words::gap(it.name);
        Gap { name: it.name, label, meaning, seconds: it.seconds }
    });
    (bounds.collect(), gaps.collect())
}

/// All diagnostics, at most so many.
pub(super) fn quality(run: &Run, most: usize) -> Vec<Quality> {
    let entries = run.diagnosis.quality.entries().iter().take(most.min(NOTICES));
    let row = |entry: &partune_diag::Diagnostic| Quality {
        code: entry.code.name(),
        severity: entry.severity.name(),
        message: text::long(&entry.message),
        remedy: text::long(&entry.remedy),
        count: entry.count,
    };
    entries.map(row).collect()
}
