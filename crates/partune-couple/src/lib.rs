//! Experiments of kernel coupling: which launches a plan needs, what they leave, and what comes of it.
//!
//! For the command line. A program that includes `include/partune_couple.h` measures its kernels alone, in chains and in their loop when it is launched
//! with the variables of [`launch`], and appends lines to one file. Everything else is here: what was launched already is not launched again, what cannot be
//! right is said, and numbers become couplings and predictions by `partune-coupling`, and laws by `partune-fit`.
//!
//! | question | module |
//! |---|---|
//! | what is to be launched | [`plan`] |
//! | how is it launched | [`launch`] |
//! | what did launches leave | [`results`] |
//! | what is wrong with it | [`judge`] |
//! | what comes of it | [`outcome`] |
//! | what of what was not measured | [`unseen`] |

pub mod error;
pub mod judge;
pub mod launch;
pub mod outcome;
pub mod plan;
pub mod results;
pub mod unseen;

pub use error::CoupleError;
pub use launch::{Ended, end_by, launch};
pub use outcome::{Outcome, outcome};
pub use plan::{Launch, Plan};
pub use results::{Recorded, read};

pub use partune_coupling::couplings::Interaction;
pub use partune_coupling::measured::Measured;
