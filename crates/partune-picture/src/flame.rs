//! Flame graphs: functions stacked on those that called them, or the other way round, as wide as their time. Of bounded size: what has most
//! time is opened first, and what is too small to be seen is one box with the number of functions in it.
//!
//! A box is a function by the way of functions that leads to it, from whatever lines; its time is that of all PEs that are looked at. Beside it can
//! stand what the same box took in another run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use partune_base::{CallPathId, Id, RegionId, Span, Table};
use partune_trace::{CallPaths, Trace};
use rustc_hash::FxHashMap;

use crate::CallTree;

/// What stands on a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacking {
    /// What it called; the first boxes are those that nobody called.
    Callees,
    /// Who called it: the graph is inverted, and the first boxes are functions with their exclusive time.
    Callers,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Function(RegionId),
    /// What main threads did outside of all recorded regions.
    Outside,
    /// So many functions that are too small to be seen, too deep or too many.
    Rest(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameBox {
    /// The position of the box that it stands on.
    pub parent: Option<usize>,
    pub block: Block,
    /// One of its call paths; none for what is no function.
    pub path: CallPathId,
    /// With all that stands on it.
    pub time: Span,
    /// Without.
    pub own: Span,
    /// Of its time, in operations for other PEs.
    pub waiting: Span,
    /// Of the function by this way; inverted, of the innermost function by way of these callers.
    pub visits: u64,
    /// Its time in the other run.
    pub base: Span,
}

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct FlameView<'a> {
    pub stacking: Stacking,
    /// The boxes that lead to the one that is opened, outermost first; all are, if there are none.
    pub under: &'a [RegionId],
    /// Boxes that are opened at most, and how many stand on each other.
    pub most: usize,
    pub levels: u32,
}

/// Boxes, each after the one that it stands on; those on one box by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flame {
    /// Those of [`FlameView::under`], and then all that stands on the last of them: at most twice as many as may be opened.
    pub boxes: Vec<FlameBox>,
    /// Time of all, whatever is opened.
    pub all: Span,
    /// In the other run.
    pub base_all: Span,
}

/// A run, and its tree.
pub type FlameRun<'a> = (&'a Trace, &'a CallTree);

/// The part of the time that is shown below which a box is too small.
const LEAST: i64 = 4096;

/// Part of a box: a call path of one run. Inverted, the ancestor of a call path at which the box is.
#[derive(Clone, Copy)]
struct Part {
    of_base: bool,
    at: CallPathId,
    /// Whose time it is.
    inner: CallPathId,
}

/// The runs, and what is the same function in both.
struct Both<'a> {
    run: FlameRun<'a>,
    base: Option<FlameRun<'a>>,
    /// The functions of the other run as functions of this one; beyond its functions if it has none of that name.
    same: Table<RegionId, RegionId>,
    stacking: Stacking,
}

/// Parts that are one box, before it has a place.
struct Group {
    block: Block,
    parts: Vec<Part>,
    it: FlameBox,
}

impl Flame {
    /// `None` where no boxes lead that way. `base` is the other run, if there is one. Costs a look at each call path, and at the depth of
    /// each if it is inverted.
    pub fn new(run: FlameRun<'_>, base: Option<FlameRun<'_>>, view: FlameView<'_>) -> Option<Flame> {
        let both = Both::new(run, base, view.stacking);
        let mut boxes: Vec<FlameBox> = Vec::new();
        let mut groups = both.first();
        let [all, base_all] = [|it: &FlameBox| it.time, |it: &FlameBox| it.base]
            .map(|of| groups.iter().map(|group| of(&group.it)).sum::<Span>());
        let mut opened = None;
        for region in view.under {
            let group = groups.into_iter().find(|group| group.block == Block::Function(*region))?;
            let at = boxes.len();
            boxes.push(FlameBox { parent: at.checked_sub(1), ..group.it });
            groups = both.on(&group.parts);
            opened = Some(at);
        }
        let shown = opened.map_or(all, |at: usize| boxes[at].time);
        let least = Span((shown.0 / LEAST).max(1));
        let most = view.most.max(1) + boxes.len();
        // The boxes that are not opened yet, widest first.
        let mut waiting: BinaryHeap<(Span, Reverse<usize>)> = BinaryHeap::new();
        let mut parts: FxHashMap<usize, (Vec<Part>, u32)> = FxHashMap::default();
        let place = |boxes: &mut Vec<FlameBox>, parent: Option<usize>, groups: Vec<Group>, level: u32| {
            let room = if level > view.levels { 0 } else { most.saturating_sub(boxes.len()) };
            let seen = groups.iter().take(room).take_while(|group| group.it.time >= least).count();
            let mut groups = groups.into_iter();
            let mut opened = Vec::new();
            for group in groups.by_ref().take(seen) {
                opened.push((group.it.time, boxes.len(), group.parts));
                boxes.push(FlameBox { parent, ..group.it });
            }
            boxes.extend(rest(groups).map(|it| FlameBox { parent, ..it }));
            opened
        };
        let mut next = place(&mut boxes, opened, groups, 1);
        let mut level = 1;
        loop {
            for (time, at, own) in next {
                waiting.push((time, Reverse(at)));
                parts.insert(at, (own, level));
            }
            let Some((_, Reverse(at))) = waiting.pop() else { break };
            let (own, of) = parts.remove(&at).unwrap_or_default();
            level = of + 1;
            next = place(&mut boxes, Some(at), both.on(&own), level);
        }
        Some(Flame { boxes, all, base_all })
    }
}

impl<'a> Both<'a> {
    fn new(run: FlameRun<'a>, base: Option<FlameRun<'a>>, stacking: Stacking) -> Both<'a> {
        let Some((other, _)) = base else { return Both { run, base, same: Table::default(), stacking } };
        let names =
            |trace: &'a Trace| trace.regions().iter_ids().map(|(id, region)| (id, trace.strings().get(region.whole)));
        let mut known: FxHashMap<&str, RegionId> = FxHashMap::default();
        for (id, name) in names(run.0) {
            known.entry(name).or_insert(id);
        }
        for (id, name) in names(other) {
            known.entry(name).or_insert(RegionId::from_index(run.0.regions().len() + id.index()));
        }
        let same = names(other).map(|(_, name)| known[name]).collect();
        Both { run, base, same, stacking }
    }

    fn of(&self, of_base: bool) -> FlameRun<'a> {
        self.base.filter(|_| of_base).unwrap_or(self.run)
    }

    fn paths(&self, of_base: bool) -> &'a CallPaths {
        self.of(of_base).0.paths()
    }

    /// The first boxes, widest first.
    fn first(&self) -> Vec<Group> {
        let mut parts = Vec::new();
        for of_base in [false, true].into_iter().take(1 + usize::from(self.base.is_some())) {
            let part = |at: CallPathId| Part { of_base, at, inner: at };
            match self.stacking {
                Stacking::Callees => parts.extend(self.of(of_base).1.roots().iter().copied().map(part)),
                Stacking::Callers => parts.extend(self.paths(of_base).ids().map(part)),
            }
        }
        let mut groups = self.groups(parts);
        let outside = self.run.1.outside().below;
        let base = self.base.map_or(Span::ZERO, |(_, tree)| tree.outside().below);
        if outside.is_positive() || base.is_positive() {
            let it = FlameBox { time: outside, own: outside, base, ..FlameBox::of(Block::Outside, CallPathId::NONE) };
            groups.push(Group { block: Block::Outside, parts: Vec::new(), it });
            by_time(&mut groups);
        }
        groups
    }

    /// What stands on a box, widest first.
    fn on(&self, parts: &[Part]) -> Vec<Group> {
        let mut on = Vec::new();
        for part in parts {
            match self.stacking {
                Stacking::Callees => {
                    let children = self.of(part.of_base).1.children(part.at).iter();
                    on.extend(children.map(|child| Part { at: *child, inner: *child, ..*part }));
                }
                Stacking::Callers => {
                    let caller = self.paths(part.of_base).parent(part.at).some();
                    on.extend(caller.map(|at| Part { at, ..*part }));
                }
            }
        }
        self.groups(on)
    }

    fn region(&self, part: &Part) -> RegionId {
        let region = self.paths(part.of_base).region(part.at);
        if part.of_base { self.same[region] } else { region }
    }

    /// Parts by function, widest first; without those in which no time was spent and that nobody visited.
    fn groups(&self, mut parts: Vec<Part>) -> Vec<Group> {
        parts.sort_by_cached_key(|part| (self.region(part), part.of_base));
        let mut groups: Vec<Group> = Vec::new();
        for parts in parts.chunk_by(|a, b| self.region(a) == self.region(b)) {
            let block = Block::Function(self.region(&parts[0]));
            let mut it = FlameBox::of(block, parts[0].at);
            for part in parts {
                let node = self.of(part.of_base).1.node(part.inner);
                let (time, waiting) = match self.stacking {
                    Stacking::Callees => (node.below, node.waiting),
                    Stacking::Callers => (node.exclusive, node.waited),
                };
                if part.of_base {
                    it.base += time;
                    continue;
                }
                let ends = self.stacking == Stacking::Callers && !self.paths(false).parent(part.at).is_some();
                it.own += match self.stacking {
                    Stacking::Callees => node.exclusive,
                    Stacking::Callers if ends => time,
                    Stacking::Callers => Span::ZERO,
                };
                it.time += time;
                it.waiting += waiting;
                it.visits += node.visits;
            }
            if it.time.is_positive() || it.base.is_positive() || it.visits > 0 {
                groups.push(Group { block, parts: parts.to_vec(), it });
            }
        }
        by_time(&mut groups);
        groups
    }
}

impl FlameBox {
    fn of(block: Block, path: CallPathId) -> FlameBox {
        FlameBox {
            parent: None,
            block,
            path,
            time: Span::ZERO,
            own: Span::ZERO,
            waiting: Span::ZERO,
            visits: 0,
            base: Span::ZERO,
        }
    }
}

fn by_time(groups: &mut [Group]) {
    let function = |group: &Group| match group.block {
        Block::Function(region) => region,
        Block::Outside | Block::Rest(_) => RegionId::NONE,
    };
    groups.sort_by_key(|group| (Reverse((group.it.time, group.it.base)), function(group)));
}

/// One box for what is left of some.
fn rest(groups: impl Iterator<Item = Group>) -> Option<FlameBox> {
    let mut rest = FlameBox::of(Block::Rest(0), CallPathId::NONE);
    let mut count = 0;
    for group in groups {
        count += 1;
        rest.time += group.it.time;
        rest.waiting += group.it.waiting;
        rest.visits += group.it.visits;
        rest.base += group.it.base;
    }
    // Nothing stands on it.
    (rest.block, rest.own) = (Block::Rest(count), rest.time);
    (count > 0).then_some(rest)
}
