//! Who talks to whom: objects, and between two of them how many messages and bytes went either way.

use partune_base::Table;

use crate::graph::{EventGraph, Kind, MessageId, ObjectId};
use crate::partition::Weighted;

/// What went between two objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The one with the smaller id.
    pub a: ObjectId,
    pub b: ObjectId,
    /// Messages that are no creations; dependences between objects count as such.
    pub messages: u64,
    /// Whether `a` made `b`, or `b` made `a`.
    pub creation: bool,
    pub bytes: u64,
}

/// The object-interaction graph, sparse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// By both ends. What an object sends itself is left out.
    pub edges: Vec<Edge>,
    /// Ticks that each object executes.
    pub loads: Table<ObjectId, i64>,
}

/// What an edge weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Messages,
    Bytes,
}

impl Interaction {
    /// O(E log E).
    pub fn new(graph: &EventGraph) -> Interaction {
        let (executions, messages) = (graph.executions(), graph.messages());
        let mut pairs: Vec<(ObjectId, ObjectId, u32)> = Vec::new();
        for id in messages.source.ids() {
            let ends = [messages.source[id], messages.destination[id]].map(|end| executions.object[end]);
            if ends[0] != ends[1] {
                pairs.push((ends[0].min(ends[1]), ends[0].max(ends[1]), id.0));
            }
        }
        pairs.sort_unstable();
        let edge = |pairs: &[(ObjectId, ObjectId, u32)]| {
            let ids = || pairs.iter().map(|pair| MessageId(pair.2));
            let creations = ids().filter(|&id| messages.kind[id] == Kind::Creation).count();
            let bytes = ids().fold(0_u64, |sum, id| sum.saturating_add(messages.bytes[id]));
            let messages = (pairs.len() - creations) as u64;
            Edge { a: pairs[0].0, b: pairs[0].1, messages, creation: creations > 0, bytes }
        };
        let edges = pairs.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)).map(edge).collect();
        Interaction { edges, loads: graph.loads() }
    }

    /// For the partitioner: objects weigh what they execute.
    pub fn weighted(&self, weight: Weight) -> Weighted {
        let of = |edge: &Edge| match weight {
            Weight::Messages => edge.messages + u64::from(edge.creation),
            Weight::Bytes => edge.bytes,
        };
        let edges: Vec<_> = self.edges.iter().map(|edge| (edge.a.0, edge.b.0, of(edge))).collect();
        let loads: Vec<_> = self.loads.iter().map(|&load| load as u64).collect();
        Weighted::new(&loads, &edges)
    }

    /// Messages between objects that a placement puts on different PEs.
    pub fn cut(&self, pes: &Table<ObjectId, u32>) -> u64 {
        let apart = self.edges.iter().filter(|edge| pes.get(edge.a) != pes.get(edge.b));
        apart.map(|edge| edge.messages).sum()
    }
}
