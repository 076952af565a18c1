//! Recordings of which the newest events were kept: what belongs together where the begin is missing.

use partune_index::Index;
use partune_testkit::pe;
use partune_trace::Trace;

/// A trace that begins late, or one that does not, and its index.
fn of(text: &str, begins_late: bool) -> (Trace, Index) {
    let mut builder = partune_testkit::builder(text);
    builder.begins_late = begins_late;
    let trace = builder.seal();
    let index = Index::build(&trace);
    (trace, index)
}

/// The rows of the sends that the receives of PE 1 got.
fn sends(trace: &Trace, index: &Index) -> Vec<Option<u32>> {
    let receiver = pe(trace, 1);
    let rows = 0..trace.streams()[receiver].recvs.len();
    rows.map(|row| index.messages.of_recv(receiver, row).map(|message| message.send)).collect()
}

#[test]
fn the_first_receives_are_of_sends_that_are_missing() {
    let text = "pe 0: main 0..100 {
             MPI_Send 10..12 send(1, tag=5)
             MPI_Send 20..22 send(1, tag=5)
         }
         pe 1: main 0..100 {
             MPI_Recv 4..6 recv(0, tag=5)
             MPI_Recv 10..14 recv(0, tag=5)
             MPI_Recv 20..24 recv(0, tag=5)
         }";
    let (trace, index) = of(text, true);
    assert_eq!(sends(&trace, &index), [None, Some(0), Some(1)]);
    assert!(index.quality.entries().iter().all(|it| it.severity == partune_diag::Severity::Info));
    // Where all is there from the begin, the last receive is what is odd.
    let (trace, index) = of(text, false);
    assert_eq!(sends(&trace, &index), [Some(0), Some(1), None]);
}

#[test]
fn nothing_is_received_before_it_is_sent_where_the_end_is_missing_too() {
    let (trace, index) = of(
        "pe 0: main 0..100 {
             MPI_Send 10..12 send(1, tag=5)
             MPI_Send 20..22 send(1, tag=5)
             MPI_Send 30..32 send(1, tag=5)
         }
         pe 1: main 0..100 {
             MPI_Recv 4..6 recv(0, tag=5)
             MPI_Recv 10..14 recv(0, tag=5)
             MPI_Recv 20..24 recv(0, tag=5)
         }",
        true,
    );
    assert_eq!(sends(&trace, &index), [None, Some(0), Some(1)]);
    assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (1, 1));
}

/// The enters of the members of each operation.
fn enters(index: &Index) -> Vec<Vec<i64>> {
    let of = |it| index.collectives.members(it).iter().map(|member| member.enter.0).collect();
    index.collectives.instances.iter().map(of).collect()
}

#[test]
fn operations_of_all_are_counted_from_the_end() {
    let text = "pe 0: main 0..100 { MPI_Barrier 2..10 barrier MPI_Barrier 20..30 barrier MPI_Barrier 40..50 barrier }
         pe 1: main 0..100 { MPI_Barrier 25..30 barrier MPI_Barrier 45..50 barrier }";
    assert_eq!(enters(&of(text, true).1), [vec![2], vec![20, 25], vec![40, 45]]);
    assert_eq!(enters(&of(text, false).1), [vec![2, 25], vec![40], vec![20, 45]]);
}

#[test]
fn or_from_the_begin_where_one_had_left_one_more_when_all_were_killed() {
    let text = "pe 0: main 0..100 { MPI_Barrier 2..10 barrier MPI_Barrier 20..30 barrier MPI_Barrier 40..50 barrier }
         pe 1: main 0..100 { MPI_Barrier 5..10 barrier MPI_Barrier 25..30 barrier }";
    assert_eq!(enters(&of(text, true).1), [vec![2, 5], vec![20, 25], vec![40]]);
}
