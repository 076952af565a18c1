//! The run time on an ideal network: the trace followed again with operations that take no time of their own.
//!
//! Every PE is a sequence of useful stretches with ends of ties between them ([`partune_index::Ties`]), at which it gives something to
//! others or needs something. A tie is ready when all who give to it gave, at the time of the last. A PE's clock advances by its useful time up to a step, and to the
//! tie's time where it takes; nothing else costs anything. The longest clock at the end is the ideal run time (T_id of
//! POP, theory 7.1), which is at least the useful time of every PE.
//!
//! Linear in messages and members of collectives. What a damaged trace leaves unmet is counted ([`Turns`]).

use partune_base::{PeId, Table};
use partune_index::{Programs, Ties, Turns};
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::queries::Query;
use crate::steps::{Plan, Planner, Step};
use crate::useful::operations_between_processes;

/// The run times of a trace on an ideal network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ideals {
    pub(crate) all: Ideal,
    /// Of main threads, where some process has other PEs too.
    pub(crate) between_processes: Option<Ideal>,
}

impl Ideals {
    pub(crate) fn find(input: &Input<'_>, ties: &Ties) -> Ideals {
        let (trace, index, windows) = (input.trace, input.index, input.windows());
        let ideal = |busy| follow(&Planner { trace, index, ties, windows, between_processes: busy }.plan());
        let threaded = trace.cpu_pes().any(|pe| trace.pes()[pe].thread != 0);
        let busy = threaded.then(|| operations_between_processes(trace));
        let between_processes = busy.as_ref().map(|busy| ideal(Some(busy)));
        Ideals { all: ideal(None), between_processes }
    }
}

impl Query for Ideals {
    fn of(input: &Input<'_>) -> Ideals {
        Ideals::find(input, &Ties::build(input.trace, input.index))
    }

    /// All PEs leave what ends a slice at one time, as they would in the whole run.
    fn add(&mut self, next: Ideals) {
        self.all.add(next.all);
        if let Some((sum, next)) = self.between_processes.as_mut().zip(next.between_processes) {
            sum.add(next);
        }
    }
}

impl Ideal {
    fn add(&mut self, next: Ideal) {
        self.run_time += next.run_time;
        self.unmet += next.unmet;
    }
}

/// The result of following a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ideal {
    /// Ticks from the begin to the end of the slowest PE.
    pub(crate) run_time: i64,
    /// Needs that could not be met: the trace is damaged.
    pub(crate) unmet: u64,
}

struct Replay<'a> {
    steps: &'a Table<PeId, Vec<Step>>,
    clocks: Table<PeId, i64>,
    positions: Table<PeId, usize>,
}

/// Follows a plan to its end.
fn follow(plan: &Plan<'_>) -> Ideal {
    let pes = plan.steps.len();
    let mut replay = Replay { steps: &plan.steps, clocks: Table::filled(pes, 0), positions: Table::filled(pes, 0) };
    let givers = (0..plan.ties.len() as u32).map(|tie| plan.ties.givers(tie));
    let steps = plan.steps.iter().map(Vec::len).sum();
    let unmet = Turns::default().follow(&mut replay, (pes, steps), givers);
    let tail = |pe: PeId| replay.clocks[pe] + plan.tails[pe];
    Ideal { run_time: plan.steps.ids().map(tail).max().unwrap_or(0), unmet }
}

impl Programs<1> for Replay<'_> {
    fn run(&mut self, pe: PeId, turns: &mut Turns<1>) {
        let steps = &self.steps[pe];
        let mut clock = self.clocks[pe];
        let mut position = self.positions[pe];
        while let Some(step) = steps.get(position) {
            let now = clock + step.useful;
            if step.gives {
                turns.give(step.tie, [now]);
                clock = now;
            } else if let Some([time]) = turns.take(step.tie, pe) {
                clock = now.max(time);
            } else {
                break;
            }
            position += 1;
        }
        self.clocks[pe] = clock;
        self.positions[pe] = position;
    }

    fn stuck(&self, pe: PeId) -> Option<i64> {
        (self.positions[pe] < self.steps[pe].len()).then(|| self.clocks[pe])
    }

    fn release(&mut self, pe: PeId) -> Option<u32> {
        let step = self.steps[pe][self.positions[pe]];
        self.clocks[pe] += step.useful;
        self.positions[pe] += 1;
        Some(step.tie)
    }
}
