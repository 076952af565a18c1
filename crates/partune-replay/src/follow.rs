//! Follows a program: each PE does its steps, and waits where something that it needs was not given yet.
//!
//! Steps are done in the order of dependence, each once: linear in steps. Where a program cannot go on (a trace with lost events, or a change that lets an
//! operation need what only comes after it) the PE that is furthest behind goes on without, and this is counted.

use partune_base::{PeId, Table, Time};
use partune_trace::Trace;

use crate::costs::CostTable;
use crate::effects::{Effects, Treatment};
use crate::program::{Program, What};

/// When each step of each PE was done, in ticks of the trace.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub(crate) clocks: Table<PeId, Vec<i64>>,
    /// Needs that could not be met.
    pub(crate) unmet: u64,
}

/// What is given and taken at a tie.
#[derive(Clone, Copy)]
struct Slot {
    time: i64,
    remaining: u32,
    /// The first PE that waits for it; others follow in `Follower::next_waiting`.
    waiting: PeId,
}

/// Where a PE is.
struct State {
    clock: i64,
    position: usize,
    /// What open operations need, and whether they need anything.
    needs: Vec<i64>,
    /// When all is there that was started and goes on by itself.
    started: i64,
}

struct Follower<'a> {
    trace: &'a Trace,
    program: &'a Program,
    costs: &'a CostTable,
    effects: &'a Effects,
    slots: Vec<Slot>,
    states: Table<PeId, State>,
    clocks: Table<PeId, Vec<i64>>,
    next_waiting: Table<PeId, PeId>,
    runnable: Vec<PeId>,
}

pub(crate) fn follow(trace: &Trace, program: &Program, costs: &CostTable, effects: &Effects) -> Followed {
    let pes = program.steps.len();
    let slot = |givers: &u32| Slot { time: i64::MIN, remaining: *givers, waiting: PeId::NONE };
    let begin = |steps: &Vec<crate::program::Step>| State {
        clock: steps.first().map_or(0, |step| step.at.0),
        position: 0,
        needs: Vec::new(),
        started: i64::MIN,
    };
    let mut follower = Follower {
        trace,
        program,
        costs,
        effects,
        slots: program.givers.iter().map(slot).collect(),
        states: program.steps.iter().map(begin).collect(),
        clocks: program.steps.iter().map(|steps| Vec::with_capacity(steps.len())).collect(),
        next_waiting: Table::filled(pes, PeId::NONE),
        runnable: program.steps.ids().rev().collect(),
    };
    let mut unmet = 0;
    // A search for the PE furthest behind looks at all PEs: on a thoroughly damaged trace that must not add up.
    let mut searches = 10 + program.steps.iter().map(Vec::len).sum::<usize>() / pes.max(1);
    loop {
        while let Some(pe) = follower.runnable.pop() {
            follower.run(pe);
        }
        let stuck = program.steps.ids().filter(|pe| follower.states[*pe].position < program.steps[*pe].len());
        let released: Vec<PeId> = if searches > 0 {
            stuck.min_by_key(|pe| (follower.states[*pe].clock, *pe)).into_iter().collect()
        } else {
            stuck.collect()
        };
        if released.is_empty() {
            break;
        }
        searches = searches.saturating_sub(1);
        unmet += released.len() as u64;
        released.into_iter().for_each(|pe| follower.release(pe));
    }
    Followed { clocks: follower.clocks, unmet }
}

impl Follower<'_> {
    fn run(&mut self, pe: PeId) {
        let steps = &self.program.steps[pe];
        while let Some(step) = steps.get(self.states[pe].position) {
            let state = &mut self.states[pe];
            let now = state.clock.saturating_add(step.work);
            let clock = match step.what {
                What::Goes => now,
                What::Completes => now.max(state.started),
                What::Enters(_) => {
                    state.needs.push(i64::MIN);
                    now
                }
                What::Leaves(number) => {
                    let needs = state.needs.pop().unwrap_or(i64::MIN);
                    let operation = &self.program.operations[pe][number as usize];
                    let path = self.trace.streams()[pe].visits.path[operation.visit.index()];
                    let (own, flight) = self.costs.of(operation, self.effects.cost(path));
                    if operation.treatment == Treatment::Starts {
                        state.started = state.started.max(now.saturating_add(own));
                        now
                    } else {
                        now.saturating_add(own).max(needs.saturating_add(flight))
                    }
                }
                What::Gives(tie) => {
                    let slot = &mut self.slots[tie as usize];
                    slot.time = slot.time.max(now);
                    slot.remaining = slot.remaining.saturating_sub(1);
                    if slot.remaining == 0 {
                        let mut waiting = std::mem::replace(&mut slot.waiting, PeId::NONE);
                        while waiting.is_some() {
                            self.runnable.push(waiting);
                            waiting = std::mem::replace(&mut self.next_waiting[waiting], PeId::NONE);
                        }
                    }
                    now
                }
                What::Takes(tie) | What::Begins(tie) => {
                    let slot = &mut self.slots[tie as usize];
                    if slot.remaining > 0 {
                        self.next_waiting[pe] = std::mem::replace(&mut slot.waiting, pe);
                        return;
                    }
                    match (step.what, state.needs.last_mut()) {
                        (What::Takes(_), Some(needs)) => {
                            *needs = (*needs).max(slot.time);
                            now
                        }
                        (What::Begins(tie), _) => now.max(slot.time.saturating_add(self.program.delays[tie as usize])),
                        _ => now.max(slot.time),
                    }
                }
            };
            self.go_on(pe, clock);
        }
    }

    fn go_on(&mut self, pe: PeId, clock: i64) {
        let state = &mut self.states[pe];
        state.clock = clock;
        state.position += 1;
        self.clocks[pe].push(clock);
    }

    /// Lets a stuck PE go on without what it needs.
    fn release(&mut self, pe: PeId) {
        let step = self.program.steps[pe][self.states[pe].position];
        if let What::Takes(tie) | What::Begins(tie) = step.what {
            self.unlink(tie as usize, pe);
        }
        let clock = self.states[pe].clock.saturating_add(step.work);
        self.go_on(pe, clock);
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

/// From times of the run to times of a followed one: between two steps in proportion.
pub(crate) struct Clock<'a> {
    steps: &'a [crate::program::Step],
    clocks: &'a [i64],
}

impl<'a> Clock<'a> {
    pub(crate) fn new(program: &'a Program, followed: &'a Followed, pe: PeId) -> Clock<'a> {
        Clock { steps: &program.steps[pe], clocks: &followed.clocks[pe] }
    }

    pub(crate) fn time(&self, time: Time) -> Time {
        let after = self.steps.partition_point(|step| step.at <= time);
        let Some(before) = after.checked_sub(1) else {
            // Before its first step a PE is as it was.
            return time;
        };
        let (from, to) = (self.steps[before].at, self.clocks[before]);
        let since = time.since(from).0;
        let Some(next) = self.steps.get(after) else { return Time(to.saturating_add(since)) };
        let (all, now) = (next.at.since(from).0.max(1), self.clocks[after] - to);
        Time(to + (i128::from(since) * i128::from(now) / i128::from(all)) as i64)
    }
}
