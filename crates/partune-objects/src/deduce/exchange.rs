//! What should be sent together, or in pieces.

use super::{Hint, Saves, Search, order};
use crate::combine::{self, combining as combine};
use crate::graph::{EventGraph, Kind, ObjectId, TypeId};
use crate::pipeline::{self, in_pieces, pipelining as pipeline};
use crate::simulate::{Combine, Plan, simulate};

pub(super) fn combining(search: &mut Search<'_>) {
    let Some((graph, machine)) = order::timed(search) else { return };
    // Whether it gains says the replay, which knows of messages that wait for those before them on the way.
    let options = combine::Options { gain: f64::NEG_INFINITY, ..combine::Options::default() };
    for it in combine(&graph, &machine, &options) {
        let chosen = Combine {
            message_type: it.message_type,
            count: it.count.try_into().unwrap_or(u32::MAX),
            timeout: it.timeout,
        };
        let mut plan = search.plan.clone();
        plan.combining.push(chosen);
        let makespan = search.makespan(&plan);
        let single = destinations(&graph, it.message_type) == 1;
        let evidence = vec![("groups", it.groups as f64), ("messages", it.messages as f64)];
        search.judge(Hint::Combine { combining: it, single }, plan, makespan, evidence);
    }
}

/// Objects that messages of a type are for.
fn destinations(graph: &EventGraph, message_type: TypeId) -> usize {
    let messages = graph.messages();
    let is_it = |&id: &_| messages.message_type[id] == message_type && messages.kind[id] == Kind::Message;
    let object = |id| graph.executions().object[messages.destination[id]];
    let mut objects: Vec<ObjectId> = messages.source.ids().filter(is_it).map(object).collect();
    objects.sort_unstable();
    objects.dedup();
    objects.len()
}

/// Messages in pieces are others, so their ways are the machine's, and those of whole ones that they are compared with.
pub(super) fn pipelining(search: &mut Search<'_>) {
    let Some((graph, machine)) = order::timed(search) else { return };
    let mut whole = search.recorded.graph.clone();
    // What was sent once is no row of stages.
    let rows = pipeline(&graph, &machine, &pipeline::Options::default()).into_iter().filter(|it| it.messages > 1);
    for it in rows {
        let plan = Plan { travel: None, ..search.plan.clone() };
        let Ok(pieced) = in_pieces(&whole, it.message_type, it.degree.pieces) else { continue };
        let makespan = |graph| simulate(graph, &machine, &plan).map(|done| done.makespan);
        let (Ok(before), Ok(after)) = (makespan(&whole), makespan(&pieced)) else { continue };
        let evidence =
            vec![("messages", it.messages as f64), ("one_by_one", it.degree.whole), ("in_pieces", it.degree.pieced)];
        if search.note(Hint::Pipeline(it), Saves::of(before.saturating_sub(after)), evidence) {
            whole = pieced;
        }
    }
}
