//! A profile: what each PE did by call path, without when. What a recorder kept instead of events, or what the events add up to.
//!
//! A [`crate::Trace`] that was read from a profile has tables as any other, no visits, and this. Analyses that need no more than sums
//! read the same rows either way, so a profile and a trace of the same run give the same figures.

use partune_base::{CallPathId, PeId, Span, Table, Time};
use serde::{Deserialize, Serialize};

/// Everything that is known of a run without events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Shorter than the trace's PEs is allowed: the others did nothing.
    pub pes: Table<PeId, PeProfile>,
}

/// What one PE did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeProfile {
    /// Time of the first enter.
    pub begin: Time,
    /// Time of the last leave.
    pub end: Time,
    /// Time in which the program had turned recording off.
    pub paused: Span,
    /// Calls that were recorded, of constructs and of marked regions; functions around them have none of their own.
    pub calls: u64,
    /// The part of its last block that lies before its last operation; `None` where blocks were not kept.
    pub open_block: Option<BlockSums>,
    /// In order of path.
    pub rows: Vec<PathProfile>,
}

/// Sums over the visits of one call path on one PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProfile {
    pub path: CallPathId,
    pub visits: u64,
    /// From enter to exit.
    pub inclusive: Span,
    /// Without the call paths directly below.
    pub exclusive: Span,
    /// The shortest and the longest visit; `None` where only their sum is known.
    pub extremes: Option<(Span, Span)>,
    /// Enter of the first visit.
    pub first: Time,
    /// Exit of the last visit.
    pub last: Time,
    pub transfers: Transfers,
    /// Of `exclusive`, what the PE spent on a processor; `None` where CPU time was not kept.
    pub cpu: Option<Span>,
    /// PEs that took part in each of its collective operations; `None` where it has none, or not always as many.
    pub members: Option<u32>,
    /// The blocks that its visits ended; `None` where blocks were not kept.
    pub blocks: Option<BlockSums>,
}

/// What a PE did in blocks: from one synchronisation of all processes to the next, outside of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSums {
    pub time: Span,
    /// Of that, what it spent on a processor; `None` where CPU time was not kept.
    pub cpu: Option<Span>,
    /// A sum over hashes of the blocks' numbers in the run: equal on two PEs if these are the same blocks.
    pub signature: u64,
}

/// Classes of sizes of transfers, see [`Transfers::class`].
pub const SIZE_CLASSES: usize = 13;

/// What operations moved: messages sent and received, parts in collectives, accesses to memory of other PEs and to files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfers {
    pub count: u64,
    /// Bytes sent, put, written.
    pub sent: u64,
    /// Bytes received, got, read.
    pub received: u64,
    /// Number of transfers by class of size.
    pub sizes: [u64; SIZE_CLASSES],
}

impl Transfers {
    /// The class of a transfer of so many bytes: 0 for none, k for 4^(k−1) to 4^k − 1; the last one is open.
    pub fn class(bytes: u64) -> usize {
        let bits = (u64::BITS - bytes.leading_zeros()) as usize;
        bits.div_ceil(2).min(SIZE_CLASSES - 1)
    }

    /// The smallest size in a class.
    pub fn least(class: usize) -> u64 {
        if class == 0 { 0 } else { 1 << (2 * (class.min(SIZE_CLASSES - 1) - 1)) }
    }

    /// Adds one transfer; its size is the larger of what went and what came.
    pub fn add(&mut self, sent: u64, received: u64) {
        self.count += 1;
        self.sent = self.sent.saturating_add(sent);
        self.received = self.received.saturating_add(received);
        self.sizes[Transfers::class(sent.max(received))] += 1;
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Transfers) {
        self.count = self.count.saturating_add(other.count);
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        for (sum, more) in self.sizes.iter_mut().zip(&other.sizes) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.sent.saturating_add(self.received)
    }
}

impl Profile {
    /// First and last time of all PEs; `None` if nobody did anything.
    pub fn extent(&self) -> Option<(Time, Time)> {
        let active = || self.pes.iter().filter(|pe| !pe.rows.is_empty());
        let begin = active().map(|pe| pe.begin).min()?;
        let end = active().map(|pe| pe.end).max()?;
        Some((begin, end.max(begin)))
    }

    /// What a PE did, if it did anything.
    pub fn of(&self, pe: PeId) -> Option<&PeProfile> {
        self.pes.get(pe).filter(|it| !it.rows.is_empty())
    }
}

impl PathProfile {
    /// A path that nobody visited, of which nothing is known.
    pub fn new(path: CallPathId) -> PathProfile {
        PathProfile {
            path,
            visits: 0,
            inclusive: Span::ZERO,
            exclusive: Span::ZERO,
            extremes: None,
            first: Time::default(),
            last: Time::default(),
            transfers: Transfers::default(),
            cpu: None,
            members: None,
            blocks: None,
        }
    }
}

impl BlockSums {
    /// Times are not negative, and nobody is longer on a processor than it works.
    pub(crate) fn check(&mut self) {
        self.time = self.time.clamp_positive();
        self.cpu = self.cpu.map(|cpu| cpu.clamp_positive().min(self.time));
    }
}

impl PeProfile {
    /// The row of a path.
    pub fn row(&self, path: CallPathId) -> Option<&PathProfile> {
        let at = self.rows.binary_search_by_key(&path, |row| row.path).ok()?;
        self.rows.get(at)
    }
}
