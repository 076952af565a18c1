//! From a recorded run to hints: placement, trees, priorities, pieces and combining that a replay of the run predicts to save time.
//!
//! What could be done follows from the characteristics of the program; whether it is worth it is never said by a rule of thumb: each candidate is executed
//! anew on top of those that are kept. It is kept if it saves more than the replay is off, and more than runs differ.

mod exchange;
mod least;
mod order;
mod place;

use partune_base::Table;

use crate::combine::Combining;
use crate::graph::{ArrayId, EventGraph, GraphError, ObjectId};
use crate::interaction::Interaction;
use crate::map::Map;
use crate::phases::{self, Activity, Phases, phases};
use crate::pipeline::Pipelining;
use crate::priority::{Level, Line};
use crate::recorded::{Known, Recorded};
use crate::simulate::{Outcome, Plan};
use crate::tree::Shape;

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of a run by which another one of the same program may differ.
    pub noise: f64,
    /// Of candidates that are alike within this share of the run, the simplest counts.
    pub alike: f64,
    pub phases: phases::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options { noise: 0.01, alike: 0.01, phases: phases::Options::default() }
    }
}

/// What could be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    Place {
        array: ArrayId,
        layout: Layout,
        aligned: Vec<Aligned>,
        /// It is worth it from so many objects a PE on where each PE has a processor, as far as is known; 0 of any number.
        least_per_pe: f64,
    },
    Tree {
        array: ArrayId,
        shape: Shape,
    },
    /// Objects of an array by a linear function of their coordinates, the smaller the more urgent.
    Objects {
        array: ArrayId,
        line: Line,
    },
    /// Types of messages.
    Messages {
        levels: Vec<Level>,
    },
    Pipeline(Pipelining),
    Combine {
        combining: Combining,
        single: bool,
    },
}

/// Where the objects of an array are.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    Map(Map),
    /// By object, first dimension fastest; of this number of PEs and these extents only.
    Table(Vec<u32>),
}

/// An array that goes with another one: which dimension of that each of its own follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub array: ArrayId,
    pub dims: Vec<u8>,
}

/// A hint and what a replay says of it, in ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub hint: Hint,
    pub saves: i64,
    pub low: i64,
    pub high: i64,
    /// By what it was deduced.
    pub evidence: Vec<(&'static str, f64)>,
}

impl Judged {
    /// Whether it saves time, as far as can be told.
    pub fn is_kept(&self) -> bool {
        self.low > 0
    }
}

/// What was deduced from a run.
#[derive(Clone, Debug)]
pub struct Deduced {
    /// Ticks of the run, and of it executed anew, with ways as they were and drawn.
    pub run: i64,
    pub replayed: i64,
    pub redrawn: i64,
    /// Ticks with all that is kept.
    pub hinted: i64,
    pub off: f64,
    /// Messages whose way was measured.
    pub measured: u64,
    pub phases: Option<Phases>,
    pub varying: bool,
    /// In the order in which they were tried.
    pub judged: Vec<Judged>,
}

/// Tries what the run suggests. O(log) simulations of the run for each array, a few dozen more for each that a hint places, and a few more.
pub fn deduce(graph: &EventGraph, known: &Known, options: &Options) -> Result<Deduced, GraphError> {
    let recorded = Recorded::new(graph, known)?;
    let found = phases(graph, &options.phases);
    let activity =
        found.as_ref().map(|it| Activity::new(graph, it).of_arrays(graph).by_load(&options.phases)).unwrap_or_default();
    let varying = activity.is_varying(&options.phases);
    let plan = recorded.plan(None);
    let mut search = Search {
        graph,
        options,
        interaction: Interaction::new(graph),
        activity,
        varying,
        homes: recorded.homes(),
        best: recorded.replayed,
        drawn: recorded.drawn(&plan).unwrap_or_default(),
        saved: 0,
        plan,
        recorded,
        judged: Vec::new(),
    };
    if graph.pes() > 1 {
        place::arrays(&mut search);
        place::trees(&mut search);
    }
    order::priorities(&mut search);
    if graph.pes() > 1 {
        exchange::combining(&mut search);
        exchange::pipelining(&mut search);
        least::per_pe(&mut search);
    }
    let Recorded { run, replayed, redrawn, measured, .. } = search.recorded;
    let hinted = (replayed - search.saved).max(0);
    let off = search.recorded.off();
    Ok(Deduced { run, replayed, redrawn, hinted, off, measured, phases: found, varying, judged: search.judged })
}

/// Ticks that something saves: likely, and at least and at most by all that may be true of messages on their way.
#[derive(Clone, Copy)]
struct Saves {
    likely: i64,
    least: i64,
    most: i64,
}

impl Saves {
    fn of(ticks: i64) -> Saves {
        Saves { likely: ticks, least: ticks, most: ticks }
    }
}

/// What is known while hints are looked for.
struct Search<'a> {
    graph: &'a EventGraph,
    options: &'a Options,
    interaction: Interaction,
    activity: Activity,
    varying: bool,
    /// Where objects are: as recorded, or as hints that are kept have it.
    homes: Table<ObjectId, u32>,
    recorded: Recorded,
    /// Ticks under the plan of all that is kept, …
    best: i64,
    /// … and with ways that are all drawn, …
    drawn: [i64; 2],
    /// … and what that saves.
    saved: i64,
    plan: Plan,
    judged: Vec<Judged>,
}

impl Search<'_> {
    /// Ticks under a plan; of one that cannot be followed, forever.
    fn makespan(&self, plan: &Plan) -> i64 {
        self.recorded.under(plan).map_or(i64::MAX, |done| done.makespan)
    }

    /// The plan of what is kept, with objects elsewhere.
    fn placed(&self, placement: Table<ObjectId, u32>) -> Plan {
        let travel = self.recorded.plan(Some(placement.clone())).travel;
        Plan { travel, placement: Some(placement), ..self.plan.clone() }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.recorded.under(&self.plan).ok()
    }

    /// What objects elsewhere save. Their ways are drawn, so those of the run that this is compared with are drawn too.
    fn moving(&self, placement: &Table<ObjectId, u32>) -> Saves {
        let plan = Plan { placement: Some(placement.clone()), ..self.plan.clone() };
        let Ok(drawn) = self.recorded.drawn(&plan) else { return Saves::of(i64::MIN) };
        let [likely, other] = [0, 1].map(|ways| self.drawn[ways] - drawn[ways]);
        Saves { likely, least: likely.min(other), most: likely.max(other) }
    }

    /// Keeps objects elsewhere if that saves time.
    fn settle(
        &mut self,
        hint: Hint,
        placement: Table<ObjectId, u32>,
        saves: Saves,
        evidence: Vec<(&'static str, f64)>,
    ) {
        if self.note(hint, saves, evidence) {
            self.plan = self.placed(placement.clone());
            self.best = self.makespan(&self.plan);
            self.drawn = self.recorded.drawn(&self.plan).unwrap_or(self.drawn);
            self.homes = placement;
        }
    }

    /// Keeps a plan if it saves time, and notes in any case what it would save.
    fn judge(&mut self, hint: Hint, plan: Plan, makespan: i64, evidence: Vec<(&'static str, f64)>) -> bool {
        let is_kept = self.note(hint, Saves::of(self.best.saturating_sub(makespan)), evidence);
        if is_kept {
            (self.best, self.plan) = (makespan, plan);
        }
        is_kept
    }

    /// Ticks by which what is said may be wrong.
    fn margin(&self) -> i64 {
        (self.options.noise.max(self.recorded.off()) * self.recorded.run as f64).ceil() as i64
    }

    fn note(&mut self, hint: Hint, saves: Saves, evidence: Vec<(&'static str, f64)>) -> bool {
        let margin = self.margin();
        let (low, high) = (saves.least.saturating_sub(margin), saves.most.saturating_add(margin));
        let judged = Judged { hint, saves: saves.likely, low, high, evidence };
        let is_kept = judged.is_kept();
        self.saved += if is_kept { saves.likely } else { 0 };
        self.judged.push(judged);
        is_kept
    }

    fn members(&self, array: ArrayId) -> impl Iterator<Item = ObjectId> + '_ {
        self.graph.objects().iter_ids().filter(move |(_, object)| object.array == array).map(|(id, _)| id)
    }
}
