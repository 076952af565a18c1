//! Loose steps: each object of an array repeats the same methods, and nobody is more than one step ahead of whom it talks to.
//!
//! What only a creation caused is before the first step. Arrays of one object, as the main one, have no part in steps.

use partune_base::Table;

use super::{Kind, Options, Phases};
use crate::graph::{ArrayId, EventGraph, ExecutionId, Kind as Edge, MethodId, ObjectId};
use crate::statistics::variation;

pub(super) fn find(graph: &EventGraph, options: &Options) -> Option<Phases> {
    let mut members: Table<ArrayId, u64> = Table::filled(graph.arrays().len(), 0);
    graph.objects().iter().for_each(|object| members[object.array] += 1);
    let words: Table<ArrayId, Vec<MethodId>> = words(graph, &members);
    let mut phase: Table<ExecutionId, u32> = Table::filled(graph.order().len(), u32::MAX);
    let (mut work, mut active): (Vec<f64>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut objects = 0_u64;
    for (id, object) in graph.objects().iter_ids() {
        let word = &words[object.array];
        if word.is_empty() || stepping(graph, id).next().is_none() {
            continue;
        }
        objects += 1;
        for (number, execution) in stepping(graph, id).enumerate() {
            if graph.executions().method[execution] != word[number % word.len()] {
                return None;
            }
            let step = number / word.len();
            if step == work.len() {
                work.push(0.0);
                active.push(0);
            }
            active[step] += u64::from(number % word.len() == 0);
            work[step] += graph.duration(execution) as f64;
            phase[execution] = step as u32;
        }
    }
    let full = active.iter().filter(|&&count| count as f64 >= options.active * objects as f64).count();
    let evidence = variation(&work);
    let found = full == active.len()
        && full >= options.least.max(1) as usize
        && evidence <= options.uneven
        && is_local(graph, &phase);
    let count = work.len() as u32;
    found.then(|| Phases { kind: Kind::Loose, count, starts: Vec::new(), phase, evidence })
}

/// What an object executes, but for what only its creation caused.
fn stepping(graph: &EventGraph, id: ObjectId) -> impl Iterator<Item = ExecutionId> + '_ {
    let is_creation = |message| graph.messages().kind[message] == Edge::Creation;
    graph.executed_by(id).filter(move |&id| graph.needed_by(id).len() == 0 || !graph.needed_by(id).all(is_creation))
}

/// Of each array the shortest row of methods that, repeated, is what its busiest object executes (by the failure function of Knuth, Morris and
/// Pratt).
fn words(graph: &EventGraph, members: &Table<ArrayId, u64>) -> Table<ArrayId, Vec<MethodId>> {
    let mut longest: Table<ArrayId, Vec<MethodId>> = Table::filled(members.len(), Vec::new());
    for (id, object) in graph.objects().iter_ids().filter(|(_, object)| members[object.array] > 1) {
        if graph.executed_by(id).len() > longest[object.array].len() {
            let methods: Vec<_> = stepping(graph, id).map(|execution| graph.executions().method[execution]).collect();
            if methods.len() > longest[object.array].len() {
                longest[object.array] = methods;
            }
        }
    }
    for methods in &mut longest {
        let mut border = vec![0; methods.len()];
        for at in 1..methods.len() {
            let mut length: usize = border[at - 1];
            while length > 0 && methods[length] != methods[at] {
                length = border[length - 1];
            }
            border[at] = length + usize::from(methods[length] == methods[at]);
        }
        methods.truncate(methods.len() - border.last().copied().unwrap_or(0));
    }
    longest
}

/// Whether all messages between steps go to the same or the next one.
fn is_local(graph: &EventGraph, phase: &Table<ExecutionId, u32>) -> bool {
    let messages = graph.messages();
    messages.source.ids().all(|id| {
        let (from, to) = (phase[messages.source[id]], phase[messages.destination[id]]);
        from == u32::MAX || to == u32::MAX || to == from || to == from + 1
    })
}
