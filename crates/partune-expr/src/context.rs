//! What is assumed, and what follows: signs, order, and simplification under assumptions.
//!
//! Answers are `true` (proven) or `false` (not proven, which is not the opposite). The method: conditions, maxima and floors are
//! replaced by what bounds them; a variable between two bounds, in which the expression is affine, by its ends; any other by its lower
//! bound plus a rest that is not negative. What is left is not negative if no coefficient is. Complete for nothing, enough for loop
//! nests, and never wrong.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::boolean::Bool;
use crate::eval::Number;
use crate::expr::{Atom, Expr, Symbol};
use crate::rat::Rat;

/// Replacements that one proof may nest.
const DEPTH: u32 = 16;
/// Steps after which nothing more is proven: what takes longer has no closed form worth waiting for.
const ALL_STEPS: u32 = 60_000;
/// Questions that one question may ask inside each other.
const NESTING: u32 = 6;
/// Steps that one question may take.
const BUDGET: u32 = 80;
/// Points that refute before a proof is tried, and how many are tried to find them.
const POINTS: usize = 8;
const TRIES: u64 = 2_000;

/// Assumptions about symbols. Cloning costs a few allocations; a scope is a clone.
#[derive(Clone, Debug, Default)]
pub struct Context {
    lower: BTreeMap<Symbol, Vec<Expr>>,
    upper: BTreeMap<Symbol, Vec<Expr>>,
    /// Expressions that are at least zero, and are no bound of a symbol.
    facts: Vec<Expr>,
    /// Conditions that hold, and that do not.
    known: BTreeMap<Bool, bool>,
    /// Admissible points: what fails at one cannot be proven.
    points: Rc<Vec<Point>>,
    /// Answers so far; of this context only.
    answers: Answers,
    /// Questions under way inside each other, over all clones.
    nesting: Rc<Cell<u32>>,
    /// Steps of all proofs, over all clones.
    steps: Rc<Cell<u32>>,
}

/// A clone begins with no answers, because it is made to assume more.
#[derive(Debug, Default)]
struct Answers(RefCell<BTreeMap<Expr, bool>>);

impl Clone for Answers {
    fn clone(&self) -> Answers {
        Answers::default()
    }
}

type Point = BTreeMap<Symbol, Rat>;

/// The value at a point, if all symbols have one there.
fn at(point: &Point, e: &Expr) -> Option<Rat> {
    let value = |symbol: &Symbol| point.get(symbol).copied().map(Number::Exact);
    match e.eval(&value) {
        Ok(Number::Exact(value)) => Some(value),
        _ => None,
    }
}

fn holds(point: &Point, condition: &Bool) -> bool {
    let value = |symbol: &Symbol| point.get(symbol).copied().map(Number::Exact);
    condition.eval(&value) != Ok(false)
}

impl Context {
    /// Adds an assumption.
    pub fn assume(&mut self, condition: &Bool) {
        self.answers = Answers::default();
        match condition {
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
        match condition {
            Bool::Not(inner) => self.known.insert((**inner).clone(), false),
            atom => self.known.insert(atom.clone(), true),
        };
        if self.points.iter().any(|point| !holds(point, condition)) {
            Rc::make_mut(&mut self.points).retain(|point| holds(point, condition));
        }
    }

    /// Looks for admissible points over these symbols; they make answers faster, not different.
    pub fn find_points(&mut self, symbols: &[Symbol]) {
        const VALUES: [i64; 12] = [2, 3, 1, 4, 7, 5, 0, 8, 16, 11, 6, 40];
        let mut points: Vec<Point> = Vec::new();
        let mut state: u64 = 1;
        for _ in 0..TRIES {
            if points.len() == POINTS {
                break;
            }
            let mut value = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                Rat::from(VALUES[(state >> 33) as usize % VALUES.len()])
            };
            let point: Point = symbols.iter().map(|symbol| (symbol.clone(), value())).collect();
            if self.known.iter().all(|(condition, truth)| {
                if *truth { holds(&point, condition) } else { holds(&point, &condition.clone().not()) }
            }) {
                points.push(point);
            }
        }
        self.points = Rc::new(points);
    }

    /// The context with one more assumption.
    #[must_use]
    pub fn with(&self, condition: &Bool) -> Context {
        let mut context = self.clone();
        context.assume(condition);
        context
    }

    /// The context inside a loop: the variable lies between two bounds.
    #[must_use]
    pub fn with_range(&self, variable: &Symbol, lo: &Expr, hi: &Expr) -> Context {
        let mut context = self.clone();
        context.answers = Answers::default();
        context.lower.insert(variable.clone(), vec![lo.clone()]);
        context.upper.insert(variable.clone(), vec![hi.clone()]);
        context.at_least_zero(&(hi - lo));
        let inside = self.points.iter().enumerate().filter_map(|(position, point)| {
            let (lo, hi) = (at(point, lo)?, at(point, hi)?);
            let middle = ((lo + hi) / Rat::int(2)).floor();
            let value = [lo, hi, middle][position % 3];
            (lo <= hi).then(|| {
                let mut point = point.clone();
                point.insert(variable.clone(), value);
                point
            })
        });
        context.points = Rc::new(inside.collect());
        context
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
            let list = if a.signum() > 0 { &mut self.lower } else { &mut self.upper };
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
            self.facts.push(e);
        }
    }

    /// `P*(B-2) >= 0` says `B-2 >= 0` if `P` is positive.
    fn without_positive_factor(&self, e: &Expr) -> Expr {
        let Some(first) = e.terms().first() else { return e.clone() };
        let mut common = first.factors.clone();
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
                        _ => self.known.get(&Bool::AboveZero(atom.clone().into())) == Some(&true),
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
        if self.points.iter().any(|point| at(point, e).is_some_and(|value| value < Rat::ZERO)) {
            return false;
        }
        if let Some(known) = self.answers.0.borrow().get(e) {
            return *known;
        }
        if self.nesting.get() >= NESTING {
            return false;
        }
        self.nesting.set(self.nesting.get() + 1);
        let budget = Cell::new(BUDGET);
        let proven = Proof { context: self, budget: &budget, free: BTreeSet::new() }.nonneg(e, DEPTH);
        self.nesting.set(self.nesting.get() - 1);
        // Inside another question a no may be for lack of depth.
        if proven || self.nesting.get() == 0 {
            self.answers.0.borrow_mut().insert(e.clone(), proven);
        }
        proven
    }

    /// Whether a condition is proven, disproven, or open.
    pub fn decide(&self, condition: &Bool) -> Option<bool> {
        if let Some(&known) = self.known.get(condition) {
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
            Bool::Zero(e) => (self.positive(e) || self.positive(&-e))
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

    /// Rewrites what the assumptions decide: conditions, floors between whole numbers, dominated arguments of extremes.
    pub fn simplify(&self, e: &Expr) -> Expr {
        if e.atoms(|atom| !matches!(atom, Atom::Symbol(_))).is_empty() {
            return e.clone();
        }
        e.rebuild(&mut |atom| self.simplify_atom(atom))
    }

    fn simplify_atom(&self, atom: &Atom) -> Option<Expr> {
        match atom {
            Atom::Iverson(condition) => {
                let condition = condition.map(&mut |e| self.simplify(e));
                Some(match self.decide(&condition) {
                    Some(true) => Expr::one(),
                    Some(false) => Expr::zero(),
                    None => condition.iverson(),
                })
            }
            Atom::FloorDiv(num, den) => Some(self.floor_div(&self.simplify(num), &self.simplify(den))),
            Atom::Max(args) => Some(self.max(args.iter().map(|arg| self.simplify(arg)).collect())),
            Atom::Min(args) => {
                let negated = args.iter().map(|arg| -self.simplify(arg)).collect();
                Some(-self.max(negated)).filter(|_| args.len() < 8)
            }
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => {
                let inside = self.with_range(&over.variable, &over.lo, &over.hi);
                let (lo, hi) = (self.simplify(&over.lo), self.simplify(&over.hi));
                let body = inside.simplify(&over.body);
                (lo != over.lo || hi != over.hi || body != over.body).then(|| match atom {
                    Atom::Sum(_) => crate::sum::sum(&over.variable, &lo, &hi, &body, self),
                    Atom::MaxOver(_) => crate::sum::max_over(&over.variable, &lo, &hi, &body, self),
                    _ => crate::sum::min_over(&over.variable, &lo, &hi, &body, self),
                })
            }
            _ => None,
        }
    }

    /// The floor of a quotient, with `(q*b + r) div b = q` where `0 <= r < b` is proven.
    pub fn floor_div(&self, num: &Expr, den: &Expr) -> Expr {
        let quotient = num.floor_div(den);
        let floors = quotient.atoms(|atom| matches!(atom, Atom::FloorDiv(..)));
        let mut result = quotient.clone();
        for atom in floors {
            let Atom::FloorDiv(num, den) = &atom else { continue };
            if !self.positive(den) {
                continue;
            }
            let whole = (-1..=1).find(|whole| {
                let rest = num - den.scale(Rat::int(*whole));
                self.nonneg(&rest) && self.positive(&(den - &rest))
            });
            if let Some(whole) = whole {
                let value = Expr::number(Rat::int(whole));
                result = result.rebuild(&mut |own| (*own == atom).then(|| value.clone()));
            }
        }
        result
    }

    /// The largest, without arguments that another is proven to reach; differences with a factor of known sign are taken apart, as
    /// in `max(a + N*x, b + N*y)` with `a - b` a multiple of `N`.
    #[allow(clippy::needless_pass_by_value)] // every caller makes the list for this
    pub fn max(&self, args: Vec<Expr>) -> Expr {
        let all = Expr::max(&args);
        let [term] = all.terms() else { return self.max_in_sum(&all) };
        let (Some((Atom::Max(args), 1)), true) = (term.factors.first(), term.factors.len() == 1) else { return all };
        self.reduced_max(args).scale(term.coefficient)
    }

    fn max_in_sum(&self, e: &Expr) -> Expr {
        let maxima = e.atoms(|atom| matches!(atom, Atom::Max(_)));
        let [Atom::Max(args)] = &maxima[..] else { return e.clone() };
        let reduced = self.reduced_max(args);
        e.rebuild(&mut |atom| (*atom == maxima[0]).then(|| reduced.clone()))
    }

    fn reduced_max(&self, args: &[Expr]) -> Expr {
        let mut keep: Vec<Expr> = args.to_vec();
        let mut index = 0;
        while index < keep.len() {
            let dominated = (0..keep.len()).any(|other| other != index && self.le(&keep[index], &keep[other]));
            if dominated {
                keep.remove(index);
            } else {
                index += 1;
            }
        }
        if let [a, b] = &keep[..]
            && let Some((factor, rest)) = crate::factor::positive_factor(&(a - b), self)
        {
            return b + factor * Expr::max([&rest, &Expr::zero()]);
        }
        Expr::max(&keep)
    }
}

/// One question under way.
struct Proof<'a> {
    context: &'a Context,
    budget: &'a Cell<u32>,
    /// Rests of symbols over their bounds: not negative, and nothing else is known of them.
    free: BTreeSet<Symbol>,
}

impl Proof<'_> {
    fn nonneg(&self, e: &Expr, depth: u32) -> bool {
        if let Some(value) = e.to_rat() {
            return value >= Rat::ZERO;
        }
        let steps = self.context.steps.get();
        if depth == 0 || self.budget.get() == 0 || steps >= ALL_STEPS || e.is_undefined() || e.size() > 400 {
            return false;
        }
        self.context.steps.set(steps + 1);
        self.budget.set(self.budget.get() - 1);
        let e = &self.without_denominators(e);
        if self.all_terms_nonneg(e) {
            return true;
        }
        if self.free.is_empty()
            && self.context.facts.iter().any(|fact| {
                let rest = e - fact;
                rest.terms().len() < e.terms().len() && self.all_terms_nonneg(&rest)
            })
        {
            return true;
        }
        match e.atoms(|atom| !matches!(atom, Atom::Symbol(_) | Atom::Power(..) | Atom::Group(_))).first() {
            Some(atom) => self.by_atom(e, atom, depth),
            None => self.by_power(e, depth).unwrap_or_else(|| self.by_symbol(e, depth)),
        }
    }

    fn without_denominators(&self, e: &Expr) -> Expr {
        let (num, den) = crate::build::fraction(e);
        let known = den.terms().iter().flat_map(|term| &term.factors).all(|(atom, _)| match atom {
            Atom::Symbol(symbol) => self.free.contains(symbol) || self.context.positive(&atom.clone().into()),
            _ => self.context.positive(&atom.clone().into()),
        });
        if den.to_rat().is_none() && den.terms().len() == 1 && known { num } else { e.clone() }
    }

    fn all_terms_nonneg(&self, e: &Expr) -> bool {
        e.terms().iter().all(|term| {
            term.coefficient.signum() > 0
                && term.factors.iter().all(|(atom, power)| power % 2 == 0 && *power > 0 || self.atom_nonneg(atom))
        })
    }

    fn atom_nonneg(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Symbol(symbol) => {
                let zero_bound = |bound: &Expr| bound.to_rat().is_some_and(|value| value >= Rat::ZERO);
                self.free.contains(symbol)
                    || self.context.lower.get(symbol).is_some_and(|bounds| bounds.iter().any(zero_bound))
            }
            Atom::Iverson(_) | Atom::Power(..) => true,
            _ => false,
        }
    }

    /// Replaces an atom that is no symbol by what bounds it.
    fn by_atom(&self, e: &Expr, atom: &Atom, depth: u32) -> bool {
        let Some(mut powers) = e.by_powers(atom) else { return false };
        let (a, b) = (powers.remove(&1).unwrap_or_default(), powers.remove(&0).unwrap_or_default());
        if !powers.is_empty() {
            return false;
        }
        let next = |value: &Expr| self.nonneg(&(&a * value + &b), depth - 1);
        // Opaque values that are not negative: drop them where they help.
        let sign = || (self.nonneg(&a, depth - 1), self.nonneg(&-&a, depth - 1));
        match atom {
            Atom::Iverson(condition) => {
                let case = |condition: &Bool, e: Expr| {
                    let context = self.context.with(condition);
                    Proof { context: &context, budget: self.budget, free: self.free.clone() }
                        .nonneg(&context.simplify(&e), depth - 1)
                };
                case(condition, &a + &b) && case(&condition.clone().not(), b.clone())
            }
            Atom::Max(args) | Atom::Min(args) => {
                let (positive, negative) = sign();
                let is_max = matches!(atom, Atom::Max(_));
                if positive && is_max || negative && !is_max {
                    args.iter().any(next) || args.iter().all(next)
                } else {
                    args.iter().all(next)
                }
            }
            Atom::FloorDiv(num, den) if self.context.positive(den) => {
                let (positive, negative) = sign();
                let below = if num.is_integer() && den.is_integer() { den - Expr::one() } else { den.clone() };
                let lower = (num - below).over(den);
                let floor_bounds = self.floor_nonneg(num) && positive && next(&Expr::zero());
                floor_bounds || positive && next(&lower) || negative && next(&num.over(den)) || {
                    // The floor of a bound is the better bound.
                    negative && self.floor_upper(num, den).is_some_and(|upper| next(&upper))
                }
            }
            Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => {
                let inside = self.context.with_range(&over.variable, &over.lo, &over.hi);
                let (positive, negative) = sign();
                // What holds for every value holds for the largest.
                let worst =
                    matches!(atom, Atom::MaxOver(_)) && negative || matches!(atom, Atom::MinOver(_)) && positive;
                let each = || {
                    let deeper = Proof { context: &inside, budget: self.budget, free: self.free.clone() };
                    deeper.nonneg(&(&a * &over.body + &b), depth - 1)
                };
                worst && each() || positive && inside.nonneg(&over.body) && next(&Expr::zero())
            }
            Atom::Log2(of) => {
                let (positive, _) = sign();
                positive && self.context.le(&Expr::one(), of) && next(&Expr::zero())
            }
            _ => false,
        }
    }

    /// `2^k` with `k >= 1` is 2 and a rest that is not negative.
    fn by_power(&self, e: &Expr, depth: u32) -> Option<bool> {
        let atom = e.atoms(|atom| matches!(atom, Atom::Power(base, _) if *base > Rat::ONE)).into_iter().next()?;
        let Atom::Power(base, exponent) = &atom else { return None };
        let least = (0..4).rev().find(|least| self.context.nonneg(&(exponent - Expr::from(*least))))?;
        let rest = Symbol::int(&format!("power'{depth}"));
        let mut free = self.free.clone();
        free.insert(rest.clone());
        let value = Expr::number(base.pow(least)) + Expr::from(&rest);
        let replaced = e.rebuild(&mut |own| (*own == atom).then(|| value.clone()));
        Some(Proof { context: self.context, budget: self.budget, free }.nonneg(&replaced, depth - 1))
    }

    fn floor_nonneg(&self, num: &Expr) -> bool {
        self.context.nonneg(num)
    }

    /// `num <= U` gives `num div den <= U div den`, which may be whole where `U/den` is not.
    fn floor_upper(&self, num: &Expr, den: &Expr) -> Option<Expr> {
        let mut bound = num.clone();
        for atom in num.atoms(|atom| matches!(atom, Atom::Symbol(_))) {
            let Atom::Symbol(symbol) = &atom else { continue };
            let (a, _) = bound.affine(symbol)?;
            let ends = if a.to_rat()?.signum() > 0 { &self.context.upper } else { &self.context.lower };
            if let Some(end) = ends.get(symbol).and_then(|bounds| bounds.first())
                && !self.free.contains(symbol)
            {
                bound = bound.substitute(symbol, end);
            }
        }
        (bound != *num).then(|| self.context.floor_div(&bound, den))
    }

    /// Replaces a symbol by its ends, or by its bound and a rest.
    fn by_symbol(&self, e: &Expr, depth: u32) -> bool {
        let symbols: Vec<Symbol> = {
            let mut all = BTreeSet::new();
            e.symbols(&mut |symbol| {
                if !self.free.contains(symbol) {
                    all.insert(symbol.clone());
                }
            });
            // Those whose bounds speak of others go first.
            let depends = |symbol: &Symbol| {
                let of = |map: &BTreeMap<Symbol, Vec<Expr>>| {
                    map.get(symbol).is_some_and(|bounds| bounds.iter().any(|bound| bound.to_rat().is_none()))
                };
                of(&self.context.lower) || of(&self.context.upper)
            };
            let (first, then): (Vec<_>, Vec<_>) = all.into_iter().partition(depends);
            first.into_iter().chain(then).collect()
        };
        let none = Vec::new();
        for symbol in &symbols {
            let of = |map: &BTreeMap<Symbol, Vec<Expr>>| {
                map.get(symbol).unwrap_or(&none).iter().take(3).cloned().collect::<Vec<Expr>>()
            };
            let (lower, upper) = (of(&self.context.lower), of(&self.context.upper));
            if let (Some((_, _)), false, false) = (e.affine(symbol), lower.is_empty(), upper.is_empty()) {
                let at = |end: &Expr| self.nonneg(&e.substitute(symbol, end), depth - 1);
                if lower.iter().any(at) && upper.iter().any(at) {
                    return true;
                }
            }
            // A name that no model can have, and that no other rest of this proof has.
            let name = format!("{}'{depth}", symbol.name);
            let rest = if symbol.integer { Symbol::int(&name) } else { Symbol::real(&name) };
            let mut free = self.free.clone();
            free.insert(rest.clone());
            let deeper = Proof { context: self.context, budget: self.budget, free };
            let rest = Expr::from(&rest);
            let shifted = |bound: &Expr, down: bool| {
                let value = if down { bound - &rest } else { bound + &rest };
                deeper.nonneg(&e.substitute(symbol, &value), depth - 1)
            };
            if lower.iter().any(|bound| shifted(bound, false)) || upper.iter().any(|bound| shifted(bound, true)) {
                return true;
            }
        }
        false
    }
}
