//! Metrics by call path.

use partune_analysis::Values;

use super::{assert_close, at_path, column, figure, numbers};

#[test]
fn counters_belong_to_the_code_that_ran() {
    let text = "metric CYC accumulated cycles
        metric TEMP point
        pe 0: main 0..100 metric(CYC=0) metric(CYC=100)@100 {
            f 10..50 metric(CYC=10) metric(CYC=70)@50 metric(TEMP=40) { g 20..30 metric(CYC=20) metric(CYC=25)@30 metric(TEMP=60) }
        }
        pe 1: main 0..100 metric(CYC=1000) metric(CYC=1007)@100";
    let (trace, outcome) = figure(text, "metrics");
    let at = |path: &str, name: &str| at_path(&trace, &outcome, "counters", path, name);
    // main: 0–10 and 50–100 on PE 0, all on PE 1. f: 10–20 and 30–50.
    assert_close(&[at("main", "exclusive"), at("main", "inclusive")], &[10.0 + 30.0 + 7.0, 107.0]);
    assert_close(&[at("main/f", "exclusive"), at("main/f", "inclusive")], &[10.0 + 45.0, 60.0]);
    assert_close(&[at("main/f/g", "exclusive"), at("main/f/g", "inclusive")], &[5.0, 5.0]);
    assert_close(&numbers(&outcome, "gauges", "mean"), &[40.0, 60.0]);
    assert!(matches!(column(&outcome, "gauges", "metric"), Values::Metric(metrics) if metrics.len() == 2));
}

#[test]
fn silent_without_samples() {
    assert!(figure("pe 0: main 0..100", "metrics").1.sections.is_empty());
}

/// As Score-P writes it: a sample stands before the enter that it belongs to, in the caller, at the same time.
#[test]
fn a_sample_before_an_enter_belongs_to_what_begins_then() {
    let text = "metric CYC accumulated cycles
        pe 0: main 0..100 metric(CYC=0) metric(CYC=10)@10 metric(CYC=100)@100 { f 10..50 metric(CYC=90)@50 }";
    let (trace, outcome) = figure(text, "metrics");
    let at = |path: &str| at_path(&trace, &outcome, "counters", path, "exclusive");
    assert_close(&[at("main"), at("main/f")], &[20.0, 80.0]);
}
