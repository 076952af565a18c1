//! One-sided communication: transfers with their completions, waits for a value with the accesses that may have ended them, waits in
//! epochs of windows, and operations that meet those that they name.

mod epochs;
mod pairs;
mod transfers;
mod values;

use partune_base::{PeId, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};

use crate::Place;
use crate::scan::Scan;

/// An access to memory of another PE, from start to completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub pe: PeId,
    /// Row in the PE's `transfers`.
    pub row: u32,
    /// The operation that started it.
    pub start: VisitIx,
    /// The operation that completed it; none if unknown.
    pub completion: VisitIx,
    /// When it was complete: a blocking one and a get at its origin, others at their target where that is recorded, else at their
    /// origin; the exit of `start` if unknown.
    pub completed: Time,
}

/// A PE waited until memory of its own had a value, until the other PEs of an epoch of a window let it go on, or until those that it named
/// had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueWait {
    pub pe: PeId,
    pub operation: VisitIx,
    /// The last put, atomic or notification to this PE's memory in the window that ended within the operation, of those that touch the
    /// address that is waited for, as far as both are known; if none ended
    /// within, the last one begun before its exit and not ended by then; none if there is no such access. In an epoch, the post or
    /// complete that began last of those it needs; never none, since an epoch with an unknown partner has no rows. Where PEs are named, the
    /// operation of them that began last; never none either.
    pub cause: Place,
    /// When that access ended (or that post, complete or operation of a partner began), within the operation; its exit if there is no such access.
    pub fulfilled: Time,
}

/// An exposure epoch of a window ended when an access epoch to it had: its wait cannot be left before that complete began. Of two operations
/// that named each other, each is the other's so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochEnd {
    /// The end of the exposure epoch, on the PE whose memory it was.
    pub wait: Place,
    /// The end of an access epoch to it.
    pub complete: Place,
}

/// One-sided communication.
#[derive(Clone, Debug, Default)]
pub struct RmaIndex {
    /// In order of (PE, row): 24 bytes a transfer.
    pub transfers: Vec<Transfer>,
    /// In order of (PE, operation): 24 bytes a wait.
    pub value_waits: Vec<ValueWait>,
    /// In order of (wait, complete): 16 bytes for each access epoch to an exposure epoch. Tests for the end are left out.
    pub epoch_ends: Vec<EpochEnd>,
}

impl RmaIndex {
    pub(crate) fn build(trace: &Trace, scans: &[Scan], quality: &mut Quality) -> RmaIndex {
        let transfers = transfers::find(trace, quality);
        let mut value_waits = values::find(trace, scans, &transfers);
        let (in_epochs, mut epoch_ends) = epochs::find(trace, quality);
        value_waits.extend(in_epochs);
        let (with_named, met) = pairs::find(trace, scans, quality);
        value_waits.extend(with_named);
        epoch_ends.extend(met);
        epoch_ends.sort_unstable();
        value_waits.sort_by_key(|wait| (wait.pe, wait.operation));
        RmaIndex { transfers, value_waits, epoch_ends }
    }

    /// The transfers of a PE, in order of rows.
    pub fn of_pe(&self, pe: PeId) -> &[Transfer] {
        let first = self.transfers.partition_point(|transfer| transfer.pe < pe);
        let end = self.transfers.partition_point(|transfer| transfer.pe <= pe);
        &self.transfers[first..end]
    }
}
