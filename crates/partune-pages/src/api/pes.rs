//! `pes` and `kinds`: what numbers of PEs and of kinds of time stand for.

use partune_base::Id;
use partune_engine::Kind;
use partune_engine::PeKind;
use partune_report::{names, words};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Ask;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// PEs that are listed.
const MOST: usize = 4096;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct List {
    pes: Columns,
    processes: Vec<Process>,
    hosts: Vec<String>,
    omitted: usize,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Columns {
    name: Vec<String>,
    process: Vec<usize>,
    host: Vec<Option<usize>>,
    thread: Vec<u32>,
    kind: Vec<&'static str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Process {
    name: String,
    host: Option<usize>,
    first: usize,
    count: usize,
}

pub(super) fn pes(run: &Run, ask: &Ask<'_>) -> Result<List, Error> {
    let (recorded, most) = (run.recorded(), MOST.min(ask.most));
    let mut columns = Columns::default();
    let (mut processes, mut hosts) = (Vec::<Process>::new(), Vec::new());
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut last = None;
    for (number, pe) in run.pes().iter().enumerate().take(most) {
        let Some(row) = recorded.pe(*pe) else { continue };
        let process = recorded.process(row.process);
        let host = process.map(|process| process.host).filter(|host| !host.is_empty()).map(|host| {
            *known.entry(host).or_insert_with(|| {
                hosts.push(text::name(host));
                hosts.len() - 1
            })
        });
        if last != Some(row.process) {
            last = Some(row.process);
            let name = process.map_or_else(|| row.process.index().to_string(), |it| text::name(it.name));
            processes.push(Process { name, host, first: number, count: 0 });
        }
        if let Some(process) = processes.last_mut() {
            process.count += 1;
        }
        columns.name.push(names::pe(recorded, *pe));
        columns.process.push(processes.len() - 1);
        columns.host.push(host);
        columns.thread.push(row.thread);
        columns.kind.push(match row.kind {
            PeKind::Cpu => "cpu",
            PeKind::Accelerator => "accelerator",
            PeKind::Metric => "metric",
        });
    }
    Ok(List { pes: columns, processes, hosts, omitted: run.pes().len().saturating_sub(most) })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KindRow {
    kind: usize,
    name: &'static str,
    label: &'static str,
}

pub(super) fn kinds(_: &Run, _: &Ask<'_>) -> Result<Vec<KindRow>, Error> {
    let row = |kind: Kind| KindRow { kind: kind as usize, name: kind.name(), label: words::kind(kind) };
    Ok(Kind::ALL.map(row).into())
}
