//! Laws of comparison and scaling on random runs, and on damaged ones: nothing panics, nothing is counted twice or lost.

use std::fmt::Write;

use partune_analysis::{Mode, Verdict, compare, scale};
use proptest::prelude::*;

use super::{Analysed, close, with};

/// Calls of a few functions from each other with random times, on one to four PEs.
fn program() -> impl Strategy<Value = String> {
    let call = (0..4_usize, 1..40_u32, 1..4_u32);
    let pe = prop::collection::vec(call, 0..6);
    prop::collection::vec(pe, 1..5).prop_map(|pes| {
        let mut text = String::from("resolution 1000\n");
        for (rank, calls) in pes.iter().enumerate() {
            let _ = write!(text, "pe {rank}: main 0..1000 {{");
            let mut time = 0;
            for (name, length, line) in calls {
                let name = ["f", "g", "MPI_Barrier", "h"][*name];
                let inner = if name == "g" { format!("{{ f {time}..{} }}", time + length / 2) } else { String::new() };
                let _ = write!(text, " {name}^a.c:{line} {time}..{} {inner}", time + length);
                time += length + 1;
            }
            text += " }\n";
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Rows of call paths and of regions have all exclusive time of each run; a run against itself is the same; both directions
    /// have opposite differences.
    #[test]
    fn a_comparison_keeps_all_time(a in program(), b in program()) {
        let (a, b) = (Analysed::of(&a), Analysed::of(&b));
        let there = with(&[&a, &b], compare);
        let back = with(&[&b, &a], compare);
        for (run, of) in [&a, &b].into_iter().enumerate() {
            let own: f64 = partune_analysis::path_times(&of.trace)
                .iter().flatten().map(|row| of.trace.clock().seconds(row.exclusive)).sum();
            let paths: f64 = there.callpaths.iter().filter_map(|row| row.sums[run]).map(|it| it.exclusive).sum();
            let regions: f64 = there.regions.iter().filter_map(|row| row.sums[run]).map(|it| it.exclusive).sum();
            prop_assert!((paths - own).abs() < 1e-9 && (regions - own).abs() < 1e-9, "{paths} {regions} {own}");
        }
        let sum = |comparison: &partune_analysis::Comparison| {
            comparison.callpaths.iter().map(|row| row.changes[0].difference).sum::<f64>()
        };
        prop_assert!((sum(&there) + sum(&back)).abs() < 1e-9);
        let same = with(&[&a, &a], compare);
        prop_assert!(same.callpaths.iter().all(|row| row.changes[0].verdict == Verdict::Same));
        prop_assert!(same.findings.iter().all(|row| row.changes[0].verdict == Verdict::Same));
    }

    /// The factors multiply to the efficiency, whatever the runs are.
    #[test]
    fn factors_are_of_the_efficiency(a in program(), b in program()) {
        let (a, b) = (Analysed::of(&a), Analysed::of(&b));
        for mode in [Mode::Strong, Mode::Weak] {
            let Some(scaling) = with(&[&a, &b], |runs| scale(runs, mode)) else { continue };
            for point in &scaling.points {
                let Some(factors) = &point.factors else { continue };
                let product: f64 = factors.all().iter().map(|(_, value)| value).product();
                prop_assert!(close(product, point.efficiency), "{point:?}");
            }
        }
    }
}
