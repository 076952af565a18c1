//! Lines as they stand in a log, and any line there and back.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn both_ways(line: &Line<'_>, text: &str) {
    assert_eq!(line.to_string(), text);
    // Ranks are read as ranges, which are written as they are.
    let read = Line::parse(text).expect("it is understood");
    assert_eq!(read.to_string(), text);
}

#[test]
fn lines_are_words() {
    let process =
        Line::Process { pid: 7, host: "node 1".into(), boot: Hex(0xff), clock: Source::Monotonic, mode: Mode::Profile };
    both_ways(&process, "process 7 node%201 ff monotonic profile");
    let arguments = vec!["x y".into(), "".into(), "-".into()];
    both_ways(&Line::Program { path: "/a".into(), arguments }, "program /a x%20y - %2d");
    both_ways(&Line::Program { path: "/a".into(), arguments: Vec::new() }, "program /a ");
    let step = Step::Frame { module: None, address: Hex(0x11f) };
    both_ways(&Line::Path { number: 1, parent: Some(0), step }, "path 1 0 frame - 11f");
    both_ways(&Line::Path { number: 2, parent: None, step: Step::Region(3) }, "path 2 - region 3");
    let comm = Line::Comm {
        number: 0,
        world: 1,
        sequence: 2,
        members: Members::Ranks(&[0, 1, 2, 3, 8, 10, 15, 20, 25, 30]),
        remote: Members::Ranks(&[]),
        parent: None,
        name: "a%\n".into(),
    };
    both_ways(&comm, "comm 0 1 2 0-3,8,10-30:5 - - a%25%0a");
    let (paradigm, key) = ("CAF".into(), Hex(0xa1));
    both_ways(
        &Line::World { number: 1, paradigm, of: Unit::Process, rank: 2, size: 4, key },
        "world 1 CAF process 2 4 a1",
    );
    both_ways(&Line::Meeting { comm: 2, first: 4, size: 3, begin: 7, end: 9 }, "meeting 2 4 3 7 9");
    both_ways(&Line::Object { number: 7, world: 1, kind: "lock".into(), name: "a b".into() }, "object 7 1 lock a%20b");
    let ran = Ran { on: 5, waited: 4, gave_up: 3, lost: 2 };
    both_ways(&Line::Ran { thread: 1, ran }, "ran 1 5 4 3 2");
    both_ways(&Line::End { how: How::Finalize }, "end finalize");
    both_ways(&Line::Sync { ticks: 1, offset: -2, deviation: 0.5 }, "sync 1 -2 0.5");
}

#[test]
fn what_is_no_line_is_not_understood() {
    for text in [
        "",
        "nonsense 1",
        "world 1",
        "world 0 MPI process 1 2 xyz",
        "world 0 MPI core 1 2 a1",
        "path 0 - jump 1",
        "process 7 a ff sundial trace",
        "sync 1 2",
        "ran 1 5 4 3",
        "end somehow",
    ] {
        assert_eq!(Line::parse(text), None, "{text}");
    }
}

#[test]
fn members_are_ranges_only_where_that_is_shorter() {
    let text = |ranks: &[u32]| Line::Group { number: 0, world: 0, members: Members::Ranks(ranks) }.to_string();
    assert_eq!([text(&[5, 4, 3]), text(&[7, 9]), text(&[])], ["group 0 0 5,4,3", "group 0 0 7,9", "group 0 0 -"]);
    assert_eq!(Members::expand("0-3,8,10-30:5"), [0, 1, 2, 3, 8, 10, 15, 20, 25, 30]);
    assert_eq!(Members::expand("x,-,5,4"), [5, 4]);
}

proptest! {
    #[test]
    fn any_text_comes_back(text: String, kind: String) {
        let written = Line::Region { number: 9, kind: kind.into(), name: text.into() };
        let line = written.to_string();
        prop_assert!(!line.contains('\n') && line.split(' ').count() == 4);
        prop_assert_eq!(Line::parse(&line), Some(written));
    }

    #[test]
    fn any_members_come_back(ranks: Vec<u32>, shift in 0_u32..100, step in 1_usize..9) {
        for ranks in [ranks, (shift..shift + 50).step_by(step).collect()] {
            let line = Line::Group { number: 0, world: 0, members: Members::Ranks(&ranks) }.to_string();
            let Some(Line::Group { members: Members::Ranges(ranges), .. }) = Line::parse(&line) else { panic!("{line}") };
            prop_assert_eq!(Members::expand(ranges), ranks);
        }
    }

    #[test]
    fn no_line_panics(line: String) {
        let _ = Line::parse(&line);
        let _ = Members::expand(&line);
    }
}
