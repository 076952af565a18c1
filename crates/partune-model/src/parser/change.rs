//! Changes of a model: `layout Pos: pad 3 -> 4; P = 8`. For `parser`; what the language has a rule for is written as there.

use super::{MAX_ERRORS, Parse, Parser, Told};
use crate::ast::{Change, ChangeKind, Spanned};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::{Kind, tokens};

/// The words that changes begin with, besides the name of a parameter.
const CHANGES: &[&str] = &["alt", "layout", "decompose", "machine", "schedule", "nowait", "fuse", "remove"];

/// Reads changes, one or several with `;` between them, and says what is wrong. Places are in a text in which this one begins after `before` bytes: so
/// they can stand behind the model that they are of.
pub fn parse_changes(text: &str, before: usize) -> (Vec<Change>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let moved = |span: Span| Span::new(span.begin as usize + before, span.end as usize + before);
    let mut tokens: Vec<_> =
        tokens(text, &mut diagnostics).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    tokens.iter_mut().for_each(|token| token.span = moved(token.span));
    diagnostics.iter_mut().for_each(|told| told.span = moved(told.span));
    let mut parser = Parser { tokens, at: 0, diagnostics, depth: 0 };
    let mut changes = Vec::new();
    while let Ok(change) = parser.change() {
        changes.push(change);
        if !parser.take(";") || parser.peek().kind == Kind::End {
            break;
        }
    }
    if parser.peek().kind != Kind::End && parser.diagnostics.is_empty() {
        let Told = parser.wanted("`;` or the end");
    }
    let mut diagnostics = parser.diagnostics;
    diagnostics.truncate(MAX_ERRORS);
    (changes, diagnostics)
}

impl Parser<'_> {
    fn change(&mut self) -> Parse<Change> {
        let begin = self.peek();
        let is_setting = self.tokens.get(self.at + 1).is_some_and(|token| token.text == "=");
        let node = if is_setting {
            let name = self.name()?;
            self.expect("=")?;
            ChangeKind::Set(name, self.expr()?)
        } else {
            if begin.kind != Kind::Word || !CHANGES.contains(&begin.text) {
                let list = CHANGES.join("`, `");
                return Err(self.wanted(&format!("a change, which is `NAME = VALUE` or begins with `{list}`,")));
            }
            self.next();
            match begin.text {
                "alt" if self.is("main") => {
                    let main = self.next();
                    ChangeKind::Alternative(Spanned { node: main.text.to_owned(), span: main.span })
                }
                "alt" => ChangeKind::Alternative(self.name()?),
                "layout" => ChangeKind::Layout(self.layout()?),
                "decompose" => {
                    let domain = self.name()?;
                    let parts = if self.take("->") { Some(self.expr()?) } else { None };
                    if parts.is_none() && !self.is("by") {
                        return Err(self.wanted("`-> PARTS` or `by`"));
                    }
                    let by = if self.take("by") { Some(self.by()?) } else { None };
                    ChangeKind::Decompose { domain, parts, by }
                }
                "machine" => ChangeKind::Machine(self.machine(begin.span)?),
                "schedule" => ChangeKind::Schedule(self.name()?, self.schedule()?),
                "nowait" => ChangeKind::NoWait(self.name()?),
                "fuse" => {
                    let first = self.name()?;
                    self.expect(",")?;
                    ChangeKind::Fuse(first, self.name()?)
                }
                _ => {
                    self.expect("barrier")?;
                    self.expect("after")?;
                    ChangeKind::RemoveBarrier(self.name()?)
                }
            }
        };
        Ok(Spanned { node, span: self.since(begin.span) })
    }
}
