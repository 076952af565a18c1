//! Writes the global definitions of an archive.
//!
//! A thin layer over the codec: strings are interned where they are first used, constants have the names of the format.

use partune_base::{StringId, Strings};
use partune_otf2::codec::attic::GroupKind;
use partune_otf2::codec::definition::{
    Attribute, CallingContext, ClockProperties, Comm, Definition, Group, InterComm, IoHandle, IoParadigm,
    IoRegularFile, Location, LocationGroup, LocationGroupProperty, LocationProperty, MetricClass, MetricMember,
    Paradigm, Region, RmaWin, SourceCodeLocation, SystemTreeNode, SystemTreeNodeDomain, Text,
};
use partune_otf2::codec::view::{Array, Properties};
use partune_otf2::codec::{CodecError, DefinitionWriter, Value};
use partune_parts::layout::attributes;
use rustc_hash::FxHashMap;

use crate::contexts::{Contexts, Kind, NONE};
use crate::roles;
use crate::unify::{CommRow, Unified};

const PARADIGM_USER: u8 = 1;
const PARADIGM_COMPILER: u8 = 2;
const PARADIGM_MPI: u8 = 4;
const GROUP_COMM_LOCATIONS: u8 = 4;
const GROUP_COMM: u8 = 5;
const GROUP_COMM_SELF: u8 = 6;

/// The number of a paradigm in OTF2; unknown is 0.
fn paradigm(name: &str) -> u8 {
    match name {
        "OpenMP" => 3,
        "MPI" => PARADIGM_MPI,
        "pthread" => 7,
        "UPC" => 12,
        "OpenSHMEM" => 13,
        _ => 0,
    }
}

/// The global definition file in the making.
pub(crate) struct Global<'t, S> {
    writer: DefinitionWriter<S>,
    strings: &'t Strings,
    written: FxHashMap<String, u32>,
}

impl<'t, S: FnMut(&[u8])> Global<'t, S> {
    pub(crate) fn new(writer: DefinitionWriter<S>, strings: &'t Strings) -> Self {
        Global { writer, strings, written: FxHashMap::default() }
    }

    /// Ends the file; the number of definitions.
    pub(crate) fn finish(self) -> u64 {
        self.writer.finish()
    }

    fn put<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        self.writer.write(definition)
    }

    fn text(&mut self, text: &str) -> Result<u32, CodecError> {
        if let Some(id) = self.written.get(text) {
            return Ok(*id);
        }
        let id = self.written.len() as u32;
        self.put(Text { id, string: text.as_bytes() })?;
        self.written.insert(text.to_owned(), id);
        Ok(id)
    }

    fn string(&mut self, id: StringId) -> Result<u32, CodecError> {
        let strings = self.strings;
        if id.is_some() { self.text(strings.get(id)) } else { Ok(NONE) }
    }

    /// Ticks a second, first tick, number of ticks, and nanoseconds since 1970 at the first.
    pub(crate) fn clock(&mut self, resolution: u64, begin: u64, length: u64, wall: u64) -> Result<(), CodecError> {
        self.put(ClockProperties {
            timer_resolution: resolution,
            global_offset: begin,
            trace_length: length,
            realtime_timestamp: Some(wall),
        })?;
        // String 0 is the empty one, as in archives of others.
        self.text("").map(drop)
    }

    pub(crate) fn paradigms<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), CodecError> {
        const PROCESS: u8 = 0;
        let (user, compiler) = (self.text("User")?, self.text("Compiler")?);
        self.put(Paradigm { paradigm: PARADIGM_USER, name: user, paradigm_class: PROCESS })?;
        self.put(Paradigm { paradigm: PARADIGM_COMPILER, name: compiler, paradigm_class: PROCESS })?;
        for name in names {
            let id = self.text(name)?;
            self.put(Paradigm { paradigm: paradigm(name), name: id, paradigm_class: PROCESS })?;
        }
        Ok(())
    }

    /// The machine, and a node for each host; their ids follow it.
    pub(crate) fn machine<'a>(&mut self, name: &str, hosts: impl Iterator<Item = &'a str>) -> Result<(), CodecError> {
        const MACHINE: u8 = 0;
        const SHARED_MEMORY: u8 = 1;
        let (name, class_name) = (self.text(name)?, self.text("machine")?);
        self.put(SystemTreeNode { id: 0, name, class_name, parent: NONE })?;
        self.put(SystemTreeNodeDomain { system_tree_node: 0, system_tree_domain: MACHINE })?;
        for (host, id) in hosts.zip(1..) {
            let (name, class_name) = (self.text(host)?, self.text("node")?);
            self.put(SystemTreeNode { id, name, class_name, parent: 0 })?;
            self.put(SystemTreeNodeDomain { system_tree_node: id, system_tree_domain: SHARED_MEMORY })?;
        }
        Ok(())
    }

    /// A process on a host (by position), with properties.
    pub(crate) fn process(&mut self, id: u32, name: &str, host: u32, about: &[(&str, &str)]) -> Result<(), CodecError> {
        const PROCESS: u8 = 1;
        let name = self.text(name)?;
        self.put(LocationGroup {
            id,
            name,
            location_group_type: PROCESS,
            system_tree_parent: host + 1,
            creating_location_group: Some(NONE),
        })?;
        for (key, value) in about {
            let (key, value) = (self.text(key)?, self.text(value)?);
            self.put(LocationGroupProperty {
                location_group: id,
                name: key,
                string_value: value,
                value: Some(Value::String(value)),
            })?;
        }
        Ok(())
    }

    pub(crate) fn location(
        &mut self,
        id: u64,
        name: &str,
        process: u32,
        events: u64,
        lost: u64,
    ) -> Result<(), CodecError> {
        const CPU_THREAD: u8 = 1;
        let name = self.text(name)?;
        self.put(Location { id, name, location_type: CPU_THREAD, number_of_events: events, location_group: process })?;
        if lost > 0 {
            let (name, text) = (self.text("PARTUNE::LOST_EVENTS")?, self.text(&lost.to_string())?);
            self.put(LocationProperty { location: id, name, string_value: text, value: Some(Value::U64(lost)) })?;
        }
        Ok(())
    }

    /// Regions, places in the source and call paths.
    pub(crate) fn code(&mut self, contexts: &Contexts) -> Result<(), CodecError> {
        const FUNCTION: u8 = 1;
        const LOOP: u8 = 3;
        const CODE: u8 = 4;
        const DYNAMIC: u32 = 1;
        const PHASE: u32 = 2;
        for (region, id) in contexts.regions.rows.iter().zip(0..) {
            let name = self.string(region.name)?;
            let (role, paradigm, flags) = match region.kind {
                Kind::Function => (FUNCTION, PARADIGM_COMPILER, 0),
                Kind::Construct(of) => {
                    let of = self.strings.get(of);
                    (roles::of(self.strings.get(region.name), of), paradigm(of), 0)
                }
                Kind::Code => (CODE, PARADIGM_USER, 0),
                Kind::Phase => (CODE, PARADIGM_USER, PHASE),
                Kind::Loop => (LOOP, PARADIGM_USER, DYNAMIC),
                Kind::Iteration => (CODE, PARADIGM_USER, DYNAMIC | PHASE),
            };
            let file = match region.kind {
                Kind::Construct(name) => self.string(name)?,
                _ => self.string(region.file)?,
            };
            let description = self.text("")?;
            self.put(Region {
                id,
                name,
                description,
                region_type: 0,
                source_file: file,
                begin_line_number: region.line,
                end_line_number: 0,
                canonical_name: Some(name),
                region_role: Some(role),
                paradigm: Some(paradigm),
                region_flags: Some(flags),
            })?;
        }
        for (&(file, line_number), id) in contexts.sites.rows.iter().zip(0..) {
            let file = self.string(file)?;
            self.put(SourceCodeLocation { id, file, line_number })?;
        }
        for (context, id) in contexts.tree.rows.iter().zip(0..) {
            let (region, source_code_location, parent) = (context.region, context.site, context.parent);
            self.put(CallingContext { id, region, source_code_location, parent })?;
        }
        Ok(())
    }

    /// Groups, communicators, windows, files and metrics. `locations` are those of the ranks, in order.
    pub(crate) fn communication(&mut self, unified: &Unified, locations: &[u64]) -> Result<(), CodecError> {
        const SELF: u32 = 1;
        const FIRST: u32 = 2;
        self.group(0, "MPI", GROUP_COMM_LOCATIONS, locations)?;
        self.group(SELF, "MPI_COMM_SELF", GROUP_COMM_SELF, &[])?;
        for (members, id) in unified.groups.iter().zip(FIRST..) {
            self.group(id, "", GROUP_COMM, members)?;
        }
        for (comm, id) in unified.comms.iter().zip(0..) {
            let (name, parent) = (self.text(&comm.name)?, comm.parent);
            match comm.row {
                CommRow::Alone => self.put(Comm { id, name, group: SELF, parent, flags: Some(0) })?,
                CommRow::Intra(group) => self.put(Comm { id, name, group: FIRST + group, parent, flags: Some(0) })?,
                CommRow::Inter(a, b) => self.put(InterComm {
                    id,
                    name,
                    group_a: FIRST + a,
                    group_b: FIRST + b,
                    common_communicator: parent,
                    flags: 0,
                })?,
            }
        }
        for ((name, comm), id) in unified.windows.iter().zip(0..) {
            let name = self.text(name)?;
            self.put(RmaWin { id, name, comm: *comm, flags: Some(0) })?;
        }
        for (name, id) in attributes::NAMES.iter().zip(0..).filter(|_| !unified.windows.is_empty()) {
            const UINT64: u8 = 4;
            let (name, description) = (self.text(name)?, self.text("")?);
            self.put(Attribute { id, name, value_type: UINT64, description: Some(description) })?;
        }
        if !unified.files.rows.is_empty() {
            const PARALLEL: u8 = 1;
            let name = self.text("MPI-IO")?;
            self.put(IoParadigm {
                id: 0,
                identification: name,
                name,
                io_paradigm_class: PARALLEL,
                io_paradigm_flags: 0,
                properties: Properties::new(&[]),
            })?;
        }
        for (&file, id) in unified.files.rows.iter().zip(0..) {
            let name = self.string(file)?;
            self.put(IoRegularFile { id, name, scope: 0 })?;
            self.put(IoHandle { id, name, file: id, io_paradigm: 0, io_handle_flags: 0, comm: NONE, parent: NONE })?;
        }
        Ok(())
    }

    pub(crate) fn metrics(&mut self, unified: &Unified) -> Result<(), CodecError> {
        const OTHER: u8 = 0;
        const ACCUMULATED_START: u8 = 0;
        const UINT64: u8 = 4;
        const DECIMAL: u8 = 1;
        const SYNCHRONOUS: u8 = 1;
        const RECORDER_CPU: u8 = 2;
        for (&(name, unit), id) in unified.metrics.rows.iter().zip(0..) {
            let (name, description, unit) = (self.string(name)?, self.text("")?, self.string(unit)?);
            self.put(MetricMember {
                id,
                name,
                description,
                metric_type: OTHER,
                metric_mode: ACCUMULATED_START,
                value_type: UINT64,
                base: DECIMAL,
                exponent: 0,
                unit,
            })?;
            self.put(MetricClass {
                id,
                metric_members: Array::new(&[id]),
                metric_occurrence: SYNCHRONOUS,
                recorder_kind: Some(RECORDER_CPU),
            })?;
        }
        Ok(())
    }

    fn group(&mut self, id: u32, name: &str, group_type: u8, members: &[u64]) -> Result<(), CodecError> {
        let kind = GroupKind { group_type, paradigm: PARADIGM_MPI, flags: 0 };
        let name = self.text(name)?;
        self.put(Group {
            id,
            name,
            group_type_pre12: Group::type_before_1_2(kind),
            members: Array::new(members),
            group_type: Some(group_type),
            paradigm: Some(PARADIGM_MPI),
            group_flags: Some(0),
        })
    }
}
