//! Follows a program: each PE does its steps, and waits where something that it needs was not given yet.

use std::sync::Arc;

use partune_base::{PeId, Span, Table, Time};
use partune_index::{Programs, Turns, later};

use crate::costs::{CostTable, LEVELS, Level};
use crate::effects::{Effects, Treatment};
use crate::program::{Program, Step, What};
use crate::source::Source;

/// How long what is measured of the run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followed {
    /// By [`Level`].
    pub(crate) runs: [Span; LEVELS],
    /// For how long, with typical costs, the lock was held in all that was held longest, as far as it was handed on; nothing where locks are not waited for.
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
type Clocks = [i64; LEVELS];

const LONG_AGO: Clocks = [i64::MIN; LEVELS];

/// Where a PE is.
struct State {
    clock: Clocks,
    position: usize,
    /// What open operations need, and whether they need anything.
    needs: Vec<Clocks>,
    /// What it gave last, and when.
    gave: (u32, Clocks),
    /// When all is there that was started and goes on by itself.
    started: Clocks,
    window: Window,
    /// Locks that it has, and since when; not yet in the operation that gets them.
    has: Vec<(u32, Option<i64>)>,
}

struct Follower<'a> {
    source: &'a Source<'a>,
    program: &'a Program,
    costs: &'a CostTable,
    effects: &'a Effects,
    states: Table<PeId, State>,
    done: Option<&'a mut Done>,
    /// Ticks that each lock was held, as far as it was handed on; none if locks are not waited for.
    held: Option<Vec<i64>>,
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
        needs: Vec::new(),
        gave: (u32::MAX, LONG_AGO),
        started: LONG_AGO,
        window: Window::new(steps, source.windows[pe]),
        has: Vec::new(),
    };
    let states = program.steps.iter_ids().map(begin).collect();
    let locks = source.locks.1.last().map_or(0, |last| *last as usize + 1);
    let held = waits_for_locks.then(|| vec![0; locks]);
    let mut follower = Follower { source, program, costs, effects, states, done, held };
    let steps = program.steps.iter().map(|steps| steps.len()).sum();
    let unmet = turns.follow(&mut follower, (program.steps.len(), steps), program.givers.iter().copied());
    let window = |pe: PeId, level| follower.states[pe].window.times(&program.steps[pe], level);
    let runs = std::array::from_fn(|level| source.span(|pe| window(pe, level)));
    let held = Span(follower.held.iter().flatten().copied().max().unwrap_or(0));
    Followed { runs, held, unmet }
}

impl Programs<LEVELS> for Follower<'_> {
    fn run(&mut self, pe: PeId, turns: &mut Turns<LEVELS>) {
        let Follower { source, program, costs, effects, ref mut held, .. } = *self;
        let (steps, operations) = (&program.steps[pe][..], &program.operations[pe][..]);
        let state = &mut self.states[pe];
        let mut done = self.done.as_mut().map(|done| &mut done[pe]);
        let paths = &source.trace.streams()[pe].visits.path;
        while let Some(step) = steps.get(state.position) {
            let now = after(state.clock, [step.work; LEVELS]);
            state.clock = match step.what {
                What::Goes => now,
                What::Completes => later(now, state.started),
                What::Enters(_) => {
                    state.needs.push(LONG_AGO);
                    now
                }
                What::Leaves(number) => {
                    let needs = state.needs.pop().unwrap_or(LONG_AGO);
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
                    if let (Some(held), Some(lock)) = (held.as_mut(), source.lock(tie)) {
                        held[lock as usize] += state.gives_back(lock, now);
                    }
                    turns.give(tie, now);
                    state.gave = (tie, now);
                    now
                }
                What::Takes(tie) if held.is_none() && source.lock(tie).is_some() => now,
                What::Takes(tie) => {
                    let Some(gift) = turns.take(tie, pe) else { return };
                    let gift = if state.gave.0 == tie { of_others(gift, state.gave.1) } else { gift };
                    match state.needs.last_mut() {
                        Some(needs) => {
                            *needs = later(*needs, gift);
                            state.has.extend(source.lock(tie).map(|lock| (lock, None)));
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

    fn stuck(&self, pe: PeId) -> Option<i64> {
        let state = &self.states[pe];
        (state.position < self.program.steps[pe].len()).then_some(state.clock[Level::Typical as usize])
    }

    fn release(&mut self, pe: PeId) -> Option<u32> {
        let state = &mut self.states[pe];
        let step = self.program.steps[pe][state.position];
        state.clock = after(state.clock, [step.work; LEVELS]);
        state.go_on(&mut self.done.as_mut().map(|done| &mut done[pe]));
        match step.what {
            What::Takes(tie) | What::Begins(tie) => Some(tie),
            _ => None,
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

    /// For how long it had a lock, as far as it is known.
    fn gives_back(&mut self, lock: u32, now: Clocks) -> i64 {
        let Some(at) = self.has.iter().rposition(|(has, _)| *has == lock) else { return 0 };
        let (_, since) = self.has.remove(at);
        since.map_or(0, |since| (now[Level::Typical as usize] - since).max(0))
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
