//! Communicators are made, named and freed.
//!
//! These handlers run also while recording is switched off: whoever comes later must find the handles.

use partune_collect::definitions;
use partune_collect::facts::{Collective, NO_ROOT};
use partune_mpi_abi::Kind;

use crate::comms::{self, Comm};
use crate::function::Mode;
use crate::invocation::Invocation;
use crate::place::Place;
use crate::requests::Work;
use crate::{neighbours, p2p};

/// Calls that all of the old communicator make.
pub(crate) fn create(invocation: &mut Invocation<'_>) {
    made(invocation, Told::OnOld);
}

/// Calls that only those of the new communicator make, or that have no old one.
pub(crate) fn create_among_members(invocation: &mut Invocation<'_>) {
    made(invocation, Told::OnNew);
}

/// `MPI_Comm_get_parent`: it gives a communicator that nobody made.
pub(crate) fn get_parent(invocation: &mut Invocation<'_>) {
    if invocation.run() {
        comms::find(invocation.mpi, invocation.stored(Place::CommOut, Kind::Comm));
    }
}

/// `MPI_Comm_free` and `MPI_Comm_disconnect`.
pub(crate) fn free(invocation: &mut Invocation<'_>) {
    let handle = invocation.stored(Place::CommOut, Kind::Comm);
    let comm = comms::find(invocation.mpi, handle);
    if let (Some(_), Some(call)) = (comm, &mut invocation.call) {
        call.collective_begin();
    }
    // Before the library may give the handle to another thread.
    comms::forget(handle, None);
    let freed = invocation.run();
    match &comm {
        Some(comm) if freed => neighbours::forget(comm),
        Some(_) => comms::forget(handle, comm),
        None => {}
    }
    if let (Some(comm), Some(call)) = (comm, &mut invocation.call) {
        if freed {
            call.comm_destroy(comm.number);
        }
        call.collective_end(Collective::DestroyHandle, comm.number, NO_ROOT, 0, 0);
    }
}

/// `MPI_Comm_set_name`.
pub(crate) fn set_name(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::Comm, Kind::Comm);
    if invocation.run()
        && let Some(comm) = comms::find(invocation.mpi, handle)
    {
        definitions::comm_name(comm.number, &invocation.text(Place::Text));
    }
}

/// `MPI_Comm_idup`: the new communicator has the members of the old one, and may exist at completion only.
pub(crate) fn duplicate(invocation: &mut Invocation<'_>) {
    let old = invocation.handle(Place::Comm, Kind::Comm);
    let comm = comms::find(invocation.mpi, old);
    let (op, root, bytes) = (Collective::CreateHandle, NO_ROOT, [0, 0]);
    let work = comm.map(|comm| Work::Collective { op, comm: comm.number, root, bytes });
    let id = work.and_then(|work| p2p::tell_start(invocation, work));
    if !invocation.run() {
        return p2p::cancel(invocation, id);
    }
    p2p::keep(invocation, work, id);
    let Some(comm) = comm else { return };
    let new = invocation.stored(Place::CommOut, Kind::Comm);
    if new != invocation.mpi.comm_null
        && new != 0
        && let Some(new) = comms::register_copy(new, old, &comm)
        && let Some(call) = &mut invocation.call
    {
        call.comm_create(new.number);
    }
}

/// Which communicator the making of one is a collective of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    OnOld,
    OnNew,
}

fn made(invocation: &mut Invocation<'_>, told: Told) {
    debug_assert_eq!(invocation.mode(), Mode::Blocking);
    let old = if invocation.has(Place::Comm) {
        comms::find(invocation.mpi, invocation.handle(Place::Comm, Kind::Comm))
    } else {
        None
    };
    let begun = told == Told::OnOld && old.is_some();
    if let (true, Some(call)) = (begun, &mut invocation.call) {
        call.collective_begin();
    }
    let begin = partune_collect::wall();
    let new = if invocation.run() {
        let call = (begin, partune_collect::wall());
        let handle = invocation.stored(Place::CommOut, Kind::Comm);
        comms::register_met(invocation.mpi, handle, old.map(|old| old.number), call)
    } else {
        None
    };
    if let Some(new) = &new {
        crate::init::meet(invocation, new);
    }
    let on: Option<Comm> = if told == Told::OnOld { old } else { new };
    let Some(call) = &mut invocation.call else { return };
    if let Some(new) = new {
        call.comm_create(new.number);
    }
    if let Some(on) = on {
        if !begun {
            call.collective_begin();
        }
        call.collective_end(Collective::CreateHandle, on.number, NO_ROOT, 0, 0);
    }
}
