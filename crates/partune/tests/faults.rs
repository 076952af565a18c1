//! Archives of a recorder with known faults: each fault is told as data quality, and nothing is made of faulty events.

use partune_engine::inside::{self, Inside};
use partune_engine::{AdviseRequest, Request, Severity, advise, analyze, open};
use partune_report::{Style, TextOptions};
use partune_testkit::outside;

use crate::archives::archives;

/// What must be told of an archive (severity, how often, words that the message has), and whether waits may be found.
struct Expected {
    archive: &'static str,
    notes: &'static [(Severity, u64, &'static str)],
    waits: bool,
}

const UNALIGNED: &str = "they were never aligned, so no wait is claimed between processes";

#[rustfmt::skip]
const EXPECTED: [Expected; 4] = [
    Expected { archive: "eztrace-ats-late_sender-4", waits: false, notes: &[
        (Severity::DataLoss, 1, UNALIGNED),
        (Severity::DataLoss, 1, "6 of 10 messages"),
        (Severity::DataLoss, 3, "left that was not entered"),
        (Severity::DataLoss, 3, "entered and never left"),
        (Severity::Info, 4, "another number of events than their definitions say, the first 21 instead of 2"),
        (Severity::Info, 1, "defined more than once"),
        (Severity::Info, 0, "not defined in the order of their numbers"),
    ] },
    Expected { archive: "eztrace-npb-btS-4", waits: false, notes: &[
        (Severity::DataLoss, 1, UNALIGNED),
        (Severity::DataLoss, 2952, "0 of the sends and 2952 of the receives on communicator MPI_COMM_WORLD have no partner"),
        (Severity::DataLoss, 2952, "2952 of the sends and 0 of the receives on communicator MPI_COMM_4 have no partner"),
        (Severity::Info, 4, "the first 7548 instead of 2"),
        (Severity::Info, 1, "defined more than once"),
        (Severity::Info, 0, "not defined in the order of their numbers"),
    ] },
    Expected { archive: "eztrace-npb-cgS-4", waits: false, notes: &[
        (Severity::DataLoss, 1, UNALIGNED),
        (Severity::DataLoss, 1, "2880 of 5888 messages"),
        (Severity::Info, 4, "the first 15138 instead of 2"),
        (Severity::Info, 1, "defined more than once"),
        (Severity::Info, 0, "not defined in the order of their numbers"),
    ] },
    // Threads of one process share its clock: their waits are real.
    Expected { archive: "eztrace-ompt-omp-imbalance-4t", waits: true, notes: &[
        (Severity::DataLoss, 7, "entered and never left"),
        (Severity::Info, 4, "the first 27 instead of 2"),
        (Severity::Info, 1, "defined more than once"),
        (Severity::Info, 0, "not defined in the order of their numbers"),
    ] },
];

#[test]
fn faults_of_a_recorder_are_told_and_nothing_is_made_of_them() {
    let present = archives();
    for expected in &EXPECTED {
        let Some(archive) = present.iter().find(|archive| archive.name == expected.archive) else {
            outside::skipped(&format!("{} is not here", expected.archive));
            continue;
        };
        let opened = open(&archive.anchor, &()).expect("it opens");
        let diagnosis = analyze(opened, &Request::default(), &());
        let told = diagnosis.quality.entries();
        for (severity, count, words) in expected.notes {
            // Zero: however often.
            let is_it = |note: &&partune_engine::Diagnostic| {
                note.severity == *severity && note.message.contains(words) && (*count == 0 || note.count == *count)
            };
            assert!(told.iter().any(|note| is_it(&note)), "{}: {words}: {told:#?}", archive.name);
        }
        let Inside { index, waits, .. } = inside::of(&diagnosis);
        assert_eq!(index.clocks.aligned, expected.waits, "{}", archive.name);
        let advised = advise(&diagnosis, &AdviseRequest::default(), &());
        assert_eq!(advised.is_ok(), expected.waits, "{}: nothing is predicted from clocks that disagree", archive.name);
        assert_eq!(waits.is_empty(), !expected.waits, "{}", archive.name);
        let found: Vec<_> = diagnosis.findings.iter().map(|it| it.finding.pattern).collect();
        assert_eq!(found.iter().any(|pattern| pattern.is_wait()), expected.waits, "{}: {found:?}", archive.name);
        let across = ["redundant_barrier", "serial_section", "competing_put_get", "wait_on_value", "late_fence"];
        assert!(found.iter().all(|pattern| !across.contains(&pattern.name())), "{}: {found:?}", archive.name);
    }
}

#[test]
fn no_wait_comes_from_a_message_without_partner() {
    for archive in
        archives().into_iter().filter(|archive| archive.name.starts_with("eztrace") || archive.name.contains("caf"))
    {
        let opened = open(&archive.anchor, &()).expect("it opens");
        let diagnosis = analyze(opened, &Request { repair_clocks: false, ..Request::default() }, &());
        let Inside { trace, index, waits: found, .. } = inside::of(&diagnosis);
        for (pe, stream) in trace.streams().iter_ids() {
            let waits = |visit| found.of_pe(pe).iter().any(|wait| wait.operation == visit);
            let matched = |visit| {
                let recvs = (0..stream.recvs.len()).filter(|i| stream.recvs[*i].visit == visit);
                let sends = (0..stream.sends.len()).filter(|i| stream.sends[*i].visit == visit);
                recvs.clone().any(|i| index.messages.of_recv(pe, i).is_some())
                    || sends.clone().any(|i| index.messages.of_send(pe, i).is_some())
            };
            let lost_recvs = (0..stream.recvs.len()).filter(|i| index.messages.of_recv(pe, *i).is_none());
            let lost_sends = (0..stream.sends.len()).filter(|i| index.messages.of_send(pe, *i).is_none());
            let visits = lost_recvs.map(|i| stream.recvs[i].visit).chain(lost_sends.map(|i| stream.sends[i].visit));
            for visit in visits {
                assert!(!waits(visit) || matched(visit), "{}: PE {}", archive.name, pe.0);
            }
        }
    }
}

/// A message that nobody receives has a code in the document, and one that is received has none.
#[test]
fn what_is_noticed_has_a_code() {
    let codes = |receives: &str| -> Vec<String> {
        let text = format!(
            "pe 0: main 0..20 {{ MPI_Send 0..1 send(to=1, tag=3, bytes=8) }}
             pe 1: main 0..20 {{ {receives} }}"
        );
        let diagnosis = analyze(partune_testkit::trace(&text), &Request::default(), &());
        let document: serde_json::Value =
            serde_json::from_str(&partune_report::document(&diagnosis, "run")).expect("it is JSON");
        let entries = document["quality"].as_array().expect("there is a list").iter();
        entries.filter_map(|entry| Some(entry["code"].as_str()?.to_owned())).collect()
    };
    assert_eq!(codes("work 0..2"), ["unmatched-messages"]);
    assert!(codes("MPI_Recv 0..2 recv(from=0, tag=3, bytes=8)").is_empty());
}

/// One of twenty ticks on each PE is 5 %.
#[test]
fn long_pauses_of_the_recorder_are_told() {
    let told = |pause: &str| {
        let text = format!("pe 0 1: main 0..20 {{ work 0..5 gap {pause} pause work 9..20 }}");
        let diagnosis = analyze(partune_testkit::trace(&text), &Request::default(), &());
        let entries = diagnosis.quality.entries();
        entries.iter().find(|entry| entry.message.contains("paused")).map(|entry| entry.message.clone())
    };
    assert!(told("5..6").is_some_and(|message| message.contains("paused for 5.0 % of the run")));
    assert_eq!(told("5..5"), None);
}

/// Six of twenty ticks on each PE were spent on writing, and two on waiting for the later one; where recording was switched off, or wrote for one tick,
/// what was found is worth more.
#[test]
fn where_writing_took_most_the_next_step_is_a_profile() {
    let told = |gap: &str| {
        let text = format!(
            "pe 0: main 0..20 {{ work 0..5 gap {gap} work 12..15 MPI_Barrier 15..20 barrier }}
             pe 1: main 0..20 {{ work 0..5 gap {gap} work 12..19 MPI_Barrier 19..20 barrier }}"
        );
        let diagnosis = analyze(partune_testkit::trace(&text), &Request::default(), &());
        let options = TextOptions { findings: Some(5), table_rows: 0, style: Style::PLAIN };
        partune_report::text(&diagnosis, "run", options)
    };
    let (wrote, off, little) = (told("5..11 flush"), told("5..11 pause"), told("5..6 flush"));
    assert!(wrote.contains("next: record with --profile"), "{wrote}");
    assert!(wrote.contains("paused for 30.0 % of the run, to write what it had recorded"), "{wrote}");
    assert!(off.contains("paused for 30.0 % of the run, since it was switched off"), "{off}");
    for text in [off, little] {
        assert!(text.contains("next: ") && !text.contains("next: record with"), "{text}");
    }
}

#[test]
fn a_recording_that_is_not_complete_is_called_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = || open(folder.path(), &()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said().contains("holds no archive"), "{}", said());
    std::fs::create_dir(folder.path().join("parts")).expect("a folder");
    assert!(said().contains("partune record --complete"), "{}", said());
}
