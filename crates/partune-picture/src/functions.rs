//! The functions that a run spends most time in, in any interval of any PE, without a look at all of it: what a time line by function shows from afar.
//!
//! A visit counts for its function, and against the one that called it. Sums are kept at every 64th visit; up to a moment they are those at the last of
//! these places, the visits that began since, as far as the moment, and less what comes after it of those that were open there. Exact; 2 bytes a visit.

use partune_base::{CallPathId, Id, PeId, RegionId, Table, Time};
use partune_trace::{CallPaths, Stream, Trace};
use rayon::prelude::*;

use crate::ladder::first_from;
use crate::tiles::shares;
use crate::{Fold, Stacks, View};

/// Visits between two sums.
const EACH: usize = 64;

/// Functions that are told apart, and all others together.
const CLASSES: usize = 16;

/// The share of each function in the time of a row's PEs in a column; the last is that of all others.
pub type FunctionShares = [f32; CLASSES];

/// What time by function is made from.
#[derive(Clone, Debug)]
pub struct Functions {
    regions: Vec<RegionId>,
    classes: Classes,
    pes: Table<PeId, OfPe>,
}

/// Exclusive time of each of the functions that are told apart, and of all others.
type Sums = [i64; CLASSES];

/// Of each call path the class that it counts for, and the one that it counts against: of the path that called it, or none.
type Classes = Table<CallPathId, (u8, Option<u8>)>;

#[derive(Clone, Debug)]
struct OfPe {
    /// Before every 64th visit.
    sums: Vec<Sums>,
    /// Paths below others that this PE did not visit: a team's code hangs under the path that forked it.
    roots: Vec<CallPathId>,
}

impl Functions {
    /// Functions that are told apart at most.
    pub const MOST: usize = CLASSES - 1;

    /// Of some functions; more than [`Functions::MOST`] are others. Linear in visits; parallel over PEs.
    pub fn new(trace: &Trace, regions: impl IntoIterator<Item = RegionId>) -> Functions {
        let regions: Vec<RegionId> = regions.into_iter().take(Functions::MOST).collect();
        let of_region = |region: RegionId| regions.iter().position(|known| *known == region).unwrap_or(Functions::MOST);
        let of_regions: Table<RegionId, u8> = trace.regions().ids().map(|region| of_region(region) as u8).collect();
        let class = |path: CallPathId| of_regions[trace.paths().region(path)];
        let classes: Classes =
            trace.paths().ids().map(|path| (class(path), trace.paths().parent(path).some().map(class))).collect();
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let seen = || vec![false; trace.paths().len()];
        let of_pe = |seen: &mut Vec<bool>, pe: PeId| OfPe::new(trace.paths(), &classes, &trace.streams()[pe], seen);
        let pes: Vec<OfPe> = pes.into_par_iter().map_init(seen, of_pe).collect();
        Functions { regions, classes, pes: Table::from(pes) }
    }

    /// Those that are told apart.
    pub fn regions(&self) -> &[RegionId] {
        &self.regions
    }

    /// The bins of a view, row by row; parallel over rows. Costs at most 64 visits a PE and column, none of them twice, and
    /// those that are open.
    pub fn tiles(&self, trace: &Trace, stacks: &Stacks, fold: &Fold, view: View) -> Vec<FunctionShares> {
        let before = |pe, walk: &mut Walk, moment| self.before(trace, stacks, pe, walk, moment);
        // What a function called may last longer than it, where visits of an archive overlap.
        shares(fold, view, before, |sums: &mut Sums, _, _| sums.iter_mut().for_each(|ticks| *ticks = (*ticks).max(0)))
    }

    /// Time up to a moment, which must not be before that of an earlier call with this walk.
    fn before(&self, trace: &Trace, stacks: &Stacks, pe: PeId, walk: &mut Walk, moment: Time) -> Sums {
        let (Some(of_pe), Some(stream)) = (self.pes.get(pe), trace.streams().get(pe)) else { return [0; CLASSES] };
        let visits = &stream.visits;
        let end = first_from(&visits.enter, walk.end, moment);
        let block = end.saturating_sub(1) / EACH;
        if walk.block != Some(block) {
            (walk.block, walk.end, walk.sums) = (Some(block), block * EACH, of_pe.sums[block]);
            walk.open_around(stacks, stream, pe, block);
        }
        for visit in walk.end..end {
            of_pe.count(
                &self.classes,
                visits.path[visit],
                visits.exit[visit].since(visits.enter[visit]).0,
                &mut walk.sums,
            );
            walk.open.push(visit);
        }
        walk.end = end;
        walk.open.retain(|visit| visits.exit[*visit] > moment);
        let mut sums = walk.sums;
        for visit in walk.open.iter().copied() {
            of_pe.count(&self.classes, visits.path[visit], -visits.exit[visit].since(moment).0, &mut sums);
        }
        sums
    }
}

/// Where a walk over the moments of one PE stands.
#[derive(Default)]
struct Walk {
    /// The block of 64 visits in which the last one began before the last moment, and where the visits end that did.
    block: Option<usize>,
    end: usize,
    /// Sums of all of them, as long as they last.
    sums: Sums,
    /// Those of them that were open then, outermost first.
    open: Vec<usize>,
    /// Kept for its memory only.
    fresh: Vec<usize>,
}

impl Walk {
    /// Goes on to what is open where a block begins.
    fn open_around(&mut self, stacks: &Stacks, stream: &Stream, pe: PeId, block: usize) {
        let mut frames = stacks.around(pe, block);
        let (mut next, mut known) = (frames.next(), 0);
        while let Some(visit) = next {
            // What was open before lies in what is known.
            if let Ok(at) = self.open.binary_search(&visit) {
                known = at + 1;
                break;
            }
            self.fresh.push(visit);
            next = frames.next().or_else(|| stacks.caller(stream, pe, visit));
        }
        self.open.truncate(known);
        self.open.extend(self.fresh.drain(..).rev());
    }
}

impl OfPe {
    fn new(paths: &CallPaths, classes: &Classes, stream: &Stream, seen: &mut [bool]) -> OfPe {
        let visits = &stream.visits;
        seen.fill(false);
        visits.path.iter().for_each(|path| seen[path.index()] = true);
        let is_root = |path: &CallPathId| {
            seen[path.index()] && paths.parent(*path).some().is_some_and(|parent| !seen[parent.index()])
        };
        let mut of_pe = OfPe { sums: vec![[0; CLASSES]], roots: paths.ids().filter(is_root).collect() };
        let mut sums = [0; CLASSES];
        for (visit, path) in visits.path.iter().enumerate() {
            of_pe.count(classes, *path, visits.exit[visit].since(visits.enter[visit]).0, &mut sums);
            if (visit + 1) % EACH == 0 {
                of_pe.sums.push(sums);
            }
        }
        of_pe.sums.shrink_to_fit();
        of_pe
    }

    fn count(&self, classes: &Classes, path: CallPathId, ticks: i64, sums: &mut Sums) {
        let (own, caller) = classes[path];
        sums[usize::from(own)] += ticks;
        if let Some(caller) = caller.filter(|_| self.roots.is_empty() || self.roots.binary_search(&path).is_err()) {
            sums[usize::from(caller)] -= ticks;
        }
    }
}
