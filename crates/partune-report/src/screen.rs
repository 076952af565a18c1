//! The first lines of `analyze`: what run it is, where its time went, and what kind of loss it is.
//!
//! All shares are of one base, the time between start-up and shut-down on all PEs; the line `run` says so.

use std::fmt::Write;

use partune_engine::{Account, Diagnosis, Efficiency, Gap, Hierarchy, Level, Run, TopOperation, Values};

use crate::runs::plural;
use crate::style::{Style, Tone};
use crate::{names, words};

pub(crate) fn header(out: &mut String, diagnosis: &Diagnosis, archive: &str) {
    let run = &diagnosis.run;
    let pes = names::pes(run);
    let paradigms = crate::run::paradigms(run);
    let what = if run.is_profile() {
        format!("profile of {} operations", run.profiled_operations())
    } else {
        format!("{}{} events", if run.piece().is_some() { "about " } else { "" }, run.events())
    };
    let duration = names::seconds(run.seconds(run.duration()));
    let duration = words::piece(run).map_or(duration, |piece| format!("a piece {piece}"));
    let _ = writeln!(
        out,
        "{archive}: {pes}{}{}, {what}, {duration}",
        if paradigms.is_empty() { "" } else { ", " },
        paradigms.join(" + ")
    );
}

/// Where the time went, and what kind of loss it is.
pub(crate) fn summary(out: &mut String, diagnosis: &Diagnosis, style: Style) {
    out.push('\n');
    if diagnosis.run.is_profile() {
        activities(out, diagnosis, style);
    } else if let Some(time) = diagnosis.account() {
        account(out, &diagnosis.run, time, style);
    }
    if let Some(efficiency) = diagnosis.efficiency() {
        factors(out, diagnosis, efficiency, style);
        devices(out, efficiency);
    }
    if let Some(bounds) = diagnosis.bounds() {
        for (label, hierarchy) in [("bounds", Some(&bounds.run)), ("in threads", bounds.threads.as_ref())] {
            if let Some(sentence) = hierarchy.and_then(sentence) {
                style.wrapped(out, (Tone::Strong, &format!("{label:<13}")), &sentence);
            }
        }
    }
}

/// The base of all shares, and what it went into.
fn account(out: &mut String, run: &Run, time: &Account, style: Style) {
    let known = |value: Option<f64>| value.unwrap_or(0.0);
    let (length, pes) = (known(time.run), known(time.pes));
    let base = (length * pes).max(f64::MIN_POSITIVE);
    let outside = match known(time.outside_run) {
        outside if outside > 0.0 => {
            format!("; start-up, shut-down and what lies around them: {}", names::seconds(outside))
        }
        _ => String::new(),
    };
    let hours = match base / 3600.0 {
        hours if hours >= 0.1 => format!(" ({} core-hours)", names::three_digits(hours)),
        _ => String::new(),
    };
    let piece = words::piece(run).map_or(String::new(), |piece| format!(", {piece}"));
    let left_out = words::left_out(run).map_or(String::new(), |rest| format!("; left out: {rest}"));
    let (length, pes) = (names::seconds(length), plural(pes as usize, "PE", "PEs"));
    style.wrapped(
        out,
        (Tone::Strong, "run          "),
        &format!("{length} on {pes}{hours}{piece}, of which all shares are{outside}{left_out}"),
    );
    let has_threads = run.counts().pes > run.counts().processes;
    let idle = if has_threads { "idle threads, or nothing recorded" } else { "nothing recorded" };
    let kinds = [
        (time.computation, "computation"),
        (time.waiting, "waiting"),
        (time.device_waiting, "waiting for devices"),
        (time.start_up, "still in start-up"),
        (time.transfer, "transfer and synchronisation"),
        (time.io, "input and output"),
        (time.idle, idle),
    ];
    // What is less than any number that would be printed is left out.
    let parts = kinds.iter().filter(|(value, _)| known(*value) >= 5e-5 * base);
    let parts: Vec<String> =
        parts.map(|(value, words)| format!("{words} {}", names::percent(known(*value) / base))).collect();
    style.wrapped(out, (Tone::Strong, "time         "), &parts.join(", "));
}

/// The factors of efficiency of each level as a product; where processes have several PEs, theirs and those of their threads multiply to that of all.
fn factors(out: &mut String, diagnosis: &Diagnosis, efficiency: &Efficiency, style: Style) {
    let doubtful = if diagnosis.clocks_aligned() { String::new() } else { format!(" ({})", words::DOUBTFUL) };
    for (level, factors) in efficiency.levels() {
        let (label, remark) = match level {
            Level::AllPes => ("efficiency", doubtful.clone()),
            Level::BetweenProcesses => ("processes", String::new()),
            Level::InProcesses => ("threads", String::new()),
            Level::Devices => ("devices", String::new()),
        };
        // Communication is the product of the two that follow it, where those are known.
        let is_split = factors.iter().any(|(name, value)| *name == "serialization" && value.is_some());
        let shown = factors.iter().filter(|(name, _)| !(is_split && *name == "communication"));
        let term = |(name, value): &(&str, Option<f64>)| {
            let name = match *name {
                "communication" if level != Level::Devices => "communication (waiting and transfer together)",
                name => &name.replace('_', " "),
            };
            value.map(|value| format!("{} {name}", names::percent(value)))
        };
        let shown: Vec<String> = shown.filter_map(term).collect();
        if let Some((whole, parts @ [_, ..])) = shown.split_first() {
            let product = parts.join(" × ");
            style.wrapped(out, (Tone::Strong, &format!("{label:<13}")), &format!("{whole} = {product}{remark}"));
        }
        if let (Level::AllPes, Some(processes), Some(threads)) =
            (level, efficiency.process_parallel, efficiency.thread_parallel)
        {
            let [processes, threads] = [processes, threads].map(names::percent);
            let _ = writeln!(out, "             = {processes} between processes × {threads} inside of them");
        }
    }
}

/// Rows of the table of operations, but for those that take less of the run than this.
const OPERATIONS: usize = 3;
const SMALL: f64 = 0.005;

/// What constructs took most of the run, and the others together: so shares add up to the time in operations.
pub(crate) fn operations(out: &mut String, diagnosis: &Diagnosis, style: Style) {
    let all = diagnosis.operations();
    if all.is_empty() {
        return;
    }
    let large = all.iter().take(OPERATIONS).take_while(|row| row.share >= SMALL).count();
    let (shown, others) = all.split_at(large.max(1));
    let heading =
        format!("operations{:>39}{:>11}{:>11}{:>13}{:>10}", "calls", "PEs' time", "waiting", "bytes", "of run");
    let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, &heading));
    let mut row = |name: &str, row: &TopOperation| {
        let _ = writeln!(
            out,
            "     {name:<33}{:>11}{:>11}{:>11}{:>13}{:>10}",
            row.count,
            names::seconds(row.seconds),
            row.waiting.map_or_else(|| "–".to_owned(), names::seconds),
            if row.bytes > 0 { names::bytes(row.bytes as f64) } else { "–".to_owned() },
            names::percent(row.share),
        );
    };
    for operation in shown {
        let name = diagnosis.run.region(operation.construct).map_or("", |region| region.construct);
        row(name, operation);
    }
    if let Some(sum) = TopOperation::sum(others) {
        row(&plural(others.len(), "other", "others"), &sum);
    }
}

/// Rows of the table of files, and the share of the run that all of them take, from which it is shown.
const FILES: usize = 3;
const FILES_MATTER: f64 = 0.001;

/// The files that took most time, where files took some of the run.
pub(crate) fn files(out: &mut String, diagnosis: &Diagnosis, style: Style) {
    let run = &diagnosis.run;
    let Some(section) = diagnosis.section("files") else { return };
    let base = run.seconds(run.base()).max(f64::MIN_POSITIVE);
    let Some(table) =
        section.tables.first().filter(|_| section.scalar("seconds").unwrap_or(0.0) >= FILES_MATTER * base)
    else {
        return;
    };
    let values = |name: &str| table.columns.iter().find(|column| column.name == name).map(|column| &column.values);
    let number = |name: &str, row: usize| match values(name) {
        Some(Values::Count(values)) => values[row] as f64,
        Some(Values::Number(_, values)) => values[row],
        Some(_) | None => 0.0,
    };
    let Some(Values::Name(files)) = values("file") else { return };
    let columns = ["PEs", "opens", "reads", "writes", "bytes", "PEs' time", "of run"];
    let [pes, opens, reads, writes, bytes, time, share] = columns;
    let heading = format!("files{:>24}{pes:>5}{opens:>7}{reads:>9}{writes:>9}{bytes:>11}{time:>11}{share:>10}", "");
    let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, &heading));
    for (row, file) in files.iter().take(FILES).enumerate() {
        let time = ["read_seconds", "write_seconds", "other_seconds"].map(|name| number(name, row)).iter().sum::<f64>();
        let _ = writeln!(
            out,
            "     {:<24}{:>5}{:>7}{:>9}{:>9}{:>11}{:>11}{:>10}",
            names::clip_begin(run.text(*file), 23),
            number("pes", row),
            number("opens", row),
            number("reads", row),
            number("writes", row),
            names::bytes(number("read_bytes", row) + number("written_bytes", row)),
            names::seconds(time),
            names::percent(time / base),
        );
    }
    if files.len() > FILES {
        let more = plural(files.len() - FILES, "other; --only files shows it", "others; --only files shows them");
        let _ = writeln!(out, "     {more}");
    }
}

/// What the host's calls to devices take.
fn devices(out: &mut String, efficiency: &Efficiency) {
    if let (Some(calls), Some(waits)) = (efficiency.device_call_seconds, efficiency.device_wait_seconds) {
        let _ = writeln!(
            out,
            "host         {} waiting for devices, {} in other calls to them (summed over PEs)",
            names::seconds(waits),
            names::seconds(calls - waits)
        );
    }
}

/// A chain of bounds as a sum: `ideal 14.7 s + imbalance 21.4 + … = 66.3 s`. Gaps that three digits of the run do not show are left out; what is less than
/// nothing is taken off.
fn sentence(hierarchy: &Hierarchy) -> Option<String> {
    let (first, run) = (hierarchy.bounds.first()?, hierarchy.bounds.last()?.seconds);
    let (ideal, word) = (first.seconds, if first.name == "M" { "peak" } else { "ideal" });
    let (scale, unit) = names::scale(run);
    let shown = hierarchy.gaps.iter().filter(|gap| gap.seconds.abs() >= run * 0.0005);
    let term = |gap: &Gap| {
        let sign = if gap.seconds < 0.0 { '−' } else { '+' };
        format!(" {sign} {} {}", words::gap(gap.name).0, names::three_digits(gap.seconds.abs() * scale))
    };
    let terms: String = shown.map(term).collect();
    Some(format!("{word} {} {unit}{terms} = {}", names::three_digits(ideal * scale), names::seconds(run)))
}

/// Where the PEs' time went by kind, for a profile, which does not tell what was waiting.
fn activities(out: &mut String, diagnosis: &Diagnosis, style: Style) {
    let Some(activities) = diagnosis.activities() else { return };
    let run = &diagnosis.run;
    let all = run.seconds(run.duration()) * run.counts().pes.max(1) as f64;
    let spent = activities.times.iter().filter(|it| it.total > 0.0);
    let parts: Vec<String> = spent.map(|it| format!("{} {}", it.name(), names::percent(it.total / all))).collect();
    if all > 0.0 && !parts.is_empty() {
        let [whole, base] = [all, run.seconds(run.base())].map(names::seconds);
        let text = format!(
            "{} of {whole} on all PEs, start-up and shut-down included; all other shares are of the {base} between them",
            parts.join(", ")
        );
        style.wrapped(out, (Tone::Strong, "time         "), &text);
    }
}
