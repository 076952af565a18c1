//! What a trace knows of a run of objects beyond its event graph: when PEs were idle, and what sending takes.

use partune_base::{PeId, Table};
use partune_objects::graph::{EventGraph, ExecutionId};
use partune_objects::recorded::Known;
use partune_trace::{Role, Stream, Trace};

/// Linear, but for sorting.
pub(super) fn known(trace: &Trace, graph: &EventGraph) -> Known {
    let idle: Table<PeId, Vec<i64>> = trace.streams().iter().map(|stream| idle_ends(trace, stream)).collect();
    let idle_until = idle.iter().any(|ends| !ends.is_empty()).then(|| idle_until(graph, &idle));
    Known { idle_until, send: sending(trace) }
}

/// When a PE stopped to be idle, in order.
fn idle_ends(trace: &Trace, stream: &Stream) -> Vec<i64> {
    if stream.executions.is_empty() {
        return Vec::new();
    }
    let is_idle: Vec<bool> = trace.regions().iter().map(|region| region.role == Role::Recv).collect();
    let waits = stream.visits.iter().filter(|visit| is_idle[trace.paths().region(visit.path).0 as usize]);
    let mut ends: Vec<i64> = waits.map(|visit| visit.exit.0).collect();
    ends.sort_unstable();
    ends
}

fn idle_until(graph: &EventGraph, idle: &Table<PeId, Vec<i64>>) -> Table<ExecutionId, i64> {
    let executions = graph.executions();
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.pe[id], executions.begin[id], id));
    let mut until = Table::filled(order.len(), i64::MIN);
    for of_pe in order.chunk_by(|a, b| executions.pe[*a] == executions.pe[*b]) {
        let mut before = i64::MIN;
        for &id in of_pe {
            let ends = idle.get(executions.pe[id]).map_or(&[][..], Vec::as_slice);
            let last = ends.partition_point(|&end| end <= executions.begin[id]).checked_sub(1).map(|at| ends[at]);
            until[id] = last.filter(|&end| end > before).unwrap_or(i64::MIN);
            before = executions.begin[id];
        }
    }
    until
}

/// The median of what sending one message to another PE takes; 0 without any.
fn sending(trace: &Trace) -> i64 {
    let mut all: Vec<i64> = Vec::new();
    for (pe, stream) in trace.streams().iter_ids() {
        for rows in stream.sends.chunk_by(|a, b| a.visit == b.visit) {
            if let [send] = rows
                && send.peer != pe
                && let Some(visit) = stream.visits.get(send.visit)
                && trace.role_of(pe, send.visit) == Role::Send
            {
                all.push(visit.duration().0);
            }
        }
    }
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}
