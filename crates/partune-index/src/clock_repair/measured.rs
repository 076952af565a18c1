//! Clock corrections that the recorder measured, taken back where the run contradicts them.
//!
//! A recorder measures the offset of a clock with a few messages. Where PEs share cores, those wait, and the offset is wrong by
//! as much; the clocks of one node need none in the first place. Taken back only if most of what can be checked contradicts
//! the measured offsets and almost nothing contradicts the time stamps themselves: a lesser fault is left to the controlled
//! logical clock, and tools that trust offsets stay comparable.

use partune_trace::{MeasuredClock, Trace};

use super::Repair;
use crate::Index;

/// More of the messages, or of the collectives, must contradict the offsets.
const MOST: f64 = 0.5;
/// As many times fewer may contradict the time stamps.
const FEWER: u64 = 10;

/// Whether most of what can be checked contradicts the measured offsets.
pub(super) fn may_be_wrong(trace: &Trace, found: &Repair) -> bool {
    let clocks = trace.clocks();
    let most = |violated: u64, all: u64| violated as f64 > MOST * all as f64;
    let contradicted =
        most(found.violated_messages, found.messages) || most(found.violated_collectives, found.collectives);
    contradicted && clocks.iter().any(|clock| !clock.is_identity()) && clocks.iter().all(MeasuredClock::keeps_order)
}

/// The trace with the times of its clocks, an index of it and what still runs backwards; or the trace as it was, alone.
pub(super) fn take_back(trace: Trace, found: &Repair) -> (Trace, Option<(Index, Repair)>) {
    if !may_be_wrong(&trace, found) {
        return (trace, None);
    }
    let plain = trace.with_measured_clocks(false);
    let index = Index::build(&plain);
    let left = index.clocks.found;
    let count = |repair: &Repair| repair.violated_messages + repair.violated_collectives;
    if count(&left) * FEWER <= count(found) {
        (plain, Some((index, left)))
    } else {
        (plain.with_measured_clocks(true), None)
    }
}
