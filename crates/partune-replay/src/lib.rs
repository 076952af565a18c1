//! A run followed again under changes: what it would gain.
//!
//! A run is turned into a [`program::Program`]: work as measured, and what each PE gives to others and needs from them
//! ([`partune_index::Ties`]). Following it with the costs of its operations gives the run again; with changed work, costs or ties it
//! gives the run that would have been. Messages match as in the run; locks are got by whoever comes first.

mod builder;
mod change;
mod changes;
mod classes;
mod costs;
mod effects;
mod follow;
mod locks;
mod places;
mod program;
mod rewrite;
mod sharing;
mod source;
mod sweep;

pub use change::{Algorithm, Change, ChangeError, FORMS, PeName, Place, Setting, mapping};
pub use changes::{Refusal, Refused, Wanted};
pub use places::{name, statement};

use std::sync::Mutex;

use partune_base::{PeId, Span, Table, Time};
use partune_index::{Index, Turns};
use partune_machine::Machine;
use partune_trace::Trace;

use classes::RECORDED;
use costs::{Costs, LEVELS, Level};
use effects::{Effects, Treatment};
use follow::{Clock, Done, Followed, follow};
use program::{Program, What};
use source::Source;

/// A run, ready to be followed under changes. Memory: 24 bytes a step, of which a message has six.
pub struct Replay<'a> {
    source: Source<'a>,
    costs: Costs,
    /// The run without changes.
    program: Program,
    plain: Outcome,
    fidelity: Fidelity,
    /// Memory for following, kept from one time to the next.
    turns: Mutex<Turns<LEVELS>>,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Changes that were left out, and why.
    pub refused: Vec<Refused>,
    followed: Followed,
    /// The run in which nobody waits for a lock that others hold, but which takes as long as each of them is held in all: in whatever order they are
    /// got, it takes no less.
    in_any_order: Span,
}

/// When everything was done in a run that was followed.
#[derive(Debug)]
pub struct Retimed {
    program: Program,
    done: Done,
}

/// How well the run without changes is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fidelity {
    /// Ends of operations in the second half of the run, whose costs are of the first: root of the mean square of their errors, in ticks.
    pub error: f64,
    pub operations: u64,
    /// Operations that keep the time they took: management, files, partners that nobody knows.
    pub recorded: u64,
    /// Operations of the second half that are like none of the first.
    pub late: u64,
    /// Needs that could not be met.
    pub unmet: u64,
}

impl<'a> Replay<'a> {
    /// Fits the costs of operations to the run, or takes them from a machine. `windows`: when each PE's start-up ended and its shut-down
    /// began. Linear in visits and ends of ties.
    pub fn new(
        trace: &'a Trace,
        index: &'a Index,
        machine: Option<&Machine>,
        windows: Table<PeId, (Time, Time)>,
    ) -> Replay<'a> {
        let source = Source::new(trace, index, windows);
        let (program, classes) = source.recorded();
        let (begin, end) = source.measured(|pe| source.windows[pe]);
        let middle = Time(begin.0 + end.since(begin).0 / 2);
        let costs = Costs::fit(trace, &program, classes, middle, machine);
        let none = Effects::none(trace);
        let (mut turns, mut done) = (Turns::default(), Done::new());
        let followed = follow(&source, (&program, &costs.of(trace, &none), &none), &mut turns, Some(&mut done), true);
        let fidelity = Fidelity::of(&program, &done, middle, costs.late, followed.unmet);
        let plain = Outcome { refused: Vec::new(), followed, in_any_order: followed.typical() };
        Replay { source, costs, program, plain, fidelity, turns: Mutex::new(turns) }
    }

    /// The run without changes.
    pub fn plain(&self) -> &Outcome {
        &self.plain
    }

    /// From the first end of a start-up to the last begin of a shut-down, as recorded.
    pub fn recorded_run(&self) -> Span {
        self.source.span(|pe| self.source.windows[pe])
    }

    /// Bytes of the longest message whose send may have to wait for its receive, by the eager limit that the run shows.
    pub fn longest_waiting(&self) -> Option<u64> {
        self.source.posts.iter().max().copied()
    }

    /// The run under changes, each on top of those before it. Those that are not possible are left out.
    pub fn under(&self, changes: &[Change]) -> Outcome {
        self.made(changes).0
    }

    /// The same, and when everything was done.
    pub fn retimed(&self, changes: &[Change]) -> (Outcome, Retimed) {
        let (outcome, effects, program) = self.made(changes);
        let mut done = Done::new();
        self.follow(&program, &effects, Some(&mut done), true);
        (outcome, Retimed { program, done })
    }

    /// How well the run without changes is met.
    pub fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    fn made(&self, changes: &[Change]) -> (Outcome, Effects, Program) {
        let Replay { source, costs, plain, .. } = self;
        let mut effects = Effects::none(source.trace);
        let mut program = self.program.clone();
        let mut outcome = plain.clone();
        for change in changes {
            let mut with = effects.clone();
            let refuse = |why| Refused { change: change.clone(), why };
            if let Err(why) = changes::apply(source, costs, &mut with, change) {
                outcome.refused.push(refuse(why));
                continue;
            }
            let changed = source.program(&with, &self.program);
            let followed = self.follow(&changed, &with, None, true);
            match followed.unmet.saturating_sub(plain.followed.unmet) {
                0 => (effects, program, outcome.followed) = (with, changed, followed),
                more => outcome.refused.push(refuse(Refusal::Circular(more))),
            }
        }
        outcome.in_any_order = outcome.run();
        if outcome.refused.len() < changes.len() && !source.locks.1.is_empty() {
            let free = self.follow(&program, &effects, None, false).typical();
            outcome.in_any_order = free.max(outcome.followed.held).min(outcome.run());
        }
        (outcome, effects, program)
    }

    fn follow(&self, program: &Program, effects: &Effects, done: Option<&mut Done>, waits_for_locks: bool) -> Followed {
        let costs = self.costs.of(self.source.trace, effects);
        // Memory that somebody else uses now is no memory for this; nothing in it outlives a time of following.
        let mut own = Turns::default();
        let mut kept = self.turns.try_lock().ok();
        let turns = kept.as_deref_mut().unwrap_or(&mut own);
        follow(&self.source, (program, &costs, effects), turns, done, waits_for_locks)
    }
}

impl Fidelity {
    fn of(program: &Program, done: &Done, middle: Time, late: u64, unmet: u64) -> Fidelity {
        let (mut squares, mut operations, mut recorded) = (0.0, 0_u64, 0_u64);
        for (pe, of_pe) in program.operations.iter_ids() {
            recorded += of_pe.iter().filter(|operation| operation.class == RECORDED).count() as u64;
            for (step, clock) in program.steps[pe].iter().zip(&done[pe]) {
                if matches!(step.what, What::Leaves(_)) && step.at >= middle {
                    squares += (*clock as f64 - step.at.0 as f64).powi(2);
                    operations += 1;
                }
            }
        }
        Fidelity { error: (squares / operations.max(1) as f64).sqrt(), operations, recorded, late, unmet }
    }
}

impl Outcome {
    /// From the first end of a start-up to the last begin of a shut-down.
    pub fn run(&self) -> Span {
        self.followed.typical()
    }

    /// How much shorter the run is than without changes: at least, most likely, and at most. As far as changes move the run they also decide how often its
    /// operations are kept waiting, and who gets a lock first, so that the range of costs counts, and what any order of locks allows; what hardly moves it
    /// has none.
    pub fn saves(&self, plain: &Outcome) -> (Span, Span, Span) {
        let saves = |plain: Span, changed: Span| (plain - changed).0 as f64;
        let (was, is) = (plain.followed.runs, self.followed.runs);
        let typical = saves(plain.run(), self.run());
        let weight = (10.0 * typical.abs() / (plain.run().0 as f64).max(1.0)).min(1.0);
        let weighed = |is: Span| typical + weight * (saves(plain.run(), is) - typical);
        let of_level = [Level::Low, Level::High].into_iter().flat_map(|level| {
            let is = is[level as usize];
            [saves(was[level as usize], is), weighed(is)]
        });
        let (low, high) = of_level
            .chain([weighed(self.in_any_order)])
            .fold((typical, typical), |(low, high), it| (low.min(it), high.max(it)));
        (Span(low.floor() as i64), plain.run() - self.run(), Span(high.ceil() as i64))
    }
}

impl Retimed {
    /// The run as a trace: everything at its new time. What is not done is not in it, and neither are collectives that became something else: parts of another
    /// one, signals, or something that is only started.
    #[must_use]
    pub fn retime(&self, trace: Trace) -> Trace {
        let gone: Table<PeId, Vec<bool>> = trace.streams().ids().map(|pe| self.gone(&trace, pe)).collect();
        trace.retime(|streams| {
            let pes: Vec<PeId> = streams.ids().collect();
            for pe in pes {
                if gone[pe].contains(&true) {
                    streams[pe].remove(&gone[pe]);
                }
                let clock = Clock::new(&self.program, &self.done, pe);
                streams[pe].map_times(|time| clock.time(time));
            }
        })
    }

    /// The visits of a PE that are not in it.
    fn gone(&self, trace: &Trace, pe: PeId) -> Vec<bool> {
        let mut gone = vec![false; trace.streams()[pe].visits.len()];
        for operation in self.program.operations[pe].iter().filter(|it| it.visit.is_some()) {
            let is_gone = match operation.treatment {
                Treatment::Goes => true,
                Treatment::Joins | Treatment::Signals(_) | Treatment::Starts => {
                    trace.role_of(pe, operation.visit).is_collective()
                }
                _ => false,
            };
            if let Some(gone) = gone.get_mut(operation.visit.index()) {
                *gone |= is_gone;
            }
        }
        gone
    }
}
