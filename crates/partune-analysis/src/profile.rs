//! Profile: where time goes, flat by region and by call path, and what kind of activity it is on each PE.
//!
//! inclusive(c) = Σ (exit − enter) over visits of call path c; exclusive(c) = inclusive(c) − Σ inclusive(children of c). A
//! region's inclusive time counts only its outermost visits, so that recursion does not count twice. PPW's profile and
//! high-level views (Su, "Parallel Performance Wizard", chapter 5).

use partune_base::{CallPathId, Id, PeId, RegionId, Span, Table};
use partune_trace::{Activity, PeKind, Trace};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::queries::{Query, add_rows};
use crate::sums::{outside, useful};
use crate::times::PathTime;
use crate::useful::{cpu_pes, role_of_path};
use crate::{
    Activities, ActivityTimes, Analysis, AnalysisResult, Column, DataTable, Input, Needs, Outcome, Section,
    SectionShape, Shape, TableShape, Unit, Values,
};

/// Rows of each table.
const ROWS: usize = 1000;

pub(crate) static PROFILE: Analysis = Analysis {
    name: "profile",
    title: "Where time goes, by region, call path and activity",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "profile",
    scalars: &[
        ("communication", Unit::Seconds),
        ("idle", Unit::Seconds),
        ("computation", Unit::Seconds),
        ("io", Unit::Seconds),
        ("management", Unit::Seconds),
        ("measurement", Unit::Seconds),
        ("synchronization", Unit::Seconds),
    ],
    tables: &[
        TableShape {
            name: "regions",
            columns: &[
                ("region", Shape::Region),
                ("exclusive", Shape::SECONDS),
                ("inclusive", Shape::SECONDS),
                ("visits", Shape::Count),
                ("pes", Shape::Count),
                ("min", Shape::SECONDS),
                ("mean", Shape::SECONDS),
                ("max", Shape::SECONDS),
            ],
        },
        TableShape {
            name: "callpaths",
            columns: &[
                ("callpath", Shape::Path),
                ("exclusive", Shape::SECONDS),
                ("inclusive", Shape::SECONDS),
                ("visits", Shape::Count),
                ("pes", Shape::Count),
                ("min", Shape::SECONDS),
                ("mean", Shape::SECONDS),
                ("max", Shape::SECONDS),
            ],
        },
        TableShape {
            name: "activities",
            columns: &[
                ("pe", Shape::Pe),
                ("communication", Shape::SECONDS),
                ("computation", Shape::SECONDS),
                ("io", Shape::SECONDS),
                ("management", Shape::SECONDS),
                ("measurement", Shape::SECONDS),
                ("synchronization", Shape::SECONDS),
                ("idle", Shape::SECONDS),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Profile

Time and visits of every region and every call path, summed over PEs, with the smallest, mean and largest PE among those that
were there.

* inclusive time of a call path: Σ (exit − enter) over its visits;
* exclusive time: inclusive time less that of the call paths directly below; the body of a critical section stands beside what gets its lock, in what is around both;
* a region's inclusive time counts its outermost visits only, so recursion does not count twice;
* what main threads do outside of all recorded regions, where many recorders see no more than operations, has a row of its own, without
  visits.

So exclusive times of the table `regions` add up, for a main thread, to the time from its first event to its last, without pauses outside of regions; for other
PEs to their time in regions. Example: of a PE that records from 0 to 30 s, 20 s are in `main`, of these 5 in `MPI_Send`: `main` 15 s, `MPI_Send` 5 s, code outside of
recorded regions 10 s.

The table `activities` splits the time of each PE into computation, communication, synchronization, I/O, management and
measurement. An operation counts as what its construct is for, everything inside it with it; all other time of a main thread, from its first event to its last,
is computation, of other threads that inside of recorded regions. `idle` is the rest of the run, so each row adds up to it: other threads between regions,
threads while their team is forked or joined, accelerators without work, pauses of recording, a PE that has not begun or has ended.

Tables list at most 1000 rows, by exclusive time.

**Source**: profile and high-level view of PPW (Su, chapter 5).
";

/// Sums of one place over PEs.
#[derive(Clone, Copy, Default)]
struct Sums {
    inclusive: Span,
    exclusive: Span,
    visits: u64,
    pes: u64,
    least: Span,
    most: Span,
}

impl Sums {
    /// Adds the share of one PE.
    fn add(&mut self, inclusive: Span, exclusive: Span, visits: u64) {
        self.least = if self.pes == 0 { exclusive } else { self.least.min(exclusive) };
        self.most = self.most.max(exclusive);
        self.inclusive += inclusive;
        self.exclusive += exclusive;
        self.visits += visits;
        self.pes += 1;
    }
}

/// Code of PEs of CPUs, whether recorded as regions or not.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// What main threads did in no region, of those that did something there.
    outside: Vec<(PeId, Span)>,
    /// Useful time between the first and the last event of each PE of a CPU.
    computing: Vec<(PeId, Span)>,
}

impl Query for Code {
    fn of(input: &Input<'_>) -> Code {
        let trace = input.trace;
        let run = (trace.begin(), trace.end());
        let extent = |pe: PeId| match trace.streams().get(pe) {
            Some(stream) if trace.profile().is_none() => {
                (stream.begin().unwrap_or(run.0), stream.end().unwrap_or(run.1))
            }
            _ => run,
        };
        let computing = |pe: &PeId| (*pe, Span(useful(trace, *pe, extent(*pe))));
        let computing = cpu_pes(trace).par_iter().map(computing).collect();
        Code { outside: outside(trace, input.times()), computing }
    }

    fn add(&mut self, next: Code) {
        for (sums, next) in [(&mut self.outside, next.outside), (&mut self.computing, next.computing)] {
            add_rows(sums, next, |(pe, _)| *pe, |sum, more| sum.1 += more.1);
        }
    }
}

impl<'a> Input<'a> {
    /// What main threads did in no region, of those that did something there.
    pub fn outside(&self) -> &'a [(PeId, Span)] {
        &self.code().outside
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let times = input.times();
    let mut paths: Table<CallPathId, Sums> = Table::filled(trace.paths().len(), Sums::default());
    let mut regions: Table<RegionId, Sums> = Table::filled(trace.regions().len(), Sums::default());
    let outermost = outermost(trace);
    let mut on_pe: Table<RegionId, (Span, Span, u64)> = Table::filled(trace.regions().len(), <_>::default());
    let mut touched: Vec<RegionId> = Vec::new();
    for rows in times {
        for row in rows {
            paths[row.path].add(row.inclusive, row.exclusive, row.visits);
            let region = trace.paths().region(row.path);
            let sums = &mut on_pe[region];
            if sums.2 == 0 {
                touched.push(region);
            }
            sums.0 += if outermost[row.path] { row.inclusive } else { Span::ZERO };
            sums.1 += row.exclusive;
            sums.2 += row.visits;
        }
        for region in touched.drain(..) {
            let (inclusive, exclusive, visits) = std::mem::take(&mut on_pe[region]);
            regions[region].add(inclusive, exclusive, visits);
        }
    }
    let mut outside = Sums::default();
    input.code().outside.iter().for_each(|(_, time)| outside.add(*time, *time, 0));
    let by_path = ranked(&paths, &outside);
    let by_region = ranked(&regions, &outside);
    let activities = activities(trace, times.as_slice(), &input.code().computing);
    let mut section = Section { name: "profile", scalars: activities.scalars(), ..Section::default() };
    let shown = by_path.len().max(by_region.len());
    if shown > ROWS {
        section.notes.push(format!("tables list the first {ROWS} rows by exclusive time; there are up to {shown}"));
    }
    section.tables.push(table(trace, "regions", by_region, Values::Region));
    section.tables.push(table(trace, "callpaths", by_path, Values::Path));
    section.tables.push(activities.table("activities"));
    section.result = Some(AnalysisResult::Activities(activities));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// Whether no ancestor of a path is of the same region.
fn outermost(trace: &Trace) -> Table<CallPathId, bool> {
    let paths = trace.paths();
    paths.outermost(trace.regions().len(), |path| Some(paths.region(path).index()))
}

/// Visited rows, and that of no region, by exclusive time, then inclusive time, then id.
fn ranked<I: Id + Ord>(sums: &Table<I, Sums>, outside: &Sums) -> Vec<(I, Sums)> {
    let visited = sums.iter_ids().filter(|(_, sums)| sums.visits > 0).map(|(id, sums)| (id, *sums));
    let none = (outside.pes > 0).then_some((I::from_index(u32::MAX as usize), *outside));
    let mut rows: Vec<(I, Sums)> = visited.chain(none).collect();
    rows.sort_unstable_by_key(|(id, sums)| (std::cmp::Reverse((sums.exclusive, sums.inclusive)), *id));
    rows
}

fn table<I>(trace: &Trace, name: &'static str, mut rows: Vec<(I, Sums)>, ids: impl Fn(Vec<I>) -> Values) -> DataTable {
    rows.truncate(ROWS);
    let seconds =
        |of: &dyn Fn(&Sums) -> Span| rows.iter().map(|(_, sums)| trace.clock().seconds(of(sums))).collect::<Vec<f64>>();
    let mean = rows.iter().map(|(_, sums)| trace.clock().seconds(sums.exclusive) / sums.pes.max(1) as f64).collect();
    let columns = vec![
        Column::seconds("exclusive", seconds(&|sums| sums.exclusive)),
        Column::seconds("inclusive", seconds(&|sums| sums.inclusive)),
        Column::new("visits", Values::Count(rows.iter().map(|(_, sums)| sums.visits).collect())),
        Column::new("pes", Values::Count(rows.iter().map(|(_, sums)| sums.pes).collect())),
        Column::seconds("min", seconds(&|sums| sums.least)),
        Column::seconds("mean", mean),
        Column::seconds("max", seconds(&|sums| sums.most)),
    ];
    let ids = Column::new(name.trim_end_matches('s'), ids(rows.into_iter().map(|(id, _)| id).collect()));
    DataTable { name, columns: std::iter::once(ids).chain(columns).collect() }
}

/// Time of each PE by activity.
fn activities(trace: &Trace, times: &[Vec<PathTime>], computing: &[(PeId, Span)]) -> Activities {
    let pes: Vec<PeId> = trace.active_pes().collect();
    let rows: Vec<[Span; 6]> = pes
        .par_iter()
        .map(|pe| {
            let mut spans = [Span::ZERO; 6];
            for row in &times[pe.index()] {
                if trace.paths().operation(row.path) == row.path {
                    spans[role_of_path(trace, row.path).activity() as usize] += row.inclusive;
                } else if trace.pes()[*pe].kind != PeKind::Cpu && !trace.paths().operation(row.path).is_some() {
                    spans[Activity::Computation as usize] += row.exclusive;
                }
            }
            if let Ok(at) = computing.binary_search_by_key(pe, |(pe, _)| *pe) {
                spans[Activity::Computation as usize] = computing[at].1;
            }
            spans
        })
        .collect();
    let clock = trace.clock();
    let times = |activity, of: &dyn Fn(&[Span; 6]) -> Span| ActivityTimes {
        activity,
        total: clock.seconds(rows.iter().map(of).sum()),
        of_pes: rows.iter().map(|row| clock.seconds(of(row))).collect(),
    };
    let idle = |row: &[Span; 6]| (trace.duration() - row.iter().copied().sum()).clamp_positive();
    let known = Activity::ALL.iter().map(|activity| times(Some(*activity), &|row| row[*activity as usize]));
    Activities { times: known.chain([times(None, &idle)]).collect(), pes }
}
