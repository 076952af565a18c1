//! Expressions: types, names, functions, and how each becomes algebra.

use std::sync::Arc;

use partune_expr::{Bool, Context, Expr, Rat, Symbol, sum};

use super::application::firsts;
use super::items::shared;
use super::{Lower, Meaning, Scope, Type};
use crate::ast::{self, Binary, ExprKind, Item, Spanned};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::Draw;

/// Functions that are expanded at one time, each within the one before.
const DEEPEST: usize = 60;

const TOO_LARGE: &str = "division by zero, or a number or a formula that is too large";

/// A value, a condition, or nothing because an error was told.
#[derive(Clone)]
pub(super) enum Any {
    Value(Type, Expr),
    Condition(Bool),
}

impl<'a> Lower<'a> {
    /// A value of any type; conditions are errors.
    pub(super) fn expr(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> (Type, Expr) {
        match self.any(e, scope) {
            Any::Value(kind, value) => {
                if value.is_undefined() && kind != Type::Unknown {
                    let error = Diagnostic::error(e.span, TOO_LARGE);
                    let is_open = self.model.open().next().is_some();
                    self.tell(if is_open { error.help("give values with -D NAME=VALUE") } else { error });
                    return wrong();
                }
                (kind, value)
            }
            Any::Condition(condition) => {
                let constant = matches!(condition, Bool::True | Bool::False);
                if !constant || !matches!(e.node, ExprKind::Error) {
                    self.error(e.span, "a condition where a value is needed; `[..]` makes 1 or 0 of it");
                }
                wrong()
            }
        }
    }

    pub(super) fn number(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> (Type, Expr) {
        self.expr(e, scope)
    }

    pub(super) fn int(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Expr {
        let (kind, value) = self.expr(e, scope);
        if kind == Type::Real && !value.is_integer() {
            self.error(e.span, "an integer is needed here; `floor` or `ceil` make one");
        }
        value
    }

    pub(super) fn condition(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Bool {
        match self.any(e, scope) {
            Any::Condition(condition) => condition,
            Any::Value(kind, _) => {
                if kind != Type::Unknown {
                    self.error(e.span, "a value where a condition is needed; compare it with something");
                }
                Bool::True
            }
        }
    }

    /// A value or a distribution.
    pub(super) fn draw(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Draw {
        let ExprKind::Call(name, args) = &e.node else { return Draw::Fixed(self.expr(e, scope).1) };
        let wanted = match name.node.as_str() {
            "exp" | "empirical" => 1,
            "uniform" | "normal" | "erlang" => 2,
            _ => return Draw::Fixed(self.expr(e, scope).1),
        };
        if args.len() != wanted {
            self.error(e.span, format!("`{}` takes {wanted} argument(s), not {}", name.node, args.len()));
            return Draw::Fixed(Expr::zero());
        }
        if name.node == "empirical" {
            let ExprKind::Text(file) = &args[0].node else {
                self.error(args[0].span, "the name of a file of numbers, in quotes, is needed here");
                return Draw::Fixed(Expr::zero());
            };
            let values = self.numbers_of_file(file, args[0].span);
            if values.is_empty() {
                self.error(args[0].span, "there is no number to draw from");
            }
            if values.iter().any(|value| *value < Rat::ZERO) {
                self.error(args[0].span, "there is a negative number to draw from");
            }
            return Draw::Empirical(values.into());
        }
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg, scope).1);
        }
        let (first, second) = (values[0].clone(), values.get(1).cloned().unwrap_or_default());
        if name.node == "uniform" && (&first - &second).to_rat().is_some_and(|gap| gap > Rat::ZERO) {
            self.error(e.span, format!("no number lies between {first} and {second}"));
        }
        match name.node.as_str() {
            "exp" => Draw::Exponential { mean: first },
            "uniform" => Draw::Uniform { low: first, high: second },
            "normal" => Draw::Normal { mean: first, deviation: second },
            _ => Draw::Erlang { stages: first, mean: second },
        }
    }

    pub(super) fn any(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Any {
        let (kind, value) = match &e.node {
            ExprKind::Number(value) => {
                let kind = if value.is_integer() { Type::Int } else { Type::Real };
                (kind, Expr::number(*value))
            }
            ExprKind::Bool(value) => return Any::Condition(if *value { Bool::True } else { Bool::False }),
            ExprKind::Name(name) => return self.name(name, e.span, scope),
            ExprKind::Call(name, args) => return self.call(name, args, e.span, scope),
            ExprKind::Entry(name, index) => self.entry(name, index, scope),
            ExprKind::Negate(inner) => {
                let (kind, value) = self.expr(inner, scope);
                (kind, -value)
            }
            ExprKind::Not(inner) => return Any::Condition(self.condition(inner, scope).not()),
            ExprKind::Binary(operator, left, right) => return self.binary(*operator, left, right, scope),
            ExprKind::Iverson(condition) => (Type::Int, self.condition(condition, scope).iverson()),
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition, scope).iverson();
                let ((a, then), (b, otherwise)) = (self.expr(then, scope), self.expr(otherwise, scope));
                let value = &condition * &then + (Expr::one() - &condition) * otherwise;
                (joined(a, b), value)
            }
            ExprKind::Sum { variable, lo, hi, body } => {
                let (lo, hi) = (self.int(lo, scope), self.int(hi, scope));
                let symbol = self.variable(&variable.node);
                scope.push((variable.node.clone(), Type::Int, Expr::from(&symbol)));
                let (kind, body) = self.expr(body, scope);
                scope.pop();
                (kind, sum(&symbol, &lo, &hi, &body, &Context::default()))
            }
            ExprKind::Text(_) => {
                self.error(e.span, "a text where a value is needed");
                wrong()
            }
            ExprKind::Error => wrong(),
        };
        Any::Value(kind, value)
    }

    /// A symbol for a bound variable that no other has.
    pub(super) fn variable(&mut self, name: &str) -> Symbol {
        let count = self.variables.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let taken = self.model.params.iter().any(|param| param.name == name);
        if *count == 1 && !taken { Symbol::int(name) } else { Symbol::int(&format!("{name}.{count}")) }
    }

    fn name(&mut self, name: &'a str, span: Span, scope: &mut Scope) -> Any {
        if let Some((_, kind, value)) = scope.iter().rev().find(|(bound, ..)| bound == name) {
            return Any::Value(*kind, value.clone());
        }
        match self.names.get(name).map(|(meaning, _)| meaning.clone()) {
            Some(Meaning::Value(kind, value)) => Any::Value(kind, value),
            Some(Meaning::Let(item)) => self.function(item, name, span, Vec::new()),
            Some(Meaning::Table) => {
                self.error(span, format!("`{name}` is a table; `{name}[..]` is an entry of it"));
                nothing()
            }
            Some(
                Meaning::Resource(_)
                | Meaning::Event(_)
                | Meaning::Process(_)
                | Meaning::Domain(_)
                | Meaning::Data(_)
                | Meaning::Plan
                | Meaning::Phase(_),
            ) => {
                self.error(span, format!("`{name}` is no value"));
                nothing()
            }
            None => {
                let mut known: Vec<String> = scope.iter().map(|(bound, ..)| bound.clone()).collect();
                known.extend(self.names.keys().map(|&name| name.to_owned()));
                self.unknown(name, span, "value", &known);
                nothing()
            }
        }
    }

    /// The body of a `let` with its arguments bound.
    pub(super) fn function(&mut self, item: usize, name: &str, span: Span, args: Vec<(Type, Expr)>) -> Any {
        let file = self.file;
        let Item::Let { params, body, .. } = &file.items[item] else { return nothing() };
        if params.len() != args.len() {
            self.error(span, format!("`{name}` takes {} argument(s), not {}", params.len(), args.len()));
            return nothing();
        }
        if self.expanding.contains(&item) {
            self.error(span, format!("`{name}` is defined by itself"));
            return nothing();
        }
        if self.expanding.len() > DEEPEST {
            self.error(span, format!("`{name}` is used in more than {DEEPEST} others, each within the next"));
            return nothing();
        }
        let key = (item, args);
        if let Some(known) = self.expanded.get(&key) {
            return known.clone();
        }
        let bound = params.iter().zip(&key.1);
        let mut inner: Scope = bound.map(|(param, (kind, value))| (param.node.clone(), *kind, value.clone())).collect();
        self.expanding.push(item);
        let value = self.any(body, &mut inner);
        self.expanding.pop();
        self.expanded.insert(key, value.clone());
        value
    }

    fn call(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], span: Span, scope: &mut Scope) -> Any {
        if name.node == "len" {
            return self.length(args, span, scope);
        }
        let meaning = self.names.get(name.node.as_str()).map(|(meaning, _)| meaning.clone());
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg, scope));
        }
        if let Some(Meaning::Let(item)) = meaning {
            return self.function(item, &name.node, span, values);
        }
        let kind = values.iter().fold(Type::Int, |kind, (own, _)| joined(kind, *own));
        let list: Vec<&Expr> = values.iter().map(|(_, value)| value).collect();
        let (kind, value) = match (name.node.as_str(), &list[..]) {
            ("max", [_, ..]) => (kind, Expr::max(list)),
            ("min", [_, ..]) => (kind, Expr::min(list)),
            ("floor", [one]) => (Type::Int, one.floor()),
            ("ceil", [one]) => (Type::Int, one.ceil()),
            ("abs", [one]) => (kind, one.abs()),
            ("log2", [one]) => {
                let value = one.log2();
                if value.is_undefined() {
                    self.error(span, format!("the logarithm of {one}"));
                    return nothing();
                }
                (if value.is_integer() { Type::Int } else { Type::Real }, value)
            }
            ("exp" | "uniform" | "normal" | "erlang" | "empirical", _) => {
                self.error(span, "a distribution stands only as a whole duration or trip count");
                return nothing();
            }
            ("max" | "min" | "floor" | "ceil" | "abs" | "log2", _) => {
                self.error(span, format!("`{}` does not take {} arguments", name.node, args.len()));
                return nothing();
            }
            _ => {
                let known: Vec<String> = self
                    .names
                    .iter()
                    .filter(|&(_name, (meaning, _))| matches!(meaning, Meaning::Let(_)))
                    .map(|(name, (_meaning, _))| (*name).to_owned())
                    .chain(super::BUILT_IN.iter().map(|&name| name.to_owned()))
                    .collect();
                self.unknown(&name.node, name.span, "function", &known);
                return nothing();
            }
        };
        Any::Value(kind, value)
    }

    fn length(&mut self, args: &'a [ast::Expr], span: Span, scope: &mut Scope) -> Any {
        if let [Spanned { node: ExprKind::Entry(name, index), .. }] = args
            && let [row] = &index[..]
        {
            let first = firsts(&name.node);
            if self.model.tables.contains_key(&first) {
                let row = self.int(row, scope);
                let (begin, end) = (self.at(&first, &row, name), self.at(&first, &(&row + Expr::one()), name));
                return Any::Value(Type::Int, end - begin);
            }
        }
        if let [Spanned { node: ExprKind::Name(name), .. }] = args
            && let Some(values) = self.model.tables.get(&firsts(name))
        {
            return Any::Value(Type::Int, Expr::from(values.len() as i64 - 1));
        }
        if let [Spanned { node: ExprKind::Name(name), .. }] = args
            && let Some(values) = self.model.tables.get(name.as_str())
        {
            return Any::Value(Type::Int, Expr::from(values.len() as i64));
        }
        self.error(span, "`len` takes the name of a table, or a row of a table of rows");
        nothing()
    }

    /// An entry of a table by its name as it is kept; the number itself where it is known.
    fn at(&mut self, table: &Arc<str>, index: &Expr, name: &ast::Name) -> Expr {
        let Some(position) = index.to_int() else { return Expr::table(table, vec![index.clone()]) };
        let values = self.model.tables.get(table);
        let entry = usize::try_from(position).ok().and_then(|position| values?.get(position));
        let entry = entry.copied();
        entry.map_or_else(
            || {
                self.error(name.span, format!("`{}` has no such row", name.node));
                Expr::undefined()
            },
            Expr::number,
        )
    }

    fn entry(&mut self, name: &'a ast::Name, index: &'a [ast::Expr], scope: &mut Scope) -> (Type, Expr) {
        let mut values = Vec::new();
        for e in index {
            values.push(self.int(e, scope));
        }
        if self.model.tables.contains_key(&firsts(&name.node)) {
            let text = format!("`{0}` is a table of rows: `for n in {0}[..]` and `len({0}[..])` take a row", name.node);
            self.error(name.span, text);
            return wrong();
        }
        let Some(entries) = self.model.tables.get(name.node.as_str()).cloned() else {
            let known: Vec<String> = self.model.tables.keys().map(ToString::to_string).collect();
            self.unknown(&name.node, name.span, "table", &known);
            return wrong();
        };
        let [only] = &values[..] else {
            self.error(name.span, "a table has one index");
            return wrong();
        };
        let kind = if entries.iter().all(|entry| entry.is_integer()) { Type::Int } else { Type::Real };
        if let Some(position) = only.to_int() {
            let entry = usize::try_from(position).ok().and_then(|position| entries.get(position));
            return if let Some(entry) = entry {
                (kind, Expr::number(*entry))
            } else {
                let text = format!("`{}` has entries 0 to {}, not {position}", name.node, entries.len() as i64 - 1);
                self.error(name.span, text);
                wrong()
            };
        }
        (kind, Expr::table(&shared(&name.node), values))
    }

    fn binary(&mut self, operator: Binary, left: &'a ast::Expr, right: &'a ast::Expr, scope: &mut Scope) -> Any {
        if let Binary::And | Binary::Or = operator {
            let both = [self.condition(left, scope), self.condition(right, scope)];
            return Any::Condition(if operator == Binary::And { Bool::all(both) } else { Bool::any(both) });
        }
        let ((a, x), (b, y)) = (self.expr(left, scope), self.expr(right, scope));
        if a == Type::Unknown || b == Type::Unknown {
            let compares = !matches!(
                operator,
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::IntDiv | Binary::Mod | Binary::Pow
            );
            return if compares { Any::Condition(Bool::True) } else { nothing() };
        }
        let kind = joined(a, b);
        if matches!(operator, Binary::IntDiv | Binary::Mod | Binary::Divides) && kind != Type::Int {
            self.error(left.span.to(right.span), "`div`, `mod` and `|` are for integers");
            return nothing();
        }
        let divisor = match operator {
            Binary::Div | Binary::IntDiv | Binary::Mod => Some((&y, right.span)),
            Binary::Divides => Some((&x, left.span)),
            _ => None,
        };
        if let Some((_, span)) = divisor.filter(|(divisor, _)| divisor.is_zero()) {
            self.error(span, "division by zero");
            return nothing();
        }
        if matches!(operator, Binary::IntDiv | Binary::Mod) && y.to_rat().is_some_and(|value| value < Rat::ZERO) {
            self.error(right.span, "the divisor of `div` and `mod` must be positive");
            return nothing();
        }
        let value = match operator {
            Binary::Add => &x + &y,
            Binary::Sub => &x - &y,
            Binary::Mul => &x * &y,
            Binary::Div if ast::is_fraction(left, right) => return Any::Value(Type::Real, x.over(&y)),
            Binary::Div if kind == Type::Int => x.floor_div(&y),
            Binary::Div => x.over(&y),
            Binary::IntDiv => x.floor_div(&y),
            Binary::Mod => x.modulo(&y),
            Binary::Pow => {
                let power = x.power(&y);
                if power.is_undefined() {
                    let text = match (x.to_rat(), y.to_int()) {
                        (Some(Rat::ZERO), Some(_)) => "division by zero",
                        (Some(_), Some(_)) => TOO_LARGE,
                        _ => "a power must have a constant base or a small integer exponent",
                    };
                    self.error(left.span.to(right.span), text);
                    return nothing();
                }
                // Of integers it counts as one; a negative exponent is told when it comes up.
                let fraction = power.to_rat().is_some_and(|value| !value.is_integer());
                return Any::Value(if fraction { Type::Real } else { kind }, power);
            }
            Binary::Eq => return Any::Condition(Bool::eq(&x, &y)),
            Binary::Ne => return Any::Condition(Bool::eq(&x, &y).not()),
            Binary::Lt => return Any::Condition(Bool::lt(&x, &y)),
            Binary::Le => return Any::Condition(Bool::le(&x, &y)),
            Binary::Gt => return Any::Condition(Bool::lt(&y, &x)),
            Binary::Ge => return Any::Condition(Bool::le(&y, &x)),
            Binary::Divides => return Any::Condition(Bool::divides(&x, &y)),
            Binary::And | Binary::Or => return nothing(),
        };
        Any::Value(kind, value)
    }
}

fn joined(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Unknown, _) | (_, Type::Unknown) => Type::Unknown,
        (Type::Int, Type::Int) => Type::Int,
        _ => Type::Real,
    }
}

fn wrong() -> (Type, Expr) {
    (Type::Unknown, Expr::undefined())
}

fn nothing() -> Any {
    Any::Value(Type::Unknown, Expr::undefined())
}
