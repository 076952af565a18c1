//! What events refer to, written to the log when it is first seen, and numbered in the process.
//!
//! For the wrappers, on paths that are rare: creation of communicators, groups, windows, files.

use std::sync::atomic::{AtomicU32, Ordering};

pub use partune_parts::log::Interface;
use partune_parts::log::{Line, Members, Named};

use crate::log::{calibrate, log};

static GROUPS: AtomicU32 = AtomicU32::new(0);
static COMMS: AtomicU32 = AtomicU32::new(0);
static WINDOWS: AtomicU32 = AtomicU32::new(0);
static FILES: AtomicU32 = AtomicU32::new(0);
static METRICS: AtomicU32 = AtomicU32::new(0);

/// A communicator as all of its members see it.
#[derive(Clone, Copy, Debug)]
pub struct Comm<'a> {
    /// In which its members have their ranks, see [`crate::identify`].
    pub world: u32,
    /// How many communicators with the same members this process saw before. Creation is collective, so all members count alike.
    pub sequence: u32,
    /// Ranks in the world, in order of their rank in the communicator.
    pub members: &'a [u32],
    /// The other group of an intercommunicator; empty otherwise.
    pub remote: &'a [u32],
    /// The communicator that it was made from.
    pub parent: Option<u32>,
    pub name: &'a str,
}

/// Numbers a communicator.
pub fn comm(comm: &Comm<'_>) -> u32 {
    let number = COMMS.fetch_add(1, Ordering::Relaxed);
    let &Comm { world, sequence, members, remote, parent, name } = comm;
    let (members, remote) = (Members::Ranks(members), Members::Ranks(remote));
    log(&Line::Comm { number, world, sequence, members, remote, parent, name: name.into() });
    number
}

/// Numbers a team of threads of this process, of which some members are known, or says who its members are by now.
pub fn team(number: Option<u32>, world: u32, members: &[u32]) -> u32 {
    let number = number.unwrap_or_else(|| COMMS.fetch_add(1, Ordering::Relaxed));
    let (members, remote) = (Members::Ranks(members), Members::Ranks(&[]));
    // A number of its own: teams of the same threads are not the same.
    log(&Line::Comm { number, world, sequence: number, members, remote, parent: None, name: "".into() });
    number
}

/// The other side of an intercommunicator is of another world, and was met between two moments of [`crate::wall`]. Its `size` members
/// are numbered from `first` on.
pub fn meeting(comm: u32, first: u32, size: u32, (begin, end): (u64, u64)) {
    log(&Line::Meeting { comm, first, size, begin, end });
}

/// The program gave a communicator a name.
pub fn comm_name(comm: u32, name: &str) {
    log(&Line::Name { of: Named::Comm, number: comm, name: name.into() });
}

/// Numbers a group of ranks in a world.
pub fn group(world: u32, members: &[u32]) -> u32 {
    let number = GROUPS.fetch_add(1, Ordering::Relaxed);
    log(&Line::Group { number, world, members: Members::Ranks(members) });
    number
}

/// Numbers a window; `sequence` counts those of the communicator, `kind` is a word for how it was made.
pub fn window(comm: u32, sequence: u32, kind: &str, name: &str) -> u32 {
    let number = WINDOWS.fetch_add(1, Ordering::Relaxed);
    log(&Line::Window { number, sequence, comm, kind: kind.into(), name: name.into() });
    number
}

/// Numbers a handle of a file: the first that is open by this interface, or, where `again` such are open already, another one.
pub fn file(name: &str, by: Interface, again: u32) -> u32 {
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    log(&Line::File { number, name: name.into(), by, again });
    number
}

/// Numbers a metric whose values grow.
pub(crate) fn counter(unit: &str, name: &str) -> u32 {
    metric(true, unit, name)
}

/// Numbers a metric whose values are those of a moment, see [`crate::gauge`].
pub fn gauge(unit: &str, name: &str) -> u32 {
    metric(false, unit, name)
}

fn metric(grows: bool, unit: &str, name: &str) -> u32 {
    let number = METRICS.fetch_add(1, Ordering::Relaxed);
    log(&Line::Metric { number, grows, unit: unit.into(), name: name.into() });
    number
}

/// The clock of this process against that of rank 0: now plus `offset` is its time, give or take `deviation`; all in ticks.
pub fn clock_offset(ticks: u64, offset: i64, deviation: f64) {
    calibrate();
    log(&Line::Sync { ticks, offset, deviation });
}
