//! Functions that are left out: what is not wanted is not there, and what others refer to stays right.

use std::process::Command;

use super::launch::{Built, MPICH, OPEN_MPI};
use super::printed::counts;
use super::programs::check_counts;

const PROGRAM: &str = "choice/kinds.c";

fn built() -> impl Iterator<Item = Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, PROGRAM, &[]))
}

/// Records it with the options; counts of both ranks must be these, and nothing is found wrong with the archive. Messages about what lacks
/// its counterpart.
fn check(built: &Built<'_>, options: &[&str], expected: &[(&str, u64)]) -> Vec<String> {
    let recorded = built.record(options, &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let found = counts(&recorded.anchor);
    assert_eq!(found.len(), 2, "{}", recorded.said());
    for rank in found {
        for (name, number) in expected.iter().chain(&[("MPI_Init", 1), ("MPI_Finalize", 1)]) {
            assert_eq!(rank.get(*name).copied().unwrap_or(0), *number, "{name} with {options:?}: {rank:#?}");
        }
    }
    let document = recorded.analysis();
    let quality = document["quality"].as_array().expect("quality is a list");
    assert!(quality.iter().all(|it| it["severity"] == "info"), "{options:?}: {quality:#?}");
    let said = quality.iter().find(|it| it["code"] == "left-out-calls").map(|it| it["message"].to_string());
    assert!(said.is_some_and(|said| said.contains(&options.join(" "))), "{options:?}: {quality:#?}");
    let of_parts =
        quality.iter().filter(|it| it["remedy"].as_str().is_some_and(|it| it.contains("left out of the recording")));
    of_parts.map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn everything_is_recorded_unless_something_is_left_out() {
    for built in built() {
        let recorded = check_counts(&built, &[], &[]);
        let document = recorded.analysis();
        let quality = document["quality"].as_array().expect("quality is a list");
        assert!(quality.iter().all(|it| it["code"] != "left-out-calls"), "{quality:#?}");
    }
}

/// A communicator is known though the call that made it is not there; polls, tests and inquiries are gone.
#[test]
fn functions_classes_and_roles_are_left_out() {
    for built in built() {
        let all = [("sends", 14), ("received", 164), ("MPI_Allreduce", 2), ("MPI_Barrier", 3), ("MPI_Wait", 12)];
        let left_out = ["MPI_Iprobe", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Comm_rank"].map(|name| (name, 0));
        let expected = [&all[..], &left_out].concat();
        assert_eq!(check(&built, &["--not", "test,communicator,MPI_Comm_rank"], &expected), [""; 0]);
        let expected = [("sends", 0), ("MPI_Isend", 0), ("MPI_Wait", 0), ("MPI_Allreduce", 2), ("MPI_Barrier", 3)];
        assert_eq!(check(&built, &["--only", "collective"], &[&expected[..], &left_out].concat()), [""; 0]);
        let expected = [("sends", 14), ("receives", 14), ("MPI_Allreduce", 0), ("MPI_Barrier", 0), ("MPI_Iprobe", 0)];
        assert_eq!(check(&built, &["--only", "p2p", "--not", "MPI_Iprobe"], &expected), [""; 0]);
    }
}

/// Whatever gives a request and whatever completes it may be left out, and handles that are used again mean what they mean then.
#[test]
fn requests_are_right_whichever_half_is_left_out() {
    for built in built() {
        // Of nine that are received by a request 4·8 + 5·4 bytes; the sends of both sides are the persistent and the blocking ones.
        let expected = [("MPI_Isend", 0), ("sends", 5), ("sent", 112), ("receives", 14), ("received", 164)];
        assert_eq!(check(&built, &["--not", "MPI_Isend"], &expected), ["unmatched-messages"]);
        // Five are never seen to complete.
        let expected = [("MPI_Waitall", 0), ("sends", 14), ("receives", 9), ("received", 144)];
        assert_eq!(check(&built, &["--not", "MPI_Waitall"], &expected), ["unmatched-messages", "uncompleted-receives"]);
        // A persistent request that nobody saw made is started.
        let expected = [("MPI_Send_init", 0), ("MPI_Start", 4), ("sends", 14), ("receives", 14), ("received", 164)];
        assert_eq!(check(&built, &["--not", "MPI_Send_init,MPI_Recv_init"], &expected), [""; 0]);
    }
}

#[test]
fn sends_to_receives_that_were_left_out_are_no_fault() {
    for built in built() {
        let expected = [("MPI_Recv", 0), ("sends", 14), ("receives", 11), ("received", 116)];
        assert_eq!(check(&built, &["--not", "MPI_Recv"], &expected), ["unmatched-messages"]);
    }
}

/// A profile has no calls of them either.
#[test]
fn a_profile_leaves_them_out_too() {
    for built in built() {
        let recorded = built.record(&["--profile", "--not", "MPI_Wait*"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let document = recorded.analysis().to_string();
        assert!(document.contains("MPI_Isend") && !document.contains("\"MPI_Waitall\""), "{document}");
    }
}

#[test]
fn words_that_say_nothing_are_errors_before_the_run() {
    let folder = tempfile::tempdir().expect("there is room");
    let (ran, made) = (folder.path().join("ran"), folder.path().join("made"));
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.args(["record", "--not", "p2p,MPI_Iprob", "-o"]).arg(&made).args(["--", "touch"]).arg(&ran);
    let output = partune.output().expect("partune runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("is it MPI_Iprobe?"), "{said}");
    assert!(!ran.exists() && !made.exists(), "{said}");
}

/// A phase, a loop and its first turns; what is made outside of them is known inside.
#[test]
fn only_marked_phases_are_recorded() {
    let include = format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR"));
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "choice/phases.c", &[&include]) else { continue };
        check_counts(&built, &[], &[]);
        let loops = |turns| {
            let messages = [
                ("main/MPI_Sendrecv", turns),
                ("main/MPI_Waitall", turns),
                ("sends", 2 * turns),
                ("received", 12 * turns),
            ];
            [&messages[..], &[("steps", 1 + turns), ("inner", 3 * turns), ("main/MPI_Barrier", 0)]].concat()
        };
        let barriers =
            |visits| vec![("main/MPI_Sendrecv", 0), ("main/MPI_Barrier", visits), ("output", visits), ("steps", 0)];
        let none = vec![("main/MPI_Sendrecv", 0), ("main/MPI_Barrier", 0), ("sends", 0), ("steps", 0), ("output", 0)];
        for (phase, expected) in [
            ("steps", loops(10)),
            ("steps:3", loops(3)),
            ("steps:99", loops(10)),
            ("output", barriers(3)),
            ("output:2", barriers(2)),
            ("nowhere", none),
        ] {
            let recorded = built.record(&["--phase", phase], &[]);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            for rank in counts(&recorded.anchor) {
                for (name, number) in expected.iter().chain(&[("MPI_Init", 1), ("MPI_Finalize", 1)]) {
                    assert_eq!(rank.get(*name).copied().unwrap_or(0), *number, "{name} in {phase}: {rank:#?}");
                }
            }
            let is_said = recorded.said().contains("no phase, region or loop nowhere was marked");
            assert_eq!(is_said, phase == "nowhere", "{}", recorded.said());
            let document = recorded.analysis();
            let quality = document["quality"].as_array().expect("quality is a list");
            assert!(quality.iter().all(|it| it["severity"] == "info"), "{phase}: {quality:#?}");
        }
    }
}
