//! Priorities, pipelining and combining: numbers worked out by hand, and where nothing is advised.

use partune_base::Table;
use partune_objects::combine::{self, combining};
use partune_objects::graph::{ArrayId, EventGraph, ExecutionId, Kind, ObjectId, TypeId};
use partune_objects::pipeline::{self, Degree, Stages, in_pieces, pipelining};
use partune_objects::priority::{CriticalPath, Options, levels, ranking};
use partune_objects::programs::{ELEMENT, MACHINE, Program, collect, gauss};
use partune_objects::simulate::{Combine, Machine, Plan, simulate};

use super::support::{NEAR, random};

/// `a` (5) sends `c` (4) a message that takes 2; `b` (3) one of another type that takes 1.
#[test]
fn slack_is_what_is_not_needed() {
    let mut program = Program::default();
    let (_, objects) = program.array(&[3]);
    let runs: Vec<_> =
        [5, 3, 4].iter().zip(&objects).map(|(&work, &object)| program.execution(object, 0, work)).collect();
    program.send(runs[0], runs[2], Kind::Message, 0, 8);
    program.send(runs[1], runs[2], Kind::Message, 1, 8);
    let graph = program.seal().unwrap();
    let path = CriticalPath::new(&graph, |id| 2 - i64::from(id.0));
    assert_eq!(path.length, 5 + 2 + 4);
    assert_eq!(path.begin.as_slice(), [0, 0, 7]);
    assert_eq!(path.tail.as_slice(), [11, 8, 4]);
    assert_eq!(runs.iter().map(|&run| path.slack(run)).collect::<Vec<_>>(), [0, 3, 0]);
    let found = levels(&graph, &path, &Options::default());
    let told: Vec<_> = found.iter().map(|it| (it.message_type.0, it.level, it.score)).collect();
    assert_eq!(told, [(0, 0, 1.0), (1, 1, -1.0)]);
}

#[test]
fn one_type_of_messages_has_no_levels() {
    let graph = gauss(8, 10, 1).unwrap();
    assert_eq!(levels(&graph, &CriticalPath::new(&graph, |_| 5), &Options::default()), []);
}

/// Rows are urgent in their order, whatever a message costs: where it costs next to nothing, all updates are critical.
#[test]
fn rows_of_an_elimination_are_urgent_in_order() {
    for (rows, cost) in [(24, 1), (24, 100), (24, 100_000), (150, 5_000)] {
        let graph = gauss(rows, ELEMENT, 1).unwrap();
        let path = CriticalPath::new(&graph, |id| if graph.messages().kind[id] == Kind::Dependence { 0 } else { cost });
        let found = ranking(&graph, ArrayId(0), &path, &Options::default());
        let line = found.line.unwrap();
        assert!(
            (line.slopes[0] - 1.0).abs() < 1e-9 && line.offset.abs() < 1e-9 && line.r2 > 0.999_999,
            "{cost}: {line:?}"
        );
        assert_eq!(found.ranks.len(), rows as usize);
    }
}

#[test]
fn what_is_not_linear_gets_no_line() {
    let graph = random(40, 400, 400, 5);
    let found = ranking(&graph, ArrayId(0), &CriticalPath::new(&graph, |_| 1), &Options::default());
    assert_eq!(found.line, None);
    assert!(!found.ranks.is_empty());
}

/// `c = r = 100` and `o = 1`: `k = √(100 / 1)`, three stages of 11, 0 and 11, and nine more times 11.
#[test]
fn the_degree_of_a_pipeline_is_a_root() {
    let stages = Stages { sender: 100.0, receiver: 100.0, transfer: 0.0, overhead: 1.0, latency: 0.0 };
    let options = pipeline::Options::default();
    assert_eq!(stages.degree(&options), Some(Degree { pieces: 10, whole: 202.0, pieced: 121.0 }));
    // The wire is longest: k = √(200 / 4), of which 7 pieces take 34.86 + 60.57 · 6 and 8 take 83.5 + 54.5 · 7.
    let wire = Stages { transfer: 396.0, latency: 4.0, ..stages };
    let degree = wire.degree(&options).unwrap();
    assert_eq!(degree.pieces, 7);
    assert!((degree.pieced - (100.0 / 7.0 * 2.0 + 2.0 + 7.0 * (396.0 / 7.0 + 4.0))).abs() < 1e-9);
    let limited = stages.degree(&pipeline::Options { most: 4, ..options }).unwrap();
    assert_eq!(limited, Degree { pieces: 4, whole: 202.0, pieced: 130.0 });
    let free = Stages { overhead: 0.0, ..stages }.degree(&options).unwrap();
    assert_eq!(free.pieces, 64, "as many as there may be");
    // 100 with 10: 220 in one piece, 180 in two; 20 with 10: 60 and 60; below 5 % nothing is said.
    assert!(Stages { overhead: 10.0, ..stages }.degree(&options).is_some());
    assert_eq!(Stages { sender: 20.0, receiver: 20.0, overhead: 10.0, ..stages }.degree(&options), None);
    assert_eq!(Stages { sender: 100.0, receiver: 2.0, ..stages }.degree(&options), None);
}

/// Strips in a row, each of which works and then tells the next.
fn strips(count: u32, work: i64) -> EventGraph {
    let mut program = Program::default();
    let (_, objects) = program.array(&[count]);
    let runs: Vec<_> = objects.iter().map(|&object| program.execution(object, 0, work)).collect();
    runs.windows(2).for_each(|pair| program.send(pair[0], pair[1], Kind::Message, 0, 800));
    program.seal().unwrap()
}

#[test]
fn a_row_of_strips_is_pipelined() {
    let machine = Machine { send: 10, receive: 10, ..NEAR };
    let graph = strips(8, 10_000);
    let plan = Plan { pes: 8, placement: Some((0..8).collect()), ..Plan::default() };
    let whole = simulate(&graph, &machine, &plan).unwrap();
    assert_eq!(whole.makespan, 8 * 10_000 + 7 * 21);
    let recorded = whole.retimed(&graph).unwrap();
    let found = pipelining(&recorded, &machine, &pipeline::Options::default());
    assert_eq!((found.len(), found[0].message_type, found[0].messages), (1, TypeId(0), 7));
    // √((10 010 + 10 010 + 0 - 10 010) / 10) = 31.6, the sender's work being recorded with what sending took.
    assert!((31..=32).contains(&found[0].degree.pieces), "{:?}", found[0].degree);
    let pieces = found[0].degree.pieces;
    let pieced = in_pieces(&graph, TypeId(0), pieces).unwrap();
    assert_eq!(pieced.messages().kind.iter().filter(|&&kind| kind == Kind::Message).count(), 7 * pieces as usize);
    assert_eq!(pieced.loads(), graph.loads());
    let sum = |graph: &EventGraph| graph.messages().bytes.iter().sum::<u64>();
    assert_eq!(sum(&pieced), sum(&graph));
    let after = simulate(&pieced, &machine, &plan).unwrap().makespan;
    assert!(after * 5 < whole.makespan, "{after} and {}", whole.makespan);
    // All on one PE: nothing to overlap.
    assert_eq!(pipelining(&graph, &machine, &pipeline::Options::default()), []);
}

#[test]
fn what_is_sent_before_anything_is_looked_at_is_combined() {
    let graph = collect(64).unwrap();
    let placement: Table<ObjectId, u32> = (0..65_u32).map(|id| id.saturating_sub(1) / 8).collect();
    let plan = Plan { pes: 8, placement: Some(placement), ..Plan::default() };
    let recorded = simulate(&graph, &MACHINE, &plan).unwrap().retimed(&graph).unwrap();
    let found = combining(&recorded, &MACHINE, &combine::Options::default());
    assert_eq!(found.len(), 1);
    let found = found[0];
    assert_eq!((found.message_type, found.groups, found.messages, found.count), (TypeId(0), 7, 56, 8));
    // 50 µs of work and 203.2 µs of sending lie between two of them; each group's last value is critical, so what its first one waits is lost.
    let gap = 253_200;
    assert_eq!(found.timeout, 3 * 7 * gap / 2);
    assert!((found.gain - 7.0 * (7.0 * 396_000.0 - 7.0 * gap as f64)).abs() < 1.0, "{}", found.gain);
    let combine = Combine { message_type: TypeId(0), count: found.count as u32, timeout: found.timeout };
    let after = simulate(&graph, &MACHINE, &Plan { combining: vec![combine], ..plan.clone() }).unwrap();
    let before = simulate(&graph, &MACHINE, &plan).unwrap();
    assert_eq!((before.carried, after.carried), (56, 7));
    assert!(before.makespan - after.makespan > 40 * MACHINE.receive);
}

/// Each value is looked at when it comes, before the next one is sent; or there are only three of them.
#[test]
fn what_is_looked_at_in_between_is_not_combined() {
    let program = |values: u32, each: bool| {
        let mut program = Program::default();
        let (_, main) = program.array(&[]);
        let (_, objects) = program.array(&[values]);
        let all = program.execution(main[0], 1, 10);
        let mut before: Option<ExecutionId> = None;
        for object in objects {
            let value = program.execution(object, 0, 1_000_000);
            before.into_iter().for_each(|before| program.send(before, value, Kind::Dependence, 1, 0));
            let looked_at = if each { program.execution(main[0], 1, 10) } else { all };
            program.send(value, looked_at, Kind::Message, 0, 8);
            before = Some(value);
        }
        let graph = program.seal().unwrap();
        let placement = graph.objects().ids().map(|id| u32::from(id.0 > 0)).collect();
        let plan = Plan { pes: 2, placement: Some(placement), ..Plan::default() };
        let recorded = simulate(&graph, &MACHINE, &plan).unwrap().retimed(&graph).unwrap();
        let patient = combine::Options { least: 4, ..combine::Options::default() };
        combining(&recorded, &Machine { receive: 5_000_000, ..MACHINE }, &patient).len()
    };
    assert_eq!(program(12, true), 0);
    assert_eq!(program(3, false), 0);
    assert_eq!(program(12, false), 1);
}
