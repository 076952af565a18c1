//! The kernels of a rank in an OpenMP parallel region: a loop with its barrier, and a critical section.

use partune_otf2::codec::Event;
use partune_otf2::paradigms;

use crate::answers::Site;
use crate::definitions::team;
use crate::options::InjectionKind;
use crate::program::kernels;
use crate::regions::Region;
use crate::world::{CALL_NS, Recorder, World};

const FORK_NS: u64 = 800;
const LOCK: u32 = 1;
/// How long the critical section takes where nothing is injected.
const HOLD_NS: f64 = 150.0;

/// Runs the kernels on all threads of a rank.
pub(crate) fn parallel_kernels<R: Recorder>(world: &mut World<'_, R>, rank: u32, last: bool) {
    let main = world.main(rank);
    let threads = main..main + world.options.threads as usize;
    let model = paradigms::OPENMP;
    let thread_team = team(world.options, rank);
    world.spend(main, 40);
    world.emit(main, &Event::ThreadFork { model, number_of_requested_threads: world.options.threads });
    let forked = world.locations[main].now + FORK_NS;
    for at in threads.clone() {
        let started = forked + 50 * (at - main) as u64;
        world.advance(at, started);
        world.emit(at, &Event::ThreadTeamBegin { thread_team });
        world.enter(at, Region::OmpParallel);
        world.spend(at, 20);
        world.enter(at, Region::OmpFor);
        kernels(world, at, last);
    }
    barrier(world, threads.clone(), Region::OmpImplicitBarrier, Site::OmpLoop);
    for at in threads.clone() {
        world.leave(at, Region::OmpFor);
    }
    critical(world, threads.clone(), rank);
    barrier(world, threads.clone(), Region::OmpEndBarrier, Site::OmpEnd);
    for at in threads {
        world.spend(at, 20);
        world.leave(at, Region::OmpParallel);
        world.emit(at, &Event::ThreadTeamEnd { thread_team });
    }
    world.spend(main, FORK_NS);
    world.emit(main, &Event::ThreadJoin { model });
}

fn barrier<R: Recorder>(world: &mut World<'_, R>, threads: std::ops::Range<usize>, region: Region, site: Site) {
    let mut last = (threads.start, 0);
    let mut arrivals = std::mem::take(&mut world.arrivals);
    arrivals.clear();
    for at in threads {
        let enter = world.call(at, region);
        arrivals.push((at, enter));
        if enter > last.1 {
            last = (at, enter);
        }
    }
    for &(at, enter) in &arrivals {
        world.wait(site, at, last.0, enter, last.1);
        world.advance(at, last.1 + CALL_NS);
        world.leave(at, region);
    }
    world.arrivals = arrivals;
}

/// Each thread updates the norm under the same lock, in the order in which they come.
fn critical<R: Recorder>(world: &mut World<'_, R>, threads: std::ops::Range<usize>, rank: u32) {
    let late = world.injected(InjectionKind::LockHold, rank);
    if rank + 1 == world.options.ranks {
        world.turn(InjectionKind::LockHold);
    }
    let mut order: Vec<usize> = threads.collect();
    order.sort_by_key(|at| (world.locations[*at].now, *at));
    let model = paradigms::OPENMP;
    let mut holder: Option<(usize, u64)> = None;
    for at in order {
        let enter = world.call(at, Region::OmpCritical);
        if let Some((holder, released)) = holder {
            world.wait(Site::OmpCritical, at, holder, enter, released);
            world.advance(at, released);
        }
        world.spend(at, 50);
        let main = world.main(rank);
        world.locations[main].acquisitions += 1;
        let acquisition_order = world.locations[main].acquisitions;
        world.emit(at, &Event::ThreadAcquireLock { model, lock_id: LOCK, acquisition_order });
        world.enter(at, Region::OmpCriticalBlock);
        world.kernel(at, Region::UpdateNorm, HOLD_NS, late);
        world.leave(at, Region::OmpCriticalBlock);
        world.spend(at, 20);
        world.emit(at, &Event::ThreadReleaseLock { model, lock_id: LOCK, acquisition_order });
        holder = Some((at, world.locations[at].now));
        world.leave(at, Region::OmpCritical);
    }
}
