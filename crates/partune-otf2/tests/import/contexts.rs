//! Calling contexts become visits of functions: known answers, what cannot be known, damage, and what the C library says.

use std::collections::BTreeMap;
use std::process::Command;

use partune_base::{CallPathId, PeId, Time};
use partune_otf2::codec::Event;
use partune_otf2::import::import_in_runs;
use partune_trace::{RegionKind, Trace};

use super::programs::{
    COMPUTE, EXCHANGE, FINALIZE, HERE, INIT, MAIN, NONE, Place, Program, RECV, SEND, SOLVE, STEP, calls, enter, leave,
};
use crate::codec::archives::otf2_print;

pub(super) fn open(files: &BTreeMap<String, Vec<u8>>, run_bytes: Option<usize>) -> Trace {
    import_in_runs(files, "traces.otf2", run_bytes, &|_, _| {}).expect("it opens")
}

/// `main/exchange^main.c:10 20..40` for each visit of a PE, in order.
pub(super) fn visits(trace: &Trace, pe: u32) -> Vec<String> {
    trace.streams()[PeId(pe)]
        .visits
        .iter()
        .map(|visit| format!("{} {}..{}", path(trace, visit.path), visit.enter.0, visit.exit.0))
        .collect()
}

fn path(trace: &Trace, path: CallPathId) -> String {
    let name = |path: CallPathId| {
        let site = trace.paths().site(path);
        let name = trace.strings().get(trace.regions()[trace.paths().region(path)].name);
        if site.is_some() {
            format!("{name}^{}:{}", trace.strings().get(site.file), site.line)
        } else {
            name.to_owned()
        }
    };
    let mut names: Vec<String> = trace.paths().ancestors(path).map(name).collect();
    names.reverse();
    names.join("/")
}

/// Imports, and checks that neither the cutting into runs nor the number of chunks matters, and that visits nest.
pub(super) fn imported(program: &Program) -> Trace {
    let mut small = Program { event_chunk: 64, ..Program::new(&program.contexts, program.locations.clone()) };
    small.maps.clone_from(&program.maps);
    small.offsets.clone_from(&program.offsets);
    small.generator = program.generator;
    let trace = open(&program.files(), None);
    for run_bytes in [1, usize::MAX] {
        let cut = open(&small.files(), Some(run_bytes));
        assert_eq!(trace.streams(), cut.streams());
        assert_eq!(trace.paths(), cut.paths());
    }
    nest(&trace);
    trace
}

/// Every visit lies in one of its path's parent, or has none.
pub(super) fn nest(trace: &Trace) {
    for stream in trace.streams() {
        let mut open: Vec<partune_trace::Visit> = Vec::new();
        for visit in stream.visits.iter() {
            let depth = trace.paths().depth(visit.path) as usize;
            open.truncate(depth);
            assert_eq!(open.len(), depth);
            match open.last() {
                Some(outer) => {
                    assert_eq!(trace.paths().parent(visit.path), outer.path);
                    assert!(outer.enter <= visit.enter && visit.exit <= outer.exit, "{outer:?} {visit:?}");
                }
                None => assert!(!trace.paths().parent(visit.path).is_some()),
            }
            open.push(visit);
        }
    }
}

pub(super) fn said(trace: &Trace, text: &str) -> u64 {
    trace.quality().entries().iter().filter(|entry| entry.message.contains(text)).map(|entry| entry.count).sum()
}

/// main starts up (line 5), exchanges twice in line 10, which sends (42) and receives (50), once in line 20, and ends (30).
const CONTEXTS: [(u32, Place, u32); 12] = [
    (MAIN, ("main.c", 5), NONE),
    (INIT, HERE, 0),
    (MAIN, ("main.c", 10), NONE),
    (EXCHANGE, ("halo.c", 42), 2),
    (SEND, HERE, 3),
    (EXCHANGE, ("halo.c", 50), 2),
    (RECV, HERE, 5),
    (MAIN, ("main.c", 20), NONE),
    (EXCHANGE, ("halo.c", 42), 7),
    (SEND, HERE, 8),
    (MAIN, ("main.c", 30), NONE),
    (FINALIZE, HERE, 10),
];

fn two_functions() -> Program {
    let events = calls(&[(0, 10, 1, 3), (20, 30, 4, 3), (35, 40, 6, 2), (60, 70, 9, 3), (90, 100, 11, 2)]);
    Program::new(&CONTEXTS, vec![events])
}

const TWO_FUNCTIONS: [&str; 8] = [
    "main 0..100",
    "main/MPI_Init^main.c:5 0..10",
    "main/exchange^main.c:10 20..40",
    "main/exchange^main.c:10/MPI_Send^halo.c:42 20..30",
    "main/exchange^main.c:10/MPI_Recv^halo.c:50 35..40",
    "main/exchange^main.c:20 60..70",
    "main/exchange^main.c:20/MPI_Send^halo.c:42 60..70",
    "main/MPI_Finalize^main.c:30 90..100",
];

#[test]
fn functions_span_their_operations() {
    let trace = imported(&two_functions());
    assert_eq!(visits(&trace, 0), TWO_FUNCTIONS);
    assert_eq!(trace.events(), 10, "visits of functions are no events");
    assert_eq!(trace.paths().len(), 8);
    // `main` and `exchange` are known from the calls inside of them alone.
    let recorded: Vec<bool> = trace.paths().ids().map(|path| trace.paths().is_recorded(path)).collect();
    assert_eq!(recorded, TWO_FUNCTIONS.map(|visit| visit.contains("/MPI_")));
    assert_eq!(trace.streams()[PeId(0)].operations.len(), 5);
    assert!(trace.quality().entries().is_empty(), "{:?}", trace.quality());
}

#[test]
fn rows_belong_to_the_same_operations_as_before() {
    let mut program = two_functions();
    let send = Event::MpiSend { receiver: 0, communicator: 0, msg_tag: 7, msg_length: 8 };
    program.locations[0].insert(3, (25, send));
    program.locations[0].insert(8, (65, send));
    let trace = imported(&program);
    let sends = &trace.streams()[PeId(0)].sends;
    let at: Vec<i64> = sends.iter().map(|row| trace.visit(PeId(0), row.visit).enter.0).collect();
    assert_eq!(at, [20, 60]);
    assert_eq!(visits(&trace, 0), TWO_FUNCTIONS);
}

#[test]
fn local_ids_go_through_the_map_of_their_location() {
    let mut program = two_functions();
    // The second location numbers the contexts backwards.
    let turned = |event: &Event<'static>| match *event {
        Event::CallingContextEnter { calling_context, unwind_distance } => {
            Event::CallingContextEnter { calling_context: 11 - calling_context, unwind_distance }
        }
        Event::CallingContextLeave { calling_context } => {
            Event::CallingContextLeave { calling_context: 11 - calling_context }
        }
        other => other,
    };
    let second = program.locations[0].iter().map(|(time, event)| (*time, turned(event))).collect();
    program.locations.push(second);
    program.maps = vec![(0..12).collect(), (0..12).rev().collect()];
    let trace = imported(&program);
    assert_eq!(visits(&trace, 1), TWO_FUNCTIONS);
    assert_eq!(trace.paths().len(), 8, "both have the same paths");
}

#[test]
fn the_unwind_distance_tells_executions_apart() {
    // Two sends from the same line: of one execution of exchange, and of two.
    let once = Program::new(&CONTEXTS, vec![calls(&[(0, 10, 4, 4), (20, 30, 4, 2)])]);
    let expected = [
        "main 0..30",
        "main/exchange^main.c:10 0..30",
        "main/exchange^main.c:10/MPI_Send^halo.c:42 0..10",
        "main/exchange^main.c:10/MPI_Send^halo.c:42 20..30",
    ];
    assert_eq!(visits(&imported(&once), 0), expected);
    let twice = Program::new(&CONTEXTS, vec![calls(&[(0, 10, 4, 4), (20, 30, 4, 3)])]);
    let expected = [
        "main 0..30",
        "main/exchange^main.c:10 0..10",
        "main/exchange^main.c:10/MPI_Send^halo.c:42 0..10",
        "main/exchange^main.c:10 20..30",
        "main/exchange^main.c:10/MPI_Send^halo.c:42 20..30",
    ];
    assert_eq!(visits(&imported(&twice), 0), expected);
    // Distances that cannot be those of an enter say nothing, and neither does the line, which is the same.
    for distance in [0, 1] {
        let program = Program::new(&CONTEXTS, vec![calls(&[(0, 10, 4, distance), (20, 30, 4, distance)])]);
        assert_eq!(visits(&imported(&program), 0), expected);
    }
    // All of them new: nothing goes on.
    let program = Program::new(&CONTEXTS, vec![calls(&[(0, 10, 4, 4), (20, 30, 4, NONE)])]);
    assert_eq!(visits(&imported(&program), 0).len(), 6);
}

#[test]
fn recursion_is_a_frame_each_time() {
    let contexts = [
        (COMPUTE, ("r.c", 1), NONE),
        (COMPUTE, ("r.c", 3), 0),
        (COMPUTE, ("r.c", 3), 1),
        (SEND, HERE, 1),
        (SEND, HERE, 2),
    ];
    let program = Program::new(&contexts, vec![calls(&[(0, 10, 3, 4), (20, 30, 4, 3), (40, 50, 3, 2)])]);
    let two = "compute/compute^r.c:1";
    assert_eq!(
        visits(&imported(&program), 0),
        [
            "compute 0..50".to_owned(),
            format!("{two} 0..50"),
            format!("{two}/MPI_Send^r.c:3 0..10"),
            format!("{two}/compute^r.c:3 20..30"),
            format!("{two}/compute^r.c:3/MPI_Send^r.c:3 20..30"),
            format!("{two}/MPI_Send^r.c:3 40..50"),
        ]
    );
}

#[test]
fn phases_and_iterations_lie_where_their_chains_say() {
    // main { solve (phase) { step (iteration) { exchange { send } } step { exchange { send } } } }; the chains of the sends do
    // not have the marked regions, or do.
    let contexts = [
        (MAIN, ("m.c", 3), NONE),
        (SOLVE, HERE, 0),
        (MAIN, ("m.c", 5), NONE),
        (STEP, HERE, 2),
        (MAIN, ("m.c", 7), NONE),
        (EXCHANGE, ("h.c", 9), 4),
        (SEND, HERE, 5),
        (STEP, ("m.c", 7), 2),
        (EXCHANGE, ("h.c", 9), 7),
        (SEND, HERE, 8),
    ];
    for send in [6, 9] {
        let events = vec![
            enter(0, 1, 3),
            enter(10, 3, 2),
            enter(20, send, 3),
            leave(30, send),
            leave(40, 3),
            enter(40, 3, 2),
            enter(50, send, 3),
            leave(60, send),
            leave(70, 3),
            leave(80, 1),
        ];
        let trace = imported(&Program::new(&contexts, vec![events]));
        let step = "main/solve^m.c:3/step^m.c:5";
        let expected = [
            "main 0..80".to_owned(),
            "main/solve^m.c:3 0..80".to_owned(),
            format!("{step} 10..40"),
            format!("{step}/exchange^m.c:7 20..30"),
            format!("{step}/exchange^m.c:7/MPI_Send^h.c:9 20..30"),
            format!("{step} 40..70"),
            format!("{step}/exchange^m.c:7 50..60"),
            format!("{step}/exchange^m.c:7/MPI_Send^h.c:9 50..60"),
        ];
        assert_eq!(visits(&trace, 0), expected, "chain of {send}");
        let kind = |name: &str| {
            let mut regions = trace.regions().iter();
            regions.find(|region| trace.strings().get(region.name) == name).map(|region| region.kind)
        };
        assert_eq!(kind("solve"), Some(RegionKind::Phase));
        assert_eq!(kind("step"), Some(RegionKind::Iteration));
        assert_eq!(kind("main"), Some(RegionKind::Function));
        assert_eq!(kind("lines"), Some(RegionKind::Block));
    }
}

#[test]
fn a_phase_that_outlives_its_function_is_not_cut() {
    // Begun in exchange, ended in main.
    let contexts = [
        (MAIN, ("m.c", 3), NONE),
        (EXCHANGE, ("h.c", 4), 0),
        (SOLVE, HERE, 1),
        (MAIN, ("m.c", 8), NONE),
        (COMPUTE, ("c.c", 2), 3),
        (SEND, HERE, 4),
    ];
    let events = vec![enter(0, 2, 4), enter(10, 5, 3), leave(20, 5), leave(30, 2)];
    let expected = [
        "main 0..30",
        "main/exchange^m.c:3 0..30",
        "main/exchange^m.c:3/solve^h.c:4 0..30",
        "main/exchange^m.c:3/solve^h.c:4/compute^m.c:8 10..20",
        "main/exchange^m.c:3/solve^h.c:4/compute^m.c:8/MPI_Send^c.c:2 10..20",
    ];
    assert_eq!(visits(&imported(&Program::new(&contexts, vec![events])), 0), expected);
}

#[test]
fn plain_enters_lie_in_what_their_neighbours_share() {
    let plain = |begin, end| [(begin, Event::Enter { region: COMPUTE }), (end, Event::Leave { region: COMPUTE })];
    // Before everything, between two operations of exchange, between exchange and main, around an operation, at the end.
    let mut events = plain(0, 5).to_vec();
    events.extend(calls(&[(10, 20, 4, 4)]));
    events.extend(plain(22, 24));
    events.extend(calls(&[(30, 40, 6, 2)]));
    events.extend(plain(42, 44));
    events.push((46, Event::Enter { region: COMPUTE }));
    events.extend(calls(&[(50, 60, 9, 3)]));
    events.push((65, Event::Leave { region: COMPUTE }));
    events.extend(plain(70, 75));
    let expected = [
        "compute 0..5",
        "main 10..65",
        "main/exchange^main.c:10 10..40",
        "main/exchange^main.c:10/MPI_Send^halo.c:42 10..20",
        "main/exchange^main.c:10/compute 22..24",
        "main/exchange^main.c:10/MPI_Recv^halo.c:50 30..40",
        "main/compute 42..44",
        "main/compute 46..65",
        "main/compute/exchange^main.c:20 50..60",
        "main/compute/exchange^main.c:20/MPI_Send^halo.c:42 50..60",
        "compute 70..75",
    ];
    assert_eq!(visits(&imported(&Program::new(&CONTEXTS, vec![events])), 0), expected);
}

#[test]
fn a_construct_may_carry_its_call_site_itself() {
    let contexts = [(MAIN, HERE, NONE), (SEND, ("m.c", 9), 0), (SEND, ("m.c", 4), NONE)];
    let program = Program::new(&contexts, vec![calls(&[(0, 1, 1, 3), (2, 3, 2, 2)])]);
    assert_eq!(visits(&imported(&program), 0), ["main 0..1", "main/MPI_Send^m.c:9 0..1", "MPI_Send^m.c:4 2..3"]);
}

#[test]
fn damaged_chains_are_said_and_used_as_far_as_they_go() {
    // 0 and 1 call each other: a circle is cut at its first, 3's caller is not defined, 5 has a region that is not.
    let contexts = [
        (MAIN, HERE, 1),
        (EXCHANGE, HERE, 0),
        (SEND, HERE, 1),
        (MAIN, HERE, 77),
        (SEND, HERE, 3),
        (99, HERE, NONE),
        (SEND, HERE, 5),
    ];
    // Context 88 is not defined; the last operation is not left.
    let mut events = calls(&[(0, 10, 2, 2), (20, 30, 4, 2), (40, 50, 6, 2), (60, 70, 88, 2)]);
    events.push(enter(80, 4, 2));
    events.push((90, Event::RmaWaitChange { win: 0 }));
    let trace = imported(&Program::new(&contexts, vec![events]));
    assert_eq!(
        visits(&trace, 0),
        [
            "exchange 0..10",
            "exchange/MPI_Send 0..10",
            "main 20..30",
            "main/MPI_Send 20..30",
            "(undefined region) 40..50",
            "(undefined region)/MPI_Send 40..50",
            "(undefined region) 60..70",
            "main 80..90",
            "main/MPI_Send 80..90",
        ]
    );
    assert_eq!(said(&trace, "chain of callers"), 2);
    assert_eq!(said(&trace, "never left"), 1);
}

#[test]
fn chains_are_bounded() {
    let deep: Vec<(u32, Place, u32)> = (0..5000)
        .map(|depth: u32| (COMPUTE, ("d.c", depth + 1), depth.checked_sub(1).unwrap_or(NONE)))
        .chain([(SEND, HERE, 4999), (SEND, HERE, 0)])
        .collect();
    let round = [(0, 1, 5000, 5002), (2, 3, 5001, 2)];
    let trace = imported(&Program::new(&deep, vec![calls(&round)]));
    let visits = visits(&trace, 0);
    assert_eq!(visits.len(), 128 + 2);
    assert!(visits[128].ends_with("/compute^d.c:4999/MPI_Send^d.c:5000 0..1"), "{}", visits[128]);
    assert_eq!(visits[129], "compute/MPI_Send^d.c:1 2..3");
    assert!(said(&trace, "more than 128 functions") > 0);
}

#[test]
fn lost_events_are_said() {
    let mut program = two_functions();
    program.locations = vec![program.locations[0].clone(); 3];
    program.lost = vec![5, 0, 1200];
    let trace = open(&program.files(), None);
    let entries = trace.quality().entries();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].message.contains("1205 later events of 2 PEs"), "{}", entries[0].message);
    assert!(entries[0].remedy.contains("--max-size"));
    program.lost = vec![0, 0, 0];
    assert!(open(&program.files(), None).quality().entries().is_empty());
}

#[test]
fn cut_archives_are_read_as_far_as_they_go() {
    let mut program = two_functions();
    program.event_chunk = 64;
    program.locations = vec![program.locations[0].clone(); 2];
    program.maps = vec![(0..12).collect(), (0..12).collect()];
    let files = program.files();
    for name in files.keys().filter(|name| *name != "traces.otf2") {
        for length in 0..files[name].len() {
            let mut cut = files.clone();
            cut.get_mut(name).expect("it is there").truncate(length);
            nest(&open(&cut, Some(1)));
            // A wrong byte in its place.
            let mut bent = files.clone();
            let byte = &mut bent.get_mut(name).expect("it is there")[length];
            *byte = byte.wrapping_add(1);
            if let Ok(trace) = import_in_runs(&bent, "traces.otf2", Some(1), &|_, _| {}) {
                nest(&trace);
            }
        }
    }
}

/// Prints time, chain and unwind distance of each enter, with the reader of the C library.
const SCRIPT: &str = r#"
import sys, otf2
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if isinstance(event, otf2.events.CallingContextEnter):
            at, chain = event.calling_context, []
            while at is not None:
                place = at.source_code_location
                chain.append(at.region.name + (f"@{place.file}:{place.line_number}" if place else ""))
                at = at.parent
            print(event.time, "/".join(reversed(chain)), event.unwind_distance)
"#;

#[test]
fn the_c_library_reads_the_same_chains() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in two_functions().files() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        std::fs::write(path, bytes).expect("it can be written");
    }
    let anchor = folder.path().join("traces.otf2");
    let Some(printed) = otf2_print(&anchor, &["-Werror"]) else { return };
    assert_eq!(printed.errors, "");
    assert_eq!(printed.text.matches("CALLING_CONTEXT_ENTER").count(), 5);
    let output = Command::new("/usr/bin/python3").arg("-c").arg(SCRIPT).arg(&anchor).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        assert!(std::env::var_os("CI").is_none(), "python3-otf2 is not installed");
        return;
    };
    let expected = "0 main@main.c:5/MPI_Init 3\n20 main@main.c:10/exchange@halo.c:42/MPI_Send 3\n\
        35 main@main.c:10/exchange@halo.c:50/MPI_Recv 2\n60 main@main.c:20/exchange@halo.c:42/MPI_Send 3\n\
        90 main@main.c:30/MPI_Finalize 2\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn what_lasts_from_one_part_into_another_is_one() {
    let mut program = two_functions();
    let filler = |begin: u64| (begin..begin + 40).map(|time| (time, Event::MpiRequestTest { request_id: 9 }));
    let io = |time, event| vec![(time, event)];
    let begin = |matching_id| Event::IoOperationBegin {
        handle: 0,
        mode: 1,
        operation_flags: 0,
        bytes_request: 10,
        matching_id,
    };
    let end = |matching_id| Event::IoOperationComplete { handle: 0, bytes_result: 7, matching_id };
    let last = program.locations[0].last().map_or(0, |(time, _)| *time) + 1000;
    let mut events = program.locations[0].clone();
    // Recording is off over a flush and a border; a file operation lasts over another, beside one that never ends.
    events.extend(filler(last));
    events.push((last + 100, Event::MeasurementOnOff { measurement_mode: 2 }));
    events.extend(filler(last + 101));
    events.push((last + 150, Event::BufferFlush { stop_time: last + 160 }));
    events.push((last + 170, Event::MeasurementOnOff { measurement_mode: 1 }));
    events.extend(io(last + 180, begin(4)));
    events.extend(io(last + 181, begin(5)));
    events.extend(filler(last + 200));
    events.extend(io(last + 300, end(4)));
    events.extend(filler(last + 301));
    program.locations[0] = events;
    let trace = imported(&program);
    let stream = &trace.streams()[PeId(0)];
    let time = |after: u64| Time((last + after) as i64);
    let pauses: Vec<(Time, Time)> = stream.pauses.iter().map(|it| (it.begin, it.end)).collect();
    assert_eq!(pauses, [(time(150), time(160)), (time(100), time(170))]);
    let io: Vec<(Time, Time, u64)> = stream.io.iter().map(|it| (it.begin, it.end, it.bytes)).collect();
    assert_eq!(io, [(time(180), time(300), 7), (time(181), time(181), 10)]);
    assert!(!trace.quality().entries().iter().any(|it| it.message.contains("order")), "{:?}", trace.quality());
}
