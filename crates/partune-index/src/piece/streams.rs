//! The stream of a PE in a piece of the run.

use partune_base::{Id, PeId, Time};
use partune_trace::{CallPaths, MetricValues, Stream};

use super::keep::{Keep, holds};
use super::{Moves, metrics, retain};

/// Leaves what is kept, clips all times and numbers visits anew.
pub(super) fn cut(
    stream: &mut Stream,
    paths: &CallPaths,
    values: &[MetricValues],
    keep: &Keep,
    moves: &Moves,
    pe: usize,
) {
    let (pe, interval) = (PeId::from_index(pe), moves.interval);
    let recorded = 2 * stream.visits.len() + stream.facts();
    if !stream.visits.is_empty() {
        stream.present = stream.begin().zip(stream.end());
    }
    let visits = std::mem::take(&mut stream.visits);
    retain(&mut stream.sends, &keep.sends[pe]);
    retain(&mut stream.recvs, &keep.recvs[pe]);
    retain(&mut stream.collectives, &keep.collectives[pe]);
    retain(&mut stream.transfers, &keep.transfers[pe]);
    macro_rules! retain_by_time {
        ($($table:ident),*) => {$(
            stream.$table.retain(|row| holds(paths, &visits, interval, row.visit, (row.time, row.time)));
        )*};
    }
    // Rows of teams are few, and what a PE is in the middle of is known from those before: they stay, at the borders.
    retain_by_time!(requests, polls, completions, rma_syncs, locks, tasks, contributions, handles);
    stream.executions.retain(|row| holds(paths, &visits, interval, row.visit, (row.begin, row.begin)));
    stream.io.retain(|row| holds(paths, &visits, interval, row.visit, (row.begin, row.end)));
    stream.pauses.retain(|pause| interval.holds(pause.begin, pause.end));
    stream.metrics = metrics::cut(&stream.metrics, &visits, values, interval);
    for (visit, _) in visits.iter().zip(&keep.visits[pe]).filter(|(_, kept)| **kept) {
        stream.visits.push(visit);
    }
    for operation in &mut stream.operations {
        *operation = moves.visit(pe, *operation);
    }
    stream.operations.retain(|operation| operation.is_some());
    stream.map_visits(|visit| moves.visit(pe, visit));
    let in_piece = |time: &&Time| interval.holds(**time, **time);
    let left = visits.enter.iter().chain(&visits.exit).filter(in_piece).count() + stream.facts();
    stream.events = (u128::from(stream.events) * left as u128).checked_div(recorded as u128).unwrap_or(0) as u64;
    stream.map_times(|time| interval.clip(time));
}
