//! Common factors: of printing, and of maxima whose arguments differ by a product of known sign.

use crate::context::Context;
use crate::expr::{Atom, Expr, Monomial, Term};
use crate::rat::Rat;

/// Factors of a sum: a number, a product of atoms, and sums that are not products themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    pub number: Rat,
    pub product: Monomial,
    pub sums: Vec<Expr>,
}

/// Takes a sum apart as far as cheap means go: the common number, common atoms, and, for every atom, a factor that all its coefficients
/// share.
pub fn factors(e: &Expr) -> Factors {
    let mut number = e.terms().iter().map(|term| term.coefficient).fold(Rat::ZERO, Rat::gcd);
    if number.is_zero() || number.is_undefined() {
        number = Rat::ONE;
    }
    let mut product = e.terms().first().map(|term| term.factors.to_vec()).unwrap_or_default();
    for term in e.terms() {
        for (atom, exponent) in term.factors.iter() {
            if *exponent < 0 && !product.iter().any(|(own, _)| own == atom) {
                product.push((atom.clone(), 0));
            }
        }
    }
    for term in e.terms() {
        for (atom, exponent) in &mut product {
            let other = term.factors.iter().find(|(own, _)| own == atom).map_or(0, |found| found.1);
            *exponent = (*exponent).min(other);
        }
    }
    product.retain(|(_, exponent)| *exponent != 0);
    product.sort();
    let content = Expr::product(product.clone(), number);
    let mut rest = e * &content.pow(-1);
    let mut sums = Vec::new();
    while let Some((factor, quotient)) = split(&rest) {
        sums.push(factor);
        rest = quotient;
    }
    match rest.to_rat() {
        Some(value) => number = number * value,
        None => sums.push(rest),
    }
    // The highest power of a sum is positive.
    for sum in &mut sums {
        let degree = |term: &Term| term.factors.iter().map(|(_, power)| power.abs()).sum::<i32>();
        let lead = sum.terms().iter().rev().max_by_key(|term| degree(term));
        if lead.is_some_and(|term| term.coefficient.signum() < 0) {
            *sum = -&*sum;
            number = -number;
        }
    }
    // `i*(n - i)` rather than `-i*(i - n)`.
    let mixed = |sum: &&mut Expr| sum.terms().iter().any(|term| term.coefficient.signum() < 0);
    if let (true, Some(sum)) = (number.signum() < 0, sums.iter_mut().rev().find(mixed)) {
        *sum = -&*sum;
        number = -number;
    }
    Factors { number, product, sums }
}

/// `e = factor * quotient` where `factor` is a sum without a certain atom and `quotient` has it.
fn split(e: &Expr) -> Option<(Expr, Expr)> {
    if e.terms().len() < 4 {
        return None;
    }
    for atom in e.atoms(|_| true) {
        let Some(powers) = e.by_powers(&atom) else { continue };
        if powers.len() < 2 {
            continue;
        }
        // The shortest coefficient must divide all others by a number or a product.
        let Some(factor) = powers.values().min_by_key(|coefficient| coefficient.terms().len()) else { continue };
        if factor.terms().len() < 2 {
            continue;
        }
        let factor = normal(factor);
        let mut quotient = Expr::zero();
        let divides = powers.iter().all(|(exponent, coefficient)| {
            let Some(part) = divide(coefficient, &factor) else { return false };
            quotient = &quotient + Expr::from(atom.clone()).pow((*exponent).into()) * part;
            true
        });
        if divides {
            return Some((factor, quotient));
        }
    }
    None
}

fn normal(factor: &Expr) -> Expr {
    let content = factors(factor);
    let sums = content.sums.iter().fold(Expr::one(), |product, sum| product * sum);
    if sums.is_one() { factor.clone() } else { sums }
}

/// `e / factor`, if it is a number or a product.
fn divide(e: &Expr, factor: &Expr) -> Option<Expr> {
    let quotient = e.over(factor);
    quotient.atoms(|atom| matches!(atom, Atom::Group(_))).is_empty().then_some(quotient)
}

/// `e = factor * rest` with a factor that is not a number and is proven to be at least zero.
pub(crate) fn positive_factor(e: &Expr, context: &Context) -> Option<(Expr, Expr)> {
    let parts = factors(e);
    let (good, other): (Monomial, Monomial) =
        parts.product.into_iter().partition(|(atom, _)| context.nonneg(&atom.clone().into()));
    let mut factor = Expr::product(good, Rat::ONE);
    let mut rest = Expr::product(other, parts.number);
    for sum in parts.sums {
        if context.nonneg(&sum) {
            factor = factor * sum;
        } else if context.nonneg(&-&sum) {
            factor = factor * -&sum;
            rest = -rest;
        } else {
            rest = rest * sum;
        }
    }
    (factor.to_rat().is_none()).then_some((factor, rest))
}
