//! Evaluation of compiled values and conditions, in every event and at every leaf: no allocation but in algebra, arithmetic is checked.
//!
//! What 64 bits do not hold on the way is computed once more with 128: of a large square the remainder is small.

use std::fmt::Display;

use partune_expr::{Environment, EvalError, Number, Rat, Symbol};

use super::{Factor, General, Product, Quantity, Sum, Test, Value};

impl Value {
    #[inline]
    pub fn eval(&self, variables: &[i64]) -> Result<Quantity, EvalError> {
        Ok(match self {
            Value::Constant { num, den } => Quantity::Ratio { num: *num, den: *den },
            Value::Slot(slot) => Quantity::Ratio { num: variables[usize::from(*slot)], den: 1 },
            Value::Block { slot, offset, size } => {
                let at = variables[usize::from(*slot)];
                match at.checked_add(*offset) {
                    Some(at) => Quantity::Ratio { num: at.div_euclid(*size), den: 1 },
                    None => Quantity::of(Rat::int((i128::from(at) + i128::from(*offset)).div_euclid((*size).into()))),
                }
            }
            Value::Conditional { test, num, den } => {
                Quantity::Ratio { num: if test.eval(variables)? { *num } else { 0 }, den: *den }
            }
            Value::Polynomial { sum, den } => match sum.eval(variables) {
                Err(EvalError::TooLarge) => Quantity::of(Rat::new(sum.eval(variables)?, (*den).into())),
                num => Quantity::Ratio { num: num?, den: *den },
            },
            Value::General(general) => general.eval(variables)?,
        })
    }

    /// The value as an integer.
    #[inline]
    pub fn int(&self, variables: &[i64]) -> Result<i64, EvalError> {
        match self.eval(variables)? {
            Quantity::Ratio { num, den: 1 } => Ok(num),
            Quantity::Ratio { num, den } if num % den == 0 => Ok(num / den),
            Quantity::Ratio { num, den } => Err(EvalError::NoInteger(format!("{num}/{den}"))),
            Quantity::Real(value) => Err(EvalError::NoInteger(value.to_string())),
        }
    }
}

impl General {
    fn eval(&self, variables: &[i64]) -> Result<Quantity, EvalError> {
        Ok(match self.expr.eval(&Bindings { general: self, variables })? {
            Number::Exact(value) => Quantity::of(value),
            Number::Approx(value) => Quantity::Real(value),
        })
    }
}

struct Bindings<'a> {
    general: &'a General,
    variables: &'a [i64],
}

impl Environment for Bindings<'_> {
    fn symbol(&self, symbol: &Symbol) -> Option<Number> {
        let slot = self.general.slots.get(symbol)?;
        Some(Number::Exact(self.variables[usize::from(*slot)].into()))
    }

    fn table(&self, name: &str, index: &[i64]) -> Option<Number> {
        let entries = self.general.tables.get(name)?;
        let [index] = index else { return None };
        entries.get(usize::try_from(*index).ok()?).copied().map(Number::Exact)
    }
}

/// Integers to compute with.
trait Int: Copy + Ord + Display + From<i64> + TryInto<u32> + TryInto<usize> {
    fn plus(self, other: Self) -> Result<Self, EvalError>;
    fn times(self, other: Self) -> Result<Self, EvalError>;
    /// The largest integer that is not greater than the quotient.
    fn over(self, divisor: Self) -> Result<Self, EvalError>;
    /// Whether it is a multiple; of zero only zero is.
    fn divides(self, other: Self) -> bool;
    fn power_of_two(exponent: u32) -> Result<Self, EvalError>;
}

macro_rules! int {
    ($($int:ty)*) => { $(
        impl Int for $int {
            #[inline]
            fn plus(self, other: Self) -> Result<Self, EvalError> {
                self.checked_add(other).ok_or(EvalError::TooLarge)
            }
            #[inline]
            fn times(self, other: Self) -> Result<Self, EvalError> {
                self.checked_mul(other).ok_or(EvalError::TooLarge)
            }
            #[inline]
            fn over(self, divisor: Self) -> Result<Self, EvalError> {
                if divisor == 0 {
                    return Err(EvalError::DivisionByZero);
                }
                let quotient = self.checked_div_euclid(divisor).ok_or(EvalError::TooLarge)?;
                // Euclid's quotient is the floor for positive divisors.
                Ok(if divisor < 0 && self.rem_euclid(divisor) != 0 { quotient - 1 } else { quotient })
            }
            #[inline]
            fn divides(self, other: Self) -> bool {
                if self == 0 { other == 0 } else { other.wrapping_rem(self) == 0 }
            }
            fn power_of_two(exponent: u32) -> Result<Self, EvalError> {
                <$int>::from(2_u8).checked_pow(exponent).ok_or(EvalError::TooLarge)
            }
        }
    )* };
}
int!(i64 i128);

impl Sum {
    #[inline]
    fn eval<I: Int>(&self, variables: &[i64]) -> Result<I, EvalError> {
        let mut sum = I::from(self.constant);
        for (coefficient, product) in &self.terms {
            let value = match product {
                Product::One(factor) => factor.eval(variables)?,
                Product::Many(factors) => {
                    let mut value = I::from(1);
                    for factor in factors {
                        let own = factor.eval(variables)?;
                        if own == I::from(0) {
                            value = own;
                            break;
                        }
                        value = value.times(own)?;
                    }
                    value
                }
            };
            sum = sum.plus(value.times(I::from(*coefficient))?)?;
        }
        Ok(sum)
    }
}

impl Factor {
    #[inline]
    fn eval<I: Int>(&self, variables: &[i64]) -> Result<I, EvalError> {
        match self {
            Factor::Slot(slot) => Ok(variables[usize::from(*slot)].into()),
            Factor::FloorDiv(parts) => parts.0.eval::<I>(variables)?.over(parts.1.eval(variables)?),
            Factor::Test(test) => Ok(i64::from(test.holds::<I>(variables)?).into()),
            Factor::Max(args) => extreme(args, variables, I::max),
            Factor::Min(args) => extreme(args, variables, I::min),
            Factor::Table(parts) => {
                let (entries, index, name) = &**parts;
                let index: I = index.eval(variables)?;
                let entry = index.try_into().ok().and_then(|index: usize| entries.get(index));
                entry.copied().map(I::from).ok_or_else(|| EvalError::NoEntry(name.clone(), index.to_string()))
            }
            Factor::PowerOfTwo(exponent) => {
                let exponent: I = exponent.eval(variables)?;
                if exponent < I::from(0) {
                    return Err(EvalError::NoInteger(format!("2^{exponent}")));
                }
                exponent.try_into().map_or(Err(EvalError::TooLarge), I::power_of_two)
            }
        }
    }
}

fn extreme<I: Int>(args: &[Sum], variables: &[i64], best: fn(I, I) -> I) -> Result<I, EvalError> {
    let mut found = None;
    for arg in args {
        let value = arg.eval(variables)?;
        found = Some(found.map_or(value, |old| best(old, value)));
    }
    found.ok_or(EvalError::Undefined)
}

impl Test {
    #[inline]
    pub fn eval(&self, variables: &[i64]) -> Result<bool, EvalError> {
        match self.holds::<i64>(variables) {
            Err(EvalError::TooLarge) => self.holds::<i128>(variables),
            holds => holds,
        }
    }

    #[inline]
    fn holds<I: Int>(&self, variables: &[i64]) -> Result<bool, EvalError> {
        let zero = I::from(0);
        Ok(match self {
            Test::AtLeastZero(e) => e.eval::<I>(variables)? >= zero,
            Test::AboveZero(e) => e.eval::<I>(variables)? > zero,
            Test::Zero(e) => e.eval::<I>(variables)? == zero,
            Test::Divides(a, b) => a.eval::<I>(variables)?.divides(b.eval(variables)?),
            Test::Multiple { divisor, slot, offset, wanted } => {
                let at = I::from(variables[usize::from(*slot)]).plus((*offset).into())?;
                I::from(*divisor).divides(at) == *wanted
            }
            Test::Not(inner) => !inner.holds::<I>(variables)?,
            Test::All(all) => {
                for one in all {
                    if !one.holds::<I>(variables)? {
                        return Ok(false);
                    }
                }
                true
            }
            Test::Any(all) => {
                for one in all {
                    if one.holds::<I>(variables)? {
                        return Ok(true);
                    }
                }
                false
            }
            Test::General(condition, general) => condition.eval(&Bindings { general, variables })?,
        })
    }
}
