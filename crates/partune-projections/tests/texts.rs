//! Archives as texts: the example, and small ones.

use std::collections::BTreeMap;
use std::path::Path;

use partune_base::{PeId, Time};
use partune_diag::Code;
use partune_projections::import::import;
use partune_trace::{Stream, Trace, VisitIx};

pub(crate) type Archive = BTreeMap<String, Vec<u8>>;

/// The files of the example.
pub(crate) fn steps() -> Archive {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/projections");
    let names = ["steps.sts", "steps.projrc", "steps.0.log", "steps.1.log", "steps.2.log"];
    let read = |name: &str| (name.to_owned(), std::fs::read(folder.join(name)).expect("the example is there"));
    names.into_iter().map(read).collect()
}

pub(crate) fn open(files: &Archive, entry: &str) -> Trace {
    import(files, entry, &|_, _| {}).expect("it opens")
}

/// One PE with these records, and the symbols of the example.
pub(crate) fn one(records: &str) -> Trace {
    let sts =
        String::from_utf8(steps()["steps.sts"].clone()).expect("it is text").replace("PROCESSORS 3", "PROCESSORS 1");
    with(&sts, &[records])
}

/// PEs with these records, and these symbols.
pub(crate) fn with(sts: &str, logs: &[&str]) -> Trace {
    let mut files = Archive::from([("t.sts".to_owned(), sts.as_bytes().to_vec())]);
    for (pe, records) in logs.iter().enumerate() {
        files.insert(format!("t.{pe}.log"), format!("PROJECTIONS-RECORD 0\n{records}").into_bytes());
    }
    open(&files, "t.sts")
}

pub(crate) fn stream(trace: &Trace, pe: u32) -> &Stream {
    &trace.streams()[PeId(pe)]
}

/// The visits of a PE: how deep, what, from when to when.
pub(crate) fn visits(trace: &Trace, pe: u32) -> Vec<String> {
    let all = stream(trace, pe).visits.iter().enumerate();
    let said = all.map(|(at, visit)| {
        let region = trace.region_of(PeId(pe), VisitIx(at as u32));
        let depth = trace.paths().depth(visit.path) as usize;
        format!("{}{} {} {}", ". ".repeat(depth), trace.strings().get(region.name), visit.enter.0, visit.exit.0)
    });
    said.collect()
}

/// How often a code was said.
pub(crate) fn said(trace: &Trace, code: Code) -> u64 {
    trace.quality().entries().iter().filter(|entry| entry.code == code).map(|entry| entry.count).sum()
}

/// Ticks of all visits of a region, and how many there are.
pub(crate) fn time_in(trace: &Trace, pe: u32, name: &str) -> (u64, i64) {
    let mut sum = (0, 0);
    for (at, visit) in stream(trace, pe).visits.iter().enumerate() {
        if trace.strings().get(trace.region_of(PeId(pe), VisitIx(at as u32)).name) == name {
            sum = (sum.0 + 1, sum.1 + visit.exit.since(visit.enter).0);
        }
    }
    sum
}

pub(crate) fn times(trace: &Trace, pe: u32, visit: VisitIx) -> (Time, Time) {
    let visit = trace.visit(PeId(pe), visit);
    (visit.enter, visit.exit)
}
