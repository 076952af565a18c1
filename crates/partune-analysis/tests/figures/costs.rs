//! What is lost where nobody was late: by hand, silent where it is the usual price, and with the waits all that a run loses.

use partune_analysis::{Finding, Options, Pattern, Values, by_place, once};
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

/// `exchange` is called by `a` and `b`; its barriers are one place, which costs 20 + 30 + 10 ticks: `b` more of it, and line 7 most.
#[test]
fn call_paths_to_one_function_are_one_finding() {
    let trace = partune_testkit::trace(
        "pe 0 1: main@m.c:1 0..100 {
             a@m.c:10 0..30 { exchange@x.c:5^m.c:12 0..30 { MPI_Barrier^x.c:7 10..20 barrier } }
             b@m.c:20 30..70 { exchange@x.c:5^m.c:22 30..70 { MPI_Barrier^x.c:7 40..55 barrier MPI_Barrier^x.c:9 60..65 barrier } }
             MPI_Barrier^m.c:30 80..84 barrier
         }",
    );
    let findings = analyze(&trace, "costs").findings;
    let (a, b) = ("main/a/exchange/MPI_Barrier", "main/b/exchange/MPI_Barrier");
    let [first, second] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((first.time, first.count), (Span(60), 6));
    assert_eq!(first.paths.iter().map(|it| it.1).collect::<Vec<_>>(), [Span(30), Span(20), Span(10)]);
    let names = first.paths.iter().map(|it| path_name(&trace, it.0));
    assert_eq!(names.collect::<Vec<_>>(), [b, a, b]);
    assert_eq!(
        (first.path, first.pes.as_slice()),
        (first.paths[0].0, [(PeId(0), Span(30)), (PeId(1), Span(30))].as_slice())
    );
    // The same construct in another function is another place.
    assert_eq!((second.time, second.paths.as_slice()), (Span(8), [].as_slice()));
    // Once is enough.
    assert_eq!(by_place(&trace, findings.clone(), 5), findings);
}

/// Without functions, lines are all that is known: each is a place.
#[test]
fn lines_without_a_function_are_places() {
    let trace = partune_testkit::trace("pe 0 1: MPI_Barrier^x.c:7 10..20 barrier MPI_Barrier^x.c:9 60..65 barrier");
    let times: Vec<Span> = analyze(&trace, "costs").findings.iter().map(|it| it.time).collect();
    assert_eq!(times, [Span(20), Span(10)]);
}

/// Of the 1000 ticks of the run, a cost needs 10 to be told. Each of five functions sends for 3: together they do; the reductions of two do not,
/// but with the allocation they do.
#[test]
fn small_places_are_told_together() {
    let sends = "a 10..20 { MPI_Send 10..13 } b 20..30 { MPI_Send 20..23 } c 30..40 { MPI_Send 30..33 } d 40..50 { MPI_Send 40..43 }";
    let calls = "e 50..60 { MPI_Send 50..53 } f 60..70 { MPI_Allreduce 60..64 } g 70..80 { MPI_Allreduce 70..74 }";
    let all = partune_testkit::trace(&format!(
        "pe 0: main 0..1000 {{ {sends} {calls} h 80..90 {{ MPI_Alloc_mem 80..83 }} }}"
    ));
    let found = |trace: &Trace| {
        let findings = analyze(trace, "costs").findings;
        findings.iter().map(|it| (it.time, it.paths.len())).collect::<Vec<_>>()
    };
    assert_eq!(found(&all), [(Span(15), 5), (Span(11), 3)]);
    // Three sends are 9.
    let few = partune_testkit::trace(&format!("pe 0: main 0..1000 {{ {} }}", &sends[..sends.find("d 40").unwrap()]));
    assert_eq!(found(&few), []);
}

/// Start-up within the run is a loss like others, and what lies outside is told beside: PE 1 is in it for 20 ticks when PE 0 has left
/// it at 30, and both took 30 before; of the shut-down 40 and 20 are after the run, which the last PE to enter it ends.
#[test]
fn start_up_is_told_within_and_outside_of_the_run() {
    let trace = partune_testkit::trace(
        "pe 0: MPI_Init 0..30 main 30..160 MPI_Finalize 160..200
         pe 1: MPI_Init 0..50 main 50..160 MPI_Finalize 160..180",
    );
    let findings = analyze(&trace, "costs").findings;
    let told: Vec<_> = findings.iter().map(|it| (it.pattern, it.time, it.outside, it.pes.len())).collect();
    let start_up = Pattern::StartUp;
    assert_eq!(told, [(start_up, Span(20), Span(60), 1), (start_up, Span::ZERO, Span(60), 0)]);
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

/// Three functions send for 10, 6 and 4 ticks, and reasons say 3 of one, 9 of another: more than it has is not taken from the rest.
#[test]
fn a_reason_takes_from_its_own_call_path_only() {
    let trace = partune_testkit::trace(
        "pe 0: main 0..100 { a 0..20 { MPI_Send 0..10 } b 20..40 { MPI_Send 20..26 } c 40..60 { MPI_Send 40..44 } }",
    );
    let mut all = analyze(&trace, "costs").findings;
    all.iter_mut().for_each(|finding| finding.paths.clear());
    let mut together = all[0].clone();
    (together.time, together.paths) = (Span(20), all.iter().map(|it| (it.path, it.time)).collect());
    let path = |function: &str| partune_testkit::path(&trace, &format!("main/{function}/MPI_Send"));
    assert_eq!(together.paths, [(path("a"), Span(10)), (path("b"), Span(6)), (path("c"), Span(4))]);
    let left = |reasons: &[(&str, i64)], least| {
        let reason = |(function, time): &(&str, i64)| Finding {
            pattern: Pattern::SmallTransfers,
            path: path(function),
            time: Span(*time),
            ..all[0].clone()
        };
        let findings = std::iter::once(together.clone()).chain(reasons.iter().map(reason)).collect();
        let cost = of(&once(&trace, findings, least), Pattern::OperationCost).cloned();
        cost.map(|it| (it.path, it.time, it.paths))
    };
    let [a, b, c] = ["a", "b", "c"].map(path);
    assert_eq!(left(&[], 1), Some((a, Span(20), together.paths.clone())));
    assert_eq!(left(&[("a", 3), ("b", 9)], 1), Some((a, Span(11), vec![(a, Span(7)), (c, Span(4))])));
    assert_eq!(left(&[("a", 7)], 1), Some((b, Span(13), vec![(b, Span(6)), (c, Span(4)), (a, Span(3))])));
    // One that is left is the place, and has no list.
    assert_eq!(left(&[("a", 10), ("b", 9)], 1), Some((c, Span(4), vec![])));
    assert_eq!(left(&[("a", 10), ("b", 9)], 5), None);
    assert_eq!(left(&[("a", 10), ("b", 9), ("c", 4)], 0), None);
}

/// PE 0 sends small messages, for which there is a reason; PE 1 a large one. What is left is PE 1's.
#[test]
fn a_reason_takes_from_the_pes_that_have_it() {
    let trace = partune_testkit::trace("pe 0 1: main 0..100 { a 0..20 { MPI_Send 0..10 } }");
    let cost = analyze(&trace, "costs").findings.remove(0);
    assert_eq!(cost.pes, [(PeId(0), Span(10)), (PeId(1), Span(10))]);
    let pes = vec![(PeId(0), Span(9))];
    let reason = Finding { pattern: Pattern::SmallTransfers, time: Span(9), pes, ..cost.clone() };
    let told = once(&trace, vec![cost, reason], 1);
    let left = of(&told, Pattern::OperationCost).unwrap();
    assert_eq!((left.time, &left.pes[..]), (Span(11), &[(PeId(0), Span(1)), (PeId(1), Span(10))][..]));
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

/// By construct, of 80 ticks on two PEs: sends of 10 and 20 from two functions, and receives of 10 and 25, which wait 5 each.
#[test]
fn what_operations_took() {
    let trace = partune_testkit::trace(
        "pe 0: MPI_Init 0..10 main 10..90 { a 10..40 { MPI_Send 20..30 send(to=1,bytes=8) } MPI_Send 50..70 send(to=1,bytes=16) } MPI_Finalize 90..100
         pe 1: MPI_Init 0..10 main 10..90 { MPI_Recv 15..25 recv(from=0,bytes=8) MPI_Recv 45..70 recv(from=0,bytes=16) } MPI_Finalize 90..100",
    );
    let outcome = analyze(&trace, "operations");
    let Values::Construct(regions) = super::column(&outcome, "top_operations", "construct") else {
        panic!("constructs")
    };
    let names = regions.iter().map(|region| trace.strings().get(trace.regions()[*region].construct));
    assert_eq!(names.collect::<Vec<_>>(), ["MPI_Recv", "MPI_Send"]);
    let numbers = |name| super::numbers(&outcome, "top_operations", name);
    let second = trace.clock().ticks_per_second() as f64;
    super::assert_close(&numbers("count"), &[2.0, 2.0]);
    super::assert_close(&numbers("seconds"), &[35.0 / second, 30.0 / second]);
    super::assert_close(&numbers("waiting"), &[10.0 / second, 0.0]);
    super::assert_close(&numbers("bytes"), &[24.0, 24.0]);
    super::assert_close(&numbers("share"), &[35.0 / 160.0, 30.0 / 160.0]);
}
