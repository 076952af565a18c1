//! MPI libraries that are found at run time: loaded, told apart, asked for functions; and [`MpiJob`], the exchange of a job over one.
//!
//! What is known of libraries as data is `partune-mpi-abi`'s. Nothing here is linked to MPI, and a process that asks for none loads none.

mod job;
mod library;
mod load;

pub use job::{JobError, MpiJob};
pub use library::Library;
pub use load::{LoadError, Loaded, is_launched, launched_size, load};
