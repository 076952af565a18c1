//! What several runs of one program say together: the statistics of `compare`, `scale`, `advise` and `record --repeat`, once.
//!
//! Run times are few, skewed to the right and of no known distribution, so everything here rests on ranks alone. The median of a set lies between two of
//! its order statistics, by the binomial distribution (David and Nagaraja, "Order Statistics", section 7.1). Two sets differ by the median of
//! all pairwise differences (Hodges and Lehmann 1963); what that may be lies between two of them, by the distribution of the rank-sum
//! statistic of Mann and Whitney (Moses; Hollander and Wolfe, "Nonparametric Statistical Methods", section 4.3). Both are exact for any continuous
//! distribution, and with ties hold at least what they promise. Ratios are differences of logarithms, so they are paired likewise.

/// How sure an interval is, where there are runs enough: by chance the truth is beyond each of its sides in at most so many cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    share: f64,
    /// Of the normal distribution.
    quantile: f64,
}

impl Tail {
    /// Of one figure.
    pub const ONE: Tail = Tail { share: 0.05, quantile: 1.644_853_626_951_472_6 };
    /// Of each of many figures, as of places: so that few of them differ by chance.
    pub const MANY: Tail = Tail { share: 0.005, quantile: 2.575_829_303_548_900_4 };
}

/// What rounding may add to a probability.
const ROUNDING: f64 = 1e-9;
/// Values, or pairs of them, from which the distribution of a rank is taken as normal: for fewer it is exact.
const MANY: usize = 1000;

/// A value that is known from several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// How likely an interval made like this one covers the truth: at least 0.9 where there are runs enough, else what all runs together
    /// give, down to 0 for one run of each kind.
    pub confidence: f64,
}

impl Interval {
    /// Whether there are runs enough to tell by: 3 of each kind, or 5 of one kind alone.
    pub fn is_known(&self) -> bool {
        self.confidence >= 1.0 - 2.0 * Tail::ONE.share - ROUNDING
    }

    /// Whether all of it is above a value; or all of it below.
    pub fn is_above(&self, value: f64) -> bool {
        self.low > value
    }

    pub fn is_below(&self, value: f64) -> bool {
        self.high < value
    }

    /// All of it changed by an increasing or a decreasing function.
    #[must_use]
    pub fn map(self, by: impl Fn(f64) -> f64) -> Interval {
        let (one, other) = (by(self.low), by(self.high));
        Interval { estimate: by(self.estimate), low: one.min(other), high: one.max(other), ..self }
    }
}

/// Positions of values, smallest first; of equals the first one first.
pub fn order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]).then(a.cmp(b)));
    order
}

/// The position of the value that stands for all: the median, of two in the middle the smaller; none of none.
pub fn middle(values: &[f64]) -> Option<usize> {
    order(values).get(values.len().saturating_sub(1) / 2).copied()
}

/// The median of some values, and where that of all that could have been measured lies.
pub fn median(values: &[f64]) -> Option<Interval> {
    let count = values.len();
    if count > MANY {
        return of_ranks(
            values.to_vec(),
            Tail::ONE,
            normal(Tail::ONE, count as f64 / 2.0, (count as f64 / 4.0).sqrt()),
        );
    }
    let at_most = |heads: usize| (0..=heads).map(|it| binomial(count, it)).sum::<f64>();
    of_ranks(values.to_vec(), Tail::ONE, at_most)
}

/// How much more the values of one set are than those of another.
pub fn difference(from: &[f64], to: &[f64]) -> Option<Interval> {
    difference_as_sure(Tail::ONE, from, to)
}

/// The same, as sure as is asked for.
pub fn difference_as_sure(tail: Tail, from: &[f64], to: &[f64]) -> Option<Interval> {
    of_pairs(tail, from, to, |from, to| to - from)
}

/// How many times those of another set the values of one are; none unless all of the other set are positive.
pub fn ratio(from: &[f64], to: &[f64]) -> Option<Interval> {
    let is_positive = from.iter().all(|value| *value > 0.0);
    is_positive.then(|| of_pairs(Tail::ONE, from, to, |from, to| to / from)).flatten()
}

/// The mean and the standard deviation of a sample; none of fewer than two.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (mean, (squares / (count - 1.0)).sqrt()))
}

/// The median of what each pair makes. Cost: one value a pair, sorted.
fn of_pairs(tail: Tail, from: &[f64], to: &[f64], pair: impl Fn(f64, f64) -> f64) -> Option<Interval> {
    let pairs: Vec<f64> = to.iter().flat_map(|to| from.iter().map(|from| pair(*from, *to))).collect();
    let (n, m) = (from.len(), to.len());
    if pairs.len() > MANY {
        let (n, m) = (n as f64, m as f64);
        return of_ranks(pairs, tail, normal(tail, n * m / 2.0, (n * m * (n + m + 1.0) / 12.0).sqrt()));
    }
    let shares = rank_sums(n, m);
    of_ranks(pairs, tail, |rank| shares.iter().take(rank + 1).sum())
}

/// Whether a rank of this mean and standard deviation is in the tail: its probability there, or more than that.
fn normal(tail: Tail, mean: f64, deviation: f64) -> impl Fn(usize) -> f64 {
    let last = (mean - tail.quantile * deviation - 1.0).floor();
    move |rank| if rank as f64 <= last { tail.share } else { 1.0 }
}

/// The median of values, between those as far from the ends as the tail allows: `at_most(k)` is the probability that no more than k of them are
/// below the truth.
fn of_ranks(mut values: Vec<f64>, tail: Tail, at_most: impl Fn(usize) -> f64) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let is_allowed = |rank: &usize| at_most(*rank) <= tail.share + ROUNDING;
    let rank = (0..=last / 2).take_while(is_allowed).last().unwrap_or(0);
    Some(Interval {
        estimate: f64::midpoint(values[last / 2], values[last - last / 2]),
        low: values[rank],
        high: values[last - rank],
        confidence: (1.0 - 2.0 * at_most(rank)).max(0.0),
    })
}

/// The probability of so many heads of so many throws.
fn binomial(throws: usize, heads: usize) -> f64 {
    let chosen = |share: f64, it: usize| share * (throws - it) as f64 / (it + 1) as f64;
    (0..heads).fold(0.5_f64.powi(throws as i32), chosen)
}

/// How likely each number of pairs is in which a value of the first set is the larger one, if both sets are of one distribution: the recurrence
/// of Mann and Whitney (1947), equation 1. n·m·(n·m) steps.
fn rank_sums(n: usize, m: usize) -> Vec<f64> {
    // By values of the second set; one more of the first set a turn.
    let mut rows: Vec<Vec<f64>> = (0..=m).map(|_| vec![1.0]).collect();
    for first in 1..=n {
        rows[0] = vec![1.0];
        for second in 1..=m {
            let (total, last) = ((first + second) as f64, first * second);
            // The largest value is of the first set, and larger than all of the second; or it is of the second set.
            let (without_first, without_second) = (&rows[second], &rows[second - 1]);
            let share = |at: usize| {
                let one = at.checked_sub(second).and_then(|at| without_first.get(at)).copied().unwrap_or(0.0);
                let other = without_second.get(at).copied().unwrap_or(0.0);
                (first as f64 * one + second as f64 * other) / total
            };
            rows[second] = (0..=last).map(share).collect();
        }
    }
    rows.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-12 * one.abs().max(1.0)
    }

    #[test]
    fn rank_sums_by_hand() {
        // Two and two values have 6 orders; the pairs in which the first is larger number 0, 1, 2 (twice), 3, 4.
        let expected = [1.0, 1.0, 2.0, 1.0, 1.0].map(|orders| orders / 6.0);
        assert!(rank_sums(2, 2).iter().zip(expected).all(|(one, other)| close(*one, other)));
        for (n, m) in [(1, 1), (1, 7), (4, 3), (9, 9)] {
            let sums = rank_sums(n, m);
            assert_eq!(sums.len(), n * m + 1);
            assert!(close(sums.iter().sum(), 1.0), "{n} {m}");
        }
        // Counted over all 462 orders of five and six values.
        let counted = [1.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 12.0].map(|orders| orders / 462.0);
        assert!(rank_sums(5, 6).iter().zip(counted).all(|(one, other)| close(*one, other)));
    }

    fn is(found: Option<Interval>, expected: [f64; 4]) {
        let found = found.expect("there are values");
        let found = [found.estimate, found.low, found.high, found.confidence];
        assert!(found.iter().zip(expected).all(|(one, other)| close(*one, other)), "{found:?} {expected:?}");
    }

    /// Against SciPy 1.17 and NumPy 2.4: `binom.cdf`, all orders by `itertools`, and sorted differences.
    #[test]
    fn intervals_of_another_library() {
        let from = [10.12, 10.43, 10.05, 10.91, 10.20];
        let to = [9.61, 9.92, 9.55, 10.08, 9.70, 9.66];
        is(difference(&from, &to), [-0.51, -0.88, -0.28, 0.917_748_917_748_917_8]);
        // The next ones would leave 4 of 462 orders outside, which is more than 0.5 %.
        let sure = difference_as_sure(Tail::MANY, &from, &to);
        is(sure, [-0.51, -1.30, -0.04, 1.0 - 2.0 * 2.0 / 462.0]);
        is(
            ratio(&from, &to),
            [0.949_926_749_650_954_7, 0.915_627_996_164_909, 0.972_549_019_607_843_2, 0.917_748_917_748_917_8],
        );
        is(median(&[1.31, 1.27, 1.45, 1.29, 1.33, 1.30, 1.98, 1.28]), [1.305, 1.28, 1.45, 0.929_687_5]);
    }

    #[test]
    fn few_runs_know_little_and_say_so() {
        is(difference(&[2.0], &[5.0]), [3.0, 3.0, 3.0, 0.0]);
        is(median(&[2.0]), [2.0, 2.0, 2.0, 0.0]);
        assert_eq!((median(&[]), difference(&[], &[1.0]), middle(&[])), (None, None, None));
        // Of six orders of two and two, one has the largest difference and one the smallest.
        is(difference(&[1.0, 2.0], &[4.0, 8.0]), [4.5, 2.0, 7.0, 1.0 - 2.0 / 6.0]);
        let known = |n: usize, m: usize| difference(&vec![1.0; n], &vec![2.0; m]).is_some_and(|it| it.is_known());
        assert!(known(3, 3) && known(2, 5) && !known(2, 3) && !known(1, 9) && !known(2, 2));
        assert!(
            median(&[1.0; 5]).is_some_and(|it| it.is_known()) && !median(&[1.0; 4]).is_some_and(|it| it.is_known())
        );
        assert_eq!(ratio(&[1.0, 0.0], &[1.0]), None);
    }

    #[test]
    fn the_run_that_stands_for_all_is_one_of_them() {
        assert_eq!(middle(&[4.0, 1.0, 2.0]), Some(2));
        assert_eq!(middle(&[4.0, 1.0, 2.0, 3.0]), Some(2));
        assert_eq!(middle(&[1.0, 1.0]), Some(0));
        // Squares around 3: 4 + 1 + 0 + 1 + 4, over 4.
        assert_eq!(mean_and_deviation(&[5.0, 1.0, 2.0, 4.0, 3.0]), Some((3.0, 2.5_f64.sqrt())));
    }

    /// Random numbers of a generator with a fixed seed: (x · a + c) mod 2⁶⁴, Knuth.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// What an interval promises holds for times that are skewed as those of runs are: a least time and an exponential delay.
    #[test]
    fn intervals_cover_as_often_as_they_say() {
        const SHIFT: f64 = 0.3;
        const TURNS: usize = 2000;
        let mut state = 7;
        for (n, m) in [(3, 3), (5, 5), (4, 9), (40, 40)] {
            let (mut covered, mut promised) = (0, 0.0);
            for _ in 0..TURNS {
                let mut set = |count: usize, shift: f64| -> Vec<f64> {
                    (0..count).map(|_| 1.0 + shift - random(&mut state).max(1e-12).ln()).collect()
                };
                let found = difference(&set(n, 0.0), &set(m, SHIFT)).expect("there are values");
                covered += usize::from(!found.is_above(SHIFT) && !found.is_below(SHIFT));
                promised = found.confidence;
            }
            // Four standard deviations of such a count.
            let (share, off) =
                (covered as f64 / TURNS as f64, 4.0 * (promised * (1.0 - promised) / TURNS as f64).sqrt());
            assert!((share - promised).abs() < off, "{n} {m}: {share} of {promised}");
        }
    }

    #[test]
    fn exact_and_normal_agree_where_one_ends_and_the_other_begins() {
        let set = |count: usize, add: f64| -> Vec<f64> { (0..count).map(|it| (it * it) as f64 + add).collect() };
        let (exact, normal) = (difference(&set(31, 0.0), &set(32, 0.5)), difference(&set(32, 0.0), &set(32, 0.5)));
        let width = |it: Option<Interval>| it.map_or(0.0, |it| it.high - it.low);
        assert!((width(exact) / width(normal) - 1.0).abs() < 0.1, "{exact:?} {normal:?}");
        let (exact, normal) = (median(&set(1000, 0.0)), median(&set(1001, 0.0)));
        assert!((width(exact) / width(normal) - 1.0).abs() < 0.1, "{exact:?} {normal:?}");
    }
}
