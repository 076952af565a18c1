//! Charm++ Projections logs: the symbol table `.sts`, and a `.log` of each PE, plain or compressed.
//!
//! Two layers. [`codec`] turns bytes into records and knows no trace; [`import`] turns records into a trace.

pub mod codec;
pub mod import;
