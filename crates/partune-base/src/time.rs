//! Time in integer ticks of the archive's clock.
//!
//! Ticks keep every digit of the archive, so that a round trip through a writer is exact; [`Clock`] turns them into seconds
//! at the edge. Archives can hold any 64-bit value, so arithmetic saturates and import clamps to ±[`Time::LIMIT`]: no sum of
//! two points or spans overflows, and damaged input cannot panic.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A point in time: ticks since the beginning of the trace. Negative before it (possible after clock repair).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Time(pub i64);

/// The signed distance of two points in time, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Span(pub i64);

impl Time {
    /// Bound of every time in a trace.
    pub const LIMIT: i64 = 1 << 61;
    pub const ZERO: Time = Time(0);
    pub const MIN: Time = Time(-Self::LIMIT);
    pub const MAX: Time = Time(Self::LIMIT);

    /// A time from any integer, clamped to the limits.
    pub fn clamped(ticks: i128) -> Time {
        Time(ticks.clamp(-i128::from(Self::LIMIT), i128::from(Self::LIMIT)) as i64)
    }

    /// `self - earlier`, at least zero.
    pub fn since(self, earlier: Time) -> Span {
        Span((self.0.saturating_sub(earlier.0)).max(0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    /// The same span, at least zero.
    #[must_use]
    pub fn clamp_positive(self) -> Span {
        Span(self.0.max(0))
    }

    pub fn is_positive(self) -> bool {
        self.0 > 0
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, other: Time) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

/// The clock of a trace: how long a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    ticks_per_second: u64,
}

impl Clock {
    pub const NANOSECONDS: Clock = Clock { ticks_per_second: 1_000_000_000 };

    /// A clock of the given resolution; zero (a damaged archive) is taken as nanoseconds.
    pub fn new(ticks_per_second: u64) -> Clock {
        if ticks_per_second == 0 { Self::NANOSECONDS } else { Clock { ticks_per_second } }
    }

    pub fn ticks_per_second(self) -> u64 {
        self.ticks_per_second
    }

    /// Seconds of a span.
    pub fn seconds(self, span: Span) -> f64 {
        span.0 as f64 / self.ticks_per_second as f64
    }

    /// The span of so many nanoseconds, rounded down.
    pub fn of_nanoseconds(self, nanoseconds: u64) -> Span {
        let ticks = i128::from(nanoseconds) * i128::from(self.ticks_per_second) / 1_000_000_000;
        Time::clamped(ticks) - Time::ZERO
    }

    /// The span closest to a number of seconds.
    pub fn span(self, seconds: f64) -> Span {
        Time::clamped((seconds * self.ticks_per_second as f64).round() as i128) - Time::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overflows() {
        assert_eq!(Time::MAX - Time::MIN, Span(2 * Time::LIMIT));
        assert_eq!(Time::clamped(i128::MAX), Time::MAX);
        assert_eq!(Span(i64::MAX) + Span(1), Span(i64::MAX));
        assert_eq!([Span(1), Span(2)].into_iter().sum::<Span>(), Span(3));
    }

    #[test]
    fn seconds_and_back() {
        let clock = Clock::new(2_000_000_000);
        assert!((clock.seconds(Span(3_000_000_000)) - 1.5).abs() < 1e-12);
        assert_eq!(clock.span(1.5), Span(3_000_000_000));
        assert_eq!(Clock::new(0), Clock::NANOSECONDS);
        assert_eq!([Clock::new(1_000_000), clock].map(|it| it.of_nanoseconds(1_999)), [Span(1), Span(3_998)]);
        assert_eq!(clock.of_nanoseconds(u64::MAX), Span(Time::LIMIT));
    }
}
