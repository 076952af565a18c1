//! Traces that are not as they should be: nothing panics, what can be read is, and the rest is said.

use std::collections::BTreeMap;
use std::io::Write;

use partune_paraver::import::import;
use partune_trace::Trace;
use proptest::prelude::*;

use crate::texts::{header, noticed, shown, stream, trace};

#[test]
fn in_any_order() {
    let ordered = "2:1:1:1:1:10:50000001:1\n2:1:1:1:1:20:50000001:0\n2:1:1:1:1:30:50000002:8:50100004:1\n2:1:1:1:1:40:50000002:0\n";
    let mut lines: Vec<&str> = ordered.lines().collect();
    let sorted = trace(&(header(&[1]) + "c:1:1:1:1\n" + ordered));
    assert_eq!((shown(&sorted, 0), noticed(&sorted)), ("10-20 MPI_Send, 30-40 MPI_Barrier".into(), vec![]));
    lines.reverse();
    let reversed = trace(&(header(&[1]) + &lines.join("\n") + "\nc:1:1:1:1\n"));
    assert_eq!(reversed.streams(), sorted.streams());
    assert_eq!(
        noticed(&reversed),
        [("events of a thread are not in order of time; they were put in order".to_owned(), 3)]
    );
}

/// Each line alone, with the number of records and what is said of it.
#[test]
fn lines_that_are_wrong() {
    for (lines, events, said) in [
        ("1:1:1:1:1:0:10\n", 0, "too few or too many"),
        ("1:1:1:1:1:0:10:1:1\n", 1, "too few or too many"),
        ("2:1:1:1:1:5\n", 0, "too few or too many"),
        ("2:1:1:1:1:5:50000001\n", 0, "too few or too many"),
        ("2:1:1:1:1:5:50000001:1:7\n", 1, "too few or too many"),
        ("2:1:1:1:1:x:50000001:1\n", 0, "no number"),
        ("2:1:1:1:1::50000001:1\n", 0, "no number"),
        ("3:1:1:1:1:5:5:1:1:1:1:5:5:8\n", 0, "too few or too many"),
        ("3:1:1:1:1:5:5:1:1:1:1:5:-1:8:0\n", 0, "an end without a time"),
        ("4:1:2\n", 0, "type that is not analysed"),
        ("9:1:2\n", 0, "type that is not analysed"),
        ("2:1:1:1:1:-5:50000001:1\n", 0, "times before the begin"),
        ("2:1:1:1:1:9223372036854775807:50000001:1\n", 0, "beyond 2^61"),
        ("2:1:1:1:1:99999999999999999999999:50000001:1\n", 0, "more than 64 bits"),
        ("2:1:1:1:1:5:42000050:99999999999999999999999\n", 1, "more than 64 bits"),
        ("2:1:0:1:1:5:50000001:1\n", 0, "no thread"),
        ("2:1:1:1:1:5:50000001:0\n", 1, "left that was not entered"),
        ("2:1:1:1:1:5:50000001:1\n", 1, "never left"),
        (
            "2:1:1:1:1:5:50000001:1\n2:1:1:1:1:6:50000001:1\n2:1:1:1:1:7:50000001:0\n",
            3,
            "one of its kind has not ended",
        ),
        ("2:1:1:1:1:5:50000002:8:50100004:9\n2:1:1:1:1:6:50000002:0\n", 2, "does not list"),
        ("2:1:1:1:1:5:50000002:156\n2:1:1:1:1:5:50100004:0\n2:1:1:1:1:6:50000002:0\n", 3, "non-blocking collectives"),
        ("2:1:1:7:1:5:40000001:1\n", 1, "does not list"),
        ("2:1:1:1:9:5:40000001:1\n", 1, "does not list"),
        ("1:1:1:1:1:5:9:3\n1:1:1:1:1:5:9:3\n", 2, "overlap"),
        ("c:1:1:3:1:2\nhello\n", 0, "neither records nor communicators"),
        ("c:1:1:1:44\n", 0, "not in the trace"),
        ("2:1:1:1:1:5:40000018:2\n", 1, "bursts"),
        ("2:1:1:1:1:5:500", 0, "ends inside of a record"),
    ] {
        let trace = trace(&(header(&[1]) + lines));
        let noticed = noticed(&trace);
        assert_eq!(trace.events(), events, "{lines}");
        assert!(noticed.iter().any(|(message, count)| message.contains(said) && *count >= 1), "{lines}: {noticed:?}");
        assert!(trace.quality().entries().iter().all(|entry| !entry.remedy.is_empty()), "{lines}");
    }
}

/// Nothing is said of what is only rare: foreign line ends, spaces, comments, an older mark, cpu 0, states without end, empty lines.
#[test]
fn lines_that_are_rare() {
    let text = "new format\n".to_owned()
        + &header(&[1])
        + "# a comment\n\n2:0:1:1:1:5:50000001:1\r\n 2: 1:1:1:1:+7:50000001:0 \n1:1:1:1:1:7:-1:1\ni:1:9:7:1:8\n2:1:1:1:1:9:777:-3\n";
    let trace = trace(&text);
    assert_eq!(shown(&trace, 0), "5-7 MPI_Send");
    assert_eq!(trace.events(), 4);
    assert!(noticed(&trace).iter().all(|(message, _)| message.contains("members")), "{:?}", noticed(&trace));
}

/// What a header claims takes no room.
#[test]
fn claims_without_substance() {
    for header in [
        "#Paraver (1/1/26 at 1:1):9_ns:1(4):1:1099511627776(1:1)\n",
        "#Paraver (1/1/26 at 1:1):9_ns:1(4):1:1(1099511627776:1)\n",
        "#Paraver (1/1/26 at 1:1):9_ns:99999999999999999999:99999999999999999999:1(1:1)\n",
        "#Paraver (1/1/26 at 1:1):9_ns:1(4):1:1(1:1),99999999999\n",
        "#Paraver \n",
        "#Paraver (:\n",
    ] {
        let text = format!("{header}c:1:1:99999999999:1\nc:1:2:1:1\n2:1:1:1:1:5:50000001:1\n2:1:1:1:1:7:50000001:0\n");
        let trace = trace(&text);
        assert_eq!((trace.pes().len(), shown(&trace, 0)), (1, "5-7 MPI_Send".to_owned()), "{header}");
    }
    let unit = |unit: &str| {
        trace(&format!("#Paraver (1/1/26 at 1:1):9{unit}:0:1:1(1:1)\n2:1:1:1:1:5:1:1\n")).clock().ticks_per_second()
    };
    assert_eq!(["_ns", "_us", "_ms", ""].map(unit), [1_000_000_000, 1_000_000, 1_000, 1_000_000]);
}

/// The same compressed; what ends early is read as far as it goes.
#[test]
fn compressed() {
    let body: String = (0..5000).map(|at| format!("2:1:1:1:1:{}:50000001:{}\n", 10 * at, (at + 1) % 2)).collect();
    let text = header(&[1]) + &body;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("it is compressed");
    let bytes = encoder.finish().expect("it is compressed");
    let read = |bytes: Vec<u8>| -> Option<Trace> {
        let files = BTreeMap::from([("t.prv.gz".to_owned(), bytes)]);
        import(&files, "t.prv.gz", &|_, _| {}).ok()
    };
    let whole = read(bytes.clone()).expect("it is a trace");
    assert_eq!((whole.events(), noticed(&whole)), (5000, vec![]));
    assert_eq!(whole.streams(), trace(&text).streams());
    let cut = read(bytes[..bytes.len() / 2].to_vec()).expect("its begin is one");
    assert!(cut.events() < 5000 && noticed(&cut).iter().any(|(message, _)| message.contains("to its end")));
    assert_eq!(
        [&[][..], b"\x1f\x8b", b"no trace\n", b"1:1:1:1:1:0:10:1\n"].map(|bytes| read(bytes.to_vec()).is_none()),
        [true; 4]
    );
}

proptest! {
    /// Lines of numbers that may be anything.
    #[test]
    fn any_records(lines in prop::collection::vec(record(), 0..60)) {
        let text = header(&[2, 1]) + "c:1:1:2:1:2\n" + &lines.concat();
        let trace = trace(&text);
        for pe in 0..trace.pes().len() as u32 {
            prop_assert!(stream(&trace, pe).visits.iter().all(|visit| visit.enter <= visit.exit));
        }
        // What the reader hands over needs no repair: damage is found where it is read.
        prop_assert!(noticed(&trace).iter().all(|(message, _)| !message.contains("they were sorted") && !message.contains("not defined")));
    }
}

/// A line as a damaged trace may have it.
fn record() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just(50_000_001_u64),
        Just(50_000_002),
        Just(50_100_003),
        Just(50_100_004),
        Just(60_000_001),
        Just(60_000_006),
        Just(60_000_019),
        Just(60_000_033),
        Just(60_005),
        Just(40_000_003),
        Just(40_000_012),
        Just(42_000_050),
        Just(70_000_001),
        Just(1000)
    ];
    let value = prop_oneof![Just(0_u64), 0..50_u64];
    let pairs = prop::collection::vec((kind, value), 1..4);
    let time = 0..100_u64;
    let who = (1..3_u64, 1..3_u64);
    prop_oneof![
        (who.clone(), time.clone(), pairs).prop_map(|((task, thread), time, pairs)| {
            let pairs: Vec<String> = pairs.iter().map(|(kind, value)| format!(":{kind}:{value}")).collect();
            format!("2:1:1:{task}:{thread}:{time}{}\n", pairs.concat())
        }),
        (who.clone(), time.clone(), time.clone(), 0..30_u64)
            .prop_map(|((task, thread), begin, end, state)| format!("1:1:1:{task}:{thread}:{begin}:{end}:{state}\n")),
        (who.clone(), who, [time.clone(), time.clone(), time.clone(), time])
            .prop_map(|((a, b), (c, d), [e, f, g, h])| { format!("3:1:1:{a}:{b}:{e}:{f}:1:1:{c}:{d}:{g}:{h}:8:0\n") }),
    ]
}
