//! A line through measured times: t(s) = latency + s · seconds a byte.

use crate::Point;

/// The line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    pub latency_s: f64,
    /// Not negative.
    pub seconds_per_byte: f64,
    /// The largest distance of a point from the line, relative to the point.
    pub worst: f64,
}

/// The line of least squares of *relative* errors through the medians: a short message counts as much as a long one.
/// A line that would leave the first quadrant is put through the nearest allowed one: no negative latency or cost of a
/// byte. None without a point of positive time.
pub fn fit(points: &[Point]) -> Option<Fit> {
    let points: Vec<(f64, f64)> =
        points.iter().filter(|p| p.median_s > 0.0).map(|p| (p.bytes as f64, p.median_s)).collect();
    if points.is_empty() {
        return None;
    }
    // Sums of weights 1/t²: the normal equations of minimising Σ ((a + b·s − t) / t)².
    let sum = |term: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(s, t)| term(s, t) / (t * t)).sum::<f64>();
    let (w, ws, wss) = (sum(&|_, _| 1.0), sum(&|s, _| s), sum(&|s, _| s * s));
    let (wt, wst) = (sum(&|_, t| t), sum(&|s, t| s * t));
    let determinant = w * wss - ws * ws;
    let level = (wt / w, 0.0);
    let (mut latency, mut slope) = if determinant > 1e-12 * w * wss {
        ((wt * wss - wst * ws) / determinant, (w * wst - ws * wt) / determinant)
    } else {
        level
    };
    if slope < 0.0 {
        (latency, slope) = level;
    }
    if latency < 0.0 {
        (latency, slope) = (0.0, wst / wss);
    }
    let worst = points.iter().map(|&(s, t)| ((latency + slope * s - t) / t).abs()).fold(0.0, f64::max);
    Some(Fit { latency_s: latency, seconds_per_byte: slope, worst })
}
