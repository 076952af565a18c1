//! Where the time of a simulation went, in text and as JSON.
//!
//! The text shows what matters most and says how much it leaves out; the JSON has all of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_expr::Number;
use partune_model::simulate::{Breakdown, ChainPart};
use serde_json::{Value, json};

use super::{number, show};

/// Rows of a table.
const ROWS: usize = 12;

/// Fields as `docs/model/language.md` has them.
pub(super) fn json(breakdown: &Breakdown) -> Value {
    let processes = breakdown.processes.iter().map(|it| {
        json!({
            "name": it.name,
            "starts": it.starts,
            "time": number(it.time),
            "busy": number(it.busy),
            "waiting": number(it.waiting),
            "par_end": number(it.par_end),
        })
    });
    let resources = breakdown.resources.iter().map(|it| {
        json!({
            "name": it.name,
            "waiting": number(it.waiting),
            "waits": it.waits,
            "max_queue": it.max_queue,
        })
    });
    let chain = breakdown.chain.iter().map(|it| {
        let [process, resource] = names(breakdown, it);
        json!({
            "process": process,
            "resource": resource,
            "time": number(it.time),
            "uses": it.uses,
            "queued_time": number(it.queued_time),
            "queued_uses": it.queued_uses,
        })
    });
    json!({
        "processes": processes.collect::<Vec<_>>(),
        "resources": resources.collect::<Vec<_>>(),
        "chain": chain.collect::<Vec<_>>(),
    })
}

/// Of the process, and of the resource unless it is a delay.
fn names<'a>(breakdown: &'a Breakdown, part: &ChainPart) -> [Option<&'a str>; 2] {
    let process = breakdown.processes.get(part.process).map(|it| it.name.as_str());
    [process, part.resource.and_then(|at| breakdown.resources.get(at)).map(|it| it.name.as_str())]
}

fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).clamp(8, 28)
}

/// The positions that a table shows: the largest, of equals the first.
fn largest(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = values.enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.into_iter().map(|(position, _)| position).collect()
}

/// Three tables: processes, resources that were waited for, the chain.
pub(super) fn text(text: &mut String, breakdown: &Breakdown, makespan: Number) {
    processes(text, breakdown);
    resources(text, breakdown);
    chain(text, breakdown, makespan.to_f64());
}

fn processes(text: &mut String, breakdown: &Breakdown) {
    let order = largest(breakdown.processes.iter().map(|it| it.waiting.to_f64() + it.par_end.to_f64()));
    // The program itself only if it did something.
    let order: Vec<usize> =
        order.into_iter().filter(|at| *at > 0 || breakdown.processes[*at].time.to_f64() > 0.0).collect();
    let shown = &order[..order.len().min(ROWS)];
    let wide = width(shown.iter().map(|at| breakdown.processes[*at].name.as_str()));
    let _ = writeln!(
        text,
        "\n  {:<wide$} {:>8} {:>12} {:>12} {:>12} {:>12}",
        "process", "starts", "time", "busy", "waiting", "at par end"
    );
    for at in shown {
        let it = &breakdown.processes[*at];
        let [time, busy, waiting, end] = [it.time, it.busy, it.waiting, it.par_end].map(show::number);
        let _ = writeln!(text, "  {:<wide$} {:>8} {time:>12} {busy:>12} {waiting:>12} {end:>12}", it.name, it.starts);
    }
    if order.len() > ROWS {
        let _ = writeln!(text, "  and {} more, which waited less", order.len() - ROWS);
    }
}

fn resources(text: &mut String, breakdown: &Breakdown) {
    let order = largest(breakdown.resources.iter().map(|it| it.waiting.to_f64()));
    let order: Vec<usize> = order.into_iter().filter(|at| breakdown.resources[*at].waits > 0).collect();
    if order.is_empty() {
        let _ = writeln!(text, "\n  nobody waited for a resource");
        return;
    }
    let shown = &order[..order.len().min(ROWS)];
    let wide = width(shown.iter().map(|at| breakdown.resources[*at].name.as_str()).chain(["waited for"]));
    let _ = writeln!(text, "\n  {:<wide$} {:>12} {:>10} {:>10}", "waited for", "in queues", "waits", "max queue");
    for at in shown {
        let it = &breakdown.resources[*at];
        let _ = writeln!(
            text,
            "  {:<wide$} {:>12} {:>10} {:>10}",
            it.name,
            show::number(it.waiting),
            it.waits,
            it.max_queue
        );
    }
    if order.len() > ROWS {
        let _ = writeln!(text, "  and {} more, less waited for", order.len() - ROWS);
    }
}

/// A line of the chain: by process and resource, or, where those are too many to read, by resource.
struct Line {
    who: String,
    resource: Option<usize>,
    time: f64,
    queued: f64,
    uses: u64,
    parts: usize,
}

fn lines(breakdown: &Breakdown) -> Vec<Line> {
    let by_process = breakdown.chain.len() <= ROWS;
    let mut lines: Vec<Line> = Vec::new();
    let mut of_resource: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    for part in &breakdown.chain {
        let own = if by_process { lines.len() } else { *of_resource.entry(part.resource).or_insert(lines.len()) };
        if own == lines.len() {
            let who = names(breakdown, part)[0].unwrap_or_default().to_owned();
            lines.push(Line { who, resource: part.resource, time: 0.0, queued: 0.0, uses: 0, parts: 0 });
        }
        let line = &mut lines[own];
        line.time += part.time.to_f64();
        line.queued += part.queued_time.to_f64();
        line.uses += part.uses;
        line.parts += 1;
    }
    for line in lines.iter_mut().filter(|line| line.parts > 1) {
        line.who = format!("{} processes", line.parts);
    }
    lines
}

fn chain(text: &mut String, breakdown: &Breakdown, makespan: f64) {
    if breakdown.chain.is_empty() {
        return;
    }
    let lines = lines(breakdown);
    let order = largest(lines.iter().map(|line| line.time));
    let shown = &order[..order.len().min(ROWS)];
    let wide = width(shown.iter().map(|at| lines[*at].who.as_str()).chain(["critical chain"]));
    let share = |time: f64| if makespan > 0.0 { 100.0 * time / makespan } else { 0.0 };
    let _ = writeln!(
        text,
        "\n  {:<wide$} {:<16} {:>12} {:>7} {:>10} {:>12}",
        "critical chain", "resource", "time", "share", "uses", "from queue"
    );
    for at in shown {
        let line = &lines[*at];
        let resource = line.resource.and_then(|at| breakdown.resources.get(at)).map_or("delay", |it| it.name.as_str());
        let _ = writeln!(
            text,
            "  {:<wide$} {resource:<16} {:>12} {:>6.1}% {:>10} {:>12}",
            line.who,
            show::significant(line.time),
            share(line.time),
            line.uses,
            show::significant(line.queued)
        );
    }
    if let Some(rest) = order.get(ROWS..).filter(|rest| !rest.is_empty()) {
        let time: f64 = rest.iter().map(|at| lines[*at].time).sum();
        let _ = writeln!(text, "  and {} more, {:.1}% of the makespan", rest.len(), share(time));
    }
}
