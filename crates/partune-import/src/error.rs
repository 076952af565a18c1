//! Why an input cannot be read at all. Damage that leaves something to read is no error but a diagnostic of the trace.

use std::fmt;

use partune_job::Unable;

/// What is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Stable, for programs: `unreadable`, `damaged`, `unsupported`, `empty`.
    pub code: &'static str,
    /// The file, and where in it if that is known; empty if it is the entry itself.
    pub place: String,
    pub message: String,
    /// What helps; empty if nothing is known to.
    pub remedy: String,
}

impl ImportError {
    /// The system does not let us read a file.
    pub fn unreadable(name: &str, error: &std::io::Error) -> ImportError {
        ImportError {
            code: "unreadable",
            place: String::new(),
            message: format!("cannot read {name}: {error}"),
            remedy: "check that the file is there and readable".to_owned(),
        }
    }

    /// What is in a file makes no sense.
    pub fn damaged(place: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError { code: "damaged", place: place.into(), message: message.into(), remedy: remedy.into() }
    }

    /// One of the processes that share the work does not get at it.
    pub fn elsewhere(unable: &Unable) -> ImportError {
        ImportError {
            code: "unreadable",
            place: String::new(),
            message: format!("{} cannot take part: {}", unable.name, unable.why.replace('\n', ";")),
            remedy: "let all nodes of the job see the same archive, or start one process".to_owned(),
        }
    }

    /// It is what it claims to be, and partune does not read that.
    pub fn unsupported(message: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError { code: "unsupported", place: String::new(), message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(to, "{}: ", self.place)?;
        }
        write!(to, "{}", self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(to, "\n  remedy: {}", self.remedy) }
    }
}

impl std::error::Error for ImportError {}
