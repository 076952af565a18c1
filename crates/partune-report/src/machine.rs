//! A machine description for people, and as JSON.

use std::fmt::Write;

use partune_machine::{Baseline, Caches, Machine, Point};

use crate::names::{bytes, percent, seconds, three_digits};

/// A description as text.
pub fn machine_text(machine: &Machine) -> String {
    let from = &machine.provenance;
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}, {} processors, {}", from.hosts.join(", "), from.cpu, from.cores, from.kernel);
    let launch = if from.launch.is_empty() { "without a launcher".to_owned() } else { from.launch.join(" ") };
    let _ = writeln!(out, "  {:<12} {launch}", "launch line");
    let _ = writeln!(out, "  {:<12} {}", "PEs", from.pes);
    if let Some(mpi) = &from.mpi {
        let _ = writeln!(out, "  {:<12} {}", "MPI", mpi.lines().next().unwrap_or_default());
    }
    let _ =
        writeln!(out, "  {:<12} {}, in {}, by partune {}", "measured", from.date, seconds(from.took_s), from.partune);
    for note in &machine.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    let rates = &machine.rates;
    let _ = writeln!(out, "\nrates       one PE            all PEs");
    for (name, one, all, unit) in [
        ("computing", rates.flops_one, rates.flops_all, "flop/s"),
        ("memory", rates.memory_one, rates.memory_all, "B/s"),
    ] {
        let _ = writeln!(out, "  {name:<10}{:<18}{}", rate(one, unit), rate(all, unit));
    }
    if let Some(caches) = &machine.caches {
        caches_text(&mut out, caches);
    }
    let overheads = &machine.overheads;
    let _ = writeln!(out, "\noverheads");
    let _ = writeln!(
        out,
        "  reading the clock {} (step {}), recording an event {}",
        seconds(overheads.timer_s),
        seconds(overheads.timer_step_s),
        seconds(overheads.event_s)
    );
    if !machine.links.is_empty() {
        let _ = writeln!(out, "\nlinks");
    }
    for link in &machine.links {
        let _ = writeln!(
            out,
            "  {:<10}latency {}, bandwidth {}, busy sending {}; the line fits within {}",
            match link.scope {
                partune_machine::Scope::Node => "node",
                partune_machine::Scope::Network => "network",
            },
            seconds(link.latency_s),
            rate(link.bandwidth, "B/s"),
            seconds(link.overhead_s),
            percent(link.fit_error)
        );
    }
    if !machine.baselines.is_empty() {
        let _ = writeln!(out, "\nbaselines: median (least) of an operation, by bytes");
    }
    let head = |it: &Baseline| format!("{} on {} PEs", it.operation, it.pes);
    let width = machine.baselines.iter().map(|it| head(it).len() + 2).max().unwrap_or_default();
    let mut model = None;
    for baseline in &machine.baselines {
        if baseline.paradigm != model {
            model.clone_from(&baseline.paradigm);
            let _ = writeln!(out, "  of {}", model.as_deref().unwrap_or("every programming model"));
        }
        let cell = |point: &Point| {
            let time = format!("{} ({})", seconds(point.median_s), seconds(point.minimum_s));
            if baseline.points.len() == 1 { time } else { format!("{}: {time}", bytes(point.bytes as f64)) }
        };
        let cells: Vec<String> = baseline.points.iter().map(cell).collect();
        let _ = writeln!(out, "  {:<width$}{:<16}{}", head(baseline), baseline.role, cells.join(", "));
    }
    out
}

/// What a core's caches are, and what lines of them cost.
fn caches_text(out: &mut String, caches: &Caches) {
    let cycle = caches.cycle_s;
    let _ = writeln!(out, "\ncaches of a core, a cycle of {} ({})", seconds(cycle), rate(1.0 / cycle, "Hz"));
    let _ =
        writeln!(out, "  {:<10}{:<11}{:<8}{:<8}{:<26}a line stored to", "", "size", "line", "ways", "a line loaded");
    let cost = |seconds_: f64| format!("{} ({} cycles)", seconds(seconds_), three_digits(seconds_ / cycle));
    let mut row = |name: &str, [size, line, ways]: [String; 3], load_s: f64, store_s: f64| {
        let (load, store) = (cost(load_s), cost(store_s));
        let _ = writeln!(out, "  {name:<10}{size:<11}{line:<8}{ways:<8}{load:<26}{store}");
    };
    for (index, level) in caches.levels.iter().enumerate() {
        let sizes = [bytes(level.bytes as f64), format!("{} B", level.line), level.ways.to_string()];
        row(&format!("level {}", index + 1), sizes, level.load_s, level.store_s);
    }
    row("memory", Default::default(), caches.memory.load_s, caches.memory.store_s);
}

/// A description as JSON: the keys are those of the file.
pub fn machine_json(machine: &Machine) -> String {
    // Its types are structures with strings for keys, which JSON can hold.
    let mut text = serde_json::to_string_pretty(machine).unwrap_or_default();
    text.push('\n');
    text
}

/// A rate with a decimal prefix and three digits: `12.3 Gflop/s`.
pub(crate) fn rate(value: f64, unit: &str) -> String {
    let (scale, prefix) = match value {
        v if v >= 1e12 => (1e12, "T"),
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let value = value / scale;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {prefix}{unit}")
}
