//! One case a pattern, each with a silent counterpart.

use partune_analysis::Pattern;
use partune_index::{Index, clock_repair};

use super::{Case, silent};

#[test]
fn a_receive_waits_for_its_send() {
    let case = Case::new(
        "pe 0: main 0..100 { work 0..40  MPI_Send 40..45 send(to=1, tag=7) }
         pe 1: main 0..100 { work 0..10  MPI_Recv 10..50 recv(from=0, tag=7) }",
    );
    assert_eq!(case.found(), [(Pattern::LateSender, 1, 10, 40, Some(0))]);
    let finding = case.finding();
    assert_eq!((finding.time.0, finding.count, finding.unexplained.0), (30, 1, 0));
    assert_eq!(case.name(finding.path), "main/MPI_Recv");
    assert_eq!(case.causes(&finding), [(0, "main/MPI_Send".into(), "main/work".into(), 30)]);
    silent(
        "pe 0: main 0..100 { work 0..10  MPI_Send 10..15 send(to=1, tag=7) }
         pe 1: main 0..100 { work 0..10  MPI_Recv 10..50 recv(from=0, tag=7) }",
    );
}

#[test]
fn a_completion_of_many_receives_waits_for_the_latest() {
    let case = Case::new(
        "pe 0: main 0..100 { work 0..40  MPI_Send 40..45 send(to=2) }
         pe 1: main 0..100 { work 0..60  MPI_Send 60..65 send(to=2) }
         pe 2: main 0..100 {
             MPI_Irecv 1..2 posted(req=1)
             MPI_Irecv 2..3 posted(req=2)
             MPI_Waitall 10..70 recv(from=0, req=1) recv(from=1, req=2)
         }",
    );
    assert_eq!(case.found(), [(Pattern::LateSender, 2, 10, 60, Some(1))]);
}

#[test]
fn a_send_waits_for_its_receive() {
    let text = |construct: &str| {
        format!(
            "pe 0: main 0..100 {{ work 0..10  {construct} 10..45 send(to=1, tag=7) }}
             pe 1: main 0..100 {{ work 0..40  MPI_Recv 40..50 recv(from=0, tag=7) }}"
        )
    };
    for construct in ["MPI_Ssend", "MPI_Send"] {
        let case = Case::new(&text(construct));
        assert_eq!(case.found(), [(Pattern::LateReceiver, 0, 10, 40, Some(1))]);
    }
    silent(&text("MPI_Bsend"));
}

#[test]
fn a_non_blocking_send_waits_where_it_is_completed() {
    let case = Case::new(
        "pe 0: main 0..100 { MPI_Isend 5..6 send(to=1, req=3)  work 6..20  MPI_Wait 20..45 done(req=3) }
         pe 1: main 0..100 { work 0..40  MPI_Irecv 40..41 posted(req=9)  MPI_Wait 42..50 recv(from=0, req=9) }",
    );
    assert_eq!(case.found(), [(Pattern::LateReceiver, 0, 20, 40, Some(1))]);
    silent(
        "pe 0: main 0..100 { MPI_Isend 5..6 send(to=1, req=3)  work 6..41  MPI_Wait 41..45 done(req=3) }
         pe 1: main 0..100 { work 0..40  MPI_Irecv 40..41 posted(req=9)  MPI_Wait 42..50 recv(from=0, req=9) }",
    );
}

#[test]
fn a_barrier_waits_for_the_last_and_all_later_ones_pay() {
    let case = Case::new(
        "pe 0: main 0..20 { work 0..0  MPI_Barrier 0..11 barrier }
         pe 1: main 0..20 { work 0..3  MPI_Barrier 3..11 barrier }
         pe 2: main 0..20 { work 0..9  MPI_Barrier 9..11 barrier }
         pe 3: main 0..20 { work 0..10  MPI_Barrier 10..11 barrier }",
    );
    let waits = [(0, 0), (1, 3), (2, 9)].map(|(rank, begin)| (Pattern::WaitAtBarrier, rank, begin, 10, Some(3)));
    assert_eq!(case.found(), waits);
    let finding = case.finding();
    assert_eq!(finding.pes.iter().map(|(pe, time)| (pe.0, time.0)).collect::<Vec<_>>(), [(0, 10), (1, 7), (2, 1)]);
    let barrier = |rank, time| (rank, "main/MPI_Barrier".to_owned(), "main/work".to_owned(), time);
    assert_eq!(case.causes(&finding), [barrier(3, 10), barrier(2, 7), barrier(1, 1)]);
    assert_eq!(finding.unexplained.0, 0);
    silent("pe 0 1 2 3: main 0..20 { work 0..9  MPI_Barrier 9..11 barrier }");
}

#[test]
fn everybody_needs_everybody_in_an_all_to_all() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Allreduce 2..11 allreduce }
         pe 1: main 0..20 { MPI_Allreduce 9..11 allreduce }",
    );
    assert_eq!(case.found(), [(Pattern::WaitAtNxn, 0, 2, 9, Some(1))]);
    silent("pe 0 1: main 0..20 { MPI_Allreduce 9..11 allreduce }");
}

/// But for whoever did not wait: a library may let each go on as soon as its own part is done.
#[test]
fn who_accesses_a_file_with_all_waits_for_the_last_one() {
    let text = |end: u32| {
        format!(
            "pe 0: main 0..20 {{ MPI_File_write_all 2..{end} alltoall write(100) }}
             pe 1: main 0..20 {{ MPI_File_write_all 9..12 alltoall write(100) }}"
        )
    };
    assert_eq!(Case::new(&text(11)).found(), [(Pattern::WaitAtNxn, 0, 2, 9, Some(1))]);
    silent(&text(8));
}

/// It is the wait that completes a collective that was started again, not its start.
#[test]
fn a_persistent_collective_waits_where_it_is_completed() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Start 1..2 started(1)  MPI_Wait 2..11 allreduce(req=1) }
         pe 1: main 0..20 { MPI_Start 9..10 started(1)  MPI_Wait 10..11 allreduce(req=1) }",
    );
    assert_eq!(case.found(), [(Pattern::WaitAtNxn, 0, 2, 9, Some(1))]);
}

#[test]
fn what_all_share_is_made_when_the_last_one_comes() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Comm_dup 2..11 alloc }
         pe 1: main 0..20 { work 0..9  MPI_Comm_dup 9..11 alloc }",
    );
    assert_eq!(case.found(), [(Pattern::WaitAtSetUp, 0, 2, 9, Some(1))]);
    assert!(case.waits.start_up().is_empty());
    silent("pe 0 1: main 0..20 { MPI_Comm_dup 9..11 alloc }");
}

#[test]
fn receivers_wait_for_a_late_root_and_it_for_nobody() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Bcast 2..11 bcast(root=1) }
         pe 1: main 0..20 { MPI_Bcast 9..10 bcast(root=1) }
         pe 2: main 0..20 { MPI_Bcast 12..13 bcast(root=1) }",
    );
    assert_eq!(case.found(), [(Pattern::LateBroadcast, 0, 2, 9, Some(1))]);
    silent(
        "pe 0: main 0..20 { MPI_Bcast 9..11 bcast(root=1) }
         pe 1: main 0..20 { MPI_Bcast 2..3 bcast(root=1) }",
    );
}

/// PE 0 left at 195 what PE 1 began to send at 200, by clocks of their own. Repair moves its exit to 200, where it waited from 150
/// on: 50 ticks. Were there nothing to be moved, it could have left before.
#[test]
fn a_receiver_whose_clock_was_repaired_has_waited() {
    let text = |bytes: u32| {
        format!(
            "pe 0: main 0..1000 {{ work 0..150  MPI_Bcast 150..195 bcast(root=1, sent=0, received={bytes}) }}
             pe 1: main 0..1000 {{ work 0..200  MPI_Bcast 200..201 bcast(root=1, sent={bytes}, received={bytes}) }}
             pe 2: main 0..1000 {{ work 0..150  MPI_Bcast 150..202 bcast(root=1, sent=0, received={bytes}) }}"
        )
    };
    let trace = partune_testkit::trace(&text(8));
    let (trace, repair) = clock_repair::repair(trace.clone(), &Index::build(&trace));
    assert_eq!((repair.violated_collectives, repair.worst.0), (1, 5));
    let waits = [(0, 150, 200), (2, 150, 200)];
    let found: Vec<_> = Case::of(trace).waits.iter().map(|it| (it.pe.0, it.begin.0, it.end.0)).collect();
    // Backward amortisation may move the begin a little towards the exit, never the end.
    assert_eq!(found.iter().map(|it| (it.0, it.2)).collect::<Vec<_>>(), waits.map(|it| (it.0, it.2)));
    assert!(found.iter().all(|it| (150..=155).contains(&it.1)), "{found:?}");
    // Nobody knows that the member that left at 195 waited for the root.
    let empty = Case::new(&text(0));
    assert_eq!(empty.found(), [(Pattern::LateBroadcast, 2, 150, 200, Some(1))]);
}

/// A synchronous send ends when its receive is posted, at the earliest: at that very moment after clock repair. Any other send that
/// ends then had been buffered.
#[test]
fn a_synchronous_send_waits_to_its_last_moment() {
    let text = |construct: &str, end: i64| {
        format!(
            "pe 0: main 0..100 {{ work 0..10  {construct} 10..{end} send(to=1, tag=7) }}
             pe 1: main 0..100 {{ work 0..40  MPI_Recv 40..50 recv(from=0, tag=7) }}"
        )
    };
    assert_eq!(Case::new(&text("MPI_Ssend", 40)).found(), [(Pattern::LateReceiver, 0, 10, 40, Some(1))]);
    silent(&text("MPI_Send", 40));
    silent(&text("MPI_Send", 39));
}

#[test]
fn an_early_root_waits_for_the_last_sender() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Reduce 2..11 reduce(root=0) }
         pe 1: main 0..20 { MPI_Reduce 5..6 reduce(root=0) }
         pe 2: main 0..20 { MPI_Reduce 9..10 reduce(root=0) }",
    );
    assert_eq!(case.found(), [(Pattern::EarlyReduce, 0, 2, 9, Some(2))]);
    silent(
        "pe 0: main 0..20 { MPI_Reduce 9..11 reduce(root=0) }
         pe 1: main 0..20 { MPI_Reduce 5..6 reduce(root=0) }",
    );
}

#[test]
fn a_scan_waits_for_lower_ranks_only() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Scan 5..6 scan }
         pe 1: main 0..20 { MPI_Scan 2..7 scan }
         pe 2: main 0..20 { MPI_Scan 9..10 scan }",
    );
    assert_eq!(case.found(), [(Pattern::EarlyScan, 1, 2, 5, Some(0))]);
}

#[test]
fn waiting_begins_where_nothing_else_can_be_done() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Ibarrier 1..2 started(req=1)  work 2..6  MPI_Wait 6..11 barrier(req=1) }
         pe 1: main 0..20 { MPI_Ibarrier 9..10 started(req=1)  MPI_Wait 10..11 barrier(req=1) }",
    );
    assert_eq!(case.found(), [(Pattern::WaitAtBarrier, 0, 6, 9, Some(1))]);
}

#[test]
fn start_up_and_shut_down_are_kept_apart() {
    let case = Case::new(
        "pe 0: main 0..20 { MPI_Init 0..9 init  MPI_Finalize 10..20 finalize }
         pe 1: main 0..20 { work 0..8  MPI_Init 8..9 init  work 9..15  MPI_Finalize 15..20 finalize }",
    );
    assert_eq!(case.found(), []);
    let start_up: Vec<_> = case.waits.start_up().iter().map(|wait| (wait.begin.0, wait.end.0)).collect();
    assert_eq!(start_up, [(0, 8), (10, 15)]);
}

#[test]
fn a_value_is_waited_for_until_it_is_written() {
    let case = Case::new(
        "paradigm OpenSHMEM
         pe 0: main 0..20 { shmem_int_wait_until 2..10 wait_change }
         pe 1: main 0..20 { work 0..7  shmem_int_put 7..9 put(to=0, bytes=4) }",
    );
    assert_eq!(case.found(), [(Pattern::WaitOnValue, 0, 2, 9, Some(1))]);
    let finding = case.finding();
    // The put was late after 7 of work, and took 2 itself: 7·7/9 = 5.44 and 7·2/9 = 1.56.
    let put = |origin: &str, ticks| (1, "main/shmem_int_put".to_owned(), format!("main/{origin}"), ticks);
    assert_eq!(case.causes(&finding), [put("work", 5), put("shmem_int_put", 2)]);
}

#[test]
fn accesses_compete_where_they_overlap_and_take_longer_than_usual() {
    // Eight accesses alone take 10 each; then two at once take 30 and 25.
    let alone = |rank: u32| {
        format!(
            "pe {rank}: main 0..2000 {{ repeat 8 every 100 {{ shmem_int_put {}..{} put(to=2, bytes=64) }} ",
            10 + 40 * rank,
            20 + 40 * rank
        )
    };
    let case = Case::new(&format!(
        "paradigm OpenSHMEM
         {} shmem_int_put 1000..1030 put(to=2, bytes=64) }}
         {} shmem_int_put 1002..1027 put(to=2, bytes=64) }}
         pe 2: main 0..2000",
        alone(0),
        alone(1)
    ));
    let found = case.found();
    assert_eq!(
        found,
        [(Pattern::CompetingPutGet, 0, 1000, 1020, Some(1)), (Pattern::CompetingPutGet, 1, 1002, 1017, Some(0)),]
    );
    assert_eq!(case.finding().unexplained.0, 0);
    silent(&format!("paradigm OpenSHMEM {} }} {} }} pe 2: main 0..2000", alone(0), alone(1)));
}

#[test]
fn nothing_is_claimed_without_partner_or_from_missing_members() {
    silent("pe 0: main 0..20 { MPI_Recv 2..11 recv(from=1) } pe 1: main 0..20");
    silent(
        "pe 0: main 0..20 { MPI_Barrier 2..11 barrier }
         pe 1: main 0..20 { MPI_Barrier 9..11 barrier }
         pe 2: main 0..20",
    );
}

#[test]
fn who_joins_a_thread_waits_for_its_end() {
    let threads = |end: u32| {
        format!(
            "group threads = 0.0 0.1
             pe 0.0: main 0..100 {{ pthread_create 5..6 create(threads, seq=1) pthread_join 20..60 wait(threads, seq=1) }}
             pe 0.1: worker 7..{end} begin(threads, seq=1) end(threads, seq=1)"
        )
    };
    assert_eq!(Case::new(&threads(58)).found(), [(Pattern::WaitForThread, 0, 20, 58, Some(0))]);
    // It had ended before anybody waited for it.
    assert_eq!(Case::new(&threads(19)).found(), []);
}

#[test]
fn who_waits_for_a_sign_waits_for_the_last_that_another_thread_gave_for_the_object() {
    let threads = |signs: &str| {
        format!(
            "group all = 0.0 0.1
             window w = all
             pe 0.0: main 0..100 {{ pthread_cond_wait 10..60 wait_change(win=w, addr=3) }}
             pe 0.1: main 0..100 {{ {signs} }}"
        )
    };
    let of = |at: u32, object: u32| format!("pthread_cond_signal {at}..{} sign(win=w, addr={object}) ", at + 1);
    // One before it waited, two while it did, one for another object, one afterwards.
    let signs = [of(5, 3), of(20, 3), of(50, 3), of(55, 4), of(70, 3)].concat();
    let case = Case::new(&threads(&signs));
    assert_eq!(case.found(), [(Pattern::WaitOnValue, 0, 10, 50, Some(0))]);
    // Nobody gave one for it meanwhile.
    assert_eq!(Case::new(&threads(&[of(5, 3), of(55, 4)].concat())).found(), []);
}

/// Its time limit passed, or the one who gave it was not recorded: it waited all the same. A call that comes back at once did not.
#[test]
fn who_waits_for_a_value_that_nobody_was_seen_to_give_waits_for_nobody() {
    let call = |end: u32| {
        Case::new(&format!(
            "group all = 0.0 0.1
             window w = all
             pe 0.0: main 0..90000 {{ pthread_cond_timedwait 10..{end} wait_change(win=w, addr=3) }}
             pe 0.1: main 0..90000"
        ))
    };
    assert_eq!(call(20_010 + 1).found(), [(Pattern::WaitOnValue, 0, 10, 20_011, None)]);
    assert_eq!(call(10_010).found(), []);
}

#[test]
fn who_has_no_task_waits_for_the_last_that_another_thread_runs() {
    let team = |other: &str| {
        format!(
            "pe 0.0: \"!$omp parallel\" 0..100 {{ \"!$omp task\" 10..40 \"!$omp taskwait\" 40..90 }}
             pe 0.1: \"!$omp parallel\" 0..100 {{ {other} }}
             pe 1.0: \"!$omp parallel\" 0..100 {{ \"!$omp task\" 10..88 }}"
        )
    };
    let long = team("\"!$omp task\" 10..60 \"!$omp task\" 60..85");
    let case = Case::new(&long);
    // Ranks, of which both threads have the same.
    assert_eq!(case.found(), [(Pattern::WaitForTask, 0, 40, 85, Some(0))]);
    assert_eq!(case.causes(&case.finding()).len(), 1);
    // What ended before it came, or goes on after it left, was not waited for; nor is what another process does.
    let over = team("\"!$omp task\" 10..40 \"!$omp task\" 60..95");
    assert_eq!(Case::new(&over).found(), []);
}

/// A task that runs in a barrier ends the operation, and what is left of it is another one: still the barrier, until the last one comes.
#[test]
fn after_a_task_in_a_barrier_a_thread_waits_for_the_last_one() {
    // A recording tells of the function whose code the task is.
    for task in ["\"!$omp task\" 12..30", "outlined 12..30 { \"!$omp task\" 12..30 }"] {
        let case = Case::new(&format!(
            "pe 0.0: \"!$omp parallel\" 0..100 {{ \"!$omp implicit barrier\" 90..95 }}
             pe 0.1: \"!$omp parallel\" 0..100 {{ \"!$omp implicit barrier\" 10..12 {task} \"!$omp taskwait\" 31..95 }}"
        ));
        assert_eq!(case.found(), [(Pattern::WaitAtBarrier, 0, 31, 90, Some(0))], "{task}");
    }
}
