//! Tiles: what PEs did in each column of time, at the level of detail of the picture.

use partune_base::{PeId, Span, Time};
use partune_trace::Trace;
use rayon::prelude::*;

use crate::{Fold, Kind};

/// What part of a run is seen, and how fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub begin: Time,
    pub end: Time,
    /// Columns of equal length, at least one.
    pub columns: usize,
}

/// A row in a column: the share of each kind in the time of the row's PEs. All but waiting sum to one, if the view has a length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    pub shares: [f32; Kind::COUNT],
}

/// The bins of a view, row by row: 44 bytes each. Made by [`crate::Detail::tiles`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles {
    pub view: View,
    bins: Vec<Bin>,
}

impl View {
    /// The whole run.
    pub fn whole(trace: &Trace, columns: usize) -> View {
        View { begin: trace.begin(), end: trace.end(), columns }
    }

    /// Where a column begins; where the last one ends, for the column after it.
    pub fn edge(&self, column: usize) -> Time {
        let length = i128::from(self.end.since(self.begin).0);
        let columns = self.columns.max(1) as i128;
        Time::clamped(i128::from(self.begin.0) + length * (column as i128).min(columns) / columns)
    }
}

impl Bin {
    pub fn share(&self, kind: Kind) -> f32 {
        self.shares[kind as usize]
    }
}

impl Tiles {
    pub(crate) fn new(view: View, bins: Vec<Bin>) -> Tiles {
        Tiles { view, bins }
    }

    /// All bins, row by row.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The bins of each row, from the first column on.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Bin]> {
        self.bins.chunks(self.view.columns.max(1))
    }
}

/// The shares that parts have in the time of a row's PEs in each column of a view, row by row; parallel over rows. `before` are the ticks of each part on a
/// PE up to a moment, which never runs backwards with one walk; `complete` gets those of a bin, its length and its PEs, before shares are made of them.
pub(crate) fn shares<const PARTS: usize, Walk: Default>(
    fold: &Fold,
    view: View,
    before: impl Fn(PeId, &mut Walk, Time) -> [i64; PARTS] + Sync,
    complete: impl Fn(&mut [i64; PARTS], Span, usize) + Sync,
) -> Vec<[f32; PARTS]> {
    let columns = view.columns.max(1);
    let edges: Vec<Time> = (0..=columns).map(|column| view.edge(column)).collect();
    let rows: Vec<&[PeId]> = fold.rows().collect();
    let mut bins = vec![[0.0; PARTS]; rows.len() * columns];
    bins.par_chunks_mut(columns).zip(rows).for_each_init(
        || vec![[0; PARTS]; columns],
        |sums, (bins, pes)| {
            sums.fill([0; PARTS]);
            for pe in pes {
                let mut walk = Walk::default();
                let mut last = before(*pe, &mut walk, edges[0]);
                for (sum, edge) in sums.iter_mut().zip(&edges[1..]) {
                    let next = before(*pe, &mut walk, *edge);
                    for (part, sum) in sum.iter_mut().enumerate() {
                        *sum += next[part] - last[part];
                    }
                    last = next;
                }
            }
            for ((bin, ticks), edges) in bins.iter_mut().zip(sums).zip(edges.windows(2)) {
                let length = edges[1].since(edges[0]);
                complete(ticks, length, pes.len());
                let all = length.0 as f32 * pes.len() as f32;
                *bin = ticks.map(|ticks| if all > 0.0 { ticks as f32 / all } else { 0.0 });
            }
        },
    );
    bins
}
