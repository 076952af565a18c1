//! Which waits are looked at in detail: the longest, as many as can be paid for, and of those next in length every k-th. The
//! shortest are left out even if they could be paid for, unless looking at all costs little.

use partune_base::{Id, PeId, Span};
use partune_trace::Trace;
use rayon::prelude::*;

use super::excess::Begins;
use crate::timeline::Timeline;
use crate::{Wait, Waits};

/// How many waits are looked at.
const MOST: u64 = 1 << 18;
/// How often all visits are looked at.
const LOOKS: u64 = 2;
/// Share of a budget that is little.
const LITTLE: u64 = 4;
/// Share of all waiting, in the shortest waits, that is not looked at.
pub(crate) const NEGLIGIBLE: f64 = 0.01;

/// Waits with a cause in larger buckets of duration than `bucket`, and every `stride`-th of each PE in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    bucket: usize,
    stride: usize,
}

/// Waiting and cost by duration.
type Buckets = Box<[(u64, u64)]>;

impl Selection {
    /// As many as are looked at at most.
    pub(super) fn by_number(waits: &Waits) -> Selection {
        let parts = waits.as_slice().par_chunks(1 << 16).map(|rows| {
            let mut buckets = empty();
            for wait in rows.iter().filter(|wait| wait.cause.is_some()) {
                add(&mut buckets, wait, 1);
            }
            buckets
        });
        Selection::within(&parts.reduce(empty, join), MOST)
    }

    /// Of those of another selection, as many as visits may be looked at for.
    pub(super) fn by_cost(trace: &Trace, waits: &Waits, of: &[Begins]) -> Selection {
        let visits = |pe: PeId| &trace.streams()[pe].visits;
        let parts = of.par_iter().enumerate().map(|(pe, begins)| {
            let mut buckets = empty();
            let waits = waits.of_pe(PeId::from_index(pe));
            for (i, begin) in begins {
                let wait = &waits[*i as usize];
                let own = Timeline::cost(visits(wait.pe), *begin, wait.begin);
                add(&mut buckets, wait, own + Timeline::cost(visits(wait.cause.pe), *begin, wait.end));
            }
            buckets
        });
        let all: u64 = trace.streams().iter().map(|stream| stream.visits.len() as u64).sum();
        Selection::within(&parts.reduce(empty, join), LOOKS * all + (1 << 16))
    }

    fn within(buckets: &Buckets, mut budget: u64) -> Selection {
        let total: u64 = buckets.iter().map(|(time, _)| time).sum();
        let mut rest = total;
        let ample = budget - budget / LITTLE;
        for (bucket, (time, cost)) in buckets.iter().enumerate().rev() {
            if *cost > budget {
                let stride = cost.checked_div(budget).map_or(usize::MAX, |stride| stride as usize + 1);
                return Selection { bucket, stride };
            }
            if budget < ample && (rest as f64) < NEGLIGIBLE * total as f64 {
                return Selection { bucket, stride: usize::MAX };
            }
            budget -= cost;
            rest -= time;
        }
        Selection { bucket: 0, stride: 1 }
    }

    /// Whether the `i`-th wait of a PE is selected.
    pub(super) fn has(&self, i: usize, wait: &Wait) -> bool {
        let bucket = bucket(wait.duration());
        wait.cause.is_some() && (bucket > self.bucket || bucket == self.bucket && i.is_multiple_of(self.stride))
    }
}

const BUCKETS: usize = 64 * 8;

fn empty() -> Buckets {
    vec![(0, 0); BUCKETS].into_boxed_slice()
}

fn add(buckets: &mut Buckets, wait: &Wait, cost: u64) {
    let bucket = &mut buckets[bucket(wait.duration())];
    bucket.0 += wait.duration().0 as u64;
    bucket.1 += cost;
}

#[allow(clippy::needless_pass_by_value, reason = "as reduce wants it")]
fn join(mut buckets: Buckets, other: Buckets) -> Buckets {
    for (sum, part) in buckets.iter_mut().zip(&other) {
        sum.0 += part.0;
        sum.1 += part.1;
    }
    buckets
}

/// Durations by their highest bit and the three below it.
fn bucket(span: Span) -> usize {
    let ticks = span.0.max(1) as u64;
    let log = ticks.ilog2();
    let below = if log >= 3 { ticks >> (log - 3) } else { ticks << (3 - log) };
    log as usize * 8 + (below & 7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_of_duration() {
        let spans: Vec<usize> = (1..10_000).chain([i64::MAX]).map(|ticks| bucket(Span(ticks))).collect();
        assert!(spans.is_sorted());
        assert!(spans.last().is_some_and(|last| *last < BUCKETS));
    }

    #[test]
    fn the_longest_are_taken_and_of_the_next_every_kth() {
        let mut buckets = empty();
        buckets[20] = (1000, 100);
        buckets[10] = (500, 100);
        assert_eq!(Selection::within(&buckets, 1000), Selection { bucket: 0, stride: 1 });
        assert_eq!(Selection::within(&buckets, 150), Selection { bucket: 10, stride: 3 });
        assert_eq!(Selection::within(&buckets, 0), Selection { bucket: 20, stride: usize::MAX });
        // 5 of 1505 ticks are less than 1 %: they are looked at if all of it takes little of the budget.
        buckets[5] = (5, 50);
        assert_eq!(Selection::within(&buckets, 700), Selection { bucket: 9, stride: usize::MAX });
        assert_eq!(Selection::within(&buckets, 1000), Selection { bucket: 0, stride: 1 });
    }
}
