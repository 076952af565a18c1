//! Random traces, long enough for several rungs of every ladder: tiles are what a count tick by tick says.

use std::fmt::Write;

use partune_analysis::Waits;
use partune_base::{PeId, Time};
use partune_index::Index;
use partune_picture::{Detail, Fold, Kind, View};
use partune_trace::{PeKind, Trace};
use proptest::prelude::*;

/// What one thread does next: nothing, work, an operation, an operation inside of a function.
type Step = (u8, u8, u8);

/// A rank that meets its neighbour in barriers, and two threads of it.
fn text(ranks: &[Vec<Step>; 2], threads: &[Vec<Step>; 2]) -> String {
    let mut text = String::new();
    for (rank, steps) in ranks.iter().enumerate() {
        let _ = write!(text, "pe {rank}: main 0..4000 {{ ");
        write_steps(&mut text, steps, 3900, "MPI_Wait", "MPI_File_write");
        let arrival = 3900 + rank * 40;
        let _ = writeln!(text, "MPI_Barrier {arrival}..3960 barrier }}");
    }
    for (thread, steps) in threads.iter().enumerate() {
        let _ = write!(text, "pe 0.{}: ", thread + 1);
        write_steps(&mut text, steps, 4000, "\"!$omp taskwait\"", "MPI_Wait");
        text.push('\n');
    }
    text
}

fn write_steps(text: &mut String, steps: &[Step], limit: u32, one: &str, other: &str) {
    let mut at = 1;
    for (what, gap, length) in steps {
        let begin = at + u32::from(*gap);
        let end = begin + u32::from(*length);
        if end >= limit {
            break;
        }
        let _ = match what % 4 {
            0 => write!(text, "work {begin}..{end} "),
            1 => write!(text, "{one} {begin}..{end} "),
            2 => write!(text, "{other} {begin}..{end} "),
            _ => write!(text, "call {begin}..{end} {{ {one} {begin}..{} }} ", begin + u32::from(*length) / 2),
        };
        at = end;
    }
}

/// What a PE does at each tick of the run, and whether it waits.
fn ticks(trace: &Trace, waits: &Waits, pe: PeId) -> Vec<(Kind, bool)> {
    let mut ticks = vec![(Kind::Idle, false); trace.duration().0 as usize];
    let at = |time: Time| (time - trace.begin()).0 as usize;
    let stream = &trace.streams()[pe];
    if trace.pes()[pe].thread == 0 && trace.pes()[pe].kind == PeKind::Cpu {
        let (begin, end) = (stream.begin().expect("it has events"), stream.end().expect("it has events"));
        ticks[at(begin)..at(end)].iter_mut().for_each(|tick| tick.0 = Kind::Computation);
    }
    for visit in stream.visits.iter() {
        ticks[at(visit.enter)..at(visit.exit)].iter_mut().for_each(|tick| tick.0 = Kind::Computation);
    }
    for visit in &stream.operations {
        let kind = Kind::of(trace.role_of(pe, *visit));
        let visit = trace.visit(pe, *visit);
        ticks[at(visit.enter)..at(visit.exit)].iter_mut().for_each(|tick| tick.0 = kind);
    }
    for wait in waits.of_pe(pe).iter().chain(waits.management_of_pe(pe)) {
        ticks[at(wait.begin)..at(wait.end)].iter_mut().for_each(|tick| tick.1 = true);
    }
    ticks
}

/// Ticks of each kind in a part of a run.
fn count(ticks: &[(Kind, bool)]) -> [i64; Kind::COUNT] {
    let mut sums = [0; Kind::COUNT];
    for (kind, waiting) in ticks {
        sums[*kind as usize] += 1;
        sums[Kind::Wait as usize] += i64::from(*waiting);
    }
    sums
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((any::<u8>(), 0u8..12, 0u8..16), 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn tiles_are_what_a_count_says(
        ranks in [steps(), steps()],
        threads in [steps(), steps()],
        view in (0i64..4000, 1i64..4000, 1usize..200),
        rows in 1usize..5,
    ) {
        let trace = partune_testkit::trace(&text(&ranks, &threads));
        let waits = Waits::find(&trace, &Index::build(&trace));
        let detail = Detail::new(&trace, &waits);
        let begin = Time(view.0).min(trace.end());
        let end = Time(view.0 + view.1).min(trace.end());
        let view = View { begin, end, columns: view.2 };
        let pes: Vec<PeId> = trace.active_pes().collect();
        let counts: Vec<_> = pes.iter().map(|pe| ticks(&trace, &waits, *pe)).collect();
        let range = |begin: Time, end: Time| (begin - trace.begin()).0 as usize..(end - trace.begin()).0 as usize;

        // One PE in any interval, to the tick.
        for (pe, ticks) in pes.iter().zip(&counts) {
            prop_assert_eq!(detail.times(&trace, &waits, *pe, begin, end), count(&ticks[range(begin, end)]));
        }
        // Bins, folded or not.
        let fold = Fold::new(pes.clone(), rows);
        let tiles = detail.tiles(&trace, &waits, &fold, view);
        for (row, (bins, members)) in tiles.rows().zip(fold.rows()).enumerate() {
            let mut sums = [0.0f64; Kind::COUNT];
            for (column, bin) in bins.iter().enumerate() {
                let (from, to) = (view.edge(column), view.edge(column + 1));
                let mut expected = [0; Kind::COUNT];
                for pe in members {
                    let at = pes.iter().position(|it| it == pe).unwrap();
                    let counted = count(&counts[at][range(from, to)]);
                    expected.iter_mut().zip(counted).for_each(|(sum, ticks)| *sum += ticks);
                }
                let all = (to - from).0 as f64 * members.len() as f64;
                for kind in 0..Kind::COUNT {
                    let share = f64::from(bin.shares[kind]);
                    prop_assert!((share * all - expected[kind] as f64).abs() < 1e-2, "row {row} column {column} kind {kind}");
                    sums[kind] += share * all;
                }
                let whole: f32 = bin.shares[..=Kind::Idle as usize].iter().sum();
                prop_assert!(all == 0.0 || (whole - 1.0).abs() < 1e-5, "kinds make up the whole: {whole}");
            }
            // Nothing is lost between columns.
            let mut expected = [0; Kind::COUNT];
            for pe in members {
                let times = detail.times(&trace, &waits, *pe, begin, end);
                expected.iter_mut().zip(times).for_each(|(sum, ticks)| *sum += ticks);
            }
            for (sum, expected) in sums.iter().zip(expected) {
                prop_assert!((sum - expected as f64).abs() < 0.5);
            }
        }
    }
}
