//! Names of places that several runs have: those of the first run that has them.

use std::borrow::Cow;
use std::fmt::Write;

use partune_base::{CallPathId, RegionId};
use partune_diag::{Severity, three_digits};
use partune_engine::{Checked, Comparison, Figure, Frame, Interval, Location, Note, Run};
use schemars::JsonSchema;
use serde::Serialize;

use super::NamedRun;
use crate::names;

/// A call path or a region, in the trace it is of.
pub(super) trait PlaceId: Copy {
    fn construct(self, run: &Run) -> &str;
    fn location(self, run: &Run) -> Location<'_>;
    /// Names from the outermost to the place; of a region its own.
    fn callpath(self, run: &Run) -> Vec<Cow<'_, str>>;
    /// The same from the place outwards, on request with the line at which each calls the one before it.
    fn outwards(self, run: &Run, lines: bool) -> Vec<String>;
    /// In one line, for people.
    fn text(self, run: &Run) -> String;
    /// Whether it is no operation, and in none.
    fn is_code(self, run: &Run) -> bool;
}

impl PlaceId for CallPathId {
    fn construct(self, run: &Run) -> &str {
        names::construct(run, self)
    }

    fn location(self, run: &Run) -> Location<'_> {
        run.location(self)
    }

    fn callpath(self, run: &Run) -> Vec<Cow<'_, str>> {
        names::callpath(run, self)
    }

    fn outwards(self, run: &Run, lines: bool) -> Vec<String> {
        let mut called_at = 0;
        let step = |frame: Frame<'_>| match std::mem::replace(&mut called_at, frame.site.line) {
            line if lines && line > 0 => format!("{}:{line}", frame.region.name),
            _ => frame.region.name.to_owned(),
        };
        run.frames(self).take(names::NAMES).map(step).collect()
    }

    fn text(self, run: &Run) -> String {
        names::place(run, self)
    }

    fn is_code(self, run: &Run) -> bool {
        run.frames(self).all(|frame| frame.region.role.is_transparent())
    }
}

impl PlaceId for RegionId {
    fn construct(self, run: &Run) -> &str {
        run.region(self).map_or("", |region| region.construct)
    }

    fn location(self, run: &Run) -> Location<'_> {
        let Some(region) = run.region(self) else { return Location::default() };
        let function = if region.paradigm.is_some() { "" } else { region.name };
        Location { file: region.file, line: region.line, function }
    }

    fn callpath(self, run: &Run) -> Vec<Cow<'_, str>> {
        vec![names::region_name(run, self).into()]
    }

    fn outwards(self, run: &Run, _: bool) -> Vec<String> {
        vec![names::region_name(run, self).to_owned()]
    }

    fn text(self, run: &Run) -> String {
        let name = self.construct(run);
        match names::at_text(&self.location(run)) {
            text if text.is_empty() => name.to_owned(),
            text => text,
        }
    }

    fn is_code(self, run: &Run) -> bool {
        run.region(self).is_some_and(|region| region.role.is_transparent())
    }
}

/// The first run that has a place, and the place in it.
pub(super) fn first<'a, I: Copy>(ids: &[Vec<I>], runs: &[NamedRun<'a>]) -> Option<(I, &'a Run)> {
    ids.iter().zip(runs).find_map(|(ids, run)| Some((*ids.first()?, &run.diagnosis.run)))
}

/// Where a place is in one run.
#[derive(Serialize, JsonSchema)]
pub(super) struct At<'a> {
    pub(super) file: &'a str,
    /// 0 if unknown.
    pub(super) line: u32,
    /// The user function around it; empty if unknown.
    pub(super) function: &'a str,
}

impl<'a> At<'a> {
    pub(super) fn of(id: impl PlaceId, run: &'a Run) -> At<'a> {
        let Location { file, line, function } = id.location(run);
        At { file, line, function }
    }
}

/// A figure of all runs side by side.
#[derive(Serialize, JsonSchema)]
pub(super) struct FigureRow {
    /// `efficiency`, `bounds` or `gaps`.
    section: &'static str,
    name: &'static str,
    /// One per run; null where the run has no such figure.
    values: Vec<Option<f64>>,
}

pub(super) fn figures(figures: &[Figure]) -> Vec<FigureRow> {
    let row = |it: &Figure| FigureRow { section: it.section, name: it.name, values: it.values.clone() };
    figures.iter().map(row).collect()
}

/// Whether a run of a comparison was repeated.
pub(super) fn is_repeated(comparison: &Comparison) -> bool {
    comparison.runs.iter().any(|run| run.repeats.len() > 1)
}

/// The letter of a run: A is the base.
pub(super) fn letter(run: usize) -> String {
    match u8::try_from(run) {
        Ok(run) if run < 26 => char::from(b'A' + run).to_string(),
        _ => format!("#{}", run + 1),
    }
}

/// Notes in words, first which runs lost data; runs are called as `name` says.
pub(super) fn notes(notes: &[Note], runs: &[NamedRun<'_>], name: impl Fn(usize) -> String) -> Vec<String> {
    lossy(runs, &name).into_iter().chain(other_notes(notes, name)).collect()
}

/// Which runs lost data.
pub(super) fn lossy(runs: &[NamedRun<'_>], name: impl Fn(usize) -> String) -> Vec<String> {
    let lossy = |(run, it): (usize, &NamedRun<'_>)| {
        let entries = it.diagnosis.quality.entries();
        let worst = entries.iter().find(|entry| entry.severity != Severity::Info)?;
        Some(format!("{} lost data ({}): its figures may be too small", name(run), worst.message))
    };
    runs.iter().enumerate().filter_map(lossy).collect()
}

/// All other notes.
pub(super) fn other_notes(notes: &[Note], name: impl Fn(usize) -> String) -> Vec<String> {
    let list = |runs: &[usize]| runs.iter().map(|run| name(*run)).collect::<Vec<_>>().join(", ");
    let text = |note: &Note| match note {
        Note::Layout => {
            "the runs differ in processes or PEs, so differences of seconds are of means over PEs where the \
                         number of PEs differs"
                .to_owned()
        }
        Note::Profiles { runs } => {
            format!("{} without events (a profile), others with: findings are not compared", list(runs))
        }
        Note::Paradigms { run, more, fewer } => {
            let what = [(more, "also records"), (fewer, "does not record")];
            let parts = what.iter().filter(|(names, _)| !names.is_empty());
            let parts: Vec<String> = parts.map(|(names, verb)| format!("{verb} {}", names.join(", "))).collect();
            format!("{} {}", name(*run), parts.join(" and "))
        }
        Note::Functions { with } => {
            format!("functions of the program were recorded in {} only: call paths cannot be the same", list(with))
        }
        Note::Sampled { samples } => {
            let each = samples.iter().enumerate();
            let each: Vec<String> = each.filter_map(|(run, it)| Some(format!("{} {}", name(run), (*it)?))).collect();
            format!(
                "times of functions come from samples ({}): one that n of them found is known to ±1/√n of it (1σ)",
                each.join(", ")
            )
        }
        Note::LittleInCommon { run, share } => format!(
            "only {} of the time of {} and {} is in functions and operations that both have: are they the same program?",
            names::percent(*share),
            name(0),
            name(*run)
        ),
    };
    notes.iter().map(text).collect()
}

/// `1 PE`, `4 PEs`.
pub fn plural(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}

/// How often something was noticed, if more than once: ` (4 times)`.
pub fn times(count: u64) -> String {
    if count > 1 { format!(" ({count} times)") } else { String::new() }
}

/// A difference with its sign: `+1.02 s`.
pub(super) fn signed(seconds: f64) -> String {
    format!("{}{}", if seconds > 0.0 { "+" } else { "" }, names::seconds(seconds))
}

/// A value that several runs tell of: `+1.02 s (+0.98 s to +1.05 s, 90 % confidence)`; of one run of each kind the value alone.
pub(super) fn interval(it: &Interval, told: impl Fn(f64) -> String) -> String {
    if it.confidence == 0.0 {
        return told(it.estimate);
    }
    let sure = names::fixed(100.0 * it.confidence, 0);
    format!("{} ({} to {}, {sure} % confidence)", told(it.estimate), told(it.low), told(it.high))
}

/// A relative difference with its sign: `+3.1 %`.
pub(super) fn signed_percent(share: f64) -> String {
    let text = names::percent(share.abs());
    match share {
        value if value > 0.0 => format!("+{text}"),
        value if value < 0.0 => format!("−{text}"),
        _ => text,
    }
}

/// What the measured values of a condition are for each run after the base: `B +16.2 %`.
pub(super) fn measured(checked: &Checked) -> Vec<String> {
    let told = |value: f64| match checked {
        Checked { is_change: true, .. } => signed_percent(value),
        Checked { is_time: true, .. } => names::seconds(value),
        _ => three_digits(value),
    };
    let one = |(number, it): (usize, &Option<Interval>)| {
        let value = it.as_ref().map_or_else(|| "has no such figure".to_owned(), |it| interval(it, told));
        format!("{} {value}", letter(number + 1))
    };
    checked.measured.iter().enumerate().map(one).collect()
}

/// What several runs tell of an entry of a document.
#[derive(Serialize, JsonSchema)]
pub(super) struct IntervalEntry {
    /// The median of all pairs of runs (Hodges and Lehmann).
    estimate: f64,
    low: f64,
    high: f64,
    /// How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each.
    confidence: f64,
}

impl IntervalEntry {
    pub(super) fn of(it: &Interval) -> IntervalEntry {
        IntervalEntry { estimate: it.estimate, low: it.low, high: it.high, confidence: it.confidence }
    }
}

/// Cells as a table with a first column to the left, all others to the right, indented by two.
pub(crate) fn table(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |text: &String| text.chars().count();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(length).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let _ = if column == 0 { write!(line, "  {cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A table after an empty line, and below each row what else is said of it.
pub(super) fn table_with(out: &mut String, rows: &[Vec<String>], more: &[Vec<String>]) {
    let mut text = String::new();
    table(&mut text, rows);
    out.push('\n');
    for (line, more) in text.lines().zip(more) {
        let _ = writeln!(out, "{line}");
        for more in more.iter().filter(|more| !more.is_empty()) {
            let _ = writeln!(out, "      {more}");
        }
    }
}

/// A name that leaves room for figures: its begin and its end.
pub(super) fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let begin: String = text.chars().take(width / 2 - 1).collect();
    let end: String = text.chars().skip(length - (width - width / 2)).collect();
    format!("{begin}…{end}")
}
