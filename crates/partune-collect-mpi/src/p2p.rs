//! Messages between two processes: blocking, non-blocking, persistent and partitioned, sends, receives and both.
//!
//! A message is told when it is sent, before the real call, since its receiver may be told of it before the sender comes back. What was
//! received is read from the status. Nothing goes to or comes from `MPI_PROC_NULL`.

use std::hint::cold_path;

use partune_collect::{ANYBODY, Call, Message};
use partune_mpi_abi::{Kind, Status, StatusLayout};

use crate::comms;
use crate::function::Mode;
use crate::invocation::{Form, Invocation, OwnStatus};
use crate::place::Place;
use crate::requests::{self, Request, State, Wanted, Work};
use crate::{completion, memo, neighbours, types};

/// Sends of all kinds that do not receive as well.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn send<F: Form>(invocation: &mut Invocation<'_, F>) {
    let outgoing = outgoing(invocation);
    match invocation.mode() {
        Mode::Blocking => {
            invocation.begin_sending(outgoing);
            if !invocation.run() {
                retract(invocation, outgoing);
            }
        }
        Mode::NonBlocking => {
            let id = outgoing.and_then(|message| tell_start(invocation, Work::Send(message)));
            if invocation.run() {
                keep(invocation, outgoing.map(Work::Send), id);
            } else if !retract(invocation, outgoing) {
                cancel(invocation, id);
            }
        }
        Mode::Persistent => {
            if invocation.run() {
                let work = outgoing.map(|message| match partitions(invocation) {
                    Some(count) => Work::Partitioned { message, partitions: count, left: count },
                    None => Work::Send(message),
                });
                keep(invocation, work, None);
            }
        }
    }
}

/// `MPI_Pready` and the like: with the last partition of a message, by whichever thread, the message leaves.
pub(crate) fn ready(invocation: &mut Invocation<'_>) {
    let count = if invocation.has(Place::Many) {
        invocation.number(Place::Many)
    } else if invocation.has(Place::LastReady) {
        invocation.number(Place::LastReady) - invocation.number(Place::FirstReady) + 1
    } else {
        1
    };
    let mut leaves = None;
    requests::change(invocation.handle(Place::Request, Kind::Request), |request| {
        let (id, is_under_way) = (request.id, request.is_under_way());
        if let Work::Partitioned { message, left, .. } = &mut request.work
            && is_under_way
            && *left > 0
        {
            *left = left.saturating_sub(count.max(0) as u32);
            if *left == 0 {
                leaves = Some((*message, id));
            }
        }
    });
    if let (Some((message, id)), Some(call)) = (leaves, &mut invocation.call) {
        call.isend(message, id);
    }
    invocation.run();
}

/// Receives of all kinds.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn recv<F: Form>(invocation: &mut Invocation<'_, F>) {
    let is_null = i64::from(invocation.mpi.numbers.proc_null) == invocation.number(Place::Source);
    let comm = if is_null { None } else { comm(invocation) };
    let wanted = comm.map(|comm| wanted(invocation, comm, Place::SendTag));
    receive(invocation, wanted, Place::Status);
}

/// The message that is to come; `tag` is where its tag stands.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn wanted<F: Form>(invocation: &Invocation<'_, F>, comm: u32, tag: Place) -> Wanted {
    let tag = invocation.int(tag);
    let tag = (tag != invocation.mpi.numbers.any_tag).then_some(tag as u32);
    Wanted { comm, from: source(invocation), tag }
}

/// The rank that a message is to come from.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn source<F: Form>(invocation: &Invocation<'_, F>) -> u32 {
    match invocation.number(Place::Source) {
        any if any == i64::from(invocation.mpi.numbers.any_source) => ANYBODY,
        rank => rank as u32,
    }
}

/// Receives of a message that a probe found: the communicator was seen there.
pub(crate) fn mrecv<F: Form>(invocation: &mut Invocation<'_, F>) {
    let message = invocation.stored(Place::Message, Kind::Message);
    let found = requests::remove(message).map(|found| found.work);
    let wanted =
        if let Some(Work::Message { comm }) = found { Some(Wanted { comm, from: ANYBODY, tag: None }) } else { None };
    receive(invocation, wanted, Place::Status);
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn receive<F: Form>(invocation: &mut Invocation<'_, F>, wanted: Option<Wanted>, status: Place) {
    let work = wanted.map(Work::Recv);
    match invocation.mode() {
        Mode::Blocking => {
            if let (Some(Wanted { comm, from, .. }), Some(call)) = (wanted, &mut invocation.call) {
                call.awaits(comm, from);
            }
            let mut own: OwnStatus = [0; StatusLayout::MOST];
            let status = if wanted.is_some() { invocation.want_status(&mut own) } else { invocation.word(status) };
            if invocation.run()
                && let Some(Wanted { comm, .. }) = wanted
                && let (Some(message), Some(call)) = (message_in(invocation, comm, status), &mut invocation.call)
            {
                call.recv_at_last(message);
            } else {
                cold_path();
            }
        }
        Mode::NonBlocking => {
            let id = work.and_then(|work| tell_start(invocation, work));
            if invocation.run() {
                keep(invocation, work, id);
            } else {
                cancel(invocation, id);
            }
        }
        Mode::Persistent => {
            if invocation.run() {
                keep(invocation, work, None);
            }
        }
    }
}

/// `MPI_Sendrecv`, `MPI_Sendrecv_replace`, and those that give a request.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn sendrecv<F: Form>(invocation: &mut Invocation<'_, F>) {
    let outgoing = outgoing(invocation);
    let is_null = i64::from(invocation.mpi.numbers.proc_null) == invocation.number(Place::Source);
    // One communicator for both directions.
    let from = match outgoing {
        _ if is_null => None,
        Some(outgoing) => Some(outgoing.comm),
        None => comm(invocation),
    };
    if invocation.mode() == Mode::Blocking {
        invocation.begin_sending(outgoing);
        let source = source(invocation);
        if let (Some(comm), Some(call)) = (from, &mut invocation.call) {
            call.awaits(comm, source);
        }
        let mut own: OwnStatus = [0; StatusLayout::MOST];
        let status = if from.is_some() { invocation.want_status(&mut own) } else { 0 };
        if invocation.run()
            && let Some(comm) = from
            && let (Some(message), Some(call)) = (message_in(invocation, comm, status), &mut invocation.call)
        {
            call.recv_and_leave(message);
        } else if !invocation.result_is_success() {
            retract(invocation, outgoing);
        }
        return;
    }
    let work = match (outgoing, from.map(|comm| wanted(invocation, comm, Place::RecvTag))) {
        (Some(outgoing), Some(wanted)) => Some(Work::SendRecv(outgoing, wanted)),
        (Some(outgoing), None) => Some(Work::Send(outgoing)),
        (None, wanted) => wanted.map(Work::Recv),
    };
    let id = work.and_then(|work| tell_start(invocation, work));
    if invocation.run() {
        keep(invocation, work, id);
    } else if !retract(invocation, outgoing) {
        cancel(invocation, id);
    }
}

/// `MPI_Mprobe` and `MPI_Improbe`: the message will be received without its communicator.
pub(crate) fn matched_probe<F: Form>(invocation: &mut Invocation<'_, F>) {
    let comm = comm(invocation);
    if !invocation.run() || invocation.has(Place::Flag) && !invocation.is_set(Place::Flag) {
        return;
    }
    let message = invocation.stored(Place::Message, Kind::Message);
    if let Some(comm) = comm
        && message != invocation.mpi.message_no_proc
    {
        let work = Work::Message { comm };
        requests::insert(Request::persistent(message, work));
    }
}

/// `MPI_Start` and `MPI_Startall`.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn start<F: Form>(invocation: &mut Invocation<'_, F>) {
    let count = if invocation.has(Place::Many) { invocation.number(Place::Many).max(0) as usize } else { 1 };
    let place = if invocation.has(Place::Requests) { Place::Requests } else { Place::Request };
    let array = invocation.word(place);
    for at in 0..count {
        let key = invocation.stored_at(array, Kind::Request, at);
        let Some(request) = requests::get(key).filter(|request| request.is_persistent && !request.is_under_way())
        else {
            continue;
        };
        if let Some(id) = tell_start(invocation, request.work) {
            requests::change(key, |request| request.begin(id));
        }
    }
    if !invocation.run() {
        for at in 0..count {
            let key = invocation.stored_at(array, Kind::Request, at);
            cancel(invocation, requests::change(key, |request| request.state = State::Idle).map(|request| request.id));
        }
    }
}

/// Tells what begins with a request; returns its number, none while recording is off.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn tell_start<F: Form>(invocation: &mut Invocation<'_, F>, work: Work) -> Option<u64> {
    let call = invocation.call.as_mut()?;
    let id = call.next_id();
    match work {
        Work::Send(message) => call.isend(message, id),
        Work::SendRecv(message, _) => {
            // The two messages are two requests to the archive.
            let recv = call.next_id();
            call.isend(message, id);
            call.irecv_request(recv);
        }
        Work::Recv(_) => call.irecv_request(id),
        Work::Collective { .. } => call.collective_request(id),
        Work::Exchange { number, .. } => neighbours::tell_start(call, number, id),
        Work::File(access) if access.is_of_all() => call.collective_request(id),
        Work::Partitioned { .. } | Work::Access { .. } | Work::File(_) | Work::Message { .. } => {}
    }
    Some(id)
}

/// Keeps the request that a call gave. Some libraries have one handle for all that is complete at once: it is never waited for in earnest.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn keep<F: Form>(invocation: &mut Invocation<'_, F>, work: Option<Work>, id: Option<u64>) {
    let is_persistent = invocation.mode() == Mode::Persistent;
    let Some(work) = work.filter(|_| is_persistent || id.is_some()) else { return };
    let key = invocation.stored(Place::Request, Kind::Request);
    let request = if is_persistent { Request::persistent(key, work) } else { Request::new(key, id.unwrap_or(0), work) };
    if request.is_under_way() && invocation.mpi.is_complete_handle(key) {
        completion::give_up(invocation.telling(), &request);
    } else if let Some(earlier) = requests::insert(request) {
        completion::give_up(invocation.telling(), &earlier);
    }
}

/// The message was not sent. Only a call that failed comes here, and only to somebody who has one to take back.
#[allow(clippy::inline_always, reason = "what is handed on must not leave the registers")]
#[inline(always)]
fn retract<F: Form>(invocation: &mut Invocation<'_, F>, outgoing: Option<Message>) -> bool {
    outgoing.is_some() && {
        cold_path();
        invocation.call.as_mut().is_some_and(Call::retract)
    }
}

/// What was told to begin did not.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn cancel<F: Form>(invocation: &mut Invocation<'_, F>, id: Option<u64>) {
    if let (Some(id), Some(call)) = (id, &mut invocation.call) {
        call.request_cancelled(id);
    }
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn message_in<F: Form>(invocation: &Invocation<'_, F>, comm: u32, status: usize) -> Option<Message> {
    let status = invocation.status(status);
    (status.source != invocation.mpi.numbers.proc_null).then(|| received(comm, status))
}

/// The message that a status is of.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn received(comm: u32, status: Status) -> Message {
    Message { peer: status.source as u32, comm, tag: status.tag as u32, bytes: status.bytes.unwrap_or(0) }
}

/// The communicator's number in the archive; none of a foreign one.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn comm<F: Form>(invocation: &mut Invocation<'_, F>) -> Option<u32> {
    meaning(invocation).map(|[comm, _]| comm as u32)
}

/// What [`Invocation::handles`] mean: the communicator's number and, if something is sent, the size of the type.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn meaning<F: Form>(invocation: &mut Invocation<'_, F>) -> Option<[u64; 2]> {
    match invocation.meaning {
        None => ask(invocation),
        known => known,
    }
}

/// The same, of a call that began without knowing: mostly as at the last call from the same place.
fn ask<F: Form>(invocation: &mut Invocation<'_, F>) -> Option<[u64; 2]> {
    let (handles, generation) = (invocation.handles(), memo::generation());
    if let Some(known) = invocation.call.as_ref().and_then(|call| call.meaning(handles, generation)) {
        return Some(known);
    }
    let comm = comms::number_of(invocation.mpi, invocation.handle(Place::Comm, Kind::Comm))?;
    let size =
        if invocation.has(Place::Target) { types::size(invocation.handle(Place::SendType, Kind::Datatype)) } else { 0 };
    let meaning = [u64::from(comm), size];
    if let Some(call) = &mut invocation.call {
        call.remember(handles, generation, meaning);
    }
    Some(meaning)
}

/// How many parts a message has, if it is made of parts.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn partitions<F: Form>(invocation: &Invocation<'_, F>) -> Option<u32> {
    invocation.has(Place::Partitions).then(|| invocation.int(Place::Partitions).max(0) as u32)
}

/// The message that is sent; none to `MPI_PROC_NULL`.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn outgoing<F: Form>(invocation: &mut Invocation<'_, F>) -> Option<Message> {
    let to = invocation.int(Place::Target);
    if to == invocation.mpi.numbers.proc_null {
        cold_path();
        return None;
    }
    let [comm, size] = meaning(invocation)?;
    let partitions = u64::from(partitions(invocation).unwrap_or(1));
    let count = invocation.number(Place::SendCount).max(0) as u64;
    let bytes = count.saturating_mul(size).saturating_mul(partitions);
    Some(Message { peer: to as u32, comm: comm as u32, tag: invocation.int(Place::SendTag) as u32, bytes })
}
