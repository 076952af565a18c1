//! A recorded run without the costs of its messages, so that it can be simulated with those of a machine.

use std::collections::BTreeSet;

use super::Machine;
use crate::graph::{EventGraph, GraphError, Kind, MessageId};

/// The graph with executions that are shorter by what sending took on this machine: a simulation of it, placed and scheduled as it was, is the
/// recorded run again. Messages of one type and kind that leave an execution for one PE at one tick are one copy of a multicast; what leaves at a tick
/// leaves after all that sending until then took, in whatever order. What executions do not have of that time is not taken from them.
/// O(V + E log (messages of an execution)).
pub fn without_costs(graph: &EventGraph, machine: &Machine) -> Result<EventGraph, GraphError> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut made = graph.clone().into_builder();
    for id in executions.object.ids() {
        let (begin, duration) = (executions.begin[id], graph.duration(id));
        let (mut spent, mut worked) = (0_i64, 0_i64);
        let mut copies = BTreeSet::new();
        let sent: Vec<MessageId> = graph.sent_by(id).collect();
        for tick in sent.chunk_by(|&a, &b| graph.offset(a) == graph.offset(b)) {
            for &message in tick {
                let pe = executions.pe[messages.destination[message]];
                let remote = pe != executions.pe[id] && messages.kind[message] != Kind::Dependence;
                if remote && copies.insert(graph.copy(message)) {
                    spent = spent.saturating_add(machine.sending(messages.bytes[message]));
                }
            }
            for &message in tick {
                worked = worked.max(graph.offset(message).saturating_sub(spent));
                made.messages_mut().sent[message] = begin + worked;
            }
        }
        made.executions_mut().end[id] = begin + worked.max(duration.saturating_sub(spent));
    }
    made.seal()
}
