//! `beside`: a part of a run and the same part of another: stage by stage, by kind of time and by function.

use partune_base::{Id, PeId, RegionId, Span, Time};
use partune_engine::{Aligned, AlignedStage, InBoth, Kind, PeKind, Selected, Stages};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Ask;
use super::rows::chosen;
use super::timeline::interval;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Stages that are listed, those that differ most; and functions.
const STAGES: usize = 400;
const FUNCTIONS: usize = 200;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Beside {
    /// What stages are, and what they could be.
    by: &'static str,
    can: Vec<&'static str>,
    /// The part, and where it is in the other run.
    from: i64,
    to: i64,
    base_from: i64,
    base_to: i64,
    /// For each PE of the part, in its order, the number of the same one in the other run; null if there is none.
    pes: Vec<Option<u32>>,
    /// So many PEs the other run has.
    base_pes: usize,
    stages: Columns,
    /// In the part, in both runs.
    stages_count: usize,
    /// In the whole runs: those that are not in the other one, or in another order there.
    only_here: usize,
    only_there: usize,
    kinds: Kinds,
    functions: Functions,
    functions_omitted: usize,
}

/// Stages in order of time. A block has the name of what ends it.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Columns {
    name: Vec<String>,
    /// From 0, of those with the name.
    number: Vec<u32>,
    from: Vec<i64>,
    to: Vec<i64>,
    base_from: Vec<i64>,
    base_to: Vec<i64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Kinds {
    kind: Vec<usize>,
    seconds: Vec<f64>,
    base_s: Vec<f64>,
}

/// Those first that differ most.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Functions {
    /// None for the code outside of all, and where only the other run has it.
    region: Vec<Option<u32>>,
    name: Vec<String>,
    kind: Vec<usize>,
    seconds: Vec<f64>,
    base_s: Vec<f64>,
    waiting_s: Vec<f64>,
    base_waiting_s: Vec<f64>,
    visits: Vec<u64>,
    base_visits: Vec<u64>,
}

/// What stages may be, but for visits to a region; what comes first is taken where nobody says.
const BY: [(&str, Stages); 3] = [("turns", Stages::Turns), ("phases", Stages::Phases), ("blocks", Stages::Blocks)];
const VISITS: &str = "visits";
/// No stages: both from their begin.
const TIME: &str = "time";

pub(super) fn beside(run: &Run, ask: &Ask<'_>) -> Result<Beside, Error> {
    let query = &ask.query;
    let other =
        query.text("base").ok_or_else(|| Error::question("base is missing", "give the number of another run"))?;
    let other = ask.runs.ready(other)?;
    run.needs_events()?;
    other.needs_events()?;
    let (here, there) = (run.recorded(), other.recorded());
    let (begin, end) = interval(run, query)?;
    let (pes, _) = chosen(run, query)?;
    let same = same_pes(run, &other, &pes);
    let base_pes: Vec<PeId> = same.iter().flatten().copied().collect();

    let both = |(_, stages): &&(&str, Stages)| here.has_stages(*stages) && there.has_stages(*stages);
    let can: Vec<&(&'static str, Stages)> = BY.iter().filter(both).collect();
    let region = query.number("region", 0..=u32::MAX)?.map(RegionId);
    let (by, stages) = match query.text("by") {
        None => can.first().map_or((TIME, None), |it| (it.0, Some(it.1))),
        Some(TIME) => (TIME, None),
        Some(VISITS) => {
            let known = region.filter(|region| here.region(*region).is_some());
            let region =
                known.ok_or_else(|| Error::question("which region?", "runs/R/profile lists them: region=3"))?;
            (VISITS, Some(Stages::Visits(region)))
        }
        Some(word) => {
            let found = BY.iter().find(|it| it.0 == word);
            let remedy = "give by=time, turns, phases, blocks, or visits with a region";
            let found = found.ok_or_else(|| Error::question("by is none of these", remedy))?;
            (found.0, Some(found.1))
        }
    };
    let aligned = stages.map(|stages| here.aligned(there, stages));
    let (base_begin, base_end) = if let Some(aligned) = &aligned {
        (aligned.begin_there(begin), aligned.end_there(end))
    } else {
        let at = |time: Time| other.first_time(run.ns(time)).min(there.end());
        (at(begin), if end >= here.end() { there.end() } else { at(end) })
    };
    let selected = here.selected(&pes, (begin, end), None);
    let base = there.selected(&base_pes, (base_begin, base_end), None);
    let rows = here.in_both(&selected, there, &base);
    let most = FUNCTIONS.min(ask.most);
    let inside: Vec<&AlignedStage> = aligned.iter().flat_map(|it| stages_within(it, (begin, end))).collect();
    Ok(Beside {
        by,
        can: [TIME].into_iter().chain(can.iter().map(|it| it.0)).collect(),
        from: run.ns(begin),
        to: run.ns(end),
        base_from: other.ns(base_begin),
        base_to: other.ns(base_end),
        pes: same.iter().map(|pe| pe.and_then(|pe| other.number(pe))).collect(),
        base_pes: other.pes().len(),
        stages_count: inside.len(),
        stages: columns(run, &other, inside, STAGES.min(ask.most)),
        only_here: aligned.as_ref().map_or(0, |it| it.here_only),
        only_there: aligned.as_ref().map_or(0, |it| it.there_only),
        kinds: kinds(run, &selected, &other, &base),
        functions: functions(run, &other, rows.iter().take(most)),
        functions_omitted: rows.len().saturating_sub(most),
    })
}

/// The same PEs of another run: of the process at the same position, threads by their position in it, streams of devices by their order.
fn same_pes(run: &Run, other: &Run, pes: &[PeId]) -> Vec<Option<PeId>> {
    let keys = |run: &Run| {
        let mut streams: FxHashMap<usize, u32> = FxHashMap::default();
        let key = |pe: &PeId| {
            let row = run.recorded().pe(*pe)?;
            let process = row.process.index();
            let number = if row.kind == PeKind::Cpu {
                row.thread
            } else {
                let count = streams.entry(process).or_default();
                *count += 1;
                *count
            };
            Some((*pe, (process, row.kind == PeKind::Cpu, number)))
        };
        run.pes().iter().filter_map(key).collect::<Vec<_>>()
    };
    let of_run: FxHashMap<PeId, _> = keys(run).into_iter().collect();
    let of_other: FxHashMap<_, PeId> = keys(other).into_iter().map(|(pe, key)| (key, pe)).collect();
    pes.iter().map(|pe| of_other.get(of_run.get(pe)?).copied()).collect()
}

/// The stages that are in an interval, if only partly.
fn stages_within(aligned: &Aligned, (begin, end): (Time, Time)) -> &[AlignedStage] {
    let first = aligned.stages.partition_point(|stage| stage.here.1 <= begin);
    let last = aligned.stages.partition_point(|stage| stage.here.0 < end);
    &aligned.stages[first..last.max(first)]
}

/// Those that differ most, in order of time.
fn columns(run: &Run, other: &Run, mut stages: Vec<&AlignedStage>, most: usize) -> Columns {
    let length = |run: &Run, (begin, end): (Time, Time)| run.ns(end) - run.ns(begin);
    let differs =
        |stage: &&AlignedStage| std::cmp::Reverse(length(other, stage.there).abs_diff(length(run, stage.here)));
    stages.sort_by_cached_key(differs);
    stages.truncate(most);
    stages.sort_by_key(|stage| stage.here);
    let mut columns = Columns::default();
    for stage in stages {
        let name = stage.region.some().map(|region| text::region(run.recorded(), region));
        columns.name.push(name.unwrap_or_else(|| "the end of the run".to_owned()));
        columns.number.push(stage.number);
        columns.from.push(run.ns(stage.here.0));
        columns.to.push(run.ns(stage.here.1));
        columns.base_from.push(other.ns(stage.there.0));
        columns.base_to.push(other.ns(stage.there.1));
    }
    columns
}

fn kinds(run: &Run, here: &Selected, other: &Run, there: &Selected) -> Kinds {
    let sum = |part: &Selected, kind: Kind| Span(part.times.iter().map(|times| times[kind as usize]).sum());
    let mut columns = Kinds::default();
    for kind in Kind::ALL {
        let (seconds, base_s) = (run.seconds(sum(here, kind)), other.seconds(sum(there, kind)));
        if seconds > 0.0 || base_s > 0.0 {
            columns.kind.push(kind as usize);
            columns.seconds.push(seconds);
            columns.base_s.push(base_s);
        }
    }
    columns
}

fn functions<'a>(run: &Run, other: &Run, rows: impl Iterator<Item = &'a InBoth>) -> Functions {
    let mut columns = Functions::default();
    for row in rows {
        // The code outside of all is none in both.
        let (of, region) = match row.here.some() {
            None if row.there.is_some() => (other.recorded(), row.there),
            _ => (run.recorded(), row.here),
        };
        columns.region.push(row.here.some().map(|region| region.0));
        columns.name.push(text::region(of, region));
        columns.kind.push(of.region(region).map_or(Kind::Computation, |it| it.kind()) as usize);
        columns.seconds.push(row.seconds.0);
        columns.base_s.push(row.seconds.1);
        columns.waiting_s.push(row.waiting.0);
        columns.base_waiting_s.push(row.waiting.1);
        columns.visits.push(row.visits.0);
        columns.base_visits.push(row.visits.1);
    }
    columns
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::{Value, json};

    use crate::runs::{Opening, Runs};

    fn archive(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives").join(name)
    }

    fn asked(runs: &Runs, path: &str, query: &str) -> Result<Value, String> {
        let answer = crate::answer(runs, path, query).map_err(|error| error.message)?;
        Ok(serde_json::from_slice(&answer).expect("it is JSON"))
    }

    fn two() -> Runs {
        let runs = Runs::new(vec![archive("ring"), archive("ring")]);
        runs.open(&Opening::default());
        runs
    }

    #[test]
    fn a_run_beside_itself_differs_in_nothing() {
        let runs = two();
        for query in ["base=1", "base=1&by=time", "base=1&by=blocks", "base=0&from=1000000&to=2000000&only=0-1"] {
            let told = asked(&runs, "runs/0/beside", query).expect("it is answered");
            assert_eq!((&told["from"], &told["to"]), (&told["base_from"], &told["base_to"]), "{query}");
            assert_eq!(told["kinds"]["seconds"], told["kinds"]["base_s"], "{query}");
            assert_eq!(told["functions"]["seconds"], told["functions"]["base_s"], "{query}");
            assert_eq!(told["functions"]["visits"], told["functions"]["base_visits"], "{query}");
            let pes = if query.contains("only") { 0..2 } else { 0..4 };
            assert_eq!((&told["pes"], &told["base_pes"]), (&json!(pes.collect::<Vec<u32>>()), &json!(4)), "{query}");
            assert_eq!(told["stages"]["from"], told["stages"]["base_from"], "{query}");
            let (from, to) = (&told["from"], &told["to"]);
            let only = if query.contains("only") { "&only=0-1" } else { "" };
            let selected =
                asked(&runs, "runs/0/selection", &format!("from={from}&to={to}{only}")).expect("it is there");
            let total = |rows: &Value| rows.as_array().expect("a list").iter().filter_map(Value::as_f64).sum::<f64>();
            let (own, theirs) = (total(&told["functions"]["seconds"]), total(&selected["functions"]["exclusive_s"]));
            assert!((own - theirs).abs() < 1e-9, "{query}: {own} and {theirs}");
        }
    }

    /// Threads of a process are matched by their position in it, whatever comes before.
    #[test]
    fn the_same_pes_are_of_the_same_process() {
        let open = |text: &str| partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        let path = Path::new("x");
        let run = |text: &str| super::Run::new(String::new(), path, open(text));
        let threads = run("pe 0: main 0..9
             pe 0.1: main 0..9
             pe 1: main 0..9");
        let plain = run("pe 0: main 0..9
             pe 1: main 0..9");
        let numbers = |run: &super::Run, other: &super::Run| -> Vec<Option<u32>> {
            let same = super::same_pes(run, other, run.pes());
            same.into_iter().map(|pe| pe.and_then(|pe| other.number(pe))).collect()
        };
        assert_eq!(numbers(&threads, &plain), [Some(0), None, Some(1)]);
        assert_eq!(numbers(&plain, &threads), [Some(0), Some(2)]);
    }

    #[test]
    fn what_cannot_be_aligned_is_said() {
        let runs = two();
        for (query, said) in [
            ("", "base is missing"),
            ("base=7", "no such run"),
            ("base=1&by=colour", "by is none of these"),
            ("base=1&by=visits", "which region?"),
            ("base=1&by=visits&region=999999", "which region?"),
        ] {
            let error = asked(&runs, "runs/0/beside", query).expect_err("it is refused");
            assert!(error.contains(said), "{query}: {error}");
        }
        // What nobody marked is asked for in vain: both runs are one stage.
        let told = asked(&runs, "runs/0/beside", "base=1&by=turns").expect("it is answered");
        assert_eq!((&told["stages_count"], &told["can"][0]), (&json!(0), &json!("time")));
    }
}
