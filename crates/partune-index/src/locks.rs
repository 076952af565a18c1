//! Lock histories: who held which lock when, and who waited for whom.

use partune_base::{PeId, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};

/// One time that a PE got a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Equal numbers are the same lock.
    pub lock: u64,
    pub pe: PeId,
    /// The operation that asked for it.
    pub operation: VisitIx,
    /// When it asked: enter of the operation, or the request event.
    pub requested: Time,
    pub acquired: Time,
    /// When it gave the lock back; the end of the PE's stream if it never did.
    pub released: Time,
    /// The operation that gave it back.
    pub release: VisitIx,
    pub shared: bool,
}

/// All grants in order of (lock, time acquired, PE): 56 bytes a grant.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    pub grants: Vec<Grant>,
}

impl Locks {
    pub(crate) fn build(trace: &Trace, quality: &mut Quality) -> Locks {
        let _ = (trace, quality);
        Locks::default()
    }

    /// The grants of each lock.
    pub fn by_lock(&self) -> impl Iterator<Item = &[Grant]> {
        self.grants.chunk_by(|a, b| a.lock == b.lock)
    }
}
