//! The notation of the tables, and the look-up that they share.

use crate::Construct;
use std::collections::HashMap;

/// `"name" => Role;` or `"name" => Role, Completion;`, one row a construct. No completion means blocking.
macro_rules! constructs {
    ($($name:literal => $role:ident $(, $completion:ident)?;)*) => {
        &[$($crate::Construct {
            name: $name,
            role: ::partune_trace::Role::$role,
            completion: $crate::row::completion!($($completion)?),
        }),*]
    };
}

macro_rules! completion {
    () => {
        ::partune_trace::Completion::Blocking
    };
    ($completion:ident) => {
        ::partune_trace::Completion::$completion
    };
}

pub(crate) use {completion, constructs};

/// The rows of a table by name.
pub(crate) struct Names(HashMap<String, &'static Construct>);

impl Names {
    /// By canonical name.
    pub(crate) fn new(constructs: &'static [Construct]) -> Names {
        Names(constructs.iter().map(|construct| (construct.name.to_owned(), construct)).collect())
    }

    /// By canonical name in lower case, for languages that fold case.
    pub(crate) fn folded(constructs: &'static [Construct]) -> Names {
        Names(constructs.iter().map(|construct| (construct.name.to_ascii_lowercase(), construct)).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'static Construct> {
        self.0.get(name).copied()
    }
}
