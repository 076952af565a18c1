//! Constructors of what is no polynomial, and rebuilding of expressions from changed parts.
//!
//! Each constructor simplifies what needs no assumptions: constants, whole multiples, common summands. Simplification under
//! assumptions is in `context`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::boolean::Bool;
use crate::expr::{Atom, Expr, Monomial, Over, Symbol};
use crate::rat::Rat;

impl Expr {
    /// The largest integer not above `self / divisor`; the divisor must be positive.
    #[must_use]
    pub fn floor_div(&self, divisor: &Expr) -> Expr {
        if divisor.is_zero() || self.is_undefined() || divisor.is_undefined() {
            return Expr::undefined();
        }
        let quotient = self.over(divisor);
        if let Some(value) = quotient.to_rat() {
            return Expr::number(value.floor());
        }
        // Terms that divide without rest leave the floor.
        let whole = quotient.terms().iter().filter_map(|term| {
            let product = Expr::product(term.factors.clone(), Rat::ONE);
            let coefficient = if term.factors.is_empty() { term.coefficient.floor() } else { term.coefficient };
            (product.is_integer() && coefficient.is_integer() && !coefficient.is_zero())
                .then(|| (term.factors.clone(), coefficient))
        });
        let whole = Expr::from_terms(whole.collect::<Vec<_>>());
        let rest = &quotient - &whole;
        if rest.is_zero() {
            return whole;
        }
        if let Some(floor) = crate::logarithm::floor(&rest) {
            return whole + Expr::number(floor);
        }
        let (num, den) = fraction(&rest);
        whole + floor_atom(num, den)
    }

    /// The remainder of `floor_div`.
    #[must_use]
    pub fn modulo(&self, divisor: &Expr) -> Expr {
        self - divisor * self.floor_div(divisor)
    }

    #[must_use]
    pub fn floor(&self) -> Expr {
        self.floor_div(&Expr::one())
    }

    #[must_use]
    pub fn ceil(&self) -> Expr {
        -(-self).floor()
    }

    pub fn max<'a>(args: impl IntoIterator<Item = &'a Expr>) -> Expr {
        extreme(args.into_iter().cloned().collect(), true)
    }

    pub fn min<'a>(args: impl IntoIterator<Item = &'a Expr>) -> Expr {
        extreme(args.into_iter().cloned().collect(), false)
    }

    /// `max(self, -self)`.
    #[must_use]
    pub fn abs(&self) -> Expr {
        Expr::max([self, &-self])
    }

    #[must_use]
    pub fn log2(&self) -> Expr {
        if let Some(value) = self.to_rat() {
            if value.signum() <= 0 {
                return Expr::undefined();
            }
            let (num, den) = (value.num() as u128, value.den() as u128);
            if num.is_power_of_two() && den.is_power_of_two() {
                return Expr::from(i64::from(num.trailing_zeros()) - i64::from(den.trailing_zeros()));
            }
        }
        // The logarithm of a product of powers is a sum.
        if let [term] = self.terms()
            && !term.factors.is_empty()
        {
            let of_number = Expr::number(term.coefficient);
            let of_power = |(atom, power): &(Atom, i32)| match atom {
                Atom::Power(base, exponent) => {
                    Some(exponent.scale(Rat::int((*power).into())) * Expr::number(*base).log2())
                }
                _ => None,
            };
            let powers =
                term.factors.iter().map(of_power).collect::<Option<Vec<_>>>().filter(|powers| !powers.is_empty());
            if let (Some(powers), true) = (powers, of_number.log2().to_rat().is_some()) {
                return powers.into_iter().fold(of_number.log2(), |sum, power| sum + power);
            }
        }
        Atom::Log2(self.clone()).into()
    }

    /// `self` to the power of an expression: products for integers, an atom for a constant base.
    #[must_use]
    pub fn power(&self, exponent: &Expr) -> Expr {
        if let Some(exponent) = exponent.to_int() {
            return i64::try_from(exponent).map_or_else(|_| Expr::undefined(), |exponent| self.pow(exponent));
        }
        let Some(base) = self.to_rat().filter(|base| base.signum() > 0) else { return Expr::undefined() };
        let mut result = Expr::one();
        for term in exponent.terms() {
            let raised = if term.factors.is_empty() {
                match term.coefficient.to_int().and_then(|power| i64::try_from(power).ok()) {
                    Some(power) => Expr::number(base.pow(power)),
                    None => return Expr::undefined(),
                }
            } else {
                let unit = Expr::product(term.factors.clone(), Rat::ONE);
                let log = match &term.factors[..] {
                    [(Atom::Log2(of), 1)] if base == Rat::int(2) => Some(of.clone()),
                    _ => None,
                };
                let raised = log.unwrap_or_else(|| Atom::Power(base, unit).into());
                match term.coefficient.to_int().and_then(|power| i64::try_from(power).ok()) {
                    Some(power) => raised.pow(power),
                    None => return Expr::undefined(),
                }
            };
            result = result * raised;
        }
        result
    }

    pub fn table(name: &Arc<str>, index: Vec<Expr>) -> Expr {
        Atom::Table(name.clone(), index.into()).into()
    }

    /// The value where a symbol has another.
    #[must_use]
    pub fn substitute(&self, symbol: &Symbol, value: &Expr) -> Expr {
        if !self.mentions(symbol) {
            return self.clone();
        }
        self.rebuild(&mut |atom| match atom {
            Atom::Symbol(own) => Some(if own == symbol { value.clone() } else { atom.clone().into() }),
            // A bound variable of the same name hides it.
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) if over.variable == *symbol => {
                let range = |e: &Expr| e.substitute(symbol, value);
                Some(over_atom(atom, range(&over.lo), range(&over.hi), over.body.clone()))
            }
            _ => None,
        })
    }

    /// The same for many symbols at once.
    #[must_use]
    pub fn substitute_all(&self, values: &BTreeMap<Symbol, Expr>) -> Expr {
        let mut result = self.clone();
        let mut found = false;
        self.symbols(&mut |symbol| found |= values.contains_key(symbol));
        if found {
            result = result.rebuild(&mut |atom| match atom {
                Atom::Symbol(own) => Some(values.get(own).cloned().unwrap_or_else(|| atom.clone().into())),
                _ => None,
            });
        }
        result
    }

    /// Rebuilds bottom-up: `f` gives another value for an atom, or none to rebuild it from its parts.
    #[must_use]
    pub fn rebuild(&self, f: &mut dyn FnMut(&Atom) -> Option<Expr>) -> Expr {
        let mut sum = Expr::zero();
        for term in self.terms() {
            let mut product = Expr::number(term.coefficient);
            for (atom, exponent) in term.factors.iter() {
                let value = f(atom).unwrap_or_else(|| rebuild_atom(atom, f));
                product = product * value.pow((*exponent).into());
            }
            sum = sum + product;
        }
        sum
    }
}

fn rebuild_atom(atom: &Atom, f: &mut dyn FnMut(&Atom) -> Option<Expr>) -> Expr {
    match atom {
        Atom::Symbol(_) => atom.clone().into(),
        Atom::FloorDiv(a, b) => a.rebuild(f).floor_div(&b.rebuild(f)),
        Atom::Max(args) => extreme(args.iter().map(|arg| arg.rebuild(f)).collect(), true),
        Atom::Min(args) => extreme(args.iter().map(|arg| arg.rebuild(f)).collect(), false),
        Atom::Iverson(condition) => condition.map(&mut |e| e.rebuild(f)).iverson(),
        Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => {
            over_atom(atom, over.lo.rebuild(f), over.hi.rebuild(f), over.body.rebuild(f))
        }
        Atom::Table(name, args) => Expr::table(name, args.iter().map(|arg| arg.rebuild(f)).collect()),
        Atom::Log2(e) => e.rebuild(f).log2(),
        Atom::Power(base, e) => Expr::number(*base).power(&e.rebuild(f)),
        Atom::Group(e) => e.rebuild(f),
    }
}

fn over_atom(kind: &Atom, lo: Expr, hi: Expr, body: Expr) -> Expr {
    let (Atom::Sum(old) | Atom::MaxOver(old) | Atom::MinOver(old)) = kind else { return kind.clone().into() };
    let over = Arc::new(Over { variable: old.variable.clone(), lo, hi, body });
    match kind {
        Atom::Sum(_) => Atom::Sum(over).into(),
        Atom::MaxOver(_) => Atom::MaxOver(over).into(),
        _ => Atom::MinOver(over).into(),
    }
}

/// Numerator and denominator: the least product of positive powers that makes all terms free of division.
pub(crate) fn fraction(e: &Expr) -> (Expr, Expr) {
    let mut powers: BTreeMap<&Atom, i32> = BTreeMap::new();
    let mut number: i128 = 1;
    for term in e.terms() {
        for (atom, exponent) in term.factors.iter().filter(|(_, exponent)| *exponent < 0) {
            let entry = powers.entry(atom).or_default();
            *entry = (*entry).max(-exponent);
        }
        let den = term.coefficient.den().max(1);
        let shared = Rat::int(number).gcd(Rat::int(den)).to_int().unwrap_or(1);
        number = (number / shared.max(1)).saturating_mul(den);
    }
    let factors: Monomial = powers.into_iter().map(|(atom, power)| (atom.clone(), power)).collect();
    let den = Expr::product(factors, Rat::int(number));
    (e * &den, den.ungroup())
}

/// A floor of which nothing can be taken out: `(a div b) div c = a div (b*c)`.
fn floor_atom(num: Expr, den: Expr) -> Expr {
    if let [term] = num.terms()
        && let ([(Atom::FloorDiv(a, b), 1)], true, true) =
            (&term.factors[..], term.coefficient.is_one(), den.is_integer())
    {
        return Atom::FloorDiv(a.clone(), b * &den).into();
    }
    Atom::FloorDiv(num, den).into()
}

/// Flattens, drops duplicates, compares constants, takes common summands and a common positive factor out.
fn extreme(args: Vec<Expr>, largest: bool) -> Expr {
    let mut list: Vec<Expr> = Vec::new();
    for arg in args {
        if arg.is_undefined() {
            return arg;
        }
        match arg.terms() {
            [term] if term.coefficient.is_one() => match (&term.factors[..], largest) {
                ([(Atom::Max(inner), 1)], true) | ([(Atom::Min(inner), 1)], false) => {
                    list.extend(inner.iter().cloned());
                }
                _ => list.push(arg),
            },
            _ => list.push(arg),
        }
    }
    list.sort();
    list.dedup();
    // Among those that differ by a constant the best stays.
    let mut best: Vec<Expr> = Vec::new();
    for arg in list {
        match best.iter_mut().find_map(|old| (&arg - &*old).to_rat().map(|difference| (old, difference))) {
            Some((old, difference)) => {
                if (difference.signum() > 0) == largest {
                    *old = arg;
                }
            }
            None => best.push(arg),
        }
    }
    match best.len() {
        0 => return Expr::undefined(),
        1 => return best.remove(0),
        _ => {}
    }
    best.sort();
    let (first, others) = best.split_at(1);
    let shared = first[0].terms().iter().filter(|term| others.iter().all(|other| other.terms().contains(term)));
    let common = Expr::from_terms(shared.map(|term| (term.factors.clone(), term.coefficient)));
    if !common.is_zero() {
        let rest = best.iter().map(|arg| arg - &common).collect();
        return common + extreme(rest, largest);
    }
    if best.len() == 2 && best.iter().all(|arg| !arg.is_zero()) || best.len() > 2 {
        let content =
            best.iter().flat_map(super::expr::Expr::terms).map(|term| term.coefficient).fold(Rat::ZERO, Rat::gcd);
        if !content.is_one() && !content.is_zero() && !content.is_undefined() {
            let rest = best.iter().map(|arg| arg.scale(Rat::ONE / content)).collect();
            return extreme(rest, largest).scale(content);
        }
    }
    if let ([a, b], true) = (&best[..], true)
        && let Some(normal) = balanced(a, b, largest)
    {
        return normal;
    }
    let args: Arc<[Expr]> = best.into();
    if largest { Atom::Max(args).into() } else { Atom::Min(args).into() }
}

/// `max(a - c, d) = max(a, c + d) - c`: of two arguments none keeps a negative term, so that equal maxima look equal.
fn balanced(a: &Expr, b: &Expr, largest: bool) -> Option<Expr> {
    let negative = |e: &Expr| {
        let terms = e.terms().iter().filter(|term| term.coefficient.signum() < 0 && !term.factors.is_empty());
        Expr::from_terms(terms.map(|term| (term.factors.clone(), term.coefficient)))
    };
    let shift = negative(a) + negative(b);
    (!shift.is_zero()).then(|| &shift + extreme(vec![a - &shift, b - &shift], largest))
}

/// An atom for a sum or extreme over a range, with the bound variable renamed after its depth by the caller.
pub(crate) fn over(kind: fn(Arc<Over>) -> Atom, variable: &Symbol, lo: &Expr, hi: &Expr, body: &Expr) -> Expr {
    kind(Arc::new(Over { variable: variable.clone(), lo: lo.clone(), hi: hi.clone(), body: body.clone() })).into()
}

/// The condition that a range is not empty.
pub fn nonempty(lo: &Expr, hi: &Expr) -> Bool {
    Bool::le(lo, hi)
}
