//! A syntax tree into a checked model: names resolved, functions and processes expanded, parameters given values.
//!
//! Everything that is wrong is told; a model comes out only if nothing is. Processes that call themselves stay calls.

mod application;
mod expr;
mod items;
mod plan;
mod recursion;
mod steps;
mod terms;

use std::collections::{BTreeMap, BTreeSet};

use partune_base::alike;
use partune_expr::{Expr, Rat};

use crate::ast::{self, File, Item, Kind, Name};
use crate::diagnostic::{Diagnostic, Span, has_errors};
use crate::model::Model;

/// Values of parameters by name.
pub type Values = BTreeMap<String, Rat>;

/// Reads a file that a model names, as text.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Terms that a model may have after expansion.
const MAX_TERMS: usize = 20_000;

/// Resolves and checks. Parameters with a value are replaced by it.
pub fn lower(source: &str, file: &File, values: &Values, files: Files<'_>) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lower = Lower {
        source,
        files,
        model: Model::default(),
        diagnostics: Vec::new(),
        names: BTreeMap::new(),
        file,
        variables: BTreeMap::new(),
        expanding: Vec::new(),
        expanded: BTreeMap::new(),
        terms: 0,
        recursive: BTreeSet::new(),
        lowered: BTreeMap::new(),
        placed: Vec::new(),
        workers: Vec::new(),
    };
    lower.collect();
    lower.params(values);
    lower.assumptions();
    lower.tables();
    lower.resources();
    lower.application();
    lower.find_recursion();
    lower.alternatives();
    lower.plans();
    lower.endless();
    lower.check_unused_bodies();
    let Lower { model, mut diagnostics, .. } = lower;
    diagnostics.sort_by(|a, b| a.span.cmp(&b.span).then_with(|| a.message.cmp(&b.message)));
    diagnostics.dedup();
    (if has_errors(&diagnostics) { None } else { Some(model) }, diagnostics)
}

/// What a name at the top of a file means.
#[derive(Clone)]
enum Meaning {
    /// A parameter, and what stands for it.
    Value(Type, Expr),
    Let(usize),
    Resource(usize),
    Event(usize),
    Table,
    /// A domain, and data, by their place in the model.
    Domain(usize),
    Data(usize),
    /// A process or an alternative, by its item.
    Process(usize),
    Plan,
    /// A phase of plans, by its place in the model.
    Phase(usize),
}

/// What kind of value an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Int,
    Real,
    /// Was already told to be wrong.
    Unknown,
}

/// Names that are bound inside a process or function.
type Scope = Vec<(String, Type, Expr)>;

struct Lower<'a> {
    source: &'a str,
    files: Files<'a>,
    file: &'a File,
    model: Model,
    diagnostics: Vec<Diagnostic>,
    names: BTreeMap<&'a str, (Meaning, Span)>,
    /// How many loop variables of a name there are, so that each is unique.
    variables: BTreeMap<String, usize>,
    /// Items that are being expanded, against endless expansion of functions.
    expanding: Vec<usize>,
    /// What functions are with these arguments, so that each is expanded once however often it is used.
    expanded: BTreeMap<(usize, Vec<(Type, Expr)>), expr::Any>,
    terms: usize,
    /// Items of processes that reach themselves.
    recursive: BTreeSet<usize>,
    /// Recursive processes by item, and where they are in the model.
    lowered: BTreeMap<usize, usize>,
    /// Data that have a layout.
    placed: Vec<usize>,
    /// Who does the tasks of the loops over domains that are being expanded.
    workers: Vec<crate::model::cost::Worker>,
}

impl<'a> Lower<'a> {
    fn tell(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < 200 {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.tell(Diagnostic::error(span, message));
    }

    /// Gives every item's name a meaning; a name has one.
    fn collect(&mut self) {
        let file = self.file;
        for (index, item) in file.items.iter().enumerate() {
            let (name, meaning): (&'a Name, Meaning) = match item {
                Item::Param(param) => (&param.name, Meaning::Value(Type::Unknown, Expr::zero())),
                Item::Let { name, .. } => (name, Meaning::Let(index)),
                Item::Resource(resource) => (&resource.name, Meaning::Resource(usize::MAX)),
                Item::Event(event) => (&event.name, Meaning::Event(usize::MAX)),
                Item::Table(table) => (&table.name, Meaning::Table),
                Item::Domain(domain) => (&domain.name, Meaning::Domain(usize::MAX)),
                Item::Data(data) => (&data.name, Meaning::Data(usize::MAX)),
                Item::Proc { name, .. } | Item::Alt { name, .. } => (name, Meaning::Process(index)),
                Item::Plan(plan) => (&plan.name, Meaning::Plan),
                Item::Layout(_)
                | Item::Decompose(_)
                | Item::Machine(_)
                | Item::Redistribute { .. }
                | Item::Main { .. } => continue,
            };
            self.define(name, meaning);
        }
        self.phases();
        let mains: Vec<Span> = file
            .items
            .iter()
            .filter_map(|item| if let Item::Main { span, .. } = item { Some(*span) } else { None })
            .collect();
        for span in mains.iter().skip(1) {
            self.error(*span, "there is a `main` already");
        }
        if mains.is_empty() && !file.items.iter().any(|item| matches!(item, Item::Alt { .. })) {
            let end = self.source.len();
            let error = Diagnostic::error(Span::new(end, end), "there is no `main` and no `alt`");
            self.tell(error.help("end the file with `main = ...;`"));
        }
    }

    fn define(&mut self, name: &'a Name, meaning: Meaning) {
        if BUILT_IN.contains(&name.node.as_str()) {
            self.error(name.span, format!("`{}` is part of the language", name.node));
        } else if let Some((_, first)) = self.names.get(name.node.as_str()) {
            let line = self.source[..first.begin as usize].matches('\n').count() + 1;
            self.error(name.span, format!("`{}` is already defined in line {line}", name.node));
        } else {
            self.names.insert(&name.node, (meaning, name.span));
        }
    }

    /// Says that a name is unknown, and which known one is near.
    fn unknown(&mut self, name: &str, span: Span, what: &str, known: &[String]) {
        self.tell(nearest(what, name, span, known));
    }
}

/// The error that a name is unknown, with the known one that is nearest, or all of few.
pub(crate) fn nearest(what: &str, name: &str, span: Span, known: &[String]) -> Diagnostic {
    let error = Diagnostic::error(span, format!("no {what} `{name}`"));
    match alike(name, known.iter().map(String::as_str), 1).pop() {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if (1..=12).contains(&known.len()) => error.help(format!("there are {}", known.join(", "))),
        None => error,
    }
}

/// Functions and resources of the language.
const BUILT_IN: &[&str] = &[
    "max",
    "min",
    "floor",
    "ceil",
    "abs",
    "log2",
    "len",
    "exp",
    "uniform",
    "normal",
    "erlang",
    "empirical",
    "rho",
    "iter",
];

/// The text of a span in one line.
fn excerpt(source: &str, span: Span) -> String {
    let text = source.get(span.range()).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn item_body(item: &Item) -> Option<(&[ast::Name], &ast::Term)> {
    match item {
        Item::Proc { params, body, .. } => Some((params, body)),
        Item::Alt { body, .. } | Item::Main { body, .. } | Item::Redistribute { body, .. } => Some((&[], body)),
        Item::Plan(plan) => Some((&[], &plan.body)),
        _ => None,
    }
}

/// Values of the parameters that have a default and are not given; defaults may use what is given.
pub fn defaults(file: &File, given: &Values) -> Values {
    let mut values = Values::new();
    // Each round may make another default computable.
    for _ in 0..=file.items.len() {
        let before = values.len();
        for item in &file.items {
            let Item::Param(ast::Param { name, default: Some(default), .. }) = item else { continue };
            if given.contains_key(&name.node) || values.contains_key(&name.node) {
                continue;
            }
            let kind = |name: &str| {
                let mut params =
                    file.items.iter().filter_map(|item| if let Item::Param(it) = item { Some(it) } else { None });
                params.find(|param| param.name.node == name).map(|param| param.kind)
            };
            let known = |name: &str| Some((kind(name)?, given.get(name).or_else(|| values.get(name)).copied()?));
            if let Some(value) = constant(default, &known) {
                values.insert(name.node.clone(), value);
            }
        }
        if values.len() == before {
            break;
        }
    }
    values
}

/// The value of simple arithmetic on parameters whose kinds and values are known.
pub(crate) fn constant(e: &ast::Expr, known: &dyn Fn(&str) -> Option<(Kind, Rat)>) -> Option<Rat> {
    arithmetic(e, known).map(|(_, value)| value).filter(|value| !value.is_undefined())
}

fn arithmetic(e: &ast::Expr, known: &dyn Fn(&str) -> Option<(Kind, Rat)>) -> Option<(Type, Rat)> {
    use ast::{Binary, ExprKind};
    let integer = |value: Rat| if value.is_integer() { Type::Int } else { Type::Real };
    match &e.node {
        ExprKind::Number(value) => Some((integer(*value), *value)),
        ExprKind::Name(name) => {
            known(name).map(|(kind, value)| (if kind == Kind::Int { Type::Int } else { Type::Real }, value))
        }
        ExprKind::Negate(inner) => arithmetic(inner, known).map(|(kind, value)| (kind, -value)),
        ExprKind::Binary(operator, left, right) => {
            let ((left_kind, a), (right_kind, b)) = (arithmetic(left, known)?, arithmetic(right, known)?);
            let kind = left_kind.max(right_kind);
            let value = match operator {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div if ast::is_fraction(left, right) => return Some((Type::Real, a / b)),
                Binary::Div if kind == Type::Int => (a / b).floor(),
                Binary::Div => a / b,
                Binary::IntDiv => (a / b).floor(),
                Binary::Pow => a.pow(i64::try_from(b.to_int()?).ok()?),
                _ => return None,
            };
            Some((if value.is_integer() { kind } else { Type::Real }, value))
        }
        _ => None,
    }
}
