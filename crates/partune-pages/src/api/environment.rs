//! `environment`: where the numbers come from.

use std::collections::BTreeMap;

use partune_base::PeId;
use partune_engine::PeKind;
use serde::Serialize;

use super::Ask;
use super::counters::Metrics;
use super::summary::{NOTICES, Quality, quality};
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Rows of each table.
const ROWS: usize = 1000;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Environment {
    machine: Option<String>,
    producer: Option<String>,
    /// The command that was recorded, as a shell takes it.
    command: Option<String>,
    /// When the first event was, in milliseconds since 1970.
    began_ms: Option<u64>,
    /// Of the paradigms, with their versions.
    libraries: Vec<String>,
    /// With their flags, where programs have them.
    compilers: Vec<String>,
    facts: Vec<Fact>,
    processes: Processes,
    groups: Groups,
    metrics: Metrics,
    quality: Vec<Quality>,
    /// How many more each list has.
    omitted: BTreeMap<&'static str, usize>,
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

pub(super) fn environment(run: &Run, ask: &Ask<'_>) -> Result<Environment, Error> {
    let (recorded, rows) = (run.recorded(), ROWS.min(ask.most));
    let (mut processes, mut groups) = (Processes::default(), Groups::default());
    let is_cpu = |pe: &&PeId| recorded.pe(**pe).is_some_and(|pe| pe.kind == PeKind::Cpu);
    let threads = recorded.processes().map(|(_, process)| (process, process.pes.iter().filter(is_cpu).count()));
    let mut threads = threads.filter(|(_, threads)| *threads > 0);
    for (process, threads) in threads.by_ref().take(rows) {
        processes.name.push(text::name(process.name));
        processes.host.push(text::name(process.host));
        processes.pes.push(threads);
    }
    for group in recorded.groups().take(rows) {
        groups.name.push(text::name(group.name));
        groups.paradigm.push(text::name(group.paradigm));
        groups.members.push(group.members);
    }
    let provenance = recorded.provenance();
    let texts = |all: &[&str]| all.iter().take(rows).map(|it| text::long(it)).collect();
    let more = |all: usize| all.saturating_sub(rows);
    Ok(Environment {
        omitted: [
            ("processes", threads.count()),
            ("groups", more(recorded.groups().count())),
            ("libraries", more(provenance.libraries.len())),
            ("compilers", more(provenance.compilers.len())),
            ("metrics", more(recorded.metrics().count())),
            ("notices", run.diagnosis.quality.entries().len().saturating_sub(NOTICES.min(ask.most))),
        ]
        .into(),
        machine: run.diagnosis.options.machine.as_ref().map(partune_report::machine_text),
        producer: provenance.producer.map(text::name),
        command: provenance.command.map(text::long),
        began_ms: provenance.began.map(|time| time / 1_000_000),
        libraries: texts(&provenance.libraries),
        compilers: texts(&provenance.compilers),
        facts: partune_report::facts(&run.diagnosis).into_iter().map(|(name, value)| Fact { name, value }).collect(),
        processes,
        groups,
        metrics: Metrics::new(run, rows),
        quality: quality(run, ask.most),
    })
}
