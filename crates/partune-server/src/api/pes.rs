//! `pes` and `kinds`: what numbers of PEs and of kinds of time stand for.

use partune_base::{Id, StringId};
use partune_picture::Kind;
use partune_report::{names, words};
use partune_trace::PeKind;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Ask;
use crate::reply::Error;
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

pub(super) fn pes(run: &Run, _: &Ask<'_>) -> Result<List, Error> {
    let trace = run.trace();
    let mut columns = Columns::default();
    let (mut processes, mut hosts) = (Vec::<Process>::new(), Vec::new());
    let mut known: FxHashMap<StringId, usize> = FxHashMap::default();
    let mut last = None;
    for (number, pe) in run.pes.iter().enumerate().take(MOST) {
        let row = &trace.pes()[*pe];
        let process = trace.processes().get(row.process);
        let node = process.map(|process| process.node).filter(|node| !trace.strings().get(*node).is_empty());
        let host = node.map(|node| {
            *known.entry(node).or_insert_with(|| {
                hosts.push(text::string(trace, node));
                hosts.len() - 1
            })
        });
        if last != Some(row.process) {
            last = Some(row.process);
            let name = process.map_or_else(|| row.process.index().to_string(), |it| text::string(trace, it.name));
            processes.push(Process { name, host, first: number, count: 0 });
        }
        if let Some(process) = processes.last_mut() {
            process.count += 1;
        }
        columns.name.push(names::pe(trace, *pe));
        columns.process.push(processes.len() - 1);
        columns.host.push(host);
        columns.thread.push(row.thread);
        columns.kind.push(match row.kind {
            PeKind::Cpu => "cpu",
            PeKind::Accelerator => "accelerator",
            PeKind::Metric => "metric",
        });
    }
    Ok(List { pes: columns, processes, hosts, omitted: run.pes.len().saturating_sub(MOST) })
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
