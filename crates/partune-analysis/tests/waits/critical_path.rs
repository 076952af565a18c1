//! The critical path and delay costs on small traces.

use partune_analysis::{CriticalPath, Outcome};

use super::Case;

fn scalar(outcome: &Outcome, name: &str) -> f64 {
    let mut scalars = outcome.sections.iter().flat_map(|section| &section.scalars);
    scalars.find(|scalar| scalar.name == name).unwrap_or_else(|| panic!("there is no scalar {name}")).value
}

/// PE 1 works longest before each barrier, PE 0 last of all.
const PHASES: &str = "resolution 1
    pe 0: main 0..100 { work 0..20  MPI_Barrier 20..61 barrier  tail 61..100 }
    pe 1: main 0..70  { work 0..60  MPI_Barrier 60..61 barrier  tail 61..70 }";

#[test]
fn the_path_goes_through_who_came_last() {
    let case = Case::new(PHASES);
    let path = CriticalPath::find(&case.trace, &case.index, &case.waits);
    let parts: Vec<_> = path.parts.iter().map(|(pe, begin, end)| (pe.0, begin.0, end.0)).collect();
    assert_eq!(parts, [(0, 60, 100), (1, 0, 60)]);
    assert_eq!(path.length().0, 100);
    let outcome = case.run("critical_path");
    assert!((scalar(&outcome, "length_s") - 100.0).abs() < 1e-9);
    // work: 60 − (20 + 60)/2; tail: 39 − (39 + 9)/2.
    assert!((scalar(&outcome, "imbalance_s") - 35.0).abs() < 1e-9);
    let parts = [
        "critical_activities_s",
        "non_critical_activities_s",
        "imbalance_impact_s",
        "inter_partition_imbalance_s",
        "idle_s",
    ];
    let sum: f64 = parts.iter().map(|part| scalar(&outcome, part)).sum();
    assert!((sum - 200.0).abs() < 1e-9);
}

#[test]
fn delay_ends_at_work_and_not_at_another_wait() {
    // PE 0 works too long; PE 1 waits for it and so comes late to PE 2.
    let case = Case::new(
        "pe 0: main 0..100 { work 0..50  MPI_Send 50..51 send(to=1) }
         pe 1: main 0..100 { work 0..10  MPI_Recv 10..51 recv(from=0)  MPI_Send 51..52 send(to=2) }
         pe 2: main 0..100 { work 0..10  MPI_Recv 10..53 recv(from=1) }",
    );
    let delays = case.delays();
    let rows: Vec<_> = delays
        .costs
        .iter()
        .filter(|cost| cost.short_term + cost.long_term > 0.5)
        .map(|cost| (cost.pe.0, case.name(cost.path), cost.short_term.round(), cost.long_term.round()))
        .collect();
    // PE 2 waits 41: PE 1 did no more than PE 2 but receive for 1; the rest is its own wait of 40, handed on to PE 0.
    assert_eq!(
        rows,
        [(1, "main/MPI_Recv".into(), 1.0, 0.0), (0, "main/work".into(), 40.0, 40.0)]
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
    assert!(delays.unattributed.abs() < 1e-9);
}

/// What the end of an epoch of a window settled is not charged again.
#[test]
fn an_epoch_is_a_point_at_which_both_were() {
    let case = Case::new(
        "group target = 1
         group origin = 0
         pe 0: main 0..100 { alpha 0..40 { MPI_Win_start 0..0 epoch(target) } MPI_Win_complete 40..41 epoch(target)
             beta 41..90 { MPI_Win_start 41..41 epoch(target) } MPI_Win_complete 90..91 epoch(target) }
         pe 1: main 0..100 { MPI_Win_post 0..0 epoch(origin) gamma 0..10 MPI_Win_wait 10..41 epoch(origin)
             MPI_Win_post 41..41 epoch(origin) delta 41..50 MPI_Win_wait 50..91 epoch(origin) }",
    );
    let delays = case.delays();
    let rows: Vec<_> =
        delays.costs.iter().map(|cost| (case.name(cost.path), cost.short_term + cost.long_term)).collect();
    // 30 until the first complete and 40 until the second one, each to the function before it.
    assert_eq!(rows, [("main/alpha".to_owned(), 30.0), ("main/beta".to_owned(), 40.0)]);
    assert!(delays.unattributed.abs() < 1e-9);
}

#[test]
fn threads_go_back_to_who_forked_them() {
    let case = Case::new(
        "team four = 0.0 0.1
         pe 0.0: main 0..100 { serial 0..30  \"!$omp parallel @a.c:5\" 30..90 fork team(four) join { work 32..40  \"!$omp implicit barrier @a.c:9\" 40..88 } }
         pe 0.1: \"!$omp parallel @a.c:5\" 35..90 team(four) { work 35..80  \"!$omp implicit barrier @a.c:9\" 80..88 }",
    );
    let path = CriticalPath::find(&case.trace, &case.index, &case.waits);
    let parts: Vec<_> = path.parts.iter().map(|(pe, begin, end)| (pe.0, begin.0, end.0)).collect();
    assert_eq!(parts, [(0, 80, 100), (1, 35, 80), (0, 0, 30)]);
    // The fork took 5, which no thread executed.
    assert_eq!(path.length().0, 100);
}

/// What a team's fork and join take is its parallel region's, and no code of the user's.
#[test]
fn forking_is_of_the_region_that_is_forked() {
    let case = Case::new(
        "team t = 0.0 0.1
         pe 0.0: MPI_Init 0..0 init MPI_Comm_rank 5..5 fork \"!$omp parallel\" 30..35 team(t) MPI_Comm_rank 51..51 join MPI_Barrier 60..61 barrier
         pe 0.1: \"!$omp parallel\" 30..35 team(t)
         pe 1.0: MPI_Init 0..0 init work 0..20 MPI_Barrier 20..61 barrier",
    );
    let delays = case.delays();
    let rows: Vec<_> =
        delays.costs.iter().map(|cost| (case.name(cost.path), (cost.short_term + cost.long_term).round())).collect();
    // Of 40 that rank 1 waits: rank 0 was 25 + 5 + 16 in the region, and 5 + 9 nowhere.
    assert_eq!(rows, [("!$omp parallel".to_owned(), 31.0), (String::new(), 9.0)]);
}
