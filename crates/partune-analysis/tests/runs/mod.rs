//! Tests of what is said of several runs: comparison and scaling, with answers known by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod compare;
mod laws;
mod pes;
mod sampled;
mod scaling;

use partune_analysis::{Finding, Input, Needs, Options, Run, Section, Shared, Waits, analyses_of};
use partune_index::Index;
use partune_trace::Trace;

/// A run with what the analyses say of it.
pub(crate) struct Analysed {
    pub(crate) trace: Trace,
    index: Index,
    waits: Waits,
    options: Options,
    shared: Box<Shared>,
    sections: Vec<Section>,
    findings: Vec<Finding>,
}

impl Analysed {
    pub(crate) fn new(trace: Trace) -> Analysed {
        let index = Index::build(&trace);
        let waits = Waits::find(&trace, &index);
        let (options, shared) = (Options::default(), Box::default());
        let mut it = Analysed { trace, index, waits, options, shared, sections: Vec::new(), findings: Vec::new() };
        let able = analyses_of(if it.trace.profile().is_some() { Needs::Sums } else { Needs::Events });
        for outcome in able.into_iter().map(|analysis| (analysis.run)(&it.input())).collect::<Vec<_>>() {
            it.sections.extend(outcome.sections);
            it.findings.extend(outcome.findings);
        }
        it
    }

    fn input(&self) -> Input<'_> {
        Input {
            trace: &self.trace,
            index: &self.index,
            waits: &self.waits,
            options: &self.options,
            shared: &self.shared,
        }
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
        .map(|(it, findings)| Run { input: it.input(), sections: &it.sections, findings })
        .collect();
    work(&runs)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}
