//! Hints from runs of known programs: what they gain by, as far as a run under them says, and nothing where nothing gains.

use partune_base::Table;
use partune_objects::combine::Combining;
use partune_objects::deduce::{Deduced, Hint, Judged, Layout, Options, deduce};
use partune_objects::graph::{ArrayId, EventGraph, ExecutionId, Kind, MessageId, ObjectId};
use partune_objects::map::{Grid, Map, Size};
use partune_objects::priority::Line;
use partune_objects::programs::{ELEMENT, MACHINE, Program, factorial, gauss, relaxation};
use partune_objects::random::Random;
use partune_objects::recorded::{Known, Recorded};
use partune_objects::simulate::{Combine, Machine, Order, Plan, Priorities, simulate};
use partune_objects::tree::Shape;

/// A run of a program as it would be recorded.
fn recorded(graph: &EventGraph, plan: &Plan) -> EventGraph {
    simulate(graph, &MACHINE, plan).unwrap().retimed(graph).unwrap()
}

fn known() -> Known {
    Known { send: MACHINE.send, ..Known::default() }
}

fn hints(graph: &EventGraph) -> Deduced {
    deduce(graph, &known(), &Options::default()).unwrap()
}

fn on(pes: u32, placement: Vec<u32>) -> Plan {
    Plan { pes, placement: Some(placement.into()), ..Plan::default() }
}

fn at_random(objects: usize, pes: u32, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..objects).map(|_| random.below(pes as usize) as u32).collect()
}

fn kept(found: &Deduced) -> Vec<&Judged> {
    found.judged.iter().filter(|it| it.is_kept()).collect()
}

fn layout(found: &Deduced) -> Option<&Layout> {
    kept(found).into_iter().find_map(|it| if let Hint::Place { layout, .. } = &it.hint { Some(layout) } else { None })
}

fn line(found: &Deduced) -> Option<&Line> {
    found.judged.iter().find_map(|it| if let Hint::Objects { line, .. } = &it.hint { Some(line) } else { None })
}

fn cyclic() -> Map {
    Map::BlockCyclic { size: vec![Size::Of(1)], grid: Grid::Line(0) }
}

/// Placed in blocks and at random, with multicasts in other orders, of other numbers of rows and PEs. The hints of one are better than blocks for twice the rows on twice the PEs too, and
/// what they save is what a run under them takes less.
#[test]
fn an_elimination_gets_the_same_hints_from_each_run() {
    let orders = [Order::Ascending, Order::FromNext];
    for (rows, pes, seed) in [(96, 4, 1), (128, 8, 2), (192, 8, 3)] {
        let graph = gauss(rows, ELEMENT * 40, seed).unwrap();
        let mut dealt: Vec<u32> = (0..rows).map(|row| row % pes).collect();
        Random::new(seed).shuffle(&mut dealt);
        for placement in [(0..rows).map(|row| row * pes / rows).collect(), dealt] {
            let plan = Plan { multicast: orders[seed as usize % 2].clone(), ..on(pes, placement) };
            let run = recorded(&graph, &plan);
            let found = hints(&run);
            assert!(found.off < 0.01 && found.varying, "{found:?}");
            assert_eq!(layout(&found), Some(&Layout::Map(cyclic())), "{rows} rows on {pes}");
            let line = line(&found).unwrap();
            assert!((line.slopes[0] - 1.0).abs() < 0.01 && line.offset.abs() < 0.1 && line.r2 > 0.99, "{line:?}");
            let hinted = cyclic().on(&[rows], pes);
            let placement = graph.objects().iter().map(|object| hinted.pe(&object.at)).collect();
            let plan = Plan { placement: Some(placement), ..plan };
            let realised = simulate(&graph, &MACHINE, &plan).unwrap().makespan;
            let by_place = found.judged[0].saves;
            assert!(((found.replayed - by_place) as f64 / realised as f64 - 1.0).abs() < 0.05, "{by_place} {realised}");
        }
    }
    let (rows, pes) = (256, 16);
    let graph = gauss(rows, ELEMENT * 40, 9).unwrap();
    let block = (0..rows).map(|row| row * pes / rows).collect();
    let turns = (0..rows).map(|row| row % pes).collect();
    let [block, turns] =
        [block, turns].map(|placement| simulate(&graph, &MACHINE, &on(pes, placement)).unwrap().makespan);
    assert!(block as f64 / turns as f64 > 1.1, "{block} {turns}");
}

/// Rows in turn send every pivot to another PE. Where messages take long on the way, that costs more than it gains where PEs have few rows, and the hint says from how many it is worth it:
/// a run on as many PEs confirms both.
#[test]
fn a_placement_says_from_how_many_objects_a_pe_it_gains() {
    let rows = 32;
    let graph = gauss(rows, 500_000, 5).unwrap();
    let gain = |latency, pes: u32| {
        let machine = Machine { latency, ..Machine::default() };
        let block = (0..rows).map(|row| row * pes / rows).collect();
        let ticks = |placement| simulate(&graph, &machine, &on(pes, placement)).unwrap();
        let (block, turns) = (ticks(block), ticks((0..rows).map(|row| row % pes).collect()));
        (block.retimed(&graph).unwrap(), block.makespan as f64 / turns.makespan as f64)
    };
    let least = |latency| {
        let found = deduce(&gain(latency, 8).0, &Known::default(), &Options::default()).unwrap();
        assert_eq!(layout(&found), Some(&Layout::Map(cyclic())), "{found:?}");
        let least = |it: &&Judged| matches!(it.hint, Hint::Place { .. });
        match kept(&found).into_iter().find(least).unwrap().hint {
            Hint::Place { least_per_pe, .. } => least_per_pe,
            _ => unreachable!(),
        }
    };
    let (near, far) = (10_000, 12_000_000);
    assert!(gain(near, 8).1 > 1.1 && gain(near, 16).1 > 1.1, "{} {}", gain(near, 8).1, gain(near, 16).1);
    assert!(gain(far, 8).1 > 1.05 && gain(far, 16).1 < 1.0, "{} {}", gain(far, 8).1, gain(far, 16).1);
    assert!(least(near) <= 2.0, "{}", least(near));
    assert!(least(far) > 2.0 && least(far) <= 4.0, "{}", least(far));
}

/// Rows are where they should be, and their order is left to chance: 1.16 to 1.33 in the tables of Paradise.
#[test]
fn rows_in_turn_get_priorities() {
    let (rows, pes) = (320, 32);
    let graph = gauss(rows, ELEMENT, 5).unwrap();
    let plan = on(pes, (0..rows).map(|row| row % pes).collect());
    let found = hints(&recorded(&graph, &plan));
    assert_eq!(layout(&found), None);
    let it = kept(&found)[0];
    assert!(matches!(it.hint, Hint::Objects { .. }), "{it:?}");
    let priorities = Some(Priorities { objects: (0..rows).collect(), ..Priorities::default() });
    let realised = simulate(&graph, &MACHINE, &Plan { priorities, ..plan }).unwrap().makespan;
    let predicted = found.replayed - it.saves;
    assert!((predicted as f64 / realised as f64 - 1.0).abs() < 0.05, "{predicted} {realised}");
    assert!(found.run as f64 / realised as f64 > 1.05);
}

#[test]
fn a_grid_gets_blocks_unless_it_has_them() {
    let graph = relaxation(&[8, 8], 20, 1_000_000).unwrap();
    let block = Map::Block { aspect: vec![0.5, 0.5] };
    let placed = block.on(&[8, 8], 16);
    let right: Vec<u32> = graph.objects().iter().map(|object| placed.pe(&object.at)).collect();
    let found = hints(&recorded(&graph, &on(16, right)));
    assert!(found.off < 0.01 && kept(&found).is_empty(), "{:?}", found.judged);
    let found = hints(&recorded(&graph, &on(16, at_random(64, 16, 3))));
    assert!(found.off < 0.05, "{}", found.off);
    assert_eq!(layout(&found), Some(&Layout::Map(block)));
}

/// Ways that vary are followed on average, so a grid that is right gets no blocks that would only be luckier.
#[test]
fn luck_is_no_reason() {
    let graph = relaxation(&[4, 4], 60, 20_000).unwrap();
    let mut random = Random::new(7);
    let placed = Map::Block { aspect: vec![0.5, 0.5] }.on(&[4, 4], 8);
    let right: Vec<u32> = graph.objects().iter().map(|object| placed.pe(&object.at)).collect();
    let messages = graph.messages();
    let pe = |id| right[graph.executions().object[id].0 as usize];
    let mut way = || 1_000_000 + random.below(1_000_000) as i64 * i64::from(random.below(8) == 0) * 10;
    let is_near = |id| pe(messages.source[id]) == pe(messages.destination[id]);
    let travel: Vec<i64> = messages.source.ids().map(|id| if is_near(id) { 0 } else { way() }).collect();
    let run = recorded(&graph, &Plan { travel: Some(travel.into()), ..on(8, right) });
    let found = hints(&run);
    // Only what was waited for is measured, so the run is followed worse, which widens what is said.
    assert!(found.off > 0.02 && kept(&found).is_empty(), "off {}: {:?}", found.off, found.judged);
}

/// When the PE of each execution of a run was idle last, on a machine where messages take nothing from PEs.
fn idle_until(run: &EventGraph) -> Known {
    let executions = run.executions();
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.pe[id], executions.begin[id], id));
    let mut until = Table::filled(order.len(), i64::MIN);
    for of_pe in order.chunk_by(|a, b| executions.pe[*a] == executions.pe[*b]) {
        let mut free = 0;
        for &id in of_pe {
            if executions.begin[id] > free {
                until[id] = executions.begin[id];
            }
            free = executions.end[id];
        }
    }
    Known { idle_until: Some(until), send: 0 }
}

/// Multicasts that go by way of another PE, to the sender's too, unless that is the one: rows wait for what was sent on their PE. The run is followed exactly, and what is predicted of rows in turn is about what a run of them takes.
#[test]
fn messages_to_the_own_pe_have_a_way_where_one_was_taken() {
    let (rows, pes, way) = (64, 4, 400_000);
    let graph = gauss(rows, 1_000, 3).unwrap();
    let machine = Machine::default();
    let run = |placement: &[u32], hop: i64| {
        let messages = graph.messages();
        let pe = |id| placement[graph.executions().object[id].0 as usize];
        let hops = |id| 1 + i64::from(pe(messages.source[id]) != 0 && pe(messages.destination[id]) != 0);
        let is_there = |id| pe(messages.source[id]) == 0 && pe(messages.destination[id]) == 0;
        let travel = |id: MessageId| if is_there(id) { 0 } else { hop * hops(id) };
        let travel = messages.source.ids().map(travel).collect();
        let plan = Plan { travel: Some(travel), ..on(pes, placement.to_vec()) };
        simulate(&graph, &machine, &plan).unwrap()
    };
    let block: Vec<u32> = (0..rows).map(|row| row * pes / rows).collect();
    let turns: Vec<u32> = (0..rows).map(|row| row % pes).collect();
    let recorded = run(&block, way).retimed(&graph).unwrap();
    let found = Recorded::new(&recorded, &idle_until(&recorded)).unwrap();
    assert!(found.off() < 0.02, "{} and {} of {}", found.replayed, found.redrawn, found.run);
    let predicted = found.under(&found.plan(Some(turns.clone().into()))).unwrap().makespan;
    let realised = run(&turns, way).makespan;
    // That ways from and to one PE are shorter is not known where rows go elsewhere.
    assert!((predicted as f64 / realised as f64 - 1.0).abs() < 0.2, "{predicted} {realised}");
    // Nobody was idle for what was near: nothing is claimed of that.
    let recorded = run(&block, 0).retimed(&graph).unwrap();
    let found = Recorded::new(&recorded, &idle_until(&recorded)).unwrap();
    assert_eq!((found.replayed, found.redrawn), (found.run, found.run));
}

/// Rounds of objects that work, contribute to what one execution joins, and are sent on by that: who joins them waits for the last contribution and its way.
#[test]
fn what_a_reduction_takes_to_its_root_is_kept_and_dealt_out() {
    let (pes, objects, rounds, way, join) = (4, 16_u32, 6, 300_000, 700_000);
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    let members = program.array(&[objects]).1;
    let mut root = program.execution(main, 0, 1_000);
    for _ in 0..rounds {
        let joined = program.execution(main, 1, 1_000);
        program.send(root, joined, Kind::Dependence, 0, 0);
        for (&member, at) in members.iter().zip(0..) {
            let works = program.execution(member, 2, 100_000 + 10_000 * at);
            program.send(root, works, Kind::Message, 1, 8);
            program.send(works, joined, Kind::Dependence, 2, 8);
        }
        root = joined;
    }
    let graph = program.seal().unwrap();
    let run = |placement: &[u32], join: i64| {
        let messages = graph.messages();
        let pe = |id| placement[graph.executions().object[id].0 as usize];
        let travel = |id: MessageId| match messages.kind[id] {
            _ if pe(messages.source[id]) == pe(messages.destination[id]) => 0,
            Kind::Dependence => join,
            Kind::Message | Kind::Creation => way,
        };
        let travel = messages.source.ids().map(travel).collect();
        let plan = Plan { travel: Some(travel), ..on(pes, placement.to_vec()) };
        simulate(&graph, &Machine::default(), &plan).unwrap()
    };
    let placed = |pe: fn(u32) -> u32| std::iter::once(0).chain((0..objects).map(pe)).collect::<Vec<u32>>();
    let (block, turns) = (placed(|at| at / 4), placed(|at| at % 4));
    for join in [join, 0] {
        let recorded = run(&block, join).retimed(&graph).unwrap();
        let found = Recorded::new(&recorded, &idle_until(&recorded)).unwrap();
        assert_eq!((found.replayed, found.redrawn), (found.run, found.run), "{join}");
        let predicted = found.under(&found.plan(Some(turns.clone().into()))).unwrap().makespan;
        assert_eq!(predicted, run(&turns, join).makespan, "{join}");
    }
}

#[test]
fn a_tree_is_split() {
    let graph = factorial(512).unwrap();
    let plan = on(16, at_random(graph.objects().len(), 16, 1));
    let found = hints(&recorded(&graph, &plan));
    let tree = Hint::Tree { array: ArrayId(0), shape: Shape::Uniform { branch: 2 } };
    let [it] = kept(&found)[..] else { panic!("one hint: {:?}", found.judged) };
    assert_eq!(it.hint, tree);
    // What grows has no extents that a map could be of.
    assert!(!found.judged.iter().any(|it| matches!(it.hint, Hint::Place { .. })), "{:?}", found.judged);
    assert!(found.run as f64 / found.hinted as f64 > 2.0, "{} {}", found.run, found.hinted);
}

/// Each of 512 objects sends a value to one that looks at them one by one.
#[test]
fn values_are_combined() {
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    let mut last: Option<ExecutionId> = None;
    let objects = program.array(&[512]).1;
    let values: Vec<ExecutionId> = objects.iter().map(|&object| program.execution(object, 0, 50_000)).collect();
    for value in values {
        let taken = program.execution(main, 1, 1_000);
        program.send(value, taken, Kind::Message, 0, 16);
        last.replace(taken);
    }
    let graph = program.seal().unwrap();
    let placement = graph.objects().ids().map(|id| id.0.saturating_sub(1) / 16).collect::<Vec<u32>>();
    let found = hints(&recorded(&graph, &on(32, placement)));
    let combining = |it: &&Judged| matches!(it.hint, Hint::Combine { single: true, .. });
    assert!(kept(&found).iter().any(combining), "{:?}", found.judged);
    assert!(found.run as f64 / found.hinted as f64 > 1.8, "{} {}", found.run, found.hinted);
}

/// Only so many messages of a PE are on their way to another one at once, and others wait for them: what goes together does not. Where none waits, combining gains nothing.
#[test]
fn messages_that_wait_for_those_before_them_are_combined() {
    let (pes, each, way) = (4_u32, 16_u32, 1_000_000);
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    for object in program.array(&[pes * each]).1 {
        let works = program.execution(object, 0, 100_000);
        let taken = program.execution(main, 1, 1_000);
        program.send(works, taken, Kind::Message, 0, 16);
    }
    let graph = program.seal().unwrap();
    let placement: Vec<u32> = graph.objects().ids().map(|id| id.0.saturating_sub(1) / each).collect();
    for window in [4, u32::MAX] {
        let of = |id: MessageId| way * (1 + i64::from(id.0 % each / window)) * i64::from(id.0 >= each);
        let travel: Table<MessageId, i64> = graph.messages().source.ids().map(of).collect();
        let run = |combining: Vec<Combine>| {
            let plan = Plan { travel: Some(travel.clone()), combining, ..on(pes, placement.clone()) };
            simulate(&graph, &Machine::default(), &plan).unwrap()
        };
        let recorded = run(vec![]).retimed(&graph).unwrap();
        let found = deduce(&recorded, &idle_until(&recorded), &Options::default()).unwrap();
        let combining = |it: &&&Judged| matches!(it.hint, Hint::Combine { single: true, .. });
        let kept = kept(&found);
        let Some(Hint::Combine { combining, .. }) = kept.iter().find(combining).map(|it| &it.hint) else {
            assert_eq!(window, u32::MAX, "{:?}", found.judged);
            continue;
        };
        assert_eq!((window, combining.count), (4, u64::from(each)), "{:?}", found.judged);
        let Combining { message_type, timeout, .. } = *combining;
        let realised = run(vec![Combine { message_type, count: each, timeout }]).makespan;
        // While their PE worked for itself, the first messages came: nobody knows when, so they may have taken all of that.
        let hidden = i64::from(each) * 100_000 - way;
        assert!((0..=hidden).contains(&(found.hinted - realised)), "{} {realised}", found.hinted);
        assert!(found.run as f64 / realised as f64 > 1.5, "{} {realised}", found.run);
    }
}

/// Objects that talk to those whose numbers are near in an order that nobody sees.
#[test]
fn what_only_the_input_knows_gets_a_table() {
    let mut program = Program::default();
    let objects = program.array(&[96]).1;
    let mut order: Vec<usize> = (0..96).collect();
    Random::new(11).shuffle(&mut order);
    let mut before: Vec<ExecutionId> = Vec::new();
    for _ in 0..12 {
        let now: Vec<_> = order.iter().map(|&at| program.execution(objects[at], 0, 100_000)).collect();
        for (at, &source) in before.iter().enumerate() {
            let near = [at.checked_sub(1), (at + 1 < 96).then_some(at + 1)];
            near.into_iter().flatten().for_each(|to| program.send(source, now[to], Kind::Message, 0, 8));
            program.send(source, now[at], Kind::Dependence, 0, 0);
        }
        before = now;
    }
    let graph = program.seal().unwrap();
    let found = hints(&recorded(&graph, &on(8, (0..96).map(|at| at / 12).collect())));
    let Some(Layout::Table(table)) = layout(&found) else { panic!("a table: {:?}", found.judged) };
    assert_eq!((table.len(), table.iter().max()), (96, Some(&7)));
}

/// An array whose objects serve those of another one with the same coordinates goes with it.
#[test]
fn aligned_arrays_are_placed_together() {
    let mut program = Program::default();
    let (_, grid) = program.array(&[8, 8]);
    let (_, others) = program.array(&[8, 8]);
    let mut before: Vec<ExecutionId> = Vec::new();
    for _ in 0..12 {
        let mut now = Vec::new();
        for at in 0..64 {
            let (asks, serves) = (program.execution(grid[at], 0, 200_000), program.execution(others[at], 1, 50_000));
            program.send(asks, serves, Kind::Message, 0, 8);
            let done = program.execution(grid[at], 2, 10_000);
            program.send(serves, done, Kind::Message, 1, 8);
            now.push((asks, done));
        }
        for (at, &done) in before.iter().enumerate() {
            for to in [at, at ^ 1, at ^ 8] {
                let kind = if to == at { Kind::Dependence } else { Kind::Message };
                program.send(done, now[to].0, kind, 2, 8);
            }
        }
        before = now.into_iter().map(|it| it.1).collect();
    }
    let graph = program.seal().unwrap();
    let found = hints(&recorded(&graph, &on(4, at_random(128, 4, 2))));
    let Some(Hint::Place { aligned, .. }) = kept(&found).first().map(|it| &it.hint) else {
        panic!("{:?}", found.judged)
    };
    assert_eq!((aligned.len(), aligned[0].dims.as_slice()), (1, &[0, 1][..]));
}

#[test]
fn one_pe_places_nothing() {
    let graph = gauss(24, ELEMENT, 1).unwrap();
    let found = hints(&recorded(&graph, &on(1, vec![0; 24])));
    assert!(kept(&found).is_empty() && layout(&found).is_none());
    let nothing: Table<ObjectId, u32> = Table::default();
    assert_eq!(Recorded::new(&Program::default().seal().unwrap(), &known()).unwrap().homes(), nothing);
}
