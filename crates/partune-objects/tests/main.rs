//! Tests of event graphs: goldens worked out by hand, programs of known form, laws on random graphs, and where an analysis must stay silent.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod characteristics;
mod cuts;
mod deduce;
mod faults;
mod graphs;
mod laws;
mod placement;
mod scheduling;
mod simulation;
mod support;
mod tables;
mod trees;
