//! Expressions of a model with all parameters given, compiled for evaluation in every event and at every leaf.
//!
//! Almost all are integer polynomials over loop variables with one denominator: those run on 64-bit integers with checked arithmetic. The
//! rest is evaluated as algebra.

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{Atom, Bool, Environment, EvalError, Expr, Number, Rat, Symbol};

/// Where loop variables live in a process.
pub(crate) type Slots = BTreeMap<Symbol, u16>;
type Tables = BTreeMap<Arc<str>, Arc<[Rat]>>;

/// A value: an integer numerator over a constant denominator, or algebra.
#[derive(Debug)]
pub(crate) enum Value {
    Constant {
        num: i64,
        den: i64,
    },
    Slot(u16),
    /// `(slot + offset) div size`, with a positive size: the block of an index.
    Block {
        slot: u16,
        offset: i64,
        size: i64,
    },
    /// A number if a condition holds, else zero.
    Conditional {
        test: Box<Test>,
        num: i64,
        den: i64,
    },
    Polynomial {
        sum: Sum,
        den: i64,
    },
    General(Box<General>),
}

#[derive(Debug)]
pub(crate) struct General {
    expr: Expr,
    slots: Slots,
    tables: Arc<Tables>,
}

#[derive(Debug)]
pub(crate) struct Sum {
    constant: i64,
    terms: Box<[(i64, Product)]>,
}

/// Factors, most often one.
#[derive(Debug)]
enum Product {
    One(Factor),
    Many(Box<[Factor]>),
}

#[derive(Debug)]
enum Factor {
    Slot(u16),
    FloorDiv(Box<(Sum, Sum)>),
    Test(Box<Test>),
    Max(Box<[Sum]>),
    Min(Box<[Sum]>),
    /// Entries scaled to integers, by index.
    Table(Box<(Arc<[i64]>, Sum, String)>),
    PowerOfTwo(Box<Sum>),
}

/// A condition on integers.
#[derive(Debug)]
pub(crate) enum Test {
    AtLeastZero(Sum),
    AboveZero(Sum),
    Zero(Sum),
    Divides(Sum, Sum),
    /// Whether a positive divisor divides `slot + offset`, or whether it does not.
    Multiple {
        divisor: i64,
        slot: u16,
        offset: i64,
        wanted: bool,
    },
    Not(Box<Test>),
    All(Box<[Test]>),
    Any(Box<[Test]>),
    General(Bool, Box<General>),
}

/// A number as the machine wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantity {
    Ratio { num: i64, den: i64 },
    Real(f64),
}

pub(crate) struct Compiler<'a> {
    pub(crate) slots: Slots,
    pub(crate) tables: &'a Arc<Tables>,
}

impl Compiler<'_> {
    pub(crate) fn value(&self, e: &Expr) -> Value {
        match self.polynomial(e) {
            Some((sum, den)) => plain(sum, den),
            None => Value::General(Box::new(self.general(e))),
        }
    }

    fn general(&self, e: &Expr) -> General {
        General { expr: e.clone(), slots: self.slots.clone(), tables: self.tables.clone() }
    }

    /// Numerator and denominator, if it is made of integers.
    fn polynomial(&self, e: &Expr) -> Option<(Sum, i64)> {
        let mut terms = Vec::new();
        for term in e.terms() {
            let mut scale = Rat::ONE;
            let mut factors = Vec::new();
            for (atom, exponent) in term.factors.iter() {
                if *exponent < 0 {
                    return None;
                }
                for _ in 0..*exponent {
                    let (factor, by) = self.factor(atom)?;
                    factors.push(factor);
                    scale = scale * by;
                }
            }
            // Conditions first: what they exclude is not computed.
            factors.sort_by_key(|factor| !matches!(factor, Factor::Test(_)));
            terms.push((term.coefficient * scale, factors));
        }
        let den = terms.iter().try_fold(1_i128, |den, (coefficient, _)| {
            let own = coefficient.den();
            let shared = Rat::int(den).gcd(Rat::int(own)).to_int()?;
            if own == 0 { None } else { (den / shared.max(1)).checked_mul(own) }
        })?;
        let mut sum = Sum { constant: 0, terms: Box::default() };
        let mut list = Vec::new();
        for (coefficient, mut factors) in terms {
            let number = (coefficient * Rat::int(den)).to_int().and_then(|number| i64::try_from(number).ok())?;
            match factors.len() {
                0 => sum.constant = number,
                1 => list.push((number, Product::One(factors.remove(0)))),
                _ => list.push((number, Product::Many(factors.into()))),
            }
        }
        sum.terms = list.into();
        Some((sum, i64::try_from(den).ok()?))
    }

    fn integer(&self, e: &Expr) -> Option<Sum> {
        self.polynomial(e).filter(|(_, den)| *den == 1).map(|(sum, _)| sum)
    }

    /// A factor, and the number it must be multiplied by.
    fn factor(&self, atom: &Atom) -> Option<(Factor, Rat)> {
        let integers = |args: &[Expr]| args.iter().map(|arg| self.integer(arg)).collect::<Option<Box<[Sum]>>>();
        let plain = |factor| Some((factor, Rat::ONE));
        match atom {
            Atom::Symbol(symbol) => plain(Factor::Slot(*self.slots.get(symbol)?)),
            Atom::FloorDiv(a, b) => plain(Factor::FloorDiv(Box::new((self.integer(a)?, self.integer(b)?)))),
            Atom::Max(args) => plain(Factor::Max(integers(args)?)),
            Atom::Min(args) => plain(Factor::Min(integers(args)?)),
            Atom::Iverson(condition) => plain(Factor::Test(Box::new(self.test(condition)))),
            Atom::Table(name, args) => {
                let entries = self.tables.get(name)?;
                let [index] = &args[..] else { return None };
                let step = entries.iter().fold(Rat::ZERO, |step, entry| step.gcd(*entry));
                let step = if step.is_zero() { Rat::ONE } else { step };
                let whole = |entry: &Rat| (*entry / step).to_int().and_then(|entry| i64::try_from(entry).ok());
                let entries = entries.iter().map(whole).collect::<Option<Arc<[i64]>>>()?;
                Some((Factor::Table(Box::new((entries, self.integer(index)?, name.to_string()))), step))
            }
            Atom::Power(base, e) if *base == Rat::int(2) => plain(Factor::PowerOfTwo(Box::new(self.integer(e)?))),
            _ => None,
        }
    }

    pub(crate) fn test(&self, condition: &Bool) -> Test {
        self.simple_test(condition)
            .unwrap_or_else(|| Test::General(condition.clone(), Box::new(self.general(&Expr::zero()))))
    }

    fn simple_test(&self, condition: &Bool) -> Option<Test> {
        // The sign does not change with the denominator.
        let scaled = |e: &Expr| self.polynomial(e).map(|(sum, _)| sum);
        let list = |all: &[Bool]| all.iter().map(|one| self.simple_test(one)).collect::<Option<Box<[Test]>>>();
        Some(match condition {
            Bool::True => Test::All(Box::default()),
            Bool::False => Test::Any(Box::default()),
            Bool::AtLeastZero(e) => Test::AtLeastZero(scaled(e)?),
            Bool::AboveZero(e) => Test::AboveZero(scaled(e)?),
            Bool::Zero(e) => Test::Zero(scaled(e)?),
            Bool::Divides(a, b) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                match (a.to_constant(), b.to_slot()) {
                    (Some(divisor @ 1..), Some((slot, offset))) => {
                        Test::Multiple { divisor, slot, offset, wanted: true }
                    }
                    _ => Test::Divides(a, b),
                }
            }
            Bool::Not(inner) => match self.simple_test(inner)? {
                Test::Multiple { divisor, slot, offset, wanted } => {
                    Test::Multiple { divisor, slot, offset, wanted: !wanted }
                }
                test => Test::Not(Box::new(test)),
            },
            Bool::And(all) => Test::All(list(all)?),
            Bool::Or(all) => Test::Any(list(all)?),
        })
    }
}

/// The form that costs least.
fn plain(mut sum: Sum, den: i64) -> Value {
    if let Some(num) = sum.to_constant() {
        return Value::Constant { num, den };
    }
    match (sum.to_slot(), den) {
        (Some((slot, 0)), 1) => return Value::Slot(slot),
        (Some(_), _) => return Value::Polynomial { sum, den },
        (None, _) => {}
    }
    if let (0, [(factor, Product::One(only))]) = (sum.constant, &mut *sum.terms) {
        match only {
            Factor::Test(_) => {
                let test = std::mem::replace(only, Factor::Slot(0));
                if let Factor::Test(test) = test {
                    return Value::Conditional { test, num: *factor, den };
                }
            }
            Factor::FloorDiv(parts) if *factor == 1 && den == 1 => {
                if let (Some((slot, offset)), Some(size @ 1..)) = (parts.0.to_slot(), parts.1.to_constant()) {
                    return Value::Block { slot, offset, size };
                }
            }
            _ => {}
        }
    }
    Value::Polynomial { sum, den }
}

impl Value {
    #[inline]
    pub(crate) fn eval(&self, variables: &[i64]) -> Result<Quantity, EvalError> {
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
    pub(crate) fn int(&self, variables: &[i64]) -> Result<i64, EvalError> {
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
    fn to_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// A slot and what is added to it.
    fn to_slot(&self) -> Option<(u16, i64)> {
        match *self.terms {
            [(1, Product::One(Factor::Slot(slot)))] => Some((slot, self.constant)),
            _ => None,
        }
    }

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
    pub(crate) fn eval(&self, variables: &[i64]) -> Result<bool, EvalError> {
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

impl Quantity {
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Quantity::Ratio { num, den } => num as f64 / den as f64,
            Quantity::Real(value) => value,
        }
    }

    pub(crate) fn is_negative(self) -> bool {
        match self {
            Quantity::Ratio { num, .. } => num < 0,
            Quantity::Real(value) => value < 0.0,
        }
    }
}
