//! Barrier redundancy: intervals, the fewest barriers that stab them, and barriers of traces.

use partune_analysis::{Pattern, SharedAccess, conflicts, keep};
use partune_base::Span;
use proptest::prelude::*;

use super::figure;

fn access(pe: u32, segment: u32, range: (u64, u64), writes: bool) -> SharedAccess {
    SharedAccess { pe, segments: (segment, segment), range, writes }
}

#[test]
fn conflicts_are_of_different_pes_on_the_same_bytes_and_write() {
    let all = (0, u64::MAX);
    assert_eq!(conflicts(&[access(0, 0, all, true), access(1, 2, all, false)]), [(0, 2)]);
    assert_eq!(conflicts(&[access(0, 0, all, false), access(1, 2, all, false)]), []);
    assert_eq!(conflicts(&[access(0, 0, all, true), access(0, 2, all, true)]), []);
    assert_eq!(conflicts(&[access(0, 0, (0, 8), true), access(1, 2, (8, 16), true)]), []);
    assert_eq!(conflicts(&[access(0, 0, (0, 9), true), access(1, 2, (8, 16), true)]), [(0, 2)]);
    // Only the tightest: what PE 1 does at 3 is kept apart from PE 0's write at 2.
    assert_eq!(conflicts(&[access(0, 0, all, true), access(0, 2, all, true), access(1, 3, all, false)]), [(2, 3)]);
    // A range split by a later one is still known in its other parts.
    let split = [access(0, 0, (0, 100), true), access(1, 1, (40, 50), true), access(2, 2, (90, 95), false)];
    assert_eq!(conflicts(&split), [(0, 1), (0, 2)]);
    // Not yet complete: apart only from what comes after its end.
    let long = SharedAccess { segments: (0, 2), ..access(0, 0, all, true) };
    assert_eq!(conflicts(&[long, access(1, 2, all, false), access(1, 3, all, false)]), [(2, 3)]);
}

#[test]
fn one_of_two_barriers_in_a_row_stays() {
    // Phases 0, 2, 4, 6, two barriers between each.
    let intervals: Vec<(u32, u32)> = (0..3).map(|phase| (2 * phase, 2 * phase + 2)).collect();
    let keep = keep(&[true; 6], &intervals);
    assert_eq!(keep.iter().filter(|keep| **keep).count(), 3);
    assert!(keep.chunks(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn what_cannot_go_separates_for_free() {
    assert_eq!(keep(&[true, false, true], &[(0, 3)]), [false, true, false]);
    assert_eq!(keep(&[true, true], &[]), [false, false]);
    assert_eq!(keep(&[], &[(0, 3)]), Vec::<bool>::new());
}

/// The fewest points that stab all intervals, by trying all sets.
fn fewest(count: usize, intervals: &[(u32, u32)]) -> u32 {
    let stabs = |set: u32, (begin, end): (u32, u32)| (begin..end).any(|at| set >> at & 1 == 1);
    (0..1_u32 << count).filter(|set| intervals.iter().all(|it| stabs(*set, *it))).map(u32::count_ones).min().unwrap()
}

proptest! {
    #[test]
    fn the_kept_set_stabs_all_and_is_smallest(pairs in proptest::collection::vec((0_u32..8, 1_u32..8), 0..12)) {
        let intervals: Vec<(u32, u32)> = pairs.iter().map(|(begin, length)| (*begin, (begin + length).min(8))).filter(|it| it.0 < it.1).collect();
        let kept = keep(&[true; 8], &intervals);
        prop_assert!(intervals.iter().all(|(begin, end)| kept[*begin as usize..*end as usize].contains(&true)));
        prop_assert_eq!(kept.iter().filter(|keep| **keep).count() as u32, fewest(8, &intervals));
    }

    /// Every conflict, found pair by pair, is stabbed by what stabs the tightest ones.
    #[test]
    fn tightest_intervals_suffice(rows in proptest::collection::vec((0_u32..3, 0_u32..8, 0_u64..10, 1_u64..6, any::<bool>()), 0..20)) {
        let accesses: Vec<SharedAccess> =
            rows.iter().map(|(pe, segment, begin, length, writes)| access(*pe, *segment, (*begin, begin + length), *writes)).collect();
        let kept = keep(&[true; 8], &conflicts(&accesses));
        for a in &accesses {
            for b in &accesses {
                let overlap = a.range.0 < b.range.1 && b.range.0 < a.range.1;
                if a.pe != b.pe && overlap && (a.writes || b.writes) && a.segments.0 < b.segments.0 {
                    prop_assert!(kept[a.segments.0 as usize..b.segments.0 as usize].contains(&true));
                }
            }
        }
    }
}

/// Three phases of a put to the neighbour and work, with two barriers between: the second of each two is at another line.
const TWICE: &str = "resolution 1000000
    pe 0 1: main 0..3000 { repeat 3 every 1000 {
        shmem_putmem 0..10 put(to=+1, bytes=8) work 10..900
        shmem_barrier_all 900..950 barrier
        sync 950..1000 { shmem_barrier_all 950..1000 barrier }
    } }";

#[test]
fn of_two_barriers_in_a_row_one_is_redundant() {
    let (trace, outcome) = figure(TWICE, "barriers");
    let found: u64 = outcome.findings.iter().map(|it| it.count).sum();
    // Six barriers, two conflicts between three phases.
    assert_eq!(found, 6 - 2, "{:?}", outcome.findings);
    assert!(
        outcome.findings.iter().all(|it| it.pattern == Pattern::RedundantBarrier && it.facts == [("instances", 3.0)])
    );
    let first = outcome
        .findings
        .iter()
        .find(|it| partune_testkit::path_name(&trace, it.path) == "main/shmem_barrier_all")
        .unwrap();
    assert_eq!((first.count, first.time), (3, Span(2 * 3 * 50)));
}

#[test]
fn barriers_that_order_are_silent() {
    let once = TWICE.replace("sync 950..1000 { shmem_barrier_all 950..1000 barrier }", "work 950..1000");
    let (_, outcome) = figure(&once, "barriers");
    // The last one orders nothing any more.
    assert_eq!(outcome.findings.iter().map(|it| it.count).sum::<u64>(), 0, "{:?}", outcome.findings);
}

#[test]
fn barriers_between_messages_are_silent() {
    let text = "pe 0 1: main 0..100 { MPI_Send 0..1 send(to=+1) MPI_Recv 1..2 recv(from=+1) MPI_Barrier 2..3 barrier MPI_Barrier 3..4 barrier }";
    assert!(figure(text, "barriers").1.findings.is_empty());
}
