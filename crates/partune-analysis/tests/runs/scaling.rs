//! Scaling: ideal series are said to be, Amdahl's fraction comes out exact, and the planted place is named with how it grows.

use std::fmt::Write;

use partune_analysis::{Growth, Limit, Mode, ScaledRow, Scaling, ScalingOutcome, scale};
use partune_base::CallPathId;

use super::{Analysed, close, with};

/// A run of `work` on so many PEs, split into equal parts, after `serial` that only rank 0 does; a barrier ends both. `transfer` is what
/// each barrier takes, however late others are.
fn run(pes: u32, serial: u32, work: u32, transfer: u32) -> Analysed {
    let mut text = String::from("resolution 1\n");
    let (barrier, end) = (serial + transfer, serial + transfer + work);
    for pe in 0..pes {
        let setup = if pe == 0 && serial > 0 { format!("setup@a.c:5 0..{serial}") } else { String::new() };
        let begin = if pe == 0 { serial } else { 0 };
        let last = end + transfer;
        let _ = write!(
            text,
            "pe {pe}: main@a.c:1 0..{last} {{ {setup} MPI_Barrier {begin}..{barrier} barrier
                 solve@a.c:9 {barrier}..{end} MPI_Barrier {end}..{last} barrier }}\n"
        );
    }
    Analysed::of(&text)
}

fn of(runs: &[Analysed], mode: Mode) -> Scaling {
    let all: Vec<&Analysed> = runs.iter().collect();
    with(&all, |runs| scale(runs, mode)).expect("there are two numbers of PEs")
}

fn place<'a>(scaling: &'a Scaling, run: &Analysed, name: &str) -> &'a ScaledRow<CallPathId> {
    let is = |row: &&ScaledRow<CallPathId>| {
        let named = |id: &CallPathId| partune_testkit::path_name(&run.trace, *id) == name;
        row.ids.last().is_some_and(|ids| ids.iter().any(named))
    };
    scaling.callpaths.iter().find(is).unwrap_or_else(|| panic!("no place {name}"))
}

#[test]
fn an_ideal_strong_series_is_ideal() {
    let runs = [8, 1, 4, 2].map(|pes| run(pes, 0, 8000 / pes, 0));
    let scaling = of(&runs, Mode::Strong);
    assert_eq!(scaling.outcome, ScalingOutcome::Ideal);
    assert_eq!(scaling.points.iter().map(|point| point.pes).collect::<Vec<_>>(), [1, 2, 4, 8]);
    assert_eq!(scaling.points.iter().map(|point| point.run).collect::<Vec<_>>(), [1, 3, 2, 0]);
    for point in &scaling.points {
        assert!(close(point.efficiency, 1.0) && close(point.speed_up, point.ideal) && point.lost.abs() < 1e-9);
        assert!(point.serial_fraction.is_none_or(|fraction| fraction.abs() < 1e-12));
        assert!(point.factors.unwrap().all().iter().all(|(_, value)| close(*value, 1.0)));
    }
    assert!(scaling.callpaths.iter().all(|row| !row.growth.is_loss()), "{:?}", scaling.callpaths);
    assert!(scaling.notes.is_empty());
}

#[test]
fn an_ideal_weak_series_is_ideal() {
    let runs = [1, 2, 4].map(|pes| run(pes, 0, 1000, 0));
    let scaling = of(&runs, Mode::Weak);
    assert_eq!(scaling.outcome, ScalingOutcome::Ideal);
    assert!(scaling.points.iter().all(|point| close(point.efficiency, 1.0) && close(point.speed_up, point.ideal)));
    assert!(scaling.callpaths.iter().all(|row| !row.growth.is_loss()));
    // The same series is a bad strong one: everybody repeats the work.
    let strong = of(&runs, Mode::Strong);
    assert_eq!(strong.outcome, ScalingOutcome::Limited { point: 2, by: Some(Limit::Computation) });
    assert_eq!(place(&strong, &runs[2], "main/solve").growth, Growth::Replicated);
    assert!(close(strong.points[2].serial_fraction.unwrap(), 1.0));
}

/// A tenth of the work is serial: Amdahl's law holds to the last digit, whatever the number of PEs.
#[test]
fn amdahl_comes_out_exact() {
    let runs = [1, 2, 4, 8].map(|pes| run(pes, 800, 7200 / pes, 0));
    let scaling = of(&runs, Mode::Strong);
    for point in &scaling.points[1..] {
        let p = point.pes as f64;
        assert!(close(point.serial_fraction.unwrap(), 0.1), "{point:?}");
        assert!(close(point.speed_up, 1.0 / (0.1 + 0.9 / p)), "{point:?}");
        assert!(close(point.lost, 800.0 * (p - 1.0)), "{point:?}");
    }
    assert_eq!(scaling.outcome, ScalingOutcome::Limited { point: 3, by: Some(Limit::LoadBalance) });
    // The planted place loses all of it, the barrier is where it is waited for.
    let first = &scaling.callpaths[0];
    assert_eq!(first.ids[3][0], partune_testkit::path(&runs[3].trace, "main/setup"));
    let end = first.sums[3].unwrap();
    assert!(close(end.lost, 800.0 * 7.0) && close(end.factor.unwrap(), 1.0 / 8.0), "{end:?}");
    assert_eq!((first.code, first.growth), (true, Growth::Serial));
    assert_eq!(place(&scaling, &runs[3], "main/MPI_Barrier").growth, Growth::Waiting);
    assert_eq!(place(&scaling, &runs[3], "main/solve").growth, Growth::Ideal);
}

#[test]
fn a_serial_part_that_grows_with_the_problem_limits_weak_scaling() {
    let runs = [1, 2, 4].map(|pes| run(pes, 100 * pes, 900, 0));
    let scaling = of(&runs, Mode::Weak);
    assert!(close(scaling.points[2].efficiency, 1000.0 / 1300.0));
    // Gustafson: 4·(1 − 1000/1300)/3.
    assert!(close(scaling.points[2].serial_fraction.unwrap(), 4.0 * (300.0 / 1300.0) / 3.0));
    assert_eq!(place(&scaling, &runs[2], "main/setup").growth, Growth::Serial);
    assert_eq!(place(&scaling, &runs[2], "main/solve").growth, Growth::Ideal);
}

#[test]
fn operations_that_take_longer_are_transfer() {
    let runs = [2, 4, 8].map(|pes| run(pes, 0, 8000 / pes, pes * pes * 10));
    let scaling = of(&runs, Mode::Strong);
    assert_eq!(scaling.outcome, ScalingOutcome::Limited { point: 2, by: Some(Limit::Transfer) });
    let barrier = place(&scaling, &runs[2], "main/MPI_Barrier");
    assert_eq!((barrier.code, barrier.growth), (false, Growth::Transfer));
    assert!(scaling.callpaths.iter().all(|row| !row.code || !row.growth.is_loss()));
}

#[test]
fn factors_multiply_to_the_efficiency() {
    let runs = [(1, 100, 3000, 5), (3, 150, 1300, 20), (6, 120, 700, 80)].map(|(p, s, w, t)| run(p, s, w, t));
    for mode in [Mode::Strong, Mode::Weak] {
        for point in &of(&runs, mode).points {
            let product: f64 = point.factors.unwrap().all().iter().map(|(_, value)| value).product();
            assert!(close(product, point.efficiency), "{point:?}");
        }
    }
}

#[test]
fn of_several_runs_the_median_counts_and_their_spread_is_no_loss() {
    let runs = [(1, 8000), (2, 4400), (2, 4000), (2, 4100), (4, 2060)].map(|(pes, work)| run(pes, 0, work, 0));
    let scaling = of(&runs, Mode::Strong);
    let two = &scaling.points[1];
    assert_eq!((two.run, &two.runs[..], two.shortest, two.longest), (3, &[2, 3, 1][..], 4000.0, 4400.0));
    assert_eq!(scaling.outcome, ScalingOutcome::Ideal, "3 % on 4 PEs are less than the spread on 2");
    let other = of(&[run(1, 0, 8000, 0), run(2, 0, 4000, 0), run(4, 0, 2060, 0)], Mode::Strong);
    assert!(matches!(other.outcome, ScalingOutcome::Limited { point: 2, .. }));
    let better = of(&[run(1, 0, 8000, 0), run(2, 0, 3000, 0)], Mode::Strong);
    assert_eq!(better.outcome, ScalingOutcome::Better { point: 1 });
}

#[test]
fn one_number_of_pes_is_no_series() {
    let runs = [run(2, 0, 100, 0), run(2, 0, 110, 0)];
    let all: Vec<&Analysed> = runs.iter().collect();
    assert!(with(&all, |runs| scale(runs, Mode::Strong)).is_none());
    assert!(with(&all[..1], |runs| scale(runs, Mode::Strong)).is_none());
    assert!(with(&[], |runs| scale(runs, Mode::Strong)).is_none());
}
