//! Models of recorded runs: as long as the run's blocks, in their loops, with what was sent; whatever functions are called.

use partune_mds::extract::{Recorded, RecordedFlow, RecordedPhase, extract};
use proptest::prelude::*;

use crate::support::{followed, phase};

fn named(name: &str) -> RecordedPhase {
    RecordedPhase { name: name.to_owned(), place: "somewhere".to_owned(), calls: Vec::new() }
}

/// A run whose blocks all end in a synchronisation of 10 ns; what each PE works in them is in the rows.
fn run(phases: &[&str], blocks: &[(usize, &[i64])]) -> Recorded {
    Recorded {
        title: "a run".to_owned(),
        pes: blocks[0].1.len(),
        phases: phases.iter().map(|name| named(name)).collect(),
        blocks: blocks.iter().map(|block| (block.0, true)).collect(),
        work: blocks.iter().flat_map(|block| block.1).copied().collect(),
        barrier: 10,
        flows: Vec::new(),
    }
}

/// What the model takes, in nanoseconds.
fn takes(text: &str) -> f64 {
    followed(text, &[]).run_s * 1e9
}

#[track_caller]
fn is_about(value: f64, wanted: f64) {
    assert!((value - wanted).abs() < 1e-3, "{value} is not {wanted}");
}

/// By hand: three turns of 200 + 50, then 70; seven synchronisations.
#[test]
fn a_run_is_its_blocks_in_their_loop() {
    let turn: [(usize, &[i64]); 2] = [(0, &[100, 200]), (1, &[50, 50])];
    let blocks: Vec<_> = [turn, turn, turn].concat().into_iter().chain([(2, &[70, 0][..])]).collect();
    let recorded = run(&["sweep", "update", "end", "never"], &blocks);
    assert_eq!(recorded.phases_seen(), 3);
    let text = extract(&recorded);
    assert!(text.contains("seq (turn = 1, 3) {") && text.contains("table sweep_work[pe] = [100, 200];"), "{text}");
    let outcome = followed(&text, &[]);
    is_about(outcome.run_s * 1e9, 3.0 * 250.0 + 70.0 + 7.0 * 10.0);
    assert_eq!((phase(&outcome, "sweep").turns, outcome.barriers), (3, 7));
    // Both indices on one PE: all work one after the other.
    is_about(followed(&text, &[("P", 1)]).run_s * 1e9, 3.0 * 400.0 + 70.0 + 7.0 * 10.0);
}

/// Four times: five times `inner`, then `outer`; a sixth `inner` at the end. Work of `inner` differs from turn to turn on both levels.
#[test]
fn loops_are_in_loops_and_turns_that_differ_are_told() {
    let mut blocks: Vec<(usize, Vec<i64>)> = Vec::new();
    let mut longest = 0;
    for outer in 0..4 {
        for inner in 0..5 {
            let pair = [100 + 40 * outer + 7 * inner, 300 - 40 * outer - 7 * inner];
            longest += pair[0].max(pair[1]);
            blocks.push((0, pair.to_vec()));
        }
        blocks.push((1, vec![9, 9]));
        longest += 9;
    }
    blocks.push((0, vec![500, 1]));
    longest += 500;
    let rows: Vec<(usize, &[i64])> = blocks.iter().map(|(phase, work)| (*phase, work.as_slice())).collect();
    let text = extract(&run(&["inner", "outer"], &rows));
    assert!(text.contains("seq (turn = 1, 4) {\nseq (turn_2 = 1, 5) {"), "{text}");
    is_about(takes(&text), longest as f64 + 25.0 * 10.0);
}

/// Longer patterns than those that are looked for, of loops: 40 turns of a and b, then c, and that ten times, is one loop in another.
#[test]
fn inner_loops_are_found_first() {
    let turn: Vec<(usize, &[i64])> =
        (0..40).flat_map(|_| [(0, &[3, 2, 1][..]), (1, &[1, 1, 1][..])]).chain([(2, &[5, 5, 5][..])]).collect();
    let text = extract(&run(&["a", "b", "c"], &turn.repeat(10)));
    assert_eq!(text.matches("phase ").count(), 3, "{text}");
    is_about(takes(&text), 10.0 * (40.0 * 4.0 + 5.0) + 810.0 * 10.0);
}

/// 2 ns a call, whatever PE; a function that everybody calls as often explains nothing, and work that no calls explain is a table.
#[test]
fn calls_explain_work_or_do_not() {
    let mut of_calls = run(&["forces"], &[(0, &[200, 400, 600, 1000])]);
    of_calls.phases[0].calls =
        vec![("spring".to_owned(), vec![100, 200, 300, 500]), ("log".to_owned(), vec![900, 900, 900, 900])];
    let text = extract(&of_calls);
    assert!(text.contains("param forces_spring: time = 2.000ns;"), "{text}");
    assert!(text.contains("weight forces_spring_calls[p]*forces_spring "), "{text}");
    is_about(takes(&text), 1010.0);
    of_calls.work = vec![200, 1000, 300, 900];
    let text = extract(&of_calls);
    assert!(text.contains("table forces_work[pe] = [200, 1000, 300, 900];"), "{text}");
}

/// Two turns, in each of which 1 sends 300 bytes to 0 and 5,000 to 2: as many altogether, to both alike.
#[test]
fn what_is_sent_flows() {
    let mut sends = run(&["halo"], &[(0, &[10, 10, 10]), (0, &[10, 10, 10])]);
    let flow = |to, bytes| RecordedFlow { phase: 0, from: 1, to, bytes };
    sends.flows = vec![flow(0, 600), flow(2, 10_000)];
    let text = extract(&sends);
    assert!(text.contains("table halo_from[pe, ..] = [[1], [], [1]];"), "{text}");
    let outcome = followed(&text, &[]);
    let from_others: u64 = outcome.flow.iter().map(partune_mds::Flow::from_others).sum();
    assert_eq!(from_others, 2 * 2 * 2650, "{:#?}", outcome.flow);
    is_about(outcome.run_s * 1e9, 40.0);
}

/// Words of the language, operators and the same name twice are names of functions too.
#[test]
fn names_can_be_anything() {
    let names =
        ["task", "operator<<", "", "7up", "main", "task", "é", "sum_work", "sum", "P", "p", "max", "turn", "len", "k"];
    let rows: Vec<(usize, &[i64])> = (0..names.len()).map(|phase| (phase, &[5, 6][..])).collect();
    is_about(takes(&extract(&run(&names, &rows))), names.len() as f64 * 16.0);
}

proptest! {
    /// Never longer than the run's blocks but for what rounding makes, and shorter by no more than what is said to be left out.
    #[test]
    fn a_model_takes_what_the_blocks_took(
        pes in 1_usize..5,
        blocks in prop::collection::vec((0_usize..4, prop::collection::vec(0_i64..100_000, 4)), 1..120),
    ) {
        let rows: Vec<(usize, &[i64])> = blocks.iter().map(|(phase, work)| (*phase, &work[..pes])).collect();
        let recorded = run(&["a", "b", "c", "d"], &rows);
        let text = extract(&recorded);
        let longest: i64 = rows.iter().map(|(_, work)| work.iter().copied().max().unwrap_or(0)).sum();
        let lasted = (longest + 10 * rows.len() as i64) as f64;
        let model = takes(&text);
        prop_assert!(model <= lasted + rows.len() as f64 && model >= lasted - 0.02 * longest as f64 - rows.len() as f64, "{model} of {lasted}\n{text}");
    }
}
