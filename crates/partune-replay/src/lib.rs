//! A run followed again under changes: what it would gain.
//!
//! A run is turned into a [`program::Program`]: work as measured, and what each PE gives to others and needs from them
//! ([`partune_index::Ties`]). Following it with the costs of its operations gives the run again; with changed work, costs or ties it
//! gives the run that would have been. The order in which locks were got and messages matched is that of the run.

mod builder;
mod change;
mod changes;
mod classes;
mod costs;
mod effects;
mod follow;
mod places;
mod program;
mod source;
mod sweep;

pub use change::{Algorithm, Change, ChangeError, FORMS, Place, Setting};
pub use changes::{Refusal, Refused};
pub use places::name;

use partune_base::{PeId, Span, Table, Time};
use partune_index::Index;
use partune_machine::Machine;
use partune_trace::Trace;

use classes::RECORDED;
use costs::{Costs, Level};
use effects::Effects;
use follow::{Clock, Followed, follow};
use program::{Program, What};
use source::Source;

/// A run, ready to be followed under changes. Memory: 24 bytes a step, of which a message has six.
pub struct Replay<'a> {
    runs: Runs<'a>,
    /// Costs are fitted to what is before it, and judged on what comes after.
    middle: Time,
    /// The run without changes.
    plain: Outcome,
}

/// What programs are made of and followed with.
struct Runs<'a> {
    source: Source<'a>,
    costs: Costs,
    windows: Table<PeId, (Time, Time)>,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// From the first end of a start-up to the last begin of a shut-down.
    pub run: Span,
    /// The same if operations take what the faster quarter of them took, and the slower one.
    pub range: (Span, Span),
    /// Changes that were left out, and why.
    pub refused: Vec<Refused>,
    program: Program,
    followed: Followed,
}

/// How well the run without changes is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fidelity {
    /// As recorded, and as followed.
    pub run: Span,
    pub followed: Span,
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
        let source = Source::new(trace, index);
        let (program, classes) = source.recorded();
        let (begin, end) = measured(trace, |pe| windows[pe]);
        let middle = Time(begin.0 + end.since(begin).0 / 2);
        let costs = Costs::fit(trace, &program, classes, middle, machine);
        let runs = Runs { source, costs, windows };
        let plain = runs.outcome(program, None, &Effects::none(trace), Vec::new());
        Replay { runs, middle, plain }
    }

    /// The run without changes.
    pub fn plain(&self) -> &Outcome {
        &self.plain
    }

    /// The run under changes, each on top of those before it. Those that are not possible are left out.
    pub fn under(&self, changes: &[Change]) -> Outcome {
        let runs = &self.runs;
        let mut effects = Effects::none(runs.source.trace);
        let mut refused = Vec::new();
        let mut outcome = None;
        for change in changes {
            let mut with = effects.clone();
            let refuse = |why| Refused { change: change.clone(), why };
            if let Err(why) = changes::apply(&runs.source, &mut with, change) {
                refused.push(refuse(why));
                continue;
            }
            let program = runs.source.program(&with, &self.plain.program);
            let followed = runs.follow(&program, &with, Level::Typical);
            match followed.unmet.saturating_sub(self.plain.followed.unmet) {
                0 => (effects, outcome) = (with, Some((program, followed))),
                more => refused.push(refuse(Refusal::Circular(more))),
            }
        }
        match outcome {
            None => Outcome { refused, ..self.plain.clone() },
            Some((program, followed)) => runs.outcome(program, Some(followed), &effects, refused),
        }
    }

    /// How well the run without changes is met.
    pub fn fidelity(&self) -> Fidelity {
        let (mut squares, mut operations, mut recorded) = (0.0, 0_u64, 0_u64);
        for (pe, of_pe) in self.plain.program.operations.iter_ids() {
            recorded += of_pe.iter().filter(|operation| operation.class == RECORDED).count() as u64;
            let steps = &self.plain.program.steps[pe];
            for (step, clock) in steps.iter().zip(&self.plain.followed.clocks[pe]) {
                if matches!(step.what, What::Leaves(_)) && step.at >= self.middle {
                    squares += (*clock as f64 - step.at.0 as f64).powi(2);
                    operations += 1;
                }
            }
        }
        Fidelity {
            run: span(self.runs.source.trace, |pe| self.runs.windows[pe]),
            followed: self.plain.run,
            error: (squares / operations.max(1) as f64).sqrt(),
            operations,
            recorded,
            late: self.runs.costs.late,
            unmet: self.plain.followed.unmet,
        }
    }
}

impl Runs<'_> {
    fn follow(&self, program: &Program, effects: &Effects, level: Level) -> Followed {
        follow(&self.source, program, &self.costs.of(self.source.trace, effects, level), effects)
    }

    /// All that is to know of a program, which may have been followed.
    fn outcome(
        &self,
        program: Program,
        followed: Option<Followed>,
        effects: &Effects,
        refused: Vec<Refused>,
    ) -> Outcome {
        let at = |level| self.run(&program, &self.follow(&program, effects, level));
        let (followed, range) = rayon::join(
            || followed.unwrap_or_else(|| self.follow(&program, effects, Level::Typical)),
            || rayon::join(|| at(Level::Low), || at(Level::High)),
        );
        Outcome { run: self.run(&program, &followed), range, refused, program, followed }
    }

    /// From the first end of a start-up to the last begin of a shut-down.
    fn run(&self, program: &Program, followed: &Followed) -> Span {
        span(self.source.trace, |pe| {
            let clock = Clock::new(program, followed, pe);
            (clock.time(self.windows[pe].0), clock.time(self.windows[pe].1))
        })
    }
}

impl Outcome {
    /// How much shorter the run is than without changes: at least, most likely, and at most. As far as changes move the run they also decide how often its
    /// operations are kept waiting, so that the range of costs counts; what hardly moves it has none.
    pub fn saves(&self, plain: &Outcome) -> (Span, Span, Span) {
        let saves = |plain: Span, changed: Span| (plain - changed).0 as f64;
        let typical = saves(plain.run, self.run);
        let of_level = [saves(plain.range.0, self.range.0), saves(plain.range.1, self.range.1)];
        let weight = (10.0 * typical.abs() / (plain.run.0 as f64).max(1.0)).min(1.0);
        let spread = [saves(plain.run, self.range.0), saves(plain.run, self.range.1)];
        let all = of_level.into_iter().chain(spread.map(|it| typical + weight * (it - typical)));
        let (low, high) = all.fold((typical, typical), |(low, high), it| (low.min(it), high.max(it)));
        (Span(low.floor() as i64), plain.run - self.run, Span(high.ceil() as i64))
    }

    /// The run as a trace: everything at its new time. Operations that are not done take no time.
    #[must_use]
    pub fn retime(&self, trace: Trace) -> Trace {
        trace.retime(|streams| {
            let pes: Vec<PeId> = streams.ids().collect();
            for pe in pes {
                let clock = Clock::new(&self.program, &self.followed, pe);
                streams[pe].map_times(|time| clock.time(time));
            }
        })
    }
}

/// How long what is measured takes.
fn span(trace: &Trace, window: impl Fn(PeId) -> (Time, Time)) -> Span {
    let (begin, end) = measured(trace, window);
    end.since(begin).clamp_positive()
}

/// From the first begin to the last end of what is measured of each PE of a CPU.
fn measured(trace: &Trace, window: impl Fn(PeId) -> (Time, Time)) -> (Time, Time) {
    let windows: Vec<(Time, Time)> = trace.cpu_pes().map(window).collect();
    let begin = windows.iter().map(|window| window.0).min().unwrap_or_default();
    let end = windows.iter().map(|window| window.1).max().unwrap_or_default();
    (begin, end.max(begin))
}
