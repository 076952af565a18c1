//! Slices of a run dealt out to the processes of a job, and what they answer brought together in order.
//!
//! In each *round* each process looks at one slice, the one of process 0 being the last of them; so process 0 has the last of all, whose tables the result needs, and adds
//! the others' answers while these look at their next slices.
//!
//! What a slice needs to know of those before it goes from each to the next, in the order of slices, as soon as a slice is matched: how clocks go on, and what transfers cost, which is known from
//! the first slice with any. So each slice is asked as if one process had looked at all in order, and nobody is more than a round ahead of process 0, which has the answers of one slice beside its own, and the sum.
//!
//! A slice that cannot be looked at is told to the next as well, from which all learn of it and come to an end. In a job of one process nothing is exchanged, and nothing put into bytes.

use std::time::Duration;

use partune_analysis::{Answered, Costs, Gathered, Input, Shared, Waits};
use partune_diag::Quality;
use partune_import::Slices;
use partune_index::clock_repair::{Carried, Repair, repair_slice};
use partune_index::{Index, Ties};
use partune_job::{Job, Traffic, receive, send};
use partune_picture::Sketch;
use partune_trace::Trace;
use serde::{Deserialize, Serialize};

use crate::run::Matched;
use crate::{Exchanged, Progress, Request, timed};

pub(crate) const UNTRUSTED: &str = "its clocks disagree too much to be repaired in slices";

/// What all slices answered.
pub(crate) struct Together {
    pub(crate) gathered: Gathered,
    pub(crate) sketch: Option<Sketch>,
    pub(crate) matched: Matched,
    pub(crate) repair: Repair,
    pub(crate) quality: Quality,
    pub(crate) last: Trace,
}

/// What came of a slice.
#[derive(Serialize, Deserialize)]
struct Looked {
    answered: Answered,
    sketch: Option<Sketch>,
    matched: Matched,
    repair: Repair,
    /// See [`partune_trace::Slice::unknown`].
    unknown: u64,
    of_index: Quality,
    of_trace: Quality,
}

/// What is to be known of the slices before one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Before {
    clocks: Carried,
    costs: Costs,
}

/// What processes tell each other.
#[derive(Serialize, Deserialize)]
enum Told {
    /// To who looks at the next slice; why, if there is none of this one.
    Next(Result<Before, String>),
    /// To process 0, and what follows too.
    Slice(Box<Looked>),
    /// The last.
    Done(Traffic),
}

/// Looks at all slices; on process 0 what comes of it, or why they cannot be looked at. All processes of a job call it, and it returns on all.
pub(crate) fn look(
    slices: &dyn Slices,
    request: &Request,
    job: &dyn Job,
    progress: &dyn Progress,
) -> Result<Option<Together>, String> {
    let deal = Deal { slices: slices.count(), processes: job.size() };
    let mut desk = Desk { slices, request, job, progress, deal, before: Before::default() };
    if job.rank() > 0 {
        desk.answer();
        return Ok(None);
    }
    let together = desk.bring_together();
    let mut exchanged = Exchanged { bytes: 0, events: 0, waited: job.traffic().waited, others_waited: Duration::ZERO };
    for rank in 1..job.size() {
        let traffic = loop {
            if let Told::Done(traffic) = receive(job, rank) {
                break traffic;
            }
        };
        exchanged.bytes += traffic.sent;
        exchanged.others_waited += traffic.waited / (job.size() - 1) as u32;
    }
    if let (2.., Ok(together)) = (job.size(), &together) {
        exchanged.bytes += job.traffic().sent;
        exchanged.events = together.gathered.events();
        progress.exchanged(&exchanged);
    }
    together.map(Some)
}

/// Who looks at which slice when.
#[derive(Clone, Copy)]
struct Deal {
    slices: usize,
    processes: usize,
}

impl Deal {
    fn rounds(self) -> usize {
        self.slices.div_ceil(self.processes)
    }

    /// The slice of a process in a round. All but the first round are full, and in each the slices of later processes come earlier.
    fn slice(self, round: usize, rank: usize) -> Option<usize> {
        let from_end = (self.rounds() - 1 - round) * self.processes + rank;
        (self.slices - 1).checked_sub(from_end)
    }

    /// Who looks at a slice.
    fn process(self, slice: usize) -> Option<usize> {
        (slice < self.slices).then(|| (self.slices - 1 - slice) % self.processes)
    }
}

/// One process at its work.
struct Desk<'a> {
    slices: &'a dyn Slices,
    request: &'a Request,
    job: &'a dyn Job,
    progress: &'a dyn Progress,
    deal: Deal,
    /// What is known of the slices so far, in a job of one process.
    before: Before,
}

/// A slice that was read and matched.
struct Read {
    trace: Trace,
    index: Index,
    repair: Repair,
    ties: Ties,
    waits: Waits,
}

impl Read {
    fn input<'a>(&'a self, request: &'a Request, shared: &'a Shared) -> Input<'a> {
        Input { trace: &self.trace, index: &self.index, waits: &self.waits, options: &request.options, shared }
    }
}

impl Desk<'_> {
    /// Process 0: adds the answers of all slices in their order.
    fn bring_together(&mut self) -> Result<Together, String> {
        let (mut gathered, mut matched, mut quality) = (Gathered::default(), Matched::default(), Quality::default());
        let (mut repair, mut unknown, mut done) = (Repair::default(), 0_u64, 0);
        let (mut last, mut sketch): (Option<Trace>, Option<Sketch>) = (None, None);
        let (job, progress, deal) = (self.job, self.progress, self.deal);
        let mut add = |looked: Looked| {
            gathered.add(looked.answered);
            match (&mut sketch, looked.sketch) {
                (Some(sketch), Some(next)) => sketch.add(next),
                (sum, next) => *sum = sum.take().or(next),
            }
            matched.add(looked.matched);
            repair.add(looked.repair);
            unknown = unknown.saturating_add(looked.unknown);
            quality.merge(looked.of_index);
            quality.merge(looked.of_trace);
            done += 1;
            progress.advance(done, deal.slices as u64);
        };
        for round in 0..deal.rounds() {
            drop(last.take());
            let own = self.look_in(round)?;
            for rank in (1..job.size()).rev().filter(|rank| deal.slice(round, *rank).is_some()) {
                let Told::Slice(looked) = timed(progress, "waiting", || receive(job, rank)) else {
                    return Err(format!("process {rank} ended early"));
                };
                timed(progress, "adding", || add(*looked));
            }
            if let Some((looked, trace)) = own {
                timed(progress, "adding", || add(looked));
                last = Some(trace);
            }
        }
        let last = last.ok_or("there are no slices")?;
        quality.merge(self.slices.conclude(unknown));
        Ok(Together { gathered, sketch, matched, repair, quality, last })
    }

    /// Another process: sends what its slices answer.
    fn answer(&mut self) {
        for round in 0..self.deal.rounds() {
            match self.look_in(round) {
                Ok(None) => {}
                Ok(Some((looked, _))) => send(self.job, 0, &Told::Slice(Box::new(looked))),
                Err(_) => break,
            }
        }
        send(self.job, 0, &Told::Done(self.job.traffic()));
    }

    /// Looks at the own slice of a round.
    fn look_in(&mut self, round: usize) -> Result<Option<(Looked, Trace)>, String> {
        let Some(slice) = self.deal.slice(round, self.job.rank()) else { return Ok(None) };
        let (progress, request) = (self.progress, self.request);
        let matched = self.read(slice);
        let before = self.before(slice);
        let is_told = before.is_err();
        let mut shared = Shared::default();
        let read = before.and_then(|Before { clocks, costs }| {
            let (trace, index) = matched?;
            let (read, clocks) = self.put_right(trace, index, &clocks)?;
            let known = if costs.is_known() { costs } else { Costs::of(&read.input(request, &shared), &read.ties) };
            Ok((read, costs, Before { clocks, costs: known }))
        });
        let next = read.as_ref().map(|(_, _, next)| next.clone()).map_err(Clone::clone);
        self.tell(slice, next, is_told);
        let (read, before, _) = read?;
        shared = before.told(shared);
        let Read { trace, index, repair, ties, waits } = read;
        let input = Input { trace: &trace, index: &index, waits: &waits, options: &request.options, shared: &shared };
        let beside = timed(progress, "asking", || Answered::beside(&input, ties, request.compares));
        let answered = beside.with(shared);
        let sketch = request.draws.then(|| timed(progress, "sketching", || Sketch::new(&trace, &index, &waits)));
        let matched = Matched::of(&index);
        let is_last = slice + 1 == self.deal.slices;
        // That of the last one is in the result.
        let of_trace = if is_last { Quality::default() } else { trace.quality().clone() };
        let unknown = trace.slice().map_or(0, |slice| slice.unknown);
        Ok(Some((Looked { answered, sketch, matched, repair, unknown, of_index: index.quality, of_trace }, trace)))
    }

    fn read(&self, slice: usize) -> Result<(Trace, Index), String> {
        let progress = self.progress;
        let trace = timed(progress, "reading", || self.slices.read(slice, &|_, _| ()));
        let trace = trace.ok_or_else(|| match self.job.size() {
            1 => "it changed while it was read".to_owned(),
            _ => format!("it changed while {} read it", self.job.name()),
        })?;
        let index = timed(progress, "matching", || Index::build(&trace));
        if index.clocks.found.is_needed() && !self.request.repair_clocks {
            return Err("its clocks disagree and are not to be repaired".to_owned());
        }
        Ok((trace, index))
    }

    /// Repairs the clocks of a slice, which go on as they were left, and finds its waits. Also how clocks go on.
    fn put_right(&self, trace: Trace, mut index: Index, left: &Carried) -> Result<(Read, Carried), String> {
        let progress = self.progress;
        let repaired = timed(progress, "clocks", || repair_slice(trace, &index, left));
        let (trace, repair, clocks) = repaired.ok_or(UNTRUSTED)?;
        if repair.changed_times() {
            index = timed(progress, "matching", || Index::build(&trace));
        }
        let ties = Ties::build(&trace, &index);
        let waits = timed(progress, "waits", || Waits::in_ties(&trace, &index, &ties, &self.request.options));
        Ok((Read { trace, index, repair, ties, waits }, clocks))
    }

    /// What is known of the slices before one.
    fn before(&self, slice: usize) -> Result<Before, String> {
        let process = slice.checked_sub(1).and_then(|before| self.deal.process(before));
        let Some(process) = process.filter(|process| *process != self.job.rank()) else {
            return Ok(self.before.clone());
        };
        match timed(self.progress, "waiting", || receive(self.job, process)) {
            Told::Next(next) => next,
            Told::Slice(_) | Told::Done(_) => Err(format!("process {process} ended early")),
        }
    }

    /// Tells what is known of the slices up to one to who looks at the next. A fault goes once around, to who has it first.
    fn tell(&mut self, slice: usize, next: Result<Before, String>, is_told: bool) {
        let Some(process) = self.deal.process(slice + 1) else { return };
        if process == self.job.rank() {
            self.before = next.unwrap_or_default();
            return;
        }
        let is_first = next.is_err() && !is_told;
        send(self.job, process, &Told::Next(next));
        // Nothing may be left on its way. Process 0 takes all that is sent to it anyway.
        let own_next = slice + self.deal.processes;
        if is_first && self.job.rank() > 0 && own_next < self.deal.slices {
            _ = self.before(own_next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slice_is_looked_at_once_and_in_order() {
        for slices in 2..40 {
            for processes in 1..12 {
                let deal = Deal { slices, processes };
                let in_round = |round| (0..processes).rev().filter_map(move |rank| deal.slice(round, rank));
                let order: Vec<usize> = (0..deal.rounds()).flat_map(in_round).collect();
                assert!(order.iter().copied().eq(0..slices), "{slices} {processes}: {order:?}");
                assert!((0..deal.rounds()).all(|round| deal.slice(round, 0).is_some()));
            }
        }
    }
}
