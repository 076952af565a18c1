//! Four kernels in a loop, worked out apart from this program; and what other metrics make of couplings.

use partune_coupling::couplings::{Interaction, Measurements, couplings};
use partune_coupling::error::{CouplingError, Subject};
use partune_coupling::flow::{Flow, KernelId};
use partune_coupling::measured::{Better, Combine, Measured, Metric, Quantity};
use partune_coupling::predict::{Application, Method, coefficients, predict};

use super::support::{ONCE, chain, near, times};

const ALONE: [f64; 4] = [10.0, 20.0, 30.0, 40.0];
const PAIRS: [(&str, f64); 4] = [("AB", 27.0), ("BC", 55.0), ("CD", 63.0), ("DA", 45.0)];
const TRIPLES: [(&str, f64); 4] = [("ABC", 54.0), ("BCD", 99.0), ("CDA", 76.0), ("DAB", 70.0)];
const WHOLE: [(&str, f64); 4] = [("ABCD", 92.0), ("BCDA", 92.0), ("CDAB", 92.0), ("DABC", 92.0)];

fn is(length: usize, chains: &[(&str, f64)], expected: [f64; 4], total: f64, mean: f64) {
    let measurements = times(&ALONE, chains);
    let flow = Flow::cyclic(&chain("ABCD"), length).unwrap();
    for (found, expected) in coefficients(&flow, &measurements).unwrap().values().zip(expected) {
        near(found.value, expected, 5e-8);
    }
    let by = |method| predict(&flow, &measurements, &ONCE, method).unwrap();
    near(by(Method::Weighted).value.value, total, 5e-7);
    near(by(Method::Mean).value.value, mean, 5e-7);
    assert_eq!(by(Method::Weighted).summation.value, 100.0);
    assert!(by(Method::Weighted).is_in_hull());
}

#[test]
fn chains_of_every_length() {
    is(1, &[], [1.0; 4], 100.0, 100.0);
    is(2, &PAIRS, [0.9, 1.034_146_3, 0.993_220_3, 0.9], 95.479_537, 95.0);
    is(3, &TRIPLES, [0.954, 1.020_179_4, 1.003_056_8, 1.024_898_0], 101.031_209, 99.666_667);
    is(4, &WHOLE, [0.92; 4], 92.0, 92.0);
}

#[test]
fn iterations_and_what_is_done_once() {
    let measurements = times(&ALONE, &PAIRS);
    let flow = Flow::cyclic(&chain("ABCD"), 2).unwrap();
    let once = vec![Quantity::amount(3.0, 0.4), Quantity::amount(7.0, 0.3)];
    let found = predict(&flow, &measurements, &Application { once, iterations: 60 }, Method::Weighted).unwrap();
    near(found.value.value, 10.0 + 60.0 * 95.479_536_998_759_8, 1e-6);
    assert_eq!(found.summation.value, 6010.0);
    // Only what is done once is uncertain, and that is in both.
    near(found.value.deviation, 0.5, 1e-12);
    assert_eq!(found.difference.deviation, 0.0);
    near(found.of_summation, 0.954_795_37, 5e-9);
    assert_eq!(found.hull, (0.9, 1.1));
}

/// Timed inside of the run each kernel takes what it takes after those before it: 27 - 10, 55 - 20, 63 - 30 and 45 - 40.
#[test]
fn in_place() {
    let measurements = times(&ALONE, &[&PAIRS[..], &TRIPLES].concat());
    let by = |length| {
        let flow = Flow::cyclic(&chain("ABCD"), length).unwrap();
        predict(&flow, &measurements, &ONCE, Method::InSitu).unwrap().value.value
    };
    assert_eq!([by(1), by(2)], [100.0, 17.0 + 35.0 + 33.0 + 5.0]);
    // 54 - 27, 99 - 55, 76 - 63, 70 - 45.
    assert_eq!(by(3), 27.0 + 44.0 + 13.0 + 25.0);
    // The whole path in one chain, and a chain of three before its end.
    let measurements = times(&ALONE, &[&TRIPLES[..], &WHOLE].concat());
    let flow = Flow::acyclic(&chain("ABCD"), 4).unwrap();
    assert_eq!(predict(&flow, &measurements, &ONCE, Method::InSitu).unwrap().value.value, 92.0);
    let measurements = times(&ALONE, &PAIRS);
    // Pairs that are quicker than one of their kernels, by errors of measurement.
    let wrong = times(&[10.0, 10.0], &[("AB", 9.0), ("BA", 9.0)]);
    let found = predict(&Flow::cyclic(&chain("AB"), 2).unwrap(), &wrong, &ONCE, Method::InSitu);
    assert_eq!(found, Err(CouplingError::Negative(Subject::Result)));
    // Once through: the first kernel has nothing before it.
    let flow = Flow::acyclic(&chain("ABCD"), 2).unwrap();
    assert_eq!(predict(&flow, &measurements, &ONCE, Method::InSitu).unwrap().value.value, 10.0 + 17.0 + 35.0 + 33.0);
}

/// 8 Gflop in 2 s and 2 Gflop in 2 s: 4 and 1 Gflop/s alone, 2.5 together. Measured together they take 3 s, or 5.
#[test]
fn rates_are_weighted_by_time_and_higher_is_better() {
    let ratio = |amount: f64, per: f64| Quantity::ratio(Measured::exact(amount), Measured::exact(per));
    let both = |per: f64| Measurements {
        metric: Metric { combine: Combine::Ratio, better: Better::Higher, resolution: 1e-6 },
        isolated: vec![ratio(8.0, 2.0), ratio(2.0, 2.0)].into(),
        chains: [(chain("AB"), ratio(10.0, per)), (chain("BA"), ratio(10.0, per))].into(),
    };
    let flow = Flow::cyclic(&chain("AB"), 2).unwrap();
    for (per, interaction) in [(3.0, Interaction::Constructive), (5.0, Interaction::Destructive)] {
        let found = couplings(&flow, &both(per)).unwrap();
        // The inverse of that of time.
        near(found[0].value.value, 4.0 / per, 1e-15);
        assert_eq!(found[0].interaction, interaction);
        let application = Application { once: vec![ratio(0.0, 1.0)], iterations: 10 };
        let predicted = predict(&flow, &both(per), &application, Method::Weighted).unwrap();
        // One second more without any work.
        near(predicted.summation.value, 100.0 / 41.0, 1e-15);
        near(predicted.value.value, 400.0 / per / 41.0, 1e-14);
        near(predict(&flow, &both(per), &ONCE, Method::Mean).unwrap().value.value, 10.0 / per, 1e-14);
    }
}

/// Chains of rates weigh what they take: 3, 4 and 2 s, with couplings 4/3, 3/4 and 3/2. A: (4/3 · 3 + 3/2 · 2) / 5; B: (4/3 · 3 + 3/4 · 4) / 7;
/// C: (3/4 · 4 + 3/2 · 2) / 6.
#[test]
fn chains_of_rates_weigh_their_time() {
    let ratio = |(amount, per)| Quantity::ratio(Measured::exact(amount), Measured::exact(per));
    let chains = [("AB", (10.0, 3.0)), ("BC", (8.0, 4.0)), ("CA", (14.0, 2.0))];
    let measurements = Measurements {
        metric: Metric { combine: Combine::Ratio, better: Better::Higher, resolution: 0.0 },
        isolated: [(8.0, 2.0), (2.0, 2.0), (6.0, 1.0)].map(ratio).to_vec().into(),
        chains: chains.map(|(name, value)| (chain(name), ratio(value))).into(),
    };
    let flow = Flow::cyclic(&chain("ABC"), 2).unwrap();
    for (found, expected) in coefficients(&flow, &measurements).unwrap().values().zip([1.4, 1.0, 1.0]) {
        near(found.value, expected, 1e-15);
    }
    let found = predict(&flow, &measurements, &ONCE, Method::Weighted).unwrap();
    near(found.value.value, (1.4 * 8.0 + 2.0 + 6.0) / 5.0, 1e-14);
    near(found.summation.value, 3.2, 1e-15);
}

/// Kernels that use 3 and 5 GB keep 6 GB when one follows the other.
#[test]
fn the_largest_counts_once() {
    let amount = |value: f64| Quantity::amount(value, 0.0);
    let measurements = Measurements {
        metric: Metric { combine: Combine::Maximum, better: Better::Lower, resolution: 0.0 },
        isolated: vec![amount(3.0), amount(5.0), amount(2.0)].into(),
        chains: [("AB", 6.0), ("BC", 5.0), ("CA", 3.0)].map(|(name, value)| (chain(name), amount(value))).into(),
    };
    let flow = Flow::cyclic(&chain("ABC"), 2).unwrap();
    let found: Vec<f64> = couplings(&flow, &measurements).unwrap().iter().map(|it| it.value.value).collect();
    assert_eq!(found, [1.2, 1.0, 1.0]);
    let application = Application { once: vec![amount(1.0)], iterations: 50 };
    let predicted = predict(&flow, &measurements, &application, Method::Weighted).unwrap();
    // The coefficient of B: (1.2 · 6 + 1 · 5) / 11.
    near(predicted.value.value, 5.0 * 12.2 / 11.0, 1e-14);
    assert_eq!(predicted.summation.value, 5.0);
    assert!(predicted.is_in_hull());
    assert_eq!(predict(&flow, &measurements, &application, Method::Mean).unwrap().value.value, 6.0);
    let large = Application { once: vec![amount(9.0)], iterations: 50 };
    assert_eq!(predict(&flow, &measurements, &large, Method::Weighted).unwrap().value.value, 9.0);
}

/// Half of what pairs do, since a pair in a loop has both its ways: with I = 1 + 2 + 3 the sum of 30 becomes 33.
#[test]
fn equal_kernels_in_pairs() {
    let measurements = times(&[10.0; 3], &[("AB", 21.0), ("BC", 22.0), ("CA", 23.0)]);
    let flow = Flow::cyclic(&chain("ABC"), 2).unwrap();
    let mean = predict(&flow, &measurements, &ONCE, Method::Mean).unwrap().value.value;
    assert_eq!(mean, 33.0);
    // The paper's weights: each C by its chain, 10 (C² + C'²) / (C + C') for each kernel.
    let [a, b, c] = [1.05_f64, 1.1, 1.15];
    let each = |x: f64, y: f64| 10.0 * (x * x + y * y) / (x + y);
    let weighted = predict(&flow, &measurements, &ONCE, Method::Weighted).unwrap().value.value;
    near(weighted, each(c, a) + each(a, b) + each(b, c), 1e-13);
    assert_eq!(flow.executions().get(&KernelId(1)), Some(&1));
}
