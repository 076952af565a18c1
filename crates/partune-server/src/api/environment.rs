//! `environment`: where the numbers come from.

use partune_base::PeId;
use partune_engine::PeKind;
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
    let recorded = run.recorded();
    let (mut processes, mut groups, mut metrics) = (Processes::default(), Groups::default(), Metrics::default());
    let is_cpu = |pe: &&PeId| recorded.pe(**pe).is_some_and(|pe| pe.kind == PeKind::Cpu);
    let threads = recorded.processes().map(|(_, process)| (process, process.pes.iter().filter(is_cpu).count()));
    for (process, threads) in threads.filter(|(_, threads)| *threads > 0).take(ROWS) {
        processes.name.push(text::name(process.name));
        processes.host.push(text::name(process.host));
        processes.pes.push(threads);
    }
    for group in recorded.groups().take(ROWS) {
        groups.name.push(text::name(group.name));
        groups.paradigm.push(text::name(group.paradigm));
        groups.members.push(group.members);
    }
    for metric in recorded.metrics().take(ROWS) {
        metrics.name.push(text::name(metric.name));
        metrics.unit.push(text::name(metric.unit));
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
