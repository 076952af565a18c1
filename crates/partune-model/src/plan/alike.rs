//! Plans whose turns are all alike, as alternatives: what can be compared by formulas, where the number of turns is open.

use partune_expr::{Bool, Expr};

use crate::diagnostic::Diagnostic;
use crate::model::cost::joined;
use crate::model::{Alternative, Model, Plan, Planned, Range, Term};

/// Choices for the phases of a plan that are compared.
const MAX_CHOICES: usize = 64;

/// The model with an alternative for each choice of alternatives for the phases of its plans, if turns of a loop are alike.
pub fn with_plans(model: &Model) -> Result<Model, Diagnostic> {
    let mut all = model.clone();
    for plan in &model.plans {
        let mut phases = Vec::new();
        plan.body.visit(&mut |phase| phases.push(phase));
        let of = |phase: usize| -> Vec<usize> {
            let all = model.alternatives.iter().enumerate();
            all.filter(|(_, it)| it.stage.is_some_and(|stage| stage.phase == phase)).map(|(at, _)| at).collect()
        };
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for phase in phases {
            let next = of(phase);
            choices = choices.iter().flat_map(|one| next.iter().map(move |at| [&one[..], &[*at]].concat())).collect();
            if choices.len() > MAX_CHOICES {
                let text = format!(
                    "more than {MAX_CHOICES} choices for the phases of `{}` are not compared by formulas",
                    plan.name
                );
                return Err(
                    Diagnostic::error(plan.span, text).help("give values to all parameters: then all are compared")
                );
            }
        }
        for choice in choices {
            let names: Vec<&str> = choice.iter().map(|at| model.alternatives[*at].name.as_str()).collect();
            let Some(term) = term(model, plan, &choice) else { continue };
            let name = names.join(", ");
            all.alternatives.push(Alternative { name, term, steps: None, stage: None });
        }
    }
    Ok(all)
}

/// A plan with these alternatives; none where data cannot get from one to the next.
fn term(model: &Model, plan: &Plan, choice: &[usize]) -> Option<Term> {
    let mut builder = Builder { model, choice, next: 0 };
    let (body, at) = builder.part(&plan.body, plan.from)?;
    let back = match (at, plan.to) {
        (Some(at), Some(to)) => builder.redistribute(at, to)?,
        _ => Term::Skip,
    };
    Some(joined(vec![body, back], Term::Sequence))
}

struct Builder<'a> {
    model: &'a Model,
    /// Alternatives of phases in their order.
    choice: &'a [usize],
    next: usize,
}

impl Builder<'_> {
    /// A part from the mapping that data are in, and the mapping after it; none if they can be anywhere so far.
    fn part(&mut self, part: &Planned, at: Option<usize>) -> Option<(Term, Option<usize>)> {
        match part {
            Planned::Other(term) => Some((term.clone(), at)),
            Planned::Phase(_) => {
                let it = &self.model.alternatives[self.choice[self.next]];
                self.next += 1;
                let Some((needs, leaves)) = it.stage.and_then(|stage| stage.mapping) else {
                    return Some((it.term.clone(), at));
                };
                let before = self.redistribute(at.unwrap_or(needs), needs)?;
                Some((joined(vec![before, it.term.clone()], Term::Sequence), Some(leaves)))
            }
            Planned::Sequence(all) => {
                let mut terms = Vec::new();
                let mut at = at;
                for one in all {
                    let (term, after) = self.part(one, at)?;
                    terms.push(term);
                    at = after;
                }
                Some((joined(terms, Term::Sequence), at))
            }
            Planned::Seq(range, body) => {
                // A turn begins where the first phase needs data; what brings them there is before the loop, and before each turn but the first.
                let begin = self.next;
                let (_, end) = self.part(body, None)?;
                let phases = &self.choice[begin..self.next];
                let needs = phases.iter().find_map(|at| self.model.alternatives[*at].stage.and_then(|it| it.mapping));
                let (Some((needs, _)), Some(end)) = (needs, end) else {
                    self.next = begin;
                    let (body, at) = self.part(body, at)?;
                    return Some((Term::Seq(range.clone(), Box::new(body)), at));
                };
                self.next = begin;
                let (turn, _) = self.part(body, Some(needs))?;
                let before = self.redistribute(at.unwrap_or(needs), needs)?;
                if end == needs {
                    let turns = Term::Seq(range.clone(), Box::new(turn));
                    return Some((joined(vec![before, turns], Term::Sequence), Some(end)));
                }
                let again = self.redistribute(end, needs)?;
                let first = turn.substitute(&range.variable, &range.lo);
                let others = Range { lo: &range.lo + Expr::one(), ..range.clone() };
                let others = Term::Seq(others, Box::new(joined(vec![again, turn], Term::Sequence)));
                let turns = Term::Sequence(vec![before, first, others]);
                let turns = Term::If(Bool::le(&range.lo, &range.hi), Box::new(turns), Box::new(Term::Skip));
                Some((turns, Some(end)))
            }
        }
    }

    /// The way with the fewest redistributions.
    fn redistribute(&self, from: usize, to: usize) -> Option<Term> {
        let all = &self.model.redistributions;
        let mut known = vec![(from, usize::MAX, usize::MAX)];
        let mut next = 0;
        while next < known.len() && known[next].0 != to {
            for (at, it) in all.iter().enumerate() {
                if it.from == known[next].0 && !known.iter().any(|one| one.0 == it.to) {
                    known.push((it.to, next, at));
                }
            }
            next += 1;
        }
        let mut terms = Vec::new();
        let mut at = *known.get(next)?;
        while at.2 != usize::MAX {
            terms.push(all[at.2].term.clone());
            at = known[at.1];
        }
        terms.reverse();
        Some(joined(terms, Term::Sequence))
    }
}
