//! Phases that multicasts initiate, each of which is caused by the one before: the pivots of an elimination.
//!
//! That each is reached from the last is not enough: in a random graph what is sent first reaches everything. So what a multicast sends is to be
//! executed in its own phase.

use partune_base::Table;

use super::{Kind, Options, Phases};
use crate::graph::{EventGraph, ExecutionId, Kind as Edge, MethodId, TypeId};

/// The longest chain of multicasts of one method and type, if all of its multicasts are in it.
pub(super) fn find(graph: &EventGraph, active: u64, options: &Options) -> Option<Phases> {
    let copies = options.copies.max((options.reached * active as f64).ceil() as u64);
    let mut found: Vec<(MethodId, TypeId, ExecutionId)> = Vec::new();
    for &id in graph.order() {
        let method = graph.executions().method[id];
        found.extend(multicasts(graph, id, copies).into_iter().map(|message_type| (method, message_type, id)));
    }
    found.sort_by_key(|&(method, message_type, _)| (method, message_type));
    let same = found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let chains = same
        .filter(|same| same.len() >= options.least.max(1) as usize)
        .filter_map(|same| chain(graph, same))
        .filter(|chain| chain.evidence >= options.own);
    // Of equals the first.
    chains.reduce(|best, other| if other.count > best.count { other } else { best })
}

/// Types of which an execution sends messages to so many objects.
fn multicasts(graph: &EventGraph, id: ExecutionId, copies: u64) -> Vec<TypeId> {
    if (graph.sent_by(id).len() as u64) < copies {
        return Vec::new();
    }
    let messages = graph.messages();
    let sent = graph.sent_by(id).filter(|&message| messages.kind[message] == Edge::Message);
    let object = |message| graph.executions().object[messages.destination[message]];
    let mut sent: Vec<_> = sent.map(|message| (messages.message_type[message], object(message))).collect();
    sent.sort_unstable();
    sent.dedup();
    let types = sent.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() as u64 >= copies);
    types.map(|same| same[0].0).collect()
}

/// The phases that multicasts make, in the graph's order; none if two of them are not one after the other.
fn chain(graph: &EventGraph, multicasts: &[(MethodId, TypeId, ExecutionId)]) -> Option<Phases> {
    let mut is_start = vec![false; graph.order().len()];
    multicasts.iter().for_each(|it| is_start[it.2.0 as usize] = true);
    // Multicasts on the way to an execution, itself included.
    let mut passed: Table<ExecutionId, u32> = Table::filled(graph.order().len(), 0);
    for &id in graph.order() {
        let before = graph.needed_by(id).map(|message| passed[graph.messages().source[message]]).max().unwrap_or(0);
        passed[id] = before + u32::from(is_start[id.0 as usize]);
    }
    let starts: Vec<ExecutionId> = multicasts.iter().map(|it| it.2).collect();
    if starts.iter().zip(1..).any(|(&id, number)| passed[id] != number) {
        return None;
    }
    let sent = starts.iter().flat_map(|&id| graph.sent_by(id));
    let sent = sent.filter(|&message| graph.messages().message_type[message] == multicasts[0].1);
    let (mut all, mut own) = (0_u64, 0_u64);
    for message in sent {
        let (source, destination) = (graph.messages().source[message], graph.messages().destination[message]);
        let begins = passed[source] + u32::from(is_start[destination.0 as usize]);
        (all, own) = (all + 1, own + u64::from(passed[destination] == begins));
    }
    let evidence = own as f64 / all.max(1) as f64;
    let phase = passed.iter().map(|&passed| passed.wrapping_sub(1)).collect();
    let kind = Kind::Initiation { method: multicasts[0].0, message_type: multicasts[0].1 };
    Some(Phases { kind, count: starts.len() as u32, starts, phase, evidence })
}
