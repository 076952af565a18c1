//! Who shares processors: by hand, and silent where PEs had one, or nobody counted.

use partune_analysis::{Outcome, Pattern, Values};
use partune_base::{PeId, Span, StringId, Time};
use partune_trace::{Cpus, Ran, Trace, TraceBuilder};

use super::{analyze, assert_close, column};

/// Four PEs that compute for 100 ticks, which are nanoseconds, and may use processors 0 and 1.
fn builder(ran: [Ran; 4]) -> TraceBuilder {
    let text = "pe 0: main 0..100 { work 10..90 } pe 1: main 0..100 { work 10..90 }
                pe 2: main 0..100 { work 10..90 } pe 3: main 0..100 { work 10..90 }"
        .replace(" pe", "\npe");
    let mut builder = partune_testkit::builder(&text);
    builder.cpus = builder.processes.iter().map(|_| Some(cpus("0-1", None))).collect();
    builder.ran = ran.into_iter().map(Some).collect();
    builder
}

/// The same on other processors, where each waited so long for one.
fn figure(waited: [u64; 4], cpus: &Cpus) -> (Trace, Outcome) {
    let mut builder = builder(waited.map(|waited| Ran { on: 100 - waited, waited, gave_up: 3, lost: 2 }));
    builder.cpus = builder.processes.iter().map(|_| Some(cpus.clone())).collect();
    let trace = builder.seal();
    let outcome = analyze(&trace, "processors");
    (trace, outcome)
}

fn cpus(list: &str, quota: Option<u32>) -> Cpus {
    Cpus { model: StringId::NONE, allowed: Cpus::ranges(list), online: 64, quota }
}

/// Four PEs may use processors 0 and 1, and were on one for 200 of 400 ns.
#[test]
fn pes_that_share_processors_wait_for_them() {
    let (_, outcome) = figure([60, 50, 50, 40], &cpus("0-1", None));
    let [finding] = outcome.findings.as_slice() else { panic!("one finding: {:?}", outcome.findings) };
    assert_eq!((finding.pattern, finding.time, finding.count), (Pattern::WaitForProcessor, Span(200), 8));
    assert_eq!(finding.pes[0], (PeId(0), Span(60)));
    assert_eq!(finding.facts, [("pes", 4.0), ("processors", 2.0), ("slowdown", 2.0)]);
    assert_eq!(*column(&outcome, "nodes", "lost"), Values::Count(vec![8]));
}

/// One and a half processors are room for two at a time.
#[test]
fn a_limit_of_the_control_group_counts() {
    let processors = |cpus: &Cpus| column(&figure([0; 4], cpus).1, "nodes", "processors").clone();
    assert_eq!(processors(&cpus("0-63", Some(1500))), Values::Count(vec![2]));
    assert_eq!(processors(&cpus("0-3,2-5,8", None)), Values::Count(vec![7]));
}

/// Two nodes of two PEs: the worst is that whose PEs waited longest together, not that of the PE that waited longest.
#[test]
fn facts_are_of_the_node_that_waited_longest() {
    let slowdown = |waited: [u64; 4]| {
        let mut builder =
            builder(waited.map(|waited| Ran { on: 100_u64.saturating_sub(waited), waited, gave_up: 0, lost: 1 }));
        let [a, b] = ["a", "b"].map(|name| builder.strings.intern(name));
        builder.processes.iter_mut().zip([a, a, b, b]).for_each(|(process, node)| process.node = node);
        let outcome = analyze(&builder.seal(), "processors");
        assert_eq!(*column(&outcome, "nodes", "pes"), Values::Count(vec![2, 2]));
        outcome.findings[0].facts[2].1
    };
    let found = [[80, 0, 50, 50], [50, 50, 80, 0], [80, 0, 40, 30], [200, 0, 60, 50]].map(slowdown);
    // The last PE 0 could not wait longer than the run, whatever was counted.
    assert_close(&found, &[200.0 / 100.0, 200.0 / 100.0, 200.0 / 120.0, 200.0 / 90.0]);
}

/// Damaged counts are counts: sums stop at what there is room for, and PEs wait no longer than the run.
#[test]
fn counts_without_bounds_are_no_overflow() {
    let most = Ran { on: u64::MAX, waited: u64::MAX, gave_up: u64::MAX, lost: u64::MAX };
    let outcome = analyze(&builder([most; 4]).seal(), "processors");
    let finding = &outcome.findings[0];
    assert_eq!((finding.time, finding.count, finding.facts[2].1), (Span(400), u64::MAX, 1.0));
    assert_eq!(*column(&outcome, "nodes", "lost"), Values::Count(vec![u64::MAX]));
}

/// What is known of the whole run says nothing of a piece of it.
#[test]
fn a_piece_of_a_run_has_no_counts() {
    let trace = builder([Ran { on: 50, waited: 50, gave_up: 0, lost: 1 }; 4]).seal();
    assert_eq!(analyze(&trace, "processors").findings.len(), 1);
    let index = partune_index::Index::build(&trace);
    let (piece, _, _) = partune_index::cut(trace, index, (Time(20), Time(40)));
    assert_eq!(piece.cpu_pes().count(), 4);
    let outcome = analyze(&piece, "processors");
    assert_eq!((outcome.findings.len(), outcome.sections.len()), (0, 0));
}

#[test]
fn pes_that_had_a_processor_are_not_told() {
    // 19 of 4 × 100 are below 5 %.
    assert_eq!(figure([5, 5, 5, 4], &cpus("0-3", None)).1.findings, []);
    assert_eq!(figure([5, 5, 5, 5], &cpus("0-3", None)).1.findings.len(), 1);
    let (_, outcome) = super::figure("pe 0: main 0..100 { work 10..90 }", "processors");
    assert_eq!((outcome.findings.len(), outcome.sections.len()), (0, 0), "nobody counted");
}
