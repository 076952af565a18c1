//! From findings and gaps to candidates: which action, at which place, with which change to predict it.
//!
//! Findings that call for the same change are one candidate:
//! code that makes others wait at five places is balanced once. Actions that the same change predicts are one candidate too, and the others
//! its alternatives, so that nothing is replayed twice.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_analysis::{Finding, Gap};
use partune_base::{CallPathId, PeId, Span};
use partune_trace::Trace;

use crate::calls::{Call, Key, Run, calls_of};
use crate::steps::rank;
use crate::{Action, Change, Options, Rule, Shares, knowledge};

/// What is known of a run.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// Where the findings are from: what is code, and of which paradigm operations are.
    pub trace: &'a Trace,
    pub findings: &'a [&'a Finding],
    /// With their fractions, of the run and, where there are any, of its threads.
    pub gaps: &'a [Gap],
}

/// Something that could be done about a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub action: &'static Action,
    /// What predicts it, with names still to be filled in; none where nothing does: by the action's nature ([`Action::unpredicted`]), or since the
    /// code to be changed was not recorded.
    pub change: Option<&'static Change>,
    /// Whether the prediction is an upper limit.
    pub upper_limit: bool,
    /// Other actions that the same change predicts, best first.
    pub alternatives: Vec<&'static Action>,
    /// Where: the place of the longest of its findings; none where only a gap calls for it.
    pub place: CallPathId,
    /// The main cause of that finding: its PE, and the code that made it late, or its operation where the code is not known. If the change names
    /// it, the first cause that is code.
    pub cause: Option<(PeId, CallPathId)>,
    /// Which findings call for it, as positions, longest first.
    pub findings: Vec<usize>,
    /// What they lose, summed over PEs.
    pub loss: Span,
    /// The part of it that is the doing of what the change changes: of the cause, or of its PE; else all of it.
    pub caused: Span,
    /// What the gaps say of the action ([`crate::Ranked::score`]).
    pub score: f64,
    /// What it makes worse for other candidates.
    pub harms: Vec<Harm>,
}

/// An issue that one candidate makes worse and another one is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Harm {
    /// The position of the other one.
    pub candidate: usize,
    pub issue: u8,
}

/// Candidates for advice: first those that can be predicted, then those that cannot; in each part what loses most comes first. Bounded by
/// `options`; the order depends on nothing but the evidence. Cost: call paths + findings × rules, and the visits once where
/// a loop may be what is changed.
pub fn candidates(evidence: &Evidence<'_>, options: &Options) -> Vec<Candidate> {
    let shares = Shares::of(evidence.gaps);
    let run = Run::new(evidence.trace);
    let mut calls: BTreeMap<Key, Vec<Call<'_>>> = BTreeMap::new();
    for (at, action) in knowledge().actions.iter().enumerate() {
        let fits = |rule: &&Rule| rule.gaps.is_empty() || shares.any(&rule.gaps, options.significant);
        for rule in action.when.iter().filter(fits) {
            for call in calls_of(action, rule, evidence.findings, &run, options) {
                calls.entry(call.key(at)).or_default().push(call);
            }
        }
    }
    let candidates = calls.into_iter().filter_map(|(key, calls)| Some((key, candidate(calls, &shares, options)?)));
    let mut found: Vec<(Key, Candidate)> = candidates.collect();
    let order = |(_, it): &(Key, Candidate)| (it.change.is_none(), Reverse((it.loss, it.caused)));
    // Keys are in order and unique, so this is total.
    found.sort_by(|a, b| {
        let by_loss = order(a).cmp(&order(b)).then(b.1.score.total_cmp(&a.1.score));
        by_loss.then_with(|| a.0.cmp(&b.0))
    });
    let mut chosen = bounded(alternatives(found).into_iter(), options);
    let harms: Vec<Vec<Harm>> = chosen.iter().map(|it| harms(it, &chosen)).collect();
    chosen.iter_mut().zip(harms).for_each(|(candidate, harms)| candidate.harms = harms);
    chosen
}

/// One candidate of the calls for the same change; each finding counts once, though several rules may meet it.
fn candidate(mut calls: Vec<Call<'_>>, shares: &Shares, options: &Options) -> Option<Candidate> {
    let time = |call: &Call<'_>| call.finding.map_or(Span::ZERO, |(_, finding)| finding.time);
    let position = |call: &Call<'_>| call.finding.map(|(at, _)| at);
    calls.sort_by_key(|call| (Reverse(time(call)), position(call)));
    calls.dedup_by_key(|call| position(call));
    let main = calls.first()?;
    Some(Candidate {
        action: main.action,
        change: main.change,
        upper_limit: calls.iter().all(|call| call.upper_limit),
        alternatives: Vec::new(),
        place: main.finding.map_or(CallPathId::NONE, |(_, finding)| finding.path),
        cause: main.cause,
        findings: calls.iter().filter_map(position).collect(),
        loss: calls.iter().map(time).sum(),
        caused: calls.iter().map(|call| call.caused).sum(),
        score: rank(main.action, shares, None, options).score,
        harms: Vec::new(),
    })
}

/// Those with the same change as an earlier one become alternatives of it.
fn alternatives(found: Vec<(Key, Candidate)>) -> Vec<Candidate> {
    let mut first: BTreeMap<Key, usize> = BTreeMap::new();
    let mut kept: Vec<Candidate> = Vec::new();
    for (key, candidate) in found {
        let named = key.of_change();
        if let Some(at) = first.get(&named).filter(|_| candidate.change.is_some()) {
            kept[*at].alternatives.push(candidate.action);
        } else {
            first.insert(named, kept.len());
            kept.push(candidate);
        }
    }
    kept
}

/// The first ones, as many as are wanted.
fn bounded(found: impl Iterator<Item = Candidate>, options: &Options) -> Vec<Candidate> {
    let (mut predicted, mut unpredicted) = (0, 0);
    let mut of_finding: BTreeMap<usize, usize> = BTreeMap::new();
    let mut fits = |candidate: &Candidate| {
        let (count, most) = match candidate.change {
            Some(_) => (&mut predicted, options.predicted),
            None => (&mut unpredicted, options.unpredicted),
        };
        let room = match candidate.findings.first().filter(|_| candidate.change.is_some()) {
            Some(finding) => {
                let of_finding = of_finding.entry(*finding).or_default();
                let room = *of_finding < options.per_finding;
                *of_finding += usize::from(room && *count < most);
                room
            }
            None => true,
        };
        let fits = room && *count < most;
        *count += usize::from(fits);
        fits
    };
    found.filter(|candidate| fits(candidate)).collect()
}

/// An action is never bad for what it is good for, so a candidate does not harm others of its own action.
fn harms(candidate: &Candidate, all: &[Candidate]) -> Vec<Harm> {
    let harmed = |(at, other): (usize, &Candidate)| {
        let issues = candidate.action.negative.iter().copied().filter(|issue| other.action.helps(*issue));
        issues.map(|issue| Harm { candidate: at, issue }).collect::<Vec<Harm>>()
    };
    all.iter().enumerate().flat_map(harmed).collect()
}
