//! The simulator: small programs followed by hand.

use partune_base::Table;
use partune_objects::graph::{Builder, ExecutionId, Kind, Message, MessageId, ObjectId, TypeId};
use partune_objects::programs::Program;
use partune_objects::simulate::{Combine, Machine, Order, Outcome, Plan, Priorities, Roots, simulate, without_costs};

use super::support::{execution, message};

const COSTS: Machine = Machine { send: 3, send_byte: 0.5, latency: 10, byte: 0.25, receive: 5, local: 2, create: 7 };

/// The first execution of 100 on PE 0 sends at 60 to an object there and to one on PE 1, which it creates: 8 bytes each.
#[test]
fn costs_are_where_they_arise() {
    let mut made = Builder::new(2);
    let array = made.array(1);
    let objects: Vec<_> = (0..3).map(|at| made.object(array, &[at])).collect();
    let runs = [(0, 0, 100), (0, 0, 20), (1, 0, 30)].into_iter().zip(objects);
    let runs: Vec<_> = runs.map(|((pe, begin, end), object)| execution(&mut made, object, pe, begin, end)).collect();
    message(&mut made, (runs[0], runs[1]), Kind::Message, 60, 60);
    message(&mut made, (runs[0], runs[2]), Kind::Creation, 60, 60);
    let graph = made.seal().unwrap();
    let done = simulate(&graph, &COSTS, &Plan { pes: 2, ..Plan::default() }).unwrap();
    // PE 0: 60, sending 3 + 4, 40 more, taking the local message 2, then 20.
    assert_eq!(done.end.as_slice(), [107, 129, 121]);
    // PE 1: sent at 67, on its way for 10 + 2, taken for 5 and the creation for 7, then 30.
    assert_eq!(done.begin.as_slice(), [0, 109, 91]);
    assert_eq!((done.sent[MessageId(1)], done.received[MessageId(1)]), (67, 79));
    assert_eq!((done.makespan, done.carried), (129, 1));
    let times: Vec<_> = done.pes.iter().map(|pe| (pe.work, pe.overhead)).collect();
    assert_eq!(times, [(120, 9), (30, 12)]);
    assert_eq!((done.idle(0), done.idle(1)), (0, 87));
}

/// Of two messages that left at 14, one of 4 bytes and one of none, the first took all the time that sending took, wherever it is in the list.
#[test]
fn what_leaves_at_one_tick_is_sent_in_any_order() {
    for bytes in [[0, 4], [4, 0]] {
        let mut made = Builder::new(3);
        let array = made.array(1);
        let objects: Vec<_> = (0..3).map(|at| made.object(array, &[at])).collect();
        let runs = [(1, 0, 14), (0, 14, 20), (2, 14, 20)].into_iter().zip(objects);
        let runs: Vec<_> =
            runs.map(|((pe, begin, end), object)| execution(&mut made, object, pe, begin, end)).collect();
        for (&destination, bytes) in runs[1..].iter().zip(bytes) {
            let (source, kind, message_type) = (runs[0], Kind::Message, TypeId(bytes as u32));
            made.message(Message { source, destination, kind, message_type, bytes, sent: 14, received: 14 });
        }
        let machine = Machine { send_byte: 1.0, ..Machine::default() };
        let work = without_costs(&made.seal().unwrap(), &machine).unwrap();
        assert_eq!(work.executions().end.as_slice(), [10, 20, 20], "{bytes:?}");
        assert_eq!(work.messages().sent.as_slice(), [10, 10], "{bytes:?}");
    }
}

/// Five rows on PE 1 and 2 hear from one on PE 0; the last row of them has an answer for PE 0.
fn told(plan: impl Fn(&mut Plan)) -> Outcome {
    let mut program = Program::default();
    let (_, objects) = program.array(&[6]);
    let begun = program.execution(objects[0], 0, 10);
    let rows: Vec<_> = objects[1..].iter().map(|&object| program.execution(object, 0, 50)).collect();
    rows.iter().for_each(|&row| program.send(begun, row, Kind::Message, 0, 8));
    let graph = program.seal().unwrap();
    let placement: Table<ObjectId, u32> = vec![0, 1, 1, 1, 2, 2].into();
    let mut chosen = Plan { pes: 3, placement: Some(placement), ..Plan::default() };
    plan(&mut chosen);
    simulate(&graph, &COSTS, &chosen).unwrap()
}

/// A copy leaves at 17 and one at 24; each comes 12 later, is taken for 5, and each row on its PE for 2.
#[test]
fn a_multicast_sends_one_copy_to_a_pe() {
    let done = told(|_| ());
    assert_eq!(done.carried, 2);
    assert_eq!(done.begin.as_slice(), [0, 36, 88, 140, 43, 95]);
    let listed = told(|plan| plan.multicast = Order::Listed(vec![0, 2, 1]));
    assert_eq!(listed.begin.as_slice(), [0, 43, 95, 147, 36, 88]);
    assert_eq!(told(|plan| plan.multicast = Order::FromNext), done, "PE 1 is next to PE 0");
}

#[test]
fn the_urgent_come_first() {
    let urgent = |objects: Vec<u32>| Some(Priorities { objects: objects.into(), ..Priorities::default() });
    let done = told(|plan| plan.priorities = urgent(vec![0, 9, 8, 7, 2, 1]));
    assert_eq!(done.begin.as_slice(), [0, 140, 88, 36, 95, 43]);
    let done = told(|plan| plan.priorities = urgent(Vec::new()));
    assert_eq!(done, told(|_| ()), "equals in order of coming");
}

/// Types before objects: the message of the urgent type overtakes.
#[test]
fn types_come_before_objects() {
    let mut program = Program::default();
    let (_, objects) = program.array(&[4]);
    let begun = program.execution(objects[0], 0, 10);
    let rows: Vec<_> = objects[1..].iter().map(|&object| program.execution(object, 0, 50)).collect();
    (0..3).for_each(|at| program.send(begun, rows[at], Kind::Message, at as u32, 8));
    let graph = program.seal().unwrap();
    let priorities = Priorities { types: vec![1, 1, 0].into(), objects: vec![0, 5, 4, 9].into() };
    let plan = Plan { pes: 1, priorities: Some(priorities), ..Plan::default() };
    let done = simulate(&graph, &Machine::default(), &plan).unwrap();
    assert_eq!(done.begin.as_slice(), [0, 110, 60, 10]);
}

/// Four values of 16 bytes from PE 1: two of them make a message, and time is over for the fifth.
#[test]
fn messages_are_combined_until_there_are_enough_or_time_is_over() {
    let mut program = Program::default();
    let (_, objects) = program.array(&[6]);
    let all = program.execution(objects[0], 0, 10);
    for &object in &objects[1..] {
        let value = program.execution(object, 0, 20);
        program.send(value, all, Kind::Message, 0, 16);
    }
    let graph = program.seal().unwrap();
    let combine = Combine { message_type: TypeId(0), count: 2, timeout: 100 };
    let placement = graph.objects().ids().map(|id| u32::from(id.0 > 0)).collect();
    let plan = Plan { pes: 2, placement: Some(placement), combining: vec![combine], ..Plan::default() };
    let done = simulate(&graph, &COSTS, &plan).unwrap();
    assert_eq!(done.carried, 3);
    // Two values at 40, sending 3 + 16; two more at 99, again; the last at 138 waits 100 and takes 3 + 8.
    assert_eq!(done.sent.as_slice(), [59, 59, 118, 118, 149 + 100]);
    // Then 10 + 4 on the way and 5.
    assert_eq!(done.begin[ExecutionId(0)], 249 + 14 + 5);
    assert_eq!(done.makespan, 278);
}

#[test]
fn roots_begin_at_once_or_as_recorded() {
    let mut made = Builder::new(1);
    let array = made.array(0);
    let objects = [made.object(array, &[]), made.object(array, &[])];
    execution(&mut made, objects[0], 0, 1000, 1010);
    execution(&mut made, objects[1], 0, 1500, 1520);
    let graph = made.seal().unwrap();
    let begin = |roots| simulate(&graph, &COSTS, &Plan { pes: 1, roots, ..Plan::default() }).unwrap().begin;
    assert_eq!(begin(Roots::AtOnce).as_slice(), [0, 10]);
    assert_eq!(begin(Roots::AsRecorded).as_slice(), [0, 500]);
}
