//! Waiting for a value: from the enter of the operation until the access of another PE that fulfilled its condition was done. In an
//! epoch of a window (late fence): until the last post that a start, access or complete needs began (Scalasca's late post), or the
//! last complete that a wait needs (early wait, and late complete as a part of it). Where an operation names PEs (SYNC IMAGES): until
//! the operation of them that began last did (late partner).
//!
//! The estimate of PPW where the moment of fulfilment is not recorded: the last remote write to this PE's memory that ended
//! within the operation. Where no such access was recorded, nothing is claimed.

use partune_index::{Index, Place};
use partune_trace::{Role, Trace};

use super::Wait;
use crate::Pattern;

/// All waits for values.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let mut rows = Vec::new();
    for row in &index.rma.value_waits {
        let own = Place { pe: row.pe, visit: row.operation };
        if !own.is_some() || !row.cause.is_some() {
            continue;
        }
        let pattern = match trace.role_of(row.cause.pe, row.cause.visit) {
            Role::RmaPost | Role::RmaComplete => Pattern::LateFence,
            Role::GroupSync => Pattern::LatePartner,
            _ => Pattern::WaitOnValue,
        };
        rows.push(Wait {
            pe: own.pe,
            operation: own.visit,
            pattern,
            begin: own.enter(trace),
            end: row.fulfilled.min(own.exit(trace)),
            cause: row.cause,
            instance: u32::MAX,
        });
    }
    rows
}
