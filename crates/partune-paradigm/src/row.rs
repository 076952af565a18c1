//! The notation of the tables, and the look-up that they share.

use crate::Construct;
use std::collections::HashMap;

/// `"name" => Role;` or `"name" => Role, Completion;`, one row a construct.
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

/// The rows of a table by canonical name.
pub(crate) struct Names(HashMap<&'static str, &'static Construct>);

impl Names {
    pub(crate) fn new(constructs: &'static [Construct]) -> Names {
        Names(constructs.iter().map(|construct| (construct.name, construct)).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'static Construct> {
        self.0.get(name).copied()
    }
}
