//! Expressions and conditions, loosest first: or, and, not, comparison and divides, sum, product, power, atom. For `parser`.

use partune_expr::Rat;

use super::{DEPTH, Parse, Parser};
use crate::ast::{Binary, Expr, ExprKind, Spanned};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::Kind;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.chain(&[("or", Binary::Or)], |parser| parser.chain(&[("and", Binary::And)], Parser::negation))
    }

    /// Operators of one rank, grouped to the left; each counts as nesting, because the tree is as deep.
    fn chain(&mut self, operators: &[(&str, Binary)], inner: impl Fn(&mut Self) -> Parse<Expr>) -> Parse<Expr> {
        self.nested(|parser| {
            let begin = parser.peek().span;
            let mut left = inner(parser)?;
            let mut deeper = 0;

            loop {
                let Some((_, operator)) = operators.iter().find(|(text, _)| parser.is(text)) else { break Ok(left) };
                let sign = parser.next();
                deeper += 1;
                if deeper > DEPTH {
                    let text = format!("more than {DEPTH} operators in one expression");
                    let help = "give parts names with `let`, or use `sum`";
                    break Err(parser.tell(Diagnostic::error(sign.span, text).help(help)));
                }
                let right = inner(parser)?;
                let node = ExprKind::Binary(*operator, Box::new(left), Box::new(right));
                left = Spanned { node, span: parser.since(begin) };
            }
        })
    }

    fn negation(&mut self) -> Parse<Expr> {
        let begin = self.peek().span;
        if self.take("not") {
            let inner = self.nested(Self::negation)?;
            return Ok(Spanned { node: ExprKind::Not(Box::new(inner)), span: self.since(begin) });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parse<Expr> {
        const OPERATORS: &[(&str, Binary)] = &[
            ("=", Binary::Eq),
            ("!=", Binary::Ne),
            ("<", Binary::Lt),
            ("<=", Binary::Le),
            (">", Binary::Gt),
            (">=", Binary::Ge),
            ("|", Binary::Divides),
        ];
        let begin = self.peek().span;
        let left = self.sum_expr()?;
        let Some((_, operator)) = OPERATORS.iter().find(|(text, _)| self.is(text)) else { return Ok(left) };
        self.next();
        let right = self.sum_expr()?;
        let node = ExprKind::Binary(*operator, Box::new(left), Box::new(right));
        Ok(Spanned { node, span: self.since(begin) })
    }

    pub(super) fn sum_expr(&mut self) -> Parse<Expr> {
        self.chain(&[("+", Binary::Add), ("-", Binary::Sub)], |parser| {
            let operators = [("*", Binary::Mul), ("/", Binary::Div), ("div", Binary::IntDiv), ("mod", Binary::Mod)];
            parser.chain(&operators, Self::signed)
        })
    }

    fn signed(&mut self) -> Parse<Expr> {
        let begin = self.peek().span;
        if self.take("-") {
            let inner = self.nested(Self::signed)?;
            return Ok(Spanned { node: ExprKind::Negate(Box::new(inner)), span: self.since(begin) });
        }
        let base = self.atom()?;
        if self.take("^") {
            let exponent = self.nested(Self::signed)?;
            let node = ExprKind::Binary(Binary::Pow, Box::new(base), Box::new(exponent));
            return Ok(Spanned { node, span: self.since(begin) });
        }
        Ok(base)
    }

    fn atom(&mut self) -> Parse<Expr> {
        let begin = self.peek();
        let node = match (begin.kind, begin.text) {
            (Kind::Number, text) => {
                self.next();
                self.number(text, begin.span)
            }
            (Kind::Text, text) => {
                self.next();
                ExprKind::Text(text.to_owned())
            }
            (Kind::Sign, "(") => {
                self.next();
                let inner = self.nested(Self::expr)?;
                self.expect(")")?;
                inner.node
            }
            (Kind::Sign, "[") => {
                self.next();
                let condition = self.nested(Self::expr)?;
                self.expect("]")?;
                ExprKind::Iverson(Box::new(condition))
            }
            (Kind::Word, "true" | "false") => {
                self.next();
                ExprKind::Bool(begin.text == "true")
            }
            (Kind::Word, "if") => {
                self.next();
                let condition = self.nested(Self::expr)?;
                self.expect("then")?;
                let then = self.nested(Self::expr)?;
                self.expect("else")?;
                let otherwise = self.nested(Self::expr)?;
                ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise))
            }
            (Kind::Word, "sum") => {
                self.next();
                self.expect("(")?;
                let variable = self.name()?;
                self.expect("=")?;
                let lo = Box::new(self.nested(Self::expr)?);
                self.expect(",")?;
                let hi = Box::new(self.nested(Self::expr)?);
                self.expect(")")?;
                // As far as a product reaches: `sum(i=1,n) a*i + b` is `(sum a*i) + b`.
                let operators = [("*", Binary::Mul), ("/", Binary::Div), ("div", Binary::IntDiv), ("mod", Binary::Mod)];
                let body = Box::new(self.chain(&operators, Self::signed)?);
                ExprKind::Sum { variable, lo, hi, body }
            }
            (Kind::Word, _) => {
                let name = self.name()?;
                if self.take("(") {
                    let args = if self.is(")") { Vec::new() } else { self.nested(Self::list)? };
                    self.expect(")")?;
                    ExprKind::Call(name, args)
                } else if self.take("[") {
                    let index = self.nested(Self::list)?;
                    self.expect("]")?;
                    ExprKind::Entry(name, index)
                } else {
                    ExprKind::Name(name.node)
                }
            }
            _ => return Err(self.wanted("an expression")),
        };
        Ok(Spanned { node, span: self.since(begin.span) })
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        if let Some(value) = quantity(text) {
            return ExprKind::Number(value);
        }
        let (digits, _) = unit(text);
        let clear = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
        let error = if clear {
            Diagnostic::error(span, "a number of more than 38 digits")
        } else {
            Diagnostic::error(span, format!("`{text}` is no number")).help("units are ns, us, ms and s")
        };
        self.tell(error);
        ExprKind::Error
    }
}

/// A number with an optional unit of time, in seconds; `None` for what is none, and for more than 38 digits.
pub fn quantity(text: &str) -> Option<Rat> {
    let (digits, power) = unit(text);
    Rat::parse(digits).map(|value| value * Rat::int(10).pow(power)).filter(|value| !value.is_undefined())
}

/// Whether a text is a number with an optional unit of time, if one of any size and of any number of digits is meant.
pub fn is_quantity(text: &str) -> bool {
    let is_of_number = |it: char| it.is_ascii_digit() || ".eE+-".contains(it);
    let (digits, _) = unit(text);
    digits.chars().all(is_of_number) && digits.parse::<f64>().is_ok()
}

/// A number without its unit, and the power of ten that the unit stands for.
fn unit(text: &str) -> (&str, i64) {
    const UNITS: &[(&str, i64)] = &[("ns", -9), ("us", -6), ("µs", -6), ("μs", -6), ("ms", -3), ("s", 0)];
    UNITS.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power))).unwrap_or((text, 0))
}
