//! Records that do not fit: they are mended or left out, and it is said.

use partune_diag::Code;
use partune_trace::PauseKind;

use crate::texts::{one, said, stream, visits, with};

const BEGIN: &str = "6 0\n";

#[test]
fn what_does_not_end_ends_where_the_scheduler_goes_on() {
    // An entry method inside of another; the outer one has no end, and idle cannot be inside of it.
    let trace = one(&format!(
        "{BEGIN}2 4 2 10 -1 0 0 0 0 0\n2 4 3 20 -1 0 0 0 0 0 0 0 0\n3 0 3 30 -1 0 0 0\n14 50 0\n15 60 0\n7 70\n"
    ));
    assert_eq!(visits(&trace, 0)[1..], ["Worker::work 10 50", ". Main::done 20 30", "idle 50 60", "scheduler 60 70"]);
    assert_eq!(said(&trace, Code::MissingLeaves), 1);
    let trace = one(&format!("{BEGIN}3 0 2 10 -1 0 0 0\n15 20 0\n14 30 0\n2 4 2 40 -1 0 0 0 0 0\n"));
    assert_eq!(visits(&trace, 0), ["start-up 0 30", "idle 30 40", "Worker::work 40 40"]);
    assert_eq!((said(&trace, Code::StrayLeaves), said(&trace, Code::MissingLeaves)), (2, 2));
    assert_eq!(said(&trace, Code::CutFile), 1, "the computation has no end");
}

#[test]
fn a_program_ends_in_an_entry_method() {
    let trace = one(&format!("{BEGIN}2 4 2 10 -1 0 0 0 0 0\n7 40\n"));
    assert_eq!(visits(&trace, 0), ["start-up 0 10", "Worker::work 10 40"]);
    assert_eq!(trace.quality().entries().iter().filter(|it| it.code != Code::MissingFile).count(), 0);
}

#[test]
fn what_ends_while_nothing_is_recorded_ends_before() {
    let body =
        "2 4 2 10 -1 0 0 0 0 0\n12 20\n11 50\n2 4 3 60 -1 0 0 0 0 0 0 0 0\n3 0 3 70 -1 0 0 0\n12 75\n11 80\n7 90\n";
    let trace = one(&format!("{BEGIN}{body}"));
    let expected = [
        "start-up 0 10",
        "Worker::work 10 20",
        "scheduler 50 60",
        "Main::done 60 70",
        "scheduler 70 75",
        "scheduler 80 90",
    ];
    assert_eq!(visits(&trace, 0), expected);
    let pauses: Vec<_> = stream(&trace, 0).pauses.iter().map(|it| (it.begin.0, it.end.0, it.kind)).collect();
    assert_eq!(pauses, [(20, 50, PauseKind::Off), (75, 80, PauseKind::Off)]);
}

#[test]
fn events_that_overlap_begin_later() {
    // Told at 40: from 5, which is before the entry method.
    let body = "2 4 2 10 -1 0 0 0 0 0\n100 9 5 1 0 0\n100 9 40 1 0 0\n3 0 2 50 -1 0 0 0\n7 60\n";
    let trace = one(&format!("{BEGIN}{body}"));
    assert_eq!(visits(&trace, 0)[1..3], ["Worker::work 10 50", ". solve 10 40"]);
    assert_eq!(said(&trace, Code::CrossingVisits), 1);
    // Half an event, and one that another comes in between of.
    let body = "100 9 5 1 0 0\n100 8 6 2 0 0\n100 8 7 2 0 0\n100 9 8 3 0 0\n7 60\n";
    let trace = one(&format!("{BEGIN}{body}"));
    assert_eq!(visits(&trace, 0), ["start-up 0 6", "prepare 6 7", "scheduler 7 60"]);
    assert_eq!(said(&trace, Code::StrayLeaves), 1);
}

#[test]
fn a_message_is_sent_until_something_else_happens() {
    let body = "2 4 2 10 -1 0 0 0 0 0\n1 21 2 20 1 0 64 1000\n16 21 0\n17 23 0\n13 7 30 2 0\n3 0 2 50 -1 0 0 0\n1 21 2 60 3 0 64 2\n7 100\n";
    let trace = one(&format!("{BEGIN}{body}"));
    let expected = [
        "start-up 0 10",
        "Worker::work 10 50",
        ". send 20 30",
        ". . pack 21 23",
        ". half done 30 30",
        "scheduler 50 60",
        "send 60 62",
        "scheduler 62 100",
    ];
    assert_eq!(visits(&trace, 0), expected);
    assert_eq!((said(&trace, Code::OneSidedMessages), stream(&trace, 0).sends.len()), (2, 0));
}

/// A runtime that reuses a message logs its old number: the execution of another entry method with another length is none of it, nor is one of a message for one PE that
/// another PE ran first.
#[test]
fn an_execution_belongs_to_the_message_that_it_runs() {
    let sts =
        "VERSION 11.0\nPROCESSORS 3\nCHARE 0 \"A\" -1\nENTRY CHARE 0 \"a()\" 0 0\nENTRY CHARE 1 \"b()\" 0 0\nEND\n";
    let begin =
        |entry, time, bytes| format!("2 4 {entry} {time} 7 0 {bytes} 0 0 0 0 0 0\n3 0 {entry} {} 7 0 0 0\n", time + 5);
    let zero = "6 0\n1 21 1 100 7 0 64 0\n7 900\n";
    let other =
        format!("6 0\n14 10 1\n15 110 1\n{}14 130 1\n15 240 1\n{}7 900\n", begin(0, 120, 32), begin(1, 250, 64));
    let later = format!("6 0\n{}7 900\n", begin(1, 300, 64));
    let trace = with(sts, &[zero, &other, &later]);
    let received: Vec<usize> = (0..3).map(|pe| stream(&trace, pe).recvs.len()).collect();
    assert_eq!((stream(&trace, 0).sends.len(), received), (1, vec![0, 1, 0]));
    assert_eq!(stream(&trace, 1).recvs[0].time.0, 240, "the second idle time ended with it");
    assert_eq!(said(&trace, Code::OneSidedMessages), 2);
}

/// Broadcasts that PEs pass on are tied only where counts and times allow one way to do it.
#[test]
fn broadcasts_that_are_passed_on() {
    let sts = "VERSION 11.0\nPROCESSORS 2\nCHARE 0 \"A\" 1\nENTRY CHARE 0 \"b()\" 0 0\nEND\n";
    let root = "6 0\n20 24 0 100 0 0 64 0 2\n20 24 0 300 1 0 64 0 2\n7 900\n";
    let pass = |event: u32, time: u32| {
        format!(
            "14 {} 1\n15 {time} 1\n1 25 0 {} {event} 1 64 0\n2 25 0 {} {event} 1 64 0 {event} 0\n3 0 0 {} {event} 1 0 0\n",
            time - 50,
            time + 2,
            time + 4,
            time + 6
        )
    };
    let peers = |trace: &partune_trace::Trace| {
        stream(trace, 1).recvs.iter().map(|it| (it.peer.0, it.time.0)).collect::<Vec<_>>()
    };
    let trace = with(sts, &[root, &format!("6 0\n{}{}7 900\n", pass(0, 150), pass(1, 350))]);
    assert_eq!(peers(&trace), [(0, 150), (1, 154), (0, 350), (1, 354)]);
    // One is missing; one is there before it was sent.
    for log in [pass(0, 150), pass(0, 80) + &pass(1, 350)] {
        let trace = with(sts, &[root, &format!("6 0\n{log}7 900\n")]);
        assert!(peers(&trace).iter().all(|(peer, _)| *peer == 1), "{:?}", peers(&trace));
    }
}

/// Objects got a message of their own PE by the number that the message of another one has, which PEs pass on to themselves: it is that, if it can be no other.
#[test]
fn what_a_pe_passes_on_to_itself_is_of_who_made_it() {
    let sts = "VERSION 11.0\nPROCESSORS 3\nCHARE 0 \"A\" 1\nENTRY CHARE 0 \"result()\" 0 0\nENTRY CHARE 1 \"ghost()\" 0 0\nEND\n";
    let ran = |pe: u32, time: u32| format!("2 4 0 {time} 5 {pe} 64 0 {pe} 9\n3 0 0 {} 5 {pe} 0 0\n", time + 5);
    let made = |entry: u32, bytes: u32| format!("1 24 {entry} 100 5 0 {bytes} 0\n");
    let log = |begin: &str, rest: &str| format!("6 0\n{begin}{rest}7 900\n");
    let root = log(&made(0, 64), &(ran(0, 110) + &ran(0, 120)));
    let peers = |others: [String; 2]| {
        let trace = with(sts, &[&root, &others[0], &others[1]]);
        let of = |pe| stream(&trace, pe).recvs.iter().map(|it| it.peer.0).collect::<Vec<_>>();
        (of(1), of(2), said(&trace, Code::OneSidedMessages))
    };
    // The number is that of another message of PE 1, as long, which PE 2 got; that made none of it.
    let own = || log(&made(1, 64), &(ran(1, 200) + &ran(1, 210)));
    let ghost = "2 4 1 250 5 1 64 0 2 9\n3 0 1 255 5 1 0 0\n";
    assert_eq!(peers([own(), log("", &(ghost.to_owned() + &ran(2, 300)))]), (vec![0], vec![1, 0], 0));
    // Nobody else got that, so it may be it.
    assert_eq!(peers([own(), log("", &ran(2, 300))]), (vec![1], vec![0], 0));
    // Two made one, so nobody can tell whose it is.
    assert_eq!(peers([log(&made(1, 32), &ran(1, 200)), log(&made(0, 64), "")]), (vec![], vec![], 3));
}

/// The logs of older versions have fewer fields.
#[test]
fn versions_differ_in_fields() {
    let body = |creation: &str, begin: &str, end: &str| format!("6 0\n{creation}\n{begin}\n{end}\n7 100\n");
    let cases = [
        ("1.0", body("1 3 0 10 1 0", "2 3 0 20 1 0", "3 0 0 30 1 0"), 0, 0),
        ("3.0", body("1 3 0 10 1 0 64", "2 3 0 20 1 0 64", "3 0 0 30 1 0 0"), 64, 0),
        ("4.0", body("1 3 0 10 1 0 64", "2 3 0 20 1 0 64 15 4 5 0", "3 0 0 30 1 0 0"), 64, 3),
        ("5.0", body("1 3 0 10 1 0 64 3", "2 3 0 20 1 0 64 15 4 5 0", "3 0 0 30 1 0 0"), 64, 3),
        ("6.5", body("1 3 0 10 1 0 64 3", "2 3 0 20 1 0 64 15 4 5 0 9", "3 0 0 30 1 0 0 9"), 64, 3),
        ("7.0", body("1 3 0 10 1 0 64 3", "2 3 0 20 1 0 64 15 4 5 0 0 9", "3 0 0 30 1 0 0 9"), 64, 4),
        ("9.0", body("1 3 0 10 1 0 64 3", "2 3 0 20 1 0 64 15 4 5 9", "3 0 0 30 1 0 0 9"), 64, 2),
        ("11.0", body("1 3 0 10 1 0 64 3", "2 3 0 20 1 0 64 15 4 5 9", "3 0 0 30 1 0 0 9"), 64, 2),
    ];
    for (version, log, bytes, coordinates) in cases {
        let dimensions = if ["9.0", "11.0"].contains(&version) { " 2" } else { "" };
        let sts = format!("VERSION {version}\nPROCESSORS 1\nCHARE 0 A{dimensions}\nENTRY CHARE 0 a(int x) 0 0\nEND\n");
        let trace = with(&sts, &[&log]);
        let stream = stream(&trace, 0);
        assert_eq!(said(&trace, Code::MalformedRecords), 0, "{version}");
        assert_eq!(stream.recvs.iter().map(|row| row.bytes).collect::<Vec<_>>(), [bytes], "{version}");
        let object = stream.executions[0].object;
        let index = object.some().map_or(0, |object| trace.objects()[object].index.len());
        assert_eq!(index, coordinates, "{version}");
    }
}

/// Hardware counters are at the end of records, as many as the symbol table names.
#[test]
fn counters_and_phases() {
    let sts = "VERSION 11.0\nTOTAL_PHASES 2\nTOTAL_PAPI_EVENTS 2\nPAPI_EVENT 0 PAPI_TOT_INS\nPAPI_EVENT 1 PAPI_L1_DCM\nPROCESSORS 1\nCHARE 0 \"A\" 1\nENTRY CHARE 0 \"a()\" 0 0\nEND\n";
    let log = "6 0\n2 4 0 10 -1 0 0 0 3 5 1000 7\n30 0 15\n3 0 0 20 -1 0 0 9 1500 8\n14 30 0\n15 40 0\n7 50\n";
    let trace = with(sts, &[log]);
    let expected = [
        "start-up 0 10",
        "phase 0 10 20",
        ". A::a 10 20",
        "phase 1 20 50",
        ". scheduler 20 30",
        ". idle 30 40",
        ". scheduler 40 50",
    ];
    assert_eq!(visits(&trace, 0), expected);
    let values: Vec<(i64, f64)> = stream(&trace, 0).metrics.iter().map(|row| (row.time.0, row.value)).collect();
    assert_eq!(values, [(10, 1000.0), (10, 7.0), (20, 1500.0), (20, 8.0)]);
    assert_eq!(trace.objects().iter().map(|object| object.index.to_vec()).collect::<Vec<_>>(), [[3]]);
}

#[test]
fn times_beyond_all_are_moved_and_said() {
    let trace =
        one("6 0\n13 7 9223372036854775807 1 0\n13 7 -9223372036854775807 2 0\n1 21 2 60 3 0 64 9223372036854775807\n");
    assert_eq!((said(&trace, Code::FarTimes), said(&trace, Code::BackwardTimes)), (2, 4));
    assert!(stream(&trace, 0).visits.exit.iter().all(|time| time.0 <= 1 << 54));
}
