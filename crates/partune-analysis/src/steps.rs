//! What each PE gives to others and needs from others, in order, with the useful time between: the ties of a run
//! ([`partune_index::Ties`]) as the input of [`crate::ideal`].

use partune_base::{CallPathId, PeId, Table, Time};
use partune_index::{End, Index, Part, TieKind, Ties};
use partune_trace::{PeKind, Trace};
use rayon::prelude::*;

use crate::useful::Useful;

/// One thing that a PE does for or with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Useful ticks of the PE since its step before.
    pub(crate) useful: i64,
    pub(crate) tie: u32,
    pub(crate) gives: bool,
}

/// All steps: 16 bytes each.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) steps: Table<PeId, Vec<Step>>,
    pub(crate) ties: &'a Ties,
    /// Useful ticks after the last step.
    pub(crate) tails: Table<PeId, i64>,
}

/// Makes plans of a trace.
pub(crate) struct Planner<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) index: &'a Index,
    pub(crate) ties: &'a Ties,
    pub(crate) windows: &'a Table<PeId, (Time, Time)>,
    /// If set, only main threads act, only these operations count, and everything else takes the time it took.
    pub(crate) between_processes: Option<&'a Table<CallPathId, bool>>,
}

impl<'a> Planner<'a> {
    /// Linear in ends of ties.
    pub(crate) fn plan(&self) -> Plan<'a> {
        let ties = self.ties;
        let left_out = self.left_out(ties);
        let pes: Vec<PeId> = self.trace.pes().ids().collect();
        let counts = |end: &&End| !left_out.as_ref().is_some_and(|out| out[end.tie as usize]);
        let planned: Vec<(Vec<Step>, i64)> = pes
            .par_iter()
            .map(|pe| {
                // What a send does if it need not wait is the network's business.
                let replayed = |end: &&End| ties.kind(end.tie) != TieKind::Rendezvous;
                self.steps(*pe, self.ends(*pe).iter().filter(counts).filter(replayed))
            })
            .collect();
        let (steps, tails): (Vec<_>, Vec<_>) = planned.into_iter().unzip();
        Plan { steps: steps.into(), ties, tails: tails.into() }
    }

    fn ends(&self, pe: PeId) -> Vec<End> {
        self.ties.of_pe(self.trace, self.index, pe)
    }

    fn acts(&self, pe: PeId) -> bool {
        let Some(row) = self.trace.pes().get(pe) else { return false };
        self.between_processes.is_none() || (row.kind == PeKind::Cpu && row.thread == 0)
    }

    /// Which ties do not count: those that some PE or operation takes part in that does not. `None` if all count.
    fn left_out(&self, ties: &Ties) -> Option<Vec<bool>> {
        let busy = self.between_processes?;
        let mut out = vec![false; ties.len()];
        for (pe, stream) in self.trace.streams().iter_ids() {
            let acts = self.acts(pe);
            for end in self.ends(pe) {
                let takes = matches!(end.part, Part::Takes | Part::Begins);
                let is_busy = || stream.visits.path.get(end.visit.index()).is_some_and(|path| busy[*path]);
                let is_message = matches!(ties.kind(end.tie), TieKind::Message | TieKind::Synchronous);
                out[end.tie as usize] |= !acts || takes && !is_message && !is_busy();
            }
        }
        Some(out)
    }

    /// Puts the useful time between the ends of a PE.
    fn steps<'e>(&self, pe: PeId, ends: impl Iterator<Item = &'e End>) -> (Vec<Step>, i64) {
        let interval = self.windows[pe];
        let works =
            self.acts(pe) && self.trace.pes()[pe].kind == PeKind::Cpu && !self.trace.streams()[pe].visits.is_empty();
        let mut useful = works.then(|| match self.between_processes {
            None => Useful::new(self.trace, pe, interval),
            Some(busy) => Useful::outside(self.trace, pe, interval, busy),
        });
        let mut before = 0;
        let mut advance = |time: Time| {
            let sum = useful.as_mut().map_or(0, |useful| useful.up_to(time));
            // Steps of one operation can lie before its row's own time, never before the last step.
            let ticks = (sum - before).max(0);
            before = before.max(sum);
            ticks
        };
        let gives = |part: Part| matches!(part, Part::Gives | Part::PassesOn);
        let mut steps = Vec::with_capacity(ends.size_hint().1.unwrap_or_default());
        steps.extend(ends.map(|end| Step { useful: advance(end.time), tie: end.tie, gives: gives(end.part) }));
        (steps, advance(Time::MAX))
    }
}
