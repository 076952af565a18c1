//! Schedules, layouts, sizes of caches, and what flows.

use crate::support::{followed, phase};

#[test]
fn one_pass_tells_the_misses_of_every_size() {
    // Five rounds through 100 lines: a cache of 64 lines keeps none until it is needed again, one of 128 lines all.
    let source = "param bytes: int = 0; domain i = 0..99; data A[i]: f64 * 8; decompose i -> 1 by block; machine { cache bytes; memory 1 };
        main = seq (t = 1, 5) forall (k in i) task { reads A[k] };";
    let outcome = followed(source, &[]);
    let sizes: Vec<(u64, u64)> = outcome.sizes.iter().map(|size| (size.bytes, size.misses)).collect();
    let missed: Vec<(u64, u64)> = (0..=7).map(|power| (64 << power, if power < 7 { 500 } else { 100 })).collect();
    assert_eq!(sizes, missed);
    for (bytes, capacity) in [(99 * 64, 400), (100 * 64, 0), (0, 0)] {
        let outcome = followed(source, &[("bytes", bytes)]);
        let counts = outcome.counts();
        assert_eq!((counts.cold, counts.capacity, outcome.run_s), (100, capacity, 100.0 + capacity as f64));
    }
}

#[test]
fn loops_against_the_order_of_a_matrix_use_an_eighth_of_each_line() {
    let source = "param columns: int = 0; domain i = 0..31; data A[32, 32]: f64; layout A: ORDER;
        decompose i -> 1 by block; machine { cache 1024 };
        main = forall (k in i) task { reads A[k, *] };";
    let row = followed(&source.replace("ORDER", "row_major"), &[]).counts();
    let column = followed(&source.replace("ORDER", "col_major"), &[]).counts();
    assert_eq!((row.reads, row.cold, row.capacity), (1024, 128, 0));
    // 32 lines are touched for each row, and a cache has 16.
    assert_eq!((column.reads, column.cold, column.capacity), (1024, 128, 1024 - 128));
}

#[test]
fn an_array_of_structures_is_one_line_where_three_arrays_are_three() {
    let source = "domain i = 0..63; data A[i]: f64; data B[i, 2]: f64; data C[i]: f64; LAYOUT
        table pick = [0, 17, 34, 51]; domain k = 0..3; decompose k -> 1 by block; machine { line 32 };
        main = forall (n in k) task { reads A[pick[n]], B[pick[n], *], C[pick[n]] };";
    let apart = followed(&source.replace("LAYOUT", ""), &[]).counts();
    let together = followed(&source.replace("LAYOUT", "layout A, B, C: group;"), &[]).counts();
    assert_eq!((apart.reads, apart.cold), (16, 12));
    assert_eq!((together.reads, together.cold), (16, 4));
}

#[test]
fn who_comes_first_gets_the_next_piece() {
    let source = "param k: int = 1; domain i = 0..15; data A[i]: f64; decompose i -> 2 by block;
        main = seq (t = 1, 2) phase p forall (n in i) schedule HOW task { writes A[n]; weight [n = 0]*15 + 1 };";
    let even = followed(&source.replace("HOW", "static"), &[]);
    assert_eq!(even.run_s, 2.0 * 23.0);
    let own = followed(&source.replace("HOW", "self(k)"), &[]);
    // The long one by one PE, the fifteen others by the other.
    assert_eq!(own.run_s, 2.0 * 16.0);
    assert_eq!(phase(&own, "p").pes.iter().map(|pe| pe.tasks).collect::<Vec<_>>(), [2, 30]);
    let pieces = followed(&source.replace("HOW", "self(k)"), &[("k", 8)]);
    assert_eq!(pieces.run_s, 2.0 * 23.0);
    let guided = followed(&source.replace("HOW", "guided(1)"), &[]);
    assert!((32.0..=46.0).contains(&guided.run_s), "{}", guided.run_s);
}

#[test]
fn who_need_not_wait_evens_phases_out() {
    let source = "param T: int = 10; domain i = 0..1; data A[i]: f64 * 8; decompose i -> 2 by block; machine { barrier 1 };
        main = seq (t = 1, T) {
          phase a forall (n in i) WAIT task { updates A[n]; weight 1 + n }; phase b forall (n in i) task { updates A[n]; weight 2 - n }; barrier };";
    let waits = followed(&source.replace("WAIT", ""), &[]);
    let goes = followed(&source.replace("WAIT", "nowait"), &[]);
    assert_eq!((waits.run_s, goes.run_s), (50.0, 40.0));
    assert_eq!((waits.bounds.phases_s, goes.bounds.phases_s), (10.0, 0.0));
    assert_eq!((waits.bounds.imbalance_s, waits.bounds.synchronisation_s), (0.0, 10.0));
}

#[test]
fn the_first_pe_does_what_is_in_no_loop() {
    let outcome = followed(
        "domain i = 0..3; data A[i]: f64; data S[1]: f64; decompose i -> 4 by block; machine { memory 1; near 2 };
         main = { phase total task { reads A[k] for k in 0..3; writes S[0]; weight 10 }; phase all forall (k in i) task { reads S[0]; weight 4 } };",
        &[],
    );
    // The sum takes 10 and two lines of memory; S is at the first PE, and the three others fetch it from there or, once it is shared, from memory.
    assert_eq!(outcome.run_s, 12.0 + 4.0 + 2.0);
    assert_eq!(outcome.bounds.ideal_s, 14.0);
    assert_eq!(outcome.flow[0].pairs, [(0, 1, 8), (0, 2, 8), (0, 3, 8)]);
    assert_eq!(phase(&outcome, "total").pes[3].wait_s, 12.0);
}

#[test]
fn decompositions_are_what_they_are_called() {
    let tasks = |by: &str| {
        let source = format!(
            "table t = [2, 2, 0, 0, 1, 1, 1, 0]; table near[d, ..] = [[1], [0, 2], [1], [], [5], [4, 6], [5, 7], [6]]; let w(i) = [i = 1]*9 + 1;
             domain d = 0..7; data A[d]: f64; decompose d -> 3 by {by}; main = forall (i in d) task {{ writes A[i]; weight i = 100 }};"
        );
        let source = source.replace("weight i = 100", "weight 1");
        let outcome = followed(&source, &[]);
        outcome.phases[0].pes.iter().map(|pe| pe.tasks).collect::<Vec<_>>()
    };
    assert_eq!(tasks("block"), [3, 3, 2]);
    assert_eq!(tasks("cyclic"), [3, 3, 2]);
    assert_eq!(tasks("block_cyclic(2)"), [4, 2, 2]);
    assert_eq!(tasks("table(t)"), [3, 3, 2]);
    assert_eq!(tasks("owner(i) = [i > 6]*2"), [7, 0, 1]);
    assert_eq!(tasks("graph(near)").iter().sum::<u64>(), 8);
    // Who has the heavy vertex has nothing else.
    let mut by_weight = tasks("graph(near, w)");
    by_weight.sort_unstable();
    assert_eq!(by_weight, [1, 2, 5]);
}

#[test]
fn far_is_another_node() {
    let source =
        "domain i = 0..3; data A[1]: f64; decompose i -> 4 by block; machine { near 1; far 10; node(q) = q div 2 };
        main = { forall (k in i) task { updates A[0] [k = 0] }; skip };";
    let source = source.replace("updates A[0] [k = 0]", "writes A[0] for n in 0..[k = 0] - 1");
    let from = |reader: i64| {
        let source =
            source.replace("skip", &format!("forall (k in i) task {{ reads A[0] for n in 0..[k = {reader}] - 1 }}"));
        followed(&source, &[]).run_s
    };
    assert_eq!([from(0), from(1), from(2), from(3)], [0.0, 1.0, 10.0, 10.0]);
}

#[test]
fn two_dimensions_are_cut_in_blocks_of_both() {
    let outcome = followed(
        "domain g = 0..7 x 0..7; data A[g]: f64; decompose g -> 4 by owner(i, j) = (i div 4)*2 + j div 4; machine { line 32 };
         main = seq (t = 1, 2) forall (i, j in g) task { reads A[max(i - 1, 0), j], A[i, max(j - 1, 0)]; writes A[i, j] };",
        &[],
    );
    assert_eq!(outcome.phases[0].pes.iter().map(|pe| pe.tasks).collect::<Vec<_>>(), [32, 32, 32, 32]);
    assert_eq!(outcome.counts().false_sharing, 0, "a line has four numbers of a row, and so has a block");
    assert!(outcome.counts().true_sharing > 0);
}
