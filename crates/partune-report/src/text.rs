//! The text of `analyze`: a summary that fits one screen, then, if asked, every section.

use std::fmt::Write;

use partune_analysis::{Cause, Section};
use partune_base::Span;
use partune_diag::Severity;
use partune_engine::{Diagnosis, Ranked};
use partune_trace::Trace;

use crate::{names, next, tables};

/// What to print.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// How many findings.
    pub findings: usize,
    /// Print the sections of all analyses, with tables of at most this many rows; 0 prints none.
    pub table_rows: usize,
}

/// The text of a diagnosis.
pub fn text(diagnosis: &Diagnosis, archive: &str, options: TextOptions) -> String {
    let mut out = String::new();
    header(&mut out, diagnosis, archive);
    summary(&mut out, diagnosis);
    findings(&mut out, diagnosis, options.findings);
    quality(&mut out, diagnosis);
    if options.table_rows > 0 {
        for section in &diagnosis.sections {
            tables::section_text(&mut out, &diagnosis.trace, section, options.table_rows);
        }
    }
    out
}

fn header(out: &mut String, diagnosis: &Diagnosis, archive: &str) {
    let trace = &diagnosis.trace;
    let pes = trace.active_pes().count();
    let processes = trace.processes().iter().filter(|process| !process.pes.is_empty()).count();
    let counted = trace.profile().into_iter().flat_map(|profile| profile.pes.iter()).flat_map(|pe| &pe.rows);
    let mut paradigms: Vec<&str> = trace
        .active_pes()
        .flat_map(|pe| {
            trace.streams()[pe].operations.iter().take(1000).map(move |visit| trace.region_of(pe, *visit).paradigm)
        })
        .chain(counted.clone().map(|row| names::region(trace, row.path).paradigm))
        .map(|paradigm| trace.strings().get(paradigm))
        .filter(|name| !name.is_empty())
        .collect();
    paradigms.sort_unstable();
    paradigms.dedup();
    let operations = counted.filter(|row| trace.paths().operation(row.path) == row.path);
    let what = match trace.profile() {
        Some(_) => format!("profile of {} operations", operations.map(|row| row.visits).sum::<u64>()),
        None => format!("{} events", trace.events()),
    };
    let duration = names::seconds(trace.clock().seconds(trace.duration()));
    let _ = writeln!(
        out,
        "{archive}: {pes} PEs in {processes} processes{}{}, {what}, {duration}",
        if paradigms.is_empty() { "" } else { ", " },
        paradigms.join(" + ")
    );
}

fn section<'a>(diagnosis: &'a Diagnosis, name: &str) -> Option<&'a Section> {
    diagnosis.sections.iter().find(|section| section.name == name)
}

/// What kind of loss it is.
fn summary(out: &mut String, diagnosis: &Diagnosis) {
    if let Some(efficiency) = section(diagnosis, "efficiency") {
        let value = |name| efficiency.scalars.iter().find(|scalar| scalar.name == name).map(|scalar| scalar.value);
        if let (Some(parallel), Some(balance), Some(serial), Some(transfer)) =
            (value("parallel"), value("load_balance"), value("serialization"), value("transfer"))
        {
            let _ = writeln!(
                out,
                "\nefficiency   {} parallel = {} load balance × {} serialization × {} transfer",
                names::percent(parallel),
                names::percent(balance),
                names::percent(serial),
                names::percent(transfer)
            );
        } else if let (Some(parallel), Some(balance), Some(communication)) =
            (value("parallel"), value("load_balance"), value("communication"))
        {
            let _ = writeln!(
                out,
                "\nefficiency   {} parallel = {} load balance × {} communication (waiting and transfer together)",
                names::percent(parallel),
                names::percent(balance),
                names::percent(communication)
            );
        }
    }
    if let Some(bounds) = section(diagnosis, "bounds") {
        let column = |table: &str, column: &str| {
            let table = bounds.tables.iter().find(|it| it.name == table)?;
            table.columns.iter().find(|it| it.name == column).map(|it| &it.values)
        };
        if let (
            Some(partune_analysis::Values::Word(bound_names)),
            Some(partune_analysis::Values::Number(_, seconds)),
            Some(partune_analysis::Values::Word(gap_names)),
            Some(partune_analysis::Values::Number(_, gaps)),
        ) =
            (column("bounds", "name"), column("bounds", "seconds"), column("gaps", "name"), column("gaps", "seconds"))
            && let (Some(first), Some(lowest)) = (bound_names.first(), seconds.first())
        {
            let _ = write!(out, "bounds       {first} {}", names::seconds(*lowest));
            for (name, gap) in gap_names.iter().zip(gaps) {
                let _ = write!(out, "  +{name} {}", names::seconds(*gap));
            }
            let actual = diagnosis.trace.clock().seconds(diagnosis.trace.duration());
            let _ = writeln!(out, "  = {}", names::seconds(actual));
        }
    }
    if diagnosis.trace.profile().is_some() {
        return activities(out, diagnosis);
    }
    let waits: Span = diagnosis.waits.iter().map(partune_analysis::Wait::duration).sum();
    let trace = &diagnosis.trace;
    let all = trace.clock().seconds(trace.duration()) * trace.active_pes().count().max(1) as f64;
    if all > 0.0 {
        let waits = trace.clock().seconds(waits);
        let _ = writeln!(
            out,
            "waiting      {} of the PEs' time ({}, summed over PEs)",
            names::percent(waits / all),
            names::seconds(waits)
        );
    }
}

/// Where the PEs' time went by kind, for a profile, which does not tell what was waiting.
fn activities(out: &mut String, diagnosis: &Diagnosis) {
    let Some(profile) = section(diagnosis, "profile") else { return };
    let trace = &diagnosis.trace;
    let all = trace.clock().seconds(trace.duration()) * trace.active_pes().count().max(1) as f64;
    let spent = profile.scalars.iter().filter(|scalar| scalar.value > 0.0);
    let parts: Vec<String> = spent.map(|it| format!("{} {}", it.name, names::percent(it.value / all))).collect();
    if all > 0.0 && !parts.is_empty() {
        let _ = writeln!(out, "time         {} of the PEs' time", parts.join(", "));
    }
}

fn findings(out: &mut String, diagnosis: &Diagnosis, count: usize) {
    if diagnosis.findings.is_empty() {
        let _ = writeln!(out, "\nno finding above the threshold");
        return;
    }
    let _ = writeln!(out, "\nworst findings{:>67}", "time  of run");
    for (number, ranked) in diagnosis.findings.iter().take(count).enumerate() {
        finding(out, &diagnosis.trace, number + 1, ranked);
    }
    if diagnosis.findings.len() > count {
        let _ = writeln!(out, "     … {} more; --findings N shows them", diagnosis.findings.len() - count);
    }
    let worst = &diagnosis.findings[0].finding;
    out.push('\n');
    wrapped(out, "next: ", next::step(worst.pattern));
}

fn finding(out: &mut String, trace: &Trace, number: usize, ranked: &Ranked) {
    let it = &ranked.finding;
    let seconds = |span| names::seconds(trace.clock().seconds(span));
    let pattern = it.pattern.name().replace('_', " ");
    let _ = writeln!(out, "{number:>3}  {pattern:<58} {:>8}  {:>7}", seconds(it.time), names::percent(ranked.fraction));
    let caller = it.path.some().and_then(|path| names::caller(trace, path));
    let caller = caller.map_or(String::new(), |caller| format!(", from {}", caller.text()));
    let _ = writeln!(out, "     {}{caller}", names::place(trace, it.path));
    if !it.pes.is_empty() {
        let mut pes = it.pes.clone();
        pes.sort_by_key(|(pe, time)| (std::cmp::Reverse(*time), *pe));
        let one = |(pe, time): &(_, _)| format!("PE {} {}", names::pe(trace, *pe), seconds(*time));
        let shown: Vec<_> = pes.iter().take(4).map(one).collect();
        let more = if pes.len() > 4 { format!(" and {} more", pes.len() - 4) } else { String::new() };
        let times = if it.count == 1 { "once".to_owned() } else { format!("{} times", it.count) };
        let verb = if it.pattern.is_wait() { "waiting" } else { "on" };
        let _ = writeln!(out, "     {verb:<9} {}{more} ({times})", shown.join(", "));
    }
    let considerable = |cause: &&Cause| cause.time.0 >= it.time.0 / 100;
    for (index, cause) in it.causes.iter().take(2).filter(considerable).enumerate() {
        let verb = if index == 0 { "caused by" } else { "" };
        let _ = writeln!(
            out,
            "     {verb:<9} PE {} {}, {}",
            names::pe(trace, cause.pe),
            reason(trace, cause),
            seconds(cause.time)
        );
        if let Some(via) = names::via(trace, cause).filter(|_| index == 0) {
            let _ =
                writeln!(out, "               {} of it passed on by others, such as {via}", seconds(cause.passed_on));
        }
    }
}

/// What a PE did that made others wait.
fn reason(trace: &Trace, cause: &Cause) -> String {
    let operation = names::place(trace, cause.path);
    match names::construct(trace, cause.origin) {
        "" => operation,
        _ if cause.origin == cause.path => operation,
        _ => format!("{} before {}", names::place(trace, cause.origin), names::construct(trace, cause.path)),
    }
}

fn quality(out: &mut String, diagnosis: &Diagnosis) {
    let entries = diagnosis.quality.entries();
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "\ndata quality");
    for entry in entries.iter().take(8) {
        let mark = match entry.severity {
            Severity::Info => "note",
            Severity::DataLoss => "loss",
            Severity::Error => "error",
        };
        let times = if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() };
        wrapped(out, &format!("  {mark}: "), &format!("{}{times}", entry.message));
        if !entry.remedy.is_empty() {
            wrapped(out, "        → ", &entry.remedy);
        }
    }
    if entries.len() > 8 {
        let _ = writeln!(out, "  … {} more; --json has all of them", entries.len() - 8);
    }
}

/// Columns of a line of prose.
const WIDTH: usize = 100;

/// A text that goes on under its own begin where it is too long for a line.
pub(crate) fn wrapped(out: &mut String, label: &str, text: &str) {
    let indent = label.chars().count();
    let mut column = indent;
    out.push_str(label);
    for (number, word) in text.split_whitespace().enumerate() {
        let width = word.chars().count();
        if number > 0 && column + 1 + width > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_goes_on_under_its_begin() {
        let mut out = String::new();
        wrapped(&mut out, "note: ", &"word ".repeat(40));
        assert!(out.lines().count() > 1 && out.lines().all(|line| line.chars().count() <= WIDTH), "{out}");
        assert!(out.lines().skip(1).all(|line| line.starts_with("      word")), "{out}");
    }
}
