//! From algebra to the compiled form that costs least. For estimates and the simulator, once a term.

use std::sync::Arc;

use partune_expr::{Atom, Bool, Expr, Rat};

use super::{Factor, General, Product, Slots, Sum, Tables, Test, Value};

pub struct Compiler<'a> {
    pub slots: Slots,
    pub tables: &'a Arc<Tables>,
}

impl Compiler<'_> {
    pub fn value(&self, e: &Expr) -> Value {
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

    pub fn test(&self, condition: &Bool) -> Test {
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
