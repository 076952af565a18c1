//! The server of `partune view`: diagnoses over HTTP, for this machine only.
//!
//! It listens on the loopback, answers who knows its token, and changes nothing. Archives are opened in the background; the page and
//! the list of runs are there at once. Every answer is bounded, whatever is asked: see `docs/view-api.md`, which says all of them. What is
//! shown is made by the engine and by `partune-picture`, words by `partune-report`; here are only addresses, questions and bounds.

mod access;
mod api;
mod assets;
mod connections;
mod query;
mod reply;
mod run;
mod runs;
mod server;
mod text;
mod token;

pub use connections::Limits;
pub use server::{ServeError, Server, Settings};
