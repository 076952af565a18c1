//! Proofs that an expression is not negative, for [`Context`].
//!
//! Conditions, maxima and floors are replaced by what bounds them; a variable between two bounds, in which the expression is affine, by
//! its ends; any other by its lower bound plus a rest that is not negative. What is left is not negative if no coefficient is. Complete
//! for nothing, enough for loop nests, and never wrong.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::boolean::Bool;
use crate::context::Context;
use crate::expr::{Atom, Expr, Symbol};
use crate::rat::Rat;

/// Replacements that one proof may nest.
const DEPTH: u32 = 16;
/// Steps after which nothing more is proven: what takes longer has no closed form worth waiting for.
const ALL_STEPS: u32 = 60_000;
/// Steps that one question may take.
const BUDGET: u32 = 80;

/// Whether `e >= 0` follows from what is assumed.
pub(crate) fn prove(context: &Context, e: &Expr) -> bool {
    Proof { context, budget: &Cell::new(BUDGET), free: BTreeSet::new() }.nonneg(e, DEPTH)
}

/// One question under way.
struct Proof<'a> {
    context: &'a Context,
    budget: &'a Cell<u32>,
    /// Rests of symbols over their bounds: not negative, and nothing else is known of them.
    free: BTreeSet<Symbol>,
}

impl<'a> Proof<'a> {
    fn nonneg(&self, e: &Expr, depth: u32) -> bool {
        if let Some(value) = e.to_rat() {
            return value >= Rat::ZERO;
        }
        let steps = self.context.work().steps.get();
        let affordable = self.context.afford(e);
        if !affordable
            || depth == 0
            || self.budget.get() == 0
            || steps >= ALL_STEPS
            || e.is_undefined()
            || e.size() > 400
        {
            return false;
        }
        self.context.work().steps.set(steps + 1);
        self.budget.set(self.budget.get() - 1);
        if self.follows(e) {
            return true;
        }
        let e = &self.neighbours(&self.without_denominators(e));
        if self.follows(e) || self.higher_power(e) {
            return true;
        }
        match e.atoms(|atom| !matches!(atom, Atom::Symbol(_) | Atom::Power(..) | Atom::Group(_))).first() {
            Some(atom) => self.by_atom(e, atom, depth),
            None => self.by_power(e, depth).unwrap_or_else(|| self.by_symbol(e, depth)),
        }
    }

    /// Whether no term is negative, or what a fact leaves of them.
    fn follows(&self, e: &Expr) -> bool {
        let by_fact = |fact: &Expr| {
            let rest = e - fact;
            rest.terms().len() < e.terms().len() && self.all_terms_nonneg(&rest)
        };
        self.all_terms_nonneg(e) || self.free.is_empty() && self.context.facts().iter().any(by_fact)
    }

    /// `a*2^k - b*2^d` with `a >= b` and `k >= d`.
    fn higher_power(&self, e: &Expr) -> bool {
        let [first, second] = e.terms() else { return false };
        let (more, less) = if first.coefficient.signum() > 0 { (first, second) } else { (second, first) };
        if less.coefficient.signum() >= 0 || (more.coefficient + less.coefficient).signum() < 0 {
            return false;
        }
        let two = Rat::int(2);
        let mut exponents = Expr::zero();
        for (term, sign) in [(more, Rat::ONE), (less, -Rat::ONE)] {
            for (atom, power) in term.factors.iter() {
                let Atom::Power(base, exponent) = atom else { return false };
                if *base != two {
                    return false;
                }
                exponents = exponents + exponent.scale(sign * Rat::int((*power).into()));
            }
        }
        !exponents.is_zero() && self.context.nonneg(&exponents)
    }

    fn without_denominators(&self, e: &Expr) -> Expr {
        let (num, den) = crate::build::fraction(e);
        let known = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => self.free.contains(symbol) || self.context.positive(&atom.clone().into()),
            _ => self.context.positive(&atom.clone().into()),
        };
        let positive = match den.terms() {
            [only] => only.factors.iter().all(|(atom, _)| known(atom)),
            _ => self.context.positive(&den),
        };
        if den.to_rat().is_none() && positive { num.ungroup() } else { e.clone() }
    }

    /// `(n+1) div d` is `n div d` and one if `d | n+1`, and else the same; for both in one expression, where it is known.
    fn neighbours(&self, e: &Expr) -> Expr {
        let floors = e.atoms(|atom| matches!(atom, Atom::FloorDiv(..)));
        for later in &floors {
            let Atom::FloorDiv(next, divisor) = later else { continue };
            for earlier in &floors {
                let Atom::FloorDiv(num, same) = earlier else { continue };
                if same != divisor || !(next - num).is_one() {
                    continue;
                }
                let step = match self.context.known(&Bool::divides(divisor, next)) {
                    Some(true) => Expr::one(),
                    Some(false) => Expr::zero(),
                    None => continue,
                };
                let value = Expr::from(earlier.clone()) + step;
                return e.rebuild(&mut |own| Some(if own == later { value.clone() } else { own.clone().into() }));
            }
        }
        e.clone()
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
                self.free.contains(symbol) || self.context.lower(symbol).iter().any(zero_bound)
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
                // The floor of a bound is the better bound.
                floor_bounds
                    || negative && self.floor_upper(num, den).is_some_and(|upper| next(&upper))
                    || positive && next(&lower)
                    || negative && next(&num.over(den))
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
            let ends = if a.to_rat()?.signum() > 0 { self.context.upper(symbol) } else { self.context.lower(symbol) };
            if let Some(end) = ends.first()
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
                let bounds = self.context.lower(symbol).iter().chain(self.context.upper(symbol));
                bounds.into_iter().any(|bound| bound.to_rat().is_none())
            };
            let (first, then): (Vec<_>, Vec<_>) = all.into_iter().partition(depends);
            first.into_iter().chain(then).collect()
        };
        for symbol in &symbols {
            let few = |bounds: &'a [Expr]| &bounds[..bounds.len().min(3)];
            let (lower, upper) = (few(self.context.lower(symbol)), few(self.context.upper(symbol)));
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
