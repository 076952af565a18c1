//! Whatever is touched: the histogram is that of a list, and sizes and levels are in order.

use partune_cache::{Distances, Hierarchy, Level, Lines};
use proptest::prelude::*;

/// Distances by a list of the lines that were met, the last one first.
fn by_list(lines: &[u64]) -> Vec<Option<usize>> {
    let mut list: Vec<u64> = Vec::new();
    let touch = |line: &u64| {
        let place = list.iter().position(|it| it == line);
        if let Some(place) = place {
            list.remove(place);
        }
        list.insert(0, *line);
        place
    };
    lines.iter().map(touch).collect()
}

/// Lines near each other and far apart, some again and again.
fn touched() -> impl Strategy<Value = Vec<u64>> {
    let line = prop_oneof![4 => 0..40_u64, 2 => 0..2000_u64, 1 => any::<u64>()];
    prop::collection::vec(line, 0..4000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn distances_are_those_of_a_list(touched in touched()) {
        let (mut lines, mut distances) = (Lines::default(), Distances::default());
        let found: Vec<Option<usize>> = touched.iter().map(|line| distances.touch(lines.id(*line))).collect();
        let expected = by_list(&touched);
        prop_assert_eq!(&found, &expected);
        let histogram = distances.histogram();
        prop_assert_eq!(histogram.accesses(), touched.len() as u64);
        for size in [0, 1, 7, 100, 5000] {
            let misses = expected.iter().filter(|distance| distance.is_none_or(|it| it >= size)).count();
            prop_assert_eq!(histogram.misses(size), misses as u64);
        }
    }

    #[test]
    fn what_leaves_a_level_was_missed_before(touched in touched(), ways in 1..9_u32, sets in 1..7_u64) {
        let level = |factor: u64| Level { bytes: 64 * factor * sets * u64::from(ways), line: 64, ways };
        let mut levels = Hierarchy::new(&[level(1), level(4)]).unwrap();
        for (at, line) in touched.iter().enumerate() {
            levels.access(line.wrapping_mul(64), 8, at % 3 == 0);
        }
        let counts = levels.counts();
        prop_assert_eq!(counts[0].loads, touched.len() as u64);
        prop_assert_eq!(counts[1].loads, counts[0].misses);
        prop_assert!(counts[1].misses <= counts[0].misses && counts[0].misses <= counts[0].loads);
        let moved: u64 = levels.moved().iter().map(|it| it.loaded + it.stored).sum();
        let kept = counts[0].misses - moved;
        prop_assert!(kept <= sets * u64::from(ways));
        prop_assert_eq!(levels.moved().iter().map(|it| it.stored).sum::<u64>(), counts[0].given_back);
    }
}

/// Far more accesses than lines, so that times are numbered anew often.
#[test]
fn numbering_anew_changes_nothing() {
    let mut distances = Distances::default();
    for (turn, line) in (0..200).flat_map(|turn| (0..700).map(move |line| (turn, line))) {
        assert_eq!(distances.touch(line), (turn > 0).then_some(699));
    }
    let histogram = distances.histogram();
    assert_eq!((histogram.misses(699), histogram.misses(700)), (140_000, 700));
}
