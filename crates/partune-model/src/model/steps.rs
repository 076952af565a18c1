//! Steps changed: other schedules of loops, loops that nobody waits for, phases that become one, barriers that go. What is changed is told by numbers of
//! places, so that who asks can say that there was nothing to change.

use std::collections::BTreeMap;

use partune_expr::{Expr, Symbol};

use super::{Each, Effect, Forall, Over, Schedule, Step, Task};

/// Why steps cannot be changed; words are the asker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// The phase is not entered anywhere, or has no loop over a domain.
    NoLoop,
    /// There is no barrier, or it is that already.
    Nothing,
    /// The second phase does not follow the first one.
    Apart,
    /// One of the phases is more than one loop over a domain.
    NotOneLoop,
    /// The loops run over other domains, or have other owners or schedules.
    OtherLoops,
    /// In some places one barrier stands after the phase, in others several.
    Mixed,
}

impl Step {
    /// Gives the loops of a phase another schedule.
    pub fn reschedule(&mut self, phase: usize, schedule: &Schedule) -> Result<(), WhyNot> {
        self.change_loops(phase, &mut |forall| {
            let is_other = forall.schedule != *schedule;
            forall.schedule = schedule.clone();
            is_other
        })
    }

    /// Lets PEs that are done with a loop of a phase go on.
    pub fn go_on_after(&mut self, phase: usize) -> Result<(), WhyNot> {
        self.change_loops(phase, &mut |forall| !std::mem::replace(&mut forall.nowait, true))
    }

    fn change_loops(&mut self, phase: usize, change: &mut dyn FnMut(&mut Forall) -> bool) -> Result<(), WhyNot> {
        let (mut found, mut changed) = (false, false);
        self.each_loop(None, &mut |of, forall| {
            if of == Some(phase) {
                found = true;
                changed |= change(forall);
            }
        });
        match (found, changed) {
            (false, _) => Err(WhyNot::NoLoop),
            (true, false) => Err(WhyNot::Nothing),
            (true, true) => Ok(()),
        }
    }

    /// Visits loops over domains in their order, each with its phase.
    fn each_loop(&mut self, phase: Option<usize>, visit: &mut dyn FnMut(Option<usize>, &mut Forall)) {
        match self {
            Step::Nothing | Step::Task(_) | Step::Event { .. } | Step::Barrier(_) | Step::Other(..) => {}
            Step::Sequence(all) => all.iter_mut().for_each(|one| one.each_loop(phase, visit)),
            Step::Seq(_, body) => body.each_loop(phase, visit),
            Step::If(_, then, otherwise) => {
                then.each_loop(phase, visit);
                otherwise.each_loop(phase, visit);
            }
            Step::Phase(inner, body) => body.each_loop(Some(*inner), visit),
            Step::Forall(forall) => visit(phase, forall),
        }
    }

    /// Makes one phase of two that follow each other with nothing but barriers between them, which go: a PE does of each index what the first one's loop
    /// does, then what the second one's does. It has the first one's place among phases.
    pub fn fuse(&mut self, first: usize, second: usize) -> Result<(), WhyNot> {
        let mut fused = 0;
        self.fuse_inside(first, second, &mut fused)?;
        if fused == 0 { Err(WhyNot::Apart) } else { Ok(()) }
    }

    fn fuse_inside(&mut self, first: usize, second: usize, fused: &mut usize) -> Result<(), WhyNot> {
        match self {
            Step::Nothing
            | Step::Task(_)
            | Step::Event { .. }
            | Step::Barrier(_)
            | Step::Other(..)
            | Step::Forall(_) => Ok(()),
            Step::Seq(_, body) | Step::Phase(_, body) => body.fuse_inside(first, second, fused),
            Step::If(_, then, otherwise) => {
                then.fuse_inside(first, second, fused)?;
                otherwise.fuse_inside(first, second, fused)
            }
            Step::Sequence(all) => {
                let mut flat = Vec::new();
                std::mem::take(all).into_iter().for_each(|one| one.flatten(&mut flat));
                let mut at = 0;
                while at < flat.len() {
                    let next = (at + 1..flat.len()).find(|it| !matches!(flat[*it], Step::Barrier(_)));
                    let is = |step: &Step, phase: usize| matches!(step, Step::Phase(it, _) if *it == phase);
                    if let Some(next) = next.filter(|next| is(&flat[at], first) && is(&flat[*next], second)) {
                        let (Some(a), Some(b)) = (flat[at].only_loop(), flat[next].only_loop()) else {
                            return Err(WhyNot::NotOneLoop);
                        };
                        let both = a.fused(b)?;
                        flat.drain(at + 1..=next);
                        flat[at] = Step::Phase(first, Box::new(Step::Forall(Box::new(both))));
                        *fused += 1;
                    } else {
                        flat[at].fuse_inside(first, second, fused)?;
                    }
                    at += 1;
                }
                *all = flat;
                Ok(())
            }
        }
    }

    /// The steps of sequences in sequences.
    fn flatten(self, into: &mut Vec<Step>) {
        match self {
            Step::Sequence(all) => all.into_iter().for_each(|one| one.flatten(into)),
            Step::Nothing => {}
            other => into.push(other),
        }
    }

    /// The loop that a phase is, where it is nothing else.
    fn only_loop(&self) -> Option<&Forall> {
        match self {
            Step::Forall(forall) => Some(forall),
            Step::Phase(_, body) => body.only_loop(),
            Step::Sequence(all) => {
                match &all.iter().filter(|it| !matches!(it, Step::Nothing)).collect::<Vec<_>>()[..] {
                    [only] => only.only_loop(),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Takes away the barrier that PEs come to after a loop of a phase, everywhere. Of several in a row one goes, and they meet as before; of one alone the
    /// PEs go on, so that the loop before it is no longer waited for.
    pub fn remove_barrier(&mut self, phase: usize) -> Result<(), WhyNot> {
        let mut rows = Rows { phase, after: false, lengths: Vec::new(), is_open: false, remove: false };
        rows.visit(self, None);
        let is_alone = |row: &usize| *row == 1;
        if rows.lengths.is_empty() {
            return Err(WhyNot::Nothing);
        }
        let alone = rows.lengths.iter().all(is_alone);
        if !alone && rows.lengths.iter().any(is_alone) {
            return Err(WhyNot::Mixed);
        }
        Rows { phase, after: false, lengths: Vec::new(), is_open: false, remove: true }.visit(self, None);
        if alone {
            // Its last loop is waited for no longer.
            let mut loops = 0;
            self.each_loop(None, &mut |of, _| loops += usize::from(of == Some(phase)));
            let mut at = 0;
            self.each_loop(None, &mut |of, forall| {
                at += usize::from(of == Some(phase));
                forall.nowait |= of == Some(phase) && at == loops;
            });
        }
        Ok(())
    }

    /// The same of changed expressions; bound variables are unique, so none is captured.
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Step {
        match self {
            Step::Nothing => Step::Nothing,
            Step::Sequence(all) => Step::Sequence(all.iter().map(|one| one.map(f)).collect()),
            Step::Seq(range, body) => Step::Seq(range.map(f), Box::new(body.map(f))),
            Step::If(condition, then, otherwise) => {
                Step::If(condition.map(f), Box::new(then.map(f)), Box::new(otherwise.map(f)))
            }
            Step::Phase(index, body) => Step::Phase(*index, Box::new(body.map(f))),
            Step::Forall(forall) => Step::Forall(Box::new(Forall {
                owner: forall.owner.as_ref().map(&mut *f),
                body: forall.body.map(f),
                ..(**forall).clone()
            })),
            Step::Task(task) => Step::Task(Box::new(task.map(f))),
            Step::Event { act, event, index, span } => {
                Step::Event { act: *act, event: *event, index: index.iter().map(f).collect(), span: *span }
            }
            Step::Barrier(span) => Step::Barrier(*span),
            Step::Other(name, span) => Step::Other(name, *span),
        }
    }
}

/// Barriers in a row after the loops of a phase.
struct Rows {
    phase: usize,
    /// The last loop was of the phase, and this many barriers came in each row after one.
    after: bool,
    lengths: Vec<usize>,
    is_open: bool,
    /// Whether the first one of each row goes.
    remove: bool,
}

impl Rows {
    fn visit(&mut self, step: &mut Step, phase: Option<usize>) {
        match step {
            Step::Sequence(all) => all.iter_mut().for_each(|one| self.visit(one, phase)),
            Step::Seq(_, body) => self.visit(body, phase),
            Step::If(_, then, otherwise) => {
                self.visit(then, phase);
                self.visit(otherwise, phase);
            }
            Step::Phase(inner, body) => self.visit(body, Some(*inner)),
            Step::Forall(_) => (self.after, self.is_open) = (phase == Some(self.phase), false),
            Step::Task(_) | Step::Event { .. } => (self.after, self.is_open) = (false, false),
            Step::Barrier(_) if self.after => {
                match self.lengths.last_mut().filter(|_| self.is_open) {
                    Some(row) => *row += 1,
                    None => self.lengths.push(1),
                }
                if self.remove && !self.is_open {
                    *step = Step::Nothing;
                }
                self.is_open = true;
            }
            Step::Nothing | Step::Barrier(_) | Step::Other(..) => {}
        }
    }
}

impl Forall {
    fn fused(&self, next: &Forall) -> Result<Forall, WhyNot> {
        let pairs: BTreeMap<Symbol, Expr> =
            next.symbols.iter().cloned().zip(self.symbols.iter().map(Expr::from)).collect();
        let mut own = |e: &Expr| e.substitute_all(&pairs);
        let owner = next.owner.as_ref().map(&mut own);
        if self.domain != next.domain || self.owner != owner || self.schedule != next.schedule {
            return Err(WhyNot::OtherLoops);
        }
        let body = Step::Sequence(vec![self.body.clone(), next.body.map(&mut own)]);
        Ok(Forall { body, nowait: next.nowait, ..self.clone() })
    }
}

impl Task {
    fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Task {
        let mut effect = |effect: &Effect| {
            let mut each = |each: &Each| Each {
                symbol: each.symbol.clone(),
                over: match &each.over {
                    Over::Range(lo, hi) => Over::Range(f(lo), f(hi)),
                    Over::Row(items, first, row) => Over::Row(items.clone(), first.clone(), f(row)),
                },
            };
            let each = effect.each.iter().map(&mut each).collect();
            Effect { each, index: effect.index.iter().map(|e| e.as_ref().map(&mut *f)).collect(), ..effect.clone() }
        };
        let effects = self.effects.iter().map(&mut effect).collect();
        Task { effects, weight: self.weight.as_ref().map(|(e, span)| (f(e), *span)) }
    }
}
