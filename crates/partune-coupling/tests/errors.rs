//! Standard deviations: by hand, by chance, and where they decide.

use partune_coupling::couplings::{Interaction, couplings, interaction};
use partune_coupling::flow::Flow;
use partune_coupling::measured::{Better, Measured, Quantity};
use partune_coupling::predict::{Method, predict};

use super::support::{ONCE, Random, chain, near, times, times_within};

const PAIRS: [(&str, f64); 4] = [("AB", 27.0), ("BC", 55.0), ("CD", 63.0), ("DA", 45.0)];
const ALONE: [f64; 4] = [10.0, 20.0, 30.0, 40.0];

/// σ² = C² (σ_P²/P² + Σ σ_p² / (Σ p)²).
#[test]
fn of_a_coupling() {
    let found = couplings(&Flow::cyclic(&chain("ABCD"), 2).unwrap(), &times_within(0.02, &ALONE, &PAIRS)).unwrap();
    // 2 % of 27; 0.2 and 0.4 of 30.
    near(found[0].value.deviation, 0.9 * (0.0004_f64 + (0.04 + 0.16) / 900.0).sqrt(), 1e-15);
    let said: Vec<Interaction> = found.iter().map(|it| it.interaction).collect();
    // 0.9 ± 0.022, 1.1 ± 0.027, 0.9 ± 0.022, 0.9 ± 0.024.

    assert_eq!(
        said,
        [Interaction::Constructive, Interaction::Destructive, Interaction::Constructive, Interaction::Constructive]
    );
}

/// Within two standard deviations there is nothing to be told.
#[test]
fn no_interaction_is_not_called_one() {
    let found = couplings(&Flow::cyclic(&chain("ABCD"), 2).unwrap(), &times_within(0.06, &ALONE, &PAIRS)).unwrap();
    assert!(found.iter().all(|it| it.interaction == Interaction::None), "{found:?}");
    let of = |value, deviation, better| interaction(Measured::new(value, deviation), better);
    assert_eq!(of(0.9, 0.049, Better::Lower), Interaction::Constructive);
    assert_eq!(of(0.9, 0.051, Better::Lower), Interaction::None);
    assert_eq!(of(0.9, 0.049, Better::Higher), Interaction::Destructive);
    assert_eq!(of(1.1, 0.049, Better::Higher), Interaction::Constructive);
    // 0.1 + 0.2 is not 0.3 for a computer.
    let exact = couplings(&Flow::acyclic(&chain("AB"), 2).unwrap(), &times(&[0.1, 0.2], &[("AB", 0.3)])).unwrap();
    assert_eq!(exact[0].interaction, Interaction::None);
}

/// Against chance: 40,000 times measured anew, with errors of 1 %, by each method. Kernels alone are in two chains each and in the sum; errors that
/// took them for independent each time would be off by far more than is allowed here.
#[test]
fn of_a_prediction() {
    const TURNS: usize = 40_000;
    let flow = Flow::cyclic(&chain("ABCD"), 2).unwrap();
    let measured = times_within(0.01, &ALONE, &PAIRS);
    let mut random = Random(5);
    for method in [Method::Weighted, Method::Mean, Method::InSitu] {
        let said = predict(&flow, &measured, &ONCE, method).unwrap();
        let mut sums = [[0.0; 2]; 2];
        for _ in 0..TURNS {
            let mut again = measured.clone();
            let mut anew = |it: &mut Quantity| it.amount.value += it.amount.deviation * random.normal();
            again.isolated.iter_mut().for_each(&mut anew);
            again.chains.values_mut().for_each(&mut anew);
            let found = predict(&flow, &again, &ONCE, method).unwrap();
            let off = [found.value.value - said.value.value, found.difference.value - said.difference.value];
            for (sum, off) in sums.iter_mut().zip(off) {
                *sum = [sum[0] + off, sum[1] + off * off];
            }
        }
        let seen = sums.map(|[sum, squares]| (squares / TURNS as f64 - (sum / TURNS as f64).powi(2)).sqrt());
        // A standard deviation of so many is known to 0.35 %.
        near(seen[0] / said.value.deviation, 1.0, 0.015);
        near(seen[1] / said.difference.deviation, 1.0, 0.015);
    }
}
