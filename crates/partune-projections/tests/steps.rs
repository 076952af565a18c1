//! The example, of which everything is known by hand: three PEs, a worker on each. Idle PEs wait for what PE 0 sends them, PE 0 for an answer; PE 2 is busy
//! when its message comes and waits for nothing.

use partune_base::{PeId, Time};
use partune_index::{Index, Ties};
use partune_trace::{MetricSample, NO_MATCHING, PauseKind, Role, Trigger, VisitIx};

use crate::texts::{open, steps, stream, times, visits};

#[test]
fn visits_are_what_pes_did() {
    let trace = open(&steps(), "steps.sts");
    assert_eq!(trace.quality().entries().len(), 0, "{:?}", trace.quality().entries());
    assert_eq!((trace.events(), trace.clock().ticks_per_second()), (57, 1_000_000));
    let expected = [
        "start-up 0 100",
        "send 100 104",
        ". pack 101 103",
        "scheduler 104 110",
        "Worker::Worker 110 120",
        "scheduler 120 130",
        "Worker::work 130 600",
        ". half done 200 200",
        ". prepare 250 350",
        ". solve 400 550",
        ". . send 500 506",
        ". . . pack 502 504",
        "scheduler 600 610",
        "log flush 610 640",
        "scheduler 640 650",
        "idle 650 900",
        "scheduler 900 905",
        "unpack 905 907",
        "scheduler 907 910",
        "Main::done 910 950",
        "scheduler 950 1000",
    ];
    assert_eq!(visits(&trace, 0), expected);
    let expected = [
        "start-up 5 60",
        "idle 60 130",
        "scheduler 130 135",
        "Worker::Worker 135 170",
        "scheduler 170 180",
        "Worker::work 180 700",
        ". solve 320 380",
        ". note 390 390",
        "scheduler 700 705",
        "Worker::work 705 900",
        "scheduler 900 995",
    ];
    assert_eq!(visits(&trace, 2), expected);
    let pauses = |pe| stream(&trace, pe).pauses.iter().map(|it| (it.begin.0, it.end.0, it.kind)).collect::<Vec<_>>();
    assert_eq!(pauses(0), [(610, 640, PauseKind::Flush)]);
    assert_eq!(pauses(2), [(140, 160, PauseKind::Off)]);
}

/// From, to, sent, received, bytes; and where it was received.
#[test]
fn a_message_has_two_ends_for_each_pe_that_got_it() {
    let trace = open(&steps(), "steps.sts");
    let index = Index::build(&trace);
    assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (0, 0));
    let said = index.messages.iter().map(|it| {
        let (send, recv) = (
            stream(&trace, it.sender.0).sends[it.send as usize],
            stream(&trace, it.receiver.0).recvs[it.recv as usize],
        );
        let at = trace.strings().get(trace.region_of(it.receiver, recv.visit).name);
        format!("{} {} {} {} {} {at}", it.sender.0, it.receiver.0, send.time.0, recv.time.0, recv.bytes)
    });
    let expected = [
        "0 0 100 110 96 Worker::Worker",
        "1 0 800 900 48 idle",
        "0 1 100 140 96 idle",
        "0 1 500 530 64 idle",
        "0 2 100 130 96 idle",
        "0 2 500 705 64 Worker::work",
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

/// Who waited from when to when, and what the late sender was in.
#[test]
fn idle_waits_for_the_message_that_ended_it() {
    let trace = open(&steps(), "steps.sts");
    let index = Index::build(&trace);
    let ties = Ties::build(&trace, &index);
    let mut waits = Vec::new();
    for pe in 0..3 {
        for bound in ties.binding(&trace, &index, PeId(pe)) {
            if trace.role_of(PeId(pe), bound.taker.visit) == Role::Recv {
                let path = trace.visit(bound.gift.place.pe, bound.gift.place.visit).path;
                let names = trace
                    .paths()
                    .ancestors(path)
                    .map(|it| trace.strings().get(trace.regions()[trace.paths().region(it)].name));
                let names: Vec<&str> = names.collect();
                waits.push(format!(
                    "{pe} {} {} of {}: {}",
                    bound.since.0,
                    bound.gift.time.0,
                    bound.gift.place.pe.0,
                    names.join(" in ")
                ));
            }
        }
    }
    let expected = [
        "0 650 800 of 1: send in Worker::work",
        "1 50 100 of 0: send",
        "1 160 500 of 0: send in solve in Worker::work",
        "2 60 100 of 0: send",
    ];
    assert_eq!(waits, expected);
}

/// What ran, on which object, since when, why, and for which message: of whom, and its number there.
#[test]
fn executions_are_the_event_graph() {
    let trace = open(&steps(), "steps.sts");
    let said = |pe: u32| -> Vec<String> {
        let rows = stream(&trace, pe).executions.iter();
        let row = rows.map(|it| {
            let object = &trace.objects()[it.object];
            let class = trace.strings().get(object.class);
            let home = object.home.some().map_or(String::new(), |pe| format!("@{}", pe.0));
            let message = (it.message != NO_MATCHING).then_some((it.message >> 32, it.message & 0xffff_ffff));
            assert_eq!(times(&trace, pe, it.visit).0, it.begin);
            format!("{class}{:?}{home} {} {:?} {message:?}", object.index, it.begin.0, it.trigger)
        });
        row.collect()
    };
    assert_eq!(
        said(0),
        ["Worker[0] 110 Creation Some((0, 0))", "Worker[0] 130 Call None", "Main[]@0 910 Message Some((1, 0))"]
    );
    assert_eq!(said(1), ["Worker[1] 145 Creation Some((0, 0))", "Worker[1] 540 Message Some((0, 5))"]);
    assert_eq!(said(2)[2], "Worker[2] 705 Message Some((0, 5))");
    assert_eq!(trace.objects().len(), 4);
    assert_eq!(Trigger::ALL.len(), 3);
}

#[test]
fn values_are_metrics() {
    let trace = open(&steps(), "steps.sts");
    let value = |row: &MetricSample| {
        let visit = trace.region_of(PeId(0), row.visit);
        let names = [trace.metrics()[row.metric].name, visit.name].map(|name| trace.strings().get(name));
        format!("{} {} {} in {}", names[0], row.time.0, row.value, names[1])
    };
    let said: Vec<String> = stream(&trace, 0).metrics.iter().map(value).collect();
    let expected = [
        "error 560 2.5 in Worker::work",
        "user-supplied value 570 42 in Worker::work",
        "memory 571 4096 in Worker::work",
    ];
    assert_eq!(said, expected);
    assert_eq!(stream(&trace, 0).visits.enter[0], Time(0));
    assert!(stream(&trace, 0).sends.iter().all(|row| row.visit != VisitIx::NONE));
}
