//! When is one expression less than another: the smallest test that decides it, solved for a variable where that is possible.
//!
//! Maxima are taken apart (`max(a, b) > c` is `a > c or b > c`), positive factors dropped, linear inequalities solved; where the sign of the
//! coefficient is open, the cases are told apart. Source: theory, comparison and cross-over.

use std::fmt;

use crate::boolean::Bool;
use crate::context::Context;
use crate::expr::{Atom, Expr, Symbol};
use crate::factor::factors;
use crate::print::{Quotient, tight};
use crate::rat::Rat;

/// Larger tests, in atoms, are not looked through for parts that others decide: nobody reads them, and it takes long.
const PRUNED: usize = 400;

/// A condition on parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    Always,
    Never,
    /// The variable against a bound, which is the fraction, rounded for integers; they have weak relations only.
    Bound {
        variable: Symbol,
        relation: Relation,
        bound: Expr,
        fraction: (Expr, Expr),
        strict: bool,
        same: Bool,
    },
    /// An inequality that is not solved.
    Raw(Bool),
    All(Vec<Test>),
    Any(Vec<Test>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    AtLeast,
    Above,
    AtMost,
    Below,
}

impl Relation {
    pub fn sign(self) -> &'static str {
        match self {
            Relation::AtLeast => ">=",
            Relation::Above => ">",
            Relation::AtMost => "<=",
            Relation::Below => "<",
        }
    }
}

/// What a comparison is asked with.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    pub context: &'a Context,
    /// Products that are folded before solving, so that bounds are of the parameters and not of quotients.
    pub quotients: &'a [Quotient],
    /// Whether equal does not count.
    pub strict: bool,
    /// What to solve for; else the first in which it is linear.
    pub variable: Option<&'a Symbol>,
}

impl Comparison<'_> {
    /// When is `left < right` (or `<=`)? Without parts that the assumptions decide.
    pub fn less(&self, left: &Expr, right: &Expr) -> Test {
        let test = self.above(&self.context.simplify(&(right - left)), self.context, 6);
        self.pruned(test, self.context)
    }

    /// All of them, without parts that the assumptions or the other parts decide.
    pub fn all(&self, tests: Vec<Test>) -> Test {
        self.pruned(Test::all(tests), self.context)
    }

    fn pruned(&self, test: Test, context: &Context) -> Test {
        if test.size() > PRUNED {
            return test;
        }
        let each = |list: Vec<Test>, any: bool| {
            let mut left = list;
            let mut position = 0;
            while position < left.len() {
                // Each where the others hold, or, of alternatives, where none of the others does.
                let others = left.iter().enumerate().filter(|(other, _)| *other != position);
                let inside = others.fold(context.clone(), |inside, (_, test)| {
                    let condition = self.unfolded(&test.condition());
                    inside.with(&if any { condition.not() } else { condition })
                });
                let own = self.pruned(left[position].clone(), &inside);
                if own == (if any { Test::Never } else { Test::Always }) {
                    left.remove(position);
                } else {
                    left[position] = own;
                    position += 1;
                }
            }
            left
        };
        match test {
            Test::All(list) => Test::all(each(list, false)),
            Test::Any(list) => Test::any(each(list, true)),
            Test::Always | Test::Never => test,
            Test::Bound { .. } | Test::Raw(_) => match context.decide(&self.unfolded(&test.condition())) {
                Some(true) => Test::Always,
                Some(false) => Test::Never,
                None => test,
            },
        }
    }

    /// In the symbols that the context knows: a dividend is its divisor times the quotient.
    fn unfold(&self, e: &Expr) -> Expr {
        let mut result = e.clone();
        for quotient in self.quotients {
            if let Some(dividend) = quotient.dividend.to_symbol() {
                result = result.substitute(dividend, &(&quotient.divisor * Expr::from(&quotient.symbol)));
            }
        }
        result
    }

    fn unfolded(&self, condition: &Bool) -> Bool {
        condition.map(&mut |e| self.context.simplify(&self.unfold(e)))
    }

    fn wanted(&self, e: &Expr) -> Bool {
        if self.strict { Bool::lt(&Expr::zero(), e) } else { Bool::nonneg(e) }
    }

    /// When is `e > 0` (or `>= 0`)?
    fn above(&self, e: &Expr, context: &Context, depth: u32) -> Test {
        let wanted = self.wanted(e);
        match context.decide(&wanted) {
            Some(true) => return Test::Always,
            Some(false) => return Test::Never,
            None if depth == 0 => return Test::Raw(self.folded(&wanted)),
            None => {}
        }
        let maxima = e.atoms(|atom| matches!(atom, Atom::Max(_) | Atom::Min(_)));
        if let Some(atom @ (Atom::Max(args) | Atom::Min(args))) = maxima.first()
            && let Some(test) = self.apart(e, atom, args, context, depth)
        {
            return test;
        }
        if let Some(test) = self.without_factors(e, context, depth) {
            return test;
        }
        self.solve(e, context).unwrap_or_else(|| Test::Raw(self.folded(&wanted)))
    }

    fn folded(&self, condition: &Bool) -> Bool {
        condition.map(&mut |e| e.fold(self.quotients))
    }

    /// `a*max(f, g) + b`: one of both is enough if `a >= 0`, both are needed if `a <= 0`.
    fn apart(&self, e: &Expr, atom: &Atom, args: &[Expr], context: &Context, depth: u32) -> Option<Test> {
        let powers = e.by_powers(atom)?;
        let (a, b) = (powers.get(&1)?, powers.get(&0).cloned().unwrap_or_default());
        if powers.keys().any(|power| !(0..=1).contains(power)) {
            return None;
        }
        let one_is_enough = if context.nonneg(a) {
            matches!(atom, Atom::Max(_))
        } else if context.nonneg(&-a) {
            matches!(atom, Atom::Min(_))
        } else {
            return None;
        };
        let each = args.iter().map(|arg| self.above(&context.simplify(&(a * arg + &b)), context, depth - 1));
        let each: Vec<Test> = each.collect();
        Some(if one_is_enough { Test::any(each) } else { Test::all(each) })
    }

    /// Positive factors do not matter; of those that may be zero it is asked.
    fn without_factors(&self, e: &Expr, context: &Context, depth: u32) -> Option<Test> {
        let parts = factors(e);
        let mut rest = Expr::number(parts.number);
        let mut zeros = Vec::new();
        for (atom, exponent) in parts.product {
            let atom: Expr = atom.into();
            if exponent < 0 && context.nonneg(&atom) || context.positive(&atom) {
                continue;
            }
            if context.nonneg(&atom) && exponent > 0 {
                zeros.push(atom);
            } else {
                rest = rest * atom.pow(exponent.into());
            }
        }
        for sum in parts.sums {
            if context.positive(&sum) {
                continue;
            }
            if context.positive(&-&sum) {
                rest = -rest;
            } else {
                rest = rest * sum;
            }
        }
        if rest == *e || !parts.number.is_one() && rest == e.scale(Rat::ONE) {
            return None;
        }
        let test = self.above(&context.simplify(&rest), context, depth - 1);
        Some(if self.strict {
            let positive = zeros.into_iter().map(|atom| Test::Raw(Bool::lt(&Expr::zero(), &atom)));
            Test::all(positive.chain([test]).collect())
        } else {
            let zero = zeros.into_iter().map(|atom| Test::Raw(Bool::eq(&atom, &Expr::zero())));
            Test::any(zero.chain([test]).collect())
        })
    }

    /// Solves for a variable in which it is linear: for the one asked for if it can be, else for another.
    fn solve(&self, e: &Expr, context: &Context) -> Option<Test> {
        let folded = e.fold(self.quotients);
        let mut symbols = Vec::new();
        let quotients = self.quotients.iter().map(|quotient| quotient.dividend.over(&quotient.divisor));
        for e in quotients.chain([folded.clone()]) {
            e.symbols(&mut |symbol| {
                let own = self.quotients.iter().any(|quotient| quotient.symbol == *symbol);
                if !own && !symbols.contains(symbol) {
                    symbols.push(symbol.clone());
                }
            });
        }
        let sign = |a: &Expr| {
            let a = context.simplify(&self.unfold(a));
            if context.positive(&a) || a.to_rat().is_some_and(|a| a.signum() > 0) {
                1
            } else if context.positive(&-&a) || a.to_rat().is_some_and(|a| a.signum() < 0) {
                -1
            } else {
                0
            }
        };
        let linear = |symbol: &Symbol| {
            let (e, a, b) = self.linear(&folded, symbol, context)?;
            Some((symbol.clone(), sign(&a), a, b, e))
        };
        let asked = self.variable.and_then(linear);
        // A known sign is better than none, an integer better than a time.
        let mut found: Vec<_> = symbols.iter().filter_map(linear).collect();
        found.sort_by_key(|(symbol, sign, ..)| (*sign == 0, !symbol.integer, symbol.name.clone()));
        let (variable, sign, a, b, solved) = asked.or_else(|| found.into_iter().next())?;
        if sign != 0 {
            return Some(self.bound(&variable, sign, &a, &b, &solved));
        }
        let zero = Expr::zero();
        let cases = [(Bool::lt(&zero, &a), 1), (Bool::lt(&a, &zero), -1), (Bool::eq(&a, &zero), 0)];
        let mut tests = Vec::new();
        for (case, sign) in cases {
            let known = self.unfolded(&case);
            if context.decide(&known) == Some(false) {
                continue;
            }
            let inside = context.with(&known);
            let known = inside.decide(&self.wanted(e)).or_else(|| match sign {
                0 => context.decide(&self.unfolded(&self.wanted(&b))),
                _ => None,
            });
            let test = match (known, sign) {
                (Some(true), _) => Test::Raw(case),
                (Some(false), _) => continue,
                (None, 0) => Test::all(vec![Test::Raw(case), Test::Raw(self.wanted(&b))]),
                (None, sign) => Test::all(vec![Test::Raw(case), self.bound(&variable, sign, &a, &b, &solved)]),
            };
            tests.push(test);
        }
        Some(Test::any(tests))
    }

    /// The same as `a*symbol + b`, with what `a` and `b` are, which do not hold the symbol: quotients of it are written as such, and a
    /// symbol that is divided by, if it is positive, is multiplied with.
    fn linear(&self, folded: &Expr, symbol: &Symbol, context: &Context) -> Option<(Expr, Expr, Expr)> {
        let mut e = folded.clone();
        for quotient in self.quotients.iter().rev() {
            if quotient.dividend.mentions(symbol) || quotient.divisor.mentions(symbol) {
                e = e.substitute(&quotient.symbol, &quotient.dividend.over(&quotient.divisor));
            }
        }
        let powers = e.by_powers(&Atom::Symbol(symbol.clone()))?;
        let lowest = powers.keys().next().copied().unwrap_or(0).min(0);
        if lowest < 0 {
            if !context.positive(&self.unfold(&Expr::from(symbol))) {
                return None;
            }
            e = e * Expr::from(symbol).pow((-lowest).into());
        }
        let (a, b) = e.affine(symbol)?;
        (!a.is_zero()).then_some((e, a, b))
    }

    /// `a*x + b > 0` with a known sign of `a`.
    fn bound(&self, variable: &Symbol, sign: i32, a: &Expr, b: &Expr, e: &Expr) -> Test {
        let bound = (-b).over(a);
        let same = self.wanted(e);
        let (relation, bound) = match (sign > 0, variable.integer, self.strict) {
            (true, true, true) => (Relation::AtLeast, bound.floor() + Expr::one()),
            (true, true, false) => (Relation::AtLeast, bound.ceil()),
            (true, false, strict) => (if strict { Relation::Above } else { Relation::AtLeast }, bound),
            (false, true, true) => (Relation::AtMost, bound.ceil() - Expr::one()),
            (false, true, false) => (Relation::AtMost, bound.floor()),
            (false, false, strict) => (if strict { Relation::Below } else { Relation::AtMost }, bound),
        };
        let fraction = if sign > 0 { (-b, a.clone()) } else { (b.clone(), -a) };
        Test::Bound { variable: variable.clone(), relation, bound, fraction, strict: self.strict, same }
    }
}

impl Test {
    pub fn all(tests: Vec<Test>) -> Test {
        let mut list = Vec::new();
        for test in tests {
            match test {
                Test::Always => {}
                Test::Never => return Test::Never,
                Test::All(more) => list.extend(more),
                other => list.push(other),
            }
        }
        let list = &mut distinct(list);
        match list.len() {
            0 => Test::Always,
            1 => list.remove(0),
            _ => Test::All(std::mem::take(list)),
        }
    }

    pub fn any(tests: Vec<Test>) -> Test {
        let mut list = Vec::new();
        for test in tests {
            match test {
                Test::Never => {}
                Test::Always => return Test::Always,
                Test::Any(more) => list.extend(more),
                other => list.push(other),
            }
        }
        let list = &mut distinct(list);
        match list.len() {
            0 => Test::Never,
            1 => list.remove(0),
            _ => Test::Any(std::mem::take(list)),
        }
    }

    /// Atoms in all of its parts.
    fn size(&self) -> usize {
        match self {
            Test::Always | Test::Never => 0,
            Test::Bound { same, .. } => same.children().into_iter().map(Expr::size).sum(),
            Test::Raw(condition) => condition.children().into_iter().map(Expr::size).sum(),
            Test::All(list) | Test::Any(list) => list.iter().map(Test::size).sum(),
        }
    }

    /// Whether it says of a variable where it lies, or does not hold it: nowhere is it on the other side, or in what is not solved.
    pub fn is_solved_for(&self, variable: &Symbol) -> bool {
        match self {
            Test::Always | Test::Never => true,
            Test::Bound { bound, .. } => !bound.mentions(variable),
            Test::Raw(condition) => {
                let alone = |e: &Expr| {
                    !e.mentions(variable)
                        || e.affine(variable).is_some_and(|(a, b)| a.to_rat().is_some() && b.to_rat().is_some())
                };
                condition.children().into_iter().all(alone)
            }
            Test::All(list) | Test::Any(list) => list.iter().all(|test| test.is_solved_for(variable)),
        }
    }

    /// The same as a condition; bounds as the inequality they come from, which needs no division.
    pub fn condition(&self) -> Bool {
        match self {
            Test::Always => Bool::True,
            Test::Never => Bool::False,
            Test::Bound { variable, relation, bound, same, .. } => match (bound.to_rat(), relation) {
                (Some(_), Relation::AtLeast) => Bool::le(bound, &variable.into()),
                (Some(_), Relation::AtMost) => Bool::le(&variable.into(), bound),
                (Some(_), Relation::Above) => Bool::lt(bound, &variable.into()),
                (Some(_), Relation::Below) => Bool::lt(&variable.into(), bound),
                (None, _) => same.clone(),
            },
            Test::Raw(condition) => condition.clone(),
            Test::All(all) => Bool::all(all.iter().map(Test::condition).collect::<Vec<_>>()),
            Test::Any(all) => Bool::any(all.iter().map(Test::condition).collect::<Vec<_>>()),
        }
    }
}

/// Each once, in the order of first occurrence.
fn distinct(tests: Vec<Test>) -> Vec<Test> {
    let mut list = Vec::new();
    for test in tests {
        if !list.contains(&test) {
            list.push(test);
        }
    }
    list
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, all: &[Test], word: &str| {
            for (index, test) in all.iter().enumerate() {
                let separator = if index == 0 { "" } else { word };
                let nested = matches!((test, word), (Test::Any(_), " and ") | (Test::All(_), " or "));
                if nested { write!(f, "{separator}({test})")? } else { write!(f, "{separator}{test}")? }
            }
            Ok(())
        };
        match self {
            Test::Always => f.write_str("always"),
            Test::Never => f.write_str("never"),
            Test::Bound { variable, relation, bound, fraction: (num, den), strict, .. } => {
                write!(f, "{} {} ", variable.name, relation.sign())?;
                if den.terms().len() < 2 {
                    return bound.fmt(f);
                }
                let fraction = format!("{}/{}", tight(num, 2), tight(den, 3));
                match (relation, strict) {
                    _ if !variable.integer => f.write_str(&fraction),
                    (Relation::AtLeast, true) => write!(f, "floor({fraction}) + 1"),
                    (Relation::AtLeast, false) => write!(f, "ceil({fraction})"),
                    (Relation::AtMost, true) => write!(f, "ceil({fraction}) - 1"),
                    _ => write!(f, "floor({fraction})"),
                }
            }
            Test::Raw(condition) => condition.fmt(f),
            Test::All(all) => list(f, all, " and "),
            Test::Any(all) => list(f, all, " or "),
        }
    }
}
