//! Programming models as tables: from the name of a construct to its role.
//!
//! For importers, which meet names, and for nobody above them: construct names live in this crate and nowhere else. One file is
//! one paradigm, one row is one construct; to add a paradigm is one file and one line in [`PARADIGMS`]. A name that no table
//! knows is the user's. No input panics, nothing is read from the environment.

mod caf;
mod charm;
mod cuda;
mod hip;
pub mod kinds;
mod level_zero;
mod measurement;
mod mpi;
mod openacc;
mod opencl;
mod openmp;
mod openshmem;
mod others;
mod paradigm;
mod posix_io;
mod pthread;
mod recognise;
mod row;
mod sycl;
mod upc;

pub use caf::CAF;
pub use charm::CHARM;
pub use measurement::MEASUREMENT;
pub use mpi::MPI;
pub use openmp::OPENMP;
pub use openshmem::OPENSHMEM;
pub use paradigm::{Class, Construct, Paradigm};
pub use posix_io::{POSIX_IO, is_given_an_offset};
pub use pthread::PTHREAD;
pub use recognise::{PARADIGMS, Recognised, is_model, paradigm, recognise};
pub use upc::UPC;
