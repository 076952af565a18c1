//! All that was found, ranked.

use std::fmt::Write;

use partune_analysis::{Base, Finding, Options, Section, Waits, once};
use partune_diag::{Diagnostic, Quality};
use partune_index::Index;
use partune_index::clock_repair::Repair;
use partune_trace::Trace;

/// A finding with its weight in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub finding: Finding,
    /// Share of the time of all PEs between start-up and shut-down ([`Base`]).
    pub fraction: f64,
}

/// The result of an analysis: the trace, what was derived from it, figures, and findings, worst first.
pub struct Diagnosis {
    pub trace: Trace,
    pub index: Index,
    pub waits: Waits,
    pub repair: Repair,
    pub sections: Vec<Section>,
    pub findings: Vec<Ranked>,
    /// Everything that was noticed about the input.
    pub quality: Quality,
}

impl Diagnosis {
    pub(crate) fn new(
        trace: Trace,
        index: Index,
        waits: Waits,
        repair: Repair,
        sections: Vec<Section>,
        findings: Vec<Ranked>,
    ) -> Diagnosis {
        let mut quality = trace.quality().clone();
        quality.merge(index.quality.clone());
        if trace.profile().is_some() {
            quality.add(Diagnostic::info(
                "this is a profile, sums without events: waits and who caused them, critical path, imbalance that changes from turn to \
                 turn, serialization, transfer and phases cannot be known",
                "record without --profile where a place of this profile has to be explained",
            ));
        }
        for note in clock_notes(&repair, &index, &trace) {
            quality.add(note);
        }
        Diagnosis { trace, index, waits, repair, sections, findings, quality }
    }
}

/// What to tell of the clocks.
fn clock_notes(repair: &Repair, index: &Index, trace: &Trace) -> Vec<Diagnostic> {
    if repair.violated_messages + repair.violated_collectives == 0 {
        return Vec::new();
    }
    let worst = trace.clock().seconds(repair.worst);
    let mut message = format!(
        "clocks of PEs disagree: {} of {} messages and {} of {} collectives run backwards in time, the worst by {worst:.9} s",
        repair.violated_messages, repair.messages, repair.violated_collectives, repair.collectives
    );
    if repair.offsets_taken_back {
        message += "; the clock offsets that the recorder measured are the reason and were taken out of all times";
    }
    if !index.clocks.aligned {
        message += ": they were never aligned, so no wait is claimed between processes";
        return vec![Diagnostic::data_loss(message, "record with a recorder that aligns the clocks of processes")];
    }
    if repair.moved_events > 0 {
        let _ = write!(message, "; a controlled logical clock moved {} time stamps", repair.moved_events);
    }
    vec![Diagnostic::info(
        message,
        "record on one node or with a synchronised timer; --no-clock-repair shows times as recorded",
    )]
}

/// From this share of the run, recording is told.
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
            format!("recording {events} events took at least {percent:.1} % of the run, and figures contain it"),
            "exclude the functions that --only measurement lists from recording; its table has times without it",
        )
    })
}

/// Each loss once, without those below the threshold, what costs most first. Ties go by pattern and place, so that the order is
/// always the same.
pub(crate) fn rank(findings: Vec<Finding>, trace: &Trace, options: &Options) -> Vec<Ranked> {
    let total = Base::of(trace).total();
    let least = (total as f64 * options.minimum) as i64;
    let weigh = |finding: Finding| Ranked {
        fraction: if total > 0 { finding.time.0 as f64 / total as f64 } else { 0.0 },
        finding,
    };
    let findings = once(trace, findings, least).into_iter().map(weigh);
    let mut ranked: Vec<Ranked> = findings.filter(|ranked| ranked.fraction >= options.minimum).collect();
    ranked.sort_by_key(|it| (std::cmp::Reverse(it.finding.time), it.finding.pattern, it.finding.path, it.finding.role));
    ranked
}
