//! What is wrong with a model, as data: a message, where, and what to do. Shown by the command line.

use std::ops::Range;

/// Bytes of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub begin: u32,
    pub end: u32,
}

impl Span {
    pub fn new(begin: usize, end: usize) -> Span {
        Span { begin: begin as u32, end: end as u32 }
    }

    /// From the begin of this to the end of the other.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { begin: self.begin.min(other.begin), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.begin as usize..self.end as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// One line, without a full stop.
    pub message: String,
    pub span: Span,
    /// What to write instead; empty if there is no advice.
    pub help: String,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), span, help: String::new() }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Whether it says that something is not defined or not used.
    pub fn about_names(&self) -> bool {
        self.message.starts_with("no ")
            || self.message.starts_with("there is no ")
            || self.message.ends_with("never used")
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }
}

/// Whether any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
