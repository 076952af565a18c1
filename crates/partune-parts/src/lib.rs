//! The parts of a recording: what a recorded process leaves, and the launcher completes after the run.
//!
//! Each thing that both have to agree on is here once: the files and their headers ([`layout`]), the bytes of events ([`encode`]), what is kept
//! raw until there is time ([`draft`], [`polls`]), the lines of the definition log ([`log`]), functions of interpreters in it ([`script`]), those of the filter ([`filter`]), and what a tick and a machine
//! are ([`clock`], [`machine`]). It runs inside the user's program, so it depends on libc alone, and does nothing unless it is asked.
#![allow(unsafe_code, reason = "events are written in place, and the C library is asked")]

pub mod choice;
pub mod clock;
pub mod draft;
pub mod encode;
pub mod filter;
pub mod layout;
pub mod log;
pub mod machine;
pub mod polls;
pub mod script;
