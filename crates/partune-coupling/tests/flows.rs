//! Chains that flows go through, and counts that cannot be of one.

use std::collections::BTreeMap;

use partune_coupling::error::CouplingError;
use partune_coupling::flow::{Flow, KernelId};
use partune_coupling::predict::{Method, coefficients, predict};

use super::support::{ONCE, chain, near, times};

fn chains(flow: &Flow) -> Vec<(String, u64)> {
    let letters = |chain: &[KernelId]| chain.iter().map(|kernel| char::from(b'A' + kernel.0 as u8)).collect();
    flow.chains().map(|(chain, count)| (letters(chain), count)).collect()
}

fn are(flow: Result<Flow, CouplingError>, expected: &[(&str, u64)]) {
    let expected: Vec<(String, u64)> = expected.iter().map(|(chain, count)| ((*chain).to_owned(), *count)).collect();
    assert_eq!(chains(&flow.unwrap()), expected);
}

#[test]
fn loops_go_round_and_paths_do_not() {
    are(Flow::cyclic(&chain("ABCD"), 3), &[("ABC", 1), ("BCD", 1), ("CDA", 1), ("DAB", 1)]);
    are(Flow::cyclic(&chain("ABC"), 3), &[("ABC", 1), ("BCA", 1), ("CAB", 1)]);
    are(Flow::acyclic(&chain("ABCD"), 2), &[("AB", 1), ("BC", 1), ("CD", 1)]);
    are(Flow::acyclic(&chain("ABCD"), 4), &[("ABCD", 1)]);
    // A kernel that comes twice.
    are(Flow::cyclic(&chain("ABAC"), 2), &[("AB", 1), ("AC", 1), ("BA", 1), ("CA", 1)]);
    are(Flow::cyclic(&chain("ABAB"), 2), &[("AB", 2), ("BA", 2)]);
    are(Flow::cyclic(&chain("A"), 1), &[("A", 1)]);
    for length in [0, 5] {
        assert_eq!(Flow::cyclic(&chain("ABCD"), length), Err(CouplingError::Length(length)));
        assert_eq!(Flow::acyclic(&chain("ABCD"), length), Err(CouplingError::Length(length)));
    }
    assert_eq!(Flow::cyclic(&[], 1), Err(CouplingError::Length(1)));
    // A run too short for any path.
    assert_eq!(Flow::observed(&[&chain("AB"), &chain("C")], 2), Err(CouplingError::Uncovered(KernelId(2))));
}

/// A run that ends where another begins hides both from who only counts; one that was seen does not.
#[test]
fn begins_that_are_not_known() {
    let measurements = times(&[1.0, 2.0, 4.0], &[("AB", 4.0), ("BA", 4.0), ("AC", 4.0)]);
    let by = |flow: &Flow| predict(flow, &measurements, &ONCE, Method::InSitu).map(|it| it.value.value);
    let seen = Flow::observed(&[&chain("ABA")], 2).unwrap();
    // 1 + (4 - 1) + (4 - 2).
    assert_eq!(by(&seen), Ok(6.0));
    let counted = branching(1, &[("A", 2), ("B", 1)], &[("AB", 1), ("BA", 1)]).unwrap();
    assert_eq!(by(&counted), Err(CouplingError::Begins(1)));
    assert!(predict(&counted, &measurements, &ONCE, Method::Weighted).is_ok());
    // ABAC begins with A.
    let counted = branching(1, &[("A", 2), ("B", 1), ("C", 1)], &[("AB", 1), ("BA", 1), ("AC", 1)]).unwrap();
    assert_eq!(by(&counted), Ok(1.0 + 3.0 + 2.0 + 3.0));
}

/// At the ends of a path a kernel is in fewer chains: A and C in one pair, B in both.
#[test]
fn once_through() {
    let measurements = times(&[10.0, 20.0, 30.0], &[("AB", 27.0), ("BC", 55.0)]);
    let flow = Flow::acyclic(&chain("ABC"), 2).unwrap();
    let found: Vec<f64> = coefficients(&flow, &measurements).unwrap().values().map(|it| it.value).collect();
    let middle = (0.9 * 27.0 + 1.1 * 55.0) / 82.0;
    for (found, expected) in found.iter().zip([0.9, middle, 1.1]) {
        near(*found, expected, 1e-15);
    }
    let by = |method| predict(&flow, &measurements, &ONCE, method);
    near(by(Method::Weighted).unwrap().value.value, 9.0 + 20.0 * middle + 33.0, 1e-13);
    assert_eq!(by(Method::Mean), Err(CouplingError::Uneven(KernelId(0))));
}

fn executions(counts: &[(&str, u64)]) -> BTreeMap<KernelId, u64> {
    counts.iter().map(|(letter, count)| (chain(letter)[0], *count)).collect()
}

fn branching(entries: u64, counts: &[(&str, u64)], paths: &[(&str, u64)]) -> Result<Flow, CouplingError> {
    let paths: Vec<(Vec<KernelId>, u64)> = paths.iter().map(|(path, count)| (chain(path), *count)).collect();
    Flow::branching(paths[0].0.len(), entries, executions(counts), &paths)
}

/// A is followed by B in 90 of 100 turns and by C in the others; both lead back.
const COUNTS: [(&str, u64); 3] = [("A", 100), ("B", 90), ("C", 10)];

#[test]
fn branches_weigh_by_their_counts() {
    let flow = branching(0, &COUNTS, &[("AB", 90), ("AC", 10), ("BA", 90), ("CA", 10)]).unwrap();
    let measurements = times(&[1.0, 2.0, 9.0], &[("AB", 3.3), ("BA", 3.3), ("AC", 8.0), ("CA", 8.0)]);
    let found: Vec<f64> = coefficients(&flow, &measurements).unwrap().values().map(|it| it.value).collect();
    // Pairs with B: C = 1.1, weight 180 · 3.3; with C: 0.8, weight 20 · 8.
    let first = (1.1 * 594.0 + 0.8 * 160.0) / 754.0;
    for (found, expected) in found.iter().zip([first, 1.1, 0.8]) {
        near(*found, expected, 1e-14);
    }
    let predicted = predict(&flow, &measurements, &ONCE, Method::Weighted).unwrap();
    near(predicted.value.value, 100.0 * first + 90.0 * 2.2 + 10.0 * 7.2, 1e-10);
    assert_eq!(predicted.summation.value, 370.0);
    // A is in 200 pairs and executed 100 times: (90 + 90) / 2 · 3.3 + (10 + 10) / 2 · 8.
    near(predict(&flow, &measurements, &ONCE, Method::Mean).unwrap().value.value, 377.0, 1e-10);
    // In place: 90 · (3.3 - 1) + 90 · (3.3 - 2) + 10 · (8 - 1) + 10 · (8 - 9).
    near(predict(&flow, &measurements, &ONCE, Method::InSitu).unwrap().value.value, 207.0 + 117.0 + 60.0, 1e-10);
}

#[test]
fn counts_that_contradict_each_other() {
    let counts =
        |kernel: &str, executions, there| Err(CouplingError::Counts { kernel: chain(kernel)[0], executions, there });
    // B is entered 80 times and executed 90 times.
    assert_eq!(branching(0, &COUNTS, &[("AB", 80), ("AC", 10), ("BA", 90), ("CA", 10)]), counts("A", 100, 90));
    assert_eq!(branching(0, &COUNTS, &[("AB", 80), ("AC", 20), ("BA", 90), ("CA", 10)]), counts("B", 90, 80));
    // On more paths than there are executions, or on some without any.
    assert_eq!(branching(9, &COUNTS, &[("AB", 91), ("AC", 9), ("BA", 90), ("CA", 10)]), counts("B", 90, 91));
    assert_eq!(branching(1, &[("A", 1)], &[("AB", 1)]), counts("B", 0, 1));
    // One entry cuts one pair off.
    let cut = [("AB", 90), ("AC", 9), ("BA", 90), ("CA", 9)];
    assert_eq!(branching(0, &COUNTS, &cut), counts("A", 100, 99));
    branching(1, &COUNTS, &cut).unwrap();
    // AB is entered once and left four times, and three of these are not where the flow begins.
    let paths = [("ABC", 4), ("BCA", 4), ("CAB", 1), ("CAD", 3), ("ADA", 2), ("DAB", 0), ("DAD", 2)];
    let found = branching(2, &[("A", 8), ("B", 4), ("C", 5), ("D", 5)], &paths);
    assert_eq!(found, Err(CouplingError::Ends { path: chain("AB"), entered: 1, left: 4 }));
    let twice = branching(0, &COUNTS, &[("AB", 90), ("AB", 90)]);
    assert_eq!(twice, Err(CouplingError::Twice(chain("AB"))));
    let other = branching(0, &COUNTS, &[("AB", 90), ("ABA", 90)]);
    assert_eq!(other, Err(CouplingError::OtherLength(chain("ABA"))));
    let uncovered = branching(0, &[("A", 1), ("B", 1), ("C", 1)], &[("AB", 1), ("BA", 1)]);
    assert_eq!(uncovered, Err(CouplingError::Uncovered(KernelId(2))));
    assert_eq!(branching(0, &COUNTS, &[("AB", 0)]), Err(CouplingError::Length(2)));
}
