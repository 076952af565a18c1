//! What completes requests: waits, tests, and what ends them otherwise.
//!
//! Requests are read before the real call, which overwrites them, and statuses are asked for where the program wants none.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use partune_collect::{ANYBODY, Call};
use partune_mpi_abi::{Kind, SUCCESS, Status, StatusLayout};

use crate::indices::Indices;
use crate::invocation::{Form, Invocation, OwnStatus};
use crate::memory::Scratch;
use crate::place::Place;
use crate::requests::{self, Request, Wanted, Work};
use crate::{neighbours, p2p, pmpi};

/// `MPI_Wait` and `MPI_Test`.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn one<F: Form>(invocation: &mut Invocation<'_, F>) {
    let request = requests::watch(invocation.stored(Place::Request, Kind::Request));
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = if request.is_some() { invocation.want_status(&mut own) } else { 0 };
    if let (Some((comm, from)), Some(call)) = (request.and_then(|it| it.awaits()), &mut invocation.call) {
        call.awaits(comm, from);
    }
    let succeeded = invocation.run();
    let Some(request) = request.filter(|_| succeeded) else { return };
    if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        tested(invocation.telling(), &request);
    } else {
        complete(invocation, &request, status);
    }
}

/// `MPI_Waitall` and `MPI_Testall`.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn all<F: Form>(invocation: &mut Invocation<'_, F>) {
    let mut room = Room::EMPTY;
    let (requests, statuses) = watch(invocation, &mut room);
    if let Some(call) = &mut invocation.call {
        call.awaits_all(requests.iter().filter_map(|it| it.request?.awaits()));
    }
    if !invocation.run() && !invocation.is_in_status() {
        return;
    }
    let succeeded = invocation.result_is_success();
    if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        return all_tested(invocation.telling(), requests);
    }
    for (at, watched) in requests.iter().enumerate() {
        let status = statuses.at(at);
        if let Some(request) = &watched.request
            && (succeeded || invocation.status(status).error == SUCCESS)
        {
            complete(invocation, request, status);
        }
    }
}

/// `MPI_Waitany` and `MPI_Testany`.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn any<F: Form>(invocation: &mut Invocation<'_, F>) {
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    let mut room = Room::EMPTY;
    let (requests, _) = watch(invocation, &mut room);
    awaits_any(invocation, requests);
    if !invocation.run() {
        return;
    }
    if invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        return all_tested(invocation.telling(), requests);
    }
    let indices = Indices::new(invocation, Place::Index, 1, requests);
    if let Some(request) = indices.request(invocation, 0, requests) {
        complete(invocation, &request, status);
    }
}

/// `MPI_Waitsome` and `MPI_Testsome`.
pub(crate) fn some<F: Form>(invocation: &mut Invocation<'_, F>) {
    let mut room = Room::EMPTY;
    let (requests, statuses) = watch(invocation, &mut room);
    awaits_any(invocation, requests);
    if !invocation.run() && !invocation.is_in_status() {
        return;
    }
    let succeeded = invocation.result_is_success();
    // Undefined if no request was active.
    let count = invocation.element(Place::OutCount, 0).clamp(0, requests.len() as i64) as usize;
    if count == 0 {
        return all_tested(invocation.telling(), requests);
    }
    let indices = Indices::new(invocation, Place::Indices, count, requests);
    for at in 0..count {
        let status = statuses.at(at);
        let fine = succeeded || invocation.status(status).error == SUCCESS;
        if let Some(request) = indices.request(invocation, at, requests).filter(|_| fine) {
            complete(invocation, &request, status);
        }
    }
}

/// `MPI_Request_get_status`: the request lives on.
pub(crate) fn get_status<F: Form>(invocation: &mut Invocation<'_, F>) {
    let key = invocation.handle(Place::Request, Kind::Request);
    if invocation.run()
        && !invocation.is_set(Place::Flag)
        && let Some(request) = requests::get(key).filter(Request::is_under_way)
    {
        tested(invocation.telling(), &request);
    }
}

/// `MPI_Cancel`: whether it worked is known at completion.
pub(crate) fn cancel<F: Form>(invocation: &mut Invocation<'_, F>) {
    let key = invocation.stored(Place::Request, Kind::Request);
    if invocation.run() {
        requests::change(key, |request| request.is_cancelled = true);
    }
}

/// `MPI_Request_free`: an active send will complete and nobody will know when. To the archive that is now.
pub(crate) fn free<F: Form>(invocation: &mut Invocation<'_, F>) {
    // Before the library may give the handle to another thread.
    let request = requests::remove(invocation.stored(Place::Request, Kind::Request));
    let freed = invocation.run();
    match request {
        Some(request) if !freed => {
            requests::insert(request);
        }
        Some(request) => give_up(invocation.telling(), &request),
        None => {}
    }
}

/// A request has completed.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn complete<F: Form>(invocation: &mut Invocation<'_, F>, request: &Request, status: usize) {
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
        Work::Recv(wanted) => {
            let status = invocation.status(status);
            received(invocation, wanted, request.id, status);
        }
        Work::SendRecv(_, wanted) => {
            let status = invocation.status(status);
            tell_local(invocation.telling(), request);
            received(invocation, wanted, request.id + 1, status);
        }
        Work::File(access) => {
            let bytes = invocation.status(status).bytes.unwrap_or(0);
            if let Some(call) = &mut invocation.call {
                call.io_complete(access.file, bytes, access.matching);
            }
            tell_local(invocation.telling(), request);
        }
        Work::Exchange { number, .. } => {
            tell_local(invocation.telling(), request);
            if !request.is_persistent {
                neighbours::close(number);
            }
        }
        Work::Send(_)
        | Work::Partitioned { .. }
        | Work::Collective { .. }
        | Work::Access { .. }
        | Work::Message { .. } => {
            tell_local(invocation.telling(), request);
        }
    }
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn received<F: Form>(invocation: &mut Invocation<'_, F>, wanted: Wanted, id: u64, status: Status) {
    if let Some(call) = &mut invocation.call {
        let mut message = p2p::received(wanted.comm, status);
        // MPICH says nothing of it in the status of `MPI_Isendrecv`.
        if wanted.from != ANYBODY {
            message.peer = wanted.from;
        }
        message.tag = wanted.tag.unwrap_or(message.tag);
        call.irecv(message, id);
    }
}

/// Nobody will see the request complete: to the archive that is now.
pub(crate) fn give_up(call: Option<Call<'_>>, request: &Request) {
    if request.is_under_way() {
        tell_local(call, request);
    }
    if let Work::Exchange { number, .. } = request.work {
        neighbours::close(number);
    }
}

/// Tells the end of what needs no status; a receive of which nothing is known was given up.
fn tell_local(call: Option<Call<'_>>, request: &Request) {
    let Some(mut call) = call else { return };
    match request.work {
        Work::Send(_) | Work::Partitioned { .. } | Work::SendRecv(..) => call.isend_complete(request.id),
        Work::Collective { op, comm, root, bytes } => call.collective_complete(op, comm, root, bytes, request.id),
        Work::Exchange { number, .. } => neighbours::tell_complete(&mut call, number, request.id),
        Work::Access { window, matching } => call.rma_complete_non_blocking(window, matching),
        Work::Recv(_) => call.request_cancelled(request.id),
        Work::File(access) => access.tell_met(&mut call, request.id),
        Work::Message { .. } => {}
    }
}

fn all_tested(mut call: Option<Call<'_>>, requests: &[Watched]) {
    for request in requests.iter().filter_map(|watched| watched.request.as_ref()) {
        tested(call.as_mut().map(Call::again), request);
    }
}

/// A request was asked for and is not complete.
fn tested(call: Option<Call<'_>>, request: &Request) {
    // One of a row of polls tells nothing by itself.
    let Some(mut call) = call.filter(|call| !call.is_poll()) else { return };
    match request.work {
        Work::Access { window, matching } => call.rma_test(window, matching),
        Work::File(access) if !access.is_of_all() => {}
        // A message that has not left is not known yet.
        Work::Partitioned { .. } | Work::Message { .. } => {}
        Work::Send(_)
        | Work::SendRecv(..)
        | Work::Recv(_)
        | Work::Collective { .. }
        | Work::Exchange { .. }
        | Work::File(_) => {
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

/// Where copies of requests go and, if the program wants none, their statuses. Never initialised: that would cost more than all the rest.
struct Room {
    requests: [MaybeUninit<Watched>; FEW],
    statuses: [MaybeUninit<OwnStatus>; FEW],
}

impl Room {
    const EMPTY: Room =
        Room { requests: [const { MaybeUninit::uninit() }; FEW], statuses: [const { MaybeUninit::uninit() }; FEW] };
}

/// Copies what is known of the requests of a call and sees to their statuses. Without memory, nothing of them is told.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn watch<'a, F: Form>(invocation: &mut Invocation<'_, F>, room: &'a mut Room) -> (&'a [Watched], Statuses) {
    let count = invocation.number(Place::Many).max(0) as usize;
    let stride = invocation.mpi.status.bytes();
    let (requests, own) = if count <= FEW {
        (room.requests.as_mut_ptr(), room.statuses.as_mut_ptr() as usize)
    } else {
        let many = room_of_thread(count * (size_of::<Watched>() + stride)).cast::<MaybeUninit<Watched>>();
        // After as many requests.
        (many, many.wrapping_add(count) as usize)
    };
    let mut first = invocation.word(Place::Statuses);
    if requests.is_null() {
        return (&[], Statuses { first, stride });
    }
    let array = invocation.word(Place::Requests);
    for at in 0..count {
        let key = invocation.stored_at(array, Kind::Request, at);
        // SAFETY: there is room for as many.
        unsafe { (*requests.add(at)).write(Watched { key, request: requests::watch(key) }) };
    }
    if invocation.has(Place::Statuses) && invocation.ignores_statuses() {
        first = own;
        invocation.replace(Place::Statuses, own);
    }
    // SAFETY: as many were written, to the caller's room or to the thread's, which no other call uses meanwhile.
    let requests = unsafe { std::slice::from_raw_parts(requests.cast::<Watched>(), count) };
    (requests, Statuses { first, stride })
}

/// Says that one of these requests is enough: which one is nobody's to know.
fn awaits_any<F: Form>(invocation: &mut Invocation<'_, F>, requests: &[Watched]) {
    if let Some(call) = &mut invocation.call {
        let comm = requests.iter().find_map(|it| it.request?.awaits()).map_or(0, |(comm, _)| comm);
        call.awaits(comm, ANYBODY);
    }
}

/// Room in this thread's memory; null if there is none.
#[cold]
fn room_of_thread(bytes: usize) -> *mut usize {
    // SAFETY: this thread's, and no second call is recorded inside this one.
    SCRATCH.with(|scratch| unsafe { (*scratch.get()).room(bytes) })
}
