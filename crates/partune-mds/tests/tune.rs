//! Tries whose gains can be worked out by hand; those that are none; and what is wrong with others.

use partune_mds::tune::{Tried, Tuned, tune};
use partune_mds::{Options, Part};
use partune_model::change::Original;
use partune_model::{Values, defaults, lower, parse};

/// Follows the first alternative and tries; what is wrong comes as text, with the column in the try.
fn tried(source: &str, tries: &[&str]) -> Result<Tuned, Vec<String>> {
    let (file, told) = parse(source);
    assert!(told.is_empty(), "{told:?}");
    let given = Values::new();
    let files = |name: &str| Err(format!("no file {name} in tests"));
    let (model, told) = lower(source, &file, &defaults(&file, &given), &files);
    let model = model.unwrap_or_else(|| panic!("{told:?}"));
    let original =
        Original { text: source, file: &file, values: &given, model: &model, alternative: &model.alternatives[0] };
    let texts: Vec<String> = tries.iter().map(|it| (*it).to_owned()).collect();
    tune(&original, &texts, &files, &Options::default()).map_err(|wrong| {
        let placed = |(at, error): &(Option<usize>, partune_model::Diagnostic)| {
            let column = (error.span.begin as usize).checked_sub(source.len()).map_or(0, |it| it);
            format!(
                "{}:{column}: {} [{}]",
                at.map_or("model".to_owned(), |it| it.to_string()),
                error.message,
                error.help
            )
        };
        wrong.iter().map(placed).collect()
    })
}

#[track_caller]
fn tuned(source: &str, tries: &[&str]) -> Tuned {
    let tuned = tried(source, tries).unwrap_or_else(|told| panic!("{told:?}"));
    for it in tuned.tries.iter().map(|it| &it.found).chain([&tuned.original]) {
        assert!(it.least_s.is_some_and(|least| least <= it.outcome.run_s + 1e-9), "{it:?}");
    }
    tuned
}

#[track_caller]
fn of<'a>(tuned: &'a Tuned, text: &str) -> &'a Tried {
    tuned.tries.iter().find(|it| it.text == text).unwrap_or_else(|| panic!("no try {text}"))
}

/// What a try saves of the run, and of each part, rounded as sums of seconds are.
#[track_caller]
fn saved(tuned: &Tuned, text: &str) -> (f64, Vec<(Part, f64)>) {
    let round = |value: f64| (value * 1e9).round() / 1e9;
    let it = of(tuned, text);
    let moves: Vec<(Part, f64)> = tuned.moves(it).into_iter().map(|(part, saved)| (part, round(saved))).collect();
    let sum: f64 = moves.iter().map(|it| it.1).sum();
    assert!((sum - tuned.saves_s(it)).abs() < 1e-6, "parts add up: {moves:?}");
    (round(tuned.saves_s(it)), moves)
}

/// Two PEs write neighbouring records of 24 bytes, ten times; lines have 32. Times are whole seconds.
const NEIGHBOURS: &str =
    "param pad: int = 3; domain elem = 0..1; data Pos[elem, 3]: f64; layout Pos: pad 3 -> pad, base 0;
    decompose elem -> 2 by block; machine { line 32; near 60; memory 100 };
    main = seq (t = 1, 10) phase write forall (e in elem) task { writes Pos[e, *] };";

#[test]
fn padding_saves_what_false_sharing_costs() {
    let tuned = tuned(NEIGHBOURS, &["layout Pos: pad 3 -> 4", "pad = 4", "machine { line 8 }"]);
    assert_eq!(tuned.original.outcome.run_s, 700.0);
    // A record, a line: only first uses are left, of both at once. Before, the second PE also got line 0 once, from near: 30 of the mean and 30 of imbalance.
    let wanted = (600.0, vec![(Part::FalseSharing, 540.0), (Part::FirstUse, 30.0), (Part::Imbalance, 30.0)]);
    assert_eq!(saved(&tuned, "layout Pos: pad 3 -> 4"), wanted);
    assert_eq!(saved(&tuned, "pad = 4"), wanted, "the same by a parameter of the model");
    // Lines of one number: three first uses each, 300, and nothing is shared.
    let wanted = (400.0, vec![(Part::FalseSharing, 540.0), (Part::FirstUse, -170.0), (Part::Imbalance, 30.0)]);
    assert_eq!(saved(&tuned, "machine { line 8 }"), wanted);
    let ranked: Vec<&str> = tuned.tries.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(ranked, ["layout Pos: pad 3 -> 4", "pad = 4", "machine { line 8 }"]);
    assert!(tuned.tries.iter().all(|it| it.is_sound && it.same_data_flow));
    assert_eq!(tuned.best().map(|it| it.text.as_str()), Some("layout Pos: pad 3 -> 4"));
}

/// Eight tasks whose weights are their numbers, and two barriers of 1 in each of three turns.
const TRIANGLE: &str = "param P: int = 2; param barrier_time: time = 1; domain d = 0..7; data A[d]: f64; data B[d]: f64; decompose d -> P by block;
    machine { barrier barrier_time };
    main = seq (t = 1, 3) { phase a forall (i in d) task { writes A[i]; weight i }; barrier; barrier };";

#[test]
fn balance_pes_and_barriers_by_hand() {
    let tries = [
        "decompose d by cyclic",
        "schedule a self(1)",
        "P = 1",
        "decompose d -> 4",
        "decompose d -> 7 + 1 by block; remove barrier after a",
        "remove barrier after a",
        "machine { barrier 0 }",
    ];
    let tuned = tuned(TRIANGLE, &tries);
    // In blocks 22 of 28 are the second one's; dealt out in turn 16; a queue gives 16, too.
    assert_eq!(tuned.original.outcome.run_s, 3.0 * (22.0 + 2.0));
    assert_eq!(tuned.original.least_s, Some(72.0), "what tasks and barriers take at least is all of it");
    assert_eq!(saved(&tuned, "decompose d by cyclic"), (18.0, vec![(Part::Imbalance, 18.0)]));
    assert_eq!(saved(&tuned, "schedule a self(1)"), (18.0, vec![(Part::Imbalance, 18.0)]));
    // One PE has all: 28 a turn. Of four the last one has 13 of 28, and each 7 in the mean. Of eight one has 7.
    assert_eq!(saved(&tuned, "P = 1"), (-18.0, vec![(Part::Work, -42.0), (Part::Imbalance, 24.0)]));
    assert_eq!(saved(&tuned, "decompose d -> 4"), (27.0, vec![(Part::Work, 21.0), (Part::Imbalance, 6.0)]));
    let both = saved(&tuned, "decompose d -> 7 + 1 by block; remove barrier after a");
    assert_eq!(both, (48.0, vec![(Part::Work, 31.5), (Part::Imbalance, 13.5), (Part::Barriers, 3.0)]));
    assert_eq!(saved(&tuned, "remove barrier after a"), (3.0, vec![(Part::Barriers, 3.0)]));
    assert_eq!(saved(&tuned, "machine { barrier 0 }"), (6.0, vec![(Part::Barriers, 6.0)]));
    assert!(tuned.tries.iter().all(|it| it.is_sound));
    assert!(tuned.tries.windows(2).all(|two| two[0].found.outcome.run_s <= two[1].found.outcome.run_s));
    let least = |it: &Tried| it.found.least_s.is_some_and(|least| least <= it.found.outcome.run_s);
    assert!(tuned.tries.iter().all(least));
}

/// One PE, a cache of one line of four numbers, and eight numbers: what one phase wrote is gone when the next one reads it.
const PASSES: &str = "param P: int = 1; domain d = 0..7; data A[d]: f64; data B[d]: f64; layout B: align 32; decompose d -> P by block;
    machine { line 32; cache 32; memory 10 };
    main = { phase a forall (i in d) task { writes A[i]; weight 1 }; phase b forall (i in d) task { reads A[i]; weight 1 };
             phase c forall (i in d) task { reads A[7 - i]; weight 1 } };";

#[test]
fn fusion_saves_capacity_and_a_larger_cache_too() {
    let tuned =
        tuned(PASSES, &["fuse a, b", "machine { cache 64 }", "fuse b, c", "machine { cache 64; memory 5 }; fuse a, b"]);
    // Lines 0 and 1 are first uses in a, missed again in b; c comes backwards, so that line 1 is still there.
    assert_eq!(tuned.original.outcome.run_s, 24.0 + 20.0 + 20.0 + 10.0);
    assert_eq!(saved(&tuned, "fuse a, b"), (20.0, vec![(Part::Capacity, 20.0)]));
    assert_eq!(saved(&tuned, "machine { cache 64 }"), (30.0, vec![(Part::Capacity, 30.0)]));
    // Forwards and backwards at once: 0 and 1 by turns, 4 changes of lines in each half of 8 pairs, but for the middle.
    assert!(tuned.saves_s(of(&tuned, "fuse b, c")) < 0.0);
    let all = saved(&tuned, "machine { cache 64; memory 5 }; fuse a, b");
    assert_eq!(all, (40.0, vec![(Part::Capacity, 30.0), (Part::FirstUse, 10.0)]));
    assert!(tuned.tries.iter().all(|it| it.is_sound && it.same_data_flow));
}

#[test]
fn what_would_compute_something_else_is_no_gain() {
    // Each turn reads what others wrote in the one before, in one of two buffers.
    let source = "param P: int = 2; domain d = 0..7; data A[d]: f64; data B[2, d]: f64; decompose d -> P by block; machine { barrier 1 };
        main = seq (t = 1, 3) { phase a forall (i in d) task { reads B[t mod 2, 7 - i]; writes A[i]; weight i }; barrier;
                                phase b forall (i in d) task { reads A[i]; writes B[(t + 1) mod 2, i]; weight 7 - i }; barrier };";
    let one = source.replace("t mod 2", "0").replace("(t + 1) mod 2", "0");
    let tries = [
        "remove barrier after a",
        "remove barrier after b",
        "fuse a, b",
        "nowait a; nowait b",
        "P = 1",
        "schedule a self(1)",
    ];
    let tuned = tuned(source, &tries);
    // What b reads is the PE's own: the barrier goes, and 22 and 22 become 28.
    let wanted = (3.0 * (44.0 - 28.0) + 3.0, vec![(Part::Phases, 48.0), (Part::Barriers, 3.0)]);
    assert_eq!(saved(&tuned, "remove barrier after a"), wanted);
    assert_eq!(saved(&tuned, "fuse a, b"), wanted, "which is what one loop does, too");
    for text in ["remove barrier after a", "fuse a, b", "P = 1", "schedule a self(1)"] {
        assert!(of(&tuned, text).is_sound && of(&tuned, text).same_data_flow, "{text}");
    }
    // Barriers stay: all meet there.
    assert!(of(&tuned, "nowait a; nowait b").is_sound);
    // What a reads next is the other one's.
    let conflict = |it: &Tried, wanted: (&str, &str, &str, bool)| {
        let conflicts = &it.found.outcome.order.as_ref().expect("it was asked for").conflicts;
        let of = |it: &partune_mds::Conflict| (it.data.clone(), it.first.clone(), it.second.clone(), it.is_first_write);
        let wanted = (wanted.0.to_owned(), wanted.1.to_owned(), wanted.2.to_owned(), wanted.3);
        assert!(!it.is_sound && conflicts.iter().any(|it| of(it) == wanted), "{conflicts:?}");
    };
    conflict(of(&tuned, "remove barrier after b"), ("B", "b", "a", true));
    // With one buffer a still reads what b writes over, in two loops and in one.
    let single = single_buffer(&one);
    conflict(of(&single, "remove barrier after a"), ("B", "a", "b", false));
    assert!(!of(&single, "fuse a, b").is_sound && single.best().is_none());
    // Those that are not sound come last, however short.
    let first_unsound = tuned.tries.iter().position(|it| !it.is_sound).expect("there are some");
    assert!(tuned.tries[first_unsound..].iter().all(|it| !it.is_sound));
    assert_eq!(tuned.best().map(|it| it.text.as_str()), Some("remove barrier after a"));

    // On one PE nothing conflicts; but in one loop the first half would read what is not written yet.
    let alone = on_one_pe();
    let it = &alone.tries[0];
    assert!(
        !it.same_data_flow && !it.is_sound && it.found.outcome.order.as_ref().is_some_and(|it| it.conflicts.is_empty())
    );
    assert!(alone.best().is_none());
}

fn single_buffer(source: &str) -> Tuned {
    tuned(source, &["remove barrier after a", "fuse a, b"])
}

fn on_one_pe() -> Tuned {
    let source = "domain d = 0..7; data A[d]: f64; decompose d -> 1 by block; machine { barrier 1 };
        main = { phase a forall (i in d) task { writes A[i]; weight 1 }; barrier; phase b forall (i in d) task { reads A[7 - i]; weight 1 } };";
    tuned(source, &["fuse a, b"])
}

#[test]
fn where_nothing_is_better_nothing_is_said() {
    // Balanced work on records that fill their lines: other layouts, owners and schedules only cost.
    let source = "domain d = 0..63; data A[d, 4]: f64; decompose d -> 4 by block; machine { line 32; near 1us; memory 1us; barrier 1us };
        main = seq (t = 1, 5) { phase a forall (i in d) task { updates A[i, *]; weight 1ms }; barrier };";
    let tuned = tuned(
        source,
        &[
            "layout A: pad 4 -> 8",
            "decompose d by cyclic",
            "schedule a guided(1)",
            "machine { line 64 }",
            "machine { barrier 2us }",
        ],
    );
    assert!(tuned.best().is_none(), "{:?}", tuned.tries.iter().map(|it| tuned.saves_s(it)).collect::<Vec<_>>());
    // 5 µs of 80 ms are less than a model is off by.
    assert!(without_barriers(source).best().is_none());
}

fn without_barriers(source: &str) -> Tuned {
    let tuned = tuned(source, &["machine { barrier 0 }"]);
    assert!(tuned.saves_s(&tuned.tries[0]) > 4e-6);
    tuned
}

/// A try, and what is said of it: its column from 1, and words.
const WRONG: &[(&str, &str)] = &[
    ("Q = 3", "0:1: no parameter `Q` [did you mean `P`?]"),
    ("P = 2", "0:1: nothing to change: `P` is 2"),
    ("P = x", "0:5: this is no number"),
    ("P = 1; P = 4", "0:8: the value of `P` is changed twice in one try [give each a --try of its own]"),
    ("machine { line 64 }", "0:11: nothing to change: `line` of the machine is that already"),
    ("machine { line 48 }", "0:1: lines of 48 bytes: a power of two is needed"),
    ("machine { lines 64 }", "0:11: one of `line`, `cache`"),
    ("machine { line 32 }; machine { cache 32; line 128 }", "0:22: `line` of the machine is changed twice"),
    ("layout C: align 64", "0:8: no data `C` ["),
    ("layout A: sideways", "0:11: one of `row_major`"),
    ("layout A: row_major", "0:1: nothing to change: elements lie so already"),
    ("layout A: pad 7 -> 8", "0:11: `A` has 8 elements along the dimension that is padded, not 7"),
    ("layout A: align 64; layout A: align 128", "0:21: the layout of `A` is changed twice"),
    ("decompose e by cyclic", "0:11: no domain `e` [did you mean `d`?]"),
    ("decompose d by block", "0:1: nothing to change: `d` is decomposed so already"),
    ("decompose d", "0:12: `-> PARTS` or `by` expected, the text ends"),
    ("decompose d -> 0", "0:16: 0 parts: there are 1 to 1024 PEs"),
    ("decompose d -> 4; decompose d by cyclic; decompose d by block", "0:42: the owners of `d` is changed twice"),
    ("schedule z self(1)", "0:10: no phase `z` [did you mean `a`?]"),
    ("schedule a self(0)", "0:17: a piece of a loop has at least one index"),
    ("schedule a static", "0:1: nothing to change: the loops of `a` are so already"),
    ("schedule a dynamic", "0:12: one of `static`, `self`, `guided` expected"),
    ("nowait c", "0:8: no phase `c`"),
    ("fuse b, a", "0:1: `a` does not follow the first phase"),
    ("remove barrier after b", "0:1: nothing to change: no barrier follows `b`"),
    ("remove barrier", "0:15: `after` expected, the text ends"),
    ("alt faster", "0:5: no alternative `faster`"),
    ("alt main", "0:1: nothing to change: `main` is followed already"),
    ("faster", "0:1: a change, which is `NAME = VALUE` or begins with"),
    ("P = 4 nowait a", "0:7: `;` or the end expected"),
    ("", "0:1: a change, which is"),
];

#[test]
fn what_is_wrong_with_a_try_is_told_in_it() {
    let source = "param P: int = 2; domain d = 0..7; data A[d]: f64; data B[d]: f64; decompose d -> P by block; machine { barrier 1 };
        main = { phase a forall (i in d) task { writes A[i]; weight i }; barrier; phase b forall (i in d) task { reads A[i] } };";
    let mut missed = Vec::new();
    for (text, wanted) in WRONG {
        let told = tried(source, &[text]).err().unwrap_or_default();
        if told.len() != 1 || !told[0].starts_with(wanted) {
            missed.push(format!("{text}\nwanted {wanted}\n{told:?}\n"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    // Of several tries all that is wrong is told.
    let told = tried(source, &["P = 4", "Q = 3", "alt main; nowait z"]).err().unwrap_or_default();
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn groups_can_be_left_and_made() {
    let source = "domain d = 0..15; data A[d]: f64; data B[d]: f64; data C[d]: f64; layout A, B, C: group; decompose d -> 1 by block;
        machine { line 32; memory 1 }; main = phase a forall (i in d) task { reads A[i] };";
    let tuned = tuned(source, &["layout A: align 32", "layout A, B, C: align 32", "layout A, B: group"]);
    // Of records of 24 bytes 12 lines are touched; alone A has 4; with B 8 of 16 bytes each.
    assert_eq!(tuned.original.outcome.run_s, 12.0);
    assert_eq!(of(&tuned, "layout A: align 32").found.outcome.run_s, 4.0);
    assert_eq!(of(&tuned, "layout A, B: group").found.outcome.run_s, 8.0);
    // All of a group with an alignment of records: each begins a line.
    assert_eq!(of(&tuned, "layout A, B, C: align 32").found.outcome.run_s, 16.0);
}
