//! The segmentations of a series and the polynomials through it that leave the least squares, for each number of segments and each degree.

use crate::measured::Measured;

/// The highest degree of a polynomial.
const DEGREES: usize = 3;

/// Sums of values, by which those of any neighbours are found at once.
pub(crate) struct Segments {
    /// Sums of the values before a position, and of their squares; less the mean of all, so that little is lost by rounding.
    sums: Vec<(f64, f64)>,
    /// Whether a segment may begin there: not between equal positions.
    may_begin: Vec<bool>,
    shortest: usize,
}

impl Segments {
    pub(crate) fn new(at: &[f64], values: &[Measured], shortest: usize) -> Segments {
        let mean = values.iter().map(|value| value.value).sum::<f64>() / values.len() as f64;
        let mut sums = vec![(0.0, 0.0)];
        for value in values {
            let (off, (sum, squares)) = (value.value - mean, sums[sums.len() - 1]);
            sums.push((sum + off, squares + off * off));
        }
        let may_begin = (0..at.len()).map(|point| point == 0 || at[point - 1] < at[point]).collect();
        Segments { sums, may_begin, shortest }
    }

    /// Squares of what values are off their mean.
    pub(crate) fn squares(&self, first: usize, until: usize) -> f64 {
        let (sum, squares) = (self.sums[until].0 - self.sums[first].0, self.sums[until].1 - self.sums[first].1);
        (squares - sum * sum / (until - first) as f64).max(0.0)
    }

    /// For one segment, and for each further number that is possible, the least squares, and where segments begin then; the first of equals.
    pub(crate) fn best(&self) -> Vec<(f64, Vec<usize>)> {
        let count = self.may_begin.len();
        // Of the values before a position: least squares with so many segments; for each further number where the last of them begins.
        let mut least: Vec<f64> = (0..=count)
            .map(|until| if until < self.shortest { f64::INFINITY } else { self.squares(0, until) })
            .collect();
        let mut begins: Vec<Vec<usize>> = Vec::new();
        let mut found = vec![(self.squares(0, count), vec![0])];
        for segments in 2..=count / self.shortest {
            let mut next = vec![(f64::INFINITY, 0); count + 1];
            for (until, best) in next.iter_mut().enumerate().skip(segments * self.shortest) {
                for first in (self.shortest..=until - self.shortest).filter(|first| self.may_begin[*first]) {
                    let squares = least[first] + self.squares(first, until);
                    if squares < best.0 {
                        *best = (squares, first);
                    }
                }
            }
            least = next.iter().map(|it| it.0).collect();
            begins.push(next.iter().map(|it| it.1).collect());
            if least[count].is_finite() {
                let mut firsts = vec![count];
                for begin in begins.iter().rev() {
                    firsts.push(begin[firsts[firsts.len() - 1]]);
                }
                firsts.push(0);
                firsts.reverse();
                firsts.pop();
                found.push((least[count], firsts));
            }
        }
        found
    }
}

/// Squares that polynomials of degree 1, 2, … in the logarithm of positions leave, where values are enough to tell: orthogonal polynomials (Forsythe
/// 1957).
pub(crate) fn polynomials(at: &[f64], values: &[Measured]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let logs: Vec<f64> = at.iter().map(|at| at.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let scale = logs.iter().map(|log| (log - mean).abs()).fold(f64::MIN_POSITIVE, f64::max);
    let axis: Vec<f64> = logs.iter().map(|log| (log - mean) / scale).collect();
    let mut left: Vec<f64> = values.iter().map(|value| value.value).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut squares = Vec::new();
    // The last degree would meet all values whatever they are.
    for degree in 0..=DEGREES.min(values.len().saturating_sub(2)) {
        let mut own: Vec<f64> = match basis.last() {
            None => vec![1.0; left.len()],
            Some(last) => last.iter().zip(&axis).map(|(last, at)| last * at).collect(),
        };
        // Once more for what rounding leaves.
        for known in basis.iter().chain(&basis) {
            let by = dot(known, &own);
            own.iter_mut().zip(known).for_each(|(own, known)| *own -= by * known);
        }
        let length = dot(&own, &own).sqrt();
        if length < 1e-9 {
            break;
        }
        own.iter_mut().for_each(|own| *own /= length);
        let by = dot(&own, &left);
        left.iter_mut().zip(&own).for_each(|(left, own)| *left -= by * own);
        basis.push(own);
        if degree > 0 {
            squares.push(dot(&left, &left));
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random series, against all segmentations.
    #[test]
    fn none_of_all_segmentations_is_better() {
        let mut state = 9_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for count in 2..10 {
            for shortest in 1..4 {
                // Some positions are equal.
                let at: Vec<f64> = (0..count).map(|point| f64::from(1 + point - u32::from(point % 4 == 2))).collect();
                let values: Vec<Measured> = (0..count).map(|_| Measured::exact(random())).collect();
                let mut least = vec![f64::INFINITY; values.len() + 1];
                for chosen in 0_u32..1 << (count - 1) {
                    let begins = (1..values.len()).filter(|point| chosen >> (point - 1) & 1 == 1);
                    let mut ends: Vec<usize> = std::iter::once(0).chain(begins).collect();
                    let is_allowed = ends[1..].iter().all(|point| at[point - 1] < at[*point]);
                    ends.push(values.len());
                    let are_long = ends.windows(2).all(|ends| ends[1] - ends[0] >= shortest);
                    // The whole is always offered.
                    if is_allowed && (are_long || ends.len() == 2) {
                        let squares = |ends: &[usize]| {
                            let own = || values[ends[0]..ends[1]].iter().map(|it| it.value);
                            let mean = own().sum::<f64>() / own().count() as f64;
                            own().map(|value| (value - mean).powi(2)).sum::<f64>()
                        };
                        let number = ends.len() - 1;
                        least[number] = least[number].min(ends.windows(2).map(squares).sum());
                    }
                }
                let found = Segments::new(&at, &values, shortest).best();
                let known = least.iter().enumerate().filter(|it| it.1.is_finite());
                assert_eq!(found.len(), known.clone().count(), "{count} {shortest}");
                for ((squares, firsts), (number, least)) in found.iter().zip(known) {
                    assert_eq!(firsts.len(), number);
                    assert!((squares - least).abs() < 1e-12, "{count} {shortest} {number}: {squares} {least}");
                }
            }
        }
    }

    /// x², x² - 1 and the like in the logarithm of positions: what is left by hand.
    #[test]
    fn polynomials_leave_what_is_of_a_higher_degree() {
        let at = [0.1_f64, 1.0, 10.0, 100.0, 1000.0];
        let left = |of: fn(f64) -> f64| {
            let values: Vec<Measured> = (-2..3).map(|x| Measured::exact(of(f64::from(x)))).collect();
            polynomials(&at, &values)
        };
        let is = |found: Vec<f64>, expected: [f64; 3]| {
            assert_eq!(found.len(), 3);
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{found:?}");
        };
        is(left(|x| 3.0 + 2.0 * x), [0.0; 3]);
        // 2, -1, -2, -1, 2 are orthogonal to lines.
        is(left(|x| x * x), [14.0, 0.0, 0.0]);
        // x³ less 3.4 x: -1.2, 2.4, 0, -2.4, 1.2.
        is(left(|x| x * x * x), [14.4, 14.4, 0.0]);
        // Positions that are equal have no polynomial, and as few as a degree needs leave nothing to tell by.
        assert_eq!(polynomials(&[2.0; 4], &[Measured::exact(1.0); 4]), [0.0; 0]);
        assert_eq!(polynomials(&[1.0, 2.0], &[Measured::exact(1.0); 2]), [0.0; 0]);
    }
}
