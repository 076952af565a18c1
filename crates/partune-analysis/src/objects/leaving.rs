//! When messages leave. Recorders tell when a method sent one. But a runtime may keep what a method sends until that ends, as charm4py does: then it is on the way from there on, however long
//! before it was sent.
//!
//! Nobody tells which runtimes do so. It is seen where methods went on after they had sent something to a PE that had nothing to do: it came after their end each time, and sooner than
//! they had gone on.

use std::cmp::Reverse;

use partune_base::Table;
use partune_objects::graph::{Builder, ExecutionId, Kind, MessageId};

/// Fewer methods than this that were seen to keep what they send say nothing.
const FEW: usize = 8;

/// Lets messages to other PEs leave at the end of what sent them, where they do; in the order in which they were sent, and apart as far as they were. O((V + E) log).
pub(super) fn leave(builder: &mut Builder) {
    let Some(mut late) = late(builder) else { return };
    let (executions, messages) = (builder.executions(), builder.messages());
    late.sort_by_key(|&id| (messages.source[id], Reverse(messages.sent[id]), id));
    let mut leaves: Vec<(MessageId, i64)> = Vec::new();
    for of_one in late.chunk_by(|a, b| messages.source[*a] == messages.source[*b]) {
        let mut time = executions.end[messages.source[of_one[0]]];
        for at_once in of_one.chunk_by(|a, b| messages.sent[*a] == messages.sent[*b]) {
            leaves.extend(at_once.iter().map(|&id| (id, time.max(messages.sent[id]))));
            time -= 1;
        }
    }
    let sent = &mut builder.messages_mut().sent;
    leaves.into_iter().for_each(|(id, time)| sent[id] = time);
}

/// Messages to other PEs; none where one came before what sent it had ended, or where nobody can tell.
fn late(builder: &Builder) -> Option<Vec<MessageId>> {
    let (executions, messages) = (builder.executions(), builder.messages());
    let free = free(builder);
    let is_apart = |id: &MessageId| executions.pe[messages.source[*id]] != executions.pe[messages.destination[*id]];
    let all: Vec<MessageId> =
        messages.kind.ids().filter(|id| messages.kind[*id] != Kind::Dependence).filter(is_apart).collect();
    let mut kept: Vec<ExecutionId> = Vec::new();
    for &id in &all {
        let (source, destination, sent) = (messages.source[id], messages.destination[id], messages.sent[id]);
        let (end, begin) = (executions.end[source], executions.begin[destination]);
        if begin < end {
            return None;
        }
        if free[destination] <= sent && end - sent > begin - end {
            kept.push(source);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    (kept.len() >= FEW).then_some(all)
}

/// When the PE of each execution had executed all that began there before it.
fn free(builder: &Builder) -> Table<ExecutionId, i64> {
    let executions = builder.executions();
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.pe[id], executions.begin[id], id));
    let mut free = Table::filled(order.len(), i64::MIN);
    for of_pe in order.chunk_by(|a, b| executions.pe[*a] == executions.pe[*b]) {
        let mut until = i64::MIN;
        for &id in of_pe {
            free[id] = until;
            until = until.max(executions.end[id]);
        }
    }
    free
}
