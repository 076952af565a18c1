//! Comparison: planted changes are told with their size, lines do not matter, the same run is the same, noise is no verdict.

use partune_analysis::{Change, Comparison, Finding, Note, Pattern, PlaceRow, Verdict, compare, compare_sets};
use partune_base::{CallPathId, Span};

use super::{Analysed, close, with};

/// Seconds; `work` takes so many in each of ten turns, `solve` 10 a turn; PE 1 waits for PE 0 if its work is longer.
fn program(work: [u32; 2], lines: [u32; 2], names: [&str; 2]) -> Analysed {
    let [solve, other] = names;
    let pe = |rank: usize, facts: &str| {
        format!(
            "pe {rank}: main@a.c:1 0..2000 {{ {other}@b.c:{line} 0..7
                 repeat 10 every 100 {{ work@a.c:{first} 10..{end}  {solve}^a.c:{first} {end}..{solved} {{ {facts} }} }} }}\n",
            line = lines[1],
            first = lines[0],
            end = 10 + work[rank],
            solved = 10 + work[0] + 25,
        )
    };
    let begin = 10 + work[1] + 1;
    let sent = 10 + work[0] + 20;
    Analysed::of(&format!(
        "resolution 1\n{}{}",
        pe(0, &format!("MPI_Send^a.c:90 {sent}..{} send(to=1, bytes=8)", sent + 2)),
        pe(1, &format!("MPI_Recv^a.c:95 {begin}..{} recv(from=0, bytes=8)", sent + 3)),
    ))
}

const BASE: [&str; 2] = ["solve", "setup"];

fn row<'a>(comparison: &'a Comparison, runs: &[&Analysed], name: &str) -> &'a PlaceRow<CallPathId> {
    let is = |row: &&PlaceRow<CallPathId>| {
        let of_run = |(ids, run): (&Vec<CallPathId>, &&Analysed)| {
            ids.iter().any(|id| partune_testkit::path_name(&run.trace, *id) == name)
        };
        row.ids.iter().zip(runs).any(of_run)
    };
    comparison.callpaths.iter().find(is).unwrap_or_else(|| panic!("no row {name}"))
}

fn of(all: &[&Analysed]) -> Comparison {
    with(all, compare)
}

fn told(comparison: &Comparison) -> usize {
    let paths = comparison.callpaths.iter().flat_map(|row| &row.changes);
    let regions = comparison.regions.iter().flat_map(|row| &row.changes);
    let findings = comparison.findings.iter().flat_map(|row| &row.changes);
    let runs = comparison.runs.iter().map(|run| &run.change);
    paths.chain(regions).chain(findings).chain(runs).filter(|change| change.verdict != Verdict::Same).count()
}

#[test]
fn a_region_that_became_twice_as_slow_is_first() {
    let (a, b) = (program([20, 20], [10, 3], BASE), program([40, 40], [10, 3], BASE));
    let comparison = of(&[&a, &b]);
    let work = row(&comparison, &[&a, &b], "main/work");
    let Change { difference, ratio, noise, verdict, .. } = work.changes[0];
    // Two PEs, ten turns, 20 s more each.
    assert!(close(difference, 400.0) && close(ratio.unwrap(), 2.0), "{work:?}");
    assert_eq!((noise, verdict), (Some(0.0), Verdict::Grown));
    let sums = work.sums[1].unwrap();
    assert_eq!((sums.visits, sums.pes, sums.longest), (20, 2, 400.0));
    // `main` itself had that much less; `solve` and its messages did not change, so nothing else is told.
    assert_eq!(row(&comparison, &[&a, &b], "main").changes[0].verdict, Verdict::Shrunk);
    for same in ["main/solve", "main/solve/MPI_Send", "main/setup"] {
        assert_eq!(row(&comparison, &[&a, &b], same).changes[0].verdict, Verdict::Same, "{same}");
    }
    assert!(comparison.notes.is_empty() && !comparison.per_pe);
    assert!(close(comparison.runs[1].speed_up.unwrap(), 1.0));
}

/// 20 s a turn with a second more or less, and 24: three runs of each tell them apart, two do not, and places that did not change are within noise.
#[test]
fn repeats_tell_by_how_much_they_differ() {
    let run_named = |work: u32, name: &'static str| program([work, work], [10, 3], ["solve", name]);
    let run = |work: u32| run_named(work, "setup");
    let all = [run(20), run(24), run(21), run(19), run(25), run(23)];
    let of_sets = |runs: &[&Analysed], set_of: &[usize]| with(runs, |runs| compare_sets(runs, set_of));
    let all: Vec<&Analysed> = all.iter().collect();
    let comparison = of_sets(&all, &[0, 1, 0, 0, 1, 1]);
    let work = row(&comparison, &all, "main/work");
    let interval = work.changes[0].interval.unwrap();
    // Two PEs, ten turns, 4 s more each; the nearest runs differ by 2, the farthest by 6.
    assert_eq!((interval.estimate, interval.low, interval.high), (80.0, 40.0, 120.0));
    assert!(close(interval.confidence, 0.9) && close(work.changes[0].difference, 80.0), "{work:?}");
    assert_eq!((work.changes[0].verdict, work.sums.len(), work.ids.len()), (Verdict::Grown, 2, 2));
    assert_eq!(row(&comparison, &all, "main/setup").changes[0].verdict, Verdict::Same);
    assert_eq!(comparison.runs.len(), 2);
    assert_eq!((comparison.runs[0].repeats.len(), comparison.runs[1].repeats.len()), (3, 3));
    assert!(comparison.figures.iter().all(|figure| figure.values.len() == 2 && figure.repeats[1].len() <= 3));
    // Of the same kind they are the same but for noise, whichever stands for a set.
    let alike = of_sets(&[all[0], all[2], all[3], all[0], all[3], all[2]], &[0, 1, 0, 1, 1, 0]);
    assert!(alike.callpaths.iter().all(|row| !row.changes[0].verdict.is_told()), "{:?}", alike.callpaths);
    // What one of three runs has is not new, what all have is.
    let other = run_named(20, "extra");
    let once = of_sets(&[all[0], all[2], all[3], all[0], &other, all[2]], &[0, 1, 0, 0, 1, 1]);
    assert!(
        once.callpaths
            .iter()
            .chain([row(&once, &[all[0], all[2]], "main/setup")])
            .all(|row| !row.changes[0].verdict.is_told())
    );
    let renamed = of_sets(&[all[0], &other, all[2], all[3], &other, &other], &[0, 1, 0, 0, 1, 1]);
    let verdict = |name: &str| row(&renamed, &[all[0], &other], name).changes[0].verdict;
    assert_eq!((verdict("main/extra"), verdict("main/setup")), (Verdict::Added, Verdict::Gone));
    let few = of_sets(&[all[0], all[1], all[2], all[4]], &[0, 1, 0, 1]);
    assert_eq!(row(&few, &all, "main/work").changes[0].verdict, Verdict::Unknown);
}

#[test]
fn the_same_run_twice_differs_nowhere() {
    let (a, b) = (program([20, 30], [10, 3], BASE), program([20, 30], [10, 3], BASE));
    let comparison = of(&[&a, &b, &a]);
    assert_eq!(told(&comparison), 0);
    assert!(comparison.notes.is_empty());
    assert!(!comparison.findings.is_empty() && !comparison.figures.is_empty());
}

#[test]
fn lines_that_shifted_do_not_matter() {
    let (a, b) = (program([20, 30], [10, 3], BASE), program([20, 30], [110, 77], BASE));
    assert_eq!(told(&of(&[&a, &b])), 0);
}

#[test]
fn what_was_added_and_renamed_is_only_in_one() {
    let (a, b) = (program([20, 20], [10, 3], BASE), program([20, 20], [10, 3], ["solve2", "setup"]));
    let comparison = of(&[&a, &b]);
    let all = [&a, &b];
    assert_eq!(row(&comparison, &all, "main/solve").changes[0].verdict, Verdict::Gone);
    assert_eq!(row(&comparison, &all, "main/solve2").changes[0].verdict, Verdict::Added);
    assert!(row(&comparison, &all, "main/solve2").sums[0].is_none());
    assert_eq!(row(&comparison, &all, "main/work").changes[0].verdict, Verdict::Same);
    // Under another name the receive is another call path, and the same region.
    assert_eq!(row(&comparison, &all, "main/solve2/MPI_Recv").changes[0].verdict, Verdict::Added);
    let regions = comparison.regions.iter().filter(|row| row.changes[0].verdict != Verdict::Same).count();
    assert_eq!(regions, 2);
}

#[test]
fn calls_from_several_lines_are_matched_in_order_or_taken_together() {
    let lines = |calls: &str| Analysed::of(&format!("resolution 1\npe 0 1: main@a.c:1 0..100 {{ {calls} }}"));
    let two = lines("f^a.c:5 0..10 f^a.c:9 10..40");
    let shifted = lines("f^a.c:25 0..10 f^a.c:29 10..60");
    let three = lines("f^a.c:5 0..10 f^a.c:9 10..40 f^a.c:12 40..45");
    let rows = |comparison: &Comparison, all: &[&Analysed]| {
        let is_f = |row: &&PlaceRow<CallPathId>| {
            let named = |(ids, run): (&Vec<CallPathId>, &&Analysed)| {
                ids.iter().any(|id| partune_testkit::path_name(&run.trace, *id) == "main/f")
            };
            row.ids.iter().zip(all).any(named)
        };
        let of_row = |row: &PlaceRow<CallPathId>| (row.ids[0].len(), row.ids[1].len(), row.changes[0].difference);
        comparison.callpaths.iter().filter(is_f).map(of_row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&of(&[&two, &shifted]), &[&two, &shifted]), [(1, 1, 40.0), (1, 1, 0.0)]);
    assert_eq!(rows(&of(&[&two, &three]), &[&two, &three]), [(2, 3, 10.0)]);
}

#[test]
fn a_function_that_moved_is_the_same_and_two_of_one_name_are_two() {
    let run = |files: &str| Analysed::of(&format!("resolution 1\npe 0 1: main@a.c:1 0..100 {{ {files} }}"));
    let (here, there) = (run("f@one.c:5 0..30"), run("f@src/two.c:8 0..30"));
    assert_eq!(told(&of(&[&here, &there])), 0);
    let (both, longer) = (run("f@one.c:5 0..30 f@two.c:5 30..50"), run("f@one.c:5 0..30 f@two.c:5 30..70"));
    let comparison = of(&[&both, &longer]);
    let grown = comparison.regions.iter().filter(|row| row.changes[0].verdict == Verdict::Grown);
    assert_eq!(grown.map(|row| row.changes[0].difference).collect::<Vec<_>>(), [40.0]);
}

#[test]
fn findings_are_gained_lost_grown() {
    // PE 1 begins to receive 1 s after its own work; the message is sent 20 s after the work of PE 0, ten times.
    let late = |work: [u32; 2]| program(work, [10, 3], BASE);
    let (even, uneven, worse) = (late([40, 59]), late([40, 40]), late([40, 20]));
    let change = |a: &Analysed, b: &Analysed| {
        let comparison = of(&[a, b]);
        comparison.findings.into_iter().find(|row| row.pattern == Pattern::LateSender).map(|row| row.changes[0])
    };
    let gained = change(&even, &uneven).unwrap();
    assert!(gained.verdict == Verdict::Added && close(gained.difference, 190.0), "{gained:?}");
    let lost = change(&worse, &even).unwrap();
    assert!(lost.verdict == Verdict::Gone && close(lost.difference, -390.0), "{lost:?}");
    let grown = change(&uneven, &worse).unwrap();
    assert!(close(grown.difference, 200.0) && close(grown.ratio.unwrap(), 390.0 / 190.0), "{grown:?}");
    assert_eq!(change(&even, &even).map(|it| it.verdict), None);
    assert_eq!(change(&worse, &worse).map(|it| it.verdict), Some(Verdict::Same));
}

#[test]
fn noise_is_no_verdict() {
    let visits = |ends: [u32; 6]| {
        let turn = |(turn, end): (usize, &u32)| format!("f {}..{}", turn * 100, turn * 100 + *end as usize);
        let turns: Vec<String> = ends.iter().enumerate().map(turn).collect();
        Analysed::of(&format!("resolution 1\npe 0: main 0..600 {{ {} }}", turns.join(" ")))
    };
    let (a, b) = (visits([50, 53, 48, 51, 49, 52]), visits([52, 47, 55, 50, 53, 51]));
    let twice = visits([99, 95, 97, 98, 96, 99]);
    let small = of(&[&a, &b]);
    let f = row(&small, &[&a, &b], "main/f").changes[0];
    assert_eq!(f.verdict, Verdict::TooSmall, "{f:?}");
    // By hand: variances 3.5 and 7.467, six visits each.
    assert!((f.noise.unwrap() - (6.0_f64 * (3.5 + 7.466_666_666_666_667)).sqrt()).abs() < 1e-9, "{f:?}");
    let big = of(&[&a, &twice]);
    assert_eq!(row(&big, &[&a, &twice], "main/f").changes[0].verdict, Verdict::Grown);
    // One visit on one PE tells nothing about noise.
    let once = |end: u32| Analysed::of(&format!("resolution 1\npe 0: main 0..600 {{ f 0..{end} }}"));
    let (a, b) = (once(100), once(150));
    assert_eq!(row(&of(&[&a, &b]), &[&a, &b], "main/f").changes[0].verdict, Verdict::Unknown);
}

#[test]
fn different_numbers_of_pes_are_compared_by_means() {
    let run = |pes: &str| {
        Analysed::of(&format!("resolution 1\npe {pes}: main 0..100 {{ f 0..60 MPI_Barrier 60..70 barrier }}"))
    };
    let (two, four) = (run("0 1"), run("0 1 2 3"));
    let comparison = of(&[&two, &four]);
    assert!(comparison.per_pe);
    assert_eq!(comparison.notes, [Note::Layout]);
    assert!(comparison.callpaths.iter().all(|row| row.changes[0].verdict == Verdict::Same));
}

#[test]
fn inputs_of_another_nature_are_told() {
    let all = Analysed::of("resolution 1\npe 0 1: main 0..100 { f 0..60 MPI_Barrier 60..70 barrier }");
    let flat = Analysed::of("resolution 1\npe 0 1: MPI_Barrier 60..70 barrier");
    let threads = Analysed::of("resolution 1\npe 0 1: main 0..100 { f 0..60 \"!$omp barrier\" 60..70 }");
    let notes = of(&[&all, &flat]).notes;
    assert!(notes.contains(&Note::Functions { with: vec![0] }), "{notes:?}");
    let notes = of(&[&all, &threads]).notes;
    let more = vec!["OpenMP".to_owned()];
    assert_eq!(notes, [Note::Paradigms { run: 1, more, fewer: vec!["MPI".to_owned()] }]);
    let other = Analysed::of("resolution 1\npe 0 1: start 0..100 { g 0..60 MPI_Barrier 60..70 barrier }");
    let notes = of(&[&all, &other]).notes;
    // Only the barrier, 10 s of 100.
    assert!(matches!(notes[..], [Note::LittleInCommon { run: 1, share }] if close(share, 0.1)), "{notes:?}");
}

/// The launcher decides how long the start-up takes, once a run: no number of PEs makes several samples of it.
#[test]
fn start_up_is_one_sample() {
    let run = |start: u32| {
        let text = format!(
            "resolution 1\npe 0 1 2 3: main 0..500 {{ MPI_Init 0..{start} init  f {start}..{} MPI_Finalize 490..500 finalize }}",
            start + 100
        );
        Analysed::of(&text)
    };
    let (a, b) = (run(10), run(200));
    let comparison = of(&[&a, &b]);
    assert_eq!(row(&comparison, &[&a, &b], "main/MPI_Init").changes[0].verdict, Verdict::Unknown);
    assert_eq!(row(&comparison, &[&a, &b], "main/f").changes[0].verdict, Verdict::Same);
    let figures = &comparison.runs[1];
    assert_eq!((figures.measured, figures.seconds), (Some(290.0), 500.0));
    assert!(close(figures.measured_speed_up.unwrap(), 480.0 / 290.0));
}

/// Other functions were recorded, so call paths cannot be the same; functions and operations are.
#[test]
fn where_call_paths_differ_regions_are_compared() {
    let run = |solve: &str, end: u32| {
        let text = format!(
            "resolution 1\npe 0 1: main 0..100 {{ {solve} 0..90 {{ f 0..{end} MPI_Barrier {end}..80 barrier }} }}"
        );
        Analysed::of(&text)
    };
    let (a, b) = (run("solve", 40), run("renamed", 60));
    let comparison = of(&[&a, &b]);
    assert!(comparison.by_region);
    let f = comparison
        .regions
        .iter()
        .find(|row| row.ids[0].iter().any(|id| a.trace.strings().get(a.trace.regions()[*id].name) == "f"));
    assert!(f.is_some_and(|row| close(row.changes[0].difference, 40.0) && row.changes[0].verdict == Verdict::Grown));
    let c = run("solve", 60);
    assert!(!of(&[&a, &c]).by_region);
}

/// Both functions wait for PE 0, for 20 and 30 s. What else is told of both together does not make one place of two.
#[test]
fn a_place_of_one_pattern_is_none_of_another() {
    let analysed = || {
        Analysed::of(
            "resolution 1
             pe 0: main 0..100 { a 0..25 { MPI_Send 22..24 send(to=1, bytes=8) } b 25..90 { MPI_Send 62..64 send(to=1, bytes=8) } }
             pe 1: main 0..100 { a 0..25 { MPI_Recv 2..25 recv(from=0, bytes=8) } b 25..90 { MPI_Recv 32..65 recv(from=0, bytes=8) } }",
        )
    };
    let seconds = |run: &Analysed| {
        let comparison = of(&[run, run]);
        let late = comparison.findings.iter().filter(|row| row.pattern == Pattern::LateSender);
        let mut seconds: Vec<f64> = late.map(|row| row.sums[0].unwrap().seconds).collect();
        seconds.sort_by(f64::total_cmp);
        seconds
    };
    let together = |of: Pattern| {
        let mut run = analysed();
        let late = |finding: &&Finding| finding.pattern == Pattern::LateSender;
        let mut both = run.findings.iter().find(late).unwrap().clone();
        both.paths = run.findings.iter().filter(late).map(|it| (it.path, it.time)).collect();
        assert_eq!(both.paths.len(), 2);
        if of == Pattern::LateSender {
            run.findings.retain(|finding| finding.pattern != of);
        }
        (both.pattern, both.time) = (of, Span(50));
        run.findings.push(both);
        run
    };
    assert_eq!(seconds(&analysed()), [20.0, 30.0]);
    assert_eq!(seconds(&together(Pattern::OperationCost)), [20.0, 30.0]);
    // One finding of both makes them one place, also of a run that has two.
    let (one, two) = (together(Pattern::LateSender), analysed());
    let comparison = of(&[&one, &two]);
    let late: Vec<_> = comparison.findings.iter().filter(|row| row.pattern == Pattern::LateSender).collect();
    let [row] = late[..] else { panic!("one finding: {late:?}") };
    assert_eq!(row.sums.iter().map(|it| it.unwrap().seconds).collect::<Vec<_>>(), [50.0, 50.0]);
}

/// How a finding of a pattern at a place differs: its verdict and noise in seconds.
fn finding(comparison: &Comparison, pattern: Pattern) -> (Verdict, Option<f64>) {
    let row = comparison.findings.iter().find(|row| row.pattern == pattern).unwrap_or_else(|| panic!("no {pattern:?}"));
    (row.changes[0].verdict, row.changes[0].noise)
}

/// What a call costs is estimated in each run, by its shortest calls: 10 and 12 ticks. As many calls are as many, whatever that says; twice as many are more.
#[test]
fn frequent_calls_are_compared_by_their_number() {
    let run = |calls: u32, ticks: u32| {
        let pe = |rank: u32| {
            format!("pe {rank}: main@a.c:1 0..100000 {{ repeat {calls} every 20 {{ f@a.c:3 0..{ticks} }} }}\n")
        };
        Analysed::of(&format!("resolution 1000000000\n{}{}", pe(0), pe(1)))
    };
    let told = |a: &Analysed, b: &Analysed| finding(&of(&[a, b]), Pattern::HighFrequency);
    let (few, slower, many) = (run(2000, 10), run(2000, 12), run(4000, 10));
    let (verdict, noise) = told(&few, &slower);
    // 4000 calls of 2 ns more, none of which was counted.
    assert!(close(noise.unwrap() * 1e9, 8000.0), "{noise:?}");
    assert_eq!(verdict, Verdict::TooSmall);
    assert_eq!(told(&slower, &few).0, Verdict::TooSmall);
    assert_eq!(told(&few, &many), (Verdict::Grown, Some(0.0)));
    assert_eq!(told(&few, &few).0, Verdict::Same);
}

/// Twenty sends on each of two PEs: one of them is twenty times as long, which is chance; or all are twice as long, which is none.
#[test]
fn what_operations_cost_has_the_noise_of_its_visits() {
    let run = |ticks: u32, last: u32| {
        let pe = |rank: u32| {
            format!(
                "pe {rank}: main@a.c:1 0..5000 {{ repeat 19 every 200 {{ MPI_Send^a.c:3 0..{ticks} }} MPI_Send^a.c:3 4000..{} }}\n",
                4000 + last
            )
        };
        Analysed::of(&format!("resolution 1\n{}{}", pe(0), pe(1)))
    };
    let told = |a: &Analysed, b: &Analysed| finding(&of(&[a, b]), Pattern::OperationCost);
    let (verdict, noise) = told(&run(100, 100), &run(100, 950));
    // The mean is 142.5: 19 are 42.5 below, one is 807.5 above. Over 19, times 20 visits, on two PEs.
    let variance = (19.0 * 42.5 * 42.5 + 807.5 * 807.5) / 19.0 * 20.0 * 2.0;
    assert!(close(noise.unwrap(), f64::sqrt(variance)), "{noise:?}");
    assert_eq!(verdict, Verdict::TooSmall);
    assert_eq!(told(&run(100, 100), &run(190, 190)), (Verdict::Grown, Some(0.0)));
}

/// One PE writes for all, so PEs do not tell how much that differs; its visits do.
#[test]
fn what_one_pe_writes_has_the_noise_of_its_visits() {
    let run = |ticks: u32, last: u32| {
        Analysed::of(&format!(
            "resolution 1
             pe 0: main@a.c:1 0..5000 {{ repeat 99 every 50 {{ fwrite^a.c:3 0..{ticks} write(8) }} fwrite^a.c:3 4950..{} write(8) }}
             pe 1: main@a.c:1 0..5000",
            4950 + last
        ))
    };
    let told = |a: &Analysed, b: &Analysed| finding(&of(&[a, b]), Pattern::InputOutput);
    assert_eq!(told(&run(20, 20), &run(30, 30)), (Verdict::Grown, Some(0.0)));
    let (verdict, noise) = told(&run(20, 20), &run(20, 30));
    // The mean is 20.1: 99 are 0.1 below, one is 9.9 above. Over 99, times 100 visits.
    assert!(close(noise.unwrap(), f64::sqrt((99.0 * 0.1 * 0.1 + 9.9 * 9.9) / 99.0 * 100.0)), "{noise:?}");
    assert_eq!(verdict, Verdict::TooSmall);
}

/// On each PE of the first run a thousand calls are frequent, and take 2 ticks each by the estimate; on those of the other, 999 are not.
#[test]
fn estimates_of_calls_are_held_against_as_many_pes() {
    let run = |pes: &str, calls: u32| {
        Analysed::of(&format!(
            "resolution 1000000000
pe {pes}: main@a.c:1 0..20000 {{ f@a.c:2 0..2 repeat {calls} every 20 {{ MPI_Send^a.c:3 5..15 }} }}"
        ))
    };
    let (four, eight) = (run("0 1 2 3", 1000), run("0 1 2 3 4 5 6 7", 999));
    for runs in [[&four, &eight], [&eight, &four]] {
        let (_, noise) = finding(&of(&runs), Pattern::OperationCost);
        assert!(close(noise.unwrap() * 1e9, 2000.0), "{noise:?}");
    }
}

/// All PEs start up together, once a run.
#[test]
fn a_start_up_is_one_sample_in_findings_too() {
    let run = |ticks: u32| {
        let pe = |rank: u32| {
            let end = if rank == 0 { 100 } else { 100 + ticks };
            format!("pe {rank}: main@a.c:1 0..1000 {{ MPI_Init^a.c:2 0..{end} init work@a.c:3 {end}..1000 }}\n")
        };
        Analysed::of(&format!("resolution 1\n{}{}{}", pe(0), pe(1), pe(2)))
    };
    let (a, b) = (run(100), run(300));
    assert_eq!(finding(&of(&[&a, &b]), Pattern::StartUp), (Verdict::Unknown, None));
}

/// Four PEs, ten turns; in the second run the third has a fifth more work.
#[test]
fn the_pe_that_has_more_work_is_named() {
    let run = |work: &[u32]| {
        let line = |(pe, work): (usize, &u32)| {
            let end = 10 * 200;
            format!(
                "pe {pe}: main@a.c:1 0..{end} {{ repeat 10 every 200 {{ solve@a.c:3 0..{work} rest@a.c:9 {work}..200 }} }}\n"
            )
        };
        Analysed::of(&format!("resolution 1\n{}", work.iter().enumerate().map(line).collect::<String>()))
    };
    let (even, other, slower) = (run(&[100; 4]), run(&[100, 100, 120, 100]), run(&[120; 4]));
    let most = |a: &Analysed, b: &Analysed, name: &str| {
        let most = row(&of(&[a, b]), &[a, b], name).most[0];
        most.map(|it| (it.pe.0, it.difference, it.ratio.unwrap(), it.noise))
    };
    assert_eq!(most(&even, &other, "main/solve"), Some((2, 200.0, 1.2, 0.0)));
    let (pe, difference, ..) = most(&other, &even, "main/solve").unwrap();
    assert_eq!((pe, difference), (2, -200.0));
    assert_eq!(most(&even, &slower, "main/solve"), None, "all of them have");
    assert_eq!(most(&even, &even, "main/solve"), None);
    // The clock tells ten visits on a PE to 10 s. On all of them it is 320 s, which are nothing to one.
    let mut work = [100; 32];
    let many = run(&work);
    work[9] = 120;
    assert_eq!(most(&many, &run(&work), "main/solve"), Some((9, 200.0, 1.2, 0.0)));
    // Repeats, and another number of PEs, tell of no single PE.
    let sets = with(&[&even, &other, &even], |runs| compare_sets(runs, &[0, 1, 0]));
    assert!(sets.callpaths.iter().all(|row| row.most == [None]));
}
