//! What waits for several: reductions, and methods that act on all that their object heard.
//!
//! Of a message that the runtime passes on only the sender is recorded. Managers of reductions take several messages and send one on: their executions that send nothing are joined
//! to the next one of the same method on their PE, and to the next message that their PE sends to that method; so are methods of the program that contribute without a message. Where an
//! execution of the program sends what joins of its PE send, it contributed last.
//! Nobody tells them by name. Where contributions are told, these are what is joined.

use std::collections::BTreeSet;

use partune_base::{PeId, RegionId, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{By, Sources, Vertex};
use super::reductions::Reductions;

/// Executions by PE and method, in order, and what each method was sent from each PE.
pub(super) struct Joins<'a> {
    vertices: &'a [Vertex],
    sources: &'a Sources,
    reductions: Reductions,
    /// Whether an execution is of an object of the program.
    is_own: Vec<bool>,
    sends: Vec<bool>,
    of_method: FxHashMap<(PeId, RegionId), Vec<usize>>,
    /// When what the runtime passes on was sent to a method, by the sender's PE.
    sent_to: FxHashMap<(PeId, RegionId), Vec<Time>>,
}

impl<'a> Joins<'a> {
    /// `is_own`: of the vertices that are no joins of told contributions. Linear, but for sorting.
    pub(super) fn new(
        vertices: &'a [Vertex],
        sources: &'a Sources,
        reductions: Reductions,
        is_own: Vec<bool>,
    ) -> Joins<'a> {
        let mut sends = vec![false; vertices.len()];
        for sent in sources.all() {
            if let By::Vertex(vertex) = sent.by {
                sends[vertex] = true;
            }
        }
        let mut of_method: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        let mut sent_to: FxHashMap<_, Vec<Time>> = FxHashMap::default();
        for (at, vertex) in vertices[..reductions.others()].iter().enumerate() {
            of_method.entry((vertex.pe, vertex.method)).or_default().push(at);
            if !is_own[at]
                && let Some(sent) = sources.sent(vertex.row.message, vertex.row.begin)
                && let By::Vertex(by) = sent.by
            {
                sent_to.entry((vertices[by].pe, vertex.method)).or_default().push(sent.time);
            }
        }
        sent_to.values_mut().for_each(|times| times.sort_unstable());
        Joins { vertices, sources, reductions, is_own, sends, of_method, sent_to }
    }

    /// Whether an execution is of an object of the program.
    pub(super) fn is_own(&self, at: usize) -> bool {
        self.is_own.get(at).is_some_and(|is_own| *is_own)
    }

    /// Whether what the runtime did there joins several.
    pub(super) fn is_join(&self, at: usize) -> bool {
        self.is_told(at) || !self.is_own[at] && self.sends[at] && self.before(at).next().is_some()
    }

    /// Whether contributions are joined there that are told.
    pub(super) fn is_told(&self, at: usize) -> bool {
        self.reductions.is_join(at)
    }

    /// The join of the contributions to a message, where several are told.
    pub(super) fn told(&self, message: u64) -> Option<usize> {
        self.reductions.of(message)
    }

    /// Executions of the same method on the same PE directly before one, which sent nothing.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let vertex = &self.vertices[at];
        self.silent(vertex.pe, vertex.method, Time::MIN, vertex.row.begin)
    }

    /// Executions of a method that sent nothing, the last ones before a time, and not before another one.
    fn silent(&self, pe: PeId, method: RegionId, since: Time, until: Time) -> impl Iterator<Item = usize> + '_ {
        let all = self.of_method.get(&(pe, method)).map_or(&[][..], Vec::as_slice);
        let end = all.partition_point(|at| self.vertices[*at].row.begin < until);
        let is_silent = move |at: &usize| !self.sends[*at] && self.vertices[*at].row.begin >= since;
        all[..end].iter().rev().copied().take_while(is_silent)
    }

    /// Executions of the program that a join waits for. At most linear in the messages that it joins.
    pub(super) fn inputs(&self, join: usize) -> BTreeSet<usize> {
        if !self.is_told(join) {
            return self.gathered(self.before(join).chain([join]).collect());
        }
        let (own, others): (Vec<usize>, Vec<usize>) = self.reductions.parts(join).partition(|at| self.is_own(*at));
        own.into_iter().chain(self.gathered(others)).collect()
    }

    /// Executions that an execution of the program waits for which did what a method of the runtime does, that joins: what that method executed on its PE since
    /// a time, and what the program's own did.
    pub(super) fn inputs_as(&self, at: usize, method: RegionId, (since, until): (Time, Time)) -> BTreeSet<usize> {
        let Vertex { pe, method: own, row, .. } = &self.vertices[at];
        let mut inputs = self.gathered(self.silent(*pe, method, since, until).collect());
        inputs.extend(self.silent(*pe, *own, since, row.begin).filter(|at| self.is_own[*at]));
        inputs
    }

    /// Executions of the program from which these of the runtime came, which join.
    fn gathered(&self, mut open: Vec<usize>) -> BTreeSet<usize> {
        let mut inputs = BTreeSet::new();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let vertex = &self.vertices[at];
            let Some(sent) = self.sources.sent(vertex.row.message, vertex.row.begin) else { continue };
            let By::Vertex(by) = sent.by else { continue };
            let (pe, time) = (self.vertices[by].pe, sent.time);
            let times = self.sent_to.get(&(pe, vertex.method)).map_or(&[][..], Vec::as_slice);
            let earlier = times.partition_point(|it| *it < time);
            let since = earlier.checked_sub(1).map_or(Time::MIN, |last| times[last]);
            open.extend(self.silent(pe, vertex.method, since, time));
            if self.is_own[by] {
                inputs.insert(by);
                let (method, begin) = (self.vertices[by].method, self.vertices[by].row.begin);
                inputs.extend(self.silent(pe, method, since, begin).filter(|at| self.is_own[*at]));
            } else {
                open.push(by);
                open.extend(self.before(by));
            }
        }
        inputs
    }
}
