//! Steps that were planted are found where they are; a series without any has none.

use partune_coupling::error::{CouplingError, Subject};
use partune_coupling::measured::Measured;
use partune_coupling::plateau::{Course, Options, Plateau, Shape, Support};

use super::support::{Random, near};

/// Working sets from 4 KiB, each √2 of the one before.
fn sizes(count: usize) -> Vec<f64> {
    (0..count).map(|step| 4096.0 * 2.0_f64.powf(step as f64 / 2.0)).collect()
}

fn course(at: &[f64], values: &[f64], deviation: f64) -> Course {
    let values: Vec<Measured> = values.iter().map(|value| Measured::new(*value, deviation)).collect();
    Course::of(at, &values, &Options::default()).unwrap()
}

/// Where plateaus begin after the first.
fn firsts(course: &Course) -> Vec<usize> {
    match course.shape() {
        Shape::Plateaus(plateaus) => plateaus.iter().skip(1).map(|plateau| plateau.first).collect(),
        Shape::Smooth { .. } => Vec::new(),
    }
}

/// Values of plateaus, each with the number of its values.
fn stairs(plateaus: &[(f64, usize)]) -> Vec<f64> {
    plateaus.iter().flat_map(|(value, count)| vec![*value; *count]).collect()
}

const PLANTED: [&[(f64, usize)]; 6] = [
    &[(0.80, 6), (0.95, 6)],
    &[(0.80, 8), (1.10, 3), (0.90, 9)],
    &[(0.95, 2), (0.80, 2)],
    &[(1.00, 20), (1.20, 2)],
    // The caches of a processor: what fits, what does not, and what is in memory either way.
    &[(0.98, 5), (0.85, 6), (0.70, 7), (0.97, 6)],
    &[(0.7, 4), (0.8, 4), (0.9, 4), (1.0, 4), (1.1, 4), (1.2, 4)],
];

#[test]
fn planted_steps() {
    for planted in PLANTED {
        let values = stairs(planted);
        let at = sizes(values.len());
        let mut expected = Vec::new();
        let mut begin = 0;
        for (_, count) in &planted[..planted.len() - 1] {
            begin += count;
            expected.push(begin);
        }
        let found = course(&at, &values, 0.0);
        assert_eq!(firsts(&found), expected, "{planted:?}");
        assert_eq!(found.changes(), expected.iter().map(|first| at[*first]).collect::<Vec<_>>());
        let Shape::Plateaus(plateaus) = found.shape() else { panic!("{planted:?} drifts") };
        for (plateau, (value, count)) in plateaus.iter().zip(planted) {
            assert_eq!(plateau.count, *count);
            near(plateau.mean.value, *value, 1e-12);
        }
        // In any order.
        let mut random = Random(3);
        for _ in 0..50 {
            let mut order: Vec<usize> = (0..at.len()).collect();
            (1..at.len()).for_each(|last| order.swap(last, (random.uniform() * (last + 1) as f64) as usize));
            let pick = |from: &[f64]| order.iter().map(|point| from[*point]).collect::<Vec<f64>>();
            assert_eq!(course(&pick(&at), &pick(&values), 0.0), found);
        }
    }
}

/// Noise of 1 % on 30 values: the two steps are found to the value in at least 90 of 100 series, whether the noise is known or not.
#[test]
fn planted_steps_under_noise() {
    let values = stairs(&[(0.98, 10), (0.85, 10), (0.95, 10)]);
    let mut random = Random(11);
    let mut series = || values.iter().map(|value| value + 0.01 * random.normal()).collect::<Vec<f64>>();
    for deviation in [0.0, 0.01] {
        let found = (0..100).filter(|_| firsts(&course(&sizes(30), &series(), deviation)) == [10, 20]).count();
        assert!(found >= 90, "{deviation}: {found}");
    }
}

#[test]
fn nothing_in_what_is_smooth() {
    type Smooth = (&'static str, fn(f64) -> f64);
    let smooth: [Smooth; 7] = [
        ("constant", |_| 0.83),
        ("line", |x| 0.7 + 0.4 * x),
        ("slight line", |x| 0.9 + 0.05 * x),
        ("parabola", |x| 0.8 + 0.5 * (x - 0.4).powi(2)),
        ("decay", |x| 0.7 + 0.3 * (-3.0 * x).exp()),
        ("hyperbola", |x| 1.0 - 0.4 * x / (0.5 + x)),
        ("wave", |x| 0.9 + 0.1 * (3.0 * x).sin()),
    ];
    let mut random = Random(17);
    for (name, of) in smooth {
        for count in [2, 3, 4, 5, 8, 12, 20, 40] {
            let values: Vec<f64> = (0..count).map(|step| of(step as f64 / (count - 1) as f64)).collect();
            assert_eq!(firsts(&course(&sizes(count), &values, 0.0)), [0; 0], "{name} of {count}");
        }
        // Under noise of 1 %: at most one of a hundred where that is known, one of ten where it is not and values are few.
        for (count, deviation) in [6, 12, 30].into_iter().flat_map(|count| [(count, 0.0), (count, 0.01)]) {
            let mut noisy = |step| of(f64::from(step) / f64::from(count - 1)) + 0.01 * random.normal();
            let mut series = || (0..count).map(&mut noisy).collect::<Vec<f64>>();
            let wrong = |_: &u32| !firsts(&course(&sizes(count as usize), &series(), deviation)).is_empty();
            let found = (0..1000).filter(wrong).count();
            assert!(found <= if deviation > 0.0 { 10 } else { 100 }, "{name} of {count}, {deviation}: {found} of 1000");
        }
    }
}

/// A step that the errors of measurement hide, one that is smaller than what matters, and a single value: none is a plateau.
#[test]
fn nothing_where_nothing_can_be_told() {
    let step = stairs(&[(0.9, 5), (0.95, 5)]);
    assert_eq!(firsts(&course(&sizes(10), &step, 0.001)), [5]);
    assert_eq!(firsts(&course(&sizes(10), &step, 0.05)), [0; 0]);
    assert_eq!(firsts(&course(&sizes(10), &stairs(&[(0.9, 5), (0.904, 5)]), 0.0)), [0; 0]);
    assert_eq!(firsts(&course(&sizes(11), &stairs(&[(0.9, 5), (1.3, 1), (0.9, 5)]), 0.0)), [0; 0]);
    let single = Options { shortest: 1, ..Options::default() };
    let values: Vec<Measured> = stairs(&[(0.9, 5), (1.3, 1), (0.9, 5)]).into_iter().map(Measured::exact).collect();
    assert_eq!(firsts(&Course::of(&sizes(11), &values, &single).unwrap()), [5, 6]);
    // At one position nothing changes.
    assert_eq!(firsts(&course(&[8.0; 8], &stairs(&[(0.8, 4), (0.9, 4)]), 0.0)), [0; 0]);
    assert_eq!(firsts(&course(&[8.0], &[0.7], 0.0)), [0; 0]);
}

#[test]
fn what_is_taken_elsewhere() {
    let at = [1.0, 2.0, 4.0, 8.0, 64.0, 128.0, 256.0, 512.0];
    let steps = course(&at, &stairs(&[(0.8, 4), (1.0, 4)]), 0.0);
    let found = |position: f64| {
        let (coupling, support) = steps.at(position).unwrap();
        (coupling.value, coupling.deviation, support)
    };
    let is = |position: f64, value: f64, deviation: f64, support: Support| {
        let found = found(position);
        near(found.0, value, 1e-12);
        near(found.1, deviation, 1e-9);
        assert_eq!(found.2, support, "{position}");
    };
    is(3.0, 0.8, 0.0, Support::Inside);
    is(8.0, 0.8, 0.0, Support::Inside);
    // √(8 · 64) is half way, at 22.6.
    is(16.0, 0.8, 0.1, Support::Between);
    is(32.0, 1.0, 0.1, Support::Between);
    is(0.5, 0.8, 0.0, Support::Beyond);
    is(1000.0, 1.0, 0.0, Support::Beyond);
    let drift = course(&[1.0, 2.0, 4.0, 8.0, 16.0], &[0.5, 0.6, 0.7, 0.8, 0.9], 0.02);
    assert_eq!(drift.shape(), &Shape::Smooth { degree: 1 });
    let (value, support) = drift.at(2.0_f64.powf(1.5)).unwrap();
    near(value.value, 0.65, 1e-12);
    near(value.deviation, 0.02 * 0.5_f64.sqrt(), 1e-12);
    assert_eq!(support, Support::Inside);
    assert_eq!(drift.at(0.1), Ok((Measured::new(0.5, 0.02), Support::Beyond)));
    assert_eq!(drift.at(99.0), Ok((Measured::new(0.9, 0.02), Support::Beyond)));
    assert_eq!(drift.at(f64::NAN), Err(CouplingError::NotFinite(Subject::Position)));
    assert_eq!(steps.at(0.0), Err(CouplingError::Zero(Subject::Position)));
    // By hand: 0.8 and 0.9 around 0.85, of which each is off by 0.0707, and their mean by 0.05.
    let two = course(&[1.0, 2.0], &[0.8, 0.9], 0.0);
    let mean = Measured::new(f64::midpoint(0.8, 0.9), 0.0075_f64.sqrt());
    let Shape::Plateaus(plateaus) = two.shape() else { panic!("two values drift") };
    let [Plateau { first: 0, count: 2, mean: found }] = plateaus[..] else { panic!("{plateaus:?}") };
    near(found.value, mean.value, 1e-12);
    near(found.deviation, mean.deviation, 1e-12);
}

#[test]
fn series_with_faults() {
    let of = |at: &[f64], values: &[f64]| {
        let values: Vec<Measured> = values.iter().map(|value| Measured::exact(*value)).collect();
        Course::of(at, &values, &Options::default()).unwrap_err()
    };
    assert_eq!(of(&[], &[]), CouplingError::Number { given: 0, needed: 1 });
    assert_eq!(of(&[1.0, 2.0], &[1.0]), CouplingError::Number { given: 1, needed: 2 });
    assert_eq!(of(&[1.0, 0.0], &[1.0, 1.0]), CouplingError::Zero(Subject::Point(1)));
    assert_eq!(of(&[-1.0], &[1.0]), CouplingError::Negative(Subject::Point(0)));
    assert_eq!(of(&[1.0, 2.0], &[1e200, 1.0]), CouplingError::NotFinite(Subject::Point(0)));
    assert_eq!(of(&[1.0, 2.0], &[1.0, f64::NAN]), CouplingError::NotFinite(Subject::Point(1)));
}
