//! A term with its expressions compiled, as the walk reads it. Nothing is evaluated here.

use partune_expr::{Expr, Rat, Symbol};

use crate::code::{Compiler, Test, Value};
use crate::diagnostic::Span;
use crate::model::{Range, Term};

/// A term with compiled values. Events take no time; their index must exist.
pub(super) enum Node {
    Skip,
    Delay(Vec<Value>, Drawn, Span),
    Use { resource: usize, index: Vec<Value>, duration: Vec<Value>, drawn: Drawn, span: Span },
    Event { event: usize, index: Vec<Value>, span: Span },
    Sequence(Vec<Node>),
    Parallel(Vec<Node>),
    Loop { parallel: bool, slot: usize, lo: Value, hi: Value, body: Box<Node>, constant: bool, span: Span },
    If(Test, Box<Node>, Box<Node>),
    Choose(Vec<(Value, Node)>, Span),
    Times(Vec<Value>, Drawn, Box<Node>, Span),
    Chance(Value, Box<Node>, Span),
    Call(usize, Vec<Value>, Span),
}

/// How the mean, and what no draw is below, follow from the values of a distribution.
#[derive(Clone)]
pub(super) enum Drawn {
    Fixed,
    /// The mean is the first or the second value; nothing is certain.
    Exponential,
    First,
    Second,
    /// The mean lies between two values; the first is certain.
    Middle,
    /// The mean and the least.
    Constant(Rat, Rat),
}

pub(super) struct Build<'a> {
    pub(super) compiler: Compiler<'a>,
    pub(super) highest: usize,
    pub(super) bodies: Vec<Node>,
}

impl Build<'_> {
    pub(super) fn slot(&mut self, variable: &Symbol) -> usize {
        let slot = self.compiler.slots.len();
        self.compiler.slots.insert(variable.clone(), slot as u16);
        self.highest = self.highest.max(slot + 1);
        slot
    }

    fn draw(&self, draw: &crate::model::Draw) -> (Vec<Value>, Drawn) {
        use crate::model::Draw;
        let number = |e: &Expr| e.to_rat().unwrap_or(Rat::UNDEFINED);
        let drawn = match draw {
            Draw::Fixed(_) => Drawn::Fixed,
            Draw::Exponential { .. } => Drawn::Exponential,
            Draw::Normal { .. } => Drawn::First,
            Draw::Uniform { .. } => Drawn::Middle,
            Draw::Erlang { .. } => Drawn::Second,
            Draw::Empirical(_) => Drawn::Constant(number(&draw.mean()), number(&draw.least())),
        };
        (draw.parts().into_iter().map(|e| self.compiler.value(e)).collect(), drawn)
    }

    pub(super) fn node(&mut self, term: &Term) -> Node {
        match term {
            Term::Skip => Node::Skip,
            Term::Event { event, index, span, .. } => {
                let index = index.iter().map(|e| self.compiler.value(e)).collect();
                Node::Event { event: *event, index, span: *span }
            }
            Term::Delay(duration, span) => {
                let (values, drawn) = self.draw(duration);
                Node::Delay(values, drawn, *span)
            }
            Term::Use { resource, index, duration, span } => {
                let (duration, drawn) = self.draw(duration);
                let index = index.iter().map(|e| self.compiler.value(e)).collect();
                Node::Use { resource: *resource, index, duration, drawn, span: *span }
            }
            Term::Sequence(all) => Node::Sequence(all.iter().map(|one| self.node(one)).collect()),
            Term::Parallel(all) => Node::Parallel(all.iter().map(|one| self.node(one)).collect()),
            Term::Seq(range, body) => self.each(false, range, body),
            Term::Par(range, body) => self.each(true, range, body),
            Term::If(condition, then, otherwise) => {
                let test = self.compiler.test(condition);
                Node::If(test, Box::new(self.node(then)), Box::new(self.node(otherwise)))
            }
            Term::Choose(cases, span) => {
                let cases = cases.iter().map(|(chance, term)| (self.compiler.value(chance), self.node(term))).collect();
                Node::Choose(cases, *span)
            }
            Term::WhileProb(chance, body, span) => {
                Node::Chance(self.compiler.value(chance), Box::new(self.node(body)), *span)
            }
            Term::WhileBelow(count, body, span) => {
                let (values, drawn) = self.draw(count);
                Node::Times(values, drawn, Box::new(self.node(body)), *span)
            }
            Term::Call(process, args, span) => {
                Node::Call(*process, args.iter().map(|e| self.compiler.value(e)).collect(), *span)
            }
        }
    }

    fn each(&mut self, parallel: bool, range: &Range, body: &Term) -> Node {
        let (lo, hi) = (self.compiler.value(&range.lo), self.compiler.value(&range.hi));
        let slot = self.slot(&range.variable);
        let node = self.node(body);
        self.compiler.slots.remove(&range.variable);
        let mut constant = true;
        body.expressions(&mut |e| constant &= !e.mentions(&range.variable));
        Node::Loop { parallel, slot, lo, hi, body: Box::new(node), constant, span: range.span }
    }
}
