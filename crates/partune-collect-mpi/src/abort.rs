//! MPI aborts: the program asks for it, or a call fails whose errors are fatal, which they are unless the program says something else.
//!
//! Open MPI then calls a function of its own by name, which is ours here, as its functions of MPI are. MPICH is killed by its launcher before
//! anybody gets to know: of a call that fails there is nothing told but that it did not end.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::invocation::Invocation;
use crate::library;

/// `MPI_Abort` does not come back.
pub(crate) fn asked(invocation: &mut Invocation<'_>) {
    if let Some(mut call) = invocation.call.take() {
        call.returned();
        call.leave();
    }
    tell();
    invocation.run();
}

/// The process aborts.
fn tell() {
    /// Open MPI comes here from its `MPI_Abort` as well.
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        partune_collect::end(partune_collect::How::Abort);
    }
}

/// Where Open MPI ends all processes of a communicator. The call that failed is left open: the process ends in it. A thread of the library's own, which is
/// recorded nowhere, comes here when the launcher is gone: then the program asked for nothing, and is killed.
///
/// # Safety
/// As that of Open MPI.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the library calls it")]
pub unsafe extern "C" fn ompi_mpi_abort(comm: *mut c_void, code: c_int) -> c_int {
    type Abort = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
    if partune_collect::is_recorded_thread() {
        tell();
    } else {
        partune_collect::killed();
    }
    let Some(address) = library::function(&[c"ompi_mpi_abort".to_owned()]) else {
        // SAFETY: ends the process, as the library's own would.
        unsafe { libc::_exit(code) }
    };
    // SAFETY: Open MPI's function, whose type this is since its first version.
    let real: Abort = unsafe { std::mem::transmute(address) };
    // SAFETY: as the caller said.
    unsafe { real(comm, code) }
}
