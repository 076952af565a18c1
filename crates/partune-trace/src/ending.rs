//! How the processes of a run ended, and whom PEs waited for that were in an operation then. Only some recorders know.

use partune_base::{GroupId, PeId, ProcessId, StringId, Time};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// By a signal that it got for what it did: its number.
    Signal(u32),
    /// It ended all processes.
    Aborted,
    /// It left without shutting its paradigm down.
    Left,
    /// From outside: nobody saw how.
    Killed,
    /// As programs end.
    InOrder,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub process: ProcessId,
    pub how: Ending,
    /// When, if that is known; of a process that was killed from outside, when the command had ended, which is at the latest.
    pub time: Option<Time>,
    /// The functions that it was in, from the innermost outwards; [`StringId::NONE`] if unknown.
    pub place: StringId,
}

/// Whom a PE waits for whose last operation has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub pe: PeId,
    pub group: GroupId,
    /// None: all of the group, if the operation is collective, else anybody.
    pub peer: PeId,
}

/// Where a PE was seen last, after its last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSeen {
    pub pe: PeId,
    pub time: Time,
    /// The functions that it was in, from the innermost outwards.
    pub place: StringId,
}

/// All that is known of the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// In order of process; empty if the recorder does not tell.
    pub processes: Vec<Ended>,
    /// In order of PE.
    pub awaited: Vec<Awaited>,
    /// In order of PE.
    pub seen: Vec<LastSeen>,
}
