//! Affinity of shared data: the golden distributions of n = 12 on 3 threads, and windows of traces.

use partune_analysis::{Affinity, Blocking, Pattern};
use proptest::prelude::*;

use super::{assert_close, figure, numbers};

/// Twelve elements, each accessed once by its owner.
fn owned(owner: impl Fn(usize) -> usize) -> Affinity {
    let counts: Vec<Vec<u64>> =
        (0..3).map(|thread| (0..12).map(|element| u64::from(owner(element) == thread)).collect()).collect();
    Affinity::new(&counts)
}

#[test]
fn twelve_elements_on_three_threads() {
    let best = |affinity: Affinity| affinity.best().unwrap();
    assert_eq!(best(owned(|element| element / 4)), Blocking { factor: 4, local: 12, largest: 4 });
    assert_eq!(best(owned(|element| element % 3)), Blocking { factor: 1, local: 12, largest: 4 });
    assert_eq!(best(owned(|element| element / 2 % 3)), Blocking { factor: 2, local: 12, largest: 4 });
    // All on thread 0: one block for all, though memory is not balanced.
    assert_eq!(best(owned(|_| 0)).local, 12);
}

#[test]
fn nothing_has_no_best() {
    assert!(Affinity::new(&[]).best().is_none());
    assert!(Affinity::new(&[vec![], vec![]]).best().is_none());
    assert_eq!(Affinity::new(&[]).blocking(3).local, 0);
}

proptest! {
    #[test]
    fn local_accesses_are_counted_one_by_one(counts in proptest::collection::vec(proptest::collection::vec(0_u64..9, 13), 1..5), factor in 1_usize..15) {
        let affinity = Affinity::new(&counts);
        let slow: u64 = (0..13).map(|element| counts[element / factor % counts.len()][element]).sum();
        prop_assert_eq!(affinity.blocking(factor).local, slow);
        prop_assert!(affinity.best().unwrap().local <= affinity.total());
        // The same by parts of the array and by thread, on fewer threads too.
        for pes in 1..=counts.len() {
            let home = |thread: usize| thread * pes / counts.len();
            let of = |thread: usize| [0..5, 5..6, 6..13].map(|part| affinity.within_at(thread, part, (factor, home(thread), pes)));
            let parts: u64 = (0..counts.len()).flat_map(of).sum();
            prop_assert_eq!(affinity.on(pes).unwrap().blocking(factor).local, parts);
        }
        prop_assert!(affinity.on(0).is_none() && affinity.on(counts.len() + 1).is_none());
    }
}

#[test]
fn a_heap_on_the_wrong_pe() {
    // Each PE reads the element of its neighbour only: of two elements, B = 1 the other way round has no factor, so the best makes
    // one PE's local.
    let text = "resolution 1
        pe 0: main 0..100 { shmem_getmem 0..10 get(to=0, bytes=8, addr=0) shmem_getmem 10..20 get(to=0, bytes=8, addr=8) shmem_getmem 20..60 get(to=1, bytes=8, addr=0) }
        pe 1: main 0..100 { shmem_getmem 10..20 get(to=1, bytes=8, addr=8) }";
    let (_, outcome) = figure(text, "affinity");
    assert_close(&numbers(&outcome, "shared_data", "local"), &[0.75]);
    assert_close(&numbers(&outcome, "shared_data", "best_local"), &[1.0]);
    assert_close(&numbers(&outcome, "shared_data", "best_block"), &[3.0]);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!((outcome.findings[0].pattern, outcome.findings[0].time.0), (Pattern::PoorLocality, 40));
}

/// Written by the C library of OTF2 with attributes of three kinds, see `make.py` beside it. Elements read in turn, stored in blocks of
/// four: i/4 = i mod 3 for 0, 3, 4, 7, 8, 11. Written: of nine accesses the cyclic distribution has three at home.
#[test]
fn an_archive_with_addresses() {
    let archive = super::archives::example("addresses");
    let outcome = super::archives::run(&archive, "affinity");
    assert_close(&numbers(&outcome, "shared_data", "local"), &[0.5, 0.0]);
    assert_close(&numbers(&outcome, "shared_data", "best_local"), &[1.0, 3.0 / 9.0]);
    assert_close(&numbers(&outcome, "shared_data", "best_block"), &[1.0, 1.0]);
    // Six remote reads of 10 ms, all of which it saves. Of what is written no PE's access to its own part is recorded, so nothing is said.
    let found: Vec<(Pattern, i64)> = outcome.findings.iter().map(|it| (it.pattern, it.time.0)).collect();
    assert_eq!(found, [(Pattern::PoorLocality, 60_000)]);
    // Only the first and the last writes touch the same memory: the last barrier between them is enough. If addresses were not known,
    // the one in the middle would have to stay.
    let outcome = super::archives::run(&archive, "barriers");
    let of = |names| partune_testkit::path(&archive.0, names);
    let redundant: Vec<_> = outcome.findings.iter().map(|it| (it.path, it.count, it.time.0)).collect();
    let each = 3 * 4_995;
    assert_eq!(
        redundant,
        [(of("main/first/shmem_barrier_all"), 1, each), (of("main/second/shmem_barrier_all"), 1, each)]
    );
    // Reads of several PEs in a row.
    let outcome = super::archives::run(&archive, "serial_transfers");
    assert!(outcome.findings.iter().any(|it| it.path == of("main/read/shmem_getmem") && it.pes.len() == 3));
}

#[test]
fn silent_without_addresses() {
    let text = "pe 0 1: main 0..100 { shmem_putmem 0..10 put(to=+1, bytes=8) }";
    let (_, outcome) = figure(text, "affinity");
    assert!(outcome.sections.is_empty() && outcome.findings.is_empty());
}
