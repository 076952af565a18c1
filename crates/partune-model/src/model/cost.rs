//! Loops over domains, their tasks and barriers as terms, which know no data: for estimates and the simulator. Of syntax as it is lowered, and of steps
//! that were changed after that.

use partune_expr::{Expr, Symbol};

use super::{Draw, Model, Range, Schedule, Step, Term};
use crate::diagnostic::Span;

/// Who does a task.
pub(crate) enum Worker {
    Owner(Expr),
    Anybody,
}

impl Worker {
    pub(crate) fn of(schedule: &Schedule, owner: Expr) -> Worker {
        match schedule {
            Schedule::Static => Worker::Owner(owner),
            Schedule::Own(_) | Schedule::Guided(_) => Worker::Anybody,
        }
    }
}

/// A task as what it takes of its PE; outside of loops over domains that is the first one.
pub(crate) fn work(model: &Model, worker: Option<&Worker>, weight: Expr, span: Span) -> Term {
    let is_nothing = weight.is_zero();
    let duration = Draw::Fixed(weight);
    let Some((each, any)) = model.application.processors else { return Term::Delay(duration, span) };
    if is_nothing {
        return Term::Skip;
    }
    let (resource, index) = match worker {
        Some(Worker::Owner(owner)) => (each, vec![owner.clone()]),
        Some(Worker::Anybody) => (any, Vec::new()),
        None => (each, vec![Expr::zero()]),
    };
    Term::Use { resource, index, duration, span }
}

/// The body of a loop for each index of a domain, in parallel.
pub(crate) fn spread(model: &Model, domain: usize, symbols: &[Symbol], body: Term, span: Span) -> Term {
    if matches!(body, Term::Skip) {
        return Term::Skip;
    }
    let ranges = &model.application.domains[domain].ranges;
    symbols.iter().zip(ranges).rev().fold(body, |body, (variable, (lo, hi))| {
        let range = Range { variable: variable.clone(), lo: lo.clone(), hi: hi.clone(), span };
        Term::Par(range, Box::new(body))
    })
}

pub(crate) fn barrier(model: &Model, span: Span) -> Term {
    match model.application.machine.barrier.clone() {
        cost if cost.is_zero() => Term::Skip,
        cost => Term::Delay(Draw::Fixed(cost), span),
    }
}

/// What PEs do behind a term of a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// They meet there: before it, too.
    Barrier,
    /// What comes begins when all of it is done.
    Waits,
    /// Who is done goes on.
    GoesOn,
    /// It is an event, of which each PE waits for itself.
    Event,
}

impl Behind {
    /// At the end of something longer: where they meet there, they need not have met before it.
    pub(crate) fn inside(self) -> Behind {
        if self == Behind::Barrier { Behind::Waits } else { self }
    }

    /// Of several in a row as one: what is behind the last that is no event.
    pub(crate) fn last(all: impl DoubleEndedIterator<Item = Behind>) -> Behind {
        all.rev().find(|behind| *behind != Behind::Event).map_or(Behind::Event, Behind::inside)
    }
}

/// Loops of a sequence that nobody waits for, beside what comes after them: that takes a constraint away, so bounds from below stay such.
pub(crate) fn overlapped(behind: impl Iterator<Item = Behind>, terms: Vec<Term>) -> Vec<Term> {
    let mut all = Vec::new();
    let mut beside = Vec::new();
    for (behind, term) in behind.zip(terms) {
        if behind == Behind::Barrier && !beside.is_empty() {
            all.push(joined(std::mem::take(&mut beside), Term::Parallel));
        }
        // Behind a loop that goes on, an event would make what comes wait for all of the loop.
        let closes = match behind {
            Behind::Barrier | Behind::Waits => true,
            Behind::GoesOn => false,
            Behind::Event => beside.is_empty(),
        };
        beside.push(term);
        if closes {
            all.push(joined(std::mem::take(&mut beside), Term::Parallel));
        }
    }
    all.push(joined(beside, Term::Parallel));
    all
}

pub(crate) fn joined(all: Vec<Term>, make: fn(Vec<Term>) -> Term) -> Term {
    let mut all: Vec<Term> = all.into_iter().filter(|term| !matches!(term, Term::Skip)).collect();
    match all.len() {
        0 => Term::Skip,
        1 => all.remove(0),
        _ => make(all),
    }
}

impl Step {
    /// The term of the same program. What says nothing of data is left out, so that is for steps that have nothing of that kind.
    pub fn term(&self, model: &Model) -> Term {
        self.term_by(model, None)
    }

    fn term_by(&self, model: &Model, worker: Option<&Worker>) -> Term {
        match self {
            Step::Nothing | Step::Other(..) => Term::Skip,
            Step::Sequence(_) => {
                let all = self.in_a_row();
                let terms = all.iter().map(|one| one.term_by(model, worker)).collect();
                // One PE does all of an index.
                let terms =
                    if worker.is_some() { terms } else { overlapped(all.iter().map(|one| one.behind()), terms) };
                joined(terms, Term::Sequence)
            }
            Step::Seq(range, body) => match body.term_by(model, worker) {
                Term::Skip => Term::Skip,
                // Turns that nobody waits for are beside each other, likewise.
                term if worker.is_none() && body.behind() == Behind::GoesOn => Term::Par(range.clone(), Box::new(term)),
                term => Term::Seq(range.clone(), Box::new(term)),
            },
            Step::If(condition, then, otherwise) => {
                let (then, otherwise) = (then.term_by(model, worker), otherwise.term_by(model, worker));
                Term::If(condition.clone(), Box::new(then), Box::new(otherwise))
            }
            Step::Phase(_, body) => body.term_by(model, worker),
            Step::Forall(forall) => {
                let owners = model.application.domains[forall.domain].owners.as_ref();
                let owner = forall.owner.clone().or_else(|| {
                    let owners = owners?;
                    let pairs = owners.symbols.iter().cloned().zip(forall.symbols.iter().map(Expr::from)).collect();
                    Some(owners.owner.substitute_all(&pairs))
                });
                let worker = Worker::of(&forall.schedule, owner.unwrap_or_else(Expr::zero));
                let body = forall.body.term_by(model, Some(&worker));
                spread(model, forall.domain, &forall.symbols, body, forall.span)
            }
            Step::Task(task) => match &task.weight {
                Some((weight, span)) => work(model, worker, weight.clone(), *span),
                None => Term::Skip,
            },
            Step::Event { act, event, index, span } => {
                Term::Event { act: *act, event: *event, index: index.clone(), span: *span }
            }
            Step::Barrier(span) => barrier(model, *span),
        }
    }

    /// The steps of sequences in sequences, without those that do nothing.
    fn in_a_row(&self) -> Vec<&Step> {
        match self {
            Step::Nothing => Vec::new(),
            Step::Sequence(all) => all.iter().flat_map(Step::in_a_row).collect(),
            other => vec![other],
        }
    }

    /// What is looser where both may be, and where nothing is done at all.
    fn behind(&self) -> Behind {
        match self {
            Step::Forall(forall) if forall.nowait => Behind::GoesOn,
            Step::Nothing => Behind::GoesOn,
            Step::Phase(_, body) | Step::Seq(_, body) => body.behind().inside(),
            Step::Sequence(_) => match &self.in_a_row()[..] {
                [] => Behind::GoesOn,
                all => Behind::last(all.iter().map(|one| one.behind())),
            },
            Step::If(_, then, otherwise) => match (then.behind(), otherwise.behind()) {
                (Behind::Event, _) if matches!(**otherwise, Step::Nothing) => Behind::Event,
                (Behind::GoesOn, _) | (_, Behind::GoesOn) => Behind::GoesOn,
                (Behind::Event, _) | (_, Behind::Event) => Behind::Event,
                _ => Behind::Waits,
            },
            Step::Event { .. } => Behind::Event,
            Step::Barrier(_) => Behind::Barrier,
            Step::Forall(_) | Step::Task(_) | Step::Other(..) => Behind::Waits,
        }
    }

    /// Whether all of it says what it does to data.
    pub(crate) fn is_followed(&self) -> bool {
        match self {
            Step::Nothing | Step::Task(_) | Step::Event { .. } | Step::Barrier(_) => true,
            Step::Other(..) => false,
            Step::Sequence(all) => all.iter().all(Step::is_followed),
            Step::Seq(_, body) | Step::Phase(_, body) => body.is_followed(),
            Step::If(_, then, otherwise) => then.is_followed() && otherwise.is_followed(),
            Step::Forall(forall) => forall.body.is_followed(),
        }
    }
}
