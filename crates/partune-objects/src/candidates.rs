//! The maps that are tried for an array whose activity varies: block-cyclic in its dimensions, and multi-partition in three.

use partune_base::Table;

use crate::block::{divisors, factorisations};
use crate::constraint::{Score, score};
use crate::graph::{ArrayId, EventGraph, Object, ObjectId};
use crate::interaction::{Edge, Interaction};
use crate::map::{Grid, Map, Size};
use crate::phases::{self, Activity};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// About so many maps are tried, of more evenly chosen ones.
    pub maps: usize,
    /// Of more phases than this, evenly chosen ones are looked at.
    pub phases: usize,
    /// Maps whose scores differ by at most this share are alike; larger blocks are better then.
    pub alike: f64,
    /// What says which phases are looked at.
    pub activity: phases::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options { maps: 10_000, phases: 256, alike: 0.01, activity: phases::Options::default() }
    }
}

/// A map and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub map: Map,
    pub score: Score,
    /// Messages of the array between different PEs.
    pub cut: u64,
    /// Objects of a block.
    pub block: u64,
}

/// The best map first, then the others by score, cut and size of blocks. None where activity does not vary. O(maps · (active objects of the
/// phases + edges of the interaction graph)).
pub fn search(
    graph: &EventGraph,
    array: ArrayId,
    (activity, interaction): (&Activity, &Interaction),
    pes: u32,
    options: &Options,
) -> Vec<Candidate> {
    let uneven: Vec<_> = activity.uneven(&options.activity).collect();
    let phases: Vec<_> = evenly(uneven.len(), options.phases).map(|at| uneven[at]).collect();
    if phases.is_empty() || pes == 0 {
        return Vec::new();
    }
    let extents = graph.extents(array);
    let try_one = |(map, block): &(Map, u64)| {
        let placement = place(graph, array, map, &extents, pes);
        let inside = |edge: &&Edge| placement[edge.a] < pes && placement[edge.b] < pes;
        let apart = interaction.edges.iter().filter(inside).filter(|edge| placement[edge.a] != placement[edge.b]);
        let cut = apart.map(|edge| edge.messages).sum();
        let score = score(phases.iter().copied(), &placement, pes);
        Candidate { map: map.clone(), score, cut, block: *block }
    };
    let mut found: Vec<_> = maps(&extents, pes, options.maps).iter().map(try_one).collect();
    found.sort_by_key(|it| (it.score, it.cut, std::cmp::Reverse(it.block)));
    let Some(best) = found.first().map(|best| best.score) else { return found };
    let close = |value: f64, best: f64| value <= best * (1.0 + options.alike);
    let alike = |it: &Candidate| {
        close(it.score.load as f64, best.load as f64) && close(it.score.pairs as f64, best.pairs as f64)
    };
    let among = (0..found.len()).filter(|&at| alike(&found[at]));
    let chosen = among.max_by_key(|&at| (found[at].block, std::cmp::Reverse((found[at].cut, at)))).unwrap_or(0);
    found[..=chosen].rotate_right(1);
    found
}

/// PEs of the objects of an array; `u32::MAX` for all others. Linear in objects.
pub fn place(graph: &EventGraph, array: ArrayId, map: &Map, extents: &[u32], pes: u32) -> Table<ObjectId, u32> {
    let placed = map.on(extents, pes);
    let of = |object: &Object| if object.array == array { placed.pe(&object.at) } else { u32::MAX };
    graph.objects().iter().map(of).collect()
}

/// Maps for an array of one to three dimensions, each with the objects of a block: all grids of PEs, and edges of blocks so that there are about
/// `most`.
pub fn maps(extents: &[u32], pes: u32, most: usize) -> Vec<(Map, u64)> {
    let mut found = Vec::new();
    let rank = extents.len();
    if !(1..=3).contains(&rank) {
        return found;
    }
    let mut grids = 0_usize;
    factorisations(pes, rank, &mut |_| grids += 1);
    let most = ((most / grids) as f64).powf(1.0 / rank as f64) as usize;
    let sizes = |largest: u32| {
        let all = sizes(largest);
        evenly(all.len(), most.max(2)).map(|at| all[at]).collect::<Vec<u32>>()
    };
    factorisations(pes, rank, &mut |grid| {
        let edges: Vec<Vec<u32>> = extents.iter().zip(grid).map(|(&n, &p)| sizes(n.div_ceil(p))).collect();
        combinations(&edges, &mut |size| {
            let even = |dim: usize| size[dim] > 1 && size[dim] == extents[dim].div_ceil(grid[dim]);
            let symbolic = (0..rank).map(|dim| if even(dim) { Size::Even } else { Size::Of(size[dim]) }).collect();
            let block = size.iter().fold(1, |block: u64, &edge| block.saturating_mul(edge.into()));
            let line = grid.iter().position(|&count| count == pes);
            let grid = line.map_or_else(|| Grid::Like(grid.to_vec()), |dim| Grid::Line(dim as u8));
            found.push((Map::BlockCyclic { size: symbolic, grid }, block));
        });
    });
    let root = pes.isqrt();
    if rank == 3 && root * root == pes {
        let edges: Vec<Vec<u32>> = extents[..2].iter().map(|&n| sizes(n.div_ceil(root))).collect();
        combinations(&edges, &mut |size| {
            let map =
                Map::MultiPartition { size: [Size::Of(size[0]), Size::Of(size[1])], grid: Grid::Like(vec![1, 1]) };
            found.push((map, u64::from(size[0]) * u64::from(size[1])));
        });
    }
    found
}

/// Edges of blocks up to the largest one: its divisors and powers of two.
fn sizes(largest: u32) -> Vec<u32> {
    let mut sizes = divisors(largest.max(1));
    sizes.extend((0..32).map(|power| 1 << power).take_while(|&power| power <= largest));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Shows one of each list, in all ways.
fn combinations(lists: &[Vec<u32>], show: &mut impl FnMut(&[u32])) {
    let mut at = vec![0; lists.len()];
    loop {
        let chosen: Vec<u32> = lists.iter().zip(&at).map(|(list, &at)| list[at]).collect();
        show(&chosen);
        let Some(dim) = (0..lists.len()).rev().find(|&dim| at[dim] + 1 < lists[dim].len()) else { return };
        at[dim] += 1;
        at[dim + 1..].fill(0);
    }
}

/// At most so many positions, evenly chosen, with the first and the last one.
fn evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let chosen = count.min(most);
    (0..chosen).map(move |at| at * (count - 1) / (chosen - 1).max(1))
}
