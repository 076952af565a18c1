//! Graphs with weights of vertices and edges, as the partitioner takes them.

/// An undirected graph. Each edge stands at both of its ends; 12 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighted {
    first: Vec<u32>,
    to: Vec<u32>,
    weight: Vec<i64>,
    vertices: Vec<i64>,
    total: i64,
}

/// Sums of weights stay below this.
const HEAVY: u128 = 1 << 60;

impl Weighted {
    /// Edges between the same two are added up; those from a vertex to itself, or to one that is not there, are left out. If no vertex weighs
    /// anything, all weigh 1. Weights that add up to more than 2^60 are all divided. O(E log E).
    pub fn new(vertices: &[u64], edges: &[(u32, u32, u64)]) -> Weighted {
        let inside = |&&(a, b, _): &&(u32, u32, u64)| a != b && (a.max(b) as usize) < vertices.len();
        let mut both: Vec<(u32, u32, u64)> =
            edges.iter().filter(inside).flat_map(|&(a, b, weight)| [(a, b, weight), (b, a, weight)]).collect();
        both.sort_unstable();
        let shift = too_many(both.iter().map(|edge| edge.2));
        let mut graph = Weighted { first: vec![0; vertices.len() + 1], ..Weighted::default() };
        let mut before = None;
        for (a, b, weight) in both {
            let weight = (weight >> shift) as i64;
            if before == Some((a, b)) {
                *graph.weight.last_mut().expect("the edge before") += weight;
                continue;
            }
            before = Some((a, b));
            graph.to.push(b);
            graph.weight.push(weight);
            graph.first[a as usize + 1] += 1;
        }
        (0..vertices.len()).for_each(|vertex| graph.first[vertex + 1] += graph.first[vertex]);
        let shift = too_many(vertices.iter().copied());
        graph.vertices = vertices.iter().map(|&weight| (weight >> shift) as i64).collect();
        if graph.vertices.iter().all(|&weight| weight == 0) {
            graph.vertices.fill(1);
        }
        graph.total = graph.vertices.iter().sum();
        graph
    }

    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Neighbours of a vertex and the weights of its edges to them, by vertex.
    pub fn neighbours(&self, vertex: usize) -> impl Iterator<Item = (u32, i64)> + '_ {
        let range = self.first[vertex] as usize..self.first[vertex + 1] as usize;
        self.to[range.clone()].iter().copied().zip(self.weight[range].iter().copied())
    }

    pub fn degree(&self, vertex: usize) -> u32 {
        self.first[vertex + 1] - self.first[vertex]
    }

    pub fn vertices(&self) -> &[i64] {
        &self.vertices
    }

    pub fn total(&self) -> i64 {
        self.total
    }

    /// Weight of the edges between different parts.
    pub fn cut(&self, part: &[u32]) -> u64 {
        let of = |vertex: usize| {
            let other = self.neighbours(vertex).filter(move |&(to, _)| part[to as usize] != part[vertex]);
            other.map(|(_, weight)| weight as u64).sum::<u64>()
        };
        (0..self.len()).map(of).sum::<u64>() / 2
    }

    /// The vertices of one side with the edges between them, and what they are called here.
    pub(super) fn piece(&self, side: &[u8], wanted: u8) -> (Weighted, Vec<u32>) {
        let names: Vec<u32> = (0..self.len() as u32).filter(|&vertex| side[vertex as usize] == wanted).collect();
        let mut inner = vec![u32::MAX; self.len()];
        names.iter().enumerate().for_each(|(new, &old)| inner[old as usize] = new as u32);
        let mut piece = Weighted::begun();
        for &name in &names {
            let edges = self.neighbours(name as usize).filter(|&(to, _)| inner[to as usize] != u32::MAX);
            piece.row(self.vertices[name as usize], edges.map(|(to, weight)| (inner[to as usize], weight)));
        }
        (piece, names)
    }

    /// A graph without vertices, to which rows are added.
    pub(super) fn begun() -> Weighted {
        Weighted { first: vec![0], ..Weighted::default() }
    }

    /// Adds a vertex and its edges.
    pub(super) fn row(&mut self, vertex: i64, edges: impl Iterator<Item = (u32, i64)>) {
        self.vertices.push(vertex);
        self.total += vertex;
        for (to, weight) in edges {
            self.to.push(to);
            self.weight.push(weight);
        }
        self.first.push(self.to.len() as u32);
    }
}

/// By how many bits weights are too large.
fn too_many(weights: impl Iterator<Item = u64>) -> u32 {
    let sum: u128 = weights.map(u128::from).sum();
    (128 - (sum / HEAVY).leading_zeros()).min(63)
}
