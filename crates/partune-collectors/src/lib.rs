//! All collectors as one library, which `partune record` loads into programs: what a process records of several paradigms is in the same lanes.
//!
//! It has no code of its own but that which asks for memory. A process that does not use a paradigm pays nothing for its collector, whose functions nobody calls there.

#![allow(unsafe_code, reason = "memory from the C library")]

#[cfg(not(miri))]
mod heap;

pub use partune_collect_caf as caf;
pub use partune_collect_files as files;
pub use partune_collect_gasp as gasp;
pub use partune_collect_mpi as mpi;
pub use partune_collect_openmp as openmp;
pub use partune_collect_shmem as shmem;
pub use partune_collect_threads as threads;
