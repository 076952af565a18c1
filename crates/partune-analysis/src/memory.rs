//! Memory: the most that each process had at a time.

use partune_base::{PeId, StringId};
use partune_trace::{Memory, Trace};
use rustc_hash::FxHashMap;

use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
};

pub(crate) static MEMORY: Analysis = Analysis {
    name: "memory",
    title: "Memory: the most that processes had at a time",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "memory",
    scalars: &[("mean_peak", Unit::Bytes), ("highest_peak", Unit::Bytes)],
    tables: &[
        TableShape {
            name: "memory_of_nodes",
            columns: &[
                ("node", Shape::Name),
                ("processes", Shape::Count),
                ("peaks", Shape::BYTES),
                ("recorder", Shape::BYTES),
                ("limit", Shape::BYTES),
            ],
        },
        TableShape {
            name: "memory_of_processes",
            columns: &[
                ("process", Shape::Pe),
                ("node", Shape::Name),
                ("peak", Shape::BYTES),
                ("recorder", Shape::BYTES),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Memory

The most memory that each process had at a time (`peak`), as the kernel counts what of it is in the machine: its own, that of its libraries, and that which it shares with others. So the
`peaks` of a node, which are those of its processes added up, are the most that they can have needed together. The recorder reads it when the process, or its paradigm, ends: a process
that was killed has none. In it are the buffers of the recorder, `recorder` at most. `limit` is what a process on the node may have: all memory of the node, or what the control group
(`memory.max`) lets it have. A process stands under its first PE. Silent where the archive does not have these, and of a piece of a run.

What decides between versions of a program is often not the time on this problem but whether the next one fits: see [the example prism](../../examples/prism/README.md).

**Source**: `VmHWM` of `/proc/PID/status`.
";

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let known = known(trace);
    if known.is_empty() {
        return Outcome::default();
    }
    let peaks = || known.iter().map(|(_, _, it)| it.peak as f64);
    let scalars = vec![
        Scalar::new("mean_peak", Unit::Bytes, peaks().sum::<f64>() / known.len() as f64),
        Scalar::new("highest_peak", Unit::Bytes, peaks().fold(0.0, f64::max)),
    ];
    let tables = vec![nodes(&known), processes(&known)];
    Outcome { sections: vec![Section { name: "memory", scalars, tables, ..Section::default() }], ..Outcome::default() }
}

/// Processes of which it is known, by their first PEs, with their nodes.
type Known = Vec<(PeId, StringId, Memory)>;

fn known(trace: &Trace) -> Known {
    let processes = trace.processes().iter_ids();
    processes.filter_map(|(id, process)| Some((*process.pes.first()?, process.node, trace.memory(id)?))).collect()
}

fn nodes(known: &Known) -> DataTable {
    /// Of its processes together; the limit is that of the one that may have most.
    struct Node {
        name: StringId,
        processes: u64,
        peaks: u64,
        recorder: u64,
        limit: u64,
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut numbers: FxHashMap<StringId, usize> = FxHashMap::default();
    for (_, name, memory) in known {
        let at = *numbers.entry(*name).or_insert(nodes.len());
        if at == nodes.len() {
            nodes.push(Node { name: *name, processes: 0, peaks: 0, recorder: 0, limit: 0 });
        }
        let node = &mut nodes[at];
        node.processes += 1;
        node.peaks = node.peaks.saturating_add(memory.peak);
        node.recorder = node.recorder.saturating_add(memory.recorder);
        node.limit = node.limit.max(memory.limit.unwrap_or(0));
    }
    let bytes = |of: fn(&Node) -> u64| nodes.iter().map(|node| of(node) as f64).collect();
    let columns = vec![
        Column::new("node", Values::Name(nodes.iter().map(|node| node.name).collect())),
        Column::new("processes", Values::Count(nodes.iter().map(|node| node.processes).collect())),
        Column::bytes("peaks", bytes(|node| node.peaks)),
        Column::bytes("recorder", bytes(|node| node.recorder)),
        Column::bytes("limit", bytes(|node| node.limit)),
    ];
    DataTable { name: "memory_of_nodes", columns }
}

fn processes(known: &Known) -> DataTable {
    let bytes = |of: fn(&Memory) -> u64| known.iter().map(|(_, _, it)| of(it) as f64).collect();
    let columns = vec![
        Column::new("process", Values::Pe(known.iter().map(|(pe, _, _)| *pe).collect())),
        Column::new("node", Values::Name(known.iter().map(|(_, node, _)| *node).collect())),
        Column::bytes("peak", bytes(|it| it.peak)),
        Column::bytes("recorder", bytes(|it| it.recorder)),
    ];
    DataTable { name: "memory_of_processes", columns }
}
