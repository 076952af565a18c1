//! Floors of logarithms of numbers, without rounding: for constructors, and for values.

use crate::expr::{Atom, Expr};
use crate::rat::Rat;

/// The floor of a sum of numbers and of multiples of logarithms of numbers. None if anything else is in it, or where numbers become too large.
pub(crate) fn floor(e: &Expr) -> Option<Rat> {
    let parts = e.terms().iter().map(|term| match &term.factors[..] {
        [] => Some((term.coefficient, None)),
        [(Atom::Log2(of), 1)] => Some((term.coefficient, Some(of.to_rat()?))),
        _ => None,
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    // `a/d + b/d*log2(x)` is `(a + log2(x^b)) / d`, and a quotient by an integer has the floor that its dividend's floor has.
    let step = parts.iter().fold(Rat::ONE, |step, (factor, _)| step.gcd(*factor));
    let (mut sum, mut product) = (Rat::ZERO, Rat::ONE);
    for (factor, of) in parts {
        let multiple = factor / step;
        match of {
            None => sum = sum + multiple,
            Some(of) => product = product * of.pow(i64::try_from(multiple.to_int()?).ok()?),
        }
    }
    let whole = sum + Rat::int(product.floor_log2()?.into());
    Some((whole * step).floor()).filter(|floor| !floor.is_undefined())
}
