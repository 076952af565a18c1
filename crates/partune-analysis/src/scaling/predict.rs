//! Another number of PEs: how long a program would take, from runs on two numbers of PEs or more.
//!
//! The time between start-up and shut-down is the length of the critical path, waits left out, since these are explained by what is on it. So it is the sum of what the places on
//! the path take there: functions for work, operations with all the calls of one construct in one function. Each follows a law over the number
//! of PEs ([`super::law`]), and what the laws say of another number is added up. What the first PE does of its own makes a second such sum: a serial part of
//! it may be on no path yet, and will be when all else has become shorter. The longer of the two is the prediction.

use std::collections::BTreeMap;

use partune_base::{CallPathId, Id, PeId, Span, Time};
use partune_index::Index;
use partune_machine::{Machine, Scope};
use partune_trace::{Role, Trace, VisitIx};

use super::law::{self, Basis, Fitted, Series, Term};
use crate::Waits;
use crate::compare::align::without_line;
use crate::compare::moments::Moments;
use crate::critical_path::{Walk, walk_from};
use crate::timeline::{PathTimes, Timeline};
use crate::useful::{cpu_pes, run_seconds, span_of, windows};

/// A place as all runs of a program have it, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceName {
    /// The function, or the operation; empty for code outside of all recorded functions.
    pub construct: String,
    /// The function around an operation, or the function itself; empty if unknown.
    pub function: String,
    /// Work, and no operation.
    pub is_work: bool,
    /// Places that are too small to be told each.
    pub is_rest: bool,
}

/// What is on a chain of a place, in one run.
#[derive(Clone, Debug, Default)]
struct Spent {
    seconds: f64,
    /// Visits that end on the chain.
    visits: f64,
    /// Variance of the seconds, by the spread over visits; of operations only, since work differs from visit to visit because it has to.
    variance: f64,
}

/// What is at a place, over all PEs of a run; of work nothing more is asked.
#[derive(Clone, Debug, Default)]
struct Kind {
    role: Option<Role>,
    paradigm: String,
    operations: f64,
    bytes: f64,
    /// Of collectives: how many they are, and with how many members together.
    collectives: f64,
    members: f64,
}

/// What one run says of its number of PEs.
#[derive(Clone, Debug)]
pub struct RunPlaces {
    /// PEs of CPUs, their processes, and the nodes of these.
    pub pes: usize,
    pub processes: usize,
    pub nodes: usize,
    /// From the first end of a start-up to the last begin of a shut-down.
    pub seconds: f64,
    /// The critical path, and the first PE without its waits.
    chains: [BTreeMap<PlaceName, Spent>; 2],
    kinds: BTreeMap<PlaceName, Kind>,
}

/// A run on another number of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    pub seconds: f64,
    /// At least, and at most.
    pub low: f64,
    pub high: f64,
    /// What the laws say of each number that was measured.
    pub fitted: Vec<f64>,
    /// What the first PE does alone is longer than the path that was measured.
    pub by_first_pe: bool,
    /// Longest first.
    pub rows: Vec<PredictedRow>,
}

/// A place of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedRow {
    pub place: PlaceName,
    /// At each number of PEs that was measured.
    pub seconds: Vec<f64>,
    pub fitted: Fitted,
}

/// A place that is less than this share of every run is told with others.
const SMALL: f64 = 0.01;
/// Fewer bytes cost as much as none.
const LONG: f64 = 1024.0;
/// What a value may be off without anybody having disturbed it, and what may be counted for another place, as a share of the run.
const ERROR: f64 = 0.01;
const MISPLACED: f64 = 0.003;

impl RunPlaces {
    /// Linear in visits.
    pub fn of(trace: &Trace, index: &Index, waits: &Waits) -> RunPlaces {
        let windows = windows(trace);
        let pes = cpu_pes(trace);
        let (begin, end) = span_of(&windows, &pes);
        let last = pes.iter().copied().max_by_key(|pe| (windows[*pe].1, std::cmp::Reverse(*pe)));
        let first = pes.iter().copied().min_by_key(|pe| {
            let rank = trace.processes()[trace.pes()[*pe].process].rank;
            (rank.is_none(), rank, *pe)
        });
        let path = last.map(|pe| walk_from(trace, index, waits, (end, pe))).unwrap_or_default();
        let own = Walk { parts: first.map(|pe| (pe, begin, end)).into_iter().collect(), gaps: Vec::new() };
        let [critical, own] = [(path, None), (own, Some(waits))].map(|it| spent(trace, (begin, end), &it.0, it.1));
        let processes = || trace.cpu_processes();
        let mut nodes: Vec<_> = processes().map(|process| process.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        RunPlaces {
            pes: pes.len(),
            processes: processes().count(),
            nodes: nodes.len(),
            seconds: run_seconds(trace),
            chains: [critical, own],
            kinds: kinds(trace, index),
        }
    }

    /// The share of the time on its critical path that is in places which another run has too. Code outside of recorded functions is anybody's.
    pub fn common(&self, other: &RunPlaces) -> f64 {
        let named = self.chains[0].iter().filter(|(place, _)| !place.construct.is_empty());
        let (mut all, mut both) = (0.0, 0.0);
        for (place, spent) in named {
            all += spent.seconds;
            both += if other.kinds.contains_key(place) { spent.seconds } else { 0.0 };
        }
        if all > 0.0 { both / all } else { 1.0 }
    }

    fn kind(&self, place: &PlaceName) -> Option<&Kind> {
        self.kinds.get(place)
    }
}

impl Kind {
    fn bytes(&self) -> f64 {
        self.bytes / self.operations.max(1.0)
    }

    /// PEs that take part.
    fn members(&self) -> f64 {
        if self.collectives > 0.0 { self.members / self.collectives } else { 2.0 }
    }
}

/// Where a call path belongs.
fn place(trace: &Trace, path: CallPathId) -> PlaceName {
    let Some(path) = path.some() else { return PlaceName { is_work: true, ..PlaceName::default() } };
    let operation = trace.paths().operation(path);
    let at = trace.paths().place(operation.some().unwrap_or(path));
    let text = |id: partune_base::StringId| without_line(trace.strings().get(id)).to_owned();
    PlaceName {
        construct: text(at.construct),
        function: text(at.function),
        is_work: !operation.is_some(),
        is_rest: false,
    }
}

/// What a chain has of each place within an interval; without waits, if these are given.
fn spent(trace: &Trace, (begin, end): (Time, Time), chain: &Walk, waits: Option<&Waits>) -> BTreeMap<PlaceName, Spent> {
    let mut times = PathTimes::new(trace.paths().len());
    let mut ended = vec![Moments::default(); trace.paths().len()];
    let mut parts: Vec<(PeId, Time, Time)> = chain
        .parts
        .iter()
        .map(|(pe, from, to)| (*pe, (*from).max(begin), (*to).min(end)))
        .filter(|it| it.2 > it.1)
        .collect();
    parts.sort_unstable();
    for parts in parts.chunk_by(|a, b| a.0 == b.0) {
        let pe = parts[0].0;
        let timeline = Timeline::new(trace, pe);
        for &(_, from, to) in parts {
            let near = trace.streams()[pe].visits.enter.partition_point(|enter| *enter < to);
            timeline.add(from, to, VisitIx(near as u32), &mut times);
            timeline.ended(from, to, |path, time| ended[path.index()] += Moments::of(time.0));
        }
        for wait in waits.into_iter().flat_map(|waits| waits.of_pe(pe).iter().chain(waits.start_up_of_pe(pe))) {
            let inside = wait.end.min(end).since(wait.begin.max(begin));
            times.add(trace.visit(pe, wait.operation).path, -inside.clamp_positive());
        }
    }
    chain.gaps.iter().for_each(|(path, gap)| times.add(*path, *gap));
    let square = trace.clock().seconds(Span(1)).powi(2);
    let mut places: BTreeMap<PlaceName, Spent> = BTreeMap::new();
    for (path, time) in times.iter() {
        let spent = places.entry(place(trace, path)).or_default();
        spent.seconds += trace.clock().seconds(time.clamp_positive());
        let Some(path) = path.some() else { continue };
        spent.visits += ended[path.index()].count() as f64;
        if trace.paths().operation(path).is_some() {
            spent.variance += ended[path.index()].of_sum().unwrap_or(0.0) * square;
        }
    }
    places
}

/// What the operations of each place are.
fn kinds(trace: &Trace, index: &Index) -> BTreeMap<PlaceName, Kind> {
    let paths = trace.paths();
    let mut of_path: Vec<Kind> = vec![Kind::default(); paths.len()];
    for (pe, stream) in trace.streams().iter_ids() {
        let path = |visit: VisitIx| visit.some().map(|visit| stream.visits.path[visit.index()].index());
        for visit in stream.operations.iter().filter_map(|visit| path(*visit)) {
            of_path[visit].operations += 1.0;
        }
        for (at, bytes) in stream.moved().filter_map(|(visit, sent, received)| Some((path(visit)?, sent.max(received))))
        {
            of_path[at].bytes += bytes as f64;
        }
        for (row, collective) in stream.collectives.iter().enumerate() {
            let instance = index.collectives.of_row(pe, row).map(|at| &index.collectives.instances[at]);
            let members = instance.map(|instance| index.collectives.members(instance).len());
            if let Some((at, members)) = path(collective.visit).zip(members) {
                of_path[at].collectives += 1.0;
                of_path[at].members += members as f64;
            }
        }
    }
    let mut kinds: BTreeMap<PlaceName, Kind> = BTreeMap::new();
    for (path, more) in paths.ids().zip(of_path) {
        let region = &trace.regions()[paths.region(path)];
        let kind = kinds.entry(place(trace, path)).or_default();
        if more.operations == 0.0 {
            continue;
        }
        kind.role = Some(region.role);
        trace.strings().get(region.paradigm).clone_into(&mut kind.paradigm);
        kind.operations += more.operations;
        kind.bytes += more.bytes;
        kind.collectives += more.collectives;
        kind.members += more.members;
    }
    kinds
}

/// How long the program takes on so many PEs. `runs`: one for each number of PEs, in increasing order, each with the share by which runs on that number
/// differ; none of fewer than two, or where no law meets a place.
pub fn predict(runs: &[(&RunPlaces, f64)], pes: u32, machine: Option<&Machine>) -> Option<Predicted> {
    let [path, first] = [0, 1].map(|chain| of_chain(runs, chain, f64::from(pes), machine));
    let path = path?;
    Some(match first {
        Some(first) if first.low > path.seconds => {
            Predicted { high: first.high.max(path.high), fitted: path.fitted, by_first_pe: true, ..first }
        }
        Some(first) => Predicted { high: path.high.max(first.seconds), ..path },
        None => path,
    })
}

fn of_chain(runs: &[(&RunPlaces, f64)], chain: usize, pes: f64, machine: Option<&Machine>) -> Option<Predicted> {
    if runs.len() < 2 {
        return None;
    }
    let is_small = |place: &PlaceName| {
        runs.iter().all(|(run, _)| run.chains[chain].get(place).is_none_or(|it| it.seconds < SMALL * run.seconds))
    };
    let mut names: Vec<&PlaceName> = runs.iter().flat_map(|(run, _)| run.chains[chain].keys()).collect();
    names.sort_unstable();
    names.dedup();
    let (small, large): (Vec<&PlaceName>, Vec<&PlaceName>) = names.into_iter().partition(|place| is_small(place));
    // Seconds and their variances.
    let measured = |place: &PlaceName| -> Vec<(f64, f64)> {
        let at =
            |run: &RunPlaces| run.chains[chain].get(place).map_or((0.0, 0.0), |spent| (spent.seconds, spent.variance));
        runs.iter().map(|(run, _)| at(run)).collect()
    };
    let counts: Vec<f64> = runs.iter().map(|(run, _)| run.pes as f64).collect();
    let noise = runs.iter().map(|(_, noise)| *noise).fold(ERROR, f64::max);
    let nearest = if pes < counts[0] { 0 } else { runs.len() - 1 };
    let row = |place: PlaceName, measured: Vec<(f64, f64)>, known: Vec<Basis>| {
        let (seconds, variances): (Vec<f64>, Vec<f64>) = measured.into_iter().unzip();
        let error = |(run, (seconds, variance)): (&RunPlaces, (&f64, &f64))| {
            (noise * seconds).hypot(MISPLACED * run.seconds).hypot(variance.sqrt())
        };
        let error: Vec<f64> = runs.iter().map(|run| run.0).zip(seconds.iter().zip(&variances)).map(error).collect();
        let error_there = (noise, (MISPLACED * runs[nearest].0.seconds).hypot(variances[nearest].sqrt()));
        let series = Series { pes: &counts, seconds: &seconds, error: &error, there: pes, error_there };
        let fitted = law::fit(&series, place.is_work, &known)?;
        Some(PredictedRow { place, seconds, fitted })
    };
    let known = |place: &PlaceName| known(runs, chain, place, &counts, pes, machine);
    let mut rows: Vec<PredictedRow> =
        large.iter().map(|place| row((*place).clone(), measured(place), known(place))).collect::<Option<_>>()?;
    for is_work in [true, false] {
        let small = small.iter().filter(|place| place.is_work == is_work).map(|place| measured(place));
        let sum = small.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)).collect());
        if let Some(sum) = sum.filter(|sum| sum.iter().any(|seconds| seconds.0 > 0.0)) {
            rows.push(row(PlaceName { is_work, is_rest: true, ..PlaceName::default() }, sum, Vec::new())?);
        }
    }
    rows.sort_by(|a, b| b.fitted.there.total_cmp(&a.fitted.there));
    let sum = |of: &dyn Fn(&PredictedRow) -> f64| rows.iter().map(of).sum::<f64>();
    Some(Predicted {
        seconds: sum(&|row| row.fitted.there),
        low: sum(&|row| row.fitted.low),
        high: sum(&|row| row.fitted.high),
        fitted: (0..runs.len()).map(|point| sum(&|row| row.fitted.at[point])).collect(),
        by_first_pe: false,
        rows,
    })
}

/// What is known of a place besides its times, at every number of PEs and there: how often it is visited; of operations also rounds and bytes, by the shape
/// of their role, and what a machine says that they take.
fn known(
    runs: &[(&RunPlaces, f64)],
    chain: usize,
    place: &PlaceName,
    counts: &[f64],
    pes: f64,
    machine: Option<&Machine>,
) -> Vec<Basis> {
    let visits: Vec<f64> =
        runs.iter().map(|(run, _)| run.chains[chain].get(place).map_or(0.0, |spent| spent.visits)).collect();
    let Some(visits_there) = law::counted(counts, &visits, pes).filter(|visits| *visits > 0.0) else {
        return Vec::new();
    };
    let product = |of: &[f64]| -> Vec<f64> { visits.iter().zip(of).map(|(visits, it)| visits * it).collect() };
    let mut known = Vec::new();
    let mut add = |term: Term, prior: f64, at: Vec<f64>, there: f64| {
        let is_constant = at.iter().all(|it| (it - there).abs() <= 1e-9 * there.abs());
        if !is_constant && there > 0.0 && there.is_finite() {
            known.push(Basis { term, at, there, prior });
        }
    };
    let kinds: Option<Vec<&Kind>> = runs.iter().map(|(run, _)| run.kind(place)).collect();
    let (Some(kinds), false) = (kinds, place.is_work) else {
        add(Term::Visits, 1.0, visits.clone(), visits_there);
        return known;
    };
    let Some(role) = kinds.first().and_then(|kind| kind.role) else { return known };
    let over_runs = |of: fn(&Kind) -> f64| {
        let at: Vec<f64> = kinds.iter().map(|kind| of(kind)).collect();
        law::counted(counts, &at, pes).map(|there| (at, there))
    };
    let (Some((members, members_there)), bytes) = (over_runs(Kind::members), over_runs(Kind::bytes)) else {
        return known;
    };
    let shapes: Vec<(f64, f64)> = members.iter().map(|members| role.shape(*members)).collect();
    let shape_there = role.shape(members_there);
    let rounds: Vec<f64> = shapes.iter().map(|shape| shape.0).collect();
    add(Term::Rounds, 1.0, product(&rounds), visits_there * shape_there.0);
    if let Some((bytes, bytes_there)) = bytes {
        if bytes.iter().any(|bytes| *bytes >= LONG) {
            let volume: Vec<f64> = shapes.iter().zip(&bytes).map(|(shape, bytes)| shape.1 * bytes).collect();
            add(Term::Volume, 0.5, product(&volume), visits_there * shape_there.1 * bytes_there);
        }
        let cost = |members: f64, bytes: f64| machine_seconds(machine?, kinds[0], role, runs, members, bytes);
        let at: Option<Vec<f64>> = members.iter().zip(&bytes).map(|(members, bytes)| cost(*members, *bytes)).collect();
        if let Some((at, there)) = at.zip(cost(members_there, bytes_there)) {
            add(Term::Machine, 2.0, product(&at), visits_there * there);
        }
    }
    known
}

/// What a machine says that an operation takes.
fn machine_seconds(
    machine: &Machine,
    kind: &Kind,
    role: Role,
    runs: &[(&RunPlaces, f64)],
    members: f64,
    bytes: f64,
) -> Option<f64> {
    let bytes = bytes.round() as u64;
    if role.is_collective() {
        return machine.baselines_of(&kind.paradigm, role.name()).seconds(bytes, members.round() as u32);
    }
    let scope = if runs.iter().any(|(run, _)| run.nodes > 1) { Scope::Network } else { Scope::Node };
    machine.link(scope).map(|link| link.transfer(bytes))
}
