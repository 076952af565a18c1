//! Memory of processes and nodes: by hand, and silent where nobody told.

use partune_analysis::Values;
use partune_base::{PeId, Time};
use partune_trace::{Memory, Trace};

use super::{analyze, assert_close, column, numbers};

/// Four processes, two of them on each of two nodes; of the third nothing is known.
fn trace() -> Trace {
    let text = "pe 0: main 0..100 {}\npe 1: main 0..100 {}\npe 2: main 0..100 {}\npe 3: main 0..100 {}";
    let mut builder = partune_testkit::builder(text);
    let [a, b] = ["a", "b"].map(|name| builder.strings.intern(name));
    builder.processes.iter_mut().zip([a, b, b, a]).for_each(|(process, node)| process.node = node);
    let of = |peak, limit| Some(Memory { peak, recorder: 4, limit });
    builder.memory = [of(100, Some(500)), of(60, None), None, of(20, Some(400))].into_iter().collect();
    builder.seal()
}

#[test]
fn processes_of_a_node_add_up() {
    let outcome = analyze(&trace(), "memory");
    let section = &outcome.sections[0];
    let scalars = ["mean_peak", "highest_peak"].map(|name| section.scalar(name).expect("a figure"));
    assert_close(&scalars, &[60.0, 100.0]);
    let table = |name: &str| numbers(&outcome, "memory_of_nodes", name);
    assert_close(&table("peaks"), &[120.0, 60.0]);
    assert_close(&table("recorder"), &[8.0, 4.0]);
    assert_close(&table("limit"), &[500.0, 0.0]);
    assert_eq!(*column(&outcome, "memory_of_nodes", "processes"), Values::Count(vec![2, 1]));
    let processes = column(&outcome, "memory_of_processes", "process");
    assert_eq!(*processes, Values::Pe([0, 1, 3].map(PeId).to_vec()));
    assert_close(&numbers(&outcome, "memory_of_processes", "peak"), &[100.0, 60.0, 20.0]);
}

#[test]
fn nothing_is_said_where_nobody_told_and_of_a_piece() {
    let untold = partune_testkit::builder("pe 0: main 0..100 {}").seal();
    assert!(analyze(&untold, "memory").sections.is_empty());
    let trace = trace();
    let index = partune_index::Index::build(&trace);
    let (piece, _, _) = partune_index::cut(trace, index, (Time(20), Time(40)));
    assert!(analyze(&piece, "memory").sections.is_empty());
}
