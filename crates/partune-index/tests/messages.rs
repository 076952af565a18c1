//! Message matching.

use partune_index::Messages;
use partune_testkit::pe;
use partune_trace::{Trace, VisitIx};

use crate::{index, notes};

/// For each receive of a rank, the row of the send at its sender.
fn sends_of(trace: &Trace, messages: &Messages, rank: u32) -> Vec<Option<u32>> {
    let receiver = pe(trace, rank);
    let recvs = trace.streams()[receiver].recvs.len();
    (0..recvs).map(|recv| messages.of_recv(receiver, recv).map(|message| message.send)).collect()
}

#[test]
fn tags_and_communicators_are_channels_of_their_own() {
    let (trace, index) = index(
        "group a = 0 1
         group b = 0 1
         pe 0: main 0..100 {
             MPI_Send 0..2 send(1, tag=5, group=a)
             MPI_Send 2..4 send(1, tag=5, group=b)
             MPI_Send 4..6 send(1, tag=6, group=a)
             MPI_Send 6..8 send(1, tag=5, group=a)
         }
         pe 1: main 0..100 {
             MPI_Recv 10..12 recv(0, tag=6, group=a)
             MPI_Recv 12..14 recv(0, tag=5, group=a)
             MPI_Recv 14..16 recv(0, tag=5, group=a)
             MPI_Recv 16..18 recv(0, tag=5, group=b)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 1), [Some(2), Some(0), Some(3), Some(1)]);
    assert!(index.quality.is_empty(), "{:?}", notes(&index));
    let message = index.messages.of_send(pe(&trace, 0), 3).unwrap();
    assert_eq!(message.recv, 2);
    assert_eq!(message.recv_place(&trace).enter(&trace).0, 14);
    assert_eq!(message.send_place(&trace).enter(&trace).0, 6);
    assert_eq!((message.recv_posted.0, message.recv_post), (14, message.recv_place(&trace).visit));
    assert_eq!(message.send_completion, message.send_place(&trace).visit);
}

#[test]
fn the_kth_posted_receive_counts_not_the_kth_completed() {
    // Both receives are posted with any source and any tag; the second one is waited for first.
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Isend 10..12 send(1, tag=1, req=1)
             MPI_Isend 12..14 send(1, tag=1, req=2)
             MPI_Waitall 20..50 done(2) done(1)
         }
         pe 1: main 0..100 {
             MPI_Irecv 1..2 posted(7)
             MPI_Irecv 3..4 posted(8)
             MPI_Wait 30..40 recv(0, tag=1, req=8)
             MPI_Wait 41..50 recv(0, tag=1, req=7)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 1), [Some(1), Some(0)]);
    let first = index.messages.of_send(pe(&trace, 0), 0).unwrap();
    assert_eq!((first.recv, first.recv_posted.0), (1, 1));
    assert_eq!(trace.visit(first.receiver, first.recv_post).exit.0, 2);
    assert_eq!(trace.visit(first.sender, first.send_completion).enter.0, 20);
}

#[test]
fn requests_are_used_again() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Isend 1..2 send(1, req=1)
             MPI_Wait 2..3 done(1)
             MPI_Isend 4..5 send(1, req=1)
         }
         pe 1: main 0..100 {
             MPI_Irecv 1..2 posted(9)
             MPI_Wait 2..20 recv(0, req=9)
             MPI_Irecv 21..22 posted(9)
             MPI_Wait 22..40 recv(0, req=9)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 1), [Some(0), Some(1)]);
    let posted: Vec<i64> = index.messages.iter().map(|message| message.recv_posted.0).collect();
    assert_eq!(posted, [1, 21]);
    let completions: Vec<VisitIx> = index.messages.iter().map(|message| message.send_completion).collect();
    assert_eq!(completions, [VisitIx(2), VisitIx::NONE]);
}

#[test]
fn cancelled_requests_drop_out() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Isend 1..2 send(1, req=1)
             MPI_Wait 2..3 cancel(1)
             MPI_Isend 4..5 send(1, req=2)
             MPI_Wait 5..6 done(2)
         }
         pe 1: main 0..100 {
             MPI_Irecv 1..2 posted(9)
             MPI_Wait 2..3 cancel(9)
             MPI_Irecv 4..5 posted(9)
             MPI_Wait 5..40 recv(0, req=9)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 1), [Some(1)]);
    assert_eq!((index.messages.cancelled_sends, index.messages.unmatched_sends), (1, 0));
    assert!(index.quality.is_empty(), "{:?}", notes(&index));
}

#[test]
fn messages_to_oneself_and_missing_posts() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Isend 1..2 send(0, req=1)
             MPI_Wait 5..6 recv(0, req=3)
             MPI_Wait 6..7 done(1)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 0), [Some(0)]);
    assert_eq!(index.messages.iter().next().map(|message| message.recv_posted.0), Some(6));
}

#[test]
fn a_lost_completion_leaves_later_receives_open_only_where_sends_are_left() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Send 1..2 send(1, tag=1)
             MPI_Send 2..3 send(1, tag=1)
             MPI_Send 3..4 send(1, tag=1)
             MPI_Send 4..5 send(1, tag=2)
         }
         pe 1: main 0..100 {
             MPI_Recv 1..10 recv(0, tag=1)
             MPI_Irecv 11..12 posted(5)
             MPI_Recv 12..20 recv(0, tag=1)
             MPI_Recv 21..30 recv(0, tag=2)
         }",
    );
    assert_eq!(sends_of(&trace, &index.messages, 1), [Some(0), None, Some(3)]);
    assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (2, 1));
    assert!(notes(&index).iter().any(|note| note.contains("completion is not recorded")), "{:?}", notes(&index));
}

#[test]
fn receives_on_the_wrong_communicator_are_told_and_not_matched() {
    let (_, index) = index(
        "group dup = 0 1
         pe 0: main 0..100 { MPI_Send 1..2 send(1, group=dup) MPI_Send 2..3 send(1, group=dup) }
         pe 1: main 0..100 { MPI_Recv 1..10 recv(0, group=world) MPI_Recv 11..12 recv(0, group=world) }",
    );
    assert_eq!((index.messages.len(), index.messages.unmatched_sends, index.messages.unmatched_recvs), (0, 2, 2));
    let told = notes(&index);
    assert!(
        told.iter().any(|note| note.contains("2 of the sends and 0 of the receives on communicator dup")),
        "{told:?}"
    );
    assert!(told.iter().any(|note| note.contains("0 of the sends and 2 of the receives on communicator")), "{told:?}");
    assert!(index.quality.entries().iter().all(|entry| entry.remedy.contains("wrong communicator")));
}

#[test]
fn threads_act_for_their_process() {
    let (trace, index) = index(
        "pe 0: main 0..100 { MPI_Send 5..6 send(1) }
         pe 0.1: main 0..100 { MPI_Send 1..2 send(1) MPI_Send 8..9 send(1) }
         pe 1: main 0..100 { MPI_Recv 50..60 recv(0) }
         pe 1.1: main 0..100 { MPI_Recv 10..30 recv(0) MPI_Recv 70..80 recv(0) }",
    );
    let (main, worker) = (pe(&trace, 1), partune_testkit::thread(&trace, 1, 1));
    let sender_of = |pe, recv| index.messages.of_recv(pe, recv).map(|message| message.sender);
    assert_eq!(sender_of(worker, 0), Some(partune_testkit::thread(&trace, 0, 1)));
    assert_eq!(sender_of(main, 0), Some(partune_testkit::pe(&trace, 0)));
    assert_eq!(sender_of(worker, 1), Some(partune_testkit::thread(&trace, 0, 1)));
    assert_eq!(index.messages.len(), 3);
}

/// A thread that acts for its process towards others has barriers of its own with the other threads.
#[test]
fn threads_have_groups_of_their_own_beside_those_of_their_process() {
    let threads = "group all = 0 1\n group a = 0.1 0.2\n";
    let text = |barriers: &str| {
        format!(
            "{threads}
             pe 0: main 0..100
             pe 0.1: main 0..100 {{ MPI_Send 1..2 send(1, group=all) {barriers} }}
             pe 0.2: main 0..100 {{ MPI_Send 3..4 send(1, group=all) {barriers} }}
             pe 1: main 0..100 {{ MPI_Recv 10..30 recv(0, group=all) MPI_Recv 70..80 recv(0, group=all) }}"
        )
    };
    for (barriers, meetings) in [("pthread_barrier_wait 40..50 barrier(group=a) ", 1), ("", 0)] {
        let (trace, index) = index(&text(barriers));
        let receiver = partune_testkit::pe(&trace, 1);
        let senders = [0, 1].map(|recv| index.messages.of_recv(receiver, recv).map(|message| message.sender));
        let worker = |thread| Some(partune_testkit::thread(&trace, 0, thread));
        assert_eq!(senders, [worker(1), worker(2)]);
        let met: Vec<_> = index.collectives.instances.iter().map(|it| index.collectives.members(it).len()).collect();
        assert_eq!(met, vec![2; meetings], "{barriers}");
        assert!(index.quality.entries().is_empty(), "{:?}", index.quality.entries());
    }
}

/// Where calls were left out, nobody knows which of the others a single receive got; and that something has no partner is no loss.
#[test]
fn what_was_left_out_is_not_guessed() {
    let text = "group a = 0 1
         pe 0: main 0..100 {
             MPI_Send 0..2 send(1, tag=5, group=a)
             MPI_Send 2..4 send(1, tag=5, group=a)
             MPI_Send 4..6 send(1, tag=6, group=a)
         }
         pe 1: main 0..100 {
             MPI_Recv 10..12 recv(0, tag=5, group=a)
             MPI_Recv 12..14 recv(0, tag=6, group=a)
         }";
    for (is_partial, expected, severity) in [
        (false, [Some(0), Some(2)], partune_diag::Severity::DataLoss),
        (true, [None, Some(2)], partune_diag::Severity::Info),
    ] {
        let mut builder = partune_testkit::builder(text);
        builder.is_partial = is_partial;
        let trace = builder.seal();
        let index = partune_index::Index::build(&trace);
        assert_eq!(sends_of(&trace, &index.messages, 1), expected);
        assert_eq!(index.quality.entries().iter().map(|it| it.severity).collect::<Vec<_>>(), [severity]);
    }
}
