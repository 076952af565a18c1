//! Whether a difference is more than noise, told by the spread that the runs themselves show.
//!
//! Two spreads are known of a place. Over **visits**: n visits of a path on a PE with a sample variance v make a sum with a variance
//! n·v, whatever the visits are for. Over **PEs**, where both runs have as many: if a change is the same for all PEs, times differ by one
//! ratio; what is left after the run with more time is scaled to the sum of the other is spread, e(q), and n/(n−1) Σ e² the variance of
//! the difference (the ratio estimator of survey sampling), so that work that is uneven by design is none. With different numbers of PEs
//! it is the variance of the means over PEs. The larger counts, but where visits or samples tell something, PEs may add a standard deviation of no
//! more than 5 %: beyond, they do not disagree by chance, the change is one of some PEs. To this comes the error of counting **samples** where
//! these say what a function takes ([`super::sampling`]). Three standard deviations are needed, a tick of
//! the clock a visit, and 1 % of the larger value, since PEs that wait for one another are no independent samples.

use crate::repeats::{self, Interval, Tail};

/// Standard deviations from which a difference is told.
pub(super) const DEVIATIONS: f64 = 3.0;

/// The share of the larger value that the spread over PEs may add as a standard deviation, where there is one over visits.
pub(super) const DISAGREED: f64 = 0.05;

/// The share of the larger value from which a difference is told.
const SHARE: f64 = 0.01;

/// What a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference at all.
    Same,
    /// Less than the spread of the runs can tell.
    TooSmall,
    /// One visit on one PE, or too few repeats: there is no spread to tell by.
    Unknown,
    Grown,
    Shrunk,
    /// Not in the base.
    Added,
    /// In the base only.
    Gone,
}

/// A difference to the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Seconds more than in the base; negative if less.
    pub difference: f64,
    /// Of this run to the base; none if the base has zero.
    pub ratio: Option<f64>,
    /// The standard deviation of the difference in seconds; none if nothing is known of it, or runs were repeated.
    pub noise: Option<f64>,
    /// What the difference may be, where runs were repeated.
    pub interval: Option<Interval>,
    pub verdict: Verdict,
}

/// A value with what is known of its spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread<'a> {
    /// Seconds, summed over PEs.
    pub(crate) sum: f64,
    /// Position of the PE and its share; PEs without a share may be left out.
    pub(crate) pes: &'a [(u32, f64)],
    /// Number of PEs of the run.
    pub(crate) count: usize,
    /// The variance of the sum by the spread over visits, if any path was visited twice on a PE; zero of what samples say alone.
    pub(crate) variance: Option<f64>,
    /// What is added to that: the variance of the sum by the error of counting samples, where these say what it is; of what operations cost, by the spread over
    /// visits and by what reading the clock is taken to cost.
    pub(crate) besides: Option<f64>,
    /// Seconds that the clock cannot tell.
    pub(crate) resolution: f64,
}

impl Verdict {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::TooSmall => "too_small_to_tell",
            Verdict::Unknown => "no_spread_to_tell_by",
            Verdict::Grown => "grown",
            Verdict::Shrunk => "shrunk",
            Verdict::Added => "added",
            Verdict::Gone => "gone",
        }
    }

    /// Whether something differs for certain.
    pub fn is_told(self) -> bool {
        match self {
            Verdict::Grown | Verdict::Shrunk | Verdict::Added | Verdict::Gone => true,
            Verdict::Same | Verdict::TooSmall | Verdict::Unknown => false,
        }
    }
}

impl Change {
    /// Whether a difference with such a standard deviation is one.
    pub(crate) fn is_beyond(&self, noise: f64) -> bool {
        self.difference.abs() > DEVIATIONS * noise
    }

    /// From a value and that of the base, with the standard deviation of their difference and what the clock cannot tell.
    pub(crate) fn new(base: f64, value: f64, noise: Option<f64>, resolution: f64) -> Change {
        let difference = value - base;
        let least = resolution.max(SHARE * base.max(value));
        let verdict = match noise {
            _ if difference == 0.0 => Verdict::Same,
            None => Verdict::Unknown,
            Some(noise) if difference.abs() <= (DEVIATIONS * noise).max(least) => Verdict::TooSmall,
            Some(_) if difference > 0.0 => Verdict::Grown,
            Some(_) => Verdict::Shrunk,
        };
        Change { difference, ratio: ratio(base, value), noise, interval: None, verdict }
    }

    /// Of the values of repeated runs to those of the base, as sure as is asked for; neither is empty.
    pub(crate) fn repeated(tail: Tail, base: &[f64], value: &[f64]) -> Change {
        let median = |values: &[f64]| repeats::median(values).map_or(0.0, |it| it.estimate);
        let (median_base, median_value) = (median(base), median(value));
        let interval = repeats::difference_as_sure(tail, base, value);
        let difference = interval.map_or(0.0, |it| it.estimate);
        let is_beyond = |it: Interval| {
            (it.is_above(0.0) || it.is_below(0.0)) && difference.abs() > SHARE * median_base.max(median_value)
        };
        let verdict = match interval {
            Some(it) if it.low == 0.0 && it.high == 0.0 => Verdict::Same,
            Some(it) if !is_beyond(it) => Verdict::TooSmall,
            Some(it) if it.is_known() && difference > 0.0 => Verdict::Grown,
            Some(it) if it.is_known() => Verdict::Shrunk,
            Some(_) | None => Verdict::Unknown,
        };
        let of_pairs = repeats::ratio(base, value).map(|it| it.estimate);
        Change { difference, ratio: of_pairs.or(ratio(median_base, median_value)), noise: None, interval, verdict }
    }

    /// Of something that only one of them has; none if neither has it.
    pub(crate) fn one_sided(base: Option<f64>, value: Option<f64>) -> Option<Change> {
        let (base, value, verdict) = match (base, value) {
            (None, Some(value)) => (0.0, value, Verdict::Added),
            (Some(base), None) => (base, 0.0, Verdict::Gone),
            (None, None) => (0.0, 0.0, Verdict::Same),
            (Some(_), Some(_)) => return None,
        };
        Some(Change { difference: value - base, ratio: ratio(base, value), noise: None, interval: None, verdict })
    }
}

fn ratio(base: f64, value: f64) -> Option<f64> {
    (base > 0.0).then(|| value / base)
}

/// The difference of sums, or of means over PEs where the runs differ in their number.
pub(crate) fn change(base: &Spread<'_>, value: &Spread<'_>) -> Change {
    change_with(base, value, 0.0)
}

/// The same of values of which so much of the difference may be one of estimates: that comes to what is known of its noise, and is nothing to tell by alone.
pub(crate) fn change_with(base: &Spread<'_>, value: &Spread<'_>, estimated: f64) -> Change {
    let paired = base.count == value.count;
    let (base_per, value_per) = per(base, value);
    let by_visits = match (base.variance, value.variance) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) / base_per.powi(2) + b.unwrap_or(0.0) / value_per.powi(2)),
    };
    let by_pes = if paired { paired_variance(base, value) } else { unpaired_variance(base, value) };
    let larger = (base.sum / base_per).max(value.sum / value_per);
    let variance = match (by_visits, by_pes) {
        (Some(visits), Some(pes)) => Some(pes.min((DISAGREED * larger).powi(2)).max(visits)),
        (visits, pes) => visits.or(pes),
    };
    let variance = variance.into_iter().chain(besides(base, value)).reduce(|a, b| a + b);
    let variance = variance.map(|variance| variance + estimated * estimated);
    let resolution = (base.resolution / base_per).max(value.resolution / value_per);
    Change::new(base.sum / base_per, value.sum / value_per, variance.map(f64::sqrt), resolution)
}

/// What is added to the variance of the difference, whatever visits and PEs say; none where nothing is.
pub(crate) fn besides(base: &Spread<'_>, value: &Spread<'_>) -> Option<f64> {
    let (base_per, value_per) = per(base, value);
    let parts = [(base.besides, base_per), (value.besides, value_per)];
    parts.into_iter().filter_map(|(variance, per)| Some(variance? / f64::powi(per, 2))).reduce(|a, b| a + b)
}

/// What sums are divided by to be compared.
pub(crate) fn per(base: &Spread<'_>, value: &Spread<'_>) -> (f64, f64) {
    if base.count == value.count { (1.0, 1.0) } else { (base.count.max(1) as f64, value.count.max(1) as f64) }
}

/// n/(n−1) Σ e²; none if fewer than two PEs have a share.
fn paired_variance(base: &Spread<'_>, value: &Spread<'_>) -> Option<f64> {
    let (less, more) = if base.sum <= value.sum { (base, value) } else { (value, base) };
    let scale = if more.sum > 0.0 { less.sum / more.sum } else { 0.0 };
    let (mut a, mut b) = (less.pes.iter().peekable(), more.pes.iter().peekable());
    let (mut count, mut squares) = (0.0, 0.0);
    while let Some(pe) = [a.peek(), b.peek()].into_iter().flatten().map(|it| it.0).min() {
        let share = |of: &mut std::iter::Peekable<std::slice::Iter<'_, (u32, f64)>>| {
            of.next_if(|it| it.0 == pe).map_or(0.0, |it| it.1)
        };
        let (less, more) = (share(&mut a), share(&mut b));
        let rest = less - scale * more;
        count += 1.0;
        squares += rest * rest;
    }
    (count > 1.0).then(|| count / (count - 1.0) * squares)
}

/// The variance of the difference of means over PEs; none if a run has fewer than two.
fn unpaired_variance(base: &Spread<'_>, value: &Spread<'_>) -> Option<f64> {
    let of_mean = |spread: &Spread<'_>| {
        let n = spread.count as f64;
        let mean = spread.sum / n.max(1.0);
        let there: f64 = spread.pes.iter().map(|(_, share)| (share - mean).powi(2)).sum();
        let absent = (n - spread.pes.len() as f64).max(0.0) * mean * mean;
        (n > 1.0).then(|| (there + absent) / (n - 1.0) / n)
    };
    match (of_mean(base), of_mean(value)) {
        (Some(a), Some(b)) => Some(a + b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: &[(u32, f64)] = &[(0, 16.0), (1, 4.0), (2, 4.0), (3, 4.0)];
    const EVEN: &[(u32, f64)] = &[(0, 4.0), (1, 4.0), (2, 4.0), (3, 4.0)];

    fn told(base: &[f64], value: &[f64]) -> Verdict {
        let pes = |times: &[f64]| times.iter().enumerate().map(|(pe, time)| (pe as u32, *time)).collect::<Vec<_>>();
        let (a, b) = (pes(base), pes(value));
        let spread = |times: &[f64]| Spread {
            sum: times.iter().sum(),
            pes: &[],
            count: times.len(),
            variance: None,
            besides: None,
            resolution: 1e-9,
        };
        change(&Spread { pes: &a, ..spread(base) }, &Spread { pes: &b, ..spread(value) }).verdict
    }

    #[test]
    fn a_change_that_is_the_same_for_all_is_told_however_uneven_they_are() {
        assert_eq!(told(&[10.0, 1.0, 0.1, 4.0], &[20.0, 2.0, 0.2, 8.0]), Verdict::Grown);
        assert_eq!(told(&[10.0, 0.0, 0.0, 0.0], &[5.0, 0.0, 0.0, 0.1]), Verdict::Shrunk);
        assert_eq!(told(&[0.01, 0.02, 0.01, 0.0], &[2.0, 2.0, 2.0, 0.0]), Verdict::Grown);
    }

    #[test]
    fn what_pes_do_not_agree_on_is_too_small() {
        assert_eq!(told(&[10.0, 10.0, 10.0, 10.0], &[10.1, 9.8, 10.3, 10.0]), Verdict::TooSmall);
        assert_eq!(told(&[10.0, 10.0], &[10.0, 10.0]), Verdict::Same);
        assert_eq!(told(&[10.0], &[20.0]), Verdict::Unknown);
        assert_eq!(told(&[10.0, 12.0], &[11.0, 9.0, 12.0]), Verdict::TooSmall);
        assert_eq!(told(&[10.0, 10.1], &[5.0, 5.1, 5.0, 5.05]), Verdict::Shrunk);
    }

    #[test]
    fn what_some_pes_do_differently_is_told_if_visits_agree() {
        let run = |shares: &'static [(u32, f64)], variance| {
            let sum = shares.iter().map(|it| it.1).sum();
            Spread { sum, pes: shares, count: 4, variance, besides: None, resolution: 1e-9 }
        };
        assert_eq!(change(&run(SLOW, Some(0.01)), &run(EVEN, Some(0.01))).verdict, Verdict::Shrunk);
        assert_eq!(change(&run(SLOW, Some(9.0)), &run(EVEN, Some(16.0))).verdict, Verdict::TooSmall);
        assert_eq!(change(&run(SLOW, None), &run(EVEN, None)).verdict, Verdict::TooSmall);
    }

    /// One PE that counts its samples, or of whose calls something is known, has a spread although there is no other; an estimate is none.
    #[test]
    fn what_comes_to_a_spread_is_one_where_no_other_is_known() {
        let run =
            |sum: f64, besides| Spread { sum, pes: &SLOW[..1], count: 4, variance: None, besides, resolution: 1e-9 };
        let told = |a, b, estimated| {
            let change = change_with(&run(10.0, a), &run(12.0, b), estimated);
            (change.verdict, change.noise)
        };
        assert_eq!(told(Some(0.09), Some(0.16), 0.0), (Verdict::Grown, Some(0.5)));
        assert_eq!(told(Some(0.36), Some(0.64), 0.0), (Verdict::TooSmall, Some(1.0)));
        assert_eq!(told(Some(0.09), Some(0.16), 1.2), (Verdict::TooSmall, Some(1.3)));
        assert_eq!(told(None, None, 0.1), (Verdict::Unknown, None));
    }

    #[test]
    fn a_hundredth_is_too_small_even_if_all_agree() {
        assert_eq!(told(&[10.0, 10.0], &[10.05, 10.05]), Verdict::TooSmall);
        assert_eq!(told(&[10.0, 10.0], &[10.2, 10.2]), Verdict::Grown);
    }

    #[test]
    fn a_difference_is_the_same_from_both_sides() {
        let (a, b) = ([1.0, 2.0, 3.0], [2.0, 4.4, 5.6]);
        assert_eq!(told(&a, &b), Verdict::Grown);
        assert_eq!(told(&b, &a), Verdict::Shrunk);
    }
}
