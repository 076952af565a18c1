//! The program: an iterative stencil solver on a grid of ranks.
//!
//! ```text
//! main
//!   init
//!   time_step                                     once per iteration
//!     compute_flux     > kernel_a, kernel_b       or in an OpenMP parallel loop
//!     exchange_halo    > pack, messages with up to four neighbours, unpack
//!     pass_ring        > a blocking message to the right neighbour, or an update under a lock
//!     check_residual   > kernel_dot, reduction in the row, reduction of all, reduce and broadcast
//!     write_state, barrier
//!   finalize
//! ```

use crate::messages::{exchange_halo, pass_ring};
use crate::options::Model;
use crate::regions::Region;
use crate::world::{Recorder, TICK_NS, World};
use crate::{collectives, openmp, shmem};

/// Runs the program up to the first iteration.
pub(crate) fn begin<R: Recorder>(world: &mut World<'_, R>) {
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.spend(at, 1000 + 10 * u64::from(rank));
        world.enter(at, Region::Main);
    }
    world.begin = world.locations[0].now;
    collectives::init(world);
}

/// Runs the program to its end.
pub(crate) fn end<R: Recorder>(world: &mut World<'_, R>) {
    collectives::finalize(world);
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.spend(at, 500);
        world.leave(at, Region::Main);
    }
}

/// Runs iteration `turn`, from 1; `last` if no other follows.
pub(crate) fn iterate<R: Recorder>(world: &mut World<'_, R>, turn: u64, last: bool) {
    let every = world.options.every;
    let due = |every: u32| every > 0 && turn.is_multiple_of(u64::from(every));
    for rank in 0..world.options.ranks {
        compute_flux(world, rank, last);
    }
    if due(every.halo) {
        match world.options.model {
            Model::Mpi => exchange_halo(world),
            Model::Shmem => shmem::exchange_halo(world),
        }
    }
    if due(every.ring) {
        match world.options.model {
            Model::Mpi => pass_ring(world),
            Model::Shmem => shmem::update_under_lock(world),
        }
    }
    if due(every.residual) {
        collectives::check_residual(world, due(every.rooted));
    }
    if due(every.barrier) {
        collectives::barrier(world);
    }
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.spend(at, 50);
        world.leave(at, Region::TimeStep);
    }
}

fn compute_flux<R: Recorder>(world: &mut World<'_, R>, rank: u32, last: bool) {
    let at = world.main(rank);
    world.enter(at, Region::TimeStep);
    world.spend(at, 50);
    world.enter(at, Region::ComputeFlux);
    if world.options.hybrid() {
        openmp::parallel_kernels(world, rank, last);
    } else {
        kernels(world, at, last);
    }
    world.leave(at, Region::ComputeFlux);
    world.spend(at, 50);
}

/// The kernels of a location in an iteration: pairs of a long and a short one, then, on a location with extra visits, these in a
/// part of the same time.
pub(crate) fn kernels<R: Recorder>(world: &mut World<'_, R>, at: usize, last: bool) {
    let pairs = u64::from(world.options.kernels);
    let skew = world.extra.skew.filter(|(skewed, _)| world.main(*skewed) == at).map_or(0, |(_, visits)| visits);
    let tail = if last { world.extra.tail } else { 0 };
    let extra = skew + tail;
    let full = world.options.kernel_ns as f64;
    // Half of the time goes to the extra visits, if there are any.
    let (long, small) = match extra {
        0 => (full, 0.0),
        extra => (full * 0.5, full * 0.75 * pairs as f64 / extra as f64 - TICK_NS as f64),
    };
    for _ in 0..pairs {
        world.spend(at, 40);
        world.kernel(at, Region::KernelA, long, 0);
        world.spend(at, 40);
        world.kernel(at, Region::KernelB, long / 2.0, 0);
    }
    for visit in 0..extra {
        let region = if visit.is_multiple_of(2) { Region::KernelA } else { Region::KernelB };
        world.kernel(at, region, small, 0);
    }
}
