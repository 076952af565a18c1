//! Measurements made by formulas: what comes of them is known.

use std::collections::BTreeMap;

use partune_couple::judge::Fault;
use partune_couple::results::{Ending, Head, Sampled, Timed, Why};
use partune_couple::{Outcome, Plan, Recorded, outcome};

/// As programs of before tell it.
const ENDED: Ending = Ending { why: Why::Budget, asked: None };

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Seconds of kernels alone: two of a volume that is shared, one of a surface that is not.
fn alone(n: f64, pes: f64) -> [f64; 3] {
    [1e-8 * n.powi(3) / pes, 2e-8 * n.powi(3) / pes, 1e-7 * n * n]
}

fn bytes(n: f64, pes: f64) -> f64 {
    8.0 * n.powi(3) / pes
}

/// Couplings of a b, b c and c a: the first one has a step, as of a cache.
fn couplings(n: f64, pes: f64) -> [f64; 3] {
    [if bytes(n, pes) < 1e5 { 0.8 } else { 1.1 }, 1.0, 0.95]
}

/// A turn by the equation of the paper, each kernel in two chains.
fn turn(n: f64, pes: f64) -> f64 {
    let (p, c) = (alone(n, pes), couplings(n, pes));
    let chain = |at: usize| c[at] * (p[at] + p[(at + 1) % 3]);
    let of = |own: usize| {
        let (before, after) = ((own + 2) % 3, own);
        p[own] * (c[before] * chain(before) + c[after] * chain(after)) / (chain(before) + chain(after))
    };
    (0..3).map(of).sum()
}

fn sampled(seconds: f64) -> Sampled {
    let timed = Timed::InARow { few: 2, many: 10, halves: vec![1.0; 7] };
    Sampled { timed, seconds: vec![seconds; 7], ..Sampled::default() }
}

/// A launch that is slower altogether.
fn recorded(n: f64, pes: u32, slower: f64) -> Recorded {
    let (p, c) = (alone(n, pes.into()), couplings(n, pes.into()));
    let mut chains = BTreeMap::new();
    for own in 0..3 {
        let next = (own + 1) % 3;
        chains.insert(vec![NAMES[own].to_owned()], sampled(slower * p[own]));
        let pair = slower * c[own] * (p[own] + p[next]);
        chains.insert(vec![NAMES[own].to_owned(), NAMES[next].to_owned()], sampled(pair));
    }
    let head = Head {
        ranks: pes,
        threads: 1,
        order: NAMES.map(str::to_owned).to_vec(),
        iterations: 100,
        state_bytes: bytes(n, pes.into()),
        clock_s: 1e-8,
        call_s: 1e-9,
        ..Head::default()
    };
    Recorded { head, whole: sampled(slower * turn(n, pes.into())), chains, fault: None, ended: Some(ENDED) }
}

/// All launches of a plan, the second of each so much slower.
fn said(more: &str, slower: f64) -> Outcome {
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let path = folder.path().join("plan.toml");
    let text = format!("command = 'app {{size}} {{pes}}'\nlengths = [2]\nlaunches = 2\n{more}");
    std::fs::write(&path, text).expect("a plan is written");
    let plan = Plan::read(&path).expect("it is a plan");
    let launches = plan.launches();
    let all = launches.iter().map(|it| {
        let factor = if it.number == 2 { slower } else { 1.0 };
        (it.label.clone(), recorded(it.size, it.pes, factor))
    });
    outcome(&plan, &launches, &all.collect()).expect("something is said")
}

#[test]
fn a_launch_that_is_slower_altogether_changes_no_coupling() {
    let outcome = said("sizes = [32]\npes = [1]\n", 1.7);
    assert_eq!(outcome.problems, []);
    for (row, expected) in outcome.chains.iter().zip([1.1, 1.0, 0.95]) {
        assert!((row.coupling.value - expected).abs() < 1e-9 && row.coupling.deviation < 1e-9, "{row:?}");
    }
    let [it] = &outcome.configurations[..] else { panic!("{outcome:?}") };
    // Half of it in one direction, half in the other one.
    assert!((it.launches_differ - (1.7_f64.sqrt() - 1.0)).abs() < 1e-9, "{it:?}");
    let row = outcome.predictions[0];
    assert!((row.predicted.value / row.actual.expect("it was measured").value - 1.0).abs() < 1e-9, "{row:?}");
    assert_eq!(outcome.no_laws.map(|why| why.contains("four")), Some(true));
}

#[test]
fn one_kernel_that_differs_is_noise() {
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, "command = 'app'\nsizes = [32]\npes = [1]\nlengths = [2]\nlaunches = 2\n").expect("written");
    let plan = Plan::read(&path).expect("it is a plan");
    let launches = plan.launches();
    let mut all: BTreeMap<String, Recorded> =
        launches.iter().map(|it| (it.label.clone(), recorded(it.size, it.pes, 1.0))).collect();
    let own = all.get_mut(&launches[1].label).and_then(|it| it.chains.get_mut(&vec!["b".to_owned()]));
    own.expect("b was measured").seconds = vec![3.0; 7];
    let outcome = outcome(&plan, &launches, &all).expect("something is said");
    let faults: Vec<_> = outcome.problems.iter().map(|it| (&it.chain[..], it.fault)).collect();
    assert!(matches!(faults[..], [(_, Fault::Noise { share })] if share > 0.5), "{faults:?}");
    assert!(outcome.configurations.is_empty() && outcome.predictions.is_empty());
}

#[test]
fn what_was_not_measured_is_predicted_from_laws_and_plateaus() {
    let more = "sizes = [16, 24, 32, 48, 64]\npes = [1, 2, 4]\n\
                predict = [{ size = 96, pes = 8 }, { size = 20, pes = 2 }, { size = 128, pes = 4 }]\n";
    let outcome = said(more, 1.0);
    assert_eq!(outcome.problems, []);
    let unseen: Vec<_> = outcome.predictions.iter().filter(|row| row.actual.is_none()).collect();
    assert_eq!(unseen.len(), 3);
    for row in unseen {
        let expected = 100.0 * turn(row.size, row.pes.into());
        let (low, high) = row.interval();
        assert!((row.predicted.value / expected - 1.0).abs() < 0.01, "{row:?}, and not {expected}");
        let rounding = 1e-9 * expected;
        assert!(low <= expected + rounding && expected <= high + rounding, "{row:?}, and not {expected}");
    }
    let [length] = &outcome.lengths[..] else { panic!("{outcome:?}") };
    assert!(length.error < 1e-9 && length.summation_error > 0.01, "{length:?}");
    let left_out = length.left_out.as_ref().expect("there are enough");
    // At the step it is not known to which side one belongs.
    assert!(left_out.mean < 0.02 && left_out.of == 15 && left_out.within >= 14, "{left_out:?}");
    // The least that was measured of 10⁵ bytes and more.
    let [change] = &length.changes[..] else { panic!("{length:?}") };
    assert_eq!(change.kernels, ["a", "b"]);
    assert_eq!(change.from, [bytes(24.0, 1.0)]);
    assert!(outcome.laws.iter().any(|(kernel, law)| kernel == "b" && law == "2e-8·n^3·P^-1"), "{:?}", outcome.laws);
}

/// Of each place that the plan wants, why not; and lengths are compared by places that both have.
#[test]
fn what_is_not_predicted_is_said_with_its_reason() {
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let path = folder.path().join("plan.toml");
    let text = "command = 'app {size}'\nsizes = [16, 24, 32, 48]\npes = [1]\nlaunches = 1\npredict = [{ size = 20, pes = 1 }]\n";
    std::fs::write(&path, text).expect("a plan is written");
    let plan = Plan::read(&path).expect("it is a plan");
    let launches = plan.launches();
    let mut all: BTreeMap<String, Recorded> =
        launches.iter().map(|it| (it.label.clone(), recorded(it.size, 1, 1.0))).collect();
    // Chains of three are the loop, but for one size, where there are none.
    for it in &launches[1..] {
        let own = all.get_mut(&it.label).expect("it is there");
        let whole = own.whole.clone();
        for first in 0..3 {
            let chain: Vec<String> = (0..3).map(|at| NAMES[(first + at) % 3].to_owned()).collect();
            own.chains.insert(chain, whole.clone());
        }
    }
    let outcome = outcome(&plan, &launches, &all).expect("something is said");
    let missing: Vec<_> = outcome.problems.iter().map(|it| (it.chain.len(), it.fault)).collect();
    assert_eq!(missing, [(3, Fault::Missing); 3]);
    let [it] = &outcome.unpredicted[..] else { panic!("{:?}", outcome.unpredicted) };
    assert!(it.k == Some(3) && it.why.contains("fewer than four"), "{it:?}");
    assert_eq!(outcome.predictions.iter().filter(|row| row.actual.is_none()).map(|row| row.k).collect::<Vec<_>>(), [2]);
    assert_eq!(outcome.best, Some(2), "chains of three were sound in fewer places");
}
