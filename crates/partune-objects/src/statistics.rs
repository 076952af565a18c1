//! Means, variation and straight lines through points.

/// Standard deviation by mean; 0 of nothing, and where the mean is 0.
pub(crate) fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
    if mean == 0.0 { 0.0 } else { square.sqrt() / mean.abs() }
}

/// 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A linear function: `value = Σ slope · at + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// 0 for what does not vary.
    pub slopes: Vec<f64>,
    pub offset: f64,
    /// Share of the variance that the line explains; 1 if there is none.
    pub r2: f64,
}

impl Line {
    /// Least squares (normal equations of centred values, solved with pivots). None of fewer than two points. O(points · dimensions²).
    pub fn fit(points: &[(Vec<f64>, f64)]) -> Option<Line> {
        let dimensions = points.first()?.0.len();
        if points.len() < 2 || points.iter().any(|point| point.0.len() != dimensions) {
            return None;
        }
        let count = points.len() as f64;
        let middle: Vec<f64> =
            (0..dimensions).map(|dim| points.iter().map(|point| point.0[dim]).sum::<f64>() / count).collect();
        let level = points.iter().map(|point| point.1).sum::<f64>() / count;
        let mut rows = vec![vec![0.0; dimensions + 1]; dimensions];
        for (at, value) in points {
            for (row, values) in rows.iter_mut().enumerate() {
                let own = at[row] - middle[row];
                (0..dimensions).for_each(|dim| values[dim] += own * (at[dim] - middle[dim]));
                values[dimensions] += own * (value - level);
            }
        }
        let slopes = solve(rows);
        let offset = level - slopes.iter().zip(&middle).map(|(slope, middle)| slope * middle).sum::<f64>();
        let mut line = Line { slopes, offset, r2: 1.0 };
        let all: f64 = points.iter().map(|point| (point.1 - level).powi(2)).sum();
        let left: f64 = points.iter().map(|(at, value)| (value - line.at(at)).powi(2)).sum();
        if all > 0.0 {
            line.r2 = 1.0 - left / all;
        }
        Some(line)
    }

    pub fn at(&self, at: &[f64]) -> f64 {
        self.offset + self.slopes.iter().zip(at).map(|(slope, at)| slope * at).sum::<f64>()
    }
}

/// Solves linear equations; unknowns that they do not decide are 0.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let count = rows.len();
    let scale = rows.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    for column in 0..count {
        let next = pivots.len();
        let Some(best) = (next..count).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())) else {
            break;
        };
        if rows[best][column].abs() <= 1e-12 * scale {
            continue;
        }
        rows.swap(next, best);
        let pivot = rows[next].clone();
        for row in (0..count).filter(|&row| row != next) {
            let factor = rows[row][column] / pivot[column];
            rows[row].iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
        pivots.push((next, column));
    }
    let mut found = vec![0.0; count];
    pivots.into_iter().for_each(|(row, column)| found[column] = rows[row][count] / rows[row][column]);
    found
}
