//! Places: call paths that end in one construct at one line of the source are one place, whoever called the function around it.
//!
//! A loss is told once for its place, with the call paths that lead there; who wants to know which of them costs most finds it beneath.

use std::cmp::Reverse;

use partune_base::{CallPathId, Span, Table};
use partune_trace::Trace;
use rustc_hash::FxHashMap;

use crate::{Cause, Finding, Pattern};

/// For each call path, the first path at its place.
pub(crate) struct Places(Table<CallPathId, CallPathId>);

impl Places {
    /// Linear in call paths.
    pub(crate) fn of(trace: &Trace) -> Places {
        let mut first = FxHashMap::default();
        let paths = trace.paths();
        Places(paths.ids().map(|path| *first.entry(paths.place(path)).or_insert(path)).collect())
    }

    /// The first path at the place of a path.
    pub(crate) fn first(&self, path: CallPathId) -> CallPathId {
        self.0.get(path).copied().unwrap_or(path)
    }
}

/// Waits and costs with one finding a place. Of each at most `details` causes and occurrences are kept.
pub fn by_place(trace: &Trace, findings: Vec<Finding>, details: usize) -> Vec<Finding> {
    let places = Places::of(trace);
    let mut known: FxHashMap<(Pattern, CallPathId), usize> = FxHashMap::default();
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !finding.pattern.adds_up() {
            kept.push(finding);
            continue;
        }
        let at = *known.entry((finding.pattern, places.first(finding.path))).or_insert(kept.len());
        match kept.get_mut(at) {
            Some(same) => same.join(finding),
            None => kept.push(finding),
        }
    }
    kept.iter_mut().filter(|finding| !finding.paths.is_empty()).for_each(|finding| finding.settle(details));
    kept
}

impl Finding {
    /// Adds what is lost at the same place on another call path.
    fn join(&mut self, other: Finding) {
        if self.paths.is_empty() {
            self.paths.push((self.path, self.time));
        }
        self.paths.push((other.path, other.time));
        self.time += other.time;
        self.count += other.count;
        self.unexplained += other.unexplained;
        self.pes.extend(other.pes);
        self.causes.extend(other.causes);
        self.occurrences.extend(other.occurrences);
    }

    /// Brings what was added into order.
    fn settle(&mut self, details: usize) {
        self.paths.sort_by_key(|(path, time)| (Reverse(*time), *path));
        self.path = self.paths[0].0;
        self.pes.sort_by_key(|(pe, _)| *pe);
        self.pes.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { Span::ZERO };
            same
        });
        let root = |cause: &Cause| (cause.pe, cause.path, cause.origin);
        self.causes.sort_by_key(|cause| (root(cause), Reverse(cause.time)));
        self.causes.dedup_by(|next, sum| {
            let same = root(next) == root(sum);
            if same {
                sum.time += next.time;
                sum.passed_on += next.passed_on;
                if sum.via.is_empty() {
                    sum.via = std::mem::take(&mut next.via);
                }
            }
            same
        });
        self.causes.sort_by_key(|cause| (Reverse(cause.time), root(cause)));
        self.causes.truncate(details);
        self.occurrences.sort_by_key(|it| (Reverse(it.end.since(it.begin)), it.begin, it.pe));
        self.occurrences.truncate(details);
    }
}
