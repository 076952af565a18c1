//! Phases of a run: between synchronisations, from one multicast to the next, or in loose steps; and which objects are active in each.
//!
//! Found from the event graph alone, never from times of other executions, so that a run has the same phases under each schedule. Tested in
//! the order of [`Kind`]: the first that holds is told.

mod initiation;
mod loose;
mod synchronous;

use partune_base::Table;

use crate::graph::{ArrayId, EventGraph, ExecutionId, MethodId, ObjectId, TypeId};

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
    /// and if those make a larger share of the work of the busiest objects, activity varies.
    pub varying: f64,
    /// An object that works less than this share of what the busiest one does in a phase is idle in it.
    pub idle: f64,
    /// What an object does in a phase is the median of so many phases around it, as a share of all: what disturbs a run comes and goes.
    pub around: f64,
    /// These are at most so many on each side.
    pub beside: usize,
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
            idle: 0.25,
            around: 0.06,
            beside: 8,
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

    /// Of the objects of arrays only: what there is one of, as the main object, has nothing to do in most phases.
    #[must_use]
    pub fn of_arrays(mut self, graph: &EventGraph) -> Activity {
        let mut sizes: Table<ArrayId, u64> = graph.arrays().iter().map(|_| 0).collect();
        graph.objects().iter().for_each(|object| sizes[object.array] += 1);
        let is_element = |object: ObjectId| sizes[graph.objects()[object].array] > 1;
        self.phases.iter_mut().for_each(|phase| phase.retain(|(object, _)| is_element(*object)));
        let mut active: Vec<ObjectId> = self.phases.iter().flatten().map(|(object, _)| *object).collect();
        active.sort_unstable();
        active.dedup();
        Activity { objects: active.len() as u64, phases: self.phases }
    }

    /// Without objects that have next to nothing to do in a phase, though they execute something in it: what a multicast reaches is not all at work.
    /// Active objects of all phases, times the phases around.
    #[must_use]
    pub fn by_load(&self, options: &Options) -> Activity {
        let count = self.phases.len();
        let beside = ((options.around.clamp(0.0, 1.0) * count as f64 / 2.0) as usize).min(options.beside);
        let last = self.phases.iter().flatten().map(|row| row.0.0 as usize + 1).max().unwrap_or(0);
        let mut of_object: Vec<Vec<(usize, i64)>> = vec![Vec::new(); last];
        for (phase, active) in self.phases.iter().enumerate() {
            active.iter().for_each(|(object, load)| of_object[object.0 as usize].push((phase, *load)));
        }
        // The median; phases in which an object executes nothing count as zeros.
        let usual = |object: ObjectId, phase: usize| {
            let (first, end) = (phase.saturating_sub(beside), (phase + beside + 1).min(count));
            let rows = &of_object[object.0 as usize];
            let from = rows.partition_point(|row| row.0 < first);
            let mut loads: Vec<i64> = rows[from..].iter().take_while(|row| row.0 < end).map(|row| row.1).collect();
            loads.sort_unstable();
            let zeros = end - first - loads.len();
            ((end - first) / 2).checked_sub(zeros).map_or(0, |at| loads[at])
        };
        let mut found = Activity { objects: 0, phases: Vec::with_capacity(count) };
        let mut seen = vec![false; last];
        for (phase, active) in self.phases.iter().enumerate() {
            let loads: Vec<i64> = active.iter().map(|row| usual(row.0, phase)).collect();
            let least = options.idle * loads.iter().max().copied().unwrap_or(0) as f64;
            let busy = active.iter().zip(&loads).filter(|(_, load)| **load as f64 >= least);
            let busy: Vec<_> = busy.map(|(row, load)| (row.0, *load)).collect();
            busy.iter().for_each(|row| seen[row.0.0 as usize] = true);
            found.phases.push(busy);
        }
        found.objects = seen.iter().filter(|&&seen| seen).count() as u64;
        found
    }

    /// Phases in which many objects are inactive.
    pub fn uneven(&self, options: &Options) -> impl Iterator<Item = &[(ObjectId, i64)]> {
        let full = options.inactive * self.objects as f64;
        self.phases.iter().filter(move |active| (active.len() as f64) < full).map(Vec::as_slice)
    }

    /// Whether activity varies. A phase counts by what its busiest object does: where nobody has work, as before the first step and after the last, nobody is idle.
    pub fn is_varying(&self, options: &Options) -> bool {
        let busiest = |phase: &[(ObjectId, i64)]| phase.iter().map(|row| row.1).max().unwrap_or(0) as f64;
        let all: f64 = self.phases.iter().map(|phase| busiest(phase)).sum();
        self.uneven(options).map(busiest).sum::<f64>() > options.varying * all
    }
}
