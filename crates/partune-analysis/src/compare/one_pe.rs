//! The PE on which a place changed most, where it did not change so on the others.
//!
//! Work that one PE has more of is a small part of a sum over PEs, and seems to be noise where PEs are compared with each other. So each PE is held against what it would
//! have if the place had changed on it by the same ratio as on all others together. What is left counts if it is more than three standard deviations of the
//! visits there, with the error of counting samples where these say what they take, and more than PEs differ by chance. The more PEs there are the more deviations are asked for, since of many one
//! is always far off: √(9 + 2 ln n) of n, so that the chance of any falls as that of one does.

use partune_base::PeId;

use super::measure::OfPe;
use super::spread::{DEVIATIONS, DISAGREED};

/// How a place changed on one PE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeChange {
    /// In the run that is compared.
    pub pe: PeId,
    /// Exclusive seconds more than in the base; negative if less.
    pub difference: f64,
    /// Of this run to the base; none if the base has zero.
    pub ratio: Option<f64>,
    /// The standard deviation of the difference in seconds.
    pub noise: f64,
}

/// A PE of both runs.
#[derive(Clone, Copy, Default)]
struct Both {
    base: f64,
    value: f64,
    /// Of the difference; none where a visit alone tells nothing of it.
    variance: Option<f64>,
}

/// The PE on which a place changed most, of those on which it changed otherwise than on the others; none if there is no such. Runs have as many PEs; shares are
/// in order of position, which `pe` has the PE of. Linear in shares.
pub(super) fn most(base: &[OfPe], value: &[OfPe], resolution: f64, pe: impl Fn(u32) -> PeId) -> Option<PeChange> {
    let all = side_by_side(base, value);
    let sum = |of: &dyn Fn(&Both) -> f64| all.iter().map(|(_, pe)| of(pe)).sum::<f64>();
    let (of_base, of_value) = (sum(&|pe| pe.base), sum(&|pe| pe.value));
    let of_variance = sum(&|pe| pe.variance.unwrap_or(0.0));
    let deviations = (DEVIATIONS * DEVIATIONS + 2.0 * f64::ln(all.len().max(1) as f64)).sqrt();
    let told = all.iter().filter_map(|(position, it)| {
        let (difference, variance) = (it.value - it.base, it.variance?);
        let (others, of_others) = (of_base - it.base, of_value - it.value);
        let (scale, share) = if others > 0.0 { (of_others / others, it.base / others) } else { (1.0, 0.0) };
        let rest = it.value - scale * it.base;
        let of_rest = variance + share * share * (of_variance - variance).max(0.0);
        let least = resolution.max(DISAGREED * it.base.max(it.value));
        let is_beyond = |difference: f64, variance: f64| difference.abs() > least.max(deviations * variance.sqrt());
        let is_told = is_beyond(difference, variance) && is_beyond(rest, of_rest) && difference * rest > 0.0;
        is_told.then_some((*position, it, difference, variance))
    });
    // Of equals the first.
    let most = told.reduce(|most, next| if next.2.abs() > most.2.abs() { next } else { most });
    most.map(|(position, it, difference, variance)| PeChange {
        pe: pe(position),
        difference,
        ratio: (it.base > 0.0).then(|| it.value / it.base),
        noise: variance.sqrt(),
    })
}

fn side_by_side(base: &[OfPe], value: &[OfPe]) -> Vec<(u32, Both)> {
    let (mut a, mut b) = (base.iter().peekable(), value.iter().peekable());
    let mut all = Vec::new();
    while let Some(position) = [a.peek(), b.peek()].into_iter().flatten().map(|it| it.position).min() {
        let (one, other) = (a.next_if(|it| it.position == position), b.next_if(|it| it.position == position));
        let seconds = |it: Option<&OfPe>| it.map_or(0.0, |it| it.seconds);
        // A PE that never was here was here for no time, for certain.
        let variances: Option<Vec<f64>> = [one, other].into_iter().flatten().map(|it| it.variance).collect();
        let variance = variances.map(|it| it.into_iter().sum());
        all.push((position, Both { base: seconds(one), value: seconds(other), variance }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(base: &[f64], value: &[f64], variance: Option<f64>) -> Option<(u32, f64)> {
        let of = |times: &[f64]| {
            let pe =
                |(position, seconds): (usize, &f64)| OfPe { position: position as u32, seconds: *seconds, variance };
            times.iter().enumerate().map(pe).collect::<Vec<_>>()
        };
        most(&of(base), &of(value), 1e-9, PeId).map(|it| (it.pe.0, it.difference))
    }

    #[test]
    fn one_pe_with_a_fifth_more_is_it() {
        assert_eq!(told(&[10.0; 4], &[10.0, 10.0, 10.0, 12.0], Some(0.01)), Some((3, 2.0)));
        assert_eq!(told(&[10.0, 10.0, 12.0], &[10.0; 3], Some(0.01)), Some((2, -2.0)));
        assert_eq!(told(&[10.0; 2], &[10.0, 12.0], Some(0.01)), Some((1, 2.0)));
    }

    #[test]
    fn a_change_of_all_is_none_of_one() {
        assert_eq!(told(&[10.0, 1.0, 4.0, 10.0], &[12.0, 1.2, 4.8, 12.0], Some(0.0)), None);
        assert_eq!(told(&[10.0; 4], &[10.1, 9.8, 10.3, 10.0], Some(0.0)), None, "what PEs differ by");
        assert_eq!(told(&[10.0; 4], &[10.0; 4], Some(0.0)), None);
    }

    #[test]
    fn visits_or_samples_that_tell_too_little_name_nobody() {
        assert_eq!(told(&[10.0; 4], &[10.0, 10.0, 10.0, 12.0], Some(0.25)), None);
        assert_eq!(told(&[10.0; 4], &[10.0, 10.0, 10.0, 12.0], None), None);
    }
}
