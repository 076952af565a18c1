//! The call tree: time of every call path over all PEs, children by time, and of the code outside of all.

use partune_base::{CallPathId, Span, Table};
use partune_trace::Trace;

use crate::Spent;

/// Sums of one call path over PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub inclusive: Span,
    pub exclusive: Span,
    /// Exclusive time of it and of all below it, also of PEs that were below it only (a team's code hangs under the path that forked it).
    pub below: Span,
    /// In its own operations, and in those below it too.
    pub waited: Span,
    pub waiting: Span,
    pub visits: u64,
    /// PEs that were there.
    pub pes: u32,
    /// The largest exclusive time of one PE.
    pub most: Span,
}

/// All call paths that were visited, or that lead to one.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    nodes: Table<CallPathId, Node>,
    children: Table<CallPathId, Vec<CallPathId>>,
    roots: Vec<CallPathId>,
    outside: Node,
}

impl CallTree {
    /// Linear in call paths and in the times of PEs. A path that nobody visited, but that leads to others, has the inclusive time of its children.
    pub fn new(trace: &Trace, spent: &Spent) -> CallTree {
        let paths = trace.paths();
        let mut nodes: Table<CallPathId, Node> = Table::filled(paths.len(), Node::default());
        for row in spent.times.iter().flatten() {
            let node = &mut nodes[row.path];
            node.inclusive += row.inclusive;
            node.exclusive += row.exclusive;
            node.visits += row.visits;
            node.pes += 1;
            node.most = node.most.max(row.exclusive);
        }
        let mut children: Table<CallPathId, Vec<CallPathId>> = Table::filled(paths.len(), Vec::new());
        let mut roots = Vec::new();
        for path in paths.ids().rev() {
            let sum = |of: fn(&Node) -> Span| children[path].iter().map(|child| of(&nodes[*child])).sum::<Span>();
            let (below, all, waiting) = (sum(|it| it.inclusive), sum(|it| it.below), sum(|it| it.waiting));
            let waited = spent.waiting[path];
            let node = &mut nodes[path];
            (node.below, node.waited, node.waiting) = (node.exclusive + all, waited, waited + waiting);
            if nodes[path].visits == 0 {
                nodes[path].inclusive = below;
            }
            if nodes[path].visits == 0 && children[path].is_empty() {
                continue;
            }
            match paths.parent(path).some() {
                Some(parent) => children[parent].push(path),
                None => roots.push(path),
            }
        }
        let by_time = |list: &mut Vec<CallPathId>| {
            list.sort_by_key(|path| (std::cmp::Reverse(nodes[*path].inclusive), *path));
        };
        children.iter_mut().for_each(by_time);
        by_time(&mut roots);
        let mut outside = Node::default();
        for (_, time) in spent.outside.iter().copied() {
            outside.inclusive += time;
            outside.exclusive += time;
            outside.below += time;
            outside.pes += 1;
            outside.most = outside.most.max(time);
        }
        CallTree { nodes, children, roots, outside }
    }

    /// Paths without a parent, by inclusive time.
    pub fn roots(&self) -> &[CallPathId] {
        &self.roots
    }

    /// What main threads do outside of all recorded regions; nobody visits it.
    pub fn outside(&self) -> &Node {
        &self.outside
    }

    /// Time of all roots and outside of them.
    pub fn all(&self) -> Span {
        self.roots.iter().map(|root| self.nodes[*root].inclusive).sum::<Span>() + self.outside.inclusive
    }

    /// Paths directly below one, by inclusive time.
    pub fn children(&self, path: CallPathId) -> &[CallPathId] {
        &self.children[path]
    }

    pub fn node(&self, path: CallPathId) -> &Node {
        &self.nodes[path]
    }
}
