//! Plans: phases get their places, mappings too, and what is no phase becomes a term.

use partune_expr::Expr;

use super::items::has_tasks;
use super::recursion::called;
use super::{Lower, Meaning, Scope, Type, item_body, nearest};
use crate::ast::{self, Item, Name, TermKind};
use crate::diagnostic::Diagnostic;
use crate::model::{Plan, Planned, Range, Redistribution, Stage};

/// Mappings that a model may have; tables of plans have so many rows and columns.
const MAX_MAPPINGS: usize = 32;

impl<'a> Lower<'a> {
    /// Gives phases of plans their meaning: whatever alternatives are of.
    pub(super) fn phases(&mut self) {
        let file = self.file;
        for item in &file.items {
            let Item::Alt { stage: Some(stage), .. } = item else { continue };
            if !matches!(self.names.get(stage.phase.node.as_str()), Some((Meaning::Phase(_), _))) {
                let index = self.model.phases.len();
                self.define(&stage.phase, Meaning::Phase(index));
                self.model.phases.push(stage.phase.node.clone());
            }
        }
    }

    pub(super) fn stage(&mut self, stage: Option<&ast::Stage>) -> Option<Stage> {
        let stage = stage?;
        let phase = self.model.phases.iter().position(|name| *name == stage.phase.node)?;
        let mapping = stage.mapping.as_ref().map(|(needs, leaves)| (self.mapping(needs), self.mapping(leaves)));
        Some(Stage { phase, mapping })
    }

    /// The place of a mapping, which is known from here on.
    fn mapping(&mut self, name: &Name) -> usize {
        if let Some(known) = self.model.mappings.iter().position(|it| *it == name.node) {
            return known;
        }
        self.model.mappings.push(name.node.clone());
        if self.model.mappings.len() == MAX_MAPPINGS + 1 {
            self.error(name.span, format!("more than {MAX_MAPPINGS} mappings of data"));
        }
        self.model.mappings.len() - 1
    }

    /// A mapping that alternatives or redistributions speak of.
    fn known_mapping(&mut self, name: Option<&Name>) -> Option<usize> {
        let name = name?;
        let found = self.model.mappings.iter().position(|it| *it == name.node);
        if found.is_none() {
            let error = nearest("mapping", &name.node, name.span, &self.model.mappings);
            self.tell(error);
        }
        found
    }

    pub(super) fn plans(&mut self) {
        let file = self.file;
        let has_tasks = file.items.iter().filter_map(item_body).any(|(_, body)| has_tasks(body));
        for item in &file.items {
            let Item::Redistribute { from, to, body } = item else { continue };
            let span = from.span.to(to.span);
            let (term, _) = self.whole(body, has_tasks);
            let (from, to) = (self.mapping(from), self.mapping(to));
            if from == to {
                self.error(span, "data that stay where they are need no redistribution");
            } else if self.model.redistributions.iter().any(|it| (it.from, it.to) == (from, to)) {
                self.error(span, "this redistribution is defined already");
            }
            self.model.redistributions.push(Redistribution { from, to, term });
        }
        for item in &file.items {
            let Item::Plan(plan) = item else { continue };
            self.terms = 0;
            let body = self.planned(&plan.body, &mut Vec::new());
            let (from, to) = (self.known_mapping(plan.from.as_ref()), self.known_mapping(plan.to.as_ref()));
            let (name, span) = (plan.name.node.clone(), plan.name.span);
            if !self.has_phases(&plan.body) {
                let error = Diagnostic::error(span, format!("the plan `{name}` has no phases"));
                self.tell(error.help("phases are what alternatives are of: `alt fast of sweep = ...;`"));
            }
            self.model.plans.push(Plan { name, from, to, body, span });
        }
    }

    fn planned(&mut self, term: &'a ast::Term, scope: &mut Scope) -> Planned {
        if !self.has_phases(term) {
            return Planned::Other(self.term(term, scope));
        }
        match &term.node {
            TermKind::Sequence(all) => Planned::Sequence(all.iter().map(|one| self.planned(one, scope)).collect()),
            TermKind::Phase(_, body) => self.planned(body, scope),
            TermKind::Seq(each) => {
                let (lo, hi) = (self.int(&each.lo, scope), self.int(&each.hi, scope));
                let span = each.variable.span.to(each.hi.span);
                let outer = scope.iter().filter_map(|(.., value)| value.to_symbol().cloned());
                if outer.into_iter().any(|outer| lo.mentions(&outer) || hi.mentions(&outer)) {
                    let error =
                        Diagnostic::error(span, "a loop with phases has the same turns wherever it comes again");
                    self.tell(error.help("give it bounds without variables of loops around it"));
                }
                let variable = self.variable(&each.variable.node);
                scope.push((each.variable.node.clone(), Type::Int, Expr::from(&variable)));
                let body = self.planned(&each.body, scope);
                scope.pop();
                Planned::Seq(Range { variable, lo, hi, span }, Box::new(body))
            }
            TermKind::Call(name, args) => {
                let Some((Meaning::Phase(phase), _)) = self.names.get(name.node.as_str()).cloned() else {
                    return Planned::Other(self.term(term, scope));
                };
                if !args.is_empty() {
                    self.error(term.span, format!("`{}` is a phase and takes no arguments", name.node));
                }
                Planned::Phase(phase)
            }
            _ => {
                let error = Diagnostic::error(term.span, "phases of a plan stand one after the other, or in `seq`");
                self.tell(error.help("make what is beside others, or under a condition, one phase with alternatives"));
                Planned::Sequence(Vec::new())
            }
        }
    }

    fn has_phases(&self, term: &'a ast::Term) -> bool {
        let mut found = false;
        called(term, &mut |name| found |= matches!(self.names.get(name), Some((Meaning::Phase(_), _))));
        found
    }
}
