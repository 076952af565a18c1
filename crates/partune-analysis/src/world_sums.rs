//! What the bounds need of a world, as it adds up over slices of a run: sums by region of the source and by region of the tensor.
//!
//! Memory: a number for each PE and region, some tens of bytes for each of the tiles in which most is lost.

use partune_base::{CallPathId, PeId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::block_loss::{self, RegionLoss};
use crate::block_work::BlockWork;
use crate::bounds::{Measured, SERIAL};
use crate::chain::{Chain, LinkSums, RegionLevels};
use crate::edges::{Edge, Edges};
use crate::iterations::Part;
use crate::tensor::{RegionKind, Tensor};
use crate::tiling::Tile;

/// The sums of a world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorldSums {
    pub(crate) pes: Vec<PeId>,
    /// In the order in which they are closed first.
    pub(crate) regions: Vec<RegionSums>,
    /// The regions of the tensor: which part of which region of the source each is.
    phases: Vec<(usize, Part)>,
    tensor: Tensor,
    links: LinkSums,
    /// Tiles of threads of which only parts are known so far.
    edges: Edges,
    /// Iterations of all regions.
    pub(crate) rows: usize,
}

/// The sums of a region of the source.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RegionSums {
    pub(crate) about: Tile,
    /// The marked loop whose turns it is cut at.
    pub(crate) turns: CallPathId,
    /// Of the PE that works most in each tile, and of all, before tiles are cut at turns.
    most: i128,
    total: i128,
    levels: RegionLevels,
    /// Σ_i of each PE, and Σ_i max_q.
    pub(crate) of_pes: Vec<i128>,
    pub(crate) maxima: i128,
    pub(crate) iterations: u64,
    pub(crate) loss: RegionLoss,
}

impl WorldSums {
    /// Linear in PEs times rows, and in what is lost and how much of it is looked at.
    pub(crate) fn of(input: &Input<'_>, measured: &Measured) -> WorldSums {
        let (work, n) = (&measured.work, measured.work.pes.len());
        let (losses, [begin, end]) = block_loss::of_regions(input, measured);
        let mut edges = work.edges.clone();
        edges.head.iter_mut().chain(&mut edges.through).for_each(|edge| edge.told = begin.clone());
        edges.tail.iter_mut().for_each(|edge| edge.told = end.clone());
        let regions = work.regions.iter().zip(&work.turns).zip(measured.shares.iter().zip(losses));
        let regions = regions.map(|((about, turns), (share, loss))| RegionSums {
            about: *about,
            turns: *turns,
            most: share.0,
            total: share.1,
            levels: RegionLevels::default(),
            of_pes: vec![0; n],
            maxima: 0,
            iterations: 0,
            loss,
        });
        let mut sums = WorldSums {
            pes: work.pes.clone(),
            regions: regions.collect(),
            phases: work.phases.clone(),
            tensor: Tensor::new(n),
            links: LinkSums::default(),
            edges,
            rows: work.rows.len(),
        };
        work.phases.iter().for_each(|_| _ = sums.tensor.region(RegionKind::Parallel));
        let mut longest = vec![0_i64; work.links.len()];
        for (row, ticks) in work.rows.iter().zip(work.ticks()) {
            sums.tensor.iteration(row.phase, ticks);
            let most = ticks.iter().copied().max().unwrap_or(0);
            longest[row.tile] = longest[row.tile].saturating_add(most);
            let region = &mut sums.regions[row.region];
            region.maxima += i128::from(most);
            region.iterations += 1;
            region.of_pes.iter_mut().zip(ticks).for_each(|(sum, ticks)| *sum += i128::from(*ticks));
        }
        let links = work.links.iter().zip(longest);
        for (link, longest) in links.filter(|(link, _)| link.region < work.regions.len()) {
            sums.regions[link.region].levels.add(link);
            sums.links.add(link, longest);
        }
        sums
    }

    /// Adds those of the next slice.
    pub(crate) fn add(&mut self, next: WorldSums) {
        let n = self.pes.len();
        if let Some(edge) = self.edges.add(next.edges) {
            self.add_edge(edge);
        }
        let mut known: FxHashMap<CallPathId, usize> =
            self.regions.iter().enumerate().map(|(at, region)| (region.about.closes, at)).collect();
        let mut moved = Vec::with_capacity(next.regions.len());
        for region in next.regions {
            let at = *known.entry(region.about.closes).or_insert(self.regions.len());
            moved.push(at);
            match self.regions.get_mut(at) {
                Some(sum) => sum.add(region),
                None => self.regions.push(region),
            }
        }
        let mut known: FxHashMap<(usize, Part), usize> =
            self.phases.iter().enumerate().map(|(at, phase)| (*phase, at)).collect();
        for (of, (region, part)) in next.phases.into_iter().enumerate() {
            let phase = (moved[region], part);
            let at = *known.entry(phase).or_insert_with(|| {
                self.phases.push(phase);
                self.tensor.region(RegionKind::Parallel)
            });
            self.tensor.join(at, &next.tensor, of);
        }
        debug_assert_eq!(n, next.pes.len(), "all slices have the same PEs");
        self.links.join(&next.links);
        self.rows += next.rows;
    }

    /// Adds a tile that was in several slices.
    fn add_edge(&mut self, edge: Edge) {
        let is_same = |region: &RegionSums| region.about.closes == edge.about.closes;
        let at = self.regions.iter().position(is_same).unwrap_or_else(|| {
            self.regions.push(RegionSums {
                about: edge.about,
                turns: CallPathId::NONE,
                most: 0,
                total: 0,
                levels: RegionLevels::default(),
                of_pes: vec![0; self.pes.len()],
                maxima: 0,
                iterations: 0,
                loss: RegionLoss::default(),
            });
            self.regions.len() - 1
        });
        let phase = (at, Part::Outside);
        let of_tensor = self.phases.iter().position(|it| *it == phase).unwrap_or_else(|| {
            self.phases.push(phase);
            self.tensor.region(RegionKind::Parallel);
            self.phases.len() - 1
        });
        let (link, ticks) = (edge.link(at), edge.ticks());
        let most = ticks.iter().copied().max().unwrap_or(0);
        let region = &mut self.regions[at];
        region.levels.add(&link);
        self.links.add(&link, most);
        if ticks.iter().any(|ticks| *ticks > 0) {
            self.tensor.iteration(of_tensor, &ticks);
            self.rows += 1;
            region.most += i128::from(most);
            region.total += ticks.iter().map(|ticks| i128::from(*ticks)).sum::<i128>();
            region.maxima += i128::from(most);
            region.iterations += 1;
            region.of_pes.iter_mut().zip(&ticks).for_each(|(sum, ticks)| *sum += i128::from(*ticks));
        }
        region.loss.add_edge(&self.pes, edge);
    }

    /// Whether one PE works in a region of the source, or all.
    pub(crate) fn kind(&self, region: usize) -> RegionKind {
        kind(self.pes.len(), self.regions[region].most, self.regions[region].total)
    }

    pub(crate) fn chain(&self) -> Chain {
        let mut tensor = self.tensor.clone();
        for (at, (region, _)) in self.phases.iter().enumerate() {
            tensor.set_kind(at, self.kind(*region));
        }
        let regions = self.regions.iter().enumerate().map(|(at, region)| (self.kind(at), region.levels));
        Chain::new(&tensor.bounds(), &self.links, regions)
    }

    /// See [`Tile::is_known`].
    pub(crate) fn is_known(&self, region: usize) -> bool {
        self.regions[region].about.is_known(self.regions[region].turns)
    }
}

impl RegionSums {
    fn add(&mut self, next: RegionSums) {
        self.turns = if self.turns.is_some() { self.turns } else { next.turns };
        self.most += next.most;
        self.total += next.total;
        self.levels.join(&next.levels);
        self.of_pes.iter_mut().zip(&next.of_pes).for_each(|(sum, ticks)| *sum += ticks);
        self.maxima += next.maxima;
        self.iterations += next.iterations;
        self.loss.add(next.loss);
    }
}

/// Of work of the PE that works most in each tile, and of all.
fn kind(pes: usize, most: i128, total: i128) -> RegionKind {
    let is_serial = pes > 1 && total > 0 && most as f64 >= SERIAL * total as f64;
    if is_serial { RegionKind::Serial } else { RegionKind::Parallel }
}

/// For each region of the source, the work of the PE that works most in each tile, and of all.
pub(crate) fn shares(work: &BlockWork) -> Vec<(i128, i128)> {
    let mut shares = vec![(0_i128, 0_i128); work.regions.len()];
    for (region, ticks) in work.iterations() {
        let (most, total) = &mut shares[region];
        *most += i128::from(ticks.iter().copied().max().unwrap_or(0));
        *total += ticks.iter().map(|ticks| i128::from(*ticks)).sum::<i128>();
    }
    shares
}

/// Whether one PE works in each region of the source, or all.
pub(crate) fn kinds(pes: usize, shares: &[(i128, i128)]) -> Vec<RegionKind> {
    shares.iter().map(|(most, total)| kind(pes, *most, *total)).collect()
}
