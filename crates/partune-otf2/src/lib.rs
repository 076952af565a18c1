//! OTF2 archives: the codec (bytes and records), and what turns its records into the event model.
//!
//! For the engine, which opens archives, and for `partune convert`, which copies them. [`codec`] knows no event model.

pub mod codec;
pub mod copy;
pub mod export;
pub mod import;
mod paradigms;
pub mod statistics;
