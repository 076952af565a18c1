//! Tiles: what PEs did in each column of time, at the level of detail of the picture.

use partune_base::Time;
use partune_trace::Trace;

use crate::Kind;

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
