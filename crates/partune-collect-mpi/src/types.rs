//! Sizes of datatypes, kept in a small table of each thread.
//!
//! A freed type's handle may be given to another type, so the tables are void whenever a type is freed.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_mpi_abi::SUCCESS;

use crate::invocation::Invocation;
use crate::pmpi;

static GENERATION: AtomicU64 = AtomicU64::new(1);

const CACHED: usize = 32;

#[derive(Clone, Copy)]
struct Cached {
    handle: usize,
    generation: u64,
    size: u64,
}

thread_local! {
    static CACHE: UnsafeCell<[Cached; CACHED]> =
        const { UnsafeCell::new([Cached { handle: 0, generation: 0, size: 0 }; CACHED]) };
}

/// Bytes of one element of a datatype; 0 if MPI does not tell.
#[inline]
pub(crate) fn size(handle: usize) -> u64 {
    let generation = GENERATION.load(Ordering::Relaxed);
    CACHE.with(|cache| {
        let at = ((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize % CACHED;
        // SAFETY: this thread's, and nothing below looks at it again.
        let slot = unsafe { &mut (*cache.get())[at] };
        if slot.handle != handle || slot.generation != generation {
            *slot = Cached { handle, generation, size: ask(handle) };
        }
        slot.size
    })
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
    GENERATION.fetch_add(1, Ordering::Relaxed);
    invocation.run();
}
