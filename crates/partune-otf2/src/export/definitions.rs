//! The global definitions of a trace.

use partune_base::{PeId, StringId};
use partune_trace::{GroupKind, MetricValues, PeKind, Region, RegionKind, Role};

use super::Layout;
use crate::codec::attic::GroupKind as Kind;
use crate::codec::definition::{
    ClockProperties, Comm, Group, InterComm, IoHandle, IoParadigm, Location, LocationGroup, MetricClass, MetricMember,
    Paradigm, RmaWin, SystemTreeNode, Text,
};
use crate::codec::view::{Array, Properties};
use crate::codec::{self, CodecError, DefinitionWriter};
use crate::paradigms;

const NONE: u32 = u32::MAX;
const PROCESS: u8 = 1;
const ACCELERATOR: u8 = 2;
/// Types of groups (`OTF2_GroupType`), and the flag that members are locations.
const COMM_LOCATIONS: u8 = 4;
const COMM_GROUP: u8 = 5;
const COMM_SELF: u8 = 6;
const GLOBAL_MEMBERS: u32 = 1;

/// Writes them; `events` are the numbers of events of all locations.
pub(super) fn write<S: FnMut(&[u8])>(
    layout: &Layout<'_>,
    events: &[u64],
    to: &mut DefinitionWriter<S>,
) -> Result<(), CodecError> {
    let trace = layout.trace;
    to.write(ClockProperties {
        timer_resolution: trace.clock().ticks_per_second(),
        global_offset: 0,
        trace_length: layout.stamp(trace.end()).saturating_add(1),
        realtime_timestamp: None,
    })?;
    to.write(Text { id: 0, string: b"" })?;
    for (id, text) in trace.strings().iter() {
        to.write(Text { id: string(id), string: text.as_bytes() })?;
    }
    // Words of the archive's own, behind those of the trace.
    let own = trace.strings().len() as u32 + 1;
    let (machine, node, posix) = (own, own + 1, own + 2);
    for (id, text) in [(machine, "machine"), (node, "node"), (posix, "POSIX")] {
        to.write(Text { id, string: text.as_bytes() })?;
    }
    let names = (0..).zip(paradigms::NAMES).map(|(at, (number, name))| (posix + 1 + at, *number, *name));
    for (id, number, name) in names {
        to.write(Text { id, string: name.as_bytes() })?;
        to.write(Paradigm { paradigm: number, name: id, paradigm_class: paradigms::class(number) })?;
    }
    locations(layout, events, (machine, node), to)?;
    for (id, region) in trace.regions().iter_ids() {
        to.write(definition_of(layout, id.0, region))?;
    }
    groups(layout, to)?;
    for (id, window) in trace.windows().iter_ids() {
        let (comm, _) = layout.rank(window.group, PeId::NONE, PeId::NONE);
        to.write(RmaWin { id: id.0, name: string(window.name), comm, flags: Some(0) })?;
    }
    for (id, metric) in trace.metrics().iter_ids() {
        const DOUBLE: u8 = 10;
        let metric_mode = match metric.values {
            MetricValues::Accumulated => 0,
            MetricValues::Point => 1,
            MetricValues::Last => 2,
            MetricValues::Next => 3,
        };
        let (name, unit) = (string(metric.name), string(metric.unit));
        let member = MetricMember {
            id: id.0,
            name,
            description: 0,
            metric_type: 0,
            metric_mode,
            value_type: DOUBLE,
            // Values are written in units.
            base: 1,
            exponent: 0,
            unit,
        };
        to.write(member)?;
        let members = [id.0];
        let metric_members = Array::new(&members);
        to.write(MetricClass { id: id.0, metric_members, metric_occurrence: 1, recorder_kind: Some(1) })?;
    }
    if trace.streams().iter().any(|stream| !stream.io.is_empty()) {
        let properties = Properties::new(&[]);
        to.write(IoParadigm {
            id: 0,
            identification: posix,
            name: posix,
            io_paradigm_class: 1,
            io_paradigm_flags: 0,
            properties,
        })?;
        to.write(IoHandle {
            id: 0,
            name: 0,
            file: NONE,
            io_paradigm: 0,
            io_handle_flags: 0,
            comm: NONE,
            parent: NONE,
        })?;
    }
    Ok(())
}

/// The id of a string of the trace.
fn string(id: StringId) -> u32 {
    if id.is_some() { id.0 + 1 } else { 0 }
}

/// The machine, processes and PEs. A PE's number is its id; streams of a device are in a group of their own, made by the process.
fn locations<S: FnMut(&[u8])>(
    layout: &Layout<'_>,
    events: &[u64],
    (machine, node): (u32, u32),
    to: &mut DefinitionWriter<S>,
) -> Result<(), CodecError> {
    let trace = layout.trace;
    to.write(SystemTreeNode { id: 0, name: machine, class_name: machine, parent: NONE })?;
    let mut nodes: Vec<StringId> = trace.processes().iter().map(|process| process.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for (id, name) in (1..).zip(&nodes) {
        to.write(SystemTreeNode { id, name: string(*name), class_name: node, parent: 0 })?;
    }
    let mut next = trace.processes().len() as u32;
    for (id, process) in trace.processes().iter_ids() {
        let parent = 1 + nodes.binary_search(&process.node).unwrap_or(0) as u32;
        let group = |id, kind, creator| LocationGroup {
            id,
            name: string(process.name),
            location_group_type: kind,
            system_tree_parent: parent,
            creating_location_group: Some(creator),
        };
        to.write(group(id.0, PROCESS, NONE))?;
        let mut devices: Vec<(Option<u32>, u32)> = Vec::new();
        for pe in &process.pes {
            let row = &trace.pes()[*pe];
            let location_group = match (row.kind, devices.iter().find(|(device, _)| *device == row.device)) {
                (PeKind::Cpu | PeKind::Metric, _) => id.0,
                (PeKind::Accelerator, Some((_, group))) => *group,
                (PeKind::Accelerator, None) => {
                    to.write(group(next, ACCELERATOR, id.0))?;
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
            to.write(Location {
                id: pe.0.into(),
                name: string(row.name),
                location_type,
                number_of_events,
                location_group,
            })?;
        }
    }
    Ok(())
}

/// A region with what tells its role again: the names for what is in the tables of paradigms, the role of OTF2 for the rest.
fn definition_of(layout: &Layout<'_>, id: u32, region: &Region) -> codec::definition::Region {
    let paradigm = layout.trace.strings().get(region.paradigm);
    let number = if region.paradigm.is_some() { paradigms::number(paradigm) } else { paradigms::USER };
    let (role, flags) = match (region.role, region.kind) {
        (Role::User, RegionKind::Function) => (1, 0),
        (Role::User, RegionKind::Iteration) => (4, 3),
        (Role::User, RegionKind::Phase) => (4, 2),
        (Role::User, RegionKind::Block) => (4, 0),
        (role, _) => (role_number(role), 0),
    };
    codec::definition::Region {
        id,
        name: string(region.name),
        description: 0,
        region_type: 0,
        source_file: if region.file.is_some() { string(region.file) } else { NONE },
        begin_line_number: region.line,
        end_line_number: 0,
        canonical_name: Some(string(region.construct)),
        region_role: Some(role),
        paradigm: Some(number),
        region_flags: Some(flags),
    }
}

/// `OTF2_RegionRole`, as near as it has one.
fn role_number(role: Role) -> u8 {
    match role {
        Role::User => 1,
        Role::WorkSharing => 3,
        Role::Parallel => 5,
        Role::LockAcquire => 12,
        Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::RmaGroupSync => 15,
        Role::TaskRun => 20,
        Role::TaskCreate => 21,
        Role::TaskWait => 22,
        Role::OneToAll => 23,
        Role::AllToOne => 24,
        Role::AllToAll | Role::Scan => 25,
        Role::Send | Role::Recv | Role::SendRecv | Role::Probe => 28,
        Role::Io => 27,
        Role::Put | Role::Get | Role::Atomic | Role::Signal => 29,
        Role::Measurement => 34,
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
        | Role::Management => 2,
    }
}

/// Communicators and the lists of members below them. A group of the trace is the communicator of its number.
fn groups<S: FnMut(&[u8])>(layout: &Layout<'_>, to: &mut DefinitionWriter<S>) -> Result<(), CodecError> {
    let trace = layout.trace;
    let members_of = |pes: &mut dyn Iterator<Item = PeId>| -> Vec<u64> {
        // A member that nobody knows has a number that nobody has.
        pes.map(|pe| if pe.is_some() { pe.0.into() } else { u64::MAX }).collect()
    };
    let list = |id: u32, group_type: u8, paradigm: u8, flags: u32, members: &[u64], to: &mut DefinitionWriter<S>| {
        let kind = Kind { group_type, paradigm, flags };
        to.write(Group {
            id,
            name: 0,
            group_type_pre12: Group::type_before_1_2(kind),
            members: Array::new(members),
            group_type: Some(group_type),
            paradigm: Some(paradigm),
            group_flags: Some(flags),
        })
    };
    // The list of a group has its number, a second side that of a second row of numbers, the world of a paradigm one in a third.
    let count = trace.groups().len() as u32 + 1;
    let mut worlds: Vec<u8> = Vec::new();
    for (id, group) in trace.groups().iter_ids() {
        let paradigm = paradigms::number(trace.strings().get(group.paradigm));
        if !worlds.contains(&paradigm) && group.kind == GroupKind::World {
            let members = members_of(&mut group.members.iter());
            list(2 * count + worlds.len() as u32, COMM_LOCATIONS, paradigm, 0, &members, to)?;
            worlds.push(paradigm);
        }
        let name = string(group.name);
        match group.kind {
            GroupKind::SelfOnly => list(id.0, COMM_SELF, paradigm, 0, &[], to)?,
            GroupKind::Inter => {
                let (split, all) = (group.members.split(), members_of(&mut group.members.iter()));
                list(id.0, COMM_GROUP, paradigm, GLOBAL_MEMBERS, &all[..split], to)?;
                list(count + id.0, COMM_GROUP, paradigm, GLOBAL_MEMBERS, &all[split..], to)?;
                let (group_a, group_b) = (id.0, count + id.0);
                to.write(InterComm { id: id.0, name, group_a, group_b, common_communicator: NONE, flags: 0 })?;
                continue;
            }
            GroupKind::World | GroupKind::Communicator | GroupKind::Team => {
                list(id.0, COMM_GROUP, paradigm, GLOBAL_MEMBERS, &members_of(&mut group.members.iter()), to)?;
            }
        }
        to.write(Comm { id: id.0, name, group: id.0, parent: NONE, flags: Some(0) })?;
    }
    if layout.world.0 as usize == trace.groups().len() {
        let members = members_of(&mut layout.main.iter().copied());
        list(2 * count + worlds.len() as u32, COMM_LOCATIONS, paradigms::MPI, 0, &members, to)?;
        list(layout.world.0, COMM_GROUP, paradigms::MPI, GLOBAL_MEMBERS, &members, to)?;
        to.write(Comm { id: layout.world.0, name: 0, group: layout.world.0, parent: NONE, flags: Some(0) })?;
    }
    Ok(())
}
