//! Measurements with faults are refused by name; none becomes a number.

use partune_coupling::couplings::{Measurements, couplings};
use partune_coupling::error::{CouplingError, Subject};
use partune_coupling::flow::Flow;
use partune_coupling::measured::{Better, Combine, Measured, Metric, Quantity};
use partune_coupling::predict::{Application, Method, predict, predict_with};

use super::support::{ONCE, chain, times};

fn good() -> Measurements {
    times(&[1.0, 2.0], &[("AB", 3.0), ("BA", 3.0)])
}

fn refused(change: impl Fn(&mut Measurements)) -> CouplingError {
    let mut measurements = good();
    change(&mut measurements);
    let flow = Flow::cyclic(&chain("AB"), 2).unwrap();
    let error = predict(&flow, &measurements, &ONCE, Method::Weighted).unwrap_err();
    assert_eq!(couplings(&flow, &measurements), Err(error.clone()));
    error
}

fn of(letters: &str) -> Subject {
    Subject::Chain(chain(letters))
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(|it| it.chains.retain(|name, _| *name == chain("AB"))), CouplingError::Missing(chain("BA")));
    assert_eq!(refused(|it| it.isolated = vec![it.isolated.as_slice()[0]].into()), CouplingError::Missing(chain("B")));
    let flow = Flow::cyclic(&chain("ABC"), 3).unwrap();
    let measurements = times(&[1.0; 3], &[("ABC", 3.0), ("BCA", 3.0), ("CAB", 3.0)]);
    let by = |method| predict(&flow, &measurements, &ONCE, method);
    // Chains of two are only asked for in place.
    assert!(by(Method::Weighted).is_ok());
    assert_eq!(by(Method::InSitu), Err(CouplingError::Missing(chain("AB"))));
}

#[test]
fn values_that_cannot_be() {
    let alone = |value: f64, deviation: f64| {
        refused(move |it| it.isolated.as_mut_slice()[1] = Quantity::amount(value, deviation))
    };
    let together = |value: f64, deviation: f64| {
        refused(move |it| *it.chains.get_mut(&chain("AB")).unwrap() = Quantity::amount(value, deviation))
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(alone(value, 0.0), CouplingError::NotFinite(of("B")));
        assert_eq!(alone(1.0, value), CouplingError::NotFinite(of("B")));
        assert_eq!(together(value, 0.0), CouplingError::NotFinite(of("AB")));
    }
    assert_eq!(alone(-1e-9, 0.0), CouplingError::Negative(of("B")));
    assert_eq!(alone(1.0, -0.1), CouplingError::Negative(of("B")));
    assert_eq!(together(-3.0, 0.0), CouplingError::Negative(of("AB")));
    for zero in [0.0, -0.0] {
        assert_eq!(alone(zero, 0.0), CouplingError::Zero(of("B")));
        assert_eq!(together(zero, 0.0), CouplingError::Zero(of("AB")));
    }
    // What overflows on the way.
    assert_eq!(together(1e308, 1e308), CouplingError::NotFinite(Subject::Result));
}

#[test]
fn what_the_clock_cannot_tell() {
    let refused = refused(|it| it.metric.resolution = 1.5);
    assert_eq!(refused, CouplingError::TooShort { subject: of("A"), value: 1.0, resolution: 1.5 });
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(self::refused(|it| it.metric.resolution = value), CouplingError::NotFinite(Subject::Resolution));
    }
    let mut measurements = good();
    measurements.metric.resolution = 1.0;
    assert!(couplings(&Flow::cyclic(&chain("AB"), 2).unwrap(), &measurements).is_ok());
}

#[test]
fn ratios() {
    let flow = Flow::cyclic(&chain("AB"), 2).unwrap();
    let found = |a: (f64, f64), b: (f64, f64)| {
        let ratio = |it: (f64, f64)| Quantity::ratio(Measured::exact(it.0), Measured::exact(it.1));
        let metric = Metric { combine: Combine::Ratio, better: Better::Lower, resolution: 0.5 };
        let chains = [(chain("AB"), ratio((1.0, 1.0))), (chain("BA"), ratio((1.0, 1.0)))].into();
        let measurements = Measurements { metric, isolated: vec![ratio(a), ratio(b)].into(), chains };
        (couplings(&flow, &measurements), predict(&flow, &measurements, &ONCE, Method::InSitu))
    };
    // No misses of one kernel are a rate, of both nothing to compare with.
    let (couplings, in_place) = found((0.0, 1.0), (1.0, 1.0));
    assert_eq!(couplings.unwrap()[0].value.value, 2.0);
    assert_eq!(in_place, Err(CouplingError::NotAdditive));
    assert_eq!(found((0.0, 1.0), (0.0, 1.0)).0, Err(CouplingError::Zero(of("AB"))));
    assert_eq!(found((1.0, 0.0), (1.0, 1.0)).0, Err(CouplingError::Zero(of("A"))));
    assert_eq!(found((-1.0, 1.0), (1.0, 1.0)).0, Err(CouplingError::Negative(of("A"))));
    assert_eq!(found((f64::NAN, 1.0), (1.0, 1.0)).0, Err(CouplingError::NotFinite(of("A"))));
    let short = CouplingError::TooShort { subject: of("B"), value: 0.1, resolution: 0.5 };
    assert_eq!(found((1.0, 1.0), (1.0, 0.1)).0, Err(short));
}

#[test]
fn applications_and_couplings_of_elsewhere() {
    let flow = Flow::cyclic(&chain("AB"), 2).unwrap();
    let with = |once: Vec<Quantity>, iterations| {
        predict(&flow, &good(), &Application { once, iterations }, Method::Weighted).map(|it| it.value.value)
    };
    assert_eq!(with(vec![], 0), Err(CouplingError::NoIterations));
    let once = vec![Quantity::amount(1.0, 0.0), Quantity::amount(-1.0, 0.0)];
    assert_eq!(with(once, 1), Err(CouplingError::Negative(Subject::Once(1))));
    let elsewhere = |couplings: &[f64]| {
        let couplings: Vec<Measured> = couplings.iter().map(|value| Measured::exact(*value)).collect();
        let Measurements { metric, isolated, .. } = good();
        predict_with(&flow, metric, &isolated, &couplings, &ONCE).map(|it| it.value.value)
    };
    assert_eq!(elsewhere(&[0.5, 0.5]), Ok(1.5));
    assert_eq!(elsewhere(&[1.0]), Err(CouplingError::Number { given: 1, needed: 2 }));
    assert_eq!(elsewhere(&[1.0, 0.0]), Err(CouplingError::Zero(of("BA"))));
    assert_eq!(elsewhere(&[f64::NAN, 1.0]), Err(CouplingError::NotFinite(of("AB"))));
}
