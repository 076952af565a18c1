//! Findings of several runs: gained, lost, grown, shrunk. The same finding has the same pattern at the same place; call paths that are
//! one place to a pattern in one of the runs are one to it in all.
//!
//! A finding is absent where it loses less than the threshold, not where it loses nothing: so one is gained or lost only if it has twice
//! what the other run could have without showing it.

use std::collections::BTreeMap;

use partune_base::{CallPathId, Id, PeId, Span, Table};
use partune_trace::Role;

use super::Run;
use super::moments::Moments;
use super::sampling::Sampling;
use super::sets::Sets;
use super::spread::{Change, Spread, Verdict, besides, change, change_with, per};
use crate::finding::Kind;
use crate::{Finding, PathTime, Pattern};

/// A finding in one run, or several of them at one place together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindingSums {
    /// The loss, summed over PEs.
    pub seconds: f64,
    /// Share of the run's time on all PEs.
    pub fraction: f64,
    pub count: u64,
    /// Where it is in this run; of several the one that loses most.
    pub path: CallPathId,
}

/// A finding in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingRow {
    pub pattern: Pattern,
    pub role: Role,
    /// For each run; none where it is not found.
    pub sums: Vec<Option<FindingSums>>,
    /// For each run after the base.
    pub changes: Vec<Change>,
}

/// What makes findings the same: pattern, and row of the place if it has one.
type Key = (Pattern, Option<usize>);

/// A finding of one run with the shares of its PEs.
struct Found {
    sums: FindingSums,
    pes: Vec<(u32, f64)>,
    most: Span,
    /// Of the sum, from the spread over single waits; none for what is no wait, or waited once.
    variance: Option<f64>,
    /// What comes to that: by the error of counting samples, where these say which code it is the loss of; of what operations cost, by the spread over visits
    /// without their waits.
    besides: Option<f64>,
    /// The part of the place's time that is calls times what one is taken to cost: all of a frequent operation's, and what a cost is told less for that.
    calls: Calls,
}

/// Calls, in seconds, with those that one is taken to cost: that is an estimate of each run.
#[derive(Clone, Copy, Default)]
struct Calls {
    seconds: f64,
    each: f64,
}

impl Found {
    fn empty(sums: FindingSums) -> Found {
        let (most, calls) = (Span::ZERO, Calls::default());
        Found { sums, pes: Vec::new(), most, variance: None, besides: None, calls }
    }
}

impl Calls {
    fn of(run: &Run<'_>, finding: &Finding) -> Calls {
        let each = finding.facts.iter().find(|fact| fact.0 == "clock_seconds").map_or(0.0, |fact| fact.1);
        Calls { seconds: run.trace().clock().seconds(finding.time), each }
    }

    /// What they would be by the estimate of another run; all of it where that has none.
    fn by(self, other: Calls) -> f64 {
        if self.each > 0.0 && other.each > 0.0 { self.seconds * other.each / self.each } else { 0.0 }
    }

    /// Of one of so many PEs.
    fn per(self, pes: f64) -> Calls {
        Calls { seconds: self.seconds / pes, ..self }
    }

    /// What of a difference is one of the estimates, and not of the calls; both are of as many PEs.
    fn estimated(base: Calls, other: Calls) -> f64 {
        (other.seconds - other.by(base)).abs() + if other.each > 0.0 { 0.0 } else { base.seconds }
    }
}

/// The findings of sets of repeated runs, as far as the runs that stand for them have them, largest difference first.
/// `row` has the row of a call path of a run.
pub(crate) fn compare(
    runs: &[Run<'_>],
    sampled: &[Option<Sampling>],
    sets: &Sets,
    row_of: impl Fn(usize, CallPathId) -> Option<usize>,
) -> Vec<FindingRow> {
    let mut all: BTreeMap<Key, (Role, Vec<Option<Found>>)> = BTreeMap::new();
    let joined = Joined::new(runs, &row_of);
    let key_of = |run: usize, pattern: Pattern, path: CallPathId| -> Key {
        (pattern, row_of(run, path).map(|row| joined.first(pattern, row)))
    };
    for (number, run) in runs.iter().enumerate() {
        let mut positions: Table<PeId, u32> = Table::filled(run.trace().pes().len(), u32::MAX);
        run.trace().active_pes().enumerate().for_each(|(position, pe)| positions[pe] = position as u32);
        let total = run.total();
        for finding in run.findings {
            let entry = all.entry(key_of(number, finding.pattern, finding.path));
            let (_, of_runs) =
                entry.or_insert_with(|| (finding.role, std::iter::repeat_with(|| None).take(runs.len()).collect()));
            let sums = FindingSums { seconds: 0.0, fraction: 0.0, count: 0, path: finding.path };
            let found = of_runs[number].get_or_insert(Found::empty(sums));
            if finding.time > found.most {
                (found.most, found.sums.path) = (finding.time, finding.path);
            }
            let seconds = run.trace().clock().seconds(finding.time);
            found.sums.seconds += seconds;
            found.sums.fraction += if total > 0.0 { seconds / total } else { 0.0 };
            found.sums.count += finding.count;
            if finding.pattern == Pattern::HighFrequency {
                let more = Calls::of(run, finding);
                found.calls = Calls { seconds: found.calls.seconds + more.seconds, ..more };
            }
            for (pe, time) in finding.pes.iter().filter(|(pe, _)| pe.index() < positions.len()) {
                let share = run.trace().clock().seconds(*time);
                match found.pes.binary_search_by_key(&positions[*pe], |it| it.0) {
                    Ok(at) => found.pes[at].1 += share,
                    Err(at) => found.pes.insert(at, (positions[*pe], share)),
                }
            }
        }
    }
    for (number, run) in runs.iter().enumerate() {
        let square = run.trace().clock().seconds(Span(1)).powi(2);
        let mut moments: BTreeMap<(Key, PeId), Moments> = BTreeMap::new();
        for ((pe, pattern, path), waits) in &run.input.wait_moments().0 {
            *moments.entry((key_of(number, *pattern, *path), *pe)).or_default() += *waits;
        }
        for ((key, _), moments) in moments {
            let found = all.get_mut(&key).and_then(|(_, of_runs)| of_runs[number].as_mut());
            if let (Some(found), Some(more)) = (found, moments.of_sum()) {
                found.variance = Some(found.variance.unwrap_or(0.0) + more * square);
            }
        }
    }
    for (number, run) in runs.iter().enumerate() {
        for (key, (variance, calls)) in costs(run, |pattern, path| key_of(number, pattern, path)) {
            if let Some(found) = all.get_mut(&key).and_then(|(_, of_runs)| of_runs[number].as_mut()) {
                found.besides = [found.besides, variance].into_iter().flatten().reduce(|a, b| a + b);
                found.calls =
                    Calls { seconds: found.calls.seconds + calls.seconds, each: found.calls.each.max(calls.each) };
            }
        }
    }
    for (number, (run, sampling)) in runs.iter().zip(sampled).enumerate() {
        let Some(sampling) = sampling else { continue };
        let times = run.input.times();
        for finding in run.findings.iter().filter(|finding| finding.pattern.kind() == Kind::Uneven) {
            let of_code: Vec<CallPathId> =
                finding.shares().map(|(path, _)| path).filter(|path| sampling.is_shared_out(*path)).collect();
            let on_pe = |rows: &Vec<PathTime>| {
                let rows = rows.iter().filter(|row| of_code.contains(&row.path));
                rows.map(|row| run.trace().clock().seconds(row.exclusive)).reduce(|a, b| a + b)
            };
            let on_pes: Vec<f64> = times.iter().filter_map(on_pe).collect();
            let found = all.get_mut(&key_of(number, finding.pattern, finding.path));
            if let Some(found) = found.and_then(|(_, of_runs)| of_runs[number].as_mut()).filter(|_| !on_pes.is_empty())
            {
                *found.besides.get_or_insert(0.0) += sampling.of_imbalance(&on_pes);
            }
        }
    }
    let mut result: Vec<FindingRow> = all
        .into_iter()
        .filter(|(_, (_, found))| found[..sets.len()].iter().any(Option::is_some))
        .map(|((pattern, _), (role, found))| {
            let changes = (1..sets.len()).map(|set| change_of_set(runs, sets, pattern, &found, set)).collect();
            let sums = found[..sets.len()].iter().map(|it| it.as_ref().map(|it| it.sums)).collect();
            FindingRow { pattern, role, sums, changes }
        })
        .collect();
    result.sort_by(|a, b| largest(&b.changes).total_cmp(&largest(&a.changes)));
    result
}

/// Rows of call paths that are one place to a pattern in a run: each with the one that stands for it.
#[derive(Default)]
struct Joined(BTreeMap<(Pattern, usize), usize>);

impl Joined {
    fn new(runs: &[Run<'_>], row_of: impl Fn(usize, CallPathId) -> Option<usize>) -> Joined {
        let mut joined = Joined::default();
        for (number, run) in runs.iter().enumerate() {
            for finding in run.findings.iter().filter(|finding| finding.pattern.is_of_place()) {
                let mut rows = finding.paths.iter().filter_map(|(path, _)| row_of(number, *path));
                let Some(first) = rows.next() else { continue };
                for row in rows {
                    let (a, b) = (joined.first(finding.pattern, first), joined.first(finding.pattern, row));
                    if a != b {
                        joined.0.insert((finding.pattern, a.max(b)), a.min(b));
                    }
                }
            }
        }
        joined
    }

    fn first(&self, pattern: Pattern, mut row: usize) -> usize {
        while let Some(before) = self.0.get(&(pattern, row)) {
            row = *before;
        }
        row
    }
}

/// The largest difference of some changes.
pub(crate) fn largest(changes: &[Change]) -> f64 {
    changes.iter().map(|change| change.difference.abs()).fold(0.0, f64::max)
}

/// Of a set to the base. Only where all runs of one of them show it and none of the other, it is new or gone.
fn change_of_set(runs: &[Run<'_>], sets: &Sets, pattern: Pattern, found: &[Option<Found>], set: usize) -> Change {
    let one_with_it =
        |set: usize| sets.runs(set).iter().copied().find(|run| found[*run].is_some()).unwrap_or(sets.runs(set)[0]);
    let (base, other) = (one_with_it(0), one_with_it(set));
    if sets.are_repeated(set) && found[base].is_some() && found[other].is_some() {
        let pes = |run: usize| runs[run].trace().cpu_pes().count();
        return sets.change(set, pes, |run| found[run].as_ref().map(|it| it.sums.seconds));
    }
    let change = between(runs, pattern, found, base, other);
    let some_only = |set: usize| matches!(sets.having(set, |run| found[run].is_some()), (1.., false));
    if change.verdict.is_told() && (some_only(0) || some_only(set)) {
        return Change { verdict: Verdict::TooSmall, ..change };
    }
    change
}

fn between(runs: &[Run<'_>], pattern: Pattern, found: &[Option<Found>], base: usize, other: usize) -> Change {
    let pes = |run: usize| runs[run].trace().cpu_pes().count();
    let value = |run: usize| found[run].as_ref().map(|it| it.sums.seconds);
    let spread = |run: usize| {
        let found = found[run].as_ref();
        Spread {
            sum: found.map_or(0.0, |it| it.sums.seconds),
            pes: found.map_or(&[], |it| it.pes.as_slice()),
            count: pes(run),
            variance: found.and_then(|it| it.variance),
            besides: found.and_then(|it| it.besides),
            resolution: 0.0,
        }
    };
    if let Some(mut change) = Change::one_sided(value(base), value(other)) {
        let without = if value(base).is_none() { base } else { other };
        if pes(base) != pes(other) {
            let per_pe = |run: usize| value(run).unwrap_or(0.0) / pes(run).max(1) as f64;
            change.difference = per_pe(other) - per_pe(base);
        }
        let hidden = runs[without].input.options.minimum * runs[without].trace_seconds();
        let per_pe = change.difference.abs() / if pes(base) == pes(other) { pes(base).max(1) as f64 } else { 1.0 };
        let sampled = besides(&spread(base), &spread(other)).map(f64::sqrt);
        let is_chance = sampled.is_some_and(|noise| !change.is_beyond(noise));
        if change.verdict != Verdict::Same && (per_pe < 2.0 * hidden || is_chance) {
            change.verdict = Verdict::TooSmall;
        }
        return change;
    }
    let at = (base, other);
    let (base, other) = (spread(base), spread(other));
    let calls = |run: usize| found[run].as_ref().map_or(Calls::default(), |it| it.calls);
    match pattern {
        Pattern::HighFrequency => frequency(&base, &other, [calls(at.0), calls(at.1)]),
        // All PEs start up and shut down together, once a run: one sample, whatever their number.
        Pattern::StartUp => match change(&base, &other) {
            known if known.verdict == Verdict::Same => known,
            told => Change { noise: None, verdict: Verdict::Unknown, ..told },
        },
        Pattern::LateSender
        | Pattern::LateReceiver
        | Pattern::WaitAtBarrier
        | Pattern::WaitAtNxn
        | Pattern::WaitAtSetUp
        | Pattern::LateBroadcast
        | Pattern::EarlyReduce
        | Pattern::EarlyScan
        | Pattern::WaitOnLock
        | Pattern::WaitOnValue
        | Pattern::CompetingPutGet
        | Pattern::LateFence
        | Pattern::LatePartner
        | Pattern::WaitForTask
        | Pattern::WaitForThread
        | Pattern::RedundantBarrier
        | Pattern::SmallTransfers
        | Pattern::SerialBlockingTransfers
        | Pattern::LoadImbalance
        | Pattern::SerialSection
        | Pattern::PoorLocality
        | Pattern::SmallAccesses
        | Pattern::SerialIo
        | Pattern::SameFileReadByAll
        | Pattern::SyncInLoop
        | Pattern::AboveBaseline
        | Pattern::OperationCost
        | Pattern::InputOutput
        | Pattern::WaitOnDevice
        | Pattern::ForkJoin
        | Pattern::IdleThreads
        | Pattern::WaitForProcessor
        | Pattern::User(_) => {
            let (base_per, other_per) = per(&base, &other);
            change_with(&base, &other, Calls::estimated(calls(at.0).per(base_per), calls(at.1).per(other_per)))
        }
    }
}

/// Calls are counted: what one costs is estimated in each run, and on some PEs it may be just too long to be frequent in one of them. What of a difference
/// comes from either is its noise.
fn frequency(base: &Spread<'_>, other: &Spread<'_>, [base_calls, other_calls]: [Calls; 2]) -> Change {
    let (base_per, other_per) = per(base, other);
    let by_base = if other_calls.each > 0.0 { base_calls.each / other_calls.each } else { 1.0 };
    let counted = if base.count == other.count {
        let share = |(pe, more): &(u32, f64)| {
            let at = base.pes.binary_search_by_key(pe, |it| it.0).ok()?;
            Some(more * by_base - base.pes[at].1)
        };
        other.pes.iter().filter_map(share).sum()
    } else {
        other.sum * by_base / other_per - base.sum / base_per
    };
    let noise = (other.sum / other_per - base.sum / base_per - counted).abs();
    Change::new(base.sum / base_per, other.sum / other_per, Some(noise), 0.0)
}

/// Of what operations cost at each place the variance by the spread over visits without their waits, and what was taken out of it as calls.
fn costs(run: &Run<'_>, key: impl Fn(Pattern, CallPathId) -> Key) -> Vec<(Key, (Option<f64>, Calls))> {
    let mut of_places: Vec<(Key, (Option<f64>, Calls))> = Vec::new();
    let mut of_path: Table<CallPathId, Option<u32>> = Table::filled(run.trace().paths().len(), None);
    let is_cost = |finding: &&&Finding| matches!(finding.pattern, Pattern::OperationCost | Pattern::InputOutput);
    for finding in run.findings.iter().filter(is_cost) {
        finding.shares().for_each(|(path, _)| of_path[path] = Some(of_places.len() as u32));
        of_places.push((key(finding.pattern, finding.path), (None, Calls::default())));
    }
    for finding in run.findings.iter().filter(|finding| finding.pattern == Pattern::HighFrequency) {
        if let Some(place) = of_path.get(finding.path).copied().flatten() {
            let (taken, more) = (&mut of_places[place as usize].1.1, Calls::of(run, finding));
            *taken = Calls { seconds: taken.seconds + more.seconds, ..more };
        }
    }
    let square = run.trace().clock().seconds(Span(1)).powi(2);
    for (path, visits) in run.input.visit_moments().of_pes.iter().flatten() {
        if let (Some(place), Some(more)) = (of_path.get(*path).copied().flatten(), visits.working.of_sum()) {
            *of_places[place as usize].1.0.get_or_insert(0.0) += more * square;
        }
    }
    of_places
}
