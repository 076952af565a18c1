//! What the names of a text stand for.

use std::collections::HashMap;

use partune_base::{FileId, GroupId, Id, MetricId, PeId, WindowId};
use partune_trace::{
    Group, GroupKind, Members, Metric, MetricValues, Pe, PeKind, Process, Stream, TraceBuilder, Window,
};

use crate::lexer::{Line, Source};
use crate::syntax::{GroupText, Text, pe_id};

/// Names and their ids.
pub(crate) struct Names {
    pub(crate) pes: HashMap<(u32, u32), PeId>,
    pub(crate) ranks: u32,
    pub(crate) groups: HashMap<String, GroupId>,
    pub(crate) windows: HashMap<String, WindowId>,
    pub(crate) metrics: HashMap<String, MetricId>,
    pub(crate) files: HashMap<String, FileId>,
}

/// Fills the tables of everything but code.
pub(crate) fn define(source: &Source<'_>, text: &Text, built: &mut TraceBuilder) -> Names {
    built.resolution = text.resolution;
    let (pes, ranks) = define_pes(text, built);
    let (groups, windows, metrics) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut names = Names { pes, ranks, groups, windows, metrics, files: HashMap::new() };
    define_groups(source, text, built, &mut names);
    define_windows(source, text, built, &mut names);
    for (line, name, words) in &text.metrics {
        define_metric(source, *line, name, words, built, &mut names);
    }
    names
}

/// PEs in the order of their ranks and threads, whatever the order of the text.
fn define_pes(text: &Text, built: &mut TraceBuilder) -> (HashMap<(u32, u32), PeId>, u32) {
    let mut ids: Vec<(u32, u32)> = text.pes.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut pes = HashMap::new();
    let mut last = None;
    for (rank, thread) in ids {
        if last != Some(rank) {
            let name = built.strings.intern(&format!("rank {rank}"));
            let of_rank = text.nodes.iter().find(|(_, pes)| pes.iter().any(|pe| pe.0 == rank));
            let node = built.strings.intern(of_rank.map_or("node", |(name, _)| name));
            built.processes.push(Process { name, rank: Some(rank), node, pes: Vec::new() });
            last = Some(rank);
        }
        let process = Id::from_index(built.processes.len() - 1);
        let name = built.strings.intern(&format!("rank {rank} thread {thread}"));
        let archive_id = u64::from(thread) << 32 | u64::from(rank);
        let device = text.devices.iter().position(|streams| streams.contains(&(rank, thread)));
        let kind = if device.is_some() { PeKind::Accelerator } else { PeKind::Cpu };
        let device = device.map(|device| device as u32);
        let pe = built.pes.push(Pe { name, kind, process, thread, device, archive_id });
        built.streams.push(Stream::default());
        built.processes[process].pes.push(pe);
        pes.insert((rank, thread), pe);
    }
    (pes, last.map_or(0, |rank| rank + 1))
}

fn define_groups(source: &Source<'_>, text: &Text, built: &mut TraceBuilder, names: &mut Names) {
    let paradigm = built.strings.intern(text.paradigm.as_deref().unwrap_or(partune_paradigm::MPI.name));
    let threads = built.strings.intern(partune_paradigm::OPENMP.name);
    // Ranks are positions in the world; a rank that the text leaves out is a hole.
    let world: Vec<PeId> =
        (0..names.ranks).map(|rank| names.pes.get(&(rank, 0)).copied().unwrap_or(PeId::NONE)).collect();
    let world = (GroupKind::World, world, None, "world");
    let written = text.groups.iter().map(|group| {
        let (members, split) = members(source, group, names);
        let kind = match group.kind.as_str() {
            "team" => GroupKind::Team,
            "inter" => GroupKind::Inter,
            _ if members.len() == 1 => GroupKind::SelfOnly,
            _ => GroupKind::Communicator,
        };
        (kind, members, split, group.name.as_str())
    });
    let groups: Vec<_> = std::iter::once(world).chain(written).collect();
    for (kind, members, split, name) in groups {
        let text = built.strings.intern(name);
        let members = match split {
            Some(split) => Members::joined(&members[..split].to_vec().into(), &members[split..].to_vec().into()),
            None => members.into(),
        };
        let paradigm = if kind == GroupKind::Team { threads } else { paradigm };
        names.groups.insert(name.to_owned(), built.groups.push(Group { name: text, kind, paradigm, members }));
    }
}

fn members(source: &Source<'_>, group: &GroupText, names: &Names) -> (Vec<PeId>, Option<usize>) {
    let split = group.members.iter().position(|word| word == "|");
    let members = group.members.iter().filter(|word| *word != "|").map(|word| {
        let pe = pe_id(word).and_then(|id| names.pes.get(&id));
        *pe.unwrap_or_else(|| source.fail(group.line, &format!("there is no PE {word}")))
    });
    (members.collect(), split)
}

fn define_windows(source: &Source<'_>, text: &Text, built: &mut TraceBuilder, names: &mut Names) {
    let uses = |word: &str| {
        ["put", "get", "atomic", "complete", "fence", "epoch", "quiet", "wait_change", "notify", "wait_notify"]
            .contains(&word)
    };
    for (line, name, group) in &text.windows {
        let Some(group) = names.groups.get(group) else { source.fail(*line, &format!("there is no group {group}")) };
        let window = Window { name: built.strings.intern(name), group: *group };
        names.windows.insert(name.clone(), built.windows.push(window));
    }
    if text.windows.is_empty() && text.pes.iter().any(|(_, items)| items.iter().any(|item| item.has_fact(&uses))) {
        let window = Window { name: built.strings.intern("heap"), group: names.groups["world"] };
        names.windows.insert("heap".to_owned(), built.windows.push(window));
    }
}

/// Adds a metric; `words` are how its values are meant, and its unit.
pub(crate) fn define_metric(
    source: &Source<'_>,
    line: Line,
    name: &str,
    words: &[String],
    built: &mut TraceBuilder,
    names: &mut Names,
) -> MetricId {
    let values = match words.first().map(String::as_str) {
        None | Some("point") => MetricValues::Point,
        Some("accumulated") => MetricValues::Accumulated,
        Some("last") => MetricValues::Last,
        Some("next") => MetricValues::Next,
        Some(word) => source.fail(line, &format!("values of a metric are not `{word}`")),
    };
    let unit = built.strings.intern(words.get(1).map_or("#", String::as_str));
    let metric = built.metrics.push(Metric { name: built.strings.intern(name), unit, values, scale: 1.0 });
    names.metrics.insert(name.to_owned(), metric);
    metric
}
