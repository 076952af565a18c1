//! Processes that call themselves: which they are, and those that cannot end.

use partune_expr::Rat;

use super::{Lower, Meaning, item_body};
use crate::ast::{self, TermKind};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Process, Term};

impl Lower<'_> {
    /// Which processes reach themselves.
    pub(super) fn find_recursion(&mut self) {
        let file = self.file;
        for start in 0..file.items.len() {
            let mut seen = vec![false; file.items.len()];
            let mut stack = vec![start];
            while let Some(index) = stack.pop() {
                let Some((_, body)) = item_body(&file.items[index]) else { continue };
                called(body, &mut |name| {
                    if let Some((Meaning::Process(next), _)) = self.names.get(name) {
                        if *next == start {
                            self.recursive.insert(start);
                        }
                        if !std::mem::replace(&mut seen[*next], true) {
                            stack.push(*next);
                        }
                    }
                });
            }
        }
    }

    /// Says which processes call themselves whatever their arguments are, and however chance decides.
    pub(super) fn endless(&mut self) {
        let processes = &self.model.processes;
        let mut ends = vec![false; processes.len()];
        // Each round may find another one that ends, since all that it cannot do without end.
        while let Some(next) =
            (0..ends.len()).find(|&index| !ends[index] && certain_call(&processes[index].body, &ends).is_none())
        {
            ends[next] = true;
        }
        let calls = processes.iter().enumerate().filter(|(index, _)| !ends[*index]);
        let told: Vec<Diagnostic> = calls
            .filter_map(|(index, process)| {
                let (callee, span) = certain_call(&process.body, &ends)?;
                let callee = if callee == index { "itself" } else { &format!("`{}`", processes[callee].name) };
                let text = format!("`{}` never ends: whichever way it goes, it calls {callee}", process.name);
                Some(Diagnostic::error(span, text).help(Process::LET_IT_END))
            })
            .collect();
        told.into_iter().for_each(|one| self.tell(one));
    }
}

/// A call that a term makes whichever way it goes, of a process that is not known to end.
fn certain_call(term: &Term, ends: &[bool]) -> Option<(usize, Span)> {
    let of = |term: &Term| certain_call(term, ends);
    match term {
        // A loop by chance or by a number that is computed may take no turn.
        Term::Skip
        | Term::Delay(..)
        | Term::Use { .. }
        | Term::Event { .. }
        | Term::WhileProb(..)
        | Term::WhileBelow(..) => None,
        Term::Sequence(all) | Term::Parallel(all) => all.iter().find_map(of),
        Term::Seq(range, body) | Term::Par(range, body) => {
            let turns = (&range.hi - &range.lo).to_rat().is_some_and(|gap| gap >= Rat::ZERO);
            if turns { of(body) } else { None }
        }
        Term::If(_, then, otherwise) => of(then).filter(|_| of(otherwise).is_some()),
        Term::Choose(cases, _) => {
            let mut calls = cases.iter().filter(|(chance, _)| !chance.is_zero()).map(|(_, case)| of(case));
            let first = calls.next()??;
            calls.all(|call| call.is_some()).then_some(first)
        }
        Term::Call(process, _, span) => (!ends[*process]).then_some((*process, *span)),
    }
}

/// Names of the processes that a term calls.
pub(super) fn called<'a>(term: &'a ast::Term, visit: &mut dyn FnMut(&'a str)) {
    match &term.node {
        TermKind::Skip
        | TermKind::Delay(_)
        | TermKind::Use { .. }
        | TermKind::Event { .. }
        | TermKind::Task(_)
        | TermKind::Barrier
        | TermKind::Error => {}
        TermKind::Forall(forall) => called(&forall.body, visit),
        TermKind::Sequence(all) | TermKind::Parallel(all) => all.iter().for_each(|one| called(one, visit)),
        TermKind::Seq(each) | TermKind::Par(each) => called(&each.body, visit),
        TermKind::If(_, then, otherwise) => {
            called(then, visit);
            otherwise.iter().for_each(|term| called(term, visit));
        }
        TermKind::While(_, body) | TermKind::Phase(_, body) => called(body, visit),
        TermKind::Choose(cases) => cases.iter().for_each(|(_, term)| called(term, visit)),
        TermKind::Call(name, _) => visit(&name.node),
    }
}
