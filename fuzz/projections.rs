//! What the fuzz target of Projections logs does with its input: every line, the trace, every analysis.
//!
//! An input is a symbol table, and after each zero byte the log of a PE. For `fuzz_targets/projections.rs` and for the tests of `partune`, which run it over
//! changes of an example.

use std::collections::BTreeMap;

use partune_engine::Request;
use partune_projections::codec::{Layout, Lines, Sts};
use partune_projections::import::import;

pub(crate) fn projections(bytes: &[u8]) {
    let mut texts = bytes.split(|byte| *byte == 0);
    let sts = texts.next().unwrap_or_default();
    let mut files = BTreeMap::from([("t.sts".to_owned(), sts.to_vec())]);
    for (pe, log) in texts.enumerate() {
        // In how many pieces the text comes makes no difference.
        assert_eq!(records(sts, log, usize::MAX), records(sts, log, 7));
        files.insert(format!("t.{pe}.log"), log.to_vec());
    }
    if let Ok(trace) = import(&files, "t.sts", &|_, _| {}) {
        let diagnosis = partune_engine::analyze(trace, &Request::default(), &());
        assert!(!partune_report::document(&diagnosis, "trace").is_empty());
    }
}

fn records(sts: &[u8], text: &[u8], piece: usize) -> Vec<String> {
    let sts = Sts::read(sts);
    let layout = Layout { version: sts.version.unwrap_or(Layout::NEWEST), counters: sts.counters.len() };
    let (mut lines, mut records) = (Lines::default(), Vec::new());
    for piece in text.chunks(piece) {
        lines.feed(piece, |line| records.push(format!("{:?}", layout.record(line))));
    }
    records.push(format!("{:?}", lines.finish()));
    records
}
