//! Real MPI programs under `partune record`: what is recorded is what the program did, by counts that are known by
//! design; waits of known length are found at their line; and where everybody comes in time, nothing is said.
//!
//! The programs are in `programs/` and `waits/`; what is expected of each stands in its first comment, see [`expect`].
//! Scripts are in `python/`. Each runs under every MPI that is installed. Runs must not overlap, so they take a lock, and nextest a group.

mod adapted;
mod adi;
mod baselines;
mod caf;
mod charm4py;
mod choice;
mod counted;
mod couple;
mod crash;
mod cut;
mod dealt;
mod endings;
mod expect;
mod files;
mod gasp;
mod hinted;
mod hybrid;
mod job;
mod launch;
mod marks;
mod mpi_ends;
mod names;
mod one_sided;
mod openmp;
mod openmp_ompt;
mod operations;
mod options;
mod polls;
mod predict;
mod printed;
mod prism;
mod processors;
mod profile;
mod programs;
mod python;
mod repeats;
mod sampled;
mod shmem;
mod sliced;
mod straight;
mod threads;
mod tune;
mod variants;
mod waits;

pub(crate) use launch::alone;
