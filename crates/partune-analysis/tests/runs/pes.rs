//! Another number of PEs: series that follow a law to the last tick are predicted to the last tick, and by that law.

use std::fmt::Write;

use partune_analysis::{Predicted, PredictedRow, RunPlaces, Term, Waits, predict};
use partune_index::Index;

use super::close;
use crate::figures::machine::options;

fn places(text: &str) -> RunPlaces {
    let trace = partune_testkit::trace(text);
    let index = Index::build(&trace);
    RunPlaces::of(&trace, &index, &Waits::find(&trace, &index))
}

/// What a program takes on so many PEs, from what it is on others; every run without noise.
fn predicted(program: impl Fn(u32) -> String, on: &[u32], pes: u32) -> Predicted {
    let runs: Vec<RunPlaces> = on.iter().map(|pes| places(&program(*pes))).collect();
    let runs: Vec<(&RunPlaces, f64)> = runs.iter().map(|run| (run, 0.0)).collect();
    let predicted = predict(&runs, pes, None).expect("there are laws");
    let truth = places(&program(pes)).seconds;
    assert!(predicted.low <= truth && truth <= predicted.high, "{truth}: {predicted:?}");
    // The rows are what is predicted.
    assert!(close(predicted.rows.iter().map(|row| row.fitted.there).sum(), predicted.seconds));
    for (point, (run, _)) in runs.iter().enumerate() {
        let sum: f64 = predicted.rows.iter().map(|row| row.seconds[point]).sum();
        assert!(
            predicted.by_first_pe || close(sum, run.seconds),
            "the path is as long as the run: {sum} {}",
            run.seconds
        );
    }
    predicted
}

fn row<'a>(predicted: &'a Predicted, construct: &str) -> &'a PredictedRow {
    let row = predicted.rows.iter().find(|row| row.place.construct == construct);
    row.unwrap_or_else(|| panic!("no row of {construct}: {predicted:?}"))
}

fn terms(row: &PredictedRow) -> Vec<(i64, Term)> {
    row.fitted.law.0.iter().map(|(seconds, term)| (seconds.round() as i64, *term)).collect()
}

const fn of_pes(sixths: i8) -> Term {
    Term::Power { sixths, log: false }
}

/// 8000 ticks of work that all share, after 800 that only rank 0 does; a barrier ends both.
fn amdahl(pes: u32) -> String {
    let mut text = String::from("resolution 1\n");
    let (serial, end) = (800, 800 + 7200 / pes);
    for pe in 0..pes {
        let (setup, begin) = if pe == 0 { (format!("setup 0..{serial}"), serial) } else { (String::new(), 0) };
        let _ = writeln!(
            text,
            "pe {pe}: main 0..{end} {{ {setup} MPI_Barrier {begin}..{serial} barrier
                 solve {serial}..{end} MPI_Barrier {end}..{end} barrier }}"
        );
    }
    text
}

#[test]
fn amdahl_is_predicted_exactly() {
    for (on, pes) in [(&[2, 4, 8][..], 16), (&[1, 2, 4, 8], 60), (&[2, 4], 8), (&[4, 8, 16], 2)] {
        let said = predicted(amdahl, on, pes);
        assert!(close(said.seconds, 800.0 + 7200.0 / f64::from(pes)), "{on:?} {pes}: {said:?}");
        assert_eq!(terms(row(&said, "setup")), [(800, of_pes(0))]);
        assert_eq!(terms(row(&said, "solve")), [(7200, of_pes(-6))]);
        assert!(!said.by_first_pe);
    }
}

/// Each PE works 1000 ticks, and a sum takes 40 ticks a round.
fn tree(pes: u32) -> String {
    let turn = 1000 + 40 * pes.ilog2();
    format!(
        "resolution 1\npe {}: main 0..{} {{ repeat 5 every {turn} {{ solve 0..1000 MPI_Allreduce 1000..{turn} allreduce(bytes=8) }} }}",
        (0..pes).map(|pe| pe.to_string()).collect::<Vec<_>>().join(" "),
        5 * turn
    )
}

#[test]
fn rounds_of_trees_are_predicted_exactly() {
    let said = predicted(tree, &[2, 4, 8], 32);
    assert!(close(said.seconds, 5000.0 + 5.0 * 40.0 * 5.0), "{said:?}");
    assert_eq!(terms(row(&said, "MPI_Allreduce")), [(40, Term::Rounds)]);
    assert_eq!(terms(row(&said, "solve")), [(5000, of_pes(0))]);
}

/// Squares of a plane: work by area, messages by edge, 300 ticks and one for a byte each way.
fn halo(pes: u32) -> String {
    let (work, edge) = (64_000 / pes, 4096 / pes.isqrt());
    let turn = work + 300 + edge;
    format!(
        "resolution 1\npe {}: main 0..{} {{ repeat 5 every {turn} {{ solve 0..{work}
             MPI_Sendrecv {work}..{turn} send(to=+1, bytes={edge}) recv(from=-1, bytes={edge}) }} }}",
        (0..pes).map(|pe| pe.to_string()).collect::<Vec<_>>().join(" "),
        5 * turn
    )
}

#[test]
fn bytes_of_edges_are_predicted_exactly() {
    let said = predicted(halo, &[4, 16, 64], 256);
    assert!(close(said.seconds, 5.0 * (250.0 + 300.0 + 256.0)), "{said:?}");
    let of_bytes = row(&said, "MPI_Sendrecv").fitted.law.0.iter().find(|term| term.1 == Term::Volume);
    assert!(of_bytes.is_some_and(|term| close(term.0, 0.5)), "{said:?}");
}

/// Things go through all PEs, 100 ticks on each: as often as there are things, and once more for each PE.
fn wave(pes: u32) -> String {
    let mut text = String::from("resolution 1\n");
    for pe in 0..pes {
        let _ = write!(text, "pe {pe}: main 0..{} {{ ", 100 * (8 + pe));
        for thing in 0..8 {
            let begin = 100 * (pe + thing);
            let end = begin + 100;
            if pe > 0 {
                let posted = if thing == 0 { 0 } else { begin };
                let _ = write!(text, "MPI_Recv {posted}..{begin} recv(from=-1, bytes=8) ");
            }
            let _ = write!(text, "stage {begin}..{end} ");
            if pe + 1 < pes {
                let _ = write!(text, "MPI_Send {end}..{end} send(to=+1, bytes=8) ");
            }
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn a_wave_is_predicted_by_the_visits_on_its_path() {
    let said = predicted(wave, &[2, 4, 8], 32);
    assert!(close(said.seconds, 100.0 * 39.0), "{said:?}");
    assert_eq!(terms(row(&said, "stage")), [(100, Term::Visits)]);
}

/// A team of threads shares 4800 ticks of work; the fork takes 5 ticks a thread.
fn team(pes: u32) -> String {
    let (begin, end) = (100 + 5 * pes, 100 + 5 * pes + 4800 / pes);
    let threads: Vec<String> = (0..pes).map(|thread| format!("0.{thread}")).collect();
    let mut text = format!(
        "resolution 1\nteam all = {}\n
         pe 0.0: main 0..{end} {{ serial 0..100 \"!$omp parallel\" 100..{end} fork team(all) join {{ work {begin}..{end} }} }}\n",
        threads.join(" ")
    );
    for thread in &threads[1..] {
        let _ = writeln!(text, "pe {thread}: \"!$omp parallel\" {begin}..{end} team(all) {{ work {begin}..{end} }}");
    }
    text
}

#[test]
fn threads_are_predicted_with_their_forks() {
    let said = predicted(team, &[2, 4, 8], 16);
    assert!(close(said.seconds, 100.0 + 80.0 + 300.0), "{said:?}");
    assert!(!said.by_first_pe);
}

/// Rank 0 writes for 500 ticks while all others work on 6400: on no path while that takes longer.
fn hidden(pes: u32) -> String {
    let work = 6400 / (2 * pes);
    let end = work.max(500);
    let mut text = format!("resolution 1\npe 0: main 0..{end} {{ output 0..500 MPI_Barrier 500..{end} barrier }}\n");
    for pe in 1..pes {
        let _ = writeln!(text, "pe {pe}: main 0..{end} {{ solve 0..{work} MPI_Barrier {work}..{end} barrier }}");
    }
    text
}

#[test]
fn a_serial_part_that_is_on_no_path_yet_limits() {
    let near = predicted(hidden, &[2, 4], 5);
    assert!(!near.by_first_pe && close(near.seconds, 640.0), "{near:?}");
    let far = predicted(hidden, &[2, 4], 16);
    assert!(far.by_first_pe && close(far.seconds, 500.0), "{far:?}");
    assert_eq!(far.rows[0].place.construct, "output");
}

#[test]
fn a_machine_says_what_collectives_take_beyond_rounds() {
    // Sums on 32 PEs leave a node, and take ten times as long.
    let points = [(2, [(8, 40.0)]), (4, [(8, 80.0)]), (8, [(8, 120.0)]), (32, [(8, 2000.0)])];
    let machine = options(&points.each_ref().map(|(pes, points)| ("all_to_all", *pes, &points[..]))).machine;
    let runs = [2, 4, 8].map(|pes| places(&tree(pes)));
    let said = predict(&runs.each_ref().map(|run| (run, 0.0)), 32, machine.as_ref()).expect("there are laws");
    assert_eq!(terms(row(&said, "MPI_Allreduce")), [(1, Term::Machine)]);
    assert!(close(said.seconds, 5.0 * 3000.0), "{said:?}");
}

#[test]
fn one_run_says_nothing() {
    let run = places(&amdahl(4));
    assert_eq!(predict(&[(&run, 0.0)], 8, None), None);
    assert_eq!(predict(&[], 8, None), None);
}

#[test]
fn programs_have_the_time_of_places_in_common() {
    let (small, large, other) = (places(&amdahl(2)), places(&amdahl(8)), places(&halo(4)));
    assert!(close(small.common(&large), 1.0) && close(large.common(&small), 1.0));
    // Both have a function `solve`.
    assert!(large.common(&other) < 0.6 && close(places(&wave(4)).common(&other), 0.0));
}
