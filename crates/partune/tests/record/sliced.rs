//! Recordings of programs are looked at slice by slice as they are as a whole, though their functions are known from the callers of operations and from samples alone.

use serde_json::Value;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI};
use crate::slices::{same, sliced, whole, without_delays};

/// Cut wherever that can be, and at times.
const SLICES: [u64; 3] = [1, 200, 1000];
/// So many that the recorder writes events while the program runs.
const MANY: &[&str] = &["6000"];
/// Of many events.
const LARGER: [u64; 2] = [20_000, 200_000];

fn without_samples(mpi: &Mpi, turns: &[&str], slices: &[u64]) {
    let Some(built) = Built::new(mpi, "sliced/halo.c", &[]) else { return };
    recorded_without_samples(&built, mpi, turns, slices);
}

fn recorded_without_samples(built: &Built<'_>, mpi: &Mpi, turns: &[&str], slices: &[u64]) {
    recorded_with(built, mpi, &[], turns, slices);
}

/// Returns what is said of the whole.
fn recorded_with(built: &Built<'_>, mpi: &Mpi, options: &[&str], turns: &[&str], slices: &[u64]) -> Value {
    let recorded = built.record(&[&["--sample", "off", "--buffer", "64K"], options].concat(), turns);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let all = without_delays(whole(&recorded.anchor));
    for slice in slices.iter().copied() {
        let sliced = sliced(&recorded.anchor, slice).expect("it can be cut");
        same(&all, &without_delays(sliced), &format!("{} {slice}", mpi.name));
    }
    all
}

#[test]
fn functions_are_those_of_the_whole() {
    without_samples(&OPEN_MPI, &[], &SLICES);
    without_samples(&MPICH, &[], &SLICES);
}

/// Accesses lie on both sides of each cut, and some begin where the last one before it ended.
#[test]
fn files_are_those_of_the_whole() {
    for mpi in [OPEN_MPI, MPICH] {
        let Some(built) = Built::new(&mpi, "sliced/files.c", &[]) else { continue };
        recorded_without_samples(&built, &mpi, &[], &[1, 200, 1000]);
    }
}

/// Of a runtime that the recorder stands in front of, and of one that tells it of teams.
#[test]
fn teams_are_those_of_the_whole() {
    for mpi in [OPEN_MPI, MPICH] {
        let Some(built) = Built::new(&mpi, "sliced/teams.c", &["-fopenmp"]) else { continue };
        recorded_without_samples(&built, &mpi, &[], &SLICES);
        let built = built.with("LD_PRELOAD", "libomp.so.5".to_owned());
        recorded_without_samples(&built, &mpi, &[], &[1]);
    }
}

/// They are read where operations begin and end, so at each cut and in threads of teams.
#[test]
fn counters_are_those_of_the_whole() {
    for (file, flags) in [("sliced/halo.c", &[][..]), ("sliced/teams.c", &["-fopenmp"])] {
        let Some(built) = Built::new(&OPEN_MPI, file, flags) else { continue };
        for counters in ["page-faults,context-switches", "cpu-time,page-faults"] {
            let all = recorded_with(&built, &OPEN_MPI, &["--counters", counters], &[], &SLICES);
            let names = all["counters"].as_array().into_iter().flatten().filter_map(|row| row["metric"].as_str());
            let first = counters.split(',').next();
            assert!(names.into_iter().any(|name| Some(name) == first), "{counters}: {}", all["counters"]);
        }
    }
}

#[test]
fn where_the_recorder_wrote_is_known() {
    without_samples(&OPEN_MPI, MANY, &LARGER);
}

/// Which of alike gaps between operations are those of a function is decided for each slice anew, so that its time and what is counted in it differ by some of them; not what operations take, and what all functions take together.
#[test]
fn samples_are_shared_out_in_each_slice() {
    let Some(built) = Built::new(&OPEN_MPI, "sliced/halo.c", &[]) else { return };
    for counters in [&[][..], &["--counters", "cpu-time,page-faults"]] {
        shared_out(&built, counters);
    }
}

fn shared_out(built: &Built<'_>, counters: &[&str]) {
    let recorded = built.record(&[&["--sample", "1000"], counters].concat(), &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let all = whole(&recorded.anchor);
    let cut = sliced(&recorded.anchor, 1000).expect("it can be cut");
    for name in [
        "events",
        "duration_s",
        "quality",
        "activities",
        "communication",
        "operations",
        "efficiency",
        "balance",
        "bounds",
    ] {
        same(&all[name], &cut[name], name);
    }
    for table in if counters.is_empty() { &["callpaths"][..] } else { &["callpaths", "counters"] } {
        let (of_all, of_cut) = (exclusive(&all, table), exclusive(&cut, table));
        assert!(of_all > 0.0 && (of_all - of_cut).abs() < 1e-6 * of_all, "{table} {of_all} {of_cut}");
    }
}

/// What functions and operations have, all of them and all PEs together.
fn exclusive(document: &Value, table: &str) -> f64 {
    let rows = document[table].as_array().expect("a list");
    rows.iter().filter_map(|row| row["exclusive"].as_f64()).sum()
}
