//! Bounds of traces: Fig. 4 and Fig. 5 of Hung and Davidson, serial sections, CPU time, and no more gaps than time.

use std::fmt::Write;

use partune_analysis::Pattern;

use super::tensor::{FIGURE_4, FIGURE_5};
use super::{assert_close, close, column, figure, numbers, scalar, seconds, words};

/// Two PEs that work in two regions, twice, each closed by a barrier of its own: the tensor as a trace. A barrier before all of
/// it makes both iterations of region 1 begin at the same place of the source.
fn trace(cells: [[[i64; 2]; 2]; 2], serial: i64) -> String {
    let mut text = String::from("resolution 1\n");
    let mut bodies = [String::new(), String::new()];
    let mut now = 0;
    for iteration in cells {
        for (region, work) in iteration.into_iter().enumerate() {
            let end = now + work[0].max(work[1]);
            for (pe, body) in bodies.iter_mut().enumerate() {
                let arrival = now + work[pe];
                writeln!(body, "region{region} {now}..{end} {{ MPI_Barrier {arrival}..{end} barrier }}").unwrap();
            }
            now = end;
        }
    }
    for (pe, body) in bodies.iter().enumerate() {
        writeln!(text, "pe {pe}: main 0..{now} {{ region1 0..0 {{ MPI_Barrier 0..0 barrier }}\n{body} }}").unwrap();
    }
    if serial > 0 {
        let end = now + serial;
        for pe in 0..2 {
            let arrival = if pe == 0 { end } else { now };
            writeln!(text, "pe {pe}: alone {now}..{end} {{ MPI_Barrier {arrival}..{end} barrier }}").unwrap();
        }
    }
    text
}

#[test]
fn figure_4() {
    let (_, outcome) = figure(&trace(FIGURE_4, 0), "bounds");
    assert_eq!(words(&outcome, "bounds", "name"), ["IPCO", "IPCOL", "IPCOLM", "IPCOLMD", "S'", "actual"]);
    assert_close(&numbers(&outcome, "bounds", "seconds"), &[41.0, 42.0, 46.0, 47.0, 47.0, 47.0]);
    assert_eq!(words(&outcome, "gaps", "name"), ["L", "M'", "D", "S'", "X"]);
    assert_close(&numbers(&outcome, "gaps", "seconds"), &[1.0, 4.0, 1.0, 0.0, 0.0]);
    assert_close(&[scalar(&outcome, "share"), scalar(&outcome, "pes"), scalar(&outcome, "blocks")], &[0.0, 2.0, 4.0]);
}

#[test]
fn figure_5() {
    let (trace, outcome) = figure(&trace(FIGURE_5, 0), "bounds");
    assert_close(&numbers(&outcome, "bounds", "seconds"), &[40.0, 40.0, 40.0, 60.0, 60.0, 60.0]);
    assert_close(&numbers(&outcome, "gaps", "seconds"), &[0.0, 0.0, 20.0, 0.0, 0.0]);
    // Two regions lose 20 PE-seconds each; both PEs hold up the other, once in each.
    assert_eq!(outcome.findings.len(), 2);
    for finding in &outcome.findings {
        assert_eq!((finding.pattern, finding.count), (Pattern::LoadImbalance, 2));
        assert!(close(seconds(&trace, finding), 20.0));
        assert_eq!(
            finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect::<Vec<_>>(),
            [(0, 10), (1, 10)]
        );
    }
    assert_close(&numbers(&outcome, "block_regions", "dynamic"), &[10.0, 10.0]);
}

#[test]
fn a_serial_section_shifts_the_bounds_and_is_named() {
    let (trace, outcome) = figure(&trace(FIGURE_4, 7), "bounds");
    assert_close(&numbers(&outcome, "bounds", "seconds"), &[48.0, 49.0, 53.0, 54.0, 54.0, 54.0]);
    assert!(close(scalar(&outcome, "share"), 7.0 / 54.0));
    let serial: Vec<_> = outcome.findings.iter().filter(|it| it.pattern == Pattern::SerialSection).collect();
    assert_eq!(serial.len(), 1);
    assert!(close(seconds(&trace, serial[0]), 7.0));
    assert_eq!(serial[0].causes[0].pe.0, 0);
    assert_eq!(partune_testkit::path_name(&trace, serial[0].causes[0].path), "alone");
}

#[test]
fn synchronisation_itself_is_a_gap() {
    let text = "resolution 1
        pe 0: main 0..20 { MPI_Barrier 10..14 barrier work 14..18 MPI_Barrier 18..20 barrier }
        pe 1: main 0..20 { MPI_Barrier 8..13 barrier work 13..17 MPI_Barrier 17..20 barrier }";
    let (_, outcome) = figure(text, "bounds");
    // Blocks (10, 8) and (4, 4); the first barrier is left 3 after the last PE came, the second 2.
    assert_close(&numbers(&outcome, "bounds", "seconds"), &[13.0, 14.0, 14.0, 14.0, 19.0, 20.0]);
    let gaps = numbers(&outcome, "gaps", "seconds");
    assert!(close(gaps.iter().sum::<f64>(), 20.0 - 13.0));
    assert!(close(numbers(&outcome, "gaps", "fraction").iter().sum::<f64>(), 7.0 / 20.0));
}

#[test]
fn cpu_time_gives_ipc_and_the_gap_o() {
    let text = "resolution 1
        metric ru_utime accumulated s
        pe 0: main 0..20 metric(ru_utime=100) { MPI_Barrier 10..10 metric(ru_utime=106) barrier work 10..20 { MPI_Barrier 20..20 metric(ru_utime=116) barrier } }
        pe 1: main 0..20 metric(ru_utime=5) { MPI_Barrier 10..10 metric(ru_utime=15) barrier work 10..20 { MPI_Barrier 20..20 metric(ru_utime=21) barrier } }";
    let (_, outcome) = figure(text, "bounds");
    assert_eq!(words(&outcome, "bounds", "name")[..2], ["IPC", "IPCO"]);
    assert_eq!(words(&outcome, "gaps", "name")[0], "O");
    // PE 0 computed 6 and 10 of its 10 and 10 seconds, PE 1 10 and 6.
    assert_close(&numbers(&outcome, "bounds", "seconds")[..2], &[16.0, 20.0]);
}

#[test]
fn main_thread_outside_of_teams_is_serial() {
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..30 { before 0..10 par 10..20 fork join { \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 20..20 } } after 20..30 }
        pe 0.1: \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 18..20 }";
    let (_, outcome) = figure(text, "bounds");
    assert!(close(scalar(&outcome, "seconds"), 20.0), "{:?}", outcome.sections);
    assert_close(&numbers(&outcome, "bounds", "seconds")[..2], &[29.0, 30.0]);
    assert!(outcome.findings.iter().any(|it| it.pattern == Pattern::SerialSection));
}

#[test]
fn one_pe_has_bounds_without_gaps_and_no_finding() {
    let (_, outcome) = figure("resolution 1\n pe 0: main 0..10", "bounds");
    assert_close(&numbers(&outcome, "gaps", "seconds"), &[0.0; 5]);
    assert!(outcome.findings.is_empty());
    assert!(
        matches!(column(&outcome, "block_regions", "from"), partune_analysis::Values::Path(paths) if paths.len() == 1)
    );
}

#[test]
fn balanced_blocks_are_silent() {
    let text = "resolution 1
        pe 0 1 2: main 0..100 { MPI_Barrier 40..41 barrier MPI_Barrier 99..100 barrier }";
    let (_, outcome) = figure(text, "bounds");
    assert!(outcome.findings.is_empty());
    assert_close(&numbers(&outcome, "gaps", "seconds")[..3], &[0.0; 3]);
}
