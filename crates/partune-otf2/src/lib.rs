//! OTF2 archives: the codec (bytes and records), and what turns its records into the event model.
//!
//! For the engine, which opens archives, for `partune convert`, which copies them, and for those who [write] some. [`codec`] knows no event model.

pub mod codec;
pub mod copy;
pub mod ending;
pub mod export;
pub mod import;
pub mod io;
pub mod memory;
mod objects;
pub mod paradigms;
pub mod processors;
pub mod shallow;
pub mod start;
pub mod statistics;
pub mod write;
