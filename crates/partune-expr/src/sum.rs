//! Sums, maxima and minima over an integer range, in closed form where there is one.
//!
//! What has none stays as a `Sum`, `MaxOver` or `MinOver` atom, which evaluates by enumeration. Sources: Faulhaber for powers up to
//! four; the geometric sum; for conditions, clipping of the range and counting of multiples (theory, rewrite rules 1, 2 and 3).

use crate::boolean::Bool;
use crate::build::over;
use crate::context::Context;
use crate::expr::{Atom, Expr, Monomial, Symbol};
use crate::rat::Rat;

/// `body` summed over `variable = lo..=hi`; zero if the range is empty.
pub fn sum(variable: &Symbol, lo: &Expr, hi: &Expr, body: &Expr, context: &Context) -> Expr {
    if body.is_zero() || context.le(&(hi + Expr::one()), lo) {
        return Expr::zero();
    }
    let before = lo - Expr::one();
    let hi = &if context.le(&before, hi) { hi.clone() } else { context.max(vec![hi.clone(), before]) };
    let mut closed = Expr::zero();
    let mut open = Expr::zero();
    for term in body.terms() {
        let (bound, free): (Monomial, Monomial) =
            term.factors.iter().cloned().partition(|(atom, _)| atom.mentions(variable));
        let outside = Expr::product(free, term.coefficient);
        match sum_of_product(variable, lo, hi, &bound, context) {
            Some(value) => closed = closed + outside * value,
            None => open = open + Expr::product(term.factors.clone(), term.coefficient),
        }
    }
    if open.is_zero() { closed } else { closed + over(Atom::Sum, variable, lo, hi, &open) }
}

/// The sum of a product whose factors all mention the variable.
fn sum_of_product(variable: &Symbol, lo: &Expr, hi: &Expr, product: &Monomial, context: &Context) -> Option<Expr> {
    match &product[..] {
        [] => return Some(hi - lo + Expr::one()),
        [(Atom::Symbol(_), power @ 1..=4)] => {
            return Some(powers_up_to(*power, hi) - powers_up_to(*power, &(lo - Expr::one())));
        }
        [(Atom::Power(base, exponent), power)] if exponent.to_symbol() == Some(variable) => {
            let ratio = Expr::number(base.pow(i64::from(*power)));
            let last = ratio.power(&(hi + Expr::one()));
            return Some((last - ratio.power(lo)).over(&(ratio - Expr::one()))).filter(|sum| !sum.is_undefined());
        }
        _ => {}
    }
    let at = product.iter().position(|(atom, _)| matches!(atom, Atom::Iverson(_)))?;
    let (Atom::Iverson(condition), 1) = &product[at] else { return None };
    let mut rest = product.clone();
    rest.remove(at);
    let rest = Expr::product(rest, Rat::ONE);
    if let Bool::Divides(divisor, e) = condition {
        return multiples(variable, lo, hi, divisor, e, &rest, context);
    }
    let (from, to) = solutions(variable, condition)?;
    let clip = |bound: Option<Expr>, end: &Expr, lower: bool| match bound {
        None => end.clone(),
        Some(bound) if lower => context.max(vec![bound, end.clone()]),
        Some(bound) => -context.max(vec![-bound, -end]),
    };
    if from.is_some() && from == to {
        // A single value: the body there, if it lies in the range.
        let point = from?;
        let inside = Bool::all([Bool::le(lo, &point), Bool::le(&point, hi)]);
        return Some(context.simplify(&inside.iverson()) * rest.substitute(variable, &point));
    }
    let (from, to) = (clip(from, lo, true), clip(to, hi, false));
    Some(sum(variable, &from, &to, &rest, context))
}

/// Where a condition holds: between two bounds, either of which may be missing.
fn solutions(variable: &Symbol, condition: &Bool) -> Option<(Option<Expr>, Option<Expr>)> {
    match condition {
        Bool::AtLeastZero(e) => {
            let (a, b) = e.affine(variable)?;
            let a = a.to_rat().filter(|a| a.is_integer())?;
            let divisor = Expr::number(a.abs());
            if a.signum() > 0 {
                Some((Some(-b.floor_div(&divisor)), None))
            } else {
                Some((None, Some(b.floor_div(&divisor))))
            }
        }
        Bool::Zero(e) => {
            if let Some((a, b)) = e.affine(variable) {
                let point = b.over(&-a);
                return point.is_integer().then(|| (Some(point.clone()), Some(point)));
            }
            let floors = e.atoms(|atom| atom.mentions(variable));
            let [atom @ Atom::FloorDiv(num, den)] = &floors[..] else { return None };
            let (a, b) = num.affine(variable)?;
            let powers = e.by_powers(atom)?;
            let (unit, other) = (powers.get(&1)?.to_rat()?, powers.get(&0).cloned().unwrap_or_default());
            if powers.keys().any(|power| !(0..=1).contains(power)) || !a.is_one() || den.mentions(variable) {
                return None;
            }
            let block = other.scale(-Rat::ONE / unit);
            let first = block * den - b;
            let last = &first + den - Expr::one();
            Some((Some(first), Some(last)))
        }
        _ => None,
    }
}

/// Counts multiples of a divisor; of two such conditions at most one holds if they ask for different remainders.
fn multiples(
    variable: &Symbol,
    lo: &Expr,
    hi: &Expr,
    divisor: &Expr,
    e: &Expr,
    rest: &Expr,
    context: &Context,
) -> Option<Expr> {
    let (a, b) = e.affine(variable)?;
    if !a.is_one() || divisor.mentions(variable) || !context.positive(divisor) {
        return None;
    }
    if rest.is_one() {
        let up_to = |end: &Expr| context.floor_div(&(end + &b), divisor);
        return Some(up_to(hi) - up_to(&(lo - Expr::one())));
    }
    let [(Atom::Iverson(Bool::Divides(other, f)), 1), ..] = &rest.terms().first()?.factors[..] else { return None };
    let gap = (f - e).to_rat().filter(|_| other == divisor)?.abs();
    let apart = gap.signum() > 0 && context.positive(&(divisor - Expr::number(gap)));
    apart.then(Expr::zero)
}

/// `1^k + 2^k + ... + n^k` as a polynomial in n, which also extends to negative n.
fn powers_up_to(k: i32, n: &Expr) -> Expr {
    let next = n + Expr::one();
    let twice = n.scale(Rat::int(2)) + Expr::one();
    match k {
        1 => (n * next).scale(Rat::new(1, 2)),
        2 => (n * next * twice).scale(Rat::new(1, 6)),
        3 => (n * n * &next * &next).scale(Rat::new(1, 4)),
        _ => {
            let last = (n * n).scale(Rat::int(3)) + n.scale(Rat::int(3)) - Expr::one();
            (n * next * twice * last).scale(Rat::new(1, 30))
        }
    }
}

/// The largest value over a range that is not empty.
pub fn max_over(variable: &Symbol, lo: &Expr, hi: &Expr, body: &Expr, context: &Context) -> Expr {
    extreme_over(variable, lo, hi, body, context).unwrap_or_else(|| over(Atom::MaxOver, variable, lo, hi, body))
}

/// The smallest value over a range that is not empty.
pub fn min_over(variable: &Symbol, lo: &Expr, hi: &Expr, body: &Expr, context: &Context) -> Expr {
    extreme_over(variable, lo, hi, &-body, context).map_or_else(|| over(Atom::MinOver, variable, lo, hi, body), |e| -e)
}

/// The largest value in closed form: of what is monotone or convex it lies at an end.
fn extreme_over(variable: &Symbol, lo: &Expr, hi: &Expr, body: &Expr, context: &Context) -> Option<Expr> {
    if !body.mentions(variable) {
        return Some(body.clone());
    }
    let at = |end: &Expr| context.simplify(&body.substitute(variable, end));
    let inside = context.with_range(variable, lo, hi);
    if let Some((a, _)) = body.affine(variable) {
        return Some(if context.nonneg(&a) {
            at(hi)
        } else if context.nonneg(&-a) {
            at(lo)
        } else {
            context.max(vec![at(lo), at(hi)])
        });
    }
    // `c + a*max(f, g)` with `a >= 0` is the larger of `c + a*f` and `c + a*g`.
    let maxima = body.atoms(|atom| matches!(atom, Atom::Max(_)) && atom.mentions(variable));
    if let [atom @ Atom::Max(args)] = &maxima[..] {
        let powers = body.by_powers(atom)?;
        let (a, rest) = (powers.get(&1).cloned().unwrap_or_default(), powers.get(&0).cloned().unwrap_or_default());
        if powers.keys().all(|power| (0..=1).contains(power)) && inside.nonneg(&a) {
            let each = args.iter().map(|arg| extreme_over(variable, lo, hi, &(&a * arg + &rest), context));
            return Some(context.max(each.collect::<Option<Vec<_>>>()?));
        }
    }
    // One value differs from all others: `a*[v = p] + b`.
    let conditions = body.atoms(|atom| matches!(atom, Atom::Iverson(Bool::Zero(_))) && atom.mentions(variable));
    if let [atom @ Atom::Iverson(Bool::Zero(e))] = &conditions[..] {
        let powers = body.by_powers(atom)?;
        let (a, b) = (powers.get(&1)?.clone(), powers.get(&0).cloned().unwrap_or_default());
        let (unit, rest) = e.affine(variable)?;
        let point = rest.over(&-unit);
        let inside_range = context.le(lo, &point) && context.le(&point, hi);
        if !a.mentions(variable) && !b.mentions(variable) && point.is_integer() && inside_range && context.nonneg(&b) {
            let others = context.simplify(&Bool::lt(lo, hi).iverson()) * &b;
            return Some(context.max(vec![&a + &b, others]));
        }
    }
    if let Some(rising) = rises(body, variable, &inside) {
        return Some(at(if rising { hi } else { lo }));
    }
    let next = body.substitute(variable, &(Expr::from(variable) + Expr::one()));
    let step = &next - body;
    // The step is taken from every value but the last.
    let steps = context.with_range(variable, lo, &(hi - Expr::one()));
    let step = steps.simplify(&step);
    if steps.nonneg(&step) {
        return Some(at(hi));
    }
    if steps.nonneg(&-&step) {
        return Some(at(lo));
    }
    let bend = step.substitute(variable, &(Expr::from(variable) + Expr::one())) - &step;
    (bend.atoms(|atom| !matches!(atom, Atom::Symbol(_))).is_empty() && steps.nonneg(&bend))
        .then(|| context.max(vec![at(lo), at(hi)]))
}

/// Whether `a*(num div den) + b` rises or falls with the variable, if only `num` holds it, and as a multiple.
fn rises(body: &Expr, variable: &Symbol, context: &Context) -> Option<bool> {
    let atoms = body.atoms(|atom| atom.mentions(variable));
    let [atom @ Atom::FloorDiv(num, den)] = &atoms[..] else { return None };
    let powers = body.by_powers(atom)?;
    let factor = powers.get(&1)?;
    let (slope, _) = num.affine(variable)?;
    let parts = powers.values().chain([den]).all(|e| !e.mentions(variable));
    if !parts || powers.keys().any(|power| !(0..=1).contains(power)) || !context.positive(den) {
        return None;
    }
    let sign = |e: &Expr| if context.nonneg(e) { Some(true) } else { context.nonneg(&-e).then_some(false) };
    Some(sign(factor)? == sign(&slope)?)
}
