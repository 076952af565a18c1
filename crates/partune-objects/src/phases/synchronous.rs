//! Synchronous phases: executions that every way through the graph passes.

use partune_base::Table;

use super::{Kind, Options, Phases};
use crate::graph::{EventGraph, ExecutionId, Kind as Edge, ObjectId};

/// With edges from an imagined begin to all executions that need nothing, and from those that send nothing to an imagined end, an execution
/// is on all ways if no edge jumps over it in the graph's order. What sends nothing and is not the last of its object has no such edge: what it did is
/// in its object, as with contributions to a reduction, of which only the last one on a PE leaves it as a message. Nor has what needs nothing and is not the first of its object.
/// That an object goes on where it was jumps over no execution that it told of the one and that told it of the other. Of starts with nothing between them the last one counts: what waits for all, and what
/// then tells them.
pub(super) fn find(graph: &EventGraph, active: u64, options: &Options) -> Option<Phases> {
    let order = graph.order();
    let mut position: Table<ExecutionId, usize> = Table::filled(order.len(), 0);
    order.iter().enumerate().for_each(|(at, &id)| position[id] = at);
    let crossing = crossing(graph, &position);
    let edges = graph.messages().source.len();
    let allowed = options.jumping * edges as f64;
    let needed = (options.partners * active as f64).max(2.0);
    let mut starts = Vec::new();
    let mut most = 0;
    for (at, &id) in order.iter().enumerate() {
        if crossing[at] as f64 <= allowed && partners(graph, id) as f64 >= needed {
            if at > 0 && starts.last() == Some(&order[at - 1]) {
                starts.pop();
            }
            starts.push(id);
            most = most.max(crossing[at]);
        }
    }
    if starts.len() < options.least as usize {
        return None;
    }
    let mut phase = Table::filled(order.len(), u32::MAX);
    let mut next = 0;
    for &id in order {
        next += usize::from(starts.get(next) == Some(&id));
        phase[id] = (next as u32).wrapping_sub(1);
    }
    let count = starts.len() as u32;
    Some(Phases { kind: Kind::Synchronous, count, starts, phase, evidence: most as f64 })
}

/// Edges that jump over each position (an array of differences).
fn crossing(graph: &EventGraph, position: &Table<ExecutionId, usize>) -> Vec<i64> {
    let count = position.len();
    let mut change = vec![0_i64; count + 1];
    let mut jump = |from: usize, to: usize| {
        if from < to {
            change[from] += 1;
            change[to] -= 1;
        }
    };
    let (objects, messages) = (&graph.executions().object, graph.messages());
    // The first that each execution told something, and the last that it heard from.
    let (mut told, mut heard) = (Table::filled(count, usize::MAX), Table::filled(count, 0));
    let ends = |id| (messages.source[id], messages.destination[id]);
    for (source, destination) in messages.source.ids().map(ends) {
        told[source] = position[destination].min(told[source]);
        heard[destination] = position[source].max(heard[destination]);
    }
    for id in messages.source.ids() {
        let (source, destination) = ends(id);
        let (from, to) = (position[source] + 1, position[destination]);
        let goes_on = messages.kind[id] == Edge::Dependence && objects[source] == objects[destination];
        if goes_on && told[source] <= heard[destination] {
            jump(from, told[source]);
            jump(heard[destination] + 1, to);
        } else {
            jump(from, to);
        }
    }
    for (id, &at) in position.iter_ids() {
        let mut of_object = graph.executed_by(graph.executions().object[id]);
        if graph.needed_by(id).len() == 0 && of_object.next() == Some(id) {
            jump(0, at);
        }
        if graph.sent_by(id).len() == 0 && of_object.next_back().is_none_or(|last| last == id) {
            jump(at + 1, count);
        }
    }
    let sums = change.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum)
    });
    sums.collect()
}

/// Other objects that an execution hears from, or talks to: the larger number.
fn partners(graph: &EventGraph, id: ExecutionId) -> usize {
    let (executions, messages) = (graph.executions(), graph.messages());
    let own = executions.object[id];
    let count = |mut objects: Vec<ObjectId>| {
        objects.sort_unstable();
        objects.dedup();
        objects.iter().filter(|&&object| object != own).count()
    };
    let heard = graph.needed_by(id).map(|message| executions.object[messages.source[message]]);
    let told = graph.sent_by(id).map(|message| executions.object[messages.destination[message]]);
    count(heard.collect()).max(count(told.collect()))
}
