//! Marks without a recorder: they are nothing. What is recorded is tested with `partune record`, beside the other languages.

use partune_regions::{iterations, phase, region, start_loop};

#[test]
fn without_a_recorder_marks_change_nothing() {
    let _phase = phase("setup");
    let items = iterations("steps", [1, 2, 3]);
    assert_eq!(items.size_hint(), (3, Some(3)));
    let seen: Vec<i32> = items.map(|item| item * 2).collect();
    assert_eq!(seen, [2, 4, 6]);
    let mut sweep = start_loop("sweep");
    for _ in 0..2 {
        let _iteration = sweep.iteration();
        let _region = region(&"a name that is longer than the recorder keeps ü".repeat(20));
    }
    let _empty = region("");
}
