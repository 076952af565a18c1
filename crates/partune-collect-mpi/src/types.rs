//! Sizes of datatypes and whether they have holes, remembered by each thread.
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
    memo::get(|memos| &mut memos.sizes, handle, || ask(handle))
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
    // SAFETY: a datatype of the program, and a number of 64 bits that outlives the call.
    let known = unsafe { pmpi::type_size_x(handle, &raw mut large as usize) } == SUCCESS;
    if known { large.max(0) as u64 } else { 0 }
}

/// Whether elements of a datatype lie in memory as their bytes one after the other, from where they are put on.
pub(crate) fn is_dense(handle: usize) -> bool {
    let ask = || {
        let size = size(handle);
        size > 0 && extents(handle) == Some([[0, size as isize]; 2])
    };
    memo::get(|memos| &mut memos.dense, handle, ask)
}

/// Lower bound and extent of a datatype, as it says and as it is.
#[cold]
fn extents(handle: usize) -> Option<[[isize; 2]; 2]> {
    let [mut said, mut real] = [[0_isize; 2]; 2];
    // SAFETY: a datatype of the program, and numbers that outlive the calls.
    let known = unsafe {
        pmpi::type_get_extent(handle, &raw mut said[0] as usize, &raw mut said[1] as usize) == SUCCESS
            && pmpi::type_get_true_extent(handle, &raw mut real[0] as usize, &raw mut real[1] as usize) == SUCCESS
    };
    known.then_some([said, real])
}

/// `MPI_Type_free`.
pub(crate) fn free(invocation: &mut Invocation<'_>) {
    // Before the library may give the handle to another thread.
    memo::forget();
    invocation.run();
}
