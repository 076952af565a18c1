//! Waits of known length, at a known line, with known causes; and the same programs when everybody comes in time.

use serde_json::Value;

use super::expect::{Wait, line_of};
use super::launch::{Built, MPICH, Mpi, OPEN_MPI};

/// Two tests for each program and MPI: late, and balanced.
macro_rules! waits {
    ($($name:ident $file:literal)*) => {
        mod openmpi { $(mod $name {
            use super::super::*;
            #[test] fn late() { check_late(&OPEN_MPI, $file); }
            #[test] fn balanced() { check_balanced(&OPEN_MPI, $file); }
        })* }
        mod mpich { $(mod $name {
            use super::super::*;
            #[test] fn late() { check_late(&MPICH, $file); }
            #[test] fn balanced() { check_balanced(&MPICH, $file); }
        })* }
    };
}

waits! {
    late_sender "late_sender.c"
    late_receiver "late_receiver.c"
    wait_at_barrier "wait_at_barrier.c"
    wait_at_nxn "wait_at_nxn.c"
    late_broadcast "late_broadcast.c"
    early_reduce "early_reduce.c"
    late_fence "late_fence.c"
    waitall "waitall.c"
    persistent "persistent.c"
    subcomm "subcomm.c"
    master "master.c"
    two_places "two_places.c"
    collectives "collectives.c"
    fortran "fortran.f90"
}

fn check_late(mpi: &Mpi, file: &str) {
    if !mpi.is_here() {
        return;
    }
    let built = Built::new(mpi, &format!("waits/{file}"), &[]);
    check_waits(built, &[]);
}

/// Every wait of the program is found: pattern, line, seconds within 5 %, who waits, who causes it.
pub(super) fn check_waits(mut built: Built<'_>, options: &[&str]) {
    let waits = std::mem::take(&mut built.expected.waits);
    assert!(!waits.is_empty(), "the program says what it waits for");
    let recorded = built.record(options, &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let document = recorded.analysis();
    for wait in waits {
        check_wait(&wait, &document);
    }
}

fn check_wait(wait: &Wait, document: &Value) {
    let findings = || document["findings"].as_array().into_iter().flatten();
    let all: Vec<_> =
        findings().map(|it| (&it["pattern"], &it["construct"], &it["location"], &it["seconds"])).collect();
    let path = |it: &Value| match &wait.path {
        None => true,
        Some(path) => it["callpath"].as_array().into_iter().flatten().any(|region| region == path.as_str()),
    };
    let is_it = |it: &&Value| {
        it["pattern"] == wait.pattern.as_str()
            && it["construct"] == wait.construct.as_str()
            && path(it)
            && it["location"]["line"] == wait.line
    };
    let found = findings().find(is_it).unwrap_or_else(|| panic!("{wait:?} is not among {all:#?}"));
    let of_pe = |list: &str, pe: u64| -> f64 {
        let entries = found[list].as_array().into_iter().flatten();
        entries.filter(|it| it["pe"] == pe).filter_map(|it| it["seconds"].as_f64()).sum()
    };
    for pe in 0..4 {
        let (waits, blame) = (of_pe("pes", pe), of_pe("causes", pe));
        if wait.ranks.contains(&pe) {
            assert!((waits / wait.seconds - 1.0).abs() < 0.05, "{pe} waits {waits} s: {wait:?} {found:#}");
        } else {
            assert!(waits < 0.05 * wait.seconds, "{pe} waits {waits} s: {wait:?} {found:#}");
        }
        let causes = blame > 0.05 * wait.seconds;
        assert_eq!(causes, wait.causes.contains(&pe), "{pe} causes {blame} s: {wait:?} {found:#}");
    }
}

/// Nothing above 1 % of the run is said of a program in which nobody is late, but for what its start and its end cost:
/// `MPI_Init`, the first meeting (marked `START`), and `MPI_Finalize`.
fn check_balanced(mpi: &Mpi, file: &str) {
    if !mpi.is_here() {
        return;
    }
    let built = Built::new(mpi, &format!("waits/{file}"), &[]);
    let start = line_of(&built.source, "START");
    let recorded = built.record(&[], &["balanced"]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let document = recorded.analysis();
    let said = document["findings"].as_array().into_iter().flatten().filter(|it| {
        let is_start = start.is_some_and(|line| it["location"]["line"] == line);
        let is_edge = ["MPI_Init", "MPI_Finalize"].iter().any(|name| it["construct"] == *name);
        it["fraction"].as_f64().is_some_and(|share| share > 0.01) && !is_start && !is_edge
    });
    let said: Vec<_> = said.collect();
    assert!(said.is_empty(), "{said:#?}");
}
