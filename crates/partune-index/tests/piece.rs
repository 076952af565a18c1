//! Pieces of a run: what stays, clipped at the borders, and nothing that loses its partner by cutting.

use partune_base::Time;
use partune_index::{Index, cut};
use partune_testkit::pe;
use partune_trace::{Trace, VisitIx};

use crate::index;

/// A message from before 10 to after it, a barrier, and a receive at 22 whose send begins at 30.
const TEXT: &str = "
    pe 0: main 0..40 { work 0..8 MPI_Send 8..9 send(to=1) MPI_Barrier 12..20 barrier MPI_Send 30..32 send(to=1) MPI_Barrier 32..36 barrier }
    pe 1: main 0..40 { MPI_Recv 2..14 recv(from=0) work 14..18 MPI_Barrier 18..20 barrier MPI_Recv 22..32 recv(from=0) MPI_Barrier 34..36 barrier }";

fn piece(text: &str, begin: i64, end: i64) -> (Trace, Index) {
    let (trace, index) = index(text);
    let (trace, index, _) = cut(trace, index, (Time(begin), Time(end)));
    (trace, index)
}

/// Enter, exit and name of the visits of a PE.
fn visits(trace: &Trace, rank: u32) -> Vec<(i64, i64, String)> {
    let stream = &trace.streams()[pe(trace, rank)];
    let name = |path| trace.strings().get(trace.regions()[trace.paths().region(path)].name).to_owned();
    stream.visits.iter().map(|visit| (visit.enter.0, visit.exit.0, name(visit.path))).collect()
}

fn named(rows: &[(i64, i64, &str)]) -> Vec<(i64, i64, String)> {
    rows.iter().map(|(enter, exit, name)| (*enter, *exit, (*name).to_owned())).collect()
}

#[test]
fn operations_are_clipped_and_their_partners_stay_at_the_border() {
    let (trace, index) = piece(TEXT, 10, 26);
    // The first send is over and the second has not begun: they are there since their messages are.
    let zero = [(10, 26, "main"), (10, 10, "MPI_Send"), (12, 20, "MPI_Barrier"), (26, 26, "MPI_Send")];
    let one = [(10, 26, "main"), (10, 14, "MPI_Recv"), (14, 18, "work"), (18, 20, "MPI_Barrier"), (22, 26, "MPI_Recv")];
    assert_eq!((visits(&trace, 0), visits(&trace, 1)), (named(&zero), named(&one)));
    assert_eq!((trace.begin(), trace.end(), trace.origin()), (Time(10), Time(26), Time(0)));
    let sends: Vec<i64> = index.messages.iter().map(|it| it.send_place(&trace).enter(&trace).0).collect();
    let recvs: Vec<i64> = index.messages.iter().map(|it| it.recv_place(&trace).enter(&trace).0).collect();
    assert_eq!((sends, recvs), (vec![10, 26], vec![10, 22]));
    assert_eq!(index.messages.of_recv(pe(&trace, 1), 1).map(|it| it.send), Some(1));
    assert_eq!(index.collectives.instances.len(), 1);
    let members = index.collectives.members(&index.collectives.instances[0]);
    let times: Vec<(i64, i64)> = members.iter().map(|it| (it.enter.0, it.exit.0)).collect();
    assert_eq!(times, [(12, 20), (18, 20)]);
    assert_eq!((index.blocks.blocks.len(), index.blocks.blocks[0].end), (2, 0));
    assert!(index.quality.entries().is_empty() && index.messages.unmatched_sends + index.messages.unmatched_recvs == 0);
}

#[test]
fn a_message_without_an_end_in_the_piece_is_not_in_it() {
    let (trace, index) = piece(TEXT, 32, 40);
    // The second one ends when the piece begins.
    assert!(index.messages.is_empty());
    assert_eq!(visits(&trace, 0), named(&[(32, 40, "main"), (32, 36, "MPI_Barrier")]));
    assert_eq!(index.collectives.instances.len(), 1);
}

/// One member has left the operation before the piece begins, and another has not yet entered when it ends.
#[test]
fn an_operation_of_a_group_with_a_member_in_the_piece_has_all_members() {
    let text = "pe 0: MPI_Bcast 0..5 bcast(root=0) work 5..50
                pe 1: MPI_Bcast 2..30 bcast(root=0) work 30..50
                pe 2: work 0..40 MPI_Bcast 40..50 bcast(root=0)";
    let (trace, index) = piece(text, 10, 20);
    assert_eq!(index.collectives.instances.len(), 1);
    let instance = index.collectives.instances[0];
    let times: Vec<_> = index.collectives.members(&instance).iter().map(|it| (it.enter.0, it.exit.0)).collect();
    assert_eq!((times, instance.missing), (vec![(10, 10), (10, 20), (20, 20)], 0));
    assert_eq!(index.collectives.of_row(pe(&trace, 1), 0), Some(0));
    let (_, index) = piece(text, 32, 38);
    assert!(index.collectives.instances.is_empty());
}

/// A PE that does nothing recorded in the piece is there, and so are the functions around what is kept.
#[test]
fn who_does_nothing_in_the_piece_still_counts() {
    let (trace, _) = piece(
        "pe 0: MPI_Barrier 0..1 barrier MPI_Barrier 99..100 barrier\npe 1: MPI_Barrier 0..1 barrier MPI_Barrier 99..100 barrier",
        10,
        20,
    );
    assert_eq!(trace.cpu_pes().count(), 2);
    let stream = &trace.streams()[pe(&trace, 0)];
    assert_eq!((stream.visits.len(), stream.begin(), stream.end()), (0, Some(Time(10)), Some(Time(20))));
    let inner =
        "pe 0: main 0..100 { f 5..9 { MPI_Send 6..8 send(to=1) } }\npe 1: main 0..100 { MPI_Recv 20..40 recv(from=0) }";
    let (trace, _) = piece(inner, 30, 50);
    assert_eq!(visits(&trace, 0), named(&[(30, 50, "main"), (30, 30, "f"), (30, 30, "MPI_Send")]));
    let stream = &trace.streams()[pe(&trace, 0)];
    assert_eq!((stream.operations.as_slice(), stream.sends[0].visit), (&[VisitIx(2)][..], VisitIx(2)));
}

/// 100 at 10, 300 at 30: 200 at 20. What was set back between two samples has no value between them.
#[test]
fn counters_have_values_at_the_borders() {
    let text = "metric COUNT accumulated\nmetric LEVEL point\nmetric HELD next
        pe 0: main 0..50 { a 0..10 metric(COUNT=0, LEVEL=7, HELD=1) b 10..30 metric(COUNT=100, LEVEL=8) c 30..50 metric(COUNT=300, LEVEL=9, HELD=2) }";
    let (trace, _) = piece(text, 20, 40);
    let samples = &trace.streams()[pe(&trace, 0)].metrics;
    let told = |name: &str| -> Vec<(i64, f64)> {
        let of = |row: &&partune_trace::MetricSample| trace.strings().get(trace.metrics()[row.metric].name) == name;
        samples.iter().filter(of).map(|row| (row.time.0, row.value)).collect()
    };
    assert_eq!(told("COUNT"), [(20, 200.0), (30, 300.0)]);
    assert_eq!((told("LEVEL"), told("HELD")), (vec![(30, 9.0)], vec![(20, 1.0), (30, 2.0)]));
    let back = text.replace("COUNT=300", "COUNT=30");
    let (trace, _) = piece(&back, 20, 40);
    assert_eq!(trace.streams()[pe(&trace, 0)].metrics.iter().filter(|it| it.time == Time(20)).count(), 1);
}

#[test]
fn locks_and_accesses_keep_who_let_them_go_on() {
    let text = "pe 0: shmem_set_lock 0..1 lock(5) work 1..20 shmem_clear_lock 20..21 release(5) work 21..50
                pe 1: work 0..3 shmem_set_lock 3..22 lock(5) work 22..30 shmem_clear_lock 30..31 release(5) shmem_putmem 31..33 put(to=0, id=1) work 33..44 shmem_quiet 44..46 complete(1)";
    let (trace, index) = piece(text, 21, 40);
    let grants: Vec<_> =
        index.locks.grants.iter().map(|it| (it.pe, it.requested.0, it.acquired.0, it.released.0)).collect();
    assert_eq!(grants.len(), 2);
    assert_eq!(grants[1], (pe(&trace, 1), 21, 22, 30));
    assert_eq!(index.locks.grants[1].enabled_by, 0);
    let access = index.rma.transfers[0];
    assert_eq!((access.completed, trace.visit(access.pe, access.completion).enter), (Time(40), Time(40)));
    let (_, index) = piece(text, 34, 40);
    assert!(index.locks.grants.is_empty() && index.rma.transfers.is_empty());
}

/// A piece that is the whole run changes nothing.
#[test]
fn all_of_a_run_is_the_run() {
    let threads = "pe 0: main 0..9 { \"omp parallel\" 1..8 fork join { MPI_Isend 2..3 send(to=1, req=1) MPI_Wait 4..5 done(1) } }
                   pe 1: main 0..9 { MPI_Irecv 1..2 posted(4) MPI_Wait 3..6 recv(from=0, req=4) MPI_Win_fence 6..9 fence }";
    for text in [TEXT, threads] {
        let (trace, before) = index(text);
        let all = (trace.begin(), trace.end());
        let (whole, after, moves) = cut(trace.clone(), before.clone(), all);
        assert_eq!(format!("{:?}", before.messages), format!("{:?}", after.messages));
        assert_eq!(format!("{:?}", before.collectives), format!("{:?}", after.collectives));
        assert_eq!(
            format!("{:?}", (&before.locks, &before.rma, &before.teams)),
            format!("{:?}", (&after.locks, &after.rma, &after.teams))
        );
        assert_eq!(format!("{:?}", before.blocks), format!("{:?}", after.blocks));
        for (own, stream) in trace.streams().iter_ids() {
            let kept = partune_trace::Stream { present: None, ..whole.streams()[own].clone() };
            assert_eq!(*stream, kept);
            assert_eq!(moves.visit(own, VisitIx(0)).is_some(), !stream.visits.is_empty());
        }
    }
}
