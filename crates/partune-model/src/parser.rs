//! Tokens into a syntax tree; recursive descent, one function a rule of the grammar.
//!
//! After an error it goes on at the next item or the next closing bracket, so that all errors are told at once. Nesting is limited, so
//! no input can exhaust the stack. Grammar: theory, concrete syntax; `docs/model/language.md` has it with examples.

mod application;
mod change;
mod expressions;
mod terms;

pub use self::change::parse_changes;
pub use self::expressions::{is_quantity, quantity};
use crate::ast::{
    Dimension, Event, Expr, File, Item, Kind as ParamKind, Multiplicity, Name, Param, Plan, Resource, Spanned, Stage,
    Table, TableSource,
};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::{Kind, Token, tokens};

/// Brackets, loops and operators that may lie inside each other.
const DEPTH: u32 = 150;
/// After so many errors the rest is noise.
const MAX_ERRORS: usize = 100;

/// Words that begin an item.
const ITEMS: &[&str] = &[
    "param",
    "let",
    "resource",
    "event",
    "table",
    "domain",
    "data",
    "layout",
    "decompose",
    "machine",
    "proc",
    "alt",
    "redistribute",
    "plan",
    "main",
];
/// Words that are no names.
pub const RESERVED: &[&str] = &[
    "param",
    "let",
    "resource",
    "table",
    "proc",
    "alt",
    "main",
    "where",
    "from",
    "par",
    "seq",
    "if",
    "then",
    "else",
    "while",
    "choose",
    "use",
    "delay",
    "skip",
    "div",
    "mod",
    "and",
    "or",
    "not",
    "sum",
    "inf",
    "prob",
    "true",
    "false",
    "domain",
    "data",
    "layout",
    "decompose",
    "weight",
    "task",
    "phase",
    "forall",
    "barrier",
    "machine",
    "redistribute",
    "plan",
    "event",
    "post",
    "await",
];

/// The syntax tree, and what is wrong.
pub fn parse(source: &str) -> (File, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    if source.len() > 1 << 24 {
        let text = format!("{} bytes are no model: the limit is 16 MiB", source.len());
        return (File::default(), vec![Diagnostic::error(Span::default(), text)]);
    }
    let tokens = tokens(source, &mut diagnostics).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    let mut parser = Parser { tokens, at: 0, diagnostics, depth: 0 };
    let file = parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    diagnostics.dedup();
    diagnostics.truncate(MAX_ERRORS);
    (file, diagnostics)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
}

/// An error was told; the caller skips to where it can go on.
struct Told;

type Parse<T> = Result<T, Told>;

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Word | Kind::Sign) && token.text == text
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Parse<Span> {
        if self.is(text) {
            return Ok(self.next().span);
        }
        Err(self.wanted(&format!("`{text}`")))
    }

    fn wanted(&mut self, what: &str) -> Told {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the text ends".to_owned(),
            _ => format!("`{}` stands here", token.text),
        };
        self.tell(Diagnostic::error(token.span, format!("{what} expected, {found}")))
    }

    fn tell(&mut self, diagnostic: Diagnostic) -> Told {
        if self.diagnostics.len() < 2 * MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Told
    }

    /// The span from a begin to the last token taken.
    fn since(&self, begin: Span) -> Span {
        let last = self.at.checked_sub(1).map_or(begin, |last| self.tokens[last].span);
        begin.to(last)
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEPTH {
            let span = self.peek().span;
            return Err(self.tell(
                Diagnostic::error(span, format!("nested deeper than {DEPTH}"))
                    .help("give parts names with `let` or `proc`"),
            ));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    fn name(&mut self) -> Parse<Name> {
        let token = self.peek();
        if token.kind == Kind::Word && !RESERVED.contains(&token.text) {
            self.next();
            return Ok(Spanned { node: token.text.to_owned(), span: token.span });
        }
        if token.kind == Kind::Word {
            let text = format!("`{}` is a word of the language", token.text);
            return Err(self.tell(Diagnostic::error(token.span, text).help("choose another name")));
        }
        Err(self.wanted("a name"))
    }

    fn names(&mut self) -> Parse<Vec<Name>> {
        let mut names = Vec::new();
        if self.take("(") {
            if self.take(")") {
                return Ok(names);
            }
            names.push(self.name()?);
            while self.take(",") {
                names.push(self.name()?);
            }
            self.expect(")")?;
        }
        Ok(names)
    }

    fn file(&mut self) -> File {
        let mut file = File::default();
        while self.peek().kind != Kind::End {
            match self.item() {
                Ok(item) => file.items.push(item),
                Err(Told) => self.skip_item(),
            }
        }
        file
    }

    /// To the next word that begins an item; such words are no names, so none is meant otherwise.
    fn skip_item(&mut self) {
        loop {
            let token = self.next();
            if token.kind == Kind::End {
                return;
            }
            if self.peek().kind == Kind::Word && ITEMS.contains(&self.peek().text) {
                return;
            }
        }
    }

    fn item(&mut self) -> Parse<Item> {
        let begin = self.peek();
        if begin.kind != Kind::Word || !ITEMS.contains(&begin.text) {
            let list = ITEMS.join("`, `");
            let told = self.wanted(&format!("one of `{list}`"));
            self.next();
            return Err(told);
        }
        self.next();
        let item = match begin.text {
            "param" => Item::Param(self.param()?),
            "let" => {
                let (name, params) = (self.name()?, self.names()?);
                self.expect("=")?;
                Item::Let { name, params, body: self.expr()? }
            }
            "resource" => Item::Resource(self.resource()?),
            "event" => Item::Event(Event { name: self.name()?, dimensions: self.dimensions()? }),
            "table" => Item::Table(self.table()?),
            "domain" => Item::Domain(self.domain()?),
            "data" => Item::Data(self.data()?),
            "layout" => Item::Layout(self.layout()?),
            "decompose" => Item::Decompose(self.decompose()?),
            "machine" => Item::Machine(self.machine(begin.span)?),
            "proc" => {
                let (name, params) = (self.name()?, self.names()?);
                self.expect("=")?;
                Item::Proc { name, params, body: self.term()? }
            }
            "alt" => {
                let (name, stage) = (self.name()?, self.stage()?);
                self.expect("=")?;
                Item::Alt { name, stage, body: self.term()? }
            }
            "redistribute" => {
                let from = self.name()?;
                self.expect("->")?;
                let to = self.name()?;
                self.expect("=")?;
                Item::Redistribute { from, to, body: self.term()? }
            }
            "plan" => {
                let name = self.name()?;
                let from = if self.take("from") { Some(self.name()?) } else { None };
                let to = if self.take("to") { Some(self.name()?) } else { None };
                self.expect("=")?;
                Item::Plan(Plan { name, from, to, body: self.term()? })
            }
            _ => {
                self.expect("=")?;
                Item::Main { span: begin.span, body: self.term()? }
            }
        };
        self.expect(";")?;
        Ok(item)
    }

    /// `of sweep on columns -> rows`, after the name of an alternative.
    fn stage(&mut self) -> Parse<Option<Stage>> {
        if !self.take("of") {
            return Ok(None);
        }
        let phase = self.name()?;
        let mapping = if self.take("on") {
            let needs = self.name()?;
            let leaves = if self.take("->") { self.name()? } else { needs.clone() };
            Some((needs, leaves))
        } else {
            None
        };
        Ok(Some(Stage { phase, mapping }))
    }

    fn param(&mut self) -> Parse<Param> {
        let name = self.name()?;
        self.expect(":")?;
        let word = self.peek();
        let Some((_, kind)) = ParamKind::ALL.iter().find(|(text, _)| *text == word.text) else {
            let list = ParamKind::ALL.iter().map(|(text, _)| format!("`{text}`")).collect::<Vec<_>>().join(", ");
            return Err(self.wanted(&format!("one of {list}")));
        };
        self.next();
        let default = if self.take("=") { Some(self.sum_expr()?) } else { None };
        let mut assumptions = Vec::new();
        if self.take("where") {
            assumptions.push(self.expr()?);
            while self.take(",") {
                assumptions.push(self.expr()?);
            }
        }
        Ok(Param { name, kind: *kind, default, assumptions })
    }

    fn resource(&mut self) -> Parse<Resource> {
        let (name, dimensions) = (self.name()?, self.dimensions()?);
        let servers = match (self.take("*"), self.is("inf")) {
            (false, _) => Multiplicity::One,
            (true, true) => {
                self.next();
                Multiplicity::Infinite
            }
            (true, false) => Multiplicity::Servers(self.expr()?),
        };
        Ok(Resource { name, dimensions, servers })
    }

    /// `[n, 1..m]` behind a name, or nothing.
    fn dimensions(&mut self) -> Parse<Vec<Dimension>> {
        let mut dimensions = Vec::new();
        if self.take("[") {
            loop {
                let first = self.expr()?;
                let dimension =
                    if self.take("..") { Dimension::Range(first, self.expr()?) } else { Dimension::Count(first) };
                dimensions.push(dimension);
                if !self.take(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok(dimensions)
    }

    /// `[i, j + 1]` behind a name, or nothing.
    fn index(&mut self) -> Parse<Vec<Expr>> {
        if !self.take("[") {
            return Ok(Vec::new());
        }
        let index = self.list()?;
        self.expect("]")?;
        Ok(index)
    }

    fn table(&mut self) -> Parse<Table> {
        let name = self.name()?;
        let (mut index, mut rows) = (None, false);
        if self.take("[") {
            let token = self.peek();
            if token.kind == Kind::Word {
                index = Some(Spanned { node: token.text.to_owned(), span: token.span });
                self.next();
            }
            rows = self.is(",") && self.tokens.get(self.at + 1).is_some_and(|token| token.text == "..");
            // The index name of `table t[i] from ..` is only for readers, unless it is a domain.
            while !self.is("]") && self.peek().kind != Kind::End {
                self.next();
            }
            self.expect("]")?;
        }
        let begin = self.peek().span;
        let source = if self.take("from") {
            let token = self.next();
            if token.kind != Kind::Text {
                self.at -= 1;
                return Err(self.wanted("the name of a file in quotes"));
            }
            TableSource::File(token.text.to_owned())
        } else {
            self.expect("=")?;
            if rows { TableSource::Rows(self.rows()?) } else { TableSource::Values(self.row_of_values()?) }
        };
        Ok(Table { name, index, rows, source, source_span: self.since(begin) })
    }

    fn rows(&mut self) -> Parse<Vec<Vec<Expr>>> {
        let mut rows = Vec::new();
        self.expect("[")?;
        while !self.is("]") {
            rows.push(self.row_of_values()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(rows)
    }

    fn row_of_values(&mut self) -> Parse<Vec<Expr>> {
        self.expect("[")?;
        let values = if self.is("]") { Vec::new() } else { self.list()? };
        self.expect("]")?;
        Ok(values)
    }

    fn list(&mut self) -> Parse<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.take(",") {
            list.push(self.expr()?);
        }
        Ok(list)
    }
}
