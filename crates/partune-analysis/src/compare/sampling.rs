//! What times are worth that come from samples.
//!
//! Time between operations is measured, but who had it is known from samples alone where functions have no events of their own: a function has the share of it
//! that it has of the samples. Of n samples in all, each standing for t of the time T of a PE between operations, a function with a time x was found by x/t.
//! That number has a variance of x/t·(1 − x/T), so the time has t·x·(1 − x/T): a relative standard error of 1/√(x/t) for what is a small part, and none for
//! what has all the time. One sample more is counted, since a function that none found may have had one.
//!
//! Times of visits to such functions are no independent measurements, however many there are: they follow from these shares.

use partune_base::{CallPathId, PeId, Table};
use partune_trace::Trace;

use crate::{PathTime, PathTimes};

/// The samples of a run, and the time that they were taken in.
pub(crate) struct Sampling {
    /// Seconds that a sample stands for.
    each: f64,
    /// Whether the exclusive time of a call path is what samples say.
    is_shared_out: Table<CallPathId, bool>,
    /// Seconds of each PE that are.
    of_pes: Table<PeId, f64>,
}

impl Sampling {
    /// Of a run with such times; none if it has none. Linear in call paths of PEs.
    pub(crate) fn of(trace: &Trace, times: &PathTimes) -> Option<Sampling> {
        let samples = trace.shared_out_by()? as f64;
        let paths = trace.paths();
        let mut is_shared_out: Table<CallPathId, bool> = Table::filled(paths.len(), false);
        let is_code = |path: CallPathId| !paths.operation(path).is_some();
        for path in paths.ids().filter(|path| is_code(*path) && !paths.is_recorded(*path)) {
            is_shared_out[path] = true;
            // What is left of a function with events is what others around it are not said to have.
            if let Some(parent) = paths.parent(path).some().filter(|parent| is_code(*parent)) {
                is_shared_out[parent] = true;
            }
        }
        let seconds = |rows: &[PathTime], wanted: &dyn Fn(CallPathId) -> bool| {
            let rows = rows.iter().filter(|row| wanted(row.path));
            rows.map(|row| trace.clock().seconds(row.exclusive)).sum::<f64>()
        };
        let of_pes: Table<PeId, f64> = times.iter().map(|rows| seconds(rows, &|path| is_shared_out[path])).collect();
        let code: f64 = times.iter().map(|rows| seconds(rows, &is_code)).sum();
        // What is looked at may be a piece of what the samples were taken in.
        let share = trace.piece().map_or(1.0, |piece| {
            let whole = piece.run.1.since(piece.run.0).0.max(1) as f64;
            (piece.end.since(piece.begin).0 as f64 / whole).clamp(0.0, 1.0)
        });
        let each = code / (samples * share);
        (each.is_finite() && of_pes.iter().any(|seconds| *seconds > 0.0)).then_some(Sampling {
            each,
            is_shared_out,
            of_pes,
        })
    }

    pub(crate) fn is_shared_out(&self, path: CallPathId) -> bool {
        self.is_shared_out[path]
    }

    /// The variance of so many seconds that a PE has in such call paths, without the sample more.
    pub(crate) fn of_pe(&self, pe: PeId, seconds: f64) -> f64 {
        let all = self.of_pes[pe].max(f64::MIN_POSITIVE);
        self.each * seconds.max(0.0) * (1.0 - seconds / all).clamp(0.0, 1.0)
    }

    /// The variance of a loss by a place on which PEs spent so much: as many times that of one of them as PEs would be relieved.
    pub(crate) fn of_imbalance(&self, shares: &[f64]) -> f64 {
        shares.len() as f64 * self.each * shares.iter().sum::<f64>() + self.one_more()
    }

    /// The variance of one sample.
    pub(crate) fn one_more(&self) -> f64 {
        self.each * self.each
    }
}
