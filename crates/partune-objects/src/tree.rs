//! Objects that create each other: the form of the tree, and how it is spread over PEs while it grows.

use std::ops::Range;

use partune_base::Table;

use crate::creation;
use crate::csr::Csr;
use crate::graph::{ArrayId, EventGraph, Object, ObjectId};
use crate::interaction::{Edge, Interaction};
use crate::statistics::{Line, mean, variation};

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Coefficient of variation up to which something is constant.
    pub constant: f64,
    /// Share of the variance that a line must explain.
    pub linear: f64,
    /// Coefficient of variation of the objects' own work up to which they are dealt out in turn.
    pub even: f64,
    /// Share of messages between objects that are not creator and created, from which neighbours should be near.
    pub local: f64,
    /// Objects a PE from which one manager is not enough.
    pub crowd: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { constant: 0.1, linear: 0.9, even: 0.3, local: 0.1, crowd: 1000.0 }
    }
}

/// Who of an array created whom of it, and what is executed below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    parents: Table<ObjectId, ObjectId>,
    children: Csr,
    roots: Vec<ObjectId>,
    depth: Table<ObjectId, u32>,
    /// Ticks of an object and of all below it.
    loads: Table<ObjectId, i64>,
    own: Table<ObjectId, i64>,
}

/// What trees are alike in. Means and variations over inner nodes have the squares of their loads as weights: PEs are shared out near the root,
/// and near the leaves everything is a matter of rounding.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// All inner nodes have so many children, of equal load.
    Uniform { branch: u32 },
    /// All inner nodes have so many children, whose shares of the load, in the order in which they are created, are the same everywhere.
    UniformBranch { ratios: Vec<f64> },
    /// Children have equal loads; their number is linear in the depth.
    UniformLoad { branch: Line },
    /// To be spread while it runs.
    Irregular(Strategy),
}

/// How objects of an irregular tree are given to PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    RoundRobin,
    /// PEs give objects to neighbours that have less to do.
    Neighbours,
    /// Managers of groups of PEs under a manager.
    Hierarchy,
    /// One manager deals them out.
    Manager,
}

impl Shape {
    /// Shares that a hint of this form says; none where it says none.
    pub fn shares(&self) -> Vec<f64> {
        match self {
            Shape::Uniform { branch } => vec![1.0; *branch as usize],
            Shape::UniformBranch { ratios } => ratios.clone(),
            Shape::UniformLoad { .. } | Shape::Irregular(_) => Vec::new(),
        }
    }
}

impl Tree {
    /// Objects whose creator is unknown or of another array, or which are their own ancestors, are roots. `load(node) = own + Σ load(child)`.
    /// Linear.
    pub fn new(graph: &EventGraph, array: ArrayId) -> Tree {
        let inside = |id: ObjectId| graph.objects().get(id).is_some_and(|object| object.array == array);
        let creator =
            |object: &Object| graph.executions().object.get(object.creator).copied().unwrap_or(ObjectId::NONE);
        let parent =
            |(id, object)| if inside(id) && inside(creator(object)) { creator(object) } else { ObjectId::NONE };
        let mut parents: Table<ObjectId, ObjectId> = graph.objects().iter_ids().map(parent).collect();
        let created = creation::times(graph);
        let in_order = |parents: &Table<ObjectId, ObjectId>| {
            let mut children = Csr::new(parents.len(), parents.iter().map(|id| id.0));
            (0..parents.len()).for_each(|row| children.row_mut(row).sort_by_key(|&id| (created[ObjectId(id)], id)));
            children
        };
        let children = in_order(&parents);
        let mut depth = Table::filled(parents.len(), u32::MAX);
        let (mut roots, mut order) = (Vec::new(), Vec::new());
        let created_by_nobody: Vec<_> = parents.ids().filter(|&id| parents[id] == ObjectId::NONE).collect();
        // What is not reached from these is on a circle of creators, or behind one.
        for id in created_by_nobody.into_iter().chain(depth.ids()) {
            if depth[id] == u32::MAX && inside(id) {
                parents[id] = ObjectId::NONE;
                roots.push(id);
                walk(&children, id, &mut order, &mut depth);
            }
        }
        roots.sort_by_key(|&id| (created[id], id));
        let children = in_order(&parents);
        let own = graph.loads();
        let mut loads = own.clone();
        for id in order.iter().rev() {
            if let Some(parent) = parents[*id].some() {
                loads[parent] = loads[parent].saturating_add(loads[*id]);
            }
        }
        Tree { parents, children, roots, depth, loads, own }
    }

    /// In the order in which they were created, as children are.
    pub fn roots(&self) -> &[ObjectId] {
        &self.roots
    }

    /// Whether an object is of the tree's array.
    pub fn is_in(&self, id: ObjectId) -> bool {
        self.depth[id] != u32::MAX
    }

    /// Whether any object made another one.
    pub fn grows(&self) -> bool {
        self.depth.ids().any(|id| self.children(id).len() > 0)
    }

    pub fn children(&self, id: ObjectId) -> impl ExactSizeIterator<Item = ObjectId> + '_ {
        self.children.row(id.0 as usize).iter().map(|&id| ObjectId(id))
    }

    /// Ticks of an object and of all that it created, directly or not.
    pub fn load(&self, id: ObjectId) -> i64 {
        self.loads[id]
    }

    /// O(n log n).
    pub fn shape(&self, interaction: &Interaction, pes: u32, options: &Options) -> Shape {
        let inner: Vec<ObjectId> = self.depth.ids().filter(|&id| self.children(id).len() > 0).collect();
        let weights: Vec<f64> = inner.iter().map(|&id| (self.load(id) as f64).powi(2)).collect();
        let branches: Vec<f64> = inner.iter().map(|&id| self.children(id).len() as f64).collect();
        let branch = weighted_mean(&branches, &weights).round() as usize;
        let ratios: Vec<Vec<f64>> =
            inner.iter().map(|&id| self.ratios(&self.children(id).collect::<Vec<_>>())).collect();
        let alike = |values: &[f64], weights: &[f64]| weighted_variation(values, weights) <= options.constant;
        if !inner.is_empty() && alike(&branches, &weights) {
            let typical = || (0..inner.len()).filter(|&at| ratios[at].len() == branch);
            let weights: Vec<f64> = typical().map(|at| weights[at]).collect();
            let column = |child: usize| typical().map(|at| ratios[at][child]).collect::<Vec<_>>();
            let means: Vec<f64> = (0..branch).map(|child| weighted_mean(&column(child), &weights)).collect();
            if (0..branch).all(|child| alike(&column(child), &weights)) {
                let equal = variation(&means) <= options.constant;
                return if equal {
                    Shape::Uniform { branch: branch as u32 }
                } else {
                    Shape::UniformBranch { ratios: means }
                };
            }
        }
        let uneven: Vec<f64> = ratios.iter().map(|ratios| variation(ratios)).collect();
        if weighted_mean(&uneven, &weights) <= options.constant
            && let Some(line) = self.branching(&inner).filter(|line| line.r2 >= options.linear)
        {
            return Shape::UniformLoad { branch: line };
        }
        Shape::Irregular(self.strategy(interaction, pes, options))
    }

    /// The line of the mean number of children over the depth; of at least three depths, since two points are always on one.
    fn branching(&self, inner: &[ObjectId]) -> Option<Line> {
        let mut by_depth: Vec<(u32, f64)> =
            inner.iter().map(|&id| (self.depth[id], self.children(id).len() as f64)).collect();
        by_depth.sort_by_key(|it| it.0);
        let point = |same: &[(u32, f64)]| {
            let counts: Vec<f64> = same.iter().map(|it| it.1).collect();
            (vec![f64::from(same[0].0)], mean(&counts))
        };
        let points: Vec<_> = by_depth.chunk_by(|a, b| a.0 == b.0).map(point).collect();
        if points.len() < 3 { None } else { Line::fit(&points) }
    }

    /// Shares of the load of a family; equal ones where it has none.
    pub fn ratios(&self, family: &[ObjectId]) -> Vec<f64> {
        let loads: Vec<f64> = family.iter().map(|&id| self.load(id) as f64).collect();
        let (sum, count) = (loads.iter().sum::<f64>(), loads.len() as f64);
        loads.iter().map(|load| if sum > 0.0 { load / sum } else { 1.0 / count }).collect()
    }

    fn strategy(&self, interaction: &Interaction, pes: u32, options: &Options) -> Strategy {
        let inside = |id: &ObjectId| self.depth[*id] != u32::MAX;
        let own: Vec<f64> = self.own.ids().filter(inside).map(|id| self.own[id] as f64).collect();
        let edges = || interaction.edges.iter().filter(|edge| inside(&edge.a) && inside(&edge.b));
        let family = |edge: &&Edge| self.parents[edge.a] == edge.b || self.parents[edge.b] == edge.a;
        let all: u64 = edges().map(|edge| edge.messages).sum();
        let along: u64 = edges().filter(family).map(|edge| edge.messages).sum();
        if variation(&own) < options.even {
            Strategy::RoundRobin
        } else if (all - along) as f64 > options.local * all as f64 {
            Strategy::Neighbours
        } else if own.len() as f64 > options.crowd * f64::from(pes.max(1)) {
            Strategy::Hierarchy
        } else {
            Strategy::Manager
        }
    }

    /// A PE for each object, `u32::MAX` for those of other arrays: each root and, below it, each child gets a part of its creator's PEs, and lives on
    /// the first of them. O(n log n).
    pub fn place(&self, pes: u32) -> Table<ObjectId, u32> {
        self.place_by(pes, &[])
    }

    /// As a run does that knows the shares of children in the order of their creation, and not their loads: what is more than these begins with the first of
    /// them again. By loads, if there are none.
    pub fn place_by(&self, pes: u32, ratios: &[f64]) -> Table<ObjectId, u32> {
        let mut placement = Table::filled(self.depth.len(), u32::MAX);
        let mut open = vec![(self.roots.clone(), 0..pes.max(1), &[][..])];
        while let Some((family, pes, shares)) = open.pop() {
            let parts = if shares.is_empty() { split(pes, &self.ratios(&family)) } else { split(pes, shares) };
            for (id, pes) in family.into_iter().zip(parts.into_iter().cycle()) {
                placement[id] = pes.start;
                if self.children(id).len() > 0 {
                    open.push((self.children(id).collect(), pes, ratios));
                }
            }
        }
        placement
    }
}

/// Adds an object and all its descendants that have no depth yet, each after its creator.
fn walk(children: &Csr, root: ObjectId, order: &mut Vec<ObjectId>, depth: &mut Table<ObjectId, u32>) {
    let mut at = order.len();
    depth[root] = 0;
    order.push(root);
    while let Some(&id) = order.get(at) {
        at += 1;
        for child in children.row(id.0 as usize).iter().map(|&child| ObjectId(child)) {
            if depth[child] == u32::MAX {
                depth[child] = depth[id] + 1;
                order.push(child);
            }
        }
    }
}

/// Shares out PEs among children by their loads: at least one each and the rest by largest remainders; or, if there are fewer PEs than
/// children, one each so that the largest load comes first to the PE with least (LPT). The first child has the first PE. O(n log n).
pub fn split(pes: Range<u32>, loads: &[f64]) -> Vec<Range<u32>> {
    let clean = |load: &f64| if load.is_finite() { load.max(0.0) } else { 0.0 };
    let loads: Vec<f64> = loads.iter().map(clean).collect();
    let count = pes.len();
    if count < loads.len() {
        return deal(&pes, &loads);
    }
    let sum: f64 = loads.iter().sum();
    let fair = |load: &f64| if sum > 0.0 { load / sum } else { 1.0 / loads.len() as f64 } * count as f64;
    // What each should have beyond the one that it has, as far as there is something left.
    let more: Vec<f64> = loads.iter().map(|load| (fair(load) - 1.0).max(0.0)).collect();
    let (left, sum) = (count - loads.len(), more.iter().sum::<f64>().max(f64::MIN_POSITIVE));
    let more: Vec<f64> = more.iter().map(|more| more / sum * left as f64).collect();
    // A little less than it is, so that all of them together are never too many; what is missing comes back as a remainder.
    let whole: Vec<u32> = more.iter().map(|more| (more - 1e-9).max(0.0) as u32).collect();
    let mut shares: Vec<u32> = whole.iter().map(|whole| whole + 1).collect();
    let given = whole.iter().map(|&whole| whole as usize).sum::<usize>();
    let mut order: Vec<usize> = (0..loads.len()).collect();
    let remainder = |at: usize| more[at] - f64::from(whole[at]);
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
    order.iter().take(left.saturating_sub(given)).for_each(|&at| shares[at] += 1);
    let starts = shares.iter().scan(pes.start, |next, share| {
        *next += share;
        Some(*next - share)
    });
    starts.zip(&shares).map(|(start, share)| start..start + share).collect()
}

/// One PE for each child; where there are none, the one that would be the first.
fn deal(pes: &Range<u32>, loads: &[f64]) -> Vec<Range<u32>> {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by(|&a, &b| loads[b].total_cmp(&loads[a]).then(a.cmp(&b)));
    let mut bins = vec![0.0; pes.len().max(1)];
    let mut bin = vec![0; loads.len()];
    for at in order {
        let least = (0..bins.len()).min_by(|&a, &b| f64::total_cmp(&bins[a], &bins[b])).unwrap_or(0);
        bins[least] += loads[at];
        bin[at] = least;
    }
    let first = bin.first().copied().unwrap_or(0);
    let swapped = |bin: usize| {
        if bin == first {
            0
        } else if bin == 0 {
            first
        } else {
            bin
        }
    };
    bin.iter().map(|&bin| pes.start + swapped(bin) as u32).map(|pe| pe..pe + 1).collect()
}

fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() / sum
    } else {
        mean(values)
    }
}

fn weighted_variation(values: &[f64], weights: &[f64]) -> f64 {
    let mean = weighted_mean(values, weights);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
    if mean == 0.0 { 0.0 } else { weighted_mean(&squares, weights).sqrt() / mean.abs() }
}
