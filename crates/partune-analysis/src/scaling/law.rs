//! Laws of time over the number of PEs: which of a small set of hypotheses a few measured values follow, and what they say of another number.
//!
//! A hypothesis is a sum of one to three terms of the performance-model normal form (c·P^a·log₂^b P; Calotoiu and others, 2013), or of quantities that
//! are known at every number of PEs, as the visits to a place or the rounds of its collectives. Coefficients are fitted by weighted least squares.
//! Hypotheses are weighed by how probable they make each value when it is left out (leave-one-out predictive density, with the error that the fit to the
//! others has there), times what is expected before anything is measured. The one that weighs most predicts; all that weigh nearly as much say how far
//! off it may be, each with its own error and that of a term which is too small to be seen where it was measured, and grows with the distance.

/// What a time is proportional to, of P PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// P to a power of sixths, times log₂ P where asked for. Both none: constant.
    Power { sixths: i8, log: bool },
    /// How often the place is visited.
    Visits,
    /// Operations times the rounds of each.
    Rounds,
    /// Operations times the bytes that pass in each.
    Volume,
    /// What a machine description says of these operations.
    Machine,
}

/// Time over the number of PEs: a sum of terms with their seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Law(pub Vec<(f64, Term)>);

/// A quantity at each number of PEs that was measured, and at the one that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Basis {
    pub(super) term: Term,
    pub(super) at: Vec<f64>,
    pub(super) there: f64,
    /// How much it is expected.
    pub(super) prior: f64,
}

/// What was measured of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'a> {
    /// In increasing order.
    pub(super) pes: &'a [f64],
    pub(super) seconds: &'a [f64],
    /// Standard deviation of each.
    pub(super) error: &'a [f64],
    pub(super) there: f64,
    /// Standard deviation of a run there, as a share of what is predicted, and as seconds.
    pub(super) error_there: (f64, f64),
}

/// What a law says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitted {
    pub law: Law,
    /// Seconds at each measured number of PEs.
    pub at: Vec<f64>,
    /// Seconds at the one that is asked for; at least, and at most.
    pub there: f64,
    pub low: f64,
    pub high: f64,
}

/// Terms of the normal form with how much each is expected, of work and of operations.
const TERMS: [(i8, bool, f64, f64); 13] = [
    (0, false, 1.0, 1.0),
    (-6, false, 1.0, 0.3),
    (0, true, 0.3, 1.0),
    (6, false, 0.6, 0.6),
    (-3, false, 0.2, 0.2),
    (-4, false, 0.2, 0.2),
    (-2, false, 0.1, 0.1),
    (2, false, 0.1, 0.1),
    (3, false, 0.2, 0.2),
    (4, false, 0.1, 0.1),
    (6, true, 0.1, 0.2),
    (-6, true, 0.1, 0.1),
    (3, true, 0.05, 0.05),
];

/// Each further term is expected so much less.
const FURTHER: f64 = 0.5;
/// A hypothesis that weighs less than this share of the best one can be told from it.
const TOLD_APART: f64 = 0.05;
/// Quantile of the normal distribution: one case in twenty is beyond.
const QUANTILE: f64 = 1.645;

/// A hypothesis that was fitted.
struct Candidate {
    law: Law,
    at: Vec<f64>,
    there: f64,
    /// Variance of what it says there.
    variance: f64,
    /// For each measured value, what the others make of it less what it is, squared, and the variance of that.
    left_out: Vec<(f64, f64)>,
    prior: f64,
}

/// The law of a series of two values or more; none if none of the hypotheses is possible. `known`: what is known of the place besides.
pub(super) fn fit(series: &Series<'_>, is_work: bool, known: &[Basis]) -> Option<Fitted> {
    let basis = |(sixths, log, work, operation): &(i8, bool, f64, f64)| {
        let term = Term::Power { sixths: *sixths, log: *log };
        let at = series.pes.iter().map(|pes| power(term, *pes)).collect();
        Basis { term, at, there: power(term, series.there), prior: if is_work { *work } else { *operation } }
    };
    let bases: Vec<Basis> = known.iter().cloned().chain(TERMS.iter().map(basis)).collect();
    let candidates: Vec<Candidate> =
        hypotheses(&bases, series.pes.len()).into_iter().filter_map(|bases| candidate(series, &bases)).collect();
    let (first, last) = (series.pes.first()?, series.pes.last()?);
    let nearest = if series.there < *first { series.error.first()? } else { series.error.last()? };
    let beyond = (series.there / last).max(first / series.there).max(1.0) - 1.0;
    // What no hypothesis explains is noise that nobody knew of.
    let misses = |it: &Candidate| it.left_out.iter().map(|(square, variance)| square / variance).sum::<f64>();
    let count = series.pes.len() as f64;
    let noise = candidates.iter().map(misses).reduce(f64::min).map_or(1.0, |least| (least / count).max(1.0));
    let weight = |it: &Candidate| {
        let density = |(square, variance): &(f64, f64)| -0.5 * (square / (noise * variance) + (noise * variance).ln());
        it.prior.ln() + it.left_out.iter().map(density).sum::<f64>()
    };
    let weights: Vec<f64> = candidates.iter().map(weight).collect();
    let most = weights.iter().copied().reduce(f64::max)?;
    let best = &candidates[weights.iter().position(|weight| *weight >= most)?];
    let (mut low, mut high) = (best.there, best.there);
    for (it, _) in candidates.iter().zip(&weights).filter(|(_, weight)| **weight >= most + TOLD_APART.ln()) {
        let (share, seconds) = series.error_there;
        let own = (share * it.there).powi(2) + seconds * seconds + (beyond * nearest).powi(2);
        let off = QUANTILE * (noise * it.variance + own).sqrt();
        (low, high) = (low.min(it.there - off), high.max(it.there + off));
    }
    Some(Fitted { law: best.law.clone(), at: best.at.clone(), there: best.there, low: low.max(0.0), high })
}

/// A quantity that is counted and not timed, at another number of PEs: by the simplest law that meets all its values; none if none does.
pub(super) fn counted(pes: &[f64], values: &[f64], there: f64) -> Option<f64> {
    const CLOSE: f64 = 1e-3;
    if values.iter().all(|value| *value == 0.0) {
        return Some(0.0);
    }
    let error: Vec<f64> = values.iter().map(|value| CLOSE * value.abs().max(f64::MIN_POSITIVE)).collect();
    let series = Series { pes, seconds: values, error: &error, there, error_there: (0.0, 0.0) };
    let of = |terms: &[(i8, bool)]| {
        let basis = |(sixths, log): &(i8, bool)| {
            let term = Term::Power { sixths: *sixths, log: *log };
            Basis { term, at: pes.iter().map(|pes| power(term, *pes)).collect(), there: power(term, there), prior: 1.0 }
        };
        let bases: Vec<Basis> = terms.iter().map(basis).collect();
        let found = candidate(&series, &bases.iter().collect::<Vec<_>>())?;
        let is_met = found.at.iter().zip(values).zip(&error).all(|((at, value), error)| (at - value).abs() <= *error);
        is_met.then_some(found.there)
    };
    let one = TERMS.iter().find_map(|term| of(&[(term.0, term.1)]));
    one.or_else(|| {
        let enough = pes.len() > 2;
        enough.then(|| TERMS.iter().skip(1).find_map(|term| of(&[(0, false), (term.0, term.1)]))).flatten()
    })
}

fn power(term: Term, pes: f64) -> f64 {
    match term {
        Term::Power { sixths, log } => pes.powf(f64::from(sixths) / 6.0) * if log { pes.log2() } else { 1.0 },
        Term::Visits | Term::Rounds | Term::Volume | Term::Machine => f64::NAN,
    }
}

const CONSTANT: Term = Term::Power { sixths: 0, log: false };
const INVERSE: Term = Term::Power { sixths: -6, log: false };
const LOGARITHM: Term = Term::Power { sixths: 0, log: true };

fn is_growing(term: Term) -> bool {
    match term {
        Term::Power { sixths, log } => sixths > 0 || sixths == 0 && log,
        Term::Visits | Term::Rounds | Term::Volume | Term::Machine => false,
    }
}

/// Sums of terms with no more coefficients than values can tell: one less than there are values. Two values can hardly tell anything, so that only what is
/// common is looked at, but with two coefficients.
fn hypotheses(bases: &[Basis], values: usize) -> Vec<Vec<&Basis>> {
    /// What is common is expected this much.
    const COMMON: f64 = 0.2;
    let bases = || bases.iter().filter(move |basis| values > 2 || basis.prior >= COMMON);
    let of = |term: Term| bases().find(|basis| basis.term == term);
    let (constant, inverse) = (of(CONSTANT), of(INVERSE));
    let grows = |basis: &&Basis| is_growing(basis.term);
    let mut all: Vec<Vec<&Basis>> = bases().map(|basis| vec![basis]).collect();
    let is_common = |basis: &&Basis| {
        values > 2 || is_growing(basis.term) || basis.term == INVERSE || !matches!(basis.term, Term::Power { .. })
    };
    let with_constant = bases().filter(|basis| basis.term != CONSTANT).filter(is_common);
    all.extend(with_constant.filter_map(|basis| Some(vec![constant?, basis])));
    let with_inverse = bases().filter(grows).filter(|basis| values > 2 || basis.term == LOGARITHM);
    all.extend(with_inverse.filter_map(|basis| Some(vec![inverse?, basis])));
    all.extend(of(Term::Rounds).zip(of(Term::Volume)).map(|(rounds, volume)| vec![rounds, volume]));
    if values > 3 {
        all.extend(bases().filter(grows).filter_map(|basis| Some(vec![constant?, inverse?, basis])));
    }
    all
}

/// Fits a hypothesis; none where the values do not determine it, or it would take time away.
fn candidate(series: &Series<'_>, bases: &[&Basis]) -> Option<Candidate> {
    let (coefficients, inverse) = solve(series, bases, None)?;
    let at = |point: usize| bases.iter().zip(&coefficients).map(|(basis, c)| c * basis.at[point]).sum::<f64>();
    let there: f64 = bases.iter().zip(&coefficients).map(|(basis, c)| c * basis.there).sum();
    let grows = bases.iter().any(|basis| is_growing(basis.term));
    let is_allowed = |(basis, c): (&&Basis, &f64)| *c >= 0.0 || bases.len() == 2 && grows && basis.term == CONSTANT;
    let fitted: Vec<f64> = (0..series.pes.len()).map(at).collect();
    if !bases.iter().zip(&coefficients).all(is_allowed)
        || there.is_nan()
        || there < 0.0
        || fitted.iter().any(|it| *it < 0.0)
    {
        return None;
    }
    let left_out = |point: usize| {
        if series.pes.len() == bases.len() {
            // Nothing is left to tell by: as if it were known to a third of what it is.
            let variance = (series.seconds[point] / 3.0).powi(2) + series.error[point].powi(2);
            return Some((0.0, variance));
        }
        let (others, inverse) = solve(series, bases, Some(point))?;
        let said: f64 = bases.iter().zip(&others).map(|(basis, c)| c * basis.at[point]).sum();
        let variance = spread(&inverse, bases, |basis| basis.at[point]) + series.error[point].powi(2);
        Some(((said - series.seconds[point]).powi(2), variance))
    };
    Some(Candidate {
        law: Law(coefficients.iter().copied().zip(bases.iter().map(|basis| basis.term)).collect()),
        at: fitted,
        there,
        variance: spread(&inverse, bases, |basis| basis.there),
        left_out: (0..series.pes.len()).map(left_out).collect::<Option<_>>()?,
        prior: bases.iter().map(|basis| basis.prior).product::<f64>() * FURTHER.powi(bases.len() as i32 - 1),
    })
}

type Matrix = Vec<Vec<f64>>;

/// The variance of what a fit says where the quantities are these.
fn spread(inverse: &Matrix, bases: &[&Basis], at: impl Fn(&Basis) -> f64) -> f64 {
    let row = |row: &Vec<f64>| row.iter().zip(bases).map(|(cell, basis)| cell * at(basis)).sum::<f64>();
    inverse.iter().zip(bases).map(|(cells, basis)| at(basis) * row(cells)).sum::<f64>().max(0.0)
}

/// Coefficients by weighted least squares, and their covariances: normal equations, by Gauss and Jordan.
fn solve(series: &Series<'_>, bases: &[&Basis], without: Option<usize>) -> Option<(Vec<f64>, Matrix)> {
    let count = bases.len();
    let points: Vec<usize> = (0..series.pes.len()).filter(|point| Some(*point) != without).collect();
    let scale: Vec<f64> =
        bases.iter().map(|basis| points.iter().map(|point| basis.at[*point].abs()).fold(0.0, f64::max)).collect();
    if points.len() < count || scale.iter().any(|scale| *scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    let weight = |point: usize| series.error[point].powi(-2);
    let cell = |basis: usize, point: usize| bases[basis].at[point] / scale[basis];
    let sum = |of: &dyn Fn(usize) -> f64| points.iter().map(|point| weight(*point) * of(*point)).sum::<f64>();
    // The matrix with what it is to give, and the unit matrix, which becomes its inverse.
    let mut rows: Matrix = (0..count)
        .map(|row| {
            let cells = (0..count).map(|column| sum(&|point| cell(row, point) * cell(column, point)));
            let right = sum(&|point| cell(row, point) * series.seconds[point]);
            cells.chain([right]).chain((0..count).map(|column| f64::from(u8::from(row == column)))).collect()
        })
        .collect();
    let largest = rows.iter().flat_map(|row| row[..count].iter()).fold(0.0_f64, |most, cell| most.max(cell.abs()));
    for column in 0..count {
        let pivot = (column..count).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        if rows[pivot][column].abs() <= 1e-12 * largest {
            return None;
        }
        rows.swap(column, pivot);
        let by = rows[column][column];
        rows[column].iter_mut().for_each(|cell| *cell /= by);
        let own = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != column) {
            let factor = row[column];
            row.iter_mut().zip(&own).for_each(|(cell, own)| *cell -= factor * own);
        }
    }
    let coefficients = rows.iter().zip(&scale).map(|(row, scale)| row[count] / scale).collect();
    let inverse = rows
        .iter()
        .zip(&scale)
        .map(|(row, own)| row[count + 1..].iter().zip(&scale).map(|(cell, scale)| cell / (own * scale)).collect())
        .collect();
    Some((coefficients, inverse))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series whose values are known to a hundredth.
    fn fitted(pes: &[f64], seconds: &[f64], there: f64, is_work: bool, known: &[Basis]) -> Fitted {
        let error: Vec<f64> = seconds.iter().map(|seconds| 0.01 * seconds + 1e-6).collect();
        let series = Series { pes, seconds, error: &error, there, error_there: (0.01, 0.0) };
        fit(&series, is_work, known).expect("some hypothesis is possible")
    }

    fn terms(fitted: &Fitted) -> Vec<Term> {
        fitted.law.0.iter().map(|term| term.1).collect()
    }

    const LINEAR: Term = Term::Power { sixths: 6, log: false };

    /// Laws as programs have them, with their terms.
    type Known = (fn(f64) -> f64, &'static [Term], bool);
    const LAWS: [Known; 7] = [
        (|_| 0.64, &[CONSTANT], true),
        (|pes| 7.68 / pes, &[INVERSE], true),
        // Amdahl: a tenth is serial.
        (|pes| 0.8 + 7.2 / pes, &[CONSTANT, INVERSE], true),
        // A pipeline of eight things.
        (|pes| 0.03 * (8.0 + pes - 1.0), &[CONSTANT, LINEAR], true),
        (|pes| 0.02 * pes, &[LINEAR], true),
        (|pes| 0.1 * pes.log2(), &[LOGARITHM], false),
        // The surface of squares.
        (|pes| 3.0 / pes.sqrt(), &[Term::Power { sixths: -3, log: false }], false),
    ];

    #[test]
    fn exact_series_give_their_laws() {
        for (number, (law, expected, is_work)) in LAWS.iter().enumerate() {
            for pes in [&[2.0, 4.0, 8.0][..], &[2.0, 4.0, 6.0, 8.0], &[3.0, 5.0, 9.0, 14.0]] {
                let seconds: Vec<f64> = pes.iter().map(|pes| law(*pes)).collect();
                for there in [1.0, 16.0, 64.0] {
                    let said = fitted(pes, &seconds, there, *is_work, &[]);
                    assert_eq!(terms(&said), *expected, "{number} of {pes:?}");
                    assert!((said.there - law(there)).abs() < 1e-9, "{number} on {there}: {said:?}");
                    assert!(said.low <= law(there) && law(there) <= said.high, "{number} on {there}: {said:?}");
                }
            }
        }
    }

    #[test]
    fn two_values_follow_what_is_common_and_say_that_they_hardly_know() {
        let said = fitted(&[2.0, 4.0], &[4.4, 2.6], 8.0, true, &[]);
        assert_eq!(terms(&said), [CONSTANT, INVERSE]);
        assert!((said.there - 1.7).abs() < 1e-9);
        // A logarithm in place of the constant is as good.
        assert!(said.low < 1.65 && said.high > 1.9, "{said:?}");
        let third = fitted(&[2.0, 4.0, 6.0], &[4.4, 2.6, 2.0], 8.0, true, &[]);
        assert!(third.high - third.low < 0.5 * (said.high - said.low), "{said:?} {third:?}");
    }

    #[test]
    fn what_it_may_be_grows_with_the_distance_and_with_noise() {
        let (pes, seconds) = ([2.0, 4.0, 8.0, 16.0], [4.4, 2.6, 1.7, 1.25]);
        let width = |seconds: &[f64], there: f64| {
            let said = fitted(&pes, seconds, there, true, &[]);
            said.high - said.low
        };
        let widths = [16.0, 32.0, 64.0, 128.0].map(|there| width(&seconds, there));
        assert!(widths.is_sorted() && widths[3] > 3.0 * widths[0], "{widths:?}");
        assert!(width(&[4.6, 2.5, 1.8, 1.2], 32.0) > 1.5 * widths[1]);
    }

    /// Noise of a hundredth: the truth is where it is said to be in at least as many cases as promised.
    #[test]
    fn the_truth_is_within_what_is_said() {
        const TURNS: usize = 60;
        let mut state = 1_u64;
        let mut noise = || {
            // The sum of twelve uniform values less six is about normal.
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        for (number, (law, _, is_work)) in LAWS.iter().enumerate() {
            for pes in [&[2.0, 4.0, 8.0][..], &[2.0, 4.0, 6.0, 8.0]] {
                let within = (0..TURNS).filter(|_| {
                    let seconds: Vec<f64> = pes.iter().map(|pes| law(*pes) * (1.0 + 0.01 * noise())).collect();
                    let said = fitted(pes, &seconds, 16.0, *is_work, &[]);
                    said.low <= law(16.0) && law(16.0) <= said.high
                });
                let share = within.count() as f64 / TURNS as f64;
                assert!(share >= 0.9, "{number} of {pes:?}: {share}");
            }
        }
    }

    #[test]
    fn what_is_counted_is_preferred_where_it_meets_the_times() {
        let visits = Basis { term: Term::Visits, at: vec![9.0, 11.0, 15.0], there: 23.0, prior: 1.0 };
        let said = fitted(&[2.0, 4.0, 8.0], &[0.27, 0.33, 0.45], 16.0, true, std::slice::from_ref(&visits));
        assert_eq!(terms(&said), [Term::Visits]);
        assert!((said.there - 0.69).abs() < 1e-9);
        let said = fitted(&[2.0, 4.0, 8.0], &[4.0, 2.0, 1.0], 16.0, true, &[visits]);
        assert_eq!(terms(&said), [INVERSE]);
    }

    #[test]
    fn counts_follow_exact_laws_or_none() {
        let pes = [2.0, 4.0, 8.0];
        assert_eq!(counted(&pes, &[8.0; 3], 64.0), Some(8.0));
        assert!(counted(&pes, &[9.0, 11.0, 15.0], 16.0).is_some_and(|it| (it - 23.0).abs() < 1e-6));
        assert!(counted(&pes, &[512.0, 256.0, 128.0], 16.0).is_some_and(|it| (it - 64.0).abs() < 1e-6));
        assert_eq!(counted(&pes, &[5.0, 17.0, 6.0], 16.0), None);
    }
}
