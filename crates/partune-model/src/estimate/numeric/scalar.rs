//! The numbers that enumeration computes with: exact fractions, or doubles where those do not hold.

use std::ops::{Add, Div, Mul, Sub};

use partune_expr::{Number, Rat};

use crate::code::Quantity;

/// Exact or rounded numbers.
pub(super) trait Scalar:
    Copy + Send + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn new(quantity: Quantity) -> Self;
    fn number(self) -> Option<Number>;
    fn ceil(self) -> Self;

    fn int(value: i64) -> Self {
        Self::new(Quantity::Ratio { num: value, den: 1 })
    }

    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Scalar for Rat {
    fn new(quantity: Quantity) -> Rat {
        match quantity {
            Quantity::Ratio { num, den } => Rat::new(num.into(), den.into()),
            // Sends the caller to doubles.
            Quantity::Real(_) => Rat::UNDEFINED,
        }
    }
    fn number(self) -> Option<Number> {
        (!self.is_undefined()).then_some(Number::Exact(self))
    }
    fn ceil(self) -> Rat {
        Rat::ceil(self)
    }
    // What is undefined stays so.
    fn max(self, other: Rat) -> Rat {
        if self.is_undefined() || other.is_undefined() { Rat::UNDEFINED } else { Ord::max(self, other) }
    }
    fn min(self, other: Rat) -> Rat {
        if self.is_undefined() || other.is_undefined() { Rat::UNDEFINED } else { Ord::min(self, other) }
    }
}

impl Scalar for f64 {
    fn new(quantity: Quantity) -> f64 {
        quantity.to_f64()
    }
    fn number(self) -> Option<Number> {
        self.is_finite().then_some(Number::Approx(self))
    }
    fn ceil(self) -> f64 {
        f64::ceil(self)
    }
}
