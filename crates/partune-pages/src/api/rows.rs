//! Rows of pictures: which PEs, in which order; processes or hosts; folded where they are many.

use std::cmp::Reverse;

use partune_base::{PeId, ProcessId};
use partune_engine::{Fold, Kind};
use partune_report::names;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::error::Error;
use crate::query::Query;
use crate::run::Run;
use crate::text;

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    None,
    Process,
    Host,
    /// Streams by their device, all else by its process.
    Device,
}

/// In which order PEs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they were asked for.
    Asked,
    /// Those first that wait most in the whole run.
    Waiting,
}

/// The PEs that are asked for by `only`, `order`, `first` and `pes`; none only of a run that has none.
pub(super) fn chosen(run: &Run, query: &Query) -> Result<(Vec<PeId>, Order), Error> {
    let mut pes = named(run, query, "only")?;
    let order = query.word("order", &[("number", Order::Asked), ("waiting", Order::Waiting)])?;
    if order == Order::Waiting {
        let recorded = run.recorded();
        let waits = |pe: &PeId| recorded.times_within(*pe, recorded.begin(), recorded.end())[Kind::Wait as usize];
        pes.sort_by_cached_key(|pe| Reverse(waits(pe)));
    }
    let first = query.number("first", 0..=u32::MAX)?.unwrap_or(0) as usize;
    let count = query.number("pes", 1..=u32::MAX)?.unwrap_or(u32::MAX) as usize;
    if first > pes.len() {
        return Err(Error::question("first is after the last PE", "runs/R/pes lists them"));
    }
    pes.drain(..first);
    pes.truncate(count);
    Ok((pes, order))
}

/// PEs from a list of their numbers, as `0-3,8`, each at most once; all if there is none.
pub(super) fn named(run: &Run, query: &Query, key: &str) -> Result<Vec<PeId>, Error> {
    let Some(text) = query.text(key) else { return Ok(run.pes().to_vec()) };
    let remedy = "give numbers of runs/R/pes, each once, as in 0-3,8";
    let wrong = || Error::question(format!("{key} is no list of PEs"), remedy);
    let mut seen = vec![false; run.pes().len()];
    let mut pes = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number < seen.len());
        let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
        let part = seen.get_mut(from..=to).ok_or_else(wrong)?;
        if part.contains(&true) {
            return Err(wrong());
        }
        part.fill(true);
        pes.extend_from_slice(&run.pes()[from..=to]);
    }
    if pes.is_empty() { Err(wrong()) } else { Ok(pes) }
}

/// The rows of an answer.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Rows {
    label: Vec<String>,
    first: Vec<Option<u32>>,
    count: Vec<usize>,
}

impl Rows {
    pub(super) fn new(run: &Run, fold: &Fold) -> Rows {
        Rows::grouped(run, fold, Grouping::None)
    }

    pub(super) fn grouped(run: &Run, fold: &Fold, grouping: Grouping) -> Rows {
        let mut rows = Rows::default();
        for pes in fold.rows() {
            rows.label.push(label(run, pes, grouping));
            rows.first.push(pes.first().and_then(|pe| run.number(*pe)));
            rows.count.push(pes.len());
        }
        rows
    }
}

/// What is known of the PEs of a fold, in their order: row by row.
pub(super) fn by_row<'a, T>(fold: &'a Fold, mut of_pes: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    fold.rows().map(move |row| {
        let (own, rest) = of_pes.split_at(row.len());
        of_pes = rest;
        own
    })
}

/// The name of the process or host, if all PEs of a row are of one; else the PEs.
fn label(run: &Run, pes: &[PeId], grouping: Grouping) -> String {
    let recorded = run.recorded();
    let process = |pe: &PeId| recorded.pe(*pe).map(|pe| pe.process);
    let of = |pe: &PeId| recorded.process(process(pe)?);
    let host = |pe: &PeId| of(pe).map(|it| it.host);
    let device = |pe: &PeId| recorded.pe(*pe).and_then(|pe| pe.device);
    let name = match (grouping, pes) {
        (Grouping::Process, [first, rest @ ..]) if rest.iter().all(|pe| process(pe) == process(first)) => {
            of(first).map(|it| it.name)
        }
        (Grouping::Host, [first, rest @ ..]) if rest.iter().all(|pe| host(pe) == host(first)) => host(first),
        (Grouping::Device, [first, rest @ ..]) if rest.iter().all(|pe| device(pe) == device(first)) => {
            return match device(first) {
                Some(device) => format!("device {device}"),
                None => label(run, pes, Grouping::Process),
            };
        }
        _ => None,
    };
    let name = name.map(text::name).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| names::row(recorded, pes))
}

/// What PEs of a row have in common: their process, their host or their device.
type Key<'a> = (Option<ProcessId>, Option<&'a str>, Option<u32>);

/// PEs on rows.
pub(super) fn folded(run: &Run, pes: &[PeId], grouping: Grouping, rows: usize) -> Fold {
    let recorded = run.recorded();
    let process = |pe: PeId| recorded.pe(pe).map(|pe| pe.process);
    let device = |pe: PeId| recorded.pe(pe).and_then(|pe| pe.device);
    let host = |pe: PeId| process(pe).and_then(|id| recorded.process(id)).map(|process| process.host);
    let key = |pe: PeId| match (grouping, device(pe)) {
        (Grouping::None, _) => (None, None, None),
        (Grouping::Device, Some(device)) => (None, None, Some(device)),
        (Grouping::Process | Grouping::Device, _) => (process(pe), None, None),
        (Grouping::Host, _) => (None, host(pe), None),
    };
    if grouping == Grouping::None {
        return Fold::new(pes.to_vec(), rows);
    }
    let mut known: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<PeId>> = Vec::new();
    for pe in pes {
        let group = *known.entry(key(*pe)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(*pe);
    }
    Fold::groups(&groups, rows)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::Value;

    use crate::runs::Runs;

    /// PE 2 waits longest, then PE 1; nobody waits for PE 0, who comes last.
    fn runs() -> Runs {
        let trace = partune_testkit::trace(
            "pe 0: main 0..100 { work 0..50 MPI_Barrier 50..60 barrier }
             pe 1: main 0..100 { work 0..40 MPI_Barrier 40..60 barrier }
             pe 2: main 0..100 { work 0..10 MPI_Barrier 10..60 barrier }
             pe 3: main 0..100 { work 0..50 MPI_Barrier 50..60 barrier }",
        );
        Runs::of(Path::new("rows"), partune_engine::analyze(trace, &Request::default(), &()))
    }

    /// The first PE of each row, and how many PEs have none.
    fn rows(runs: &Runs, query: &str) -> (Vec<u64>, u64) {
        let answer = crate::answer(runs, "runs/0/timeline", query).expect("it is answered");
        let answer: Value = serde_json::from_slice(&answer).expect("it is JSON");
        let first = answer["rows"]["first"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
        (first, answer["pes_omitted"].as_u64().expect("a number"))
    }

    #[test]
    fn streams_are_rows_by_device() {
        let trace = partune_testkit::trace(
            "device a = 0.1 1.1
             device b = 0.2
             pe 0 1: main 0..100 { work 0..50 }
             pe 0.1 1.1 0.2: kernel 10..20",
        );
        let runs = Runs::of(Path::new("devices"), partune_engine::analyze(trace, &Request::default(), &()));
        let answer = crate::answer(&runs, "runs/0/timeline", "group=device").expect("it is answered");
        let answer: Value = serde_json::from_slice(&answer).expect("it is JSON");
        assert_eq!(answer["rows"]["label"], serde_json::json!(["rank 0", "device 0", "device 1", "rank 1"]));
        assert_eq!(answer["rows"]["count"], serde_json::json!([1, 2, 1, 1]));
    }

    #[test]
    fn pes_are_chosen_and_ordered() {
        let runs = runs();
        assert_eq!(rows(&runs, ""), (vec![0, 1, 2, 3], 0));
        assert_eq!(rows(&runs, "only=3,0-1"), (vec![3, 0, 1], 0));
        assert_eq!(rows(&runs, "only=3,0-1&first=1&pes=1"), (vec![0], 0));
        assert_eq!(rows(&runs, "order=waiting"), (vec![2, 1, 0, 3], 0));
        assert_eq!(rows(&runs, "order=waiting&rows=2"), (vec![2, 1], 2));
        assert_eq!(rows(&runs, "order=waiting&only=0-1"), (vec![1, 0], 0));
        assert_eq!(rows(&runs, "rows=2"), (vec![0, 2], 0), "folded");
        for wrong in ["only=4", "only=0,0", "order=name", "first=5", "only=0%2D99999999999"] {
            assert!(crate::answer(&runs, "runs/0/timeline", wrong).is_err(), "{wrong}");
        }
    }
}
