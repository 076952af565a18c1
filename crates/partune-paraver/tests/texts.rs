//! Traces as texts.

use std::collections::BTreeMap;

use partune_base::{GroupId, PeId, Time};
use partune_paraver::import::import;
use partune_trace::{Stream, Trace};

/// A header for tasks with so many threads each, on one node, in nanoseconds.
pub(crate) fn header(threads: &[u64]) -> String {
    let tasks: Vec<String> = threads.iter().map(|threads| format!("{threads}:1")).collect();
    format!("#Paraver (01/02/2026 at 10:11):1000_ns:1(4):1:{}({}),0\n", threads.len(), tasks.join(","))
}

/// The trace of a `.prv` alone.
pub(crate) fn trace(prv: &str) -> Trace {
    with_names(prv, "")
}

/// The same with a `.pcf`.
pub(crate) fn with_names(prv: &str, pcf: &str) -> Trace {
    let mut files = BTreeMap::from([("t.prv".to_owned(), prv.as_bytes().to_vec())]);
    if !pcf.is_empty() {
        files.insert("t.pcf".to_owned(), pcf.as_bytes().to_vec());
    }
    import(&files, "t.prv", &|_, _| {}).expect("it is a trace")
}

pub(crate) fn stream(trace: &Trace, pe: u32) -> &Stream {
    &trace.streams()[PeId(pe)]
}

/// The visits of a PE: enter, exit, name of the region.
pub(crate) fn visits(trace: &Trace, pe: u32) -> Vec<(i64, i64, String)> {
    let name = |path| trace.strings().get(trace.regions()[trace.paths().region(path)].name).to_owned();
    stream(trace, pe).visits.iter().map(|visit| (visit.enter.0, visit.exit.0, name(visit.path))).collect()
}

/// The same as a line.
pub(crate) fn shown(trace: &Trace, pe: u32) -> String {
    let one = |(enter, exit, name): &(i64, i64, String)| format!("{enter}-{exit} {name}");
    visits(trace, pe).iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What was noticed besides the names that these traces do not have: messages with counts.
pub(crate) fn noticed(trace: &Trace) -> Vec<(String, u64)> {
    let entries = trace.quality().entries().iter();
    let about_names = |message: &str| message.starts_with("there is no t.");
    entries.filter(|it| !about_names(&it.message)).map(|it| (it.message.clone(), it.count)).collect()
}

/// Members of a group, in order of rank.
pub(crate) fn members(trace: &Trace, group: GroupId) -> Vec<u32> {
    trace.groups()[group].members.iter().map(|pe| pe.0).collect()
}

pub(crate) fn times(times: impl IntoIterator<Item = Time>) -> Vec<i64> {
    times.into_iter().map(|time| time.0).collect()
}
