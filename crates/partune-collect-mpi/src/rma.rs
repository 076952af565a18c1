//! One-sided communication: windows, accesses, epochs and locks.
//!
//! An access is told when it is called, and taken back if that failed; what completes it is told by the number that accesses to the same rank of a window share until
//! then, or by its own if it has a request. Where it begins is told in units of the target, which the target tells when it makes the window. Locks are told as
//! asked for and given back, each at the begin of its call: MPI may grant one as late as at the first access, and gives it to the next one before the call that gives it
//! back returns.

use partune_collect::Call;
use partune_collect::facts::{Atomic, Collective, Lock, NO_ROOT, SYNC_MEMORY, SYNC_PROCESS};
use partune_mpi_abi::Kind;

use crate::comms;
use crate::function::Mode;
use crate::invocation::Invocation;
use crate::p2p;
use crate::place::Place;
use crate::requests::Work;
use crate::types;
use crate::windows::{self, Reach};

/// The remote rank of what concerns all ranks.
const ALL: u32 = u32::MAX;

pub(crate) fn create(invocation: &mut Invocation<'_>) {
    made(invocation, "create", false);
}

pub(crate) fn create_dynamic(invocation: &mut Invocation<'_>) {
    made(invocation, "dynamic", false);
}

pub(crate) fn allocate(invocation: &mut Invocation<'_>) {
    made(invocation, "allocate", true);
}

pub(crate) fn allocate_shared(invocation: &mut Invocation<'_>) {
    made(invocation, "shared", true);
}

fn made(invocation: &mut Invocation<'_>, kind: &str, is_allocated: bool) {
    let comm = comms::find(invocation.mpi, invocation.handle(Place::Comm, Kind::Comm));
    if let (Some(_), Some(call)) = (comm, &mut invocation.call) {
        call.rma_collective_begin();
    }
    let succeeded = invocation.run();
    let Some(comm) = comm.filter(|_| succeeded) else { return };
    // Memory that is attached later is addressed by bytes.
    let unit = if invocation.has(Place::Unit) { invocation.number(Place::Unit) } else { 1 };
    let window = windows::register(invocation.stored(Place::WinOut, Kind::Win), &comm, kind, is_allocated);
    if let Some(call) = &mut invocation.call {
        let op = if is_allocated { Collective::CreateHandleAndAllocate } else { Collective::CreateHandle };
        call.window_create(window, u64::try_from(unit).ok());
        call.rma_collective_end(op, SYNC_PROCESS, window, NO_ROOT, [0, 0]);
    }
}

/// `MPI_Win_free`.
pub(crate) fn free(invocation: &mut Invocation<'_>) {
    let handle = invocation.stored(Place::WinOut, Kind::Win);
    // Before the library may give the handle to another thread.
    let window = windows::take(handle);
    if let (Some(_), Some(call)) = (&window, &mut invocation.call) {
        call.rma_collective_begin();
    }
    let freed = invocation.run();
    let Some(mut window) = window else { return };
    if !freed {
        return windows::give_back(handle, window);
    }
    if let Some(call) = &mut invocation.call {
        window.complete(None, Reach::Target, call);
        let op = if window.is_allocated { Collective::DestroyHandleAndDeallocate } else { Collective::DestroyHandle };
        call.window_destroy(window.number);
        call.rma_collective_end(op, SYNC_PROCESS, window.number, NO_ROOT, [0, 0]);
    }
}

/// What an access does.
#[derive(Clone, Copy)]
enum Access {
    Put,
    Get,
    Atomic(Atomic),
}

pub(crate) fn put(invocation: &mut Invocation<'_>) {
    let bytes = [bytes(invocation, Place::SendCount, Place::SendType), 0];
    access(invocation, Access::Put, bytes);
}

pub(crate) fn get(invocation: &mut Invocation<'_>) {
    let bytes = [0, bytes(invocation, Place::SendCount, Place::SendType)];
    access(invocation, Access::Get, bytes);
}

pub(crate) fn accumulate(invocation: &mut Invocation<'_>) {
    let bytes = [bytes(invocation, Place::SendCount, Place::SendType), 0];
    access(invocation, Access::Atomic(Atomic::Accumulate), bytes);
}

pub(crate) fn get_accumulate(invocation: &mut Invocation<'_>) {
    let received = bytes(invocation, Place::RecvCount, Place::RecvType);
    // With MPI_NO_OP nothing need be sent, and the arguments of the origin are not significant.
    let sent = if invocation.number(Place::SendCount) > 0 { received } else { 0 };
    access(invocation, Access::Atomic(Atomic::FetchAndAccumulate), [sent, received]);
}

/// One element is sent and one comes back.
pub(crate) fn fetch_and_op(invocation: &mut Invocation<'_>) {
    let size = types::size(invocation.handle(Place::SendType, Kind::Datatype));
    access(invocation, Access::Atomic(Atomic::FetchAndAccumulate), [size, size]);
}

/// Two elements are sent and one comes back.
pub(crate) fn compare_and_swap(invocation: &mut Invocation<'_>) {
    let size = types::size(invocation.handle(Place::SendType, Kind::Datatype));
    access(invocation, Access::Atomic(Atomic::CompareAndSwap), [2 * size, size]);
}

fn bytes(invocation: &Invocation<'_>, count: Place, datatype: Place) -> u64 {
    let count = invocation.number(count).max(0) as u64;
    if count == 0 { 0 } else { count.saturating_mul(types::size(invocation.handle(datatype, Kind::Datatype))) }
}

fn access(invocation: &mut Invocation<'_>, access: Access, bytes: [u64; 2]) {
    let target = invocation.int(Place::Target);
    if target == invocation.mpi.numbers.proc_null {
        invocation.run();
        return;
    }
    let target = target as u32;
    let with_request = invocation.mode() != Mode::Blocking;
    let handle = invocation.handle(Place::Win, Kind::Win);
    // What has holes touches other bytes than so many from its begin on.
    let displacement = Some(invocation.number(Place::TargetDisplacement))
        .filter(|_| types::is_dense(invocation.handle(Place::TargetType, Kind::Datatype)))
        .and_then(|displacement| u64::try_from(displacement).ok());
    let told = invocation.call.as_mut().and_then(|call| {
        windows::with(handle, |window| {
            let matching = if with_request { call.next_id() } else { window.access(target, call) };
            let number = window.number;
            match access {
                Access::Put => call.rma_put(number, target, displacement, bytes[0], matching),
                Access::Get => call.rma_get(number, target, displacement, bytes[1], matching),
                Access::Atomic(kind) => call.rma_atomic(number, target, kind, displacement, bytes, matching),
            }
            (number, matching)
        })
    });
    let succeeded = invocation.run();
    if let (false, Some((_, matching)), Some(call)) = (succeeded, told, &mut invocation.call) {
        call.retract();
        windows::with(handle, |window| window.retract(target, matching));
    } else if succeeded && with_request {
        // The number of the request is not asked for: the access has its own.
        let work = told.map(|(window, matching)| Work::Access { window, matching });
        p2p::keep(invocation, work, Some(0));
    }
}

/// `MPI_Win_fence`: a barrier that completes all accesses.
pub(crate) fn fence(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    if let Some(call) = &mut invocation.call {
        call.rma_collective_begin();
    }
    if !invocation.run() {
        return;
    }
    if let Some(call) = &mut invocation.call {
        windows::with(handle, |window| {
            window.complete(None, Reach::Target, call);
            let level = SYNC_PROCESS | SYNC_MEMORY;
            call.rma_collective_end(Collective::Barrier, level, window.number, NO_ROOT, [0, 0]);
        });
    }
}

/// `MPI_Win_start`.
pub(crate) fn start(invocation: &mut Invocation<'_>) {
    opens(invocation, |window, group| window.started = group);
}

/// `MPI_Win_post`.
pub(crate) fn post(invocation: &mut Invocation<'_>) {
    opens(invocation, |window, group| window.posted = group);
}

fn opens(invocation: &mut Invocation<'_>, set: fn(&mut windows::Window, Option<u32>)) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    let group = comms::group(invocation.handle(Place::Group, Kind::Group));
    if !invocation.run() {
        return;
    }
    let call = &mut invocation.call;
    windows::with(handle, |window| {
        set(window, group);
        if let (Some(call), Some(group)) = (call, group) {
            call.rma_group_sync(SYNC_PROCESS, window.number, group);
        }
    });
}

/// `MPI_Win_complete`: the accesses of the epoch are complete at their targets for what comes after the targets' waits.
pub(crate) fn complete(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    if !invocation.run() {
        return;
    }
    let call = &mut invocation.call;
    windows::with(handle, |window| {
        let group = window.started.take();
        let Some(call) = call else { return };
        window.complete(None, Reach::Target, call);
        if let Some(group) = group {
            call.rma_group_sync(SYNC_PROCESS | SYNC_MEMORY, window.number, group);
        }
    });
}

/// `MPI_Win_wait`, and `MPI_Win_test`, which may find that the epoch goes on.
pub(crate) fn wait(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    if !invocation.run() || invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        return;
    }
    let call = &mut invocation.call;
    windows::with(handle, |window| {
        if let (Some(group), Some(call)) = (window.posted.take(), call) {
            call.rma_group_sync(SYNC_PROCESS | SYNC_MEMORY, window.number, group);
        }
    });
}

/// `MPI_Win_lock` and `MPI_Win_lock_all`.
pub(crate) fn lock(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    let exclusive =
        invocation.has(Place::LockType) && invocation.int(Place::LockType) == invocation.mpi.numbers.lock_exclusive;
    let kind = if exclusive { Lock::Exclusive } else { Lock::Shared };
    let target = target(invocation);
    let call = &mut invocation.call;
    windows::with(handle, |window| {
        if let Some(call) = call {
            call.rma_request_lock(window.number, target.unwrap_or(ALL), 0, kind);
        }
    });
    invocation.run();
}

/// `MPI_Win_unlock` and `MPI_Win_unlock_all`: others may get the lock from the begin on, and before this one returns. The accesses are complete
/// when it does.
pub(crate) fn unlock(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    let target = target(invocation);
    let begin = invocation.call.as_ref().map_or(0, Call::time);
    if !invocation.run() {
        return;
    }
    let call = &mut invocation.call;
    windows::with(handle, |window| {
        let Some(call) = call else { return };
        let end = call.time();
        call.returned_at(begin);
        call.rma_release_lock(window.number, target.unwrap_or(ALL), 0);
        call.returned_at(end);
        window.complete(target, Reach::Target, call);
    });
}

/// `MPI_Win_flush` and `MPI_Win_flush_all`.
pub(crate) fn flush(invocation: &mut Invocation<'_>) {
    flushed(invocation, Reach::Target);
}

/// `MPI_Win_flush_local` and `MPI_Win_flush_local_all`.
pub(crate) fn flush_local(invocation: &mut Invocation<'_>) {
    flushed(invocation, Reach::Origin);
}

fn flushed(invocation: &mut Invocation<'_>, reach: Reach) {
    let handle = invocation.handle(Place::Win, Kind::Win);
    let target = target(invocation);
    if invocation.run()
        && let Some(call) = &mut invocation.call
    {
        windows::with(handle, |window| window.complete(target, reach, call));
    }
}

/// The rank that a lock or a flush concerns; none for all.
fn target(invocation: &Invocation<'_>) -> Option<u32> {
    invocation.has(Place::Target).then(|| invocation.int(Place::Target) as u32)
}
