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
    let request = requests::watch(invocation.stored(Place::Request, Kind::Request));
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = if request.is_some() { invocation.want_status(&mut own) } else { 0 };
    let succeeded = invocation.run();
    let Some(request) = request.filter(|_| succeeded) else { return };
    if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        tested(invocation, &request);
    } else {
        complete(invocation, &request, status);
    }
}

/// `MPI_Waitall` and `MPI_Testall`.
pub(crate) fn all(invocation: &mut Invocation<'_>) {
    several(invocation, |invocation, requests, statuses| {
        if !invocation.run() && !invocation.is_in_status() {
            return;
        }
        let succeeded = invocation.result_is_success();
        if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
            return all_tested(invocation, requests);
        }
        for (at, watched) in requests.iter().enumerate() {
            let status = statuses.at(at);
            if let Some(request) = &watched.request
                && (succeeded || invocation.status(status).error == SUCCESS)
            {
                complete(invocation, request, status);
            }
        }
    });
}

/// `MPI_Waitany` and `MPI_Testany`.
pub(crate) fn any(invocation: &mut Invocation<'_>) {
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    several(invocation, |invocation, requests, _| {
        if !invocation.run() {
            return;
        }
        if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
            return all_tested(invocation, requests);
        }
        let indices = Indices::new(invocation, Place::Index, 1, requests);
        if let Some(request) = indices.request(invocation, 0, requests) {
            complete(invocation, &request, status);
        }
    });
}

/// `MPI_Waitsome` and `MPI_Testsome`.
pub(crate) fn some(invocation: &mut Invocation<'_>) {
    several(invocation, |invocation, requests, statuses| {
        if !invocation.run() && !invocation.is_in_status() {
            return;
        }
        let succeeded = invocation.result_is_success();
        // Undefined if no request was active.
        let count = invocation.element(Place::OutCount, 0).clamp(0, requests.len() as i64) as usize;
        if count == 0 {
            return all_tested(invocation, requests);
        }
        let indices = Indices::new(invocation, Place::Indices, count, requests);
        for at in 0..count {
            let status = statuses.at(at);
            let fine = succeeded || invocation.status(status).error == SUCCESS;
            if let Some(request) = indices.request(invocation, at, requests).filter(|_| fine) {
                complete(invocation, &request, status);
            }
        }
    });
}

/// `MPI_Request_get_status`: the request lives on.
pub(crate) fn get_status(invocation: &mut Invocation<'_>) {
    let key = invocation.handle(Place::Request, Kind::Request);
    if invocation.run()
        && !invocation.is_set(Place::Flag)
        && let Some(request) = requests::get(key).filter(Request::is_under_way)
    {
        tested(invocation, &request);
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
    // Before the library may give the handle to another thread.
    let request = requests::remove(invocation.stored(Place::Request, Kind::Request));
    let freed = invocation.run();
    match request {
        Some(request) if !freed => {
            requests::insert(request);
        }
        Some(request) if request.is_under_way() => tell_local(invocation, &request),
        _ => {}
    }
}

/// A request has completed.
fn complete(invocation: &mut Invocation<'_>, request: &Request, status: usize) {
    requests::finish(request);
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
            tell_local(invocation, request);
            received(invocation, comm, request.id + 1, status);
        }
        Work::File { handle, matching } => {
            let bytes = invocation.status(status).bytes.unwrap_or(0);
            files::tell_complete(invocation, handle, bytes, matching);
        }
        Work::Send { .. } | Work::Collective { .. } | Work::Access { .. } | Work::Message { .. } => {
            tell_local(invocation, request);
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

fn all_tested(invocation: &mut Invocation<'_>, requests: &[Watched]) {
    requests.iter().filter_map(|watched| watched.request.as_ref()).for_each(|request| tested(invocation, request));
}

/// A request was asked for and is not complete.
fn tested(invocation: &mut Invocation<'_>, request: &Request) {
    let Some(call) = &mut invocation.call else { return };
    match request.work {
        Work::Access { window, matching } => call.rma_test(window, matching),
        Work::File { .. } | Work::Message { .. } => {}
        Work::Send { .. } | Work::SendRecv { .. } | Work::Recv { .. } | Work::Collective { .. } => {
            call.request_test(request.id);
        }
    }
}

/// A request before the call that may complete it.
#[derive(Clone, Copy)]
pub(crate) struct Watched {
    pub(crate) key: usize,
    /// None if it is not under way, or was not recorded.
    pub(crate) request: Option<Request>,
}

impl Watched {
    const NONE: Watched = Watched { key: 0, request: None };
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

/// Copies what is known of the requests of a call and sees to their statuses.
fn several(invocation: &mut Invocation<'_>, act: impl FnOnce(&mut Invocation<'_>, &[Watched], &Statuses)) {
    let count = invocation.number(Place::Many).max(0) as usize;
    let stride = invocation.mpi.status.bytes();
    let mut few = [Watched::NONE; FEW];
    let mut few_statuses = [0_u64; FEW * StatusLayout::MOST / 2];
    let (requests, own) = if count <= FEW {
        (&mut few[..count], few_statuses.as_mut_ptr() as usize)
    } else {
        let bytes = count * (size_of::<Watched>() + stride);
        // SAFETY: this thread's, and no second call is recorded inside this one.
        let room = SCRATCH.with(|scratch| unsafe { (*scratch.get()).room(bytes) }).cast::<Watched>();
        if room.is_null() {
            invocation.run();
            return;
        }
        // SAFETY: room for as many requests, then for as many statuses.
        let requests = unsafe {
            (0..count).for_each(|at| room.add(at).write(Watched::NONE));
            std::slice::from_raw_parts_mut(room, count)
        };
        let behind = requests.as_ptr_range().end as usize;
        (requests, behind)
    };
    let array = invocation.word(Place::Requests);
    for (at, watched) in requests.iter_mut().enumerate() {
        let key = invocation.stored_at(array, Kind::Request, at);
        *watched = Watched { key, request: requests::watch(key) };
    }
    let mut first = invocation.word(Place::Statuses);
    if invocation.has(Place::Statuses) && invocation.ignores_statuses() {
        first = own;
        invocation.replace(Place::Statuses, own);
    }
    act(invocation, requests, &Statuses { first, stride });
}
