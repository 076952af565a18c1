//! Looking up baselines between and beyond what was measured.

use partune_machine::Baseline;

use crate::{baseline, machine};

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("there is a baseline");
    assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
}

#[test]
fn sizes_are_interpolated_and_long_messages_go_on() {
    let machine = machine(vec![baseline("MPI_Recv", "recv", 2, &[(8, 1e-6), (1008, 3e-6), (2008, 4e-6)])]);
    let recv = machine.baselines_of("MPI", "recv");
    near(recv.seconds(0, 2), 1e-6);
    near(recv.seconds(8, 2), 1e-6);
    near(recv.seconds(508, 2), 2e-6);
    near(recv.seconds(2008, 2), 4e-6);
    near(recv.seconds(3008, 2), 5e-6);
}

#[test]
fn times_that_fall_with_size_do_not_fall_beyond_the_last() {
    let machine = machine(vec![baseline("MPI_Recv", "recv", 2, &[(8, 3e-6), (1008, 1e-6)])]);
    near(machine.baselines_of("MPI", "recv").seconds(1 << 40, 2), 1e-6);
}

#[test]
fn counts_are_interpolated_on_a_logarithm_and_unknown_outside() {
    let rows = vec![
        baseline("MPI_Barrier", "group_sync", 8, &[(0, 4e-6)]),
        baseline("MPI_Barrier", "group_sync", 2, &[(0, 2e-6)]),
    ];
    let machine = machine(rows);
    let sync = machine.baselines_of("MPI", "group_sync");
    near(sync.seconds(0, 2), 2e-6);
    near(sync.seconds(0, 4), 3e-6);
    near(sync.seconds(0, 8), 4e-6);
    assert_eq!(sync.seconds(0, 1), None);
    assert_eq!(sync.seconds(0, 16), None);
}

#[test]
fn the_slowest_operation_of_a_role_counts() {
    let rows = vec![
        baseline("MPI_Allreduce", "all_to_all", 4, &[(8, 5e-6), (1008, 6e-6)]),
        baseline("MPI_Alltoall", "all_to_all", 4, &[(8, 3e-6), (1008, 9e-6)]),
    ];
    let machine = machine(rows);
    let all = machine.baselines_of("MPI", "all_to_all");
    near(all.seconds(8, 4), 5e-6);
    near(all.seconds(1008, 4), 9e-6);
}

#[test]
fn an_unknown_role_has_none() {
    let machine = machine(vec![baseline("MPI_Recv", "recv", 2, &[(8, 1e-6)])]);
    assert!(machine.baselines_of("MPI", "scan").is_empty());
    assert_eq!(machine.baselines_of("MPI", "scan").seconds(8, 2), None);
}

#[test]
fn each_model_has_its_own_and_those_of_no_model_are_for_all() {
    let of = |paradigm: &str, seconds: f64| Baseline {
        paradigm: Some(paradigm.to_owned()),
        ..baseline("a lock", "lock_acquire", 2, &[(0, seconds)])
    };
    let named = machine(vec![of("MPI", 5e-6), of("OpenMP", 1e-7)]);
    near(named.baselines_of("OpenMP", "lock_acquire").seconds(0, 2), 1e-7);
    near(named.baselines_of("MPI", "lock_acquire").seconds(0, 2), 5e-6);
    assert!(named.baselines_of("pthread", "lock_acquire").is_empty());
    let old = machine(vec![baseline("MPI_Win_lock", "lock_acquire", 2, &[(0, 5e-6)])]);
    for paradigm in ["MPI", "OpenMP"] {
        near(old.baselines_of(paradigm, "lock_acquire").seconds(0, 2), 5e-6);
    }
    // A file of before says no model, and what is written of it neither.
    let text = partune_machine::write(&old);
    assert!(!text.contains("paradigm"));
    assert_eq!(partune_machine::read(&text).unwrap(), old);
    let text = partune_machine::write(&named);
    assert_eq!(partune_machine::read(&text).unwrap(), named);
}
