//! The operations that take most of the run, by construct: the table of the first screen, for traces and profiles alike.
//!
//! All that PEs of CPUs spent in operations between start-up and shut-down, so that the rows add up to what the account of time has in
//! operations ([`crate::Account`]). Linear in operations and waits.

use std::cmp::Reverse;

use partune_base::{CallPathId, PeId, RegionId, Span, StringId, Table};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::results::TopOperation;
use crate::useful::{cpu_pes, role_of_path};
use crate::{Base, Input, Section};

/// What one construct took of the run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Taken {
    count: u64,
    time: Span,
    waiting: Span,
}

/// What was taken on call paths, in any order.
type Rows = Vec<(CallPathId, Taken)>;

/// What was taken on each call path, by all PEs of CPUs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TakenByPath(Table<CallPathId, Taken>);

impl Query for TakenByPath {
    fn of(input: &Input<'_>) -> TakenByPath {
        let (trace, base) = (input.trace, input.base());
        let of_pe = |pe: &PeId| match trace.profile() {
            Some(_) => of_profile(input, *pe, &base),
            None => of_stream(input, *pe, &base),
        };
        let parts: Vec<Rows> = cpu_pes(trace).par_iter().map(of_pe).collect();
        let mut of_path: Table<CallPathId, Taken> = Table::filled(trace.paths().len(), Taken::default());
        for (path, taken) in parts.into_iter().flatten() {
            of_path[path].add(taken);
        }
        TakenByPath(of_path)
    }

    fn add(&mut self, next: TakenByPath) {
        self.0.iter_mut().zip(&next.0).for_each(|(sum, next)| sum.add(*next));
    }
}

/// The section; none where no operation is in the run.
pub(crate) fn section(input: &Input<'_>) -> Option<Section> {
    let trace = input.trace;
    let (base, is_trace) = (input.base(), trace.profile().is_none());
    let of_path = &input.taken().0;
    let names = spelling(input);
    let mut known: FxHashMap<StringId, usize> = FxHashMap::default();
    let mut rows: Vec<(RegionId, CallPathId, Taken, u64)> = Vec::new();
    for (path, taken) in of_path.iter_ids().filter(|(_, taken)| taken.count > 0) {
        let construct = trace.regions()[trace.paths().region(path)].construct;
        let bytes = input.operations()[path].transfers.bytes();
        let at = *known.entry(construct).or_insert(rows.len());
        match rows.get_mut(at) {
            Some((_, _, sum, of_all)) => {
                sum.add(*taken);
                *of_all = of_all.saturating_add(bytes);
            }
            None => rows.push((names[&construct], path, *taken, bytes)),
        }
    }
    rows.sort_by_key(|(_, path, taken, _)| (Reverse(taken.time), *path));
    let seconds = |span: Span| trace.clock().seconds(span);
    let row = |(region, path, taken, bytes): (RegionId, CallPathId, Taken, u64)| TopOperation {
        construct: region,
        role: role_of_path(trace, path),
        count: taken.count,
        seconds: seconds(taken.time),
        waiting: is_trace.then(|| seconds(taken.waiting)),
        bytes,
        share: taken.time.0 as f64 / base.total().max(1) as f64,
    };
    let rows: Vec<TopOperation> = rows.into_iter().map(row).collect();
    (!rows.is_empty()).then(|| TopOperation::section(rows, "top_operations"))
}

impl Taken {
    fn add(&mut self, other: Taken) {
        self.count += other.count;
        self.time += other.time;
        self.waiting += other.waiting;
    }
}

/// For each construct a region of it, one that is spelt as it is everywhere if there is one.
fn spelling(input: &Input<'_>) -> FxHashMap<StringId, RegionId> {
    let mut names = FxHashMap::default();
    for (id, region) in input.trace.regions().iter_ids() {
        let name = names.entry(region.construct).or_insert(id);
        if region.name == region.construct {
            *name = id;
        }
    }
    names
}

fn of_stream(input: &Input<'_>, pe: PeId, base: &Base) -> Rows {
    let (trace, stream) = (input.trace, &input.trace.streams()[pe]);
    let mut rows: FxHashMap<CallPathId, Taken> = FxHashMap::default();
    for visit in stream.operations.iter().map(|visit| stream.visits.at(*visit)) {
        let inside = visit.exit > base.begin && visit.enter < base.end;
        if inside || visit.enter == visit.exit {
            let (count, time) = (1, base.part(visit.enter, visit.exit));
            rows.entry(visit.path).or_default().add(Taken { count, time, ..Taken::default() });
        }
    }
    for (visit, more) in stream.repeated() {
        let taken = rows.get_mut(&stream.visits.path[visit.index()]);
        taken.into_iter().for_each(|taken| taken.count += more);
    }
    for wait in input.waits.of_pe(pe).iter().chain(input.waits.start_up_of_pe(pe)) {
        let taken = rows.get_mut(&trace.visit(pe, wait.operation).path);
        taken.into_iter().for_each(|taken| taken.waiting += base.part(wait.begin, wait.end));
    }
    let mut rows: Rows = rows.into_iter().collect();
    rows.sort_unstable_by_key(|(path, _)| *path);
    rows
}

/// Operations of one call path on both sides of an end of the run count as inside, as far as there is room for them.
fn of_profile(input: &Input<'_>, pe: PeId, base: &Base) -> Rows {
    let trace = input.trace;
    let rows = trace.profile().and_then(|profile| profile.of(pe)).into_iter().flat_map(|pe| &pe.rows);
    let rows = rows.filter(|row| trace.paths().operation(row.path) == row.path);
    let inside = rows.filter(|row| row.last > base.begin && row.first < base.end);
    let taken = |row: &partune_trace::PathProfile| Taken {
        count: row.visits,
        time: row.inclusive.min(base.part(row.first, row.last)),
        waiting: Span::ZERO,
    };
    inside.map(|row| (row.path, taken(row))).collect()
}
