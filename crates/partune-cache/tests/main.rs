//! Misses of caches, against another program and against what is plain.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod counts;
mod laws;
mod traces;
