//! Phases, locality and creation: programs of known form, and others that have none.

use partune_base::PeId;
use partune_objects::creation::{self, Times, creation};
use partune_objects::graph::{ArrayId, Builder, EventGraph, ExecutionId, Kind, MethodId, TypeId};
use partune_objects::interaction::{Interaction, Weight};
use partune_objects::locality::{self, Class, locality};
use partune_objects::phases::{self, Activity, Options, phases};
use partune_objects::programs::{Program, factorial, gauss, relaxation};

use super::support::{execution, message, random, synchronous};

#[test]
fn a_master_that_waits_for_all_synchronises() {
    let graph = synchronous(16, 5);
    let found = phases(&graph, &Options::default()).unwrap();
    assert_eq!((found.kind, found.count, found.evidence), (phases::Kind::Synchronous, 6, 0.0));
    let masters: Vec<_> = graph.executed_by(partune_objects::graph::ObjectId(0)).collect();
    assert_eq!(found.starts, masters);
    let activity = Activity::new(&graph, &found);
    assert_eq!(activity.phases.iter().map(Vec::len).collect::<Vec<_>>(), [17, 17, 17, 17, 17, 1]);
    assert!(!activity.is_varying(&Options::default()), "the last phase is the master's alone, and next to nothing");
}

/// One message past all synchronisations is 1 of 321 edges; creations may, a ring around them may not.
#[test]
fn few_edges_may_jump_over_a_synchronisation() {
    let mut made = synchronous(32, 5).into_builder();
    let last = ExecutionId(33 * 5);
    message(&mut made, (ExecutionId(0), last), Kind::Creation, 1, 1);
    let found = phases(&made.clone().seal().unwrap(), &Options::default()).unwrap();
    assert_eq!((found.kind, found.evidence), (phases::Kind::Synchronous, 1.0));
    for _ in 0..4 {
        message(&mut made, (ExecutionId(0), last), Kind::Message, 1, 1);
    }
    let found = phases(&made.seal().unwrap(), &Options::default());
    assert!(found.is_none_or(|found| found.kind != phases::Kind::Synchronous));
}

/// Objects that go on where they were, and wait in each step for the sum of what some contributed; `told`: a master gets it, and tells them.
fn summing(steps: u32, contributes: impl Fn(usize) -> bool, told: bool) -> EventGraph {
    let mut program = Program::default();
    let (_, single) = program.array(&[]);
    let (_, master) = program.array(&[]);
    let (_, objects) = program.array(&[16]);
    let mut before: Vec<ExecutionId> = Vec::new();
    for _ in 0..steps {
        let now: Vec<_> = objects.iter().map(|&object| program.execution(object, 0, 10)).collect();
        if !before.is_empty() {
            let sum = program.execution(single[0], 1, 0);
            let result = if told { program.execution(master[0], 2, 1) } else { sum };
            if told {
                program.send(sum, result, Kind::Message, 0, 8);
            }
            for (at, (&from, &to)) in before.iter().zip(&now).enumerate() {
                if contributes(at) {
                    program.send(from, sum, Kind::Dependence, 0, 0);
                }
                program.send(from, to, Kind::Dependence, 0, 0);
                program.send(result, to, Kind::Message, 1, 8);
            }
        }
        before = now;
    }
    program.seal().unwrap()
}

/// What objects do next with what they know is no way around a sum that they contributed to and wait for; it is one around the sum of others.
#[test]
fn a_sum_of_all_synchronises() {
    for told in [false, true] {
        let graph = summing(6, |_| true, told);
        let found = phases(&graph, &Options::default()).unwrap();
        assert_eq!((found.kind, found.count, found.evidence), (phases::Kind::Synchronous, 5, 0.0));
        let method = |id: &ExecutionId| graph.executions().method[*id];
        assert!(found.starts.iter().all(|id| method(id) == MethodId(if told { 2 } else { 1 })));
        assert!(!Activity::new(&graph, &found).of_arrays(&graph).is_varying(&Options::default()));
        let found = phases(&summing(6, |at| at % 4 > 0, told), &Options::default());
        assert!(found.is_none_or(|found| found.kind != phases::Kind::Synchronous));
    }
}

/// Row 0 and then each updated next row multicasts; that counts while it reaches a quarter of the rows.
#[test]
fn pivots_initiate_phases() {
    let graph = gauss(32, 100, 3).unwrap();
    let found = phases(&graph, &Options::default()).unwrap();
    assert_eq!(found.kind, phases::Kind::Initiation { method: MethodId(0), message_type: TypeId(0) });
    assert_eq!((found.count, found.evidence), (24, 1.0), "steps 0 to 23 reach at least 8 rows");
    let activity = Activity::new(&graph, &found);
    assert_eq!(activity.objects, 32);
    assert_eq!(activity.phases[0].len(), 31, "row 0, and all below but row 1, whose update begins the next phase");
    assert_eq!(activity.phases[10].len(), 32 - 11);
    assert!(activity.is_varying(&Options::default()));
}

#[test]
fn a_grid_goes_in_loose_steps() {
    let graph = relaxation(&[8, 8], 6, 100).unwrap();
    let found = phases(&graph, &Options::default()).unwrap();
    assert_eq!((found.kind, found.count, found.evidence), (phases::Kind::Loose, 6, 0.0));
    assert!(graph.order().iter().all(|&id| found.phase[id] == id.0 / 64));
    assert!(!Activity::new(&graph, &found).is_varying(&Options::default()));
}

/// Two methods in turn are one step; uneven work, too few steps, and messages over two steps are none.
#[test]
fn loose_steps_are_the_period_of_the_methods() {
    let program = |steps: u32, work: &dyn Fn(u32) -> i64, far: bool| {
        let mut program = Program::default();
        let (_, objects) = program.array(&[12]);
        let mut before: Vec<Vec<ExecutionId>> = Vec::new();
        for step in 0..steps {
            let now: Vec<_> = objects.iter().map(|&object| program.execution(object, step % 2, work(step))).collect();
            if let Some(last) = before.last() {
                (0..12).for_each(|at| program.send(last[at], now[(at + 1) % 12], Kind::Message, 0, 8));
                (0..12).for_each(|at| program.send(last[at], now[at], Kind::Dependence, 0, 0));
            }
            if far && before.len() > 3 {
                program.send(before[before.len() - 4][0], now[3], Kind::Message, 1, 8);
            }
            before.push(now);
        }
        phases(&program.seal().unwrap(), &Options::default())
    };
    let even = program(8, &|_| 10, false).unwrap();
    assert_eq!((even.kind, even.count), (phases::Kind::Loose, 4));
    assert_eq!(program(4, &|_| 10, false), None, "two steps");
    assert_eq!(program(8, &|step| 10 + 40 * i64::from(step / 6), false), None, "uneven");
    assert_eq!(program(8, &|_| 10, true), None, "two steps at once");
}

#[test]
fn random_graphs_have_no_phases() {
    for seed in 0..20 {
        assert_eq!(phases(&random(30, 300, 900, seed), &Options::default()), None, "seed {seed}");
    }
}

fn class(graph: &EventGraph) -> Class {
    let interaction = Interaction::new(graph);
    let last = ArrayId(graph.arrays().len() as u32 - 1);
    locality(graph, &interaction, last, &locality::Options::default()).class
}

fn talk(objects: u32, pairs: impl Iterator<Item = (u32, u32)>) -> EventGraph {
    let mut program = Program::default();
    let (_, objects) = program.array(&[objects]);
    for (from, to) in pairs {
        let (source, destination) =
            (program.execution(objects[from as usize], 0, 1), program.execution(objects[to as usize], 0, 1));
        program.send(source, destination, Kind::Message, 0, 8);
    }
    program.seal().unwrap()
}

#[test]
fn locality_has_five_classes() {
    assert_eq!(class(&talk(40, [(0, 1), (2, 3), (4, 5), (6, 7)].into_iter())), Class::Independent);
    assert_eq!(class(&factorial(64).unwrap()), Class::Tree);
    let all = (0..12).flat_map(|a| (0..12).filter(move |&b| b != a).map(move |b| (a, b)));
    assert_eq!(class(&talk(12, all)), Class::AllToAll);
    let Class::Regular(stencil) = class(&relaxation(&[10, 10], 4, 1).unwrap()) else { panic!("a stencil") };
    let offsets: Vec<_> = stencil.iter().map(|(offset, count)| ([offset[0], offset[1]], *count)).collect();
    assert_eq!(offsets, [([-1, 0], 270), ([0, -1], 270), ([0, 1], 270), ([1, 0], 270)]);
    assert_eq!(class(&random(60, 400, 400, 9)), Class::InputDependent);
}

/// Only creations between parents and children: as many edges as objects, of which none counts.
#[test]
fn creation_alone_is_no_communication() {
    let mut program = Program::default();
    let (_, objects) = program.array(&[20]);
    let begun: Vec<_> = objects.iter().map(|&object| program.execution(object, 0, 1)).collect();
    (1..20).for_each(|at| program.send(begun[(at - 1) / 2], begun[at], Kind::Creation, 0, 8));
    let graph = program.seal().unwrap();
    assert_eq!(class(&graph), Class::Independent);
    assert_eq!(Interaction::new(&graph).edges.len(), 19);
}

#[test]
fn interaction_adds_up() {
    let graph = talk(4, [(0, 1), (1, 0), (2, 2), (3, 0)].into_iter());
    let interaction = Interaction::new(&graph);
    let edges: Vec<_> = interaction.edges.iter().map(|it| (it.a.0, it.b.0, it.messages, it.bytes)).collect();
    assert_eq!(edges, [(0, 1, 2, 16), (0, 3, 1, 8)]);
    assert_eq!(interaction.loads.as_slice(), [3, 2, 2, 1]);
    assert_eq!(interaction.cut(&vec![0, 1, 0, 0].into()), 2);
    assert_eq!(interaction.weighted(Weight::Bytes).cut(&[0, 0, 0, 1]), 8);
}

/// A main object on PE 0 and objects that it, or others, create at given times of a run of 1000.
fn created(times: &[(u32, i64)]) -> creation::Creation {
    let mut made = Builder::new(4);
    let (single, array) = (made.array(0), made.array(1));
    let mains: Vec<_> = (0..4).map(|_| made.object(single, &[])).collect();
    let mains: Vec<_> = (0..4).map(|pe| execution(&mut made, mains[pe as usize], pe, 0, 1000)).collect();
    for (number, &(pe, time)) in times.iter().enumerate() {
        let object = made.object(array, &[number as i32]);
        let begun = execution(&mut made, object, pe, time, time);
        message(&mut made, (mains[pe as usize], begun), Kind::Creation, time, time);
    }
    let graph = made.seal().unwrap();
    assert_eq!(graph.executions().pe[mains[3]], PeId(3));
    creation(&graph, array, &creation::Options::default()).unwrap()
}

#[test]
fn creation_is_told_by_place_and_time() {
    let once = created(&(0..20).map(|at| (0, at)).collect::<Vec<_>>());
    assert_eq!((once.centralised, once.times, once.bursts.as_slice()), (true, Times::Once, &[(0, 19)][..]));
    let bursty = (0..40).map(|at| (at as u32 % 4, at / 10 * 250 + at % 10)).collect::<Vec<_>>();
    let bursty = created(&bursty);
    assert_eq!((bursty.centralised, bursty.times, bursty.most), (false, Times::Bursty, 10));
    assert_eq!(bursty.bursts, [(0, 9), (250, 259), (500, 509), (750, 759)]);
    let continuous = created(&(0..100).map(|at| (u32::from(at >= 91), at * 10)).collect::<Vec<_>>());
    assert_eq!((continuous.centralised, continuous.times), (true, Times::Continuous));
    assert_eq!((continuous.most, continuous.known), (91, 100));
}
