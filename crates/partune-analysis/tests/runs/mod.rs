//! Tests of what is said of several runs: comparison and scaling, with answers known by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod compare;
mod laws;
mod pes;
mod scaling;

use partune_analysis::{Finding, Input, Needs, Options, Run, Section, Waits, analyses_of};
use partune_index::Index;
use partune_trace::Trace;

/// A run with what the analyses say of it.
pub(crate) struct Analysed {
    pub(crate) trace: Trace,
    waits: Waits,
    sections: Vec<Section>,
    findings: Vec<Finding>,
}

impl Analysed {
    pub(crate) fn new(trace: Trace) -> Analysed {
        let index = Index::build(&trace);
        let waits = Waits::find(&trace, &index);
        let options = Options::default();
        let input = Input {
            trace: &trace,
            index: &index,
            waits: &waits,
            options: &options,
            shared: &partune_analysis::Shared::default(),
        };
        let able = analyses_of(if trace.profile().is_some() { Needs::Sums } else { Needs::Events });
        let (mut sections, mut findings) = (Vec::new(), Vec::new());
        for analysis in able {
            let outcome = (analysis.run)(&input);
            sections.extend(outcome.sections);
            findings.extend(outcome.findings);
        }
        Analysed { trace, waits, sections, findings }
    }

    pub(crate) fn of(text: &str) -> Analysed {
        Analysed::new(partune_testkit::trace(text))
    }
}

/// Does something with runs.
pub(crate) fn with<T>(all: &[&Analysed], work: impl FnOnce(&[Run<'_>]) -> T) -> T {
    let findings: Vec<Vec<&Finding>> = all.iter().map(|it| it.findings.iter().collect()).collect();
    let runs: Vec<Run<'_>> = all
        .iter()
        .zip(&findings)
        .map(|(it, findings)| Run {
            trace: &it.trace,
            waits: &it.waits,
            sections: &it.sections,
            findings,
            minimum: Options::default().minimum,
        })
        .collect();
    work(&runs)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}
