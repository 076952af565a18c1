//! Parameters, assumptions, tables, resources, alternatives.

use std::sync::Arc;

use partune_expr::{Bool, Expr, Quotient, Rat, Symbol};

use super::application::firsts;
use super::recursion::called;
use super::{Lower, MAX_TERMS, Meaning, Type, Values, excerpt, item_body};
use crate::ast::{self, Binary, Dimension, ExprKind, Item, Kind, Multiplicity, TableSource, TermKind};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Alternative, Assumption, Event, Param, Resource, Step, Term};

/// Entries that one table may have.
const MAX_ENTRIES: usize = 1 << 20;

impl<'a> Lower<'a> {
    /// Gives parameters their values, and what has none a symbol; `P | N` makes N a product.
    pub(super) fn params(&mut self, values: &Values) {
        let file = self.file;
        let params: Vec<&ast::Param> = file
            .items
            .iter()
            .filter_map(|item| if let Item::Param(param) = item { Some(param) } else { None })
            .collect();
        for name in values.keys().filter(|name| !params.iter().any(|param| param.name.node == **name)) {
            let known: Vec<String> = params.iter().map(|param| param.name.node.clone()).collect();
            self.unknown(&name.clone(), Span::default(), "parameter", &known);
        }
        for param in &params {
            let name = &param.name.node;
            let value = values.get(name).copied();
            if let Some(value) = value {
                self.check_kind(name, param.kind, value, param.name.span);
            }
            let kind = if param.kind == Kind::Int { Type::Int } else { Type::Real };
            let symbol = Symbol { name: name.as_str().into(), integer: param.kind == Kind::Int };
            let stands = value.map_or_else(|| Expr::from(&symbol), Expr::number);
            self.names.insert(name, (Meaning::Value(kind, stands), param.name.span));
            self.model.params.push(Param { name: name.clone(), kind: param.kind, value, span: param.name.span });
        }
        // Defaults may speak of parameters before and after; each is evaluated with what is known.
        let mut split: Vec<&str> = Vec::new();
        for param in &params {
            for assumption in &param.assumptions {
                self.quotient(assumption, values, &mut split);
            }
        }
    }

    fn check_kind(&mut self, name: &str, kind: Kind, value: Rat, span: Span) {
        let wrong = match kind {
            Kind::Int => {
                (!value.is_integer() || i64::try_from(value.num()).is_err()).then_some("an integer of 64 bits")
            }
            Kind::Time => (value < Rat::ZERO).then_some("a time, at least 0"),
            Kind::Prob => (value < Rat::ZERO || value > Rat::ONE).then_some("a probability, 0 to 1"),
            Kind::Real => None,
        };
        if let Some(wrong) = wrong {
            self.error(span, format!("{name} = {value} is not {wrong}"));
        }
    }

    /// `P | N` for an open N, not split before: N is P times a new symbol, which is printed `N/P`.
    fn quotient(&mut self, assumption: &'a ast::Expr, values: &Values, split: &mut Vec<&'a str>) {
        let ExprKind::Binary(Binary::Divides, divisor, dividend) = &assumption.node else { return };
        let ExprKind::Name(name) = &dividend.node else { return };
        let of = self.model.params.iter().find(|param| param.name == *name);
        if of.is_none_or(|param| param.kind != Kind::Int) || values.contains_key(name) || split.contains(&name.as_str())
        {
            return;
        }
        let (kind, by) = self.expr(divisor, &mut Vec::new());
        let own = Symbol::int(name);
        if kind != Type::Int || by.mentions(&own) || by.is_zero() || by.terms().len() != 1 {
            return;
        }
        // A divisor that was split later would bring N back through its own quotient.
        let text = excerpt(self.source, divisor.span);
        let symbol = Symbol::int(&format!("{name}/{text}"));
        let stands = &by * Expr::from(&symbol);
        split.push(name);
        if let Some((_, span)) = self.names.get(name.as_str()) {
            let span = *span;
            self.names.insert(name, (Meaning::Value(Type::Int, stands), span));
        }
        self.model.quotients.push(Quotient { symbol, dividend: Expr::from(&own), divisor: by });
    }

    pub(super) fn assumptions(&mut self) {
        let file = self.file;
        for item in &file.items {
            let Item::Param(param) = item else { continue };
            for assumption in &param.assumptions {
                let condition = self.condition(assumption, &mut Vec::new());
                let text = excerpt(self.source, assumption.span);
                if condition == Bool::False {
                    let values = self.values_in(assumption);
                    self.error(assumption.span, format!("the values given contradict `{text}`{values}"));
                }
                self.model.assumptions.push(Assumption { condition, text, span: assumption.span });
            }
        }
    }

    fn values_in(&self, e: &ast::Expr) -> String {
        let text = excerpt(self.source, e.span);
        let named = |name: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let given = self.model.params.iter().filter(|param| named(&param.name));
        let given: Vec<String> =
            given.filter_map(|param| param.value.map(|value| format!("{} = {value}", param.name))).collect();
        if given.is_empty() { String::new() } else { format!(" ({})", given.join(", ")) }
    }

    pub(super) fn tables(&mut self) {
        let file = self.file;
        for item in &file.items {
            let Item::Table(table) = item else { continue };
            let values = match &table.source {
                TableSource::Values(list) => self.constants(list),
                TableSource::File(name) if table.rows => {
                    let rows = self.rows_of_file(name, table.source_span);
                    self.keep_rows(table, &rows)
                }
                TableSource::File(name) => self.numbers_of_file(name, table.source_span),
                TableSource::Rows(list) => {
                    let rows: Vec<Vec<Rat>> = list.iter().map(|row| self.constants(row)).collect();
                    self.keep_rows(table, &rows)
                }
            };
            if values.len() > MAX_ENTRIES {
                self.error(table.source_span, format!("more than {MAX_ENTRIES} entries"));
                continue;
            }
            self.model.tables.insert(table.name.node.as_str().into(), values.into());
        }
    }

    /// Where rows begin becomes a table of its own; gives their items.
    fn keep_rows(&mut self, table: &ast::Table, rows: &[Vec<Rat>]) -> Vec<Rat> {
        let mut first = vec![Rat::ZERO];
        let mut count = 0;
        for row in rows {
            count += row.len() as i64;
            first.push(count.into());
        }
        if first.len() > MAX_ENTRIES {
            self.error(table.source_span, format!("more than {MAX_ENTRIES} rows"));
        }
        self.model.tables.insert(firsts(&table.name.node), first.into());
        rows.concat()
    }

    /// A row of numbers a line; `-` is a row without any, and lines that say nothing are none.
    fn rows_of_file(&mut self, name: &str, span: Span) -> Vec<Vec<Rat>> {
        let text = match (self.files)(name) {
            Ok(text) => text,
            Err(reason) => {
                self.error(span, format!("{name}: {reason}"));
                return Vec::new();
            }
        };
        let mut rows = Vec::new();
        let mut left = MAX_ENTRIES + 1;
        for (line, words) in text.lines().enumerate() {
            let words: Vec<&str> = words_of(words).take(left).collect();
            match words[..] {
                [] => {}
                ["-"] => rows.push(Vec::new()),
                _ => {
                    let row: Option<Vec<Rat>> = words.iter().map(|word| Rat::parse(word)).collect();
                    let Some(row) = row else {
                        self.error(span, format!("{name}: line {} has what is no number", line + 1));
                        return rows;
                    };
                    left -= row.len();
                    rows.push(row);
                }
            }
            if left == 0 || rows.len() > MAX_ENTRIES {
                break;
            }
        }
        rows
    }

    fn constants(&mut self, list: &'a [ast::Expr]) -> Vec<Rat> {
        let mut values = Vec::new();
        for entry in list {
            let (_, value) = self.number(entry, &mut Vec::new());
            match value.to_rat() {
                Some(value) => values.push(value),
                None if value.is_undefined() => {}
                None => self.error(entry.span, "an entry of a table must be a number"),
            }
        }
        values
    }

    /// Numbers separated by white space or commas; lines that begin with `#` are comments.
    pub(super) fn numbers_of_file(&mut self, name: &str, span: Span) -> Vec<Rat> {
        let text = match (self.files)(name) {
            Ok(text) => text,
            Err(reason) => {
                self.error(span, format!("{name}: {reason}"));
                return Vec::new();
            }
        };
        let mut values = Vec::new();
        for word in text.lines().flat_map(words_of).take(MAX_ENTRIES + 1) {
            if let Some(value) = Rat::parse(word) {
                values.push(value);
            } else {
                self.error(span, format!("{name}: `{word}` is no number"));
                return values;
            }
        }
        values
    }

    /// Resources, and events.
    pub(super) fn resources(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let Item::Event(event) = item {
                let (name, dimensions) = (&event.name, self.dimensions(&event.dimensions));
                self.names.insert(&name.node, (Meaning::Event(self.model.events.len()), name.span));
                self.model.events.push(Event { name: name.node.clone(), dimensions, span: name.span });
            }
            let Item::Resource(resource) = item else { continue };
            let dimensions = self.dimensions(&resource.dimensions);
            let servers = match &resource.servers {
                Multiplicity::One => Some(Expr::one()),
                Multiplicity::Infinite => None,
                Multiplicity::Servers(count) => {
                    let servers = self.int(count, &mut Vec::new());
                    if servers.to_rat().is_some_and(|count| count < Rat::ONE) {
                        self.error(count.span, "a resource needs at least one server");
                    }
                    Some(servers)
                }
            };
            let index = self.model.resources.len();
            let name = &resource.name;
            self.names.insert(&name.node, (Meaning::Resource(index), name.span));
            let resource = Resource { name: name.node.clone(), dimensions, servers, span: name.span };
            self.model.resources.push(resource);
        }
    }

    /// First and last index of each.
    fn dimensions(&mut self, dimensions: &'a [Dimension]) -> Vec<(Expr, Expr)> {
        let scope = &mut Vec::new();
        let mut range = |dimension: &'a Dimension| match dimension {
            Dimension::Count(count) => (Expr::zero(), self.int(count, scope) - Expr::one()),
            Dimension::Range(lo, hi) => (self.int(lo, scope), self.int(hi, scope)),
        };
        dimensions.iter().map(&mut range).collect()
    }

    pub(super) fn alternatives(&mut self) {
        let file = self.file;
        let has_tasks = file.items.iter().filter_map(item_body).any(|(_, body)| has_tasks(body));
        let main = file.items.iter().filter(|item| matches!(item, Item::Main { .. }));
        let others = file.items.iter().filter(|item| matches!(item, Item::Alt { .. }));
        for item in main.chain(others) {
            let (name, stage, body) = match item {
                Item::Alt { name, stage, body } => (name.node.clone(), self.stage(stage.as_ref()), body),
                Item::Main { body, .. } => ("main".to_owned(), None, body),
                _ => continue,
            };
            let (term, steps) = self.whole(body, has_tasks);
            self.model.alternatives.push(Alternative { name, term, steps, stage });
        }
    }

    /// A term that stands for itself, and the same as steps.
    pub(super) fn whole(&mut self, body: &'a ast::Term, has_tasks: bool) -> (Term, Option<Step>) {
        self.terms = 0;
        let term = self.term(body, &mut Vec::new());
        self.terms = 0;
        let steps = has_tasks.then(|| self.step(body, &mut Vec::new()));
        // Steps have processes expanded and conditions decided, so they know which loops are waited for.
        let followed = steps.as_ref().filter(|steps| steps.is_followed() && self.terms < MAX_TERMS);
        let term = followed.map_or(term, |steps| steps.term(&self.model));
        (term, steps)
    }

    /// Functions and processes that nobody calls are checked too.
    pub(super) fn check_unused_bodies(&mut self) {
        let file = self.file;
        let before = self.model.clone();
        for (index, item) in file.items.iter().enumerate() {
            let mut scope: Vec<(String, Type, Expr)> = Vec::new();
            let mut bind = |params: &[ast::Name]| {
                for param in params {
                    scope.push((param.node.clone(), Type::Int, Expr::from(&Symbol::int(&param.node))));
                }
            };
            match item {
                Item::Let { name, params, .. } if params.is_empty() => {
                    self.function(index, &name.node, name.span, Vec::new());
                }
                Item::Proc { name, params, body } if !self.recursive.contains(&index) => {
                    bind(params);
                    let called_somewhere = file.items.iter().filter_map(item_body).any(|(_, body)| {
                        let mut found = false;
                        called(body, &mut |other| found |= other == name.node);
                        found
                    });
                    if !called_somewhere {
                        self.terms = 0;
                        self.term(body, &mut scope);
                        let text = format!("process `{}` is never used", name.node);
                        self.tell(Diagnostic::warning(name.span, text));
                    }
                }
                _ => {}
            }
        }
        self.model = before;
    }
}

/// Whether a term has what is followed as steps.
pub(super) fn has_tasks(term: &ast::Term) -> bool {
    match &term.node {
        TermKind::Phase(..) | TermKind::Forall(_) | TermKind::Task(_) | TermKind::Barrier => true,
        TermKind::Skip
        | TermKind::Delay(_)
        | TermKind::Use { .. }
        | TermKind::Event { .. }
        | TermKind::Call(..)
        | TermKind::Error => false,
        TermKind::Sequence(all) | TermKind::Parallel(all) => all.iter().any(has_tasks),
        TermKind::Seq(each) | TermKind::Par(each) => has_tasks(&each.body),
        TermKind::If(_, then, otherwise) => has_tasks(then) || otherwise.as_deref().is_some_and(has_tasks),
        TermKind::While(_, body) => has_tasks(body),
        TermKind::Choose(cases) => cases.iter().any(|(_, term)| has_tasks(term)),
    }
}

/// Words of a line of a file of numbers, up to a comment.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split('#').next().unwrap_or_default();
    line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty())
}

/// The name of a table as the model keeps it.
pub(super) fn shared(name: &str) -> Arc<str> {
    name.into()
}
