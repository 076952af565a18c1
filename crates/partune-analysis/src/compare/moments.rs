//! How much single visits and waits of a run differ, by which a comparison tells a difference from chance.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use partune_base::{CallPathId, PeId, Table, Time};
use partune_trace::Trace;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::by_path::ByPath;
use crate::queries::{Query, add_rows};
use crate::times::{Ends, in_several};
use crate::{Input, Pattern, Wait};

/// How many values, their sum and that of their squares, exactly, so that they add up in any order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Moments {
    count: u64,
    sum: i64,
    squares: u128,
}

impl Moments {
    pub(crate) fn of(value: i64) -> Moments {
        Moments { count: 1, sum: value, squares: u128::from(value.unsigned_abs()).pow(2) }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The variance of the sum of the values; none of fewer than two.
    pub(crate) fn of_sum(&self) -> Option<f64> {
        let count = i64::try_from(self.count).ok().filter(|count| *count > 1)?;
        // Σ(x−m)² = Σx² − m(2Σx − nm), and that about the mean is less by r²/n, with r = Σx − nm: no digit is lost where values hardly differ.
        let (mean, rest) = (self.sum.div_euclid(count), self.sum.rem_euclid(count));
        let about_mean = i128::from(mean).saturating_mul(i128::from(self.sum) + i128::from(rest));
        let squares = i128::try_from(self.squares).unwrap_or(i128::MAX).saturating_sub(about_mean);
        let (count, rest) = (count as f64, rest as f64);
        Some((squares as f64 - rest * rest / count).max(0.0) * count / (count - 1.0))
    }
}

impl AddAssign for Moments {
    fn add_assign(&mut self, more: Moments) {
        self.count = self.count.saturating_add(more.count);
        self.sum = self.sum.saturating_add(more.sum);
        self.squares = self.squares.saturating_add(more.squares);
    }
}

/// Exclusive ticks of a visit, and those of them that it waited.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Ticks {
    exclusive: i64,
    waiting: i64,
}

impl AddAssign for Ticks {
    fn add_assign(&mut self, more: Ticks) {
        self.exclusive = self.exclusive.saturating_add(more.exclusive);
        self.waiting = self.waiting.saturating_add(more.waiting);
    }
}

/// Exclusive ticks of single visits: all of them, and those in which they do not wait.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OfVisits {
    pub(crate) all: Moments,
    pub(crate) working: Moments,
}

impl From<Ticks> for OfVisits {
    fn from(ticks: Ticks) -> OfVisits {
        let working = ticks.exclusive.saturating_sub(ticks.waiting);
        OfVisits { all: Moments::of(ticks.exclusive), working: Moments::of(working) }
    }
}

impl AddAssign for OfVisits {
    fn add_assign(&mut self, more: OfVisits) {
        self.all += more.all;
        self.working += more.working;
    }
}

/// How much visits of each call path of a PE differ: 80 bytes a call path and PE.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct VisitMoments {
    /// In order of path.
    pub(crate) of_pes: Table<PeId, Vec<(CallPathId, OfVisits)>>,
    ends: Table<PeId, Ends<Ticks>>,
}

impl Query for VisitMoments {
    fn of(input: &Input<'_>) -> VisitMoments {
        let trace = input.trace;
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let of_pe = |sums: &mut ByPath<OfVisits>, pe: PeId| of_pe(trace, pe, input.waits.of_pe(pe), sums);
        let found = pes.into_par_iter().map_init(|| ByPath::new(trace.paths().len()), of_pe);
        let (of_pes, ends): (Vec<_>, Vec<_>) = found.collect::<Vec<_>>().into_iter().unzip();
        VisitMoments { of_pes: of_pes.into(), ends: ends.into() }
    }

    fn add(&mut self, next: VisitMoments) {
        let next = next.of_pes.into_vec().into_iter().zip(next.ends.into_vec());
        for ((sums, ends), (mut more, next)) in self.of_pes.iter_mut().zip(self.ends.iter_mut()).zip(next) {
            more.extend(ends.go_on(next).into_iter().map(|(path, ticks)| (path, ticks.into())));
            add_rows(sums, more, |(path, _)| *path, |sum, more| sum.1 += more.1);
        }
    }
}

/// A visit that may have others in it.
struct Open {
    visit: usize,
    exit: Time,
    path: CallPathId,
    ticks: Ticks,
}

/// What the visits of a PE have for themselves, by call path. Linear in visits and waits.
fn of_pe(
    trace: &Trace,
    pe: PeId,
    waits: &[Wait],
    sums: &mut ByPath<OfVisits>,
) -> (Vec<(CallPathId, OfVisits)>, Ends<Ticks>) {
    let several: Vec<usize> = in_several(trace, pe).collect();
    let mut parts = vec![Ticks::default(); several.len()];
    let mut over = |it: Open| match several.binary_search(&it.visit) {
        Ok(at) => parts[at] = it.ticks,
        Err(_) => sums.add(it.path, it.ticks.into()),
    };
    let mut open: Vec<Open> = Vec::new();
    let mut waits = waits.iter().peekable();
    for (index, visit) in trace.streams()[pe].visits.iter().enumerate() {
        while let Some(ended) = open.pop_if(|it| it.exit <= visit.enter) {
            over(ended);
        }
        let duration = visit.duration().0;
        if let Some(around) = open.last_mut() {
            around.ticks.exclusive = around.ticks.exclusive.saturating_sub(duration);
        }
        let mut ticks = Ticks { exclusive: duration, waiting: 0 };
        while let Some(wait) = waits.next_if(|wait| wait.operation.index() <= index) {
            ticks.waiting += if wait.operation.index() == index { wait.duration().0 } else { 0 };
        }
        open.push(Open { visit: index, exit: visit.exit, path: visit.path, ticks });
    }
    while let Some(ended) = open.pop() {
        over(ended);
    }
    let part = |visit: usize| several.binary_search(&visit).map_or_else(|_| Ticks::default(), |at| parts[at]);
    (sums.take(), Ends::of(trace, pe, part))
}

/// How much waits of a pattern on a call path of a PE differ.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct WaitMoments(pub(crate) Vec<((PeId, Pattern, CallPathId), Moments)>);

impl Query for WaitMoments {
    fn of(input: &Input<'_>) -> WaitMoments {
        let pes: Vec<PeId> = input.trace.pes().ids().collect();
        let of_pe = |pe: PeId| {
            let mut sums: BTreeMap<(Pattern, CallPathId), Moments> = BTreeMap::new();
            for wait in input.waits.of_pe(pe) {
                let key = (wait.pattern, input.trace.visit(pe, wait.operation).path);
                *sums.entry(key).or_default() += Moments::of(wait.duration().0);
            }
            sums.into_iter().map(move |((pattern, path), sum)| ((pe, pattern, path), sum)).collect::<Vec<_>>()
        };
        WaitMoments(pes.into_par_iter().flat_map_iter(of_pe).collect())
    }

    fn add(&mut self, next: WaitMoments) {
        add_rows(&mut self.0, next.0, |(key, _)| *key, |sum, more| sum.1 += more.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_sum(values: &[i64]) -> Option<f64> {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments += Moments::of(*value));
        moments.of_sum()
    }

    #[test]
    fn the_variance_of_a_sum_is_exact_however_large_values_are() {
        assert_eq!(of_sum(&[]), None);
        assert_eq!(of_sum(&[7]), None);
        assert_eq!(of_sum(&[7, 7, 7]), Some(0.0));
        // The mean is 2; 1 + 0 + 1, over 2, times 3.
        assert_eq!(of_sum(&[1, 2, 3]), Some(3.0));
        assert_eq!(of_sum(&[-3, -2, -1]), Some(3.0));
        let far = 1 << 60;
        assert_eq!(of_sum(&[far + 1, far + 2, far + 3]), Some(3.0));
        // The mean is 3/4: three are a quarter above, one is three quarters below.
        assert_eq!(of_sum(&[1, 1, 1, 0]), Some(0.75 * 4.0 / 3.0));
        assert!(of_sum(&[i64::MIN, i64::MAX, i64::MIN]).is_some_and(f64::is_finite));
    }
}
