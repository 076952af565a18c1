//! The definitions of the archive, as Score-P lays them out.

use std::collections::HashMap;

use partune_otf2::codec::attic::GroupKind;
use partune_otf2::codec::definition::{
    ClockOffset, ClockProperties, Comm, Definition, Group, Location, LocationGroup, MetricClass, MetricMember,
    Paradigm, Region, RmaWin, SystemTreeNode, SystemTreeNodeDomain, Text,
};
use partune_otf2::codec::view::Array;
use partune_otf2::codec::{CodecError, DefinitionWriter};

use crate::clock::{EPOCH, RankClock};
use crate::options::{Model, SynthOptions};
use crate::regions::{REGIONS, paradigm, region_ids};
use crate::world::Grid;

/// Communicator of all ranks.
pub(crate) const COMM_WORLD: u32 = 0;
const COMM_SELF: u32 = 1;
/// Communicator of the first row of ranks; the others follow. Only if there is more than one row and column.
pub(crate) const COMM_FIRST_ROW: u32 = 2;
/// The symmetric heap.
pub(crate) const HEAP: u32 = 0;

const NONE: u32 = u32::MAX;
const GROUP_COMM_LOCATIONS: u8 = 4;
const GROUP_COMM: u8 = 5;
const GROUP_COMM_SELF: u8 = 6;
const RANKS_PER_NODE: u32 = 16;

/// The communicator of the threads of a rank.
pub(crate) fn team(options: &SynthOptions, rank: u32) -> u32 {
    COMM_FIRST_ROW + row_count(options) + rank
}

/// The id of a location in the archive, as Score-P numbers them.
pub(crate) fn location_id(options: &SynthOptions, location: usize) -> u64 {
    let (rank, thread) = (location as u64 / u64::from(options.threads), location as u64 % u64::from(options.threads));
    thread << 32 | rank
}

/// Writes the global definitions; `end` is the time of the last event.
pub(crate) fn write_global<S: FnMut(&[u8])>(
    options: &SynthOptions,
    events: &[u64],
    end: u64,
    writer: DefinitionWriter<S>,
) -> Result<u64, CodecError> {
    let mut to = Global { writer, strings: HashMap::new(), groups: 0, comms: 0 };
    to.put(ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: EPOCH,
        trace_length: end - EPOCH + 1,
        realtime_timestamp: None,
    })?;
    to.text("")?;
    to.paradigms(options)?;
    to.machine(options, events)?;
    to.regions(options)?;
    match options.model {
        Model::Mpi => to.communicators(options)?,
        Model::Shmem => to.heap(options)?,
    }
    if options.hybrid() {
        to.teams(options)?;
    }
    if options.metrics {
        to.metrics()?;
    }
    Ok(to.writer.finish())
}

/// Writes the definitions of a location: how its clock is corrected.
pub(crate) fn write_local<S: FnMut(&[u8])>(
    options: &SynthOptions,
    location: usize,
    end: u64,
    mut writer: DefinitionWriter<S>,
) -> Result<(), CodecError> {
    let clock = RankClock::new(options, location as u32 / options.threads);
    for (time, offset) in clock.measurements(end) {
        writer.write(Definition::ClockOffset(ClockOffset { time, offset, standard_deviation: 0.0 }))?;
    }
    writer.finish();
    Ok(())
}

/// Number of communicators for rows.
fn row_count(options: &SynthOptions) -> u32 {
    let grid = Grid::new(options.ranks);
    if options.model == Model::Mpi && grid.rows > 1 && grid.columns > 1 { grid.rows } else { 0 }
}

/// A definition file in the making.
struct Global<S> {
    writer: DefinitionWriter<S>,
    strings: HashMap<String, u32>,
    groups: u32,
    comms: u32,
}

impl<S: FnMut(&[u8])> Global<S> {
    fn put<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        self.writer.write(definition)
    }

    /// The id of a string, written at its first use.
    fn text(&mut self, text: &str) -> Result<u32, CodecError> {
        if let Some(&id) = self.strings.get(text) {
            return Ok(id);
        }
        let id = self.strings.len() as u32;
        self.put(Text { id, string: text.as_bytes() })?;
        self.strings.insert(text.to_owned(), id);
        Ok(id)
    }

    fn paradigms(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        const PROCESS: u8 = 0;
        const FORK_JOIN: u8 = 1;
        let (number, name) = match options.model {
            Model::Mpi => (paradigm::MPI, "MPI"),
            Model::Shmem => (paradigm::SHMEM, "OpenSHMEM"),
        };
        let name = self.text(name)?;
        self.put(Paradigm { paradigm: number, name, paradigm_class: PROCESS })?;
        if options.hybrid() {
            let name = self.text("OpenMP")?;
            self.put(Paradigm { paradigm: paradigm::OPENMP, name, paradigm_class: FORK_JOIN })?;
        }
        Ok(())
    }

    /// Nodes, ranks and threads.
    fn machine(&mut self, options: &SynthOptions, events: &[u64]) -> Result<(), CodecError> {
        const MACHINE: u8 = 0;
        const SHARED_MEMORY: u8 = 1;
        const PROCESS: u8 = 1;
        const CPU_THREAD: u8 = 1;
        let (name, class_name) = (self.text("Synthetic machine")?, self.text("machine")?);
        self.put(SystemTreeNode { id: 0, name, class_name, parent: NONE })?;
        self.put(SystemTreeNodeDomain { system_tree_node: 0, system_tree_domain: MACHINE })?;
        for rank in 0..options.ranks {
            let node = 1 + rank / RANKS_PER_NODE;
            if rank % RANKS_PER_NODE == 0 {
                let (name, class_name) = (self.text(&format!("node{node}"))?, self.text("node")?);
                self.put(SystemTreeNode { id: node, name, class_name, parent: 0 })?;
                self.put(SystemTreeNodeDomain { system_tree_node: node, system_tree_domain: SHARED_MEMORY })?;
            }
            let name = match options.model {
                Model::Mpi => self.text(&format!("MPI Rank {rank}"))?,
                Model::Shmem => self.text(&format!("SHMEM PE {rank}"))?,
            };
            self.put(LocationGroup {
                id: rank,
                name,
                location_group_type: PROCESS,
                system_tree_parent: node,
                creating_location_group: Some(NONE),
            })?;
        }
        for (location, &number_of_events) in events.iter().enumerate() {
            let (rank, thread) = (location as u32 / options.threads, location as u32 % options.threads);
            let name =
                if thread == 0 { self.text("Master thread")? } else { self.text(&format!("OMP thread {thread}"))? };
            let id = location_id(options, location);
            self.put(Location { id, name, location_type: CPU_THREAD, number_of_events, location_group: rank })?;
        }
        Ok(())
    }

    fn regions(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let description = self.text("")?;
        for (row, id) in REGIONS.iter().zip(region_ids(options)) {
            let Some(id) = id else { continue };
            let name = self.text(row.name)?;
            let source_file = match row.paradigm {
                paradigm::MPI => self.text("MPI")?,
                paradigm::SHMEM => self.text("OpenSHMEM")?,
                _ => self.text("solver.c")?,
            };
            self.put(Region {
                id,
                name,
                description,
                region_type: 0,
                source_file,
                begin_line_number: row.lines.0,
                end_line_number: row.lines.1,
                canonical_name: Some(name),
                region_role: Some(row.role),
                paradigm: Some(row.paradigm),
                region_flags: Some(0),
            })?;
        }
        Ok(())
    }

    /// Groups and communicators of MPI: all, each alone, rows.
    fn communicators(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let grid = Grid::new(options.ranks);
        let all: Vec<u64> = (0..u64::from(options.ranks)).collect();
        self.group("", GROUP_COMM_LOCATIONS, paradigm::MPI, &all)?;
        let alone = self.group("", GROUP_COMM_SELF, paradigm::MPI, &[])?;
        let world = self.group("", GROUP_COMM, paradigm::MPI, &all)?;
        self.comm("MPI_COMM_WORLD", world, NONE)?;
        let comm_self = self.comm("MPI_COMM_SELF", alone, NONE)?;
        debug_assert_eq!(comm_self, COMM_SELF);
        for row in all.chunks(grid.columns as usize).take(row_count(options) as usize) {
            let group = self.group("", GROUP_COMM, paradigm::MPI, row)?;
            self.comm("row", group, COMM_WORLD)?;
        }
        Ok(())
    }

    /// The group of all PEs, and the window of their symmetric heap.
    fn heap(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let all: Vec<u64> = (0..u64::from(options.ranks)).collect();
        self.group("", GROUP_COMM_LOCATIONS, paradigm::SHMEM, &all)?;
        let world = self.group("", GROUP_COMM, paradigm::SHMEM, &all)?;
        let comm = self.comm("All PEs", world, NONE)?;
        let name = self.text("All PEs")?;
        self.put(RmaWin { id: HEAP, name, comm, flags: Some(0) })
    }

    /// The threads of each rank.
    fn teams(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let locations: Vec<u64> = (0..options.locations()).map(|location| location_id(options, location)).collect();
        self.group("OpenMP", GROUP_COMM_LOCATIONS, paradigm::OPENMP, &locations)?;
        let threads: Vec<u64> = (0..options.locations() as u64).collect();
        for members in threads.chunks(options.threads as usize) {
            let group = self.group("", GROUP_COMM, paradigm::OPENMP, members)?;
            self.comm("", group, NONE)?;
        }
        Ok(())
    }

    /// A counter that is read strictly synchronously.
    fn metrics(&mut self) -> Result<(), CodecError> {
        const PAPI: u8 = 1;
        const ACCUMULATED_START: u8 = 0;
        const UINT64: u8 = 4;
        const DECIMAL: u8 = 1;
        const SYNCHRONOUS_STRICT: u8 = 0;
        const RECORDER_CPU: u8 = 2;
        let (name, description, unit) = (self.text("PAPI_TOT_CYC")?, self.text("Total cycles")?, self.text("#")?);
        self.put(MetricMember {
            id: 0,
            name,
            description,
            metric_type: PAPI,
            metric_mode: ACCUMULATED_START,
            value_type: UINT64,
            base: DECIMAL,
            exponent: 0,
            unit,
        })?;
        self.put(MetricClass {
            id: 0,
            metric_members: Array::new(&[0]),
            metric_occurrence: SYNCHRONOUS_STRICT,
            recorder_kind: Some(RECORDER_CPU),
        })
    }

    fn group(&mut self, name: &str, group_type: u8, paradigm: u8, members: &[u64]) -> Result<u32, CodecError> {
        let kind = GroupKind { group_type, paradigm, flags: 0 };
        let (id, name) = (self.groups, self.text(name)?);
        self.groups += 1;
        self.put(Group {
            id,
            name,
            group_type_pre12: Group::type_before_1_2(kind),
            members: Array::new(members),
            group_type: Some(group_type),
            paradigm: Some(paradigm),
            group_flags: Some(0),
        })?;
        Ok(id)
    }

    fn comm(&mut self, name: &str, group: u32, parent: u32) -> Result<u32, CodecError> {
        let (id, name) = (self.comms, self.text(name)?);
        self.comms += 1;
        self.put(Comm { id, name, group, parent, flags: Some(0) })?;
        Ok(id)
    }
}
