//! The members of groups. An archive may have many communicators on one group of many processes, so members are kept once and shared.

use std::sync::Arc;

use partune_base::PeId;

/// Members in order of rank; may hold [`PeId::NONE`] for one that the archive does not define.
///
/// Of a group of two sides, those of the first, then those of the second. A clone costs nothing and shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    sides: [Option<Arc<Side>>; 2],
}

#[derive(Debug, PartialEq, Eq)]
struct Side {
    ranks: Box<[PeId]>,
    /// Those that are known, in order, each with its rank on this side.
    sorted: Box<[(PeId, u32)]>,
}

impl Members {
    /// Two groups that talk to each other. Each is a group of one side.
    pub fn joined(first: &Members, second: &Members) -> Members {
        Members { sides: [first.sides[0].clone(), second.sides[0].clone()] }
    }

    fn sides(&self) -> impl Iterator<Item = &Side> + Clone {
        self.sides.iter().flatten().map(AsRef::as_ref)
    }

    pub fn len(&self) -> usize {
        self.sides().map(|side| side.ranks.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Members that the archive defines.
    pub fn known(&self) -> usize {
        self.sides().map(|side| side.sorted.len()).sum()
    }

    pub fn get(&self, rank: usize) -> Option<PeId> {
        let mut rank = rank;
        for side in self.sides() {
            match side.ranks.get(rank) {
                Some(pe) => return Some(*pe),
                None => rank -= side.ranks.len(),
            }
        }
        None
    }

    pub fn iter(&self) -> impl Iterator<Item = PeId> + Clone {
        self.sides().flat_map(|side| side.ranks.iter().copied())
    }

    /// The rank of a PE; the lowest if it is a member more than once. Cost: logarithmic.
    pub fn rank(&self, pe: PeId) -> Option<usize> {
        let mut before = 0;
        for side in self.sides() {
            match side.rank(pe) {
                Some(rank) => return Some(before + rank),
                None => before += side.ranks.len(),
            }
        }
        None
    }

    pub fn contains(&self, pe: PeId) -> bool {
        self.rank(pe).is_some()
    }

    /// Whether a PE is on the first side.
    pub fn first_contains(&self, pe: PeId) -> bool {
        self.sides().next().is_some_and(|side| side.rank(pe).is_some())
    }

    /// Members of the first side.
    pub fn split(&self) -> usize {
        self.sides().next().map_or(0, |side| side.ranks.len())
    }

    /// Whether two have the same known members, in any order. What is shared is not looked at.
    pub fn same(&self, other: &Members) -> bool {
        let shared = self.sides.iter().zip(&other.sides).all(|sides| match sides {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        });
        let sorted = |members: &Members| {
            let mut all: Vec<PeId> = members.sides().flat_map(|side| side.sorted.iter().map(|(pe, _)| *pe)).collect();
            all.sort_unstable();
            all
        };
        shared || (self.known() == other.known() && sorted(self) == sorted(other))
    }

    /// Whether a member is not below a number of PEs.
    pub(crate) fn exceeds(&self, pes: usize) -> bool {
        self.sides().any(|side| side.sorted.last().is_some_and(|(pe, _)| pe.0 as usize >= pes))
    }

    /// The same; members that are not below a number of PEs are unknown.
    pub(crate) fn below(&self, pes: usize) -> Members {
        let below = |side: &Arc<Side>| {
            let keep = |pe: &PeId| if (pe.0 as usize) < pes { *pe } else { PeId::NONE };
            Arc::new(Side::new(side.ranks.iter().map(keep).collect()))
        };
        Members { sides: self.sides.each_ref().map(|side| side.as_ref().map(below)) }
    }
}

impl Side {
    fn new(ranks: Box<[PeId]>) -> Side {
        let mut sorted: Vec<(PeId, u32)> = ranks.iter().copied().zip(0..).filter(|(pe, _)| pe.is_some()).collect();
        sorted.sort_unstable();
        Side { ranks, sorted: sorted.into() }
    }

    fn rank(&self, pe: PeId) -> Option<usize> {
        let at = self.sorted.partition_point(|(member, _)| *member < pe);
        self.sorted.get(at).filter(|(member, _)| *member == pe).map(|(_, rank)| *rank as usize)
    }
}

impl From<Vec<PeId>> for Members {
    fn from(ranks: Vec<PeId>) -> Members {
        Members { sides: [Some(Arc::new(Side::new(ranks.into()))), None] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pes: &[u32]) -> Members {
        pes.iter().map(|pe| PeId(*pe)).collect::<Vec<PeId>>().into()
    }

    #[test]
    fn ranks_are_positions_over_both_sides() {
        let none = PeId::NONE.0;
        let both = Members::joined(&of(&[4, none, 2]), &of(&[7, 1]));
        assert_eq!((both.len(), both.known(), both.split()), (5, 4, 3));
        let ranks: Vec<Option<PeId>> = (0..6).map(|rank| both.get(rank)).collect();
        assert_eq!(ranks[..4], [4, none, 2, 7].map(|pe| Some(PeId(pe))));
        assert_eq!(ranks[4..], [Some(PeId(1)), None]);
        assert!(both.iter().eq((0..5).filter_map(|rank| both.get(rank))));
        let inside = |pe| (both.contains(PeId(pe)), both.first_contains(PeId(pe)));
        assert_eq!([2, 7, 3].map(inside), [(true, true), (true, false), (false, false)]);
        assert_eq!([4, 2, 7, 1, 3].map(|pe| both.rank(PeId(pe))), [Some(0), Some(2), Some(3), Some(4), None]);
        assert!(!both.contains(PeId::NONE) && !Members::default().contains(PeId(0)) && Members::default().is_empty());
    }

    #[test]
    fn groups_are_the_same_by_their_known_members() {
        assert!(of(&[1, 2, PeId::NONE.0]).same(&of(&[2, 1])) && !of(&[1, 2]).same(&of(&[1, 3])));
        let (one, two) = (of(&[1, 2]), of(&[3]));
        assert!(Members::joined(&one, &two).same(&of(&[3, 1, 2])) && !Members::joined(&one, &two).same(&one));
        let cut = Members::joined(&one, &two).below(2);
        assert!(one.exceeds(2) && !cut.exceeds(2));
        assert_eq!((cut.len(), cut.known()), (3, 1));
    }

    #[test]
    fn what_is_shared_is_kept_once() {
        let one = of(&[1, 2, 3]);
        let many: Vec<Members> = (0..100).map(|_| Members::joined(&one, &one)).collect();
        let side = one.sides[0].as_ref().expect("it has one");
        assert_eq!(Arc::strong_count(side), 201);
        drop(many);
        assert_eq!(Arc::strong_count(side), 1);
    }
}
