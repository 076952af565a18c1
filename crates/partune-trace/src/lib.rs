//! The event model: what a run did, independent of the format it was recorded in and of its paradigms.
//!
//! A [`Trace`] holds tables of PEs, groups, regions and call paths, and per PE one [`Stream`]: the visits to call paths in
//! columns, and one table of rows for each kind of fact that a paradigm told about them (messages, collectives, RMA, locks,
//! requests, teams, metrics). It is made by a [`TraceBuilder`], whose [`TraceBuilder::seal`] checks and repairs it once, so
//! that everybody above can index without checks. A sealed trace never changes, except for its times, by clock repair.
//!
//! After PPW's event model (Su, "Parallel Performance Wizard", chapter 4).

mod clock;
mod code;
mod cpus;
mod ending;
mod fact;
mod facts;
mod kinds;
mod members;
mod objects;
mod pes;
mod place;
mod polls;
mod profile;
mod role;
mod seal;
mod stream;
mod trace;

pub use clock::{ClockLine, MeasuredClock};
pub use code::{CallPaths, CallSite, Region, RegionKind};
pub use cpus::{Cpus, Memory, Ran};
pub use ending::{Awaited, Ended, Ending, Endings, LastSeen};
pub use fact::{Change, Fact, Rows};
pub use facts::{
    Collective, Contribution, Execution, HandleEvent, IoTransfer, LockEvent, MetricSample, NO_MATCHING, NO_REQUEST,
    Pause, Polls, Recv, RequestEvent, RmaCompletion, RmaSync, RmaTransfer, Send, Stream, TaskEvent, TeamEvent,
};
pub use kinds::{
    HandleKind, IoKind, IoLayer, LockKind, PauseKind, RequestKind, RmaCompletionKind, RmaSyncKind, RmaTransferKind,
    TaskKind, TeamKind,
};
pub use members::Members;
pub use objects::{Object, Trigger};
pub use pes::{File, Group, GroupKind, Metric, MetricValues, Pe, PeKind, Process, Window};
pub use place::Place;
pub use profile::{BlockSums, PathProfile, PeProfile, Profile, SIZE_CLASSES, Transfers};
pub use role::{Activity, Completion, Participants, Role};
pub use stream::{Visit, VisitIx, Visits};
pub use trace::{Piece, Provenance, Slice, Trace, TraceBuilder};
