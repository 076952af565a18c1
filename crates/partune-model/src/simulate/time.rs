//! Time in a simulation: exact ticks, or doubles.
//!
//! Ticks are fractions of the unit; the machine starts with the unit itself, and a duration that is no multiple makes it begin again with
//! finer ticks. Doubles serve where something irrational is drawn or computed.

use partune_expr::{Number, Rat};

use crate::code::Quantity;
use crate::diagnostic::{Diagnostic, Span};

/// Why a run stopped early.
#[derive(Debug)]
pub(super) enum Stop {
    Error(Diagnostic),
    /// More calls inside each other than are followed.
    TooDeep {
        /// Its place in the model.
        process: u32,
        span: Span,
    },
    /// Ticks must also divide by this.
    Finer(i64),
    /// Exact ticks cannot hold the times.
    Inexact,
}

/// A kind of time. Times are never negative.
pub(super) trait Clock {
    type Time: Copy + Ord + Default;
    /// Time of many processes.
    type Sum: Copy + Default;

    fn duration(&self, quantity: Quantity) -> Result<Self::Time, Stop>;
    fn real(&self, value: f64) -> Result<Self::Time, Stop>;
    fn add(&self, a: Self::Time, b: Self::Time) -> Result<Self::Time, Stop>;
    /// In units of the model.
    fn to_f64(&self, time: Self::Time) -> f64;
    /// So many times the time between two moments.
    fn span(&self, from: Self::Time, to: Self::Time, times: u64) -> Self::Sum;
    fn plus(&self, a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// In units of the model; exact if ticks are.
    fn number(&self, sum: Self::Sum) -> Number;

    /// A time as a sum.
    fn length(&self, time: Self::Time) -> Self::Sum {
        self.span(Self::Time::default(), time, 1)
    }
}

/// So many ticks a unit.
pub(super) struct Ticks(pub(super) i64);

impl Clock for Ticks {
    type Time = i64;
    type Sum = i128;

    #[inline]
    fn duration(&self, quantity: Quantity) -> Result<i64, Stop> {
        let Quantity::Ratio { num, den } = quantity else { return Err(Stop::Inexact) };
        if den == 1 && self.0 == 1 {
            return Ok(num);
        }
        let scaled = i128::from(num) * i128::from(self.0);
        let den = i128::from(den);
        if scaled % den != 0 {
            return Err(Stop::Finer(den as i64));
        }
        i64::try_from(scaled / den).map_err(|_| Stop::Inexact)
    }

    fn real(&self, _: f64) -> Result<i64, Stop> {
        Err(Stop::Inexact)
    }

    #[inline]
    fn add(&self, a: i64, b: i64) -> Result<i64, Stop> {
        a.checked_add(b).ok_or(Stop::Inexact)
    }

    fn to_f64(&self, time: i64) -> f64 {
        time as f64 / self.0 as f64
    }

    fn span(&self, from: i64, to: i64, times: u64) -> i128 {
        (i128::from(to) - i128::from(from)).saturating_mul(times.into())
    }

    fn plus(&self, a: i128, b: i128) -> i128 {
        a.saturating_add(b)
    }

    fn number(&self, sum: i128) -> Number {
        Number::Exact(Rat::new(sum, self.0.into()))
    }
}

/// Doubles; times that are not negative are ordered as their bits.
pub(super) struct Reals;

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits(u64);

impl Clock for Reals {
    type Time = Bits;
    type Sum = f64;

    fn duration(&self, quantity: Quantity) -> Result<Bits, Stop> {
        self.real(match quantity {
            Quantity::Ratio { num, den } => num as f64 / den as f64,
            Quantity::Real(value) => value,
        })
    }

    fn real(&self, value: f64) -> Result<Bits, Stop> {
        // A sign on zero would break the order of bits.
        Ok(Bits((value.max(0.0) + 0.0).to_bits()))
    }

    fn add(&self, a: Bits, b: Bits) -> Result<Bits, Stop> {
        Ok(Bits((f64::from_bits(a.0) + f64::from_bits(b.0)).to_bits()))
    }

    fn to_f64(&self, time: Bits) -> f64 {
        f64::from_bits(time.0)
    }

    fn span(&self, from: Bits, to: Bits, times: u64) -> f64 {
        (f64::from_bits(to.0) - f64::from_bits(from.0)) * times as f64
    }

    fn plus(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn number(&self, sum: f64) -> Number {
        Number::Approx(sum)
    }
}
