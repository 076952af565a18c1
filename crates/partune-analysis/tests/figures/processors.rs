//! Who shares processors: by hand, and silent where PEs had one, or nobody counted.

use partune_analysis::{Outcome, Pattern, Values};
use partune_base::{PeId, Span, StringId};
use partune_trace::{Cpus, Ran, Trace};

use super::{analyze, column};

/// Four PEs that compute for 100 ticks, which are nanoseconds, each of whom waited so long for a processor.
fn figure(waited: [u64; 4], cpus: &Cpus) -> (Trace, Outcome) {
    let text = "pe 0: main 0..100 { work 10..90 } pe 1: main 0..100 { work 10..90 }
                pe 2: main 0..100 { work 10..90 } pe 3: main 0..100 { work 10..90 }"
        .replace(" pe", "\npe");
    let mut builder = partune_testkit::builder(&text);
    builder.cpus = builder.processes.iter().map(|_| Some(cpus.clone())).collect();
    let ran = waited.map(|waited| Some(Ran { on: 100 - waited, waited, gave_up: 3, lost: 2 }));
    builder.ran = ran.into_iter().collect();
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

#[test]
fn pes_that_had_a_processor_are_not_told() {
    // 19 of 4 × 100 are below 5 %.
    assert_eq!(figure([5, 5, 5, 4], &cpus("0-3", None)).1.findings, []);
    assert_eq!(figure([5, 5, 5, 5], &cpus("0-3", None)).1.findings.len(), 1);
    let (_, outcome) = super::figure("pe 0: main 0..100 { work 10..90 }", "processors");
    assert_eq!((outcome.findings.len(), outcome.sections.len()), (0, 0), "nobody counted");
}
