//! One module a command.

pub(crate) mod advise;
pub(crate) mod analyze;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod filter;
pub(crate) mod hints;
pub(crate) mod kernel;
pub(crate) mod ledger;
pub(crate) mod machine;
pub(crate) mod man;
pub(crate) mod model;
pub(crate) mod operations;
pub(crate) mod piece;
pub(crate) mod record;
pub(crate) mod repeat;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scale;
pub(crate) mod share;
pub(crate) mod straight;
pub(crate) mod synth;
pub(crate) mod tune;
pub(crate) mod view;
pub(crate) mod whatif;
