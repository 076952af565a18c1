//! What is lost where nobody was late: by hand, silent where it is the usual price, and with the waits all that a run loses.

use partune_analysis::{Finding, Options, Pattern, by_place, once};
use partune_base::{PeId, Span};
use partune_testkit::path_name;
use partune_trace::Trace;

use super::{analyze, figure};

fn of(findings: &[Finding], pattern: Pattern) -> Option<&Finding> {
    findings.iter().find(|finding| finding.pattern == pattern)
}

/// PE 0 waits 3 of its 7 ticks in the barrier; what is left of it, and all of PE 1's, is the barrier's own.
#[test]
fn an_operation_costs_what_is_no_wait() {
    let (trace, outcome) = figure(
        "pe 0: main 0..100 { MPI_Barrier 10..17 barrier fwrite 20..30 write(8) }
         pe 1: main 0..100 { MPI_Barrier 13..17 barrier }",
        "costs",
    );
    let barrier = of(&outcome.findings, Pattern::OperationCost).unwrap();
    assert_eq!((path_name(&trace, barrier.path), barrier.time, barrier.count), ("main/MPI_Barrier".into(), Span(8), 2));
    assert_eq!(barrier.pes, [(PeId(0), Span(4)), (PeId(1), Span(4))]);
    let file = of(&outcome.findings, Pattern::InputOutput).unwrap();
    assert_eq!((file.time, file.pes.as_slice()), (Span(10), [(PeId(0), Span(10))].as_slice()));
    assert_eq!(outcome.findings.len(), 2);
}

/// 8 of 2 × 500 ticks are 0.8 %: told only from 1 % on.
#[test]
fn the_usual_price_is_not_told() {
    let text = |end| {
        format!(
            "pe 0: main 0..{end} {{ MPI_Barrier 10..14 barrier }}
             pe 1: main 0..{end} {{ MPI_Barrier 10..14 barrier }}"
        )
    };
    assert_eq!(figure(&text(500), "costs").1.findings, []);
    assert_eq!(figure(&text(400), "costs").1.findings.len(), 1);
}

/// Two teams of two threads: the second thread begins 4 and 1 ticks after the forks and ends 2 before the first join; the first begins 3
/// and 0 after them. While the main thread communicates for 10 ticks, nobody needs the other.
const TEAMS: &str = "team t = 0.0 0.1
    pe 0.0: MPI_Init 0..0 init main 0..60 {
        par 10..20 fork join { \"!$omp parallel\" 13..20 team(t) }
        MPI_Send 20..30 send(to=1)
        par 30..40 fork join { \"!$omp parallel\" 30..40 team(t) }
    } MPI_Finalize 60..60 finalize
    pe 0.1: \"!$omp parallel\" 14..18 team(t) \"!$omp parallel\" 31..40 team(t)
    pe 1.0: MPI_Init 0..0 init main 0..60 { MPI_Recv 20..30 recv(from=0) } MPI_Finalize 60..60 finalize";

#[test]
fn threads_idle_in_teams_and_beside_the_main_thread() {
    let (trace, outcome) = figure(TEAMS, "costs");
    let team = of(&outcome.findings, Pattern::ForkJoin).unwrap();
    assert_eq!(team.pes, [(PeId(0), Span(3)), (PeId(1), Span(4 + 2 + 1))]);
    assert!(path_name(&trace, team.path).starts_with("main/par"), "{}", path_name(&trace, team.path));
    let idle = of(&outcome.findings, Pattern::IdleThreads).unwrap();
    assert_eq!(
        (path_name(&trace, idle.path), idle.pes.as_slice()),
        ("main/MPI_Send".into(), [(PeId(1), Span(10))].as_slice())
    );
    // Without another process the main thread's operation is its own work, and the section a serial one.
    let alone = TEAMS.split("pe 1.0").next().unwrap().replace("send(to=1)", "");
    assert_eq!(of(&figure(&alone, "costs").1.findings, Pattern::IdleThreads), None);
}

/// A wait of a host for its device is told as such.
#[test]
fn waiting_for_a_device_has_a_finding() {
    let (_, outcome) =
        figure("device d = 0.1\n pe 0: main 0..100 { cudaStreamSynchronize 20..70 }\n pe 0.1: kernel 20..70", "costs");
    let [finding] = outcome.findings.as_slice() else { panic!("{:?}", outcome.findings) };
    assert_eq!((finding.pattern, finding.time), (Pattern::WaitOnDevice, Span(50)));
}

/// `exchange` is called by `a` and `b`; its line 7 is one place, which costs 20 + 30 ticks, and `b` more of it.
#[test]
fn call_paths_to_one_line_are_one_finding() {
    let trace = partune_testkit::trace(
        "pe 0 1: main@m.c:1 0..100 {
             a@m.c:10 0..30 { exchange@x.c:5^m.c:12 0..30 { MPI_Barrier^x.c:7 10..20 barrier } }
             b@m.c:20 30..70 { exchange@x.c:5^m.c:22 30..70 { MPI_Barrier^x.c:7 40..55 barrier MPI_Barrier^x.c:9 60..65 barrier } }
         }",
    );
    let findings = analyze(&trace, "costs").findings;
    let (a, b) = ("main/a/exchange/MPI_Barrier", "main/b/exchange/MPI_Barrier");
    let [first, second] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((first.time, first.count), (Span(50), 4));
    assert_eq!(first.paths.iter().map(|it| it.1).collect::<Vec<_>>(), [Span(30), Span(20)]);
    assert_eq!([first.paths[0].0, first.paths[1].0].map(|path| path_name(&trace, path)), [b, a]);
    assert_eq!(
        (first.path, first.pes.as_slice()),
        (first.paths[0].0, [(PeId(0), Span(25)), (PeId(1), Span(25))].as_slice())
    );
    // Another line of it is another place.
    assert_eq!((second.time, second.paths.as_slice()), (Span(10), [].as_slice()));
    // Once is enough.
    assert_eq!(by_place(&trace, findings.clone(), 5), findings);
}

/// A redundant barrier says why its 8 ticks are spent; what the other barrier costs stays.
#[test]
fn a_reason_takes_the_cost() {
    let trace = partune_testkit::trace(
        "pe 0 1: main 0..100 { MPI_Barrier^m.c:3 10..14 barrier MPI_Barrier^m.c:4 20..25 barrier MPI_Allreduce^m.c:9 40..44 allreduce }",
    );
    let findings = [analyze(&trace, "barriers").findings, analyze(&trace, "costs").findings].concat();
    let told = once(&trace, findings, 1);
    let sum: i64 = told.iter().map(|finding| finding.time.0).sum();
    assert_eq!(sum, 2 * (4 + 5 + 4), "{told:?}");
    let redundant = of(&told, Pattern::RedundantBarrier).unwrap();
    assert!(!told.iter().any(|it| it.pattern == Pattern::OperationCost && it.path == redundant.path), "{told:?}");
}

/// With everything told, waits and costs are what is neither computation nor an idle thread outside of teams: here 0.1 for 0..10 and 40..60, while
/// the main thread computes.
#[test]
fn waits_and_costs_are_all_that_is_lost() {
    let trace = partune_testkit::trace(TEAMS);
    let all = Options { minimum: 0.0, ..Options::default() };
    let lost: i64 = everything(&trace, &all).iter().map(|finding| finding.time.0).sum();
    let computation = |pe| partune_analysis::useful_in(&trace, pe, &[(trace.begin(), trace.end())])[0].0;
    let used: i64 = trace.pes().ids().map(computation).sum();
    assert_eq!(3 * 60 - used - lost, 10 + 20);
}

fn everything(trace: &Trace, options: &Options) -> Vec<Finding> {
    let find = |name| super::analyze_with(trace, name, options).findings;
    [find("wait_states"), find("costs")].concat()
}
