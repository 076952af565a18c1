//! Measured values with their errors, and how those of kernels make that of a chain.

use crate::error::{CouplingError, Subject};

/// A value and its standard deviation, both of one unit: of repeated measurements their mean, and the standard deviation of that mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub value: f64,
    pub deviation: f64,
}

/// What was measured of one execution of a kernel or a chain.
///
/// A ratio is an amount by what it is counted per, as instructions by cycles. Anything else is an amount, and `per` is not looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    pub amount: Measured,
    pub per: Measured,
}

/// How the values of kernels would make that of a chain if they did nothing to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Σ a: time, misses, bytes, energy.
    Sum,
    /// Σ a / Σ b, which is the mean of a/b weighted by b: flop/s, instructions per cycle, miss rate.
    Ratio,
    /// Of what is used at the same time: peak memory.
    Maximum,
}

/// Which values are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Lower,
    Higher,
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    pub combine: Combine,
    pub better: Better,
    /// The least that the clock or the counter can tell of one execution (its step by the executions that it timed together): of amounts, for a ratio
    /// of what they are counted per. 0: anything.
    pub resolution: f64,
}

impl Measured {
    pub fn new(value: f64, deviation: f64) -> Measured {
        Measured { value, deviation }
    }

    /// Known without an error.
    pub fn exact(value: f64) -> Measured {
        Measured { value, deviation: 0.0 }
    }

    /// All finite, and no deviation below zero.
    pub(crate) fn check(self, subject: &Subject) -> Result<Measured, CouplingError> {
        if !self.value.is_finite() || !self.deviation.is_finite() {
            return Err(CouplingError::NotFinite(subject.clone()));
        }
        if self.deviation < 0.0 { Err(CouplingError::Negative(subject.clone())) } else { Ok(self) }
    }

    /// The same of what can only be positive.
    pub(crate) fn check_positive(self, subject: &Subject) -> Result<Measured, CouplingError> {
        self.check(subject)?;
        match self.value {
            value if value < 0.0 => Err(CouplingError::Negative(subject.clone())),
            0.0 => Err(CouplingError::Zero(subject.clone())),
            _ => Ok(self),
        }
    }
}

impl Quantity {
    pub fn amount(value: f64, deviation: f64) -> Quantity {
        Quantity { amount: Measured { value, deviation }, per: Measured::exact(1.0) }
    }

    pub fn ratio(amount: Measured, per: Measured) -> Quantity {
        Quantity { amount, per }
    }
}

impl Metric {
    /// Seconds, which a clock tells in steps; less is better.
    pub fn time(resolution: f64) -> Metric {
        Metric { combine: Combine::Sum, better: Better::Lower, resolution }
    }

    /// That a quantity can be of this metric: amounts are positive (those of a ratio may be none), and as large as can be told.
    pub(crate) fn check(&self, quantity: &Quantity, subject: &Subject) -> Result<(), CouplingError> {
        let extent = match self.combine {
            Combine::Sum | Combine::Maximum => quantity.amount,
            Combine::Ratio => {
                if quantity.amount.check(subject)?.value < 0.0 {
                    return Err(CouplingError::Negative(subject.clone()));
                }
                quantity.per
            }
        };
        let Measured { value, .. } = extent.check_positive(subject)?;
        if value < self.resolution {
            return Err(CouplingError::TooShort { subject: subject.clone(), value, resolution: self.resolution });
        }
        Ok(())
    }
}
