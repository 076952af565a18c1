//! The run time on an ideal network: the trace followed again with operations that take no time of their own.
//!
//! Every PE is a sequence of useful stretches with ends of ties between them ([`partune_index::Ties`]), at which it gives something to
//! others or needs something. A tie is ready when all who give to it gave, at the time of the last. A PE's clock advances by its useful time up to a step, and to the
//! tie's time where it takes; nothing else costs anything. The longest clock at the end is the ideal run time (T_id of
//! POP, theory 7.1), which is at least the useful time of every PE.
//!
//! Steps are done in the order of dependence, each once: linear in messages and members of collectives. On a damaged trace
//! dependences can form a circle; then the PE that is furthest behind goes on without what it needs, and this is counted.

use partune_base::{PeId, Table};
use partune_index::Ties;
use rayon::prelude::*;

use crate::Input;
use crate::steps::{Plan, Planner, Step};
use crate::useful::operations_between_processes;

/// The run times of a trace on an ideal network.
#[derive(Clone, Copy, Debug)]
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

/// The result of following a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ideal {
    /// Ticks from the begin to the end of the slowest PE.
    pub(crate) run_time: i64,
    /// Needs that could not be met: the trace is damaged.
    pub(crate) unmet: u64,
}

/// What is given and taken at a tie.
#[derive(Clone, Copy)]
struct Slot {
    /// When it was ready, or the latest gift so far.
    time: i64,
    /// Gifts to come.
    remaining: u32,
    /// The first PE that waits for it; others follow in `Replay::next_waiting`.
    waiting: PeId,
}

struct Replay<'a> {
    steps: &'a Table<PeId, Vec<Step>>,
    slots: Vec<Slot>,
    clocks: Table<PeId, i64>,
    positions: Table<PeId, usize>,
    next_waiting: Table<PeId, PeId>,
    runnable: Vec<PeId>,
}

/// Follows a plan to its end.
fn follow(plan: &Plan<'_>) -> Ideal {
    let pes = plan.steps.len();
    let slot = |tie| Slot { time: 0, remaining: plan.ties.givers(tie), waiting: PeId::NONE };
    let slots = (0..plan.ties.len() as u32).into_par_iter().map(slot).collect();
    let mut replay = Replay {
        steps: &plan.steps,
        slots,
        clocks: Table::filled(pes, 0),
        positions: Table::filled(pes, 0),
        next_waiting: Table::filled(pes, PeId::NONE),
        runnable: plan.steps.ids().rev().collect(),
    };
    let mut unmet = 0;
    // A search for the PE furthest behind looks at all PEs: on a thoroughly damaged trace that must not add up.
    let mut searches = 10 + plan.steps.iter().map(Vec::len).sum::<usize>() / pes.max(1);
    loop {
        while let Some(pe) = replay.runnable.pop() {
            replay.run(pe);
        }
        let stuck = plan.steps.ids().filter(|pe| replay.positions[*pe] < plan.steps[*pe].len());
        let released: Vec<PeId> = if searches > 0 {
            stuck.min_by_key(|pe| (replay.clocks[*pe], *pe)).into_iter().collect()
        } else {
            stuck.collect()
        };
        if released.is_empty() {
            break;
        }
        searches = searches.saturating_sub(1);
        unmet += released.len() as u64;
        released.into_iter().for_each(|pe| replay.release(pe));
    }
    let tail = |pe: PeId| replay.clocks[pe] + plan.tails[pe];
    Ideal { run_time: plan.steps.ids().map(tail).max().unwrap_or(0), unmet }
}

impl Replay<'_> {
    /// Takes steps of a PE until it needs what is not ready.
    fn run(&mut self, pe: PeId) {
        let steps = &self.steps[pe];
        let mut clock = self.clocks[pe];
        let mut position = self.positions[pe];
        while let Some(step) = steps.get(position) {
            let slot = &mut self.slots[step.tie as usize];
            let now = clock + step.useful;
            if step.gives {
                slot.time = slot.time.max(now);
                slot.remaining = slot.remaining.saturating_sub(1);
                if slot.remaining == 0 {
                    let mut waiting = std::mem::replace(&mut slot.waiting, PeId::NONE);
                    while waiting.is_some() {
                        self.runnable.push(waiting);
                        waiting = std::mem::replace(&mut self.next_waiting[waiting], PeId::NONE);
                    }
                }
                clock = now;
            } else if slot.remaining == 0 {
                clock = now.max(slot.time);
            } else {
                self.next_waiting[pe] = std::mem::replace(&mut slot.waiting, pe);
                break;
            }
            position += 1;
        }
        self.clocks[pe] = clock;
        self.positions[pe] = position;
    }

    /// Lets a stuck PE go on without what it needs.
    fn release(&mut self, pe: PeId) {
        let step = self.steps[pe][self.positions[pe]];
        self.unlink(step.tie as usize, pe);
        self.clocks[pe] += step.useful;
        self.positions[pe] += 1;
        self.runnable.push(pe);
    }

    /// Takes a PE from the list of those that wait for a slot.
    fn unlink(&mut self, slot: usize, pe: PeId) {
        let after = std::mem::replace(&mut self.next_waiting[pe], PeId::NONE);
        if self.slots[slot].waiting == pe {
            self.slots[slot].waiting = after;
            return;
        }
        let mut at = self.slots[slot].waiting;
        while at.is_some() {
            if self.next_waiting[at] == pe {
                self.next_waiting[at] = after;
                return;
            }
            at = self.next_waiting[at];
        }
    }
}
