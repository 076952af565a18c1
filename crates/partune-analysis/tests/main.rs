//! The tests of the analyses, in one binary.

mod figures;
mod runs;
mod waits;
