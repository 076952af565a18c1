//! Messages that leave when the method ends that sent them, or at once: what they take on the way is told from when they left.

use std::fmt::Write;
use std::path::Path;

use partune_analysis::{ObjectRun, object_run};
use partune_engine::inside;
use partune_objects::graph::Kind;
use partune_objects::recorded::Recorded;

const STS: &str = "PROJECTIONS_ID\nVERSION 11.0\nTOTAL_PHASES 1\nMACHINE \"test\"\nPROCESSORS 2\nTOTAL_CHARES 1\nTOTAL_EPS 1\n\
    CHARE 1 \"Row\" 1\nENTRY CHARE 1 \"step()\" 1 0\nEND\n";

/// In microseconds: what a method does, and what its message takes on the way.
const WORK: i64 = 10_000;
const WAY: i64 = 300;

/// Two rows, each on a PE, tell each other in turn, by a message that is sent when its method has done so much, and leaves when it has done more.
fn run(folder: &Path, turns: i64, (sends, leaves): (i64, i64)) -> ObjectRun {
    let mut logs = ["6 0\n14 1 0\n", "6 0\n14 1 1\n"].map(str::to_owned);
    let mut begin = 50;
    for turn in 0..turns {
        let pe = (turn % 2) as usize;
        let (log, end) = (&mut logs[pe], begin + WORK);
        let (cause, by) = if turn == 0 { (-1, -1) } else { (turn, 1 - turn % 2) };
        writeln!(log, "15 {begin} {pe}\n2 0 1 {begin} {cause} {by} 8 0 {pe} {begin}").unwrap();
        writeln!(log, "1 0 1 {} {} {pe} 8 0", begin + sends, turn + 1).unwrap();
        writeln!(log, "3 0 1 {end} {cause} {pe} 0 {end}\n14 {end} {pe}").unwrap();
        begin += leaves + WAY;
    }
    std::fs::write(folder.join("app.sts"), STS).unwrap();
    for (pe, log) in logs.iter().enumerate() {
        let text = format!("PROJECTIONS-RECORD 0\n{log}7 {}\n", begin + 2 * WORK);
        std::fs::write(folder.join(format!("app.{pe}.log")), text).unwrap();
    }
    object_run(&inside::read(folder, &()).unwrap()).unwrap()
}

/// After how much of its method each message leaves, and what it takes then; in ticks, which are microseconds.
fn told(run: &ObjectRun) -> Vec<(i64, i64)> {
    let recorded = Recorded::new(&run.graph, &run.known).unwrap();
    let travel = recorded.plan(None).travel.unwrap();
    let messages = run.graph.messages();
    let all = messages.kind.ids().filter(|id| messages.kind[*id] == Kind::Message);
    all.map(|id| (run.graph.offset(id), travel[id])).collect()
}

#[test]
fn what_leaves_at_the_end_of_its_method_is_on_the_way_from_there() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(told(&run(folder.path(), 12, (100, WORK))), [(WORK, WAY); 11]);
    // Fewer say nothing.
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(told(&run(folder.path(), 6, (100, WORK))), [(100, WAY + WORK - 100); 5]);
}

#[test]
fn what_leaves_at_once_is_on_the_way_from_its_sending() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(told(&run(folder.path(), 12, (6_000, 6_000))), [(6_000, WAY); 11]);
}
