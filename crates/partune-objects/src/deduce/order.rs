//! What should come first: objects by their coordinates, and types of messages.

use partune_base::Table;

use super::{Hint, Search};
use crate::graph::{ArrayId, EventGraph, Kind, ObjectId, TypeId};
use crate::priority::{CriticalPath, Level, Line, Options, levels, ranking};
use crate::simulate::{Machine, Plan};

/// Objects of each array whose rank is linear, and then types of messages.
pub(super) fn priorities(search: &mut Search<'_>) {
    let Some((graph, machine)) = timed(search) else { return };
    let path = CriticalPath::new(&graph, |id| machine.way(&graph, id));
    let options = Options::default();
    for array in graph.arrays().ids() {
        if search.members(array).nth(1).is_none() {
            continue;
        }
        let ranking = ranking(&graph, array, &path, &options);
        let Some(line) = ranking.line else { continue };
        let mut chosen = search.plan.priorities.clone().unwrap_or_default();
        chosen.objects = by_line(search, array, &line, &chosen.objects);
        let plan = Plan { priorities: Some(chosen), ..search.plan.clone() };
        let makespan = search.makespan(&plan);
        let critical = ranking.ranks.len() as f64;
        let evidence =
            vec![("objects", search.members(array).count() as f64), ("critical_objects", critical), ("r2", line.r2)];
        search.judge(Hint::Objects { array, line }, plan, makespan, evidence);
    }
    let levels = levels(&graph, &path, &options);
    if levels.is_empty() {
        return;
    }
    let mut chosen = search.plan.priorities.clone().unwrap_or_default();
    chosen.types = by_level(&levels);
    let plan = Plan { priorities: Some(chosen), ..search.plan.clone() };
    let makespan = search.makespan(&plan);
    let sum = |of: fn(&Level) -> u64| levels.iter().map(of).sum::<u64>() as f64;
    let evidence = vec![("messages", sum(|it| it.messages)), ("critical_messages", sum(|it| it.critical))];
    search.judge(Hint::Messages { levels }, plan, makespan, evidence);
}

/// The run as the kept plan has it, and its machine with what messages take on the way on average.
pub(super) fn timed(search: &Search<'_>) -> Option<(EventGraph, Machine)> {
    let outcome = search.outcome()?;
    let travel = search.plan.travel.as_ref()?;
    let executions = &outcome.pe;
    let messages = search.recorded.graph.messages();
    let apart = |id| {
        messages.kind[id] != Kind::Dependence && executions[messages.source[id]] != executions[messages.destination[id]]
    };
    let ways: Vec<i64> = travel.iter_ids().filter(|it| apart(it.0)).map(|it| *it.1).collect();
    let mean = ways.iter().map(|&way| i128::from(way)).sum::<i128>() / ways.len().max(1) as i128;
    let machine = Machine { latency: mean as i64, ..search.recorded.machine };
    Some((outcome.retimed(&search.recorded.graph).ok()?, machine))
}

/// Objects of an array by the values of a line, with those of other arrays.
fn by_line(search: &Search<'_>, array: ArrayId, line: &Line, before: &Table<ObjectId, u32>) -> Table<ObjectId, u32> {
    let rank = line.slopes.len();
    let value = |id: ObjectId| {
        let at: Vec<f64> = search.graph.objects()[id].at[..rank].iter().map(|&x| f64::from(x)).collect();
        line.at(&at)
    };
    let mut order: Vec<(f64, ObjectId)> = search.members(array).map(|id| (value(id), id)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut chosen = Table::filled(search.graph.objects().len(), 0);
    before.iter_ids().for_each(|(id, &urgency)| chosen[id] = urgency);
    let mut urgency = 0;
    for (at, &(value, id)) in order.iter().enumerate() {
        urgency += u32::from(at > 0 && value - order[at - 1].0 > 1e-9);
        chosen[id] = urgency;
    }
    chosen
}

fn by_level(levels: &[Level]) -> Table<TypeId, u32> {
    let last = levels.iter().map(|it| it.message_type.0 as usize + 1).max().unwrap_or(0);
    let least = levels.iter().map(|it| it.level).max().unwrap_or(0);
    let mut types = Table::filled(last, least);
    levels.iter().for_each(|it| types[it.message_type] = it.level);
    types
}
