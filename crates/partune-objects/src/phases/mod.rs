//! Phases of a run: between synchronisations, from one multicast to the next, or in loose steps; and which objects are active in each.
//!
//! Found from the event graph alone, never from times of other executions, so that a run has the same phases under each schedule. Tested in
//! the order of [`Kind`]: the first that holds is told.

mod initiation;
mod loose;
mod synchronous;

use partune_base::Table;

use crate::graph::{EventGraph, ExecutionId, MethodId, ObjectId, TypeId};

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of all edges that may jump over a synchronisation: those of creations do.
    pub jumping: f64,
    /// Share of the active objects that a synchronisation hears from, or talks to.
    pub partners: f64,
    /// A multicast has at least so many destinations,
    pub copies: u64,
    /// which are at least this share of the active objects.
    pub reached: f64,
    /// Share of what multicasts send that is executed in their own phase, or begins the next one.
    pub own: f64,
    /// Fewer phases than this are none.
    pub least: u32,
    /// Coefficient of variation of the work in loose steps.
    pub uneven: f64,
    /// Share of the objects that are active in each loose step.
    pub active: f64,
    /// A phase in which a smaller share of the objects is active is inactive for many,
    pub inactive: f64,
    /// and if a larger share of the phases is, activity varies.
    pub varying: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            jumping: 0.005,
            partners: 0.5,
            copies: 4,
            reached: 0.25,
            own: 0.9,
            least: 3,
            uneven: 0.25,
            active: 0.8,
            inactive: 0.9,
            varying: 0.1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All ways through the graph lead through the executions that begin phases.
    Synchronous,
    /// Phases begin with multicasts of this method and type, each caused by the one before.
    Initiation { method: MethodId, message_type: TypeId },
    /// Each object repeats the same methods; messages go from a step to the same or the next one.
    Loose,
}

/// The phases of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phases {
    pub kind: Kind,
    pub count: u32,
    /// What begins each phase; none for loose steps.
    pub starts: Vec<ExecutionId>,
    /// The phase of each execution; `u32::MAX` before the first one.
    pub phase: Table<ExecutionId, u32>,
    /// In synchronous phases the most edges that jump over a start; in initiated ones the share of what multicasts send that is of their own
    /// phase; in loose steps the coefficient of variation of their work.
    pub evidence: f64,
}

/// None where a run has no phases. Linear in the graph, for each method and type with multicasts.
pub fn phases(graph: &EventGraph, options: &Options) -> Option<Phases> {
    let active = graph.objects().ids().filter(|&id| graph.executed_by(id).len() > 0).count() as u64;
    synchronous::find(graph, active, options)
        .or_else(|| initiation::find(graph, active, options))
        .or_else(|| loose::find(graph, options))
}

/// Which objects are active in which phase, and with how much work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Objects that are active in any phase.
    pub objects: u64,
    /// Of each phase: active objects and their ticks, by object.
    pub phases: Vec<Vec<(ObjectId, i64)>>,
}

impl Activity {
    /// What is executed before the first phase does not count. O(V log V).
    pub fn new(graph: &EventGraph, phases: &Phases) -> Activity {
        let mut rows: Vec<(u32, ObjectId, i64)> = Vec::new();
        for (id, &phase) in phases.phase.iter_ids().filter(|(_, phase)| **phase < phases.count) {
            rows.push((phase, graph.executions().object[id], graph.duration(id)));
        }
        rows.sort_unstable();
        let mut active = vec![Vec::new(); phases.count as usize];
        for same in rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let load = same.iter().fold(0_i64, |sum, row| sum.saturating_add(row.2));
            active[same[0].0 as usize].push((same[0].1, load));
        }
        let mut seen = vec![false; graph.objects().len()];
        rows.iter().for_each(|row| seen[row.1.0 as usize] = true);
        Activity { objects: seen.iter().filter(|&&seen| seen).count() as u64, phases: active }
    }

    /// Phases in which many objects are inactive.
    pub fn uneven(&self, options: &Options) -> impl Iterator<Item = &[(ObjectId, i64)]> {
        let full = options.inactive * self.objects as f64;
        self.phases.iter().filter(move |active| (active.len() as f64) < full).map(Vec::as_slice)
    }

    /// Whether activity varies.
    pub fn is_varying(&self, options: &Options) -> bool {
        self.uneven(options).count() as f64 > options.varying * self.phases.len() as f64
    }
}
