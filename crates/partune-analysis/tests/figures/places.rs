//! Where time goes: profile, operations, balance and the communication matrix.

use partune_analysis::{Options, Pattern, Values};

use super::{analyze_with, assert_close, at_path, close, column, figure, numbers, scalar, seconds, words};

const NESTED: &str = "resolution 1
    pe 0: main 0..100 { f 0..40 { f 10..30 { g 10..15 } } MPI_Send 40..60 send(to=1, bytes=10) g 60..90 }
    pe 1: main 0..100 { f 0..20 MPI_Recv 20..60 recv(from=0, bytes=10) }";

#[test]
fn call_paths_and_regions() {
    let (trace, outcome) = figure(NESTED, "profile");
    let at = |path: &str, name: &str| at_path(&trace, &outcome, "callpaths", path, name);
    for (path, inclusive, exclusive, visits) in [
        ("main", 200.0, 50.0, 2.0),
        ("main/f", 60.0, 40.0, 2.0),
        ("main/f/f", 20.0, 15.0, 1.0),
        ("main/f/f/g", 5.0, 5.0, 1.0),
        ("main/MPI_Recv", 40.0, 40.0, 1.0),
    ] {
        let found = [at(path, "inclusive"), at(path, "exclusive"), at(path, "visits")];
        assert_close(&found, &[inclusive, exclusive, visits]);
    }
    assert_close(
        &[at("main", "min"), at("main", "mean"), at("main", "max"), at("main", "pes")],
        &[10.0, 25.0, 40.0, 2.0],
    );
    // f calls itself: its inclusive time counts once.
    let Values::Region(regions) = column(&outcome, "regions", "region") else { panic!("no column of regions") };
    let f = regions.iter().position(|region| trace.strings().get(trace.regions()[*region].name) == "f").unwrap();
    assert!(close(numbers(&outcome, "regions", "inclusive")[f], 60.0));
    assert!(close(numbers(&outcome, "regions", "exclusive")[f], 55.0));
    assert!(close(numbers(&outcome, "regions", "visits")[f], 3.0));
}

#[test]
fn activities_split_the_time_of_each_pe() {
    let (_, outcome) = figure(NESTED, "profile");
    assert_close(&numbers(&outcome, "activities", "computation"), &[80.0, 60.0]);
    assert_close(&numbers(&outcome, "activities", "communication"), &[20.0, 40.0]);
    assert_close(&numbers(&outcome, "activities", "idle"), &[0.0, 0.0]);
    assert!(close(scalar(&outcome, "computation"), 140.0));
}

#[test]
fn exclusive_times_sum_to_the_time_in_regions() {
    let (_, outcome) = figure(NESTED, "profile");
    assert!(close(numbers(&outcome, "callpaths", "exclusive").iter().sum(), 200.0));
    assert!(close(numbers(&outcome, "regions", "exclusive").iter().sum(), 200.0));
}

/// Getting a lock ends where its body begins: the time of the body is its own, and of nothing but what is around both.
#[test]
fn the_body_of_a_critical_section_counts_once() {
    let text = "resolution 1
        pe 0: main 0..100 { f 0..10 \"!$omp critical\" 10..50 { \"!$omp critical sblock\" 15..50 { g 20..45 } } f 50..60 }";
    let (trace, outcome) = figure(text, "profile");
    assert!(close(numbers(&outcome, "callpaths", "exclusive").iter().sum(), 100.0));
    let at = |path: &str| at_path(&trace, &outcome, "callpaths", path, "exclusive");
    let found = [at("main"), at("main/!$omp critical"), at("main/!$omp critical/!$omp critical sblock")];
    assert_close(&found, &[40.0, 5.0, 10.0]);
}

/// PE 0 is 20 s in `main` and one at the end, and in no region between. A thread that is in none idles, as does a PE whose first event comes late.
#[test]
fn code_outside_of_all_regions_has_a_row() {
    let text = "resolution 1
        pe 0: main 0..20 { MPI_Send 10..15 send(to=1, bytes=10) } g 29..30
        pe 0.1: f 5..10
        pe 1: main 4..30 { MPI_Recv 10..15 recv(from=0, bytes=10) }";
    let (_, outcome) = figure(text, "profile");
    let Values::Region(regions) = column(&outcome, "regions", "region") else { panic!("no column of regions") };
    let row = regions.iter().position(|region| !region.is_some()).expect("a row of no region");
    let found = ["exclusive", "inclusive", "visits", "pes", "min", "mean", "max"];
    let found = found.map(|name| numbers(&outcome, "regions", name)[row]);
    assert_close(&found, &[9.0, 9.0, 0.0, 1.0, 9.0, 9.0, 9.0]);
    assert!(
        matches!(column(&outcome, "callpaths", "callpath"), Values::Path(paths) if paths.iter().any(|it| !it.is_some()))
    );
    // 15 + 1 + 9 of PE 0, 5 of its thread, 21 of PE 1, 10 in operations; 25 in which the thread idled, and 4 before PE 1 began: 3 · 30.
    for table in ["regions", "callpaths"] {
        let all: f64 = numbers(&outcome, table, "exclusive").iter().sum();
        assert_close(&[all, scalar(&outcome, "idle")], &[61.0, 29.0]);
    }
    let (_, outcome) = figure("pe 0 1: main 0..10 { f 2..3 }", "profile");
    let Values::Region(regions) = column(&outcome, "regions", "region") else { panic!("no column of regions") };
    assert!(regions.iter().all(|region| region.is_some()), "nothing is outside of main");
    // What forking takes is idle, and in the region that forks; a pause between regions is in none. From 0 to 30 there are 3 outside of both.
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..20 { par 10..20 fork join { \"!$omp parallel\" 13..20 team(t) } } main 29..30 pause(begin=20, end=26)
        pe 0.1: \"!$omp parallel\" 14..18 team(t)";
    let (_, outcome) = figure(text, "profile");
    let Values::Region(regions) = column(&outcome, "regions", "region") else { panic!("no column of regions") };
    let row = regions.iter().position(|region| !region.is_some()).expect("a row of no region");
    assert!(close(numbers(&outcome, "regions", "exclusive")[row], 3.0));
    assert!(close(numbers(&outcome, "regions", "exclusive").iter().sum(), 20.0 + 3.0 + 1.0 + 4.0));
}

#[test]
fn operations_split_into_waiting_and_transfer() {
    let (trace, outcome) = figure(NESTED, "operations");
    let at = |path: &str, name: &str| at_path(&trace, &outcome, "operations", path, name);
    // The receive is there at 20, the send at 40: the receive waits for 20 of its 40.
    let found = ["count", "seconds", "waiting", "transfer", "mean", "bytes"].map(|name| at("main/MPI_Recv", name));
    assert_close(&found, &[1.0, 40.0, 20.0, 20.0, 40.0, 10.0]);
    assert_eq!(words(&outcome, "roles", "role"), ["send", "recv"]);
    assert_close(&numbers(&outcome, "roles", "seconds"), &[20.0, 40.0]);
}

#[test]
fn no_operations_no_table() {
    let (_, outcome) = figure("pe 0: main 0..10 { f 1..9 }", "operations");
    assert!(outcome.sections.is_empty());
}

#[test]
fn the_matrix_has_what_was_moved_and_not_what_was_waited() {
    let text = "resolution 1
        pe 0: main 0..100 { MPI_Send 40..60 send(to=1, bytes=10) MPI_Send 70..80 send(to=1, bytes=5) shmem_putmem 80..90 put(to=1, bytes=64) }
        pe 1: main 0..100 { MPI_Recv 20..60 recv(from=0, bytes=10) MPI_Recv 75..80 recv(from=0, bytes=5) shmem_getmem 80..83 get(to=0, bytes=7) }";
    let (_, outcome) = figure(text, "matrix");
    assert_eq!(column(&outcome, "communication", "from"), &Values::Pe(vec![partune_base::PeId(0)]));
    assert_eq!(column(&outcome, "communication", "to"), &Values::Pe(vec![partune_base::PeId(1)]));
    let row = ["messages", "rma", "bytes", "seconds"].map(|name| numbers(&outcome, "communication", name)[0]);
    // 60 − 40, 80 − 75, the put's 10 and the get's 3.
    assert_close(&row, &[2.0, 2.0, 86.0, 38.0]);
}

#[test]
fn the_matrix_is_silent_without_traffic() {
    let (_, outcome) = figure("pe 0 1: main 0..10 { MPI_Barrier 5..6 barrier }", "matrix");
    assert!(outcome.sections.is_empty());
}

#[test]
fn balance_of_places_and_pes() {
    let text = "resolution 1
        pe 0: main 0..100 { f 0..10 g 10..100 }
        pe 1: main 0..100 { f 0..40 g 40..100 }
        pe 2: main 0..100 { g 0..30 MPI_Wtime 30..100 }";
    let (trace, outcome) = figure(text, "balance");
    let at = |path: &str, name: &str| at_path(&trace, &outcome, "places", path, name);
    // g: 90, 60, 30; f is on two PEs only.
    assert_close(&["average", "max", "lost", "pes"].map(|name| at("main/g", name)), &[60.0, 90.0, 90.0, 3.0]);
    assert_close(&["average", "max", "lost", "pes"].map(|name| at("main/f", name)), &[25.0, 40.0, 30.0, 2.0]);
    assert!(close(scalar(&outcome, "lost_seconds"), 70.0));
    // No global synchronisation: findings are of places.
    assert_eq!(outcome.findings.len(), 2);
    let worst = &outcome.findings[0];
    assert_eq!((worst.pattern, worst.causes[0].pe.0, seconds(&trace, worst)), (Pattern::LoadImbalance, 0, 90.0));
    assert_eq!(worst.pes.iter().map(|(pe, lost)| (pe.0, lost.0)).collect::<Vec<_>>(), [(1, 30), (2, 60)]);
}

/// Compute 30 and 10, then the barrier: 10 and 30. The finding is that of the blocks.
#[test]
fn operations_are_places_too() {
    let text = "resolution 1
        pe 0: main 0..40 { f 0..30 MPI_Barrier 30..40 barrier }
        pe 1: main 0..40 { f 0..10 MPI_Barrier 10..40 barrier }";
    let (trace, outcome) = figure(text, "balance");
    assert_eq!(words(&outcome, "places", "role"), ["user", "group_sync"]);
    for path in ["main/f", "main/MPI_Barrier"] {
        let at = ["pes", "average", "max", "max_over_average", "lost"]
            .map(|name| at_path(&trace, &outcome, "places", path, name));
        assert_close(&at, &[2.0, 20.0, 30.0, 1.5, 20.0]);
    }
    assert!(outcome.findings.is_empty());
    // Equal barriers are no imbalance.
    let (_, outcome) = figure("pe 0 1: main 0..10 { MPI_Barrier 2..9 barrier }", "balance");
    assert!(numbers(&outcome, "places", "lost").is_empty());
}

/// An operation that takes longer on one PE is no finding, where no blocks tell more either.
#[test]
fn uneven_operations_are_no_findings_of_imbalance() {
    let text = "resolution 1
        pe 0: main 0..100 { shmem_putmem 50..90 put(to=1, bytes=8) }
        pe 1: main 0..90 { shmem_putmem 50..80 put(to=0, bytes=8) }";
    let (_, outcome) = figure(text, "balance");
    assert_close(&numbers(&outcome, "places", "lost"), &[10.0]);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}

#[test]
fn balance_leaves_blocks_to_bounds_and_one_pe_alone() {
    let text = "resolution 1
        pe 0: main 0..100 { f 0..10 MPI_Barrier 10..100 barrier }
        pe 1: main 0..100 { f 0..100 MPI_Barrier 100..100 barrier }";
    let (_, outcome) = figure(text, "balance");
    assert!(outcome.findings.is_empty());
    let (_, outcome) = figure("pe 0: main 0..10", "balance");
    assert!(outcome.sections.is_empty());
}

/// What is looked for again and again is waited for: to look less often saves nothing.
#[test]
fn polls_that_find_nothing_are_not_too_frequent() {
    let (_, outcome) = figure("pe 0: main 0..1000000 { MPI_Test 0..500000 polls(5000) }", "frequency");
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}

#[test]
fn frequent_and_brief_places() {
    let text = "pe 0: main 0..1000000 { repeat 1000 every 500 { tiny 100..140 long 200..400 } }";
    let (trace, outcome) = figure(text, "frequency");
    assert_eq!(outcome.findings.len(), 2);
    assert!(outcome.findings.iter().all(|it| it.pattern == Pattern::HighFrequency && it.count == 1000));
    // The shortest mean, 40, is what the clock costs at most.
    assert_eq!(outcome.findings[0].time.0, 40 * 1000);
    let options = Options { frequent_count: 1001, ..Options::default() };
    assert!(analyze_with(&trace, "frequency", &options).findings.is_empty());
    let (_, outcome) = figure("pe 0: main 0..100000000 { repeat 1000 every 50000 { long 0..20000 } }", "frequency");
    assert!(outcome.findings.is_empty());
}

/// Names of functions that need not be recorded.
fn not_worth_recording(text: &str, options: &Options) -> Vec<(String, u64)> {
    let (trace, _) = figure(text, "frequency");
    let outcome = analyze_with(&trace, "frequency", options);
    if outcome.sections.is_empty() {
        return Vec::new();
    }
    let Values::Region(regions) = column(&outcome, "not_worth_recording", "function") else { panic!("no functions") };
    let Values::Count(visits) = column(&outcome, "not_worth_recording", "visits") else { panic!("no visits") };
    let name = |id| trace.strings().get(trace.regions()[id].name).to_owned();
    regions.iter().map(|id| name(*id)).zip(visits.iter().copied()).collect()
}

/// Of calls that are as short and as frequent, those that tell nothing are listed: no messages, and no locks that somebody waited for.
#[test]
fn functions_that_cost_more_than_they_tell() {
    let inquiries = "pe 0: main 0..1000000 { repeat 1000 every 500 { MPI_Comm_rank 100..140 tiny 200..240 } }
                     pe 1: main 0..1000000 { repeat 10 every 500 { MPI_Comm_rank 100..140 } }";
    let expected = [("MPI_Comm_rank".to_owned(), 1010), ("tiny".to_owned(), 1000)];
    assert_eq!(not_worth_recording(inquiries, &Options::default()), expected);
    // Not often enough on any PE.
    let options = Options { frequent_count: 1001, ..Options::default() };
    assert_eq!(not_worth_recording(inquiries, &options), []);
    // Long on the whole, though short where it is frequent.
    let long = "pe 0: main 0..100000000 { repeat 1000 every 500 { MPI_Comm_rank 100..140 } }
                pe 1: main 0..100000000 { MPI_Comm_rank 100..90000000 }";
    assert_eq!(not_worth_recording(long, &Options::default()), []);
    // What moves data, or meets others.
    for told in ["MPI_Test", "MPI_Send", "MPI_Barrier", "MPI_Put", "MPI_File_write"] {
        let text = format!("pe 0: main 0..1000000 {{ repeat 1000 every 500 {{ {told} 100..140 }} }}");
        assert_eq!(not_worth_recording(&text, &Options::default()), [], "{told}");
    }
}

/// Programs of different code, which nothing compares place by place: what the slowest PE has most above the average is the place.
#[test]
fn imbalance_of_whole_pes_names_the_code_of_the_slowest() {
    let (trace, outcome) = figure(
        "resolution 1
         pe 0: main 0..1000 { reader 0..200 MPI_Recv 200..1000 recv(from=1, bytes=8) }
         pe 1: main 0..1000 { solver 0..990 MPI_Send 990..1000 send(to=0, bytes=8) }",
        "balance",
    );
    let told: Vec<_> = outcome.findings.iter().map(|it| partune_testkit::path_name(&trace, it.path)).collect();
    assert_eq!(told, ["main/solver"]);
    assert_eq!(outcome.findings[0].causes[0].path, outcome.findings[0].path);
}
