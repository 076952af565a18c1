//! Records MPI inside the user's program: one library for every MPI, in C and Fortran, found when the program runs.
//!
//! For `partune record`, which preloads it. Every function of MPI has a wrapper here (made by `build.rs` from the table of bindings in
//! `partune-paradigm`), which records the call and calls the library's own; MPI is never linked, its handles are words, and what differs
//! between libraries is looked up in `partune-mpi-abi`. Without `PARTUNE_DIR` in the environment, and before MPI starts, wrappers only
//! pass calls on.
//!
//! What MPI calls inside of itself is not recorded. Nobody communicates for the sake of recording, but for one `Allreduce` inside of
//! `MPI_Init` that finds out whether all processes share a clock, and a few messages if they do not.
#![allow(unsafe_code, reason = "arguments of the program and functions of its MPI")]

mod clocks;
mod collective;
mod comms;
mod communicators;
mod completion;
mod files;
mod function;
mod init;
mod invocation;
mod library;
mod memory;
mod mpi;
mod neighbours;
mod p2p;
mod place;
mod pmpi;
mod requests;
mod rma;
mod spin;
mod types;
mod windows;
mod wrap;

/// The functions that the program calls instead of MPI's.
#[allow(
    non_snake_case,
    unreachable_pub,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "they are MPI's"
)]
#[allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block, reason = "generated, all alike")]
mod wrappers {
    use std::ffi::c_int;

    use partune_collect::frame;

    use crate::function::{Function, Language, Mode};
    use crate::place::{Place, places};
    use crate::wrap::{self, Handler};
    use crate::{collective, communicators, completion, files, init, p2p, rma, types};

    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}
