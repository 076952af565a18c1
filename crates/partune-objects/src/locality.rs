//! How the objects of an array communicate: not at all, along the tree of their creation, everybody with everybody, with neighbours in a
//! stencil, or as the input wants.

use crate::graph::{ArrayId, Coordinates, DIMENSIONS, EventGraph, ExecutionId, Kind};
use crate::interaction::Interaction;

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// With at most this times `n` edges, `n` objects are independent.
    pub independent: f64,
    /// With a mean degree `2 m / n` of this times `n - 1` or more, everybody talks to everybody.
    pub all_to_all: f64,
    /// Share of the messages that the `3^d - 1` most frequent offsets of `d` dimensions cover, if they are a stencil.
    pub stencil: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { independent: 0.1, all_to_all: 0.75, stencil: 0.95 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    Independent,
    /// Messages go between creator and created only.
    Tree,
    AllToAll,
    /// Neighbours at few offsets of coordinates (destination less source), the most frequent first, with messages.
    Regular(Vec<(Coordinates, u64)>),
    InputDependent,
}

impl Class {
    /// The word for it, in tables and files.
    pub fn name(&self) -> &'static str {
        match self {
            Class::Independent => "independent",
            Class::Tree => "tree",
            Class::AllToAll => "all_to_all",
            Class::Regular(_) => "regular",
            Class::InputDependent => "input_dependent",
        }
    }
}

/// The class and what it was decided by.
#[derive(Clone, Debug, PartialEq)]
pub struct Locality {
    pub class: Class,
    pub objects: u64,
    /// Pairs of objects of the array that talk to each other beyond creation.
    pub edges: u64,
    /// Those of creator and created among them.
    pub family: u64,
    /// Messages between objects of the array, and how many of them the most frequent offsets cover.
    pub messages: u64,
    pub covered: u64,
}

/// Edges to objects of other arrays do not count. The order of the tests matters: a tree has about as many edges as objects. O(E log E).
pub fn locality(graph: &EventGraph, interaction: &Interaction, array: ArrayId, options: &Options) -> Locality {
    let inside = |id| graph.objects().get(id).is_some_and(|object| object.array == array);
    let objects = graph.objects().iter().filter(|object| object.array == array).count() as u64;
    let talking = || interaction.edges.iter().filter(|edge| edge.messages > 0 && inside(edge.a) && inside(edge.b));
    let edges = talking().count() as u64;
    let creator = |id| {
        let creator = graph.objects()[id].creator;
        (creator != ExecutionId::NONE).then(|| graph.executions().object[creator])
    };
    let family = talking().filter(|edge| creator(edge.a) == Some(edge.b) || creator(edge.b) == Some(edge.a));
    let family = family.count() as u64;
    let (offsets, messages) = offsets(graph, array);
    let rank = graph.arrays().get(array).map_or(0, |&rank| usize::from(rank).min(DIMENSIONS));
    let stencil: Vec<_> = offsets.into_iter().take(3_usize.pow(rank as u32) - 1).collect();
    let covered = stencil.iter().map(|offset| offset.1).sum();
    let class = if edges as f64 <= options.independent * objects as f64 {
        Class::Independent
    } else if family == edges {
        Class::Tree
    } else if 2.0 * edges as f64 / objects as f64 >= options.all_to_all * (objects as f64 - 1.0) {
        Class::AllToAll
    } else if !stencil.is_empty() && covered as f64 >= options.stencil * messages as f64 {
        Class::Regular(needed(stencil, messages, options.stencil))
    } else {
        Class::InputDependent
    };
    Locality { class, objects, edges, family, messages, covered }
}

/// The most frequent offsets that together are enough.
fn needed(stencil: Vec<(Coordinates, u64)>, messages: u64, share: f64) -> Vec<(Coordinates, u64)> {
    let mut sum = 0;
    let more = |offset: &(Coordinates, u64)| {
        let missing = (sum as f64) < share * messages as f64;
        sum += offset.1;
        missing
    };
    stencil.into_iter().take_while(more).collect()
}

/// Offsets between different objects of the array by how often they are, and the number of all messages.
fn offsets(graph: &EventGraph, array: ArrayId) -> (Vec<(Coordinates, u64)>, u64) {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut all: Vec<Coordinates> = Vec::new();
    for id in messages.kind.ids().filter(|&id| messages.kind[id] == Kind::Message) {
        let ends = [messages.source[id], messages.destination[id]].map(|end| executions.object[end]);
        let [source, destination] = ends.map(|end| graph.objects()[end]);
        if ends[0] != ends[1] && source.array == array && destination.array == array {
            all.push(std::array::from_fn(|dim| destination.at[dim].wrapping_sub(source.at[dim])));
        }
    }
    all.sort_unstable();
    let mut offsets: Vec<_> = all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
    offsets.sort_by_key(|&(offset, count)| (std::cmp::Reverse(count), offset));
    (offsets, all.len() as u64)
}
