//! `environment`: where the numbers come from.

use partune_trace::PeKind;
use serde::Serialize;

use super::Ask;
use super::summary::{Quality, quality};
use crate::reply::Error;
use crate::run::Run;
use crate::text;

/// Rows of each table.
const ROWS: usize = 1000;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Environment {
    machine: Option<String>,
    producer: Option<String>,
    facts: Vec<Fact>,
    processes: Processes,
    groups: Groups,
    metrics: Metrics,
    quality: Vec<Quality>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Fact {
    name: &'static str,
    value: String,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Processes {
    name: Vec<String>,
    host: Vec<String>,
    pes: Vec<usize>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Groups {
    name: Vec<String>,
    paradigm: Vec<String>,
    members: Vec<usize>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Metrics {
    name: Vec<String>,
    unit: Vec<String>,
}

pub(super) fn environment(run: &Run, _: &Ask<'_>) -> Result<Environment, Error> {
    let trace = run.trace();
    let (mut processes, mut groups, mut metrics) = (Processes::default(), Groups::default(), Metrics::default());
    for process in trace.cpu_processes().take(ROWS) {
        processes.name.push(text::string(trace, process.name));
        processes.host.push(text::string(trace, process.node));
        processes.pes.push(process.pes.iter().filter(|pe| trace.pes()[**pe].kind == PeKind::Cpu).count());
    }
    for group in trace.groups().iter().take(ROWS) {
        groups.name.push(text::string(trace, group.name));
        groups.paradigm.push(text::string(trace, group.paradigm));
        groups.members.push(group.members.known());
    }
    for metric in trace.metrics().iter().take(ROWS) {
        metrics.name.push(text::string(trace, metric.name));
        metrics.unit.push(text::string(trace, metric.unit));
    }
    Ok(Environment {
        machine: run.machine.as_ref().map(partune_report::machine_text),
        producer: None,
        facts: partune_report::facts(&run.diagnosis).into_iter().map(|(name, value)| Fact { name, value }).collect(),
        processes,
        groups,
        metrics,
        quality: quality(run),
    })
}
