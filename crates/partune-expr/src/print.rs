//! Expressions as people write them: factored, grouped by time, `N/P` where a quotient was introduced.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::boolean::Bool;
use crate::expr::{Atom, Expr, Monomial, Powers, Symbol, Term};
use crate::factor::factors;
use crate::rat::Rat;

/// A symbol that stands for an exact quotient of two others, as a divisibility introduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    pub symbol: Symbol,
    pub dividend: Expr,
    pub divisor: Expr,
}

impl Expr {
    /// Replaces `divisor * quotient` by the dividend, wherever a product holds both.
    #[must_use]
    pub fn fold(&self, quotients: &[Quotient]) -> Expr {
        let mut result = self.clone();
        for quotient in quotients.iter().rev() {
            let [divisor] = quotient.divisor.terms() else { continue };
            let [(divisor, 1)] = &divisor.factors[..] else { continue };
            let symbol = Atom::Symbol(quotient.symbol.clone());
            result = fold_one(&result, divisor, &symbol, &quotient.dividend);
        }
        result
    }
}

fn fold_one(e: &Expr, divisor: &Atom, symbol: &Atom, dividend: &Expr) -> Expr {
    let mut sum = Expr::zero();
    for term in e.terms() {
        let power = |wanted: &Atom| term.factors.iter().find(|(atom, _)| atom == wanted).map_or(0, |found| found.1);
        let both = power(divisor).min(power(symbol)).max(0);
        let mut product = Expr::number(term.coefficient) * dividend.pow(both.into());
        for (atom, exponent) in term.factors.iter() {
            let left = if atom == divisor || atom == symbol { exponent - both } else { *exponent };
            let inner: Expr = Expr::product(vec![(atom.clone(), 1)], Rat::ONE);
            let inner = if matches!(atom, Atom::Symbol(_)) {
                inner
            } else {
                // Inside an atom the same holds.
                rebuilt(atom, divisor, symbol, dividend)
            };
            product = product * inner.pow(left.into());
        }
        sum = sum + product;
    }
    sum
}

fn rebuilt(atom: &Atom, divisor: &Atom, symbol: &Atom, dividend: &Expr) -> Expr {
    match atom {
        // A floor of what was folded may look whole again: it stays as it is.
        Atom::FloorDiv(a, b) => {
            let (a, b) = (fold_one(a, divisor, symbol, dividend), fold_one(b, divisor, symbol, dividend));
            Atom::FloorDiv(a, b).into()
        }
        Atom::Max(args) => {
            let args: Vec<Expr> = args.iter().map(|arg| fold_one(arg, divisor, symbol, dividend)).collect();
            Expr::max(&args)
        }
        Atom::Min(args) => {
            let args: Vec<Expr> = args.iter().map(|arg| fold_one(arg, divisor, symbol, dividend)).collect();
            Expr::min(&args)
        }
        Atom::Iverson(condition) => condition.map(&mut |e| fold_one(e, divisor, symbol, dividend)).iverson(),
        _ => atom.clone().into(),
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self).text)
    }
}

impl fmt::Display for Bool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, all: &[Bool], word: &str| {
            for (index, one) in all.iter().enumerate() {
                let separator = if index == 0 { "" } else { word };
                let nested = matches!((one, word), (Bool::Or(_), " and ") | (Bool::And(_), " or "));
                if nested { write!(f, "{separator}({one})")? } else { write!(f, "{separator}{one}")? }
            }
            Ok(())
        };
        match self {
            Bool::True => f.write_str("true"),
            Bool::False => f.write_str("false"),
            Bool::AtLeastZero(e) => comparison(f, e, ">="),
            Bool::AboveZero(e) => comparison(f, e, ">"),
            Bool::Zero(e) => comparison(f, e, "="),
            Bool::Divides(a, b) => write!(f, "{} | {}", print(a).tight(3), print(b).tight(1)),
            Bool::Not(inner) => match &**inner {
                Bool::AtLeastZero(e) if e.is_integer() => comparison(f, &(e + Expr::one()), "<="),
                Bool::AtLeastZero(e) => comparison(f, e, "<"),
                Bool::AboveZero(e) => comparison(f, e, "<="),
                Bool::Zero(e) => comparison(f, e, "!="),
                other => write!(f, "not ({other})"),
            },
            Bool::And(all) => list(f, all, " and "),
            Bool::Or(all) => list(f, all, " or "),
        }
    }
}

/// `a - b >= 0` as `a >= b`.
fn comparison(f: &mut fmt::Formatter<'_>, e: &Expr, relation: &str) -> fmt::Result {
    let (left, right): (Vec<&Term>, Vec<&Term>) = e
        .terms()
        .iter()
        .partition(|term| term.coefficient.signum() > 0 && (!term.factors.is_empty() || e.terms().len() == 1));
    let side = |terms: Vec<&Term>, sign: Rat| {
        Expr::from_terms(terms.into_iter().map(|term| (term.factors.clone(), term.coefficient * sign)))
    };
    write!(f, "{} {relation} {}", side(left, Rat::ONE), side(right, -Rat::ONE))
}

/// Text and how tightly it binds: 1 sum, 2 product, 3 atom.
struct Printed {
    text: String,
    binds: u8,
}

impl Printed {
    fn tight(self, needed: u8) -> String {
        if self.binds >= needed { self.text } else { format!("({})", self.text) }
    }
}

/// Text that binds at least so: 1 as a sum, 2 as a product, 3 as an atom.
pub(crate) fn tight(e: &Expr, binds: u8) -> String {
    print(e).tight(binds)
}

fn print(e: &Expr) -> Printed {
    if e.terms().len() < 2 {
        return match e.terms() {
            [] => Printed { text: "0".to_owned(), binds: 3 },
            [term] => print_product(term.coefficient, &term.factors, &[]),
            _ => print_sum(e.terms().iter().map(|term| (term.coefficient, &*term.factors))),
        };
    }
    let parts = factors(e);
    if parts.sums.len() > 1 || !parts.product.is_empty() || !parts.number.abs().is_one() {
        return print_product(parts.number, &parts.product, &parts.sums);
    }
    // Grouped by what is no integer: times and what was measured.
    let mut groups: BTreeMap<Monomial, Vec<(Powers, Rat)>> = BTreeMap::new();
    for term in e.terms() {
        let (real, whole): (Monomial, Monomial) =
            term.factors.iter().cloned().partition(|(atom, _)| !atom.is_integer());
        groups.entry(real).or_default().push((whole.into(), term.coefficient));
    }
    if groups.len() > 1 && groups.len() < e.terms().len() {
        let mut text = String::new();
        for (real, terms) in groups {
            let coefficient = Expr::from_terms(terms);
            let parts = factors(&coefficient);
            let mut product = parts.product;
            product.extend(real);
            push_signed(&mut text, parts.number, |number| print_product(number, &product, &parts.sums).tight(2));
        }
        return Printed { text, binds: 1 };
    }
    print_sum(e.terms().iter().map(|term| (term.coefficient, &*term.factors)))
}

fn push_signed(text: &mut String, number: Rat, print: impl FnOnce(Rat) -> String) {
    let sign = match (text.is_empty(), number.signum() < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    };
    let _ = write!(text, "{sign}{}", print(number.abs()));
}

/// Higher powers first, positive before negative, the constant last.
fn print_sum<'a>(terms: impl Iterator<Item = (Rat, &'a [(Atom, i32)])>) -> Printed {
    let mut terms: Vec<_> = terms.collect();
    let degree = |factors: &[(Atom, i32)]| factors.iter().map(|factor| factor.1.abs()).sum::<i32>();
    terms.sort_by_key(|(number, factors)| (factors.is_empty(), number.signum() < 0, -degree(factors)));
    let mut text = String::new();
    for (number, factors) in terms {
        push_signed(&mut text, number, |number| print_product(number, factors, &[]).tight(2));
    }
    Printed { text, binds: 1 }
}

fn print_product(number: Rat, factors: &[(Atom, i32)], sums: &[Expr]) -> Printed {
    if let ([(atom, 1)], [], true) = (factors, sums, number.is_one()) {
        return print_atom(atom);
    }
    let mut above = Vec::new();
    let mut below = Vec::new();
    let mut negative = number.signum() < 0;
    if number.is_undefined() {
        return Printed { text: "undefined".to_owned(), binds: 3 };
    }
    if !number.num().abs().eq(&1) {
        above.push(number.num().abs().to_string());
    }
    if number.den() != 1 {
        below.push(number.den().to_string());
    }
    let (symbols, others): (Vec<_>, Vec<_>) =
        factors.iter().partition(|(atom, _)| matches!(atom, Atom::Symbol(symbol) if symbol.integer));
    for (atom, exponent) in symbols {
        let list = if *exponent > 0 { &mut above } else { &mut below };
        list.push(powered(atom, exponent.abs()));
    }
    for sum in sums {
        // A sum that begins with a minus turns its sign.
        let turned = sum.terms().iter().all(|term| term.coefficient.signum() < 0);
        negative ^= turned;
        above.push(print(&if turned { -sum } else { sum.clone() }).tight(3));
    }
    for (atom, exponent) in others {
        let list = if *exponent > 0 { &mut above } else { &mut below };
        list.push(powered(atom, exponent.abs()));
    }
    let mut binds = if above.len() > 1 || !below.is_empty() { 2 } else { 3 };
    let mut text = if above.is_empty() { "1".to_owned() } else { above.join("*") };
    if !below.is_empty() {
        let divisor = below.join("*");
        let _ = if below.len() > 1 { write!(text, "/({divisor})") } else { write!(text, "/{divisor}") };
    }
    if negative {
        text.insert(0, '-');
        binds = 1;
    }
    Printed { text, binds }
}

fn powered(atom: &Atom, exponent: i32) -> String {
    let base = print_atom(atom);
    if exponent == 1 { base.tight(3) } else { format!("{}^{exponent}", base.tight(3)) }
}

fn print_atom(atom: &Atom) -> Printed {
    let call = |name: &str, args: &[Expr]| {
        let args = args.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Printed { text: format!("{name}({args})"), binds: 3 }
    };
    match atom {
        Atom::Symbol(symbol) => {
            let plain = symbol.name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.' || c == '\'');
            Printed { text: symbol.name.to_string(), binds: if plain { 3 } else { 2 } }
        }
        Atom::FloorDiv(a, b) if b.is_one() => call("floor", std::slice::from_ref(a)),
        Atom::FloorDiv(a, b) => {
            Printed { text: format!("floor({}/{})", print(a).tight(2), print(b).tight(3)), binds: 3 }
        }
        Atom::Max(args) => call("max", args),
        Atom::Min(args) => call("min", args),
        Atom::Iverson(condition) => Printed { text: format!("[{condition}]"), binds: 3 },
        Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) => {
            let name = match atom {
                Atom::Sum(_) => "sum",
                Atom::MaxOver(_) => "max",
                _ => "min",
            };
            let (v, body) = (&over.variable.name, print(&over.body).tight(2));
            Printed { text: format!("{name}({v} = {}, {}) {body}", over.lo, over.hi), binds: 1 }
        }
        Atom::Table(name, args) => {
            let args = args.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Printed { text: format!("{name}[{args}]"), binds: 3 }
        }
        Atom::Log2(e) => call("log2", std::slice::from_ref(e)),
        Atom::Power(base, e) => Printed { text: format!("{base}^{}", print(e).tight(3)), binds: 3 },
        Atom::Group(e) => print(e),
    }
}
