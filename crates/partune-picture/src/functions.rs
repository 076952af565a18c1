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

    /// The bins of a view, row by row; parallel over rows. Costs at most 64 visits a PE and column, and those that are open.
    pub fn tiles(&self, trace: &Trace, stacks: &Stacks, fold: &Fold, view: View) -> Vec<FunctionShares> {
        let before = |pe, walk: &mut Walk, moment| self.before(trace, stacks, pe, walk, moment);
        // What a function called may last longer than it, where visits of an archive overlap.
        shares(fold, view, before, |sums: &mut Sums, _, _| sums.iter_mut().for_each(|ticks| *ticks = (*ticks).max(0)))
    }

    /// Time up to a moment, which must not be before that of an earlier call with this walk.
    fn before(&self, trace: &Trace, stacks: &Stacks, pe: PeId, walk: &mut Walk, moment: Time) -> Sums {
        let (Some(of_pe), Some(stream)) = (self.pes.get(pe), trace.streams().get(pe)) else { return [0; CLASSES] };
        let visits = &stream.visits;
        walk.end = first_from(&visits.enter, walk.end, moment);
        let block = walk.end.saturating_sub(1) / EACH;
        let mut sums = of_pe.sums[block];
        for visit in block * EACH..walk.end {
            let inside = visits.exit[visit].min(moment).since(visits.enter[visit]).0;
            of_pe.count(&self.classes, visits.path[visit], inside, &mut sums);
        }
        if walk.block != Some(block) {
            // Most blocks begin in what the one before began in.
            let innermost = stacks.around(pe, block);
            if innermost != walk.around.first().copied() {
                walk.around.clear();
                walk.around.extend(stacks.callers(stream, pe, innermost));
            }
            walk.block = Some(block);
        }
        for visit in walk.around.iter().copied().filter(|visit| visits.exit[*visit] > moment) {
            of_pe.count(&self.classes, visits.path[visit], -visits.exit[visit].since(moment).0, &mut sums);
        }
        sums
    }
}

/// Where a walk over the moments of one PE stands.
#[derive(Default)]
struct Walk {
    /// Where the visits end that began before the last moment.
    end: usize,
    /// The last block of 64 visits that began before it, and what was open where the block begins, innermost first.
    block: Option<usize>,
    around: Vec<usize>,
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
