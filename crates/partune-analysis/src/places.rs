//! Places: call paths that end in one construct in one function are one place, at whichever lines and whoever called the function.
//!
//! A loss is told once for its place, with the call paths that lead there; who wants to know which line or caller costs most finds it
//! beneath. What is lost at places that are too small to be told each is told together, so that nothing that matters is in no finding.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use partune_base::{CallPathId, FileId, PeId, Span, StringId, Table};
use partune_trace::{Place, Trace};
use rustc_hash::FxHashMap;

use crate::{Cause, Finding};

/// For each call path, the first path at its place.
pub(crate) struct Places(Table<CallPathId, CallPathId>);

impl Places {
    /// Linear in call paths.
    pub(crate) fn of(trace: &Trace) -> Places {
        let mut first = FxHashMap::default();
        let paths = trace.paths();
        Places(paths.ids().map(|path| *first.entry(paths.place(path).scope()).or_insert(path)).collect())
    }

    /// The first path at the place of a path.
    pub(crate) fn first(&self, path: CallPathId) -> CallPathId {
        self.0.get(path).copied().unwrap_or(path)
    }
}

/// Findings of places with one finding a place. Of each at most `details` causes and occurrences are kept.
pub fn by_place(trace: &Trace, findings: Vec<Finding>, details: usize) -> Vec<Finding> {
    let places = Places::of(trace);
    joined(trace, findings, details, |finding| {
        finding.pattern.is_of_place().then(|| (finding.pattern, places.first(finding.path)))
    })
}

/// Findings of places, of which each pattern has those that lose at least so much; the others of a construct together are one if they
/// lose as much, else all that are left are.
pub(crate) fn told(trace: &Trace, findings: Vec<Finding>, least: i64, details: usize) -> Vec<Finding> {
    let is_told = |finding: &Finding| (finding.time + finding.outside).0 >= least;
    let construct = |path: CallPathId| path.some().map_or(StringId::NONE, |path| trace.paths().place(path).construct);
    let (mut told, small): (Vec<_>, Vec<_>) = by_place(trace, findings, details).into_iter().partition(is_told);
    let of_construct = joined(trace, small, details, |finding| Some((finding.pattern, construct(finding.path))));
    let (elsewhere, rest): (Vec<_>, Vec<_>) = of_construct.into_iter().partition(is_told);
    told.extend(elsewhere);
    told.extend(joined(trace, rest, details, |finding| Some(finding.pattern)).into_iter().filter(is_told));
    told
}

/// Findings with equal keys as one, where the first of them was; those without stay.
fn joined<K: Eq + Hash>(
    trace: &Trace,
    findings: Vec<Finding>,
    details: usize,
    key: impl Fn(&Finding) -> Option<K>,
) -> Vec<Finding> {
    let mut alone = 0;
    let key = |finding: &Finding| {
        alone += 1;
        key(finding).ok_or(alone)
    };
    let mut kept = together(findings, key, Finding::join);
    kept.iter_mut().filter(|finding| !finding.paths.is_empty()).for_each(|finding| finding.settle(trace, details));
    kept
}

impl Finding {
    /// Adds what is lost at the same place on another call path.
    fn join(&mut self, other: Finding) {
        join_facts(self, &other);
        if self.file != other.file {
            self.file = FileId::NONE;
        }
        if self.paths.is_empty() {
            self.paths.push((self.path, self.time));
        }
        if other.paths.is_empty() {
            self.paths.push((other.path, other.time));
        }
        self.paths.extend(other.paths);
        self.time += other.time;
        self.outside += other.outside;
        self.count += other.count;
        self.unexplained += other.unexplained;
        self.pes.extend(other.pes);
        self.causes.extend(other.causes);
        self.occurrences.extend(other.occurrences);
    }

    /// Brings what was added into order.
    fn settle(&mut self, trace: &Trace, details: usize) {
        self.paths.sort_by_key(|(path, _)| *path);
        add_equal(&mut self.paths);
        self.paths.sort_by_key(|(path, time)| (Reverse(*time), *path));
        self.path = self.paths[0].0;
        if let [_] = self.paths.as_slice() {
            self.paths.clear();
        }
        self.pes.sort_by_key(|(pe, _)| *pe);
        add_equal(&mut self.pes);
        let by_size = |cause: &Cause| (Reverse(cause.time), cause.pe, cause.path, cause.origin);
        self.causes.sort_by_key(by_size);
        let causes = std::mem::take(&mut self.causes);
        self.causes = together(causes, |cause| code_of(trace, cause.pe, cause.path, cause.origin), Cause::add);
        self.causes.sort_by_key(by_size);
        self.causes.truncate(details);
        self.occurrences.sort_by_key(|it| (Reverse(it.end.since(it.begin)), it.begin, it.pe));
        self.occurrences.truncate(details);
    }
}

/// What makes a cause one: the code of a PE, and before which construct in which function, whoever called that.
pub(crate) fn code_of(trace: &Trace, pe: PeId, path: CallPathId, origin: CallPathId) -> (PeId, Place, Place) {
    let place = |path| trace.paths().place(path);
    let operation = if path == origin { place(path) } else { place(path).scope() };
    (pe, operation, place(origin))
}

/// Rows with equal keys as one, where the first of them was.
pub(crate) fn together<T, K: Eq + Hash>(rows: Vec<T>, mut key: impl FnMut(&T) -> K, add: impl Fn(&mut T, T)) -> Vec<T> {
    let mut known: FxHashMap<K, usize> = FxHashMap::default();
    let mut kept: Vec<T> = Vec::with_capacity(rows.len());
    for row in rows {
        match known.entry(key(&row)) {
            Entry::Occupied(at) => add(&mut kept[*at.get()], row),
            Entry::Vacant(new) => {
                new.insert(kept.len());
                kept.push(row);
            }
        }
    }
    kept
}

/// Adds up what neighbours with equal keys have.
fn add_equal<K: PartialEq>(rows: &mut Vec<(K, Span)>) {
    rows.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { Span::ZERO };
        same
    });
}

/// Facts that are sums over call paths.
const SUMS: [&str; 7] =
    ["accesses", "combined_seconds", "transfers", "runs", "unknown_addresses", "visits", "instances"];
/// Facts that are means over what `count` counts.
const MEANS: [&str; 2] = ["mean_seconds", "baseline_seconds"];

/// The facts of two findings together: sums, means, and what is the same of both; others do not hold for both.
fn join_facts(finding: &mut Finding, other: &Finding) {
    let fact = |of: &[(&'static str, f64)], name: &str| of.iter().find(|it| it.0 == name).map(|it| it.1);
    let weights = |name: &str| match name {
        "mean_bytes" => {
            let of = if fact(&finding.facts, "transfers").is_some() { "transfers" } else { "accesses" };
            Some((fact(&finding.facts, of)?, fact(&other.facts, of)?))
        }
        _ if MEANS.contains(&name) => Some((finding.count as f64, other.count as f64)),
        _ => None,
    };
    let mut facts: Vec<(&'static str, f64)> = Vec::with_capacity(finding.facts.len());
    let more = other.facts.iter().filter(|it| fact(&finding.facts, it.0).is_none());
    for name in finding.facts.iter().chain(more).map(|it| it.0) {
        let both = (fact(&finding.facts, name), fact(&other.facts, name));
        let value = match (both, weights(name)) {
            ((one, two), _) if SUMS.contains(&name) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
            ((Some(one), Some(two)), Some((of_one, of_two))) => Some((one * of_one + two * of_two) / (of_one + of_two)),
            ((one, two), _) if one == two || name == "factor" => one,
            _ => None,
        };
        facts.extend(value.map(|value| (name, value)));
    }
    let ratio = fact(&facts, "mean_seconds").zip(fact(&facts, "baseline_seconds")).map(|(mean, needed)| mean / needed);
    if let (Some(ratio), Some(factor)) = (ratio, facts.iter_mut().find(|it| it.0 == "factor")) {
        factor.1 = ratio;
    }
    finding.facts = facts;
}
