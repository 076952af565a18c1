//! Worlds: the PEs of each paradigm of a run, and where a rank of a world stands among them.
//!
//! A process may be in a world of several paradigms, each with ranks of its own: rank 0 of one may be rank 3 of another. In the archive each
//! paradigm has one list of locations, which all its worlds (jobs that met at run time, threads of each process) follow in.

use partune_parts::log::Unit;
use rustc_hash::FxHashMap;

use crate::log::{self, ProcessLog};

/// The locations of one paradigm.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Locations {
    pub(crate) paradigm: String,
    /// In order of their ranks, world after world.
    pub(crate) locations: Vec<u64>,
}

/// A world of the run: paradigm by position, and what tells it from others of that paradigm. Threads have one per process.
pub(crate) type Key = (u32, Unit, u64);

/// No world has this key: see [`Worlds::everybody`].
const EVERYBODY: u64 = u64::MAX;

/// All worlds of a run.
#[derive(Debug)]
pub(crate) struct Worlds {
    /// MPI comes first, whether there is any or not.
    pub(crate) paradigms: Vec<Locations>,
    /// Positions in the locations of the paradigm.
    positions: FxHashMap<(Key, u32), u64>,
}

impl Worlds {
    /// Of processes in their order, each with the location that stands for it, and the numbers and locations of its threads.
    pub(crate) fn of<'a>(processes: impl Iterator<Item = (&'a ProcessLog, u64, Vec<(u32, u64)>)>) -> Worlds {
        let mpi = Locations { paradigm: partune_paradigm::MPI.name.to_owned(), locations: Vec::new() };
        let mut worlds = Worlds { paradigms: vec![mpi], positions: FxHashMap::default() };
        for (process, (log, main, threads)) in processes.enumerate() {
            for world in log.worlds.iter().flatten() {
                let known = worlds.paradigms.iter().position(|it| it.paradigm == world.paradigm);
                let paradigm = known.unwrap_or_else(|| {
                    worlds.paradigms.push(Locations { paradigm: world.paradigm.clone(), locations: Vec::new() });
                    worlds.paradigms.len() - 1
                });
                let key = worlds.key(process, world);
                let members = match world.of {
                    Unit::Process => &[(world.rank, main)],
                    Unit::Thread => &threads[..],
                };
                let locations = &mut worlds.paradigms[paradigm].locations;
                for &(rank, location) in members {
                    worlds.positions.entry((key, rank)).or_insert_with(|| {
                        locations.push(location);
                        locations.len() as u64 - 1
                    });
                }
            }
        }
        worlds
    }

    /// The world of a process that has this number there; none if it was not said, or cannot be read.
    pub(crate) fn find(&self, process: usize, log: &ProcessLog, number: u32) -> Option<Key> {
        Some(self.key(process, log.worlds.get(number as usize)?.as_ref()?))
    }

    /// The number of the archive's first group of its own. Before them come the locations of MPI, a process by itself, and the locations of the other
    /// paradigms.
    pub(crate) fn first_group(&self) -> u32 {
        1 + self.paradigms.len() as u32
    }

    /// All locations of the paradigm of a world: its ranks are their positions.
    pub(crate) fn everybody((paradigm, ..): Key) -> Key {
        (paradigm, Unit::Process, EVERYBODY)
    }

    /// Where a rank of a world stands among the locations of its paradigm.
    pub(crate) fn position(&self, world: Option<Key>, rank: u32) -> Option<u64> {
        if let Some((paradigm, _, EVERYBODY)) = world {
            let locations = &self.paradigms.get(paradigm as usize)?.locations;
            return Some(u64::from(rank)).filter(|rank| *rank < locations.len() as u64);
        }
        self.positions.get(&(world?, rank)).copied()
    }

    fn key(&self, process: usize, world: &log::World) -> Key {
        let paradigm = self.paradigms.iter().position(|it| it.paradigm == world.paradigm).unwrap_or(0);
        let key = match world.of {
            Unit::Process => world.key,
            Unit::Thread => process as u64,
        };
        (paradigm as u32, world.of, key)
    }
}
