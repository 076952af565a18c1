//! What is wrong is told at its place; what is too much ends.

use partune_mds::Options;

use crate::support::{recorded, tried};

/// A model, line and column, and what is said.
const WRONG: &[(&str, &str, &str)] = &[
    ("main = phase p skip;\nalt b = task { reads A[0] };", "2:22", "no data `A`"),
    ("domain d = 0..9;\ndata A[d]: f64;\nmain = forall (i in d) task { reads A[i] };", "3:21", "nobody owns `d`"),
    (
        "domain d = 0..9; data A[d, 3]: f64; decompose d -> 2 by block;\nmain = forall (i in d) task { reads A[i] };",
        "2:37",
        "`A` has 2 dimension(s), not 1",
    ),
    (
        "domain d = 0..9; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in e) task { reads A[i] };",
        "2:21",
        "no domain `e`",
    ),
    (
        "domain d = 0..9; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in d)\n  task { reads A[i + 1] };",
        "3:16",
        "`A` has indices 0 to 9, not 10",
    ),
    (
        "domain d = 0..9; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in d) task { reads A[12] };",
        "2:37",
        "`A` has indices 0 to 9, not 12",
    ),
    (
        "domain d = 0..9; data A[d]: f64; decompose d -> 2 by block;\nmachine { cache 63 }; main = forall (i in d) task { reads A[i] };",
        "2:1",
        "`cache` is less than a `line`",
    ),
    ("domain d = 0..9;\ndecompose d -> 0 by block; main = skip;", "2:16", "0 parts: there are 1 to 1024 PEs"),
    ("domain d = 0..9;\ndecompose d -> 9999 by block; main = skip;", "2:16", "9999 parts"),
    (
        "domain d = 0..9; decompose d -> 2 by block;\ndecompose d -> 3 by cyclic; main = skip;",
        "2:11",
        "decomposed already",
    ),
    (
        "table t = [0, 1, 2]; domain d = 0..2;\ndecompose d -> 2 by table(t); main = skip;",
        "2:27",
        "entry 2 of `t` is 2, and owners are 0 to 1",
    ),
    (
        "table t = [0, 1]; domain d = 0..2;\ndecompose d -> 2 by table(t); main = skip;",
        "2:27",
        "`t` has 2 owners, and `d` goes from 0 to 2",
    ),
    (
        "domain d = 0..2;\ntable t[d] = [0, 1]; main = skip;",
        "2:12",
        "`t` has 2 entries, from 0 on, and `d` goes from 0 to 2",
    ),
    (
        "domain d = 0..2;\ntable t[d, ..] = [[1], [0, 2]]; main = skip;",
        "2:16",
        "`t` has 2 rows, from 0 on, and `d` goes from 0 to 2",
    ),
    (
        "domain d = 0..2; data A[d]: f64; decompose d -> 2 by owner(i) = i;\nmain = forall (i in d) task { reads A[i] };",
        "1:54",
        "the owner of index 2 is 2, and PEs are 0 to 1",
    ),
    (
        "data A[4]: f64; data B[4]: f64;\nlayout A, B: base 0; main = task { reads A[0] };",
        "1:22",
        "`A` and `B` lie on each other",
    ),
    (
        "data A[4, 3]: f64;\nlayout A: pad 4 -> 8; main = task { reads A[0, 0] };",
        "2:11",
        "has 3 elements along the dimension that is padded, not 4",
    ),
    (
        "data A[4, 3]: f64;\nlayout A: pad 3 -> 2; main = task { reads A[0, 0] };",
        "2:11",
        "3 elements do not fit into the room of 2",
    ),
    ("data A[4]: f64;\nlayout A: sideways; main = skip;", "2:11", "one of `row_major`"),
    ("data A[4]: f65; main = skip;", "1:12", "one of `f64`"),
    ("machine { lines 64 }; main = skip;", "1:11", "one of `line`"),
    ("data A[4]: f64; machine { line 48 }; main = task { reads A[0] };", "1:17", "a power of two"),
    ("data A[4]: f64;\nmain = { task { reads A[0] }; delay(1) };", "2:31", "`delay` says nothing of data"),
    ("data A[4]: f64;\nmain = par (i = 1, 2) task { reads A[0] };", "2:8", "`par` says nothing of data"),
    (
        "domain d = 0..2; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in d) forall (j in d) task { reads A[j] };",
        "2:24",
        "inside of another one",
    ),
    (
        "domain d = 0..2; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in d) { task { reads A[i] }; barrier };",
        "2:47",
        "a `barrier` inside",
    ),
    ("data A[100000, 100000]: f64; main = task { reads A[0, 0] };", "1:6", "elements altogether"),
    (
        "data A[4]: f64; data B[4]: f64;\nlayout B: base 2^47; main = task { reads A[0] };",
        "1:22",
        "lines from the first element",
    ),
    ("data A[4]: f64;\nmain = task { reads A[k] for k in A[0] };", "2:35", "no table of rows"),
    (
        "table r[d, ..] = [[7]]; domain d = 0..0; data A[d]: f64;\nmain = task { reads A[k] for k in r[0] };",
        "2:21",
        "`A` has indices 0 to 0, not 7",
    ),
    ("table r[d, ..] = [[7]]; domain d = 0..0;\nmain = delay(r[0]);", "2:14", "`r` is a table of rows"),
    ("data A[4]: f64;\nmain = seq (i = 1, 1000000000000) task { updates A[0] };", "2:13", "turns of loops"),
    (
        "domain d = 0..9; data A[d]: f64; decompose d -> 2 by block;\nmain = forall (i in d) schedule self(0) task { reads A[i] };",
        "2:38",
        "at least one index",
    ),
    ("data A[4]: f64;\nmain = task { reads A[0]; weight 0 - 3 };", "2:34", "negative weight"),
    (
        "event e[3]; domain d = 0..2; data A[d]: f64; decompose d -> 3 by block;\nmain = forall (i in d) { await e[i + 1]; task { reads A[i] } };",
        "2:26",
        "`e` has indices 0 to 2, and 3 is used",
    ),
    (
        "event e[3]; domain d = 0..2; data A[d]: f64; decompose d -> 3 by block;\nmain = forall (i in d) { await e[(i + 1) mod 3]; task { reads A[i] }; post e[i] };",
        "2:26",
        "`e` is awaited, and nothing up to the end of the loop posts it",
    ),
    (
        "event e; domain d = 0..2; data A[d]: f64; decompose d -> 3 by block;\nmain = forall (i in d) { task { reads A[i] }; await e };",
        "2:47",
        "`e` is awaited, and not posted by then",
    ),
    ("event e;\nmain = { task { weight 1 }; await e };", "2:29", "`e` is awaited, and not posted by then"),
    (
        "table r[d, ..] = [[1, 2], [0]]; domain d = 0..1;\ndecompose d -> 2 by rcb(r); main = skip;",
        "2:25",
        "`r` is a table of rows",
    ),
    ("domain d = 0..9;\ndecompose d -> 2 by rcb(z); main = skip;", "2:25", "no function or table `z`"),
    (
        "domain d = 0..9; let x(i, j) = i;\ndecompose d -> 2 by rcb(x); main = skip;",
        "2:25",
        "takes 2 argument(s), not 1",
    ),
    (
        "domain d = 0..9; let w(i) = 3 - i;\ndecompose d -> 2 by rcb(weight w); main = skip;",
        "2:32",
        "the weight of 4 is -1",
    ),
    ("domain d = 1..2; table x[2] = [7, 8];\ndecompose d -> 2 by rcb(x); main = skip;", "2:25", "`x` of 2: "),
    ("param N: int; domain d = 1..N;\ndecompose d -> 2 by rcb; main = skip;", "2:21", "where all sizes are known"),
    ("domain d = 0..99 x 0..99999;\ndecompose d -> 2 by rcb; main = skip;", "2:21", "indices to part"),
    ("domain d = 0..9;\ndecompose d -> 2 by rcb(weight 3); main = skip;", "2:32", "a name expected"),
    ("main = skip;", "1:1", "`main` says nothing of data"),
];

#[test]
fn what_is_wrong_is_told_where_it_is() {
    let options = Options { max_turns: 100_000, ..Options::default() };
    let mut missed = Vec::new();
    for (source, place, text) in WRONG {
        let told = tried(source, &[], &options).err().unwrap_or_default();
        if !told.lines().any(|line| line.starts_with(&format!("{place}: ")) && line.contains(text)) {
            missed.push(format!("{source}\nwanted {place}: {text}\n{told}\n"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let source = "data A[3]: f65;\ndomain d = 0..3; decompose d -> 2 by block;\nlayout B: base 0;\nmain = forall (i in d) task { reads A[i], C[i] };";
    let told = tried(source, &[], &Options::default()).expect_err("three errors");
    assert!(told.contains("1:12") && told.contains("3:8: no data `B`") && told.contains("4:43: no data `C`"), "{told}");
}

#[test]
fn what_is_too_much_ends() {
    let source = "domain d = 0..3; data A[d]: f64; decompose d -> 4 by block; main = seq (i = 1, 1000) forall (k in d) task { updates A[k] };";
    let told =
        recorded(source, &Options { max_visits: 100, ..Options::default() }).expect_err("4000 visits of a barrier");
    assert!(told.contains("1:73: more than 100 visits to record"), "{told}");
    let source = "data A[4]: f64; main = seq (i = 1, 1000) task { updates A[*] };";
    let few = Options { max_references: 100, ..Options::default() };
    assert!(tried(source, &[], &few).expect_err("too many").contains("more than 100 references"));
    let source =
        "domain d = 0..1000000; data A[d]: f64; decompose d -> 2 by block; main = forall (i in d) task { reads A[i] };";
    let small = Options { max_elements: 1000, ..Options::default() };
    assert!(tried(source, &[], &small).expect_err("too large").contains("more than 1000 elements"));
    // Nothing at all is no error.
    let source = "domain d = 1..0; data A[d, 3]: f64; decompose d -> 2 by block; main = { forall (i in d) task { reads A[i, *] }; task { reads A[*, *] } };";
    assert_eq!(tried(source, &[], &Options::default()).map(|it| it.counts().reads), Ok(0));
}
