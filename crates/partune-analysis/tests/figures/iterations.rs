//! Marked iterations decide what an iteration of the bounds is: known answers, silence, and the laws on random programs.

use std::fmt::Write;

use partune_analysis::Pattern;
use proptest::prelude::*;

use super::tensor::FIGURE_4;
use super::{assert_close, close, figure, levels, numbers, seconds, step};

fn unmarked(text: &str) -> String {
    text.replace("iteration ", "")
}

/// Two PEs that wait for the other's message at the end of each turn; no global synchronisation.
const MESSAGES: &str = "resolution 1
    pe 0: main 0..30 { iteration step 0..15 { MPI_Send 15..15 send(to=1) } iteration step 15..30 { MPI_Recv 20..30 recv(from=1) } }
    pe 1: main 0..30 { iteration step 0..15 { MPI_Recv 5..15 recv(from=0) } iteration step 15..30 { MPI_Send 30..30 send(to=0) } }";

#[test]
fn turns_without_a_global_synchronisation_are_iterations() {
    let (trace, outcome) = figure(MESSAGES, "bounds");
    // (15, 5), then (5, 15): nothing is uneven but from turn to turn.
    assert_close(&levels(&outcome), &[20.0, 20.0, 20.0, 30.0, 30.0, 30.0, 30.0]);
    assert!(close(step(&outcome, "gaps", "D"), 10.0));
    assert_close(&numbers(&outcome, "block_regions", "dynamic"), &[10.0]);
    assert_close(&numbers(&outcome, "block_regions", "iterations"), &[2.0]);
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    assert_eq!((finding.pattern, finding.count), (Pattern::LoadImbalance, 2));
    assert_eq!(partune_testkit::path_name(&trace, finding.path), "main/step");
    assert!(close(seconds(&trace, finding), 20.0));

    let (_, outcome) = figure(&unmarked(MESSAGES), "bounds");
    assert_close(&levels(&outcome), &[20.0, 20.0, 20.0, 20.0, 30.0, 30.0, 30.0]);
    assert!(outcome.findings.is_empty());
}

#[test]
fn blocks_at_the_same_place_in_a_turn_are_regions() {
    // Figure 4 by a program that calls one function with one barrier twice in each turn.
    let mut bodies = [String::new(), String::new()];
    let mut now = 1;
    for cells in FIGURE_4 {
        let end = now + cells.iter().map(|work| work[0].max(work[1])).sum::<i64>();
        bodies.iter_mut().for_each(|body| write!(body, " iteration step {now}..{end} {{").unwrap());
        for work in cells {
            let end = now + work[0].max(work[1]);
            for (body, work) in bodies.iter_mut().zip(work) {
                let arrival = now + work;
                write!(body, " region {now}..{end} {{ MPI_Barrier {arrival}..{end} barrier }}").unwrap();
            }
            now = end;
        }
        bodies.iter_mut().for_each(|body| body.push('}'));
    }
    let mut text = String::from("resolution 1\n");
    for (pe, body) in bodies.iter().enumerate() {
        let first = "region 0..1 { MPI_Barrier 0..1 barrier }";
        writeln!(text, "pe {pe}: main 0..{now} {{ iteration step 0..1 {{ {first} }} {body} }}").unwrap();
    }
    // All blocks lie between the same two places; in a turn the first and the second are two regions.
    let (_, outcome) = figure(&text, "bounds");
    assert_close(&levels(&outcome), &[41.0, 42.0, 46.0, 47.0, 47.0, 48.0, 48.0]);
    assert_close(&numbers(&outcome, "gaps", "seconds")[2..], &[1.0, 4.0, 1.0, 0.0, 1.0, 0.0]);
    let (_, outcome) = figure(&unmarked(&text), "bounds");
    assert_close(&levels(&outcome), &[41.0, 42.0, 42.0, 47.0, 47.0, 48.0, 48.0]);
}

#[test]
fn turns_that_overlap_too_far_are_merged() {
    let text = "resolution 1
        pe 0: main 0..30 { iteration step 0..10 iteration step 10..30 }
        pe 1: main 0..30 { iteration step 0..20 iteration step 20..30 }";
    let (_, outcome) = figure(text, "bounds");
    assert_close(&levels(&outcome), &[30.0; 7]);
    assert!(outcome.findings.is_empty());
    // The same, and two turns in which PE 1 waits for PE 0: two by two, the sum of the maxima is 30 + 10, and not 40 + 10.
    let text = "resolution 1
        pe 0: main 0..40 { iteration step 0..10 iteration step 10..30 iteration step 30..32 { MPI_Send 32..32 send(to=1) } iteration step 32..40 { MPI_Send 40..40 send(to=1) } }
        pe 1: main 0..40 { iteration step 0..20 iteration step 20..30 iteration step 30..32 { MPI_Recv 30..32 recv(from=0) } iteration step 32..40 { MPI_Recv 32..40 recv(from=0) } }";
    let (_, outcome) = figure(text, "bounds");
    assert_close(&levels(&outcome), &[35.0, 40.0, 40.0, 40.0, 40.0, 40.0, 40.0]);
    assert_close(&numbers(&outcome, "block_regions", "iterations"), &[2.0]);
}

#[test]
fn balanced_turns_are_silent() {
    let text = "resolution 1
        pe 0 1 2: main 0..100 { setup 0..10 repeat 8 every 10 { iteration step 10..20 { MPI_Sendrecv 19..20 send(to=+1) recv(from=-1) } } }";
    let (_, outcome) = figure(text, "bounds");
    assert!(outcome.findings.is_empty());
    assert_close(&numbers(&outcome, "gaps", "seconds")[2..5], &[0.0; 3]);
}

#[test]
fn what_is_before_and_behind_the_turns_is_a_region_of_its_own() {
    // Set-up (10, 0), turns (0, 6) and (6, 0), end (0, 4).
    let text = "resolution 1
        pe 0: main 0..26 { MPI_Send 10..10 send(to=1) iteration step 10..16 { MPI_Recv 10..16 recv(from=1) } iteration step 16..22 { MPI_Send 22..22 send(to=1) } MPI_Recv 22..26 recv(from=1) }
        pe 1: main 0..26 { MPI_Recv 0..10 recv(from=0) iteration step 10..16 { MPI_Send 16..16 send(to=0) } iteration step 16..22 { MPI_Recv 16..22 recv(from=0) } end 22..26 { MPI_Send 26..26 send(to=0) } }";
    let (_, outcome) = figure(text, "bounds");
    // Sums: 16 and 10. Regions: 10, max(6, 6), 4.
    assert_close(&levels(&outcome), &[13.0, 16.0, 20.0, 26.0, 26.0, 26.0, 26.0]);
}

#[test]
fn turns_that_do_not_match_are_passed_over() {
    let text = MESSAGES.replace("pe 1: main 0..30 { iteration step 0..15", "pe 1: main 0..30 { step 0..15");
    let (_, outcome) = figure(&text, "bounds");
    assert_close(&levels(&outcome), &[20.0, 20.0, 20.0, 20.0, 30.0, 30.0, 30.0]);
}

#[test]
fn only_the_outermost_of_nested_turns_count() {
    let nested = MESSAGES
        .replace("iteration step 15..30 {", "iteration step 15..30 { iteration inner 15..16 iteration inner 16..17");
    let (_, outcome) = figure(&nested, "bounds");
    assert_close(&levels(&outcome), &[20.0, 20.0, 20.0, 30.0, 30.0, 30.0, 30.0]);
}

/// Turns of rounds: each round is work, and a ring of messages or a barrier.
#[derive(Clone, Debug)]
struct Program {
    turns: Vec<Vec<(bool, Vec<i64>)>>,
}

impl Program {
    fn text(&self) -> String {
        let pes = self.turns[0][0].1.len();
        let mut clocks = vec![0_i64; pes];
        let mut lines = vec![String::new(); pes];
        for turn in &self.turns {
            let begins = clocks.clone();
            let mut bodies = vec![String::new(); pes];
            for (barrier, work) in turn {
                let enters: Vec<i64> = clocks.iter().zip(work).map(|(clock, work)| clock + work).collect();
                let last = enters.iter().copied().max().unwrap();
                for pe in 0..pes {
                    let (enter, from) = (enters[pe], (pe + pes - 1) % pes);
                    let (text, end) = if *barrier {
                        (format!(" MPI_Barrier {enter}..{last} barrier"), last)
                    } else {
                        let end = enter.max(enters[from]);
                        (format!(" MPI_Sendrecv {enter}..{end} send(to=+1) recv(from={from})"), end)
                    };
                    bodies[pe].push_str(&text);
                    clocks[pe] = end;
                }
            }
            for pe in 0..pes {
                write!(lines[pe], " iteration step {}..{} {{{} }}", begins[pe], clocks[pe], bodies[pe]).unwrap();
            }
        }
        let end = clocks.iter().copied().max().unwrap();
        let pe = |(pe, line): (usize, &String)| format!("pe {pe}: main 0..{end} {{{line} }}\n");
        "resolution 1\n".to_owned() + &lines.iter().enumerate().map(pe).collect::<String>()
    }
}

fn programs() -> impl Strategy<Value = Program> {
    (2..5_usize).prop_flat_map(|pes| {
        let round = (prop::bool::weighted(0.3), prop::collection::vec(0..50_i64, pes));
        let turn = prop::collection::vec(round, 1..4);
        prop::collection::vec(turn, 1..6).prop_map(|turns| Program { turns })
    })
}

proptest! {
    #[test]
    fn bounds_stay_in_order_and_gaps_add_up(program in programs()) {
        let text = program.text();
        let (trace, outcome) = figure(&text, "bounds");
        let (_, plain) = figure(&unmarked(&text), "bounds");
        if trace.duration().0 == 0 || outcome.sections.is_empty() {
            return Ok(());
        }
        let (marked, plain) = (levels(&outcome), levels(&plain));
        // IPCO to S', then the run: a bound is never above it.
        prop_assert!(marked.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9), "{marked:?}\n{text}");
        prop_assert!(close(marked[0], plain[0]) && close(marked[1], plain[1]), "{marked:?} {plain:?}");
        prop_assert!(marked[2] + 1e-9 >= plain[2] && marked[3] + 1e-9 >= plain[3], "{marked:?} {plain:?}");
        let gaps: f64 = numbers(&outcome, "gaps", "seconds").iter().sum();
        prop_assert!(close(gaps, marked[6] - step(&outcome, "bounds", "IP")));
    }
}
