//! What the fuzz target of Paraver traces does with its input: every record, the trace, every analysis.
//!
//! An input is a `.prv`, and after a zero byte the `.pcf`. For `fuzz_targets/paraver.rs` and for the tests of `partune`, which run it over
//! changes of an example.

use std::collections::BTreeMap;

use partune_engine::Request;
use partune_paraver::codec::{Record, Row, Scanner, Sink};
use partune_paraver::import::import;

pub(crate) fn paraver(bytes: &[u8]) {
    let (prv, pcf) =
        bytes.iter().position(|byte| *byte == 0).map_or((bytes, &[][..]), |at| (&bytes[..at], &bytes[at + 1..]));
    // In how many pieces the text comes makes no difference.
    assert_eq!(records(prv, usize::MAX), records(prv, 7));
    drop(Row::read(pcf));
    let files = BTreeMap::from([("t.prv".to_owned(), prv.to_vec()), ("t.pcf".to_owned(), pcf.to_vec())]);
    if let Ok(trace) = import(&files, "t.prv", &|_, _| {}) {
        let diagnosis = partune_engine::analyze(trace, &Request::default(), &());
        assert!(!partune_report::document(&diagnosis, "trace").is_empty());
    }
}

fn records(text: &[u8], piece: usize) -> Vec<String> {
    let (mut scanner, mut lines) = (Scanner::default(), Lines(Vec::new()));
    text.chunks(piece).for_each(|piece| scanner.feed(piece, &mut lines));
    let counts = scanner.finish(&mut lines);
    lines.0.push(format!("{counts:?}"));
    lines.0
}

struct Lines(Vec<String>);

impl Sink for Lines {
    fn record(&mut self, record: &Record<'_>) {
        self.0.push(format!("{record:?}"));
    }

    fn line(&mut self, line: &[u8]) {
        self.0.push(format!("{line:?}"));
    }
}
