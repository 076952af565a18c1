//! The length of chains that predicts what was left out.

use partune_coupling::choice::{Configuration, choose};
use partune_coupling::error::{CouplingError, Subject};
use partune_coupling::flow::Flow;
use partune_coupling::plateau::Options;

use super::support::{ONCE, chain, near, times};

/// Four kernels in a loop, all of whose pairs have one coupling, and whole turns another, which is also that of the application.
fn configuration(at: f64, time: f64, pair: f64, turn: f64) -> Configuration {
    let alone = [1.0, 2.0, 3.0, 4.0].map(|own| own * time);
    let sum = |letters: &str| chain(letters).iter().map(|kernel| alone[kernel.0 as usize]).sum::<f64>();
    let chains: Vec<(&str, f64)> = ["AB", "BC", "CD", "DA"]
        .map(|it| (it, pair * sum(it)))
        .into_iter()
        .chain(["ABCD", "BCDA", "CDAB", "DABC"].map(|it| (it, turn * sum(it))))
        .collect();
    let whole = turn * sum("ABCD");
    Configuration { at, measurements: times(&alone, &chains), application: ONCE, whole }
}

fn flows(lengths: &[usize]) -> Vec<Flow> {
    lengths.iter().map(|length| Flow::cyclic(&chain("ABCD"), *length).unwrap()).collect()
}

#[test]
fn the_length_that_knows() {
    let configurations =
        [(4.0, 40.0), (8.0, 21.0), (16.0, 11.0), (32.0, 6.0)].map(|(at, time)| configuration(at, time, 0.95, 0.8));
    let found = choose(&flows(&[1, 2, 4]), &configurations, &Options::default()).unwrap();
    assert_eq!(found.lengths.iter().map(|it| it.length).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(found.best, 2);
    // 1 and 0.95 of what should be 0.8.
    near(found.lengths[0].mean, 0.25, 1e-12);
    near(found.lengths[1].mean, 0.95 / 0.8 - 1.0, 1e-12);
    near(found.lengths[2].worst, 0.0, 1e-12);
    near(found.lengths[1].predictions[3].value.value, 0.95 * 60.0, 1e-10);
    near(found.lengths[1].predictions[3].summation.value, 60.0, 1e-12);
}

/// Where kernels do nothing to each other, longer chains know nothing more.
#[test]
fn of_equals_the_shortest() {
    let configurations = [4.0, 8.0, 16.0].map(|at| configuration(at, 64.0 / at, 1.0, 1.0));
    let found = choose(&flows(&[4, 2, 1]), &configurations, &Options::default()).unwrap();
    assert_eq!(found.lengths[found.best].length, 1);
    assert!(found.lengths.iter().all(|it| it.mean < 1e-12));
}

/// Couplings of whole turns change with the cache, those of pairs do not: one that is left out is predicted from its own side of the change.
#[test]
fn couplings_of_the_own_plateau() {
    let of = |at: f64| configuration(at, at, 0.9, if at < 50.0 { 0.7 } else { 0.9 });
    let configurations = [4.0, 8.0, 16.0, 32.0, 256.0, 512.0, 1024.0, 2048.0].map(of);
    let found = choose(&flows(&[2, 4]), &configurations, &Options::default()).unwrap();
    assert_eq!(found.lengths[found.best].length, 4);
    near(found.lengths[1].worst, 0.0, 1e-12);
    near(found.lengths[0].worst, 0.9 / 0.7 - 1.0, 1e-12);
}

#[test]
fn too_few_and_wrong_ones() {
    let good = configuration(4.0, 1.0, 1.0, 1.0);
    let of = |configurations: &[Configuration]| choose(&flows(&[2]), configurations, &Options::default()).unwrap_err();
    assert_eq!(of(std::slice::from_ref(&good)), CouplingError::Number { given: 1, needed: 2 });
    let none = Configuration { whole: 0.0, ..good.clone() };
    assert_eq!(of(&[good.clone(), none]), CouplingError::Zero(Subject::Whole(1)));
    let nowhere = Configuration { at: f64::NAN, ..good.clone() };
    assert_eq!(of(&[good.clone(), nowhere]), CouplingError::NotFinite(Subject::Point(0)));
    let mut missing = good.clone();
    missing.measurements.chains.remove(&chain("CD"));
    assert_eq!(of(&[good.clone(), missing]), CouplingError::Missing(chain("CD")));
    let nothing = choose(&[], &[good.clone(), good], &Options::default());
    assert_eq!(nothing, Err(CouplingError::Number { given: 0, needed: 1 }));
}
