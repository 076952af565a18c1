//! Recording begins and ends with MPI: who this process is, how its clock stands, and that it goes.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use partune_mpi_abi::{Kind, SUCCESS};

use crate::comms::{self, Comm};
use crate::invocation::Invocation;
use crate::mpi::Mpi;
use crate::place::Place;
use crate::{clocks, pmpi};

/// How many times MPI is open: sessions, and one from `MPI_Init` to `MPI_Finalize`.
static OPEN: AtomicU32 = AtomicU32::new(0);

/// Whether MPI goes on after what ended last.
pub(crate) fn is_open() -> bool {
    OPEN.load(Ordering::Relaxed) > 0
}

fn opened() {
    OPEN.fetch_add(1, Ordering::Relaxed);
}

/// Nobody may have seen it begin.
fn closed() {
    let _ = OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| open.checked_sub(1));
}

/// `MPI_Init` and `MPI_Init_thread`.
pub(crate) fn init(invocation: &mut Invocation<'_>) {
    let begin = partune_collect::wall();
    if !invocation.run() {
        return;
    }
    opened();
    let call = (begin, partune_collect::wall());
    let mpi = invocation.mpi;
    let mut parent = mpi.comm_null;
    let (mut group, mut rank, mut size): (usize, c_int, c_int) = (0, 0, 0);
    // SAFETY: the world exists now; a handle and numbers that outlive the calls.
    let known = unsafe {
        pmpi::comm_group(mpi.world, &raw mut group as usize) == SUCCESS
            && pmpi::comm_rank(mpi.world, &raw mut rank as usize) == SUCCESS
            && pmpi::comm_size(mpi.world, &raw mut size as usize) == SUCCESS
    };
    if known {
        let key = clocks::meet(mpi, mpi.world, rank as u32, size as u32, true);
        comms::set_world(group, rank as u32, size as u32, key);
        comms::register(mpi, mpi.world, None, "MPI_COMM_WORLD");
        comms::register(mpi, mpi.comm_self, None, "MPI_COMM_SELF");
        // SAFETY: a handle that outlives the call.
        if unsafe { pmpi::comm_get_parent(&raw mut parent as usize) } == SUCCESS {
            comms::register_met(mpi, parent, None, call);
        }
    }
    invocation.returned();
}

/// `MPI_Session_init`: there is a world, and no communicator yet.
pub(crate) fn session_init(invocation: &mut Invocation<'_>) {
    if !invocation.run() {
        return;
    }
    opened();
    let session = session(invocation);
    let (mut group, mut rank, mut size): (usize, c_int, c_int) = (0, 0, 0);
    // SAFETY: the program's session, a C string, a handle and numbers that outlive the calls.
    let known = unsafe {
        pmpi::group_from_session_pset(session, c"mpi://WORLD".as_ptr() as usize, &raw mut group as usize) == SUCCESS
            && pmpi::group_rank(group, &raw mut rank as usize) == SUCCESS
            && pmpi::group_size(group, &raw mut size as usize) == SUCCESS
    };
    if known {
        comms::set_world(group, rank as u32, size as u32, 0);
    }
    invocation.returned();
}

/// A communicator was made: the first one of everybody in a world without `MPI_Init` serves to compare the clocks.
pub(crate) fn meet(invocation: &mut Invocation<'_>, comm: &Comm) {
    let Some(world) = comms::world() else { return };
    if !comm.is_inter && comm.size == world.size && !clocks::have_met() {
        let handle = invocation.stored(Place::CommOut, Kind::Comm);
        // Sessions end on their own: there is no later moment that all of them share.
        clocks::meet(invocation.mpi, handle, comm.rank, comm.size, false);
        invocation.returned();
    }
}

/// `MPI_Finalize`: the clocks are compared while messages can still be sent.
pub(crate) fn finalize(invocation: &mut Invocation<'_>) {
    clocks::part(invocation.mpi);
    invocation.run();
    closed();
}

/// `MPI_Session_finalize`: of the last one, MPI ends.
pub(crate) fn session_finalize(invocation: &mut Invocation<'_>) {
    if invocation.run() {
        closed();
    }
}

/// The session that was stored. Its handle is as wide as that of an info object.
fn session(invocation: &Invocation<'_>) -> usize {
    let address = invocation.word(Place::Session);
    if invocation.is_fortran() {
        // SAFETY: the program's `INTEGER`, and a function that only looks up.
        unsafe { pmpi::session_f2c(*(address as *const i32) as usize) }
    } else {
        stored_session(invocation.mpi, address)
    }
}

fn stored_session(mpi: &Mpi, address: usize) -> usize {
    // SAFETY: the program's session.
    unsafe { mpi.stored(Kind::Info, address, 0) }
}
