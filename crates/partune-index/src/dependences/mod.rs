//! Dependences: which operation of another PE ended an operation's wait.
//!
//! For walks backwards from effect to cause (critical path, propagation of waits). Only dependences that bind are listed: the
//! cause came after the effect had begun to wait. Made on demand, since not every analysis walks.

mod edges;

use partune_base::{Id, PeId, Time};
use partune_trace::Trace;
use rayon::prelude::*;

use crate::{Index, Place};

/// What made one operation wait for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// A receive (or its completion) for the send.
    Message,
    /// A send (or its completion) for the receive.
    Handshake,
    /// A member of a collective for the last one it needs.
    Collective,
    /// A lock for its release.
    Lock,
    /// A value for the access that wrote it; an epoch of a window for the post or complete that let it go on.
    Value,
    /// A thread of a team for the fork.
    Fork,
    /// The forking PE for the last thread of the team.
    Join,
    /// A PE for its creation, or a PE that waits for the end of another.
    Creation,
}

/// One operation that went on only when another had begun (or, for locks, values, joins and ends of PEs, ended).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    pub kind: DependenceKind,
    /// The operation that waited; for forks and creations, the first visit of the thread after it.
    pub effect: Place,
    /// From when on it waited.
    pub from: Time,
    /// The operation that ended the wait.
    pub cause: Place,
    /// When that was, on the PE of the cause: where a walk backwards goes on.
    pub at: Time,
}

/// All dependences in order of (effect, time of the cause): 40 bytes each.
#[derive(Clone, Debug, Default)]
pub struct Dependences {
    rows: Vec<Dependence>,
    /// Where those of each PE begin in `rows`; one more entry than PEs.
    offsets: Vec<u32>,
}

impl Dependences {
    /// Finds all dependences. Linear in messages, members of collectives, grants, value waits and members of teams, but for
    /// sorting what it found. Between processes whose clocks are not aligned, none is claimed.
    pub fn build(trace: &Trace, index: &Index) -> Dependences {
        let found = edges::all(trace, index);
        let mut of_pes: Vec<Vec<Dependence>> = vec![Vec::new(); trace.pes().len()];
        for row in found {
            of_pes[row.effect.pe.index()].push(row);
        }
        // Mostly in order already: a merge sort sees it.
        let order = |row: &Dependence| (row.effect.visit, row.at, row.kind, row.cause, row.from);
        of_pes.par_iter_mut().for_each(|rows| rows.sort_by_key(order));
        let ends = of_pes.iter().scan(0, |end, rows| {
            *end += rows.len() as u32;
            Some(*end)
        });
        let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let rows = of_pes.concat();
        Dependences { rows, offsets }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Dependence> {
        self.rows.iter()
    }

    /// The dependences whose effects are of a PE, in order of (operation, time of the cause).
    pub fn of_pe(&self, pe: PeId) -> &[Dependence] {
        match (self.offsets.get(pe.index()), self.offsets.get(pe.index() + 1)) {
            (Some(first), Some(end)) => &self.rows[*first as usize..*end as usize],
            _ => &[],
        }
    }

    /// The dependences of an operation, the one that bound last at the end.
    pub fn of(&self, place: Place) -> &[Dependence] {
        if !place.is_some() {
            return &[];
        }
        let rows = self.of_pe(place.pe);
        let first = rows.partition_point(|row| row.effect.visit < place.visit);
        let end = rows.partition_point(|row| row.effect.visit <= place.visit);
        &rows[first..end]
    }

    /// Who ended the wait of an operation: the cause that came last.
    pub fn last_of(&self, place: Place) -> Option<&Dependence> {
        self.of(place).last()
    }
}

impl<'a> IntoIterator for &'a Dependences {
    type Item = &'a Dependence;
    type IntoIter = std::slice::Iter<'a, Dependence>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
