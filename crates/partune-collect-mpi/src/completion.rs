//! What completes requests: waits, tests, and what ends them otherwise.
//!
//! Requests are read before the real call, which overwrites them, and statuses are asked for where the program wants none.

use partune_mpi_abi::{Kind, SUCCESS, Status, StatusLayout};

use crate::indices::Indices;
use crate::invocation::{Invocation, OwnStatus};
use crate::memory::Scratch;
use crate::place::Place;
use crate::requests::{self, Request, Work};
use crate::{files, pmpi};

use std::cell::UnsafeCell;

/// `MPI_Wait` and `MPI_Test`.
pub(crate) fn one(invocation: &mut Invocation<'_>) {
    let key = invocation.stored(Place::Request, Kind::Request);
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    if !invocation.run() {
        return;
    }
    if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        tested(invocation, key);
    } else {
        complete(invocation, key, status);
    }
}

/// `MPI_Waitall` and `MPI_Testall`.
pub(crate) fn all(invocation: &mut Invocation<'_>) {
    several(invocation, |invocation, keys, statuses| {
        if !invocation.run() && !invocation.is_in_status() {
            return;
        }
        let succeeded = invocation.result_is_success();
        if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
            keys.iter().for_each(|key| tested(invocation, *key));
            return;
        }
        for (at, key) in keys.iter().enumerate() {
            let status = statuses.at(at);
            if succeeded || invocation.status(status).error == SUCCESS {
                complete(invocation, *key, status);
            }
        }
    });
}

/// `MPI_Waitany` and `MPI_Testany`.
pub(crate) fn any(invocation: &mut Invocation<'_>) {
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    several(invocation, |invocation, keys, _| {
        if !invocation.run() {
            return;
        }
        if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
            keys.iter().for_each(|key| tested(invocation, *key));
        } else if let Some(key) = Indices::new(invocation, Place::Index, 1, keys).key(invocation, 0, keys) {
            complete(invocation, key, status);
        }
    });
}

/// `MPI_Waitsome` and `MPI_Testsome`.
pub(crate) fn some(invocation: &mut Invocation<'_>) {
    several(invocation, |invocation, keys, statuses| {
        if !invocation.run() && !invocation.is_in_status() {
            return;
        }
        let succeeded = invocation.result_is_success();
        // Undefined if no request was active.
        let count = invocation.element(Place::OutCount, 0).clamp(0, keys.len() as i64) as usize;
        if count == 0 {
            keys.iter().for_each(|key| tested(invocation, *key));
        }
        let indices = Indices::new(invocation, Place::Indices, count, keys);
        for at in 0..count {
            let status = statuses.at(at);
            let fine = succeeded || invocation.status(status).error == SUCCESS;
            if let Some(key) = indices.key(invocation, at, keys).filter(|_| fine) {
                complete(invocation, key, status);
            }
        }
    });
}

/// `MPI_Request_get_status`: the request lives on.
pub(crate) fn get_status(invocation: &mut Invocation<'_>) {
    let key = invocation.handle(Place::Request, Kind::Request);
    if invocation.run() && !invocation.is_set(Place::Flag) {
        tested(invocation, key);
    }
}

/// `MPI_Cancel`: whether it worked is known at completion.
pub(crate) fn cancel(invocation: &mut Invocation<'_>) {
    let key = invocation.stored(Place::Request, Kind::Request);
    if invocation.run() {
        requests::change(key, |request| request.is_cancelled = true);
    }
}

/// `MPI_Request_free`: an active send will complete and nobody will know when. To the archive that is now.
pub(crate) fn free(invocation: &mut Invocation<'_>) {
    let key = invocation.stored(Place::Request, Kind::Request);
    if !invocation.run() {
        return;
    }
    if let Some(request) = requests::remove(key).filter(|request| request.is_active) {
        tell_local(invocation, &request);
    }
}

/// A request has completed.
fn complete(invocation: &mut Invocation<'_>, key: usize, status: usize) {
    let Some(request) = requests::complete(key) else { return };
    let was_cancelled = request.is_cancelled && {
        let mut flag: i32 = 0;
        // SAFETY: a status that the library filled, and a number that outlives the call.
        (unsafe { pmpi::test_cancelled(status, &raw mut flag as usize) }) == SUCCESS && flag != 0
    };
    if was_cancelled {
        if let Some(call) = &mut invocation.call {
            call.request_cancelled(request.id);
        }
        return;
    }
    match request.work {
        Work::Recv { comm } => {
            let status = invocation.status(status);
            received(invocation, comm, request.id, status);
        }
        Work::SendRecv { comm, .. } => {
            let status = invocation.status(status);
            tell_local(invocation, &request);
            received(invocation, comm, request.id + 1, status);
        }
        Work::File { handle, matching } => {
            let bytes = invocation.status(status).bytes.unwrap_or(0);
            files::tell_complete(invocation, handle, bytes, matching);
        }
        Work::Send { .. } | Work::Collective { .. } | Work::Access { .. } | Work::Message { .. } => {
            tell_local(invocation, &request);
        }
    }
}

fn received(invocation: &mut Invocation<'_>, comm: u32, id: u64, status: Status) {
    if let Some(call) = &mut invocation.call {
        call.irecv(status.source as u32, comm, status.tag as u32, status.bytes.unwrap_or(0), id);
    }
}

/// Tells the end of what needs no status; a receive of which nothing is known was given up.
pub(crate) fn tell_local(invocation: &mut Invocation<'_>, request: &Request) {
    let Some(call) = &mut invocation.call else { return };
    match request.work {
        Work::Send { .. } | Work::SendRecv { .. } => call.isend_complete(request.id),
        Work::Collective { op, comm, root, bytes } => call.collective_complete(op, comm, root, bytes, request.id),
        Work::Access { window, matching } => call.rma_complete_non_blocking(window, matching),
        Work::Recv { .. } => call.request_cancelled(request.id),
        Work::File { .. } | Work::Message { .. } => {}
    }
}

/// A request was asked for and is not complete.
fn tested(invocation: &mut Invocation<'_>, key: usize) {
    let Some(request) = requests::get(key).filter(|request| request.is_active) else { return };
    let Some(call) = &mut invocation.call else { return };
    match request.work {
        Work::Access { window, matching } => call.rma_test(window, matching),
        Work::File { .. } | Work::Message { .. } => {}
        Work::Send { .. } | Work::SendRecv { .. } | Work::Recv { .. } | Work::Collective { .. } => {
            call.request_test(request.id);
        }
    }
}

/// Statuses of several requests in memory.
struct Statuses {
    first: usize,
    stride: usize,
}

impl Statuses {
    fn at(&self, index: usize) -> usize {
        self.first + index * self.stride
    }
}

thread_local! {
    static SCRATCH: UnsafeCell<Scratch> = const { UnsafeCell::new(Scratch::new()) };
}

/// Most requests whose copies fit the stack.
const FEW: usize = 32;

/// Copies the requests of a call and sees to their statuses.
fn several(invocation: &mut Invocation<'_>, act: impl FnOnce(&mut Invocation<'_>, &[usize], &Statuses)) {
    let count = invocation.number(Place::Many).max(0) as usize;
    let stride = invocation.mpi.status.bytes();
    let mut few = [0_usize; FEW];
    let mut few_statuses = [0_u64; FEW * StatusLayout::MOST / 2];
    let (keys, own) = if count <= FEW {
        (&mut few[..count], few_statuses.as_mut_ptr() as usize)
    } else {
        // SAFETY: this thread's, and no second call is recorded inside this one.
        let scratch = SCRATCH.with(|scratch| unsafe { (*scratch.get()).room(count * (size_of::<usize>() + stride)) });
        if scratch.is_null() {
            invocation.run();
            return;
        }
        // SAFETY: room for as many keys, then for as many statuses; zeroed or of an earlier call.
        let keys = unsafe { std::slice::from_raw_parts_mut(scratch, count) };
        let behind = keys.as_ptr_range().end as usize;
        (keys, behind)
    };
    let array = invocation.word(Place::Requests);
    for (at, key) in keys.iter_mut().enumerate() {
        *key = invocation.stored_at(array, Kind::Request, at);
    }
    let mut first = invocation.word(Place::Statuses);
    if invocation.has(Place::Statuses) && invocation.ignores_statuses() {
        first = own;
        invocation.replace(Place::Statuses, own);
    }
    act(invocation, keys, &Statuses { first, stride });
}
