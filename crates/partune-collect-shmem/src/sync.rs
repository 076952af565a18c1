//! What PEs do together: collectives of everybody, of active sets and of teams, symmetric allocation, locks.
//!
//! Bytes are what crosses the interface: a PE sends a block to each member, itself included, and receives likewise. A broadcast of an active
//! set leaves the root's own target alone. What a PE receives in `shmem_collect` depends on what others gave, and is told as 0.

use partune_collect::Call;
use partune_collect::facts::{Collective, Lock, NO_ROOT, SYNC_MEMORY, SYNC_PROCESS};
use partune_collect::meeting::{Meeting, Set};

use crate::rma;
use crate::segments::{Segment, locate};
use crate::world::{World, world};

/// A barrier completes what its PEs have begun.
pub(crate) const BARRIER: u32 = SYNC_PROCESS | SYNC_MEMORY;
pub(crate) const SYNC: u32 = SYNC_PROCESS;

/// All PEs of a window have the lock in common.
const ALL: u32 = u32::MAX;

/// `shmem_barrier_all`, and `shmem_sync_all`, which orders no memory.
pub(crate) fn everybody(call: &mut Call<'_>, level: u32) -> Meeting {
    let all = world().map(World::all);
    Meeting::begin(call, all, Collective::Barrier, level, NO_ROOT, [0, 0])
}

pub(crate) fn allocate(call: &mut Call<'_>) -> Meeting {
    let all = world().map(World::all);
    Meeting::begin(call, all, Collective::Allocate, SYNC_PROCESS, NO_ROOT, [0, 0])
}

pub(crate) fn free(call: &mut Call<'_>) -> Meeting {
    let all = world().map(World::all);
    Meeting::begin(call, all, Collective::Deallocate, SYNC_PROCESS, NO_ROOT, [0, 0])
}

/// `shmem_barrier`, `shmem_sync` and `shmem_team_sync`.
pub(crate) fn barrier(call: &mut Call<'_>, set: Option<Set>, level: u32) -> Meeting {
    Meeting::begin(call, set, Collective::Barrier, level, NO_ROOT, [0, 0])
}

/// The PEs of a team make others of it.
pub(crate) fn split(call: &mut Call<'_>, team: Option<Set>) -> Meeting {
    Meeting::begin(call, team, Collective::CreateHandle, SYNC_PROCESS, NO_ROOT, [0, 0])
}

pub(crate) fn end(call: &mut Call<'_>, team: Option<Set>) -> Meeting {
    Meeting::begin(call, team, Collective::DestroyHandle, SYNC_PROCESS, NO_ROOT, [0, 0])
}

/// The root is a position in the set, and has its data already, or is given it as well.
pub(crate) fn broadcast(call: &mut Call<'_>, set: Option<Set>, root: i32, bytes: usize, to_root: bool) -> Meeting {
    let bytes = bytes as u64;
    let moved = |set: &Set| {
        if set.rank == root as u32 {
            [bytes * u64::from(set.size), if to_root { bytes } else { 0 }]
        } else {
            [0, bytes]
        }
    };
    let moved = set.as_ref().map_or([0, 0], moved);
    Meeting::begin(call, set, Collective::Broadcast, SYNC_PROCESS | SYNC_MEMORY, root as u32, moved)
}

pub(crate) fn collect(call: &mut Call<'_>, set: Option<Set>, bytes: usize) -> Meeting {
    exchange(call, set, Collective::Allgatherv, |size| [bytes as u64 * size, 0])
}

pub(crate) fn fcollect(call: &mut Call<'_>, set: Option<Set>, bytes: usize) -> Meeting {
    exchange(call, set, Collective::Allgather, |size| [bytes as u64 * size; 2])
}

pub(crate) fn alltoall(call: &mut Call<'_>, set: Option<Set>, bytes: usize) -> Meeting {
    exchange(call, set, Collective::Alltoall, |size| [bytes as u64 * size; 2])
}

pub(crate) fn reduce(call: &mut Call<'_>, set: Option<Set>, bytes: usize) -> Meeting {
    exchange(call, set, Collective::Allreduce, |size| [bytes as u64 * size; 2])
}

fn exchange(call: &mut Call<'_>, set: Option<Set>, op: Collective, bytes: impl FnOnce(u64) -> [u64; 2]) -> Meeting {
    let moved = set.as_ref().map_or([0, 0], |set| bytes(set.size.into()));
    Meeting::begin(call, set, op, SYNC_PROCESS | SYNC_MEMORY, NO_ROOT, moved)
}

/// `shmem_set_lock` asks for a lock.
pub(crate) fn request(call: &mut Call<'_>, lock: usize) {
    if let Some((window, id)) = identity(lock) {
        call.rma_request_lock(window, ALL, id, Lock::Exclusive);
    }
}

pub(crate) fn acquired(call: &mut Call<'_>, lock: usize) {
    if let Some((window, id)) = identity(lock) {
        call.rma_acquire_lock(window, ALL, id, Lock::Exclusive);
    }
}

/// `shmem_test_lock` has returned, with the lock or without.
pub(crate) fn tried(call: &mut Call<'_>, lock: usize, is_held: bool) {
    call.polled(is_held);
    if is_held {
        acquired(call, lock);
    }
}

/// It is free from when `shmem_clear_lock` begins: another PE may have it before that returns.
pub(crate) fn release(call: &mut Call<'_>, lock: usize) {
    if let Some((window, id)) = identity(lock) {
        call.rma_release_lock(window, ALL, id);
    }
}

/// What all PEs call a lock; none if its offset is not known.
fn identity(lock: usize) -> Option<(u32, u64)> {
    let (segment, offset): (Segment, _) = locate(lock);
    Some((rma::window_of(segment), offset?))
}
