//! The definitions of the archive, as Score-P lays them out.

use partune_otf2::codec::definition::{ClockOffset, Definition};
use partune_otf2::codec::numbers::{group, metric, occurrence};
use partune_otf2::codec::{CodecError, DefinitionWriter};
use partune_otf2::paradigms;
use partune_otf2::write::{CounterRow, DEFINITION_CHUNK, Definitions, NONE, RegionRow};

use crate::clock::{EPOCH, RankClock};
use crate::options::{Model, SynthOptions};
use crate::regions::{REGIONS, region_ids};
use crate::world::Grid;

/// Communicator of all ranks.
pub(crate) const COMM_WORLD: u32 = 0;
const COMM_SELF: u32 = 1;
/// Communicator of the first row of ranks; the others follow. Only if there is more than one row and column.
pub(crate) const COMM_FIRST_ROW: u32 = 2;
/// The symmetric heap.
pub(crate) const HEAP: u32 = 0;

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
    sink: S,
) -> Result<u64, CodecError> {
    let mut to = Global { to: Definitions::new(sink)?, groups: 0, comms: 0 };
    to.to.clock(1_000_000_000, EPOCH, end - EPOCH + 1, None)?;
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
    Ok(to.to.finish())
}

/// Writes the definitions of a location: how its clock is corrected.
pub(crate) fn write_local<S: FnMut(&[u8])>(
    options: &SynthOptions,
    location: usize,
    end: u64,
    sink: S,
) -> Result<(), CodecError> {
    let mut writer = DefinitionWriter::new(DEFINITION_CHUNK, sink)?;
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

/// The global definitions in the making; groups and communicators are numbered in their order.
struct Global<S> {
    to: Definitions<S>,
    groups: u32,
    comms: u32,
}

impl<S: FnMut(&[u8])> Global<S> {
    fn paradigms(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let model = match options.model {
            Model::Mpi => paradigms::MPI,
            Model::Shmem => paradigms::SHMEM,
        };
        let all = std::iter::once(model).chain(options.hybrid().then_some(paradigms::OPENMP));
        all.filter_map(paradigms::paradigm).try_for_each(|it| self.to.paradigm(paradigms::number(it.name), it.name))
    }

    /// Nodes, ranks and threads.
    fn machine(&mut self, options: &SynthOptions, events: &[u64]) -> Result<(), CodecError> {
        self.to.machine("Synthetic machine")?;
        for rank in 0..options.ranks {
            let node = 1 + rank / RANKS_PER_NODE;
            if rank % RANKS_PER_NODE == 0 {
                self.to.node(node, &format!("node{node}"))?;
            }
            let name = match options.model {
                Model::Mpi => format!("MPI Rank {rank}"),
                Model::Shmem => format!("SHMEM PE {rank}"),
            };
            self.to.process(rank, &name, node)?;
        }
        for (location, &events) in events.iter().enumerate() {
            let (rank, thread) = (location as u32 / options.threads, location as u32 % options.threads);
            let name = if thread == 0 { "Master thread".to_owned() } else { format!("OMP thread {thread}") };
            self.to.thread(location_id(options, location), &name, rank, events)?;
        }
        Ok(())
    }

    fn regions(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        for (row, id) in REGIONS.iter().zip(region_ids(options)) {
            let Some(id) = id else { continue };
            let name = self.to.text(row.name)?;
            let library = paradigms::paradigm(row.paradigm).filter(|it| !it.is_of_threads());
            let file = self.to.text(library.map_or("solver.c", |it| it.name))?;
            let (lines, role, paradigm) = (row.lines, row.role, row.paradigm);
            self.to.region(id, RegionRow { name, whole: name, file, lines, role, paradigm, flags: 0 })?;
        }
        Ok(())
    }

    /// Groups and communicators of MPI: all, each alone, rows.
    fn communicators(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let grid = Grid::new(options.ranks);
        let all: Vec<u64> = (0..u64::from(options.ranks)).collect();
        self.group("", group::COMM_LOCATIONS, paradigms::MPI, &all)?;
        let alone = self.group("", group::COMM_SELF, paradigms::MPI, &[])?;
        let world = self.group("", group::COMM, paradigms::MPI, &all)?;
        self.comm("MPI_COMM_WORLD", world, NONE)?;
        let comm_self = self.comm("MPI_COMM_SELF", alone, NONE)?;
        debug_assert_eq!(comm_self, COMM_SELF);
        for row in all.chunks(grid.columns as usize).take(row_count(options) as usize) {
            let group = self.group("", group::COMM, paradigms::MPI, row)?;
            self.comm("row", group, COMM_WORLD)?;
        }
        Ok(())
    }

    /// The group of all PEs, and the window of their symmetric heap.
    fn heap(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let all: Vec<u64> = (0..u64::from(options.ranks)).collect();
        self.group("", group::COMM_LOCATIONS, paradigms::SHMEM, &all)?;
        let world = self.group("", group::COMM, paradigms::SHMEM, &all)?;
        let comm = self.comm("All PEs", world, NONE)?;
        self.to.window(HEAP, "All PEs", comm)
    }

    /// The threads of each rank.
    fn teams(&mut self, options: &SynthOptions) -> Result<(), CodecError> {
        let locations: Vec<u64> = (0..options.locations()).map(|location| location_id(options, location)).collect();
        self.group(partune_paradigm::OPENMP.name, group::COMM_LOCATIONS, paradigms::OPENMP, &locations)?;
        let threads: Vec<u64> = (0..options.locations() as u64).collect();
        for members in threads.chunks(options.threads as usize) {
            let group = self.group("", group::COMM, paradigms::OPENMP, members)?;
            self.comm("", group, NONE)?;
        }
        Ok(())
    }

    /// A counter that is read strictly synchronously.
    fn metrics(&mut self) -> Result<(), CodecError> {
        let to = &mut self.to;
        let (name, description, unit) = (to.text("PAPI_TOT_CYC")?, to.text("Total cycles")?, to.text("#")?);
        let (kind, occurrence) = (metric::PAPI, occurrence::SYNCHRONOUS_STRICT);
        to.counter(0, CounterRow { name, description, unit, kind, occurrence, is_gauge: false })
    }

    fn group(&mut self, name: &str, kind: u8, paradigm: u8, members: &[u64]) -> Result<u32, CodecError> {
        self.to.group(self.groups, name, kind, paradigm, members)?;
        self.groups += 1;
        Ok(self.groups - 1)
    }

    fn comm(&mut self, name: &str, group: u32, parent: u32) -> Result<u32, CodecError> {
        self.to.comm(self.comms, name, group, parent)?;
        self.comms += 1;
        Ok(self.comms - 1)
    }
}
