//! How often to measure, and what to keep.
//!
//! A sample is a batch of operations between two readings of the clock, so that reading it does not count. Kept are the
//! median, which is what a program may expect here, and the least, which is what the machine can do.

use partune_machine::Point;

/// A batch lasts at least this long: a thousand times what reading a clock takes.
const LEAST_BATCH_S: f64 = 5e-5;
/// Operations in a batch, at most.
const MOST_BATCH: u32 = 10_000;
/// Samples, at least and at most. Odd, so that the median is one of them.
const SAMPLES: (u32, u32) = (3, 51);

/// How many samples of how many operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) batch: u32,
    pub(crate) samples: u32,
}

/// The plan for an operation that takes `one_s`, if there are `slice_s` for it. At least three samples are taken, even
/// if that takes longer.
pub(crate) fn plan(one_s: f64, slice_s: f64) -> Plan {
    let one_s = one_s.max(1e-9);
    let batch = ((LEAST_BATCH_S / one_s).ceil() as u32).clamp(1, MOST_BATCH);
    let samples = (slice_s / (one_s * f64::from(batch))) as u32;
    Plan { batch, samples: samples.clamp(SAMPLES.0, SAMPLES.1) | 1 }
}

impl Plan {
    /// Whether another sample is taken after so many, which took `spent_s`.
    pub(crate) fn goes_on(self, taken: usize, spent_s: f64, slice_s: f64) -> bool {
        let enough = taken >= SAMPLES.0 as usize && taken % 2 == 1 && spent_s >= slice_s;
        taken < self.samples as usize && !enough
    }

    /// Makes batches smaller, if one took more than its part of the time.
    pub(crate) fn shrink(&mut self, took_s: f64, slice_s: f64) {
        let part = slice_s / f64::from(SAMPLES.0) / took_s;
        if part < 1.0 {
            self.batch = ((f64::from(self.batch) * part) as u32).max(1);
        }
    }
}

/// What the samples (seconds for one operation) say of a size.
pub(crate) fn point(bytes: u64, samples: &[f64]) -> Point {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let median = match count {
        0 => 0.0,
        _ if count % 2 == 1 => sorted[count / 2],
        _ => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    };
    Point {
        bytes,
        median_s: median.max(0.0),
        minimum_s: sorted.first().map_or(0.0, |least| least.max(0.0)),
        samples: count as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_operations_are_batched_and_long_ones_are_not() {
        assert_eq!(plan(3e-6, 0.1), Plan { batch: 17, samples: 51 });
        assert_eq!(plan(0.01, 0.1), Plan { batch: 1, samples: 11 });
        assert_eq!(plan(10.0, 0.1), Plan { batch: 1, samples: 3 });
        assert_eq!(plan(0.0, 0.1), Plan { batch: MOST_BATCH, samples: 51 });
    }

    #[test]
    fn an_operation_that_is_held_up_ends_after_its_time() {
        let mut plan = plan(1e-6, 0.03);
        assert!(plan.samples == 51 && plan.goes_on(50, 0.029, 0.03));
        plan.batch = 50;
        assert!(!plan.goes_on(51, 0.01, 0.03));
        plan.shrink(0.009, 0.03);
        assert_eq!(plan.batch, 50);
        // 4 ms an operation: one that makes a batch of the time there is, and three of them in all.
        plan.shrink(0.2, 0.03);
        assert_eq!(plan.batch, 2);
        assert!(plan.goes_on(1, 0.2, 0.03) && plan.goes_on(2, 0.2, 0.03) && !plan.goes_on(3, 0.2, 0.03));
        plan.shrink(0.1, 0.03);
        assert_eq!(plan.batch, 1);
    }

    #[test]
    fn median_and_least() {
        let found = point(8, &[3.0, 1.0, 9.0, 2.0, 2.5]);
        assert_eq!((found.median_s, found.minimum_s, found.samples), (2.5, 1.0, 5));
        let found = point(8, &[4.0, 2.0]);
        assert_eq!((found.median_s, found.minimum_s), (3.0, 2.0));
        assert_eq!(point(8, &[]).samples, 0);
    }
}
