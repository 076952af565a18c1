//! Alignment, blocks, maps and constraints: numbers worked out by hand.

use partune_base::Table;
use partune_objects::align::{Affinity, Options as Modal, affinities, align};
use partune_objects::block::{aspect, crossing, factorisations, grid};
use partune_objects::candidates::{self, maps, search};
use partune_objects::constraint::score;
use partune_objects::graph::{ArrayId, Builder, EventGraph, ExecutionId, Kind, ObjectId};
use partune_objects::interaction::Interaction;
use partune_objects::map::{Grid, Map, Size};
use partune_objects::phases::Activity;
use partune_objects::programs::{Program, relaxation};

use super::support::{execution, message};

#[test]
fn grids_of_pes_follow_what_crosses() {
    let jacobi = |extents: [u32; 2]| {
        grid(16, &extents, &aspect(&extents, &[2 * u64::from(extents[1]), 2 * u64::from(extents[0])]))
    };
    assert_eq!(jacobi([1024, 1024]), [4, 4]);
    assert_eq!(jacobi([512, 2048]), [2, 8]);
    assert_eq!(aspect(&[512, 2048], &[4096, 1024]), [0.5, 0.5], "blocks of 256²");
    assert_eq!(grid(16, &[1024, 1024], &aspect(&[1024, 1024], &[1024, 0])), [1, 16], "only dimension 0 communicates");
    assert_eq!(grid(16, &[1024, 4], &[1.0, 0.0]), [4, 4], "no more PEs along a dimension than objects");
    assert_eq!(grid(12, &[100; 3], &aspect(&[100; 3], &[0; 3])), [2, 2, 3], "nothing crosses anything");
    let mut all = Vec::new();
    factorisations(12, 2, &mut |grid| all.push(grid.to_vec()));
    assert_eq!(all, [[1, 12], [2, 6], [3, 4], [4, 3], [6, 2], [12, 1]]);
}

/// 24 and 96 pairs of neighbours face each other across the middles of a grid of 96 by 24, each both ways, in 2 steps of 3.
#[test]
fn crossing_is_counted_at_the_middle() {
    let graph = relaxation(&[96, 24], 3, 1).unwrap();
    let crossing = crossing(&graph, ArrayId(0));
    assert_eq!(crossing, [24 * 4, 96 * 4]);
    let map = Map::Block { aspect: aspect(&[96, 24], &crossing) };
    let placed = map.on(&[96, 24], 16);
    assert_eq!(placed.grid()[..2], [8, 2]);
    assert_eq!(placed.pe(&[11, 11, 0, 0, 0, 0]), 0);
    assert_eq!(placed.pe(&[12, 12, 0, 0, 0, 0]), 9);
    assert_eq!(placed.pe(&[95, 23, 0, 0, 0, 0]), 15);
    assert_eq!(placed.pe(&[i32::MAX, i32::MIN, 0, 0, 0, 0]), 7, "outside: the nearest block");
}

/// In phase `k` of an elimination of 16 rows, rows `k + 1` to 15 are active with `16 - k` elements each.
fn triangle(weighted: bool) -> Activity {
    let active =
        |k: u32| (k + 1..16).map(|row| (ObjectId(row), if weighted { i64::from(16 - k) } else { 1 })).collect();
    Activity { objects: 16, phases: (0..15).map(active).collect() }
}

#[test]
fn constraints_of_a_triangle_are_met_by_a_cyclic_map() {
    let scored = |block: u32, weighted: bool| {
        let map = Map::BlockCyclic { size: vec![Size::Of(block)], grid: Grid::Line(0) };
        let placed = map.on(&[16], 4);
        let placement: Table<ObjectId, u32> = (0..16).map(|row| placed.pe(&[row, 0, 0, 0, 0, 0])).collect();
        score(triangle(weighted).phases.iter().map(Vec::as_slice), &placement, 4)
    };
    let counted: Vec<_> = (1..=4).map(|block| scored(block, false)).map(|it| (it.pairs, it.load)).collect();
    assert_eq!(counted, [(100, 36), (112, 42), (116, 44), (160, 54)]);
    let weighted: Vec<_> = (1..=4).map(|block| scored(block, true).load).collect();
    assert_eq!(weighted, [392, 440, 452, 524]);
}

/// The first phase, in which 15 of 16 are active, is not looked at: it has 4 rows of 16 on a PE, and 3 · 6 + 3 pairs.
#[test]
fn the_search_finds_the_cyclic_map() {
    let mut program = Program::default();
    let (rows, _) = program.array(&[16]);
    let graph = program.seal().unwrap();
    let interaction = Interaction::new(&graph);
    let found = search(&graph, rows, (&triangle(true), &interaction), 4, &candidates::Options::default());
    let cyclic = Map::BlockCyclic { size: vec![Size::Of(1)], grid: Grid::Line(0) };
    assert_eq!((&found[0].map, found[0].score.load, found[0].score.pairs), (&cyclic, 392 - 64, 100 - 21));
    assert!(found[1..].iter().all(|it| it.score > found[0].score));
    // Symbolic: the same map on other numbers of PEs.
    assert_eq!(found[0].map.on(&[1000], 7).pe(&[9, 0, 0, 0, 0, 0]), 2);
    let even = Activity { objects: 16, phases: vec![(0..16).map(|row| (ObjectId(row), 1)).collect(); 5] };
    assert_eq!(search(&graph, rows, (&even, &interaction), 4, &candidates::Options::default()), []);
}

/// Phases in which half of the array is active, in blocks of two: blocks of 1 and 2 are alike, and the larger one communicates less.
#[test]
fn of_maps_alike_larger_blocks_are_chosen() {
    let mut program = Program::default();
    let (array, objects) = program.array(&[16]);
    let runs: Vec<_> = objects.iter().map(|&object| program.execution(object, 0, 1)).collect();
    (0..15).for_each(|at| program.send(runs[at], runs[at + 1], Kind::Message, 0, 8));
    let graph = program.seal().unwrap();
    let halves = |half: u32| (0..8).map(|at| (ObjectId(at + 8 * half), 1)).collect();
    let activity = Activity { objects: 16, phases: (0..6).map(|phase| halves(phase % 2)).collect() };
    let interaction = Interaction::new(&graph);
    let found = search(&graph, array, (&activity, &interaction), 4, &candidates::Options::default());
    assert_eq!(found[0].map, Map::BlockCyclic { size: vec![Size::Of(2)], grid: Grid::Line(0) });
    assert_eq!((found[0].cut, found[0].score.load), (7, 12));
}

/// 3³ tiles on 9 PEs. As one reads it, with `i - k` in both terms, 3 PEs have all of every plane; with `j - k` in the second all 9 have one tile each,
/// in all three directions.
#[test]
fn multi_partition_uses_all_pes_in_every_plane() {
    for (pes, tiles) in [(9, 3), (16, 4), (4, 2)] {
        for edge in [1_u32, 2] {
            let n = tiles * edge as i32;
            let map = Map::MultiPartition { size: [Size::Of(1), Size::Of(1)], grid: Grid::Like(vec![1, 1]) };
            let placed = map.on(&[n as u32; 3], pes);
            for axis in 0..3 {
                for plane in 0..n {
                    let mut count = vec![0; pes as usize];
                    for cell in 0..n * n {
                        let mut at = [0; 6];
                        at[axis] = plane;
                        at[(axis + 1) % 3] = cell / n;
                        at[(axis + 2) % 3] = cell % n;
                        count[placed.pe(&at) as usize] += 1;
                    }
                    assert_eq!(count, vec![edge * edge; pes as usize], "{pes} PEs, plane {plane} across {axis}");
                }
            }
        }
    }
    let printed = |i: i32, _: i32, k: i32| (i - k).rem_euclid(3) + 3 * (i - k).rem_euclid(3);
    let mut plane: Vec<_> = (0..9).map(|cell| printed(cell / 3, cell % 3, 0)).collect();
    plane.sort_unstable();
    plane.dedup();
    assert_eq!(plane.len(), 3);
}

#[test]
fn maps_of_two_dimensions_are_as_written() {
    let map = Map::BlockCyclic { size: vec![Size::Of(2), Size::Of(3)], grid: Grid::Like(vec![2, 4]) };
    let placed = map.on(&[100, 100], 8);
    for (i, j) in [(0, 0), (5, 7), (99, 98), (4, 30)] {
        assert_eq!(placed.pe(&[i, j, 0, 0, 0, 0]) as i32, (i / 2) % 2 + 2 * ((j / 3) % 4));
    }
    assert_eq!(map.on(&[100, 100], 32).grid()[..2], [4, 8], "the same proportions");
    assert_eq!(map.on(&[100, 100], 7).grid()[..2], [1, 7], "no other grid has 7 PEs");
    assert_eq!(
        maps(&[64, 64], 16, 10_000).len(),
        7 * 3 + 6 * 4 + 5 * 5 + 4 * 6 + 3 * 7,
        "divisors of 64 and 4, 32 and 8, …"
    );
    assert!((1000..=10_000).contains(&maps(&[1 << 31, 1 << 31, 1 << 31], 36, 10_000).len()));
    assert_eq!(maps(&[], 16, 10_000), []);
}

/// Two arrays that lie across each other: `b[j][i]` talks to `a[i][j]`, and a vector to the diagonal of columns.
fn transposed() -> (EventGraph, [ArrayId; 3]) {
    let mut made = Builder::new(1);
    let arrays = [made.array(2), made.array(2), made.array(1)];
    let mut run = |array: ArrayId, at: &[i32]| {
        let object = made.object(array, at);
        (object, execution(&mut made, object, 0, 0, 1))
    };
    let mut pairs: Vec<(ExecutionId, ExecutionId)> = Vec::new();
    let vector: Vec<_> = (0..9).map(|at| run(arrays[2], &[8 - at]).1).collect();
    for cell in 0..81 {
        let (i, j) = (cell / 9, cell % 9);
        let a = run(arrays[0], &[i, j]).1;
        pairs.push((a, run(arrays[1], &[j + 2, i]).1));
        pairs.push((a, vector[j as usize]));
    }
    pairs.into_iter().for_each(|ends| message(&mut made, ends, Kind::Message, 1, 1));
    (made.seal().unwrap(), arrays)
}

#[test]
fn arrays_are_aligned_by_their_messages() {
    let (graph, [a, b, c]) = transposed();
    let found = affinities(&graph, &Modal::default());
    let edge = |a, b, sign, shift| Affinity { a, b, sign, shift, weight: 81 };
    assert_eq!(found, [edge((a, 0), (b, 1), 1, 0), edge((a, 1), (b, 0), 1, 2), edge((a, 1), (c, 0), -1, 8)]);
    let aligned = align(&[2, 2, 1], &found, &Modal::default());
    assert_eq!((&aligned.class, aligned.cut, aligned.exact), (&vec![vec![0, 1], vec![1, 0], vec![1]], 0, true));
    assert_eq!(aligned.turned(b, &[7, 5, 0, 0, 0, 0]), [5, 7, 0, 0, 0, 0]);
    assert_eq!(aligned.turned(c, &[7, 0, 0, 0, 0, 0]), [0, 7, 0, 0, 0, 0]);
}

/// Arrays 0, 1 and 2 contradict each other in a circle, and so do 0, 1, 3 and 2; the edge between 0 and 2 is in both and weighs 4. Greedy
/// merging puts 2 beside 0, which gives up 3, and then has to give up 6 of array 3.
#[test]
fn exact_alignment_is_better_than_greedy() {
    let edge = |a: u32, b: u32, q: u8, weight: u64| Affinity {
        a: (ArrayId(a), 0),
        b: (ArrayId(b), q),
        sign: 1,
        shift: 0,
        weight,
    };
    let edges = [edge(0, 1, 0, 5), edge(0, 2, 0, 4), edge(1, 2, 1, 3), edge(1, 3, 0, 6), edge(2, 3, 1, 7)];
    let exact = align(&[2; 4], &edges, &Modal::default());
    assert_eq!((exact.cut, exact.exact), (4, true));
    assert_eq!(exact.class, [[0, 1], [0, 1], [1, 0], [0, 1]]);
    let greedy = align(&[2; 4], &edges, &Modal { exact: 0.0, ..Modal::default() });
    assert_eq!((greedy.cut, greedy.exact), (3 + 6, false));
}
