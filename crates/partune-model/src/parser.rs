//! Tokens into a syntax tree; recursive descent, one function a rule of the grammar.
//!
//! After an error it goes on at the next item or the next closing bracket, so that all errors are told at once. Nesting is limited, so
//! no input can exhaust the stack. Grammar: theory, concrete syntax; `docs/model/language.md` has it with examples.

use partune_expr::Rat;

use crate::ast::{
    Binary, Condition, Dimension, Expr, ExprKind, File, Item, Kind as ParamKind, Loop, Multiplicity, Name, Param,
    Resource, Spanned, Table, TableSource, Term, TermKind, While,
};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::{Kind, Token, tokens};

/// Brackets, loops and operators that may lie inside each other.
const DEPTH: u32 = 150;
/// After so many errors the rest is noise.
const MAX_ERRORS: usize = 100;

/// Words that begin an item.
const ITEMS: &[&str] = &["param", "let", "resource", "table", "proc", "alt", "main"];
/// Words that are no names.
const RESERVED: &[&str] = &[
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
    // Taken by the application models to come.
    "domain",
    "data",
    "layout",
    "decompose",
    "weight",
    "task",
    "phase",
    "forall",
    "barrier",
    "post",
    "await",
    "machine",
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
            Kind::End => "the file ends".to_owned(),
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
            "table" => Item::Table(self.table()?),
            "proc" => {
                let (name, params) = (self.name()?, self.names()?);
                self.expect("=")?;
                Item::Proc { name, params, body: self.term()? }
            }
            "alt" => {
                let name = self.name()?;
                self.expect("=")?;
                Item::Alt { name, body: self.term()? }
            }
            _ => {
                self.expect("=")?;
                Item::Main { span: begin.span, body: self.term()? }
            }
        };
        self.expect(";")?;
        Ok(item)
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
        let name = self.name()?;
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

    fn table(&mut self) -> Parse<Table> {
        let name = self.name()?;
        if self.take("[") {
            // The index name of `table t[i] from ..` is only for readers.
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
            self.expect("[")?;
            let mut values = Vec::new();
            if !self.is("]") {
                values = self.list()?;
            }
            self.expect("]")?;
            TableSource::Values(values)
        };
        Ok(Table { name, source, source_span: self.since(begin) })
    }

    fn list(&mut self) -> Parse<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.take(",") {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    // Terms: `||` of `;` of one.

    fn term(&mut self) -> Parse<Term> {
        self.nested(|parser| {
            let begin = parser.peek().span;
            let mut all = vec![parser.sequence()?];
            while parser.take("||") {
                all.push(parser.sequence()?);
            }
            Ok(parser.joined(begin, all, TermKind::Parallel))
        })
    }

    fn sequence(&mut self) -> Parse<Term> {
        let begin = self.peek().span;
        let mut all = vec![self.process()?];
        while self.is(";") && !self.item_ends() {
            self.next();
            all.push(self.process()?);
        }
        // A separator before a closing bracket is no mistake worth telling.
        if self.is(";") && self.follows("}") {
            self.next();
        }
        Ok(self.joined(begin, all, TermKind::Sequence))
    }

    /// Whether the `;` here ends an item or a block and does not join two terms.
    fn item_ends(&self) -> bool {
        let token = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        token.kind == Kind::End || token.text == "}" || token.kind == Kind::Word && ITEMS.contains(&token.text)
    }

    fn follows(&self, text: &str) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| token.text == text)
    }

    fn joined(&self, begin: Span, mut all: Vec<Term>, make: fn(Vec<Term>) -> TermKind) -> Term {
        if all.len() == 1 {
            return all.remove(0);
        }
        Spanned { node: make(all), span: self.since(begin) }
    }

    fn process(&mut self) -> Parse<Term> {
        self.nested(|parser| {
            let begin = parser.peek().span;
            let node = parser.process_kind()?;
            Ok(Spanned { node, span: parser.since(begin) })
        })
    }

    fn process_kind(&mut self) -> Parse<TermKind> {
        let token = self.peek();
        if token.kind == Kind::Sign && token.text == "{" {
            self.next();
            let term = self.term()?;
            self.expect("}")?;
            return Ok(term.node);
        }
        if token.kind != Kind::Word {
            return Err(self.wanted("a process"));
        }
        match token.text {
            "skip" => {
                self.next();
                Ok(TermKind::Skip)
            }
            "seq" | "par" => {
                self.next();
                let each = self.range()?;
                Ok(if token.text == "seq" { TermKind::Seq(each) } else { TermKind::Par(each) })
            }
            "if" => {
                self.next();
                self.expect("(")?;
                let condition =
                    if self.is("prob") { Condition::Prob(self.probability()?) } else { Condition::Expr(self.expr()?) };
                self.expect(")")?;
                let then = Box::new(self.process()?);
                let otherwise = if self.take("else") { Some(Box::new(self.process()?)) } else { None };
                Ok(TermKind::If(condition, then, otherwise))
            }
            "while" => {
                self.next();
                self.expect("(")?;
                let condition = if self.is("prob") {
                    While::Prob(self.probability()?)
                } else {
                    let word = self.next();
                    if word.text != "iter" {
                        self.at -= 1;
                        return Err(self.wanted("`prob(..)` or `iter < ..`"));
                    }
                    self.expect("<")?;
                    While::Below(self.sum_expr()?)
                };
                self.expect(")")?;
                Ok(TermKind::While(condition, Box::new(self.process()?)))
            }
            "choose" => {
                self.next();
                self.expect("{")?;
                let mut cases = Vec::new();
                loop {
                    let chance = self.expr()?;
                    self.expect(":")?;
                    cases.push((chance, self.term()?));
                    if !self.take(",") || self.is("}") {
                        break;
                    }
                }
                self.expect("}")?;
                Ok(TermKind::Choose(cases))
            }
            "use" => {
                self.next();
                self.expect("(")?;
                let resource = self.name()?;
                let mut index = Vec::new();
                if self.take("[") {
                    index = self.list()?;
                    self.expect("]")?;
                }
                self.expect(",")?;
                let duration = self.expr()?;
                self.expect(")")?;
                Ok(TermKind::Use { resource, index, duration })
            }
            "delay" => {
                self.next();
                self.expect("(")?;
                let duration = self.expr()?;
                self.expect(")")?;
                Ok(TermKind::Delay(duration))
            }
            _ => {
                let name = self.name()?;
                let mut args = Vec::new();
                if self.take("(") && !self.take(")") {
                    args = self.list()?;
                    self.expect(")")?;
                }
                Ok(TermKind::Call(name, args))
            }
        }
    }

    /// `(i = a, b) body`.
    fn range(&mut self) -> Parse<Loop> {
        self.expect("(")?;
        let variable = self.name()?;
        self.expect("=")?;
        let lo = self.expr()?;
        self.expect(",")?;
        let hi = self.expr()?;
        self.expect(")")?;
        Ok(Loop { variable, lo, hi, body: Box::new(self.process()?) })
    }

    fn probability(&mut self) -> Parse<Expr> {
        self.expect("prob")?;
        self.expect("(")?;
        let chance = self.expr()?;
        self.expect(")")?;
        Ok(chance)
    }

    // Expressions, loosest first: or, and, not, comparison and divides, sum, product, power, atom.

    fn expr(&mut self) -> Parse<Expr> {
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

    fn sum_expr(&mut self) -> Parse<Expr> {
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

    /// A number with an optional unit of time; times are in seconds.
    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        const UNITS: &[(&str, i64)] = &[("ns", -9), ("us", -6), ("µs", -6), ("μs", -6), ("ms", -3), ("s", 0)];
        let (digits, power) = UNITS
            .iter()
            .find_map(|(unit, power)| text.strip_suffix(unit).map(|digits| (digits, *power)))
            .unwrap_or((text, 0));
        let value =
            Rat::parse(digits).map(|value| value * Rat::int(10).pow(power)).filter(|value| !value.is_undefined());
        if let Some(value) = value {
            return ExprKind::Number(value);
        }
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
