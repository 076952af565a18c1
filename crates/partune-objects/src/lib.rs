//! Programs of objects that send each other messages (Charm++ and its like), after the fact: what their event graph tells of placement,
//! scheduling and communication.
//!
//! For whoever has an event graph: a reader of traces, the engine, generators. All is pure functions on plain values: nothing reads a file,
//! knows a trace, or says a word to people. The source is Paradise (Krishnan and Kalé, "Automating parallel runtime optimizations using
//! post-mortem analysis", ICS 1996); what is not in it is said where it stands.
//!
//! | question | module |
//! |---|---|
//! | what happened, and why | [`graph`], [`interaction`] |
//! | in phases? who talks to whom? created where and when? | [`phases`], [`locality`], [`creation`] |
//! | where should objects be | [`align`], [`block`], [`constraint`], [`candidates`], [`map`], [`tree`]; any graph: [`partition`] |
//! | what should come first, in pieces, together | [`priority`], [`pipeline`], [`combine`] |
//! | and what would that gain | [`simulate`], with [`programs`] to try it on |
//!
//! # The tables of Paradise
//!
//! `cargo run -p partune-objects --example tables` simulates its four programs on one machine ([`programs::MACHINE`]), of which nothing is
//! fitted to a single table:
//!
//! | table | run | ms | PEs busy | ratio | paper |
//! |---|---|---|---|---|---|
//! | 1 | elimination, placed at random | 35916 | 88 % | 1.108 | 1.109 |
//! |  | elimination, row i on PE i mod 32 | 32416 | 98 % | 1.000 |  |
//! | 3 | without priorities | 37544 | 84 % | 1.158 | 1.249 |
//! | 3 | without priorities, next pivot's PE first | 32417 | 98 % | 1.000 |  |
//! |  | with priorities, next pivot's PE first | 32416 | 98 % | 1.000 |  |
//! | 2 | factorial, placed at random | 505 | 90 % | 4.883 | 4.196 |
//! |  | factorial, PEs split among children | 103 | 97 % | 1.000 |  |
//! | 4 | values, each on its own | 98 | 7 % | 13.578 | 2.07 |
//! |  | values, combined on each PE | 7 | 17 % | 1.000 |  |
//!
//! 465 messages fewer save 0.196 ms each, as 480 do in the paper. What one machine does not give: the 80 ms that both runs of table 4 have in
//! common and nothing explains, hence its ratio; and table 3's exact ratio, which is all of the order in which a multicast sends its
//! copies. Where the next pivot's PE is the first to hear, priorities gain nothing.

pub mod align;
pub mod block;
pub mod candidates;
pub mod combine;
pub mod constraint;
pub mod creation;
mod csr;
pub mod deduce;
pub mod graph;
pub mod interaction;
pub mod locality;
pub mod map;
pub mod partition;
pub mod phases;
pub mod pipeline;
pub mod priority;
pub mod programs;
pub mod random;
pub mod recorded;
pub mod simulate;
mod statistics;
pub mod tree;
