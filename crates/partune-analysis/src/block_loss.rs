//! What PEs lose between synchronisations because another has more to do: findings of [`crate::bounds`].
//!
//! A tile i of a region loses Σ_q (max w − w_q) in PE time; the PE with most work is charged for it. Regions of the threads of different
//! processes that close at the same call site are one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use partune_base::{CallPathId, PeId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::block_work::{BlockWork, add};
use crate::bounds::Measured;
use crate::edges::Edge;
use crate::finding::Told;
use crate::spending::Kinds;
use crate::tensor::RegionKind;
use crate::tiling::Tiling;
use crate::world_sums::WorldSums;
use crate::{Cause, Finding, Input, Occurrence, Pattern};

/// Instances that are kept of a region.
const KEPT: usize = 32;

/// What is lost in regions, by the place that is shown: what closes them, and what was before where nothing does.
#[derive(Default)]
pub(crate) struct Losses(BTreeMap<(CallPathId, Pattern), Lost>);

/// What PEs lose in regions because another has more to do.
struct Lost {
    path: CallPathId,
    time: i64,
    count: u64,
    /// In order of PE, as far as there is something.
    waits: Vec<(PeId, i64)>,
    /// What each PE is charged with, most first, by where it works most more than another; none if that is in no recorded region.
    blame: Vec<(PeId, i64, CallPathId)>,
    /// (loss, begin, end, PE that has most) of the worst iterations.
    worst: Vec<(i64, Time, Time, PeId)>,
    /// Waiting in its tiles and at their ends, by pattern and place.
    told: BTreeMap<(Pattern, CallPathId), i64>,
}

/// The same of one region of a world, as it adds up over slices of a run: one number a PE.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RegionLoss {
    time: i64,
    count: u64,
    waits: Vec<i64>,
    blame: Vec<i64>,
    worst: Vec<(i64, Time, Time, PeId)>,
    /// Of the PEs that are charged most, by their positions: what the tiles lose in which they have most, and where they spend it. Most first.
    tiles: BTreeMap<usize, Vec<(i64, CallPathId)>>,
    told: BTreeMap<(Pattern, CallPathId), i64>,
}

impl Losses {
    /// Adds the regions of a world.
    pub(crate) fn add(&mut self, world: &WorldSums) {
        for (number, region) in world.regions.iter().enumerate() {
            if region.loss.time == 0 || !world.is_known(number) {
                continue;
            }
            let path = [region.turns, region.about.closes, region.about.after].into_iter().find(|path| path.is_some());
            let lost = region.loss.lost(&world.pes, path.unwrap_or(CallPathId::NONE));
            let is_serial = world.kind(number) == RegionKind::Serial;
            let pattern = if is_serial { Pattern::SerialSection } else { Pattern::LoadImbalance };
            match self.0.entry((lost.path, pattern)) {
                Entry::Vacant(entry) => _ = entry.insert(lost),
                Entry::Occupied(mut entry) => entry.get_mut().join(lost),
            }
        }
    }
}

/// Waiting by pattern and place.
type ByPlace = BTreeMap<(Pattern, CallPathId), i64>;

/// What is lost in each region of a world, and the waits in a first and a last tile that are not all in the slice. Linear in PEs times rows, and in waits.
pub(crate) fn of_regions(input: &Input<'_>, measured: &Measured) -> (Vec<RegionLoss>, [ByPlace; 2]) {
    let work = &measured.work;
    let mut losses = vec![RegionLoss::default(); work.regions.len()];
    if work.pes.len() < 2 {
        return (losses, <_>::default());
    }
    let mut told = waits(input, &measured.tiling, &measured.of_paths, work).into_iter();
    losses.iter_mut().zip(told.by_ref()).for_each(|(loss, told)| loss.told = told);
    let of_edges = [told.next().unwrap_or_default(), told.next().unwrap_or_default()];
    for ((region, ticks), row) in work.iterations().zip(&work.rows) {
        losses[region].add_row(&work.pes, ticks, (row.begin, row.end));
    }
    losses.iter_mut().enumerate().for_each(|(region, loss)| loss.look(input, work, region));
    (losses, of_edges)
}

/// The waits in the tiles of each region and at their ends; then those in tiles that are not all in the slice.
fn waits(input: &Input<'_>, tiling: &Tiling, kinds: &Kinds, work: &BlockWork) -> Vec<ByPlace> {
    let mut told = vec![BTreeMap::new(); work.regions.len() + 2];
    for (at, pe) in tiling.pes.iter().enumerate() {
        let mut last: Option<(usize, (Pattern, CallPathId), i64)> = None;
        let mut book = |row: Option<(usize, (Pattern, CallPathId), i64)>| {
            if let Some((region, place, ticks)) = row {
                add(told[region].entry(place).or_default(), ticks);
            }
        };
        for wait in input.waits.of_pe(*pe) {
            let path = input.trace.visit(*pe, wait.operation).path;
            let Some(tile) = tiling.at(at, wait.begin).filter(|_| kinds.has_waits(path)) else { continue };
            let row = (work.links[tile].region, (wait.pattern, path), wait.duration().0);
            match &mut last {
                Some(last) if (last.0, last.1) == (row.0, row.1) => add(&mut last.2, row.2),
                last => book(last.replace(row)),
            }
        }
        book(last);
    }
    told
}

/// The sum, and where most is.
fn told(waits: &BTreeMap<(Pattern, CallPathId), i64>) -> Option<Told> {
    let most = waits.iter().max_by_key(|(place, ticks)| (**ticks, std::cmp::Reverse(**place)));
    most.map(|((pattern, path), _)| Told {
        time: Span(waits.values().copied().fold(0, i64::saturating_add)),
        pattern: *pattern,
        path: *path,
    })
}

/// Imbalance and serial work of each region, as findings.
pub(crate) fn findings(input: &Input<'_>, losses: Losses) -> Vec<Finding> {
    let least = input.least();
    let losses = losses.0.into_iter().filter(|(_, lost)| lost.time > least);
    losses.map(|((_, pattern), lost)| lost.finding(input, pattern)).collect()
}

impl RegionLoss {
    fn add_row(&mut self, pes: &[PeId], ticks: &[i64], (begin, end): (Time, Time)) {
        let most = ticks.iter().copied().enumerate().max_by_key(|(pe, ticks)| (*ticks, std::cmp::Reverse(*pe)));
        let Some((most, max)) = most else { return };
        self.waits.resize(pes.len(), 0);
        self.blame.resize(pes.len(), 0);
        let mut lost = 0_i64;
        for (wait, ticks) in self.waits.iter_mut().zip(ticks) {
            add(wait, max - ticks);
            add(&mut lost, max - ticks);
        }
        if lost == 0 {
            return;
        }
        add(&mut self.time, lost);
        self.count += 1;
        add(&mut self.blame[most], lost);
        self.worst.push((lost, begin, end, pes[most]));
        if self.worst.len() > 2 * KEPT {
            keep(&mut self.worst);
        }
    }

    /// Adds a tile that was in several slices.
    pub(crate) fn add_edge(&mut self, pes: &[PeId], edge: Edge) {
        if pes.len() < 2 {
            return;
        }
        let ticks = edge.ticks();
        let mut of_edge = RegionLoss::default();
        if ticks.iter().any(|ticks| *ticks > 0) {
            of_edge.add_row(pes, &ticks, edge.extent());
        }
        let fast = ticks.iter().enumerate().min_by_key(|(pe, ticks)| (**ticks, *pe)).map_or(0, |(pe, _)| pe);
        if let Some(slow) = of_edge.blame.iter().position(|ticks| *ticks > 0) {
            of_edge.tiles.insert(slow, vec![(of_edge.time, edge.excess(slow, fast))]);
        }
        of_edge.told = edge.told;
        self.add(of_edge);
    }

    /// PEs that are charged, by their positions, most first, and how many tiles of each are looked at: in each something else may be what takes long; where few
    /// PEs are charged, more tiles of each.
    fn blamed(&self) -> (Vec<(usize, i64)>, usize) {
        let charged = self.blame.iter().copied().enumerate().filter(|(_, ticks)| *ticks > 0);
        let mut blamed: Vec<(usize, i64)> = charged.collect();
        blamed.sort_unstable_by_key(|(pe, ticks)| (std::cmp::Reverse(*ticks), *pe));
        let tiles = (KEPT / blamed.len().max(1)).max(1);
        (blamed, tiles)
    }

    /// Looks at the tiles in which most is lost.
    fn look(&mut self, input: &Input<'_>, work: &BlockWork, region: usize) {
        // In a slice it is not known yet who will be charged most.
        let looked_at = match input.trace.slice() {
            Some(_) => 2 * KEPT,
            None if work.is_known(region) => KEPT,
            None => return,
        };
        let (blamed, tiles) = self.blamed();
        for (pe, _) in blamed.into_iter().take(looked_at) {
            self.tiles.insert(pe, work.excess(input, region, pe, tiles));
        }
    }

    /// Adds what the next slice loses.
    pub(crate) fn add(&mut self, next: RegionLoss) {
        add(&mut self.time, next.time);
        self.count += next.count;
        for (sums, next) in [(&mut self.waits, next.waits), (&mut self.blame, next.blame)] {
            sums.resize(sums.len().max(next.len()), 0);
            sums.iter_mut().zip(next).for_each(|(sum, ticks)| add(sum, ticks));
        }
        self.worst.extend(next.worst);
        keep(&mut self.worst);
        for (pe, tiles) in next.tiles {
            let all = self.tiles.entry(pe).or_default();
            all.extend(tiles);
            // Stable: of equal ones the earlier.
            all.sort_by_key(|(lost, _)| std::cmp::Reverse(*lost));
            all.truncate(KEPT);
        }
        for (place, ticks) in next.told {
            add(self.told.entry(place).or_default(), ticks);
        }
    }

    fn lost(&self, pes: &[PeId], path: CallPathId) -> Lost {
        let (blamed, tiles) = self.blamed();
        let mut blame = Vec::with_capacity(blamed.len());
        for (at, (pe, ticks)) in blamed.into_iter().enumerate() {
            let looked_at = self.tiles.get(&pe).filter(|_| at < KEPT).map_or(&[][..], Vec::as_slice);
            let mut places: BTreeMap<CallPathId, i64> = BTreeMap::new();
            looked_at.iter().take(tiles).for_each(|(lost, path)| add(places.entry(*path).or_default(), *lost));
            let mut places: Vec<(CallPathId, i64)> = places.into_iter().collect();
            places.sort_by_key(|(path, lost)| (std::cmp::Reverse(*lost), *path));
            blame.extend(shared_out(ticks, places).map(|(place, ticks)| (pes[pe], ticks, place)));
        }
        by_blame(&mut blame);
        let waits = pes.iter().copied().zip(self.waits.iter().copied()).filter(|(_, ticks)| *ticks > 0).collect();
        let (worst, told) = (self.worst.clone(), self.told.clone());
        Lost { path, time: self.time, count: self.count, waits, blame, worst, told }
    }
}

/// Most first.
fn by_blame(rows: &mut [(PeId, i64, CallPathId)]) {
    rows.sort_unstable_by_key(|(pe, ticks, place)| (std::cmp::Reverse(*ticks), *pe, *place));
}

/// Ticks in proportion to what is known of places; all at no place where nothing is.
fn shared_out(ticks: i64, places: Vec<(CallPathId, i64)>) -> impl Iterator<Item = (CallPathId, i64)> {
    let known: i128 = places.iter().map(|(_, lost)| i128::from(*lost)).sum();
    let places = if known > 0 { places } else { vec![(CallPathId::NONE, 1)] };
    let (mut rest, mut left) = (ticks, known.max(1));
    places.into_iter().map(move |(place, lost)| {
        let part = (i128::from(rest) * i128::from(lost) / left) as i64;
        (rest, left) = (rest - part, left - i128::from(lost));
        (place, part)
    })
}

/// Keeps the worst instances.
fn keep(worst: &mut Vec<(i64, Time, Time, PeId)>) {
    worst.sort_unstable_by_key(|row| (std::cmp::Reverse(row.0), row.1, row.3));
    worst.truncate(KEPT);
}

impl Lost {
    /// Adds regions of the same place: those of another world, which has other PEs, and what is after the last that is closed there.
    fn join(&mut self, other: Lost) {
        add(&mut self.time, other.time);
        self.count += other.count;
        self.waits.extend(other.waits);
        self.waits.sort_unstable();
        self.waits.dedup_by(|more, of_pe| {
            more.0 == of_pe.0 && {
                add(&mut of_pe.1, more.1);
                true
            }
        });
        self.blame.extend(other.blame);
        self.blame.sort_unstable_by_key(|(pe, _, place)| (*pe, *place));
        self.blame.dedup_by(|more, cause| {
            (more.0, more.2) == (cause.0, cause.2) && {
                add(&mut cause.1, more.1);
                true
            }
        });
        by_blame(&mut self.blame);
        self.worst.extend(other.worst);
        keep(&mut self.worst);
        for (place, ticks) in other.told {
            add(self.told.entry(place).or_default(), ticks);
        }
    }

    fn finding(mut self, input: &Input<'_>, pattern: Pattern) -> Finding {
        keep(&mut self.worst);
        let details = input.options.details;
        let cause = |(pe, ticks, path): &(PeId, i64, CallPathId)| Cause::code(*pe, *path, Span(*ticks));
        let occurrence = |(_, begin, end, pe): &(i64, Time, Time, PeId)| {
            let (pe, begin, end) = (*pe, *begin, *end);
            Occurrence { pe, begin, end, cause: pe }
        };
        Finding {
            time: Span(self.time),
            count: self.count,
            pes: self.waits.iter().map(|(pe, ticks)| (*pe, Span(*ticks))).collect(),
            causes: self.blame.iter().take(details).map(cause).collect(),
            occurrences: self.worst.iter().take(details).map(occurrence).collect(),
            facts: vec![("level", 1.0)],
            waits: told(&self.told),
            ..Finding::at(input.trace, pattern, self.path)
        }
    }
}
