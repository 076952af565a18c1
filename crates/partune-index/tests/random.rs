//! Random runs: what was matched when the run was made is what is found.
