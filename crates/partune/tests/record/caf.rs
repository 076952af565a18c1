//! Programs of coarray Fortran: what is recorded is what a counter of its own counts; waits of known length are found at their line; addresses are
//! told; MPI underneath is not shown; and however they end, nothing is lost.

use std::collections::BTreeMap;
use std::process::Command;

use super::expect::line_of;
use super::launch::{Built, CAF, STATIC, complaints, run};
use super::one_sided;
use super::printed::counts;
use super::profile::is_the_same;
use super::programs::check_counts;
use super::shmem::check_late;
use super::waits::check_balanced;

/// Each wait is found: pattern, line, who waits, who causes it and in which function, and seconds by the program's own clock.
#[test]
fn late() {
    check_late(&CAF, "caf/late.f90");
}

#[test]
fn balanced() {
    check_balanced(&CAF, "../caf/late.f90");
}

/// A library that is loaded after the recorder's counts calls: the archive has as many, on each image, and none of MPI.
#[test]
fn calls_are_as_many_as_another_counter_counts() {
    let Some(built) = Built::new(&CAF, "caf/counts.f90", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room for a library");
    let library = folder.path().join("libcounter.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/caf/counter.c");
    run(Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl"));
    let built = built.with("LD_PRELOAD", library.display().to_string());
    let recorded = built.record(&[], &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let said = String::from_utf8_lossy(&recorded.output.stdout);
    let counted = said.lines().map(|line| {
        let (words, statement) = line.split_once(": ").unwrap_or_else(|| panic!("not said by the counter: {line}"));
        let [_, rank, _, calls] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [rank, calls] = [rank, calls].map(|number| number.parse::<u64>().expect("a number"));
        (rank as usize, statement, calls)
    });
    let mut expected = vec![BTreeMap::<&str, u64>::new(); 4];
    counted.for_each(|(rank, statement, calls)| *expected[rank].entry(statement).or_default() += calls);
    let found = counts(&recorded.anchor);
    for (rank, expected) in expected.iter_mut().enumerate() {
        assert!(expected.len() > 35, "{said}");
        // From image to image it is both.
        let copies = expected["copy"];
        for access in ["puts", "gets"] {
            *expected.entry(access).or_default() += copies;
        }
        for (name, calls) in &*expected {
            assert_eq!(found[rank].get(*name).unwrap_or(&0), calls, "{name} of image {}: {:#?}", rank + 1, found[rank]);
        }
        assert!(found[rank].keys().all(|name| !name.contains("MPI_")), "{:#?}", found[rank]);
    }
    let document = recorded.analysis();
    assert!(complaints(&document).is_empty(), "{document:#}");
}

#[test]
fn accesses_have_addresses() {
    one_sided::addresses(&CAF, "caf/addresses.f90");
}

#[test]
fn many_small_puts_are_found() {
    one_sided::small_puts(&CAF, "caf/small.f90");
}

#[test]
fn puts_to_a_hot_spot_compete() {
    one_sided::hot_spot(&CAF, "caf/hot.f90");
}

/// A barrier between accesses to different elements orders nothing; those between puts and gets of the same do. A PE that computes for long, or loses its
/// processor, may do anything to its own memory: on a busy machine the first tries may see no redundant one.
#[test]
fn a_barrier_that_orders_nothing_is_redundant() {
    let Some(built) = Built::new(&CAF, "caf/redundant.f90", &[]) else { return };
    let redundant = || {
        let document = check_counts(&built, &[], &[]).analysis();
        ["REDUNDANT", "NEEDED", "AGAIN"].map(|mark| {
            let line = line_of(&built.source, mark).expect("it is marked");
            let findings = document["findings"].as_array().into_iter().flatten();
            findings.filter(|it| it["pattern"] == "redundant_barrier" && it["location"]["line"] == line).count()
        })
    };
    let tries: Vec<[usize; 3]> = (0..3).map(|_| redundant()).collect();
    assert!(tries.iter().any(|found| found[0] == 1), "{tries:?}");
    assert!(tries.iter().all(|found| found[1..] == [0, 0]), "{tries:?}");
}

/// Both worlds are in one archive, each with its operations.
#[test]
fn a_program_of_mpi_and_coarrays() {
    let Some(built) = Built::new(&CAF, "caf/mixed.f90", &[]) else { return };
    let recorded = check_counts(&built, &[], &[]);
    let text = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor)).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("4 PEs in 4 processes, CAF + MPI"), "{text}");
}

/// Of one whose library of coarrays is inside of it MPI underneath is recorded, and the summary says how to get more.
#[test]
fn coarrays_that_were_linked_statically_are_told() {
    let Some(built) = Built::new(&CAF, "caf/small.f90", &[STATIC]) else { return };
    let recorded = built.record(&[], &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    assert!(recorded.said().contains("-lcaf_openmpi"), "{}", recorded.said());
    let found = counts(&recorded.anchor);
    assert!(found[0].contains_key("MPI_Win_allocate"), "{found:#?}");
    let shared = Built::new(&CAF, "caf/small.f90", &[]).expect("it was built before").record(&[], &[]);
    assert!(!shared.said().contains("-lcaf_openmpi"), "{}", shared.said());
}

#[test]
fn a_profile_has_the_same_calls() {
    is_the_same(&CAF, "caf/counts.f90");
}

/// What was told before an image was killed, aborted or stopped is there, and the status is that of the run as it is without the recorder.
#[test]
fn an_end_that_is_none_loses_nothing() {
    let Some(built) = Built::new(&CAF, "caf/ends.f90", &[]) else { return };
    for (end, status) in [("kill", 137), ("abort", 134), ("error", 3), ("stop", 4), ("fail", 137)] {
        let recorded = check_counts(&built, &[], &[end]);
        assert_eq!(recorded.output.status.code(), Some(status), "{end}: {}", recorded.said());
        let found: Vec<BTreeMap<String, u64>> = counts(&recorded.anchor);
        assert!(found.iter().all(|it| it.get("puts") == Some(&10)), "{end}: {found:#?}");
    }
}
