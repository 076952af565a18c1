//! Tests of sessions on whole runs.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod hints;
mod leaving;
mod logs;
mod reductions;
