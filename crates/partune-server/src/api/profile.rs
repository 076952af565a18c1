//! `profile` and `tree`: where time goes, by region and by call path.

use partune_base::{CallPathId, Span};
use partune_report::names;
use serde::Serialize;

use super::Ask;
use super::timeline::kind;
use crate::reply::{Answer, json};
use crate::run::Run;
use crate::text;

/// Rows of the table, nodes of the tree.
const ROWS: usize = 1000;
const NODES: usize = 2000;
/// Share of all time below which a node is left out where several levels are asked for.
const LEAST: f64 = 0.001;

#[derive(Serialize)]
struct Profile {
    regions: Regions,
    omitted: usize,
}

#[derive(Default, Serialize)]
struct Regions {
    region: Vec<u32>,
    name: Vec<String>,
    kind: Vec<usize>,
    file: Vec<String>,
    line: Vec<u32>,
    visits: Vec<u64>,
    pes: Vec<u32>,
    inclusive_s: Vec<f64>,
    exclusive_s: Vec<f64>,
    least_s: Vec<f64>,
    mean_s: Vec<f64>,
    most_s: Vec<f64>,
    most_pe: Vec<Option<u32>>,
    waiting_s: Vec<f64>,
    bytes: Vec<u64>,
}

pub(super) fn profile(run: &Run, _: &Ask<'_>) -> Answer {
    let trace = run.trace();
    let rows = run.flat();
    let mut columns = Regions::default();
    for row in rows.iter().take(ROWS) {
        let region = &trace.regions()[row.region];
        columns.region.push(row.region.0);
        columns.name.push(text::string(trace, region.name));
        columns.kind.push(partune_picture::Kind::of(region.role) as usize);
        columns.file.push(text::string(trace, region.file));
        columns.line.push(region.line);
        columns.visits.push(row.visits);
        columns.pes.push(row.pes);
        columns.inclusive_s.push(run.seconds(row.inclusive));
        columns.exclusive_s.push(run.seconds(row.exclusive));
        columns.least_s.push(run.seconds(row.least));
        columns.mean_s.push(run.seconds(row.exclusive) / f64::from(row.pes.max(1)));
        columns.most_s.push(run.seconds(row.most));
        columns.most_pe.push(run.number(row.most_pe));
        columns.waiting_s.push(run.seconds(row.waiting));
        columns.bytes.push(row.bytes);
    }
    json(&Profile { regions: columns, omitted: rows.len().saturating_sub(ROWS) })
}

#[derive(Serialize)]
struct Tree {
    all_s: f64,
    nodes: Nodes,
    omitted: usize,
}

#[derive(Default, Serialize)]
struct Nodes {
    path: Vec<u32>,
    parent: Vec<Option<usize>>,
    depth: Vec<usize>,
    region: Vec<u32>,
    name: Vec<String>,
    kind: Vec<usize>,
    file: Vec<String>,
    line: Vec<u32>,
    inclusive_s: Vec<f64>,
    exclusive_s: Vec<f64>,
    visits: Vec<u64>,
    pes: Vec<u32>,
    most_s: Vec<f64>,
    waiting_s: Vec<f64>,
    children: Vec<usize>,
}

pub(super) fn tree(run: &Run, ask: &Ask<'_>) -> Answer {
    let path = ask.query.number("path", 0..=u32::MAX)?.map(|path| run.call_path(path)).transpose()?;
    let levels = ask.query.number("depth", 1..=64usize)?.unwrap_or(1);
    let tree = run.tree();
    let all: Span = tree.roots().iter().map(|root| tree.node(*root).inclusive).sum();
    let least = if levels > 1 { (all.0 as f64 * LEAST) as i64 } else { 0 };
    let mut nodes = Nodes::default();
    let mut omitted = 0;
    // The next ones of each level that is open: depth first, children by time.
    let first = path.map_or(tree.roots(), |path| tree.children(path));
    let mut open: Vec<(Option<usize>, std::slice::Iter<'_, CallPathId>)> = vec![(None, first.iter())];
    while let Some((parent, rest)) = open.last_mut() {
        let parent = *parent;
        let Some(path) = rest.next() else {
            open.pop();
            continue;
        };
        if nodes.path.len() >= NODES || tree.node(*path).inclusive.0 < least {
            omitted += 1;
            continue;
        }
        let position = nodes.path.len();
        nodes.push(run, *path, parent, open.len() - 1);
        if open.len() < levels {
            open.push((Some(position), tree.children(*path).iter()));
        }
    }
    json(&Tree { all_s: run.seconds(all), nodes, omitted })
}

impl Nodes {
    fn push(&mut self, run: &Run, path: CallPathId, parent: Option<usize>, depth: usize) {
        let (trace, node) = (run.trace(), run.tree().node(path));
        let region = names::region(trace, path);
        let site = trace.paths().site(path);
        let (file, line) = if site.is_some() { (site.file, site.line) } else { (region.file, region.line) };
        self.path.push(path.0);
        self.parent.push(parent);
        self.depth.push(depth);
        self.region.push(trace.paths().region(path).0);
        self.name.push(text::string(trace, region.name));
        self.kind.push(kind(run, path) as usize);
        self.file.push(text::string(trace, file));
        self.line.push(line);
        self.inclusive_s.push(run.seconds(node.inclusive));
        self.exclusive_s.push(run.seconds(node.exclusive));
        self.visits.push(node.visits);
        self.pes.push(node.pes);
        self.most_s.push(run.seconds(node.most));
        self.waiting_s.push(run.seconds(run.waiting()[path]));
        self.children.push(run.tree().children(path).len());
    }
}
