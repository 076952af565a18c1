//! Rows of facts: what a paradigm told about operations, one type a kind.
//!
//! A row is made where its event is, in the stream of the PE it happened on. `visit` is the operation it belongs to: the
//! outermost visit with a role that is not transparent, or the innermost user visit, or [`VisitIx::NONE`] outside of all.

use partune_base::{GroupId, MetricId, PeId, Span, Time, WindowId};

use crate::Role;

/// Position of a visit in the columns of its PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitIx(pub u32);

impl VisitIx {
    pub const NONE: VisitIx = VisitIx(u32::MAX);

    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    pub fn some(self) -> Option<Self> {
        self.is_some().then_some(self)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The request of an operation that has none: it was blocking.
pub const NO_REQUEST: u64 = u64::MAX;

/// A message was handed over. Blocking if it has no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    pub visit: VisitIx,
    pub time: Time,
    /// The receiver; none if the archive does not define it.
    pub peer: PeId,
    pub group: GroupId,
    pub tag: u32,
    pub bytes: u64,
    pub request: u64,
}

/// A message was received (completed, if it has a request).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recv {
    pub visit: VisitIx,
    pub time: Time,
    /// The sender; none if the archive does not define it.
    pub peer: PeId,
    pub group: GroupId,
    pub tag: u32,
    pub bytes: u64,
    pub request: u64,
}

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

/// Something happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEvent {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: RequestKind,
    pub request: u64,
}

/// A PE took part in a collective operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The visit in which it ended.
    pub visit: VisitIx,
    pub begin: Time,
    pub end: Time,
    /// Its shape: one of the roles for which [`Role::is_collective`] holds.
    pub role: Role,
    pub group: GroupId,
    /// None if it has no root.
    pub root: PeId,
    pub sent: u64,
    pub received: u64,
    /// Set if it was non-blocking: its start is a [`RequestKind::CollectiveStarted`].
    pub request: u64,
}

/// How memory of another PE was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmaTransferKind {
    Put,
    Get,
    Atomic,
}

/// An access to memory of another PE was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmaTransfer {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: RmaTransferKind,
    pub window: WindowId,
    /// The PE whose memory it is.
    pub target: PeId,
    pub bytes: u64,
    /// First byte touched, relative to the window; `None` where the producer does not tell.
    pub address: Option<u64>,
    /// Ties it to its [`RmaCompletion`].
    pub matching: u64,
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

/// An access to memory of another PE completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmaCompletion {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: RmaCompletionKind,
    pub window: WindowId,
    pub matching: u64,
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

/// A synchronisation on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmaSync {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: RmaSyncKind,
    pub window: WindowId,
    /// The other PE; none if it is for all.
    pub target: PeId,
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

/// Something happened to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockEvent {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: LockKind,
    /// The lock: equal numbers are the same lock. Import makes them unique over windows, owners, processes and thread models.
    pub lock: u64,
    /// Several PEs may hold it at once.
    pub shared: bool,
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

/// A team was forked, joined, entered or left; a PE was created or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamEvent {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: TeamKind,
    /// The team; none for fork and join.
    pub group: GroupId,
    /// Which creation in the group; 0 where it has no meaning.
    pub sequence: u64,
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    Created,
    Switched,
    Completed,
}

/// Something happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskEvent {
    pub visit: VisitIx,
    pub time: Time,
    pub kind: TaskKind,
    pub group: GroupId,
    /// Creating thread and generation number, or the task id of old archives.
    pub task: u64,
}

/// A value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSample {
    pub visit: VisitIx,
    pub time: Time,
    pub metric: MetricId,
    pub value: f64,
}

/// A file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoTransfer {
    pub visit: VisitIx,
    pub begin: Time,
    /// Zero if its end is not recorded.
    pub duration: Span,
    pub bytes: u64,
    pub write: bool,
}

/// Why nothing was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PauseKind {
    /// The recorder wrote its buffer to disk.
    Flush,
    /// Recording was switched off.
    Off,
}

/// A time in which the PE was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub begin: Time,
    pub end: Time,
    pub kind: PauseKind,
}
