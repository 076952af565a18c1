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

/// The last barrier separates no conflict, but until it the put need not be done.
#[test]
fn a_barrier_that_completes_a_put_is_needed() {
    let text = |put: &str, completion: &str| {
        format!(
            "resolution 1000000
             pe 0: main 0..90 {{ {put} work 1..40 shmem_barrier_all 40..90 barrier {completion} }}
             pe 1: main 0..90 {{ work 0..40 shmem_barrier_all 40..90 barrier }}"
        )
    };
    let needed = text("shmem_putmem_nbi 0..1 put(to=1, bytes=8, id=7)", "complete(7, kind=remote)");
    assert!(figure(&needed, "barriers").1.findings.is_empty());
    assert_eq!(figure(&text("shmem_putmem 0..1 put(to=1, bytes=8)", ""), "barriers").1.findings.len(), 1);
}

/// Microseconds, so nobody computes for long: the put and the get conflict, and nothing else. The put is over to the tick when its PE enters
/// the barrier; or it takes no time at all.
#[test]
fn what_ends_when_a_barrier_is_entered_was_before_it() {
    let text = |put: &str, get: &str| {
        format!(
            "resolution 1000000
             pe 0: main 0..14 {{ shmem_putmem {put} put(to=2, bytes=8) shmem_barrier_all 5..9 barrier shmem_barrier_all 12..13 barrier }}
             pe 1: main 0..14 {{ shmem_barrier_all 1..9 barrier {get} shmem_barrier_all 12..13 barrier }}
             pe 2: main 0..14 {{ shmem_barrier_all 2..9 barrier shmem_barrier_all 12..13 barrier }}"
        )
    };
    let get = "shmem_getmem 9..11 get(to=2, bytes=8)";
    let redundant = |put, get| figure(&text(put, get), "barriers").1.findings.iter().map(|it| it.count).sum::<u64>();
    // One of the two orders them; where nothing reads what was put, none is needed.
    assert_eq!(["0..4", "0..5", "5..5"].map(|put| redundant(put, get)), [1, 1, 1]);
    assert_eq!(["0..4", "0..5", "5..5"].map(|put| redundant(put, "work 9..11")), [2, 2, 2]);
    // It is the second one that can go.
    let (trace, outcome) = figure(&text("0..5", get), "barriers");
    let pe_1 = partune_testkit::pe(&trace, 1);
    let found: Vec<_> = outcome.findings.iter().flat_map(|it| &it.pes).filter(|it| it.0 == pe_1).collect();
    assert_eq!(found, [&(pe_1, Span(1))]);
}

/// Five turns of work, a message and two barriers, each at a line of its own: PE 0 sends while PE 1 receives.
fn two_barriers(between: &str) -> String {
    let turn = |message: &str| {
        format!(
            "{{ work 0..50 {message} MPI_Barrier 60..70 barrier {between} sync 80..90 {{ MPI_Barrier 80..90 barrier }} }}"
        )
    };
    let (send, recv) = (turn("MPI_Send 50..60 send(to=1)"), turn("MPI_Recv 50..60 recv(from=0)"));
    format!("pe 0: main 0..500 {{ repeat 5 every 100 {send} }} pe 1: main 0..500 {{ repeat 5 every 100 {recv} }}")
}

#[test]
fn of_two_barriers_between_messages_the_first_is_redundant() {
    // Computing between is the PE's own.
    for between in ["", "work 70..80"] {
        let (trace, outcome) = figure(&two_barriers(between), "barriers");
        let [finding] = outcome.findings.as_slice() else { panic!("{:?}", outcome.findings) };
        assert_eq!(partune_testkit::path_name(&trace, finding.path), "main/MPI_Barrier");
        // Each takes 10 after the last PE arrived, on two PEs, five times.
        assert_eq!(
            (finding.count, finding.time, finding.facts.as_slice()),
            (5, Span(2 * 5 * 10), &[("instances", 5.0)][..])
        );
    }
}

#[test]
fn barriers_that_order_messages_or_files_are_silent() {
    for between in [
        "MPI_Send 70..71 send(to=+1) MPI_Recv 72..73 recv(from=+1)",
        "MPI_Allreduce 70..72 allreduce",
        "fwrite 70..72 write(8)",
        "MPI_Win_lock 70..71 lock(1) MPI_Win_unlock 71..72 unlock(1)",
    ] {
        assert!(figure(&two_barriers(between), "barriers").1.findings.is_empty(), "{between}");
    }
    // Only one PE sends between, to a third that is in neither barrier.
    let text = "group two = 0 1
        pe 0: main 0..100 { MPI_Barrier 0..10 barrier(two) MPI_Send 10..11 send(to=2) MPI_Barrier 20..30 barrier(two) }
        pe 1: main 0..100 { MPI_Barrier 0..10 barrier(two) MPI_Barrier 20..30 barrier(two) }
        pe 2: main 0..100 { MPI_Recv 0..12 recv(from=0) }";
    assert!(figure(text, "barriers").1.findings.is_empty());
    let alone = text.replace("MPI_Send 10..11 send(to=2)", "").replace("MPI_Recv 0..12 recv(from=0)", "");
    assert_eq!(figure(&alone, "barriers").1.findings.len(), 1);
}

#[test]
fn a_barrier_of_fewer_pes_beside_one_of_more_is_redundant() {
    let text = |order: [&str; 2]| {
        let [first, second] = order.map(|group| if group == "all" { "barrier" } else { "barrier(two)" });
        let own = |first: &str, second: &str| {
            format!("MPI_Barrier 0..10 {first} inner 10..20 {{ MPI_Barrier 10..20 {second} }}")
        };
        let all =
            if order[0] == "all" { "MPI_Barrier 0..10 barrier" } else { "inner 10..20 { MPI_Barrier 10..20 barrier }" };
        format!("group two = 0 1\n pe 0 1: main 0..30 {{ {} }}\n pe 2: main 0..30 {{ {all} }}", own(first, second))
    };
    for (order, path) in [(["all", "two"], "main/inner/MPI_Barrier"), (["two", "all"], "main/MPI_Barrier")] {
        let (trace, outcome) = figure(&text(order), "barriers");
        let [finding] = outcome.findings.as_slice() else { panic!("{order:?}: {:?}", outcome.findings) };
        assert_eq!((partune_testkit::path_name(&trace, finding.path).as_str(), finding.time), (path, Span(20)));
    }
}

/// Four threads: a loop that ends in an explicit barrier, and right behind it the implicit one. In ticks of 100 ns.
fn of_threads(between: &str, second: &str) -> String {
    let team = format!(
        "\"!$omp for\" 0..90 {{ work 0..50 \"!$omp barrier\" 50..60 {between} \"!$omp implicit barrier\" {second} }}"
    );
    format!(
        "resolution 10000000
         team four = 0 0.1 0.2 0.3
         pe 0: main 0..200 {{ \"!$omp parallel\" 0..100 fork join {{ \"!$omp parallel\" 0..100 team(four) {{ {team} }} }} }}
         pe 0.1 0.2 0.3: \"!$omp parallel\" 0..100 team(four) {{ {team} }}"
    )
}

#[test]
fn an_explicit_barrier_before_an_implicit_one_is_a_candidate() {
    let (trace, outcome) = figure(&of_threads("", "62..70"), "barriers");
    let [finding] = outcome.findings.as_slice() else { panic!("{:?}", outcome.findings) };
    assert!(partune_testkit::path_name(&trace, finding.path).ends_with("!$omp for/!$omp barrier"));
    assert_eq!((finding.count, finding.time), (1, Span(4 * 10)));
    assert_eq!(finding.facts, [("instances", 1.0), ("candidate", 1.0)]);
}

#[test]
fn threads_that_do_anything_between_are_silent() {
    // A function, a short loop, a critical section, and 1.1 microseconds of code that nobody names.
    for (between, second) in [
        ("store 60..61", "62..70"),
        ("\"!$omp for\" 60..61", "62..70"),
        ("\"!$omp critical\" 60..61 acquire(3) release(3)", "62..70"),
        ("", "71..79"),
    ] {
        assert!(figure(&of_threads(between, second), "barriers").1.findings.is_empty(), "{between}");
    }
}

/// That a function ends is recorded, which takes time too: 1.6 microseconds are nothing then, and 2.1 are something.
#[test]
fn a_barrier_at_the_end_of_a_function_may_be_followed_by_another_one() {
    let found = |second: &str| {
        let text = of_threads("", second);
        let (begin, end) =
            ("work 0..50 \"!$omp barrier\" 50..60", "phase 0..60 { work 0..50 \"!$omp barrier\" 50..60 }");
        assert!(text.contains(begin));
        figure(&text.replace(begin, end), "barriers").1.findings.len()
    };
    assert_eq!((found("76..79"), found("81..85")), (1, 0));
}
