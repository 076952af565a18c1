//! Sizes of datatypes, remembered by each thread.
//!
//! A freed type's handle may be given to another type, so the tables are void whenever a type is freed.

use std::ffi::c_int;

use partune_mpi_abi::SUCCESS;

use crate::invocation::Invocation;
use crate::{memo, pmpi};

/// Bytes of one element of a datatype; 0 if MPI does not tell.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn size(handle: usize) -> u64 {
    let Some(memos) = memo::of_thread() else { return ask(handle) };
    memos.sizes.get(handle, || ask(handle))
}

#[cold]
fn ask(handle: usize) -> u64 {
    let mut size: c_int = 0;
    // SAFETY: a datatype of the program, and a number that outlives the call.
    if unsafe { pmpi::type_size(handle, &raw mut size as usize) } != SUCCESS {
        return 0;
    }
    if size >= 0 {
        return size as u64;
    }
    // Undefined: the size does not fit an `int`.
    let mut large: i64 = 0;
    // SAFETY: as above.
    let known = unsafe { pmpi::type_size_x(handle, &raw mut large as usize) } == SUCCESS;
    if known { large.max(0) as u64 } else { 0 }
}

/// `MPI_Type_free`.
pub(crate) fn free(invocation: &mut Invocation<'_>) {
    // Before the library may give the handle to another thread.
    memo::forget();
    invocation.run();
}
