//! Programming models as tables: from the name of a construct to its role.
//!
//! For importers, which meet names, and for nobody above them: construct names live in this crate and nowhere else. One file is
//! one paradigm, one row is one construct; to add a paradigm is one file and one line in [`PARADIGMS`]. A name that no table
//! knows is the user's. No input panics, nothing is read from the environment.

mod mpi;
mod paradigm;
mod recognise;
mod row;

pub use paradigm::{Construct, Paradigm};
pub use recognise::{PARADIGMS, Recognised, recognise};
