//! What was noticed about the input, as data.
//!
//! Every reader and every index reports what it could not read, repair or match as a [`Diagnostic`]. Nothing here renders
//! text for a terminal and nothing here decides an exit status; that happens at the edge.
//!
//! What it is has a [`Code`], which programs may rely on; the message is for people.
//!
//! A damaged archive can produce the same diagnostic a million times, so they are collected in a [`Quality`], which counts
//! equal messages instead of keeping them.

mod code;
mod numbers;

pub use code::Code;
pub use numbers::{fixed, scale, seconds, three_digits};

/// How bad it is for the reader of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Severity {
    /// Worth knowing; every number is as good as without it.
    Info,
    /// Something was recorded that could not be used, or is missing; numbers may be too small.
    DataLoss,
    /// A part of the input could not be read at all.
    Error,
}

impl Severity {
    pub const ALL: [Severity; 3] = [Severity::Info, Severity::DataLoss, Severity::Error];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::DataLoss => "data_loss",
            Severity::Error => "error",
        }
    }
}

/// One kind of thing that was noticed, and how often.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// What happened, and where (file, PE); one sentence without a full stop.
    pub message: String,
    /// What the user can do about it; empty if nothing.
    pub remedy: String,
    /// How many times it happened.
    pub count: u64,
}

impl Diagnostic {
    pub fn new(code: Code, severity: Severity, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), remedy: remedy.into(), count: 1 }
    }

    pub fn info(code: Code, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Severity::Info, message, remedy)
    }

    pub fn data_loss(code: Code, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Severity::DataLoss, message, remedy)
    }

    pub fn error(code: Code, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message, remedy)
    }

    #[must_use]
    pub fn times(mut self, count: u64) -> Self {
        self.count = count;
        self
    }
}

/// All diagnostics of an input, in the order of their first occurrence, equal ones counted together.
///
/// Bounded: after [`Quality::LIMIT`] distinct entries the rest is only counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quality {
    entries: Vec<Diagnostic>,
    dropped: u64,
}

impl Quality {
    /// How many distinct diagnostics are kept.
    pub const LIMIT: usize = 256;

    /// Adds a diagnostic; one with a count of zero is ignored.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if diagnostic.count == 0 {
            return;
        }
        let same = |it: &&mut Diagnostic| {
            (it.code, it.severity) == (diagnostic.code, diagnostic.severity) && it.message == diagnostic.message
        };
        if let Some(entry) = self.entries.iter_mut().find(same) {
            entry.count = entry.count.saturating_add(diagnostic.count);
        } else if self.entries.len() < Self::LIMIT {
            self.entries.push(diagnostic);
        } else {
            self.dropped = self.dropped.saturating_add(diagnostic.count);
        }
    }

    /// Appends everything of `other`, in its order.
    pub fn merge(&mut self, other: Quality) {
        for entry in other.entries {
            self.add(entry);
        }
        self.dropped = self.dropped.saturating_add(other.dropped);
    }

    /// Takes what lacks its counterpart for what it is where the user chose to record a part only: to be expected, and no loss.
    pub fn expect_parts(&mut self, remedy: &str) {
        for entry in self.entries.iter_mut().filter(|entry| entry.code.is_of_parts()) {
            entry.severity = Severity::Info;
            remedy.clone_into(&mut entry.remedy);
        }
    }

    /// The distinct diagnostics, in the order of their first occurrence.
    pub fn entries(&self) -> &[Diagnostic] {
        &self.entries
    }

    /// Occurrences beyond [`Quality::LIMIT`] distinct diagnostics, not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.dropped == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_messages_are_counted_together_and_the_list_is_bounded() {
        let mut quality = Quality::default();
        quality.add(Diagnostic::info(Code::RecorderNote, "a", ""));
        quality.add(Diagnostic::info(Code::RecorderNote, "a", "").times(4));
        quality.add(Diagnostic::info(Code::RecorderNote, "never", "").times(0));
        assert_eq!(quality.entries(), [Diagnostic::info(Code::RecorderNote, "a", "").times(5)]);
        for i in 0..1000 {
            quality.add(Diagnostic::error(Code::DamagedFile, format!("message {i}"), ""));
        }
        assert_eq!(quality.entries().len(), Quality::LIMIT);
        assert_eq!(quality.dropped(), 1000 - (Quality::LIMIT as u64 - 1));
    }
}
