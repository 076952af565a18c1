//! Looking a baseline up, between and beyond what was measured.
//!
//! * **Size**: between two measured sizes on the line through their medians; below the smallest its own median; above
//!   the largest, the line through the last two goes on (never falling).
//! * **PEs**: between two measured counts on the line over log₂ of the count; outside of them there is no baseline:
//!   nobody knows how a collective grows.
//! * **Operations**: several operations of a programming model may have one role (`MPI_Allreduce` and `MPI_Alltoall`
//!   are all-to-all). The slowest counts, so that what is called far over its baseline is so by any of them.

use crate::{Baseline, Machine, Point};

/// The baselines of one role, ready to be asked for each of many operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoleBaselines<'a> {
    /// One list an operation; in each, by number of PEs, ascending.
    operations: Vec<Vec<&'a Baseline>>,
}

impl Machine {
    /// The baselines of a role of a programming model, by their names. Those that name no model are for every one.
    pub fn baselines_of(&self, paradigm: &str, role: &str) -> RoleBaselines<'_> {
        let is_for = |named: Option<&str>| named.is_none_or(|named| named == paradigm);
        let fits = |it: &&Baseline| it.role == role && is_for(it.paradigm.as_deref()) && !it.points.is_empty();
        let mut operations: Vec<Vec<&Baseline>> = Vec::new();
        for baseline in self.baselines.iter().filter(fits) {
            match operations.iter_mut().find(|known| known[0].operation == baseline.operation) {
                Some(known) => known.push(baseline),
                None => operations.push(vec![baseline]),
            }
        }
        for known in &mut operations {
            known.sort_by_key(|baseline| baseline.pes);
        }
        RoleBaselines { operations }
    }
}

impl RoleBaselines<'_> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Seconds that an operation needs on so many PEs with so many bytes a PE (given or got, whichever is more); none
    /// if no operation was measured around that count. Cost: linear in the points of the role, some dozens.
    pub fn seconds(&self, bytes: u64, pes: u32) -> Option<f64> {
        self.operations.iter().filter_map(|known| between_counts(known, bytes, pes)).reduce(f64::max)
    }
}

fn between_counts(known: &[&Baseline], bytes: u64, pes: u32) -> Option<f64> {
    let above = known.iter().position(|baseline| baseline.pes >= pes)?;
    let high = known[above];
    if high.pes == pes {
        return Some(at_size(&high.points, bytes));
    }
    let low = known[above.checked_sub(1)?];
    let log = |count: u32| f64::from(count.max(1)).log2();
    let share = (log(pes) - log(low.pes)) / (log(high.pes) - log(low.pes));
    let (from, to) = (at_size(&low.points, bytes), at_size(&high.points, bytes));
    Some(from + (to - from) * share)
}

/// The median at a size; `points` has at least one.
fn at_size(points: &[Point], bytes: u64) -> f64 {
    let above = points.iter().position(|point| point.bytes >= bytes);
    let (low, high) = match above {
        Some(0) => return points[0].median_s,
        Some(above) => (points[above - 1], points[above]),
        None if points.len() == 1 => return points[0].median_s,
        None => (points[points.len() - 2], points[points.len() - 1]),
    };
    let slope = (high.median_s - low.median_s) / (high.bytes - low.bytes).max(1) as f64;
    if above.is_none() {
        return high.median_s + slope.max(0.0) * (bytes - high.bytes) as f64;
    }
    low.median_s + slope * (bytes - low.bytes) as f64
}
