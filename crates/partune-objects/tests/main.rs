//! Tests of event graphs: goldens worked out by hand, programs of known form, laws on random graphs, and where an analysis must stay silent.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod characteristics;
mod cuts;
mod graphs;
mod placement;
mod simulation;
mod support;
mod trees;
