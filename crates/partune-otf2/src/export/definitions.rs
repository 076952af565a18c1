//! The global definitions of a trace.

use partune_base::{FileId, GroupId, PeId, StringId, Table};
use partune_trace::{
    Group, GroupKind, IoLayer, Members, Metric, MetricValues, NO_MATCHING, PeKind, Region, RegionKind, Role, Stream,
    Trace,
};

use super::Layout;
use crate::codec::attic::GroupKind as Kind;
use crate::codec::definition::{
    Attribute, InterComm, IoHandle, IoRegularFile, Location, LocationGroup, LocationGroupProperty, MetricClass,
    MetricMember,
};
use crate::codec::numbers::{group as group_type, metric, metric_mode, occurrence, region_flag, role, value};
use crate::codec::view::Array;
use crate::codec::{CodecError, Value};
use crate::objects::{self, EXECUTION, MATCHING};
use crate::write::{Definitions, NONE, RegionRow};
use crate::{io, paradigms};

/// Members of a group are locations, and not ranks among those of the paradigm.
const GLOBAL_MEMBERS: u32 = 1;

/// Attributes of enters that say for how many polls a visit stands: none of which found anything, or all but the last.
pub(super) const POLLS: [(u32, &str); 2] = [(0, "PARTUNE::POLLS"), (1, "PARTUNE::CALLS")];

/// The attribute of accesses to files that says where they begin.
pub(super) const DISPLACEMENT: (u32, &str) = (2, "PARTUNE::DISPLACEMENT");

/// Writes them; `events` are the numbers of events of all locations.
pub(super) fn write<S: FnMut(&[u8])>(
    layout: &Layout<'_>,
    events: &[u64],
    to: &mut Definitions<S>,
) -> Result<(), CodecError> {
    let trace = layout.trace;
    let length = layout.stamp(trace.end()).saturating_add(1);
    to.clock(trace.clock().ticks_per_second(), 0, length, trace.provenance().began)?;
    for (number, name) in paradigms::all() {
        to.paradigm(number, name)?;
    }
    locations(layout, events, to)?;
    for (id, region) in trace.regions().iter_ids() {
        let row = region_row(trace, region, to)?;
        to.region(id.0, row)?;
    }
    groups(layout, to)?;
    for (id, window) in trace.windows().iter_ids() {
        let (comm, _) = layout.rank(window.group, PeId::NONE, PeId::NONE);
        to.window(id.0, trace.strings().get(window.name), comm)?;
    }
    for (id, metric) in trace.metrics().iter_ids() {
        metric_of(trace, id.0, metric, to)?;
    }
    attributes(trace, to)?;
    objects(trace, to)?;
    files(trace, to)
}

/// Attributes of events that are used, and those of smaller numbers: readers want all from the first one on.
fn attributes<S: FnMut(&[u8])>(trace: &Trace, to: &mut Definitions<S>) -> Result<(), CodecError> {
    let is_tied = |stream: &Stream| {
        stream.sends.iter().any(|row| row.matching != NO_MATCHING)
            || stream.recvs.iter().any(|row| row.matching != NO_MATCHING)
            || !stream.contributions.is_empty()
    };
    let any = |is: &dyn Fn(&Stream) -> bool| trace.streams().iter().any(is);
    let polls = any(&|stream| !stream.polls.is_empty());
    let executes = any(&|stream| !stream.executions.is_empty());
    let all = [
        (POLLS[0], polls),
        (POLLS[1], polls),
        (DISPLACEMENT, any(&|stream| !stream.io.is_empty() || !stream.handles.is_empty())),
        (EXECUTION, executes),
        (MATCHING, executes || any(&is_tied)),
    ];
    let count = all.iter().rposition(|(_, used)| *used).map_or(0, |last| last + 1);
    for ((id, name), _) in &all[..count] {
        let (name, description) = (to.text(name)?, to.text("")?);
        to.put(Attribute { id: *id, name, value_type: value::UINT64, description: Some(description) })?;
    }
    Ok(())
}

/// What the property of a process says of each object.
fn objects<S: FnMut(&[u8])>(trace: &Trace, to: &mut Definitions<S>) -> Result<(), CodecError> {
    for (id, object) in trace.objects().iter_ids() {
        let home = object.home.some().map(|pe| pe.0);
        let name = to.text(&objects::property(id.0))?;
        let string_value = to.text(&objects::text(trace.strings().get(object.class), &object.index, home))?;
        let value = Some(Value::String(string_value));
        to.put(LocationGroupProperty { location_group: 0, name, string_value, value })?;
    }
    Ok(())
}

/// Files, and the handles of those that are used: one for each layer.
fn files<S: FnMut(&[u8])>(trace: &Trace, to: &mut Definitions<S>) -> Result<(), CodecError> {
    for (id, file) in trace.files().iter_ids() {
        let name = to.text(trace.strings().get(file.name))?;
        to.put(IoRegularFile { id: id.0, name, scope: 0 })?;
    }
    let accessed = |stream: &Stream| stream.io.iter().map(|row| (row.file, row.layer)).collect::<Vec<_>>();
    let handled = |stream: &Stream| stream.handles.iter().map(|row| (row.file, row.layer)).collect::<Vec<_>>();
    let mut used: Vec<(FileId, IoLayer)> =
        trace.streams().iter().flat_map(|stream| [accessed(stream), handled(stream)]).flatten().collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        return Ok(());
    }
    for layer in IoLayer::ALL {
        io::define(layer, to)?;
    }
    for (of, layer) in used {
        let name = trace.files().get(of).map_or("", |file| trace.strings().get(file.name));
        let (id, name, file) = (handle(trace, of, layer), to.text(name)?, if of.is_some() { of.0 } else { NONE });
        let io_paradigm = layer as u8;
        to.put(IoHandle { id, name, file, io_paradigm, io_handle_flags: 0, comm: NONE, parent: NONE })?;
    }
    Ok(())
}

/// The number of the handle of a file in a layer.
pub(super) fn handle(trace: &Trace, file: FileId, layer: IoLayer) -> u32 {
    let file = if file.is_some() { file.0 } else { trace.files().len() as u32 };
    file.saturating_mul(IoLayer::ALL.len() as u32).saturating_add(layer as u32)
}

/// The machine, processes and PEs. A PE's number is its id; streams of a device are in a group of their own, made by the process.
fn locations<S: FnMut(&[u8])>(layout: &Layout<'_>, events: &[u64], to: &mut Definitions<S>) -> Result<(), CodecError> {
    let trace = layout.trace;
    let text = |id: StringId| trace.strings().get(id);
    to.machine("machine")?;
    let mut nodes: Vec<StringId> = trace.processes().iter().map(|process| process.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for (id, name) in (1..).zip(&nodes) {
        to.node(id, text(*name))?;
    }
    let mut next = 0;
    for process in trace.processes() {
        let node = 1 + nodes.binary_search(&process.node).unwrap_or(0) as u32;
        let maker = next;
        to.process(maker, text(process.name), node)?;
        next += 1;
        let mut devices: Vec<(Option<u32>, u32)> = Vec::new();
        for pe in &process.pes {
            let row = &trace.pes()[*pe];
            let group = match (row.kind, devices.iter().find(|(device, _)| *device == row.device)) {
                (PeKind::Cpu | PeKind::Metric, _) => maker,
                (PeKind::Accelerator, Some((_, group))) => *group,
                (PeKind::Accelerator, None) => {
                    let name = to.text(text(process.name))?;
                    to.put(LocationGroup {
                        id: next,
                        name,
                        location_group_type: 2,
                        system_tree_parent: node,
                        creating_location_group: Some(maker),
                    })?;
                    devices.push((row.device, next));
                    next += 1;
                    next - 1
                }
            };
            let location_type = match row.kind {
                PeKind::Cpu => 1,
                PeKind::Accelerator => 2,
                PeKind::Metric => 3,
            };
            let number_of_events = events.get(pe.0 as usize).copied().unwrap_or(0);
            let name = to.text(text(row.name))?;
            to.put(Location { id: pe.0.into(), name, location_type, number_of_events, location_group: group })?;
        }
    }
    Ok(())
}

/// A region with what its role is recognised by: the name for what is in the tables of paradigms, the role of OTF2 for the rest.
fn region_row<S: FnMut(&[u8])>(
    trace: &Trace,
    region: &Region,
    to: &mut Definitions<S>,
) -> Result<RegionRow, CodecError> {
    let text = |id: StringId| trace.strings().get(id);
    let paradigm = if region.paradigm.is_some() { paradigms::number(text(region.paradigm)) } else { paradigms::USER };
    // One that OTF2 has no number for is told as the file of its constructs, which have none.
    let file = if paradigm == paradigms::UNKNOWN && region.line == 0 { region.paradigm } else { region.file };
    let (role, flags) = match (region.role, region.kind) {
        (Role::User, RegionKind::Iteration) => (role::CODE, region_flag::DYNAMIC | region_flag::PHASE),
        (Role::User, RegionKind::Phase) => (role::CODE, region_flag::PHASE),
        (Role::User, RegionKind::Block) => (role::CODE, 0),
        (role, _) => (role_number(role), 0),
    };
    Ok(RegionRow {
        name: to.text(text(region.name))?,
        whole: to.text(text(region.whole))?,
        file: if file.is_some() { to.text(text(file))? } else { NONE },
        lines: (region.line, 0),
        role,
        paradigm,
        flags,
    })
}

/// `OTF2_RegionRole`, as near as it has one.
fn role_number(role: Role) -> u8 {
    /// Some function of a library.
    const WRAPPER: u8 = 2;
    const TASK: u8 = 20;
    const TASK_CREATE: u8 = 21;
    const TASK_WAIT: u8 = 22;
    match role {
        Role::User => role::FUNCTION,
        Role::WorkSharing => role::LOOP,
        Role::Parallel => role::PARALLEL,
        Role::LockAcquire => role::CRITICAL,
        Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::RmaGroupSync => role::BARRIER,
        Role::TaskRun => TASK,
        Role::TaskCreate => TASK_CREATE,
        Role::TaskWait => TASK_WAIT,
        Role::OneToAll => role::ONE_TO_ALL,
        Role::AllToOne => role::ALL_TO_ONE,
        Role::AllToAll | Role::Scan => role::ALL_TO_ALL,
        Role::Send | Role::Recv | Role::SendRecv | Role::Probe => role::POINT_TO_POINT,
        Role::Io => role::FILE_IO,
        Role::Put | Role::Get | Role::Atomic | Role::Signal => role::RMA,
        Role::Init
        | Role::Finalize
        | Role::Inquiry
        | Role::GlobalAlloc
        | Role::CommSync
        | Role::DeviceWait
        | Role::RmaPost
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::LockRelease
        | Role::WaitOnValue
        | Role::PeManagement
        | Role::Management
        | Role::Measurement => WRAPPER,
    }
}

/// A metric, and a class of it alone. Values are written in its unit.
fn metric_of<S: FnMut(&[u8])>(trace: &Trace, id: u32, row: &Metric, to: &mut Definitions<S>) -> Result<(), CodecError> {
    const DECIMAL: u8 = 1;
    let metric_mode = match row.values {
        MetricValues::Accumulated => metric_mode::ACCUMULATED,
        MetricValues::Point => metric_mode::ABSOLUTE | metric_mode::POINT,
        MetricValues::Last => metric_mode::RELATIVE | metric_mode::LAST,
        MetricValues::Next => metric_mode::ABSOLUTE | metric_mode::NEXT,
    };
    let name = to.text(trace.strings().get(row.name))?;
    let unit = to.text(trace.strings().get(row.unit))?;
    to.put(MetricMember {
        id,
        name,
        description: name,
        metric_type: metric::OTHER,
        metric_mode,
        value_type: value::DOUBLE,
        base: DECIMAL,
        exponent: 0,
        unit,
    })?;
    let members = [id];
    let metric_members = Array::new(&members);
    to.put(MetricClass { id, metric_members, metric_occurrence: occurrence::SYNCHRONOUS, recorder_kind: Some(1) })
}

/// Numbers of the lists of members, in the order in which they are written, which readers expect: before the first group of a paradigm there is
/// one of the paradigm's locations, a group with two sides has two, and all groups of one PE have the same.
pub(super) fn lists(trace: &Trace) -> Table<GroupId, u32> {
    let (mut next, mut known) = (0, Vec::new());
    let mut selves: Vec<(StringId, u32)> = Vec::new();
    let of_group = |group: &Group| {
        if group.kind == GroupKind::SelfOnly {
            if let Some((_, list)) = selves.iter().find(|(paradigm, _)| *paradigm == group.paradigm) {
                return *list;
            }
            selves.push((group.paradigm, next));
        } else if !known.contains(&group.paradigm) {
            known.push(group.paradigm);
            next += 1;
        }
        let list = next;
        next += if group.kind == GroupKind::Inter { 2 } else { 1 };
        list
    };
    trace.groups().iter().map(of_group).collect()
}

/// Communicators and the lists of members below them. A group of the trace is the communicator of its number.
fn groups<S: FnMut(&[u8])>(layout: &Layout<'_>, to: &mut Definitions<S>) -> Result<(), CodecError> {
    let trace = layout.trace;
    let mut lists = Lists { to, next: 0, locations: Vec::new() };
    for (id, row) in trace.groups().iter_ids() {
        let paradigm = paradigms::number(trace.strings().get(row.paradigm));
        let (name, members): (&str, Vec<PeId>) = (trace.strings().get(row.name), row.members.iter().collect());
        if layout.lists[id] > lists.next {
            let is_world = |other: &&Group| other.kind == GroupKind::World && other.paradigm == row.paradigm;
            let same = |other: &&Group| other.paradigm == row.paradigm;
            let all = trace.groups().iter().find(is_world).map_or_else(
                || {
                    let members = trace.groups().iter().filter(same).flat_map(|group| group.members.iter());
                    let mut all: Vec<PeId> = members.filter(|pe| pe.is_some()).collect();
                    all.sort_unstable();
                    all.dedup();
                    all
                },
                |world| world.members.iter().collect(),
            );
            lists.locations_of(paradigm, all)?;
        }
        let group = match row.kind {
            GroupKind::SelfOnly if layout.lists[id] < lists.next => layout.lists[id],
            GroupKind::SelfOnly => lists.put(group_type::COMM_SELF, paradigm, 0, &[])?,
            GroupKind::Inter => {
                let (first, second) = members.split_at(row.members.split());
                let (group_a, group_b) = (lists.group(paradigm, first)?, lists.group(paradigm, second)?);
                let name = lists.to.text(name)?;
                lists.to.put(InterComm { id: id.0, name, group_a, group_b, common_communicator: NONE, flags: 0 })?;
                continue;
            }
            GroupKind::World | GroupKind::Communicator | GroupKind::Team => lists.group(paradigm, &members)?,
        };
        lists.to.comm(id.0, name, group, NONE)?;
    }
    if layout.world.0 as usize == trace.groups().len() {
        lists.locations_of(paradigms::MPI, layout.main.clone())?;
        let group = lists.group(paradigms::MPI, &layout.main)?;
        lists.to.comm(layout.world.0, "", group, NONE)?;
    }
    Ok(())
}

/// Lists of members, numbered as they are written.
struct Lists<'a, S> {
    to: &'a mut Definitions<S>,
    next: u32,
    /// The locations of each paradigm, in which members of its groups are ranks.
    locations: Vec<(u8, Members)>,
}

impl<S: FnMut(&[u8])> Lists<'_, S> {
    fn locations_of(&mut self, paradigm: u8, pes: Vec<PeId>) -> Result<(), CodecError> {
        let members: Vec<u64> = pes.iter().map(|pe| location(*pe)).collect();
        self.locations.push((paradigm, pes.into()));
        self.put(group_type::COMM_LOCATIONS, paradigm, 0, &members).map(|_| ())
    }

    /// Members as ranks; as locations where one has no rank.
    fn group(&mut self, paradigm: u8, pes: &[PeId]) -> Result<u32, CodecError> {
        let locations = self.locations.iter().find(|(of, _)| *of == paradigm).map(|(_, locations)| locations);
        let ranks: Option<Vec<u64>> = pes.iter().map(|pe| Some(locations?.rank(*pe)? as u64)).collect();
        if let Some(ranks) = ranks {
            return self.put(group_type::COMM, paradigm, 0, &ranks);
        }
        let members: Vec<u64> = pes.iter().map(|pe| location(*pe)).collect();
        self.put(group_type::COMM, paradigm, GLOBAL_MEMBERS, &members)
    }

    fn put(&mut self, group_type: u8, paradigm: u8, flags: u32, members: &[u64]) -> Result<u32, CodecError> {
        let id = self.next;
        self.next += 1;
        self.to.group_of_kind(id, "", Kind { group_type, paradigm, flags }, members)?;
        Ok(id)
    }
}

/// The location of a PE; a member that nobody knows has a number that nobody has.
fn location(pe: PeId) -> u64 {
    if pe.is_some() { pe.0.into() } else { u64::MAX }
}
