//! The chain of bounds of one world: from its work alone to its run time, one loss a step.
//!
//! With u user code, k communication that is no wait, o input/output and system, w = u + k + o of PE q in region r in turn i, and
//! τ the time from the last arrival before a tile to the last arrival at its own end:
//!
//! | level | value | gap |
//! |---|---|---|
//! | IP, IPC, IPCO | S + (1/N) Σ over u, u + k, w | C', O |
//! | IPCOL, IPCOLM, IPCOLMD | [`crate::tensor`] over w | L, M', D |
//! | W | + waits of the PE that arrives last, less (max_q w − its own w) | W |
//! | S' | + until that PE left the synchronisation before | S' |
//! | actual | Σ τ | X |
//!
//! Every term of a tile is at least 0 and they sum to its τ, so X is what of the PE that arrives last is neither work nor a recorded
//! wait. Source: Hung and Davidson; W, S' and the tiles are ours (theory 2.1, one chain).

use serde::{Deserialize, Serialize};

use crate::Hierarchy;
use crate::block_work::Link;
use crate::tensor::{Bounds, RegionKind};

/// The levels of the chain, as they are named.
const LEVELS: [&str; 9] = ["IP", "IPC", "IPCO", "IPCOL", "IPCOLM", "IPCOLMD", "W", "S'", "actual"];

/// The gaps, each between a level and the next.
const GAPS: [&str; 8] = ["C'", "O", "L", "M'", "D", "W", "S'", "X"];

/// The levels in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chain {
    pub(crate) levels: [f64; 9],
    /// Work in serial regions.
    pub(crate) serial: f64,
    /// User code, evenly on all PEs.
    pub(crate) user: f64,
}

impl Chain {
    /// From the bounds of the work, what tiles add, and user code and time on processors of regions: the largest of each tile, and sums over PEs.
    pub(crate) fn new(
        bounds: &Bounds,
        links: &LinkSums,
        regions: impl Iterator<Item = (RegionKind, RegionLevels)>,
    ) -> Chain {
        let n = bounds.pes;
        let (mut user, mut on_cpu, mut all) = (0, 0, 0);
        for (kind, levels) in regions {
            all += levels.user.1;
            user += first_level(levels.user, kind, n);
            on_cpu += first_level(levels.on_cpu, kind, n);
        }
        let LinkSums { waits, syncs, run } = *links;
        let ipcolmd = bounds.ipcolmd();
        let levels = [
            user,
            on_cpu,
            bounds.ipco(),
            bounds.ipcol(),
            bounds.ipcolm(),
            ipcolmd,
            ipcolmd + waits * n,
            ipcolmd + (waits + syncs) * n,
            run * n,
        ];
        // Integers up to here, so that levels that are equal have a gap of nothing.
        let of_each = |scaled: i128| scaled as f64 / n.max(1) as f64;
        Chain { levels: levels.map(of_each), serial: bounds.serial as f64, user: of_each(all) }
    }

    /// The mean over worlds that are one PE each of the world above.
    pub(crate) fn mean(chains: &[Chain]) -> Chain {
        let mut mean = Chain::default();
        let count = chains.len().max(1) as f64;
        for chain in chains {
            mean.levels.iter_mut().zip(chain.levels).for_each(|(sum, level)| *sum += level / count);
            mean.serial += chain.serial / count;
            mean.user += chain.user / count;
        }
        mean
    }

    pub(crate) fn run(&self) -> f64 {
        self.levels[LEVELS.len() - 1]
    }

    pub(crate) fn gaps(&self) -> [f64; 8] {
        std::array::from_fn(|at| self.levels[at + 1] - self.levels[at])
    }

    /// The gap S'.
    pub(crate) fn synchronising(&self) -> f64 {
        self.gaps()[6]
    }

    /// The levels and gaps with their names.
    pub(crate) fn hierarchy(&self, per_second: f64) -> Hierarchy {
        let levels: Vec<_> = LEVELS.into_iter().zip(self.levels).collect();
        let gaps: Vec<_> = GAPS.into_iter().zip(self.gaps()).collect();
        Hierarchy::new(&levels, &gaps, |ticks| ticks / per_second)
    }
}

/// What tiles add to the chain besides the work in them, in ticks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LinkSums {
    waits: i128,
    syncs: i128,
    run: i128,
}

/// Σ over the tiles of a region of the largest of a PE, and of all PEs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RegionLevels {
    user: (i128, i128),
    on_cpu: (i128, i128),
}

impl LinkSums {
    /// Adds a tile, of which the longest work is `most`.
    pub(crate) fn add(&mut self, link: &Link, most: i64) {
        let (waited, released) = link.split(most);
        self.waits += i128::from(waited);
        self.syncs += i128::from(released);
        self.run += i128::from(link.length);
    }

    pub(crate) fn join(&mut self, other: &LinkSums) {
        self.waits += other.waits;
        self.syncs += other.syncs;
        self.run += other.run;
    }
}

impl RegionLevels {
    pub(crate) fn add(&mut self, link: &Link) {
        for (sum, more) in [(&mut self.user, link.user), (&mut self.on_cpu, link.on_cpu)] {
            *sum = (sum.0 + i128::from(more.0), sum.1 + i128::from(more.1));
        }
    }

    pub(crate) fn join(&mut self, other: &RegionLevels) {
        for (sum, more) in [(&mut self.user, other.user), (&mut self.on_cpu, other.on_cpu)] {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }
}

impl Link {
    /// Waits and release of a tile, of which the longest work is `most`; what remains of its length is not explained.
    fn split(&self, most: i64) -> (i64, i64) {
        let rest = (self.length - most).max(0);
        let waited = (self.wait - (most - self.work).max(0)).clamp(0, rest);
        (waited, self.release.min(rest - waited))
    }
}

/// A region's share of N · IP or N · IPC: of (largest, sum) over PEs.
fn first_level((largest, sum): (i128, i128), kind: RegionKind, n: i128) -> i128 {
    match kind {
        RegionKind::Serial => largest * n,
        RegionKind::Parallel => sum,
    }
}
