//! Operations and patterns of the user's own: which functions of a program or library do what, and which operations are findings.
//!
//! For the engine, which is given a small TOML file ([`read`]), makes its functions operations before anything is derived from a trace
//! ([`Operations::assign`]), and hands its patterns to the analyses. docs/operations.md is the manual. Nothing here opens a file, and no
//! text panics.

mod assign;
mod condition;
mod file;
mod parse;

use partune_trace::{Completion, Participants, Role};

pub use condition::{Condition, Figures, Measure, Relation};
pub use file::{ReadError, read};
pub use parse::{Wrong as WrongCondition, parse as condition};

/// What a file says; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// In the order of the file: the first that fits a function counts.
    pub rules: Vec<Rule>,
    /// In the order of the file. They live as long as the process, as the patterns that every build has.
    pub patterns: Vec<&'static OwnPattern>,
}

/// What functions of a name do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// As the archive has it, or the begin of names and a `*`.
    pub name: String,
    pub role: Role,
    /// Who takes part, where the file says it.
    pub group: Option<Participants>,
    pub completion: Completion,
}

/// A pattern of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnPattern {
    /// `user:` and what the file calls it. Unique in a file.
    pub name: String,
    /// What it means.
    pub text: String,
    /// What can be done.
    pub next: String,
    /// Which operations are findings.
    pub when: Condition,
}

impl OwnPattern {
    /// What the names of all of them begin with.
    pub const PREFIX: &'static str = "user:";

    /// What the file calls it.
    pub fn own_name(&self) -> &str {
        self.name.strip_prefix(Self::PREFIX).unwrap_or(&self.name)
    }
}

impl Operations {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.patterns.is_empty()
    }
}
