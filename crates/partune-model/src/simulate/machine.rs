//! The machine that runs a program: processes, resources with their queues, and the calendar.
//!
//! First come, first served, not preemptive; a server that becomes free is given to the head of the queue before the process that freed it
//! goes on, so who asks again goes to the back. No recursion, no allocation in steady state. A process that is a single use has no record of
//! its own, and a queue holds equal neighbours of that kind as one entry with a count.

mod draw;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use partune_expr::EvalError;

use super::events::Events;
use super::program::{After, At, Child, Event, Program, Step, Usage};
use super::random::{child, mix};
use super::resources::{Entry, Servers};
use super::time::{Clock, Stop};
use super::watch::{Grant, Watch};
use super::{Activity, Options, Ties};
use crate::ast::Act;
use crate::code::Value;
use crate::diagnostic::{Diagnostic, Span};

/// Marks a continuation that is no process: a use that only counts down its parent.
const LEAF: u32 = 1 << 31;
/// The resource of a delay, and of a wait for an event.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const AWAIT: u32 = u32::MAX - 1;
/// The process that waits for the first one.
pub(super) const ROOT: u32 = 0;

/// A process: where it is, whom it tells when it ends, and for how many it waits.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    at: At,
    parent: u32,
    outstanding: u32,
    /// Children started so far, and random draws.
    children: u32,
    draws: u32,
    lane: u32,
    path: u64,
    /// Calls that it is inside of.
    calls: u32,
    /// Whether its lane is used by a child.
    lent: bool,
}

/// An end of a use or delay, or a start.
#[derive(Clone, Copy)]
struct Due<T> {
    time: T,
    key: u64,
    resource: u32,
    then: u32,
}

impl<T: Ord> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the largest first.
        other.time.cmp(&self.time).then_with(|| other.key.cmp(&self.key))
    }
}

impl<T: Ord> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord> Eq for Due<T> {}

pub(super) struct Machine<'a, C: Clock, W: Watch<C>> {
    pub(super) watch: W,
    pub(super) clock: &'a C,
    program: &'a Program,
    options: &'a Options,
    pub(super) servers: &'a mut Servers<C::Time>,
    events: Events<C::Time>,
    calendar: BinaryHeap<Due<C::Time>>,
    pub(super) now: C::Time,
    posted: u64,
    processes: Vec<Process>,
    variables: Vec<i64>,
    free: Vec<u32>,
    /// To be run before time goes on, the last first.
    ready: Vec<u32>,
    pub(super) steps: u64,
    pub(super) uses: u64,
    pub(super) most_processes: usize,
    lanes: Lanes,
    pub(super) activities: Vec<Activity<C::Time>>,
    record: bool,
    sorted: bool,
}

/// Numbers of lanes that are free.
#[derive(Default)]
struct Lanes {
    free: BinaryHeap<std::cmp::Reverse<u32>>,
    count: u32,
}

impl Lanes {
    fn take(&mut self) -> u32 {
        self.free.pop().map_or_else(
            || {
                self.count += 1;
                self.count - 1
            },
            |lane| lane.0,
        )
    }
}

type Run<T> = Result<T, Stop>;

impl<'a, C: Clock, W: Watch<C>> Machine<'a, C, W> {
    pub(super) fn new(
        clock: &'a C,
        program: &'a Program,
        options: &'a Options,
        servers: &'a mut Servers<C::Time>,
        events: Events<C::Time>,
        record: bool,
        watch: W,
    ) -> Self {
        Machine {
            watch,
            clock,
            program,
            options,
            servers,
            events,
            calendar: BinaryHeap::new(),
            now: C::Time::default(),
            posted: 0,
            processes: vec![Process::default()],
            variables: vec![0; program.slots],
            free: Vec::new(),
            ready: Vec::new(),
            steps: 0,
            uses: 0,
            most_processes: 0,
            lanes: Lanes::default(),
            activities: Vec::new(),
            record,
            sorted: options.ties == Ties::Program,
        }
    }

    /// Runs to the end.
    pub(super) fn run(&mut self) -> Run<()> {
        self.processes[ROOT as usize] = Process { outstanding: 1, path: mix(self.options.seed), ..Process::default() };
        let first = self.create(ROOT, ROOT, self.program.entry, 0, None)?;
        self.walk(first)?;
        while let Some(due) = self.calendar.pop() {
            self.now = due.time;
            if due.resource != NONE {
                self.release(due.resource, due.then)?;
            }
            self.resume(due.then)?;
        }
        match self.events.awaited() {
            None => Ok(()),
            Some((event, id)) => Err(self.nobody_posts(&event, id)),
        }
    }

    /// All that is left to do waits.
    fn nobody_posts(&self, event: &str, id: u32) -> Stop {
        let at = (self.processes[id as usize].at as usize).saturating_sub(1);
        let span =
            if let Some(Step::Event(_, event)) = self.program.steps.get(at) { event.span } else { Span::default() };
        let text = format!("`{event}` is awaited for ever: nobody is left who could post it");
        Stop::Error(
            Diagnostic::error(span, text).help("post it before, or in another process that does not wait for this one"),
        )
    }

    /// Number of lanes that were needed.
    pub(super) fn lanes(&self) -> u32 {
        self.lanes.count
    }

    fn post(&mut self, time: C::Time, resource: u32, then: u32) {
        let key = match self.options.ties {
            Ties::Program => self.posted,
            Ties::Reverse => u64::MAX - self.posted,
            Ties::Random => mix(self.options.seed ^ mix(self.posted)),
        };
        self.posted += 1;
        self.calendar.push(Due { time, key, resource, then });
    }

    /// What follows an event.
    fn resume(&mut self, then: u32) -> Run<()> {
        if then & LEAF == 0 {
            return self.walk(then);
        }
        self.ended(then & !LEAF);
        match self.ready.pop() {
            Some(next) => self.walk(next),
            None => Ok(()),
        }
    }

    /// One child less: a parent that waits for none goes on.
    fn ended(&mut self, parent: u32) {
        let process = &mut self.processes[parent as usize];
        process.outstanding -= 1;
        if process.outstanding == 0 && parent != ROOT {
            self.watch.joined(parent, self.now);
            self.ready.push(parent);
        }
    }

    fn error(span: Span, message: impl Into<String>) -> Stop {
        Stop::Error(Diagnostic::error(span, message))
    }

    /// A process whose parent counts it already or is about to.
    fn create(&mut self, owner: u32, parent: u32, at: At, source: u32, branch: Option<(At, i64)>) -> Run<u32> {
        let id = if let Some(id) = self.free.pop() {
            id
        } else {
            let id = self.processes.len() as u32;
            if self.processes.len() > self.options.max_processes {
                let text = format!("more than {} processes at once", self.options.max_processes);
                let advice = "no more fit into a simulation: make the model smaller";
                return Err(Stop::Error(Diagnostic::error(Span::default(), text).help(advice)));
            }
            self.processes.push(Process::default());
            let size = self.variables.len() + self.program.slots;
            self.variables.resize(size, 0);
            id
        };
        self.most_processes = self.most_processes.max(self.processes.len() - 1 - self.free.len());
        let slots = self.program.slots;
        let from = source as usize * slots;
        self.variables.copy_within(from..from + slots, id as usize * slots);
        let lane = if self.record { self.lend(owner) } else { 0 };
        let of = &mut self.processes[owner as usize];
        of.children = of.children.wrapping_add(1);
        let path = if self.program.random { child(of.path, of.children.into()) } else { 0 };
        let calls = self.processes[source as usize].calls;
        self.processes[id as usize] = Process { at, parent, lane, path, calls, ..Process::default() };
        self.watch.created(owner, id, branch, self.now);
        Ok(id)
    }

    /// The lane of the owner while it waits, else a free one.
    fn lend(&mut self, owner: u32) -> u32 {
        let of = &mut self.processes[owner as usize];
        if owner != ROOT && !of.lent {
            of.lent = true;
            return of.lane;
        }
        self.lanes.take()
    }

    fn finish(&mut self, id: u32) {
        let Process { parent, lane, .. } = self.processes[id as usize];
        if self.record {
            let of = &mut self.processes[parent as usize];
            if parent != ROOT && of.lent && of.lane == lane {
                of.lent = false;
            } else {
                self.lanes.free.push(std::cmp::Reverse(lane));
            }
        }
        self.free.push(id);
        self.watch.ended(id, parent, self.now);
        self.ended(parent);
    }

    fn variables(&self, id: u32) -> &[i64] {
        let slots = self.program.slots;
        &self.variables[id as usize * slots..(id as usize + 1) * slots]
    }

    fn set(&mut self, id: u32, slot: u16, value: i64) {
        let at = id as usize * self.program.slots + usize::from(slot);
        self.variables[at] = value;
    }

    /// Runs a process until it waits, then all that became ready.
    fn walk(&mut self, first: u32) -> Run<()> {
        let program = self.program;
        let mut id = first;
        let mut at = self.processes[id as usize].at as usize;
        loop {
            self.steps += 1;
            if self.steps > self.options.max_steps {
                let text = format!("more than {} steps", self.options.max_steps);
                return Err(Stop::Error(
                    Diagnostic::error(Span::default(), text).help("raise the limit, or simulate less"),
                ));
            }
            // Where the process goes on at once; none if it waits or ended.
            let next = match &program.steps[at] {
                Step::Use(usage) => {
                    if self.request(id, usage, id)? {
                        self.processes[id as usize].at = at as At + 1;
                        None
                    } else {
                        Some(at + 1)
                    }
                }
                Step::Delay(duration, span) => {
                    let time = self.draw(id, duration, *span)?;
                    if time == C::Time::default() {
                        Some(at + 1)
                    } else {
                        let end = self.clock.add(self.now, time)?;
                        if self.record {
                            let lane = self.processes[id as usize].lane;
                            let now = self.now;
                            self.note(Activity { lane, resource: NONE, request: now, begin: now, end })?;
                        }
                        self.watch.delayed(id, time)?;
                        self.processes[id as usize].at = at as At + 1;
                        self.post(end, NONE, id);
                        None
                    }
                }
                Step::Event(act, Event { number, index, span }) => {
                    let place = self.events.place(*number, index, self.variables(id), *span);
                    let place = place.map_err(Stop::Error)?;
                    match act {
                        Act::Await if self.events.waits(place, id, self.now) => {
                            self.processes[id as usize].at = at as At + 1;
                            None
                        }
                        Act::Await => Some(at + 1),
                        Act::Post => {
                            for (waited, since) in self.events.post(place) {
                                self.wake(waited, id, since)?;
                            }
                            Some(at + 1)
                        }
                    }
                }
                Step::Unless(test, other) => {
                    let holds = test.eval(self.variables(id)).map_err(|error| of_eval(&error, Span::default()))?;
                    Some(if holds { at + 1 } else { *other as usize })
                }
                Step::Jump(to) => Some(*to as usize),
                Step::Begin { slot, lo, hi, exit, span } => {
                    let int = |value: &Value| value.int(self.variables(id)).map_err(|error| of_eval(&error, *span));
                    let (lo, hi) = (int(lo)?, int(hi)?);
                    self.set(id, *slot, lo);
                    self.set(id, *slot + 1, hi);
                    Some(if lo <= hi { at + 1 } else { *exit as usize })
                }
                Step::Count { slot, count, exit, span } => {
                    let count = self.sample(id, count, *span)?.ceil();
                    if count >= 9e15 {
                        return Err(Self::error(*span, "this loop runs too often"));
                    }
                    self.set(id, *slot, 0);
                    self.set(id, *slot + 1, count as i64 - 1);
                    Some(if count > 0.0 { at + 1 } else { *exit as usize })
                }
                Step::Again { slot, body } => {
                    let place = id as usize * program.slots + usize::from(*slot);
                    let more = self.variables[place] < self.variables[place + 1];
                    self.variables[place] += i64::from(more);
                    Some(if more { *body as usize } else { at + 1 })
                }
                Step::Fork => {
                    self.watch.forked(id, self.now);
                    self.processes[id as usize].outstanding = 1;
                    Some(at + 1)
                }
                Step::EachNext { slot, child, after } => {
                    let place = id as usize * program.slots + usize::from(*slot);
                    if self.variables[place] > self.variables[place + 1] {
                        self.joined(id, *after)
                    } else {
                        let index = self.variables[place];
                        let child = self.start(id, child, *after, (at as At, index))?;
                        self.variables[place] += 1;
                        Some(self.turn(&mut id, child, at))
                    }
                }
                Step::Start(child, after) => {
                    let child = self.start(id, child, *after, (at as At, 0))?;
                    Some(self.turn(&mut id, child, at + 1))
                }
                Step::Join(after) => self.joined(id, *after),
                Step::Choose { cases, span } => {
                    let mut left = self.source(id).unit();
                    let mut chosen = None;
                    for (chance, case) in cases {
                        let chance = self.chance(id, chance, *span)?;
                        chosen = Some(*case as usize);
                        left -= chance;
                        if left < 0.0 {
                            break;
                        }
                    }
                    chosen.or(Some(at + 1))
                }
                Step::Chance { again, exit, span } => {
                    let chance = self.chance(id, again, *span)?;
                    let goes_on = self.source(id).unit() < chance;
                    Some(if goes_on { at + 1 } else { *exit as usize })
                }
                Step::Call { process, entry, args, after, span } => {
                    let calls = self.processes[id as usize].calls + 1;
                    if calls > self.options.max_calls {
                        return Err(Stop::TooDeep { process: *process, span: *span });
                    }
                    let mut values = [0_i64; 16];
                    for (value, (_, arg)) in values.iter_mut().zip(args) {
                        *value = arg.int(self.variables(id)).map_err(|error| of_eval(&error, *span))?;
                    }
                    let parent = self.owner(id, *after);
                    self.processes[parent as usize].outstanding += 1;
                    self.watch.forked(id, self.now);
                    let callee = self.create(id, parent, *entry, id, None)?;
                    self.processes[callee as usize].calls = calls;
                    for (value, (slot, _)) in values.iter().zip(args) {
                        self.set(callee, *slot, *value);
                    }
                    match after {
                        After::At(after) => self.processes[id as usize].at = *after,
                        After::Nothing => self.finish(id),
                    }
                    id = callee;
                    Some(*entry as usize)
                }
                Step::End => {
                    self.finish(id);
                    None
                }
            };
            at = match next {
                Some(next) => next,
                None => match self.ready.pop() {
                    Some(ready) => {
                        id = ready;
                        self.processes[id as usize].at as usize
                    }
                    None => return Ok(()),
                },
            };
        }
    }

    /// A process goes on, since another one posted what it waited for.
    fn wake(&mut self, id: u32, by: u32, since: C::Time) -> Run<()> {
        self.watch.posted(id, by, since, self.now)?;
        if self.record && since < self.now {
            let lane = self.processes[id as usize].lane;
            self.note(Activity { lane, resource: AWAIT, request: since, begin: since, end: self.now })?;
        }
        self.ready.push(id);
        Ok(())
    }

    /// Who waits for the children of a process: itself, or its parent if nothing follows.
    fn owner(&self, id: u32, after: After) -> u32 {
        if after == After::Nothing { self.processes[id as usize].parent } else { id }
    }

    /// A child that can run goes first; its parent starts the next one when the child waits.
    fn turn(&mut self, id: &mut u32, child: Option<u32>, next: usize) -> usize {
        let Some(child) = child else { return next };
        self.processes[*id as usize].at = next as At;
        self.ready.push(*id);
        *id = child;
        self.processes[child as usize].at as usize
    }

    /// Starts a child; gives the process to run, if there is one and ties do not decide when.
    fn start(&mut self, id: u32, child: &Child, after: After, branch: (At, i64)) -> Run<Option<u32>> {
        let parent = self.owner(id, after);
        match child {
            Child::Leaf(usage) => {
                // Draws of its siblings are the same as with a process of its own.
                if self.program.random {
                    let of = &mut self.processes[id as usize];
                    of.children = of.children.wrapping_add(1);
                }
                if self.request(id, usage, LEAF | parent)? {
                    self.processes[parent as usize].outstanding += 1;
                }
            }
            Child::Process(entry) => {
                self.processes[parent as usize].outstanding += 1;
                let child = self.create(id, parent, *entry, id, Some(branch))?;
                if self.sorted {
                    return Ok(Some(child));
                }
                self.post(self.now, NONE, child);
            }
        }
        Ok(None)
    }

    /// All children were started: waits for them, unless they have ended.
    fn joined(&mut self, id: u32, after: After) -> Option<usize> {
        match after {
            After::Nothing => {
                self.finish(id);
                None
            }
            After::At(after) => {
                let process = &mut self.processes[id as usize];
                process.outstanding -= 1;
                process.at = after;
                let over = process.outstanding == 0;
                if over {
                    self.watch.joined(id, self.now);
                }
                over.then_some(after as usize)
            }
        }
    }

    /// Asks for a server; false if the duration is zero, then nothing happens.
    fn request(&mut self, id: u32, usage: &Usage, then: u32) -> Run<bool> {
        let duration = self.draw(id, &usage.duration, usage.span)?;
        if duration == C::Time::default() {
            return Ok(false);
        }
        let slots = self.program.slots;
        let variables = &self.variables[id as usize * slots..(id as usize + 1) * slots];
        let resource = self.servers.place(usage.resource, &usage.index, variables, usage.span).map_err(Stop::Error)?;
        self.uses += 1;
        let entry = Entry { duration, since: self.now, then, count: 1 };
        if self.servers.take(resource, self.now, entry, then & LEAF != 0 && !self.record, self.clock)? {
            self.grant(resource, entry, None)?;
        }
        Ok(true)
    }

    /// A server begins to work.
    fn grant(&mut self, resource: u32, entry: Entry<C::Time>, from: Option<u32>) -> Run<()> {
        let end = self.clock.add(self.now, entry.duration)?;
        let Entry { duration, since, then: id, .. } = entry;
        self.watch.granted(Grant { id, resource, duration, since, from }, self.now)?;
        if self.record {
            let lane = self.processes[(entry.then & !LEAF) as usize].lane;
            self.note(Activity { lane, resource, request: entry.since, begin: self.now, end })?;
        }
        self.post(end, resource, entry.then);
        Ok(())
    }

    fn release(&mut self, resource: u32, from: u32) -> Run<()> {
        if let Some(entry) = self.servers.release(resource, self.now, self.clock) {
            self.grant(resource, entry, Some(from))?;
        }
        Ok(())
    }

    fn note(&mut self, activity: Activity<C::Time>) -> Run<()> {
        if self.activities.len() >= self.options.max_record {
            let text = format!("more than {} uses and delays to record", self.options.max_record);
            return Err(Stop::Error(Diagnostic::error(Span::default(), text).help("record a smaller case")));
        }
        self.activities.push(activity);
        Ok(())
    }
}

pub(super) fn of_eval(error: &EvalError, span: Span) -> Stop {
    Stop::Error(Diagnostic::error(span, error.to_string()))
}
