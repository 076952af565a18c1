//! Interactions of known size are found, and where there are none, none is said.

use partune_couple::{Interaction, Outcome, Plan, read};
use tempfile::TempDir;

use crate::support::{GCC, MPI, MPIRUN, busy, lengths, measured, naps, plan, undisturbed};

/// What a coupling may be off, besides its own error and what a busy machine adds to some naps and not to others.
const OFF: f64 = 0.08;

const LITTLE: &str = "launches = 1\nbudget_s = 8.0\n";

fn coupling(outcome: &Outcome, kernels: &str) -> (f64, f64, Interaction) {
    let row = outcome.chains.iter().find(|row| row.kernels.join(" ") == kernels);
    let row = row.unwrap_or_else(|| panic!("{kernels} is not among {:?}", outcome.chains));
    (row.coupling.value, row.coupling.deviation, row.interaction)
}

#[track_caller]
fn is_about((outcome, said): (&Outcome, &str), kernels: &str, expected: f64) {
    let (value, deviation, _) = coupling(outcome, kernels);
    assert!(
        (value - expected).abs() < 3.0 * deviation + (OFF + busy(said)) * expected,
        "{kernels}: {value} ± {deviation}, and not {expected}: {said}"
    );
}

/// Kernel b naps for 3 ms, but for 1 ms after a; a and c nap for 2 ms each. So what b gains shows in a b and in chains with both.
fn b_is_short_after_a(folder: &TempDir, command: &str, more: &str) -> Plan {
    let plan = plan(folder, command, &format!("{LITTLE}{more}"));
    let (outcome, said) = undisturbed(&plan);
    assert_eq!(outcome.problems, [], "{said}");
    let [a, b, short, c] = lengths(&said)[..4] else { panic!("{said}") };
    for (chain, expected) in [
        ("a b", (a + short) / (a + b)),
        ("b c", 1.0),
        ("c a", 1.0),
        ("a b c", (a + short + c) / (a + b + c)),
        ("c a b", (a + short + c) / (a + b + c)),
    ] {
        is_about((&outcome, &said), chain, expected);
    }
    assert_eq!(coupling(&outcome, "a b").2, Interaction::Constructive);
    let [two, three] = &outcome.predictions[..] else { panic!("{:?}", outcome.predictions) };
    let [pair, whole] = [a + short, a + short + c];
    // Pairs know that a b is short, and that b c and c a are not: by hand as in the paper, each pair with its own time.
    let of = |c1: f64, p1: f64, c2: f64, p2: f64| (c1 * p1 + c2 * p2) / (p1 + p2);
    let gain = pair / (a + b);
    let pairs = a * of(gain, pair, 1.0, c + a) + b * of(gain, pair, 1.0, b + c) + c;
    let about = |value: f64, turn: f64| {
        let expected = 0.25 + 10.0 * turn;
        assert!((value - expected).abs() < (OFF + busy(&said)) * expected, "{value} and not {expected}: {said}");
    };
    about(two.predicted.value, pairs);
    about(two.summation, a + b + c);
    about(three.predicted.value, whole);
    about(three.actual.expect("it was measured").value, whole);
    let [two, three] = &outcome.lengths[..] else { panic!("{:?}", outcome.lengths) };
    assert_eq!(outcome.best, Some(if three.error < two.error { 3 } else { 2 }));
    plan
}

/// That all kernels and chains were executed one by one, or none.
#[track_caller]
fn are_one_by_one(plan: &Plan, expected: bool) {
    let recorded = read(&plan.results).expect("results are read");
    let chains = &recorded[&plan.launches()[0].label].chains;
    assert!(chains.values().all(|it| it.timed.is_one_by_one() == expected), "{chains:?}");
}

#[test]
fn what_was_planted_is_found() {
    let Some(folder) = naps(GCC) else { return };
    are_one_by_one(&b_is_short_after_a(&folder, "./app planted", ""), false);
}

/// As in SP of the NAS Parallel Benchmarks: no chain with b and without c can be executed twice in a row. The same is found when they are executed one by one.
#[test]
fn what_was_planted_is_found_one_by_one() {
    let Some(folder) = naps(GCC) else { return };
    are_one_by_one(&b_is_short_after_a(&folder, "./app back", ""), true);
}

#[test]
fn the_slowest_rank_counts_one_by_one() {
    let Some(folder) = naps(MPI) else { return };
    are_one_by_one(&b_is_short_after_a(&folder, &format!("{MPIRUN} ./app back"), "pes = [2]"), true);
}

#[test]
fn the_slowest_rank_counts() {
    let Some(folder) = naps(MPI) else { return };
    b_is_short_after_a(&folder, &format!("{MPIRUN} ./app planted"), "pes = [2]");
}

#[test]
fn what_does_nothing_to_each_other_is_as_alone() {
    let Some(folder) = naps(GCC) else { return };
    let (outcome, said) = undisturbed(&plan(&folder, "./app alone", &format!("{LITTLE}lengths = [2]\n")));
    assert_eq!(outcome.problems, [], "{said}");
    for row in &outcome.chains {
        is_about((&outcome, &said), &row.kernels.join(" "), 1.0);
    }
    assert_eq!(outcome.chains.len(), 3);
}

#[test]
fn a_kernel_may_be_executed_several_times() {
    let Some(folder) = naps(GCC) else { return };
    let plan = plan(&folder, "./app loop", &format!("{LITTLE}lengths = [2]\nloop = ['a', 'b', 'b', 'c']\n"));
    let (outcome, said) = measured(&plan);
    let outcome = outcome.expect("something is said");
    let chains: Vec<String> = outcome.chains.iter().map(|row| row.kernels.join(" ")).collect();
    assert_eq!(chains, ["a b", "b b", "b c", "c a"]);
    let [a, b, _, c] = lengths(&said)[..4] else { panic!("{said}") };
    let expected = 0.25 + 10.0 * (a + 2.0 * b + c);
    let summation = outcome.predictions[0].summation;
    assert!((summation - expected).abs() < (OFF + busy(&said)) * expected, "{summation} and not {expected}: {said}");
}
