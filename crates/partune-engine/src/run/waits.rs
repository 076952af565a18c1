//! Who waited, when, and for what.

use std::cmp::Reverse;

use partune_analysis::{Finding, Pattern};
use partune_base::{CallPathId, PeId, Span, Time};
use partune_picture::{Fold, Found, LongWait};
use rayon::prelude::*;

use super::visits::Visit;
use super::{Run, Way};

/// A part of an operation that another PE's behaviour cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub pe: PeId,
    /// The call path of the operation that waits.
    pub path: CallPathId,
    pub pattern: Pattern,
    pub begin: Time,
    pub end: Time,
    /// The PE that ended it; none if unknown.
    pub cause_pe: PeId,
    /// The operation of that PE that did, where it is known.
    pub cause: Option<Visit>,
}

impl Wait {
    pub fn duration(&self) -> Span {
        self.end.since(self.begin)
    }
}

pub(super) fn long_wait(pattern: Pattern, path: CallPathId, wait: LongWait) -> Wait {
    let LongWait { pe, begin, end, cause_pe, cause } = wait;
    let cause = cause.map(|(path, enter, exit)| Visit { pe: cause_pe, path, enter, exit });
    Wait { pe, path, pattern, begin, end, cause_pe, cause }
}

impl Run {
    /// The waits of a PE, in order of time.
    pub fn waits(&self, pe: PeId) -> impl ExactSizeIterator<Item = Wait> + '_ {
        self.waits.of_pe(pe).iter().map(|wait| self.wait(wait))
    }

    /// The longest waits that touch an interval, on PEs of a picture, longest first; likewise, and so is their number.
    pub fn waits_within(&self, fold: &Fold, begin: Time, end: Time, most: usize) -> Found<Wait> {
        if let Some(sketch) = &self.sketch {
            let is_in = |wait: &Wait| wait.begin < end && wait.end > begin && fold.row_of(wait.pe).is_some();
            let mut rows: Vec<Wait> = self.long_waits(sketch).iter().copied().filter(is_in).collect();
            let count = rows.len();
            rows.truncate(most);
            return Found { rows, count };
        }
        let found = self.lines().waits(&self.waits, fold, begin, end, most);
        Found { rows: found.rows.iter().map(|wait| self.wait(wait)).collect(), count: found.count }
    }

    /// The longest waits at the place of a finding, longest first. Of a run that was looked at in slices, not all are known.
    pub fn instances(&self, finding: &Finding, most: usize) -> Vec<Wait> {
        if let Some(sketch) = &self.sketch {
            let found = sketch.longest(finding.pattern, finding.call_paths(), most);
            return found.into_iter().map(|(path, wait)| long_wait(finding.pattern, path, wait)).collect();
        }
        let is_of = self.instances_of(finding);
        let all = self.waits.as_slice().par_iter().filter(|wait| is_of(wait));
        let mut found: Vec<&partune_analysis::Wait> = all.collect();
        // Stable: of equal ones, in the order of PEs and time.
        found.sort_by_key(|wait| Reverse(wait.duration()));
        found.truncate(most);
        found.into_iter().map(|wait| self.wait(wait)).collect()
    }

    /// The nearest wait at the place of a finding on some PEs, that way from a moment; of several the one of the first PE.
    pub fn next_instance(&self, finding: &Finding, pes: &[PeId], way: Way) -> Option<Wait> {
        let is_of = self.instances_of(finding);
        let found = pes.par_iter().filter_map(|pe| {
            let waits = self.waits.of_pe(*pe);
            let at = waits.partition_point(|wait| wait.begin <= way.moment());
            match way {
                Way::UpTo(_) => waits[..at].iter().rev().find(|wait| is_of(wait)),
                Way::After(_) => waits[at..].iter().find(|wait| is_of(wait)),
            }
        });
        Some(self.wait(found.min_by_key(|wait| (way.distance(wait.begin), wait.pe))?))
    }

    pub(super) fn wait(&self, wait: &partune_analysis::Wait) -> Wait {
        let cause = wait.cause.is_some().then(|| self.visit(wait.cause.pe, wait.cause.visit));
        let path = self.trace.visit(wait.pe, wait.operation).path;
        let (begin, end) = (wait.begin, wait.end);
        Wait { pe: wait.pe, path, pattern: wait.pattern, begin, end, cause_pe: wait.cause.pe, cause }
    }

    /// Whether waits are instances of a finding.
    fn instances_of(&self, finding: &Finding) -> impl Fn(&partune_analysis::Wait) -> bool + Sync {
        let (pattern, mut paths) = (finding.pattern, finding.call_paths().collect::<Vec<CallPathId>>());
        paths.sort_unstable();
        move |wait| {
            let path = || self.trace.visit(wait.pe, wait.operation).path;
            wait.pattern == pattern && paths.binary_search(&path()).is_ok()
        }
    }
}
