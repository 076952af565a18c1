//! Blocks: what PEs do between one global synchronisation and the next.
//!
//! A global synchronisation is a complete instance of a role in which everybody waits for everybody (barrier, all-to-all,
//! start-up, shut-down, global allocation) whose members are all active PEs of CPUs, or, in a run of one process, all threads
//! of a team that holds them.

use partune_base::{CallPathId, PeId, Table, Time};
use partune_trace::Trace;

use crate::Collectives;

/// The k-th block: its end is a global synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Position in [`Collectives::instances`] of the synchronisation that begins it; `u32::MAX` for the begin of the run.
    pub begin: u32,
    /// The same for its end; `u32::MAX` for the end of the run.
    pub end: u32,
    /// Call path of the synchronisation that begins it and ends it (on the first PE): blocks with equal pairs are iterations
    /// of one region of the source.
    pub source: (CallPathId, CallPathId),
    /// How many blocks with the same source came before.
    pub iteration: u32,
}

/// All blocks, and when each PE was in each.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    pub blocks: Vec<Block>,
    /// Per PE, per block: from exit of the synchronisation before to enter of the one after. Empty for PEs that are not in
    /// the global synchronisations (accelerators, metric sources).
    pub extents: Table<PeId, Vec<(Time, Time)>>,
}

impl Blocks {
    pub(crate) fn build(trace: &Trace, collectives: &Collectives) -> Blocks {
        let _ = (trace, collectives);
        Blocks::default()
    }
}
