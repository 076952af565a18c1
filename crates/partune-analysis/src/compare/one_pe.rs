//! The PE on which a place changed most, where it did not change so on the others.
//!
//! Work that one PE has more of is a small part of a sum over PEs, and seems to be noise where PEs are compared with each other. So each PE is held against what it would
//! have if the place had changed on it by the same ratio as on all others together. What is left counts if it is more than three standard deviations of the
//! visits there, with the error of counting samples where these say what they take, and more than PEs differ by chance. The more PEs there are the more deviations are asked for, since of many one
//! is always far off: √(9 + 2 ln n) of n, so that the chance of any falls as that of one does.
//!
//! On PE q the place took b in the base and v in the run, on the others B and V. What is left is r = v − s·b with s = V/B. To first order its variance is
//! var v + s²·var b + (b/B)²·(var V + s²·var B), that of a ratio (Cochran, "Sampling Techniques", chapter 6).

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
    base: OfRun,
    value: OfRun,
}

/// What it spent in one of them: nothing, for certain, where it never was.
#[derive(Clone, Copy, Default)]
struct OfRun {
    seconds: f64,
    variance: f64,
    /// Seconds that the clock cannot tell.
    resolution: f64,
}

/// The PE on which a place changed most, of those on which it changed otherwise than on the others; none if there is no such. Runs have as many PEs; shares are
/// in order of position, which `pe` has the PE of. Linear in shares.
///
/// PEs of which a visit alone tells nothing are none of the others either: they would make them seem to have no noise.
pub(super) fn most(base: &[OfPe], value: &[OfPe], pe: impl Fn(u32) -> PeId) -> Option<PeChange> {
    let (all, is_whole) = side_by_side(base, value);
    let sum = |of: &dyn Fn(&Both) -> f64| all.iter().map(|(_, pe)| of(pe)).sum::<f64>();
    let (of_base, of_value) = (sum(&|pe| pe.base.seconds), sum(&|pe| pe.value.seconds));
    let (base_variance, value_variance) = (sum(&|pe| pe.base.variance), sum(&|pe| pe.value.variance));
    let deviations = (DEVIATIONS * DEVIATIONS + 2.0 * f64::ln(all.len().max(1) as f64)).sqrt();
    let told = all.iter().filter_map(|(position, it)| {
        let (base, value) = (it.base, it.value);
        let (difference, variance) = (value.seconds - base.seconds, value.variance + base.variance);
        let (others, of_others) = (of_base - base.seconds, of_value - value.seconds);
        let (scale, share) = match others > 0.0 {
            true => (of_others / others, base.seconds / others),
            // Of the others, some were here, and nothing is known of them.
            false if !is_whole => return None,
            false => (1.0, 0.0),
        };
        let of_others = |all: f64, own: f64| share * share * (all - own).max(0.0);
        let rest = value.seconds - scale * base.seconds;
        let of_rest = value.variance
            + of_others(value_variance, value.variance)
            + scale * scale * (base.variance + of_others(base_variance, base.variance));
        let at_least = DISAGREED * base.seconds.max(value.seconds);
        let is_beyond = |difference: f64, variance: f64, scale: f64| {
            let resolution = value.resolution.max(scale * base.resolution);
            difference.abs() > resolution.max(at_least).max(deviations * variance.sqrt())
        };
        let is_told =
            is_beyond(difference, variance, 1.0) && is_beyond(rest, of_rest, scale) && difference * rest > 0.0;
        is_told.then_some((*position, it, difference, variance))
    });
    // Of equals the first.
    let most = told.reduce(|most, next| if next.2.abs() > most.2.abs() { next } else { most });
    most.map(|(position, it, difference, variance)| PeChange {
        pe: pe(position),
        difference,
        ratio: (it.base.seconds > 0.0).then(|| it.value.seconds / it.base.seconds),
        noise: variance.sqrt(),
    })
}

/// The PEs of which something is known, and whether these are all.
fn side_by_side(base: &[OfPe], value: &[OfPe]) -> (Vec<(u32, Both)>, bool) {
    let (mut a, mut b) = (base.iter().peekable(), value.iter().peekable());
    let (mut known, mut is_whole) = (Vec::new(), true);
    while let Some(position) = [a.peek(), b.peek()].into_iter().flatten().map(|it| it.position).min() {
        let (one, other) = (a.next_if(|it| it.position == position), b.next_if(|it| it.position == position));
        match OfRun::of(one).zip(OfRun::of(other)) {
            Some((base, value)) => known.push((position, Both { base, value })),
            None => is_whole = false,
        }
    }
    (known, is_whole)
}

impl OfRun {
    /// None where a visit alone tells nothing.
    fn of(pe: Option<&OfPe>) -> Option<OfRun> {
        let Some(pe) = pe else { return Some(OfRun::default()) };
        Some(OfRun { seconds: pe.seconds, variance: pe.variance?, resolution: pe.resolution })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: f64 = 1e-9;

    fn shares(times: &[f64], variance: Option<f64>, resolution: f64) -> Vec<OfPe> {
        let pe = |(position, seconds): (usize, &f64)| {
            let position = position as u32;
            OfPe { position, seconds: *seconds, variance, resolution }
        };
        times.iter().enumerate().map(pe).collect()
    }

    fn of(base: &[OfPe], value: &[OfPe]) -> Option<(u32, f64)> {
        most(base, value, PeId).map(|it| (it.pe.0, it.difference))
    }

    fn told(base: &[f64], value: &[f64], variance: Option<f64>) -> Option<(u32, f64)> {
        of(&shares(base, variance, TICK), &shares(value, variance, TICK))
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

    /// All take four times as long, and what the base is not sure of is four times as much: √(0.25 + 16·0.25 + (0.75 + 16·0.75)/9) = 2.4 s of what is left.
    #[test]
    fn the_noise_of_the_base_grows_with_the_ratio() {
        assert_eq!(told(&[10.0; 4], &[40.0, 40.0, 40.0, 43.0], Some(0.25)), None);
        // 3.4 of them are 8.2 s.
        assert_eq!(told(&[10.0; 4], &[40.0, 40.0, 40.0, 48.5], Some(0.25)), Some((3, 38.5)));
        // Of a run that got faster it is less: 3.4·√(0.36 + 0.36/16 + (1.08 + 1.08/16)/9) = 2.5 s; with all of the base's it would be 3.4.
        assert_eq!(told(&[40.0; 4], &[10.0, 10.0, 10.0, 7.0], Some(0.36)), Some((3, -33.0)));
    }

    /// A million visits on each of 256 PEs, by a clock with ticks of 1 µs: each PE is known to 1 s.
    #[test]
    fn the_clock_is_held_against_the_visits_of_each_pe() {
        let mut value = vec![10.0; 256];
        value[7] = 20.0;
        let run = |times: &[f64], resolution: f64| shares(times, Some(0.0), resolution);
        assert_eq!(of(&run(&[10.0; 256], 1.0), &run(&value, 1.0)), Some((7, 10.0)));
        assert_eq!(of(&run(&[10.0; 256], 11.0), &run(&value, 11.0)), None);
        // What the base cannot tell is multiplied too.
        assert_eq!(of(&run(&[10.0; 4], 1.0), &run(&[40.0, 40.0, 40.0, 43.5], 1.0)), None);
    }

    #[test]
    fn pes_of_which_nothing_is_known_are_no_others_without_noise() {
        let some = |times: &[f64], known: &[usize], variance: f64| {
            let mut run = shares(times, None, TICK);
            known.iter().for_each(|pe| run[*pe].variance = Some(variance));
            run
        };
        let (even, more) = ([10.0; 4], [10.0, 10.0, 10.0, 12.0]);
        assert_eq!(of(&some(&even, &[3], 0.01), &some(&more, &[3], 0.01)), None);
        assert_eq!(of(&some(&even, &[0, 3], 0.01), &some(&more, &[0, 3], 0.01)), Some((3, 2.0)));
        // The one that is known is as uncertain as this one.
        assert_eq!(of(&some(&even, &[0, 3], 0.16), &some(&more, &[0, 3], 0.16)), None);
    }
}
