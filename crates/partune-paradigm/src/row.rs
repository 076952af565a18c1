//! The notation of the tables, and the look-up that they share.

use crate::Construct;
use std::collections::HashMap;

/// One row per construct: `"name" => Role;`, then what is not as the role lets expect: `, Completion` where it is not blocking (a wait
/// begins when a blocking one is entered, and never in another), `of Participants` where others than [`Role::participants`] take part.
///
/// [`Role::participants`]: partune_trace::Role::participants
macro_rules! constructs {
    ($($name:literal => $role:ident $(, $completion:ident)? $(of $participants:ident)?;)*) => {
        &[$($crate::Construct {
            name: $name,
            role: ::partune_trace::Role::$role,
            completion: $crate::row::or!([$(::partune_trace::Completion::$completion)?] ::partune_trace::Completion::Blocking),
            participants: $crate::row::or!(
                [$(::partune_trace::Participants::$participants)?] ::partune_trace::Role::$role.participants()
            ),
        }),*]
    };
}

/// What is written, or else what is usual.
macro_rules! or {
    ([] $usual:expr) => {
        $usual
    };
    ([$written:expr] $usual:expr) => {
        $written
    };
}

pub(crate) use {constructs, or};

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
