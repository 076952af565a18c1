//! Processes: calls expanded, conditions that are decided followed, trivial terms dropped.

use partune_expr::{Bool, Expr, Rat, Symbol};

use super::{Lower, MAX_TERMS, Meaning, Scope, Type, item_body};
use crate::ast::{self, Condition, TermKind, While};
use crate::diagnostic::Span;
use crate::model::cost::{self, Behind, Worker, joined, overlapped};
use crate::model::{Draw, Process, Range, Term};

impl<'a> Lower<'a> {
    pub(super) fn term(&mut self, term: &'a ast::Term, scope: &mut Scope) -> Term {
        self.terms += 1;
        if self.terms == MAX_TERMS {
            self.error(term.span, format!("more than {MAX_TERMS} terms after expansion of processes"));
        }
        if self.terms >= MAX_TERMS {
            return Term::Skip;
        }
        match &term.node {
            TermKind::Skip | TermKind::Error => Term::Skip,
            TermKind::Phase(_, body) => self.term(body, scope),
            TermKind::Forall(forall) => self.forall(forall, term.span, scope),
            TermKind::Task(task) => self.task(task, term.span, scope),
            TermKind::Barrier => cost::barrier(&self.model, term.span),
            TermKind::Delay(duration) => self.delay(duration, term.span, scope),
            TermKind::Use { resource, index, duration } => self.usage(resource, index, duration, term.span, scope),
            TermKind::Event { act, event, index } => match self.event(event, index, term.span, scope) {
                Some((event, index)) => Term::Event { act: *act, event, index, span: term.span },
                None => Term::Skip,
            },
            TermKind::Sequence(all) => {
                let terms: Vec<Term> = all.iter().map(|one| self.term(one, scope)).collect();
                let terms = if self.workers.is_empty() { overlapped(all.iter().map(behind), terms) } else { terms };
                joined(terms, Term::Sequence)
            }
            TermKind::Parallel(all) => {
                let all = all.iter().map(|one| self.term(one, scope)).collect();
                joined(all, Term::Parallel)
            }
            TermKind::Seq(each) => match self.range(each, scope) {
                (_, Term::Skip) => Term::Skip,
                (range, body) => Term::Seq(range, Box::new(body)),
            },
            TermKind::Par(each) => match self.range(each, scope) {
                (_, Term::Skip) => Term::Skip,
                (range, body) => Term::Par(range, Box::new(body)),
            },
            TermKind::If(Condition::Expr(condition), then, otherwise) => {
                let condition = self.condition(condition, scope);
                let then = self.term(then, scope);
                let otherwise = otherwise.as_ref().map_or(Term::Skip, |term| self.term(term, scope));
                match condition {
                    Bool::True => then,
                    Bool::False => otherwise,
                    condition => Term::If(condition, Box::new(then), Box::new(otherwise)),
                }
            }
            TermKind::If(Condition::Prob(chance), then, otherwise) => {
                let chance = self.chance(chance, scope);
                let then = self.term(then, scope);
                let otherwise = otherwise.as_ref().map_or(Term::Skip, |term| self.term(term, scope));
                Term::Choose(vec![(chance.clone(), then), (Expr::one() - chance, otherwise)], term.span)
            }
            TermKind::While(While::Prob(chance), body) => {
                let span = chance.span;
                let chance = self.chance(chance, scope);
                if chance.to_rat().is_some_and(|chance| chance >= Rat::ONE) {
                    self.error(span, "this loop never ends");
                }
                Term::WhileProb(chance, Box::new(self.term(body, scope)), term.span)
            }
            TermKind::While(While::Below(count), body) => {
                let count = self.draw(count, scope);
                Term::WhileBelow(count, Box::new(self.term(body, scope)), term.span)
            }
            TermKind::Choose(cases) => {
                let mut total = Expr::zero();
                let mut list = Vec::new();
                for (chance, body) in cases {
                    let chance = self.chance(chance, scope);
                    total = total + &chance;
                    list.push((chance, self.term(body, scope)));
                }
                if total.to_rat().is_some_and(|total| !total.is_one()) {
                    self.error(term.span, format!("the probabilities sum to {total}, not to 1"));
                }
                Term::Choose(list, term.span)
            }
            TermKind::Call(name, args) => self.process(name, args, term.span, scope),
        }
    }

    /// A loop over a domain as one in parallel, of which each index takes its PE, or whichever is free.
    fn forall(&mut self, forall: &'a ast::Forall, span: Span, scope: &mut Scope) -> Term {
        let Some(found) = self.over(forall, span, scope) else { return Term::Skip };
        self.workers.push(Worker::of(&found.schedule, found.owner));
        let body = self.term(&forall.body, scope);
        self.workers.pop();
        scope.truncate(scope.len() - found.symbols.len());
        cost::spread(&self.model, found.domain, &found.symbols, body, found.span)
    }

    /// A task as what it takes of its PE; outside of loops over domains that is the first one.
    fn task(&mut self, task: &'a ast::Task, span: Span, scope: &mut Scope) -> Term {
        let Some(weight) = &task.weight else { return Term::Skip };
        let weight = self.weight(weight, scope);
        cost::work(&self.model, self.workers.last(), weight, span)
    }

    fn chance(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Expr {
        let (_, chance) = self.expr(e, scope);
        if chance.to_rat().is_some_and(|chance| chance < Rat::ZERO || chance > Rat::ONE) {
            self.error(e.span, format!("{chance} is no probability"));
        }
        chance
    }

    fn duration(&mut self, e: &'a ast::Expr, scope: &mut Scope) -> Draw {
        let duration = self.draw(e, scope);
        let negative = duration.parts().iter().any(|part| part.to_rat().is_some_and(|value| value < Rat::ZERO));
        if negative {
            self.error(e.span, "a negative duration");
        }
        duration
    }

    fn delay(&mut self, duration: &'a ast::Expr, span: Span, scope: &mut Scope) -> Term {
        match self.duration(duration, scope) {
            Draw::Fixed(e) if e.is_zero() => Term::Skip,
            duration => Term::Delay(duration, span),
        }
    }

    fn usage(
        &mut self,
        resource: &'a ast::Name,
        index: &'a [ast::Expr],
        duration: &'a ast::Expr,
        span: Span,
        scope: &mut Scope,
    ) -> Term {
        if resource.node == "rho" && index.is_empty() {
            return self.delay(duration, span, scope);
        }
        let duration = self.duration(duration, scope);
        let mut values = Vec::new();
        for e in index {
            values.push(self.int(e, scope));
        }
        let Some((Meaning::Resource(number), _)) = self.names.get(resource.node.as_str()).cloned() else {
            let known: Vec<String> = self.model.resources.iter().map(|resource| resource.name.clone()).collect();
            self.unknown(&resource.node, resource.span, "resource", &known);
            return Term::Skip;
        };
        let Some(found) = self.model.resources.get(number).cloned() else { return Term::Skip };
        if !self.fits(resource, &found.dimensions, &values, span) {
            return Term::Skip;
        }
        match (&duration, &found.servers) {
            (Draw::Fixed(e), _) if e.is_zero() => Term::Skip,
            (_, None) => Term::Delay(duration, span),
            _ => Term::Use { resource: number, index: values, duration, span },
        }
    }

    /// An event, by its place in the model, and which of those of the name.
    pub(super) fn event(
        &mut self,
        name: &'a ast::Name,
        index: &'a [ast::Expr],
        span: Span,
        scope: &mut Scope,
    ) -> Option<(usize, Vec<Expr>)> {
        let index: Vec<Expr> = index.iter().map(|e| self.int(e, scope)).collect();
        let Some((Meaning::Event(number), _)) = self.names.get(name.node.as_str()).cloned() else {
            let known: Vec<String> = self.model.events.iter().map(|event| event.name.clone()).collect();
            self.unknown(&name.node, name.span, "event", &known);
            return None;
        };
        let dimensions = self.model.events.get(number)?.dimensions.clone();
        self.fits(name, &dimensions, &index, span).then_some((number, index))
    }

    /// Whether an index has the dimensions that a name has; one that is outside of them is told.
    fn fits(&mut self, name: &ast::Name, dimensions: &[(Expr, Expr)], index: &[Expr], span: Span) -> bool {
        if dimensions.len() != index.len() {
            let text = format!("`{}` has {} dimension(s), not {}", name.node, dimensions.len(), index.len());
            self.error(name.span, text);
            return false;
        }
        let outside = dimensions.iter().zip(index).find(|((lo, hi), at)| {
            let below = |a: &Expr, b: &Expr| (b - a).to_rat().is_some_and(|gap| gap > Rat::ZERO);
            below(at, lo) || below(hi, at)
        });
        if let Some(((lo, hi), at)) = outside {
            self.error(span, format!("`{}` has indices {lo} to {hi}, not {at}", name.node));
        }
        true
    }

    pub(super) fn range(&mut self, each: &'a ast::Loop, scope: &mut Scope) -> (Range, Term) {
        let (lo, hi) = (self.int(&each.lo, scope), self.int(&each.hi, scope));
        let variable = self.variable(&each.variable.node);
        scope.push((each.variable.node.clone(), Type::Int, Expr::from(&variable)));
        let body = self.term(&each.body, scope);
        scope.pop();
        let empty = (&lo - &hi).to_rat().is_some_and(|gap| gap > Rat::ZERO);
        let span = each.variable.span.to(each.hi.span);
        (Range { variable, lo, hi, span }, if empty { Term::Skip } else { body })
    }

    /// A process by its name: expanded in place, or a call if it is recursive.
    fn process(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], span: Span, scope: &mut Scope) -> Term {
        let Some((Meaning::Process(item), _)) = self.names.get(name.node.as_str()).cloned() else {
            let known: Vec<String> = self
                .names
                .iter()
                .filter(|&(_name, (meaning, _))| matches!(meaning, Meaning::Process(_)))
                .map(|(name, (_meaning, _))| (*name).to_owned())
                .collect();
            self.unknown(&name.node, name.span, "process", &known);
            return Term::Skip;
        };
        let file = self.file;
        let Some((params, body)) = item_body(&file.items[item]) else { return Term::Skip };
        if params.len() != args.len() {
            let text = format!("`{}` takes {} argument(s), not {}", name.node, params.len(), args.len());
            self.error(span, text);
            return Term::Skip;
        }
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg, scope));
        }
        if self.recursive.contains(&item) {
            if params.len() > 16 {
                self.error(span, "a recursive process takes at most 16 arguments");
            }
            let all_int = values.iter().zip(args).find(|((kind, _), _)| *kind == Type::Real);
            if let Some((_, arg)) = all_int {
                self.error(arg.span, "arguments of a recursive process must be integers");
            }
            let process = self.recursive_process(item, &name.node, params, body);
            return Term::Call(process, values.into_iter().map(|(_, value)| value).collect(), span);
        }
        let mut inner: Scope =
            params.iter().zip(values).map(|(param, (kind, value))| (param.node.clone(), kind, value)).collect();
        self.term(body, &mut inner)
    }

    fn recursive_process(&mut self, item: usize, name: &str, params: &'a [ast::Name], body: &'a ast::Term) -> usize {
        if let Some(&known) = self.lowered.get(&item) {
            return known;
        }
        let symbols: Vec<Symbol> = params.iter().map(|param| self.variable(&param.node)).collect();
        let index = self.model.processes.len();
        self.lowered.insert(item, index);
        self.model.processes.push(Process { name: name.to_owned(), params: symbols.clone(), body: Term::Skip });
        let mut scope: Scope = params
            .iter()
            .zip(&symbols)
            .map(|(param, symbol)| (param.node.clone(), Type::Int, Expr::from(symbol)))
            .collect();
        let body = self.term(body, &mut scope);
        self.model.processes[index].body = body;
        index
    }
}

/// What PEs do behind a term of a sequence, as far as its words tell.
fn behind(term: &ast::Term) -> Behind {
    match &term.node {
        TermKind::Forall(forall) if forall.nowait => Behind::GoesOn,
        TermKind::Phase(_, body) => behind(body).inside(),
        TermKind::Sequence(all) => Behind::last(all.iter().map(behind)),
        TermKind::Event { .. } => Behind::Event,
        TermKind::Barrier => Behind::Barrier,
        _ => Behind::Waits,
    }
}
