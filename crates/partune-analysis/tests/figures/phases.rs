//! Efficiency of marked phases: known answers, threads, nesting, and silence.

use partune_analysis::{Outcome, Values};
use partune_trace::Trace;

use super::{assert_close, column, figure, numbers, scalar};

fn names(trace: &Trace, outcome: &Outcome) -> Vec<String> {
    let Values::Region(regions) = column(outcome, "phases", "phase") else { panic!("no column of regions") };
    regions.iter().map(|region| trace.strings().get(trace.regions()[*region].name).to_owned()).collect()
}

fn factors(outcome: &Outcome) -> [Vec<f64>; 3] {
    ["parallel", "load_balance", "communication"].map(|name| numbers(outcome, "phases", name))
}

#[test]
fn each_phase_has_its_own_factors() {
    // setup: 10 and 5 of 10, twice. solve: 20 and 20 of 40, PE 1 enters it later.
    let text = "resolution 1
        pe 0: main 0..62 { phase setup 0..5 phase setup 5..10 phase solve 10..50 { MPI_Recv 20..40 } MPI_Barrier 50..62 }
        pe 1: main 0..62 { phase setup 0..10 { MPI_Recv 5..10 } phase solve 12..52 { MPI_Recv 12..32 } MPI_Barrier 52..62 }";
    let (trace, outcome) = figure(text, "efficiency");
    assert_eq!(names(&trace, &outcome), ["solve", "setup"]);
    assert_close(&numbers(&outcome, "phases", "seconds"), &[40.0, 10.0]);
    assert_close(&numbers(&outcome, "phases", "useful"), &[40.0, 15.0]);
    assert_close(&numbers(&outcome, "phases", "visits"), &[1.0, 2.0]);
    let [parallel, balance, communication] = factors(&outcome);
    assert_close(&parallel, &[0.5, 0.75]);
    assert_close(&balance, &[1.0, 0.75]);
    assert_close(&communication, &[0.5, 1.0]);
    assert_close(&[scalar(&outcome, "phases")], &[2.0]);
}

#[test]
fn phases_nest_and_some_pes_are_in_none() {
    let text = "resolution 1
        pe 0: main 0..30 { phase outer 0..20 { work 0..10 phase inner 10..20 { MPI_Recv 10..15 phase outer 15..20 } } }
        pe 1: main 0..30 { phase outer 0..20 { MPI_Recv 0..10 } }
        pe 2: main 0..30";
    let (trace, outcome) = figure(text, "efficiency");
    assert_eq!(names(&trace, &outcome), ["outer", "inner"]);
    assert_close(&numbers(&outcome, "phases", "pes"), &[2.0, 1.0]);
    // outer: 15 and 10 of 20; inner: 5 of 10.
    let [parallel, balance, communication] = factors(&outcome);
    assert_close(&parallel, &[12.5 / 20.0, 0.5]);
    assert_close(&balance, &[12.5 / 15.0, 1.0]);
    assert_close(&communication, &[0.75, 0.5]);
}

#[test]
fn threads_are_in_the_phases_of_their_process() {
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..30 { phase solve 10..20 { par 10..20 fork join { \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 20..20 } } } }
        pe 0.1: \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 15..20 }";
    let (_, outcome) = figure(text, "efficiency");
    assert_close(&numbers(&outcome, "phases", "pes"), &[2.0]);
    let [parallel, balance, communication] = factors(&outcome);
    assert_close(&[parallel[0], balance[0], communication[0]], &[0.75, 0.75, 1.0]);
}

#[test]
fn start_up_inside_of_a_phase_does_not_count() {
    let text = "resolution 1
        pe 0 1: main 0..100 { phase all 0..100 { MPI_Init 10..50 init work 50..60 MPI_Finalize 60..100 finalize } }";
    let (_, outcome) = figure(text, "efficiency");
    assert_close(&numbers(&outcome, "phases", "seconds"), &[10.0]);
    assert_close(&factors(&outcome).concat(), &[1.0; 3]);
}

#[test]
fn silent_without_phases() {
    let (_, outcome) = figure("resolution 1\n pe 0: main 0..10 { iteration step 0..5 }", "efficiency");
    assert!(outcome.sections[0].tables.is_empty());
    assert!(outcome.sections[0].scalars.iter().all(|scalar| scalar.name != "phases"));
}
