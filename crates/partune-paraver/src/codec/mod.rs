//! Bytes and records: the lines of a `.prv`, its header, and the tables of names in `.pcf` and `.row`.
//!
//! For [`crate::import`], for benchmarks and for fuzzers. No trace in sight, no input or output: whoever reads the file feeds its bytes
//! piece by piece. Nothing here panics on input or allocates more than a line of the input holds.

mod header;
mod names;
mod numbers;
mod scanner;

pub use header::{Communicator, Header, Task};
pub use names::{Pcf, Row};
pub use scanner::{Counts, End, Object, Record, Scanner, Sink};
