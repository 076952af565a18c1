//! Alignment: which dimensions of different arrays belong together, so that one map serves all of them.
//!
//! The component affinity graph has a node for each dimension of each array, and an edge where coordinates of sender and receiver differ by
//! the same in most messages. Dimensions of different arrays that share a class are aligned; what edges between classes weigh is lost. The
//! problem is NP-complete (Li and Chen), so classes are found greedily, and exactly where that is cheap.

use crate::graph::{ArrayId, Coordinates, DIMENSIONS, EventGraph, Kind, ObjectId};

/// When an edge counts, and how much may be tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of the messages between two arrays whose coordinates differ by the modal value.
    pub modal: f64,
    /// Exact classes are looked for where at most so many are possible.
    pub exact: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { modal: 0.9, exact: 1e5 }
    }
}

/// Two dimensions that go together: in most messages `b = sign · a + shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affinity {
    /// The array with the smaller id, and its dimension.
    pub a: (ArrayId, u8),
    pub b: (ArrayId, u8),
    pub sign: i8,
    pub shift: i64,
    /// Messages of which that is true.
    pub weight: u64,
}

/// Classes of dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of each array and dimension, below the largest rank of all arrays. No two dimensions of an array share one.
    pub class: Vec<Vec<u8>>,
    /// Messages of affinities between classes.
    pub cut: u64,
    /// No other classes are better.
    pub exact: bool,
}

impl Alignment {
    /// Coordinates of an object of an array, each where its class is: what one map for all arrays takes.
    pub fn turned(&self, array: ArrayId, at: &Coordinates) -> Coordinates {
        let mut turned = Coordinates::default();
        let class = self.class.get(array.0 as usize).map_or(&[][..], Vec::as_slice);
        class.iter().zip(at).for_each(|(&class, &at)| turned[usize::from(class)] = at);
        turned
    }
}

/// All affinities, by their ends. O(E log E · dimensions²).
pub fn affinities(graph: &EventGraph, options: &Options) -> Vec<Affinity> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut rows: Vec<(ArrayId, ArrayId, ObjectId, ObjectId)> = Vec::new();
    for id in messages.kind.ids().filter(|&id| messages.kind[id] == Kind::Message) {
        let mut ends = [messages.source[id], messages.destination[id]].map(|end| executions.object[end]);
        ends.sort_by_key(|&end| graph.objects()[end].array);
        let [a, b] = ends.map(|end| graph.objects()[end]);
        if a.array != b.array {
            rows.push((a.array, b.array, ends[0], ends[1]));
        }
    }
    rows.sort_unstable();
    let mut found = Vec::new();
    for same in rows.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let (a, b) = (same[0].0, same[0].1);
        for p in 0..graph.arrays()[a] {
            for q in 0..graph.arrays()[b] {
                let at = |id, dim: u8| i64::from(graph.objects()[id].at[usize::from(dim)]);
                let by_sign = [1_i8, -1].map(|sign| {
                    let differences = same.iter().map(|row| at(row.3, q) - i64::from(sign) * at(row.2, p));
                    let (shift, weight) = modal(differences);
                    Affinity { a: (a, p), b: (b, q), sign, shift, weight }
                });
                let best = if by_sign[1].weight > by_sign[0].weight { by_sign[1] } else { by_sign[0] };
                if best.weight as f64 >= options.modal * same.len() as f64 {
                    found.push(best);
                }
            }
        }
    }
    found
}

/// The most frequent value and how often it is; the smallest of equals.
fn modal(values: impl Iterator<Item = i64>) -> (i64, u64) {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64));
    runs.reduce(|best, run| if run.1 > best.1 { run } else { best }).unwrap_or_default()
}

/// Classes for arrays of these ranks. Greedy: arrays times permutations of their dimensions; exact by branch and bound where there are few.
pub fn align(ranks: &[u8], affinities: &[Affinity], options: &Options) -> Alignment {
    let ranks: Vec<usize> = ranks.iter().map(|&rank| usize::from(rank).min(DIMENSIONS)).collect();
    let classes = ranks.iter().max().copied().unwrap_or(0);
    let known = |end: (ArrayId, u8)| ranks.get(end.0.0 as usize).is_some_and(|&rank| usize::from(end.1) < rank);
    let mut edges = vec![Vec::new(); ranks.len()];
    for it in affinities.iter().filter(|it| known(it.a) && known(it.b) && it.a.0 != it.b.0) {
        for (own, other) in [(it.a, it.b), (it.b, it.a)] {
            let edge = Edge { own: own.1.into(), array: other.0.0 as usize, other: other.1.into(), weight: it.weight };
            edges[own.0.0 as usize].push(edge);
        }
    }
    let mut search = Search { ranks: &ranks, classes, edges: &edges, class: vec![None; ranks.len()] };
    let (order, cut) = search.greedy();
    let mut best = (cut, search.class.clone());
    let ways = (1..=classes).map(|way| way as f64).product::<f64>().powi(ranks.len() as i32 - 1);
    let exact = best.0 == 0 || ways <= options.exact;
    if exact && best.0 > 0 {
        search.class.fill(None);
        // Names of classes do not matter: the first array has them in the order of its dimensions.
        search.class[order[0]] = Some((0..ranks[order[0]] as u8).collect());
        search.bound(&order, 1, 0, &mut best);
    }
    Alignment { class: best.1.into_iter().map(Option::unwrap_or_default).collect(), cut: best.0, exact }
}

/// An affinity as an array sees it: its own dimension, and the other array's.
#[derive(Clone, Copy)]
struct Edge {
    own: usize,
    array: usize,
    other: usize,
    weight: u64,
}

struct Search<'a> {
    ranks: &'a [usize],
    classes: usize,
    /// By array; each affinity stands at both.
    edges: &'a [Vec<Edge>],
    /// Of each array that has its classes.
    class: Vec<Option<Vec<u8>>>,
}

impl Search<'_> {
    /// Gives arrays their classes one by one: the one of highest rank, then each time the one with the heaviest edges to those that have theirs.
    /// Says in which order, and what is cut.
    fn greedy(&mut self) -> (Vec<usize>, u64) {
        let mut order: Vec<usize> = Vec::new();
        let mut left: Vec<usize> = (0..self.ranks.len()).collect();
        left.sort_by_key(|&array| std::cmp::Reverse(self.ranks[array]));
        let mut pull = vec![0_u64; left.len()];
        let mut cut = 0;
        while let Some(at) = (0..left.len()).max_by_key(|&at| (pull[left[at]], std::cmp::Reverse(at))) {
            let array = left.remove(at);
            let (more, class) = self.ways(array).swap_remove(0);
            cut += more;
            self.class[array] = Some(class);
            self.edges[array].iter().for_each(|edge| pull[edge.array] = pull[edge.array].saturating_add(edge.weight));
            order.push(array);
        }
        (order, cut)
    }

    /// All classes that an array may have, with what they cut of its edges to arrays that have theirs; those that cut least first.
    fn ways(&self, array: usize) -> Vec<(u64, Vec<u8>)> {
        let known = |edge: &Edge| Some((edge.own, self.class[edge.array].as_ref()?[edge.other], edge.weight));
        let edges: Vec<(usize, u8, u64)> = self.edges[array].iter().filter_map(known).collect();
        let mut ways = Vec::new();
        injections(self.ranks[array], self.classes, &mut |class| {
            let apart = edges.iter().filter(|&&(own, other, _)| class[own] != other);
            ways.push((apart.map(|edge| edge.2).sum(), class.to_vec()));
        });
        ways.sort();
        ways
    }

    /// Classes of the arrays from `at` on, as far as they can still be better than the best.
    fn bound(&mut self, order: &[usize], at: usize, cut: u64, best: &mut (u64, Vec<Option<Vec<u8>>>)) {
        let Some(&array) = order.get(at) else {
            *best = (cut, self.class.clone());
            return;
        };
        for (more, class) in self.ways(array) {
            if cut + more < best.0 {
                self.class[array] = Some(class);
                self.bound(order, at + 1, cut + more, best);
                self.class[array] = None;
            }
        }
    }
}

/// Shows all ways to give `rank` dimensions different classes, in lexicographic order.
fn injections(rank: usize, classes: usize, show: &mut impl FnMut(&[u8])) {
    fn extend(rank: usize, classes: usize, chosen: &mut Vec<u8>, show: &mut impl FnMut(&[u8])) {
        if chosen.len() == rank {
            show(chosen);
            return;
        }
        for class in 0..classes as u8 {
            if !chosen.contains(&class) {
                chosen.push(class);
                extend(rank, classes, chosen, show);
                chosen.pop();
            }
        }
    }
    extend(rank, classes, &mut Vec::with_capacity(rank), show);
}
