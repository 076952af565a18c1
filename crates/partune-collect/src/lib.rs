//! The core of the recorder, inside the user's program: clock, lanes, call paths, definition log.
//!
//! For the libraries that intercept a paradigm (`partune-collect-*`). What it leaves has the form of `partune-parts`, by which the launcher completes
//! the archive after the run. It brings libc and a walker of stacks, and is inert in a process that was not asked to record.
//!
//! Each thread appends events, in their final OTF2 bytes, to its own `lane`: a ring of chunks in a file that is mapped into memory,
//! so that a process may end in any way (`exit`, abort, `kill -9`) and lose nothing. What events refer to (call paths, communicators,
//! modules) goes to the process's definition `log` when it is first seen. Nobody talks to another process for the sake of recording.
//!
//! Hot path: no lock, no allocation, no system call, no formatting. Cost of a recorded call: two reads of the clock and about 30 bytes.
#![allow(unsafe_code, reason = "mapped memory, thread-local pointers and the C library")]
#![allow(clippy::cast_ptr_alignment, reason = "mappings are aligned to pages")]

mod around;
mod attention;
mod budget;
mod call;
pub mod callers;
mod choice;
mod counters;
pub mod creation;
mod current;
mod death;
pub mod definitions;
mod descriptor;
pub mod errno;
#[cfg(target_arch = "x86_64")]
mod exact;
pub mod facts;
pub mod frame;
pub mod job;
mod lane;
mod leaving;
pub mod loader;
mod log;
mod mapped;
pub mod masks;
pub mod meeting;
pub mod memory;
pub mod modules;
pub mod next;
mod papi;
mod path;
mod paths;
mod perf;
mod process;
mod profile;
mod python;
mod ran;
mod records;
mod region;
mod restart;
mod room;
pub mod runtime;
mod sample;
mod scratch;
mod settings;
mod signals;
mod stack;
mod state;
pub mod team;
mod thread;
mod ticks;
mod timer;
mod unwind;
pub mod user;

pub use call::{
    Call, Known, LeftOut, enter, enter_inside, enter_poll, enter_region, enter_tentatively, is_in_call,
    is_recorded_thread, known, leave, leave_one_of, leave_out, leave_region, open_call, suspend, tell_since,
};
pub use death::watch_again;
pub use log::note;
pub use partune_parts::clock::{microsecond, now, wall};
pub use partune_parts::encode::Message;
pub use partune_parts::layout::{ANYBODY, AwaitedThread};
pub use partune_parts::log::How;
pub use partune_parts::machine::boot;
pub use process::{begin, end, identify, identify_threads, killed, switch};
pub use records::gauge;
pub use region::{Kind, Region};
pub use signals::{is_left_alone, may_be_in_handler};
pub use state::{is_paused, is_recorded};
pub use thread::AtThreadEnd;
pub use user::{record_everywhere, record_in_phases};
