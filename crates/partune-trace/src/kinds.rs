//! What happened, for facts that tell of several things.

use partune_base::GroupId;

/// What happened to a request besides its begin and end, which [`Send`], [`Recv`] and [`Collective`] hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// A non-blocking receive was posted.
    RecvPosted,
    /// A non-blocking send completed.
    SendCompleted,
    /// A non-blocking collective was started.
    CollectiveStarted,
    /// It was tested, without success.
    Tested,
    /// It was cancelled; there will be no message.
    Cancelled,
}

/// How memory of another PE was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmaTransferKind {
    Put,
    Get,
    Atomic,
}

/// What is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmaCompletionKind {
    /// The call that started it came back with it done.
    Blocking,
    /// A later call completed it.
    NonBlocking,
    /// It was tested, without success.
    Tested,
    /// It is done at the target.
    Remote,
}

/// How PEs synchronise on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmaSyncKind {
    /// With the members of a group: fence, post, start, complete, wait.
    Group(GroupId),
    /// Orders own accesses (fence, quiet).
    Memory,
    /// Waits to be notified by the target.
    NotifyIn,
    /// Notifies the target.
    NotifyOut,
    /// Waited until its own memory changed.
    WaitChange,
    WindowCreated,
    WindowFreed,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoKind {
    Read,
    Write,
    /// What was written goes to the device, or at least to the system.
    Flush,
}

/// What stands between an access and the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoLayer {
    /// Nothing: each access is one of the system.
    Direct,
    /// A buffer of the process, which makes few accesses of many.
    Buffered,
    /// A library of several processes, which may make one access of those of all.
    Parallel,
}

impl IoLayer {
    pub const ALL: [IoLayer; 3] = [IoLayer::Direct, IoLayer::Buffered, IoLayer::Parallel];
}

/// What happened to a handle of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandleKind {
    Opened,
    Closed,
    /// The next access begins at this byte.
    Positioned(u64),
}

/// What happened to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKind {
    Requested,
    Acquired,
    /// Tried, without success or with unknown success.
    Tried,
    Released,
}

/// What happened to a team of PEs or to a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TeamKind {
    Fork,
    Join,
    TeamBegin,
    TeamEnd,
    Create,
    Begin,
    Wait,
    End,
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    Created,
    Switched,
    Completed,
}

/// Why nothing was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum PauseKind {
    /// The recorder wrote its buffer to disk.
    Flush,
    /// Recording was switched off.
    Off,
}
