//! What is wrong with what was measured: said, and then not counted on.

use partune_coupling::measured::Measured;

use crate::results::{Head, Sampled, Timed};

/// Something that a chain's time cannot be trusted for.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub size: f64,
    pub pes: u32,
    /// One kernel alone, or a chain; none: the loop.
    pub chain: Vec<String>,
    pub fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// So many values of the state are no finite numbers after so many executions.
    NotFinite { values: f64, executions: u64 },
    /// This share of the state is subnormal after them: numbers that are computed with much slower.
    Subnormal { share: f64, executions: u64 },
    /// By how much the state after one execution differs from before, though it was restored.
    HiddenState { differs: f64 },
    /// Executions of the second half take so much by those of the first.
    Drift { halves: f64 },
    /// Seconds of an execution, of which nothing less than so many can be told.
    TooShort { seconds: f64, least: f64 },
    /// Its standard error is this share of what it takes.
    Noise { share: f64 },
    /// Launches executed it in a row and one by one: that is not to be compared.
    TwoWays,
    /// So few rounds say nothing of errors.
    Few { rounds: usize },
    /// It was not measured.
    Missing,
}

/// Rounds of all launches together, at least.
const ROUNDS: usize = 3;
/// What is known less well says nothing of couplings.
const NOISE: f64 = 0.2;
/// Steps of the clock, and calls of a function, that an execution has to take.
const STEPS: f64 = 20.0;
/// A state of which more is subnormal has changed what it computes.
const SUBNORMAL: f64 = 0.01;
/// Sums of one order of additions are equal; those of another one differ by less.
const DIFFERS: f64 = 1e-6;
/// By how much halves have to differ, in how many of the rounds into one direction, and how many executions they must have.
const DRIFT: f64 = 0.1;
const ONE_WAY: f64 = 0.9;
const DRIFT_ROUNDS: usize = 5;
const EXECUTIONS: u64 = 4;

/// What is wrong with a chain, by its samples of all launches.
pub fn judge(samples: &[(&Head, &Sampled)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let most = |of: fn(&Sampled) -> f64| samples.iter().map(|(_, it)| of(it)).fold(0.0, f64::max);
    let executions = samples.iter().map(|(_, it)| it.timed.executions()).max().unwrap_or(0);
    let values = most(|it| it.not_finite);
    if values > 0.0 {
        faults.push(Fault::NotFinite { values, executions });
    }
    let share = samples.iter().filter(|(head, _)| head.values > 0.0).map(|(head, it)| it.subnormal / head.values);
    let share = share.fold(0.0, f64::max);
    if share > SUBNORMAL {
        faults.push(Fault::Subnormal { share, executions });
    }
    let differs = most(|it| it.differs);
    if differs > DIFFERS && values <= 0.0 {
        faults.push(Fault::HiddenState { differs });
    }
    let one_by_one = samples.iter().filter(|(_, it)| it.timed.is_one_by_one()).count();
    if one_by_one > 0 && one_by_one < samples.len() {
        faults.push(Fault::TwoWays);
    }
    let rounds: usize = samples.iter().map(|(_, it)| it.seconds.len()).sum();
    if rounds < ROUNDS {
        faults.push(if samples.is_empty() { Fault::Missing } else { Fault::Few { rounds } });
    }
    faults.extend(drift(samples));
    if faults.is_empty() {
        let Measured { value, deviation } =
            combined(&samples.iter().map(|(_, it)| &it.seconds[..]).collect::<Vec<_>>());
        let share = deviation / value.abs();
        let least = samples.iter().map(|(head, it)| least(head, it)).fold(0.0, f64::max);
        if value.abs() < least {
            faults.push(Fault::TooShort { seconds: value, least });
        } else if share > NOISE || value < 0.0 {
            faults.push(Fault::Noise { share });
        }
    }
    faults
}

/// The mean of the launches' medians. Its error is that of medians (by the spread within launches) or of launches (by the spread between them), whichever is
/// larger.
pub(crate) fn combined(launches: &[&[f64]]) -> Measured {
    let launches: Vec<&[f64]> = launches.iter().copied().filter(|it| !it.is_empty()).collect();
    let count = launches.len() as f64;
    let medians: Vec<f64> = launches.iter().map(|it| median(it)).collect();
    let value = medians.iter().sum::<f64>() / count;
    let within = launches.iter().zip(&medians).map(|(all, middle)| {
        let off: Vec<f64> = all.iter().map(|it| (it - middle).abs()).collect();
        // Of normal values: the standard deviation by the median deviation, and the error of a median by it.
        (1.4826 * 1.2533 * median(&off)).powi(2) / all.len() as f64
    });
    let within = within.sum::<f64>() / (count * count);
    let between = medians.iter().map(|it| (it - value).powi(2)).sum::<f64>() / (count * (count - 1.0).max(1.0));
    Measured { value, deviation: within.max(between).sqrt() }
}

/// Seconds of an execution that can just be told.
pub fn least(head: &Head, sampled: &Sampled) -> f64 {
    let of_time = match sampled.timed {
        Timed::InARow { few, many, .. } => head.clock_s / many.saturating_sub(few).max(1) as f64,
        Timed::OneByOne { empty_s, .. } => head.clock_s.max(empty_s),
    };
    STEPS * head.call_s.max(of_time)
}

fn drift(samples: &[(&Head, &Sampled)]) -> Option<Fault> {
    let long = samples.iter().filter_map(|(_, it)| match &it.timed {
        Timed::InARow { many, halves, .. } if *many >= EXECUTIONS => Some(halves),
        Timed::InARow { .. } | Timed::OneByOne { .. } => None,
    });
    let halves: Vec<f64> = long.flatten().copied().filter(|it| *it > 0.0).collect();
    let middle = median(&halves);
    let off = middle.ln();
    let same = halves.iter().filter(|it| it.ln() * off > 0.0).count();
    let drifts = halves.len() >= DRIFT_ROUNDS && off.abs() > DRIFT && same as f64 >= ONE_WAY * halves.len() as f64;
    drifts.then_some(Fault::Drift { halves: middle })
}

/// The median; 0 of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_a_row(halves: Vec<f64>) -> Timed {
        Timed::InARow { few: 2, many: 10, halves }
    }

    fn said(change: impl Fn(&mut Sampled)) -> Vec<Fault> {
        let head = Head { values: 100.0, clock_s: 1e-8, call_s: 2e-9, ..Head::default() };
        let mut sampled = Sampled { timed: in_a_row(vec![1.0; 6]), seconds: vec![1e-3; 6], ..Sampled::default() };
        change(&mut sampled);
        judge(&[(&head, &sampled)])
    }

    #[test]
    fn each_fault_is_seen_and_nothing_else() {
        assert_eq!(said(|_| ()), []);
        assert_eq!(said(|it| it.not_finite = 7.0), [Fault::NotFinite { values: 7.0, executions: 10 }]);
        assert_eq!(said(|it| it.subnormal = 1.0), []);
        assert_eq!(said(|it| it.subnormal = 30.0), [Fault::Subnormal { share: 0.3, executions: 10 }]);
        assert_eq!(said(|it| it.differs = 1e-9), []);
        assert_eq!(said(|it| it.differs = 0.5), [Fault::HiddenState { differs: 0.5 }]);
        assert_eq!(said(|it| it.seconds = vec![1e-3; 2]), [Fault::Few { rounds: 2 }]);
        let short = said(|it| it.seconds = vec![3e-8; 6]);
        assert!(
            matches!(short[..], [Fault::TooShort { seconds, least }] if seconds < least && (least - 4e-8).abs() < 1e-12),
            "{short:?}"
        );
        let noisy = said(|it| it.seconds = vec![1e-3, 9e-3, 2e-3, 5e-3, 1e-3, 8e-3]);
        assert!(matches!(noisy[..], [Fault::Noise { share }] if share > 0.3), "{noisy:?}");
        assert_eq!(said(|it| it.timed = in_a_row(vec![1.3; 6])), [Fault::Drift { halves: 1.3 }]);
        // Noise goes both ways, and a small difference is none.
        assert_eq!(said(|it| it.timed = in_a_row(vec![1.3, 0.8, 1.4, 1.2, 0.7, 1.5])), []);
        assert_eq!(said(|it| it.timed = in_a_row(vec![1.05; 6])), []);
        assert_eq!(judge(&[]), [Fault::Missing]);
    }

    #[test]
    fn what_is_executed_one_by_one_is_judged_by_that() {
        let timed = Timed::OneByOne { one_by_one: 5, empty_s: 4e-8 };
        assert_eq!(said(|it| it.timed = timed.clone()), []);
        let infinite = said(|it| (it.timed, it.not_finite) = (timed.clone(), 7.0));
        assert_eq!(infinite, [Fault::NotFinite { values: 7.0, executions: 1 }]);
        // 20 times what nothing takes, which is more than a step of the clock and a call.
        let short = said(|it| (it.timed, it.seconds) = (timed.clone(), vec![7e-7; 6]));
        assert!(matches!(short[..], [Fault::TooShort { least, .. }] if (least - 8e-7).abs() < 1e-12), "{short:?}");
        let head = Head { values: 100.0, ..Head::default() };
        let [one, row] =
            [timed, in_a_row(Vec::new())].map(|timed| Sampled { timed, seconds: vec![1e-3; 6], ..Sampled::default() });
        assert_eq!(judge(&[(&head, &one), (&head, &row)]), [Fault::TwoWays]);
    }
}
