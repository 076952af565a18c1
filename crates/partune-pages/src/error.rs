//! Answers: JSON, or what is wrong with a question.

use serde::Serialize;

/// The bytes of an answer in JSON, or why there is none.
pub type Answer = Result<Vec<u8>, Error>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Error {
    #[serde(skip)]
    pub fault: Fault,
    #[serde(rename = "error")]
    pub message: String,
    pub remedy: String,
}

/// What is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The question is wrong.
    Question,
    /// What it asks for does not exist.
    Unknown,
    /// The run is not open, or could not be opened.
    NotReady,
    /// partune itself.
    Own,
}

/// Writes an answer.
pub(crate) fn json(value: &impl Serialize) -> Answer {
    let failed = |error| Error::new(Fault::Own, format!("the answer cannot be written: {error}"), "report it");
    serde_json::to_vec(value).map_err(failed)
}

impl Error {
    pub(crate) fn new(fault: Fault, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { fault, message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn question(message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(Fault::Question, message, remedy)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Error {
        Error::new(Fault::Unknown, message, "docs/view-api.md lists what there is")
    }

    /// It needs times, and the run is a profile.
    pub(crate) fn profile() -> Error {
        let message = "this run is a profile: nothing is known of when things happened";
        Error::new(Fault::Unknown, message, "record without --profile")
    }

    /// It needs events, and of a run that was looked at in slices there are sums.
    pub(crate) fn slices() -> Error {
        let message = "this run is too large to keep its events: it was looked at in slices";
        Error::new(Fault::Unknown, message, "select a part of it in the timeline, and analyse only this")
    }
}
