//! Which law a few values follow: sums of a constant and up to three terms, chosen by what each makes of values that are left out.
//!
//! Values are weighed by their own size: a law that is 5 % off is as bad for small values as for large ones. Sums grow term by term from the best ones with
//! one term less. Leaving out is exact for each sum (by the diagonal of the hat matrix) and costs nothing. Of thousands of sums some fit by chance; so
//! each term has a price, larger if it is odd. What other sums say that are nearly as good is part of how far off the best one may be.

use crate::squares::{Solution, solve};
use crate::terms::{self, Term};

/// What was measured: its parameters, all positive; the value, positive; and its standard deviation, 0 if unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub at: Vec<f64>,
    pub value: f64,
    pub deviation: f64,
}

/// Terms of a sum at most, besides the constant.
const MOST: usize = 3;
/// Sums that are kept, and grown further.
const BEAM: usize = 60;
/// What a term costs, in units of the logarithm of squared errors: one that explains nothing improves them by chance.
const TERM: f64 = 2.0;
/// Sums that are so much worse than the best one are told from it.
const TOLD_APART: f64 = 6.0;
/// Values that are known better than this are taken as no better.
const EXACT: f64 = 1e-7;

/// A law: what it is, what it says, and how far off that may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    terms: Vec<Term>,
    /// The best one first; weights as probable as they are beside it.
    sums: Vec<(f64, Sum)>,
    /// The root of the mean squared relative error of values that were left out.
    pub left_out: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Sum {
    /// Its terms.
    at: Vec<usize>,
    solution: Solution,
    /// Of values that are left out, relative.
    press: f64,
    score: f64,
}

impl Fitted {
    /// The value there and its standard deviation: of the coefficients, of sums that are as good, and of what the law leaves unexplained.
    pub fn at(&self, at: &[f64]) -> (f64, f64) {
        let said: Vec<(f64, f64, f64)> = self
            .sums
            .iter()
            .map(|(weight, sum)| {
                let columns: Vec<f64> = sum.at.iter().map(|term| terms::value(&self.terms[*term], at)).collect();
                let value = sum.solution.at(&columns);
                (*weight, value, sum.solution.variance(&columns) * sum.press.powi(2))
            })
            .filter(|it| it.1.is_finite())
            .collect();
        let best = said.first().map_or(f64::NAN, |it| it.1);
        let all: f64 = said.iter().map(|it| it.0).sum();
        let among = said.iter().map(|(weight, value, own)| weight * ((value - best).powi(2) + own)).sum::<f64>() / all;
        (best, (among + (best * self.left_out).powi(2)).sqrt())
    }

    /// Coefficients and terms, by names of the parameters: `0.0012 + 2e-7·n^3·P^-1`.
    pub fn text(&self, names: &[&str]) -> String {
        let Some((_, sum)) = self.sums.first() else { return String::new() };
        let terms = sum.at.iter().zip(&sum.solution.coefficients);
        let text = |(term, coefficient): (&usize, &f64)| {
            format!("{}{}", short(*coefficient), terms::text(&self.terms[*term], names))
        };
        terms.map(text).collect::<Vec<_>>().join(" + ")
    }
}

/// A number with four digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-3..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// The law of two values or more; none if parameters or values are not positive, or no sum is possible. A sum has at most half as many coefficients as there
/// are values, rounded up. All pairs of up to 400 terms are looked at, each by a few numbers.
pub fn fit(points: &[Point]) -> Option<Fitted> {
    let first = points.first()?;
    let is_usable = |point: &Point| {
        point.at.len() == first.at.len()
            && point.at.iter().chain([&point.value]).all(|value| *value > 0.0 && value.is_finite())
    };
    if points.len() < 2 || !points.iter().all(is_usable) {
        return None;
    }
    let search = Search::new(points);
    let terms = 1..search.terms.len();
    let width = points.len().div_ceil(2).min(MOST + 1);
    let mut found = Found::default();
    for size in 1..=width {
        match size {
            1 => (0..search.terms.len()).for_each(|term| search.weigh(&[term], &mut found)),
            2 => {
                terms.clone().for_each(|term| search.weigh(&[0, term], &mut found));
                terms.clone().for_each(|a| (a + 1..terms.end).for_each(|b| search.weigh(&[a, b], &mut found)));
            }
            _ => {
                if size == 3 {
                    terms.clone().for_each(|a| (a + 1..terms.end).for_each(|b| search.weigh(&[0, a, b], &mut found)));
                }
                let grown: Vec<Vec<usize>> =
                    found.best().iter().filter(|it| it.at.len() == size - 1).map(|it| it.at.clone()).collect();
                for sum in grown {
                    let further = (0..terms.end).filter(|term| !sum.contains(term));
                    further.for_each(|term| search.weigh(&[&sum[..], &[term]].concat(), &mut found));
                }
            }
        }
    }
    let best = found.best().first()?.score;
    let sums: Vec<(f64, Sum)> = found
        .best()
        .iter()
        .filter(|sum| sum.score < best + TOLD_APART)
        .map(|sum| ((0.5 * (best - sum.score)).exp(), sum.clone()))
        .collect();
    let left_out = sums.first()?.1.press;
    Some(Fitted { terms: search.terms, sums, left_out })
}

/// The best sums so far, each once whatever the order of its terms.
#[derive(Default)]
struct Found(Vec<Sum>);

impl Found {
    /// What a sum must be better than to be worth a closer look.
    fn bar(&self) -> f64 {
        if self.0.len() < BEAM { f64::INFINITY } else { self.0[BEAM - 1].score }
    }

    fn push(&mut self, sum: Sum) {
        let at = self.0.partition_point(|it| it.score <= sum.score);
        if !self.0[..at].iter().rev().take_while(|it| it.score >= sum.score).any(|it| it.at == sum.at) {
            self.0.insert(at, sum);
            self.0.truncate(BEAM);
        }
    }

    fn best(&self) -> &[Sum] {
        &self.0
    }
}

struct Search {
    /// The constant first.
    terms: Vec<Term>,
    price: Vec<f64>,
    /// By value and term: what a term is there, divided by the value, so that a sum has to give 1.
    cells: Vec<Vec<f64>>,
    /// Of terms that are scaled to length 1 over all values: their products with each other, and with what sums have to give.
    products: Vec<Vec<f64>>,
    right: Vec<f64>,
    /// The mean variance of values, relative.
    noise: f64,
}

impl Search {
    fn new(points: &[Point]) -> Search {
        let first = &points[0].at;
        let varies: Vec<bool> =
            (0..first.len()).map(|at| points.iter().any(|point| (point.at[at] - first[at]).abs() > 0.0)).collect();
        let mut terms = vec![vec![terms::Factor::default(); first.len()]];
        terms.extend(terms::all(&varies));
        let cells = |terms: &[Term]| -> Vec<Vec<f64>> {
            let row = |point: &Point| terms.iter().map(|term| terms::value(term, &point.at) / point.value).collect();
            points.iter().map(row).collect()
        };
        let all = cells(&terms);
        let is_sound = |at: usize| all.iter().all(|row| row[at].is_finite()) && all.iter().any(|row| row[at] > 0.0);
        let sound: Vec<Term> =
            terms.iter().enumerate().filter(|(at, _)| is_sound(*at)).map(|(_, term)| term.clone()).collect();
        let cells = cells(&sound);
        let product = |a: usize, b: usize| cells.iter().map(|row| row[a] * row[b]).sum::<f64>();
        let length: Vec<f64> = (0..sound.len()).map(|term| product(term, term).sqrt()).collect();
        let products = (0..sound.len())
            .map(|a| (0..sound.len()).map(|b| product(a, b) / (length[a] * length[b])).collect())
            .collect();
        let noise = points.iter().map(|it| (it.deviation / it.value).powi(2)).sum::<f64>() / points.len() as f64;
        Search {
            price: sound.iter().map(|term| TERM + terms::oddness(term)).collect(),
            right: (0..sound.len()).map(|at| cells.iter().map(|row| row[at]).sum::<f64>() / length[at]).collect(),
            products,
            terms: sound,
            cells,
            noise: noise.max(EXACT * EXACT),
        }
    }

    fn score(&self, squares: f64, terms: &[usize]) -> f64 {
        let count = self.cells.len() as f64;
        count * (squares / count + self.noise).ln() + terms.iter().map(|term| self.price[*term]).sum::<f64>()
    }

    /// Keeps a sum if it is among the best. What is left of all values is less than of values that are left out, and quickly known.
    fn weigh(&self, terms: &[usize], found: &mut Found) {
        let is_promising = self.score(self.left_over(terms), terms) < found.bar();
        if let Some(sum) = is_promising.then(|| self.sum(terms)).flatten().filter(|sum| sum.score < found.bar()) {
            found.push(sum);
        }
    }

    /// About the squares that a sum leaves over, at least, by Cholesky's decomposition of the products of its terms and of what they have to give.
    fn left_over(&self, terms: &[usize]) -> f64 {
        const ROWS: usize = MOST + 1;
        let mut lower = [[0.0_f64; ROWS]; ROWS];
        let mut explained = 0.0;
        let mut solved = [0.0_f64; ROWS];
        for (row, a) in terms.iter().enumerate() {
            for (column, b) in terms[..=row].iter().enumerate() {
                let before: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
                let rest = self.products[*a][*b] - before;
                lower[row][column] = if column == row { rest.max(1e-14).sqrt() } else { rest / lower[column][column] };
            }
            let before: f64 = (0..row).map(|at| lower[row][at] * solved[at]).sum();
            solved[row] = (self.right[*a] - before) / lower[row][row];
            explained += solved[row] * solved[row];
        }
        // What rounding may make of nothing is nothing.
        (self.cells.len() as f64 * (1.0 - 1e-9) - explained).max(0.0)
    }

    /// Fits a sum; none where the values do not determine it and leave nothing to tell by, or where it takes time away.
    fn sum(&self, terms: &[usize]) -> Option<Sum> {
        let mut at = terms.to_vec();
        at.sort_unstable();
        let rows: Vec<Vec<f64>> = self.cells.iter().map(|cells| at.iter().map(|term| cells[*term]).collect()).collect();
        let solution = solve(rows.iter().map(|row| (&row[..], 1.0, 1.0)))?;
        let is_allowed = |(term, coefficient): (&usize, &f64)| *coefficient >= 0.0 || at.len() > 1 && *term == 0;
        if !at.iter().zip(&solution.coefficients).all(is_allowed) {
            return None;
        }
        let mut squares = 0.0;
        for row in &rows {
            let said = solution.at(row);
            // How much a value determines what is said of it.
            let own = solution.variance(row);
            if said <= 0.0 || own > 1.0 - 1e-9 {
                return None;
            }
            squares += ((1.0 - said) / (1.0 - own)).powi(2);
        }
        let score = self.score(squares, &at);
        Some(Sum { at, solution, press: (squares / rows.len() as f64).sqrt(), score })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(law: impl Fn(&[f64]) -> f64, at: &[&[f64]], noise: f64) -> Vec<Point> {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let of = |at: &&[f64]| {
            let value = law(at) * (1.0 + noise * normal());
            Point { at: at.to_vec(), value, deviation: noise * value }
        };
        at.iter().map(of).collect()
    }

    type Law = fn(&[f64]) -> f64;

    /// Laws of two parameters as kernels have them.
    const LAWS: [(Law, &str); 5] = [
        (|at| 3e-9 * at[0].powi(3) / at[1], "3e-9·n^3·P^-1"),
        (|at| 2e-8 * at[0].powi(2), "2e-8·n^2"),
        (|at| 5e-6 + 1e-9 * at[0].powi(3) / at[1], "5e-6 + 1e-9·n^3·P^-1"),
        (|at| 2e-6 * at[0] * at[0].log2() + 1e-4 * at[1], "1e-4·P + 2e-6·n·log n"),
        (|_| 0.25, "0.25"),
    ];

    #[test]
    fn exact_values_give_their_law() {
        let at: Vec<[f64; 2]> =
            [16.0, 24.0, 32.0, 48.0, 64.0].iter().flat_map(|n| [1.0, 2.0, 4.0, 8.0].map(|pes| [*n, pes])).collect();
        let at: Vec<&[f64]> = at.iter().map(|at| &at[..]).collect();
        for (law, text) in LAWS {
            let law_found = fit(&points(law, &at, 0.0)).expect("a law");
            assert_eq!(law_found.text(&["n", "P"]), text);
            let there = [128.0, 16.0];
            let (value, deviation) = law_found.at(&there);
            assert!((value / law(&there) - 1.0).abs() < 1e-3, "{text}: {value} ± {deviation}");
        }
    }

    #[test]
    fn noise_is_told_and_the_truth_is_within() {
        let at: Vec<[f64; 2]> =
            [16.0, 24.0, 32.0, 48.0].iter().flat_map(|n| [1.0, 2.0, 4.0].map(|pes| [*n, pes])).collect();
        let at: Vec<&[f64]> = at.iter().map(|at| &at[..]).collect();
        for (law, text) in LAWS {
            let law_found = fit(&points(law, &at, 0.02)).expect("a law");
            for there in [[64.0, 4.0], [64.0, 8.0], [20.0, 2.0]] {
                let (value, deviation) = law_found.at(&there);
                let off = (value - law(&there)).abs();
                assert!(off < 2.0 * deviation, "{text} at {there:?}: {value} ± {deviation}, {}", law(&there));
                assert!(deviation > 0.005 * value, "{text} at {there:?}: {value} ± {deviation}");
            }
        }
    }

    #[test]
    fn what_says_nothing_is_no_law() {
        let point = |at: f64, value: f64| Point { at: vec![at], value, deviation: 0.0 };
        assert!(fit(&[]).is_none() && fit(&[point(1.0, 1.0)]).is_none());
        assert!(fit(&[point(1.0, 1.0), point(0.0, 1.0)]).is_none());
        assert!(fit(&[point(1.0, 1.0), point(2.0, f64::NAN)]).is_none());
        assert!(fit(&[point(1.0, 1.0), point(2.0, -1.0)]).is_none());
        // The same everywhere: nothing is said of elsewhere but that.
        let same = fit(&[point(4.0, 2.0), point(4.0, 2.2)]).expect("a constant");
        let (value, deviation) = same.at(&[4.0]);
        assert!((value - 2.1).abs() < 0.02 && deviation > 0.1, "{value} {deviation}");
    }
}
