//! From an archive's ids to ours.
//!
//! Most recorders number from zero, some leave gaps of 2²⁹. Dense ids take a vector look-up, sparse ones a hash.

use rustc_hash::FxHashMap;

/// Maps archive ids to dense positions.
#[derive(Clone, Debug, Default)]
pub struct IdMap {
    dense: Vec<u32>,
    sparse: FxHashMap<u64, u32>,
}

impl IdMap {
    /// Ids below this go into the vector.
    const DENSE: u64 = 1 << 20;
    const NONE: u32 = u32::MAX;

    /// Maps `id` to `position`; false if it was mapped before (the old mapping stays).
    pub fn insert(&mut self, id: u64, position: u32) -> bool {
        if id >= Self::DENSE {
            let new = !self.sparse.contains_key(&id);
            self.sparse.entry(id).or_insert(position);
            return new;
        }
        let index = id as usize;
        if index >= self.dense.len() {
            self.dense.resize(index + 1, Self::NONE);
        }
        let new = self.dense[index] == Self::NONE;
        if new {
            self.dense[index] = position;
        }
        new
    }

    pub fn is_empty(&self) -> bool {
        self.dense.is_empty() && self.sparse.is_empty()
    }

    pub fn get(&self, id: u64) -> Option<u32> {
        if id >= Self::DENSE {
            return self.sparse.get(&id).copied();
        }
        self.dense.get(id as usize).copied().filter(|position| *position != Self::NONE)
    }
}

/// One number for a lock that several numbers name. Different locks have the same one with a chance of about 2⁻⁶⁴.
pub fn lock_key<const N: usize>(names: [u64; N]) -> u64 {
    let mix = |state: u64, value: u64| {
        let mut z = (state ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    names.into_iter().fold(0, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse() {
        let mut map = IdMap::default();
        assert!(map.insert(3, 0));
        assert!(map.insert((1 << 29) - 1, 1));
        assert!(map.insert(u64::MAX, 2));
        assert!(!map.insert(3, 9));
        assert_eq!([3, (1 << 29) - 1, u64::MAX, 2].map(|id| map.get(id)), [Some(0), Some(1), Some(2), None]);
    }
}
