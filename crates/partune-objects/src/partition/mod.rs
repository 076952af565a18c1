//! Cuts a graph into parts of about equal weight so that edges between parts weigh little, or points where they lie: the one partitioner of partune.
//!
//! Multilevel (Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998): heavy edges are contracted until the graph is small, that is cut by
//! growing regions, and the cut is refined (Fiduccia and Mattheyses, DAC 1982) while the graph is uncontracted. More than two parts by
//! recursive bisection, then all together once more. The same graph, options and seed give the same parts on every machine.

mod coarsen;
mod coordinates;
mod kway;
mod refine;
mod weighted;

pub use coordinates::bisect;
pub use weighted::Weighted;

use crate::random::Random;
use refine::Quality;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// 0 is taken for 1.
    pub parts: u32,
    /// The heaviest part may have so many times the mean weight. It has more only where one vertex, or the rest of a division, does.
    pub imbalance: f64,
    pub seed: u64,
    /// Times that each piece is bisected from anew, of which the best counts.
    pub cuts: u32,
    /// Regions that are grown to find the first cut of the smallest graph.
    pub tries: u32,
    /// Times that each cut is refined on each level, at most.
    pub passes: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { parts: 2, imbalance: 1.03, seed: 1, cuts: 8, tries: 10, passes: 10 }
    }
}

/// A graph in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Of each vertex, below the number of parts. Parts are empty where there are more of them than vertices.
    pub part: Vec<u32>,
    /// Weight of the edges between parts.
    pub cut: u64,
    /// Weight of each part.
    pub weights: Vec<u64>,
}

impl Partition {
    /// The heaviest part by the mean one; 1 where there is nothing.
    pub fn imbalance(&self) -> f64 {
        let total: u64 = self.weights.iter().sum();
        let most = self.weights.iter().max().copied().unwrap_or(0);
        if total == 0 { 1.0 } else { most as f64 * self.weights.len() as f64 / total as f64 }
    }
}

/// O((V + E) log V log parts), and the memory of three graphs.
pub fn partition(graph: &Weighted, options: &Options) -> Partition {
    let parts = options.parts.max(1);
    let mut part = vec![0; graph.len()];
    let most = limit(graph.total(), i64::from(parts), options.imbalance);
    let mut cutter = Cutter { options, most, random: Random::new(options.seed), part: &mut part };
    let all: Vec<u32> = (0..graph.len() as u32).collect();
    cutter.split(graph, &all, 0, parts);
    kway::refine(graph, &mut part, parts, most, options.passes);
    let mut weights = vec![0; parts as usize];
    part.iter().zip(graph.vertices()).for_each(|(&part, &weight)| weights[part as usize] += weight as u64);
    Partition { cut: graph.cut(&part), part, weights }
}

/// The most that one of so many parts may weigh.
fn limit(total: i64, parts: i64, imbalance: f64) -> i64 {
    let imbalance = if imbalance.is_finite() { imbalance.max(1.0) } else { 1.0 };
    ((total as f64 * imbalance / parts as f64) as i64).max(total.div_euclid(parts) + i64::from(total % parts > 0))
}

struct Cutter<'a> {
    options: &'a Options,
    /// What a part may weigh.
    most: i64,
    random: Random,
    part: &'a mut [u32],
}

impl Cutter<'_> {
    /// Gives the vertices of a piece of the graph, known outside as `names`, to `parts` parts from `first` on.
    fn split(&mut self, graph: &Weighted, names: &[u32], first: u32, parts: u32) {
        if parts < 2 || graph.len() < 2 {
            names.iter().for_each(|&name| self.part[name as usize] = first);
            return;
        }
        let left = parts / 2;
        let total = graph.total();
        // What may still be uneven is shared by the levels of bisections below.
        let room = (self.most as f64 * f64::from(parts) / total.max(1) as f64).max(1.0);
        let room = room.powf(1.0 / f64::from(32 - (parts - 1).leading_zeros()));
        let share =
            |count: u32| i64::try_from(i128::from(total) * i128::from(count) / i128::from(parts)).unwrap_or(total);
        let target = [share(left), total - share(left)];
        let most = target.map(|target| (target as f64 * room) as i64);
        let most = [most[0].max(target[0] + i64::from(target[0] * 2 < total)), most[1].max(target[1])];
        let cuts = (0..self.options.cuts.max(1)).map(|_| self.bisect(graph, target, most));
        let (_, side) = cuts.min_by_key(|&(quality, _)| quality).expect("at least one cut");
        for (wanted, first, parts) in [(0, first, left), (1, first + left, parts - left)] {
            let (piece, inner) = graph.piece(&side, wanted);
            let names: Vec<u32> = inner.iter().map(|&vertex| names[vertex as usize]).collect();
            self.split(&piece, &names, first, parts);
        }
    }

    /// Sides of all vertices. Contracts, cuts the smallest graph, and refines on the way back.
    fn bisect(&mut self, graph: &Weighted, target: [i64; 2], most: [i64; 2]) -> (Quality, Vec<u8>) {
        let passes = self.options.passes;
        let Some((coarse, into)) = coarsen::coarsen(graph, &mut self.random) else {
            return self.first_cut(graph, target, most);
        };
        let (_, small) = self.bisect(&coarse, target, most);
        let mut side: Vec<u8> = into.iter().map(|&vertex| small[vertex as usize]).collect();
        (refine::refine(graph, &mut side, target, most, passes), side)
    }

    /// The best of several regions, each grown from any vertex by what cuts least.
    fn first_cut(&mut self, graph: &Weighted, target: [i64; 2], most: [i64; 2]) -> (Quality, Vec<u8>) {
        let tries = (0..self.options.tries.max(1)).map(|_| {
            let mut side = refine::grow(graph, self.random.below(graph.len()), target[0]);
            (refine::refine(graph, &mut side, target, most, self.options.passes), side)
        });
        tries.min_by_key(|&(quality, _)| quality).expect("at least one try")
    }
}
