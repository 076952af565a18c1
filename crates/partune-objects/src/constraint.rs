//! Placement under constraints: objects that are active in the same phase are to be apart.

use partune_base::Table;

use crate::graph::ObjectId;

/// What a placement costs; smaller is better, the first field first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// `Σ_φ max_p load[φ, p]`: the most that a PE has to do in each phase, in ticks.
    pub load: i64,
    /// `Σ_φ Σ_p n[φ, p] (n[φ, p] - 1) / 2`: pairs of objects that are active on one PE together.
    pub pairs: u64,
}

/// Objects that are on no PE do not count. O(active objects of all phases).
pub fn score<'a>(
    phases: impl IntoIterator<Item = &'a [(ObjectId, i64)]>,
    placement: &Table<ObjectId, u32>,
    pes: u32,
) -> Score {
    let mut score = Score::default();
    let mut on: Vec<(i64, u64)> = vec![(0, 0); pes as usize];
    for active in phases {
        let pe = |id| placement.get(id).map(|&pe| pe as usize).filter(|&pe| pe < pes as usize);
        let placed = || active.iter().filter_map(|&(id, load)| Some((pe(id)?, load)));
        let mut most = 0;
        for (pe, load) in placed() {
            score.pairs += on[pe].1;
            on[pe] = (on[pe].0.saturating_add(load), on[pe].1 + 1);
            most = most.max(on[pe].0);
        }
        score.load = score.load.saturating_add(most);
        placed().for_each(|(pe, _)| on[pe] = (0, 0));
    }
    score
}
