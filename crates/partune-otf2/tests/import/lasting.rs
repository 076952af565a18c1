//! Which function has the time between two operations, where unwind distances do not say: by hand, where it is known and where it cannot be.

use partune_trace::Trace;

use super::contexts::{imported, said, visits};
use super::programs::{
    COMPUTE, EXCHANGE, FINALIZE, HERE, INIT, MAIN, NONE, Place, Program, RECV, SEND, START, STEP, calls, enter, leave,
};

/// `main` computes (no events) and calls `exchange` in line 18, which sends in line 9 and receives in line 10.
const CONTEXTS: [(u32, Place, u32); 8] = [
    (MAIN, ("a.c", 15), NONE),
    (INIT, HERE, 0),
    (MAIN, ("a.c", 18), NONE),
    (EXCHANGE, ("a.c", 9), 2),
    (SEND, HERE, 3),
    (EXCHANGE, ("a.c", 10), 2),
    (RECV, HERE, 5),
    (FINALIZE, HERE, 2),
];

fn turns() -> Vec<(u64, partune_otf2::codec::Event<'static>)> {
    let all =
        [(0, 5, 1, 1), (11, 12, 4, 1), (14, 15, 6, 1), (21, 22, 4, 1), (24, 25, 6, 1), (31, 32, 4, 1), (34, 35, 6, 1)];
    calls(&all)
}

/// Time that is a function's own, summed over its visits.
pub(super) fn own(trace: &Trace, function: &str) -> i64 {
    super::statistics::of_visits(trace)
        .iter()
        .filter(|(path, _)| path.rsplit('/').next().is_some_and(|it| it.split('^').next() == Some(function)))
        .map(|(_, sums)| sums[2])
        .sum()
}

#[test]
fn a_function_that_is_called_in_every_turn_has_its_own_time_only() {
    let trace = imported(&Program::new(&CONTEXTS, vec![turns()]));
    let expected = [
        "main 0..35",
        "main/MPI_Init^a.c:15 0..5",
        "main/exchange^a.c:18 11..15",
        "main/exchange^a.c:18/MPI_Send^a.c:9 11..12",
        "main/exchange^a.c:18/MPI_Recv^a.c:10 14..15",
        "main/exchange^a.c:18 21..25",
        "main/exchange^a.c:18/MPI_Send^a.c:9 21..22",
        "main/exchange^a.c:18/MPI_Recv^a.c:10 24..25",
        "main/exchange^a.c:18 31..35",
        "main/exchange^a.c:18/MPI_Send^a.c:9 31..32",
        "main/exchange^a.c:18/MPI_Recv^a.c:10 34..35",
    ];
    assert_eq!(visits(&trace, 0), expected);
    // 6 before each turn, and 2 inside each.
    assert_eq!((own(&trace, "main"), own(&trace, "exchange")), (18, 6));
    assert_eq!(said(&trace, "0.000 s"), 0);
    assert_eq!(said(&trace, "12.000 s between operations count for the program's outermost function"), 1);
}

#[test]
fn a_recorder_that_knows_is_believed() {
    // The same with distances that say that one execution of `exchange` goes round a loop.
    let mut events = turns();
    for (_, event) in &mut events {
        if let partune_otf2::codec::Event::CallingContextEnter { unwind_distance, .. } = event {
            *unwind_distance = 2;
        }
    }
    let trace = imported(&Program::new(&CONTEXTS, vec![events]));
    assert_eq!(own(&trace, "exchange"), 18);
    assert_eq!(said(&trace, "outermost function"), 0);
}

#[test]
fn addresses_tell_what_lines_do_not() {
    // Both calls of `exchange` are in one line: 0x20 follows 0x10, and 0x10 does not follow 0x20.
    let mut contexts = CONTEXTS;
    contexts[5].1 = ("a.c", 9);
    let mut program = Program::new(&contexts, vec![turns()]);
    assert_eq!(own(&imported(&program), "exchange"), 0, "by lines alone nothing goes on");
    program.offsets = vec![(2, 0x80), (3, 0x10), (5, 0x20)];
    assert_eq!(own(&imported(&program), "exchange"), 6);
    // The compiler may place what comes later before it: lines say what follows.
    let mut program = Program::new(&CONTEXTS, vec![turns()]);
    program.offsets = vec![(2, 0x80), (3, 0x20), (5, 0x10)];
    assert_eq!(own(&imported(&program), "exchange"), 6);
    // One line calls `exchange` twice: these are two visits.
    let contexts = [
        (MAIN, ("a.c", 18), NONE),
        (EXCHANGE, ("a.c", 9), 0),
        (SEND, HERE, 1),
        (MAIN, ("a.c", 18), NONE),
        (EXCHANGE, ("a.c", 9), 3),
        (SEND, HERE, 4),
    ];
    let mut program = Program::new(&contexts, vec![calls(&[(0, 1, 2, 1), (5, 6, 5, 1)])]);
    program.offsets = vec![(0, 0x80), (1, 0x10), (3, 0x90), (4, 0x10)];
    let expected = [
        "main 0..6",
        "main/exchange^a.c:18 0..1",
        "main/exchange^a.c:18/MPI_Send^a.c:9 0..1",
        "main/exchange^a.c:18 5..6",
        "main/exchange^a.c:18/MPI_Send^a.c:9 5..6",
    ];
    assert_eq!(visits(&imported(&program), 0), expected);
}

/// A receive for each neighbour, then sends, twice: posting is one execution, since it takes no time; what is between the rounds is not.
#[test]
fn a_loop_of_short_gaps_is_one_visit() {
    let post = |time: u64, context| (0..4_u64).map(move |i| (time + 10 * i, time + 10 * i + 9, context, 1));
    let round = |time: u64| post(time, 6).chain(post(time + 40, 4));
    let all: Vec<_> = round(1000).chain(round(3000)).collect();
    let mut contexts = CONTEXTS;
    contexts[3].1 = ("a.c", 11);
    let mut program = Program::new(&contexts, vec![calls(&all)]);
    program.offsets = vec![(2, 0x80), (5, 0x10), (3, 0x20)];
    let trace = imported(&program);
    let exchange: Vec<String> =
        visits(&trace, 0).into_iter().filter(|it| it.starts_with("main/exchange^a.c:18 ")).collect();
    assert_eq!(exchange, ["main/exchange^a.c:18 1000..1079", "main/exchange^a.c:18 3000..3079"]);
    assert_eq!(own(&trace, "main"), 3000 - 1079);
    // In a shorter run 6 of 79 are not short; 1 is between different calls.
    let mut program = Program::new(&contexts, vec![calls(&all[..8])]);
    program.offsets = vec![(2, 0x80), (5, 0x10), (3, 0x20)];
    let trace = imported(&program);
    assert_eq!(["main", "exchange"].map(|it| own(&trace, it)), [6, 1]);
}

/// `main` of C calls the program, as in Fortran; that one lasts from start-up to shut-down.
#[test]
fn the_function_with_start_up_and_shut_down_is_the_program() {
    let contexts = [
        (START, HERE, NONE),
        (MAIN, ("f.f90", 1), 0),
        (COMPUTE, ("f.f90", 3), 1),
        (INIT, HERE, 2),
        (COMPUTE, ("f.f90", 8), 1),
        (EXCHANGE, ("f.f90", 20), 4),
        (SEND, HERE, 5),
        (COMPUTE, ("f.f90", 9), 1),
        (FINALIZE, HERE, 7),
    ];
    let all = [(0, 1, 3, 1), (10, 11, 6, 1), (20, 21, 6, 1), (30, 31, 8, 1)];
    let trace = imported(&Program::new(&contexts, vec![calls(&all)]));
    assert_eq!(["__libc_start_main", "main", "compute", "exchange"].map(|it| own(&trace, it)), [0, 0, 27, 0]);
    // Without shut-down that is not known, and what starts a program is none of it.
    let trace = imported(&Program::new(&contexts[..7], vec![calls(&all[1..3])]));
    assert_eq!(["__libc_start_main", "main", "compute", "exchange"].map(|it| own(&trace, it)), [0, 9, 0, 0]);
}

#[test]
fn turns_of_a_marked_loop_are_of_one_execution() {
    let contexts = [
        (MAIN, ("m.c", 3), NONE),
        (EXCHANGE, ("m.c", 7), 0),
        (STEP, HERE, 1),
        (EXCHANGE, ("m.c", 9), 0),
        (SEND, HERE, 3),
    ];
    let round = |time, inside: u32| {
        vec![enter(time, 2, 1), enter(time + 1, inside, 1), leave(time + 2, inside), leave(time + 4, 2)]
    };
    let events = [round(0, 4), round(10, 4), round(20, 4)].concat();
    let trace = imported(&Program::new(&contexts, vec![events]));
    assert_eq!((own(&trace, "main"), own(&trace, "exchange"), own(&trace, "step")), (0, 12, 9));
}

/// Paths of which the recorder kept the innermost frame alone: what calls `exchange` is not known, so nothing says that it goes on.
#[test]
fn a_function_whose_callers_were_left_out_is_not_the_program_s() {
    let contexts = [
        (MAIN, ("a.c", 15), NONE),
        (INIT, HERE, 0),
        (MAIN, ("a.c", 19), NONE),
        (EXCHANGE, ("a.c", 9), NONE),
        (SEND, HERE, 3),
        (EXCHANGE, ("a.c", 10), NONE),
        (RECV, HERE, 5),
        (FINALIZE, HERE, 2),
    ];
    let whole = [turns(), calls(&[(40, 41, 7, 1)])].concat();
    let trace = imported(&Program::new(&contexts, vec![whole]));
    // 2 from each send to the receive further down; and from 5 to 40 nothing says that `main` runs.
    assert_eq!((own(&trace, "exchange"), own(&trace, "main")), (6, 0));
    // Where all operations are in one outermost function it is that of the thread.
    let thread = turns().split_off(2);
    let trace = imported(&Program::new(&contexts, vec![thread]));
    assert_eq!(own(&trace, "exchange"), 35 - 11 - 6);
}
