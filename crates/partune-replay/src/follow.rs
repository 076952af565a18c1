//! Follows a program: each PE does its steps, and waits where something that it needs was not given yet.

use std::sync::Arc;

use partune_base::{PeId, Span, Table, Time};
use partune_index::{Programs, Turns, later};

use crate::costs::{CostTable, LEVELS, Level};
use crate::effects::{Effects, Treatment};
use crate::locks::{Hold, Locks};
use crate::program::{Program, Step, What};
use crate::source::Source;

/// How long what is measured of the run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    /// By [`Level`].
    pub(crate) runs: [Span; LEVELS],
    /// For how long, with typical costs, one PE after the other had the lock that was had longest; nothing where locks are not waited for.
    pub(crate) held: Span,
    /// Needs that could not be met.
    pub(crate) unmet: u64,
}

impl Followed {
    /// How long it takes with typical costs.
    pub(crate) fn typical(&self) -> Span {
        self.runs[Level::Typical as usize]
    }
}

/// When each step was done with typical costs, in ticks of the trace.
pub(crate) type Done = Table<PeId, Vec<i64>>;

/// A time for each level of costs.
pub(crate) type Clocks = [i64; LEVELS];

pub(crate) const LONG_AGO: Clocks = [i64::MIN; LEVELS];

/// Where a PE is.
struct State {
    clock: Clocks,
    position: usize,
    /// Open operations, and when what they need is there.
    open: Vec<(u32, Clocks)>,
    /// What it gave last, and when.
    gave: (u32, Clocks),
    /// When all is there that was started and goes on by itself.
    started: Clocks,
    window: Window,
    /// Locks that it has, and since when; not yet in the operation that gets them.
    has: Vec<(Hold, Option<i64>)>,
}

struct Follower<'a> {
    source: &'a Source<'a>,
    program: &'a Program,
    costs: &'a CostTable,
    effects: &'a Effects,
    states: Table<PeId, State>,
    done: Option<&'a mut Done>,
    /// None if they are not waited for.
    locks: Option<Locks>,
}

/// Linear in steps. `turns`: memory to do it in. `done`: filled if it is asked for. `waits_for_locks`: whether PEs wait for what others hold.
pub(crate) fn follow(
    source: &Source<'_>,
    (program, costs, effects): (&Program, &CostTable, &Effects),
    turns: &mut Turns<LEVELS>,
    mut done: Option<&mut Done>,
    waits_for_locks: bool,
) -> Followed {
    if let Some(done) = &mut done {
        **done = program.steps.iter().map(|steps| Vec::with_capacity(steps.len())).collect();
    }
    let begin = |(pe, steps): (PeId, &Arc<Vec<Step>>)| State {
        clock: [steps.first().map_or(0, |step| step.at.0); LEVELS],
        position: 0,
        open: Vec::new(),
        gave: (u32::MAX, LONG_AGO),
        started: LONG_AGO,
        window: Window::new(steps, source.windows[pe]),
        has: Vec::new(),
    };
    let states = program.steps.iter_ids().map(begin).collect();
    let locks = waits_for_locks.then(|| Locks::new(&source.locks.1));
    let mut follower = Follower { source, program, costs, effects, states, done, locks };
    let steps = program.steps.iter().map(|steps| steps.len()).sum();
    let unmet = turns.follow(&mut follower, (program.steps.len(), steps), program.givers.iter().copied());
    let window = |pe: PeId, level| follower.states[pe].window.times(&program.steps[pe], level);
    let runs = std::array::from_fn(|level| source.span(|pe| window(pe, level)));
    let held = Span(follower.locks.as_ref().map_or(0, Locks::longest));
    Followed { runs, held, unmet }
}

impl Programs<LEVELS> for Follower<'_> {
    fn run(&mut self, pe: PeId, turns: &mut Turns<LEVELS>) {
        let Follower { source, program, costs, effects, ref mut locks, .. } = *self;
        let (steps, operations) = (&program.steps[pe][..], &program.operations[pe][..]);
        let state = &mut self.states[pe];
        let mut done = self.done.as_mut().map(|done| &mut done[pe]);
        let paths = &source.trace.streams()[pe].visits.path;
        while let Some(step) = steps.get(state.position) {
            let now = after(state.clock, [step.work; LEVELS]);
            state.clock = match step.what {
                What::Goes => now,
                What::Completes => later(now, state.started),
                What::Enters(number) => {
                    state.open.push((number, LONG_AGO));
                    now
                }
                What::Leaves(number) => {
                    let needs = state.open.pop().map_or(LONG_AGO, |open| open.1);
                    let operation = &operations[number as usize];
                    let (own, flight) = costs.of(operation, || effects.cost(paths[operation.visit.index()]));
                    let done = after(now, own);
                    if operation.treatment == Treatment::Starts {
                        state.started = later(state.started, done);
                        now
                    } else {
                        let end = later(done, after(needs, flight));
                        state.has_locks(end);
                        end
                    }
                }
                What::Gives(tie) => {
                    match (source.lock(tie), &mut *locks) {
                        (Some(hold), Some(locks)) => state.give_back(locks, hold, now),
                        (Some(_), None) => {}
                        (None, _) => {
                            turns.give(tie, now);
                            state.gave = (tie, now);
                        }
                    }
                    now
                }
                What::Takes(tie) => {
                    let gift = match (source.lock(tie), &mut *locks) {
                        (Some(_), None) => LONG_AGO,
                        (Some(hold), Some(locks)) => {
                            let flight = |number: u32| {
                                let operation = &operations[number as usize];
                                costs.of(operation, || effects.cost(paths[operation.visit.index()])).1
                            };
                            let wakes = state.open.last().map_or(0, |open| flight(open.0)[Level::Typical as usize]);
                            let Some(gift) = state.ask(locks, pe, hold, now, wakes) else { return };
                            gift
                        }
                        (None, _) => {
                            let Some(gift) = turns.take(tie, pe) else { return };
                            if state.gave.0 == tie { of_others(gift, state.gave.1) } else { gift }
                        }
                    };
                    match state.open.last_mut() {
                        Some((_, needs)) => {
                            *needs = later(*needs, gift);
                            now
                        }
                        None => later(now, gift),
                    }
                }
                What::Begins(tie) => {
                    let Some(gift) = turns.take(tie, pe) else { return };
                    let delay = step.at.since(source.gifts[tie as usize]).0.max(0);
                    later(now, after(gift, [delay; LEVELS]))
                }
            };
            state.go_on(&mut done);
        }
    }

    fn next(&mut self) -> Option<PeId> {
        self.locks.as_mut()?.next()
    }

    fn stuck(&self, pe: PeId) -> Option<i64> {
        let state = &self.states[pe];
        (state.position < self.program.steps[pe].len()).then_some(state.clock[Level::Typical as usize])
    }

    fn release(&mut self, pe: PeId) -> Option<u32> {
        let state = &mut self.states[pe];
        let step = self.program.steps[pe][state.position];
        state.clock = after(state.clock, [step.work; LEVELS]);
        state.go_on(&mut self.done.as_mut().map(|done| &mut done[pe]));
        let (What::Takes(tie) | What::Begins(tie)) = step.what else { return None };
        match (self.source.lock(tie), &mut self.locks) {
            (Some(hold), Some(locks)) => {
                locks.forget(pe, hold);
                None
            }
            _ => Some(tie),
        }
    }
}

impl State {
    /// The operation ends that got locks.
    #[inline]
    fn has_locks(&mut self, now: Clocks) {
        let new = self.has.iter_mut().rev().take_while(|(_, since)| since.is_none());
        new.for_each(|(_, since)| *since = Some(now[Level::Typical as usize]));
    }

    /// It wants a lock now. When that was given back, if it waited for it; none if it does not have it yet.
    fn ask(&mut self, locks: &mut Locks, pe: PeId, hold: Hold, now: Clocks, wakes: i64) -> Option<Clocks> {
        // Who has it can have it once more.
        let has = self.has.iter().any(|(has, _)| has.lock == hold.lock);
        let gift = if has { LONG_AGO } else { locks.ask(pe, hold, now, wakes)? };
        let since = later(now, gift)[Level::Typical as usize];
        self.has.push((hold, self.open.is_empty().then_some(since)));
        Some(gift)
    }

    fn give_back(&mut self, locks: &mut Locks, hold: Hold, now: Clocks) {
        let Some(at) = self.has.iter().rposition(|(has, _)| *has == hold) else { return };
        let (_, since) = self.has.remove(at);
        if self.has.iter().all(|(has, _)| has.lock != hold.lock) {
            locks.give_back(hold, since.unwrap_or(now[Level::Typical as usize]), now);
        }
    }

    /// The step was done by its clock.
    #[inline]
    fn go_on(&mut self, done: &mut Option<&mut Vec<i64>>) {
        self.window.pass(self.position, self.clock);
        self.position += 1;
        if let Some(done) = done {
            done.push(self.clock[Level::Typical as usize]);
        }
    }
}

#[inline]
fn after(clock: Clocks, ticks: [i64; LEVELS]) -> Clocks {
    std::array::from_fn(|level| clock[level].saturating_add(ticks[level]))
}

/// The latest gift where all give and take, for one of them: who came last waits for nobody, and nothing is on its way to it.
#[inline]
fn of_others(latest: Clocks, own: Clocks) -> Clocks {
    std::array::from_fn(|level| if latest[level] == own[level] { i64::MIN } else { latest[level] })
}

/// When the measured part of a PE begins and ends, while its steps are done.
struct Window {
    /// The times in the run, and the steps around each.
    of_run: [(Time, usize); 2],
    clocks: [[Clocks; 2]; 2],
    /// The next of these steps.
    next: usize,
}

impl Window {
    fn new(steps: &[Step], (begin, end): (Time, Time)) -> Window {
        let at = |time: Time| (time, steps.partition_point(|step| step.at <= time));
        let mut window = Window { of_run: [begin, end].map(at), clocks: [[[0; LEVELS]; 2]; 2], next: 0 };
        window.next = window.after(None);
        window
    }

    /// The first step after one, or of all, whose clock is asked for.
    fn after(&self, position: Option<usize>) -> usize {
        let around = self.of_run.iter().flat_map(|(_, after)| [after.checked_sub(1), Some(*after)]).flatten();
        around.filter(|it| position.is_none_or(|position| *it > position)).min().unwrap_or(usize::MAX)
    }

    /// A step was done.
    #[inline]
    fn pass(&mut self, position: usize, clock: Clocks) {
        if position != self.next {
            return;
        }
        self.next = self.after(Some(position));
        for ((_, after), clocks) in self.of_run.iter().zip(&mut self.clocks) {
            if position + 1 == *after {
                clocks[0] = clock;
            } else if position == *after {
                clocks[1] = clock;
            }
        }
    }

    fn times(&self, steps: &[Step], level: usize) -> (Time, Time) {
        let [begin, end] = [0, 1].map(|at| {
            let ((time, after), clocks) = (self.of_run[at], self.clocks[at]);
            between(steps, time, after, |step| clocks[usize::from(step == after)][level])
        });
        (begin, end)
    }
}

/// Where a time of the run is in a followed one: between two steps in proportion. `after`: the first step after it.
fn between(steps: &[Step], time: Time, after: usize, clock: impl Fn(usize) -> i64) -> Time {
    let Some(before) = after.checked_sub(1) else {
        // Before its first step a PE is as it was.
        return time;
    };
    let (from, to) = (steps[before].at, clock(before));
    let since = time.since(from).0;
    let Some(next) = steps.get(after) else { return Time(to.saturating_add(since)) };
    let (all, now) = (next.at.since(from).0.max(1), clock(after) - to);
    Time(to + (i128::from(since) * i128::from(now) / i128::from(all)) as i64)
}

/// From times of the run to times of a followed one.
pub(crate) struct Clock<'a> {
    steps: &'a [Step],
    clocks: &'a [i64],
}

impl<'a> Clock<'a> {
    pub(crate) fn new(program: &'a Program, done: &'a Done, pe: PeId) -> Clock<'a> {
        Clock { steps: &program.steps[pe], clocks: &done[pe] }
    }

    pub(crate) fn time(&self, time: Time) -> Time {
        between(self.steps, time, self.steps.partition_point(|step| step.at <= time), |step| self.clocks[step])
    }
}
