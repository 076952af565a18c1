//! Paraver traces: `.prv`, plain or compressed, with the names in the `.pcf` and `.row` beside it.
//!
//! Two layers. [`codec`] turns bytes into records and knows no trace; [`import`] turns records into a trace.

pub mod codec;
pub mod import;
