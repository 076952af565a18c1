//! The call paths of a part of a PE's events, while these come in.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::segment::RegionKey;

/// What a path was called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Parent {
    /// A path of the tree.
    Node(u32),
    /// The k-th visit from the top of the stack where the tree begins.
    Base(u32),
}

/// A path.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Node<K> {
    pub(crate) parent: Parent,
    pub(crate) step: K,
    /// Its latest child, or `NONE`; siblings form a list, so that few children need no hash.
    child: u32,
    sibling: u32,
}

const NONE: u32 = u32::MAX;

/// Paths in the order in which they are first visited, which are found again by what they are called from, and the last step to them: the region, if no more than that tells them apart. One that came
/// from another process is to be looked at and not to grow: how paths are found again is left behind.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "K: Serialize", deserialize = "K: Deserialize<'de>"))]
pub struct Tree<K = RegionKey> {
    nodes: Vec<Node<K>>,
    #[serde(skip, default = "FxHashMap::default")]
    roots: FxHashMap<(u32, K), u32>,
    /// All children of paths that have many, and which paths these are.
    #[serde(skip, default = "FxHashMap::default")]
    many: FxHashMap<(u32, K), u32>,
    #[serde(skip)]
    crowded: FxHashSet<u32>,
}

impl<K> Default for Tree<K> {
    fn default() -> Tree<K> {
        Tree { nodes: Vec::new(), roots: <_>::default(), many: <_>::default(), crowded: <_>::default() }
    }
}

impl<K: Copy + Eq + Hash> Tree<K> {
    pub(crate) fn into_nodes(self) -> Vec<Node<K>> {
        self.nodes
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    #[inline]
    pub fn step(&self, node: u32) -> K {
        self.nodes[node as usize].step
    }

    /// The path that a path is called from; none for a root.
    pub fn parent(&self, node: u32) -> Option<u32> {
        match self.nodes[node as usize].parent {
            Parent::Node(parent) => Some(parent),
            Parent::Base(_) => None,
        }
    }

    /// The path that a step leads to from the path `parent`.
    #[inline]
    pub fn child(&mut self, parent: u32, step: K) -> u32 {
        const FEW: usize = 12;
        let mut node = self.nodes[parent as usize].child;
        let mut seen = 0;
        while node != NONE {
            let it = &self.nodes[node as usize];
            if it.step == step {
                return node;
            }
            node = it.sibling;
            seen += 1;
            if seen == FEW {
                return self.child_of_many(parent, step);
            }
        }
        self.new_child(parent, step)
    }

    #[cold]
    fn child_of_many(&mut self, parent: u32, step: K) -> u32 {
        if self.crowded.insert(parent) {
            let mut node = self.nodes[parent as usize].child;
            while node != NONE {
                let it = &self.nodes[node as usize];
                self.many.insert((parent, it.step), node);
                node = it.sibling;
            }
        }
        if let Some(node) = self.many.get(&(parent, step)) {
            return *node;
        }
        let node = self.new_child(parent, step);
        self.many.insert((parent, step), node);
        node
    }

    fn new_child(&mut self, parent: u32, step: K) -> u32 {
        let node = self.nodes.len() as u32;
        let sibling = std::mem::replace(&mut self.nodes[parent as usize].child, node);
        self.nodes.push(Node { parent: Parent::Node(parent), step, child: NONE, sibling });
        node
    }

    /// The path that a step leads to from the k-th visit from the top of the stack where the tree begins; of a tree that begins with nothing, `base` is 0.
    pub fn root(&mut self, base: u32, step: K) -> u32 {
        let nodes = &mut self.nodes;
        *self.roots.entry((base, step)).or_insert_with(|| {
            nodes.push(Node { parent: Parent::Base(base), step, child: NONE, sibling: NONE });
            nodes.len() as u32 - 1
        })
    }
}
