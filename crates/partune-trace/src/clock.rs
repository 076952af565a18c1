//! The correction that a recorder measured for the clock of a PE, and that a reader applied to its times.
//!
//! Kept because it can be wrong: on a machine with fewer cores than PEs the measuring itself waits. Then the events contradict
//! it, and clock repair takes it back. Only a correction that keeps the order of events, and loses nothing by rounding, is kept.

use partune_base::Time;

/// From this time stamp on, times are stamp + offset + slope · (stamp − begin).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockLine {
    pub begin: Time,
    pub offset: i64,
    pub slope: f64,
}

/// The lines of a PE's clock, in order of their begins; the first holds before its begin too. Without lines, times are stamps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredClock {
    lines: Vec<ClockLine>,
}

impl MeasuredClock {
    pub fn new(mut lines: Vec<ClockLine>) -> MeasuredClock {
        lines.sort_by_key(|line| line.begin);
        MeasuredClock { lines }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.lines.iter().all(|line| line.offset == 0 && line.slope == 0.0)
    }

    /// Whether it keeps the order of time stamps.
    pub fn keeps_order(&self) -> bool {
        let before = |line: &ClockLine| self.time(Time(line.begin.0.saturating_sub(1)));
        self.lines.iter().all(|line| line.slope > -1.0 && before(line) <= self.time(line.begin))
    }

    /// The time at a time stamp.
    #[inline]
    pub fn time(&self, stamp: Time) -> Time {
        let Some(first) = self.lines.first() else { return stamp };
        let line = match self.lines.partition_point(|line| line.begin <= stamp) {
            0 => first,
            after => &self.lines[after - 1],
        };
        let drift = round(line.slope * (stamp.0 - line.begin.0) as f64);
        let offset = i128::from(line.offset).saturating_add(drift as i128);
        match i64::try_from(offset) {
            Ok(offset) => Time(stamp.0.saturating_add(offset).clamp(-Time::LIMIT, Time::LIMIT)),
            Err(_) => Time::clamped(i128::from(stamp.0).saturating_add(offset)),
        }
    }

    /// The first time stamp with this time or a later one, if it [keeps order](Self::keeps_order): [`Self::time`] of it is the
    /// time again, if that is one of a stamp. Greater times have no smaller stamps.
    pub fn stamp(&self, time: Time) -> Time {
        if self.is_identity() {
            return time;
        }
        let (mut low, mut high) = self.near(time);
        while high.0 - low.0 > 1 {
            let middle = Time(low.0 + (high.0 - low.0) / 2);
            if self.time(middle) < time {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Two stamps around the searched one: near it if a line tells, else the ends of time.
    fn near(&self, time: Time) -> (Time, Time) {
        let at = self.lines.partition_point(|line| self.time(line.begin) <= time).saturating_sub(1);
        let line = &self.lines[at];
        let since = i128::from(time.0) - i128::from(line.offset) - i128::from(line.begin.0);
        let guess = i128::from(line.begin.0) + (since as f64 / (1.0 + line.slope)).round_ties_even() as i128;
        let (low, high) = (Time::clamped(guess - 4), Time::clamped(guess + 4));
        if self.time(low) < time && self.time(high) >= time { (low, high) } else { (Time(Time::MIN.0 - 1), Time::MAX) }
    }
}

/// To the nearest integer, ties to even. Adding and taking away 1.5·2⁵² rounds in two operations, where processors of the
/// common denominator have no instruction for it.
#[inline]
fn round(value: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    if value.abs() < 2_251_799_813_685_248.0 { (value + SHIFT) - SHIFT } else { value.round_ties_even() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_even() {
        for value in [0.5, 1.5, 2.5, -0.5, -1.5, 1e15 + 0.5, 2.3e15, -7.9e18, 0.499_999_999_999, f64::MAX] {
            assert!((round(value) - value.round_ties_even()).abs() == 0.0, "{value}");
        }
    }

    fn clock(lines: &[(i64, i64, f64)]) -> MeasuredClock {
        let line = |&(begin, offset, slope)| ClockLine { begin: Time(begin), offset, slope };
        MeasuredClock::new(lines.iter().map(line).collect())
    }

    #[test]
    fn stamps_come_back() {
        let clock = clock(&[(1000, 50, 0.002), (11_000, 70, -0.01), (21_000, -30, 0.0)]);
        assert!(clock.keeps_order() && !clock.is_identity());
        let mut last = Time::MIN;
        for stamp in (-5000..40_000).step_by(7).map(Time) {
            let back = clock.stamp(clock.time(stamp));
            assert_eq!(clock.time(back), clock.time(stamp));
            assert!((back.0 - stamp.0).abs() <= 1 && last <= back, "{stamp:?} {back:?}");
            last = back;
        }
    }

    #[test]
    fn what_is_no_clock_has_no_order() {
        assert!(!clock(&[(0, 0, -1.5)]).keeps_order());
        assert!(!clock(&[(0, 100, 0.0), (50, 0, 0.0)]).keeps_order());
        assert!(MeasuredClock::default().is_identity() && MeasuredClock::default().keeps_order());
        assert_eq!(MeasuredClock::default().stamp(Time(7)), Time(7));
        let steep = clock(&[(0, i64::MIN, 1e19)]);
        assert_eq!(steep.stamp(Time::MAX), steep.stamp(steep.time(steep.stamp(Time::MAX))));
    }
}
