//! What became of a simulated run.

use partune_base::{PeId, Table};

use crate::graph::{EventGraph, ExecutionId, GraphError, MessageId};

/// When everything was done, in ticks from the begin of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub makespan: i64,
    pub pes: Vec<PeTimes>,
    pub pe: Table<ExecutionId, PeId>,
    pub begin: Table<ExecutionId, i64>,
    pub end: Table<ExecutionId, i64>,
    pub sent: Table<MessageId, i64>,
    /// When a PE took it; of a dependence, when it was met.
    pub received: Table<MessageId, i64>,
    /// Messages that went from one PE to another, copies of multicasts and combined ones counted as they went.
    pub carried: u64,
}

/// What a PE did with its time; what is missing to the makespan it had nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeTimes {
    /// Executions, without the costs of messages.
    pub work: i64,
    /// Sending, taking, creating.
    pub overhead: i64,
}

impl Outcome {
    /// Ticks in which a PE had nothing to do.
    pub fn idle(&self, pe: usize) -> i64 {
        self.makespan - self.pes[pe].work - self.pes[pe].overhead
    }

    /// The graph as a run like this would have recorded it. Executions last as long as they did here, with the costs of what they sent.
    pub fn retimed(&self, graph: &EventGraph) -> Result<EventGraph, GraphError> {
        let mut made = graph.clone().into_builder();
        made.set_pes(self.pes.len() as u32);
        let executions = made.executions_mut();
        (executions.pe, executions.begin, executions.end) = (self.pe.clone(), self.begin.clone(), self.end.clone());
        let messages = made.messages_mut();
        (messages.sent, messages.received) = (self.sent.clone(), self.received.clone());
        made.seal()
    }
}
