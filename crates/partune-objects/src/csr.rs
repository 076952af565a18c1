//! Rows of numbers of different lengths in two vectors; for graphs whose edges are found from one of their ends.

/// Row `r` is `items[first[r]..first[r + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Csr {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Csr {
    /// Item `i` comes into row `rows[i]`, in order of `i`. Those of no row, `u32::MAX`, are left out. Linear (counting sort).
    pub(crate) fn new(count: usize, rows: impl Iterator<Item = u32> + Clone) -> Csr {
        let mut first = vec![0_u32; count + 1];
        rows.clone().filter(|&row| row != u32::MAX).for_each(|row| first[row as usize + 1] += 1);
        for row in 0..count {
            first[row + 1] += first[row];
        }
        let mut next = first.clone();
        let mut items = vec![0; first[count] as usize];
        for (item, row) in rows.enumerate().filter(|&(_, row)| row != u32::MAX) {
            items[next[row as usize] as usize] = item as u32;
            next[row as usize] += 1;
        }
        Csr { first, items }
    }

    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.items[self.first[row] as usize..self.first[row + 1] as usize]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [u32] {
        &mut self.items[self.first[row] as usize..self.first[row + 1] as usize]
    }

    /// All rows, one after the other.
    pub(crate) fn items(&self) -> &[u32] {
        &self.items
    }
}
