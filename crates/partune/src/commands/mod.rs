//! One module a command.

pub(crate) mod analyze;
pub(crate) mod convert;
pub(crate) mod machine;
pub(crate) mod model;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod synth;
