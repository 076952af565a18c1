//! What is kept of slices for pictures, held against the run as a whole.

use partune_analysis::{Pattern, Waits};
use partune_base::{PeId, Time};
use partune_index::Index;
use partune_picture::{Bin, Detail, Fold, Kind, Sketch, View};
use partune_testkit::{builder, trace};
use partune_trace::{Slice, Trace, TraceBuilder};

/// Two turns of a program, the second one longer: PE 1 is late in both, and PE 0 leaves the first meeting later.
const TURNS: [&str; 2] = [
    "pe 0: work 0..30 MPI_Barrier 30..66 barrier
     pe 1: work 0..60 MPI_Barrier 60..64 barrier",
    "pe 0: work 66..100 MPI_Barrier 100..256 barrier
     pe 1: work 64..250 MPI_Barrier 250..256 barrier",
];
const BOTH: &str = "
     pe 0: work 0..30 MPI_Barrier 30..66 barrier work 66..100 MPI_Barrier 100..256 barrier
     pe 1: work 0..60 MPI_Barrier 60..64 barrier work 64..250 MPI_Barrier 250..256 barrier";

fn waits(trace: &Trace) -> Waits {
    Waits::find(trace, &Index::build(trace))
}

fn sketch(text: &str) -> Sketch {
    let trace = trace(text);
    Sketch::new(&trace, &Index::build(&trace), &waits(&trace))
}

fn in_two() -> Sketch {
    let mut number = 0;
    let [mut all, second] = TURNS.map(|text| {
        let slice = Slice { number, is_last: number == 1, ..Slice::default() };
        number += 1;
        let trace = TraceBuilder { slice: Some(slice), ..builder(text) }.seal();
        Sketch::new(&trace, &Index::build(&trace), &waits(&trace))
    });
    all.add(second);
    all
}

fn view(columns: usize) -> View {
    View { begin: Time(0), end: Time(256), columns }
}

#[test]
fn slices_have_the_bins_of_the_run() {
    let run = trace(BOTH);
    let detail = Detail::new(&run, &waits(&run));
    let fold = Fold::new(run.active_pes().collect(), 8);
    for columns in [1, 2, 16, 256] {
        let expected: Vec<Bin> = detail.tiles(&run, &waits(&run), &fold, view(columns)).bins().to_vec();
        assert!(expected.iter().any(|bin| bin.share(Kind::Wait) > 0.0));
        for sketch in [sketch(BOTH), in_two()] {
            assert_eq!(sketch.tiles(&fold, view(columns)).bins(), expected, "{columns}");
        }
    }
    for (begin, end) in [(0, 256), (10, 70), (255, 256)] {
        let expected = detail.times(&run, &waits(&run), PeId(0), Time(begin), Time(end));
        assert_eq!(in_two().times(PeId(0), Time(begin), Time(end)), expected);
    }
}

/// One part a tick at most, and the longest of those that begin in one.
#[test]
fn the_critical_path_is_that_of_the_run() {
    let told = |sketch: Sketch| -> Vec<(PeId, i64, i64)> {
        sketch.critical_path().iter().map(|(pe, from, to)| (*pe, from.0, to.0)).collect()
    };
    assert_eq!(told(sketch(BOTH)), [(PeId(1), 0, 250), (PeId(0), 250, 256)]);
    assert_eq!(told(in_two()), told(sketch(BOTH)));
}

/// A long run has stretches of more than a tick: what is in one is spread evenly, and their sums are exact.
#[test]
fn a_long_run_is_kept_by_stretches() {
    const TICKS: i64 = 1 << 20;
    let text = format!("pe 0: work 0..{0} MPI_Barrier {0}..{1} barrier", TICKS / 2 + 3, TICKS - 1);
    let (run, sketch) = (trace(&text), sketch(&text));
    let times = |begin, end| sketch.times(PeId(0), Time(begin), Time(end));
    let computed = Kind::Computation as usize;
    assert_eq!(times(0, TICKS - 1)[computed], TICKS / 2 + 3);
    // 4096 stretches of 256 ticks: in the one in the middle 3 ticks are work.
    assert_eq!(times(TICKS / 2, TICKS / 2 + 256)[computed], 3);
    assert_eq!(times(TICKS / 2, TICKS / 2 + 128)[computed], 1, "half of 3, rounded down");
    assert_eq!(times(TICKS / 2 + 256, TICKS)[computed], 0);
    let fold = Fold::new(run.active_pes().collect(), 1);
    let bins = sketch.tiles(&fold, View::whole(&run, 64));
    assert!(bins.bins().iter().all(|bin| bin.share(Kind::Idle) == 0.0), "the last stretch is no longer than the run");
}

#[test]
fn the_longest_waits_of_all_slices_come_first() {
    let found = in_two().longest_of_all();
    let told: Vec<_> = found.iter().map(|(pattern, _, wait)| (*pattern, wait.pe, wait.begin.0, wait.end.0)).collect();
    assert_eq!(told, [(Pattern::WaitAtBarrier, PeId(0), 100, 250), (Pattern::WaitAtBarrier, PeId(0), 30, 60)]);
    let (pattern, path, longest) = found[0];
    assert_eq!(in_two().longest(pattern, std::iter::once(path), 1), [(path, longest)]);
    let cause = longest.cause.expect("it is known who came last");
    assert_eq!((longest.cause_pe, cause.1, cause.2), (PeId(1), Time(250), Time(256)));
    let waited: i64 = in_two().of_pe(PeId(0)).iter().map(|(_, done)| done.waited.0).sum();
    assert_eq!(waited, 180);
}
