//! Two sides: regions that grow, and moves of single vertices that make a cut better (Fiduccia and Mattheyses).

use std::collections::BinaryHeap;

use super::Weighted;

/// Smaller is better: what a side weighs too much, the cut, and how far sides are from what they should weigh.
pub(super) type Quality = (i64, i64, i64);

/// Side 0 grows from a vertex, by what adds least to the cut, until it weighs enough; then from another one where the graph ends.
pub(super) fn grow(graph: &Weighted, seed: usize, target: i64) -> Vec<u8> {
    let mut side = vec![1; graph.len()];
    let mut gain = vec![i64::MIN; graph.len()];
    let mut heap = BinaryHeap::new();
    let mut weight = 0;
    let mut next = 0;
    heap.push((0, seed));
    gain[seed] = 0;
    while weight < target {
        let Some((known, vertex)) = heap.pop() else {
            while next < graph.len() && side[next] == 0 {
                next += 1;
            }
            if next == graph.len() {
                break;
            }
            gain[next] = 0;
            heap.push((0, next));
            continue;
        };
        if side[vertex] == 0 || gain[vertex] != known {
            continue;
        }
        side[vertex] = 0;
        weight += graph.vertices()[vertex];
        for (to, _) in graph.neighbours(vertex).filter(|&(to, _)| side[to as usize] == 1) {
            let to = to as usize;
            gain[to] = gain_of(graph, &side, to);
            heap.push((gain[to], to));
        }
    }
    side
}

/// What the cut loses if a vertex changes its side.
fn gain_of(graph: &Weighted, side: &[u8], vertex: usize) -> i64 {
    let sign = |(to, weight): (u32, i64)| if side[to as usize] == side[vertex] { -weight } else { weight };
    graph.neighbours(vertex).map(sign).sum()
}

/// Moves vertices as long as a row of moves makes the cut better. O((V + E) log V) a pass.
pub(super) fn refine(graph: &Weighted, side: &mut [u8], target: [i64; 2], most: [i64; 2], passes: u32) -> Quality {
    let mut moves = Moves::new(graph, side, target, most);
    let mut best = moves.quality();
    for _ in 0..passes.max(1) {
        let after = moves.pass();
        let better = after < best;
        best = after;
        if !better {
            break;
        }
    }
    best
}

struct Moves<'a> {
    graph: &'a Weighted,
    side: &'a mut [u8],
    target: [i64; 2],
    most: [i64; 2],
    weight: [i64; 2],
    cut: i64,
    gain: Vec<i64>,
    /// The pass in which a vertex was moved last.
    moved: Vec<u32>,
    passes: u32,
    /// Of each side: gain, number of the entry (the newest of equals first, which keeps moves together), vertex.
    heaps: [BinaryHeap<(i64, u64, u32)>; 2],
    entries: u64,
}

impl<'a> Moves<'a> {
    fn new(graph: &'a Weighted, side: &'a mut [u8], target: [i64; 2], most: [i64; 2]) -> Moves<'a> {
        let mut weight = [0; 2];
        side.iter().zip(graph.vertices()).for_each(|(&side, vertex)| weight[usize::from(side)] += vertex);
        let gain: Vec<i64> = (0..graph.len()).map(|vertex| gain_of(graph, side, vertex)).collect();
        let crossing = |vertex: usize| {
            let side = &*side;
            let other = graph.neighbours(vertex).filter(move |&(to, _)| side[to as usize] != side[vertex]);
            other.map(|edge| edge.1).sum::<i64>()
        };
        let cut = (0..graph.len()).map(crossing).sum::<i64>() / 2;
        let moved = vec![0; graph.len()];
        Moves { graph, side, target, most, weight, cut, gain, moved, passes: 0, heaps: Default::default(), entries: 0 }
    }

    fn quality(&self) -> Quality {
        let over = (0..2).map(|side| (self.weight[side] - self.most[side]).max(0)).sum();
        (over, self.cut, (self.weight[0] - self.target[0]).abs())
    }

    fn push(&mut self, vertex: usize) {
        self.entries += 1;
        self.heaps[usize::from(self.side[vertex])].push((self.gain[vertex], self.entries, vertex as u32));
    }

    /// Each vertex at most once, the best first; what came after the best state is taken back.
    fn pass(&mut self) -> Quality {
        self.passes += 1;
        self.heaps.iter_mut().for_each(BinaryHeap::clear);
        let uneven = self.quality().0 > 0;
        for vertex in 0..self.graph.len() {
            let at_border = self.graph.neighbours(vertex).any(|(to, _)| self.side[to as usize] != self.side[vertex]);
            if at_border || uneven {
                self.push(vertex);
            }
        }
        let patience = (self.graph.len() / 20).clamp(100, 1000);
        let mut best = self.quality();
        let mut done: Vec<u32> = Vec::new();
        let mut keep = 0;
        while done.len() - keep < patience {
            let Some(vertex) = self.choose() else { break };
            self.shift(vertex);
            done.push(vertex as u32);
            if self.quality() < best {
                best = self.quality();
                keep = done.len();
            }
        }
        while done.len() > keep {
            let vertex = done.pop().expect("longer than what is kept");
            self.shift(vertex as usize);
        }
        best
    }

    /// The vertex with the most gain that may be moved; from the side that is too heavy, if one is.
    fn choose(&mut self) -> Option<usize> {
        let heavy = (0..2).find(|&side| self.weight[side] > self.most[side]);
        let top = [self.top(0, heavy == Some(0)), self.top(1, heavy == Some(1))];
        let slack = |side: usize| self.weight[side] - self.target[side];
        let from = match (heavy, top) {
            (Some(side), _) if top[side].is_some() => side,
            (_, [Some(a), Some(b)]) => usize::from((b.0, slack(1)) > (a.0, slack(0))),
            (_, [Some(_), None]) => 0,
            (_, [None, Some(_)]) => 1,
            (_, [None, None]) => return None,
        };
        let (_, _, vertex) = self.heaps[from].pop()?;
        Some(vertex as usize)
    }

    /// The best entry of a side that is still true and fits on the other one; the others are dropped.
    fn top(&mut self, side: usize, forced: bool) -> Option<(i64, u64, u32)> {
        while let Some(&entry) = self.heaps[side].peek() {
            let vertex = entry.2 as usize;
            let is_true = self.moved[vertex] < self.passes
                && usize::from(self.side[vertex]) == side
                && self.gain[vertex] == entry.0;
            let fits = self.weight[1 - side] + self.graph.vertices()[vertex] <= self.most[1 - side];
            if is_true && (fits || forced) {
                return Some(entry);
            }
            self.heaps[side].pop();
        }
        None
    }

    /// Moves a vertex, or takes its move back.
    fn shift(&mut self, vertex: usize) {
        let from = usize::from(self.side[vertex]);
        let weight = self.graph.vertices()[vertex];
        self.weight[from] -= weight;
        self.weight[1 - from] += weight;
        self.cut -= self.gain[vertex];
        self.gain[vertex] = -self.gain[vertex];
        self.side[vertex] = 1 - from as u8;
        self.moved[vertex] = self.passes;
        let graph = self.graph;
        for (to, weight) in graph.neighbours(vertex) {
            let to = to as usize;
            self.gain[to] += if usize::from(self.side[to]) == from { 2 * weight } else { -2 * weight };
            if self.moved[to] < self.passes {
                self.push(to);
            }
        }
    }
}
