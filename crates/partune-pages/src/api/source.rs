//! `sources` and `source`: what lines of the source cost, and their text where the user lets it be shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_base::Span;
use partune_engine::LineCost;
use partune_report::{advice, names, words};
use serde::Serialize;

use super::Ask;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Files that are listed, lines of a text, findings beside one.
const FILES: usize = 500;
const LINES: usize = 2000;
const FINDINGS: usize = 200;

/// What is known of a line.
#[derive(Clone, Copy, Default)]
struct Cost {
    line: LineCost,
    /// What it makes others lose, as findings say.
    caused: Span,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "keys of the answer")]
pub(super) struct Files {
    /// Whether there are folders whose text may be shown.
    shown: bool,
    files: Columns,
    omitted: usize,
}

/// Sums of files, or of lines of one.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Columns {
    /// Empty where they are lines.
    file: Vec<String>,
    /// How many lines of the file are known; or which line it is.
    line: Vec<u32>,
    calls_s: Vec<f64>,
    visits: Vec<u64>,
    own_s: Vec<f64>,
    waiting_s: Vec<f64>,
    caused_s: Vec<f64>,
}

impl Columns {
    fn push(&mut self, run: &Run, line: u32, cost: Cost) {
        self.line.push(line);
        self.calls_s.push(run.seconds(cost.line.calls));
        self.visits.push(cost.line.visits);
        self.own_s.push(run.seconds(cost.line.own));
        self.waiting_s.push(run.seconds(cost.line.waiting));
        self.caused_s.push(run.seconds(cost.caused));
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "keys of the answer")]
pub(super) struct Text {
    file: String,
    /// The first line that is sent, how many the file has, and the text; none where it may not be shown or is not there.
    from: u32,
    count: usize,
    text: Option<Vec<String>>,
    /// Why there is no text.
    why: Option<String>,
    lines: Columns,
    findings: Vec<Note>,
    omitted: usize,
}

/// A finding at a line.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Note {
    line: u32,
    id: String,
    title: String,
    seconds: f64,
    advice: String,
}

/// Lines by their files. A finding's loss is at its lines, and what caused it where that begins.
fn lines(run: &Run) -> BTreeMap<&str, BTreeMap<u32, Cost>> {
    let recorded = run.recorded();
    let of_file = |lines: BTreeMap<u32, LineCost>| {
        lines.into_iter().map(|(line, cost)| (line, Cost { line: cost, caused: Span::ZERO })).collect()
    };
    let mut files: BTreeMap<&str, BTreeMap<u32, Cost>> =
        recorded.source_lines().into_iter().map(|(file, lines)| (file, of_file(lines))).collect();
    for cause in run.diagnosis.findings.iter().flat_map(|ranked| &ranked.finding.causes) {
        let at = recorded.location(cause.path);
        if !at.file.is_empty() && at.line > 0 {
            files.entry(at.file).or_default().entry(at.line).or_default().caused += cause.time;
        }
    }
    files
}

pub(super) fn files(run: &Run, ask: &Ask<'_>) -> Result<Files, Error> {
    let sum = |lines: BTreeMap<u32, Cost>| {
        let known = lines.len() as u32;
        let all = lines.into_values().fold(Cost::default(), |mut all, it| {
            all.caused += it.caused;
            all.line.calls += it.line.calls;
            all.line.visits += it.line.visits;
            all.line.own += it.line.own;
            all.line.waiting += it.line.waiting;
            all
        });
        (known, all)
    };
    let mut rows: Vec<_> = lines(run).into_iter().map(|(file, lines)| (file, sum(lines))).collect();
    rows.sort_by_key(|(file, (_, it))| {
        (Reverse(it.line.waiting + it.caused), Reverse(it.line.own + it.line.calls), *file)
    });
    let most = FILES.min(ask.most);
    let mut columns = Columns::default();
    for (file, (known, all)) in rows.iter().take(most) {
        columns.file.push(text::name(file));
        columns.push(run, *known, *all);
    }
    let shown = !ask.runs.sources().is_empty();
    Ok(Files { shown, files: columns, omitted: rows.len().saturating_sub(most) })
}

pub(super) fn text(run: &Run, ask: &Ask<'_>) -> Result<Text, Error> {
    let asked = ask.query.text("file").unwrap_or_default();
    let unknown = || Error::question("the archive names no such file", "runs/R/sources lists those that it names");
    let all = lines(run);
    // Only what the archive names is looked for.
    let (file, known) = all.into_iter().find(|(file, _)| text::name(file) == asked).ok_or_else(unknown)?;
    let sources = ask.runs.sources();
    let (whole, why) = if sources.is_empty() {
        (None, Some("no folder was named whose text may be shown: start partune with --source FOLDER".to_owned()))
    } else {
        sources.lines(file).map_or_else(|why| (None, Some(why)), |lines| (Some(lines), None))
    };
    let most = LINES.min(ask.most);
    let count = whole.as_ref().map_or(0, Vec::len);
    // Of a long one the part around what costs most.
    let costly = known.iter().max_by_key(|(line, it)| (it.line.waiting + it.caused + it.line.own, Reverse(**line)));
    let costly = costly.map_or(1, |(line, _)| *line as usize);
    let middle = if count <= most { 1 } else { costly.saturating_sub(most / 2).clamp(1, count - most + 1) };
    let from = ask.query.number("from", 1..=u32::MAX)?.unwrap_or(middle as u32);
    let kept = |lines: Vec<String>| lines.into_iter().skip(from as usize - 1).take(most).collect();
    let mut columns = Columns::default();
    for (line, cost) in known.iter().take(most) {
        columns.push(run, *line, *cost);
    }
    let findings = notes(run, file, FINDINGS.min(ask.most));
    let omitted = known.len().saturating_sub(most);
    Ok(Text { file: text::name(file), from, count, text: whole.map(kept), why, lines: columns, findings, omitted })
}

/// The findings at lines of a file, worst first.
fn notes(run: &Run, file: &str, most: usize) -> Vec<Note> {
    let recorded = run.recorded();
    let findings = run.diagnosis.findings.iter().enumerate();
    let of_finding = findings.flat_map(|(at, ranked)| {
        let finding = &ranked.finding;
        let lines = names::lines(recorded, finding);
        let own = if lines.is_empty() { vec![(finding.path, finding.time)] } else { lines };
        own.into_iter().map(move |(path, time)| (at, recorded.location(path), time))
    });
    let here = of_finding.filter(|(_, place, _)| place.file == file && place.line > 0).take(most);
    here.map(|(at, place, time)| {
        let title = words::title(run.diagnosis.findings[at].finding.pattern);
        let (id, advice) = (run.ids[at].clone(), advice(&run.diagnosis, at));
        Note { line: place.line, id, title, seconds: run.seconds(time), advice }
    })
    .collect()
}
