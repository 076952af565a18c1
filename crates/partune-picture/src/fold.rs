//! Folding: many PEs on few rows.

use partune_base::PeId;

/// Rows of a picture, each of so many PEs that follow each other; the last may have fewer.
///
/// A row holds one PE if they fit, else a power of two, so that rows keep their meaning between runs of similar size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pes: Vec<PeId>,
    each: usize,
}

impl Fold {
    /// PEs in order, on at most `most` rows.
    pub fn new(pes: Vec<PeId>, most: usize) -> Fold {
        let most = most.max(1);
        let each = if pes.len() <= most { 1 } else { pes.len().div_ceil(most).next_power_of_two() };
        Fold { pes, each }
    }

    /// All PEs.
    pub fn pes(&self) -> &[PeId] {
        &self.pes
    }

    /// PEs of a full row.
    pub fn each(&self) -> usize {
        self.each
    }

    /// Whether a row stands for more than one PE.
    pub fn is_folded(&self) -> bool {
        self.each > 1
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.pes.len().div_ceil(self.each)
    }

    pub fn is_empty(&self) -> bool {
        self.pes.is_empty()
    }

    /// The PEs of each row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[PeId]> + Clone {
        self.pes.chunks(self.each)
    }

    /// The row of a PE, if it is in the picture.
    pub fn row_of(&self, pe: PeId) -> Option<usize> {
        // PEs are in order of id wherever they come from the trace; elsewhere they are few.
        let at = self.pes.binary_search(&pe).ok().or_else(|| self.pes.iter().position(|it| *it == pe));
        at.map(|at| at / self.each)
    }

    /// The mean of each row, of values for each PE.
    pub fn means(&self, values: &[f64]) -> Vec<f64> {
        values.chunks(self.each).map(|row| row.iter().sum::<f64>() / row.len() as f64).collect()
    }
}
