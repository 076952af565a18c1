//! The tests of this crate, as one binary.

mod archives;
mod counts;
mod cuts;
mod files;
mod odd;
mod reductions;
mod steps;
mod texts;
