//! What is shown of a run that was looked at in slices: sums and pictures of the whole, and no single events.

use std::path::Path;
use std::time::{Duration, Instant};

use partune_engine::{Options, Request, Selection};
use partune_pages::{Fault, Opening, Runs};
use serde_json::Value;

use crate::archives::archives;
use crate::slices::{same, synth};

/// One with few events in a slice, and one that is opened as a whole.
fn opened(anchor: &Path, slice: u64) -> Runs {
    let runs = Runs::new(vec![anchor.to_owned()]);
    let request =
        Request { predicts: false, options: Options { minimum: 0.0, ..Options::default() }, ..Request::default() };
    runs.open(&Opening::new(request, Selection::default(), slice));
    runs
}

fn asked(runs: &Runs, question: &str) -> Value {
    let (path, query) = question.split_once('?').unwrap_or((question, ""));
    let answer = partune_pages::answer(runs, path, query).unwrap_or_else(|error| panic!("{question}: {error:?}"));
    serde_json::from_slice(&answer).expect("it is JSON")
}

fn is_in_slices(runs: &Runs) -> bool {
    let row = &asked(runs, "runs")[0];
    assert_eq!(row["state"], "ready", "{row}");
    row["in_slices"].as_bool().expect("it is open")
}

/// Questions whose answers are sums, and so are those of the whole.
const SUMS: [&str; 13] = [
    "pes",
    "summary",
    "findings",
    "environment",
    "profile",
    "tree?depth=24",
    "measured?of=time",
    "measured?of=waiting",
    "measured?of=visits",
    "measured?of=bytes",
    "flame?levels=32",
    "matrix?by=bytes",
    "matrix?by=seconds",
];

#[test]
fn sums_are_those_of_the_whole() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made: [&[&str]; 3] = [
        &["--ranks", "8", "--events", "12K", "--slow", "5:2", "--jitter", "0.3"],
        &["--ranks", "4", "--events", "8K", "--threads", "2"],
        &["--ranks", "3", "--events", "8K", "--inject", "late-broadcast:0:500000:50", "--metrics"],
    ];
    let made: Vec<_> =
        (0..).zip(made).map(|(at, options): (usize, _)| synth(&folder.path().join(at.to_string()), options)).collect();
    let archives = archives();
    let mut shown = 0;
    for anchor in made.iter().chain(archives.iter().map(|it| &it.anchor)) {
        let (whole, sliced) = (opened(anchor, u64::MAX / 8), opened(anchor, 400));
        assert!(!is_in_slices(&whole));
        if !is_in_slices(&sliced) {
            continue;
        }
        shown += 1;
        for question in SUMS.map(|question| format!("runs/0/{question}")) {
            let [mut expected, mut found] = [&whole, &sliced].map(|runs| asked(runs, &question));
            let at = format!("{} {question}", anchor.display());
            // Each slice is divided among causes of its own.
            for answer in [&mut expected, &mut found] {
                for row in answer["findings"].as_array_mut().into_iter().flatten() {
                    ["cause", "cause_pe", "cause_s", "words"].iter().for_each(|key| row[key] = Value::Null);
                }
                answer["sentences"] = Value::Null;
            }
            same(&expected, &found, &at);
        }
        the_same_bins(&whole, &sliced, anchor);
    }
    assert!(shown > made.len(), "an example at least is cut");
}

/// What PEs did over the run: these runs are so short that nothing is spread over a stretch of time that is seen.
fn the_same_bins(whole: &Runs, sliced: &Runs, anchor: &Path) {
    let question = "runs/0/timeline?columns=32&rows=64";
    let [expected, found] = [whole, sliced].map(|runs| asked(runs, question));
    for key in ["from", "to", "columns", "rows"] {
        assert_eq!(expected[key], found[key], "{}", anchor.display());
    }
    let bins = |answer: &Value| -> Vec<(Value, Vec<u8>)> {
        use base64::Engine as _;
        let data = answer["bins"]["data"].as_str().expect("text");
        let data = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
        let kinds = answer["bins"]["kinds"].as_array().expect("a list").clone();
        let of = |at: usize| data.iter().skip(at).step_by(kinds.len()).copied().collect();
        kinds.iter().enumerate().map(|(at, kind)| (kind.clone(), of(at))).collect()
    };
    let (expected, found) = (bins(&expected), bins(&found));
    assert_eq!(expected.len(), found.len(), "{}", anchor.display());
    for ((kind, a), (other, b)) in expected.into_iter().zip(found) {
        assert_eq!(kind, other);
        assert_eq!(a.len(), b.len(), "{} {kind}", anchor.display());
        let most = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most.is_some_and(|most| most <= 3), "{} {kind}: {most:?} of 255", anchor.display());
    }
}

#[test]
fn the_longest_instances_of_a_wait_are_known() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(folder.path(), &["--ranks", "8", "--events", "12K", "--inject", "late-sender:2:2000000:100"]);
    let (whole, sliced) = (opened(&anchor, u64::MAX / 8), opened(&anchor, 500));
    let findings = asked(&whole, "runs/0/findings");
    let waits = findings["findings"].as_array().into_iter().flatten().filter(|it| it["is_wait"] == true);
    let ids: Vec<&str> = waits.filter_map(|it| it["id"].as_str()).collect();
    let mut most = 0;
    for id in ids {
        let [expected, found] = [&whole, &sliced].map(|runs| asked(runs, &format!("runs/0/findings/{id}")));
        most = most.max(expected["instances"]["pe"].as_array().map_or(0, Vec::len));
        assert_eq!(expected["instances"], found["instances"], "{id}");
        assert_eq!(found["longest"], Value::Null, "what is in one stretch of time is not told apart");
    }
    assert!(most > 10, "{most}");
    let timeline = asked(&sliced, "runs/0/timeline");
    assert!(timeline["waits"]["pe"].as_array().is_some_and(|rows| rows.len() > 10));
    assert!(timeline["critical_path"]["pe"].as_array().is_some_and(|parts| parts.len() > 10));
    for count in ["waits_count", "messages_count", "collectives_count", "critical_path_count"] {
        assert_eq!(timeline[count], Value::Null, "{count}");
    }
}

/// What needs single events says so, and how to get them.
#[test]
fn single_events_are_those_of_a_part() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(folder.path(), &["--ranks", "8", "--events", "12K", "--slow", "5:2", "--metrics"]);
    let runs = opened(&anchor, 500);
    assert!(is_in_slices(&runs));
    let wrong = asked(&runs, "runs/0/find?text=time > 5 ms")["wrong"]["message"].clone();
    assert!(wrong.as_str().is_some_and(|message| message.contains("slices")), "{wrong}");
    let report = partune_pages::report(&runs);
    assert!(report.len() < 1_000_000 && report.contains("\"runs/0/timeline\":"), "{}", report.len());
    let waits = asked(&runs, "runs/0/findings?pattern=late_sender")["findings"][0]["id"].clone();
    let next = format!("findings/{}/next?after=0", waits.as_str().expect("somebody waits"));
    let questions = [
        next.as_str(),
        "beside?base=0",
        "counters?metric=0",
        "flame?from=0&to=1000",
        "measured?of=counter&metric=0",
        "selection",
        "at?pe=0&time=5",
        "next?region=0&after=0",
        "timeline?by=function",
        "transfers?givers=0&getters=1",
    ];
    for question in questions {
        let (path, query) = question.split_once('?').unwrap_or((question, ""));
        let refused = partune_pages::answer(&runs, &format!("runs/0/{path}"), query).expect_err("it needs events");
        assert_eq!((refused.fault, refused.message.contains("slices")), (Fault::Unknown, true), "{question}");
        assert!(refused.remedy.contains("analyse only this"), "{question}");
    }
}

/// Waits until a run is open or failed.
fn row_of(runs: &Runs, number: u64) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let row = asked(runs, "runs")[number as usize].clone();
        if row["state"] != "opening" {
            return row;
        }
        assert!(Instant::now() < end, "it opens");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A part is a run by itself, with its events, and that of the run as a whole; one that is too long is refused, and one that is all of it is in slices again.
#[test]
fn a_part_has_its_events() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(folder.path(), &["--ranks", "8", "--events", "24K", "--slow", "5:2"]);
    let both = [opened(&anchor, u64::MAX / 8), opened(&anchor, 2500)];
    assert!(is_in_slices(&both[1]));
    let all = asked(&both[1], "runs")[0]["duration_ns"].as_i64().expect("it is open");
    let part = |runs: &Runs, from: i64, to: i64| {
        let number = asked(runs, &format!("runs/0/piece?from={from}&to={to}"))["run"].as_u64().expect("a number");
        (number, row_of(runs, number))
    };
    let [whole, alone] = both.each_ref().map(|runs| {
        let (number, row) = part(runs, all / 2, all / 2 + all / 20);
        assert_eq!((&row["state"], &row["in_slices"]), (&"ready".into(), &false.into()), "{row}");
        let questions = ["findings", "profile", "timeline?columns=64", "matrix", "balance", "selection"];
        questions.map(|question| asked(runs, &format!("runs/{number}/{question}")))
    });
    assert_eq!(whole, alone);
    assert!(alone[2]["messages_count"].as_u64() > Some(0), "{}", alone[2]);
    let (_, row) = part(&both[1], all / 10, all / 10 * 9);
    assert_eq!(row["state"], "failed", "{row}");
    assert!(row["remedy"].as_str().is_some_and(|remedy| remedy.starts_with("select a shorter part")), "{row}");
    let (_, row) = part(&both[1], 0, all + 1);
    assert_eq!((&row["state"], &row["in_slices"]), (&"ready".into(), &true.into()), "{row}");
}
