//! Loops that poll wait from their first poll on; what a program does between its polls is its own.

use partune_analysis::Pattern::{LateReceiver, LateSender, WaitAtBarrier};

use super::Case;

/// Rank 0 sends at 40000; rank 1 does this. Ticks are nanoseconds.
fn case(rank_1: &str) -> Case {
    Case::new(&format!(
        "pe 0: main 0..100000 {{ work 0..40000  MPI_Send 40000..40100 send(to=1) }}
         pe 1: main 0..100000 {{ {rank_1} }}"
    ))
}

/// Begins and ends of the waits of rank 1 for rank 0's message.
fn late(rank_1: &str) -> Vec<(i64, i64)> {
    let found = case(rank_1).found();
    assert!(found.iter().all(|row| (row.0, row.1, row.4) == (LateSender, 1, Some(0))), "{found:?}");
    found.iter().map(|row| (row.2, row.3)).collect()
}

#[test]
fn tests_in_a_row_are_one_visit_and_one_wait() {
    let case = case(
        "MPI_Irecv 0..100 posted(req=1)
         MPI_Test 1000..2000 tested(req=1)  MPI_Test 2500..20000 tested(req=1)  MPI_Test 21000..50000 recv(from=0, req=1)",
    );
    assert_eq!(case.found(), [(LateSender, 1, 1000, 40000, Some(0))]);
    let finding = case.finding();
    assert_eq!((finding.time.0, finding.count, case.name(finding.path)), (39000, 1, "main/MPI_Test".into()));
    let stream = &case.trace.streams()[partune_testkit::pe(&case.trace, 1)];
    assert_eq!((stream.visits.len(), stream.polls.len(), stream.polls[0].count), (3, 1, 3));
    assert_eq!((stream.recvs[0].visit, stream.requests.len()), (stream.polls[0].visit, 2));
}

#[test]
fn what_was_seen_of_the_loop_is_part_of_it() {
    let posted = "MPI_Irecv 0..100 posted(req=1)";
    let tests = "MPI_Test 1000..20000 tested(req=1)  now 20100..20600 { clock 20200..20300 }  MPI_Test 21000..50000 recv(from=0, req=1)";
    assert_eq!(late(&format!("{posted} {tests}")), [(1000, 40000)]);
    // A row of a recorder's, and the call that found something.
    let case = case(&format!("{posted} MPI_Test 1000..20000 polls(60)  MPI_Test 20500..50000 recv(from=0, req=1)"));
    assert_eq!(case.found(), [(LateSender, 1, 1000, 40000, Some(0))]);
    let stream = &case.trace.streams()[partune_testkit::pe(&case.trace, 1)];
    assert_eq!((stream.polls.len(), stream.polls[0].count, stream.polls[0].found), (1, 61, true));
    let path = stream.visits.path[stream.polls[0].visit.index()];
    let calls = partune_analysis::path_times(&case.trace);
    let row = calls[partune_testkit::pe(&case.trace, 1)].iter().find(|row| row.path == path);
    assert_eq!(row.map(|row| row.visits), Some(61));
}

#[test]
fn work_between_polls_is_no_wait() {
    let posted = "MPI_Irecv 0..100 posted(req=1)";
    for loops in [
        "MPI_Test 1000..2000 tested(req=1)  work 2000..30000  MPI_Test 30000..50000 recv(from=0, req=1)",
        "MPI_Test 1000..2000 tested(req=1)  MPI_Test 30000..50000 recv(from=0, req=1)",
        // The message came in the second one, and was seen in the third.
        "MPI_Testany 1000..2000 tested(req=1)  MPI_Testsome 30000..41000 tested(req=1)  MPI_Test 45000..46000 recv(from=0, req=1)",
        "MPI_Request_get_status 1000..2000 tested(req=1)  MPI_Request_get_status 30000..50000  MPI_Wait 52000..52100 recv(from=0, req=1)",
        "MPI_Test 1000..2000 tested(req=1)  MPI_Comm_rank 2000..2100  MPI_Wait 30000..50000 recv(from=0, req=1)",
    ] {
        assert_eq!(late(&format!("{posted} {loops}")), [(1000, 2000), (30000, 40000)], "{loops}");
    }
}

#[test]
fn a_probe_waits_for_the_send_of_what_is_received_next() {
    let sent = [(1000, 40000)];
    assert_eq!(late("MPI_Probe 1000..41000  MPI_Get_count 41000..41100  MPI_Recv 42000..42100 recv(from=0)"), sent);
    assert_eq!(late("MPI_Mprobe 1000..41000  MPI_Barrier 41000..41500  MPI_Mrecv 42000..42100 recv(from=0)"), sent);
    assert_eq!(
        late("MPI_Probe 1000..41000  MPI_Irecv 42000..42100 posted(req=4)  MPI_Wait 43000..44000 recv(from=0, req=4)"),
        sent
    );
    let two = [(1000, 2000), (30000, 40000)];
    assert_eq!(late("MPI_Iprobe 1000..2000  MPI_Iprobe 30000..41000  MPI_Recv 42000..42100 recv(from=0)"), two);
    assert_eq!(
        late(
            "MPI_Iprobe 1000..2000  MPI_Iprobe 30000..40500  MPI_Iprobe 43000..44000  MPI_Recv 45000..45100 recv(from=0)"
        ),
        two
    );
}

#[test]
fn polls_that_find_nothing_wait_for_nobody() {
    // Given up: the receive waits alone, as far as anybody can tell.
    assert_eq!(late("MPI_Iprobe 1000..2000  MPI_Recv 30000..50000 recv(from=0)"), [(30000, 40000)]);
    assert_eq!(late("MPI_Iprobe 1000..20000  MPI_Barrier 30000..35000"), []);
    // A recorder knows that it found nothing, though the message had been sent.
    assert_eq!(late("MPI_Iprobe 1000..45000 polls(9)  MPI_Recv 46000..50000 recv(from=0)"), []);
    // What was tested before the receive was posted was something else.
    let other = "MPI_Irecv 0..10 posted(req=8)  MPI_Test 1000..20000 tested(req=8)";
    let wait = "MPI_Irecv 21000..21100 posted(req=1)  MPI_Wait 30000..50000 recv(from=0, req=1)";
    assert_eq!(late(&format!("{other}  {wait}")), [(30000, 40000)]);
    // Nobody is late.
    assert_eq!(late("MPI_Probe 50000..51000  MPI_Recv 52000..52100 recv(from=0)"), []);
    assert_eq!(late("MPI_Iprobe 50000..51000  MPI_Iprobe 51500..53000  MPI_Recv 54000..54100 recv(from=0)"), []);
}

#[test]
fn collectives_and_sends_are_tested_too() {
    let case = Case::new(
        "pe 0: main 0..100000 { work 0..40000  MPI_Ibarrier 40000..40100 started(req=1)  MPI_Wait 41000..42000 barrier(req=1) }
         pe 1: main 0..100000 {
             MPI_Ibarrier 0..100 started(req=1)  MPI_Test 1000..2000 tested(req=1)  MPI_Test 30000..42000 barrier(req=1)
         }",
    );
    let barrier = |begin, end| (WaitAtBarrier, 1, begin, end, Some(0));
    assert_eq!(case.found(), [barrier(1000, 2000), barrier(30000, 40000)]);
    let case = Case::new(
        "pe 0: main 0..100000 { work 0..40000  MPI_Recv 40000..43000 recv(from=1) }
         pe 1: main 0..100000 {
             MPI_Isend 0..100 send(to=0, req=1)  MPI_Test 1000..2000 tested(req=1)  MPI_Test 30000..42000 done(req=1)
         }",
    );
    let receiver = |begin, end| (LateReceiver, 1, begin, end, Some(0));
    assert_eq!(case.found(), [receiver(1000, 2000), receiver(30000, 40000)]);
}
