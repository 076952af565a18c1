//! One loss, one finding: what makes PEs wait and the waiting itself.
//!
//! Imbalance between two synchronisations shows as waiting at the second one, or on the way. Then the finding of the wait is the one that is
//! told, with the imbalance as its second figure (a fact named after the pattern, in seconds); where most does not show in any
//! wait, that stays a finding of its own. Imbalance of whole PEs and of places is compared with all waits of the run, and with what
//! blocks of threads tell of it.
//!
//! What an operation costs by itself is told by the finding that says why, if there is one at its call path; only the rest is left.

use std::cmp::Reverse;

use partune_base::{CallPathId, PeId, Span};
use partune_trace::Trace;
use rustc_hash::FxHashMap;

use crate::finding::{Kind, Told};
use crate::useful::role_of_path;
use crate::{Finding, Pattern};

/// The findings with each loss once. `least` is what a finding must lose, in ticks.
pub fn once(trace: &Trace, findings: Vec<Finding>, least: i64) -> Vec<Finding> {
    let waits = || findings.iter().filter(|it| it.pattern.is_wait());
    let most = waits().max_by_key(|it| (it.time, std::cmp::Reverse((it.pattern, it.path))));
    let everywhere = most.map(|it| Told { time: waits().map(|it| it.time).sum(), pattern: it.pattern, path: it.path });
    let makes_wait = |it: &Finding| it.pattern.kind() == Kind::Uneven;
    let (mut imbalances, mut findings): (Vec<_>, Vec<_>) = findings.into_iter().partition(makes_wait);
    let is_block = |it: &Finding| it.facts.contains(&("level", 1.0));
    imbalances.sort_by_key(|it| !is_block(it));
    // What blocks lose and no wait shows.
    let mut apart = Span::ZERO;
    for finding in imbalances {
        let block = is_block(&finding);
        let told = if block { finding.waits } else { finding.waits.or(everywhere) };
        let shown = told.and_then(|told| {
            let same = |it: &&mut Finding| it.pattern == told.pattern && it.leads_there(told.path);
            findings.iter_mut().find(same).map(|it| (told, it))
        });
        let Some((told, wait)) = shown else {
            let left = if block { finding.time } else { finding.time - apart };
            if left.0 >= least.max(1) {
                apart += if block { left } else { Span::ZERO };
                findings.push(scaled(finding, left));
            }
            continue;
        };
        let (name, seconds) = (finding.pattern.name(), trace.clock().seconds(finding.time));
        match wait.facts.iter_mut().find(|(known, _)| *known == name) {
            // Places below each other tell of the same imbalance; regions do not.
            Some(fact) => fact.1 = if block { fact.1 + seconds } else { fact.1.max(seconds) },
            None => wait.facts.push((name, seconds)),
        }
        // What is left of a block's was not lost here: it is the cost of operations, or a PE began late. What is left of others' was hidden.
        let remainder = if block { Span::ZERO } else { finding.time - told.time - apart };
        if remainder.0 >= least.max(1) && told.time < remainder {
            findings.push(scaled(finding, remainder));
        }
    }
    without_reasons(trace, findings, least)
}

/// Costs less what findings at the same call path say why, as far as enough is left of them.
fn without_reasons(trace: &Trace, findings: Vec<Finding>, least: i64) -> Vec<Finding> {
    let mut told: FxHashMap<CallPathId, Span> = FxHashMap::default();
    let mut told_of: FxHashMap<(CallPathId, PeId), f64> = FxHashMap::default();
    // That others wait for a file is not what it costs who reads or writes it.
    let says_why = |it: &&Finding| it.pattern.kind() == Kind::Reason && it.pattern != Pattern::SerialIo;
    for finding in findings.iter().filter(says_why) {
        for (path, time) in finding.shares() {
            *told.entry(path).or_default() += time;
            let share = time.0 as f64 / finding.time.0.max(1) as f64;
            finding.pes.iter().for_each(|(pe, span)| *told_of.entry((path, *pe)).or_default() += span.0 as f64 * share);
        }
    }
    let rest = |finding: Finding| {
        if ![Pattern::OperationCost, Pattern::InputOutput].contains(&finding.pattern) {
            return Some(finding);
        }
        // A reason may say more of a path than operations there cost beside their waits.
        let left = |(path, time)| (path, time - told.get(&path).copied().unwrap_or_default());
        let mut paths: Vec<(CallPathId, Span)> = finding.shares().map(left).filter(|it| it.1.is_positive()).collect();
        paths.sort_by_key(|(path, time)| (Reverse(*time), *path));
        let remainder = paths.iter().map(|(_, time)| *time).sum::<Span>();
        let (path, _) = *paths.first().filter(|_| remainder.0 >= least)?;
        if paths.len() == 1 {
            paths.clear();
        }
        // On each PE, what is not told of it.
        let told_on = |pe| finding.shares().filter_map(|(path, _)| told_of.get(&(path, pe))).sum::<f64>();
        let on_pe = |(pe, span): &(PeId, Span)| (*pe, (span.0 as f64 - told_on(*pe)).max(0.0));
        let on_pes: Vec<(PeId, f64)> = finding.pes.iter().map(on_pe).collect();
        let all: f64 = on_pes.iter().map(|(_, ticks)| ticks).sum();
        let mut rest = scaled(finding, remainder);
        if all > 0.0 {
            let part = |ticks: f64| Span((ticks / all * remainder.0 as f64).round() as i64);
            rest.pes = on_pes.into_iter().map(|(pe, ticks)| (pe, part(ticks))).collect();
            rest.pes.retain(|(_, span)| span.is_positive());
        }
        Some(Finding { path, paths, role: role_of_path(trace, path), ..rest })
    };
    findings.into_iter().filter_map(rest).collect()
}

/// The part of a finding that no other has.
fn scaled(mut finding: Finding, time: Span) -> Finding {
    let factor = time.0 as f64 / finding.time.0.max(1) as f64;
    let scale = |span: &mut Span| *span = Span((span.0 as f64 * factor).round() as i64);
    finding.pes.iter_mut().for_each(|(_, span)| scale(span));
    finding.paths.iter_mut().for_each(|(_, span)| scale(span));
    finding.causes.iter_mut().flat_map(|cause| [&mut cause.time, &mut cause.passed_on]).for_each(scale);
    scale(&mut finding.unexplained);
    finding.time = time;
    finding
}
