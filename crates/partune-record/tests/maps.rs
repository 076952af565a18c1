//! Maps of hints: what the module for charm4py computes is what partune computes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use partune_objects::map::{Grid, Map, Size};
use partune_objects::tree::split;
use partune_testkit::outside;

const MODULE: &str = include_str!("../src/charm/maps.py");

/// Prints the PE of every object of each case, a line a case.
const PROGRAM: &str = "
import json
for line in open(0):
    case = json.loads(line)
    found = place(case['hint'], case['extents'], case['pes'])
    every = itertools.product(*(range(it) for it in case['extents']))
    print(found if isinstance(found, str) else ' '.join(str(found(at)) for at in every))
";

/// What the module makes of lines; none where there is no Python.
fn printed(program: &str, lines: String) -> Option<String> {
    let mut python = Command::new("python3");
    let python = python.args(["-c", &format!("{MODULE}\n{program}")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = python.spawn() else {
        outside::missing("python3");
        return None;
    };
    let mut input = child.stdin.take().expect("it is a pipe");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("all is read");
    Some(String::from_utf8(output.stdout).expect("it is text"))
}

fn pes(map: &Map, extents: &[u32], pes: u32) -> String {
    let placed = map.on(extents, pes);
    let count: u32 = extents.iter().product();
    let of = |number: u32| {
        let mut at = [0; 6];
        let mut left = number;
        for (dim, extent) in extents.iter().enumerate().rev() {
            (at[dim], left) = ((left % extent).cast_signed(), left / extent);
        }
        placed.pe(&at).to_string()
    };
    (0..count).map(of).collect::<Vec<_>>().join(" ")
}

#[test]
fn both_place_alike() {
    let mut cases = Vec::new();
    for extents in [&[12][..], &[7], &[8, 8], &[16, 4], &[5, 9], &[6, 6, 6], &[3, 8, 5]] {
        for count in [2, 3, 4, 6, 8, 9, 16] {
            for aspect in [&[1.0, 1.0, 1.0][..], &[0.2, 0.8, 0.4], &[1.0, 0.0, 0.0], &[0.0, 0.0, 0.0]] {
                let aspect = aspect[..extents.len()].to_vec();
                let hint = format!("{{\"map\": \"block\", \"aspect\": {aspect:?}}}");
                cases.push((hint, extents, count, Map::Block { aspect }));
            }
            for size in [1, 2, 3] {
                let map = Map::BlockCyclic { size: vec![Size::Of(size)], grid: Grid::Line(0) };
                let hint = format!("{{\"map\": \"block_cyclic\", \"size\": [{size}], \"grid\": {{\"line\": 0}}}}");
                cases.push((hint, extents, count, map));
            }
            let rank = extents.len();
            for like in [vec![1; rank], (1..=rank as u32).collect()] {
                let hint =
                    format!("{{\"map\": \"block_cyclic\", \"size\": [null, 2], \"grid\": {{\"like\": {like:?}}}}}");
                let map = Map::BlockCyclic {
                    size: vec![Size::Even, Size::Of(2)][..rank.min(2)].to_vec(),
                    grid: Grid::Like(like),
                };
                cases.push((hint.replace(", 2]", if rank > 1 { ", 2]" } else { "]" }), extents, count, map));
            }
            if rank == 3 {
                let map = Map::MultiPartition { size: [Size::Of(1), Size::Of(2)], grid: Grid::Like(vec![1, 1]) };
                let hint = "{\"map\": \"multipartition\", \"size\": [1, 2], \"grid\": {\"like\": [1, 1]}}";
                cases.push((hint.to_owned(), extents, count, map));
            }
        }
    }
    let lines: Vec<String> = cases
        .iter()
        .map(|(hint, extents, count, _)| format!("{{\"hint\": {hint}, \"extents\": {extents:?}, \"pes\": {count}}}\n"))
        .collect();
    let Some(printed) = printed(PROGRAM, lines.concat()) else { return };
    assert_eq!(printed.lines().count(), cases.len());
    for (line, (hint, extents, count, map)) in printed.lines().zip(&cases) {
        assert_eq!(line, pes(map, extents, *count), "{hint} of {extents:?} on {count} PEs");
    }
}

/// Prints the parts of each case, a line a case.
const PARTS: &str = "
import json
for line in open(0):
    print(' '.join('%d..%d' % (begin, begin + count) for begin, count in split(*json.loads(line))))
";

#[test]
fn both_share_pes_out_alike() {
    let loads = [
        &[0.9, 0.1][..],
        &[0.1, 0.9],
        &[0.6, 0.2, 0.2],
        &[0.0, 0.0, 0.0],
        &[1.0; 7],
        &[0.05, 0.3, 0.3, 0.05, 0.3],
        &[0.5, 0.25, 0.125, 0.0625, 0.0625],
        &[0.618, 0.382],
        &[7.0, 5.0, 4.0, 3.0, 3.0],
        &[1.0],
    ];
    let cases: Vec<_> = loads.iter().flat_map(|it| (1..40).map(|count| (count * 3, count, *it))).collect();
    let lines: Vec<String> =
        cases.iter().map(|(first, count, loads)| format!("[{first}, {count}, {loads:?}]\n")).collect();
    let Some(printed) = printed(PARTS, lines.concat()) else { return };
    assert_eq!(printed.lines().count(), cases.len());
    for (line, (first, count, loads)) in printed.lines().zip(cases) {
        let expected: Vec<_> = split(first..first + count, loads).iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(line, expected.join(" "), "{loads:?} on {count} PEs");
    }
}
