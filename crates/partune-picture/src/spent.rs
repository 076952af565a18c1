//! Where the time of some PEs went, by call path, in a run or a part of it: what profiles, trees and flame graphs are made of.

use partune_analysis::{PathTimes, Waits};
use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::Trace;

use crate::Sketch;

/// Times by call path of those PEs that are looked at; others have none.
#[derive(Clone, Debug)]
pub struct Spent {
    pub times: PathTimes,
    /// In the operations of each call path, not in those below it.
    pub waiting: Table<CallPathId, Span>,
    /// What PEs of CPUs did in none of the recorded regions; of the whole run in order of PE.
    pub outside: Vec<(PeId, Span)>,
}

impl Spent {
    /// The whole run; `times` are those of the trace. Linear in their rows, operations and waits.
    pub fn whole(trace: &Trace, times: PathTimes, waits: &Waits) -> Spent {
        let outside = partune_analysis::outside(trace, &times);
        let mut waiting = Table::filled(trace.paths().len(), Span::ZERO);
        for wait in waits {
            waiting[trace.visit(wait.pe, wait.operation).path] += wait.duration();
        }
        Spent { times, waiting, outside }
    }

    /// The same of a run that was looked at in slices, of which times and time outside of regions are known. Linear in what it has of call paths.
    pub fn of_slices(trace: &Trace, times: PathTimes, outside: Vec<(PeId, Span)>, sketch: &Sketch) -> Spent {
        let mut waiting = Table::filled(trace.paths().len(), Span::ZERO);
        trace.pes().ids().for_each(|pe| add_waiting(&mut waiting, sketch, pe));
        Spent { times, waiting, outside }
    }

    /// What a PE has of the time outside of regions; of the whole run.
    pub fn outside_of(&self, pe: PeId) -> Option<(PeId, Span)> {
        self.outside.binary_search_by_key(&pe, |row| row.0).ok().map(|at| self.outside[at])
    }

    /// What some PEs have of it; waits are in the sketch where there is one. Linear in their rows and waits.
    #[must_use]
    pub fn on(&self, trace: &Trace, (waits, sketch): (&Waits, Option<&Sketch>), pes: &[PeId]) -> Spent {
        let mut times: PathTimes = trace.pes().ids().map(|_| Vec::new()).collect();
        let mut waiting = Table::filled(trace.paths().len(), Span::ZERO);
        let mut outside = Vec::new();
        for pe in pes {
            times[*pe].clone_from(&self.times[*pe]);
            for wait in waits.of_pe(*pe) {
                waiting[trace.visit(*pe, wait.operation).path] += wait.duration();
            }
            sketch.into_iter().for_each(|sketch| add_waiting(&mut waiting, sketch, *pe));
            outside.extend(self.outside_of(*pe));
        }
        Spent { times, waiting, outside }
    }
}

fn add_waiting(waiting: &mut Table<CallPathId, Span>, sketch: &Sketch, pe: PeId) {
    sketch.of_pe(pe).iter().for_each(|(path, done)| waiting[*path] += done.waited);
}
