//! Simplification under assumptions: what they decide is replaced by its value.
//!
//! For [`Context`]; every rewriting is an equality wherever the assumptions hold.

use crate::context::Context;
use crate::expr::{Atom, Expr};
use crate::rat::Rat;

impl Context {
    /// Rewrites what the assumptions decide: conditions, floors between whole numbers, dominated arguments of extremes.
    pub fn simplify(&self, e: &Expr) -> Expr {
        if e.atoms(|atom| !matches!(atom, Atom::Symbol(_))).is_empty() {
            return e.clone();
        }
        if !self.afford(e) {
            return e.clone();
        }
        self.remembered(e, || e.rebuild(&mut |atom| self.simplify_atom(atom)))
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
        if !self.afford(&all) {
            return all;
        }
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
