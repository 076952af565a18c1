//! Random traces, long enough for several rungs of every ladder: tiles are what a count tick by tick says.

use std::fmt::Write;

use partune_analysis::Waits;
use partune_base::{PeId, RegionId, Time};
use partune_index::Index;
use partune_picture::{Content, Contents, Detail, Fold, Functions, Kind, Stacks, View};
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
    for wait in waits.of_pe(pe).iter().chain(waits.start_up_of_pe(pe)) {
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

/// What is in an interval, by function: ticks in it and in it alone, and visits; from a look at every tick and every visit.
fn by_function(trace: &Trace, pes: &[PeId], (begin, end): (Time, Time)) -> Vec<(RegionId, i64, i64, u64)> {
    let mut sums = vec![(0, 0, 0); trace.regions().len() + 1];
    let outside = trace.regions().len();
    for pe in pes {
        let stream = &trace.streams()[*pe];
        let region = |path| trace.paths().region(path).0 as usize;
        for tick in begin.0..end.0 {
            let open = stream.visits.iter().filter(|visit| visit.enter.0 <= tick && tick < visit.exit.0);
            let open: Vec<usize> = open.map(|visit| region(visit.path)).collect();
            let mut seen = open.clone();
            seen.sort_unstable();
            seen.dedup();
            seen.into_iter().for_each(|region| sums[region].0 += 1);
            let present = (stream.begin().unwrap_or_default().0..stream.end().unwrap_or_default().0).contains(&tick);
            match open.last() {
                Some(innermost) => sums[*innermost].1 += 1,
                None if present && trace.pes()[*pe].thread == 0 => {
                    sums[outside].0 += 1;
                    sums[outside].1 += 1;
                }
                None => {}
            }
        }
        let last = end == trace.end();
        let is_in = |enter: Time, exit: Time| (enter < end || last) && (exit > begin || enter >= begin);
        stream.visits.iter().filter(|visit| is_in(visit.enter, visit.exit)).for_each(|it| sums[region(it.path)].2 += 1);
    }
    let id = |at: usize| if at == outside { RegionId::NONE } else { RegionId(at as u32) };
    let rows =
        sums.into_iter().enumerate().map(|(at, (inclusive, exclusive, visits))| (id(at), inclusive, exclusive, visits));
    rows.filter(|row| row.3 > 0 || (row.0 == RegionId::NONE && row.1 > 0)).collect()
}

fn content(trace: &Trace, waits: &Waits, pes: &[PeId], (begin, end): (Time, Time)) -> Content {
    let detail = Detail::new(trace, waits);
    let times: Vec<_> = pes.iter().map(|pe| detail.times(trace, waits, *pe, begin, end)).collect();
    Contents::new(trace, waits).within((trace, waits, &Stacks::new(trace)), pes, &times, (begin, end), None)
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

    /// Bins by function have the exclusive times of selections, which are counted in another way.
    #[test]
    fn tiles_by_function_are_selections(
        ranks in [steps(), steps()],
        threads in [steps(), steps()],
        view in (0i64..4000, 1i64..4000, 1usize..8),
        rows in 1usize..5,
        apart in 0usize..5,
    ) {
        let trace = partune_testkit::trace(&text(&ranks, &threads));
        let waits = Waits::find(&trace, &Index::build(&trace));
        let begin = Time(view.0).min(trace.end());
        let end = Time(view.0 + view.1).min(trace.end());
        let view = View { begin, end, columns: view.2 };
        let functions = Functions::new(&trace, trace.regions().ids().take(apart));
        let fold = Fold::new(trace.active_pes().collect(), rows);
        let tiles = functions.tiles(&trace, &Stacks::new(&trace), &fold, view);
        for (bins, members) in tiles.chunks(view.columns).zip(fold.rows()) {
            for (column, bin) in bins.iter().enumerate() {
                let (from, to) = (view.edge(column), view.edge(column + 1));
                if from == to {
                    prop_assert!(bin.iter().all(|share| *share == 0.0));
                    continue;
                }
                let mut expected = [0i64; 1 + Functions::MOST];
                for row in content(&trace, &waits, members, (from, to)).functions.iter().filter(|row| row.region.is_some()) {
                    let class = functions.regions().iter().position(|region| *region == row.region);
                    expected[class.unwrap_or(Functions::MOST)] += row.exclusive.0;
                }
                let all = (to - from).0 as f64 * members.len() as f64;
                for (share, expected) in bin.iter().zip(expected) {
                    prop_assert!((f64::from(*share) * all - expected as f64).abs() < 1e-2, "column {column}: {share} of {all}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn selections_are_what_a_count_says(
        ranks in [steps(), steps()],
        threads in [steps(), steps()],
        part in (0i64..4000, 1i64..1500),
        some in 1usize..5,
    ) {
        let trace = partune_testkit::trace(&text(&ranks, &threads));
        let waits = Waits::find(&trace, &Index::build(&trace));
        let pes: Vec<PeId> = trace.active_pes().take(some).collect();
        let begin = Time(part.0).min(trace.end());
        let end = Time(part.0 + part.1).min(trace.end());
        let found = content(&trace, &waits, &pes, (begin, end));

        let mut functions: Vec<(RegionId, i64, i64, u64)> =
            found.functions.iter().map(|it| (it.region, it.inclusive.0, it.exclusive.0, it.visits)).collect();
        functions.sort_unstable();
        let mut expected = by_function(&trace, &pes, (begin, end));
        expected.sort_unstable();
        prop_assert_eq!(functions, expected.clone());

        let visits: u64 = expected.iter().map(|row| row.3).sum();
        prop_assert_eq!(found.durations.iter().map(|it| it.count).sum::<u64>(), visits);
        let clipped = |wait: &partune_analysis::Wait| wait.end.min(end).since(wait.begin.max(begin)).0;
        let inside = pes.iter().flat_map(|pe| waits.of_pe(*pe)).filter(|wait| wait.end > begin && wait.begin < end);
        let (count, ticks) = inside.fold((0, 0), |(count, ticks), wait| (count + 1, ticks + clipped(wait)));
        let waited = found.waits.iter().fold((0, 0), |(count, ticks), it| (count + it.count, ticks + it.time.0));
        prop_assert_eq!(waited, (count, ticks));
    }
}
