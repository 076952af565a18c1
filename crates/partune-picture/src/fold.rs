//! Folding: many PEs on few rows.

use partune_base::PeId;

/// Rows of a picture: of so many PEs that follow each other, or of groups of PEs (processes, machines).
///
/// A row holds one PE, or one group, if they fit, else a power of two, so that rows keep their meaning between runs of similar size.
/// 20 bytes per PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pes: Vec<PeId>,
    /// Where each row ends in `pes`.
    ends: Vec<usize>,
    /// The row of each PE, in order of PE.
    rows: Vec<(PeId, u32)>,
    each: usize,
}

impl Fold {
    /// PEs in order, on at most `most` rows.
    pub fn new(pes: Vec<PeId>, most: usize) -> Fold {
        let each = each(pes.len(), most);
        let ends = (1..=pes.len().div_ceil(each)).map(|row| (row * each).min(pes.len())).collect();
        Fold::of(pes, ends, each)
    }

    /// Groups in order, on at most `most` rows.
    pub fn groups(groups: &[Vec<PeId>], most: usize) -> Fold {
        let each = each(groups.len(), most);
        let mut pes = Vec::new();
        let ends = groups
            .chunks(each)
            .map(|row| {
                row.iter().for_each(|group| pes.extend_from_slice(group));
                pes.len()
            })
            .collect();
        Fold::of(pes, ends, each)
    }

    fn of(pes: Vec<PeId>, ends: Vec<usize>, each: usize) -> Fold {
        let mut fold = Fold { pes, ends, rows: Vec::new(), each };
        let numbered = fold.rows().enumerate().flat_map(|(row, pes)| pes.iter().map(move |pe| (*pe, row as u32)));
        let mut rows: Vec<(PeId, u32)> = numbered.collect();
        rows.sort_unstable();
        fold.rows = rows;
        fold
    }

    /// All PEs, row by row.
    pub fn pes(&self) -> &[PeId] {
        &self.pes
    }

    /// PEs, or groups, of a full row.
    pub fn each(&self) -> usize {
        self.each
    }

    /// Whether every row is one PE.
    pub fn is_exact(&self) -> bool {
        self.rows().all(|row| row.len() == 1)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pes.is_empty()
    }

    /// The PEs of each row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[PeId]> + Clone {
        (0..self.ends.len()).map(|row| {
            let begin = if row == 0 { 0 } else { self.ends[row - 1] };
            &self.pes[begin..self.ends[row]]
        })
    }

    /// The row of a PE, if it is in the picture.
    pub fn row_of(&self, pe: PeId) -> Option<usize> {
        let at = self.rows.binary_search_by_key(&pe, |(pe, _)| *pe).ok()?;
        Some(self.rows[at].1 as usize)
    }

    /// The mean of each row, of values for each PE in the order of [`Fold::pes`].
    pub fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut rest = values;
        self.rows()
            .map_while(|row| {
                let (row, after) = rest.split_at(row.len().min(rest.len()));
                rest = after;
                (!row.is_empty()).then(|| row.iter().sum::<f64>() / row.len() as f64)
            })
            .collect()
    }
}

/// How many go on a row.
fn each(count: usize, most: usize) -> usize {
    let most = most.max(1);
    if count <= most { 1 } else { count.div_ceil(most).next_power_of_two() }
}
