//! The partitioner: cuts beside those of METIS, balance, and graphs that are odd.

use partune_objects::partition::{Options, Partition, Weighted, bisect, partition};
use proptest::prelude::*;

use super::graphs::samples;

/// What METIS 5.1.0 (Debian 5.1.0.dfsg-7) cuts: the smaller cut of `gpmetis -ptype=kway -ufactor=30` and `gpmetis -ptype=rb -ufactor=30`
/// whose heaviest part weighs at most 1.03 of the mean, as `bench/partition.sh` prints it.
const METIS: [(&str, [(u32, u64); 3]); 4] = [
    ("grid", [(2, 69), (8, 253), (32, 623)]),
    ("cube", [(2, 196), (8, 674), (32, 1501)]),
    ("geometric", [(2, 41), (8, 182), (32, 650)]),
    ("random", [(2, 2061), (8, 4118), (32, 5051)]),
];

fn cut(graph: &Weighted, parts: u32) -> Partition {
    partition(graph, &Options { parts, ..Options::default() })
}

#[test]
fn cuts_are_as_good_as_those_of_metis() {
    for sample in samples(1) {
        let graph = Weighted::new(&vec![1; sample.vertices], &sample.edges);
        let (_, known) = METIS.iter().find(|known| known.0 == sample.name).unwrap();
        for &(parts, theirs) in known {
            let ours = cut(&graph, parts);
            assert!(ours.cut as f64 <= 1.15 * theirs as f64, "{} {parts}: {} and {theirs}", sample.name, ours.cut);
            assert!(ours.imbalance() <= 1.03, "{} {parts}: {}", sample.name, ours.imbalance());
            assert_eq!(ours, cut(&graph, parts), "the same again");
        }
    }
}

#[test]
fn clear_cuts_are_found() {
    // Two cliques of 20 and an edge between them; the same of weights so large that their sum is no number.
    for weight in [1, u64::MAX / 2] {
        let clique = |from: u32| (from..from + 20).flat_map(move |a| (a + 1..from + 20).map(move |b| (a, b, weight)));
        let edges: Vec<_> = clique(0).chain(clique(20)).chain([(3, 33, 1)]).collect();
        let found = cut(&Weighted::new(&[weight; 40], &edges), 2);
        assert!(found.cut <= 1);
        assert!((0..40).all(|at| found.part[at] == found.part[at / 20 * 20]));
        assert_ne!(found.part[0], found.part[20]);
    }
    // A star cannot be contracted by edges alone.
    let star: Vec<_> = (1..1000).map(|leaf| (0, leaf, 1)).collect();
    let found = cut(&Weighted::new(&[1; 1000], &star), 4);
    assert!(found.imbalance() <= 1.03);
}

#[test]
fn odd_graphs_are_cut_too() {
    assert_eq!(cut(&Weighted::new(&[], &[]), 3), Partition { part: vec![], cut: 0, weights: vec![0; 3] });
    let few = cut(&Weighted::new(&[1, 1], &[(0, 1, 5), (1, 1, 9), (0, 7, 1)]), 5);
    assert_eq!((few.cut, few.weights.iter().sum::<u64>()), (5, 2));
    assert_eq!(cut(&Weighted::new(&[4, 0, 0], &[(0, 1, 1)]), 0).part, [0, 0, 0]);
    let heavy = cut(&Weighted::new(&[100, 1, 1, 1], &[(0, 1, 1), (1, 2, 1), (2, 3, 1)]), 2);
    assert_eq!((heavy.cut, heavy.weights.iter().max()), (1, Some(&100)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_are_in_range_and_even(
        count in 1_usize..200,
        parts in 1_u32..9,
        edges in proptest::collection::vec((0_u32..200, 0_u32..200, 0_u64..5), 0..600),
    ) {
        let graph = Weighted::new(&vec![1; count], &edges);
        let found = cut(&graph, parts);
        let most = ((1.03 * count as f64 / f64::from(parts)) as u64).max((count as u64).div_ceil(u64::from(parts)));
        prop_assert!(found.part.iter().all(|&part| part < parts));
        prop_assert!(found.weights.iter().all(|&weight| weight <= most), "{:?} above {most}", found.weights);
        prop_assert_eq!(found.weights.iter().sum::<u64>(), count as u64);
        let apart = edges.iter().filter(|(a, b, _)| (*a.max(b) as usize) < count).filter(|(a, b, _)| found.part[*a as usize] != found.part[*b as usize]);
        prop_assert_eq!(found.cut, apart.map(|edge| edge.2).sum::<u64>());
    }
}

#[test]
fn points_are_cut_where_they_lie() {
    // Two clouds, whatever the order of their points.
    let far = [9.0, 0.0, 9.5, 0.5, 9.2, 0.1].to_vec();
    assert_eq!(bisect(std::slice::from_ref(&far), &[1.0; 6], 2), [1, 0, 1, 0, 1, 0]);
    // The longer side is cut; then each half has its own.
    let (x, y) = ([0.0, 0.0, 4.0, 4.0].to_vec(), [0.0, 3.0, 0.0, 3.0].to_vec());
    assert_eq!(bisect(&[x.clone(), y.clone()], &[1.0; 4], 4), [0, 1, 2, 3]);
    assert_eq!(bisect(&[x, y], &[1.0; 4], 2), [0, 0, 1, 1]);
    // What weighs most of a share is alone.
    assert_eq!(bisect(&[[0.0, 1.0, 2.0, 3.0].to_vec()], &[9.0, 1.0, 1.0, 1.0], 2), [0, 1, 1, 1]);
    // Nothing weighs anything, nothing has a place, a place is none, there is nothing.
    assert_eq!(bisect(&[[3.0, 2.0, 1.0, 0.0].to_vec()], &[0.0; 4], 2), [1, 1, 0, 0]);
    assert_eq!(bisect(&[], &[1.0; 4], 2), [0, 0, 1, 1]);
    assert_eq!(bisect(&[[f64::NAN, -1.0, f64::INFINITY].to_vec()], &[1.0, f64::NAN, 1.0], 2), [0, 0, 1]);
    assert_eq!(bisect(&[far], &[1.0; 0], 3), Vec::<u32>::new());
    assert_eq!(bisect(&[[0.0].to_vec()], &[1.0], 0), [0]);
}

proptest! {
    #[test]
    fn bisected_parts_weigh_about_the_same(points in prop::collection::vec((0..50_i8, 0..50_i8, 1..9_u8), 1..200), parts in 1..20_u32) {
        let of = |part: &dyn Fn(&(i8, i8, u8)) -> f64| points.iter().map(part).collect::<Vec<f64>>();
        let weights = of(&|it| f64::from(it.2));
        let found = bisect(&[of(&|it| f64::from(it.0)), of(&|it| f64::from(it.1))], &weights, parts);
        let mut sums = vec![0.0; parts as usize];
        found.iter().zip(&weights).for_each(|(part, weight)| sums[*part as usize] += weight);
        let (mean, most) = (weights.iter().sum::<f64>() / f64::from(parts), weights.iter().copied().fold(0.0, f64::max));
        // Half of the heaviest point at each cut, of which at most two thirds go on to one side.
        prop_assert!(sums.iter().all(|sum| (sum - mean).abs() <= 1.5 * most + 1e-9), "{:?} {} {}", sums, mean, most);
    }
}
