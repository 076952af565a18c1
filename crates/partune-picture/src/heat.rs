//! Heat maps: PEs against places in the code, and against blocks of the run.

use partune_analysis::{PathTimes, useful_in};
use partune_base::{PeId, RegionId, Span, Table, Time};
use partune_index::Index;
use partune_trace::Trace;
use rayon::prelude::*;

use crate::Fold;

/// Time of each row in each column: seconds a PE.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat<C> {
    pub columns: Vec<C>,
    /// Row by row: the mean over the row's PEs.
    cells: Vec<f64>,
}

impl<C> Heat<C> {
    /// The cells of each row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.cells.chunks(self.columns.len().max(1))
    }

    /// The same cells with other names of the columns.
    pub fn with_columns<D>(self, name: impl FnMut(C) -> D) -> Heat<D> {
        Heat { columns: self.columns.into_iter().map(name).collect(), cells: self.cells }
    }
}

/// Exclusive time in the regions that have most of it, at most `most` of them, largest first.
pub fn regions(trace: &Trace, times: &PathTimes, fold: &Fold, most: usize) -> Heat<RegionId> {
    let mut sums: Table<RegionId, Span> = Table::filled(trace.regions().len(), Span::ZERO);
    for row in fold.pes().iter().flat_map(|pe| &times[*pe]) {
        sums[trace.paths().region(row.path)] += row.exclusive;
    }
    let mut ranked: Vec<(RegionId, Span)> =
        sums.iter_ids().map(|(region, span)| (region, *span)).filter(|(_, span)| span.is_positive()).collect();
    ranked.sort_by_key(|(region, span)| (std::cmp::Reverse(*span), *region));
    ranked.truncate(most);
    let columns: Vec<RegionId> = ranked.into_iter().map(|(region, _)| region).collect();
    let mut column_of: Table<RegionId, usize> = Table::filled(trace.regions().len(), usize::MAX);
    for (column, region) in columns.iter().enumerate() {
        column_of[*region] = column;
    }
    let of_row = |pes: &[PeId]| {
        let mut cells = vec![Span::ZERO; columns.len()];
        for row in pes.iter().flat_map(|pe| &times[*pe]) {
            if let Some(cell) = cells.get_mut(column_of[trace.paths().region(row.path)]) {
                *cell += row.exclusive;
            }
        }
        cells.into_iter().map(|span| trace.clock().seconds(span) / pes.len() as f64).collect::<Vec<f64>>()
    };
    let cells = fold.rows().flat_map(of_row).collect();
    Heat { columns, cells }
}

/// Useful time in the blocks between global synchronisations; more than `most` are folded too. A column is its first block and the
/// number of blocks in it. `None` if there are fewer than two blocks, or the PEs are not in them.
pub fn blocks(trace: &Trace, index: &Index, fold: &Fold, most: usize) -> Option<Heat<(usize, usize)>> {
    let extents = &index.blocks.extents;
    let count = index.blocks.blocks.len();
    let known = |pe: &PeId| extents.get(*pe).is_some_and(|extents| extents.len() == count);
    if count < 2 || !fold.pes().iter().any(known) {
        return None;
    }
    let each = count.div_ceil(most.max(1));
    let columns: Vec<(usize, usize)> = (0..count).step_by(each).map(|first| (first, each.min(count - first))).collect();
    let rows: Vec<&[PeId]> = fold.rows().collect();
    let of_row = |pes: &[PeId]| -> Vec<f64> {
        let mut cells = vec![Span::ZERO; columns.len()];
        for pe in pes.iter().filter(|pe| known(pe)) {
            let intervals: &[(Time, Time)] = &extents[*pe];
            for (block, useful) in useful_in(trace, *pe, intervals).into_iter().enumerate() {
                cells[block / each] += useful;
            }
        }
        cells.into_iter().map(|span| trace.clock().seconds(span) / pes.len() as f64).collect()
    };
    let cells: Vec<Vec<f64>> = rows.into_par_iter().map(of_row).collect();
    Some(Heat { cells: cells.concat(), columns })
}
