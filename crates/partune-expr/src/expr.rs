//! Expressions in canonical form: polynomials with rational coefficients over atoms.
//!
//! A term is a coefficient and a product of atoms with integer exponents, negative ones included (`N/P` is `N*P^-1`). Equal
//! polynomials are equal values, whatever order they were built in. Anything that is no polynomial is an [`Atom`] that holds
//! expressions itself. Values are immutable and shared; cloning is cheap.
//!
//! Source: theory, the symbolic engine; the representation is that of most computer algebra systems.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::Arc;

use crate::boolean::Bool;
use crate::rat::Rat;

/// More terms than this are no closed form; the result is undefined rather than slow.
const MAX_TERMS: usize = 4096;
/// More atoms than this at all depths, counted as often as they stand there, are undefined likewise: what names share is written out again at each use.
const MAX_SIZE: usize = 1 << 14;
/// Products that are multiplied out; larger powers of sums stay undefined.
const MAX_POWER: i64 = 64;

/// A name that stands for a value: a parameter or a loop variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    pub name: Arc<str>,
    pub integer: bool,
}

impl Symbol {
    pub fn int(name: &str) -> Symbol {
        Symbol { name: name.into(), integer: true }
    }

    pub fn real(name: &str) -> Symbol {
        Symbol { name: name.into(), integer: false }
    }
}

/// A sum, maximum or minimum over an integer variable that found no closed form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Over {
    pub variable: Symbol,
    pub lo: Expr,
    pub hi: Expr,
    pub body: Expr,
}

/// What is not a polynomial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Symbol(Symbol),
    /// The largest integer not above the quotient; the divisor is positive.
    FloorDiv(Expr, Expr),
    /// At least two arguments, sorted, different.
    Max(Arc<[Expr]>),
    Min(Arc<[Expr]>),
    /// One if it holds, else zero. Never `And`, `Or` or `Not`: those are products and differences.
    Iverson(Bool),
    /// Zero if the range is empty.
    Sum(Arc<Over>),
    MaxOver(Arc<Over>),
    MinOver(Arc<Over>),
    /// A value of a table, by its name.
    Table(Arc<str>, Arc<[Expr]>),
    Log2(Expr),
    /// A constant base and an exponent that is one product with coefficient one.
    Power(Rat, Expr),
    /// A sum that is divided by; occurs with exponent -1 or less.
    Group(Expr),
}

/// Atoms with exponents other than zero, sorted; in the making, and as part of an expression.
pub type Monomial = Vec<(Atom, i32)>;
pub type Powers = Arc<[(Atom, i32)]>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    pub factors: Powers,
    pub coefficient: Rat,
}

/// A sum of terms, sorted by their factors, without zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr(Arc<[Term]>);

impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Expr {
    fn default() -> Self {
        Expr::zero()
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::number(value.into())
    }
}

impl From<Rat> for Expr {
    fn from(value: Rat) -> Expr {
        Expr::number(value)
    }
}

impl From<Atom> for Expr {
    fn from(atom: Atom) -> Expr {
        if atom.fit(MAX_SIZE).is_none() {
            return Expr::undefined();
        }
        Expr::product(vec![(atom, 1)], Rat::ONE)
    }
}

impl From<&Symbol> for Expr {
    fn from(symbol: &Symbol) -> Expr {
        Atom::Symbol(symbol.clone()).into()
    }
}

impl Expr {
    pub fn zero() -> Expr {
        Expr(Arc::default())
    }

    pub fn one() -> Expr {
        Expr::number(Rat::ONE)
    }

    pub fn number(value: Rat) -> Expr {
        if value.is_zero() { Expr::zero() } else { Expr::product(Powers::default(), value) }
    }

    /// What an overflow, a division by zero or too large a polynomial gives; every operation keeps it.
    pub fn undefined() -> Expr {
        Expr::number(Rat::UNDEFINED)
    }

    pub fn symbol(symbol: &Symbol) -> Expr {
        symbol.into()
    }

    pub(crate) fn product(factors: impl Into<Powers>, coefficient: Rat) -> Expr {
        Expr(Arc::new([Term { factors: factors.into(), coefficient }]))
    }

    pub(crate) fn from_terms(terms: impl IntoIterator<Item = (Powers, Rat)>) -> Expr {
        let mut sum = BTreeMap::new();
        for (factors, coefficient) in terms {
            let entry = sum.entry(factors).or_insert(Rat::ZERO);
            *entry = *entry + coefficient;
            if entry.is_undefined() {
                return Expr::undefined();
            }
        }
        sum.retain(|_, coefficient| !coefficient.is_zero());
        if sum.len() > MAX_TERMS {
            return Expr::undefined();
        }
        Expr(sum.into_iter().map(|(factors, coefficient)| Term { factors, coefficient }).collect())
    }

    pub fn terms(&self) -> &[Term] {
        &self.0
    }

    pub fn is_undefined(&self) -> bool {
        self.0.iter().any(|term| term.coefficient.is_undefined())
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_one(&self) -> bool {
        self.to_rat() == Some(Rat::ONE)
    }

    /// The value of a constant.
    pub fn to_rat(&self) -> Option<Rat> {
        match &*self.0 {
            [] => Some(Rat::ZERO),
            [term] if term.factors.is_empty() && !term.coefficient.is_undefined() => Some(term.coefficient),
            _ => None,
        }
    }

    pub fn to_int(&self) -> Option<i128> {
        self.to_rat().and_then(Rat::to_int)
    }

    /// The symbol, if it is nothing else.
    pub fn to_symbol(&self) -> Option<&Symbol> {
        match &*self.0 {
            [Term { factors, coefficient }] if coefficient.is_one() => match &factors[..] {
                [(Atom::Symbol(symbol), 1)] => Some(symbol),
                _ => None,
            },
            _ => None,
        }
    }

    /// The constant part.
    pub fn constant(&self) -> Rat {
        self.0.iter().find(|term| term.factors.is_empty()).map_or(Rat::ZERO, |term| term.coefficient)
    }

    #[must_use]
    pub fn scale(&self, factor: Rat) -> Expr {
        if factor.is_zero() {
            return Expr::zero();
        }
        let terms = self.0.iter().map(|term| Term { coefficient: term.coefficient * factor, ..term.clone() });
        let scaled = Expr(terms.collect());
        if scaled.is_undefined() { Expr::undefined() } else { scaled }
    }

    /// An integer power; a negative one of a sum keeps the sum as an atom.
    #[must_use]
    pub fn pow(&self, exponent: i64) -> Expr {
        match (exponent, self.terms()) {
            (0, _) => Expr::one(),
            (1, _) => self.clone(),
            (_, []) => {
                if exponent > 0 {
                    Expr::zero()
                } else {
                    Expr::undefined()
                }
            }
            (_, [term]) => {
                let Ok(power) = i32::try_from(exponent) else { return Expr::undefined() };
                let coefficient = term.coefficient.pow(exponent);
                let raise = |(atom, old): &(Atom, i32)| {
                    let keep = matches!(atom, Atom::Iverson(_)) && power > 0;
                    Some((atom.clone(), if keep { *old } else { old.checked_mul(power)? }))
                };
                match term.factors.iter().map(raise).collect::<Option<Monomial>>() {
                    Some(factors) if !coefficient.is_undefined() => Expr::product(factors, coefficient),
                    _ => Expr::undefined(),
                }
            }
            (2..=MAX_POWER, _) => {
                let half = self.pow(exponent / 2);
                let square = &half * &half;
                if exponent % 2 == 0 { square } else { &square * self }
            }
            (_, _) if exponent < 0 => self.group().pow(exponent),
            _ => Expr::undefined(),
        }
    }

    /// The sum as one atom, with its first coefficient taken out, so that equal divisors are equal.
    fn group(&self) -> Expr {
        let lead = self.terms().first().map_or(Rat::ONE, |term| term.coefficient);
        Expr::product(vec![(Atom::Group(self.scale(Rat::ONE / lead)), 1)], lead)
    }

    /// The exact quotient; undefined for a divisor that is the constant zero.
    #[must_use]
    pub fn over(&self, divisor: &Expr) -> Expr {
        if let Some(quotient) = self.exact_quotient(divisor) {
            return quotient;
        }
        self * &divisor.pow(-1)
    }

    /// `self / divisor` if `divisor` is a sum of which `self` is a multiple by a number, or by a product.
    fn exact_quotient(&self, divisor: &Expr) -> Option<Expr> {
        let ([first, ..], [by, _, ..]) = (self.terms(), divisor.terms()) else { return None };
        if self.terms().len() != divisor.terms().len() {
            return None;
        }
        let quotient = &Expr::product(first.factors.clone(), first.coefficient)
            * &Expr::product(by.factors.clone(), by.coefficient).pow(-1);
        (&(&quotient * divisor) == self).then_some(quotient)
    }

    /// Every symbol in it, bound ones excluded.
    pub fn mentions(&self, symbol: &Symbol) -> bool {
        self.terms().iter().any(|term| term.factors.iter().any(|(atom, _)| atom.mentions(symbol)))
    }

    /// Visits every free symbol.
    pub fn symbols(&self, visit: &mut dyn FnMut(&Symbol)) {
        for (atom, _) in self.terms().iter().flat_map(|term| term.factors.iter()) {
            atom.symbols(visit);
        }
    }

    /// Whether its value is an integer wherever it is defined.
    pub fn is_integer(&self) -> bool {
        self.terms().iter().all(|term| {
            term.coefficient.is_integer()
                && term.factors.iter().all(|(atom, exponent)| *exponent > 0 && atom.is_integer())
        })
    }

    /// The polynomial in one atom: coefficients by exponent. None if the atom hides inside another atom.
    pub fn by_powers(&self, of: &Atom) -> Option<BTreeMap<i32, Expr>> {
        let mut powers: BTreeMap<i32, Vec<(Powers, Rat)>> = BTreeMap::new();
        for term in self.terms() {
            let mut exponent = 0;
            let mut rest = Vec::new();
            for (atom, power) in term.factors.iter() {
                if atom == of {
                    exponent = *power;
                } else if atom.contains(of) {
                    return None;
                } else {
                    rest.push((atom.clone(), *power));
                }
            }
            powers.entry(exponent).or_default().push((rest.into(), term.coefficient));
        }
        Some(powers.into_iter().map(|(exponent, terms)| (exponent, Expr::from_terms(terms))).collect())
    }

    /// `(a, b)` with `self = a*symbol + b`, if it is affine in the symbol.
    pub fn affine(&self, symbol: &Symbol) -> Option<(Expr, Expr)> {
        let mut powers = self.by_powers(&Atom::Symbol(symbol.clone()))?;
        let (a, b) = (powers.remove(&1).unwrap_or_default(), powers.remove(&0).unwrap_or_default());
        powers.is_empty().then_some((a, b))
    }

    /// All atoms of its terms that satisfy a condition, not looking inside atoms; in order, once each.
    pub fn atoms(&self, wanted: impl Fn(&Atom) -> bool) -> Vec<Atom> {
        let all = self.terms().iter().flat_map(|term| term.factors.iter()).map(|(atom, _)| atom);
        let mut atoms: Vec<Atom> = all.filter(|atom| wanted(atom)).cloned().collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// What it leaves of the room for atoms; none if it is larger.
    fn fit(&self, room: usize) -> Option<usize> {
        self.terms().iter().flat_map(|term| term.factors.iter()).try_fold(room, |room, (atom, _)| atom.fit(room))
    }

    /// A measure of its size: atoms at every depth.
    pub fn size(&self) -> usize {
        let of_term = |term: &Term| 1 + term.factors.iter().map(|(atom, _)| atom.size()).sum::<usize>();
        self.terms().iter().map(of_term).sum()
    }
}

impl Atom {
    /// The expressions inside.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match self {
            Atom::Symbol(_) => Vec::new(),
            Atom::FloorDiv(a, b) => vec![a, b],
            Atom::Max(args) | Atom::Min(args) | Atom::Table(_, args) => args.iter().collect(),
            Atom::Iverson(condition) => condition.children(),
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => vec![&over.lo, &over.hi, &over.body],
            Atom::Log2(e) | Atom::Power(_, e) | Atom::Group(e) => vec![e],
        }
    }

    fn bound(&self) -> Option<&Symbol> {
        match self {
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => Some(&over.variable),
            _ => None,
        }
    }

    /// Whether a symbol occurs in it, other than bound.
    pub fn mentions(&self, symbol: &Symbol) -> bool {
        match self {
            Atom::Symbol(own) => own == symbol,
            _ => self.bound() != Some(symbol) && self.children().iter().any(|child| child.mentions(symbol)),
        }
    }

    pub(crate) fn contains(&self, atom: &Atom) -> bool {
        if let Atom::Symbol(symbol) = atom {
            return self.mentions(symbol);
        }
        let inside = |child: &Expr| {
            child.terms().iter().any(|term| term.factors.iter().any(|(own, _)| own == atom || own.contains(atom)))
        };
        self.children().into_iter().any(inside)
    }

    fn symbols(&self, visit: &mut dyn FnMut(&Symbol)) {
        if let Atom::Symbol(symbol) = self {
            visit(symbol);
        }
        let bound = self.bound();
        for child in self.children() {
            child.symbols(&mut |symbol| {
                if bound != Some(symbol) {
                    visit(symbol);
                }
            });
        }
    }

    /// Whether its value is an integer wherever it is defined.
    pub fn is_integer(&self) -> bool {
        match self {
            Atom::Symbol(symbol) => symbol.integer,
            Atom::FloorDiv(..) | Atom::Iverson(_) => true,
            Atom::Max(args) | Atom::Min(args) => args.iter().all(Expr::is_integer),
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => over.body.is_integer(),
            // An exponent that may be negative makes a fraction; models use powers of two of counts.
            Atom::Power(base, e) => base.is_integer() && e.is_integer(),
            Atom::Table(..) | Atom::Log2(_) | Atom::Group(_) => false,
        }
    }

    fn fit(&self, room: usize) -> Option<usize> {
        let room = room.checked_sub(1)?;
        match self {
            Atom::Symbol(_) => Some(room),
            _ => self.children().into_iter().try_fold(room, |room, child| child.fit(room)),
        }
    }

    fn size(&self) -> usize {
        1 + self.children().iter().map(|child| child.size()).sum::<usize>()
    }
}

/// Merges two sorted products.
fn multiply(left: &Powers, right: &Powers) -> Option<Powers> {
    if left.is_empty() || right.is_empty() {
        return Some(if left.is_empty() { right } else { left }.clone());
    }
    let mut product = Vec::with_capacity(left.len() + right.len());
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                let both_conditions = matches!(x.0, Atom::Iverson(_)) && x.1 > 0 && y.1 > 0;
                let exponent = if both_conditions { 1 } else { x.1.checked_add(y.1)? };
                if exponent != 0 {
                    product.push((x.0.clone(), exponent));
                }
                a.next();
                b.next();
            }
            (Some(x), Some(y)) if x.0 < y.0 => product.extend(a.next().cloned()),
            (_, Some(_)) => product.extend(b.next().cloned()),
            (Some(_), None) => product.extend(a.next().cloned()),
            (None, None) => return Some(product.into()),
        }
    }
}

impl Add for &Expr {
    type Output = Expr;
    fn add(self, other: &Expr) -> Expr {
        if self.is_zero() || other.is_undefined() {
            return other.clone();
        }
        if other.is_zero() || self.is_undefined() {
            return self.clone();
        }
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.factors.cmp(&y.factors) {
                Ordering::Less => sum.extend(a.next().cloned()),
                Ordering::Greater => sum.extend(b.next().cloned()),
                Ordering::Equal => {
                    let coefficient = x.coefficient + y.coefficient;
                    if coefficient.is_undefined() {
                        return Expr::undefined();
                    }
                    if !coefficient.is_zero() {
                        sum.push(Term { factors: x.factors.clone(), coefficient });
                    }
                    a.next();
                    b.next();
                }
            }
        }
        sum.extend(a.chain(b).cloned());
        if sum.len() > MAX_TERMS { Expr::undefined() } else { Expr(sum.into()) }
    }
}

impl Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        self.scale(-Rat::ONE)
    }
}

impl Sub for &Expr {
    type Output = Expr;
    fn sub(self, other: &Expr) -> Expr {
        self + &-other
    }
}

impl Mul for &Expr {
    type Output = Expr;
    fn mul(self, other: &Expr) -> Expr {
        if self.is_undefined() || other.is_undefined() || self.0.len() * other.0.len() > 4 * MAX_TERMS {
            return Expr::undefined();
        }
        if let Some(factor) = other.to_rat() {
            return self.scale(factor);
        }
        if let Some(factor) = self.to_rat() {
            return other.scale(factor);
        }
        if let Some(product) = cancelled(self, other).or_else(|| cancelled(other, self)) {
            return product;
        }
        let mut terms = Vec::with_capacity(self.0.len() * other.0.len());
        for (x, y) in self.0.iter().flat_map(|x| other.0.iter().map(move |y| (x, y))) {
            let Some(factors) = multiply(&x.factors, &y.factors) else { return Expr::undefined() };
            terms.push((factors, x.coefficient * y.coefficient));
        }
        let product = Expr::from_terms(terms);
        if product.terms().iter().any(|term| term.factors.iter().any(|(atom, power)| is_group(atom) && *power > 0)) {
            return product.ungroup();
        }
        product
    }
}

/// `n/(a+b) * (c*a+c*b) = c*n`: a product that is divided by a sum, times a multiple of the sum.
fn cancelled(product: &Expr, sum: &Expr) -> Option<Expr> {
    let ([term], [_, _, ..]) = (product.terms(), sum.terms()) else { return None };
    let mut groups = term.factors.iter().filter(|(atom, power)| is_group(atom) && *power < 0);
    groups.find_map(|(atom, _)| {
        let Atom::Group(group) = atom else { return None };
        let quotient = sum.exact_quotient(group)?;
        let group: Expr = atom.clone().into();
        Some(&(product * &group) * &quotient)
    })
}

fn is_group(atom: &Atom) -> bool {
    matches!(atom, Atom::Group(_))
}

impl Expr {
    /// Multiplies out sums that are no longer divided by.
    pub(crate) fn ungroup(&self) -> Expr {
        let mut result = Expr::zero();
        for term in self.terms() {
            let (groups, rest): (Monomial, Monomial) =
                term.factors.iter().cloned().partition(|(atom, power)| is_group(atom) && *power > 0);
            let mut product = Expr::product(rest, term.coefficient);
            for (atom, power) in groups {
                if let Atom::Group(sum) = atom {
                    product = &product * &sum.pow(power.into());
                }
            }
            result = &result + &product;
        }
        result
    }
}

macro_rules! owned {
    ($($trait:ident $method:ident),*) => { $(
        impl $trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                (&self).$method(&other)
            }
        }
        impl $trait<&Expr> for Expr {
            type Output = Expr;
            fn $method(self, other: &Expr) -> Expr {
                (&self).$method(other)
            }
        }
        impl $trait<Expr> for &Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                self.$method(&other)
            }
        }
    )* };
}

owned!(Add add, Sub sub, Mul mul);

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        -&self
    }
}
