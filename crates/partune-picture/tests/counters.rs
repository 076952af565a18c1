//! Metrics over time against what can be worked out by hand.

use partune_base::MetricId;
use partune_picture::{Counters, Fold, Reading, View};
use partune_testkit::trace;
use partune_trace::Trace;

fn read(trace: &Trace, columns: usize, rows: usize, reading: Reading) -> Vec<Vec<Option<f64>>> {
    let counters = Counters::new(trace, MetricId(0));
    let fold = Fold::new(counters.pes().collect(), rows);
    counters.read(&fold, View::whole(trace, columns), reading)
}

/// Known from 10 to 30 of 40 ns: 0 to 100 in the first ten of them, 100 more in the next ten.
#[test]
fn a_counter_grows_evenly_between_its_samples() {
    let trace = trace(
        "metric ins accumulated #
         pe 0: main 0..40 { work 10..40 metric(ins=1000)@10 metric(ins=1100)@20 metric(ins=1200)@30 }",
    );
    let level = [None, Some(50.0), Some(150.0), None];
    assert_eq!(read(&trace, 4, 9, Reading::Level), [level]);
    assert_eq!(read(&trace, 4, 9, Reading::Rate), [[None, Some(1e10), Some(1e10), None]]);
    // Half of each of these columns is known.
    assert_eq!(read(&trace, 2, 9, Reading::Level), [[Some(50.0), Some(150.0)]]);
    assert_eq!(read(&trace, 2, 9, Reading::Rate), [[Some(1e10), Some(1e10)]]);
}

#[test]
fn a_counter_that_is_set_back_stays() {
    let trace = trace(
        "metric ins accumulated #
         pe 0: main 0..30 { work 0..30 metric(ins=0)@0 metric(ins=100)@10 metric(ins=5)@20 metric(ins=15)@30 }",
    );
    assert_eq!(read(&trace, 3, 9, Reading::Level), [[Some(50.0), Some(100.0), Some(105.0)]]);
    assert_eq!(read(&trace, 3, 9, Reading::Rate), [[Some(1e10), Some(0.0), Some(1e9)]]);
}

/// 8 from 10 on, 2 from 25 on until the end.
#[test]
fn a_gauge_is_its_last_sample() {
    let trace = trace(
        "metric queue next #
         pe 0: main 0..40 { work 0..40 metric(queue=8)@10 metric(queue=2)@25 }",
    );
    assert_eq!(read(&trace, 4, 9, Reading::Level), [[None, Some(8.0), Some(5.0), Some(2.0)]]);
    assert_eq!(read(&trace, 4, 9, Reading::Rate), [[None, Some(0.0), Some(-6e8), Some(0.0)]]);
}

#[test]
fn sums_since_the_last_sample_count_from_the_begin() {
    let trace = trace(
        "metric bytes last B
         pe 0: main 0..40 { work 0..40 metric(bytes=20)@20 metric(bytes=10)@40 }",
    );
    assert_eq!(read(&trace, 4, 9, Reading::Rate), [[Some(1e9), Some(1e9), Some(5e8), Some(5e8)]]);
}

/// The second PE has its counter in the second half only.
#[test]
fn a_row_of_several_pes_is_their_sum() {
    let trace = trace(
        "metric ins accumulated #
         pe 0: main 0..40 { work 0..40 metric(ins=0)@0 metric(ins=40)@40 }
         pe 1: main 0..40 { work 0..40 metric(ins=0)@20 metric(ins=40)@40 }
         pe 2: main 0..40",
    );
    let one = [Some(1e9), Some(1e9)];
    assert_eq!(read(&trace, 2, 9, Reading::Rate), [one, [None, Some(2e9)]]);
    assert_eq!(read(&trace, 2, 1, Reading::Rate), [[Some(1e9), Some(3e9)]]);
    assert_eq!(read(&trace, 2, 1, Reading::Level), [[Some(10.0), Some(30.0 + 20.0)]]);
}
