//! Terms: what processes do, `||` of `;` of one. For `parser`; one function a rule of the grammar.

use super::{ITEMS, Parse, Parser};
use crate::ast::{Act, Condition, Expr, Loop, Spanned, Term, TermKind, While};
use crate::diagnostic::Span;
use crate::lexer::Kind;

impl Parser<'_> {
    pub(super) fn term(&mut self) -> Parse<Term> {
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
    pub(super) fn item_ends(&self) -> bool {
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

    pub(super) fn process(&mut self) -> Parse<Term> {
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
            "phase" => {
                self.next();
                let name = self.name()?;
                Ok(TermKind::Phase(name, Box::new(self.process()?)))
            }
            "forall" => {
                self.next();
                Ok(TermKind::Forall(Box::new(self.forall()?)))
            }
            "task" => {
                self.next();
                Ok(TermKind::Task(self.task()?))
            }
            "barrier" => {
                self.next();
                Ok(TermKind::Barrier)
            }
            "post" | "await" => {
                self.next();
                let act = if token.text == "post" { Act::Post } else { Act::Await };
                Ok(TermKind::Event { act, event: self.name()?, index: self.index()? })
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
                let (resource, index) = (self.name()?, self.index()?);
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
    pub(super) fn range(&mut self) -> Parse<Loop> {
        self.expect("(")?;
        let variable = self.name()?;
        self.expect("=")?;
        let lo = self.expr()?;
        self.expect(",")?;
        let hi = self.expr()?;
        self.expect(")")?;
        Ok(Loop { variable, lo, hi, body: Box::new(self.process()?) })
    }

    pub(super) fn probability(&mut self) -> Parse<Expr> {
        self.expect("prob")?;
        self.expect("(")?;
        let chance = self.expr()?;
        self.expect(")")?;
        Ok(chance)
    }
}
