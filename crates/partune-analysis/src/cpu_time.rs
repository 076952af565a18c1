//! CPU time of useful work, where the archive has a counter of it.
//!
//! Between two samples a PE's CPU time grows at a constant rate, at most one second a second; of that, the part in useful time
//! counts. So the CPU time of any interval is at most its useful time, as the order of bounds needs (IPC ≤ IPCO).
//!
//! What each two samples have between them is a whole number of ticks, so that it is the same where a run is cut at a sample.

use partune_base::{MetricId, PeId, Time};
use partune_trace::{MetricSample, Trace};

use crate::useful::Useful;

/// Metrics that count CPU time.
pub(crate) fn cpu_time_metrics(trace: &Trace) -> Vec<MetricId> {
    let metrics = trace.metrics().iter_ids();
    metrics.filter(|(_, metric)| metric.cpu_seconds(trace.strings()).is_some()).map(|(id, _)| id).collect()
}

/// CPU ticks in useful time up to a time that only grows.
pub(crate) struct CpuTime<'a> {
    useful: Useful<'a>,
    /// (time, CPU ticks so far) of the sum of the metrics, in order.
    samples: Vec<(Time, f64)>,
    next: usize,
    /// Useful ticks at the sample before `next`.
    useful_before: i64,
    /// CPU ticks in useful time up to there.
    sum: i64,
}

impl<'a> CpuTime<'a> {
    pub(crate) fn new(trace: &'a Trace, pe: PeId, metrics: &[MetricId], interval: (Time, Time)) -> CpuTime<'a> {
        let ticks = trace.clock().ticks_per_second() as f64;
        let factor =
            |sample: &MetricSample| trace.metrics()[sample.metric].cpu_seconds(trace.strings()).unwrap_or(0.0) * ticks;
        let mut last = vec![0.0; metrics.len()];
        let mut samples: Vec<(Time, f64)> = Vec::new();
        for sample in &trace.streams()[pe].metrics {
            let Some(position) = metrics.iter().position(|metric| *metric == sample.metric) else { continue };
            last[position] = sample.value * factor(sample);
            let sum = last.iter().sum();
            match samples.last_mut() {
                Some((time, value)) if *time == sample.time => *value = sum,
                _ => samples.push((sample.time, sum)),
            }
        }
        CpuTime { useful: Useful::new(trace, pe, interval), samples, next: 0, useful_before: 0, sum: 0 }
    }

    /// CPU ticks in useful time from the begin of the interval to `time`.
    pub(crate) fn up_to(&mut self, time: Time) -> i64 {
        while let Some((until, _)) = self.samples.get(self.next).filter(|(until, _)| *until <= time) {
            let useful = self.useful.up_to(*until);
            self.sum += self.part(useful);
            self.useful_before = useful;
            self.next += 1;
        }
        let useful = self.useful.up_to(time);
        self.sum + self.part(useful)
    }

    /// CPU ticks since the sample before `next`, up to so many useful ones.
    fn part(&self, useful: i64) -> i64 {
        ((useful - self.useful_before) as f64 * self.rate()).round() as i64
    }

    /// CPU time per time between the samples around the current point; none before the first and after the last.
    fn rate(&self) -> f64 {
        match (self.next.checked_sub(1).and_then(|before| self.samples.get(before)), self.samples.get(self.next)) {
            (Some((begin, low)), Some((end, high))) if end > begin => {
                ((high - low) / (*end - *begin).0 as f64).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }
}
