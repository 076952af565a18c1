//! Parts by where things are: recursive coordinate bisection.
//!
//! Source: M. J. Berger, S. H. Bokhari, *A partitioning strategy for nonuniform problems on multiprocessors* (1987).

/// The part of each point. `axes` has a coordinate of each point, one list an axis; the longest side of what is cut is cut, the first of equal ones, where the
/// weight on both sides is nearest to their shares of the parts. Points at the same coordinate keep their order.
///
/// O(n log n) for each doubling of the parts. What is not finite counts as 0.
pub fn bisect(axes: &[Vec<f64>], weights: &[f64], parts: u32) -> Vec<u32> {
    let finite = |number: &f64| if number.is_finite() { *number } else { 0.0 };
    let axes: Vec<Vec<f64>> = axes.iter().map(|axis| axis.iter().map(finite).collect()).collect();
    let weights: Vec<f64> = weights.iter().map(|weight| finite(weight).max(0.0)).collect();
    let mut part = vec![0; weights.len()];
    let mut points: Vec<u32> = (0..weights.len() as u32).collect();
    let mut pieces: Vec<(&mut [u32], u32, u32)> = vec![(&mut points, 0, parts)];
    while let Some((piece, first, parts)) = pieces.pop() {
        if parts < 2 || piece.is_empty() {
            piece.iter().for_each(|point| part[*point as usize] = first);
            continue;
        }
        if let Some(axis) = longest(&axes, piece) {
            piece.sort_unstable_by(|a, b| axis[*a as usize].total_cmp(&axis[*b as usize]).then(a.cmp(b)));
        }
        let lower = parts / 2;
        let cut = cut(piece, &weights, f64::from(lower) / f64::from(parts));
        let (left, right) = piece.split_at_mut(cut);
        pieces.push((left, first, lower));
        pieces.push((right, first + lower, parts - lower));
    }
    part
}

/// The axis along which points are farthest apart.
fn longest<'a>(axes: &'a [Vec<f64>], points: &[u32]) -> Option<&'a [f64]> {
    let length = |axis: &[f64]| {
        let all = points.iter().map(|point| axis[*point as usize]);
        all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
    };
    let mut best: Option<(f64, &[f64])> = None;
    for axis in axes {
        let length = length(axis);
        if best.is_none_or(|(most, _)| length > most) {
            best = Some((length, axis));
        }
    }
    best.map(|(_, axis)| axis)
}

/// How many points are on the lower side: a point is on the side that has more of it.
fn cut(points: &[u32], weights: &[f64], share: f64) -> usize {
    let weight = |point: &u32| weights[*point as usize];
    let target = points.iter().map(weight).sum::<f64>() * share;
    if target <= 0.0 {
        return (points.len() as f64 * share).round() as usize;
    }
    let mut sum = 0.0;
    let lower = points.iter().take_while(|point| {
        let is_lower = sum + 0.5 * weight(point) < target;
        sum += weight(point);
        is_lower
    });
    lower.count()
}
