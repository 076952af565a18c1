//! Processors: how long PEs could have run and had none, since more of them shared a node than it has processors, or others used them.

use partune_base::{CallPathId, PeId, ProcessId, Span, StringId};
use partune_trace::{PeKind, Ran, Trace};
use rustc_hash::FxHashMap;

use crate::useful::windows;
use crate::{
    Analysis, Column, DataTable, Finding, Input, Needs, Outcome, Pattern, Section, SectionShape, Shape, TableShape,
    Values,
};

pub(crate) static PROCESSORS: Analysis = Analysis {
    name: "processors",
    title: "Processors: who shared them, and how long PEs waited for one",
    docs: DOCS,
    finds: true,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "processors",
    scalars: &[],
    tables: &[TableShape {
        name: "nodes",
        columns: &[
            ("node", Shape::Name),
            ("model", Shape::Name),
            ("pes", Shape::Count),
            ("processors", Shape::Count),
            ("on_processor", Shape::SECONDS),
            ("waited", Shape::SECONDS),
            ("gave_up", Shape::Count),
            ("lost", Shape::Count),
        ],
    }],
}];

const DOCS: &str = "\
# Processors

From what the kernel counts for every thread, and the recorder reads after start-up and at shut-down (of threads that record something after that, when they end): the time on a processor, the time in which it
could run and another one did (*waited*), and how often it gave its processor up or lost it. Silent where the archive does not have these, and of a
piece of a run, of which they say nothing.

The `processors` of a node are those that its processes may use, all together (their affinity), and no more than a limit of their control group (`cpu.max`) lets
them use at a time.

`wait_for_processor`: PEs waited for a processor for at least 5 % of the run, each for no longer than the time between start-up and shut-down. Facts: of the node where
they waited longest, `pes`, `processors` and `slowdown` = (on processor + waited) / on processor. Who waits in a queue is late elsewhere, so the same
time may show in waits of others too; a slow network is not the reason for these.

**Source**: sched_info of Linux (`/proc/PID/task/TID/schedstat`); the finding is ours.
";

/// The share of the run from which waiting is told.
const LEAST: f64 = 0.05;

/// What PEs of a node did.
struct Node {
    name: StringId,
    model: StringId,
    pes: Vec<(PeId, Ran)>,
    processors: u64,
}

impl Node {
    /// A sum over its PEs, as far as there is room for it.
    fn sum(&self, of: fn(&Ran) -> u64) -> u64 {
        self.pes.iter().map(|(_, ran)| of(ran)).fold(0, u64::saturating_add)
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let nodes = nodes(input.trace);
    if nodes.is_empty() {
        return Outcome::default();
    }
    let findings = finding(input, &nodes).into_iter().collect();
    Outcome { findings, sections: vec![section(&nodes)] }
}

/// Where more PEs share the processors of a node than it has, and what that costs their work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowded {
    pub pes: usize,
    pub processors: u64,
    /// Of the time of the work of PEs there, the part in which they waited for a processor.
    pub share: f64,
}

impl Crowded {
    /// The node of a run where work waits most; none where every PE has a processor, or nothing is known of it. When a PE waited for its processor is not
    /// known. But who slept did not, and what it was neither asleep nor in operations it worked: its waiting is shared out over the time in
    /// which it could have run.
    pub fn of(trace: &Trace) -> Option<Crowded> {
        let windows = windows(trace);
        let of_pe = |(pe, ran): &(PeId, Ran)| {
            // It is counted until the recording ends.
            let (begin, end) = (windows[*pe].0, trace.streams()[*pe].end().unwrap_or(windows[*pe].1));
            let useful = crate::sums::useful(trace, *pe, windows[*pe]) as f64;
            let [on, waited] = [ran.on, ran.waited].map(|time| trace.clock().of_nanoseconds(time).0 as f64);
            let slept = (end.since(begin).0 as f64 - on - waited).max(0.0);
            let could = (useful - slept).max(0.0);
            (useful, waited * (could / (on + waited).max(1.0)).min(1.0))
        };
        let crowded = nodes(trace).into_iter().filter(|node| node.pes.len() as u64 > node.processors);
        let of_node = crowded.map(|node| {
            let (useful, waited) = node.pes.iter().map(of_pe).fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            let share = if useful > 0.0 { waited / useful } else { 0.0 };
            Crowded { pes: node.pes.len(), processors: node.processors, share }
        });
        of_node.max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

/// Nodes of which it is known, in the order of their first processes.
fn nodes(trace: &Trace) -> Vec<Node> {
    let mut nodes: Vec<(Node, Vec<ProcessId>)> = Vec::new();
    let mut known: FxHashMap<StringId, usize> = FxHashMap::default();
    for (id, process) in trace.processes().iter_ids() {
        let is_cpu = |pe: &PeId| trace.pes()[*pe].kind == PeKind::Cpu;
        let pes: Vec<(PeId, Ran)> =
            process.pes.iter().filter(|pe| is_cpu(pe)).filter_map(|pe| Some((*pe, trace.ran(*pe)?))).collect();
        let Some(cpus) = trace.cpus(id).filter(|_| !pes.is_empty()) else { continue };
        let at = *known.entry(process.node).or_insert(nodes.len());
        if at == nodes.len() {
            let node = Node { name: process.node, model: cpus.model, pes: Vec::new(), processors: 0 };
            nodes.push((node, Vec::new()));
        }
        nodes[at].0.pes.extend(pes);
        nodes[at].1.push(id);
    }
    let counted = nodes.into_iter().map(|(node, processes)| Node { processors: processors(trace, &processes), ..node });
    counted.collect()
}

/// How many processors some processes of a node may use together; 0 if nothing is known of them.
pub fn processors(trace: &Trace, processes: &[ProcessId]) -> u64 {
    let cpus = || processes.iter().filter_map(|process| trace.cpus(*process));
    let mut ranges: Vec<(u32, u32)> = cpus().flat_map(|cpus| cpus.allowed.iter().copied()).collect();
    ranges.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in ranges {
        let (first, end) = (u64::from(first).max(next), u64::from(last) + 1);
        count += end.saturating_sub(first);
        next = next.max(end);
    }
    let limit = cpus().filter_map(|cpus| cpus.quota).max().map(|quota| u64::from(quota).div_ceil(1000).max(1));
    limit.map_or(count, |limit| count.min(limit))
}

fn finding(input: &Input<'_>, nodes: &[Node]) -> Option<Finding> {
    let (trace, base) = (input.trace, input.base());
    let ticks = |nanoseconds: u64| trace.clock().of_nanoseconds(nanoseconds).min(base.length());
    let waited = |node: &Node| node.pes.iter().map(|(_, ran)| ticks(ran.waited)).sum::<Span>();
    // The first of several.
    let worst = nodes.iter().rev().max_by_key(|node| waited(node))?;
    let mut finding = Finding::at(trace, Pattern::WaitForProcessor, CallPathId::NONE);
    finding.pes = nodes.iter().flat_map(|node| &node.pes).map(|(pe, ran)| (*pe, ticks(ran.waited))).collect();
    finding.pes.retain(|(_, time)| time.is_positive());
    finding.pes.sort_unstable();
    finding.time = finding.pes.iter().map(|(_, time)| *time).sum();
    finding.unexplained = finding.time;
    finding.count = nodes.iter().map(|node| node.sum(|ran| ran.lost)).fold(0, u64::saturating_add).max(1);
    let on = worst.sum(|ran| ran.on);
    finding.facts = vec![
        ("pes", worst.pes.len() as f64),
        ("processors", worst.processors as f64),
        ("slowdown", on.saturating_add(worst.sum(|ran| ran.waited)) as f64 / on.max(1) as f64),
    ];
    let least = (base.total() as f64 * LEAST).max(1.0);
    (finding.time.0 as f64 >= least).then_some(finding)
}

fn section(nodes: &[Node]) -> Section {
    let sum = |of: fn(&Ran) -> u64| move |node: &Node| node.sum(of);
    let count = |of: &dyn Fn(&Node) -> u64| Values::Count(nodes.iter().map(of).collect());
    let seconds = |of: &dyn Fn(&Node) -> u64| nodes.iter().map(|node| of(node) as f64 / 1e9).collect();
    let name = |of: fn(&Node) -> StringId| Values::Name(nodes.iter().map(of).collect());
    let columns = vec![
        Column::new("node", name(|node| node.name)),
        Column::new("model", name(|node| node.model)),
        Column::new("pes", count(&|node| node.pes.len() as u64)),
        Column::new("processors", count(&|node| node.processors)),
        Column::seconds("on_processor", seconds(&sum(|ran| ran.on))),
        Column::seconds("waited", seconds(&sum(|ran| ran.waited))),
        Column::new("gave_up", count(&sum(|ran| ran.gave_up))),
        Column::new("lost", count(&sum(|ran| ran.lost))),
    ];
    Section { name: "processors", tables: vec![DataTable { name: "nodes", columns }], ..Section::default() }
}
