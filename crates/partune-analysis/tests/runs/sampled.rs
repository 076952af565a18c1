//! What a comparison says of times that samples share out: no more than their number can tell.

use partune_analysis::{Comparison, Note, Verdict, compare};

use super::{Analysed, close, with};

/// Two PEs; in each of ten turns `work` and `rare` take so many milliseconds, the rest of 100 is `other`. None has events of its own; so many samples said who had the
/// time, or, with none, all have events.
fn program(work: u32, rare: u32, samples: Option<u64>) -> Analysed {
    let pe = |rank: u32| {
        let rare = if rare > 0 { format!("rare@a.c:8 {work}..{}", work + rare) } else { String::new() };
        let from = work + 10;
        format!(
            "pe {rank}: main@a.c:1 0..1000 {{ repeat 10 every 100 {{ work@a.c:3 0..{work} {rare} other@a.c:9 {from}..100 }} }}\n"
        )
    };
    of(&format!("resolution 1000\n{}{}", pe(0), pe(1)), samples)
}

/// Two PEs; in each of five turns `work` takes 1 ms, and once more what makes it so many for a call, the rest of 200 is `other`.
fn uneven(work: [u32; 2], samples: Option<u64>) -> Analysed {
    let pe = |(rank, work): (usize, &u32)| {
        let end = 100 + 2 * work - 1;
        format!(
            "pe {rank}: main@a.c:1 0..1000 {{ repeat 5 every 200 {{ work@a.c:3 0..1 other@a.c:9 1..100 work@a.c:3 100..{end} other@a.c:9 {end}..200 }} }}\n"
        )
    };
    of(&format!("resolution 1000\n{}", work.iter().enumerate().map(pe).collect::<String>()), samples)
}

/// With so many samples no call path has events.
fn of(text: &str, samples: Option<u64>) -> Analysed {
    let mut builder = partune_testkit::builder(text);
    if let Some(samples) = samples {
        let paths: Vec<_> = builder.paths.ids().collect();
        paths.into_iter().for_each(|path| builder.paths.set_recorded(path, false));
        builder.shared_out_by = Some(samples);
    }
    Analysed::new(builder.seal())
}

fn compared(a: &Analysed, b: &Analysed) -> Comparison {
    with(&[a, b], compare)
}

/// Of a function of both runs, or of one: its verdict, noise and difference.
fn change(comparison: &Comparison, runs: [&Analysed; 2], name: &str) -> (Verdict, Option<f64>, f64) {
    let is = |ids: &[partune_base::CallPathId], run: &Analysed| {
        ids.iter().any(|id| partune_testkit::path_name(&run.trace, *id) == name)
    };
    let row = comparison.callpaths.iter().find(|row| row.ids.iter().zip(runs).any(|(ids, run)| is(ids, run)));
    let change = &row.unwrap_or_else(|| panic!("no row {name}")).changes[0];
    (change.verdict, change.noise, change.difference)
}

/// 20 visits to `work` of 2 ms and of 24 ms, all alike, are told of where they were measured. Of 20 samples in 2 s, half a one and five found them.
#[test]
fn a_function_that_few_samples_found_did_not_grow() {
    let told = |samples: Option<u64>| {
        let (a, b) = (program(2, 0, samples), program(24, 0, samples));
        change(&compared(&a, &b), [&a, &b], "main/work")
    };
    assert_eq!(told(None), (Verdict::Grown, Some(0.0), 0.44));
    let (verdict, noise, difference) = told(Some(20));
    // A sample stands for 0.1 s. On each of two PEs 0.02 s and 0.24 s of one second are work; and in each run there may have been a sample more.
    let variance = |x: f64| 2.0 * 0.1 * x * (1.0 - x) + 0.01;
    assert!(close(difference, 0.44) && close(noise.unwrap(), (variance(0.02) + variance(0.24)).sqrt()), "{noise:?}");
    assert_eq!(verdict, Verdict::TooSmall);
    // With a hundred times as many samples it is one.
    assert_eq!(told(Some(2000)).0, Verdict::Grown);
}

/// Visits of 1 and 3 ms, and of 1 and 47, follow from how samples share time out, and are no measurements of it.
#[test]
fn visits_that_samples_make_are_no_spread() {
    let told = |works: [[u32; 2]; 2], samples: Option<u64>| {
        let (a, b) = (uneven(works[0], samples), uneven(works[1], samples));
        let comparison = compared(&a, &b);
        (change(&comparison, [&a, &b], "main/work"), comparison.runs[1].change.noise)
    };
    let ((_, noise, difference), of_run) = told([[2; 2], [24; 2]], Some(20));
    // As with as many visits that are alike.
    let variance = |x: f64| 2.0 * 0.1 * x * (1.0 - x) + 0.01;
    assert!(close(difference, 0.44) && close(noise.unwrap(), (variance(0.02) + variance(0.24)).sqrt()), "{noise:?}");
    assert_eq!(of_run, None, "nothing was measured twice");
    // On one PE it takes twice as long, which so many samples tell, and measured visits that differ so much do not.
    let works = [[24, 24], [24, 48]];
    assert_eq!(told(works, Some(1_000_000)).0.0, Verdict::Grown);
    assert_eq!(told(works, None).0.0, Verdict::TooSmall);
}

/// 10 ms in each turn, which 20 samples found twice and 2000 two hundred times, are not in the other run.
#[test]
fn a_function_that_a_sample_found_by_chance_is_not_new() {
    let told = |samples: Option<u64>| {
        let (a, b) = (program(40, 0, samples), program(40, 10, samples));
        let (comparison, back) = (compared(&a, &b), compared(&b, &a));
        [change(&comparison, [&a, &b], "main/rare").0, change(&back, [&b, &a], "main/rare").0]
    };
    assert_eq!(told(None), [Verdict::Added, Verdict::Gone]);
    assert_eq!(told(Some(2000)), [Verdict::Added, Verdict::Gone]);
    assert_eq!(told(Some(20)), [Verdict::TooSmall; 2]);
}

#[test]
fn that_times_come_from_samples_is_said_once_and_of_those_runs_only() {
    let (measured, few, many) = (program(20, 0, None), program(20, 0, Some(20)), program(20, 0, Some(2000)));
    let notes = |all: &[&Analysed]| {
        let notes = with(all, compare).notes;
        notes.into_iter().filter(|note| matches!(note, Note::Sampled { .. })).collect::<Vec<_>>()
    };
    assert_eq!(notes(&[&measured, &measured]), []);
    assert_eq!(notes(&[&few, &measured, &many]), [Note::Sampled { samples: vec![Some(20), None, Some(2000)] }]);
}
