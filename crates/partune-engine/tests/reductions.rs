//! Reductions from logs that tell each contribution, to the replay and to hints: who gets the result waits for all, be they where they are or elsewhere.

use std::fmt::Write;
use std::path::Path;

use partune_analysis::object_run;
use partune_base::Table;
use partune_engine::{Hinted, hints, inside, open};
use partune_objects::graph::{EventGraph, Kind, ObjectId};
use partune_objects::phases::{self, phases};
use partune_objects::recorded::Recorded;

const STS: &str = "PROJECTIONS_ID\nVERSION 11.0\nTOTAL_PHASES 1\nMACHINE \"test\"\nPROCESSORS 2\nTOTAL_CHARES 2\nTOTAL_EPS 3\n\
    CHARE 0 \"Main\" -1\nCHARE 1 \"Row\" 1\nENTRY CHARE 0 \"main()\" 0 0\nENTRY CHARE 1 \"step(int sum)\" 1 0\nENTRY CHARE 2 \"done(int sum)\" 0 0\nEND\n";

/// What a result takes on its way.
const WAY: i64 = 300;

/// Writes logs of two PEs, the first with so many of the rows. Main tells all rows to work; the sum of what they then contribute tells them again, and that of the last step goes to main.
/// Times are in microseconds.
fn write(folder: &Path, rows: std::ops::Range<i64>, first: i64, steps: i64, work: impl Fn(i64, i64) -> i64) {
    let mut logs = ["6 0\n", "6 0\n"].map(str::to_owned);
    logs[0] += "2 0 0 10 -1 0 0 0 0 0 0 0 10\n20 0 1 15 1 0 8 0 2\n3 0 0 20 -1 0 0 20\n";
    let mut begin = 200;
    let mut free = [20, 5];
    for step in 0..steps {
        for (pe, log) in logs.iter_mut().enumerate() {
            writeln!(log, "14 {} {pe}\n15 {begin} {pe}", free[pe]).unwrap();
            free[pe] = begin;
            for row in rows.clone().filter(|row| usize::from(*row >= first) == pe) {
                let end = free[pe] + work(row, step);
                let (event, source) = if step == 0 { (1, 0) } else { (-1, -1) };
                writeln!(log, "2 0 1 {} {event} {source} 8 0 {row} {}", free[pe], free[pe]).unwrap();
                if step > 0 {
                    writeln!(log, "201 5 99 {step}").unwrap();
                }
                let (entry, to_all, target) = if step + 1 == steps { (2, 0, 77) } else { (1, 1, 99) };
                let number = 2 + step * 100 + row;
                writeln!(log, "200 0 {entry} {} {number} {pe} 8 1 {to_all} 7 {step} {target}", end - 2).unwrap();
                writeln!(log, "3 0 1 {end} {event} {pe} 0 {end}").unwrap();
                free[pe] = end;
            }
        }
        begin = free[0].max(free[1]) + WAY;
    }
    writeln!(logs[0], "14 {} 0\n15 {begin} 0\n2 0 2 {begin} -1 -1 8 0 0 0 0 0 {begin}\n201 77 6 {steps}", free[0])
        .unwrap();
    writeln!(logs[0], "3 0 2 {} -1 0 0 {begin}", begin + 10).unwrap();
    std::fs::write(folder.join("app.sts"), STS).unwrap();
    for (pe, log) in logs.iter().enumerate() {
        let text = format!("PROJECTIONS-RECORD 0\n{log}7 {}\n", begin + 20);
        std::fs::write(folder.join(format!("app.{pe}.log")), text).unwrap();
    }
}

fn of(folder: &Path) -> Hinted {
    hints(open(folder, &()).unwrap(), None, "app", &()).unwrap()
}

/// The graph's object of a row, the one that waits for all, and that of main.
fn objects(graph: &EventGraph) -> (impl Fn(i32) -> ObjectId + '_, ObjectId) {
    let row = |at: i32| {
        let all = graph.objects().iter_ids();
        all.filter(|(_, it)| graph.arrays()[it.array] == 1).find(|(_, it)| it.at[0] == at).unwrap().0
    };
    let of_join = |id: &ObjectId| graph.executed_by(*id).any(|it| graph.needed_by(it).len() > 1);
    (row, graph.objects().ids().find(of_join).unwrap())
}

/// Rows 0 and 1 work 10 ms each on PE 0, row 2 works 30 and then row 3 one on PE 1: row 3 is the last, and row 2 is why all wait.
#[test]
fn a_result_waits_for_all_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..4, 2, 1, |row, _| [10_000, 10_000, 30_000, 1_000][row as usize]);
    let run = object_run(&inside::read(folder.path(), &()).unwrap()).unwrap();
    let (row, join) = objects(&run.graph);
    let sum = run.graph.executed_by(join).next().unwrap();
    assert_eq!((run.graph.needed_by(sum).len(), run.graph.duration(sum)), (4, 0));
    let recorded = Recorded::new(&run.graph, &run.known).unwrap();
    let begin = recorded.graph.span().0;
    let done = run.graph.sent_by(sum).next().unwrap();
    assert_eq!((run.graph.sent_by(sum).len(), run.graph.messages().kind[done]), (1, Kind::Message));
    let done = run.graph.messages().destination[done];
    let homes = recorded.homes();
    let under = |moved: &[(i32, u32)]| {
        let mut placement: Table<ObjectId, u32> = homes.clone();
        moved.iter().for_each(|&(at, pe)| placement[row(at)] = pe);
        (recorded.under(&recorded.plan(Some(placement))).unwrap().begin[done] + begin) as f64 / 1000.0
    };
    let near = |moved: &[(i32, u32)], expected: f64| {
        let told = under(moved);
        assert!((told - expected).abs() < 0.1, "{moved:?}: {told} ms, not {expected}");
    };
    near(&[], 31.5);
    // The one that was last is early now, and the slowest is still waited for.
    near(&[(3, 0)], 30.5);
    near(&[(0, 1)], 41.5);
    near(&[(0, 1), (1, 1), (2, 0)], 30.5);
}

/// Who is last differs from step to step, and from one row to the other by noise: nothing to be placed, and a phase begins with main and with each of the twelve sums.
#[test]
fn even_work_with_a_sum_in_each_step_gets_no_hint() {
    for seed in 1..4 {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0..8, 4, 12, |row, step| 20_000 + (row * 37 + step * 101 + seed * 53) * seed % 400);
        let found = of(folder.path()).objects.unwrap();
        assert!(found.file.is_empty(), "{:?}", found.tried);
        let told = found.file.phases.as_ref().unwrap();
        assert_eq!((told.kind.as_str(), told.varying), ("synchronous", false));
        let run = object_run(&inside::read(folder.path(), &()).unwrap()).unwrap();
        assert_eq!(phases(&run.graph, &phases::Options::default()).unwrap().count, 13);
        assert!(found.off < 0.01, "{}", found.off);
    }
}

/// Rows of the second PE work three times as long: in turn, a step takes 160 ms and not 240.
#[test]
fn uneven_work_with_a_sum_in_each_step_is_placed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..8, 4, 6, |row, _| if row < 4 { 20_000 } else { 60_000 });
    let found = of(folder.path()).objects.unwrap();
    let [place] = found.file.place.as_slice() else { panic!("one array: {:?}", found.tried) };
    assert_eq!(place.array, "Row");
    assert!((found.hinted_s - 6.0 * 0.16).abs() < 0.01, "{}", found.hinted_s);
}
