//! What PEs lose between synchronisations because another has more to do: findings of [`crate::bounds`].
//!
//! A tile i of a region loses Σ_q (max w − w_q) in PE time; the PE with most work is charged for it. Regions of the threads of different
//! processes that close at the same call site are one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use partune_base::{CallPathId, PeId, Span, Time};
use partune_trace::{Role, Trace};

use crate::block_work::BlockWork;
use crate::tensor::RegionKind;
use crate::useful::role_of_path;
use crate::{Cause, Finding, Input, Occurrence, Pattern};

/// Instances that are kept of a region.
const KEPT: usize = 32;

/// What is lost in each region, by what closes it and what was before the first tile where nothing does.
#[derive(Default)]
pub(crate) struct Losses(BTreeMap<(CallPathId, Pattern), Lost>);

/// What PEs lose in a region because another has more to do.
struct Lost {
    /// The place that is shown.
    path: CallPathId,
    time: i64,
    count: u64,
    /// In order of PE, as far as there is something.
    waits: Vec<(PeId, i64)>,
    /// What each PE is charged with, most first, and where it works most more than another.
    blame: Vec<(PeId, i64, CallPathId)>,
    /// (loss, begin, end, PE that has most) of the worst iterations.
    worst: Vec<(i64, Time, Time, PeId)>,
}

/// The same in the making: one number a PE.
#[derive(Clone, Default)]
struct Sums {
    time: i64,
    count: u64,
    waits: Vec<i64>,
    blame: Vec<i64>,
    worst: Vec<(i64, Time, Time, PeId)>,
}

impl Losses {
    /// Adds the regions of a world. Linear in PEs times rows.
    pub(crate) fn add(&mut self, trace: &Trace, work: &BlockWork, kinds: &[RegionKind]) {
        let n = work.pes.len();
        if n < 2 {
            return;
        }
        let mut sums = vec![Sums::default(); work.regions.len()];
        for ((region, ticks), row) in work.iterations().zip(&work.rows) {
            sums[region].add(&work.pes, ticks, (row.begin, row.end));
        }
        for (region, sums) in sums.into_iter().enumerate() {
            if sums.time == 0 || !work.is_known(region) {
                continue;
            }
            let lost = sums.finish(trace, work, region);
            let pattern =
                if kinds[region] == RegionKind::Serial { Pattern::SerialSection } else { Pattern::LoadImbalance };
            match self.0.entry((work.regions[region].closes, pattern)) {
                Entry::Vacant(entry) => _ = entry.insert(lost),
                Entry::Occupied(mut entry) => entry.get_mut().join(lost),
            }
        }
    }
}

/// Imbalance and serial work of each region, as findings.
pub(crate) fn findings(input: &Input<'_>, losses: Losses) -> Vec<Finding> {
    let least = input.least();
    let losses = losses.0.into_iter().filter(|(_, lost)| lost.time > least);
    losses.map(|((_, pattern), lost)| lost.finding(input, pattern)).collect()
}

impl Sums {
    fn add(&mut self, pes: &[PeId], ticks: &[i64], (begin, end): (Time, Time)) {
        let most = ticks.iter().copied().enumerate().max_by_key(|(pe, ticks)| (*ticks, std::cmp::Reverse(*pe)));
        let Some((most, max)) = most else { return };
        self.waits.resize(pes.len(), 0);
        self.blame.resize(pes.len(), 0);
        let mut lost = 0_i64;
        for (wait, ticks) in self.waits.iter_mut().zip(ticks) {
            *wait += max - ticks;
            lost = lost.saturating_add(max - ticks);
        }
        if lost == 0 {
            return;
        }
        self.time = self.time.saturating_add(lost);
        self.count += 1;
        self.blame[most] = self.blame[most].saturating_add(lost);
        self.worst.push((lost, begin, end, pes[most]));
        if self.worst.len() > 2 * KEPT {
            keep(&mut self.worst);
        }
    }

    fn finish(self, trace: &Trace, work: &BlockWork, region: usize) -> Lost {
        let about = work.regions[region];
        let path = [work.turns[region], about.closes, about.after].into_iter().find(|path| path.is_some());
        let path = path.unwrap_or(CallPathId::NONE);
        let some = |sums: Vec<i64>| work.pes.iter().copied().zip(sums).filter(|(_, ticks)| *ticks > 0);
        let mut blame: Vec<(PeId, i64, CallPathId)> = some(self.blame).map(|(pe, ticks)| (pe, ticks, path)).collect();
        by_blame(&mut blame);
        for (pe, _, place) in blame.iter_mut().take(KEPT) {
            *place = work.excess(trace, region, *pe).some().unwrap_or(path);
        }
        let waits = some(self.waits).collect();
        Lost { path, time: self.time, count: self.count, waits, blame, worst: self.worst }
    }
}

/// Most first.
fn by_blame(rows: &mut [(PeId, i64, CallPathId)]) {
    rows.sort_unstable_by_key(|(pe, ticks, _)| (std::cmp::Reverse(*ticks), *pe));
}

/// Keeps the worst instances.
fn keep(worst: &mut Vec<(i64, Time, Time, PeId)>) {
    worst.sort_unstable_by_key(|row| (std::cmp::Reverse(row.0), row.1, row.3));
    worst.truncate(KEPT);
}

impl Lost {
    /// Adds the same region of another world, which has other PEs.
    fn join(&mut self, other: Lost) {
        self.time = self.time.saturating_add(other.time);
        self.count += other.count;
        self.waits.extend(other.waits);
        self.waits.sort_unstable();
        self.blame.extend(other.blame);
        by_blame(&mut self.blame);
        self.worst.extend(other.worst);
        keep(&mut self.worst);
    }

    fn finding(mut self, input: &Input<'_>, pattern: Pattern) -> Finding {
        keep(&mut self.worst);
        let details = input.options.details;
        let cause = |(pe, ticks, path): &(PeId, i64, CallPathId)| {
            let (pe, path, time) = (*pe, *path, Span(*ticks));
            Cause { pe, path, origin: CallPathId::NONE, time }
        };
        let occurrence = |(_, begin, end, pe): &(i64, Time, Time, PeId)| {
            let (pe, begin, end) = (*pe, *begin, *end);
            Occurrence { pe, begin, end, cause: pe }
        };
        Finding {
            pattern,
            role: self.path.some().map_or(Role::User, |path| role_of_path(input.trace, path)),
            path: self.path,
            time: Span(self.time),
            count: self.count,
            pes: self.waits.iter().map(|(pe, ticks)| (*pe, Span(*ticks))).collect(),
            causes: self.blame.iter().take(details).map(cause).collect(),
            unexplained: Span::ZERO,
            occurrences: self.worst.iter().take(details).map(occurrence).collect(),
            facts: vec![("level", 1.0)],
        }
    }
}
