//! Loops under ceilings that are round numbers.

use partune_cache::Level;
use partune_kernels::roofline::roofline;
use partune_kernels::traffic::traffic;
use partune_kernels::{Ceiling, Ceilings, Roof, Roofline};

use crate::known::{core, near, one};

/// `y[i] += a * x[i]`: two operations, and three accesses of 8 bytes.
const DAXPY: &str = "c5fb100cc7 c4e2f19904c6 c5fb1104c6 48ffc0 4839c2 75e8 c3";
/// A sum of numbers of four bytes, and of whole ones.
const SINGLE: &str = "c5fa5804c6 48ffc0 4839c2 75f3 c3";
const WHOLE: &str = "480304ce 48ffc1 4839ca 75f4 c3";

/// A cycle of a nanosecond, 10 Gflop/s of one core and 40 of all, 100, 50 and 10 GB/s from two caches and memory, and 20 from memory to all.
fn ceilings() -> Ceilings {
    let level = |rate: f64| Ceiling { load: rate, store: rate };
    Ceilings {
        cycle_s: 1e-9,
        flops: 1e10,
        flops_all: 4e10,
        levels: vec![level(1e11), level(5e10), level(1e10)],
        memory_all: 2e10,
    }
}

fn found(hex: &str, elements: u64, bound: Option<f64>, ceilings: &Ceilings) -> Option<Roofline> {
    let levels = [Level { bytes: 32 << 10, line: 64, ways: 8 }, Level { bytes: 1 << 20, line: 64, ways: 8 }];
    let kernel = one(hex, "zen4");
    let traffic = traffic(&kernel, &levels, elements).expect("it can be followed");
    roofline(&kernel, &traffic, 64, bound, ceilings)
}

/// From memory: of eight turns a line comes, and one comes and goes, which are 24 bytes a turn too.
#[test]
fn what_comes_from_memory_is_bound_by_it() {
    let it = found(DAXPY, 1 << 20, Some(4.0), &ceilings()).expect("it computes");
    for (passed, rate) in it.levels.iter().zip([1e11, 5e10, 1e10]) {
        near(passed.bytes, 24.0);
        // Loads and stores of the first cache go on at once: 16 bytes and 8.
        let bytes = if rate > 9e10 { 16.0 } else { 24.0 };
        near(passed.most.expect("bytes pass") / 1e9, 2.0 * rate / bytes / 1e9);
    }
    near(it.levels[2].intensity(&one(DAXPY, "zen4")).expect("bytes pass"), 2.0 / 24.0);
    assert_eq!((it.most.1, it.most_all.1), (Roof::Level(2), Roof::Level(2)));
    near(it.most.0 / 1e9, 10.0 * 2.0 / 24.0);
    near(it.most_all.0 / 1e9, 20.0 * 2.0 / 24.0);
    // Two operations in four cycles.
    near(it.bound.expect("it was given") / 1e9, 0.5);
    near(it.peak / 1e9, 10.0);
}

/// What is stored to may cost another rate than what is loaded.
#[test]
fn lines_that_are_stored_to_have_a_rate_of_their_own() {
    let mut ceilings = ceilings();
    ceilings.levels[2].store = 2e10;
    let it = found(DAXPY, 1 << 20, None, &ceilings).expect("it computes");
    near(it.most.0 / 1e9, 2.0 / (8.0 / 10.0 + 16.0 / 20.0));
    assert_eq!(it.bound, None);
}

#[test]
fn nothing_passes_from_where_nothing_is() {
    let it = found(DAXPY, 1000, None, &ceilings()).expect("it computes");
    assert!(it.levels[1..].iter().all(|passed| passed.bytes == 0.0 && passed.most.is_none()));
    // 2 operations for 16 bytes at 100 GB/s are more than the peak.
    assert_eq!((it.most, it.most_all), ((1e10, Roof::Peak), (4e10, Roof::Peak)));
}

#[test]
fn smaller_numbers_have_a_higher_peak() {
    let it = found(SINGLE, 1 << 20, None, &ceilings()).expect("it computes");
    near(it.peak / 1e9, 20.0);
}

#[test]
fn without_floating_point_there_is_no_roofline() {
    assert_eq!(found(WHOLE, 1 << 20, Some(1.0), &ceilings()), None);
}

/// Zen 4 loads 64 bytes a cycle, of a nanosecond here, and stores 32: measured with less, that is no ceiling.
#[test]
fn the_first_cache_is_as_fast_as_the_core() {
    let mut slow = ceilings();
    slow.levels[0] = Ceiling { load: 3e10, store: 1e11 };
    let with = slow.with_core(core("zen4"));
    near(with.levels[0].load / 1e9, 64.0);
    near(with.levels[0].store / 1e9, 100.0);
    assert_eq!(with.levels[1..], ceilings().levels[1..]);
}
