//! The phases with collective operations, for both models.

use partune_otf2::codec::Event;

use crate::answers::Site;
use crate::definitions::{COMM_FIRST_ROW, COMM_WORLD, HEAP};
use crate::options::{InjectionKind, Model};
use crate::regions::Region;
use crate::world::{CALL_NS, Recorder, World};

/// OTF2's numbers of collective operations.
mod operation {
    pub(super) const BARRIER: u8 = 0;
    pub(super) const BCAST: u8 = 1;
    pub(super) const ALLREDUCE: u8 = 11;
    pub(super) const REDUCE: u8 = 12;
}

/// OTF2's level of synchronisation "process and memory".
const SYNC_LEVEL: u32 = 3;
/// OTF2's root of operations without one.
const NO_ROOT: u32 = u32::MAX;

/// Who waits for whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// All for the last.
    All,
    /// The root for the last.
    ToRoot,
    /// All for the root.
    FromRoot,
    /// All for the last, and there is no event but enter and leave.
    Silent { extra_ns: u64 },
}

/// A collective operation of the ranks `first..first + count`.
#[derive(Clone, Copy)]
struct Collective {
    region: Region,
    site: Site,
    operation: u8,
    shape: Shape,
    communicator: u32,
    first: u32,
    count: u32,
    root: u32,
    bytes: u64,
}

/// Starts the paradigm.
pub(crate) fn init<R: Recorder>(world: &mut World<'_, R>) {
    let (region, site) = match world.options.model {
        Model::Mpi => (Region::MpiInit, Site::MpiInit),
        Model::Shmem => (Region::ShmemInit, Site::ShmemInit),
    };
    let all = of_all(world, region, site, operation::BARRIER, 0);
    collective(world, Collective { shape: Shape::Silent { extra_ns: 500_000 }, ..all });
}

/// Ends it.
pub(crate) fn finalize<R: Recorder>(world: &mut World<'_, R>) {
    let (region, site) = match world.options.model {
        Model::Mpi => (Region::MpiFinalize, Site::MpiFinalize),
        Model::Shmem => (Region::ShmemFinalize, Site::ShmemFinalize),
    };
    let all = of_all(world, region, site, operation::BARRIER, 0);
    collective(world, Collective { shape: Shape::Silent { extra_ns: 100_000 }, ..all });
}

/// The reductions of an iteration; with `rooted` also one to a root, and a broadcast.
pub(crate) fn check_residual<R: Recorder>(world: &mut World<'_, R>, rooted: bool) {
    let mpi = world.options.model == Model::Mpi;
    let grid = world.grid;
    let tenth = world.options.kernel_ns as f64 / 10.0;
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.spend(at, 20);
        world.enter(at, Region::CheckResidual);
        let late = world.injected(InjectionKind::LateAtNxn, rank);
        world.kernel(at, Region::KernelDot, 2.0 * tenth, late);
    }
    world.turn(InjectionKind::LateAtNxn);
    let (region, site) = if mpi { (Region::MpiAllreduce, Site::Allreduce) } else { (Region::ShmemSum, Site::ShmemSum) };
    let all = of_all(world, region, site, operation::ALLREDUCE, 8);
    if mpi && grid.rows > 1 && grid.columns > 1 {
        for row in 0..grid.rows {
            let communicator = COMM_FIRST_ROW + row;
            collective(world, Collective { communicator, first: row * grid.columns, count: grid.columns, ..all });
        }
    }
    collective(world, all);
    if rooted && mpi {
        reduce(world, tenth);
    }
    if rooted {
        broadcast(world, tenth);
    }
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.leave(at, Region::CheckResidual);
    }
}

/// All ranks write their state and meet.
pub(crate) fn barrier<R: Recorder>(world: &mut World<'_, R>) {
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        let late = world.injected(InjectionKind::LateAtBarrier, rank);
        world.kernel(at, Region::WriteState, world.options.kernel_ns as f64 / 10.0, late);
    }
    world.turn(InjectionKind::LateAtBarrier);
    let (region, site) = match world.options.model {
        Model::Mpi => (Region::MpiBarrier, Site::Barrier),
        Model::Shmem => (Region::ShmemBarrierAll, Site::ShmemBarrier),
    };
    let all = of_all(world, region, site, operation::BARRIER, 0);
    collective(world, all);
}

fn reduce<R: Recorder>(world: &mut World<'_, R>, compute_ns: f64) {
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        let late = world.injected(InjectionKind::EarlyReduce, rank);
        world.kernel(at, Region::SumLocal, compute_ns, late);
    }
    world.turn(InjectionKind::EarlyReduce);
    let all = of_all(world, Region::MpiReduce, Site::Reduce, operation::REDUCE, 64);
    collective(world, Collective { shape: Shape::ToRoot, root: world.options.root(InjectionKind::EarlyReduce), ..all });
}

fn broadcast<R: Recorder>(world: &mut World<'_, R>, compute_ns: f64) {
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        let late = world.injected(InjectionKind::LateBroadcast, rank);
        world.kernel(at, Region::ReadControl, compute_ns, late);
    }
    world.turn(InjectionKind::LateBroadcast);
    let (region, site) = match world.options.model {
        Model::Mpi => (Region::MpiBcast, Site::Bcast),
        Model::Shmem => (Region::ShmemBroadcast, Site::ShmemBroadcast),
    };
    let all = of_all(world, region, site, operation::BCAST, 64);
    collective(
        world,
        Collective { shape: Shape::FromRoot, root: world.options.root(InjectionKind::LateBroadcast), ..all },
    );
}

/// An operation of all ranks in which all wait for all.
fn of_all<R>(world: &World<'_, R>, region: Region, site: Site, operation: u8, bytes: u64) -> Collective {
    let count = world.options.ranks;
    let shape = Shape::All;
    Collective { region, site, operation, shape, communicator: COMM_WORLD, first: 0, count, root: NO_ROOT, bytes }
}

fn collective<R: Recorder>(world: &mut World<'_, R>, it: Collective) {
    let mut arrivals = std::mem::take(&mut world.arrivals);
    arrivals.clear();
    for rank in it.first..it.first + it.count {
        let at = world.main(rank);
        arrivals.push((at, world.call(at, it.region)));
        if !matches!(it.shape, Shape::Silent { .. }) {
            let begin = match world.options.model {
                Model::Mpi => Event::MpiCollectiveBegin {},
                Model::Shmem => Event::RmaCollectiveBegin {},
            };
            world.emit(at, &begin);
        }
    }
    // The first of equally late ones.
    let later = |a: (usize, u64), b: &(usize, u64)| if b.1 > a.1 { *b } else { a };
    let last = arrivals[1..].iter().fold(arrivals[0], later);
    let root = arrivals.get((it.root.wrapping_sub(it.first)) as usize).copied();
    let others = arrivals.iter().copied().filter(|arrival| Some(*arrival) != root);
    let last_other = others.reduce(|a, b| later(a, &b));
    let steps = u64::from(u32::BITS - (it.count - 1).leading_zeros());
    let cost = CALL_NS + steps * world.transfer_ns(it.bytes);

    for &(at, enter) in &arrivals {
        let is_root = root.is_some_and(|(root, _)| root == at);
        let (mut sent, mut received) = (it.bytes, it.bytes);
        match it.shape {
            Shape::All => {
                world.wait(it.site, at, last.0, enter, last.1);
                world.advance(at, last.1 + cost);
                world.linger(at);
            }
            Shape::Silent { extra_ns } => {
                world.wait(it.site, at, last.0, enter, last.1);
                world.advance(at, last.1 + cost + extra_ns);
            }
            Shape::ToRoot => {
                received = if is_root { it.bytes * u64::from(it.count) } else { 0 };
                match last_other {
                    Some((cause, given)) if is_root => {
                        world.wait(it.site, at, cause, enter, given);
                        world.advance(at, last.1 + cost);
                    }
                    _ => world.spend(at, CALL_NS),
                }
            }
            Shape::FromRoot => {
                sent = if is_root { it.bytes * u64::from(it.count) } else { 0 };
                match root {
                    Some((root, given)) if !is_root => {
                        world.wait(it.site, at, root, enter, given);
                        world.advance(at, given + cost);
                    }
                    _ => world.spend(at, CALL_NS),
                }
            }
        }
        end(world, at, it, sent, received);
        world.leave(at, it.region);
    }
    world.arrivals = arrivals;
}

/// Emits the end of a collective.
fn end<R: Recorder>(world: &mut World<'_, R>, at: usize, it: Collective, sent: u64, received: u64) {
    if matches!(it.shape, Shape::Silent { .. }) {
        return;
    }
    let Collective { operation: collective_op, communicator, root, .. } = it;
    let event = match world.options.model {
        Model::Mpi => {
            Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent: sent, size_received: received }
        }
        Model::Shmem => Event::RmaCollectiveEnd {
            collective_op,
            sync_level: SYNC_LEVEL,
            win: HEAP,
            root,
            bytes_sent: sent,
            bytes_received: received,
        },
    };
    world.emit(at, &event);
}
