//! From how many objects a PE on a placement is worth it: the run executed anew on more PEs, where each has fewer objects.
//!
//! A hint serves other numbers of PEs. What it gains by a better spread of work is less where PEs have few objects; what it costs that objects which wait for each other are on different PEs is
//! not. Messages take as long on the way as they did, which is so where each PE has a processor of its own. Where PEs share processors, nobody knows how long they take on more PEs: whoever
//! gets one waits for its turn on the processor, which more others have before it.

use partune_base::Table;

use super::place::placed;
use super::{Hint, Layout, Search};
use crate::graph::{ArrayId, ObjectId};
use crate::simulate::Plan;

/// Says it of all placements that are kept and serve other numbers of PEs.
pub(super) fn per_pe(search: &mut Search<'_>) {
    let homes = search.recorded.homes();
    for at in 0..search.judged.len() {
        if let Some(found) = least(search, &homes, at)
            && let Hint::Place { least_per_pe, .. } = &mut search.judged[at].hint
        {
            *least_per_pe = found;
        }
    }
}

/// So many times the PEs are tried: the promise is that hints serve twice as many.
const MORE: [f64; 3] = [1.5, 2.0, 4.0];

/// Objects a PE where it was last seen to save time; none where it does so on all numbers of PEs that were tried, or where nobody knows what the runtime would do on them.
fn least(search: &Search<'_>, homes: &Table<ObjectId, u32>, at: usize) -> Option<f64> {
    let Hint::Place { array, layout: Layout::Map(_), .. } = search.judged[at].hint else { return None };
    if !search.judged[at].is_kept() || !is_in_blocks(search, homes, array) {
        return None;
    }
    let (objects, pes) = (search.members(array).count(), search.graph.pes());
    let mut last = pes;
    for more in MORE.map(|times| (f64::from(pes) * times) as u32) {
        if more as usize > objects || more == last {
            continue;
        }
        if !saves(search, homes, at, more)? {
            return Some(objects as f64 / f64::from(last));
        }
        last = more;
    }
    None
}

/// Whether a placement saves time on so many PEs, on top of all else that is kept, by all that may be true of messages on their way.
fn saves(search: &Search<'_>, homes: &Table<ObjectId, u32>, at: usize, pes: u32) -> Option<bool> {
    let drawn = |but: Option<usize>| {
        let placement = Some(spread(search, homes, pes, but));
        search.recorded.drawn(&Plan { pes, placement, ..search.plan.clone() }).ok()
    };
    let (without, with) = (drawn(Some(at))?, drawn(None)?);
    let is_less = |(without, with): (i64, i64)| (without - with) as f64 > search.options.noise * without as f64;
    Some(without.into_iter().zip(with).all(is_less))
}

/// Where objects are on so many PEs: as the placements that are kept have it, but for one; in blocks where they were in blocks; all others where they were.
fn spread(search: &Search<'_>, homes: &Table<ObjectId, u32>, pes: u32, but: Option<usize>) -> Table<ObjectId, u32> {
    let mut placement = homes.clone();
    for array in search.graph.arrays().ids().filter(|&array| is_in_blocks(search, homes, array)) {
        let order = in_order(search, array);
        let block = |at: usize| (at as u64 * u64::from(pes) / order.len() as u64) as u32;
        order.iter().enumerate().for_each(|(at, &id)| placement[id] = block(at));
    }
    for (_, judged) in search.judged.iter().enumerate().filter(|it| it.1.is_kept() && Some(it.0) != but) {
        if let Hint::Place { array, layout: layout @ Layout::Map(_), aligned, .. } = &judged.hint {
            placement = placed(search, &placement, (*array, aligned, layout), pes);
        }
    }
    placement
}

/// Whether an array is as runtimes place one by themselves: in blocks of as many objects, last dimension fastest.
fn is_in_blocks(search: &Search<'_>, homes: &Table<ObjectId, u32>, array: ArrayId) -> bool {
    let order = in_order(search, array);
    let fair = order.len() / search.graph.pes() as usize;
    let mut blocks = order.chunk_by(|a, b| homes[*a] == homes[*b]);
    let is_in_order = order.is_sorted_by_key(|id| homes[*id]);
    order.len() > 1 && is_in_order && blocks.all(|block| (fair..=fair + 1).contains(&block.len()))
}

fn in_order(search: &Search<'_>, array: ArrayId) -> Vec<ObjectId> {
    let mut order: Vec<ObjectId> = search.members(array).collect();
    order.sort_by_key(|&id| (search.graph.objects()[id].at, id));
    order
}
