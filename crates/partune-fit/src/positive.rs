//! Least squares whose coefficients are not negative: what classes of work cost, from sums of them.
//!
//! Source: C. L. Lawson, R. J. Hanson, *Solving Least Squares Problems* (1974), algorithm NNLS, on the normal equations of [`squares`](crate::squares).

use crate::squares::solve;

/// A row: the values of its columns, what they are to give, and its weight.
pub type Row = (Vec<f64>, f64, f64);

/// Coefficients, none below zero, that come nearest to all rows. Of columns that rows do not tell apart the first one has all, and the others are zero, as
/// is a column that is zero everywhere. Nothing where rows have no column, or other numbers of columns. Few columns: each step is a solution of at most all of
/// them, and there are a few times as many steps.
pub fn solve_positive(rows: &[Row]) -> Vec<f64> {
    let count = rows.first().map_or(0, |row| row.0.len());
    if count == 0 || rows.iter().any(|row| row.0.len() != count) {
        return Vec::new();
    }
    let mut coefficients = vec![0.0; count];
    let mut is_free = vec![false; count];
    let mut is_barred = vec![false; count];
    let norm = |column: usize| rows.iter().map(|row| row.2 * row.0[column].powi(2)).sum::<f64>().sqrt();
    let norms: Vec<f64> = (0..count).map(norm).collect();
    let size = rows.iter().map(|row| row.2 * row.1.powi(2)).sum::<f64>().sqrt();
    // Each column comes in, and may go out and come in again; the bound only ends what rounding would keep going.
    for _ in 0..4 * count + 8 {
        let rest = |row: &Row| row.1 - row.0.iter().zip(&coefficients).map(|(a, x)| a * x).sum::<f64>();
        let slope =
            |column: usize| rows.iter().map(|row| row.2 * row.0[column] * rest(row)).sum::<f64>() / norms[column];
        let open = (0..count).filter(|it| !is_free[*it] && !is_barred[*it] && norms[*it] > 0.0);
        let steepest = open.map(|it| (it, slope(it))).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((entering, _)) = steepest.filter(|it| it.1 > 1e-10 * size) else { break };
        is_free[entering] = true;
        loop {
            let free: Vec<usize> = (0..count).filter(|it| is_free[*it]).collect();
            let columns: Vec<Vec<f64>> = rows.iter().map(|row| free.iter().map(|at| row.0[*at]).collect()).collect();
            let solved = solve(columns.iter().zip(rows).map(|(columns, row)| (&columns[..], row.1, row.2)));
            let Some(solved) = solved else {
                // It says the same as others that are in.
                is_free[entering] = false;
                is_barred[entering] = true;
                break;
            };
            if solved.coefficients.iter().all(|value| *value > 0.0) {
                free.iter().zip(&solved.coefficients).for_each(|(at, value)| coefficients[*at] = *value);
                break;
            }
            // As far towards it as nothing becomes negative, where one at least becomes zero.
            let step = |(at, value): (&usize, &f64)| coefficients[*at] / (coefficients[*at] - value);
            let pairs = || free.iter().zip(&solved.coefficients);
            let far = pairs().filter(|it| *it.1 <= 0.0).map(step).fold(1.0, f64::min);
            for (at, value) in pairs() {
                coefficients[*at] += far * (value - coefficients[*at]);
            }
            let least = free.iter().copied().min_by(|a, b| coefficients[*a].total_cmp(&coefficients[*b]));
            for at in free {
                if coefficients[at] <= 0.0 || Some(at) == least {
                    coefficients[at] = 0.0;
                    is_free[at] = false;
                }
            }
            // What came in goes out at once only by rounding: it would come again.
            is_barred[entering] |= !is_free[entering];
        }
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Row, solve_positive};

    #[test]
    fn what_is_positive_is_found_and_what_is_not_is_zero() {
        // 2 and 3, exactly.
        let rows: Vec<Row> =
            [(1.0, 0.0), (0.0, 1.0), (2.0, 1.0)].map(|(a, b)| (vec![a, b], 2.0 * a + 3.0 * b, 1.0)).to_vec();
        let found = solve_positive(&rows);
        assert!((found[0] - 2.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12, "{found:?}");
        // y = 1 - x at 0, 1, 2: without a sign 1 and -1; with it the mean of 1, 0 and -1, which is 0, and nothing.
        let rows: Vec<Row> = [0.0, 1.0, 2.0].map(|x| (vec![1.0, x], 1.0 - x, 1.0)).to_vec();
        assert!(solve_positive(&rows).iter().all(|value| value.abs() < 1e-12));
        // y = 3 - x: 3 and -1 become the mean of 3, 2 and 1.
        let rows: Vec<Row> = [0.0, 1.0, 2.0].map(|x| (vec![1.0, x], 3.0 - x, 1.0)).to_vec();
        let found = solve_positive(&rows);
        assert!((found[0] - 2.0).abs() < 1e-12 && found[1] == 0.0, "{found:?}");
        // Two columns that are the same but for their size, and one that is nothing.
        let rows: Vec<Row> = [1.0, 2.0].map(|x| (vec![x, 3.0 * x, 0.0], 6.0 * x, 1.0)).to_vec();
        let found = solve_positive(&rows);
        assert!((found[0] + 3.0 * found[1] - 6.0).abs() < 1e-9 && found[2] == 0.0, "{found:?}");
        assert!(found[0] == 0.0 || found[1] == 0.0, "{found:?}");
        assert!(solve_positive(&[]).is_empty());
    }

    proptest! {
        /// The conditions of Karush, Kuhn and Tucker: no slope where a coefficient is positive, none upwards where it is zero.
        #[test]
        fn nothing_comes_nearer(rows in prop::collection::vec((prop::collection::vec(0.0..10.0, 4), -50.0..50.0, 0.1..2.0), 1..12)) {
            let found = solve_positive(&rows);
            prop_assert_eq!(found.len(), 4);
            let rest = |row: &Row| row.1 - row.0.iter().zip(&found).map(|(a, x)| a * x).sum::<f64>();
            for column in 0..4 {
                let slope: f64 = rows.iter().map(|row| row.2 * row.0[column] * rest(row)).sum();
                let scale: f64 = rows.iter().map(|row| row.2 * row.0[column] * 50.0).sum::<f64>().max(1.0);
                prop_assert!(found[column] >= 0.0 && slope <= 1e-6 * scale, "{:?} {} {}", found, column, slope);
                prop_assert!(found[column] == 0.0 || slope.abs() <= 1e-6 * scale, "{:?} {} {}", found, column, slope);
            }
        }
    }
}
