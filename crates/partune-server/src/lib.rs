//! The server of `partune view`: diagnoses over HTTP, for this machine only.
//!
//! It listens on the loopback, answers who knows its token, and changes nothing. Archives are opened in the background; the page and
//! the list of runs are there at once. What is answered is made by `partune-pages`; here are only addresses, access and connections.

mod access;
mod assets;
mod connections;
mod reply;
mod server;
mod token;

pub use connections::Limits;
pub use server::{ServeError, Server, Settings};
