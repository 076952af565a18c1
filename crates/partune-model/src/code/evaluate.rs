//! Evaluation of compiled values and conditions, in every event and at every leaf: no allocation but in algebra, arithmetic is checked.

use partune_expr::{Environment, EvalError, Number, Symbol};

use super::{Factor, General, Product, Quantity, Sum, Test, Value};

impl Value {
    #[inline]
    pub fn eval(&self, variables: &[i64]) -> Result<Quantity, EvalError> {
        Ok(match self {
            Value::Constant { num, den } => Quantity::Ratio { num: *num, den: *den },
            Value::Slot(slot) => Quantity::Ratio { num: variables[usize::from(*slot)], den: 1 },
            Value::Block { slot, offset, size } => {
                let at = variables[usize::from(*slot)].checked_add(*offset).ok_or(OVERFLOW)?;
                Quantity::Ratio { num: at.div_euclid(*size), den: 1 }
            }
            Value::Conditional { test, num, den } => {
                Quantity::Ratio { num: if test.eval(variables)? { *num } else { 0 }, den: *den }
            }
            Value::Polynomial { sum, den } => Quantity::Ratio { num: sum.eval(variables)?, den: *den },
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
            Number::Exact(value) => match (i64::try_from(value.num()), i64::try_from(value.den())) {
                (Ok(num), Ok(den)) => Quantity::Ratio { num, den },
                _ => Quantity::Real(value.to_f64()),
            },
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

const OVERFLOW: EvalError = EvalError::Undefined;

impl Sum {
    #[inline]
    fn eval(&self, variables: &[i64]) -> Result<i64, EvalError> {
        let mut sum = self.constant;
        for (coefficient, product) in &self.terms {
            let value = match product {
                Product::One(factor) => factor.eval(variables)?,
                Product::Many(factors) => {
                    let mut value = 1_i64;
                    for factor in factors {
                        let own = factor.eval(variables)?;
                        if own == 0 {
                            value = 0;
                            break;
                        }
                        value = value.checked_mul(own).ok_or(OVERFLOW)?;
                    }
                    value
                }
            };
            let value = value.checked_mul(*coefficient).ok_or(OVERFLOW)?;
            sum = sum.checked_add(value).ok_or(OVERFLOW)?;
        }
        Ok(sum)
    }
}

impl Factor {
    #[inline]
    fn eval(&self, variables: &[i64]) -> Result<i64, EvalError> {
        match self {
            Factor::Slot(slot) => Ok(variables[usize::from(*slot)]),
            Factor::FloorDiv(parts) => {
                let (a, b) = (parts.0.eval(variables)?, parts.1.eval(variables)?);
                let quotient = a.checked_div_euclid(b).ok_or(OVERFLOW)?;
                // Euclid's quotient is the floor for positive divisors.
                Ok(if b < 0 && a.rem_euclid(b) != 0 { quotient - 1 } else { quotient })
            }
            Factor::Test(test) => Ok(test.eval(variables)?.into()),
            Factor::Max(args) => extreme(args, variables, i64::max),
            Factor::Min(args) => extreme(args, variables, i64::min),
            Factor::Table(parts) => {
                let (entries, index, name) = &**parts;
                let index = index.eval(variables)?;
                let entry = usize::try_from(index).ok().and_then(|index| entries.get(index));
                entry.copied().ok_or_else(|| EvalError::NoEntry(name.clone(), index.to_string()))
            }
            Factor::PowerOfTwo(exponent) => {
                let exponent = exponent.eval(variables)?;
                if exponent < 0 {
                    return Err(EvalError::NoInteger(format!("2^{exponent}")));
                }
                u32::try_from(exponent).ok().and_then(|exponent| 2_i64.checked_pow(exponent)).ok_or(OVERFLOW)
            }
        }
    }
}

fn extreme(args: &[Sum], variables: &[i64], best: fn(i64, i64) -> i64) -> Result<i64, EvalError> {
    let mut found = None;
    for arg in args {
        let value = arg.eval(variables)?;
        found = Some(found.map_or(value, |old| best(old, value)));
    }
    found.ok_or(OVERFLOW)
}

impl Test {
    #[inline]
    pub fn eval(&self, variables: &[i64]) -> Result<bool, EvalError> {
        Ok(match self {
            Test::AtLeastZero(e) => e.eval(variables)? >= 0,
            Test::AboveZero(e) => e.eval(variables)? > 0,
            Test::Zero(e) => e.eval(variables)? == 0,
            Test::Divides(a, b) => {
                let (a, b) = (a.eval(variables)?, b.eval(variables)?);
                if a == 0 { b == 0 } else { b.checked_rem(a).unwrap_or(0) == 0 }
            }
            Test::Multiple { divisor, slot, offset, wanted } => {
                let at = variables[usize::from(*slot)].checked_add(*offset).ok_or(OVERFLOW)?;
                (at % divisor == 0) == *wanted
            }
            Test::Not(inner) => !inner.eval(variables)?,
            Test::All(all) => {
                for one in all {
                    if !one.eval(variables)? {
                        return Ok(false);
                    }
                }
                true
            }
            Test::Any(all) => {
                for one in all {
                    if one.eval(variables)? {
                        return Ok(true);
                    }
                }
                false
            }
            Test::General(condition, general) => condition.eval(&Bindings { general, variables })?,
        })
    }
}
