//! Graphs with faults are refused by name, odd ones are answered.

use partune_base::Table;
use partune_objects::graph::{
    ArrayId, Builder, ExecutionId, GraphError, Kind, MessageId, ObjectId, TIME_LIMIT, TypeId,
};
use partune_objects::interaction::Interaction;
use partune_objects::phases::{Options, phases};
use partune_objects::priority::CriticalPath;
use partune_objects::simulate::{Plan, SimulateError, simulate};
use partune_objects::{combine, creation, locality, pipeline, tree::Tree};

use super::support::{NEAR, execution, message};

fn two() -> (Builder, ExecutionId, ExecutionId) {
    let mut made = Builder::new(2);
    let array = made.array(1);
    let (a, b) = (made.object(array, &[0]), made.object(array, &[1]));
    let (first, second) = (execution(&mut made, a, 0, 0, 5), execution(&mut made, b, 1, 7, 9));
    (made, first, second)
}

#[test]
fn faults_are_named() {
    let (mut made, first, second) = two();
    message(&mut made, (first, second), Kind::Message, 5, 7);
    assert!(made.clone().seal().is_ok());
    let refused = |change: &dyn Fn(&mut Builder)| {
        let mut made = made.clone();
        change(&mut made);
        made.seal().unwrap_err()
    };
    let cycle = refused(&|made| message(made, (second, first), Kind::Dependence, 9, 9));
    assert!(matches!(cycle, GraphError::Cycle(_)));
    assert!(matches!(refused(&|made| message(made, (first, first), Kind::Message, 1, 1)), GraphError::Cycle(_)));
    let beyond = refused(&|made| message(made, (first, ExecutionId(2)), Kind::Message, 1, 1));
    assert_eq!(beyond, GraphError::Message(MessageId(1)));
    assert_eq!(
        refused(&|made| {
            made.array(7);
        }),
        GraphError::Rank(ArrayId(1))
    );
    assert_eq!(
        refused(&|made| {
            made.object(ArrayId(3), &[]);
        }),
        GraphError::Object(ObjectId(2))
    );
    assert_eq!(refused(&|made| made.created(ObjectId(0), ExecutionId(9))), GraphError::Object(ObjectId(0)));
    let at = |pe, begin, end| refused(&|made| drop_id(execution(made, ObjectId(0), pe, begin, end)));
    assert_eq!(at(2, 0, 1), GraphError::Execution(ExecutionId(2)));
    assert_eq!(at(0, 2, 1), GraphError::Time(ExecutionId(2)));
    assert_eq!(at(0, i64::MIN, i64::MAX), GraphError::Time(ExecutionId(2)));
    assert_eq!(
        refused(&|made| {
            execution(made, ObjectId(7), 0, 0, 1);
        }),
        GraphError::Execution(ExecutionId(2))
    );
    assert_eq!(refused(&|made| made.messages_mut().kind = Table::new()), GraphError::Columns);
    assert_eq!(refused(&|made| made.set_pes(0)), GraphError::Execution(ExecutionId(0)));
}

fn drop_id<T>(_: T) {}

/// Nothing at all, objects that never run, messages that arrive before they are sent, times at the limits.
#[test]
fn odd_graphs_are_answered() {
    let mut idle = Builder::new(0);
    let array = idle.array(2);
    idle.object(array, &[-3, 4]);
    let (mut odd, first, second) = two();
    message(&mut odd, (first, second), Kind::Message, 8, -4);
    execution(&mut odd, ObjectId(0), 0, -TIME_LIMIT, TIME_LIMIT);
    execution(&mut odd, ObjectId(1), 0, TIME_LIMIT, TIME_LIMIT);
    for made in [Builder::new(0), idle, odd] {
        let graph = made.seal().unwrap();
        assert_eq!(phases(&graph, &Options::default()), None);
        let interaction = Interaction::new(&graph);
        for array in graph.arrays().ids() {
            let class = locality::locality(&graph, &interaction, array, &locality::Options::default()).class;
            assert!(class == locality::Class::Independent || graph.order().len() == 4);
            let tree = Tree::new(&graph, array);
            tree.shape(&interaction, 0, &partune_objects::tree::Options::default());
            assert_eq!(tree.place(0), Table::filled(graph.objects().len(), 0));
            assert_eq!(creation::creation(&graph, array, &creation::Options::default()), None);
        }
        assert_eq!(combine::combining(&graph, &NEAR, &combine::Options::default()), []);
        assert_eq!(pipeline::pipelining(&graph, &NEAR, &pipeline::Options::default()), []);
        assert!(pipeline::in_pieces(&graph, TypeId(0), 3).is_ok());
        assert!(CriticalPath::new(&graph, |_| i64::MAX).length >= 0);
        let outcome = simulate(&graph, &NEAR, &Plan { pes: graph.pes(), ..Plan::default() }).unwrap();
        let longest = graph.order().iter().map(|&id| graph.duration(id)).max().unwrap_or(0);
        assert!(outcome.makespan >= longest);
        let none = simulate(&graph, &NEAR, &Plan::default());
        assert_eq!(none.is_err(), !graph.order().is_empty());
        assert!(none.is_ok() || none == Err(SimulateError::NoPe(ExecutionId(0))));
    }
}

/// Creators that are each other's are cut apart at the first one.
#[test]
fn circles_of_creators_end() {
    let (mut made, first, second) = two();
    made.created(ObjectId(0), second);
    made.created(ObjectId(1), first);
    let graph = made.seal().unwrap();
    let tree = Tree::new(&graph, ArrayId(0));
    assert_eq!(tree.roots(), [ObjectId(0)]);
    assert_eq!(tree.children(ObjectId(0)).collect::<Vec<_>>(), [ObjectId(1)]);
    assert_eq!(tree.load(ObjectId(0)), 7);
}
