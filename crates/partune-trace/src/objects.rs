//! Objects: what methods run on, in paradigms whose objects send messages to each other (chares and elements of chare arrays).
//!
//! Which method ran on which object when, and which message made it run, is a fact ([`crate::Execution`]). With the messages that they share numbers with,
//! executions are the event graph of a run of objects.

use partune_base::{PeId, StringId};

/// What methods run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The name of its class.
    pub class: StringId,
    /// Its coordinates among the elements of its array; empty for what is in none.
    pub index: Box<[i32]>,
    /// The PE that it belongs to for ever: of what there is one of on each PE. None for what may move.
    pub home: PeId,
}

/// Why a method ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// A call on the same PE, or a message that nobody counts as one.
    Call,
    /// A message to the object.
    Message,
    /// The message that made the object.
    Creation,
}

impl Trigger {
    pub const ALL: [Trigger; 3] = [Trigger::Call, Trigger::Message, Trigger::Creation];
}
