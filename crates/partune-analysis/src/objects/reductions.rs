//! Reductions of which all contributions are told: each is a join, an execution without duration that waits for all that contributed, and sends the result.
//!
//! What a method contributes leaves its PE when the method is over. So a join is then, where the last of them ended; but before the first execution that the result made run.

use std::ops::Range;

use partune_base::Time;
use partune_trace::{Execution, NO_MATCHING, Trace, Trigger, VisitIx};

use super::graph::{Inside, Vertex};

/// Joins, as vertices after all others.
pub(super) struct Reductions {
    /// What several contributed to, in order: numbers of messages, and positions among the parts.
    joined: Vec<(u64, Range<usize>)>,
    /// Numbers of messages, and vertices that contributed to them; in order.
    parts: Vec<(u64, usize)>,
    /// The vertex of the first join.
    first: usize,
}

impl Reductions {
    /// Appends a vertex for each. O(V log reductions) where there are any, and sorting of contributions.
    pub(super) fn new(trace: &Trace, vertices: &mut Vec<Vertex>) -> Reductions {
        let (parts, first) = (parts(trace, vertices), vertices.len());
        let mut joined = Vec::new();
        let mut end = 0;
        for same in parts.chunk_by(|a, b| a.0 == b.0) {
            end += same.len();
            if same.len() > 1 {
                joined.push((same[0].0, end - same.len()..end));
            }
        }
        let mut earliest: Vec<Option<usize>> = vec![None; joined.len()];
        for (at, vertex) in vertices.iter().enumerate().filter(|_| !parts.is_empty()) {
            if let Ok(number) = joined.binary_search_by_key(&vertex.row.message, |it| it.0) {
                let before = earliest[number].filter(|it| vertices[*it].row.begin <= vertex.row.begin);
                earliest[number] = before.or(Some(at));
            }
        }
        let mut kept = Vec::new();
        for ((message, of), earliest) in joined.into_iter().zip(earliest) {
            let Some(receiver) = earliest else { continue };
            let join = join(vertices, &parts[of.clone()], receiver);
            vertices.push(join);
            kept.push((message, of));
        }
        Reductions { joined: kept, parts, first }
    }

    /// How many vertices are no joins.
    pub(super) fn others(&self) -> usize {
        self.first
    }

    pub(super) fn is_join(&self, at: usize) -> bool {
        at >= self.first
    }

    /// The join that sends a message.
    pub(super) fn of(&self, message: u64) -> Option<usize> {
        Some(self.first + self.joined.binary_search_by_key(&message, |it| it.0).ok()?)
    }

    /// The vertices that contributed to a join; none of what is no join.
    pub(super) fn parts(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let of = at.checked_sub(self.first).and_then(|join| self.joined.get(join));
        of.into_iter().flat_map(move |(_, of)| &self.parts[of.clone()]).map(|(_, at)| *at)
    }
}

/// Which vertices contributed to which messages, each once.
fn parts(trace: &Trace, vertices: &[Vertex]) -> Vec<(u64, usize)> {
    let mut parts = Vec::new();
    let mut first = 0;
    for (pe, stream) in trace.streams().iter_ids() {
        let end = first + vertices[first..].partition_point(|vertex| vertex.pe <= pe);
        let mut inside = Inside::new(trace.paths(), stream, (vertices, first..end));
        let of_pe = stream.contributions.iter();
        parts.extend(of_pe.filter_map(|row| Some((row.message, inside.of(row.visit, row.time)?))));
        first = end;
    }
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn join(vertices: &[Vertex], parts: &[(u64, usize)], receiver: usize) -> Vertex {
    let last = parts.iter().map(|(_, at)| *at).max_by_key(|at| (vertices[*at].end, *at)).unwrap_or(receiver);
    let (last, receiver) = (&vertices[last], &vertices[receiver]);
    let begin = last.end.min(Time(receiver.row.begin.0.saturating_sub(1)));
    let (object, trigger, message) = (last.row.object, Trigger::Message, NO_MATCHING);
    Vertex {
        pe: last.pe,
        row: Execution { visit: VisitIx::NONE, begin, object, trigger, message },
        path: receiver.path,
        method: receiver.method,
        end: begin,
        outer: None,
        inner: 0,
    }
}
