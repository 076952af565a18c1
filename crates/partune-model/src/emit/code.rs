//! Expressions and conditions in a programming language.
//!
//! What is an integer is computed as one; anything else as a double, with the integer factors of a product multiplied first, so that small
//! integers stay exact.

use std::collections::BTreeMap;

use partune_expr::{Atom, Bool, Expr, Over, Rat, Symbol, Term};

use super::Language;

/// How symbols are called in the code.
pub(super) struct Names {
    pub(super) language: Language,
    names: BTreeMap<String, String>,
}

/// Words of one of the languages, and names that the files use themselves.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "as", "break", "const", "continue", "else", "enum", "fn", "for", "if", "in", "int", "long", "loop",
    "match", "mod", "not", "and", "or", "return", "self", "static", "struct", "type", "use", "while",
    "double", "float", "char", "def", "del", "from", "is", "lambda", "pass", "try", "with", "choose",
    "main", "floor_div", "auto", "do", "case", "move", "ref", "let", "pub", "best", "least", "costs",
    "other", "cost", "demand", "timed", "uses", "then", "take", "room", "order", "meet", "met_then",
    "met_beside", "beside", "joined", "times", "mixed", "settle", "time_of", "less_drawn", "max", "min",
    "sum", "math", "range", "integer", "max_integer", "min_integer", "default", "void", "short",
    "signed", "unsigned", "near", "test", "check", "none", "true", "false", "trait", "impl", "where",
    "yield", "async", "await", "dyn", "super", "crate", "mut", "unsafe", "extern", "box", "final",
    "global", "import", "raise", "class", "except", "finally", "assert", "nonlocal", "elif", "goto",
    "sizeof", "switch", "typedef", "union", "volatile", "register", "inline", "restrict", "log2", "pow",
    "floor", "fabs", "y0", "y1", "j0", "j1",
];

impl Names {
    pub(super) fn new(language: Language) -> Names {
        Names { language, names: BTreeMap::new() }
    }

    /// The name of a symbol; made at its first use.
    pub(super) fn define(&mut self, name: &str) -> String {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let mut plain = String::new();
        for c in name.replace('/', "_over_").chars() {
            plain.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        }
        while KEYWORDS.contains(&plain.as_str()) || self.names.values().any(|other| *other == plain) {
            plain.push('_');
        }
        self.names.insert(name.to_owned(), plain.clone());
        plain
    }

    /// The name that was made.
    pub(super) fn named(&self, name: &str) -> String {
        self.symbol(&Symbol::int(name))
    }

    /// Makes names for the variables that an expression binds.
    pub(super) fn define_bound(&mut self, e: &Expr) {
        let _ = e.rebuild(&mut |atom| {
            if let Atom::Sum(over) | Atom::MaxOver(over) | Atom::MinOver(over) = atom {
                self.define(&over.variable.name);
            }
            None
        });
    }

    fn symbol(&self, symbol: &Symbol) -> String {
        let bound = || symbol.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.names.get(&*symbol.name).cloned().unwrap_or_else(bound)
    }

    /// A value of whatever type it has.
    fn typed(&self, e: &Expr, real: bool) -> String {
        if real { self.real(e) } else { self.integer(e) }
    }

    /// An integer expression; of what is a fraction by its form, the whole part.
    pub(super) fn integer(&self, e: &Expr) -> String {
        if !e.is_integer() {
            return self.floor(&self.real(e));
        }
        self.sum(e, |term| {
            let factors = term.factors.iter().flat_map(|(atom, exponent)| {
                std::iter::repeat_n(self.integer_atom(atom), usize::try_from(*exponent).unwrap_or(0))
            });
            product(&term.coefficient.num().abs().to_string(), factors.collect())
        })
    }

    /// An expression as a double.
    pub(super) fn real(&self, e: &Expr) -> String {
        if e.is_integer() {
            return match e.to_rat() {
                Some(value) => format!("{value}.0"),
                None => self.cast(&self.integer(e)),
            };
        }
        self.sum(e, |term| {
            let (whole, others): (Vec<_>, Vec<_>) =
                term.factors.iter().partition(|(atom, exponent)| *exponent > 0 && atom.is_integer());
            let whole = Term {
                factors: whole.into_iter().cloned().collect(),
                coefficient: Rat::int(term.coefficient.num().abs()),
            };
            let number = if whole.factors.is_empty() {
                format!("{}.0", whole.coefficient)
            } else {
                let factors = whole.factors.iter().flat_map(|(atom, exponent)| {
                    std::iter::repeat_n(self.integer_atom(atom), usize::try_from(*exponent).unwrap_or(0))
                });
                self.cast(&product(&whole.coefficient.to_string(), factors.collect()))
            };
            let mut above = Vec::new();
            let mut below = Vec::new();
            for (atom, exponent) in others {
                let list = if *exponent > 0 { &mut above } else { &mut below };
                let times = usize::try_from(exponent.abs()).unwrap_or(0);
                list.extend(std::iter::repeat_n(self.real_atom(atom), times));
            }
            if term.coefficient.den() != 1 {
                below.push(format!("{}.0", term.coefficient.den()));
            }
            let mut text = product(if number == "1.0" { "1" } else { &number }, above);
            if text == "1" {
                "1.0".clone_into(&mut text);
            }
            for divisor in below {
                text = format!("{text} / {divisor}");
            }
            text
        })
    }

    #[allow(clippy::unused_self)] // as its siblings
    fn sum(&self, e: &Expr, print: impl Fn(&Term) -> String) -> String {
        let mut text = String::new();
        // Positive terms first: no leading minus where it can be helped.
        let (positive, negative): (Vec<&Term>, Vec<&Term>) =
            e.terms().iter().partition(|term| term.coefficient.signum() > 0);
        for term in positive.iter().chain(&negative) {
            let sign = match (text.is_empty(), term.coefficient.signum() > 0) {
                (true, true) => "",
                (true, false) => "-",
                (false, true) => " + ",
                (false, false) => " - ",
            };
            text.push_str(sign);
            text.push_str(&print(term));
        }
        match e.terms().len() {
            0 => "0".to_owned(),
            1 if negative.is_empty() => text,
            _ => format!("({text})"),
        }
    }

    fn cast(&self, integer: &str) -> String {
        match self.language {
            Language::Rust => format!("(({integer}) as f64)"),
            Language::C => format!("(double)({integer})"),
            Language::Python => format!("float({integer})"),
        }
    }

    fn floor(&self, real: &str) -> String {
        match self.language {
            Language::Rust => format!("(({real}).floor() as i128)"),
            Language::C => format!("(integer)floor({real})"),
            Language::Python => format!("math.floor({real})"),
        }
    }

    fn integer_atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Symbol(symbol) => self.symbol(symbol),
            Atom::FloorDiv(a, b) if a.is_integer() && b.is_integer() => {
                format!("floor_div({}, {})", self.integer(a), self.integer(b))
            }
            Atom::FloorDiv(a, b) => self.floor(&format!("{} / ({})", self.real(a), self.real(b))),
            Atom::Max(args) => self.extreme(args, "max", false),
            Atom::Min(args) => self.extreme(args, "min", false),
            Atom::Iverson(condition) => {
                let condition = self.condition(condition);
                match self.language {
                    Language::Rust => format!("i128::from({condition})"),
                    Language::C => format!("(integer)({condition})"),
                    Language::Python => format!("int({condition})"),
                }
            }
            Atom::Power(_, e) => match self.language {
                Language::Rust => format!("(1_i128 << ({}))", self.integer(e)),
                Language::C => format!("((integer)1 << ({}))", self.integer(e)),
                Language::Python => format!("2 ** ({})", self.integer(e)),
            },
            Atom::Sum(over) => self.over(over, "sum", false),
            Atom::MaxOver(over) => self.over(over, "max", false),
            Atom::MinOver(over) => self.over(over, "min", false),
            Atom::Table(..) | Atom::Log2(_) | Atom::Group(_) => self.real_atom(atom),
        }
    }

    fn real_atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Symbol(symbol) if !symbol.integer => self.symbol(symbol),
            Atom::Max(args) if !atom.is_integer() => self.extreme(args, "max", true),
            Atom::Min(args) if !atom.is_integer() => self.extreme(args, "min", true),
            Atom::Sum(over) if !atom.is_integer() => self.over(over, "sum", true),
            Atom::MaxOver(over) if !atom.is_integer() => self.over(over, "max", true),
            Atom::MinOver(over) if !atom.is_integer() => self.over(over, "min", true),
            Atom::Table(name, args) => {
                let index = args.first().map_or_else(String::new, |arg| self.integer(arg));
                let table = self.table(name);
                if self.language == Language::Rust {
                    format!("{table}[({index}) as usize]")
                } else {
                    format!("{table}[{index}]")
                }
            }
            Atom::Log2(e) => match self.language {
                Language::Rust => format!("({}).log2()", self.real(e)),
                Language::C => format!("log2({})", self.real(e)),
                Language::Python => format!("math.log2({})", self.real(e)),
            },
            Atom::Power(base, e) if !atom.is_integer() => {
                let (base, e) = (self.real(&Expr::number(*base)), self.real(e));
                match self.language {
                    Language::Rust => format!("({base}).powf({e})"),
                    Language::C => format!("pow({base}, {e})"),
                    Language::Python => format!("({base}) ** ({e})"),
                }
            }
            Atom::Group(e) => self.real(e),
            _ => self.cast(&self.integer_atom(atom)),
        }
    }

    #[allow(clippy::unused_self)] // as its siblings
    pub(super) fn table(&self, name: &str) -> String {
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        format!("TABLE_{plain}")
    }

    fn extreme(&self, args: &[Expr], name: &str, real: bool) -> String {
        let mut values = args.iter().map(|arg| self.typed(arg, real));
        let first = values.next().unwrap_or_default();
        match self.language {
            Language::Rust => {
                let kind = if real { "f64" } else { "i128" };
                values.fold(first, |text, value| format!("{kind}::{name}({text}, {value})"))
            }
            Language::C => {
                let suffix = if real { "" } else { "_integer" };
                values.fold(first, |text, value| format!("{name}{suffix}({text}, {value})"))
            }
            Language::Python => {
                let rest: Vec<String> = values.collect();
                format!("{name}({first}, {})", rest.join(", "))
            }
        }
    }

    /// What has no closed form is a loop.
    fn over(&self, over: &Over, what: &str, real: bool) -> String {
        let v = self.symbol(&over.variable);
        let (lo, hi, body) = (self.integer(&over.lo), self.integer(&over.hi), self.typed(&over.body, real));
        match (self.language, what) {
            (Language::Rust, "sum") => {
                format!("(({lo})..=({hi})).map(|{v}: i128| {body}).sum::<{}>()", if real { "f64" } else { "i128" })
            }
            (Language::Rust, _) => {
                format!("(({lo})..=({hi})).map(|{v}: i128| {body}).reduce(|a, b| a.{what}(b)).unwrap_or_default()")
            }
            (Language::Python, "sum") => format!("sum({body} for {v} in range({lo}, {hi} + 1))"),
            (Language::Python, _) => format!("{what}(({body} for {v} in range({lo}, {hi} + 1)), default=0)"),
            (Language::C, _) => {
                let (kind, suffix) = if real { ("double", "") } else { ("integer", "_integer") };
                let step = if what == "sum" {
                    format!("r_ += {body};")
                } else {
                    format!("{kind} b_ = {body}; r_ = {v} == l_ ? b_ : {what}{suffix}(r_, b_);")
                };
                format!(
                    "({{ {kind} r_ = 0; integer l_ = {lo}; for (integer {v} = l_; {v} <= {hi}; {v}++) {{ {step} }} r_; }})"
                )
            }
        }
    }

    pub(super) fn condition(&self, condition: &Bool) -> String {
        let python = self.language == Language::Python;
        let list = |all: &[Bool], c: &str, word: &str| {
            let all: Vec<String> = all.iter().map(|one| format!("({})", self.condition(one))).collect();
            all.join(if python { word } else { c })
        };
        match condition {
            Bool::True => if python {
                "True"
            } else if self.language == Language::C {
                "1"
            } else {
                "true"
            }
            .to_owned(),
            Bool::False => if python {
                "False"
            } else if self.language == Language::C {
                "0"
            } else {
                "false"
            }
            .to_owned(),
            Bool::AtLeastZero(e) => self.comparison(e, ">="),
            Bool::AboveZero(e) => self.comparison(e, ">"),
            Bool::Zero(e) => self.comparison(e, "=="),
            Bool::Divides(a, b) => format!("{} % {} == 0", self.integer(b), self.integer(a)),
            Bool::Not(inner) => match &**inner {
                Bool::AtLeastZero(e) => self.comparison(e, "<"),
                Bool::AboveZero(e) => self.comparison(e, "<="),
                Bool::Zero(e) => self.comparison(e, "!="),
                other if python => format!("not ({})", self.condition(other)),
                other => format!("!({})", self.condition(other)),
            },
            Bool::And(all) => list(all, " && ", " and "),
            Bool::Or(all) => list(all, " || ", " or "),
        }
    }

    /// Positive terms on the left, the others on the right.
    fn comparison(&self, e: &Expr, relation: &str) -> String {
        let side = |positive: bool| {
            let terms = e.terms().iter().filter(|term| (term.coefficient.signum() > 0) == positive);
            let sum = terms.fold(Expr::zero(), |sum, term| {
                let factors =
                    term.factors.iter().fold(Expr::number(term.coefficient.abs()), |product, (atom, power)| {
                        product * Expr::from(atom.clone()).pow((*power).into())
                    });
                sum + factors
            });
            self.typed(&sum, !e.is_integer())
        };
        format!("{} {relation} {}", side(true), side(false))
    }
}

fn product(number: &str, factors: Vec<String>) -> String {
    let mut all = factors;
    if number != "1" || all.is_empty() {
        all.insert(0, number.to_owned());
    }
    all.join(" * ")
}
