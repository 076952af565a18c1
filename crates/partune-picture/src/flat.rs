//! The flat profile: time, visits, waiting and bytes of every region over all PEs, of the code outside of all, and where each is first.

use std::cmp::Reverse;

use partune_base::{Id, PeId, RegionId, Span, Table, Time};
use partune_trace::{Trace, VisitIx};
use rayon::prelude::*;

use crate::Spent;

/// Sums of one region over PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flat {
    /// None for what main threads do outside of all recorded regions.
    pub region: RegionId,
    /// Of outermost visits: recursion does not count twice.
    pub inclusive: Span,
    pub exclusive: Span,
    pub visits: u64,
    /// PEs that were there.
    pub pes: u32,
    /// Exclusive time of that of them which has least, and most.
    pub least: Span,
    pub most: Span,
    pub most_pe: PeId,
    /// Of its operations, for other PEs.
    pub waiting: Span,
    /// That its visits moved: messages, collectives, remote accesses, files.
    pub bytes: u64,
}

/// Regions that were visited, and none for the code outside of them, by exclusive time; `moved` are bytes by region. Linear in call paths and the times of PEs.
pub fn flat(trace: &Trace, spent: &Spent, moved: &Table<RegionId, u64>) -> Vec<Flat> {
    let mut rows = by_region(trace, spent);
    rows.iter_mut().for_each(|row| row.bytes = moved.get(row.region).copied().unwrap_or(0));
    rows
}

/// The same without the bytes.
pub(crate) fn by_region(trace: &Trace, spent: &Spent) -> Vec<Flat> {
    let paths = trace.paths();
    let empty = |region| Flat {
        region,
        inclusive: Span::ZERO,
        exclusive: Span::ZERO,
        visits: 0,
        pes: 0,
        least: Span::ZERO,
        most: Span::ZERO,
        most_pe: PeId::NONE,
        waiting: Span::ZERO,
        bytes: 0,
    };
    let mut sums: Table<RegionId, Flat> = trace.regions().ids().map(empty).collect();
    let outermost = paths.outermost(trace.regions().len(), |path| Some(paths.region(path).index()));
    let mut on_pe: Table<RegionId, (Span, u64)> = Table::filled(trace.regions().len(), (Span::ZERO, 0));
    let mut touched: Vec<RegionId> = Vec::new();
    for (pe, rows) in spent.times.iter_ids() {
        for row in rows {
            let region = paths.region(row.path);
            let own = &mut on_pe[region];
            if own.1 == 0 {
                touched.push(region);
            }
            own.0 += row.exclusive;
            own.1 += row.visits;
            sums[region].inclusive += if outermost[row.path] { row.inclusive } else { Span::ZERO };
        }
        for region in touched.drain(..) {
            let (exclusive, visits) = std::mem::take(&mut on_pe[region]);
            let sum = &mut sums[region];
            sum.least = if sum.pes == 0 { exclusive } else { sum.least.min(exclusive) };
            if sum.pes == 0 || exclusive > sum.most {
                (sum.most, sum.most_pe) = (exclusive, pe);
            }
            sum.exclusive += exclusive;
            sum.visits += visits;
            sum.pes += u32::from(visits > 0);
        }
    }
    for (path, waited) in spent.waiting.iter_ids() {
        sums[paths.region(path)].waiting += *waited;
    }
    let mut rows: Vec<Flat> = sums.into_vec().into_iter().filter(|sum| sum.visits > 0).collect();
    let mut outside = empty(RegionId::NONE);
    for (pe, time) in spent.outside.iter().copied() {
        outside.inclusive += time;
        outside.exclusive += time;
        outside.least = if outside.pes == 0 { time } else { outside.least.min(time) };
        if time > outside.most {
            (outside.most, outside.most_pe) = (time, pe);
        }
        outside.pes += 1;
    }
    rows.extend((outside.pes > 0).then_some(outside));
    rows.sort_by_key(|row| (Reverse((row.exclusive, row.inclusive)), row.region));
    rows
}

/// Bytes that the visits of each region moved. Linear in what moved them.
pub fn moved_by_region(trace: &Trace) -> Table<RegionId, u64> {
    let mut sums = Table::filled(trace.regions().len(), 0u64);
    for row in trace.profile().into_iter().flat_map(|profile| profile.pes.iter()).flat_map(|pe| &pe.rows) {
        let sum = &mut sums[trace.paths().region(row.path)];
        *sum = sum.saturating_add(row.transfers.sent).saturating_add(row.transfers.received);
    }
    for stream in trace.streams() {
        for (visit, sent, received) in stream.moved().filter(|(visit, ..)| visit.is_some()) {
            let sum: &mut u64 = &mut sums[trace.paths().region(stream.visits.at(visit).path)];
            *sum = sum.saturating_add(sent).saturating_add(received);
        }
    }
    sums
}

/// The first visit of each region, if there is one: when, on which PE, which. One pass over visits, parallel over PEs.
pub fn firsts(trace: &Trace) -> Table<RegionId, Option<(Time, PeId, VisitIx)>> {
    let pes: Vec<PeId> = trace.streams().ids().collect();
    let none = || Table::filled(trace.regions().len(), None);
    let of_pe = |pe: PeId| {
        let mut firsts: Table<RegionId, Option<(Time, PeId, VisitIx)>> = none();
        let visits = &trace.streams()[pe].visits;
        for (visit, path) in visits.path.iter().enumerate() {
            let first = &mut firsts[trace.paths().region(*path)];
            if first.is_none() {
                *first = Some((visits.enter[visit], pe, VisitIx(visit as u32)));
            }
        }
        firsts
    };
    let earlier = |mut a: Table<RegionId, Option<(Time, PeId, VisitIx)>>, b: Table<RegionId, Option<_>>| {
        for (own, other) in a.iter_mut().zip(b.into_vec()) {
            if other.is_some() && (own.is_none() || other < *own) {
                *own = other;
            }
        }
        a
    };
    pes.into_par_iter().map(of_pe).reduce(none, earlier)
}
