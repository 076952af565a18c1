//! Waits, blame, delays and the critical path: known answers from small traces, silence where nobody waits, and
//! laws that hold for any trace.

mod blame;
mod critical_path;
mod laws;
mod one_sided;
mod patterns;
mod polls;
mod roots;
mod scalasca;

use partune_analysis::{ANALYSES, Finding, Input, Options, Outcome, Pattern, Waits};
use partune_base::{CallPathId, PeId};
use partune_index::Index;
use partune_trace::Trace;

/// A trace in the testkit's language with what is derived from it.
struct Case {
    trace: Trace,
    index: Index,
    waits: Waits,
}

impl Case {
    fn delays(&self) -> partune_analysis::Delays {
        partune_analysis::Delays::find(&self.trace, &self.index, &self.waits)
    }

    fn new(text: &str) -> Case {
        Case::of(partune_testkit::trace(text))
    }

    fn of(trace: Trace) -> Case {
        let index = Index::build(&trace);
        let waits = Waits::find(&trace, &index);
        Case { trace, index, waits }
    }

    /// What an analysis says with every threshold at zero.
    fn run(&self, analysis: &str) -> Outcome {
        self.run_with(analysis, Options::default().details)
    }

    /// The same, with all causes.
    fn run_all(&self, analysis: &str) -> Outcome {
        self.run_with(analysis, usize::MAX)
    }

    fn run_with(&self, analysis: &str, details: usize) -> Outcome {
        let options = Options { minimum: 0.0, hotspot: 0.0, details, ..Options::default() };
        let analysis = ANALYSES.iter().find(|it| it.name == analysis).expect("the analysis is in the list");
        (analysis.run)(&Input {
            trace: &self.trace,
            index: &self.index,
            waits: &self.waits,
            options: &options,
            shared: &partune_analysis::Shared::default(),
        })
    }

    /// All waits, as (pattern, rank, begin, end, rank of the cause).
    fn found(&self) -> Vec<(Pattern, u32, i64, i64, Option<u32>)> {
        let rank = |pe: PeId| self.trace.processes()[self.trace.pes()[pe].process].rank.unwrap_or(u32::MAX);
        let row = |wait: &partune_analysis::Wait| {
            (wait.pattern, rank(wait.pe), wait.begin.0, wait.end.0, wait.cause.pe.some().map(rank))
        };
        self.waits.iter().map(row).collect()
    }

    /// The only finding of the wait states.
    fn finding(&self) -> Finding {
        let mut findings = self.run("wait_states").findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings.remove(0)
    }

    fn name(&self, path: CallPathId) -> String {
        if path.is_some() { partune_testkit::path_name(&self.trace, path) } else { String::new() }
    }

    /// Causes as (rank, path of the operation, path of the origin, ticks).
    fn causes(&self, finding: &Finding) -> Vec<(u32, String, String, i64)> {
        let rows = finding.causes.iter();
        rows.map(|it| (it.pe.0, self.name(it.path), self.name(it.origin), it.time.0)).collect()
    }
}

/// Nobody waits, so nothing is found and nothing is delayed.
fn silent(text: &str) {
    let case = Case::new(text);
    assert_eq!(case.found(), []);
    assert_eq!(case.run("wait_states").findings, []);
    assert!(case.delays().costs.is_empty());
}
