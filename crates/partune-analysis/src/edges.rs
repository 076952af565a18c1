//! Tiles of threads that lie in several slices of a run: from a team before to one behind where it is cut.
//!
//! Processes are cut where their tiles end. Their threads meet in teams, so what is between two teams has a part in each slice. Which region of the source a tile is of, what it
//! loses and which PE is charged with that is known when all its parts are.

use std::collections::BTreeMap;

use partune_base::{CallPathId, Time};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::block_work::{Link, excess, work_times};
use crate::spending::Spent;
use crate::tiling::{Tile, Tiling};
use crate::{Input, Pattern};

/// A part of a tile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) about: Tile,
    /// For each PE from when to when it is in it, what it spends there, and where it works.
    extents: Vec<(Time, Time)>,
    spent: Vec<Spent>,
    places: Vec<BTreeMap<CallPathId, i64>>,
    /// See [`Tiling::stretch`].
    stretch: (Time, Time),
    /// Waiting in it, by pattern and place.
    pub(crate) told: BTreeMap<(Pattern, CallPathId), i64>,
}

/// The tiles of a world that are not all in a slice, or in some slices one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Edges {
    /// Which is begun before, which goes on behind, and which does both.
    pub(crate) head: Option<Edge>,
    pub(crate) tail: Option<Edge>,
    pub(crate) through: Option<Edge>,
}

impl Edges {
    /// Of what each PE spends in each tile. Linear in visits in those tiles.
    pub(crate) fn of(input: &Input<'_>, tiling: &Tiling, columns: &[Vec<Spent>]) -> Edges {
        let last = tiling.tiles.len().saturating_sub(1);
        let edge = |tile: usize| Edge::of(input, tiling, tile, columns);
        match tiling.cut {
            [true, true] if last == 0 => Edges { through: Some(edge(0)), ..Edges::default() },
            [begins, ends] => {
                Edges { head: begins.then(|| edge(0)), tail: ends.then(|| edge(last)), ..Edges::default() }
            }
        }
    }

    /// Adds those of the next slice; gives the tile that all parts are known of then.
    pub(crate) fn add(&mut self, next: Edges) -> Option<Edge> {
        let last = if self.tail.is_some() { &mut self.tail } else { &mut self.through };
        if let Some(part) = next.through {
            match last {
                Some(last) => last.join(part),
                None => *last = Some(part),
            }
            return None;
        }
        if let (Some(last), Some(part)) = (last, next.head) {
            last.join(part);
        }
        let begun_before = self.through.take();
        let whole = std::mem::replace(&mut self.tail, next.tail);
        self.head = self.head.take().or(begun_before);
        whole
    }
}

impl Edge {
    fn of(input: &Input<'_>, tiling: &Tiling, tile: usize, columns: &[Vec<Spent>]) -> Edge {
        let extents: Vec<(Time, Time)> = tiling.extents_of(tile).collect();
        let begin = extents.iter().map(|extent| extent.0).min().unwrap_or_default();
        let end = extents.iter().map(|extent| extent.1).max().unwrap_or_default();
        let compared = if tiling.pes.len() > 1 { tiling.pes.as_slice() } else { &[] };
        Edge {
            about: tiling.tiles[tile],
            extents,
            spent: columns.iter().map(|column| column[tile]).collect(),
            places: compared.par_iter().map(|pe| work_times(input, *pe, begin, end)).collect(),
            stretch: tiling.stretch(tile),
            told: BTreeMap::new(),
        }
    }

    fn join(&mut self, next: Edge) {
        self.about.closes = next.about.closes;
        self.stretch.1 = next.stretch.1;
        self.extents.iter_mut().zip(next.extents).for_each(|(extent, next)| extent.1 = next.1);
        self.spent.iter_mut().zip(next.spent).for_each(|(sum, spent)| *sum += spent);
        for (sums, next) in self.places.iter_mut().zip(next.places) {
            next.into_iter().for_each(|(path, ticks)| *sums.entry(path).or_default() += ticks);
        }
        for (place, ticks) in next.told {
            *self.told.entry(place).or_default() += ticks;
        }
    }

    pub(crate) fn link(&self, region: usize) -> Link {
        Link::of(self.about, &self.extents, self.stretch, region, &self.spent)
    }

    /// The work of each PE.
    pub(crate) fn ticks(&self) -> Vec<i64> {
        self.spent.iter().map(|spent| spent.work()).collect()
    }

    /// From the first begin to the last end of PEs that work in it.
    pub(crate) fn extent(&self) -> (Time, Time) {
        let works = || self.extents.iter().zip(&self.spent).filter(|(_, spent)| spent.work() > 0);
        let begin = works().map(|(extent, _)| extent.0).min().unwrap_or_default();
        (begin, works().map(|(extent, _)| extent.1).max().unwrap_or_default())
    }

    /// Where a PE, by its position, works most more than another one.
    pub(crate) fn excess(&self, slow: usize, fast: usize) -> CallPathId {
        let [Some(slow), Some(fast)] = [slow, fast].map(|pe| self.places.get(pe)) else { return CallPathId::NONE };
        excess(slow.clone(), fast)
    }
}
