//! Projections files as bytes: lines of numbers, what records they are, and the symbol table. No trace is in sight.

mod lines;
mod record;
mod sts;

pub use lines::{Counts, Line, Lines};
pub use record::{Layout, Record, Span, To};
pub use sts::{Chare, Entry, Sts};
