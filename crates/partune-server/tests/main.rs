//! The server over a real socket: what it answers on real archives, and what it refuses.

#![allow(clippy::unwrap_used, reason = "an answer that is not as it should be fails the test")]

mod answers;
mod connections;
mod refusals;
mod requests;
mod site;
