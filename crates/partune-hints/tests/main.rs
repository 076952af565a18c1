//! Files of hints: read, written and read again, and refused with the line of what is wrong.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use partune_hints::{
    Aligned, Combine, Count, Datum, File, Knob, MapKind, Phases, Pipeline, Place, Priority, Size, Tree, Urgency, read,
};
use partune_objects::map::{Grid, Map, Size as Edge};
use proptest::collection::vec;
use proptest::prelude::*;

/// The example of the format, with all sections.
const EXAMPLE: &str = r#"hints = 1
program = "gauss"
run = { pes = 32, objects = 1000, trace = "sha256:.." }
phases = { kind = "initiation", method = "Row::pivot", varying = true }
[[place]]
array = "rows"
locality = "all_to_all"
map = "block_cyclic"
a = [1]
b = "P"
evidence = { objects = 1000, predicted_saves_s = 1.5, low_s = 1.25, high_s = 1.75 }
[[place]]
array = "grid"
map = "block"
aspect = [1.0, 1.0]
aligned_with = { array = "rhs", dims = [0, 1] }
[[tree]]
kind = "uniform"
branch = 2
ratios = [0.5, 0.5]
[[priority]]
object = "rows"
linear = [1.0]
offset = 0.0
r2 = 1.0
[[priority]]
message = "pivot_row"
level = 0
[[pipeline]]
message = "edge"
method = "Strip::sweep"
degree = 8
[[combine]]
message = "value"
dest = "single"
count = "n_local"
timeout_us = 200
[[knob]]
what = "rank_map"
value = "by_node"
[[knob]]
what = "eager_limit"
value = 65536
environment = { X = "65536" }
"#;

#[test]
fn the_example_says_what_it_says() {
    let file = read(EXAMPLE).unwrap();
    assert_eq!((file.program.as_str(), file.run[0].clone()), ("gauss", ("pes".to_owned(), Datum::Integer(32))));
    let phases = Phases { kind: "initiation".to_owned(), method: Some("Row::pivot".to_owned()), varying: true };
    assert_eq!(file.phases, Some(phases));
    let [rows, grid] = file.place.as_slice() else { panic!("two arrays") };
    assert_eq!(
        (rows.map, rows.a.as_slice(), rows.b.as_slice()),
        (MapKind::BlockCyclic, &[Size::Of(1)][..], &[Size::Pes][..])
    );
    assert_eq!(rows.rule(), Some(Map::BlockCyclic { size: vec![Edge::Of(1)], grid: Grid::Line(0) }));
    assert_eq!(rows.evidence[1], ("predicted_saves_s".to_owned(), Datum::Float(1.5)));
    assert_eq!(grid.rule(), Some(Map::Block { aspect: vec![1.0, 1.0] }));
    assert_eq!(grid.aligned_with, [Aligned { array: "rhs".to_owned(), dims: vec![0, 1] }]);
    assert_eq!((file.tree[0].branch, file.tree[0].ratios.as_slice()), (Some(2), &[0.5, 0.5][..]));
    assert!(
        matches!(&file.priority[0].of, Urgency::Object { array, linear, .. } if array == "rows" && linear == &[1.0])
    );
    assert_eq!(file.priority[1].of, Urgency::Message { message: "pivot_row".to_owned(), level: 0 });
    assert_eq!((file.pipeline[0].method.as_str(), file.pipeline[0].degree), ("Strip::sweep", 8));
    assert_eq!((file.combine[0].count, file.combine[0].timeout_us), (Count::Local, 200.0));
    assert_eq!(file.knob[1].environment["X"], "65536");
    assert_eq!(read(&file.to_string()).as_ref(), Ok(&file));
}

/// A line of the example in place of another one, and what is said of it.
#[test]
fn what_is_wrong_is_told_with_its_line_and_a_remedy() {
    for (line, with, number, reason) in [
        ("hints = 1", "hints = 2", 1, "its hints are not of version 1"),
        ("hints = 1", "hunts = 1", 1, "it has no hints"),
        ("program = \"gauss\"", "program = 3", 2, "`program` is no text"),
        ("[[tree]]", "[tree]", 17, "`tree` is no array of tables"),
        ("map = \"block\"", "map = \"spiral\"", 14, "place 2: `map` is \"spiral\""),
        ("array = \"rows\"", "arr = \"rows\"", 6, "place 1: it has no `array`"),
        ("a = [1]", "a = [0]", 9, "place 1: `a` has something in it"),
        ("b = \"P\"", "b = \"Q\"", 10, "place 1: `b` has something in it"),
        ("b = \"P\"", "", 0, "place 1: its `b` does not suit its map"),
        ("aspect = [1.0, 1.0]", "aspect = [1.0, -1.0]", 15, "place 2: its `aspect` does not suit"),
        ("aspect = [1.0, 1.0]", "aspect = [nan]", 15, "place 2: `aspect` has something in it"),
        ("degree = 8", "degree = 1", 32, "pipeline 1: `degree` is 1"),
        ("timeout_us = 200", "timeout_us = -1", 37, "combine 1: `timeout_us` is negative"),
        ("dest = \"single\"", "dest = \"all\"", 35, "combine 1: `dest` is \"all\""),
        ("object = \"rows\"", "", 0, "priority 1: it is of neither one array nor one message"),
        ("ratios = [0.5, 0.5]", "ratios = [1.5, -0.5]", 20, "tree 1: `ratios` has a negative share"),
        ("level = 0", "level = 0.5", 28, "priority 2: `level` is 0.5"),
        ("evidence = { objects", "evidence = 3 # ", 11, "place 1: `evidence` is no table"),
    ] {
        let text = EXAMPLE.replacen(line, with, 1);
        let fault = read(&text).expect_err(with);
        assert!(fault.reason.starts_with(reason), "{with}: {fault}");
        assert!(number == 0 || fault.line == number, "{with}: {fault}");
        assert!(!fault.remedy.is_empty());
    }
    let table =
        "hints = 1\nprogram = \"a\"\n[[place]]\narray = \"x\"\nmap = \"table\"\npes = 2\nextents = [3]\ntable = ";
    assert_eq!(read(&format!("{table}[0, 1, 1]")).unwrap().place[0].table, [0, 1, 1]);
    assert!(read(&format!("{table}[0, 1]")).is_err(), "three positions");
    assert!(read(&format!("{table}[0, 1, 2]")).is_err(), "two PEs");
}

/// What nobody here knows is left alone.
#[test]
fn a_file_of_others_is_no_error() {
    let file = read("hints = 1\nprogram = \"a\"\n[[warp]]\nfactor = 9\n").unwrap();
    assert!(file.is_empty());
}

/// The map that comes back places as the one that was written, on any PEs.
fn same(map: &Map, extents: &[u32]) {
    let place = Place::new("x".to_owned(), map, extents.len());
    let file = File { program: "a".to_owned(), place: vec![place], ..File::default() };
    let back = read(&file.to_string()).unwrap().place[0].rule().unwrap();
    for pes in [1, 2, 3, 4, 6, 8, 9, 12, 16, 32, 36] {
        let (before, after) = (map.on(extents, pes), back.on(extents, pes));
        let at = |x: u32| {
            std::array::from_fn(|dim| (x * (3 + dim as u32) % extents.get(dim).copied().unwrap_or(1).max(1)) as i32)
        };
        (0..200).for_each(|x| assert_eq!(before.pe(&at(x)), after.pe(&at(x)), "{map:?} {back:?} on {pes}"));
    }
}

#[test]
fn maps_survive_a_file() {
    same(&Map::Block { aspect: vec![0.2, 0.8] }, &[512, 2048]);
    same(&Map::BlockCyclic { size: vec![Edge::Of(3), Edge::Even], grid: Grid::Line(1) }, &[40, 60]);
    same(&Map::MultiPartition { size: [Edge::Of(2), Edge::Of(4)], grid: Grid::Like(vec![1, 1]) }, &[9, 9, 9]);
    for like in [vec![1, 1], vec![2, 8], vec![4, 2], vec![3, 5]] {
        same(&Map::BlockCyclic { size: vec![Edge::Of(1), Edge::Of(2)], grid: Grid::Like(like) }, &[64, 48]);
    }
    same(&Map::BlockCyclic { size: vec![Edge::Of(1); 3], grid: Grid::Like(vec![2, 4, 1]) }, &[16, 16, 16]);
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z_:\\\\\"' äß]{1,12}"
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-1e6..1e6_f64, Just(0.0), 0.0..1.0_f64]
}

fn evidence() -> impl Strategy<Value = Vec<(String, Datum)>> {
    let datum = prop_oneof![
        any::<i64>().prop_map(Datum::Integer),
        number().prop_map(Datum::Float),
        text().prop_map(Datum::Text)
    ];
    proptest::collection::btree_map("[a-z_]{1,8}", datum, 0..4).prop_map(|map| map.into_iter().collect())
}

fn places() -> impl Strategy<Value = Place> {
    let size = || {
        prop_oneof![
            (1_u32..99).prop_map(Size::Of),
            Just(Size::Pes),
            Just(Size::Even),
            (1_u32..6, 0.1..9.0_f64).prop_map(|(root, factor)| Size::Share { factor, root })
        ]
    };
    let aligned = (text(), vec(0_u8..6, 1..3)).prop_map(|(array, dims)| Aligned { array, dims });
    let sizes = (vec(size(), 2..3), vec(size(), 2..3), vec(0.0..9.0_f64, 0..3));
    let table = (1_u32..5, 1_u32..5, any::<bool>());
    let least = || proptest::option::of(0.0..99.0_f64);
    let more = (vec(aligned, 0..3), least(), least());
    (text(), proptest::option::of(text()), sizes, table, more, evidence()).prop_map(
        |(array, locality, (a, b, aspect), (pes, size, is_table), (aligned_with, own, shared), evidence)| {
            let mut place = if is_table {
                Place::table(array, (0..size).map(|at| at % pes).collect(), vec![size], pes)
            } else {
                let map = Map::MultiPartition { size: [Edge::Even; 2], grid: Grid::Like(vec![1, 1]) };
                Place { a, b, aspect, ..Place::new(array, &map, 3) }
            };
            (place.locality, place.aligned_with, place.evidence) = (locality, aligned_with, evidence);
            (place.least_per_pe, place.least_per_pe_shared) = (own, shared);
            place
        },
    )
}

fn files() -> impl Strategy<Value = File> {
    let shares = || vec(0.0..1.0_f64, 0..4);
    let tree = (text(), shares(), shares(), proptest::option::of(1_u32..9), evidence()).prop_map(
        |(array, ratios, roots, branch, evidence)| Tree {
            array,
            kind: "uniform".to_owned(),
            branch,
            ratios,
            roots,
            strategy: None,
            evidence,
        },
    );
    let object = (text(), vec(number(), 1..4), number(), 0.0..1.0_f64)
        .prop_map(|(array, linear, offset, r2)| Urgency::Object { array, linear, offset, r2 });
    let message = (text(), 0_u32..9).prop_map(|(message, level)| Urgency::Message { message, level });
    let priority = (prop_oneof![object, message], evidence()).prop_map(|(of, evidence)| Priority { of, evidence });
    let parameter = proptest::option::of(text());
    let pipeline = (text(), text(), 2_u32..99, parameter, evidence()).prop_map(
        |(message, method, degree, parameter, evidence)| Pipeline { message, method, degree, parameter, evidence },
    );
    let count = prop_oneof![Just(Count::Local), (2_u32..99).prop_map(Count::Of)];
    let combine = (text(), count, 0.0..1e6_f64, evidence()).prop_map(|(message, count, timeout_us, evidence)| {
        Combine { message, dest: "array".to_owned(), count, timeout_us, evidence }
    });
    let environment = proptest::collection::btree_map("[A-Z_]{1,6}", text(), 0..3);
    let knob = (text(), environment, evidence()).prop_map(|(what, environment, evidence)| Knob {
        what,
        value: Some(Datum::Integer(3)),
        environment,
        evidence,
    });
    let of_objects = (vec(places(), 0..3), vec(tree, 0..3), vec(priority, 0..3));
    (text(), evidence(), of_objects, vec(pipeline, 0..3), vec(combine, 0..3), vec(knob, 0..3)).prop_map(
        |(program, run, (place, tree, priority), pipeline, combine, knob)| File {
            program,
            run,
            phases: None,
            place,
            tree,
            priority,
            pipeline,
            combine,
            knob,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(file in files()) {
        let back = read(&file.to_string());
        prop_assert_eq!(back.as_ref(), Ok(&file));
    }

    /// Any part of a file, and any text in it, is read or refused.
    #[test]
    fn nothing_panics(cut in 0..EXAMPLE.len(), other in ".{0,8}") {
        let text = format!("{}{other}{}", &EXAMPLE[..cut], &EXAMPLE[cut..]);
        let _ = (read(&text), read(&EXAMPLE[..cut]));
    }
}
