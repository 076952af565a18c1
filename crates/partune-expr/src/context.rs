//! What is assumed, and what follows: signs and order.
//!
//! Answers are `true` (proven) or `false` (not proven, which is not the opposite); proofs are in `proof`. Assumptions form scopes: a scope
//! is shared by all who narrow the same scope by the same assumption, and so are the answers found in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::boolean::Bool;
use crate::expr::{Atom, Expr, Symbol};
use crate::points::Points;
use crate::proof::prove;
use crate::rat::Rat;

/// Questions that one question may ask inside each other.
const NESTING: u32 = 6;
/// Atoms looked at, over all questions and simplifications, after which nothing more is looked for: what takes longer has no closed
/// form worth waiting for.
const EFFORT: u64 = 400_000;
/// Scopes that are kept to be found again; those beyond are made anew each time.
const SCOPES: u32 = 2_000;

/// Assumptions about symbols. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Context(Rc<Scope>);

#[derive(Clone, Debug, Default)]
struct Scope {
    lower: BTreeMap<Symbol, Vec<Expr>>,
    upper: BTreeMap<Symbol, Vec<Expr>>,
    /// Expressions that are at least zero, and are no bound of a symbol.
    facts: Vec<Expr>,
    /// Conditions that hold, and that do not.
    known: BTreeMap<Bool, bool>,
    points: Points,
    answers: Own<BTreeMap<Expr, bool>>,
    simplified: Own<BTreeMap<Expr, Expr>>,
    inner: Own<BTreeMap<Narrowing, Context>>,
    /// Shared by all scopes that come from one.
    work: Rc<Work>,
}

/// What makes a scope of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Narrowing {
    Holds(Bool),
    Range(Symbol, Expr, Expr),
}

/// What has been found out in a scope: a copy of it begins with nothing, because it is made to assume more.
#[derive(Debug, Default)]
struct Own<T>(RefCell<T>);

impl<T: Default> Clone for Own<T> {
    fn clone(&self) -> Own<T> {
        Own::default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Questions under way inside each other.
    nesting: Cell<u32>,
    /// Steps of all proofs.
    pub(crate) steps: Cell<u32>,
    scopes: Cell<u32>,
    effort: Cell<u64>,
}

impl Context {
    /// The scope, to be changed: what was found out in it is forgotten.
    fn change(&mut self) -> &mut Scope {
        let scope = Rc::make_mut(&mut self.0);
        scope.answers = Own::default();
        scope.simplified = Own::default();
        scope.inner = Own::default();
        scope
    }

    /// Whether so much was asked that there are no more answers, of this context and of all that came from it.
    pub fn exhausted(&self) -> bool {
        self.0.work.effort.get() >= EFFORT
    }

    /// Counts an effort; false if there was too much of it.
    pub(crate) fn afford(&self, e: &Expr) -> bool {
        let effort = &self.0.work.effort;
        effort.set(effort.get().saturating_add(1 + e.size() as u64));
        !self.exhausted()
    }

    /// The scope that assumes more, which may have been made before.
    fn narrowed(&self, by: Narrowing, change: impl FnOnce(&mut Context)) -> Context {
        if let Some(known) = self.0.inner.0.borrow().get(&by) {
            return known.clone();
        }
        let mut narrowed = Context(Rc::new((*self.0).clone()));
        change(&mut narrowed);
        let scopes = &self.0.work.scopes;
        if scopes.get() < SCOPES {
            scopes.set(scopes.get() + 1);
            self.0.inner.0.borrow_mut().insert(by, narrowed.clone());
        }
        narrowed
    }

    /// Adds an assumption.
    pub fn assume(&mut self, condition: &Bool) {
        match condition {
            // A positive multiple is at least the divisor; as a bound of the divisor it would lead proofs astray.
            Bool::Divides(divisor, e) if self.positive(e) => self.change().facts.push(e - divisor),
            Bool::True | Bool::False | Bool::Or(_) | Bool::Divides(..) => {}
            Bool::And(all) => all.iter().for_each(|one| self.assume(one)),
            Bool::AtLeastZero(e) | Bool::AboveZero(e) => self.at_least_zero(e),
            Bool::Zero(e) => {
                self.at_least_zero(e);
                self.at_least_zero(&-e);
            }
            Bool::Not(inner) => match &**inner {
                Bool::AtLeastZero(e) if e.is_integer() => self.at_least_zero(&(-e - Expr::one())),
                Bool::AtLeastZero(e) | Bool::AboveZero(e) => self.at_least_zero(&-e),
                // Not zero and at least zero is at least one.
                Bool::Zero(e) if e.is_integer() && self.nonneg(e) => self.at_least_zero(&(e - Expr::one())),
                Bool::Zero(e) if e.is_integer() && self.nonneg(&-e) => self.at_least_zero(&(-e - Expr::one())),
                _ => {}
            },
        }
        let scope = self.change();
        let (atom, truth) = match condition {
            Bool::Not(inner) => (&**inner, false),
            atom => (atom, true),
        };
        scope.known.insert(atom.clone(), truth);
        scope.points.keep(atom, truth);
        scope.points.refill(&scope.known);
    }

    /// Looks for admissible points over these symbols; they make answers faster, not different.
    pub fn find_points(&mut self, symbols: &[Symbol]) {
        let scope = self.change();
        scope.points = Points::find(symbols, &scope.known);
    }

    /// The context with one more assumption.
    #[must_use]
    pub fn with(&self, condition: &Bool) -> Context {
        self.narrowed(Narrowing::Holds(condition.clone()), |context| context.assume(condition))
    }

    /// The context inside a loop: the variable lies between two bounds.
    #[must_use]
    pub fn with_range(&self, variable: &Symbol, lo: &Expr, hi: &Expr) -> Context {
        self.narrowed(Narrowing::Range(variable.clone(), lo.clone(), hi.clone()), |context| {
            let scope = context.change();
            scope.lower.insert(variable.clone(), vec![lo.clone()]);
            scope.upper.insert(variable.clone(), vec![hi.clone()]);
            context.at_least_zero(&(hi - lo));
            let scope = context.change();
            scope.points = scope.points.within(variable, lo, hi);
        })
    }

    /// Expressions that a symbol is not below; the most special first.
    pub(crate) fn lower(&self, symbol: &Symbol) -> &[Expr] {
        self.0.lower.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// Expressions that a symbol is not above; the most special first.
    pub(crate) fn upper(&self, symbol: &Symbol) -> &[Expr] {
        self.0.upper.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// Whether a condition is assumed to hold, or not to hold.
    pub(crate) fn known(&self, condition: &Bool) -> Option<bool> {
        match condition {
            Bool::True => Some(true),
            Bool::False => Some(false),
            Bool::Not(inner) => self.known(inner).map(|truth| !truth),
            atom => self.0.known.get(atom).copied(),
        }
    }

    /// What an expression has been simplified to in this scope; else `make` says it, and it is kept.
    pub(crate) fn remembered(&self, e: &Expr, make: impl FnOnce() -> Expr) -> Expr {
        if let Some(known) = self.0.simplified.0.borrow().get(e) {
            return known.clone();
        }
        let simplified = make();
        // Inside a question less is proven, for lack of depth.
        if self.0.work.nesting.get() == 0 {
            self.0.simplified.0.borrow_mut().insert(e.clone(), simplified.clone());
        }
        simplified
    }

    pub(crate) fn facts(&self) -> &[Expr] {
        &self.0.facts
    }

    pub(crate) fn work(&self) -> &Work {
        &self.0.work
    }

    fn at_least_zero(&mut self, e: &Expr) {
        let e = self.without_positive_factor(e);
        let mut bounds = false;
        for atom in e.atoms(|atom| matches!(atom, Atom::Symbol(_))) {
            let Atom::Symbol(symbol) = &atom else { continue };
            let Some((a, b)) = e.affine(symbol) else { continue };
            let Some(a) = a.to_rat().filter(|_| !b.terms().iter().any(|term| term.factors.iter().any(|f| f.1 < 0)))
            else {
                continue;
            };
            let bound = b.scale(-Rat::ONE / a);
            let bound = match bound.to_rat() {
                Some(value) if symbol.integer && a.signum() > 0 => Expr::number(value.ceil()),
                Some(value) if symbol.integer => Expr::number(value.floor()),
                _ => bound,
            };
            let scope = self.change();
            let list = if a.signum() > 0 { &mut scope.lower } else { &mut scope.upper };
            let list = list.entry(symbol.clone()).or_default();
            if !list.contains(&bound) {
                // The most special first: a bound by symbols tells more than a number, a later number more than an earlier one.
                let at = if bound.to_rat().is_some() {
                    list.iter().position(|old| old.to_rat().is_some()).unwrap_or(list.len())
                } else {
                    0
                };
                list.insert(at, bound);
            }
            bounds = true;
        }
        if !bounds || e.terms().len() > 2 {
            self.change().facts.push(e);
        }
    }

    /// `P*(B-2) >= 0` says `B-2 >= 0` if `P` is positive.
    fn without_positive_factor(&self, e: &Expr) -> Expr {
        let Some(first) = e.terms().first() else { return e.clone() };
        let mut common = first.factors.to_vec();
        for term in e.terms() {
            common.retain_mut(|(atom, exponent)| {
                let other = term.factors.iter().find(|(own, _)| own == atom).map_or(0, |found| found.1);
                *exponent = (*exponent).min(other);
                *exponent > 0
            });
        }
        common.retain(|(atom, _)| self.positive(&atom.clone().into()));
        if common.is_empty() { e.clone() } else { e * Expr::product(common, Rat::ONE).pow(-1) }
    }

    pub fn positive(&self, e: &Expr) -> bool {
        if e.is_integer() {
            return self.nonneg(&(e - Expr::one()));
        }
        match e.terms() {
            [term] => {
                term.coefficient.signum() > 0
                    && term.factors.iter().all(|(atom, _)| match atom {
                        Atom::Power(..) => true,
                        Atom::Symbol(symbol) if symbol.integer => self.positive(&atom.clone().into()),
                        Atom::Group(sum) => self.positive(sum),
                        _ => self.0.known.get(&Bool::AboveZero(atom.clone().into())) == Some(&true),
                    })
            }
            _ => {
                e.terms().len() > 1
                    && self.nonneg(e)
                    && e.terms().iter().any(|term| {
                        let single = Expr::product(term.factors.clone(), term.coefficient);
                        self.positive(&single) && self.nonneg(&(e - single))
                    })
            }
        }
    }

    /// Whether `left <= right` is proven.
    pub fn le(&self, left: &Expr, right: &Expr) -> bool {
        self.nonneg(&(right - left))
    }

    /// Whether `e >= 0` is proven.
    pub fn nonneg(&self, e: &Expr) -> bool {
        if let Some(value) = e.to_rat() {
            return value >= Rat::ZERO;
        }
        if let Some(known) = self.0.answers.0.borrow().get(e) {
            return *known;
        }
        if !self.afford(e) {
            return false;
        }
        let nesting = &self.0.work.nesting;
        let refuted = self.0.points.refute(e);
        let mut proven = false;
        if !refuted {
            if nesting.get() >= NESTING {
                return false;
            }
            nesting.set(nesting.get() + 1);
            proven = prove(self, e);
            nesting.set(nesting.get() - 1);
        }
        // Inside another question a no may be for lack of depth.
        if proven || refuted || nesting.get() == 0 {
            self.0.answers.0.borrow_mut().insert(e.clone(), proven);
        }
        proven
    }

    /// Whether an expression is a multiple of something and a number that is smaller, as `P*f - 1` with `P >= 2`: it is never zero.
    fn lies_between_multiples(&self, e: &Expr) -> bool {
        let constant = e.constant();
        let rest = e - Expr::number(constant);
        let Some(term) = rest.terms().first().filter(|_| !constant.is_zero() && e.is_integer()) else { return false };
        term.factors.iter().any(|(atom, _)| {
            let divisor = Expr::from(atom.clone());
            rest.over(&divisor).is_integer() && self.positive(&(divisor - Expr::number(constant.abs())))
        })
    }

    /// Whether a condition is proven, disproven, or open.
    pub fn decide(&self, condition: &Bool) -> Option<bool> {
        if let Some(&known) = self.0.known.get(condition) {
            return Some(known);
        }
        match condition {
            Bool::True => Some(true),
            Bool::False => Some(false),
            Bool::AtLeastZero(e) => {
                if self.nonneg(e) {
                    Some(true)
                } else {
                    let negative = if e.is_integer() { self.nonneg(&(-e - Expr::one())) } else { self.positive(&-e) };
                    negative.then_some(false)
                }
            }
            Bool::AboveZero(e) => {
                if self.positive(e) {
                    Some(true)
                } else {
                    self.nonneg(&-e).then_some(false)
                }
            }
            Bool::Zero(e) => (self.positive(e) || self.positive(&-e) || self.lies_between_multiples(e))
                .then_some(false)
                .or_else(|| (self.nonneg(e) && self.nonneg(&-e)).then_some(true)),
            Bool::Divides(divisor, e) => {
                let small = self.positive(e) && self.positive(&(divisor - e));
                let negative = self.positive(&-e) && self.positive(&(divisor + e));
                (small || negative).then_some(false)
            }
            Bool::Not(inner) => self.decide(inner).map(|value| !value),
            Bool::And(all) => {
                let answers: Vec<_> = all.iter().map(|one| self.decide(one)).collect();
                if answers.contains(&Some(false)) {
                    return Some(false);
                }
                answers.iter().all(|answer| *answer == Some(true)).then_some(true)
            }
            Bool::Or(all) => {
                let answers: Vec<_> = all.iter().map(|one| self.decide(one)).collect();
                if answers.contains(&Some(true)) {
                    return Some(true);
                }
                answers.iter().all(|answer| *answer == Some(false)).then_some(false)
            }
        }
    }
}
