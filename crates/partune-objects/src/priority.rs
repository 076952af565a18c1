//! What is critical, and the priorities that follow from it: levels of message types, and linear functions of objects' coordinates.
//!
//! A message leaves its source while that runs, at [`EventGraph::offset`]; so the longest way from an execution to the end is
//! `tail(v) = max(duration, max over messages (offset + cost + tail))`, and `begin(v)` is the longest way to it. The critical path is the
//! largest of all tails; the slack of `v` is what `begin(v) + tail(v)` lacks to it.

use partune_base::Table;

use crate::graph::{ArrayId, EventGraph, ExecutionId, Kind, MessageId, ObjectId, TypeId};
pub use crate::statistics::Line;
use crate::statistics::mean;

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of the critical path up to which slack is none.
    pub critical: f64,
    /// Share of the variance that a linear priority must explain.
    pub linear: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { critical: 0.02, linear: 0.9 }
    }
}

/// The longest ways through a graph, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    pub length: i64,
    /// The longest way to each execution: it cannot begin earlier.
    pub begin: Table<ExecutionId, i64>,
    /// The longest way from its begin to the end of the run.
    pub tail: Table<ExecutionId, i64>,
    /// What is between the sending of each message and the begin of its destination, if nothing else is waited for.
    pub cost: Table<MessageId, i64>,
}

impl CriticalPath {
    /// With these costs of messages; negative ones are taken for 0. Linear.
    pub fn new(graph: &EventGraph, cost: impl Fn(MessageId) -> i64) -> CriticalPath {
        let messages = graph.messages();
        let cost: Table<MessageId, i64> = messages.source.ids().map(|id| cost(id).max(0)).collect();
        let mut begin = Table::filled(graph.order().len(), 0_i64);
        let mut tail = begin.clone();
        for &id in graph.order() {
            for message in graph.sent_by(id) {
                let at = begin[id].saturating_add(graph.offset(message)).saturating_add(cost[message]);
                let next = messages.destination[message];
                begin[next] = begin[next].max(at);
            }
        }
        for &id in graph.order().iter().rev() {
            let way = |message| {
                let rest: i64 = tail[messages.destination[message]];
                graph.offset(message).saturating_add(cost[message]).saturating_add(rest)
            };
            tail[id] = graph.sent_by(id).map(way).fold(graph.duration(id), i64::max);
        }
        let length = tail.iter().max().copied().unwrap_or(0);
        CriticalPath { length, begin, tail, cost }
    }

    pub fn slack(&self, id: ExecutionId) -> i64 {
        self.length - self.begin[id].saturating_add(self.tail[id])
    }

    /// What a message may come later without the run ending later.
    pub fn slack_of(&self, graph: &EventGraph, id: MessageId) -> i64 {
        let (source, destination) = (graph.messages().source[id], graph.messages().destination[id]);
        let way = self.begin[source].saturating_add(graph.offset(id)).saturating_add(self.cost[id]);
        self.length - way.saturating_add(self.tail[destination])
    }

    pub fn is_critical(&self, slack: i64, options: &Options) -> bool {
        slack as f64 <= options.critical * self.length as f64
    }
}

/// How urgent messages of a type are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub message_type: TypeId,
    /// From 0, the most urgent. Types of equal scores have the same one.
    pub level: u32,
    /// The share of its messages that are critical less that of all others, in [-1, 1].
    pub score: f64,
    pub messages: u64,
    pub critical: u64,
}

/// All types by score; none where there is one type only, or all are alike. Linear.
pub fn levels(graph: &EventGraph, path: &CriticalPath, options: &Options) -> Vec<Level> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (id, message_type) in graph.messages().message_type.iter_ids() {
        if graph.messages().kind[id] == Kind::Dependence {
            continue;
        }
        let at = message_type.0 as usize;
        counts.resize(counts.len().max(at + 1), (0, 0));
        counts[at].0 += 1;
        counts[at].1 += u64::from(path.is_critical(path.slack_of(graph, id), options));
    }
    let all = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let share = |(messages, critical): (u64, u64)| if messages == 0 { 0.0 } else { critical as f64 / messages as f64 };
    let level = |(at, &(messages, critical)): (usize, &(u64, u64))| {
        let score = share((messages, critical)) - share((all.0 - messages, all.1 - critical));
        Level { message_type: TypeId(at as u32), level: 0, score, messages, critical }
    };
    let mut found: Vec<Level> = counts.iter().enumerate().filter(|(_, count)| count.0 > 0).map(level).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.message_type.cmp(&b.message_type)));
    for at in 1..found.len() {
        found[at].level = found[at - 1].level + u32::from(found[at - 1].score - found[at].score > 1e-9);
    }
    if found.last().is_some_and(|last| last.level > 0) { found } else { Vec::new() }
}

/// Priorities of the objects of an array, the smaller the more urgent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Objects with critical executions by rank from 0; equal scores share the mean of their ranks.
    pub ranks: Vec<(ObjectId, f64)>,
    /// Rank as a function of coordinates, if it is linear.
    pub line: Option<Line>,
}

/// Objects are urgent that are critical early: the score is the mean of `1 - begin / path` over the critical executions. (A sum, instead,
/// grows with their number: where all is critical, as in an elimination whose messages cost nothing, it ranks what ends last first.)
/// O(V + n log n).
pub fn ranking(graph: &EventGraph, array: ArrayId, path: &CriticalPath, options: &Options) -> Ranking {
    let mut scores: Vec<(ObjectId, f64)> = Vec::new();
    for (id, _) in graph.objects().iter_ids().filter(|(_, object)| object.array == array) {
        let critical = graph.executed_by(id).filter(|&it| path.is_critical(path.slack(it), options));
        let early = |it| 1.0 - path.begin[it] as f64 / path.length.max(1) as f64;
        let early: Vec<f64> = critical.map(early).collect();
        if !early.is_empty() {
            scores.push((id, mean(&early)));
        }
    }
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut ranks = Vec::new();
    for same in scores.chunk_by(|a, b| a.1 - b.1 <= 1e-12) {
        let rank = ranks.len() as f64 + (same.len() - 1) as f64 / 2.0;
        ranks.extend(same.iter().map(|it| (it.0, rank)));
    }
    let rank = usize::from(graph.arrays().get(array).copied().unwrap_or(0));
    let at = |id: ObjectId| graph.objects()[id].at[..rank].iter().map(|&x| f64::from(x)).collect();
    let points: Vec<_> = ranks.iter().map(|&(id, rank)| (at(id), rank)).collect();
    let varies = |line: &Line| line.slopes.iter().any(|&slope| slope != 0.0) && line.r2 >= options.linear;
    Ranking { line: Line::fit(&points).filter(varies), ranks }
}
