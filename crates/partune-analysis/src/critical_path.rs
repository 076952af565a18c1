//! The critical path: the chain of work and communication that the run could not have been shorter than, and the imbalance on it.
//!
//! After Böhme, de Supinski, Geimer, Schulz, Wolf, "Scalable critical-path based performance analysis" (IPDPS 2012). From the
//! last event backwards: on a PE until its last wait, then on to the PE that ended it, at the moment it did; from the begin of
//! a PE's part in a parallel region to the PE that forked it (the time between is that of the region). Waits are not on the path. Waits without a known cause are left
//! out but do not change the PE. Start-up counts as work of each PE (what keeps start-up is the launcher
//! and not another PE); shut-down ends the path and does not count. Time outside of all visits is that of [`CallPathId::NONE`], on main threads only.
//!
//! Cost: the walk looks at each moment of the run once, on one PE; the profile of all PEs is one pass over visits.

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_index::Index;
use partune_trace::{Role, Trace, VisitIx};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::queries::{Query, add_rows};
use crate::timeline::{PathTimes, Timeline, profile};
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
    Wait, Waits,
};

/// The analysis.
pub(crate) static CRITICAL_PATH: Analysis = Analysis {
    name: "critical_path",
    title: "Critical path and the imbalance on it",
    docs: DOCS,
    finds: false,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

/// Rows of the table.
const ROWS: usize = 1000;

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "critical_path",
    scalars: &[
        ("length_s", Unit::Seconds),
        ("idle_s", Unit::Seconds),
        ("imbalance_s", Unit::Seconds),
        ("critical_activities_s", Unit::Seconds),
        ("imbalance_impact_s", Unit::Seconds),
        ("inter_partition_imbalance_s", Unit::Seconds),
        ("non_critical_activities_s", Unit::Seconds),
    ],
    tables: &[TableShape {
        name: "critical_path_profile",
        columns: &[
            ("path", Shape::Path),
            ("critical_s", Shape::SECONDS),
            ("average_s", Shape::SECONDS),
            ("imbalance_s", Shape::SECONDS),
        ],
    }],
}];

const DOCS: &str = "
The critical path is the longest chain of work through all PEs: shorten something on it and the run gets shorter; shorten anything
else and nothing happens. It is walked backwards from the last event; where a PE waited, the path goes on at the PE that ended the
wait.

With g(c) the time of call path c on the path and t_p(c) the time of PE p in it without waits:

- `length_s` = Σ g(c);
- **imbalance** of c = max(0, g(c) − average of t_p(c)): what perfect balance of c would save;
- impact on N PEs, N · Σ g = activities + non-critical + imbalance impact + idle:
  `critical_activities_s` = Σ min(g, t_p), `non_critical_activities_s` = Σ max(t_p − g, 0) (work that could be taken over by nobody or by
  everybody without the path changing), and, per PE, the rest Σ g − Σ t_p, which other PEs' critical work cost it:
  `inter_partition_imbalance_s` for the share of call paths that the PE never executes, `imbalance_impact_s` for the others. A PE that
  worked longer than the path is long (it was late, but nobody waited for it) makes the rest negative: `idle_s` holds it, with minus.

Source: Böhme et al., Scalable critical-path based performance analysis, IPDPS 2012.
";

/// The critical path of a run.
#[derive(Clone, Debug, Default)]
pub struct CriticalPath {
    /// Its parts, latest first: a PE, from, to.
    pub parts: Vec<(PeId, Time, Time)>,
    /// Time on the path by call path; one more for time outside of all.
    pub times: Vec<Span>,
}

/// What the path costs all PEs, in ticks; the parts sum to PEs · Σ g.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impact {
    pub critical_activities: f64,
    pub non_critical_activities: f64,
    /// Of call paths that the PE executes, but less than the critical path.
    pub imbalance: f64,
    /// Of call paths that the PE never executes.
    pub inter_partition: f64,
    /// Not above zero: work beyond the length of the path.
    pub beyond: f64,
}

impl CriticalPath {
    /// Walks the path of a run, or of a slice of it.
    pub fn find(trace: &Trace, index: &Index, waits: &Waits) -> CriticalPath {
        let walk = walk(trace, index, waits);
        let sums = walk.times(trace, waits);
        let all = trace.paths().ids().chain([CallPathId::NONE]);
        let times = all.zip(sums).map(|(path, time)| counted(trace, path, time)).collect();
        CriticalPath { times, parts: walk.parts }
    }

    /// Its length without waits.
    pub fn length(&self) -> Span {
        self.times.iter().copied().sum()
    }
}

/// What of the time on a path counts.
fn counted(trace: &Trace, path: CallPathId, time: Span) -> Span {
    if is_shut_down(trace, path) { Span::ZERO } else { time.clamp_positive() }
}

impl Walk {
    /// The time of each call path on the way without waits, and at the end that outside of all.
    fn times(&self, trace: &Trace, waits: &Waits) -> Vec<Span> {
        let Walk { parts, gaps } = self;
        let mut times = PathTimes::new(trace.paths().len());
        // Links are made once a PE that the path visits.
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|i| parts[*i].0);
        for parts_of_pe in order.chunk_by(|a, b| parts[*a].0 == parts[*b].0) {
            let pe = parts[parts_of_pe[0]].0;
            let timeline = Timeline::new(trace, pe);
            for i in parts_of_pe {
                let (_, begin, end) = parts[*i];
                let visits = &trace.streams()[pe].visits;
                let near = VisitIx(visits.enter.partition_point(|enter| *enter < end) as u32);
                timeline.add(begin, end, near, &mut times);
                let rows = waits.of_pe(pe);
                let first = rows.partition_point(|wait| wait.end <= begin);
                for wait in rows[first..].iter().take_while(|wait| wait.begin < end) {
                    let inside = wait.end.min(end).since(wait.begin.max(begin));
                    times.add(trace.visit(pe, wait.operation).path, -inside);
                }
            }
        }
        gaps.iter().for_each(|(path, gap)| times.add(*path, *gap));
        trace.paths().ids().chain([CallPathId::NONE]).map(|path| times.get(path)).collect()
    }
}

/// The critical path as it adds up: the ways that it may take, by the PE on which it leaves a slice, and what PEs do beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Critical {
    ways: Vec<WayTimes>,
    /// For each PE the way that leads to its end, and what of the last operation is on the way only if it leads there.
    ends: Table<PeId, End>,
    /// Time without waits of each PE of a CPU by call path, in order, outside last.
    work: Vec<Vec<(CallPathId, Span)>>,
}

/// A way through one slice or several.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct WayTimes {
    /// By call path; the last outside of all.
    times: Vec<Span>,
    /// The PE on which it begins.
    begins: PeId,
}

/// Where a PE ends a slice: the way that leads there, and how long it was there at a call path after that.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct End {
    way: u32,
    path: CallPathId,
    more: Span,
}

impl Query for Critical {
    fn of(input: &Input<'_>) -> Critical {
        let (trace, index, waits) = (input.trace, input.index, input.waits);
        let pes: Vec<PeId> = trace.cpu_pes().collect();
        let mut critical = Critical {
            ways: Vec::new(),
            ends: Table::filled(trace.pes().len(), End { way: 0, path: CallPathId::NONE, more: Span::ZERO }),
            work: work(trace, index, waits, &pes),
        };
        let way = |walk: &Walk| {
            let begins = walk.parts.last().map_or(PeId::NONE, |part| part.0);
            WayTimes { times: walk.times(trace, waits), begins }
        };
        if trace.slice().is_none_or(|slice| slice.is_last) {
            critical.ways.push(way(&walk(trace, index, waits)));
            return critical;
        }
        // All who waited for the last one go on there; who did not is the last one, or came with it.
        let mut known: Vec<(Time, PeId)> = Vec::new();
        for pe in &pes {
            let end = trace.streams()[*pe].end().unwrap_or_default();
            let (from, path, more) = match at_end(trace, waits, *pe) {
                Some(wait) => ((wait.end, wait.cause.pe), trace.visit(*pe, wait.operation).path, end.since(wait.end)),
                None => ((Time(end.0 + 1), *pe), CallPathId::NONE, Span::ZERO),
            };
            let at = known.iter().position(|it| *it == from).unwrap_or_else(|| {
                let (before, of) = from;
                let begin = before.min(trace.streams()[of].end().unwrap_or(before));
                critical.ways.push(way(&walk_before(trace, index, waits, (begin, of), before)));
                known.push(from);
                known.len() - 1
            });
            critical.ends[*pe] = End { way: at as u32, path, more };
        }
        critical
    }

    fn add(&mut self, next: Critical) {
        let with_earlier = |mut way: WayTimes| {
            let End { way: earlier, path, more } = self.ends[way.begins];
            way.times.iter_mut().zip(&self.ways[earlier as usize].times).for_each(|(sum, time)| *sum += *time);
            let last = way.times.len() - 1;
            way.times[path.index().min(last)] += more;
            way
        };
        let ways = next.ways.into_iter().map(with_earlier).collect();
        (self.ways, self.ends) = (ways, next.ends);
        for (sums, next) in self.work.iter_mut().zip(next.work) {
            add_rows(sums, next, |(path, _)| *path, |sum, more| sum.1 += more.1);
        }
    }
}

/// The wait of a PE for another one in its last operation.
fn at_end<'a>(trace: &Trace, waits: &'a Waits, pe: PeId) -> Option<&'a Wait> {
    let is_last = |wait: &&Wait| trace.streams()[pe].operations.last() == Some(&wait.operation);
    waits.of_pe(pe).last().filter(is_last).filter(|wait| wait.cause.is_some() && wait.cause.pe != pe)
}

impl Impact {
    /// From g(c) and, per PE, t(c) where it is not zero.
    pub fn of(critical: &[Span], pes: &[Vec<(CallPathId, Span)>]) -> Impact {
        let length = critical.iter().copied().sum();
        pes.iter().map(|times| Impact::of_pe(critical, length, times)).fold(Impact::default(), |a, b| Impact {
            critical_activities: a.critical_activities + b.critical_activities,
            non_critical_activities: a.non_critical_activities + b.non_critical_activities,
            imbalance: a.imbalance + b.imbalance,
            inter_partition: a.inter_partition + b.inter_partition,
            beyond: a.beyond + b.beyond,
        })
    }

    fn of_pe(critical: &[Span], length: Span, times: &[(CallPathId, Span)]) -> Impact {
        let (mut common, mut beyond) = (Span::ZERO, Span::ZERO);
        // Where the PE has no time, all of the path's is headroom.
        let (mut missing, mut never) = (length, length);
        for &(path, t) in times.iter().filter(|(_, t)| *t != Span::ZERO) {
            let g = critical[path.index().min(critical.len() - 1)];
            common += g.min(t);
            beyond += t.since(g);
            missing += g.since(t) - g;
            never -= g;
        }
        // Σ g − Σ t, shared over call paths in proportion to headroom.
        let rest = (missing - beyond).0 as f64;
        let share = if missing.is_positive() { never.0 as f64 / missing.0 as f64 } else { 0.0 };
        Impact {
            critical_activities: common.0 as f64,
            non_critical_activities: beyond.0 as f64,
            imbalance: rest.max(0.0) * (1.0 - share),
            inter_partition: rest.max(0.0) * share,
            beyond: rest.min(0.0),
        }
    }

    /// PEs · Σ g.
    pub fn total(&self) -> f64 {
        self.critical_activities + self.non_critical_activities + self.imbalance + self.inter_partition + self.beyond
    }
}

trait Since {
    fn since(self, other: Self) -> Self;
}

impl Since for Span {
    /// The difference, at least zero.
    fn since(self, other: Span) -> Span {
        (self - other).clamp_positive()
    }
}

/// The walk, latest first.
#[derive(Default)]
pub(crate) struct Walk {
    /// A PE, from, to.
    pub(crate) parts: Vec<(PeId, Time, Time)>,
    /// What lies between parts: the time that forks took, by the call path that was forked.
    pub(crate) gaps: Vec<(CallPathId, Span)>,
}

fn walk(trace: &Trace, index: &Index, waits: &Waits) -> Walk {
    let ends = |pe: PeId| Some((trace.streams()[pe].end()?, pe));
    let last = if trace.slice().is_none_or(|slice| slice.is_last) {
        trace.cpu_pes().filter_map(ends).max_by_key(|(end, pe)| (*end, std::cmp::Reverse(*pe)))
    } else {
        // Whoever goes on, the way leads by the PE that came last to the meeting at the end.
        trace.cpu_pes().next().map(|pe| at_end(trace, waits, pe).map_or(pe, |wait| wait.cause.pe)).and_then(ends)
    };
    last.map(|last| walk_from(trace, index, waits, last)).unwrap_or_default()
}

/// The chain that leads to a time of a PE.
pub(crate) fn walk_from(trace: &Trace, index: &Index, waits: &Waits, from: (Time, PeId)) -> Walk {
    // One past the end, so that the first step may end where the run does.
    walk_before(trace, index, waits, from, Time(from.0.0 + 1))
}

/// The same, by what happened before a time.
fn walk_before(trace: &Trace, index: &Index, waits: &Waits, (mut now, mut pe): (Time, PeId), mut before: Time) -> Walk {
    let mut path = Walk::default();
    let forked = forks(trace, index);
    loop {
        let wait = last_wait(trace, waits.of_pe(pe), before);
        let wait = wait.max_by_end(last_wait(trace, waits.start_up_of_pe(pe), before));
        let fork = forked[pe.index()].partition_point(|part| part.begin < before);
        let fork = fork.checked_sub(1).map(|i| forked[pe.index()][i]);
        let (begin, next, at) = match (wait, fork) {
            (Some(wait), fork) if fork.is_none_or(|part| part.begin <= wait.end) => (wait.end, wait.cause.pe, wait.end),
            (_, Some(part)) => {
                path.gaps.push((part.path, part.took()));
                (part.begin, part.master, part.begin - part.took())
            }
            (_, None) => {
                let begin = trace.streams()[pe].begin().unwrap_or(now).min(now);
                path.parts.push((pe, begin, now));
                return path;
            }
        };
        path.parts.push((pe, begin, now));
        (pe, now, before) = (next, at, at);
    }
}

trait MaxByEnd {
    fn max_by_end(self, other: Self) -> Self;
}

impl MaxByEnd for Option<&Wait> {
    fn max_by_end(self, other: Self) -> Self {
        if other.map(|wait| wait.end) > self.map(|wait| wait.end) { other } else { self }
    }
}

/// The last wait before a time that another PE caused.
fn last_wait<'a>(trace: &Trace, waits: &'a [Wait], before: Time) -> Option<&'a Wait> {
    let count = waits.partition_point(|wait| wait.end < before);
    let own_doing = |wait: &Wait| matches!(trace.role_of(wait.pe, wait.operation), Role::Init | Role::GlobalAlloc);
    let caused = |wait: &&Wait| wait.cause.is_some() && wait.cause.pe != wait.pe && !own_doing(wait);
    waits[..count].iter().rev().find(caused)
}

/// Whether a call path is in the shut-down of a paradigm.
fn is_shut_down(trace: &Trace, path: CallPathId) -> bool {
    let operation = path.some().and_then(|path| trace.paths().operation(path).some());
    operation.is_some_and(|operation| trace.regions()[trace.paths().region(operation)].role == Role::Finalize)
}

/// The part of a PE in a parallel region that another PE forked.
#[derive(Clone, Copy, Debug)]
struct Part {
    begin: Time,
    master: PeId,
    forked: Time,
    /// What it was forked to run.
    path: CallPathId,
}

impl Part {
    /// From the fork to its begin.
    fn took(&self) -> Span {
        self.begin.since(self.forked)
    }
}

/// The parts of each PE, by their begins.
fn forks(trace: &Trace, index: &Index) -> Vec<Vec<Part>> {
    let mut forked: Vec<Vec<Part>> = vec![Vec::new(); trace.pes().len()];
    for fork in index.teams.forks.iter().filter(|fork| fork.place.pe.is_some()) {
        for (pe, begin, _) in fork.members.iter().filter(|(pe, _, _)| *pe != fork.place.pe) {
            let visits = &trace.streams()[*pe].visits;
            let first = visits.enter.partition_point(|enter| enter < begin);
            let path = visits.path.get(first).copied().unwrap_or(CallPathId::NONE);
            forked[pe.index()].push(Part { begin: *begin, master: fork.place.pe, forked: fork.fork, path });
        }
    }
    forked.iter_mut().for_each(|parts| parts.sort_by_key(|part| part.begin));
    forked
}

/// The time of each PE in the call paths where it has any, and outside of all, without waits; in order of paths, outside last.
pub(crate) fn work(trace: &Trace, index: &Index, waits: &Waits, pes: &[PeId]) -> Vec<Vec<(CallPathId, Span)>> {
    let forked = forks(trace, index);
    let of_pe = |times: &mut PathTimes, pe: &PeId| {
        let stream = &trace.streams()[*pe];
        profile(trace, *pe, times);
        let recorded: Span = times.iter().map(|(_, time)| time).sum();
        for wait in waits.of_pe(*pe) {
            times.add(trace.visit(*pe, wait.operation).path, -wait.duration());
        }
        for part in &forked[pe.index()] {
            times.add(part.path, part.took());
        }
        let all = stream.end().unwrap_or_default().since(stream.begin().unwrap_or_default());
        if trace.pes()[*pe].thread == 0 {
            times.add(CallPathId::NONE, (all - recorded).clamp_positive());
        }
        let mut work: Vec<(CallPathId, Span)> = times.iter().collect();
        work.sort_unstable_by_key(|(path, _)| *path);
        times.clear();
        work
    };
    pes.par_iter().map_init(|| PathTimes::new(trace.paths().len()), of_pe).collect()
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let pes: Vec<PeId> = trace.cpu_pes().collect();
    let Critical { ways, work, .. } = input.critical();
    let counts = |(path, time): &(CallPathId, Span)| time.is_positive() && !is_shut_down(trace, *path);
    let work: Vec<Vec<_>> = work.iter().map(|of_pe| of_pe.iter().copied().filter(counts).collect()).collect();
    let all = trace.paths().ids().chain([CallPathId::NONE]);
    let times = all.zip(ways.first().map_or(&[][..], |way| &way.times));
    let path =
        CriticalPath { times: times.map(|(path, time)| counted(trace, path, *time)).collect(), parts: Vec::new() };
    let impact = Impact::of(&path.times, &work);
    let clock = trace.clock();
    let seconds = |ticks: f64| ticks / clock.ticks_per_second() as f64;
    let scalar = |name, value| Scalar { name, value, unit: Unit::Seconds };
    let critical = |id: &CallPathId| path.times[id.index().min(trace.paths().len())];
    let mut sums = PathTimes::new(trace.paths().len());
    work.iter().flatten().for_each(|(path, time)| sums.add(*path, *time));
    let average = |id: &CallPathId| sums.get(*id).0 as f64 / pes.len().max(1) as f64;
    let all = trace.paths().ids().chain([CallPathId::NONE]);
    let mut rows: Vec<CallPathId> = all.filter(|id| critical(id).is_positive()).collect();
    rows.sort_by_key(|id| (std::cmp::Reverse(critical(id)), *id));
    let imbalance = |id: &CallPathId| (critical(id).0 as f64 - average(id)).max(0.0);
    let imbalance_s = seconds(rows.iter().map(imbalance).sum());
    let mut notes = Vec::new();
    if rows.len() > ROWS {
        notes
            .push(format!("the table lists the first {ROWS} of {} call paths, by their share of the path", rows.len()));
        rows.truncate(ROWS);
    }
    let number = |part: &dyn Fn(&CallPathId) -> f64| {
        Values::Number(Unit::Seconds, rows.iter().map(|id| seconds(part(id))).collect())
    };
    let table = DataTable {
        name: "critical_path_profile",
        columns: vec![
            Column { name: "path", values: Values::Path(rows.clone()) },
            Column { name: "critical_s", values: number(&|id| critical(id).0 as f64) },
            Column { name: "average_s", values: number(&average) },
            Column { name: "imbalance_s", values: number(&imbalance) },
        ],
    };
    let section = Section {
        name: "critical_path",
        scalars: vec![
            scalar("length_s", clock.seconds(path.length())),
            scalar("imbalance_s", imbalance_s),
            scalar("critical_activities_s", seconds(impact.critical_activities)),
            scalar("non_critical_activities_s", seconds(impact.non_critical_activities)),
            scalar("imbalance_impact_s", seconds(impact.imbalance)),
            scalar("inter_partition_imbalance_s", seconds(impact.inter_partition)),
            scalar("idle_s", seconds(impact.beyond)),
        ],
        tables: vec![table],
        notes,
        ..Section::default()
    };
    Outcome { findings: Vec::new(), sections: vec![section] }
}
