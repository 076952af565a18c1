//! Conditions: comparisons of expressions with zero, divisibility, and their combinations, in canonical form.
//!
//! Integers make strict comparisons weak: `a < b` is `b - a - 1 >= 0`. A comparison and its negation are one atom and a `Not`, so that
//! what is known of one is known of the other.

use crate::expr::{Atom, Expr};
use crate::rat::Rat;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bool {
    True,
    False,
    /// At least zero.
    AtLeastZero(Expr),
    /// Above zero; only of expressions that may be no integer.
    AboveZero(Expr),
    Zero(Expr),
    /// The first divides the second.
    Divides(Expr, Expr),
    /// Of an atom only.
    Not(Box<Bool>),
    And(Vec<Bool>),
    Or(Vec<Bool>),
}

impl Bool {
    fn constant(value: bool) -> Bool {
        if value { Bool::True } else { Bool::False }
    }

    /// `left <= right`.
    pub fn le(left: &Expr, right: &Expr) -> Bool {
        Bool::nonneg(&(right - left))
    }

    /// `left < right`.
    pub fn lt(left: &Expr, right: &Expr) -> Bool {
        Bool::le(right, left).not()
    }

    /// `left = right`.
    pub fn eq(left: &Expr, right: &Expr) -> Bool {
        let difference = primitive(&(left - right), true);
        if let Some(value) = difference.to_rat() {
            return Bool::constant(value.is_zero());
        }
        if difference.is_integer() && constant_is_no_multiple(&difference) {
            return Bool::False;
        }
        block_boundary(&difference).unwrap_or(Bool::Zero(difference))
    }

    /// `divisor | dividend`; the divisor is not zero.
    pub fn divides(divisor: &Expr, dividend: &Expr) -> Bool {
        let quotient = dividend.over(divisor);
        if quotient.is_integer() {
            return Bool::True;
        }
        if let (Some(_), true) = (quotient.to_rat(), dividend.is_integer() && divisor.is_integer()) {
            return Bool::False;
        }
        // Whole multiples do not matter.
        let rest = quotient.terms().iter().filter(|term| {
            let single = Expr::product(term.factors.clone(), term.coefficient);
            !single.is_integer()
        });
        let rest = Expr::from_terms(rest.map(|term| (term.factors.clone(), term.coefficient)));
        Bool::Divides(divisor.clone(), primitive_sign(&(&rest * divisor)))
    }

    /// `e >= 0`.
    pub fn nonneg(e: &Expr) -> Bool {
        if let Some(value) = e.to_rat() {
            return Bool::constant(value >= Rat::ZERO);
        }
        let e = primitive(e, false);
        // The atom of the pair `e >= 0`, `e < 0` is the one whose first coefficient is positive.
        if leads_positive(&e) {
            return Bool::AtLeastZero(e);
        }
        if e.is_integer() {
            return Bool::Not(Box::new(Bool::AtLeastZero(-&e - Expr::one())));
        }
        Bool::Not(Box::new(Bool::AboveZero(-&e)))
    }

    #[must_use]
    #[allow(clippy::should_implement_trait)] // consumes and simplifies; `!` would hide that
    pub fn not(self) -> Bool {
        match self {
            Bool::True => Bool::False,
            Bool::False => Bool::True,
            Bool::Not(inner) => *inner,
            Bool::And(all) => Bool::any(all.into_iter().map(Bool::not)),
            Bool::Or(all) => Bool::all(all.into_iter().map(Bool::not)),
            atom => Bool::Not(Box::new(atom)),
        }
    }

    pub fn all(conditions: impl IntoIterator<Item = Bool>) -> Bool {
        let mut list = Vec::new();
        for condition in conditions {
            match condition {
                Bool::True => {}
                Bool::False => return Bool::False,
                Bool::And(more) => list.extend(more),
                other => list.push(other),
            }
        }
        combine(list, Bool::True, Bool::And)
    }

    pub fn any(conditions: impl IntoIterator<Item = Bool>) -> Bool {
        let mut list = Vec::new();
        for condition in conditions {
            match condition {
                Bool::False => {}
                Bool::True => return Bool::True,
                Bool::Or(more) => list.extend(more),
                other => list.push(other),
            }
        }
        combine(list, Bool::False, Bool::Or)
    }

    /// One if it holds, else zero.
    pub fn iverson(&self) -> Expr {
        match self {
            Bool::True => Expr::one(),
            Bool::False => Expr::zero(),
            Bool::Not(inner) => Expr::one() - inner.iverson(),
            Bool::And(all) => all.iter().fold(Expr::one(), |product, condition| product * condition.iverson()),
            Bool::Or(all) => {
                let none =
                    all.iter().fold(Expr::one(), |product, condition| product * condition.clone().not().iverson());
                Expr::one() - none
            }
            atom => Atom::Iverson(atom.clone()).into(),
        }
    }

    pub(crate) fn children(&self) -> Vec<&Expr> {
        match self {
            Bool::True | Bool::False => Vec::new(),
            Bool::AtLeastZero(e) | Bool::AboveZero(e) | Bool::Zero(e) => vec![e],
            Bool::Divides(a, b) => vec![a, b],
            Bool::Not(inner) => inner.children(),
            Bool::And(all) | Bool::Or(all) => all.iter().flat_map(Bool::children).collect(),
        }
    }

    /// The same condition of changed expressions.
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Bool {
        match self {
            Bool::True | Bool::False => self.clone(),
            Bool::AtLeastZero(e) => Bool::nonneg(&f(e)),
            Bool::AboveZero(e) => Bool::lt(&Expr::zero(), &f(e)),
            Bool::Zero(e) => Bool::eq(&f(e), &Expr::zero()),
            Bool::Divides(a, b) => {
                let divisor = f(a);
                if divisor.is_zero() { Bool::False } else { Bool::divides(&divisor, &f(b)) }
            }
            Bool::Not(inner) => inner.map(f).not(),
            Bool::And(all) => Bool::all(all.iter().map(|condition| condition.map(f)).collect::<Vec<_>>()),
            Bool::Or(all) => Bool::any(all.iter().map(|condition| condition.map(f)).collect::<Vec<_>>()),
        }
    }
}

fn combine(mut list: Vec<Bool>, empty: Bool, make: fn(Vec<Bool>) -> Bool) -> Bool {
    list.sort();
    list.dedup();
    let opposite = list.iter().any(|condition| list.binary_search(&condition.clone().not()).is_ok());
    match list.len() {
        _ if opposite => empty.not(),
        0 => empty,
        1 => list.remove(0),
        _ => make(list),
    }
}

fn leads_positive(e: &Expr) -> bool {
    let lead = e.terms().iter().find(|term| !term.factors.is_empty()).or(e.terms().first());
    lead.is_some_and(|term| term.coefficient.signum() > 0)
}

/// Divides by the common positive factor of all coefficients; integers also round their constant down, which keeps `>= 0`.
fn primitive(e: &Expr, exact: bool) -> Expr {
    let of_factors = e.terms().iter().filter(|term| exact || !term.factors.is_empty());
    let content = of_factors.map(|term| term.coefficient).fold(Rat::ZERO, Rat::gcd);
    if content.is_zero() || content.is_undefined() {
        return e.clone();
    }
    let scaled = e.scale(Rat::ONE / content);
    if exact {
        return primitive_sign(&scaled);
    }
    let rest = &scaled - Expr::number(scaled.constant());
    if rest.is_integer() { rest + Expr::number(scaled.constant().floor()) } else { scaled }
}

fn primitive_sign(e: &Expr) -> Expr {
    if leads_positive(e) { e.clone() } else { -e }
}

/// Whether an integer equation has no solution, because its coefficients share a divisor that its constant lacks.
fn constant_is_no_multiple(e: &Expr) -> bool {
    let others = e.terms().iter().filter(|term| !term.factors.is_empty());
    let divisor = others.map(|term| term.coefficient).fold(Rat::ZERO, Rat::gcd);
    !divisor.is_zero() && !(e.constant() / divisor).is_integer()
}

/// `x div B = (x+1) div B` holds except where `B | x+1`: neighbours lie in one block unless a block begins between them.
fn block_boundary(difference: &Expr) -> Option<Bool> {
    let constant = difference.constant();
    let [first, second] = &difference.terms().iter().filter(|term| !term.factors.is_empty()).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let (a, b) = (first.coefficient, second.coefficient);
    let single = |factors: &[(Atom, i32)]| match factors {
        [(Atom::FloorDiv(num, den), 1)] => Some((num.clone(), den.clone())),
        _ => None,
    };
    let ((num, den), (other, other_den)) = (single(&first.factors)?, single(&second.factors)?);
    if a + b != Rat::ZERO || den != other_den || !num.is_integer() || !(constant / a).is_integer() {
        return None;
    }
    // What was taken out of the floor goes in again.
    let num = num + den.scale(constant / a);
    let later = match (&num - &other).to_int()? {
        1 => num,
        -1 => other,
        _ => return None,
    };
    Some(Bool::divides(&den, &later).not())
}
