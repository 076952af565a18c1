//! What holds for all graphs, placements and schedules.

use partune_base::{PeId, Table};
use partune_objects::candidates::maps;
use partune_objects::graph::{
    ArrayId, Builder, EventGraph, Execution, ExecutionId, Kind, Message, MethodId, ObjectId, TypeId,
};
use partune_objects::interaction::Interaction;
use partune_objects::map::Map;
use partune_objects::phases::{Options, phases};
use partune_objects::pipeline::in_pieces;
use partune_objects::priority::CriticalPath;
use partune_objects::simulate::{Combine, Machine, Order, Plan, Priorities, Roots, simulate, without_costs};
use partune_objects::tree::{Tree, split};
use proptest::collection::vec;
use proptest::prelude::*;

const OBJECTS: u32 = 5;
const PES: u32 = 3;

/// Executions on any object and PE, and messages from any to a later one, sent at any time.
fn graphs() -> impl Strategy<Value = EventGraph> {
    let executions = vec((0..OBJECTS, 0..PES, 0_i64..50, 0_i64..20), 1..14);
    let messages = vec((0_usize..14, 0_usize..14, 0_i64..20, 0_u32..3, 0_u8..3, 0_u64..40), 0..30);
    (executions, messages).prop_map(|(executions, messages)| {
        let mut made = Builder::new(PES);
        let array = made.array(1);
        (0..OBJECTS).for_each(|at| {
            made.object(array, &[at as i32]);
        });
        for &(object, pe, begin, work) in &executions {
            let (object, method, pe) = (ObjectId(object), MethodId(0), PeId(pe));
            made.execution(Execution { object, method, pe, begin, end: begin + work });
        }
        for (a, b, offset, message_type, kind, bytes) in messages {
            let (from, to) = (a.min(b), a.max(b));
            if from < to && to < executions.len() {
                let kind = [Kind::Message, Kind::Creation, Kind::Dependence][usize::from(kind)];
                let sent = executions[from].2 + offset;
                let (source, destination) = (ExecutionId(from as u32), ExecutionId(to as u32));
                let message_type = TypeId(message_type);
                made.message(Message { source, destination, kind, message_type, bytes, sent, received: sent });
            }
        }
        made.seal().unwrap()
    })
}

fn plans() -> impl Strategy<Value = Plan> {
    let placement = proptest::option::of(vec(0..PES, OBJECTS as usize));
    let priorities = proptest::option::of((vec(0_u32..4, 3), vec(0_u32..4, OBJECTS as usize)));
    let order = prop_oneof![Just(Order::Ascending), Just(Order::FromNext), vec(0_u32..9, 3).prop_map(Order::Listed)];
    let combining = vec((0_u32..3, 0_u32..4, -1_i64..60), 0..3);
    (placement, priorities, order, combining, any::<bool>()).prop_map(|(placement, chosen, order, combining, late)| {
        let combine = |(message_type, count, timeout)| Combine { message_type: TypeId(message_type), count, timeout };
        let priorities =
            |(types, objects): (Vec<u32>, Vec<u32>)| Priorities { types: types.into(), objects: objects.into() };
        Plan {
            pes: PES,
            placement: placement.map(Table::from),
            priorities: chosen.map(priorities),
            multicast: order,
            combining: combining.into_iter().map(combine).collect(),
            roots: if late { Roots::AsRecorded } else { Roots::AtOnce },
            travel: None,
        }
    })
}

fn machines() -> impl Strategy<Value = Machine> {
    (0_i64..9, 0_u8..3, 0_i64..30, 0_u8..3, 0_i64..9, 0_i64..9, 0_i64..9).prop_map(
        |(send, send_byte, latency, byte, receive, local, create)| Machine {
            send,
            send_byte: f64::from(send_byte) / 2.0,
            latency,
            byte: f64::from(byte) / 2.0,
            receive,
            local,
            create,
        },
    )
}

/// The longest way from an execution to the end, by going all ways.
fn longest(graph: &EventGraph, id: ExecutionId, cost: &dyn Fn(u32) -> i64) -> i64 {
    let way = |message: partune_objects::graph::MessageId| {
        graph.offset(message) + cost(message.0) + longest(graph, graph.messages().destination[message], cost)
    };
    graph.sent_by(id).map(way).fold(graph.duration(id), i64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_critical_path_is_the_longest(graph in graphs(), costs in vec(0_i64..9, 30)) {
        let cost = |message: u32| costs[message as usize];
        let path = CriticalPath::new(&graph, |id| cost(id.0));
        let all: Vec<i64> = graph.executions().object.ids().map(|id| longest(&graph, id, &cost)).collect();
        prop_assert_eq!(path.tail.as_slice(), &all);
        prop_assert_eq!(path.length, all.iter().copied().max().unwrap());
        let slacks: Vec<i64> = graph.order().iter().map(|&id| path.slack(id)).collect();
        prop_assert_eq!(slacks.iter().min(), Some(&0));
        let messages = graph.messages().source.ids().all(|id| path.slack_of(&graph, id) >= 0);
        prop_assert!(messages);
    }

    /// All executions take place, after what they need, one at a time on a PE, and no faster than the critical path and the busiest PE.
    #[test]
    fn a_simulated_run_keeps_the_rules(graph in graphs(), machine in machines(), plan in plans()) {
        let done = simulate(&graph, &machine, &plan).unwrap();
        let path = CriticalPath::new(&graph, |_| 0);
        prop_assert!(done.makespan >= path.length);
        let work: i64 = graph.loads().iter().sum();
        prop_assert_eq!(done.pes.iter().map(|pe| pe.work).sum::<i64>(), work);
        prop_assert!(done.makespan * i64::from(PES) >= work);
        let idle = (0..PES as usize).all(|pe| done.idle(pe) >= 0);
        prop_assert!(idle);
        let mut busy: Vec<(PeId, i64, i64)> = graph.order().iter().map(|&id| (done.pe[id], done.begin[id], done.end[id])).collect();
        busy.sort_unstable();
        prop_assert!(busy.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1));
        for id in graph.executions().object.ids() {
            prop_assert!(done.end[id] - done.begin[id] >= graph.duration(id));
        }
        let messages = graph.messages();
        for id in messages.source.ids() {
            let (source, destination) = (messages.source[id], messages.destination[id]);
            prop_assert!(done.sent[id] >= done.begin[source] + graph.offset(id));
            prop_assert!(done.received[id] >= done.sent[id]);
            prop_assert!(done.begin[destination] >= done.received[id]);
        }
        prop_assert_eq!(&done, &simulate(&graph, &machine, &plan).unwrap());
    }

    /// Whatever the placement and the schedule, the graph is the same.
    #[test]
    fn a_graph_does_not_depend_on_its_schedule(graph in graphs(), machine in machines(), plan in plans()) {
        let other = simulate(&graph, &machine, &plan).unwrap().retimed(&graph).unwrap();
        prop_assert_eq!(other.order(), graph.order());
        prop_assert_eq!(Interaction::new(&other).edges, Interaction::new(&graph).edges);
        prop_assert_eq!(&other.executions().object, &graph.executions().object);
        prop_assert_eq!(&other.messages().destination, &graph.messages().destination);
        let starts = |graph| phases(graph, &Options { uneven: f64::MAX, ..Options::default() }).map(|it| (it.kind, it.starts, it.phase));
        prop_assert_eq!(starts(&other), starts(&graph));
    }

    /// A simulated run, recorded and freed of its costs, is simulated to the same run.
    #[test]
    fn costs_are_found_again(graph in graphs(), machine in machines(), plan in plans()) {
        let plan = Plan { combining: Vec::new(), roots: Roots::AtOnce, ..plan };
        let done = simulate(&graph, &machine, &plan).unwrap();
        let work = without_costs(&done.retimed(&graph).unwrap(), &machine).unwrap();
        prop_assert_eq!(work.loads(), graph.loads());
        let again = simulate(&work, &machine, &plan).unwrap();
        prop_assert_eq!((again.begin, again.end, again.sent), (done.begin, done.end, done.sent));
    }

    #[test]
    fn pieces_add_up(graph in graphs(), pieces in 1_u32..6) {
        let pieced = in_pieces(&graph, TypeId(1), pieces).unwrap();
        prop_assert_eq!(pieced.loads(), graph.loads());
        let bytes = |graph: &EventGraph| graph.messages().bytes.iter().sum::<u64>();
        prop_assert_eq!(bytes(&pieced), bytes(&graph));
        prop_assert!(CriticalPath::new(&pieced, |_| 0).length <= CriticalPath::new(&graph, |_| 0).length);
        if pieces == 1 {
            prop_assert_eq!(pieced.order(), graph.order());
        }
    }

    /// All maps put all coordinates on PEs that are there, and on all of them where there are enough objects.
    #[test]
    fn maps_cover_all_pes(extents in vec(1_u32..12, 1..4), pes in 1_u32..20, others in 1_u32..50) {
        let block = Map::Block { aspect: extents.iter().map(|&n| f64::from(n % 3)).collect() };
        let all = maps(&extents, pes, 1000).into_iter().map(|it| it.0).chain([block]);
        for map in all {
            for pes in [pes, others] {
                let placed = map.on(&extents, pes);
                let grid = placed.grid();
                prop_assert_eq!(grid.iter().product::<u32>(), pes, "{:?}", map);
                let mut met = vec![false; pes as usize];
                for number in 0..extents.iter().product::<u32>() {
                    let mut left = number;
                    let mut at = [0; 6];
                    for (at, n) in at.iter_mut().zip(&extents) {
                        *at = (left % n) as i32;
                        left /= n;
                    }
                    met[placed.pe(&at) as usize] = true;
                }
                let room = extents.iter().zip(grid).all(|(&n, p)| n >= p);
                if matches!(map, Map::Block { .. }) && room {
                    prop_assert!(met.iter().all(|&met| met), "{map:?} on {pes}");
                }
                let far = placed.pe(&[i32::MIN, i32::MAX, -1, 0, 7, i32::MIN]);
                prop_assert!(far < pes);
            }
        }
    }

    #[test]
    fn splits_give_all_pes_to_somebody(loads in vec(0.0_f64..9.0, 1..12), pes in 1_u32..30) {
        let shares = split(0..pes, &loads);
        prop_assert_eq!(shares.len(), loads.len());
        prop_assert_eq!(shares[0].start, 0);
        prop_assert!(shares.iter().all(|share| !share.is_empty() && share.end <= pes));
        if pes as usize >= loads.len() {
            prop_assert_eq!(shares.iter().map(ExactSizeIterator::len).sum::<usize>(), pes as usize);
            prop_assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn trees_are_placed_on_pes_that_are_there(graph in graphs(), pes in 1_u32..9) {
        let placement = Tree::new(&graph, ArrayId(0)).place(pes);
        prop_assert!(placement.iter().all(|&pe| pe < pes));
    }
}
