//! What happened on a PE, told to its segment in the order of time.
//!
//! A PE is in its scheduler, and in one thing at a time from there: an entry method, idle, a message that the runtime itself sends. Those are visits, and the time between
//! them is a visit of the scheduler.

use partune_base::Time;
use partune_import::{Assembler, RegionKey, Segment};
use partune_trace::{MetricSample, Stream, Trigger};

use super::acts::{Acts, What};
use super::kept::Kept;
use super::messages::{Creation, Receipt, Woken};
use super::reductions::Asked;
use super::tables::{self, IDLE, SCHEDULER, START_UP};

pub(super) struct Timeline {
    assembler: Assembler<Kept>,
    /// Since the scheduler last had the PE.
    acts: Acts,
    /// Since when the scheduler has the PE; before anything was recorded, the runtime starts up.
    free: Time,
    started: bool,
    /// The last idle and its end, for what comes first after it: an execution, and before it a message of the runtime's own.
    woken: [Woken; 2],
    /// The phase that is open once something was recorded, where the user told of phases.
    phase: Option<u64>,
    phase_ends: bool,
}

/// Phases that are told apart.
const PHASES: u64 = 4096;

impl Timeline {
    pub(super) fn new(has_phases: bool) -> Timeline {
        Timeline {
            assembler: Assembler::new(true),
            acts: Acts::default(),
            free: Time::MIN,
            started: false,
            woken: [None; 2],
            phase: has_phases.then_some(0),
            phase_ends: false,
        }
    }

    pub(super) fn kept(&mut self) -> &mut Kept {
        &mut self.assembler.segment.beside
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.assembler.segment.stream
    }

    /// How many records there were.
    pub(super) fn records(&self) -> u64 {
        self.assembler.segment.stream.events
    }

    /// Something happens; it is told when [`Timeline::settle`] is called.
    #[inline]
    pub(super) fn push(&mut self, time: Time, what: What) {
        self.acts.push(time, what);
    }

    /// A visit ends, not before what happened last.
    pub(super) fn leave(&mut self, time: Time, region: RegionKey) {
        let last = self.acts.last().unwrap_or(time);
        self.acts.push(time.max(last), What::Leave(region));
    }

    /// Puts a visit around what happened in it; whether it had to be cut, see [`Acts::surround`].
    pub(super) fn surround(&mut self, (begin, end): (Time, Time), region: RegionKey) -> bool {
        self.acts.surround(self.free, (begin, end), region)
    }

    /// The scheduler has the PE from now on, if it did not before.
    pub(super) fn is_free_from(&mut self, time: Time) {
        self.free = self.free.max(time);
    }

    /// The phase ends when the scheduler has the PE again.
    pub(super) fn end_phase(&mut self) {
        self.phase_ends = self.phase.is_some();
    }

    /// Nothing is open: what happened is told, and before it what the scheduler took.
    pub(super) fn settle(&mut self) {
        if let Some(first) = self.acts.first() {
            self.scheduled(first);
            self.tell();
            self.free = self.free.max(self.assembler.now());
        }
        if std::mem::take(&mut self.phase_ends)
            && let Some(phase) = self.phase.filter(|_| self.started)
        {
            let time = self.assembler.now();
            self.assembler.leave(time, tables::phase_key(phase));
            self.enter_phase(time, (phase + 1).min(PHASES));
        }
    }

    /// The scheduler, or the start-up of the runtime, had the PE until now.
    pub(super) fn scheduled(&mut self, until: Time) {
        let region = if self.started { SCHEDULER } else { START_UP };
        if self.free > Time::MIN && self.free < until {
            let begin = self.assembler.at(self.free);
            self.assembler.enter(begin, region);
            let end = self.assembler.at(until);
            self.assembler.leave(end, region);
            self.free = end;
        }
        if !std::mem::replace(&mut self.started, true)
            && let Some(phase) = self.phase
        {
            let time = self.assembler.at(until);
            self.enter_phase(time, phase);
        }
    }

    /// The execution that began last is for the result of a reduction.
    pub(super) fn result(&mut self, targets: (i64, i64), delivery: i64) {
        let Some(execution) = self.stream().executions.len().checked_sub(1) else { return };
        let row = &mut self.stream().executions[execution];
        if row.trigger == Trigger::Call {
            row.trigger = Trigger::Message;
            let kept = self.kept();
            let receipt = kept.receipts.len() as u32;
            let (execution, event, entry) = (execution as u32, -1, -1);
            kept.receipts.push(Receipt { source: u32::MAX, event, entry, bytes: 0, execution, woken: None });
            kept.results.push(Asked { receipt, targets, delivery });
        }
    }

    /// Everything is told.
    pub(super) fn finish(mut self, last: Option<Time>) -> Segment<Kept> {
        if let Some(last) = last {
            if let Some(phase) = self.phase.filter(|_| self.started) {
                let time = self.assembler.at(last.max(self.assembler.now()));
                self.assembler.leave(time, tables::phase_key(phase));
            }
            let stream = self.stream();
            let first = stream.visits.enter.first().copied().unwrap_or(last);
            stream.present = Some((first.min(last), last));
        }
        self.assembler.finish()
    }

    fn enter_phase(&mut self, time: Time, phase: u64) {
        let key = tables::phase_key(phase);
        self.kept().unknown.insert(key);
        self.assembler.enter(time, key);
        self.phase = Some(phase);
    }

    fn tell(&mut self) {
        // What is sent outside of all else is the runtime's.
        let outside = self.acts.get(1).is_some_and(|act| matches!(act.what, What::Sent(_)));
        let mut at = 0;
        while let Some(act) = self.acts.get(at) {
            let time = self.assembler.at(act.time);
            match act.what {
                What::Enter(region) => {
                    self.assembler.enter(time, region);
                    if region == IDLE {
                        self.woken = [Some((self.assembler.visit(), time)); 2];
                    }
                }
                What::Leave(region) => {
                    self.assembler.leave(time, region);
                    if region == IDLE {
                        self.woken.iter_mut().flatten().for_each(|(_, end)| *end = time);
                    }
                }
                What::Sent(number) => {
                    let visit = self.assembler.visit();
                    let outside = outside && at == 1;
                    let woken = if outside { self.woken[1].take() } else { None };
                    let creation = &mut self.kept().creations[number as usize];
                    *creation = Creation { visit, time, outside, woken, ..*creation };
                }
                What::Began(row) => self.began(row, time),
                What::Sample(metric, value) => {
                    let visit = self.assembler.visit();
                    self.stream().metrics.push(MetricSample { visit, time, metric, value });
                }
            }
            at += 1;
        }
        self.acts.clear();
    }

    fn began(&mut self, row: u32, time: Time) {
        let visit = self.assembler.visit();
        let [woken, _] = std::mem::take(&mut self.woken);
        let execution = &mut self.stream().executions[row as usize];
        (execution.visit, execution.begin) = (visit, time);
        let receipts = &mut self.kept().receipts;
        if let Ok(at) = receipts.binary_search_by_key(&row, |receipt| receipt.execution) {
            receipts[at].woken = woken;
        }
    }
}
