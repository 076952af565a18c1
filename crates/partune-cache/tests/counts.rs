//! The same counts as pycachesim, and as can be said without counting.

use partune_cache::{Distances, Hierarchy, Level, LevelError, Lines, Source};

use crate::traces::TRACES;

/// By `goldens.py`: name, accesses, misses of 1, 2, 4, … 1024 lines anywhere; of 4 KiB of 4 ways and 16 KiB of 8 ways behind it.
const GOLDENS: &str = include_str!("goldens.txt");
const CAPACITIES: u32 = 11;
const SMALL: [Level; 2] = [Level { bytes: 4 << 10, line: 64, ways: 4 }, Level { bytes: 16 << 10, line: 64, ways: 8 }];

fn golden(name: &str) -> Vec<u64> {
    let mut rows = GOLDENS.lines().map(|row| row.split(' '));
    let row = rows.find_map(|mut row| (row.next() == Some(name)).then_some(row));
    row.unwrap().map(|number| number.parse().unwrap()).collect()
}

#[test]
fn one_pass_gives_the_misses_of_every_size() {
    for (name, trace) in TRACES {
        let (mut lines, mut distances) = (Lines::default(), Distances::default());
        trace().iter().for_each(|(address, _)| _ = distances.touch(lines.id(address / 64)));
        let histogram = distances.histogram();
        let misses = (0..CAPACITIES).map(|power| histogram.misses(1 << power));
        let found: Vec<u64> = std::iter::once(histogram.accesses()).chain(misses).collect();
        assert_eq!(found, golden(name)[..=CAPACITIES as usize], "{name}");
        assert_eq!(histogram.cold, lines.count() as u64, "{name}");
    }
}

#[test]
fn levels_of_few_ways_miss_as_many() {
    for (name, trace) in TRACES {
        let mut levels = Hierarchy::new(&SMALL).unwrap();
        trace().iter().for_each(|(address, _)| _ = levels.access(*address, 8, false));
        let found: Vec<u64> = levels.counts().iter().map(|it| it.misses).collect();
        assert_eq!(found, golden(name)[CAPACITIES as usize + 1..], "{name}");
    }
}

#[test]
fn a_level_of_one_set_is_a_size_of_the_histogram() {
    for (name, trace) in TRACES {
        for ways in [1, 16, 128] {
            let mut level = Hierarchy::new(&[Level { bytes: 64 * u64::from(ways), line: 64, ways }]).unwrap();
            trace().iter().for_each(|(address, _)| _ = level.access(*address, 8, false));
            let golden = golden(name)[1 + ways.trailing_zeros() as usize];
            assert_eq!(level.counts()[0].misses, golden, "{name} in {ways} lines");
        }
    }
}

/// Rounds through 20 lines, of which four ways of two sets keep eight, and a second level all: two thirds of what comes is stored to.
#[test]
fn lines_are_counted_by_where_they_came_from() {
    let level = |bytes, ways| Level { bytes, line: 64, ways };
    let mut levels = Hierarchy::new(&[level(8 * 64, 4), level(32 * 64, 16)]).unwrap();
    let mut sources = Vec::new();
    for round in 0..3 {
        for line in 0..21_u64 {
            let source = levels.access(64 * line, 8, line % 3 != 0);
            assert_eq!(source, if round == 0 { Source::Memory } else { Source::Level(1) });
            sources.push(levels.access(64 * line + 56, 8, false));
        }
    }
    assert!(sources.iter().all(|source| *source == Source::Level(0)));
    let [second, memory] = levels.moved() else { panic!("two places to come from") };
    // Two rounds less what the first level still has.
    assert_eq!((second.loaded + second.stored, memory.loaded, memory.stored), (42 - 8, 7, 14));
    let [first, next] = levels.counts()[..] else { panic!("two levels") };
    assert_eq!((first.misses, next.loads, next.misses), (63, 63, 21));
    assert_eq!(first.given_back, memory.stored + second.stored);
}

#[test]
fn what_fits_costs_nothing_but_its_first_touch() {
    let mut levels = Hierarchy::new(&SMALL).unwrap();
    for address in (0..50).flat_map(|_| (0..4 << 10).step_by(8)) {
        levels.access(address, 8, true);
    }
    assert!(levels.moved().iter().all(|moved| moved.loaded + moved.stored == 0));
    assert_eq!(levels.counts()[0].misses, 64);
}

#[test]
fn an_access_may_lie_in_several_lines() {
    let mut levels = Hierarchy::new(&SMALL).unwrap();
    assert_eq!(levels.access(60, 8, false), Source::Memory);
    assert_eq!((levels.access(0, 64, false), levels.access(127, 1, false)), (Source::Level(0), Source::Level(0)));
    assert_eq!((levels.counts()[0].loads, levels.counts()[0].misses), (4, 2));
    // The end of the address space is no end of the program.
    levels.access(u64::MAX - 2, 64, true);
}

#[test]
fn what_is_no_cache_is_refused() {
    let wrong = |levels: &[Level]| Hierarchy::new(levels).unwrap_err();
    let level = |bytes, line, ways| Level { bytes, line, ways };
    assert_eq!(wrong(&[]), LevelError::Count(0));
    assert_eq!(wrong(&[SMALL[0]; 17]), LevelError::Count(17));
    assert_eq!(wrong(&[SMALL[0], level(4096, 48, 2)]), LevelError::Line(2));
    assert_eq!(wrong(&[SMALL[0], level(8192, 128, 2)]), LevelError::Lines(2));
    assert_eq!(wrong(&[level(4096, 64, 0)]), LevelError::Sets(1));
    assert_eq!(wrong(&[level(1000, 64, 4)]), LevelError::Sets(1));
    assert_eq!(wrong(&[level(1 << 50, 64, 4)]), LevelError::Large(1));
    // Sets need be no power of two.
    assert!(Hierarchy::new(&[level(48 << 10, 64, 12), level(11 << 17, 64, 11)]).is_ok());
}
