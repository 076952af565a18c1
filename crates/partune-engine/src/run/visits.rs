//! What PEs did, one by one: for time lines, tables, and whoever goes from one visit to the next.

use std::sync::atomic::{AtomicI64, Ordering};

use partune_base::{CallPathId, PeId, RegionId, Time};
use partune_trace::{Stream, VisitIx};
use rayon::prelude::*;

use super::waits::Wait;
use super::{Run, Way};

/// One execution of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    pub pe: PeId,
    pub path: CallPathId,
    pub enter: Time,
    pub exit: Time,
}

/// A visit that can wait, with the bytes that it sent and received and its waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub visit: Visit,
    pub sent: u64,
    pub received: u64,
    pub waits: Vec<Wait>,
}

/// A value that was measured, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    pub time: Time,
    pub name: &'a str,
    pub unit: &'a str,
    pub value: f64,
}

impl Run {
    /// Whether a PE recorded visits.
    pub fn has_visits(&self, pe: PeId) -> bool {
        self.trace.streams().get(pe).is_some_and(|stream| !stream.visits.is_empty())
    }

    /// The visits of a PE, in order of their enters, outermost first.
    pub fn visits(&self, pe: PeId) -> impl ExactSizeIterator<Item = Visit> + '_ {
        let visits = self.trace.streams()[pe].visits.iter();
        visits.map(move |it| Visit { pe, path: it.path, enter: it.enter, exit: it.exit })
    }

    /// The operations of a PE, in order.
    pub fn operations(&self, pe: PeId) -> impl Iterator<Item = Operation> + '_ {
        let (stream, waits) = (&self.trace.streams()[pe], self.waits.of_pe(pe));
        let moved = moved(stream);
        stream.operations.iter().map(move |at| {
            let visit = self.visit(pe, *at);
            let (sent, received) = moved_in(&moved, *at);
            // Waits are in order of time, and lie in their operations.
            let first = waits.partition_point(|wait| wait.begin < visit.enter);
            let inside = waits[first..].iter().take_while(|wait| wait.begin <= visit.exit);
            let waits = inside.filter(|wait| wait.operation == *at).map(|wait| self.wait(wait)).collect();
            Operation { visit, sent, received, waits }
        })
    }

    /// What was measured on a PE, in order of time, without what is no number.
    pub fn samples(&self, pe: PeId) -> impl Iterator<Item = Sample<'_>> {
        let strings = self.trace.strings();
        self.trace.streams()[pe].metrics.iter().filter_map(|sample| {
            let metric = self.trace.metrics().get(sample.metric)?;
            let (name, unit) = (strings.get(metric.name), strings.get(metric.unit));
            let value = sample.value * metric.scale;
            value.is_finite().then_some(Sample { time: sample.time, name, unit, value })
        })
    }

    /// What is open on a PE at a moment, outermost first.
    pub fn stack(&self, pe: PeId, moment: Time) -> Vec<Visit> {
        let open = self.stacks().open(&self.trace, pe, moment);
        open.into_iter().map(|visit| self.visit(pe, visit)).collect()
    }

    /// The visits of a PE that touch an interval, in order of their enters; `None` if more than `most` begin in it.
    pub fn visits_within(&self, pe: PeId, begin: Time, end: Time, most: usize) -> Option<Vec<Visit>> {
        let visits = self.stacks().within(&self.trace, pe, begin, end, most)?;
        Some(visits.into_iter().map(|visit| self.visit(pe, visit)).collect())
    }

    /// The first visit to a region, if there is one.
    pub fn first_visit(&self, region: RegionId) -> Option<Visit> {
        let (_, pe, visit) = self.firsts().get(region).copied().flatten()?;
        Some(self.visit(pe, visit))
    }

    /// The nearest visit to a region on some PEs, that way from a moment; of several the one of the first PE.
    pub fn next_visit(&self, region: RegionId, pes: &[PeId], way: Way) -> Option<Visit> {
        let paths = self.trace.paths();
        let is = |pe: PeId, visit: usize| paths.region(self.trace.streams()[pe].visits.path[visit]) == region;
        // How far the nearest one that is known is from there: nobody has to look farther.
        let nearest = AtomicI64::new(i64::MAX);
        let look = |pe: &PeId| -> Option<(i64, PeId, usize)> {
            let enters = &self.trace.streams()[*pe].visits.enter;
            let near = |visit: &usize| way.distance(enters[*visit]) <= nearest.load(Ordering::Relaxed);
            let at = enters.partition_point(|enter| *enter <= way.moment());
            let visit = match way {
                Way::UpTo(_) => (0..at).rev().take_while(near).find(|visit| is(*pe, *visit)),
                Way::After(_) => (at..enters.len()).take_while(near).find(|visit| is(*pe, *visit)),
            }?;
            nearest.fetch_min(way.distance(enters[visit]), Ordering::Relaxed);
            Some((way.distance(enters[visit]), *pe, visit))
        };
        let (_, pe, visit) = pes.par_iter().filter_map(look).min()?;
        Some(self.visit(pe, VisitIx(visit as u32)))
    }

    pub(super) fn visit(&self, pe: PeId, visit: VisitIx) -> Visit {
        let it = self.trace.visit(pe, visit);
        Visit { pe, path: it.path, enter: it.enter, exit: it.exit }
    }
}

/// Bytes sent and received in visits, in order of visit; a visit may come several times.
fn moved(stream: &Stream) -> Vec<(VisitIx, u64, u64)> {
    let mut moved: Vec<_> = stream.moved().collect();
    moved.sort_unstable();
    moved
}

fn moved_in(moved: &[(VisitIx, u64, u64)], visit: VisitIx) -> (u64, u64) {
    let first = moved.partition_point(|row| row.0 < visit);
    let rows = moved[first..].iter().take_while(|row| row.0 == visit);
    rows.fold((0, 0), |sum, row| (sum.0.saturating_add(row.1), sum.1.saturating_add(row.2)))
}
