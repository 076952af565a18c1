//! Recordings of a part of the run, its newest events or what was chosen: what belongs together where a begin is missing.

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

#[test]
fn each_stretch_of_recording_begins_with_what_was_under_way() {
    // Between 30 and 50 nothing is recorded; a message that was sent then is received at 51, and the last one of each stretch is received too late.
    let text = "pe 0: main 0..100 {
             MPI_Send 10..12 send(1, tag=5)
             MPI_Send 20..22 send(1, tag=5)
             main 30..50 pause
             MPI_Send 60..62 send(1, tag=5)
             MPI_Send 70..72 send(1, tag=5)
             MPI_Send 80..82 send(1, tag=5)
         }
         pe 1: main 0..100 {
             MPI_Recv 10..14 recv(0, tag=5)
             main 29..49 pause
             MPI_Recv 50..51 recv(0, tag=5)
             MPI_Recv 60..64 recv(0, tag=5)
             MPI_Recv 70..74 recv(0, tag=5)
         }";
    let (trace, index) = of(text, false);
    assert_eq!(sends(&trace, &index), [Some(0), None, Some(2), Some(3)]);
    assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (2, 1));
}

#[test]
fn clocks_of_two_nodes_may_be_apart() {
    // As many were received as were sent: two units too early by the clock of another node, or each by a send before it, ten units apart.
    let text = "pe 0: main 0..100 { main 1..50 pause MPI_Send 60..61 send(1, tag=5) MPI_Send 70..71 send(1, tag=5) MPI_Send 80..81 send(1, tag=5) }
         pe 1: main 0..100 { main 1..45 pause MPI_Recv 55..58 recv(0, tag=5) MPI_Recv 65..68 recv(0, tag=5) MPI_Recv 75..78 recv(0, tag=5) }";
    let (trace, index) = of(&format!("node a = 0\nnode b = 1\n{text}"), false);
    assert_eq!(sends(&trace, &index), [Some(0), Some(1), Some(2)]);
    let (trace, index) = of(text, false);
    assert_eq!(sends(&trace, &index), [None, Some(0), Some(1)], "one clock does not contradict itself");
}

#[test]
fn a_message_may_pass_a_pause() {
    let text = "pe 0: main 0..100 { MPI_Send 10..12 send(1, tag=5) main 30..50 pause MPI_Send 60..62 send(1, tag=5) }
         pe 1: main 0..100 { main 5..50 pause MPI_Recv 55..56 recv(0, tag=5) MPI_Recv 60..64 recv(0, tag=5) }";
    let (trace, index) = of(text, false);
    assert_eq!(sends(&trace, &index), [Some(0), Some(1)]);
}

#[test]
fn operations_of_all_are_told_apart_in_each_stretch() {
    // PE 1 was in the first barrier after the pause, and PE 2 in the one before the next pause, when they did not record.
    let (_, index) = of(
        "pe 0: main 0..100 { MPI_Barrier 2..6 barrier main 10..20 pause MPI_Barrier 21..30 barrier MPI_Barrier 40..50 barrier MPI_Barrier 52..60 barrier main 61..70 pause MPI_Barrier 80..84 barrier }
         pe 1: main 0..100 { MPI_Barrier 3..6 barrier main 10..24 pause MPI_Barrier 45..50 barrier MPI_Barrier 55..60 barrier main 62..70 pause MPI_Barrier 81..84 barrier }
         pe 2: main 0..100 { MPI_Barrier 5..6 barrier main 10..20 pause MPI_Barrier 29..30 barrier MPI_Barrier 49..50 barrier main 51..71 pause MPI_Barrier 83..84 barrier }",
        false,
    );
    assert_eq!(enters(&index), [vec![2, 3, 5], vec![21, 29], vec![40, 45, 49], vec![52, 55], vec![80, 81, 83]]);
}

#[test]
fn roots_tell_operations_apart() {
    let (_, index) = of(
        "pe 0: main 0..100 { main 1..10 pause MPI_Bcast 20..21 bcast(root=1) MPI_Bcast 30..31 bcast(root=0) }
         pe 1: main 0..100 { main 1..10 pause MPI_Bcast 12..13 bcast(root=0) MPI_Bcast 18..21 bcast(root=1) MPI_Bcast 25..33 bcast(root=0) }",
        false,
    );
    assert_eq!(enters(&index), [vec![12], vec![20, 18], vec![30, 25]]);
}

/// A ring of PE 0 to 1 and back whose PEs record from different turns on: turns begin at 100, 200, ..., and PE 1 sends 20 later.
fn ring(from: [i64; 2], to: [i64; 2], bytes: impl Fn(i64) -> i64) -> String {
    let turns = |pe: usize, late: i64| -> String {
        let turn = |at: i64| {
            let (send, end, bytes, other) = (100 * at + late, 100 * at + 30, bytes(at), 1 - pe);
            format!(
                "MPI_Send {send}..{} send({other}, tag=5, bytes={bytes}) MPI_Recv {}..{} recv({other}, tag=5, bytes={bytes}) MPI_Barrier {}..{} barrier ",
                send + 1,
                send + 2,
                end + 5 * pe as i64,
                end + 10 + 20 * pe as i64,
                end + 40
            )
        };
        let kept: String = (from[pe]..to[pe]).map(turn).collect();
        format!(
            "pe {pe}: main 0..10000 {{ main 1..{} pause {kept} main {}..9999 pause }}\n",
            100 * from[pe] - 1,
            100 * to[pe]
        )
    };
    turns(0, 0) + &turns(1, 20)
}

#[test]
fn many_turns_between_the_begins_of_two_pes_are_told_by_time() {
    for (from, to) in [([10, 40], [80, 60]), ([40, 10], [60, 80]), ([10, 40], [60, 80]), ([40, 10], [80, 60])] {
        let (trace, index) = of(&ring(from, to, |_| 8), false);
        let begin = from[0].max(from[1]);
        let end = to[0].min(to[1]);
        // What PE 0 sent, as PE 1 received it.
        let wanted: Vec<Option<u32>> =
            (from[1]..to[1]).map(|turn| (begin..end).contains(&turn).then_some((turn - from[0]) as u32)).collect();
        assert_eq!(sends(&trace, &index), wanted, "{from:?} {to:?}");
        let whole = index.collectives.instances.iter().filter(|it| index.collectives.members(it).len() == 2).count();
        assert_eq!(whole as i64, end - begin, "{from:?} {to:?}");
        for at in &index.collectives.instances {
            let members = index.collectives.members(at);
            assert!(members.iter().all(|it| it.enter.0 / 100 == members[0].enter.0 / 100));
        }
    }
}

#[test]
fn sizes_tell_messages_apart_that_lie_about() {
    // PE 0 sends two messages before the first is received, always.
    let text = |bytes: [u64; 8]| {
        let send =
            |at: usize| format!("MPI_Send {}..{} send(1, tag=5, bytes={}) ", 10 * at + 1, 10 * at + 2, bytes[at]);
        let recv =
            |at: usize| format!("MPI_Recv {}..{} recv(0, tag=5, bytes={}) ", 10 * at + 25, 10 * at + 26, bytes[at]);
        let (sent, got): (String, String) = ((0..8).map(send).collect(), (3..8).map(recv).collect());
        format!(
            "pe 0: main 0..200 {{ main 0..1 pause {sent} main 73..150 pause }}\npe 1: main 0..200 {{ main 1..50 pause {got} }}"
        )
    };
    let (trace, index) = of(&text([1, 2, 3, 4, 5, 6, 7, 8]), false);
    assert_eq!(sends(&trace, &index), [3, 4, 5, 6, 7].map(Some));
}
