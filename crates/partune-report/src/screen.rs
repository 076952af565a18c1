//! The first lines of `analyze`: what run it is, where its time went, and what kind of loss it is.
//!
//! All shares are of one base, the time between start-up and shut-down on all PEs; the line `run` says so.

use std::fmt::Write;

use partune_analysis::{Section, Values};
use partune_engine::Diagnosis;
use partune_trace::Trace;

use crate::runs::plural;
use crate::style::{Style, Tone};
use crate::{names, words};

pub(crate) fn header(out: &mut String, diagnosis: &Diagnosis, archive: &str) {
    let trace = &diagnosis.trace;
    let pes = names::pes(trace);
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
        None => format!("{}{} events", if trace.piece().is_some() { "about " } else { "" }, trace.events()),
    };
    let duration = names::seconds(trace.clock().seconds(trace.duration()));
    let duration = words::piece(trace).map_or(duration, |piece| format!("a piece {piece}"));
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
    if diagnosis.trace.profile().is_some() {
        activities(out, diagnosis);
    } else if let Some(time) = diagnosis.section("time") {
        account(out, &diagnosis.trace, time, style);
    }
    if let Some(efficiency) = diagnosis.section("efficiency") {
        factors(out, diagnosis, efficiency, style);
        devices(out, efficiency);
    }
    if let Some(bounds) = diagnosis.section("bounds") {
        for (label, chain) in [("bounds", ("bounds", "gaps")), ("in threads", ("thread_bounds", "thread_gaps"))] {
            if let Some(sentence) = sentence(bounds, chain) {
                style.wrapped(out, (Tone::Strong, &format!("{label:<13}")), &sentence);
            }
        }
    }
}

/// The base of all shares, and what it went into.
fn account(out: &mut String, trace: &Trace, time: &Section, style: Style) {
    let value = |name| time.scalar(name).unwrap_or(0.0);
    let (run, pes) = (value("run"), value("pes"));
    let base = (run * pes).max(f64::MIN_POSITIVE);
    let outside = match value("outside_run") {
        outside if outside > 0.0 => {
            format!("; start-up, shut-down and what lies around them: {}", names::seconds(outside))
        }
        _ => String::new(),
    };
    let hours = match base / 3600.0 {
        hours if hours >= 0.1 => format!(" ({} core-hours)", names::three_digits(hours)),
        _ => String::new(),
    };
    let piece = words::piece(trace).map_or(String::new(), |piece| format!(", {piece}"));
    let left_out = words::left_out(trace).map_or(String::new(), |rest| format!("; left out: {rest}"));
    let (run, pes) = (names::seconds(run), plural(pes as usize, "PE", "PEs"));
    style.wrapped(
        out,
        (Tone::Strong, "run          "),
        &format!("{run} on {pes}{hours}{piece}, of which all shares are{outside}{left_out}"),
    );
    let kinds = [
        ("computation", "computation"),
        ("waiting", "waiting"),
        ("device_waiting", "waiting for devices"),
        ("start_up", "still in start-up"),
        ("transfer", "transfer and synchronisation"),
        ("io", "input and output"),
        ("idle", "nothing recorded"),
    ];
    // What would be told as 0.00 % is left out.
    let parts = kinds.iter().filter(|(name, _)| value(name) >= 5e-5 * base);
    let parts: Vec<String> =
        parts.map(|(name, words)| format!("{words} {}", names::percent(value(name) / base))).collect();
    style.wrapped(out, (Tone::Strong, "time         "), &parts.join(", "));
}

/// The factors of efficiency as a product.
fn factors(out: &mut String, diagnosis: &Diagnosis, efficiency: &Section, style: Style) {
    let known = |names: &[&'static str]| -> Option<Vec<(&'static str, f64)>> {
        names.iter().map(|name| Some((*name, efficiency.scalar(name)?))).collect()
    };
    let split = known(&["parallel", "load_balance", "serialization", "transfer"]);
    let Some(values) = split.or_else(|| known(&["parallel", "load_balance", "communication"])) else { return };
    let one = |(name, value): &(&str, f64)| match *name {
        "communication" => format!("{} communication (waiting and transfer together)", names::percent(*value)),
        name => format!("{} {}", names::percent(*value), name.replace('_', " ")),
    };
    let product: Vec<String> = values[1..].iter().map(one).collect();
    let mark = if diagnosis.clocks_aligned() { String::new() } else { format!(" ({})", words::DOUBTFUL) };
    style.wrapped(
        out,
        (Tone::Strong, "efficiency   "),
        &format!("{} = {}{mark}", one(&values[0]), product.join(" × ")),
    );
}

/// How well devices are used, and what the host's calls to them take.
fn devices(out: &mut String, efficiency: &Section) {
    let value = |name| efficiency.scalar(name);
    if let (Some(parallel), Some(balance), Some(communication), Some(orchestration)) = (
        value("device_parallel"),
        value("device_load_balance"),
        value("device_communication"),
        value("device_orchestration"),
    ) {
        let _ = writeln!(
            out,
            "devices      {} parallel = {} load balance × {} communication × {} orchestration",
            names::percent(parallel),
            names::percent(balance),
            names::percent(communication),
            names::percent(orchestration)
        );
    }
    if let (Some(calls), Some(waits)) = (value("device_call_seconds"), value("device_wait_seconds")) {
        let _ = writeln!(
            out,
            "host         {} waiting for devices, {} in other calls to them (summed over PEs)",
            names::seconds(waits),
            names::seconds(calls - waits)
        );
    }
}

/// A chain of bounds as a sum: `ideal 14.7 s + imbalance 21.4 + … = 66.3 s`. Gaps that three digits of the run do not show are left out.
fn sentence(bounds: &Section, (levels, gaps): (&str, &str)) -> Option<String> {
    let column = |table: &str, column: &str| {
        let table = bounds.tables.iter().find(|it| it.name == table)?;
        table.columns.iter().find(|it| it.name == column).map(|it| &it.values)
    };
    let (Values::Number(_, levels), Values::Word(names), Values::Number(_, gaps)) =
        (column(levels, "seconds")?, column(gaps, "name")?, column(gaps, "seconds")?)
    else {
        return None;
    };
    let (ideal, run) = (*levels.first()?, *levels.last()?);
    let (scale, _) = names::scale(run);
    let shown = names.iter().zip(gaps).filter(|(_, gap)| **gap >= run * 0.0005);
    let terms: Vec<String> =
        shown.map(|(name, gap)| format!(" + {} {}", words::gap(name).0, names::three_digits(gap * scale))).collect();
    Some(format!("ideal {}{} = {}", names::seconds(ideal), terms.concat(), names::seconds(run)))
}

/// Where the PEs' time went by kind, for a profile, which does not tell what was waiting.
fn activities(out: &mut String, diagnosis: &Diagnosis) {
    let Some(profile) = diagnosis.section("profile") else { return };
    let trace = &diagnosis.trace;
    let all = trace.clock().seconds(trace.duration()) * trace.cpu_pes().count().max(1) as f64;
    let spent = profile.scalars.iter().filter(|scalar| scalar.value > 0.0);
    let parts: Vec<String> = spent.map(|it| format!("{} {}", it.name, names::percent(it.value / all))).collect();
    if all > 0.0 && !parts.is_empty() {
        let _ = writeln!(out, "time         {} of the PEs' time", parts.join(", "));
    }
}
