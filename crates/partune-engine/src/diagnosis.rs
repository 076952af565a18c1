//! All that was found, ranked.

use std::cmp::Reverse;
use std::fmt::Write;

use partune_analysis::{
    Account, Activities, AnalysisResult, Base, EarlyEnd, Efficiency, Finding, Hierarchies, Loss, Options, Pair,
    Pattern, Section, TopOperation, by_place, once,
};
use partune_base::Span;
use partune_diag::{Code, Diagnostic, Quality};
use partune_index::Index;
use partune_index::clock_repair::Repair;
use partune_trace::{PauseKind, Trace};

use crate::{Advised, Run};

/// A finding with its weight in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub finding: Finding,
    /// Share of the time of all PEs between start-up and shut-down ([`Base`]).
    pub fraction: f64,
}

impl Ranked {
    /// Whether it is told for what it loses outside of the run, and loses next to nothing within it.
    pub fn is_outside(&self) -> bool {
        self.finding.outside.is_positive() && self.fraction < 0.001
    }
}

/// The result of an analysis: the run, figures, and findings: first those that most is saved by mending them, then those that lose most.
pub struct Diagnosis {
    pub run: Run,
    pub sections: Vec<Section>,
    pub findings: Vec<Ranked>,
    /// Whether an analysis that looks for findings was run; else there are none to tell of.
    pub sought: bool,
    /// What mends the first findings, if that was looked for and can be predicted.
    pub advised: Option<Advised>,
    /// Everything that was noticed about the input.
    pub quality: Quality,
    /// What it was made with.
    pub options: Options,
}

impl Diagnosis {
    pub(crate) fn new(run: Run, sections: Vec<Section>, findings: Vec<Ranked>, options: Options) -> Diagnosis {
        let mut quality = run.trace.quality().clone();
        quality.merge(run.index.quality.clone());
        if run.is_profile() {
            quality.add(Diagnostic::info(
                Code::IsProfile,
                "this is a profile, sums without events: waits and who caused them, critical path, imbalance that changes from turn to \
                 turn, serialization, transfer and phases cannot be known",
                "record without --profile where a place of this profile has to be explained",
            ));
        }
        for note in clock_notes(&run.repair, &run.index, &run.trace) {
            quality.add(note);
        }
        Diagnosis { run, sections, findings, sought: true, advised: None, quality, options }
    }
}

impl Diagnosis {
    /// What the time went into.
    pub fn account(&self) -> Option<&Account> {
        self.results().find_map(AnalysisResult::account)
    }

    /// The factors of efficiency.
    pub fn efficiency(&self) -> Option<&Efficiency> {
        self.results().find_map(AnalysisResult::efficiency)
    }

    /// How the run ended, if not in order.
    pub fn ending(&self) -> Option<&EarlyEnd> {
        self.results().find_map(AnalysisResult::ending)
    }

    /// The hierarchies of bounds.
    pub fn bounds(&self) -> Option<&Hierarchies> {
        self.results().find_map(AnalysisResult::bounds)
    }

    /// What PEs spent their time on.
    pub fn activities(&self) -> Option<&Activities> {
        self.results().find_map(AnalysisResult::activities)
    }

    /// Who gave how much to whom, most bytes first.
    pub fn pairs(&self) -> &[Pair] {
        self.results().find_map(AnalysisResult::pairs).unwrap_or_default()
    }

    /// What constructs took of the run, longest first.
    pub fn operations(&self) -> &[TopOperation] {
        self.results().find_map(AnalysisResult::operations).unwrap_or_default()
    }

    /// What the run lost most by, and its share of the time of all PEs.
    pub fn largest_loss(&self) -> Option<(Loss, f64)> {
        let base = self.run.seconds(Span(Base::of(&self.run.trace).total()));
        let losses = self.account()?.losses().into_iter().filter(|(_, seconds)| *seconds > 0.0);
        // Of equal ones the first.
        let most = losses.reduce(|most, next| if next.1 > most.1 { next } else { most });
        most.filter(|_| base > 0.0).map(|(loss, seconds)| (loss, seconds / base))
    }

    /// Positions of the findings that are shown where there is room for so many: the first one, which is what to do something about next; then others in
    /// order, and instead of the last of them what would be missing of the largest loss: the first finding that tells of what the run lost most by, and start-up and
    /// shut-down outside of the run where they took more.
    pub fn first(&self, count: usize) -> Vec<usize> {
        let all = 0..self.findings.len();
        let Some((loss, share)) = self.largest_loss() else { return all.take(count).collect() };
        let outside = |at: &usize| self.findings[*at].finding.outside;
        let longest = all.clone().max_by_key(|at| (outside(at), Reverse(*at)));
        let lost: Span = all.clone().map(|at| outside(&at)).sum();
        let more = lost.0 as f64 > share * Base::of(&self.run.trace).total() as f64;
        let largest = all.clone().find(|at| self.findings[*at].finding.pattern.tells(loss));
        let mut shown: Vec<usize> = Vec::new();
        for at in all.clone().take(1).chain(largest).chain(longest.filter(|_| more)).chain(all) {
            if shown.len() < count && !shown.contains(&at) {
                shown.push(at);
            }
        }
        shown.sort_unstable();
        shown
    }

    fn results(&self) -> impl Iterator<Item = &AnalysisResult> {
        self.sections.iter().filter_map(|section| section.result.as_ref())
    }

    /// What an analysis showed under a name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Whether times of different PEs can be compared. If not, everything that needs those of several is doubtful: the run time, so efficiency,
    /// bounds, and all that is said of who was late.
    pub fn clocks_aligned(&self) -> bool {
        let clocks = self.run.clocks();
        clocks.violated == 0 || clocks.aligned
    }

    /// The share of the run in which the recorder wrote what it had recorded, where that is more than any finding; what is found is about the
    /// recorder then.
    pub fn mostly_written(&self) -> Option<f64> {
        let most = self.findings.first().map_or(0.0, |worst| worst.fraction);
        Some(paused(&self.run.trace, PauseKind::Flush)).filter(|share| *share >= DISTORTED && *share >= most)
    }
}

/// What to tell of the clocks.
fn clock_notes(repair: &Repair, index: &Index, trace: &Trace) -> Vec<Diagnostic> {
    if repair.violated_messages + repair.violated_collectives == 0 {
        return Vec::new();
    }
    let mut message = format!("clocks of PEs disagree: {}", early(repair, trace));
    if repair.offsets_taken_back {
        message += "; the clock offsets that the recorder measured are the reason and were taken out of all times";
    }
    if !index.clocks.aligned {
        message += ": they were never aligned, so no wait is claimed between processes";
        return vec![Diagnostic::data_loss(
            Code::ClocksNotAligned,
            message,
            "record with a recorder that aligns the clocks of processes",
        )];
    }
    if repair.moved_events > 0 {
        let _ = write!(message, "; a controlled logical clock moved {} time stamps", repair.moved_events);
    }
    vec![Diagnostic::info(
        Code::ClocksDisagree,
        message,
        "record on one node or with a synchronised timer; --no-clock-repair shows times as recorded",
    )]
}

/// Which messages and collectives end before they begin, and by how much.
fn early(repair: &Repair, trace: &Trace) -> String {
    let of = |some: u64, all: u64, what: &str| match (some, all) {
        (1, 1) => format!("1 {what}"),
        (some, all) if some == all => format!("all {all} {what}s"),
        (some, all) => format!("{some} of {all} {what}s"),
    };
    let (messages, collectives) = (repair.violated_messages, repair.violated_collectives);
    let verb = |some: u64, one, several| if some == 1 { one } else { several };
    let sent = verb(messages, "arrives before it was sent", "arrive before they were sent");
    let left = verb(collectives, "is left before all have entered it", "are left before all have entered them");
    let parts = [(messages, repair.messages, "message", sent), (collectives, repair.collectives, "collective", left)];
    let told =
        parts.iter().filter(|it| it.0 > 0).map(|(some, all, what, verb)| format!("{} {verb}", of(*some, *all, what)));
    let told: Vec<String> = told.collect();
    format!("{}, by up to {}", told.join(" and "), partune_diag::seconds(trace.clock().seconds(repair.worst)))
}

/// Which share of the run pauses of a kind took.
fn paused(trace: &Trace, kind: PauseKind) -> f64 {
    let base = Base::of(trace);
    let pauses = trace.cpu_pes().flat_map(|pe| &trace.streams()[pe].pauses).filter(|pause| pause.kind == kind);
    let paused: Span = pauses.map(|pause| base.part(pause.begin, pause.end)).sum();
    paused.0 as f64 / base.total().max(1) as f64
}

/// Pauses of the recorder, if they are long.
pub(crate) fn pause_notes(trace: &Trace) -> impl Iterator<Item = Diagnostic> {
    let writing = (
        PauseKind::Flush,
        "to write what it had recorded",
        "record with --profile, which writes no events, or less of them (a filter), or give the recorder more memory; --full lists what is \
         called most often",
    );
    let off = (PauseKind::Off, "since it was switched off", "nothing is known of that time");
    [writing, off].into_iter().filter_map(|(kind, why, remedy)| {
        let share = paused(trace, kind);
        let message = || format!("the recorder paused for {:.1} % of the run, {why}", share * 100.0);
        (share >= DISTORTED).then(|| Diagnostic::info(Code::RecorderPaused, message(), remedy))
    })
}

/// From this share of the run, the cost of recording is reported.
const DISTORTED: f64 = 0.05;

/// What recording cost, if the machine is known and it is much.
pub(crate) fn recording_note(trace: &Trace, options: &Options) -> Option<Diagnostic> {
    let event_s = options.machine.as_ref()?.overheads.event_s;
    let pes = trace.cpu_pes().count();
    let total = trace.clock().seconds(trace.duration()) * pes as f64;
    let events = trace.streams().iter().map(|stream| stream.events).sum::<u64>();
    let share = events as f64 * event_s / total;
    (total > 0.0 && share >= DISTORTED).then(|| {
        let percent = share * 100.0;
        Diagnostic::info(
            Code::RecordingCost,
            format!("recording {events} events took at least {percent:.1} % of the run, and figures contain it"),
            "exclude the functions that --only measurement lists from recording; its table has times without it",
        )
    })
}

/// Each loss once, without those below the threshold that are not of patterns of the user's own, what costs most first; what is lost outside of the run does not count. Ties go by
/// pattern and place, so that the order is always the same.
pub(crate) fn rank(findings: Vec<Finding>, trace: &Trace, options: &Options) -> Vec<Ranked> {
    let total = Base::of(trace).total();
    let least = (total as f64 * options.minimum) as i64;
    let weigh = |finding: Finding| Ranked {
        fraction: if total > 0 { finding.time.0 as f64 / total as f64 } else { 0.0 },
        finding,
    };
    let findings = once(trace, by_place(trace, findings, options.details), least).into_iter().map(weigh);
    let is_own = |ranked: &Ranked| matches!(ranked.finding.pattern, Pattern::User(_));
    let is_told =
        |ranked: &Ranked| is_own(ranked) || ranked.fraction >= options.minimum || ranked.finding.outside.0 >= least;
    let mut ranked: Vec<Ranked> = findings.filter(is_told).collect();
    ranked.sort_by_key(|it| (Reverse(it.finding.time), it.finding.pattern, it.finding.path, it.finding.role));
    ranked
}
