//! `profile` and `tree`: where time goes, by region and by call path.

use partune_base::{CallPathId, Span};
use partune_engine::Kind;
use partune_report::names;
use serde::Serialize;

use super::Ask;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Rows of the table, nodes of the tree.
const ROWS: usize = 1000;
const NODES: usize = 2000;
/// Share of all time below which a node is left out where several levels are asked for.
const LEAST: f64 = 0.001;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Profile {
    regions: Regions,
    omitted: usize,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Regions {
    /// None for the code outside of all.
    region: Vec<Option<u32>>,
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

pub(super) fn profile(run: &Run, ask: &Ask<'_>) -> Result<Profile, Error> {
    let recorded = run.recorded();
    let (rows, most) = (recorded.flat(), ROWS.min(ask.most));
    let mut columns = Regions::default();
    for row in rows.iter().take(most) {
        let region = recorded.region(row.region);
        columns.region.push(row.region.some().map(|region| region.0));
        columns.name.push(text::region(recorded, row.region));
        columns.kind.push(region.map_or(Kind::Computation, |it| it.kind()) as usize);
        columns.file.push(region.map_or(String::new(), |it| text::name(it.file)));
        columns.line.push(region.map_or(0, |it| it.line));
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
    Ok(Profile { regions: columns, omitted: rows.len().saturating_sub(most) })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tree {
    all_s: f64,
    nodes: Nodes,
    omitted: usize,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Nodes {
    /// None for the code outside of all.
    path: Vec<Option<u32>>,
    parent: Vec<Option<usize>>,
    depth: Vec<usize>,
    region: Vec<Option<u32>>,
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

pub(super) fn tree(run: &Run, ask: &Ask<'_>) -> Result<Tree, Error> {
    let path = ask.query.number("path", 0..=u32::MAX)?.map(|path| run.call_path(path)).transpose()?;
    let levels = ask.query.number("depth", 1..=64usize)?.unwrap_or(1);
    let tree = run.recorded().tree();
    let all: Span = tree.all();
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
        if nodes.path.len() >= NODES.min(ask.most) || tree.node(*path).inclusive.0 < least {
            omitted += 1;
            continue;
        }
        let position = nodes.path.len();
        nodes.push(run, *path, parent, open.len() - 1);
        if open.len() < levels {
            open.push((Some(position), tree.children(*path).iter()));
        }
    }
    if path.is_none() && tree.outside().pes > 0 {
        nodes.push_outside(run);
    }
    Ok(Tree { all_s: run.seconds(all), nodes, omitted })
}

impl Nodes {
    fn push(&mut self, run: &Run, path: CallPathId, parent: Option<usize>, depth: usize) {
        let recorded = run.recorded();
        let node = recorded.tree().node(path);
        let partune_engine::Frame { region, site, .. } = recorded.frame(path);
        let (file, line) = if site.is_known() { (site.file, site.line) } else { (region.file, region.line) };
        self.path.push(Some(path.0));
        self.parent.push(parent);
        self.depth.push(depth);
        self.region.push(Some(region.id.0));
        self.name.push(text::name(region.name));
        self.kind.push(recorded.kind(path) as usize);
        self.file.push(text::name(file));
        self.line.push(line);
        self.inclusive_s.push(run.seconds(node.inclusive));
        self.exclusive_s.push(run.seconds(node.exclusive));
        self.visits.push(node.visits);
        self.pes.push(node.pes);
        self.most_s.push(run.seconds(node.most));
        self.waiting_s.push(run.seconds(node.waiting));
        self.children.push(recorded.tree().children(path).len());
    }

    fn push_outside(&mut self, run: &Run) {
        let node = run.recorded().tree().outside();
        self.path.push(None);
        self.parent.push(None);
        self.depth.push(0);
        self.region.push(None);
        self.name.push(names::OUTSIDE.to_owned());
        self.kind.push(Kind::Computation as usize);
        self.file.push(String::new());
        self.line.push(0);
        self.inclusive_s.push(run.seconds(node.inclusive));
        self.exclusive_s.push(run.seconds(node.exclusive));
        self.visits.push(node.visits);
        self.pes.push(node.pes);
        self.most_s.push(run.seconds(node.most));
        self.waiting_s.push(0.0);
        self.children.push(0);
    }
}
