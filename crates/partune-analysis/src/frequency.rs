//! Frequency: places that run so often and so briefly that recording them costs about as much as they do.
//!
//! Flagged if a PE visits a call path at least [`crate::Options::frequent_count`] times for at most ten times the timer's cost
//! on average (theory 6.8; Su, "Parallel Performance Wizard", chapter 5).

use std::collections::{BTreeMap, BTreeSet};

use partune_base::{CallPathId, Id, PeId, RegionId, Span, StringId, Table};
use partune_index::Place;
use partune_trace::{Region, Role, Stream};
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::times::PathTime;
use crate::{
    Analysis, Column, DataTable, Finding, Input, Needs, Outcome, Pattern, Section, SectionShape, Shape, TableShape,
    Values,
};

pub(crate) static FREQUENCY: Analysis = Analysis {
    name: "frequency",
    title: "Places that run too often and too briefly to be recorded",
    docs: DOCS,
    finds: true,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "frequency",
    scalars: &[],
    tables: &[TableShape {
        name: "not_worth_recording",
        columns: &[
            ("function", Shape::Region),
            ("visits", Shape::Count),
            ("inclusive", Shape::SECONDS),
            ("recording", Shape::SECONDS),
        ],
    }],
}];

const DOCS: &str = "\
# High frequency

A recorded call path is frequent on a PE if it has at least 1000 visits there (`frequent_count`) with a mean of at most ten times what reading
the clock takes. Recording it disturbs the run: exclude it from instrumentation, or merge the calls.

Polls that find nothing are counted where they wait and not here.

Functions that are known from the call chains of operations or from samples alone cost nothing to record and are never listed.

The cost of reading the clock is estimated from the trace: the smallest mean duration of any recorded call path on any PE, at least one tick and at
most one microsecond; with a machine (`--machine`) it is what that says of recording an event. The time of a finding is that cost for each visit; facts give visits and the mean duration.

`not_worth_recording` lists functions, wherever they are called from, that need not be recorded next time; `partune analyze ARCHIVE --write-filter FILE` writes
them for `partune record --filter FILE`. A function is listed if

- a PE visits it at least `frequent_count` times, and the mean of all its visits is at most ten times what reading the clock takes;
- it is the user's own, or an inquiry, management, or the getting and giving back of a lock. What moves data or meets others is never listed, since
  others refer to it;
- no PE waited in it, and nobody's wait was ended by it. A profile does not know that; then locks are not listed.

`recording` is the clock's cost for each visit, `inclusive` what the visits took; both are summed over PEs.

**Source**: frequency analysis of PPW (Su, chapter 5).
";

/// Means up to so many times the cost of the clock are short.
const SHORT: f64 = 10.0;

/// What keeps functions from being left out of a recording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Needed {
    /// Polls that found nothing, of each PE.
    polls: Table<PeId, BTreeMap<CallPathId, u64>>,
    /// Regions that somebody waited in, or whose visit ended a wait.
    waited: BTreeSet<RegionId>,
}

impl Query for Needed {
    fn of(input: &Input<'_>) -> Needed {
        let trace = input.trace;
        let of_stream = |stream: &Stream| {
            let mut polls: BTreeMap<CallPathId, u64> = BTreeMap::new();
            for (visit, more) in stream.repeated() {
                *polls.entry(stream.visits.path[visit.index()]).or_default() += more;
            }
            polls
        };
        // There are many waits, and few regions.
        let mut waited = vec![false; trace.regions().len()];
        let places = input.waits.iter().flat_map(|wait| [Place { pe: wait.pe, visit: wait.operation }, wait.cause]);
        for place in places.filter(|place| place.is_some()) {
            let path = trace.streams()[place.pe].visits.path[place.visit.index()];
            waited[trace.paths().region(path).index()] = true;
        }
        let waited = (0..waited.len()).filter(|region| waited[*region]).map(RegionId::from_index);
        Needed { polls: trace.streams().iter().map(of_stream).collect(), waited: waited.collect() }
    }

    fn add(&mut self, next: Needed) {
        for (sums, next) in self.polls.iter_mut().zip(&next.polls) {
            next.iter().for_each(|(path, more)| *sums.entry(*path).or_default() += more);
        }
        self.waited.extend(next.waited);
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let times = input.times();
    let is_recorded = |row: &&PathTime| trace.paths().is_recorded(row.path);
    let means = times
        .iter()
        .flatten()
        .filter(is_recorded)
        .filter(|row| row.inclusive.is_positive())
        .map(|row| row.inclusive.0 as f64 / row.visits as f64);
    let microsecond = trace.clock().ticks_per_second() as f64 / 1e6;
    let clock = match &input.options.machine {
        Some(machine) => machine.overheads.event_s * trace.clock().ticks_per_second() as f64,
        None => means.fold(microsecond, f64::min),
    }
    .max(1.0);

    let mut frequent: Vec<Vec<(PeId, u64, Span)>> = vec![Vec::new(); trace.paths().len()];
    for (pe, rows) in times.iter_ids() {
        let polls = &input.needed().polls[pe];
        for row in rows.iter().filter(is_recorded) {
            let visits = row.visits - polls.get(&row.path).copied().unwrap_or(0).min(row.visits);
            if visits >= input.options.frequent_count && row.inclusive.0 as f64 <= SHORT * clock * row.visits as f64 {
                frequent[row.path.index()].push((pe, visits, row.inclusive));
            }
        }
    }
    let mut outcome = Outcome::default();
    for (path, pes) in frequent.into_iter().enumerate().filter(|(_, pes)| !pes.is_empty()) {
        let path = CallPathId::from_index(path);
        let cost = |visits: u64| Span((visits as f64 * clock).round() as i64);
        let visits: u64 = pes.iter().map(|row| row.1).sum();
        let inclusive: Span = pes.iter().map(|row| row.2).sum();
        let pes: Vec<(PeId, Span)> = pes.iter().map(|(pe, visits, _)| (*pe, cost(*visits))).collect();
        outcome.findings.push(Finding {
            time: pes.iter().map(|(_, time)| *time).sum(),
            count: visits,
            pes,
            facts: vec![
                ("visits", visits as f64),
                ("mean_seconds", trace.clock().seconds(inclusive) / visits as f64),
                ("clock_seconds", clock / trace.clock().ticks_per_second() as f64),
            ],
            ..Finding::at(trace, Pattern::HighFrequency, path)
        });
    }
    outcome.sections.extend(not_worth_recording(input, clock));
    outcome
}

/// Visits of functions of one name.
struct Function {
    region: RegionId,
    visits: u64,
    inclusive: Span,
    /// The most visits on one PE.
    most: u64,
}

/// Functions that are short and frequent, that nobody waited in or for, and that others do not refer to. The most visits first. `clock` is the cost of
/// a visit in ticks.
fn not_worth_recording(input: &Input<'_>, clock: f64) -> Option<Section> {
    let trace = input.trace;
    let name = |region: &Region| (region.paradigm, region.name);
    let mut functions: BTreeMap<(StringId, StringId), Function> = BTreeMap::new();
    for rows in input.times() {
        let mut here: BTreeMap<(StringId, StringId), u64> = BTreeMap::new();
        for row in rows.iter().filter(|row| trace.paths().is_recorded(row.path)) {
            let region = trace.paths().region(row.path);
            let name = name(&trace.regions()[region]);
            let empty = Function { region, visits: 0, inclusive: Span(0), most: 0 };
            let function = functions.entry(name).or_insert(empty);
            function.visits += row.visits;
            function.inclusive += row.inclusive;
            let here = here.entry(name).or_default();
            *here += row.visits;
            function.most = function.most.max(*here);
        }
    }
    let is_short = |it: &Function| it.inclusive.0 as f64 <= SHORT * clock * it.visits as f64;
    functions.retain(|_, it| {
        it.most >= input.options.frequent_count
            && is_short(it)
            && can_be_missed(&trace.regions()[it.region], trace.profile().is_some())
    });
    for region in &input.needed().waited {
        functions.remove(&name(&trace.regions()[*region]));
    }
    let mut rows: Vec<Function> = functions.into_values().collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.visits), row.region));
    let seconds = |ticks: &dyn Fn(&Function) -> f64| {
        let of_tick = trace.clock().ticks_per_second() as f64;
        rows.iter().map(|row| ticks(row) / of_tick).collect::<Vec<f64>>()
    };
    let columns = vec![
        Column::new("function", Values::Region(rows.iter().map(|row| row.region).collect())),
        Column::new("visits", Values::Count(rows.iter().map(|row| row.visits).collect())),
        Column::seconds("inclusive", seconds(&|row| row.inclusive.0 as f64)),
        Column::seconds("recording", seconds(&|row| row.visits as f64 * clock)),
    ];
    let tables = vec![DataTable { name: "not_worth_recording", columns }];
    Some(Section { name: "frequency", tables, ..Section::default() })
}

/// Whether nothing else that is recorded refers to a function's visits.
fn can_be_missed(region: &Region, is_profile: bool) -> bool {
    match region.role {
        Role::User => region.is_function(),
        Role::Inquiry | Role::Management => true,
        Role::LockAcquire | Role::LockRelease => !is_profile,
        Role::Init
        | Role::Finalize
        | Role::Send
        | Role::Recv
        | Role::SendRecv
        | Role::Probe
        | Role::CommSync
        | Role::Put
        | Role::Get
        | Role::Atomic
        | Role::RmaGroupSync
        | Role::RmaPost
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::GroupSync
        | Role::GroupNotify
        | Role::GroupWait
        | Role::OneToAll
        | Role::AllToOne
        | Role::AllToAll
        | Role::Scan
        | Role::GlobalAlloc
        | Role::WaitOnValue
        | Role::Signal
        | Role::DeviceWait
        | Role::WorkSharing
        | Role::Parallel
        | Role::TaskCreate
        | Role::TaskRun
        | Role::TaskWait
        | Role::PeManagement
        | Role::Io
        | Role::Measurement => false,
    }
}
