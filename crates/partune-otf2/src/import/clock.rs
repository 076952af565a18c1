//! Clock correction of one location: from its own time stamps to the time of the trace.
//!
//! Between two measured offsets the correction is linear; before the first and after the last pair the nearest interval goes
//! on. With a single measurement the C library applies none, and neither do we.

use partune_base::Time;
use partune_trace::{ClockLine, MeasuredClock};

/// A measured offset of a location's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offset {
    pub(super) time: u64,
    pub(super) offset: i64,
}

/// The clock of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationClock {
    measured: MeasuredClock,
    global_offset: u64,
    /// The measured offsets are all zero.
    is_identity: bool,
}

impl LocationClock {
    pub(super) fn new(mut offsets: Vec<Offset>, global_offset: u64) -> LocationClock {
        offsets.sort_by_key(|offset| offset.time);
        let lines = offsets
            .windows(2)
            .filter(|pair| pair[1].time > pair[0].time)
            .map(|pair| ClockLine {
                begin: local(pair[0].time, global_offset),
                offset: pair[0].offset,
                slope: (pair[1].offset as f64 - pair[0].offset as f64) / (pair[1].time - pair[0].time) as f64,
            })
            .collect();
        let measured = MeasuredClock::new(lines);
        LocationClock { is_identity: measured.is_identity(), measured, global_offset }
    }

    /// The time of the trace at a time stamp of the location.
    #[inline]
    pub(super) fn correct(&self, stamp: u64) -> Time {
        let time = local(stamp, self.global_offset);
        if self.is_identity { time } else { self.measured.time(time) }
    }

    /// What the recorder measured, to be kept in the trace.
    pub(super) fn into_measured(self) -> MeasuredClock {
        self.measured
    }
}

/// A time stamp from the begin of the trace on.
#[inline]
fn local(stamp: u64, global_offset: u64) -> Time {
    const SMALL: u64 = Time::LIMIT as u64;
    if stamp < SMALL && global_offset < SMALL {
        Time(stamp as i64 - global_offset as i64)
    } else {
        Time::clamped(i128::from(stamp) - i128::from(global_offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_and_extends_beyond() {
        let offsets = vec![Offset { time: 200, offset: 30 }, Offset { time: 100, offset: 10 }];
        let clock = LocationClock::new(offsets, 50);
        assert_eq!([100, 150, 200, 300, 50].map(|t| clock.correct(t).0), [60, 120, 180, 300, 0]);
    }

    #[test]
    fn one_measurement_is_not_enough() {
        let clock = LocationClock::new(vec![Offset { time: 100, offset: 10 }], 0);
        assert_eq!(clock.correct(100), Time(100));
    }

    #[test]
    fn any_stamp_is_a_time() {
        let clock =
            LocationClock::new(vec![Offset { time: 0, offset: i64::MIN }, Offset { time: 1, offset: i64::MAX }], 0);
        assert_eq!(clock.correct(u64::MAX), Time::MAX);
    }
}
