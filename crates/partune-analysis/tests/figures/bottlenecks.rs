//! PPW's filter of the profile: what deviates on a PE is found, what only differs in number is not.

use partune_analysis::{Outcome, Values};

use super::{assert_close, column, figure, numbers, words};

fn pes(outcome: &Outcome) -> Vec<u32> {
    match column(outcome, "bottlenecks", "pe") {
        Values::Pe(pes) => pes.iter().map(|pe| pe.0).collect(),
        other => panic!("{other:?} are no PEs"),
    }
}

/// Ticks of 0.1 ms. PE 0: 9 · 0.1 + 50 = 50.9 ms in ten barriers, 82 % of 62 ms; average 5.09 ms, 50 / 5.09 = 9.82, 5.09 / 0.1 = 50.9.
/// PE 1: ten of 0.1 ms are 1.6 % of the run.
#[test]
fn one_long_barrier_among_short_ones() {
    let (_, outcome) = figure(
        "resolution 10000
         pe 0: main 0..620 { repeat 9 every 10 { MPI_Barrier 0..1 barrier }  MPI_Barrier 100..600 barrier }
         pe 1: main 0..620 { repeat 9 every 10 { MPI_Barrier 0..1 barrier }  MPI_Barrier 599..600 barrier }",
        "bottlenecks",
    );
    assert_eq!((pes(&outcome), words(&outcome, "bottlenecks", "by")), (vec![0], vec!["shortest"]));
    let row = ["count", "seconds", "share", "mean", "min", "max", "factor"];
    let row = row.map(|name| numbers(&outcome, "bottlenecks", name)[0]);
    assert_close(&row, &[10.0, 50.9e-3, 50.9 / 62.0, 5.09e-3, 1e-4, 50e-3, 50.9]);
}

/// A function of the user: four times 4 and once 14, on average 6; 14 / 6 = 7/3 is more than 6 / 4.
#[test]
fn functions_of_the_user_are_entries() {
    let (_, outcome) = figure(
        "resolution 1
         pe 0: main 0..100 { repeat 4 every 10 { f 0..4 } f 60..74 }
         pe 1: main 0..100 { repeat 5 every 10 { f 0..6 } }",
        "bottlenecks",
    );
    assert_eq!((pes(&outcome), words(&outcome, "bottlenecks", "role")), (vec![0], vec!["user"]));
    assert_eq!(words(&outcome, "bottlenecks", "by"), ["longest"]);
    assert_close(&numbers(&outcome, "bottlenecks", "factor"), &[7.0 / 3.0]);
}

/// Ten executions on a PE and one on another, all of the same length, and single ones of different lengths.
#[test]
fn numbers_of_executions_are_no_deviation() {
    let (_, outcome) = figure(
        "resolution 1
         pe 0: main 0..100 { repeat 10 every 5 { MPI_Barrier 0..4 barrier }  work 60..100 }
         pe 1: main 0..100 { MPI_Barrier 41..45 barrier  work 60..65 }",
        "bottlenecks",
    );
    assert_eq!(pes(&outcome), [0_u32; 0]);
    assert!(outcome.sections[0].notes.is_empty());
}

/// What lies inside of an operation is its time: the start of a send in ten pieces is no entry.
#[test]
fn the_inside_of_an_operation_is_no_entry() {
    let (_, outcome) = figure(
        "resolution 1
         pe 0: main 0..100 { MPI_Send 0..50 send(to=1, bytes=8) { copy 0..1 copy 1..40 } }
         pe 1: main 0..100 { MPI_Recv 0..50 recv(from=0, bytes=8) }",
        "bottlenecks",
    );
    assert_eq!(pes(&outcome), [0_u32; 0]);
}
