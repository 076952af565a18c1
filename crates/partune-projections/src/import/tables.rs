//! Who and what is in the trace: PEs, entry methods and constructs as regions, statistics as metrics.

use std::sync::OnceLock;

use partune_base::{GroupId, MetricId, PeId, RegionId, StringId};
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{IdMap, RegionKey};
use partune_paradigm::CHARM;
use partune_trace::{Group, GroupKind, Metric, MetricValues, Pe, PeKind, Process, Region, RegionKind, TraceBuilder};
use rustc_hash::FxHashMap;

use super::logs::Found;
use crate::codec::{Chare, Layout, Sts};

/// What the runtime does, as keys of regions; in the order of [`CONSTRUCTS`].
pub(super) const START_UP: RegionKey = RegionKey(0);
pub(super) const IDLE: RegionKey = RegionKey(1);
pub(super) const SEND: RegionKey = RegionKey(2);
pub(super) const PACK: RegionKey = RegionKey(3);
pub(super) const UNPACK: RegionKey = RegionKey(4);
pub(super) const SCHEDULER: RegionKey = RegionKey(5);
pub(super) const LOG_FLUSH: RegionKey = RegionKey(6);
const CONSTRUCTS: [&str; 7] = ["start-up", "idle", "send", "pack", "unpack", "scheduler", "log flush"];

/// Other regions have a number of their kind.
const ENTRY: u64 = 1 << 32;
const EVENT: u64 = 2 << 32;
const PHASE: u64 = 3 << 32;
pub(super) const NOTE: RegionKey = RegionKey(4 << 32);
/// What has a number that no table may have.
const OTHER: u64 = u32::MAX as u64;

/// An entry method.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    region: RegionId,
    /// Position among the classes; none if that is not known.
    pub(super) chare: Option<u32>,
    /// It makes an object.
    pub(super) is_constructor: bool,
}

/// Classes of which there is no object: a thread goes on, something is packed, a structured entry method (SDAG) goes on.
const STAND_INS: [&str; 5] = ["dummy_thread_chare", "dummy_pack_chare", "dummy_unpack_chare", "SDAG", "null"];

/// What logs refer to.
pub(super) struct Tables {
    pub(super) layout: Layout,
    pub(super) pes: usize,
    pub(super) group: GroupId,
    /// The user told of phases.
    pub(super) has_phases: bool,
    /// Names and dimensions of classes.
    pub(super) chares: Vec<(StringId, Option<usize>)>,
    /// Which of them are none: the runtime does things of others in their names.
    pub(super) stand_ins: Vec<bool>,
    entries: Vec<Entry>,
    entry_ids: IdMap,
    constructs: Vec<RegionId>,
    event_regions: Vec<RegionId>,
    event_ids: IdMap,
    note: RegionId,
    /// Regions of numbers that no table has, when all logs are read.
    others: OnceLock<FxHashMap<RegionKey, RegionId>>,
    statistics: Vec<MetricId>,
    statistic_ids: IdMap,
    pub(super) other_statistic: MetricId,
    pub(super) supplied: MetricId,
    pub(super) memory: MetricId,
    pub(super) counters: Vec<MetricId>,
}

impl Tables {
    pub(super) fn entry(&self, id: u64) -> Option<&Entry> {
        self.entries.get(self.entry_ids.get(id)? as usize)
    }

    pub(super) fn statistic(&self, id: u64) -> Option<MetricId> {
        self.statistics.get(self.statistic_ids.get(id)? as usize).copied()
    }

    /// Whether a table has the number of a region.
    pub(super) fn is_known(&self, key: RegionKey) -> bool {
        self.region_of_table(key).is_some()
    }

    fn region_of_table(&self, key: RegionKey) -> Option<RegionId> {
        let number = key.0 & (ENTRY - 1);
        match key.0 & !(ENTRY - 1) {
            0 => self.constructs.get(number as usize).copied(),
            ENTRY => self.entry(number).map(|entry| entry.region),
            EVENT => self.event_regions.get(self.event_ids.get(number)? as usize).copied(),
            _ => (key == NOTE).then_some(self.note),
        }
    }

    pub(super) fn region(&self, key: RegionKey) -> RegionId {
        let other = || self.others.get().and_then(|others| others.get(&key).copied());
        self.region_of_table(key).or_else(other).unwrap_or(self.note)
    }

    /// Makes regions of numbers that no table has; in order.
    pub(super) fn add_others(&self, keys: impl Iterator<Item = RegionKey>, builder: &mut TraceBuilder) {
        let region = |key: RegionKey| {
            let number = key.0 & (ENTRY - 1);
            let (what, kind) = match key.0 & !(ENTRY - 1) {
                ENTRY => ("entry method", RegionKind::Function),
                EVENT => ("user event", RegionKind::Block),
                _ => ("phase", RegionKind::Phase),
            };
            let name = if number == OTHER { format!("other {what}") } else { format!("{what} {number}") };
            let name = builder.strings.intern(&name);
            (key, builder.regions.push(Region { kind, ..Region::of_user(name) }))
        };
        let others: FxHashMap<RegionKey, RegionId> = keys.map(region).collect();
        // It is set once, when all logs are read.
        drop(self.others.set(others));
    }
}

/// A number of a table; what can be none is the number that none has.
pub(super) fn id(number: i64) -> u64 {
    u64::try_from(number).ok().filter(|number| *number < OTHER).unwrap_or(OTHER)
}

pub(super) fn entry_key(number: i64) -> RegionKey {
    RegionKey(ENTRY | id(number))
}

pub(super) fn event_key(number: i64) -> RegionKey {
    RegionKey(EVENT | id(number))
}

pub(super) fn phase_key(number: u64) -> RegionKey {
    RegionKey(PHASE | number.min(OTHER))
}

/// That of all numbers of its kind that are too many to be told apart.
pub(super) fn other_key(key: RegionKey) -> RegionKey {
    RegionKey(key.0 | OTHER)
}

pub(super) fn build(found: &Found, builder: &mut TraceBuilder) -> Tables {
    let Found { sts, logs, .. } = found;
    tell(sts, logs.len(), &mut builder.quality);
    let group = people(sts, logs.len(), builder);
    let paradigm = builder.strings.intern(CHARM.name);
    let construct = |name: &str, builder: &mut TraceBuilder| {
        let row = (CHARM.recognise_hinted)(name).expect("it is in the table of its paradigm");
        let name = builder.strings.intern(row.name);
        let region = Region::of_construct(name, paradigm, row.role);
        builder.regions.push(Region { completion: row.completion, participants: row.participants, ..region })
    };
    let constructs = CONSTRUCTS.iter().map(|name| construct(name, builder)).collect();
    builder.provenance.command = sts.command.as_deref().map(|command| builder.strings.intern(command));
    let chares = sts.chares.iter().map(|it| (builder.strings.intern(&it.name), it.dimensions)).collect();
    let stand_ins = sts.chares.iter().map(|it| STAND_INS.contains(&it.name.as_str())).collect();
    let mut chare_ids = IdMap::default();
    for (position, chare) in (0..).zip(&sts.chares) {
        chare_ids.insert(chare.id, position);
    }
    let (mut entries, mut entry_ids) = (Vec::new(), IdMap::default());
    for entry in &sts.entries {
        let chare = chare_ids.get(entry.chare);
        let class = chare.map(|chare| &sts.chares[chare as usize]);
        let name = class.map_or_else(|| entry.name.clone(), |class| format!("{}::{}", class.name, entry.name));
        let name = builder.strings.intern(&name);
        if entry_ids.insert(entry.id, entries.len() as u32) {
            let region = builder.regions.push(Region::of_user(name));
            let is_constructor = class.is_some_and(|class| is_constructor(class, &entry.name));
            entries.push(Entry { region, chare, is_constructor });
        }
    }
    let block = |name: &str, builder: &mut TraceBuilder| {
        let name = builder.strings.intern(name);
        builder.regions.push(Region { kind: RegionKind::Block, ..Region::of_user(name) })
    };
    let (mut event_regions, mut event_ids) = (Vec::new(), IdMap::default());
    for (id, name) in &sts.events {
        if event_ids.insert(*id, event_regions.len() as u32) {
            event_regions.push(block(name, builder));
        }
    }
    let mut metric = |name: &str, unit: &str, values: MetricValues| {
        let (name, unit) = (builder.strings.intern(name), builder.strings.intern(unit));
        builder.metrics.push(Metric { name, unit, values, scale: 1.0 })
    };
    let (mut statistics, mut statistic_ids) = (Vec::new(), IdMap::default());
    for (id, name) in &sts.statistics {
        if statistic_ids.insert(*id, statistics.len() as u32) {
            statistics.push(metric(name, "#", MetricValues::Point));
        }
    }
    let counters: Vec<MetricId> =
        sts.counters.iter().map(|name| metric(name, "#", MetricValues::Accumulated)).collect();
    Tables {
        layout: Layout { version: sts.version.unwrap_or(Layout::NEWEST), counters: counters.len() },
        pes: logs.len(),
        group,
        has_phases: sts.phases > 1,
        chares,
        stand_ins,
        entries,
        entry_ids,
        constructs,
        event_regions,
        event_ids,
        other_statistic: metric("user statistic", "#", MetricValues::Point),
        supplied: metric("user-supplied value", "#", MetricValues::Point),
        memory: metric("memory", "bytes", MetricValues::Point),
        note: block("note", builder),
        others: OnceLock::new(),
        statistics,
        statistic_ids,
        counters,
    }
}

/// Whether a method makes an object, as C++ or Python names it; not one that has moved, which was made before.
fn is_constructor(class: &Chare, method: &str) -> bool {
    method.starts_with("__init__(")
        || method
            .strip_prefix(&class.name)
            .is_some_and(|rest| rest.starts_with('(') && !rest.starts_with("(CkMigrateMessage"))
}

/// A PE is a process of its own, whatever threads it shares one with, since it waits for messages alone.
fn people(sts: &Sts, pes: usize, builder: &mut TraceBuilder) -> GroupId {
    for pe in (0..pes as u32).map(PeId) {
        let name = builder.strings.intern(&format!("PE {}", pe.0));
        let node = node(sts.nodes, pe.0.into()).map(|node| builder.strings.intern(&format!("node {node}")));
        let node = node.unwrap_or(StringId::NONE);
        let process = builder.processes.push(Process { name, rank: Some(pe.0), node, pes: vec![pe] });
        builder.pes.push(Pe { name, kind: PeKind::Cpu, process, thread: 0, device: None, archive_id: pe.0.into() });
    }
    let (name, paradigm) = (builder.strings.intern("all PEs"), builder.strings.intern(CHARM.name));
    let members: Vec<PeId> = builder.pes.ids().collect();
    builder.groups.push(Group { name, kind: GroupKind::World, paradigm, members: members.into() })
}

/// The node that a PE is in, where nodes have several: PEs in order, then a thread of each node that only communicates.
fn node(nodes: Option<(u64, u64)>, pe: u64) -> Option<u64> {
    let (size, count) = nodes?;
    pe.checked_div(size).map(|node| if node < count { node } else { pe.saturating_sub(size.saturating_mul(count)) })
}

/// Says what is wrong with the symbol table.
fn tell(sts: &Sts, logs: usize, quality: &mut Quality) {
    let table = "copy the symbol table again; it is written when the run ends";
    if sts.version.is_some_and(|version| version > Layout::NEWEST) {
        quality.add(Diagnostic::data_loss(
            Code::UnknownRecords,
            "logs are of a version that is newer than 11; records are taken for those of version 11",
            "if figures look wrong, record with Charm++ 8, and tell us of the new version",
        ));
    }
    quality.add(
        Diagnostic::data_loss(Code::MalformedRecords, "lines of the symbol table cannot be understood", table)
            .times(sts.malformed),
    );
    let told = [(sts.totals[0], sts.chares.len()), (sts.totals[1], sts.entries.len())];
    let short = told.iter().any(|(told, read)| told.is_some_and(|told| told != *read as u64));
    if sts.version.is_some() && (!sts.complete || short) {
        quality.add(Diagnostic::data_loss(
            Code::DamagedHeader,
            "the symbol table does not hold as many classes and entry methods as it says; those that it lacks have numbers for names",
            table,
        ));
    }
    if let Some(missing) = sts.processors.map(|processors| processors.saturating_sub(logs as u64)) {
        quality.add(
            Diagnostic::data_loss(
                Code::MissingProcesses,
                "the last PEs have no log; what they did is unknown, and they are not counted",
                "copy all logs beside the symbol table",
            )
            .times(missing),
        );
    }
}
