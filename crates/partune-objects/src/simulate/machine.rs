//! What messages cost on a machine.

use crate::graph::{EventGraph, Kind, MessageId};

/// All in ticks; what is negative is taken for 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Machine {
    /// What a message to another PE takes from its sender, and each byte of it.
    pub send: i64,
    pub send_byte: f64,
    /// What it takes on the way, and each byte of it.
    pub latency: i64,
    pub byte: f64,
    /// What it takes from its receiver.
    pub receive: i64,
    /// What a message between objects of one PE takes.
    pub local: i64,
    /// What the creation of an object takes, where it is created.
    pub create: i64,
}

impl Machine {
    pub(super) fn sending(&self, bytes: u64) -> i64 {
        self.send.max(0).saturating_add((self.send_byte.max(0.0) * bytes as f64).round() as i64)
    }

    pub(super) fn travelling(&self, bytes: u64) -> i64 {
        self.latency.max(0).saturating_add((self.byte.max(0.0) * bytes as f64).round() as i64)
    }

    pub(super) fn taking(&self, remote: bool, creation: bool) -> i64 {
        let create = if creation { self.create.max(0) } else { 0 };
        create.saturating_add(if remote { self.receive } else { self.local }.max(0))
    }

    /// Ticks between a message's sending and the begin of its destination, where nothing else is waited for and both are where they were; a
    /// dependence takes none.
    pub fn way(&self, graph: &EventGraph, id: MessageId) -> i64 {
        let (executions, messages) = (graph.executions(), graph.messages());
        let remote = executions.pe[messages.source[id]] != executions.pe[messages.destination[id]];
        let bytes = messages.bytes[id];
        let taking = self.taking(remote, messages.kind[id] == Kind::Creation);
        match messages.kind[id] {
            Kind::Dependence => 0,
            _ if remote => taking.saturating_add(self.sending(bytes)).saturating_add(self.travelling(bytes)),
            _ => taking,
        }
    }
}
