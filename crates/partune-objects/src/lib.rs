//! Programs of objects that send each other messages (Charm++ and its like), after the fact: what their event graph tells of placement,
//! scheduling and communication.
//!
//! For whoever has an event graph: a reader of traces, the engine, generators. All is pure functions on plain values: nothing reads a file,
//! knows a trace, or says a word to people. The source is Paradise (Krishnan and Kalé, "Automating parallel runtime optimizations using
//! post-mortem analysis", ICS 1996); what is not in it is said where it stands.

pub mod align;
pub mod block;
pub mod candidates;
pub mod constraint;
pub mod creation;
mod csr;
pub mod graph;
pub mod interaction;
pub mod locality;
pub mod map;
pub mod partition;
pub mod phases;
pub mod programs;
pub mod random;
pub mod simulate;
mod statistics;
pub mod tree;
