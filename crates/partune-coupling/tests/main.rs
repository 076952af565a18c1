//! Tests of kernel coupling: answers worked out by hand, the tables of the paper, laws, and where nothing must be said.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test panics where it fails, and what is compared exactly is small whole numbers or what was put in"
)]

mod choice;
mod errors;
mod flows;
mod golden;
mod laws;
mod plateaus;
mod refusals;
mod support;
mod tables;
