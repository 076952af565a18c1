//! Reductions, as our own recorder tells of them: objects contribute, and whoever gets the result does not know from whom it came.
//!
//! Each contribution tells which reduction of its collection it is for, and whom the result goes to. The last of them made it: that is the message, the others are parts of
//! it, and wait in the runtime. Results for the same target come in the order in which they were made, so the k-th that a PE got is the k-th.

use std::collections::BTreeMap;

use partune_base::Time;
use partune_trace::Contribution;

use super::messages::{self, Creation, Receipt};

/// A part of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) collection: i64,
    /// Which reduction of the collection it is.
    pub(super) turn: i64,
    /// Stands for who gets the result.
    pub(super) target: i64,
}

/// A receipt of a result, by its position: for one of two targets. What begins for the same message has the same delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) receipt: u32,
    pub(super) targets: (i64, i64),
    pub(super) delivery: i64,
}

/// Lets receipts of results be of the contributions that made these, and says which message each contribution is a part of. Of contributions only those that made a result
/// stay among what was sent; receipts of what nobody is known to have contributed to go. All are by PE. Linear, but for putting reductions in order.
pub(super) fn resolve(
    creations: &mut [Vec<Creation>],
    receipts: &mut [Vec<Receipt>],
    results: &[Vec<Asked>],
) -> Vec<Vec<Contribution>> {
    let lasts = lasts(creations);
    let parts = creations.iter().map(|of_pe| parts(of_pe, creations, &lasts)).collect();
    let made = made(lasts);
    for (receipts, results) in receipts.iter_mut().zip(results) {
        // How many results of a target came, and the last of them.
        let mut came: BTreeMap<i64, (usize, i64)> = BTreeMap::new();
        for Asked { receipt, targets: (one, all), delivery } in results {
            let target = if made.contains_key(one) { one } else { all };
            let (count, last) = came.entry(*target).or_insert((0, *delivery));
            if last != delivery {
                (*count, *last) = (*count + 1, *delivery);
            }
            if let Some((source, at)) = made.get(target).and_then(|made| made.get(*count))
                && let Some(receipt) = receipts.get_mut(*receipt as usize)
            {
                let Creation { event, entry, bytes, .. } = creations[*source as usize][*at as usize];
                *receipt = Receipt { source: *source, event, entry, bytes, ..*receipt };
            }
        }
        receipts.retain(|receipt| receipt.source != u32::MAX);
    }
    let mut kept: Vec<Vec<u32>> = vec![Vec::new(); creations.len()];
    made.values().flatten().for_each(|(pe, at)| kept[*pe as usize].push(*at));
    for (creations, mut kept) in creations.iter_mut().zip(kept) {
        kept.sort_unstable();
        let mut at = 0;
        creations.retain(|it| {
            at += 1;
            it.part.is_none() || kept.binary_search(&(at - 1)).is_ok()
        });
    }
    parts
}

/// By collection and turn: when the last contribution was made, its PE and position, and who gets the result.
type Lasts = BTreeMap<(i64, i64), (Time, u32, u32, i64)>;

fn lasts(creations: &[Vec<Creation>]) -> Lasts {
    let mut lasts = Lasts::new();
    for (pe, of_pe) in (0..).zip(creations) {
        for (at, it) in (0..).zip(of_pe) {
            let Some(Part { collection, turn, target }) = it.part else { continue };
            let this = (it.time, pe, at, target);
            let last = lasts.entry((collection, turn)).or_insert(this);
            *last = this.max(*last);
        }
    }
    lasts
}

/// What a PE contributed, in order of time.
fn parts(of_pe: &[Creation], creations: &[Vec<Creation>], lasts: &Lasts) -> Vec<Contribution> {
    let part = |it: &Creation| {
        let Part { collection, turn, .. } = it.part?;
        let (_, source, at, _) = lasts.get(&(collection, turn))?;
        let made = &creations[*source as usize][*at as usize];
        let message = messages::number(*source as usize, made.event);
        Some(Contribution { visit: it.visit, time: it.time, message })
    };
    let mut parts: Vec<Contribution> = of_pe.iter().filter_map(part).collect();
    parts.sort_by_key(|it| (it.time, it.visit));
    parts
}

/// By target, the last contribution to each reduction, by PE and position; in the order of time.
fn made(lasts: Lasts) -> BTreeMap<i64, Vec<(u32, u32)>> {
    let mut lasts: Vec<_> =
        lasts.into_iter().map(|((_, turn), (time, pe, at, target))| (time, turn, pe, at, target)).collect();
    lasts.sort_unstable();
    let mut made: BTreeMap<i64, Vec<(u32, u32)>> = BTreeMap::new();
    for (_, _, pe, at, target) in lasts {
        made.entry(target).or_default().push((pe, at));
    }
    made
}
