//! What every analysis gets.

use partune_index::Index;
use partune_machine::Machine;
use partune_operations::Operations;
use partune_trace::Trace;

use crate::{Shared, Waits};

/// The facts, what was derived from them once, and the thresholds.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub trace: &'a Trace,
    pub index: &'a Index,
    pub waits: &'a Waits,
    pub options: &'a Options,
    /// What analyses found out so far that others need too; of this trace and these options only.
    pub shared: &'a Shared,
}

impl Input<'_> {
    /// What a finding must lose to be reported, in ticks summed over PEs.
    pub(crate) fn least(&self) -> i64 {
        (self.base().total() as f64 * self.options.minimum) as i64
    }
}

/// Thresholds, which a reader may change ([`THRESHOLDS`](crate::THRESHOLDS)), and what is known besides.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// A place is a hotspot if its operations take at least this share of the run, summed over PEs (PPW's h).
    pub hotspot: f64,
    /// A hotspot is a bottleneck if it takes this many times its baseline (PPW's β); an access competes, and an acquisition waits for
    /// somebody unseen, if it takes this many times what it needs.
    pub baseline_factor: f64,
    /// What operations need on the machine that the run was on; none if it was not measured.
    pub machine: Option<Machine>,
    /// Functions that are operations, and patterns of the user's own.
    pub operations: Operations,
    /// Without a baseline: if its longest execution is this many times the average, or the average this many times the shortest (PPW's
    /// δ).
    pub deviation: f64,
    /// A finding is reported if it loses at least this share of the run, summed over PEs.
    pub minimum: f64,
    /// Calls of one operation at one place on one PE from which it is frequent.
    pub frequent_count: u64,
    /// Messages below this many bytes are small, where latency and bandwidth cannot be fitted from the trace.
    pub small_bytes: u64,
    /// Small transfers to one PE in a row, without synchronisation between them, from which they could be one.
    pub small_run: u64,
    /// Bytes of a block of a file system: accesses below are small, and such as do not begin at a multiple are not aligned.
    pub file_block: u64,
    /// Small accesses of a PE to a file at one place from which they could be fewer.
    pub file_accesses: u64,
    /// Calls at one place of a PE that send what was written to the device from which they are many.
    pub file_syncs: u64,
    /// How many causes and instances a finding lists.
    pub details: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hotspot: 0.02,
            baseline_factor: 1.5,
            machine: None,
            operations: Operations::default(),
            deviation: 2.0,
            minimum: 0.001,
            frequent_count: 1000,
            small_bytes: 1024,
            small_run: 4,
            file_block: 4096,
            file_accesses: 100,
            file_syncs: 10,
            details: 5,
        }
    }
}
