//! What pictures of a run show, and what they are made from.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use partune_analysis::{CriticalPath, PathTimes, RankedAccess, path_times, shared_accesses};
use partune_base::{MetricId, PeId, RegionId, Span, Table, Time, WindowId};
use partune_picture::{
    CallTree, Content, Contents, Counters, Detail, Exchange, Exchanges, Flame, FlameView, Flat, Fold, FunctionShares,
    Functions, Heat, Lines, Sketch, Spent, Stacks, Tiles, Times, View, blocks, firsts, flat, moved_by_region, regions,
};
use partune_trace::VisitIx;
use rayon::prelude::*;

use super::waits::long_wait;
use super::{Amounts, Distributed, Measure, Run, Wait};

/// The first visit of each region.
type Firsts = Table<RegionId, Option<(Time, PeId, VisitIx)>>;

/// What is made when it is first needed.
#[derive(Default)]
pub(super) struct Made {
    spent: OnceLock<Spent>,
    tree: OnceLock<CallTree>,
    flat: OnceLock<Vec<Flat>>,
    firsts: OnceLock<Firsts>,
    functions: OnceLock<Functions>,
    detail: OnceLock<Detail>,
    lines: OnceLock<Lines>,
    stacks: OnceLock<Stacks>,
    critical: OnceLock<Vec<(PeId, Time, Time)>>,
    contents: OnceLock<Contents>,
    /// Of a run that was looked at in slices, longest first.
    long_waits: OnceLock<Vec<Wait>>,
    accesses: OnceLock<Table<WindowId, Vec<RankedAccess>>>,
    /// Of the metric that was asked for last, of the measure, and of the window.
    counters: Mutex<Option<(MetricId, Arc<Counters>)>>,
    measured: Mutex<Option<(Measure, Arc<Amounts>)>>,
    array: Mutex<Option<(WindowId, Arc<Option<Distributed>>)>>,
}

/// What some PEs did in an interval, with the time by kind of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    pub times: Vec<Times>,
    pub content: Content,
}

/// Blocks between global synchronisations that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub first: usize,
    pub count: usize,
    /// When the first PE begins the first of them, and the last PE ends the last.
    pub begin: Time,
    pub end: Time,
}

/// What was made last, if that is of the same; else it is made, and kept.
fn kept<K: Copy + PartialEq, V>(last: &Mutex<Option<(K, Arc<V>)>>, key: K, make: impl FnOnce() -> V) -> Arc<V> {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.as_ref().filter(|(of, _)| *of == key);
    let value = known.map_or_else(|| Arc::new(make()), |(_, value)| Arc::clone(value));
    *last = Some((key, Arc::clone(&value)));
    value
}

impl Run {
    /// Makes what time lines are made from; else the first to ask waits for it.
    pub fn prepare(&self) {
        if self.sketch.is_some() {
            return;
        }
        rayon::join(|| (self.detail(), self.lines()), || rayon::join(|| self.stacks(), || self.critical_path()));
    }

    /// The same for profiles, trees, matrices and selections.
    pub fn prepare_sums(&self) {
        let _ = (self.tree(), self.flat());
        if self.has_events() {
            let _ = (self.functions(), self.firsts(), self.contents());
        }
    }

    /// Time and visits of each call path, by PE.
    pub fn times(&self) -> &PathTimes {
        &self.spent().times
    }

    pub fn tree(&self) -> &CallTree {
        self.made.tree.get_or_init(|| CallTree::new(&self.trace, self.spent()))
    }

    /// Regions, by exclusive time.
    pub fn flat(&self) -> &[Flat] {
        self.made.flat.get_or_init(|| {
            let sketch = self.sketch.as_ref();
            let moved = sketch.map_or_else(|| moved_by_region(&self.trace), |sketch| sketch.moved(&self.trace));
            flat(&self.trace, self.spent(), &moved)
        })
    }

    /// The call tree of some PEs, in an interval if there is one; only where events are known there are intervals.
    pub fn tree_of(&self, pes: &[PeId], interval: Option<(Time, Time)>) -> CallTree {
        let Some(interval) = interval else {
            return CallTree::new(&self.trace, &self.spent().on(&self.trace, (&self.waits, self.sketch.as_ref()), pes));
        };
        let made = (&self.trace, &self.waits, self.stacks());
        let times = self.times_of(pes, interval);
        CallTree::new(&self.trace, &self.contents().spent(made, pes, &times, interval))
    }

    /// A flame graph of one of this run's trees, beside a tree of another run if there is one. `None` where no boxes lead that way.
    pub fn flame(&self, tree: &CallTree, base: Option<(&Run, &CallTree)>, view: FlameView<'_>) -> Option<Flame> {
        Flame::new((&self.trace, tree), base.map(|(run, tree)| (&run.trace, tree)), view)
    }

    /// What PEs did in each bin of a view. Of a run that was looked at in slices, what is in a stretch of it is spread evenly.
    pub fn tiles(&self, fold: &Fold, view: View) -> Tiles {
        match &self.sketch {
            Some(sketch) => sketch.tiles(fold, view),
            None => self.detail().tiles(&self.trace, &self.waits, fold, view),
        }
    }

    /// The functions that tiles by function tell apart: those with most exclusive time.
    pub fn told_apart(&self) -> &[RegionId] {
        self.functions().regions()
    }

    /// How much of each bin of a view is exclusive time of each of these functions, and, last, of all others.
    pub fn tiles_by_function(&self, fold: &Fold, view: View) -> Vec<FunctionShares> {
        self.functions().tiles(&self.trace, self.stacks(), fold, view)
    }

    /// The time of each kind of one PE in an interval, likewise.
    pub fn times_within(&self, pe: PeId, begin: Time, end: Time) -> Times {
        match &self.sketch {
            Some(sketch) => sketch.times(pe, begin, end),
            None => self.detail().times(&self.trace, &self.waits, pe, begin, end),
        }
    }

    /// What PEs did in an interval: all that [`Content`] tells; how long visits took is of a region, or of all.
    pub fn selected(&self, pes: &[PeId], (begin, end): (Time, Time), region: Option<RegionId>) -> Selected {
        let times = self.times_of(pes, (begin, end));
        let made = (&self.trace, &self.waits, self.stacks());
        let content = self.contents().within(made, pes, &times, (begin, end), region);
        Selected { times, content }
    }

    fn times_of(&self, pes: &[PeId], (begin, end): (Time, Time)) -> Vec<Times> {
        pes.par_iter().map(|pe| self.times_within(*pe, begin, end)).collect()
    }

    /// A metric over time. That of the last question is kept.
    pub fn counters(&self, metric: MetricId) -> Arc<Counters> {
        kept(&self.made.counters, metric, || Counters::new(&self.trace, metric))
    }

    pub(super) fn kept_measure(&self, measure: Measure, make: impl FnOnce() -> Amounts) -> Arc<Amounts> {
        kept(&self.made.measured, measure, make)
    }

    pub(super) fn shared_accesses(&self) -> &Table<WindowId, Vec<RankedAccess>> {
        self.made.accesses.get_or_init(|| shared_accesses(&self.trace, &self.index))
    }

    pub(super) fn kept_array(
        &self,
        window: WindowId,
        make: impl FnOnce() -> Option<Distributed>,
    ) -> Arc<Option<Distributed>> {
        kept(&self.made.array, window, make)
    }

    /// What a PE did in none of the recorded regions.
    pub(super) fn outside_of(&self, pe: PeId) -> Span {
        self.spent().outside_of(pe).map_or(Span::ZERO, |(_, time)| time)
    }

    /// Who gives what to whom.
    pub fn exchanges(&self, fold: &Fold) -> Exchanges {
        if !self.is_in_slices() {
            return Exchanges::new(&self.trace, &self.index, fold);
        }
        let pair = |(from, to, count, bytes, time)| (from, to, Exchange { count, bytes, time });
        self.known(|input| Exchanges::of_pairs(input.given().map(pair), fold))
    }

    /// Exclusive time of PEs in the regions that have most of it, at most `most` of them, largest first.
    pub fn by_region(&self, fold: &Fold, most: usize) -> Heat<RegionId> {
        regions(&self.trace, self.times(), fold, most)
    }

    /// Useful time of PEs in the blocks between global synchronisations, on at most `most` columns. `None` if there are fewer than two
    /// blocks, or the PEs are not in them.
    pub fn by_block(&self, fold: &Fold, most: usize) -> Option<Heat<Blocks>> {
        let heat = blocks(&self.trace, &self.index, fold, most)?;
        let count = self.index.blocks.blocks.len();
        let extents = fold.pes().iter().filter_map(|pe| self.index.blocks.extents.get(*pe));
        let known: Vec<&Vec<(Time, Time)>> = extents.filter(|it| it.len() == count).collect();
        let begin = |block: usize| known.iter().map(|extents| extents[block].0).min().unwrap_or_default();
        let end = |block: usize| known.iter().map(|extents| extents[block].1).max().unwrap_or_default();
        let column = |(first, count)| Blocks { first, count, begin: begin(first), end: end(first + count - 1) };
        Some(heat.with_columns(column))
    }

    /// The parts of the critical path, in order of time: a PE, from, to.
    pub fn critical_path(&self) -> &[(PeId, Time, Time)] {
        self.made.critical.get_or_init(|| {
            if let Some(sketch) = &self.sketch {
                return sketch.critical_path().to_vec();
            }
            let mut parts = CriticalPath::find(&self.trace, &self.index, &self.waits).parts;
            parts.reverse();
            parts
        })
    }

    pub(super) fn firsts(&self) -> &Firsts {
        self.made.firsts.get_or_init(|| firsts(&self.trace))
    }

    pub(super) fn lines(&self) -> &Lines {
        self.made.lines.get_or_init(|| Lines::new(&self.waits, &self.index))
    }

    pub(super) fn long_waits(&self, sketch: &Sketch) -> &[Wait] {
        self.made.long_waits.get_or_init(|| {
            let all = sketch.longest_of_all().into_iter();
            all.map(|(pattern, path, wait)| long_wait(pattern, path, wait)).collect()
        })
    }

    pub(super) fn stacks(&self) -> &Stacks {
        self.made.stacks.get_or_init(|| Stacks::new(&self.trace))
    }

    fn functions(&self) -> &Functions {
        self.made.functions.get_or_init(|| {
            let known = self.flat().iter().map(|row| row.region).filter(|region| region.is_some());
            Functions::new(&self.trace, known)
        })
    }

    fn spent(&self) -> &Spent {
        self.made.spent.get_or_init(|| match &self.sketch {
            Some(sketch) => self
                .known(|input| Spent::of_slices(&self.trace, input.times().clone(), input.outside().to_vec(), sketch)),
            None => Spent::whole(&self.trace, path_times(&self.trace), &self.waits),
        })
    }

    fn contents(&self) -> &Contents {
        self.made.contents.get_or_init(|| Contents::new(&self.trace, &self.waits))
    }

    fn detail(&self) -> &Detail {
        self.made.detail.get_or_init(|| Detail::new(&self.trace, &self.waits))
    }
}
