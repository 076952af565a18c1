//! Facts: what a paradigm told about operations, one kind of row each. This list is the only one: the tables of a [`Stream`], and whatever is
//! done to all rows of it, come from here.
//!
//! A row is made where its event is, in the stream of the PE it happened on. `visit` is the operation it belongs to: the
//! outermost visit with a role that is not transparent, or the innermost user visit, or [`VisitIx::NONE`] outside of all.

use partune_base::{FileId, GroupId, MetricId, ObjectId, PeId, Time, WindowId};

use crate::fact::{Change, Fact, Field, Rows, facts};
use crate::kinds::{
    HandleKind, IoKind, IoLayer, LockKind, PauseKind, RequestKind, RmaCompletionKind, RmaSyncKind, RmaTransferKind,
    TaskKind, TeamKind,
};
use crate::objects::Trigger;
use crate::{Role, VisitIx, Visits};

/// The request of an operation that has none: it was blocking.
pub const NO_REQUEST: u64 = u64::MAX;

/// What ties a message to its other end where nothing does but the order of messages.
pub const NO_MATCHING: u64 = u64::MAX;

facts! {
    /// A message was handed over. Blocking if it has no request.
    sends: Send (by time, moves bytes) {
        visit: VisitIx,
        time: Time,
        /// The receiver; none if the archive does not define it.
        peer: PeId,
        group: GroupId,
        tag: u32,
        bytes: u64,
        request: u64,
        /// The two ends of a message have the same; [`NO_MATCHING`] where messages match in order.
        matching: u64,
    }

    /// A message was received (completed, if it has a request).
    recvs: Recv (by time, moves bytes) {
        visit: VisitIx,
        time: Time,
        /// The sender; none if the archive does not define it.
        peer: PeId,
        group: GroupId,
        tag: u32,
        bytes: u64,
        request: u64,
        /// The two ends of a message have the same; [`NO_MATCHING`] where messages match in order.
        matching: u64,
    }

    /// Something happened to a request.
    requests: RequestEvent (by time) {
        visit: VisitIx,
        time: Time,
        kind: RequestKind,
        request: u64,
    }

    /// A visit stands for several polls in a row, or for one that found nothing.
    polls: Polls (by time) {
        visit: VisitIx,
        /// When the visit began.
        time: Time,
        /// How many calls.
        count: u64,
        /// The last of them may have found what it looked for; those before did not.
        found: bool,
    }

    /// A PE took part in a collective operation of a group.
    collectives: Collective (by end, moves sent received) {
        /// The visit in which it ended.
        visit: VisitIx,
        begin: Time,
        end: Time,
        /// Its shape: one of the roles for which [`Role::is_collective`] holds.
        role: Role,
        group: GroupId,
        /// None if it has no root.
        root: PeId,
        sent: u64,
        received: u64,
        /// Set if it was non-blocking: its start is a [`RequestKind::CollectiveStarted`].
        request: u64,
    }

    /// An access to memory of another PE was started.
    transfers: RmaTransfer (by time, moves bytes) {
        visit: VisitIx,
        time: Time,
        kind: RmaTransferKind,
        window: WindowId,
        /// The PE whose memory it is.
        target: PeId,
        bytes: u64,
        /// First byte touched, relative to the window; `None` where the producer does not tell.
        address: Option<u64>,
        /// Ties it to its [`RmaCompletion`].
        matching: u64,
    }

    /// An access to memory of another PE completed.
    completions: RmaCompletion (by time) {
        visit: VisitIx,
        time: Time,
        kind: RmaCompletionKind,
        window: WindowId,
        matching: u64,
    }

    /// A synchronisation on a window.
    rma_syncs: RmaSync (by time) {
        visit: VisitIx,
        time: Time,
        kind: RmaSyncKind,
        window: WindowId,
        /// The other PE; none if it is for all.
        target: PeId,
        /// What is waited for, or whoever waits for it is told of: a byte of this PE's memory, relative to the window, or the number of an
        /// object in it that belongs to nobody; `None` where the producer does not tell, or there is no such thing.
        address: Option<u64>,
    }

    /// Something happened to a lock.
    locks: LockEvent (by time) {
        visit: VisitIx,
        time: Time,
        kind: LockKind,
        /// The lock: equal numbers are the same lock. Import makes them unique over windows, owners, processes and thread models.
        lock: u64,
        /// Several PEs may hold it at once.
        shared: bool,
    }

    /// A team was forked, joined, entered or left; a PE was created or ended.
    teams: TeamEvent (by time) {
        visit: VisitIx,
        time: Time,
        kind: TeamKind,
        /// The team; none for fork and join.
        group: GroupId,
        /// Which creation in the group; 0 where it has no meaning.
        sequence: u64,
    }

    /// Something happened to a task.
    tasks: TaskEvent (by time) {
        visit: VisitIx,
        time: Time,
        kind: TaskKind,
        group: GroupId,
        /// Creating thread and generation number, or the task id of old archives.
        task: u64,
    }

    /// A method of an object ran.
    executions: Execution (by begin) {
        /// The visit of its body, whose region is the method.
        visit: VisitIx,
        begin: Time,
        /// None if the source does not tell.
        object: ObjectId,
        trigger: Trigger,
        /// The `matching` of the message that made it run, which may be one for several objects; [`NO_MATCHING`] if none is known to have.
        message: u64,
    }

    /// A part of what a message brings was given: the message is there when all parts are, and is sent by whoever gives the last one.
    contributions: Contribution (by time) {
        visit: VisitIx,
        /// When the visit began.
        time: Time,
        /// The `matching` of the message.
        message: u64,
    }

    /// A value of a metric.
    metrics: MetricSample (by time) {
        visit: VisitIx,
        time: Time,
        metric: MetricId,
        value: f64,
    }

    /// An access to a file.
    io: IoTransfer (by begin, moves bytes) {
        visit: VisitIx,
        begin: Time,
        /// The begin if it is not recorded.
        end: Time,
        /// What was read or written, which may be less than was asked for; 0 if it failed.
        bytes: u64,
        kind: IoKind,
        /// None if the archive does not say.
        file: FileId,
        layer: IoLayer,
        /// First byte in the file; `None` where nobody knows.
        offset: Option<u64>,
    }

    /// Something happened to a handle of a file.
    handles: HandleEvent (by time) {
        visit: VisitIx,
        time: Time,
        kind: HandleKind,
        file: FileId,
        layer: IoLayer,
    }

    /// A time in which the PE was not recorded.
    pauses: Pause (by end) {
        begin: Time,
        end: Time,
        kind: PauseKind,
    }
}
