//! From excess to costs: what each wait inherits from later ones, and who pays.

use partune_base::{CallPathId, PeId, Table};
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::excess::{AllExcess, Excess, PeExcess};
use super::{Chains, DelayCost, Delays};
use crate::{Pattern, Wait, Waits};

/// Below this a sum of inherited shares is rounding.
const ROUNDING: f64 = 1e-9;

/// For each wait ρ, the long-term cost that it hands on, in ticks. Backwards in time; linear but for sorting.
pub(super) fn shares(trace: &Trace, waits: &Waits, excess: &AllExcess) -> Vec<f64> {
    let rows = waits.as_slice();
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.par_sort_unstable_by_key(|i| (std::cmp::Reverse(rows[*i as usize].end), std::cmp::Reverse(*i)));
    let mut inherited = Inherited { rho: vec![0.0; rows.len()], steps: vec![0.0; rows.len()] };
    // Per PE: the sum of shares that cover the wait now reached.
    let mut sums: Table<PeId, f64> = Table::filled(trace.pes().len(), 0.0);
    for i in order {
        let i = i as usize;
        let wait = &rows[i];
        let sum = &mut sums[wait.pe];
        *sum += inherited.steps[i];
        if *sum < ROUNDING {
            *sum = 0.0;
        }
        let rho = *sum * wait.duration().0 as f64;
        inherited.rho[i] = rho;
        if let Some(row) = excess.pes[wait.pe].of(i - waits.first_of_pe(wait.pe))
            && row.first < row.end
        {
            inherited.hand_on(row, sigma(wait, row) + rho / total(row), waits.first_of_pe(wait.cause.pe));
        }
    }
    inherited.rho
}

struct Inherited {
    rho: Vec<f64>,
    /// What to add to the sum of a PE when it reaches a wait, coming from later ones.
    steps: Vec<f64>,
}

impl Inherited {
    fn hand_on(&mut self, row: &Excess, share: f64, first_of_pe: usize) {
        self.steps[row.end as usize - 1] += share;
        if row.first as usize > first_of_pe {
            self.steps[row.first as usize - 1] -= share;
        }
    }
}

/// D + W.
fn total(row: &Excess) -> f64 {
    (row.delay + row.waited).0 as f64
}

fn sigma(wait: &Wait, row: &Excess) -> f64 {
    if total(row) > 0.0 { (wait.duration().0 as f64 / total(row)).min(1.0) } else { 0.0 }
}

/// Who pays: the pattern, the operation that ended the wait, its PE, and the call path where the PE was late.
type Debt = (Pattern, CallPathId, PeId, CallPathId);
type Costs = FxHashMap<Debt, (f64, f64)>;

/// Books short- and long-term costs.
pub(super) fn book(trace: &Trace, waits: &Waits, excess: &AllExcess, rho: &[f64]) -> Delays {
    let pes: Vec<PeId> = trace.pes().ids().collect();
    let parts: Vec<Books> = pes
        .par_iter()
        .map(|pe| {
            let first = waits.first_of_pe(*pe);
            let rows = waits.of_pe(*pe);
            let rho = &rho[first..first + rows.len()];
            book_pe(trace, rows, &excess.pes[*pe], rho)
        })
        .collect();
    let mut unattributed = 0.0;
    let (mut costs, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        unattributed += part.unattributed;
        costs.extend(part.costs);
        others.extend(part.others);
    }
    let mut costs = sum(costs);
    let mut all_costs = Vec::new();
    for ((pattern, operation, pe, path), other) in sum(others) {
        let key = (pattern, operation, pe);
        let first = costs.partition_point(|((pattern, operation, pe, _), _)| (*pattern, *operation, *pe) < key);
        let count =
            costs[first..].partition_point(|((pattern, operation, pe, _), _)| (*pattern, *operation, *pe) == key);
        let alike = &mut costs[first..first + count];
        let all: f64 = alike.iter().map(|(_, cost)| cost.0).sum();
        if all > 0.0 {
            for (_, cost) in alike {
                let share = cost.0 / all;
                *cost = (cost.0 + share * other.0, cost.1 + share * other.1);
            }
        } else {
            all_costs.push(((pattern, operation, pe, path), other));
        }
    }
    all_costs.extend(costs);
    all_costs.sort_by_key(|((pattern, operation, pe, _), _)| (*pattern, *operation, *pe));
    let by_path = all_costs.into_iter().map(|((pattern, _, pe, path), cost)| ((pattern, path, pe), cost)).collect();
    let cost = |((pattern, path, pe), (short_term, long_term))| DelayCost { pattern, path, pe, short_term, long_term };
    Delays { costs: sum(by_path).into_iter().map(cost).collect(), unattributed, chains: Chains::default() }
}

/// Adds up costs of equal keys. Stable: what comes first is added first, so sums do not depend on hashes.
fn sum<K: Ord + Copy>(mut costs: Vec<(K, (f64, f64))>) -> Vec<(K, (f64, f64))> {
    costs.sort_by_key(|(key, _)| *key);
    let sums = costs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|part| (part[0].0, part.iter().fold((0.0, 0.0), |sum, (_, cost)| (sum.0 + cost.0, sum.1 + cost.1))));
    sums.collect()
}

/// The costs of the waits of one PE.
#[derive(Default)]
struct Books {
    costs: Costs,
    /// Those of waits that were not looked at, under the call path of the operation.
    others: Costs,
    unattributed: f64,
}

fn book_pe(trace: &Trace, rows: &[Wait], excess: &PeExcess, rho: &[f64]) -> Books {
    let mut books = Books::default();
    for ((wait, row), rho) in rows.iter().zip(excess.iter()).zip(rho) {
        let omega = wait.duration().0 as f64;
        if !wait.cause.is_some() {
            books.unattributed += omega + rho;
            continue;
        }
        let operation = trace.visit(wait.cause.pe, wait.cause.visit).path;
        let pay = |costs: &mut Costs, path: CallPathId, short: f64, long: f64| {
            let cost = costs.entry((wait.pattern, operation, wait.cause.pe, path)).or_default();
            cost.0 += short;
            cost.1 += long;
        };
        let Some(row) = row else {
            pay(&mut books.others, operation, omega, *rho);
            continue;
        };
        let total = total(row);
        if total <= 0.0 {
            books.unattributed += omega + rho;
            continue;
        }
        let sigma = sigma(wait, row);
        books.unattributed += (omega - total).max(0.0);
        let parts = &excess.parts[row.parts.0 as usize..row.parts.1 as usize];
        let sum: f64 = parts.iter().map(|(_, part)| f64::from(*part)).sum();
        for (path, part) in parts {
            let delay = f64::from(*part) / sum * row.delay.0 as f64;
            pay(&mut books.costs, *path, delay * sigma, delay * rho / total);
        }
    }
    books
}
