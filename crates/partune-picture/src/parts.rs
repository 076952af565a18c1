//! What many rows add up to by key, in any part of them: sums of blocks of rows, and a short scan at both ends.

use std::ops::{AddAssign, Range};

/// Rows of a block.
const EACH: usize = 1024;

/// What some rows add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    /// What rows stand for: calls, where one row can be several.
    pub calls: u64,
    /// Ticks or bytes.
    pub value: u64,
}

/// Sums by key of each block, in order of key: 32 bytes a key that occurs in it.
#[derive(Clone, Debug)]
pub(crate) struct Parts<K> {
    /// Where the sums of each whole block end.
    ends: Vec<usize>,
    sums: Vec<(K, Sum)>,
}

impl Sum {
    /// One row that is one call.
    pub(crate) fn one(value: u64) -> Sum {
        Sum { rows: 1, calls: 1, value }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        self.rows += other.rows;
        self.calls = self.calls.saturating_add(other.calls);
        self.value = self.value.saturating_add(other.value);
    }
}

impl<K: Copy + Ord> Parts<K> {
    /// Linear, and a sort of each block by key.
    pub(crate) fn new(len: usize, at: impl Fn(usize) -> (K, Sum)) -> Parts<K> {
        let mut parts = Parts { ends: Vec::new(), sums: Vec::new() };
        let mut block = Vec::with_capacity(EACH.min(len));
        for first in (0..len / EACH).map(|block| block * EACH) {
            block.clear();
            block.extend((first..first + EACH).map(&at));
            block.sort_unstable_by_key(|(key, _)| *key);
            for same in block.chunk_by(|a, b| a.0 == b.0) {
                let mut sum = Sum::default();
                same.iter().for_each(|(_, one)| sum += *one);
                parts.sums.push((same[0].0, sum));
            }
            parts.ends.push(parts.sums.len());
        }
        parts.sums.shrink_to_fit();
        parts
    }

    /// Tells sums whose total is that of a part; a key may come several times. `at` is what the parts were made of. Looks at fewer than
    /// 2,048 rows, and at the keys of the blocks between.
    pub(crate) fn tell(&self, part: Range<usize>, at: impl Fn(usize) -> (K, Sum), mut tell: impl FnMut(K, Sum)) {
        let (first, last) = (part.start.div_ceil(EACH), (part.end / EACH).min(self.ends.len()));
        if first >= last {
            part.map(at).for_each(|(key, sum)| tell(key, sum));
            return;
        }
        (part.start..first * EACH).map(&at).for_each(|(key, sum)| tell(key, sum));
        let begin = if first == 0 { 0 } else { self.ends[first - 1] };
        self.sums[begin..self.ends[last - 1]].iter().for_each(|(key, sum)| tell(*key, *sum));
        (last * EACH..part.end).map(&at).for_each(|(key, sum)| tell(key, sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_has_the_sums_of_its_rows() {
        let at = |row: usize| (row * 7919 % 13, Sum { rows: 1, calls: row as u64 % 3, value: row as u64 });
        let parts = Parts::new(20_000, at);
        for part in [0..20_000, 0..0, 5..9, 1024..2048, 1023..2049, 1..19_999, 12_288..20_000, 19_456..19_457] {
            let (mut found, mut expected) = ([Sum::default(); 13], [Sum::default(); 13]);
            parts.tell(part.clone(), at, |key, sum| found[key] += sum);
            part.clone().map(at).for_each(|(key, sum)| expected[key] += sum);
            assert_eq!(found, expected, "{part:?}");
        }
    }
}
