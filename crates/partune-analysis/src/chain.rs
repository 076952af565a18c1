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

use crate::Hierarchy;
use crate::block_work::{BlockWork, Link};
use crate::tensor::{RegionKind, Tensor};

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
    /// From work with its iterations; `kinds` are those of its regions. Linear in PEs times rows.
    pub(crate) fn new(work: &BlockWork, kinds: &[RegionKind]) -> Chain {
        let bounds = tensor(work, kinds).bounds();
        let n = bounds.pes;
        let mut most = vec![0_i64; work.links.len()];
        for (row, ticks) in work.rows.iter().zip(work.ticks()) {
            most[row.tile] = most[row.tile].saturating_add(ticks.iter().copied().max().unwrap_or(0));
        }
        let (mut user, mut on_cpu, mut waits, mut syncs, mut run, mut all) = (0, 0, 0, 0, 0, 0);
        for (link, most) in work.links.iter().zip(most) {
            all += i128::from(link.user.1);
            user += first_levels(link.user, kinds[link.region], n);
            on_cpu += first_levels(link.on_cpu, kinds[link.region], n);
            let (waited, released) = link.split(most);
            waits += i128::from(waited);
            syncs += i128::from(released);
            run += i128::from(link.length);
        }
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

impl Link {
    /// Waits and release of a tile, of which the longest work is `most`; what remains of its length is not explained.
    fn split(&self, most: i64) -> (i64, i64) {
        let rest = (self.length - most).max(0);
        let waited = (self.wait - (most - self.work).max(0)).clamp(0, rest);
        (waited, self.release.min(rest - waited))
    }
}

/// A tile's share of N · IP or N · IPC: (largest, sum) over PEs.
fn first_levels((largest, sum): (i64, i64), kind: RegionKind, n: i128) -> i128 {
    match kind {
        RegionKind::Serial => i128::from(largest) * n,
        RegionKind::Parallel => i128::from(sum),
    }
}

/// The tensor of the work.
fn tensor(work: &BlockWork, kinds: &[RegionKind]) -> Tensor {
    let mut tensor = Tensor::new(work.pes.len());
    for region in &work.phases {
        tensor.region(kinds[*region]);
    }
    for (row, ticks) in work.rows.iter().zip(work.ticks()) {
        tensor.iteration(row.phase, ticks);
    }
    tensor
}
