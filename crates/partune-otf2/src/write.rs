//! What writers of archives share: how files are named, and definitions with the strings that they name.
//!
//! For the recorder, which completes archives, for synthetic ones and those of models. Order and ids are the caller's; a string is written where it
//! is first used. Source: the archives of Score-P, whose layout readers know best.

use std::collections::HashMap;

use crate::codec::attic::GroupKind;
use crate::codec::definition::{
    ClockProperties, Comm, Definition, Group, Location, LocationGroup, MetricClass, MetricMember, Paradigm, Region,
    RmaWin, SystemTreeNode, SystemTreeNodeDomain, Text,
};
use crate::codec::numbers::{metric_mode, value};
use crate::codec::view::Array;
use crate::codec::{CodecError, DefinitionWriter};
use crate::paradigms;

/// Bytes of a chunk of definitions.
pub const DEFINITION_CHUNK: u64 = 4 << 20;
/// The anchor of an archive in its folder, its global definitions, and the folder of its locations' files.
pub const ANCHOR: &str = "traces.otf2";
pub const DEFINITIONS: &str = "traces.def";
pub const LOCATIONS: &str = "traces";

/// The property of a calling context that says where it is while it calls: bytes from the begin of its module to the return address. Lines
/// are too coarse to tell which of two calls comes first, and stripped programs have none.
pub const OFFSET: &str = "PARTUNE::OFFSET";
/// A property of a location: how many of its events were lost.
pub const LOST_EVENTS: &str = "PARTUNE::LOST_EVENTS";
/// Of a location: how many of its events are not there, since newer ones went over them or others have none of that time.
pub const OVERWRITTEN_EVENTS: &str = "PARTUNE::OVERWRITTEN_EVENTS";
/// Of a process: by what choice of the user calls of some functions were not recorded.
pub const LEFT_OUT: &str = "PARTUNE::LEFT_OUT";

/// Properties of a process: the libraries of its paradigms with their versions, and what its program was compiled with.
pub const LIBRARY: &str = "PARTUNE::LIBRARY";
pub const COMPILER: &str = "PARTUNE::COMPILER";
/// A property of the archive: the command that was recorded, as a shell takes it.
pub const COMMAND: &str = "PARTUNE::COMMAND";

/// No definition is referred to.
pub const NONE: u32 = u32::MAX;

/// The file of a location, from the archive's folder: its events (`evt`), its definitions (`def`), its statistics.
pub fn location_file(id: u64, ending: &str) -> String {
    format!("{LOCATIONS}/{id}.{ending}")
}

/// The global definitions in the making. Finish them, or the last chunk is lost.
#[derive(Debug)]
pub struct Definitions<S> {
    writer: DefinitionWriter<S>,
    strings: HashMap<String, u32>,
}

/// A region; strings are ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegionRow {
    pub name: u32,
    /// All of the name, where `name` is its short form.
    pub whole: u32,
    pub file: u32,
    /// First and last line; 0 where unknown.
    pub lines: (u32, u32),
    pub role: u8,
    pub paradigm: u8,
    pub flags: u32,
}

/// A counter of 64 bits, which grows from the start of the run, or a gauge, whose values are numbers of a moment; read by CPUs. Strings are ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterRow {
    pub name: u32,
    pub description: u32,
    pub unit: u32,
    pub kind: u8,
    pub occurrence: u8,
    pub is_gauge: bool,
}

impl<S: FnMut(&[u8])> Definitions<S> {
    /// Into a sink of chunks.
    pub fn new(sink: S) -> Result<Self, CodecError> {
        Ok(Definitions { writer: DefinitionWriter::new(DEFINITION_CHUNK, sink)?, strings: HashMap::new() })
    }

    /// Ends the file; the number of definitions, which the anchor repeats.
    pub fn finish(self) -> u64 {
        self.writer.finish()
    }

    pub fn put<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        self.writer.write(definition)
    }

    /// The id of a string.
    pub fn text(&mut self, text: &str) -> Result<u32, CodecError> {
        if let Some(id) = self.strings.get(text) {
            return Ok(*id);
        }
        let id = self.strings.len() as u32;
        self.put(Text { id, string: text.as_bytes() })?;
        self.strings.insert(text.to_owned(), id);
        Ok(id)
    }

    /// Ticks per second, first tick, number of ticks, and nanoseconds since 1970 at the first if known. Comes first.
    pub fn clock(&mut self, resolution: u64, begin: u64, length: u64, wall: Option<u64>) -> Result<(), CodecError> {
        self.put(ClockProperties {
            timer_resolution: resolution,
            global_offset: begin,
            trace_length: length,
            realtime_timestamp: wall,
        })?;
        // String 0 is the empty one, as in archives of others.
        self.text("").map(drop)
    }

    pub fn paradigm(&mut self, paradigm: u8, name: &str) -> Result<(), CodecError> {
        let name = self.text(name)?;
        self.put(Paradigm { paradigm, name, paradigm_class: paradigms::class(paradigm) })
    }

    /// The machine, which is node 0 of the system.
    pub fn machine(&mut self, name: &str) -> Result<(), CodecError> {
        const MACHINE: u8 = 0;
        self.system_node(0, name, "machine", NONE, MACHINE)
    }

    /// A node of the machine, whose processes share memory.
    pub fn node(&mut self, id: u32, name: &str) -> Result<(), CodecError> {
        const SHARED_MEMORY: u8 = 1;
        self.system_node(id, name, "node", 0, SHARED_MEMORY)
    }

    fn system_node(
        &mut self,
        id: u32,
        name: &str,
        class: &str,
        parent: u32,
        system_tree_domain: u8,
    ) -> Result<(), CodecError> {
        let (name, class_name) = (self.text(name)?, self.text(class)?);
        self.put(SystemTreeNode { id, name, class_name, parent })?;
        self.put(SystemTreeNodeDomain { system_tree_node: id, system_tree_domain })
    }

    /// A process on a node.
    pub fn process(&mut self, id: u32, name: &str, node: u32) -> Result<(), CodecError> {
        const PROCESS: u8 = 1;
        let name = self.text(name)?;
        self.put(LocationGroup {
            id,
            name,
            location_group_type: PROCESS,
            system_tree_parent: node,
            creating_location_group: Some(NONE),
        })
    }

    /// A thread of a process, with its number of events.
    pub fn thread(&mut self, id: u64, name: &str, process: u32, events: u64) -> Result<(), CodecError> {
        const CPU_THREAD: u8 = 1;
        let name = self.text(name)?;
        self.put(Location { id, name, location_type: CPU_THREAD, number_of_events: events, location_group: process })
    }

    pub fn region(&mut self, id: u32, row: RegionRow) -> Result<(), CodecError> {
        let RegionRow { name, whole, file, lines, role, paradigm, flags } = row;
        let description = self.text("")?;
        self.put(Region {
            id,
            name,
            description,
            region_type: 0,
            source_file: file,
            begin_line_number: lines.0,
            end_line_number: lines.1,
            canonical_name: Some(whole),
            region_role: Some(role),
            paradigm: Some(paradigm),
            region_flags: Some(flags),
        })
    }

    /// A list of members that are ranks.
    pub fn group(
        &mut self,
        id: u32,
        name: &str,
        group_type: u8,
        paradigm: u8,
        members: &[u64],
    ) -> Result<(), CodecError> {
        self.group_of_kind(id, name, GroupKind { group_type, paradigm, flags: 0 }, members)
    }

    pub fn group_of_kind(&mut self, id: u32, name: &str, kind: GroupKind, members: &[u64]) -> Result<(), CodecError> {
        let name = self.text(name)?;
        self.put(Group {
            id,
            name,
            group_type_pre12: Group::type_before_1_2(kind),
            members: Array::new(members),
            group_type: Some(kind.group_type),
            paradigm: Some(kind.paradigm),
            group_flags: Some(kind.flags),
        })
    }

    pub fn comm(&mut self, id: u32, name: &str, group: u32, parent: u32) -> Result<(), CodecError> {
        let name = self.text(name)?;
        self.put(Comm { id, name, group, parent, flags: Some(0) })
    }

    pub fn window(&mut self, id: u32, name: &str, comm: u32) -> Result<(), CodecError> {
        let name = self.text(name)?;
        self.put(RmaWin { id, name, comm, flags: Some(0) })
    }

    /// A counter, as a metric and as a class of that metric alone, both with this id.
    pub fn counter(&mut self, id: u32, row: CounterRow) -> Result<(), CodecError> {
        const DECIMAL: u8 = 1;
        const RECORDER_CPU: u8 = 2;
        let CounterRow { name, description, unit, kind, occurrence, is_gauge } = row;
        let (metric_mode, value_type) = if is_gauge {
            (metric_mode::ABSOLUTE | metric_mode::POINT, value::DOUBLE)
        } else {
            (metric_mode::ACCUMULATED, value::UINT64)
        };
        self.put(MetricMember {
            id,
            name,
            description,
            metric_type: kind,
            metric_mode,
            value_type,
            base: DECIMAL,
            exponent: 0,
            unit,
        })?;
        self.put(MetricClass {
            id,
            metric_members: Array::new(&[id]),
            metric_occurrence: occurrence,
            recorder_kind: Some(RECORDER_CPU),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::numbers::group;
    use crate::codec::{Scope, read_definitions};

    #[test]
    fn a_string_is_written_once_and_before_it_is_named() {
        let mut bytes = Vec::new();
        let mut to = Definitions::new(|chunk: &[u8]| bytes.extend_from_slice(chunk)).expect("a size of chunks");
        to.clock(10, 1, 2, None).expect("room");
        to.group(0, "all", group::COMM, paradigms::MPI, &[0, 1]).expect("room");
        to.comm(0, "all", 0, NONE).expect("room");
        assert_eq!(to.finish(), 5);
        let mut seen = Vec::new();
        let mut visit = |definition: Definition<'_>| match definition {
            Definition::Text(Text { id, string }) => seen.push((id, String::from_utf8_lossy(string).into_owned())),
            Definition::Group(Group { name, .. }) => seen.push((name, "group".to_owned())),
            Definition::Comm(Comm { name, .. }) => seen.push((name, "comm".to_owned())),
            Definition::ClockProperties(_) => {}
            other => panic!("{other:?}"),
        };
        read_definitions(&bytes, DEFINITION_CHUNK, Scope::Global, &mut visit).expect("a size of chunks");
        let expected = [(0, ""), (1, "all"), (1, "group"), (1, "comm")].map(|(id, text)| (id, text.to_owned()));
        assert_eq!(seen, expected);
    }
}
