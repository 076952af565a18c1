//! Figures that need a machine: operations above their baseline, and what recording cost.

use partune_analysis::{Options, Outcome, Pattern};
use partune_machine::{Baseline, Machine, Overheads, Point, Provenance, Rates, VERSION};
use partune_trace::Trace;

use super::{analyze_with, assert_close, at_path, close, numbers, scalar, seconds};

/// PE 0 waits for 60 ms; the rest of the first barrier is not explained. Times in milliseconds.
const BARRIERS: &str = "resolution 1000
    pe 0: main 0..1000 { MPI_Barrier 100..200 barrier  MPI_Barrier 500..504 barrier }
    pe 1: main 0..1000 { MPI_Barrier 160..200 barrier  MPI_Barrier 500..504 barrier }";

/// Role, PEs, and points of bytes and seconds.
pub(crate) type Row<'a> = (&'a str, u32, &'a [(u64, f64)]);

/// A machine with these baselines, on which recording an event takes a millisecond.
pub(crate) fn options(baselines: &[Row<'_>]) -> Options {
    let baseline = |&(role, pes, points): &Row<'_>| Baseline {
        operation: format!("an operation of {role}"),
        role: role.to_owned(),
        paradigm: None,
        pes,
        points: points
            .iter()
            .map(|&(bytes, median_s)| Point { bytes, median_s, minimum_s: median_s, samples: 3 })
            .collect(),
    };
    let machine = Machine {
        partune_machine: VERSION,
        provenance: Provenance {
            date: String::new(),
            hosts: Vec::new(),
            cpu: String::new(),
            cores: 2,
            kernel: String::new(),
            mpi: None,
            launch: Vec::new(),
            pes: 2,
            partune: String::new(),
            took_s: 0.0,
        },
        overheads: Overheads { timer_s: 1e-4, timer_step_s: 1e-6, event_s: 1e-3 },
        rates: Rates { flops_one: 1e9, flops_all: 1e9, memory_one: 1e9, memory_all: 1e9 },
        caches: None,
        notes: Vec::new(),
        links: Vec::new(),
        baselines: baselines.iter().map(baseline).collect(),
    };
    Options { machine: Some(machine), ..Options::default() }
}

fn above(text: &str, options: &Options) -> (Trace, Outcome) {
    let trace = partune_testkit::trace(text);
    let outcome = analyze_with(&trace, "above_baseline", options);
    (trace, outcome)
}

#[test]
fn what_is_left_after_waiting_is_held_against_the_baseline() {
    let (trace, outcome) = above(BARRIERS, &options(&[("group_sync", 2, &[(0, 4e-3)])]));
    let at = |name: &str| at_path(&trace, &outcome, "baseline_places", "main/MPI_Barrier", name);
    // Four barriers of 4 ms, and of each one recorded event of 1 ms.
    let found = ["count", "seconds", "waiting", "baseline", "excess", "factor"].map(at);
    assert_close(&found, &[4.0, 0.148, 0.060, 0.020, 0.068, 4.4]);
    assert_close(
        &[scalar(&outcome, "operations_with_baseline"), scalar(&outcome, "operations_without_baseline")],
        &[4.0, 0.0],
    );
    let [finding] = &outcome.findings[..] else { panic!("one finding, not {:?}", outcome.findings) };
    assert_eq!((finding.pattern, finding.count), (Pattern::AboveBaseline, 4));
    assert_eq!(finding.pes.iter().map(|(pe, lost)| (pe.0, lost.0)).collect::<Vec<_>>(), [(0, 34), (1, 34)]);
    assert!(close(seconds(&trace, finding), 0.068) && finding.unexplained == finding.time);
    assert!(close(finding.facts[0].1, 4.4), "{:?}", finding.facts);
}

#[test]
fn silence_without_a_machine_at_the_baseline_and_for_mere_waiting() {
    let (_, outcome) = above(BARRIERS, &Options::default());
    assert!(outcome.findings.is_empty() && outcome.sections.is_empty());
    // 44 ms are not far above two times 19 ms.
    let (_, outcome) = above(BARRIERS, &options(&[("group_sync", 2, &[(0, 18e-3)])]));
    assert!(outcome.findings.is_empty());
    let waits = "resolution 1000
        pe 0: main 0..1000 { MPI_Barrier 100..904 barrier }
        pe 1: main 0..1000 { MPI_Barrier 900..904 barrier }";
    let (_, outcome) = above(waits, &options(&[("group_sync", 2, &[(0, 4e-3)])]));
    assert!(outcome.findings.is_empty(), "all but 4 ms is waiting: {:?}", outcome.findings);
}

#[test]
fn what_was_not_measured_is_counted_and_not_guessed() {
    for baselines in [&[("scan", 2, &[(0, 1e-6)][..])], &[("group_sync", 4, &[(0, 1e-6)][..])]] {
        let (_, outcome) = above(BARRIERS, &options(baselines));
        assert!(outcome.findings.is_empty());
        assert_close(&[scalar(&outcome, "operations_without_baseline")], &[4.0]);
    }
}

#[test]
fn barriers_of_a_team_are_as_wide_as_the_team_and_each_model_has_its_own_baselines() {
    let team = "\"!$omp barrier\" 500..700";
    let text = format!(
        "resolution 1000
         team two = 0 0.1
         pe 0: main 0..1000 {{ \"!$omp parallel\" 0..900 fork join {{ \"!$omp parallel\" 0..900 team(two) {{ {team} }} }} }}
         pe 0.1: \"!$omp parallel\" 0..900 team(two) {{ {team} }}"
    );
    let with = |paradigm: &str, pes: u32| {
        let mut options = options(&[("group_sync", pes, &[(0, 4e-3)])]);
        options
            .machine
            .iter_mut()
            .flat_map(|machine| &mut machine.baselines)
            .for_each(|it| it.paradigm = Some(paradigm.to_owned()));
        above(&text, &options).1
    };
    let found = with("OpenMP", 2);
    assert_close(&[scalar(&found, "operations_with_baseline")], &[2.0]);
    // On each thread 200 ms where 4 ms and the recording of an event were needed.
    let findings: Vec<(Pattern, i64)> = found.findings.iter().map(|it| (it.pattern, it.time.0)).collect();
    assert_eq!(findings, [(Pattern::AboveBaseline, 195); 2]);
    for other in [with("MPI", 2), with("OpenMP", 4)] {
        assert!(other.findings.is_empty());
        assert_close(&[scalar(&other, "operations_with_baseline")], &[0.0]);
    }
}

#[test]
fn sizes_are_those_of_the_operation() {
    let text = "resolution 1000
        pe 0: main 0..1000 { MPI_Send 10..20 send(to=1, bytes=1000) MPI_Send 30..40 send(to=1, bytes=0)
                             MPI_Allreduce 50..60 allreduce(sent=500, received=400) }
        pe 1: main 0..1000 { MPI_Recv 10..20 recv(from=0, bytes=1000) MPI_Recv 30..40 recv(from=0, bytes=0)
                             MPI_Allreduce 50..60 allreduce(sent=500, received=400) }";
    let line: &[(u64, f64)] = &[(0, 2e-3), (1000, 4e-3)];
    let (trace, outcome) = above(text, &options(&[("send", 2, line), ("recv", 2, line), ("all_to_all", 2, line)]));
    let at = |path: &str| at_path(&trace, &outcome, "baseline_places", path, "baseline");
    // Two messages of 4 and 2 ms, two collectives of 3 ms; each with an event of 1 ms.
    assert_close(&["main/MPI_Send", "main/MPI_Recv", "main/MPI_Allreduce"].map(at), &[0.008, 0.008, 0.008]);
}

#[test]
fn the_filter_of_the_profile_takes_the_baseline() {
    let trace = partune_testkit::trace(BARRIERS);
    let with = analyze_with(&trace, "bottlenecks", &options(&[("group_sync", 2, &[(0, 4e-3)])]));
    assert_close(&numbers(&with, "bottlenecks", "factor"), &[10.4, 4.4]);
    let without = analyze_with(&trace, "bottlenecks", &Options::default());
    // PE 0: 100 and 4 ms, on average 52, which is 13 times the shortest. PE 1: 40 and 4 ms, 22 on average.
    assert_close(&numbers(&without, "bottlenecks", "factor"), &[13.0, 5.5]);
}

#[test]
fn recording_is_taken_from_computing_times() {
    let text = "resolution 1000
        pe 0: main 0..100 { f 10..40 { g 20..25 } MPI_Send 50..60 send(to=1, bytes=8) }
        pe 1: main 0..100 { MPI_Recv 50..60 recv(from=0, bytes=8) }";
    let trace = partune_testkit::trace(text);
    let outcome = analyze_with(&trace, "measurement", &options(&[]));
    let at = |path: &str, name: &str| at_path(&trace, &outcome, "sites", path, name);
    // main encloses three visits on PE 0 with its own, two on PE 1.
    for (path, exclusive, corrected) in [("main", 0.150, 0.145), ("main/f", 0.025, 0.023), ("main/f/g", 0.005, 0.004)] {
        assert_close(&[at(path, "exclusive"), at(path, "corrected")], &[exclusive, corrected]);
    }
    let events = scalar(&outcome, "events");
    assert_close(&[scalar(&outcome, "recording"), scalar(&outcome, "share")], &[events * 1e-3, events * 1e-3 / 0.2]);
    assert!(analyze_with(&trace, "measurement", &Options::default()).sections.is_empty());
}

/// The trace of a text in which these functions are known from the calls inside of them alone.
fn inferred(text: &str, functions: &[&str]) -> Trace {
    let known = partune_testkit::trace(text);
    let mut builder = partune_testkit::builder(text);
    for function in functions {
        builder.paths.set_recorded(partune_testkit::path(&known, function), false);
    }
    builder.seal()
}

#[test]
fn functions_without_events_of_their_own_cost_nothing_to_record() {
    let text = "resolution 1000
        pe 0: main 0..100 { f 10..40 { MPI_Send 20..25 send(to=1, bytes=8) } MPI_Send 50..60 send(to=1, bytes=8) }
        pe 1: main 0..100 { MPI_Recv 10..20 recv(from=0, bytes=8) MPI_Recv 50..60 recv(from=0, bytes=8) }";
    let corrected = |trace: &Trace| {
        let outcome = analyze_with(trace, "measurement", &options(&[]));
        ["main", "main/f"].map(|path| at_path(trace, &outcome, "sites", path, "corrected"))
    };
    // With events of their own, `main` is entered, and encloses `f` and a send on PE 0, two receives on PE 1; `f` encloses a send.
    assert_close(&corrected(&partune_testkit::trace(text)), &[0.060 + 0.080 - 0.006, 0.025 - 0.002]);
    // Otherwise only the operations stopped: of `main` one and two, of `f` one.
    assert_close(&corrected(&inferred(text, &["main", "main/f"])), &[0.060 + 0.080 - 0.003, 0.025 - 0.001]);
}

#[test]
fn functions_without_events_of_their_own_are_not_too_frequent_to_be_recorded() {
    let text =
        "resolution 1000\n pe 0: main 0..1000000 { repeat 1000 every 500 { tiny 100..109 { MPI_Iprobe 101..108 } } }";
    let places = |trace: &Trace| {
        let outcome = analyze_with(trace, "frequency", &options(&[]));
        let names = outcome.findings.iter().map(|it| partune_testkit::path_name(trace, it.path));
        names.collect::<Vec<_>>()
    };
    assert_eq!(places(&partune_testkit::trace(text)), ["main/tiny", "main/tiny/MPI_Iprobe"]);
    assert_eq!(places(&inferred(text, &["main", "main/tiny"])), ["main/tiny/MPI_Iprobe"]);
}

#[test]
fn undistorted_places_are_not_listed_and_frequent_ones_cost_what_the_machine_says() {
    let trace = partune_testkit::trace("resolution 1000\n pe 0: main 0..1000000 { f 0..500000 }");
    let outcome = analyze_with(&trace, "measurement", &options(&[]));
    assert!(numbers(&outcome, "sites", "visits").is_empty());
    let text = "resolution 1000\n pe 0: main 0..1000000 { repeat 1000 every 500 { tiny 100..109 long 200..400 } }";
    let trace = partune_testkit::trace(text);
    let outcome = analyze_with(&trace, "frequency", &options(&[]));
    // Ten times 1 ms is more than 9 ms, and less than 200.
    let [finding] = &outcome.findings[..] else { panic!("one finding, not {:?}", outcome.findings) };
    assert_eq!((finding.pattern, finding.time.0), (Pattern::HighFrequency, 1000));
}
