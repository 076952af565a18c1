//! Follows a program: each PE does its steps, and waits where something that it needs was not given yet.

use partune_base::{PeId, Table, Time};
use partune_index::{Programs, Turns};
use rayon::prelude::*;

use crate::costs::CostTable;
use crate::effects::{Effects, Treatment};
use crate::program::{Program, Step, What};
use crate::source::Source;

/// When each step of each PE was done, in ticks of the trace.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub(crate) clocks: Table<PeId, Vec<i64>>,
    /// Needs that could not be met.
    pub(crate) unmet: u64,
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
    source: &'a Source<'a>,
    program: &'a Program,
    costs: &'a CostTable,
    effects: &'a Effects,
    states: Table<PeId, State>,
    clocks: Table<PeId, Vec<i64>>,
}

/// Linear in steps.
pub(crate) fn follow(source: &Source<'_>, program: &Program, costs: &CostTable, effects: &Effects) -> Followed {
    let begin = |steps: &Vec<Step>| State {
        clock: steps.first().map_or(0, |step| step.at.0),
        position: 0,
        needs: Vec::new(),
        started: i64::MIN,
    };
    let mut follower = Follower {
        source,
        program,
        costs,
        effects,
        states: program.steps.iter().map(begin).collect(),
        clocks: program.steps.iter().map(|steps| Vec::with_capacity(steps.len())).collect(),
    };
    let turns = Turns::new(program.steps.len(), program.givers.par_iter().copied());
    let unmet = turns.follow(&mut follower, program.steps.iter().map(Vec::len).sum());
    Followed { clocks: follower.clocks, unmet }
}

impl Programs for Follower<'_> {
    fn run(&mut self, pe: PeId, turns: &mut Turns) {
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
                    let path = || self.source.trace.streams()[pe].visits.path[operation.visit.index()];
                    let (own, flight) = self.costs.of(operation, || self.effects.cost(path()));
                    if operation.treatment == Treatment::Starts {
                        state.started = state.started.max(now.saturating_add(own));
                        now
                    } else {
                        now.saturating_add(own).max(needs.saturating_add(flight))
                    }
                }
                What::Gives(tie) => {
                    turns.give(tie, now);
                    now
                }
                What::Takes(tie) => {
                    let Some(gift) = turns.take(tie, pe) else { return };
                    match state.needs.last_mut() {
                        Some(needs) => {
                            *needs = gift.max(*needs);
                            now
                        }
                        None => now.max(gift),
                    }
                }
                What::Begins(tie) => {
                    let Some(gift) = turns.take(tie, pe) else { return };
                    let delay = step.at.since(self.source.gifts[tie as usize]).0.max(0);
                    now.max(gift.saturating_add(delay))
                }
            };
            self.go_on(pe, clock);
        }
    }

    fn stuck(&self, pe: PeId) -> Option<i64> {
        let state = &self.states[pe];
        (state.position < self.program.steps[pe].len()).then_some(state.clock)
    }

    fn release(&mut self, pe: PeId) -> Option<u32> {
        let step = self.program.steps[pe][self.states[pe].position];
        let clock = self.states[pe].clock.saturating_add(step.work);
        self.go_on(pe, clock);
        match step.what {
            What::Takes(tie) | What::Begins(tie) => Some(tie),
            _ => None,
        }
    }
}

impl Follower<'_> {
    fn go_on(&mut self, pe: PeId, clock: i64) {
        let state = &mut self.states[pe];
        state.clock = clock;
        state.position += 1;
        self.clocks[pe].push(clock);
    }
}

/// From times of the run to times of a followed one: between two steps in proportion.
pub(crate) struct Clock<'a> {
    steps: &'a [Step],
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
