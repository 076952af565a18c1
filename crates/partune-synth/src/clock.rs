//! Clocks of ranks: what each shows at a time of the program, and the records that tell a reader how to correct it.

use crate::SynthOptions;
use crate::rng::Rng;

/// What clocks show when the program begins: they have run for a while.
pub(crate) const EPOCH: u64 = 2_000_000_000_000;

/// The clock of a rank: `program time = shown + offset + drift * (shown - EPOCH)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RankClock {
    offset: i64,
    drift: f64,
}

impl RankClock {
    /// The clock of a rank; rank 0 is right.
    pub(crate) fn new(options: &SynthOptions, rank: u32) -> Self {
        if rank == 0 {
            return Self::default();
        }
        let rng = Rng::new(options.seed, u64::from(rank) | 1 << 40);
        let offset = (options.clock_offset_ns as f64 * rng.signed_unit(0)) as i64;
        Self { offset, drift: options.clock_drift_ppb as f64 * 1e-9 * rng.signed_unit(1) }
    }

    /// What it shows at a time of the program, which begins at [`EPOCH`].
    pub(crate) fn shown(self, time: u64) -> u64 {
        let shown = time as i64 - self.offset;
        if self.drift == 0.0 {
            return shown as u64;
        }
        let ran = (shown - EPOCH as i64) as f64;
        (shown - (ran * (self.drift / (1.0 + self.drift))).round() as i64) as u64
    }

    /// Two measurements of the offset, at the begin and the end: time shown and offset.
    pub(crate) fn measurements(self, end: u64) -> [(u64, i64); 2] {
        let measure = |time: u64| {
            let shown = self.shown(time);
            (shown, time as i64 - shown as i64)
        };
        [measure(EPOCH), measure(end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the C library corrects.
    fn corrected(shown: u64, [(t0, o0), (t1, o1)]: [(u64, i64); 2]) -> i64 {
        let slope = (o1 - o0) as f64 / (t1 as f64 - t0 as f64);
        shown as i64 + o0 + (slope * (shown as i64 - t0 as i64) as f64).round() as i64
    }

    #[test]
    fn interpolation_gives_the_program_time_back() {
        let options = SynthOptions { clock_offset_ns: 5_000_000, clock_drift_ppb: 100_000, ..SynthOptions::default() };
        let end = EPOCH + 60_000_000_000;
        for rank in 0..8 {
            let clock = RankClock::new(&options, rank);
            let mut last = 0;
            for step in 0..1000 {
                let time = EPOCH + step * 60_000_000;
                let shown = clock.shown(time);
                assert!(shown > last);
                last = shown;
                assert!((corrected(shown, clock.measurements(end)) - time as i64).abs() <= 1);
            }
        }
    }

    #[test]
    fn without_drift_it_is_exact() {
        let options = SynthOptions { clock_offset_ns: 5_000_000, ..SynthOptions::default() };
        let clock = RankClock::new(&options, 3);
        assert_ne!(clock.shown(EPOCH + 12), EPOCH + 12);
        assert_eq!(corrected(clock.shown(EPOCH + 12), clock.measurements(EPOCH + 1000)), EPOCH as i64 + 12);
    }
}
