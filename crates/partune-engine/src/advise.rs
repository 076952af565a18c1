//! What to do about a run: candidates of the tuning knowledge, each predicted by a replay.

use std::collections::BTreeMap;

use partune_advice::{Candidate, Evidence, Recipe, StepActions};
use partune_analysis::{Finding, Gap};
use partune_base::{CallPathId, PeId, ProcessId, Table};
use partune_machine::Machine;
use partune_replay::{Change, Outcome, Place};
use partune_trace::Trace;

use crate::what_if::{Followed, Saving, WhatIfError, can_be_followed, follow};
use crate::{Diagnosis, Progress};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct AdviseRequest {
    /// What operations need; fitted to the run if none.
    pub machine: Option<Machine>,
    pub scope: Scope,
}

/// Which candidates are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// So many that mend what was found, first two for what is mainly one finding each. What supposes another network, or faster code, mends nothing.
    Mends(usize),
    /// What is most likely to help.
    #[default]
    Likely,
    /// All that could be done, and pairs of it.
    All,
}

/// What to do about a run.
#[derive(Debug)]
pub struct Advised {
    /// Without changes.
    pub followed: Followed,
    /// First what saves most; what cannot be predicted comes last.
    pub advice: Vec<Advice>,
    /// Two that together save more than the best one alone, as positions in `advice`.
    pub together: Option<(usize, usize, Saving)>,
    /// Candidates that were tried and save nothing.
    pub in_vain: usize,
    /// The steps of tuning that the gaps of the run call for, with the actions of each.
    pub steps: Vec<StepActions>,
}

/// Something to do.
#[derive(Debug)]
pub struct Advice {
    pub candidate: Candidate,
    /// What was replayed; none where nothing predicts it.
    pub change: Option<String>,
    /// What the change supposes the time there to be multiplied with, where it does no more than that.
    pub factor: Option<f64>,
    /// None where nothing predicts it.
    pub saving: Option<Saving>,
    /// Where in the program: what the change names.
    pub place: CallPathId,
    /// How to do it in the programming model of what waits, or of the run.
    pub recipe: Option<(&'static str, &'static Recipe)>,
}

/// A candidate whose change was replayed.
struct Tried {
    candidate: Candidate,
    change: Change,
    saving: Saving,
}

/// Times within the run that are too small to be told, as a share of it.
const NOTHING: f64 = 0.001;
/// Savings in the same multiple of this share of the run are the same.
const SAME: f64 = 0.01;
/// Of so many candidates pairs are tried.
const PAIRED: usize = 6;
/// What saves less than this share of the run is not worth a try.
pub(crate) const WORTH: f64 = 0.01;
/// What a diagnosis tries of itself: at most so many candidates …
const MENDS: usize = 16;
/// … and at most so many events in all, which takes about a second.
const EVENTS: u64 = 16_000_000;

impl Advised {
    /// What mends a finding, the most saving first, by its position. Advice that several findings call for is told at the longest.
    pub fn mends(&self, finding: usize) -> impl Iterator<Item = (&Advice, &Saving)> {
        let of_it = self.advice.iter().filter(move |advice| advice.candidate.findings.first() == Some(&finding));
        of_it.filter_map(|advice| Some((advice, advice.saving.as_ref()?)))
    }
}

/// Tries what mends the findings of a whole run, as far as that takes no longer than a moment, and orders them by what it saves; those that nothing
/// that was tried mends stay behind, in their order.
pub(crate) fn predict(diagnosis: &mut Diagnosis, machine: Option<&Machine>, progress: &dyn Progress) {
    let tries = (EVENTS / diagnosis.run.events().max(1)).min(MENDS as u64) as usize;
    let is_whole = diagnosis.run.piece().is_none() && diagnosis.ending().is_none() && diagnosis.clocks_aligned();
    if tries == 0 || !is_whole || diagnosis.findings.is_empty() {
        return;
    }
    let request = AdviseRequest { machine: machine.cloned(), scope: Scope::Mends(tries) };
    let Ok(mut advised) = advise(diagnosis, &request, progress) else { return };
    // What saves more than its findings lose on all PEs together mends something else, and what saves next to nothing is not worth the work.
    advised.advice.retain(|advice| {
        let saves = advice.saving.map_or(0.0, |saving| saving.saves_s);
        saves >= WORTH * advised.followed.run_s && saves <= diagnosis.run.seconds(advice.candidate.loss)
    });
    if !advised.followed.is_doubtful() {
        let saves = |at: &usize| advised.mends(*at).map(|it| it.1.saves_s).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..diagnosis.findings.len()).collect();
        order.sort_by(|a, b| saves(b).total_cmp(&saves(a)));
        let mut findings: Vec<_> = std::mem::take(&mut diagnosis.findings).into_iter().map(Some).collect();
        diagnosis.findings = order.iter().filter_map(|at| findings[*at].take()).collect();
        let mut now = vec![0; order.len()];
        order.iter().enumerate().for_each(|(is, was)| now[*was] = is);
        let named = advised.advice.iter_mut().flat_map(|advice| &mut advice.candidate.findings);
        named.for_each(|at| *at = now[*at]);
    }
    diagnosis.advised = Some(advised);
}

/// Finds what to do, and predicts what it saves. Cost: a replay a candidate, some dozens, and with `all` also one a pair of the first
/// few.
pub fn advise(diagnosis: &Diagnosis, request: &AdviseRequest, progress: &dyn Progress) -> Result<Advised, WhatIfError> {
    let run = &diagnosis.run;
    let (trace, index) = (&run.trace, &run.index);
    can_be_followed(trace, index)?;
    let findings: Vec<&Finding> = diagnosis.findings.iter().map(|it| &it.finding).collect();
    let gaps: Vec<Gap> = diagnosis.bounds().map(gaps).unwrap_or_default();
    let mut options = partune_advice::Options::default();
    if request.scope != Scope::Likely {
        (options.predicted, options.per_finding, options.unpredicted) = (usize::MAX, usize::MAX, usize::MAX);
    }
    let candidates = partune_advice::candidates(&Evidence { trace, findings: &findings, gaps: &gaps }, &options);
    let (mut changes, mut unpredicted) = planned(trace, candidates, request.scope);
    let (replay, followed) = follow(trace, index, request.machine.as_ref(), progress);
    if followed.is_lost() {
        let candidates = changes.drain(..).map(|(candidate, _)| candidate);
        if !matches!(request.scope, Scope::Mends(_)) {
            unpredicted.splice(0..0, candidates);
        }
    }
    let plain = replay.plain();
    let run_s = followed.run_s;
    let saving = |outcome: &Outcome| Saving::of(trace, followed, outcome, plain);
    let mut tried: Vec<Tried> = Vec::new();
    let mut in_vain = 0;
    // A serial section is shared by the threads of its process, and by processes where they have no others.
    let mut threads: Table<ProcessId, usize> = Table::filled(trace.processes().len(), 0);
    trace.cpu_pes().for_each(|pe| threads[trace.pes()[pe].process] += 1);
    let sharing = match threads.iter().max() {
        Some(threads) if *threads > 1 => *threads,
        _ => trace.cpu_pes().count().max(1),
    };
    progress.stage("trying changes");
    for (mut candidate, change) in changes {
        let outcome = replay.under(std::slice::from_ref(&change));
        let (saving, loss_s) = (saving(&outcome), diagnosis.run.seconds(candidate.loss));
        let saving = match &change {
            // A part of the work at a place is meant, and nobody knows which: no more than what waits for it.
            Change::Scale(_, factor) if candidate.upper_limit => saving.at_most((1.0 - factor) * loss_s),
            // What one PE does while the others wait, shared out among them, takes its part of that time. The code may do more than that, while others
            // work too.
            Change::Spread(_) => saving.at_most(loss_s / sharing as f64),
            // What saves more than its findings lose on all PEs together mends something else as well: more of the code than they are about.
            _ if !candidate.findings.is_empty() && saving.saves_s > loss_s => {
                candidate.upper_limit = true;
                saving.at_most(loss_s)
            }
            _ => saving,
        };
        let (is_done, helps) = (outcome.refused.is_empty(), saving.saves_s >= NOTHING * run_s);
        in_vain += usize::from(!is_done || !helps);
        if is_done && (helps || request.scope == Scope::All) {
            tried.push(Tried { candidate, change, saving });
        }
    }
    // What saves the same as far as anybody can tell is ranked by what it may cost.
    let about = |it: &Tried| (it.saving.saves_s / (SAME * run_s).max(f64::MIN_POSITIVE)).round();
    tried.sort_by(|a, b| {
        let costs = |it: &Tried| it.candidate.action.side_effects.len();
        about(b).total_cmp(&about(a)).then(costs(a).cmp(&costs(b))).then(b.saving.saves_s.total_cmp(&a.saving.saves_s))
    });
    let pair =
        if request.scope == Scope::All { pair(&tried, |changes| saving(&replay.under(changes)), run_s) } else { None };
    let in_pair = |at: usize| pair.is_some_and(|(one, two, _)| at == one || at == two);
    let is_told = |(at, it): (usize, &Tried)| it.saving.saves_s >= NOTHING * run_s || in_pair(at);
    let told: Vec<bool> = tried.iter().enumerate().map(is_told).collect();
    let position = |at: usize| told[..at].iter().filter(|told| **told).count();
    let together = pair.map(|(one, two, saving)| (position(one), position(two), saving));
    let mut is_told = told.iter();
    tried.retain(|_| is_told.next() == Some(&true));
    let gain = |action: &partune_advice::Action| {
        tried.iter().find(|it| it.candidate.action.id == action.id).map(|it| it.saving.saves_s / run_s)
    };
    let steps = partune_advice::steps(&partune_advice::Shares::of(&gaps), &gain, &options);
    let predicted = tried.into_iter().map(|it| Advice::new(trace, it.candidate, Some((it.change, it.saving))));
    let others = unpredicted.into_iter().map(|candidate| Advice::new(trace, candidate, None));
    let advice = predicted.chain(others).collect();
    Ok(Advised { followed, advice, together, in_vain, steps })
}

/// The candidates to try, each with its change, which no other one has; and those that nothing predicts.
fn planned(trace: &Trace, candidates: Vec<Candidate>, scope: Scope) -> (Vec<(Candidate, Change)>, Vec<Candidate>) {
    let (mut changes, mut unpredicted): (Vec<(Candidate, Change)>, _) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match change(trace, &candidate) {
            Some(change) if changes.iter().any(|(_, known)| *known == change) => {}
            Some(change) => changes.push((candidate, change)),
            None => unpredicted.push(candidate),
        }
    }
    if let Scope::Mends(tries) = scope {
        changes.retain(|(_, change)| change.mends());
        // Each finding has two before one has more.
        let mut of_finding: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        let mut round = |candidate: &Candidate| {
            let before = of_finding.entry(candidate.findings.first().copied()).or_default();
            *before += 1;
            *before > 2
        };
        let (first, more): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(candidate, _)| !round(candidate));
        changes = first.into_iter().chain(more).take(tries).collect();
        unpredicted.clear();
    }
    (changes, unpredicted)
}

/// Gaps of the run, and of its threads where they have any.
fn gaps(of: &partune_analysis::Hierarchies) -> Vec<Gap> {
    of.run.gaps.iter().chain(of.threads.iter().flat_map(|threads| &threads.gaps)).copied().collect()
}

/// The change that predicts a candidate, with the names of the run; none where nothing does.
fn change(trace: &Trace, candidate: &Candidate) -> Option<Change> {
    let name = |path: CallPathId, of: fn(&Trace, CallPathId) -> Place| {
        path.some().map_or_else(String::new, |path| of(trace, path).to_string())
    };
    let (pe, cause) = candidate.cause.unwrap_or((PeId::NONE, CallPathId::NONE));
    let pe = pe.some().map_or_else(String::new, |pe| format!("pe:{}", pe.0));
    // A finding is of all lines of its place, a cause is one statement.
    let (place, cause) = (name(candidate.place, partune_replay::name), name(cause, partune_replay::statement));
    candidate.change?.fill(&place, &cause, &pe).parse().ok()
}

/// The two of the first few that save most together, if that is more than the best one does.
fn pair(tried: &[Tried], saving: impl Fn(&[Change]) -> Saving, run_s: f64) -> Option<(usize, usize, Saving)> {
    let best = tried.first().map_or(0.0, |it| it.saving.saves_s);
    let few = tried.len().min(PAIRED);
    let pairs = (0..few).flat_map(|one| (one + 1..few).map(move |two| (one, two)));
    let with = pairs.map(|(one, two)| (one, two, saving(&[tried[one].change.clone(), tried[two].change.clone()])));
    let most = with.max_by(|a, b| a.2.saves_s.total_cmp(&b.2.saves_s))?;
    (most.2.saves_s > best + NOTHING * run_s).then_some(most)
}

impl Advice {
    fn new(trace: &Trace, candidate: Candidate, predicted: Option<(Change, Saving)>) -> Advice {
        let of_cause = candidate.change.is_some_and(partune_advice::Change::needs_cause);
        let factor = match &predicted {
            Some((Change::Scale(_, factor), _)) => Some(*factor),
            _ => None,
        };
        let place = candidate.cause.filter(|_| of_cause).map_or(candidate.place, |cause| cause.1);
        let (change, saving) =
            predicted.map_or((None, None), |(change, saving)| (Some(change.to_string()), Some(saving)));
        let recipe = recipe(trace, &candidate);
        Advice { candidate, change, factor, saving, place, recipe }
    }
}

/// The recipe for the programming model of what waits, else the first one for a model of the run.
fn recipe(trace: &Trace, candidate: &Candidate) -> Option<(&'static str, &'static Recipe)> {
    let recipes = &candidate.action.recipes;
    let paradigm = |path: CallPathId| {
        let region = path.some().map(|path| &trace.regions()[trace.paths().region(path)]);
        region.and_then(|region| region.paradigm.some()).map(|name| trace.strings().get(name))
    };
    let of_run = trace.paths().ids().filter_map(paradigm);
    let known = paradigm(candidate.place).into_iter().chain(of_run);
    let mut known = known.filter_map(|name| recipes.get_key_value(name));
    known.next().map(|(name, recipe)| (name.as_str(), recipe))
}
