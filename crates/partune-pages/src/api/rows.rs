//! Rows of pictures: PEs, processes or hosts, folded where they are many.

use partune_base::{PeId, ProcessId};
use partune_engine::Fold;
use partune_report::names;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::run::Run;
use crate::text;

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    None,
    Process,
    Host,
}

/// The rows of an answer.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Rows {
    label: Vec<String>,
    first: Vec<Option<u32>>,
    count: Vec<usize>,
}

impl Rows {
    pub(super) fn new(run: &Run, fold: &Fold) -> Rows {
        Rows::grouped(run, fold, Grouping::None)
    }

    pub(super) fn grouped(run: &Run, fold: &Fold, grouping: Grouping) -> Rows {
        let mut rows = Rows::default();
        for pes in fold.rows() {
            rows.label.push(label(run, pes, grouping));
            rows.first.push(pes.first().and_then(|pe| run.number(*pe)));
            rows.count.push(pes.len());
        }
        rows
    }
}

/// The name of the process or host, if all PEs of a row are of one; else the PEs.
fn label(run: &Run, pes: &[PeId], grouping: Grouping) -> String {
    let recorded = run.recorded();
    let process = |pe: &PeId| recorded.pe(*pe).map(|pe| pe.process);
    let of = |pe: &PeId| recorded.process(process(pe)?);
    let host = |pe: &PeId| of(pe).map(|it| it.host);
    let name = match (grouping, pes) {
        (Grouping::Process, [first, rest @ ..]) if rest.iter().all(|pe| process(pe) == process(first)) => {
            of(first).map(|it| it.name)
        }
        (Grouping::Host, [first, rest @ ..]) if rest.iter().all(|pe| host(pe) == host(first)) => host(first),
        _ => None,
    };
    let name = name.map(text::name).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| names::row(recorded, pes))
}

/// PEs on rows.
pub(super) fn folded(run: &Run, pes: &[PeId], grouping: Grouping, rows: usize) -> Fold {
    let recorded = run.recorded();
    let process = |pe: PeId| recorded.pe(pe).map(|pe| pe.process);
    let key = |pe: PeId| match grouping {
        Grouping::None => (None, None),
        Grouping::Process => (process(pe), None),
        Grouping::Host => (None, process(pe).and_then(|id| recorded.process(id)).map(|process| process.host)),
    };
    if grouping == Grouping::None {
        return Fold::new(pes.to_vec(), rows);
    }
    let mut known: FxHashMap<(Option<ProcessId>, Option<&str>), usize> = FxHashMap::default();
    let mut groups: Vec<Vec<PeId>> = Vec::new();
    for pe in pes {
        let group = *known.entry(key(*pe)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(*pe);
    }
    Fold::groups(&groups, rows)
}
