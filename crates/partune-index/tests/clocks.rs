//! Clock repair.

use partune_base::{PeId, Span, Time};
use partune_index::{Index, clock_repair};
use partune_testkit::pe;
use partune_trace::{ClockLine, MeasuredClock};

use crate::index;

const LATE: &str = "pe 0: main 0..100000 { work 0..50000 MPI_Send 50000..50020 send(1) }
    pe 1: main 0..100000 { work 0..40000 MPI_Recv 40000..49900 recv(0) work 49900..60000 work 60000..100000 }";

#[test]
fn an_effect_moves_to_its_cause_and_nothing_tears() {
    let (trace, index) = index(LATE);
    let found = index.clocks.found;
    assert_eq!((found.messages, found.violated_messages, found.worst.0), (1, 1, 100));
    assert!(found.is_needed() && found.trustworthy() && index.clocks.aligned);
    let (fixed, done) = clock_repair::repair(trace, &index);
    let again = Index::build(&fixed);
    assert_eq!(again.clocks.found.violated_messages, 0);
    assert!(done.moved_events > 0 && done.unresolved == 0);
    let visits = &fixed.streams()[pe(&fixed, 1)].visits;
    // Received when it was sent; 10,000 ticks later the clock is back; before, work is stretched by 1 %.
    assert_eq!(visits.exit[2], Time(50000));
    assert_eq!(visits.enter[4], Time(60000));
    assert_eq!(visits.enter[2], Time(40001), "from 39,900 on, time is stretched");
    assert_eq!(fixed.streams()[pe(&fixed, 1)].recvs[0].time, Time(50000));
    assert_eq!(fixed.streams()[pe(&fixed, 0)].visits.exit[2], Time(50020), "the sender is left alone");
}

#[test]
fn causes_are_not_pushed_behind_their_effects() {
    // Rank 1 sends to rank 2 just before it receives too early: it must not be stretched past that message.
    let (trace, index) = index(
        "pe 0: main 0..100000 { MPI_Send 50000..50020 send(1) }
         pe 1: main 0..100000 { MPI_Send 49890..49891 send(2) MPI_Recv 49892..49900 recv(0) }
         pe 2: main 0..100000 { MPI_Recv 40000..49895 recv(1) }",
    );
    let (fixed, _) = clock_repair::repair(trace, &index);
    let after = Index::build(&fixed).clocks.found;
    assert!(!after.is_needed(), "{after:?}");
    assert!(fixed.streams()[pe(&fixed, 1)].visits.enter[1].0 <= 49895);
    assert_eq!(fixed.streams()[pe(&fixed, 2)].visits.exit[1], Time(49895));
}

#[test]
fn collectives_hold_their_members() {
    let (trace, index) = index(
        "pe 0: main 0..100000 { MPI_Barrier 1000..2000 barrier MPI_Bcast 5000..5010 bcast(root=0, bytes=8) MPI_Reduce 7000..7010 reduce(root=0, bytes=8) }
         pe 1: main 0..100000 { MPI_Barrier 2100..2200 barrier MPI_Bcast 4000..4990 bcast(root=0, bytes=8) MPI_Reduce 7100..7200 reduce(root=0, bytes=8) }",
    );
    let found = index.clocks.found;
    assert_eq!((found.collectives, found.violated_collectives, found.worst.0), (3, 3, 100));
    let (fixed, _) = clock_repair::repair(trace, &index);
    let after = Index::build(&fixed).clocks.found;
    assert!(!after.is_needed(), "{after:?}");
}

#[test]
fn threads_move_with_their_process() {
    let text = format!("{LATE}\n pe 1.1: work 49890..49905");
    let (trace, index) = index(&text);
    let (fixed, _) = clock_repair::repair(trace, &index);
    let visits = &fixed.streams()[partune_testkit::thread(&fixed, 1, 1)].visits;
    assert_eq!((visits.enter[0], visits.exit[0]), (Time(49989), Time(50005)));
}

#[test]
fn clocks_that_were_never_aligned_are_said_and_left() {
    let text = "pe 0: main 0..1000 { repeat 10 every 100 { MPI_Ssend 50..60 send(1) } }
        pe 1: main 0..1000 { repeat 10 every 100 { MPI_Recv 10..20 recv(0) } }";
    let (trace, index) = index(text);
    let found = index.clocks.found;
    assert_eq!((found.violated_messages, found.messages), (10, 10));
    assert!(!found.trustworthy() && !index.clocks.aligned);
    assert_eq!((found.messages + found.collectives, found.violated_messages, found.worst.0), (10, 10, 30));
    let enters = trace.streams()[pe(&trace, 1)].visits.enter.clone();
    let (same, done) = clock_repair::repair(trace, &index);
    assert_eq!((same.streams()[pe(&same, 1)].visits.enter.clone(), done.moved_events), (enters, 0));
}

#[test]
fn a_synchronous_send_cannot_leave_before_the_receive_is_posted() {
    let (trace, index) = index(
        "pe 0: main 0..100000 { MPI_Ssend 100..150 send(1) }
         pe 1: main 0..100000 { MPI_Recv 200..250 recv(0) }",
    );
    let found = index.clocks.found;
    assert_eq!((found.violated_messages, found.worst.0), (1, 50));
    let (fixed, _) = clock_repair::repair(trace, &index);
    assert_eq!(fixed.streams()[pe(&fixed, 0)].visits.exit[1], Time(200));
}

#[test]
fn an_exposure_cannot_end_before_the_last_access_epoch_does() {
    let epochs = |last: &str, wait: &str| {
        format!(
            "group origins = 0 1
             group target = 2
             pe 0: main 0..100000 {{ MPI_Win_start 10..20 epoch(target) MPI_Win_complete 40..41 epoch(target) }}
             pe 1: main 0..100000 {{ MPI_Win_start 10..20 epoch(target) MPI_Win_complete {last} epoch(target) }}
             pe 2: main 0..100000 {{ MPI_Win_post 0..1 epoch(origins) {wait} epoch(origins) }}"
        )
    };
    let (trace, index) = index(&epochs("200..250", "MPI_Win_wait 30..150"));
    let found = index.clocks.found;
    assert_eq!((found.collectives, found.violated_collectives, found.worst.0), (1, 1, 50));
    let (fixed, done) = clock_repair::repair(trace, &index);
    assert_eq!(fixed.streams()[pe(&fixed, 2)].visits.exit[2], Time(200));
    assert_eq!((done.unresolved, Index::build(&fixed).clocks.found.violated_collectives), (0, 0));
    // Nothing is wrong where the wait came back later, and a test that found nothing says nothing.
    for (wait, exposures) in [("MPI_Win_wait 30..260", 1), ("MPI_Win_test 30..150", 0)] {
        let (_, index) = crate::index(&epochs("200..250", wait));
        let found = index.clocks.found;
        assert_eq!((found.collectives, found.violated_collectives), (exposures, 0), "{wait}");
    }
}

/// Barriers that nothing is wrong with; to the times of rank 1 an offset is added.
fn with_offset(offset: i64, slope: f64) -> (partune_trace::Trace, Index) {
    let mut built = partune_testkit::builder(
        "pe 0 1: main 0..100000 { repeat 4 every 20000 { work 1000..2000 MPI_Barrier 2000..2010 barrier } }",
    );
    let clock = MeasuredClock::new(vec![ClockLine { begin: Time(0), offset, slope }]);
    built.clocks = vec![MeasuredClock::default(), clock.clone()].into();
    built.streams[PeId(1)].map_times(|time| clock.time(time));
    let trace = built.seal();
    let index = Index::build(&trace);
    (trace, index)
}

#[test]
fn offsets_that_most_of_the_run_contradicts_are_taken_back() {
    let (trace, index) = with_offset(500, 0.001);
    let (fixed, done) = clock_repair::repair(trace, &index);
    assert!(done.offsets_taken_back && done.moved_events == 0);
    assert_eq!((done.violated_collectives, done.collectives), (4, 4));
    assert!(done.worst > Span(400), "counted with the offsets");
    let streams = fixed.streams();
    assert_eq!(streams[PeId(1)].visits, streams[PeId(0)].visits, "the clocks are those of one node");
    assert_eq!((fixed.begin(), fixed.end()), (Time(0), Time(100_000)));
    // The times without offsets are as wrong: left to the logical clock.
    let (mut trace, _) = with_offset(500, 0.001);
    trace = trace.retime(|streams| streams[PeId(0)].map_times(|time| time + Span(2000)));
    let index = Index::build(&trace);
    let (_, done) = clock_repair::repair(trace, &index);
    assert!(!done.offsets_taken_back && done.violated_collectives > 0);
}

#[test]
fn offsets_that_nothing_contradicts_stay() {
    let (trace, index) = with_offset(5, 0.0);
    let before = trace.streams()[PeId(1)].visits.clone();
    let (kept, done) = clock_repair::repair(trace, &index);
    assert!(!done.offsets_taken_back);
    assert_eq!(kept.streams()[PeId(1)].visits, before);
}
