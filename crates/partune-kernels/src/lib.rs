//! Loops of machine code: what a processor core needs for one turn of each at least, and which bound loses how much to the next one.
//!
//! For whoever has the code of a function: pure functions of bytes, no file, no clock. The bounds are those of Hung and Davidson's hierarchy
//! (M, MA, MAC, MACS) with all data in the first cache, in cycles of the core for one turn of the *source's* loop.
//!
//! | question | module |
//! |---|---|
//! | what the instructions do | [`instruction`], decoded by [`x86`] |
//! | which loops there are, and what every turn runs | [`flow`], [`body`] |
//! | what the source asks for, before it is compiled | [`ir`] |
//! | how they step through memory | [`streams`] |
//! | how many turns of the source's loop one of the machine's does | [`mod@turns`], by [`elements`] and [`operations`] |
//! | what a core can do | [`mod@core`]: `cores/*.toml`, one file each |
//! | how long at least | [`ports`], [`chain`], [`schedule`], all of it in [`bounds`] |
//! | which lines its accesses bring from caches, and what the machine's ceilings leave it | [`traffic`], [`roofline`] |
//! | how often it was executed, and what that needs | [`counts`] |
//!
//! M and MA are meant to count what the source asks for: [`ir`] does, where LLVM's representation of it is at hand. From machine code alone they count what became
//! of it: what the compiler left out is not there, and what it does twice is. Which of both they are is told wherever they are shown.

pub mod body;
pub mod bounds;
pub mod chain;
pub mod class;
pub mod core;
pub mod counts;
pub mod elements;
pub mod flow;
pub mod instruction;
pub mod ir;
pub mod operations;
pub mod ports;
pub mod roofline;
pub mod schedule;
pub mod streams;
pub mod traffic;
pub mod turns;
pub mod x86;

pub use crate::bounds::{Bounds, Kernel, kernels, kernels_with_data};
pub use crate::core::{Core, core_of, cores};
pub use crate::counts::{CountsError, Executions, Needed};
pub use crate::roofline::{Ceiling, Ceilings, Roof, Roofline};
pub use crate::traffic::{Lines, Traffic, TrafficError};
