//! Load balance of whole PEs and of call paths: who has more to do, over the run and at each place.
//!
//! PE level: useful time of PEs. Event level: the time of each call path, exclusive of user code and whole of operations, over the PEs
//! that run it; lost time is Σ_q (max − t_q) = N (max − avg), sorted by it (theory 6.5; Su, "Parallel Performance Wizard",
//! chapter 5). Block level is in [`crate::bounds`].

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_base::{CallPathId, Id, PeId, Span};
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::times::PathTimes;
use crate::useful::{cpu_pes, role_of_path};
use crate::{
    Analysis, Cause, Column, DataTable, Finding, Input, Needs, Outcome, Pattern, Scalar, Section, SectionShape, Shape,
    TableShape, Unit, Values,
};

/// Rows of the table.
const ROWS: usize = 1000;

pub(crate) static BALANCE: Analysis = Analysis {
    name: "balance",
    title: "Load balance of PEs and of places in the code",
    docs: DOCS,
    finds: true,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "balance",
    scalars: &[("max_over_average", Unit::Ratio), ("lost_seconds", Unit::Seconds)],
    tables: &[TableShape {
        name: "places",
        columns: &[
            ("callpath", Shape::Path),
            ("role", Shape::Word),
            ("pes", Shape::Count),
            ("average", Shape::SECONDS),
            ("max", Shape::SECONDS),
            ("max_over_average", Shape::RATIO),
            ("lost", Shape::SECONDS),
        ],
    }],
}];

const DOCS: &str = "\
# Load balance

Imbalance can be seen from near and from far:

* **PE level**: useful time of whole PEs;
* **block level**: between global synchronisations, in the analysis `bounds`;
* **event level**: time in each call path over the PEs that execute it: of user code itself, without what it calls, and of operations,
  synchronisation among them, from enter to leave.

Imbalance that evens out before the next synchronisation costs nothing, so where a run has global synchronisations, findings come
from blocks (fact `level` 1). Elsewhere they come from call paths of user code (2) and, if these do not tell half of it, whole PEs (0). An
operation that takes longer on some PEs is no finding of its own: who waits there, waits for others.

*max/avg* is 1 where all have the same; *lost* is Σ_q (max − t_q), summed over PEs.

Table `places`: at most 1000 call paths with their roles, most lost first. Example: one PE computes 30 s and is in the barrier for 10, the other
10 and 30. Both places have max 30, avg 20, *max/avg* 1.5 and *lost* 20: the one is the other's mirror, so *lost* of places does not add up.

**Source**: load-balance analyses of PPW (Su, chapter 5).
";

/// How many blocks there are between synchronisations of all PEs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Blocks(usize);

impl Query for Blocks {
    fn of(input: &Input<'_>) -> Blocks {
        Blocks(input.index.blocks.blocks.len())
    }

    /// The last block of a slice is empty.
    fn add(&mut self, next: Blocks) {
        self.0 = self.0 + next.0 - 1;
    }
}

/// Time of one call path on the PEs that were there.
#[derive(Clone, Copy, Default)]
struct Place {
    pes: u64,
    sum: i64,
    max: i64,
}

impl Place {
    fn lost(&self) -> i64 {
        self.max.saturating_mul(self.pes as i64).saturating_sub(self.sum)
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let pes = cpu_pes(trace);
    if pes.len() < 2 {
        return Outcome::default();
    }
    let clock = trace.clock();
    let useful = input.useful();
    let times = input.times();
    let mut places = vec![Place::default(); trace.paths().len()];
    for row in pes.iter().flat_map(|pe| &times[*pe]) {
        let operation = trace.paths().operation(row.path);
        let time = match operation.some() {
            None => row.exclusive.0,
            Some(operation) if operation == row.path => row.inclusive.0,
            // What lies inside of an operation is its time.
            Some(_) => continue,
        };
        let place = &mut places[row.path.index()];
        place.pes += 1;
        place.sum = place.sum.saturating_add(time);
        place.max = place.max.max(time);
    }
    let mut rows: Vec<(CallPathId, Place)> = places
        .into_iter()
        .enumerate()
        .map(|(path, place)| (CallPathId::from_index(path), place))
        .filter(|row| row.1.lost() > 0)
        .collect();
    rows.sort_unstable_by_key(|(path, place)| (Reverse(place.lost()), *path));

    let least = input.least().max(1);
    // Between global synchronisations, imbalance is found block by block.
    let mut findings = Vec::new();
    if input.blocks().0 < 2 {
        let is_code = |path: CallPathId| !trace.paths().operation(path).is_some();
        for (path, _) in rows.iter().filter(|(path, place)| is_code(*path) && place.lost() >= least) {
            findings.extend(finding(input, *path, 2.0, at(times, &pes, *path), least));
        }
        let of_pes = || pes.iter().copied().zip(useful.iter().copied());
        let whole = finding(input, busiest(input, &pes, useful), 0.0, of_pes(), least);
        let told = findings.iter().map(|it| it.time).max().unwrap_or_default();
        if let Some(whole) = whole.filter(|whole| told.0 < whole.time.0 / 2) {
            findings.retain(|it| it.path != whole.path);
            findings.push(whole);
        }
    }
    let sum: i64 = useful.iter().sum();
    let max = useful.iter().copied().max().unwrap_or(0);
    let mut section = Section { name: "balance", ..Section::default() };
    if sum > 0 {
        let ratio = max as f64 * pes.len() as f64 / sum as f64;
        section.scalars.push(Scalar::new("max_over_average", Unit::Ratio, ratio));
        let lost = Span(max.saturating_mul(pes.len() as i64).saturating_sub(sum));
        section.scalars.push(Scalar::new("lost_seconds", Unit::Seconds, clock.seconds(lost)));
    }
    if rows.len() > ROWS {
        section.notes.push(format!("the table lists the first {ROWS} of {} places", rows.len()));
        rows.truncate(ROWS);
    }
    let seconds =
        |of: &dyn Fn(&Place) -> i64| rows.iter().map(|(_, place)| clock.seconds(Span(of(place)))).collect::<Vec<f64>>();
    let average = rows.iter().map(|(_, place)| clock.seconds(Span(place.sum)) / place.pes.max(1) as f64).collect();
    let ratio = rows.iter().map(|(_, place)| place.max as f64 * place.pes as f64 / place.sum.max(1) as f64).collect();
    section.tables.push(DataTable {
        name: "places",
        columns: vec![
            Column::new("callpath", Values::Path(rows.iter().map(|row| row.0).collect())),
            Column::new("role", Values::Word(rows.iter().map(|row| role_of_path(trace, row.0).name()).collect())),
            Column::new("pes", Values::Count(rows.iter().map(|row| row.1.pes).collect())),
            Column::seconds("average", average),
            Column::seconds("max", seconds(&|place| place.max)),
            Column::new("max_over_average", Values::Number(Unit::Ratio, ratio)),
            Column::seconds("lost", seconds(&Place::lost)),
        ],
    });
    Outcome { findings, sections: vec![section] }
}

/// The code in which the PE with most useful time is furthest above the average of all; none where that is outside of recorded regions.
fn busiest(input: &Input<'_>, pes: &[PeId], useful: &[i64]) -> CallPathId {
    let (paths, times, count) = (input.trace.paths(), input.times(), pes.len() as i64);
    let most = pes.iter().zip(useful).max_by_key(|(pe, ticks)| (**ticks, Reverse(**pe)));
    let Some((of, own)) = most else { return CallPathId::NONE };
    let mut excess: BTreeMap<CallPathId, i64> = BTreeMap::new();
    excess.insert(CallPathId::NONE, own.saturating_mul(count).saturating_sub(useful.iter().sum()));
    for pe in pes {
        for row in times[*pe].iter().filter(|row| !paths.operation(row.path).is_some()) {
            let ticks = if pe == of { row.exclusive.0.saturating_mul(count - 1) } else { -row.exclusive.0 };
            *excess.entry(row.path).or_default() += ticks;
            *excess.entry(CallPathId::NONE).or_default() -= ticks;
        }
    }
    let most = excess.iter().max_by_key(|(path, ticks)| (**ticks, Reverse(**path)));
    most.map_or(CallPathId::NONE, |(path, _)| *path)
}

/// Exclusive time of the PEs that were at a place.
fn at<'a>(times: &'a PathTimes, pes: &'a [PeId], path: CallPathId) -> impl Iterator<Item = (PeId, i64)> + 'a {
    pes.iter().filter_map(move |pe| {
        let rows = &times[*pe];
        let row = rows.binary_search_by_key(&path, |row| row.path).ok()?;
        Some((*pe, rows[row].exclusive.0))
    })
}

/// What the others lose to the PE that has most, if it is enough.
fn finding(
    input: &Input<'_>,
    path: CallPathId,
    level: f64,
    times: impl Iterator<Item = (PeId, i64)>,
    least: i64,
) -> Option<Finding> {
    let times: Vec<(PeId, i64)> = times.collect();
    let (slowest, max) = times.iter().copied().max_by_key(|(pe, ticks)| (*ticks, Reverse(*pe)))?;
    let pes: Vec<(PeId, Span)> =
        times.iter().filter(|(_, ticks)| *ticks < max).map(|(pe, ticks)| (*pe, Span(max - ticks))).collect();
    let time: Span = pes.iter().map(|(_, lost)| *lost).sum();
    if time.0 < least {
        return None;
    }
    let sum: i64 = times.iter().map(|(_, ticks)| *ticks).sum();
    let ratio = max as f64 * times.len() as f64 / sum.max(1) as f64;
    Some(Finding {
        time,
        count: 1,
        pes,
        causes: vec![Cause::code(slowest, path, time)],
        facts: vec![("level", level), ("max_over_average", ratio)],
        ..Finding::at(input.trace, Pattern::LoadImbalance, path)
    })
}
