//! Weighted least squares by normal equations, for few coefficients.

/// Coefficients, and the inverse of the matrix of the normal equations: their covariances, where weights are inverse variances.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    pub coefficients: Vec<f64>,
    pub inverse: Vec<Vec<f64>>,
}

impl Solution {
    /// The variance of what the fit says where its columns have these values.
    pub fn variance(&self, columns: &[f64]) -> f64 {
        let row = |row: &Vec<f64>| row.iter().zip(columns).map(|(cell, value)| cell * value).sum::<f64>();
        self.inverse.iter().zip(columns).map(|(cells, value)| value * row(cells)).sum::<f64>().max(0.0)
    }

    pub fn at(&self, columns: &[f64]) -> f64 {
        self.coefficients.iter().zip(columns).map(|(coefficient, value)| coefficient * value).sum()
    }
}

/// Fits rows, each the values of its columns, what they are to give, and its weight. None where the rows do not determine the coefficients. Columns are
/// scaled first; rows × columns², by Gauss and Jordan.
pub fn solve<'a>(rows: impl Iterator<Item = (&'a [f64], f64, f64)> + Clone) -> Option<Solution> {
    let count = rows.clone().next()?.0.len();
    let mut scale = vec![0.0_f64; count];
    let mut points = 0;
    for (columns, ..) in rows.clone() {
        points += 1;
        scale.iter_mut().zip(columns).for_each(|(scale, value)| *scale = scale.max(value.abs()));
    }
    if points < count || scale.iter().any(|scale| *scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    // The matrix with what it is to give, and the unit matrix, which becomes its inverse.
    let width = 2 * count + 1;
    let mut matrix = vec![0.0; count * width];
    for (columns, value, weight) in rows {
        for row in 0..count {
            let own = weight * columns[row] / scale[row];
            for column in 0..count {
                matrix[row * width + column] += own * columns[column] / scale[column];
            }
            matrix[row * width + count] += own * value;
        }
    }
    (0..count).for_each(|row| matrix[row * width + count + 1 + row] = 1.0);
    let cell = |matrix: &[f64], row: usize, column: usize| matrix[row * width + column];
    let largest = (0..count).map(|row| cell(&matrix, row, row)).fold(0.0_f64, f64::max);
    for column in 0..count {
        let larger = |a: &usize, b: &usize| cell(&matrix, *a, column).abs().total_cmp(&cell(&matrix, *b, column).abs());
        let pivot = (column..count).max_by(larger)?;
        if cell(&matrix, pivot, column).abs() <= 1e-12 * largest {
            return None;
        }
        (0..width).for_each(|at| matrix.swap(column * width + at, pivot * width + at));
        let by = cell(&matrix, column, column);
        matrix[column * width..][..width].iter_mut().for_each(|cell| *cell /= by);
        for row in (0..count).filter(|row| *row != column) {
            let factor = cell(&matrix, row, column);
            (0..width).for_each(|at| matrix[row * width + at] -= factor * matrix[column * width + at]);
        }
    }
    let inverse = |row: usize, column: usize| cell(&matrix, row, count + 1 + column) / (scale[row] * scale[column]);
    Some(Solution {
        coefficients: (0..count).map(|row| cell(&matrix, row, count) / scale[row]).collect(),
        inverse: (0..count).map(|row| (0..count).map(|column| inverse(row, column)).collect()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_line_and_what_it_may_be_off() {
        // y = 2 + 3x, and weights of 4: each value has a standard deviation of a half.
        let rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]];
        let rows = || rows.iter().map(|row| (&row[..], 2.0 + 3.0 * row[1], 4.0));
        let line = solve(rows()).expect("a line");
        assert!((line.coefficients[0] - 2.0).abs() < 1e-12 && (line.coefficients[1] - 3.0).abs() < 1e-12);
        // By hand: in the middle a quarter of what one value has, 1/16; one and a half beside as much and 1/4 (1.5² / 5).
        assert!((line.variance(&[1.0, 1.5]) - 0.0625).abs() < 1e-12);
        assert!((line.variance(&[1.0, 3.0]) - (0.0625 + 0.25 * 2.25 / 5.0)).abs() < 1e-12);
        assert!((line.at(&[1.0, 5.0]) - 17.0).abs() < 1e-12);
        assert!(solve(rows().take(1)).is_none());
        assert!(solve([[1.0, 2.0], [2.0, 4.0]].iter().map(|row| (&row[..], 1.0, 1.0))).is_none());
    }
}
