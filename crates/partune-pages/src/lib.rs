//! What the pages show: answers to their questions about runs, and the pages themselves, alone or with all answers in one file.
//!
//! A question is a path and what an address has after `?`; an answer is JSON and bounded, whatever is asked: see `docs/view-api.md`, which
//! says all of them. What is shown is made by the engine, words by `partune-report`; here are only questions and bounds. Who asks (a
//! browser over HTTP, or the report before it is written) is not known here.

mod api;
mod assets;
mod error;
mod history;
mod query;
mod report;
mod run;
mod runs;
mod sources;
mod text;

pub use api::answer;
pub use assets::Assets;
pub use error::{Answer, Error, Fault};
pub use history::History;
pub use report::report;
pub use runs::{Opening, Runs};
pub use sources::Sources;
