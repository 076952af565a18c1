//! Sets of repeated runs: which runs are of one kind, and how a figure of one set differs from that of the base.

use super::spread::{Change, Verdict};
use crate::repeats::Tail;

/// The runs of each set, by position; the first stands for it.
pub(crate) struct Sets(Vec<Vec<usize>>);

impl Sets {
    /// From the set of each run.
    pub(crate) fn new(set_of: &[usize]) -> Sets {
        let mut sets = vec![Vec::new(); set_of.iter().max().map_or(0, |last| last + 1)];
        set_of.iter().enumerate().for_each(|(run, set)| sets[*set].push(run));
        Sets(sets)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn runs(&self, set: usize) -> &[usize] {
        &self.0[set]
    }

    /// Whether a set or the base has more than one run.
    pub(crate) fn are_repeated(&self, set: usize) -> bool {
        self.0[0].len() > 1 || self.0[set].len() > 1
    }

    /// A figure of all runs of a set.
    pub(crate) fn values(&self, set: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        self.0[set].iter().map(|run| value(*run)).collect()
    }

    /// How many runs of a set have something, if any; and whether all have it.
    pub(crate) fn having(&self, set: usize, has: impl Fn(usize) -> bool) -> (usize, bool) {
        let count = self.0[set].iter().filter(|run| has(**run)).count();
        (count, count == self.0[set].len())
    }

    /// How a sum over PEs differs from that of the base: of means over PEs, where the runs differ in their number. A run without it has none; only
    /// where all runs of one set have it and none of the other, it is added or gone.
    pub(crate) fn change(
        &self,
        set: usize,
        pes: impl Fn(usize) -> usize,
        value: impl Fn(usize) -> Option<f64>,
    ) -> Change {
        let mut counts = self.0[0].iter().chain(&self.0[set]).map(|run| pes(*run));
        let first = counts.next();
        let is_paired = counts.all(|count| Some(count) == first);
        let per = |run: usize| if is_paired { 1.0 } else { pes(run).max(1) as f64 };
        let values = |set: usize| self.values(set, |run| value(run).unwrap_or(0.0) / per(run));
        let change = Change::repeated(Tail::MANY, &values(0), &values(set));
        let having = |set: usize| self.having(set, |run| value(run).is_some());
        match (having(0), having(set)) {
            ((0, _), (_, true)) => Change { verdict: Verdict::Added, ..change },
            ((_, true), (0, _)) => Change { verdict: Verdict::Gone, ..change },
            _ => change,
        }
    }
}
