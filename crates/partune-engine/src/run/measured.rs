//! One measure by call path and PE: time, waiting, visits, bytes, or what a counter counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_analysis::counted;
use partune_base::{CallPathId, Id, MetricId, PeId, Table};
use rayon::prelude::*;

use super::Run;

/// What call paths are measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In ticks, as is waiting.
    Time,
    /// For other PEs, in operations.
    Waiting,
    Visits,
    /// Of messages, collectives, remote accesses and files.
    Bytes,
    /// What a counter counted, in its unit.
    Counter(MetricId),
}

/// Values by call path; none is code outside of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Amounts {
    /// Of each PE, without the call paths below, in order of path; zeros are left out.
    own: Table<PeId, Vec<(CallPathId, f64)>>,
    /// Call paths above others, as far as any is known.
    parents: Table<CallPathId, CallPathId>,
}

/// A call path on all PEs, or all on one PE: with and without what is below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    pub own: f64,
    pub whole: f64,
}

impl Run {
    /// One measure of the whole run. That of the last question is kept. Linear in call paths times PEs, in operations for waiting and bytes, in samples for counters.
    pub fn measured(&self, measure: Measure) -> Arc<Amounts> {
        self.kept_measure(measure, || {
            let own = if let Measure::Counter(metric) = measure {
                counted(&self.trace, metric)
            } else {
                let pes: Vec<PeId> = self.trace.pes().ids().collect();
                pes.par_iter().map(|pe| self.own_of(measure, *pe)).collect::<Vec<_>>().into()
            };
            let paths = self.trace.paths();
            Amounts { own, parents: paths.ids().map(|path| paths.parent(path)).collect() }
        })
    }

    fn own_of(&self, measure: Measure, pe: PeId) -> Vec<(CallPathId, f64)> {
        let mut own: BTreeMap<CallPathId, f64> = BTreeMap::new();
        let mut add = |path: CallPathId, value: f64| *own.entry(path).or_default() += value;
        let times = || self.times().get(pe).into_iter().flatten();
        let done = || self.sketch.as_ref().map_or(&[][..], |sketch| sketch.of_pe(pe)).iter();
        match measure {
            Measure::Time => {
                times().for_each(|row| add(row.path, row.exclusive.0 as f64));
                add(CallPathId::NONE, self.outside_of(pe).0 as f64);
            }
            Measure::Visits => times().for_each(|row| add(row.path, row.visits as f64)),
            Measure::Waiting => {
                let waits = self.waits.of_pe(pe).iter();
                waits.for_each(|it| add(self.trace.visit(pe, it.operation).path, it.duration().0 as f64));
                done().for_each(|(path, done)| add(*path, done.waited.0 as f64));
            }
            Measure::Bytes => {
                let stream = &self.trace.streams()[pe];
                for (visit, sent, received) in stream.moved().filter(|(visit, ..)| visit.is_some()) {
                    add(stream.visits.at(visit).path, sent as f64 + received as f64);
                }
                done().for_each(|(path, done)| add(*path, done.bytes as f64));
                let profile = self.trace.profile().and_then(|profile| profile.of(pe));
                for row in profile.into_iter().flat_map(|it| &it.rows) {
                    add(row.path, row.transfers.sent as f64 + row.transfers.received as f64);
                }
            }
            Measure::Counter(_) => {}
        }
        own.into_iter().filter(|(_, value)| *value != 0.0).collect()
    }
}

impl Amounts {
    /// All PEs together, by call path: those that have something, in their order, none last.
    pub fn by_path(&self) -> Vec<(CallPathId, Amount)> {
        let mut amounts = Table::filled(self.parents.len(), Amount::default());
        let mut outside = 0.0;
        for (path, value) in self.own.iter().flatten() {
            match amounts.as_mut_slice().get_mut(path.index()).filter(|_| path.is_some()) {
                Some(amount) => amount.own += value,
                None => outside += value,
            }
        }
        // Parents come before their children.
        for path in self.parents.ids().rev() {
            amounts[path].whole += amounts[path].own;
            if let Some(parent) = self.parents[path].some() {
                amounts[parent].whole += amounts[path].whole;
            }
        }
        let inside =
            amounts.iter_ids().map(|(path, amount)| (path, *amount)).filter(|(_, it)| *it != Amount::default());
        let outside = (outside != 0.0).then_some((CallPathId::NONE, Amount { own: outside, whole: outside }));
        inside.chain(outside).collect()
    }

    /// One call path, or all of the program, on each of some PEs.
    pub fn by_pe(&self, path: Option<CallPathId>, pes: &[PeId]) -> Vec<Amount> {
        let mut below = Table::filled(self.parents.len(), path.is_none());
        for id in self.parents.ids() {
            let above = self.parents[id].some().is_some_and(|parent| below[parent]);
            below[id] |= Some(id) == path || above;
        }
        let of_pe = |pe: &PeId| {
            let mut amount = Amount::default();
            for (of, value) in self.own.get(*pe).into_iter().flatten() {
                let is_own = path.is_none_or(|path| *of == path);
                let is_below = is_own || below.get(*of).copied().unwrap_or(false);
                amount.own += if is_own { *value } else { 0.0 };
                amount.whole += if is_below { *value } else { 0.0 };
            }
            amount
        };
        pes.iter().map(of_pe).collect()
    }
}
