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

/// The path of each barrier, sorted.
fn barriers(mpi: &Mpi, flags: &[&str]) -> Option<Vec<Vec<String>>> {
    let built = Built::new(mpi, "variants/realigned.c", flags)?;
    let document = check_counts(&built, &[], &[]).analysis();
    let names = |row: &serde_json::Value| -> Vec<String> {
        let path = row["callpath"].as_array().into_iter().flatten();
        path.map(|name| name.as_str().unwrap_or_default().to_owned()).collect()
    };
    let all = document["callpaths"].as_array().expect("a list").iter().map(names);
    let mut paths: Vec<_> = all.filter(|path| path.last().is_some_and(|last| last == "MPI_Barrier")).collect();
    paths.sort();
    Some(paths)
}

#[test]
fn functions_that_align_their_stack_anew_have_the_paths_of_others() {
    let level = |level: usize| {
        [vec!["main", "run"], ["step", "solve"].repeat(level + 1), vec!["exchange", "MPI_Barrier"]].concat()
    };
    let mut expected: Vec<Vec<&str>> = (0..4).map(level).collect();
    expected.sort();
    for mpi in [&OPEN_MPI, &MPICH] {
        for flags in
            [&["-DREALIGNED"][..], &["-DREALIGNED", "-O1"], &["-DREALIGNED", "-O3", "-fno-omit-frame-pointer"], &[]]
        {
            let Some(found) = barriers(mpi, flags) else { continue };
            assert_eq!(found, expected, "{} {flags:?}", mpi.name);
        }
    }
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
