//! What readers share, by way of a small format.

mod lines;

use std::collections::BTreeMap;

use partune_base::{PeId, Time};
use partune_trace::{Role, Trace};
use proptest::prelude::*;

fn opened(text: &str, part: usize) -> Trace {
    let files = BTreeMap::from([("run.lines".to_owned(), text.as_bytes().to_vec())]);
    lines::open(&files, "run.lines", part, &|_, _| {}).expect("the file is there")
}

const RUN: &str = "lines
0 0 enter main
1 0 enter main
0 10 enter MPI_Send
0 15 send 1 7 100
0 20 leave MPI_Send
1 5 enter work
1 12 enter MPI_Recv
1 25 receive 0 7 100
1 26 leave MPI_Recv
1 30 leave work
0 40 leave main
1 41 leave main
";

#[test]
fn a_format_is_a_value() {
    let files = BTreeMap::from([("run.lines".to_owned(), RUN.as_bytes().to_vec())]);
    let format = lines::FORMAT;
    assert!((format.detect)("run.lines", RUN.as_bytes()) && !(format.detect)("run.lines", b"\x03\0OTF2\0"));
    let trace = (format.open)(&files, "run.lines", &|_, _| {}).expect("it is there");
    assert_eq!((trace.pes().len(), trace.events(), trace.end()), (2, 12, Time(41)));
    let error = (format.open)(&files, "none", &|_, _| {}).expect_err("it is not there");
    assert_eq!((error.code, error.to_string().lines().count()), ("unreadable", 2));
}

#[test]
fn parts_are_joined_whatever_is_open_where_they_begin() {
    let whole = opened(RUN, usize::MAX >> 1);
    let receiver = &whole.streams()[PeId(1)];
    let path = receiver.visits.path[2];
    let names = |trace: &Trace| -> Vec<String> {
        trace
            .paths()
            .ancestors(path)
            .map(|it| trace.strings().get(trace.regions()[trace.paths().region(it)].name).to_owned())
            .collect()
    };
    assert_eq!(names(&whole), ["MPI_Recv", "work", "main"]);
    assert_eq!(whole.role_of(PeId(1), receiver.recvs[0].visit), Role::Recv);
    assert!(whole.quality().entries().is_empty());
    for part in [1, 20, 50, 100] {
        let parts = opened(RUN, part);
        assert_eq!(parts.streams(), whole.streams(), "parts of {part} bytes");
        assert_eq!(names(&parts), names(&whole));
    }
}

#[test]
fn what_does_not_fit_is_counted() {
    let text = "lines\n0 0 enter main\n0 5 leave work\n0 3 enter work\n0 9 leave main\nx\n0 9 dance\n";
    for part in [1, 1000] {
        let trace = opened(text, part);
        let said: Vec<(&str, u64)> = trace.quality().entries().iter().map(|it| (&it.message[..20], it.count)).collect();
        assert_eq!(
            said,
            [
                ("a region is left tha", 1),
                ("a region is entered ", 1),
                ("time stamps of a PE ", 1),
                ("lines that say nothi", 2),
            ],
            "parts of {part} bytes"
        );
    }
}

proptest! {
    /// Whatever happens, the cut into parts is not seen.
    #[test]
    fn the_cut_is_not_seen(events in prop::collection::vec((0..3_u8, 0..9_i64, 0..4_u8, 0..4_u8), 0..60), part in 1..200_usize) {
        let mut text = String::from("lines\n");
        let mut now = 0;
        for (pe, step, what, which) in events {
            now += step - 1;
            let what = ["enter", "leave", "leave", "send"][usize::from(what)];
            let rest = if what == "send" { "1 2 3" } else { ["a", "b", "c", "MPI_Send"][usize::from(which)] };
            text = format!("{text}{pe} {now} {what} {rest}\n");
        }
        let (whole, parts) = (opened(&text, 1 << 20), opened(&text, part));
        prop_assert_eq!(whole.streams(), parts.streams());
        prop_assert_eq!(whole.quality().entries(), parts.quality().entries());
    }
}
