//! The text of `analyze`: a summary that fits one screen, then, if asked, every section.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use partune_base::Span;
use partune_diag::{Diagnostic, Severity};
use partune_engine::{Cause, Diagnosis, Finding, Location, Pattern, Ranked, Run};

use crate::style::{Style, Tone};
use crate::{ending, names, next, screen, tables, words};

/// What to print.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// How many findings; none: as many as fit on a screen, at most four.
    pub findings: Option<usize>,
    /// Print the sections of all analyses, with tables of at most this many rows; 0 prints none.
    pub table_rows: usize,
    pub style: Style,
}

/// The text of a diagnosis.
pub fn text(diagnosis: &Diagnosis, archive: &str, options: TextOptions) -> String {
    let mut out = String::new();
    screen::header(&mut out, diagnosis, archive);
    ending(&mut out, diagnosis, options.style);
    let (first, last): (Vec<_>, Vec<_>) =
        diagnosis.quality.entries().iter().partition(|entry| entry.severity != Severity::Info);
    quality(&mut out, &first, options.style);
    screen::summary(&mut out, diagnosis, options.style);
    screen::operations(&mut out, diagnosis, options.style);
    screen::files(&mut out, diagnosis, options.style);
    let above = out.len();
    let most = options.findings.unwrap_or(FINDINGS);
    for count in (0..=most).rev() {
        findings(&mut out, diagnosis, count, options.style);
        if options.findings.is_some() || count <= 1 || out.lines().count() <= SCREEN {
            break;
        }
        out.truncate(above);
    }
    quality(&mut out, &last, options.style);
    if options.table_rows > 0 {
        for section in &diagnosis.sections {
            tables::section_text(&mut out, &diagnosis.run, section, options.table_rows);
        }
    }
    out
}

/// Findings on the first screen, and its lines.
const FINDINGS: usize = 4;
const SCREEN: usize = 40;

/// Letters of a file's name that a finding shows.
const FILE_NAME: usize = 120;

fn ending(out: &mut String, diagnosis: &Diagnosis, style: Style) {
    let lines = ending::lines(diagnosis);
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, "how it ended"));
    }
    for (label, line) in lines {
        style.wrapped(out, (Tone::Plain, &format!("  {label:<11}")), &line);
    }
}

fn findings(out: &mut String, diagnosis: &Diagnosis, count: usize, style: Style) {
    if diagnosis.findings.is_empty() {
        if diagnosis.sought {
            let _ = writeln!(out, "\nno finding above the threshold");
        }
        if diagnosis.mostly_written().is_some() {
            style.wrapped(out, (Tone::Strong, "next: "), next::PROFILE);
        }
        return;
    }
    let base = diagnosis.run.seconds(diagnosis.run.base());
    let hours = base >= HOUR;
    let unit = if hours { "core-hours" } else { "PEs' time" };
    let first = if next::best(diagnosis, 0).is_some() { "what to mend first" } else { "what costs most" };
    let heading = format!("{first:<19}{unit:>58}  {:>8}", "of run");
    let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, &heading));
    let shown = diagnosis.first(count);
    let reads = |at: &usize| {
        let finding = &diagnosis.findings[*at].finding;
        (names::spot(&diagnosis.run, finding), finding.pattern)
    };
    let read: Vec<_> = shown.iter().map(reads).collect();
    for (at, words) in shown.iter().zip(&read) {
        let alike = read.iter().filter(|it| *it == words).count() > 1;
        let fix = next::fix(diagnosis, *at);
        let causes = if fix.is_some() { 1 } else { 2 };
        finding(out, &diagnosis.run, (at + 1, &words.0, hours, alike), (&diagnosis.findings[*at], causes), style);
        if let Some(fix) = fix {
            style.wrapped(out, (Tone::Good, "     fix         "), &fix);
        }
    }
    let rest = match diagnosis.findings.len() - shown.len() {
        0 => None,
        more => Some(format!("{more} more; --findings N shows them")),
    };
    let others = next::best(diagnosis, 0).map(|_| "partune advise has more to try, and how it is done".to_owned());
    let rest: Vec<String> = rest.into_iter().chain(others).collect();
    if !rest.is_empty() {
        let _ = writeln!(out, "     … {}", rest.join("; "));
    }
    out.push('\n');
    let step = match next::best(diagnosis, 0) {
        _ if diagnosis.mostly_written().is_some() => next::PROFILE,
        Some((advice, _)) => &advice.candidate.action.text,
        None => next::step(diagnosis.findings[0].finding.pattern),
    };
    style.wrapped(out, (Tone::Strong, "next: "), step);
}

fn finding(
    out: &mut String,
    run: &Run,
    (number, place, hours, alike): (usize, &str, bool, bool),
    (ranked, causes): (&Ranked, usize),
    style: Style,
) {
    let it = &ranked.finding;
    let seconds = |span| names::seconds(run.seconds(span));
    let time = if ranked.is_outside() { it.outside } else { it.time };
    let cost = if hours { names::three_digits(run.seconds(time) / HOUR) } else { seconds(time) };
    let share = if ranked.is_outside() { "outside".to_owned() } else { names::percent(ranked.fraction) };
    let _ = writeln!(out, "{number:>3}  {place:<63} {cost:>10}  {share:>8}");
    let caller = callers(run, it).map_or(String::new(), |callers| format!(", called from {callers}"));
    let outside = match it.outside {
        outside if outside.is_positive() && !ranked.is_outside() => {
            format!(", and {} outside of the run", seconds(outside))
        }
        _ => String::new(),
    };
    let times = if it.count == 1 { "once".to_owned() } else { format!("{} times", it.count) };
    // Several are the same loss, looked at in several ways.
    let behind = it.facts.iter().filter(|(name, _)| SECOND_FIGURES.contains(name)).max_by(|a, b| a.1.total_cmp(&b.1));
    let behind = behind.map_or(String::new(), |(name, value)| {
        let (name, of) = (name.replace('_', " "), names::seconds(*value));
        // More than is waited here makes PEs wait elsewhere, too.
        let is_here = *value <= run.seconds(time);
        let of = if is_here { format!(" of {of}") } else { format!(" that costs {of} here and elsewhere") };
        format!(", because of {name}{of}")
    });
    let title = words::title(it.pattern).to_lowercase();
    let shared = words::sharing(it).map_or(String::new(), |shared| format!(": {shared}"));
    let file = run.file(it.file).map_or(String::new(), |file| format!(", of {}", names::clip(file, FILE_NAME)));
    let what = format!("{title}, {times}{file}{outside}{behind}{}{caller}{shared}", lines(run, it));
    style.wrapped(out, (Tone::Plain, "     "), &what);
    if let Pattern::User(own) = it.pattern {
        style.wrapped(out, (Tone::Plain, "     "), &own.text);
    }
    if alike {
        let level = it.facts.iter().find(|(name, _)| *name == "level").map(|(name, value)| words::fact(name, *value));
        let found = level.map_or(String::new(), |(label, of)| format!("; {label} {of}"));
        style.wrapped(
            out,
            (Tone::Plain, "     at          "),
            &format!("{}{found}", names::callpath(run, it.path).join(" > ")),
        );
    }
    if !it.pes.is_empty() {
        let mut pes = it.pes.clone();
        pes.sort_by_key(|(pe, time)| (std::cmp::Reverse(*time), *pe));
        let one = |(pe, time): &(_, _)| format!("PE {} {}", names::pe(run, *pe), seconds(*time));
        let shown = names::some_of(&pes, 4, one);
        let verb = if it.pattern.is_wait() { "waiting" } else { "on" };
        let _ = writeln!(out, "     {verb:<11} {shown}");
    }
    let considerable = |(index, cause): &(usize, &Cause)| *index == 0 || cause.time.0 >= it.time.0 / 4;
    for (index, cause) in it.causes.iter().take(causes).enumerate().filter(considerable) {
        let label = if index == 0 { "main cause" } else { "" };
        let (pe, what) = (names::pe(run, cause.pe), names::cause(run, it.pattern, cause));
        let _ = writeln!(out, "     {label:<11} PE {pe}: {what}, {}", seconds(cause.time));
        if let Some(via) = names::via(run, cause).filter(|_| index == 0) {
            let passed = seconds(cause.passed_on);
            let _ = writeln!(out, "                 {passed} of it passed on by others, such as {via}");
        }
    }
}

/// Seconds of an hour; from so much time of PEs on, losses are printed in core-hours.
const HOUR: f64 = 3600.0;

/// The lines that a finding is at where there are several; the two that cost most.
fn lines(run: &Run, finding: &Finding) -> String {
    let lines: Vec<(Location<'_>, Span)> =
        names::lines(run, finding).into_iter().map(|(path, time)| (run.location(path), time)).collect();
    let is_one_place = lines.windows(2).all(|it| it[0].0.function == it[1].0.function && it[0].0.file == it[1].0.file);
    let one = |(at, time): &(Location<'_>, Span)| {
        let at = if is_one_place { format!("line {}", at.line) } else { names::at_text(at) };
        format!("{at} {}", names::seconds(run.seconds(*time)))
    };
    let shown: Vec<String> = lines.iter().take(2).map(one).collect();
    match lines.len() {
        0 | 1 => String::new(),
        2 => format!(", at {}", shown.join(", ")),
        more => format!(", at {} and {} more", shown.join(", "), more - 2),
    }
}

/// Where the function around a place is called from, as far as known; of several places the two that cost most.
fn callers(run: &Run, finding: &Finding) -> Option<String> {
    let seconds = |span| names::seconds(run.seconds(span));
    if finding.paths.is_empty() {
        return Some(names::at_text(&names::caller(run, finding.path.some()?)?));
    }
    let mut of_caller: BTreeMap<String, Span> = BTreeMap::new();
    for (path, time) in &finding.paths {
        *of_caller.entry(names::called_from(run, *path)).or_default() += *time;
    }
    let mut callers: Vec<(String, Span)> = of_caller.into_iter().collect();
    callers.sort_by_key(|(_, time)| Reverse(*time));
    if let [(only, _)] = callers.as_slice() {
        return (only != names::OUTSIDE).then(|| only.clone());
    }
    let shown: Vec<String> = callers.iter().take(2).map(|(at, time)| format!("{at} {}", seconds(*time))).collect();
    let rest = callers.len().saturating_sub(2);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    Some(format!("{}{more}", shown.join(", ")))
}

/// Facts of a wait that are the imbalance behind it.
const SECOND_FIGURES: [&str; 2] = ["load_imbalance", "serial_section"];

fn quality(out: &mut String, entries: &[&Diagnostic], style: Style) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "\ndata quality");
    for entry in entries.iter().take(8) {
        let times = crate::runs::times(entry.count);
        let (tone, word) = words::severity(entry.severity);
        style.wrapped(out, (tone, &format!("  {word}: ")), &format!("{}{times}", entry.message));
        if !entry.remedy.is_empty() {
            style.wrapped(out, (Tone::Plain, "        → "), &entry.remedy);
        }
    }
    if entries.len() > 8 {
        let _ = writeln!(out, "  … {} more; --json has all of them", entries.len() - 8);
    }
}
