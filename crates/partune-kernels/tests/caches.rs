//! Lines that loops bring to the core, where they can be counted by hand, and loops whose accesses nobody can follow.

use partune_cache::Level;
use partune_kernels::traffic::{LineCycles, finite, traffic};
use partune_kernels::{Lines, Traffic, TrafficError};

use crate::known::{near, one};

/// `y[i] += a * x[i]`: loads of x and y, and a store to y, of 8 bytes each.
const DAXPY: &str = "c5fb100cc7 c4e2f19904c6 c5fb1104c6 48ffc0 4839c2 75e8 c3";
/// `x[i] = y[i + 1] - y[i]`, where the counter is a copy of its sum: `lea 1(%rax), %rcx`, `mov %rcx, %rax`.
const COPIED: &str = "c5fb1044c608 c5fb5c04c6 c5fb1104c7 488d4801 4889c8 4939c8 75e4 c3";
/// `x[i] = y[i] + y[i + 1] + y[i + 2]` in vectors of 64 bytes.
const STENCIL: &str =
    "62f1fd481006 62f1fd48588608000000 62f1fd48588610000000 62f1fd481107 4883c640 4883c740 4839f9 75d3 c3";
/// A sum of numbers a page from each other.
const COLUMN: &str = "c5fb5807 4881c700100000 4839fa 75f0 c3";
/// A sum of `x[at[i]]`, and of a list's elements.
const SCATTERED: &str = "48630c87 c5fb5804ce 48ffc0 4839c2 75ef c3";
const LIST: &str = "c5fb584008 488b00 4885c0 75f3 c3";
/// Those elements of an array that are greater than a number, one after another in another array; and a sum in which the number of the element does not always rise.
const SOMETIMES: &str = "c5fb100cc7 c5f92ec1 7608 c5fb110cde 48ffc3 48ffc0 4839c2 75e5 c3";
const COMPACT: &str = "c5fb5804df c5f92ec1 7603 48ffc3 48ffc0 4839c2 75ea c3";
/// `x[i] = y[i] - z[i]` with arrays of 8 KiB whose places are in the code.
const PLACES: &str = "c5fb1004c500300000 c5fb5c04c500500000 c5fb1104c500100000 48ffc0 4839c2 75dd c3";

/// 32 KiB, 1 MiB, 4 MiB.
fn levels() -> [Level; 3] {
    let level = |bytes, ways| Level { bytes, line: 64, ways };
    [level(32 << 10, 8), level(1 << 20, 8), level(4 << 20, 16)]
}

/// Of the levels above and memory.
const COSTS: [LineCycles; 4] = [
    LineCycles { load: 1.0, store: 2.0 },
    LineCycles { load: 2.0, store: 4.0 },
    LineCycles { load: 4.0, store: 8.0 },
    LineCycles { load: 16.0, store: 40.0 },
];

fn lines(hex: &str, elements: u64) -> Traffic {
    traffic(&one(hex, "zen4"), &levels(), elements).expect("it can be followed")
}

/// That all lines come from one source, and how many.
fn only(traffic: &Traffic, source: usize, loaded: f64, stored: f64) {
    for (at, lines) in traffic.sources.iter().enumerate() {
        let Lines { loaded: is_loaded, stored: is_stored } = *lines;
        near(is_loaded, if at == source { loaded } else { 0.0 });
        near(is_stored, if at == source { stored } else { 0.0 });
    }
}

/// Of 8 elements a line is one: of x loaded, of y stored to.
#[test]
fn lines_come_from_where_both_arrays_fit() {
    let kernel = one(DAXPY, "zen4");
    let bounds = kernel.bounds.clone().expect("it calls nothing");
    let macs = bounds.macs.expect("it is short");
    for (elements, source) in [(16_384, 0), (131_072, 1), (1 << 20, 2), (1 << 40, 2)] {
        let traffic = lines(DAXPY, elements);
        only(&traffic, source, 0.125, 0.125);
        let LineCycles { load, store } = COSTS[source + 1];
        let i = finite(&kernel, &traffic, &COSTS).expect("it has MACS");
        // A sum that needs the one before: what comes from near takes no longer.
        near(i, macs.max((load + store) / 8.0));
    }
    // 16 KiB of both fit the first level.
    let traffic = lines(DAXPY, 1024);
    only(&traffic, 0, 0.0, 0.0);
    near(finite(&kernel, &traffic, &COSTS).expect("it has MACS"), macs);
    near(traffic.across, 0.0);
}

#[test]
fn a_counter_that_is_copied_counts() {
    let kernel = one(COPIED, "zen4");
    assert_eq!((kernel.turns(), kernel.streams.scattered_loads), (1, 0));
    near(kernel.loaded, 8.0);
    only(&lines(COPIED, 1 << 20), 2, 0.125, 0.125);
}

/// Three loads of two halves of a line go through two ports, and two of them are across lines: eight halves. Two lines that come from the second level are two more.
#[test]
fn loads_across_lines_take_the_first_cache_twice() {
    let kernel = one(STENCIL, "zen4");
    assert_eq!(kernel.turns(), 8);
    let near_by = lines(STENCIL, 512);
    near(near_by.across, 2.0 / 8.0);
    near(near_by.first_cache(&kernel), 8.0 / 2.0 / 8.0);
    let far = lines(STENCIL, 16_384);
    only(&far, 0, 0.125, 0.125);
    near(far.first_cache(&kernel), 10.0 / 2.0 / 8.0);
}

/// A line a turn, all in the same few sets of each level: 64 of them at a time are in one set of the first level, and in 4 of the second.
#[test]
fn a_column_thrashes_its_sets() {
    only(&lines(COLUMN, 8), 0, 0.0, 0.0);
    only(&lines(COLUMN, 64), 0, 1.0, 0.0);
    // 32 sets of 8 ways are what a page's first line may be at in the second level.
    only(&lines(COLUMN, 257 * 2), 1, 1.0, 0.0);
}

/// Three arrays, however near the code says that they are.
#[test]
fn places_in_the_code_are_arrays_of_their_own() {
    only(&lines(PLACES, 1 << 20), 2, 0.25, 0.125);
}

#[test]
fn what_cannot_be_followed_has_no_lines() {
    let found = |hex| traffic(&one(hex, "zen4"), &levels(), 1000);
    assert_eq!(found(SCATTERED), Err(TrafficError::Scattered));
    assert_eq!(found(LIST), Err(TrafficError::Scattered));
    assert_eq!(found(SOMETIMES), Err(TrafficError::Strays));
    assert_eq!(found(COMPACT), Err(TrafficError::Strays));
    let odd = [Level { bytes: 100, line: 64, ways: 1 }];
    assert!(matches!(traffic(&one(DAXPY, "zen4"), &odd, 10), Err(TrafficError::Level(_))));
}
