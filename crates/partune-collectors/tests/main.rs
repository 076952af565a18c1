//! The collector in real programs: what it tells of them under each MPI, and that it is silent where nobody asked.
//!
//! Bytes and communicators follow from the programs in `programs/`; what happens to whole archives is tested with `partune record`.

mod recorded;
mod run;
