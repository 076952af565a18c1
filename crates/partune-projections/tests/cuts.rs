//! Logs that end anywhere, or say something else: whatever they are, they open, visits nest, and the same comes out on any number of threads.

use partune_diag::Code;
use partune_trace::Trace;
use proptest::prelude::*;

use crate::texts::{Archive, open, said, steps, stream};

#[test]
fn a_log_may_end_anywhere() {
    let whole = open(&steps(), "steps.sts");
    for name in ["steps.0.log", "steps.1.log", "steps.2.log", "steps.sts"] {
        let text = steps()[name].clone();
        for end in 0..text.len() {
            let mut files = steps();
            files.insert(name.to_owned(), text[..end].to_vec());
            let trace = open(&files, "steps.sts");
            if let Some(pe) = name.strip_prefix("steps.").and_then(|rest| rest.strip_suffix(".log")) {
                let pe = pe.parse().expect("a PE has a number");
                let lines = text[..end].split(|byte| *byte == b'\n').count() as u64 - 1;
                assert_eq!(stream(&trace, pe).events, lines.saturating_sub(1), "{name} {end}");
                // All but the last line end are needed to know that it is whole.
                let is_told = said(&trace, Code::CutFile) + said(&trace, Code::DamagedFile) > 0;
                assert!(is_told, "{name} {end}");
                assert!(stream(&trace, pe).end() <= stream(&whole, pe).end());
            }
        }
    }
}

fn in_threads(files: &Archive, threads: usize) -> Trace {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| open(files, "steps.sts"))
}

#[test]
fn threads_make_no_difference() {
    for crate::archives::Shared { entry, files, .. } in crate::archives::shared() {
        let one = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| open(&files, &entry))
        };
        let (a, b) = (one(1), one(8));
        assert!(a.streams() == b.streams() && a.quality() == b.quality() && a.paths() == b.paths());
    }
    assert!(in_threads(&steps(), 1).streams() == in_threads(&steps(), 8).streams());
}

/// Lines of the example's logs, in any order and with any number changed.
fn lines() -> impl Strategy<Value = Vec<(usize, usize, i64)>> {
    prop::collection::vec((0..60_usize, 0..24_usize, prop_oneof![-3..1200_i64, any::<i64>()]), 0..80)
}

/// Opens the example with such lines as the log of PE 1: no message of it has one end only.
fn changed(changes: &[(usize, usize, i64)]) {
    let mut files = steps();
    let of_pe = |pe: usize| String::from_utf8(files[&format!("steps.{pe}.log")].clone()).expect("it is text");
    let all: Vec<String> =
        (0..3).flat_map(|pe| of_pe(pe).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut log = "PROJECTIONS-RECORD 0\n".to_owned();
    for (line, word, number) in changes {
        let mut words: Vec<String> = all[line % all.len()].split(' ').map(str::to_owned).collect();
        // Beyond the words of the line nothing is changed.
        if let Some(word) = words.get_mut(*word) {
            *word = number.to_string();
        }
        log += &(words.join(" ") + "\n");
    }
    files.insert("steps.1.log".to_owned(), log.into_bytes());
    let trace = open(&files, "steps.sts");
    assert!(stream(&trace, 1).visits.enter.is_sorted());
    let index = partune_index::Index::build(&trace);
    assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (0, 0));
}

#[test]
fn a_message_is_known_by_its_event_though_recording_paused_and_clocks_disagree() {
    changed(&[(23, 2, 0), (38, 1, 0)]);
}

proptest! {
    #[test]
    fn any_records_make_a_trace(changes in lines()) {
        changed(&changes);
    }
}
