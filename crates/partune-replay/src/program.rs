//! A run as a program that can be followed again: for each PE what it does, gives and needs, in its order.
//!
//! Work is the time outside of operations, as measured. What an operation takes of its own, and how long it takes from the moment that what it
//! waited for was there, is not part of the program: that is what [`crate::costs`] says of its class.

use std::sync::Arc;

use partune_base::{PeId, Table, Time};
use partune_trace::VisitIx;

use crate::effects::Treatment;

/// One thing that a PE does: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// When it did it in the run.
    pub(crate) at: Time,
    /// Ticks of its own code since the step before.
    pub(crate) work: i64,
    pub(crate) what: What,
}

/// Operations are numbered by PE, ties over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation begins.
    Enters(u32),
    /// It ends: not before its own time is over, nor before what it needs came.
    Leaves(u32),
    Gives(u32),
    /// The operation around needs it; outside of all, the PE waits here.
    Takes(u32),
    /// A thread begins with it, as long after it as in the run.
    Begins(u32),
    /// All that was started and goes on beside the PE's own code is awaited.
    Completes,
    /// Nothing but the end of some work.
    Goes,
}

/// An operation of a PE. All but its treatment is of the run, the same under all changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) visit: VisitIx,
    /// Its class; [`crate::classes::RECORDED`] if it keeps the time it took.
    pub(crate) class: u32,
    /// Whether it waited for a gift of another PE.
    pub(crate) waited: bool,
    /// Some partner is on another node, where processes are now.
    pub(crate) remote: bool,
    /// Ticks from the gift to the end if it waited, else all its own.
    pub(crate) measured: i64,
    pub(crate) treatment: Treatment,
}

/// A run that can be followed.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Those of PEs that changes leave alone are shared between programs, and so are their operations.
    pub(crate) steps: Table<PeId, Arc<Vec<Step>>>,
    pub(crate) operations: Table<PeId, Arc<Vec<Operation>>>,
    /// How many give to each tie.
    pub(crate) givers: Vec<u32>,
}
