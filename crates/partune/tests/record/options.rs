//! The options of `partune record`, and what it says when there is nothing to record.

use std::path::Path;
use std::process::{Command, Output};

use super::launch::{Built, MPICH, OPEN_MPI};
use super::printed::{counts, depths};
use super::programs::check_counts;

fn built(file: &str) -> impl Iterator<Item = Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(move |mpi| Built::new(mpi, file, &[]))
}

#[test]
fn a_small_buffer_loses_nothing() {
    for built in built("programs/many.c") {
        check_counts(&built, &["--buffer", "128K"], &[]);
    }
}

#[test]
fn paths_are_as_deep_as_asked_for() {
    for built in built("programs/recursion.c") {
        let deepest = |options: &[&str]| {
            let recorded = check_counts(&built, options, &[]);
            depths(&recorded.anchor, "MPI_Allreduce")
        };
        // One call each ten levels, from `main` down to level 0, and the construct itself.
        let all: Vec<usize> = (0..=20).map(|level| 3 + 10 * level).collect();
        assert_eq!(deepest(&["--depth", "300"]), all);
        assert_eq!(deepest(&["--depth", "5"]), [3, 6], "the innermost five frames, where there are more");
        assert_eq!(deepest(&["--depth", "0"]), [1]);
    }
}

#[test]
fn counters_are_read_at_each_call() {
    for built in built("programs/modes.c") {
        let recorded = check_counts(&built, &["--counters", "cpu-time,page-faults"], &[]);
        for counts in counts(&recorded.anchor) {
            // Two counters where a call begins and where it ends.
            assert!(counts["counters"] >= 4 * counts["MPI_Send"], "{counts:#?}");
        }
    }
}

#[test]
fn a_profile_counts_the_same_calls_and_has_no_events() {
    for built in built("waits/late_sender.c") {
        let recorded = built.record(&["--profile"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        assert!(counts(&recorded.anchor).iter().all(|counts| counts.keys().eq(["threads"])), "no events");
        let document = recorded.analysis();
        assert_eq!((&document["events"], &document["pes"]), (&0.into(), &2.into()));
    }
}

#[test]
fn nothing_recorded_is_said() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let at = |name: &str| folder.path().join(name);
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let output = record(&at("no-mpi"), &["true"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("no process was recorded"), "{}", said(&output));
    assert!(!at("no-mpi").join("traces.otf2").exists(), "no archive that is none");

    let output = record(&at("nobody"), &["/no/such/program"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("/no/such/program"), "{}", said(&output));

    let output = record(&at("usage"), &[]);
    assert!(!output.status.success(), "a command is needed");
}

#[test]
fn a_recording_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("mine");
    std::fs::write(&file, "mine").expect("a file can be written");
    let output = record(folder.path(), &["true"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "mine");
}

fn record(folder: &Path, command: &[&str]) -> Output {
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.args(["record", "-o"]).arg(folder).arg("--").args(command).output().expect("partune runs")
}
