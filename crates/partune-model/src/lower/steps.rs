//! Terms as steps whose effects on data can be followed: the second reading of the same syntax. What cannot be followed stays in as such, so that it
//! is told only where data are asked for.

use partune_expr::{Bool, Expr, Rat, Symbol};

use super::application::firsts;
use super::{Lower, MAX_TERMS, Meaning, Scope, Type, item_body};
use crate::ast::{self, Condition, Over as Written, Schedule as Given, TermKind};
use crate::diagnostic::Span;
use crate::model::{Each, Effect, Forall, Over, Range, Schedule, Step, Task};

impl<'a> Lower<'a> {
    pub(super) fn step(&mut self, term: &'a ast::Term, scope: &mut Scope) -> Step {
        self.terms += 1;
        if self.terms >= MAX_TERMS {
            return Step::Nothing;
        }
        let other = |name| Step::Other(name, term.span);
        match &term.node {
            TermKind::Skip | TermKind::Error => Step::Nothing,
            TermKind::Sequence(all) => Step::Sequence(all.iter().map(|one| self.step(one, scope)).collect()),
            TermKind::Seq(each) => {
                let (lo, hi) = (self.int(&each.lo, scope), self.int(&each.hi, scope));
                let variable = self.variable(&each.variable.node);
                scope.push((each.variable.node.clone(), Type::Int, Expr::from(&variable)));
                let body = self.step(&each.body, scope);
                scope.pop();
                Step::Seq(Range { variable, lo, hi, span: each.variable.span.to(each.hi.span) }, Box::new(body))
            }
            TermKind::If(Condition::Expr(condition), then, otherwise) => {
                let condition = self.condition(condition, scope);
                let then = self.step(then, scope);
                let otherwise = otherwise.as_ref().map_or(Step::Nothing, |term| self.step(term, scope));
                match condition {
                    Bool::True => then,
                    Bool::False => otherwise,
                    condition => Step::If(condition, Box::new(then), Box::new(otherwise)),
                }
            }
            TermKind::Phase(name, body) => {
                let phases = &mut self.model.application.phases;
                let index = phases.iter().position(|other| *other == name.node).unwrap_or_else(|| {
                    phases.push(name.node.clone());
                    phases.len() - 1
                });
                Step::Phase(index, Box::new(self.step(body, scope)))
            }
            TermKind::Forall(forall) => {
                let Some(mut found) = self.over(forall, term.span, scope) else { return Step::Nothing };
                let body = self.step(&forall.body, scope);
                scope.truncate(scope.len() - found.symbols.len());
                let own = forall.on.is_some().then_some(found.owner);
                let (schedule, symbols) = (found.schedule, std::mem::take(&mut found.symbols));
                Step::Forall(Box::new(Forall {
                    domain: found.domain,
                    symbols,
                    owner: own,
                    schedule,
                    nowait: forall.nowait,
                    body,
                    span: found.span,
                }))
            }
            TermKind::Event { act, event, index } => match self.event(event, index, term.span, scope) {
                Some((event, index)) => Step::Event { act: *act, event, index, span: term.span },
                None => Step::Nothing,
            },
            TermKind::Task(task) => Step::Task(Box::new(self.effects(task, scope))),
            TermKind::Barrier => Step::Barrier(term.span),
            TermKind::Call(name, args) => self.called_step(name, args, scope),
            TermKind::Delay(_) => other("delay"),
            TermKind::Use { .. } => other("use"),
            TermKind::Parallel(_) => other("||"),
            TermKind::Par(_) => other("par"),
            TermKind::If(Condition::Prob(_), ..) => other("prob"),
            TermKind::While(..) => other("while"),
            TermKind::Choose(_) => other("choose"),
        }
    }

    /// A process by its name, expanded in place.
    fn called_step(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], scope: &mut Scope) -> Step {
        // What is wrong with a call is told by the other reading.
        let Some((Meaning::Process(item), _)) = self.names.get(name.node.as_str()).cloned() else {
            return Step::Nothing;
        };
        let file = self.file;
        let Some((params, body)) = item_body(&file.items[item]) else { return Step::Nothing };
        if self.recursive.contains(&item) {
            return Step::Other("a process that calls itself", name.span);
        }
        let mut inner: Scope = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let (kind, value) = self.expr(arg, scope);
            inner.push((param.node.clone(), kind, value));
        }
        self.step(body, &mut inner)
    }

    /// What a loop runs over, with its variables in scope: whoever asks takes them out of it.
    pub(super) fn over(&mut self, forall: &'a ast::Forall, span: Span, scope: &mut Scope) -> Option<Found> {
        let index = self.domain_of(&forall.domain)?;
        let domain = self.model.application.domains[index].clone();
        if domain.ranges.len() != forall.variables.len() {
            let text =
                format!("`{}` has {} dimension(s), not {}", domain.name, domain.ranges.len(), forall.variables.len());
            self.error(forall.domain.span, text);
            return None;
        }
        let symbols: Vec<Symbol> = forall.variables.iter().map(|name| self.variable(&name.node)).collect();
        for (name, symbol) in forall.variables.iter().zip(&symbols) {
            scope.push((name.node.clone(), Type::Int, Expr::from(symbol)));
        }
        let owner = match (&forall.on, &domain.owners) {
            (Some(e), _) => self.int(e, scope),
            (None, Some(owners)) => {
                let pairs = owners.symbols.iter().cloned().zip(symbols.iter().map(Expr::from)).collect();
                owners.owner.substitute_all(&pairs)
            }
            (None, None) => {
                let text = format!("nobody owns `{}`", domain.name);
                let help = format!("say who: `decompose {} -> P by block;`", domain.name);
                self.tell(crate::diagnostic::Diagnostic::error(forall.domain.span, text).help(help));
                Expr::zero()
            }
        };
        let schedule = match &forall.schedule {
            Given::Static => Schedule::Static,
            Given::Own(size) | Given::Guided(size) => {
                let value = self.int(size, scope);
                if value.to_rat().is_some_and(|value| value < Rat::ONE) {
                    self.error(size.span, "a piece of a loop has at least one index");
                }
                if matches!(forall.schedule, Given::Own(_)) { Schedule::Own(value) } else { Schedule::Guided(value) }
            }
        };
        Some(Found { domain: index, symbols, owner, schedule, span: span_of_head(forall, span) })
    }

    pub(super) fn weight(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Expr {
        let (_, weight) = self.expr(e, scope);
        if weight.to_rat().is_some_and(|weight| weight < Rat::ZERO) {
            self.error(e.span, "a negative weight");
        }
        weight
    }

    fn effects(&mut self, task: &'a ast::Task, scope: &mut Scope) -> Task {
        let mut effects = Vec::new();
        for effect in &task.effects {
            for reference in &effect.refs {
                effects.extend(self.effect(effect.kind, reference, scope));
            }
        }
        let weight = task.weight.as_ref().map(|e| (self.weight(e, scope), e.span));
        Task { effects, weight }
    }

    fn effect(&mut self, kind: ast::EffectKind, reference: &'a ast::Ref, scope: &mut Scope) -> Option<Effect> {
        let data = self.array(&reference.data)?;
        let depth = scope.len();
        let mut each = Vec::new();
        for one in &reference.each {
            let over = match &one.over {
                Written::Range(lo, hi) => Over::Range(self.int(lo, scope), self.int(hi, scope)),
                Written::Row(table, row) => {
                    let row = self.int(row, scope);
                    let first = firsts(&table.node);
                    if !self.model.tables.contains_key(&first) {
                        let text = format!("`{0}` is no table of rows, such as `table {0}[.., ..]`", table.node);
                        self.error(table.span, text);
                        scope.truncate(depth);
                        return None;
                    }
                    Over::Row(table.node.as_str().into(), first, row)
                }
            };
            let symbol = self.variable(&one.variable.node);
            scope.push((one.variable.node.clone(), Type::Int, Expr::from(&symbol)));
            each.push(Each { symbol, over });
        }
        let mut index = Vec::new();
        for e in &reference.index {
            index.push(e.as_ref().map(|e| self.int(e, scope)));
        }
        scope.truncate(depth);
        let array = &self.model.application.data[data];
        if array.ranges.len() != index.len() {
            let text = format!("`{}` has {} dimension(s), not {}", array.name, array.ranges.len(), index.len());
            self.error(reference.span, text);
            return None;
        }
        let outside = array.ranges.iter().zip(&index).find_map(|((lo, hi), at)| {
            let at = at.as_ref()?;
            let below = |a: &Expr, b: &Expr| (b - a).to_rat().is_some_and(|gap| gap > Rat::ZERO);
            (below(at, lo) || below(hi, at)).then(|| format!("`{}` has indices {lo} to {hi}, not {at}", array.name))
        });
        if let Some(text) = outside {
            self.error(reference.span, text);
        }
        Some(Effect { kind, data, index, each, span: reference.span })
    }
}

/// A loop over a domain.
pub(super) struct Found {
    pub(super) domain: usize,
    pub(super) symbols: Vec<Symbol>,
    pub(super) owner: Expr,
    pub(super) schedule: Schedule,
    pub(super) span: Span,
}

/// The loop without its body.
fn span_of_head(forall: &ast::Forall, span: Span) -> Span {
    Span { begin: span.begin, end: forall.domain.span.end.max(span.begin) }
}
