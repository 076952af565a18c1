//! Conflicting accesses to shared memory, as intervals of synchronisations that keep them apart, and the fewest
//! synchronisations that stab all intervals (theory 6.6).
//!
//! Pure. Synchronisation k separates segment k from segment k + 1. A conflict between an access in segment i and a later one in
//! segment j needs one of the synchronisations i … j − 1.

use std::collections::BTreeMap;

/// An access to a range of addresses in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// Who accesses.
    pub pe: u32,
    /// The segment in which it began, and the one in which it was complete.
    pub segments: (u32, u32),
    /// First byte, and the first after it.
    pub range: (u64, u64),
    pub writes: bool,
}

/// Latest segments of accesses of up to two different PEs: for any PE, one of them is another.
#[derive(Clone, Copy, Debug, Default)]
struct Latest([Option<(u32, u32)>; 2]);

impl Latest {
    fn add(&mut self, segment: u32, pe: u32) {
        let [first, second] = &mut self.0;
        if first.is_none_or(|(_, known)| known == pe) {
            *first = Some((first.map_or(segment, |known| known.0.max(segment)), pe));
        } else {
            *second = Some((second.filter(|known| known.1 == pe).map_or(segment, |known| known.0.max(segment)), pe));
        }
        if let (Some(a), Some(b)) = (*first, *second)
            && b.0 > a.0
        {
            self.0 = [Some(b), Some(a)];
        }
    }

    /// The latest of another PE.
    fn of_other(&self, pe: u32) -> Option<u32> {
        self.0.iter().flatten().filter(|known| known.1 != pe).map(|known| known.0).max()
    }
}

/// A piece of memory that was accessed as a whole so far.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    end: u64,
    writes: Latest,
    all: Latest,
}

/// The tightest intervals (i, j) of segments with conflicting accesses to one memory: different PEs, overlapping ranges, at least
/// one writes. O(m log m) for accesses that do not split each other's ranges much.
pub fn conflicts(accesses: &[SharedAccess]) -> Vec<(u32, u32)> {
    let mut sorted: Vec<SharedAccess> =
        accesses.iter().copied().filter(|access| access.range.0 < access.range.1).collect();
    sorted.sort_by_key(|access| (access.segments.0, access.pe, access.range));
    let mut memory: BTreeMap<u64, Piece> = BTreeMap::new();
    let mut found = Vec::new();
    // Accesses of one segment do not synchronise with each other: first all ask, then all are entered.
    for batch in sorted.chunk_by(|a, b| a.segments.0 == b.segments.0) {
        for access in batch {
            let begin = access.segments.0;
            let before = memory.range(..=access.range.0).next_back().map_or(access.range.0, |(begin, _)| *begin);
            for (_, piece) in memory.range(before..access.range.1).filter(|(_, piece)| piece.end > access.range.0) {
                let latest = if access.writes { &piece.all } else { &piece.writes };
                if let Some(other) = latest.of_other(access.pe).filter(|other| *other < begin) {
                    found.push((other, begin));
                }
            }
        }
        for access in batch {
            enter(&mut memory, access);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Splits pieces at the ends of an access, fills holes within it, and notes it.
fn enter(memory: &mut BTreeMap<u64, Piece>, access: &SharedAccess) {
    let (begin, end) = access.range;
    for at in [begin, end] {
        if let Some((first, piece)) = memory.range(..at).next_back().map(|(first, piece)| (*first, *piece))
            && piece.end > at
        {
            memory.insert(first, Piece { end: at, ..piece });
            memory.insert(at, piece);
        }
    }
    let inside: Vec<(u64, u64)> = memory.range(begin..end).map(|(first, piece)| (*first, piece.end)).collect();
    let mut next = begin;
    for (first, last) in inside {
        if next < first {
            memory.insert(next, Piece { end: first, ..Piece::default() });
        }
        next = last;
    }
    if next < end {
        memory.insert(next, Piece { end, ..Piece::default() });
    }
    for (_, piece) in memory.range_mut(begin..end) {
        piece.all.add(access.segments.1, access.pe);
        if access.writes {
            piece.writes.add(access.segments.1, access.pe);
        }
    }
}

/// Which synchronisations must stay: a smallest set that stabs every interval, given that those that are not removable stay
/// anyway. O(m log m). An interval in which there is no synchronisation is ignored.
pub fn keep(removable: &[bool], intervals: &[(u32, u32)]) -> Vec<bool> {
    let mut keep: Vec<bool> = removable.iter().map(|removable| !removable).collect();
    // The last one at or before each that stays anyway, plus one; 0 for none.
    let mut fixed = Vec::with_capacity(keep.len());
    let mut last = 0;
    for (at, stays) in keep.iter().enumerate() {
        last = if *stays { at + 1 } else { last };
        fixed.push(last);
    }
    let mut sorted = intervals.to_vec();
    sorted.sort_unstable_by_key(|(begin, end)| (*end, *begin));
    let mut latest = 0;
    for (begin, end) in sorted {
        let (begin, end) = (begin as usize, (end as usize).min(keep.len()));
        if begin >= end || latest > begin || fixed[end - 1] > begin {
            continue;
        }
        keep[end - 1] = true;
        latest = end;
    }
    keep
}
