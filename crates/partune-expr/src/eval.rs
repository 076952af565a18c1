//! Values of expressions.
//!
//! Numbers stay exact until something irrational comes in. Sums and extremes without closed form are enumerated, within a budget.

use std::cmp::Ordering;

use crate::boolean::Bool;
use crate::expr::{Atom, Expr, Monomial, Over, Symbol};
use crate::rat::Rat;

/// A value: exact, or rounded once something irrational took part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Exact(Rat),
    Approx(f64),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    #[error("`{0}` has no value")]
    Unbound(String),
    #[error("division by zero")]
    DivisionByZero,
    #[error("a number of more than 38 digits")]
    TooLarge,
    /// It was so before anything was evaluated.
    #[error("division by zero, or a number or a formula that is too large")]
    Undefined,
    #[error("an integer of 64 bits is needed here, and the value is {0}")]
    NoInteger(String),
    #[error("the integer below {0}, which is rounded")]
    Rounded(f64),
    #[error("`{0}[{1}]`: there is no such entry")]
    NoEntry(String, String),
    #[error("the logarithm of {0}")]
    Logarithm(String),
    #[error("more than {0} steps")]
    TooLong(u64),
}

/// Where values come from.
pub trait Environment {
    fn symbol(&self, symbol: &Symbol) -> Option<Number>;

    fn table(&self, _name: &str, _index: &[i64]) -> Option<Number> {
        None
    }
}

impl<F: Fn(&Symbol) -> Option<Number>> Environment for F {
    fn symbol(&self, symbol: &Symbol) -> Option<Number> {
        self(symbol)
    }
}

impl Number {
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Exact(value) => value.to_f64(),
            Number::Approx(value) => value,
        }
    }

    fn checked(value: f64) -> Result<Number, EvalError> {
        if value.is_finite() { Ok(Number::Approx(value)) } else { Err(EvalError::TooLarge) }
    }

    /// The sum; rounded where a fraction becomes too fine.
    pub fn plus(self, other: Number) -> Result<Number, EvalError> {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => exact(a + b, a, b, || a.to_f64() + b.to_f64()),
            _ => Number::checked(self.to_f64() + other.to_f64()),
        }
    }

    fn mul(self, other: Number) -> Result<Number, EvalError> {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => exact(a * b, a, b, || a.to_f64() * b.to_f64()),
            _ => Number::checked(self.to_f64() * other.to_f64()),
        }
    }

    fn pow(self, exponent: i32) -> Result<Number, EvalError> {
        if exponent < 0 && self.to_f64() == 0.0 {
            return Err(EvalError::DivisionByZero);
        }
        match self {
            Number::Exact(a) => {
                let power = a.pow(exponent.into());
                if power.is_undefined() && !a.is_integer() {
                    return Number::checked(a.to_f64().powi(exponent));
                }
                if power.is_undefined() { Err(EvalError::TooLarge) } else { Ok(Number::Exact(power)) }
            }
            Number::Approx(a) => Number::checked(a.powi(exponent)),
        }
    }

    /// By value; exact where both are.
    pub fn compare(self, other: Number) -> Ordering {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a.cmp(&b),
            _ => self.to_f64().total_cmp(&other.to_f64()),
        }
    }

    fn floor(self) -> Result<Number, EvalError> {
        match self {
            Number::Exact(a) => Ok(Number::Exact(a.floor())),
            // An integer that a double holds exactly is exact again.
            Number::Approx(a) if a.abs() < 9e15 => Ok(Number::Exact(Rat::int(a.floor() as i128))),
            Number::Approx(a) => Err(EvalError::Rounded(a)),
        }
    }

    /// The value, if it is an integer of 64 bits.
    pub fn to_int(self) -> Result<i64, EvalError> {
        self.to_whole().and_then(|value| i64::try_from(value).map_err(|_| EvalError::NoInteger(self.to_string())))
    }

    /// The value, if it is an integer.
    fn to_whole(self) -> Result<i128, EvalError> {
        match self {
            Number::Exact(a) => a.to_int(),
            Number::Approx(a) => (a.fract() == 0.0 && a.abs() < 9e15).then_some(a as i128),
        }
        .ok_or_else(|| EvalError::NoInteger(self.to_string()))
    }
}

/// Fractions too fine for 128 bits are rounded; integers too large are an error.
fn exact(value: Rat, a: Rat, b: Rat, rounded: impl Fn() -> f64) -> Result<Number, EvalError> {
    if !value.is_undefined() {
        return Ok(Number::Exact(value));
    }
    if a.is_integer() && b.is_integer() {
        return Err(EvalError::TooLarge);
    }
    Number::checked(rounded())
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Exact(value) => value.fmt(f),
            Number::Approx(value) => value.fmt(f),
        }
    }
}

/// Steps of enumeration that one evaluation may take.
pub const EVAL_BUDGET: u64 = 20_000_000;

impl Expr {
    /// The value. Cost: its size, times the length of ranges that have no closed form.
    pub fn eval(&self, environment: &dyn Environment) -> Result<Number, EvalError> {
        let mut eval = Eval { environment, bound: Vec::new(), steps: 0 };
        eval.expr(self)
    }

    /// The exact value of what holds no symbols but those given.
    pub fn eval_int(&self, environment: &dyn Environment) -> Result<i64, EvalError> {
        self.eval(environment)?.to_int()
    }
}

impl Bool {
    pub fn eval(&self, environment: &dyn Environment) -> Result<bool, EvalError> {
        let mut eval = Eval { environment, bound: Vec::new(), steps: 0 };
        eval.condition(self)
    }
}

struct Eval<'a> {
    environment: &'a dyn Environment,
    bound: Vec<(Symbol, i64)>,
    steps: u64,
}

impl Eval<'_> {
    fn step(&mut self) -> Result<(), EvalError> {
        self.steps += 1;
        if self.steps > EVAL_BUDGET { Err(EvalError::TooLong(EVAL_BUDGET)) } else { Ok(()) }
    }

    fn expr(&mut self, e: &Expr) -> Result<Number, EvalError> {
        let mut sum = Number::Exact(Rat::ZERO);
        for term in e.terms() {
            self.step()?;
            if term.coefficient.is_undefined() {
                return Err(EvalError::Undefined);
            }
            let mut product = Number::Exact(term.coefficient);
            // Conditions first: what they exclude needs no value.
            let is_condition = |(atom, _): &&(Atom, i32)| matches!(atom, Atom::Iverson(_));
            let (conditions, others) = (term.factors.iter(), term.factors.iter());
            for (atom, exponent) in conditions.filter(is_condition).chain(others.filter(|it| !is_condition(it))) {
                let value = self.atom(atom)?;
                if value == Number::Exact(Rat::ZERO) && *exponent > 0 {
                    product = value;
                    break;
                }
                product = product.mul(value.pow(*exponent)?)?;
            }
            sum = sum.plus(product)?;
        }
        Ok(sum)
    }

    fn atom(&mut self, atom: &Atom) -> Result<Number, EvalError> {
        match atom {
            Atom::Symbol(symbol) => {
                if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| bound == symbol) {
                    return Ok(Number::Exact((*value).into()));
                }
                self.environment.symbol(symbol).ok_or_else(|| EvalError::Unbound(symbol.name.to_string()))
            }
            Atom::FloorDiv(a, b) => {
                let divisor = self.expr(b)?;
                let rounded = self.expr(a)?.mul(divisor.pow(-1)?)?;
                match (rounded, divisor) {
                    (Number::Approx(_), Number::Exact(divisor)) => self
                        .floor_of_logarithms(a, divisor)?
                        .map_or_else(|| rounded.floor(), |it| Ok(Number::Exact(it))),
                    _ => rounded.floor(),
                }
            }
            Atom::Max(args) => self.extreme(args, Ordering::Greater),
            Atom::Min(args) => self.extreme(args, Ordering::Less),
            Atom::Iverson(condition) => Ok(Number::Exact(Rat::int(self.condition(condition)?.into()))),
            Atom::Sum(over) => {
                let mut sum = Number::Exact(Rat::ZERO);
                self.range(over, &mut |value| {
                    sum = sum.plus(value)?;
                    Ok(())
                })?;
                Ok(sum)
            }
            Atom::MaxOver(over) => self.extreme_over(over, Ordering::Greater),
            Atom::MinOver(over) => self.extreme_over(over, Ordering::Less),
            Atom::Table(name, args) => {
                let index = args.iter().map(|arg| self.expr(arg)?.to_int()).collect::<Result<Vec<_>, _>>()?;
                let text = || index.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
                self.environment.table(name, &index).ok_or_else(|| EvalError::NoEntry(name.to_string(), text()))
            }
            Atom::Log2(e) => {
                let value = self.expr(e)?;
                if value.to_f64() <= 0.0 {
                    return Err(EvalError::Logarithm(value.to_string()));
                }
                let exact = match value {
                    Number::Exact(value) => Expr::number(value).log2().to_rat(),
                    Number::Approx(_) => None,
                };
                exact.map_or_else(|| Number::checked(value.to_f64().log2()), |value| Ok(Number::Exact(value)))
            }
            Atom::Power(base, e) => match self.expr(e)? {
                Number::Exact(e) if e.is_integer() => {
                    let exponent = e.to_int().and_then(|e| i64::try_from(e).ok()).unwrap_or(i64::MAX);
                    let value = base.pow(exponent);
                    if value.is_undefined() { Err(EvalError::TooLarge) } else { Ok(Number::Exact(value)) }
                }
                e => Number::checked(base.to_f64().powf(e.to_f64())),
            },
            Atom::Group(e) => self.expr(e),
        }
    }

    /// The floor of a quotient, where nothing but logarithms of exact values makes it inexact.
    fn floor_of_logarithms(&mut self, e: &Expr, divisor: Rat) -> Result<Option<Rat>, EvalError> {
        let mut sum = Expr::zero();
        for term in e.terms() {
            let (logarithms, rest): (Monomial, Monomial) =
                term.factors.iter().cloned().partition(|(atom, _)| matches!(atom, Atom::Log2(_)));
            let Number::Exact(factor) = self.expr(&Expr::product(rest, term.coefficient))? else { return Ok(None) };
            let logarithm = match &logarithms[..] {
                [] => Expr::one(),
                [(Atom::Log2(of), 1)] => match self.expr(of)? {
                    Number::Exact(of) => Expr::number(of).log2(),
                    Number::Approx(_) => return Ok(None),
                },
                _ => return Ok(None),
            };
            sum = sum + logarithm.scale(factor / divisor);
        }
        Ok(sum.floor().to_rat())
    }

    fn extreme(&mut self, args: &[Expr], wanted: Ordering) -> Result<Number, EvalError> {
        let mut best = None;
        for arg in args {
            let value = self.expr(arg)?;
            if best.is_none_or(|best| value.compare(best) == wanted) {
                best = Some(value);
            }
        }
        best.ok_or(EvalError::Undefined)
    }

    fn extreme_over(&mut self, over: &Over, wanted: Ordering) -> Result<Number, EvalError> {
        let mut best = None;
        self.range(over, &mut |value| {
            if best.is_none_or(|best| value.compare(best) == wanted) {
                best = Some(value);
            }
            Ok(())
        })?;
        Ok(best.unwrap_or(Number::Exact(Rat::ZERO)))
    }

    fn range(&mut self, over: &Over, visit: &mut dyn FnMut(Number) -> Result<(), EvalError>) -> Result<(), EvalError> {
        let (lo, hi) = (self.expr(&over.lo)?.to_int()?, self.expr(&over.hi)?.to_int()?);
        for value in lo..=hi {
            self.step()?;
            self.bound.push((over.variable.clone(), value));
            let result = self.expr(&over.body);
            self.bound.pop();
            visit(result?)?;
        }
        Ok(())
    }

    fn condition(&mut self, condition: &Bool) -> Result<bool, EvalError> {
        let zero = Number::Exact(Rat::ZERO);
        Ok(match condition {
            Bool::True => true,
            Bool::False => false,
            Bool::AtLeastZero(e) => self.expr(e)?.compare(zero) != Ordering::Less,
            Bool::AboveZero(e) => self.expr(e)?.compare(zero) == Ordering::Greater,
            Bool::Zero(e) => self.expr(e)?.to_f64() == 0.0,
            Bool::Divides(a, b) => {
                let (divisor, value) = (self.expr(a)?.to_whole()?, self.expr(b)?.to_whole()?);
                if divisor == 0 { value == 0 } else { value.checked_rem(divisor).unwrap_or(0) == 0 }
            }
            Bool::Not(inner) => !self.condition(inner)?,
            Bool::And(all) => {
                for one in all {
                    if !self.condition(one)? {
                        return Ok(false);
                    }
                }
                true
            }
            Bool::Or(all) => {
                for one in all {
                    if self.condition(one)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}
