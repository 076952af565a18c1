//! The description of a machine: how fast it computes, moves data and synchronises when nothing stands in the way.
//!
//! `partune machine measure` makes one and `partune analyze --machine` reads it: what a run took is held against what
//! this machine needs. A description is of one machine *and one launch line*: four ranks on two cores are another
//! machine than two.
//!
//! It is a TOML file ([`read`], [`write`]). Seconds, bytes and numbers per second throughout. Nothing here measures
//! anything or opens a file.

mod baseline;
mod fit;
mod model;
mod text;

pub use baseline::RoleBaselines;
pub use fit::{Fit, fit};
pub use model::{
    Baseline, Cache, Caches, LineCost, Link, Machine, Overheads, Point, Provenance, Rates, Scope, VERSION,
};
pub use text::{ReadError, read, write};
