//! Samples of calling contexts share out the time between operations: by hand, exactly where the schedule is known, and what holds for any.

use partune_base::PeId;
use partune_diag::Code;
use partune_otf2::codec::Event;
use partune_trace::Trace;
use proptest::prelude::*;

use super::contexts::{imported, nest, open, said, visits};
use super::lasting::own;
use super::programs::{
    COMPUTE, EXCHANGE, FORCE, HERE, MAIN, NONE, Place, Program, RECV, SEND, SOLVE, calls, enter, leave, sample,
};
use super::statistics::{Events, Execution, name};
use crate::codec::archives::otf2_print;

/// `main` computes in `compute` (line 16) and `force` (line 17), and calls `exchange` in line 18.
const CONTEXTS: [(u32, Place, u32); 9] = [
    (MAIN, ("a.c", 18), NONE),
    (EXCHANGE, ("a.c", 9), 0),
    (SEND, HERE, 1),
    (EXCHANGE, ("a.c", 10), 0),
    (RECV, HERE, 3),
    (MAIN, ("a.c", 16), NONE),
    (COMPUTE, ("a.c", 3), 5),
    (MAIN, ("a.c", 17), NONE),
    (FORCE, ("a.c", 6), 7),
];
const UNKNOWN: u32 = NONE;
const IN_COMPUTE: u32 = 6;
const IN_FORCE: u32 = 8;

/// A tick is a second, and samples are so many apart.
fn sampled(contexts: &[(u32, Place, u32)], events: Events, period: u64) -> Program {
    let mut program = Program::new(contexts, vec![in_order(events)]);
    program.generator = Some((0, 1, 0, period));
    program
}

fn in_order(mut events: Events) -> Events {
    events.sort_by_key(|(time, _)| *time);
    events
}

fn with(calls: Events, samples: &[(u64, u32)]) -> Events {
    let samples = samples.iter().map(|(time, context)| sample(*time, *context, UNKNOWN));
    calls.into_iter().chain(samples).collect()
}

#[test]
fn a_gap_is_divided_in_the_middle_between_samples() {
    let calls = calls(&[(0, 10, 2, 1), (50, 60, 2, 1)]);
    let trace = imported(&sampled(&CONTEXTS, with(calls, &[(20, IN_COMPUTE), (30, IN_COMPUTE), (40, IN_FORCE)]), 13));
    let expected = [
        "main 0..60",
        "main/exchange^a.c:18 0..10",
        "main/exchange^a.c:18/MPI_Send^a.c:9 0..10",
        "main/compute^a.c:16 10..35",
        "main/force^a.c:17 35..50",
        "main/exchange^a.c:18 50..60",
        "main/exchange^a.c:18/MPI_Send^a.c:9 50..60",
    ];
    assert_eq!(visits(&trace, 0), expected);
    assert_eq!(trace.events(), 7, "samples are events");
    let message =
        "shared out by 3 samples at 0 Hz: times and shares of functions are estimates, ±28.9 percentage points";
    assert_eq!(said(&trace, message), 1, "{:?}", trace.quality());
    assert_eq!(said(&trace, "not analysed") + said(&trace, "outermost function"), 0);
}

#[test]
fn functions_that_neighbours_have_in_common_stay_open() {
    // Samples in `exchange` itself: before its first and after its last operation, and all the time between.
    let calls = calls(&[(0, 10, 2, 1), (50, 60, 4, 1)]);
    let trace = imported(&sampled(&CONTEXTS, with(calls, &[(20, 3), (40, 1)]), 20));
    assert_eq!(
        visits(&trace, 0),
        [
            "main 0..60",
            "main/exchange^a.c:18 0..60",
            "main/exchange^a.c:18/MPI_Send^a.c:9 0..10",
            "main/exchange^a.c:18/MPI_Recv^a.c:10 50..60",
        ]
    );
}

#[test]
fn samples_with_distances_tell_executions_apart() {
    // As Score-P writes them: the second is in the same execution of `compute`, the third in another one, and the send in the one after.
    let mut events = calls(&[(0, 10, 2, 4), (50, 60, 2, 3)]);
    events.extend([sample(20, IN_COMPUTE, 3), sample(30, IN_COMPUTE, 1), sample(40, IN_COMPUTE, 2)]);
    let trace = imported(&sampled(&CONTEXTS, events, 10));
    let compute: Vec<String> = visits(&trace, 0).into_iter().filter(|it| it.contains("compute")).collect();
    assert_eq!(compute, ["main/compute^a.c:16 10..35", "main/compute^a.c:16 35..50"]);
}

/// 100 turns of 10 ticks of work and 1 in `exchange`; samples in every tenth turn, three of ten in `compute`.
fn hundred_turns(period: u64) -> Program {
    let turns: Vec<_> = (0..=100).map(|turn| (turn * 11, turn * 11 + 1, 2, 1)).collect();
    let is_compute = |turn: u64| turn % 10 < 3;
    let samples: Vec<_> =
        (0..10).map(|turn| (turn * 110 + 6, if is_compute(turn) { IN_COMPUTE } else { IN_FORCE })).collect();
    sampled(&CONTEXTS, with(calls(&turns), &samples), period)
}

#[test]
fn gaps_without_samples_are_shared_like_those_that_have_some() {
    let trace = imported(&hundred_turns(100));
    assert_eq!(["compute", "force", "exchange", "main"].map(|it| own(&trace, it)), [300, 700, 0, 0]);
    // No function has ten turns in a row: shares hold everywhere, not in the end only.
    let names: Vec<bool> = visits(&trace, 0)
        .iter()
        .filter(|it| it.contains("compute") || it.contains("force"))
        .map(|it| it.contains("compute"))
        .collect();
    assert_eq!(names.len(), 100);
    assert!(names.windows(20).all(|turns| (4..=8).contains(&turns.iter().filter(|it| **it).count())), "{names:?}");
}

#[test]
fn time_off_the_processor_is_not_that_of_sampled_functions() {
    // Each sample stands for 20 ticks: 200 of 1000 were on a processor.
    let trace = imported(&hundred_turns(20));
    let [compute, force, main] = ["compute", "force", "main"].map(|it| own(&trace, it));
    assert_eq!((compute, force, main), (60, 140, 800));
    // One sample of a tick in a long gap is this tick.
    let one = with(calls(&[(0, 10, 2, 1), (1010, 1020, 2, 1)]), &[(500, IN_COMPUTE)]);
    let trace = imported(&sampled(&CONTEXTS, one.clone(), 10));
    assert_eq!(["compute", "main"].map(|it| own(&trace, it)), [10, 990]);
    // Periods differ, and are 1000 on average: 500 five times, 1500 five times, and then the thread sleeps until the end. All of the time on the processor is found.
    let times = (1..=5).map(|tick| tick * 500).chain((1..=5).map(|tick| 2500 + tick * 1500));
    let samples: Vec<_> = times.map(|time| (10 + time, if time <= 2500 { IN_COMPUTE } else { IN_FORCE })).collect();
    let uneven = with(calls(&[(0, 10, 2, 1), (100_010, 100_020, 2, 1)]), &samples);
    let trace = imported(&sampled(&CONTEXTS, uneven, 1000));
    let [compute, force, main] = ["compute", "force", "main"].map(|it| own(&trace, it));
    assert!((9950..=10_050).contains(&(compute + force)), "{compute} {force}");
    assert!((2500..=3500).contains(&compute) && compute + force + main == 100_000, "{compute} {force}");
    // Where the generator counts something else, or is not defined, that cannot be known.
    let mut program = sampled(&CONTEXTS, one, 10);
    program.generator = Some((1, 1, 0, 10));
    assert_eq!(own(&imported(&program), "compute"), 1000);
    program.generator = None;
    assert_eq!(own(&imported(&program), "compute"), 1000);
    // 10 × 2³ ticks.
    program.generator = Some((0, 0, 3, 10));
    assert_eq!(own(&imported(&program), "compute"), 80);
}

#[test]
fn different_gaps_have_different_shares() {
    // Between send and receive is `exchange` alone, of which there is no sample; around it `compute`.
    let turns: Vec<_> =
        (0..10).flat_map(|turn| [(turn * 20, turn * 20 + 1, 2, 1), (turn * 20 + 9, turn * 20 + 10, 4, 1)]).collect();
    let trace = imported(&sampled(&CONTEXTS, with(calls(&turns), &[(35, IN_COMPUTE)]), 90));
    assert_eq!(["compute", "exchange", "main"].map(|it| own(&trace, it)), [90, 80, 0]);
}

#[test]
fn samples_lie_in_marked_regions_and_not_in_operations() {
    let contexts = [&CONTEXTS[..], &[(SOLVE, HERE, 0)]].concat();
    // A phase that begins and ends with `compute`; a sample in a send, one before everything and one after.
    let mut events = vec![enter(100, 9, 1), enter(130, 2, 1), leave(140, 2), leave(170, 9)];
    events.extend([80, 110, 135, 160, 190].map(|time| sample(time, IN_COMPUTE, UNKNOWN)));
    let trace = imported(&sampled(&contexts, events, 20));
    let expected = [
        "main 80..190",
        "main/compute^a.c:16 80..100",
        "main/solve^a.c:18 100..170",
        "main/solve^a.c:18/compute^a.c:16 100..130",
        "main/solve^a.c:18/exchange^a.c:18 130..140",
        "main/solve^a.c:18/exchange^a.c:18/MPI_Send^a.c:9 130..140",
        "main/solve^a.c:18/compute^a.c:16 140..170",
        "main/compute^a.c:16 170..190",
    ];
    assert_eq!(visits(&trace, 0), expected);
    assert_eq!(said(&trace, "by 4 samples"), 1);
}

#[test]
fn what_samples_cannot_tell_is_said() {
    let all = || calls(&[(0, 10, 2, 1), (50, 60, 2, 1)]);
    let trace = imported(&sampled(&CONTEXTS, with(all(), &[(5, IN_COMPUTE), (55, IN_COMPUTE)]), 20));
    assert_eq!(said(&trace, "not analysed"), 2);
    assert_eq!(own(&trace, "main"), 40);
    let trace = imported(&sampled(&CONTEXTS, with(all(), &[(20, 77), (30, IN_COMPUTE)]), 20));
    assert_eq!((said(&trace, "not defined"), said(&trace, "by 1 sample")), (1, 1));
    // One without a context is no damage.
    let trace = imported(&sampled(&CONTEXTS, with(all(), &[(20, u32::MAX), (30, IN_COMPUTE)]), 20));
    assert_eq!((said(&trace, "not defined"), said(&trace, "by 1 sample")), (0, 1));
    // A thread that calls nothing is in the functions of its samples.
    let trace = imported(&sampled(&CONTEXTS, with(Vec::new(), &[(20, IN_COMPUTE), (30, IN_FORCE)]), 10));
    assert_eq!(visits(&trace, 0), ["main 20..30", "main/compute^a.c:16 20..25", "main/force^a.c:17 25..30"]);
    // Time stamps that run backwards.
    let mut program = sampled(&CONTEXTS, all(), 20);
    program.locations[0].insert(2, sample(3, IN_COMPUTE, UNKNOWN));
    let trace = open(&program.files(), None);
    nest(&trace);
    assert_eq!((own(&trace, "compute"), said(&trace, "run backwards")), (40, 1));
}

#[test]
fn the_c_library_reads_the_same_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = hundred_turns(100);
    program.offsets = vec![(1, 0x40), (3, 0x80)];
    for (name, bytes) in program.files() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        std::fs::write(path, bytes).expect("it can be written");
    }
    let anchor = folder.path().join("traces.otf2");
    let Some(events) = otf2_print(&anchor, &["-Werror"]) else { return };
    assert_eq!(events.errors, "");
    let samples: Vec<&str> = events.text.lines().filter(|line| line.starts_with("CALLING_CONTEXT_SAMPLE")).collect();
    assert_eq!(samples.len(), 10);
    assert!(
        samples[0].contains("compute") && samples[9].contains("force") && samples[0].contains("UNDEFINED"),
        "{samples:?}"
    );
    let Some(definitions) = otf2_print(&anchor, &["-G"]) else { return };
    let lines = |kind: &str| definitions.text.lines().filter(|line| line.starts_with(kind)).collect::<Vec<_>>();
    assert_eq!(lines("CALLING_CONTEXT_PROPERTY").len(), 2);
    assert!(lines("CALLING_CONTEXT_PROPERTY")[1].contains("128"), "{definitions:?}", definitions = definitions.text);
    assert_eq!(lines("INTERRUPT_GENERATOR").len(), 1);
}

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn shares_are_those_of_the_program_within_the_error_of_counting() {
    // Work of a random length in one of two functions, 30 of 100 ticks in `compute`, sampled every 400 ticks of it: as at 250 Hz, where work
    // takes about 1 ms a turn and is mostly shorter than that.
    let mut numbers = Numbers(7);
    let (mut time, mut worked, mut true_compute) = (0, 0, 0);
    let (mut turns, mut samples) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        turns.push((time, time + 20, 2, 1));
        time += 20;
        for (work, context) in [(2 * numbers.below(31), IN_COMPUTE), (2 * numbers.below(71), IN_FORCE)] {
            // Odd, so that none is between two pieces of work.
            let next = (worked + 199) / 400 * 400 + 201;
            if worked + work >= next {
                samples.push((time + next - worked, context));
            }
            true_compute += if context == IN_COMPUTE { work } else { 0 };
            time += work;
            worked += work;
        }
    }
    turns.push((time, time + 1, 2, 1));
    let count = samples.len() as f64;
    let trace = imported(&sampled(&CONTEXTS, with(calls(&turns), &samples), 400));
    let [compute, force] = ["compute", "force"].map(|it| own(&trace, it) as f64);
    assert_eq!((compute + force) as u64, worked, "all of it ran, {count} samples");
    let (share, truth) = (compute / (compute + force), true_compute as f64 / worked as f64);
    let deviation = (truth * (1.0 - truth) / count).sqrt();
    assert!((share - truth).abs() < 3.0 * deviation, "{share} is {truth} ± {deviation}");
    // It is what samples say, to a turn.
    let counted = samples.iter().filter(|it| it.1 == IN_COMPUTE).count() as f64 / count;
    assert!((share - counted).abs() * (worked as f64) < 200.0, "{share} {counted}");
}

/// Enters, exits and names of what has events.
fn recorded(trace: &Trace) -> Vec<(i64, i64, String)> {
    let is_recorded = |name: &str| ["MPI_", "solve", "step"].iter().any(|it| name.starts_with(it));
    let visits = trace.streams()[PeId(0)].visits.iter();
    let named = visits.map(|visit| {
        let path = name(trace, visit.path);
        let region = path.rsplit('/').next().and_then(|it| it.split('^').next()).unwrap_or_default().to_owned();
        (visit.enter.0, visit.exit.0, region)
    });
    named.filter(|(_, _, name)| is_recorded(name)).collect()
}

proptest! {
    #[test]
    fn time_is_neither_made_nor_lost(
        choices in proptest::collection::vec(any::<u8>(), 0..150),
        samples in proptest::collection::vec((any::<u8>(), any::<u8>(), 0..5_u32), 1..60),
        period in 1..50_u64,
    ) {
        let execution = Execution::of(&choices);
        let (begin, end) = (execution.events[0].0, execution.events.last().expect("shut-down").0);
        // Contexts of functions only, so that there is always one.
        let known = execution.contexts.iter().zip(0..).filter(|(it, _)| ![SEND, RECV].contains(&it.0));
        let known: Vec<u32> = known.map(|(_, context)| context).collect();
        let mut events = execution.events.clone();
        for (at, context, distance) in samples {
            let time = begin + (end - begin) * u64::from(at) / 255;
            let context = known[usize::from(context) % known.len()];
            let distance = if distance == 0 { UNKNOWN } else { distance };
            // After all events of its time: never before the first.
            let place = events.partition_point(|(other, _)| *other <= time);
            events.insert(place, sample(time, context, distance));
        }
        let is_event = |(_, event): &&(u64, Event<'static>)| !matches!(event, Event::CallingContextSample { .. });
        let bare = Program::new(&execution.contexts, vec![events.iter().filter(is_event).copied().collect()]);
        let trace = imported(&sampled(&execution.contexts, events, period));
        prop_assert_eq!(recorded(&trace), recorded(&imported(&bare)));
        let visits = &trace.streams()[PeId(0)].visits;
        let outermost = visits.iter().filter(|visit| !trace.paths().parent(visit.path).is_some());
        let covered: i64 = outermost.map(|visit| visit.duration().0).sum();
        prop_assert_eq!(covered, (end - begin) as i64);
        let repaired = [Code::BackwardTimes, Code::CrossingVisits, Code::UnorderedRecords];
        prop_assert!(!trace.quality().entries().iter().any(|it| repaired.contains(&it.code)), "{:?}", trace.quality());
    }
}
