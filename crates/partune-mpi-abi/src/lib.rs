//! Facts of MPI libraries as plain data: their three binary interfaces (ABIs), and the [prototypes] of all functions.
//!
//! For whoever calls or wraps an MPI library that is found at run time: the recorder inside a user's program, and the
//! benchmarks of `partune machine measure`. Such code never sees an `mpi.h`. It declares every handle as [`usize`],
//! asks [`detect`] which interface it met, and takes constants and layouts from here.
//!
//! Constraints: no dependency, no allocation (but for the prototypes, which are for builds), no I/O, no `std`: the recorder runs where nothing may be
//! assumed.
//!
//! Sources: `mpi.h` of Open MPI 4.1.4 and MPICH 4.0.2 (the tests compile programs against both and compare every
//! value), and the header of the MPI Forum's `mpi-abi-stubs` (MPI 5.0, ABI 1.0).
//!
//! Passing a handle as `usize` works where arguments of class integer travel in registers or in full stack slots:
//! x86-64, AArch64 and little-endian PowerPC on Linux. The upper half of a narrower handle is then undefined; see
//! [`Abi::normalise`].
#![no_std]

extern crate alloc;

mod abi;
mod detect;
mod errors;
mod handles;
mod launch;
mod numbers;
pub mod prototypes;
mod status;
mod weights;

pub use abi::{Abi, Kind};
pub use detect::{ABI_VERSION, Evidence, OPEN_MPI_WORLD, detect};
pub use errors::{Error, SUCCESS};
pub use handles::{Handle, Place};
pub use launch::{NODE_SIZES, SLURM_RANK, SLURM_SIZE, launched, sonames, world_variables};
pub use numbers::{Name, Numbers};
pub use status::{Status, StatusLayout, StatusNames};
pub use weights::{Weight, unweighted, weights_empty};
