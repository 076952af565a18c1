//! Waits for a value that nobody was seen to give: the time limit of the call passed, or who gave it was not recorded.
//!
//! To find that a value is there takes less than a microsecond; to sleep and be woken takes some. What takes longer than [`AT_ONCE`] waited, from the
//! enter on, and for nobody known. What waits for its turn as for a lock (`ordered`) has its holders.

use partune_base::Span;
use partune_index::{Index, Place};
use partune_trace::{Role, Trace};
use rustc_hash::FxHashSet;

use super::Wait;
use crate::Pattern;

/// Seconds within which a call that need not wait comes back.
const AT_ONCE: f64 = 10e-6;

/// All of them, in the order of the index.
pub(super) fn find(trace: &Trace, index: &Index) -> Vec<Wait> {
    let at_once = Span((AT_ONCE * trace.clock().ticks_per_second() as f64).ceil() as i64);
    let is_long =
        |wait: &Wait| wait.duration() > at_once && trace.role_of(wait.pe, wait.operation) == Role::WaitOnValue;
    let nobody = index.rma.value_waits.iter().filter(|wait| !wait.cause.is_some() && wait.operation.is_some());
    let mut waits: Vec<Wait> = nobody
        .map(|wait| {
            let visit = trace.visit(wait.pe, wait.operation);
            Wait {
                pe: wait.pe,
                operation: wait.operation,
                pattern: Pattern::WaitOnValue,
                begin: visit.enter,
                end: visit.exit,
                cause: Place::NONE,
                instance: u32::MAX,
            }
        })
        .filter(is_long)
        .collect();
    if !waits.is_empty() {
        let grants = index.locks.by_lock().flatten();
        let of_locks: FxHashSet<_> = grants.map(|grant| (grant.pe, grant.operation)).collect();
        waits.retain(|wait| !of_locks.contains(&(wait.pe, wait.operation)));
    }
    waits
}
