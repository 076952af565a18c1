//! What a law can be made of: products of powers and logarithms of the parameters.

use std::fmt::Write;

/// A power, in sixths, and a power of the logarithm to the base of 2, of one parameter. None of both: 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor {
    pub sixths: i8,
    pub logs: u8,
}

/// A factor for each parameter.
pub type Term = Vec<Factor>;

/// Exponents that are looked at, as of the normal form's authors, and their inverses down to -2: what is shared by more PEs gets less.
const SIXTHS: [i8; 17] = [0, 2, 3, 4, 6, 8, 9, 10, 12, 15, 16, 18, -2, -3, -4, -6, -12];

impl Factor {
    pub fn at(self, value: f64) -> f64 {
        let power = match self.sixths {
            0 => 1.0,
            sixths if sixths % 6 == 0 => value.powi(i32::from(sixths / 6)),
            sixths => value.powf(f64::from(sixths) / 6.0),
        };
        match self.logs {
            0 => power,
            logs => power * value.log2().powi(i32::from(logs)),
        }
    }

    /// How much less simple it is than 1: whole exponents are what algorithms mostly have.
    fn oddness(self) -> f64 {
        let power = match self.sixths.unsigned_abs() {
            0 => 0.0,
            6 | 12 | 18 => 0.5,
            3 | 9 | 15 => 1.0,
            _ => 1.5,
        };
        power + if self.sixths < 0 { 0.2 } else { 0.0 } + 0.7 * f64::from(self.logs)
    }
}

/// Terms that are less simple than this are not looked at: few values cannot tell them from others.
const ODDEST: f64 = 2.2;

/// Terms that are looked at, at most: of three parameters and more there are thousands, and pairs of them are millions.
const MOST: usize = 400;

/// All terms of so many parameters but the constant, the simplest ones first; of parameters that do not vary none.
pub fn all(varies: &[bool]) -> Vec<Term> {
    let factors = |varies: &bool| -> Vec<Factor> {
        let of = |sixths: i8| (0..3).map(move |logs| Factor { sixths, logs });
        if *varies { SIXTHS.into_iter().flat_map(of).collect() } else { vec![Factor::default()] }
    };
    let mut terms: Vec<Term> = vec![Vec::new()];
    for varies in varies {
        let factors = factors(varies);
        let with = |term: &Term| factors.iter().map(|factor| [&term[..], &[*factor]].concat()).collect::<Vec<_>>();
        terms = terms.iter().flat_map(with).filter(|term| oddness(term) <= ODDEST).collect();
    }
    terms.retain(|term| !is_constant(term));
    terms.sort_by(|a, b| oddness(a).total_cmp(&oddness(b)));
    terms.truncate(MOST);
    terms
}

pub fn is_constant(term: &Term) -> bool {
    term.iter().all(|factor| *factor == Factor::default())
}

pub fn value(term: &Term, at: &[f64]) -> f64 {
    term.iter().zip(at).map(|(factor, at)| factor.at(*at)).product()
}

/// How much less is expected of it than of a constant.
pub fn oddness(term: &Term) -> f64 {
    term.iter().map(|factor| factor.oddness()).sum()
}

/// `n^3·log n·P^-1`; nothing of a constant.
pub fn text(term: &Term, names: &[&str]) -> String {
    let mut out = String::new();
    for (factor, name) in term.iter().zip(names) {
        let _ = match factor.sixths {
            0 => Ok(()),
            6 => write!(out, "·{name}"),
            sixths if sixths % 6 == 0 => write!(out, "·{name}^{}", sixths / 6),
            sixths if sixths % 3 == 0 => write!(out, "·{name}^({}/2)", sixths / 3),
            sixths if sixths % 2 == 0 => write!(out, "·{name}^({}/3)", sixths / 2),
            sixths => write!(out, "·{name}^({sixths}/6)"),
        };
        let _ = match factor.logs {
            0 => Ok(()),
            1 => write!(out, "·log {name}"),
            logs => write!(out, "·log^{logs} {name}"),
        };
    }
    out
}
