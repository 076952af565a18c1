//! An event graph executed anew on a machine: other placements, priorities, combined messages. What depends on what stays as it was.
//!
//! Each PE takes what has arrived, one after the other, first come or most urgent first; taking a message costs time, and when an execution
//! has all that it needs, it runs to its end, sending on its way. Messages of one type and kind that an execution sends at one tick are a
//! multicast: one copy for each PE, sent one after the other, and there a local message to each object. What combined messages bring is
//! run at once, without another turn in the queue. An execution's duration is work without the costs of messages:
//! a recorded run is freed of them first ([`without_costs`]).

mod machine;
mod outcome;
mod pe;
mod run;
mod work;

pub use machine::Machine;
pub use outcome::{Outcome, PeTimes};
pub use run::simulate;
pub use work::without_costs;

use partune_base::Table;

use crate::graph::{ExecutionId, MessageId, ObjectId, TypeId};

/// How a program is placed and scheduled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub pes: u32,
    /// The PE of each object; none: each execution where it was.
    pub placement: Option<Table<ObjectId, u32>>,
    /// None: first come, first served.
    pub priorities: Option<Priorities>,
    pub multicast: Order,
    pub combining: Vec<Combine>,
    pub roots: Roots,
    /// Ticks on the way of each message, where they are known one by one; else the machine says them, and those to the same PE take none. What is sent together
    /// to another PE travels like its first message.
    pub travel: Option<Table<MessageId, i64>>,
}

/// The smaller, the more urgent: first by type of message, then by object that it is for. What is not in a list has 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities {
    pub types: Table<TypeId, u32>,
    pub objects: Table<ObjectId, u32>,
}

/// To which PE a multicast sends first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From PE 0 on.
    #[default]
    Ascending,
    /// From the next PE after the sender's on.
    FromNext,
    /// By these ranks; PEs without one come last.
    Listed(Vec<u32>),
}

/// Messages of a type to another PE wait until there are so many, or until the first one has waited so many ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    pub message_type: TypeId,
    pub count: u32,
    pub timeout: i64,
}

/// When executions begin that need nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// As soon as their PE has time, in order of their ids.
    #[default]
    AtOnce,
    /// Not before they did, counted from the begin of the run.
    AsRecorded,
}

/// Why nothing was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    #[error("execution {} has no PE in this plan", .0.0)]
    NoPe(ExecutionId),
}
