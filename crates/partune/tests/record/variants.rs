//! One program, however it was built: lines do not depend on optimisation, position or frame pointers, and a stripped
//! program is still recorded. And libraries that are opened while the program runs.

use std::process::Command;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI, run};
use super::programs::check_counts;
use super::waits::check_waits;

/// One test for each way to build the program of a late sender, and MPI.
macro_rules! builds {
    ($($name:ident $flags:expr;)*) => {
        mod openmpi { $(#[test] fn $name() { super::check_lines(&super::OPEN_MPI, &$flags); })* }
        mod mpich { $(#[test] fn $name() { super::check_lines(&super::MPICH, &$flags); })* }
    };
}

builds! {
    not_optimised ["-O0"];
    without_frame_pointers ["-O3", "-fomit-frame-pointer"];
    at_a_fixed_place ["-no-pie", "-fno-pie"];
    anywhere ["-pie", "-fPIE"];
    optimised_at_link_time ["-flto"];
    compressed_debug_information ["-gz"];
}

fn check_lines(mpi: &Mpi, flags: &[&str]) {
    check_waits(mpi, "late_sender.c", flags);
}

#[test]
fn a_stripped_program_has_counts() {
    for built in [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "programs/modes.c", &[])) {
        run(Command::new("strip").arg(built.program()));
        check_counts(&built, &[], &[]);
    }
}

#[test]
fn a_library_that_is_opened_is_recorded_as_one_that_is_linked() {
    for built in [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "programs/library.c", &[])) {
        check_counts(&built, &[], &[&built.library()]);
    }
}
