//! Combining: many small messages that one PE sends another, of which none is looked at before the last is sent, as one message.

use crate::graph::{EventGraph, Kind, MessageId, TypeId};
use crate::priority::{CriticalPath, Options as Criticality};
use crate::simulate::Machine;

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Messages that a group has at least.
    pub least: usize,
    /// Times the median gap between messages that are waited for the next one.
    pub patience: f64,
    /// Ticks that have to be gained, and more.
    pub gain: f64,
    pub criticality: Criticality,
}

impl Default for Options {
    fn default() -> Options {
        Options { least: 4, patience: 1.5, gain: 0.0, criticality: Criticality::default() }
    }
}

/// Messages of a type that are worth combining.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combining {
    pub message_type: TypeId,
    /// Groups, each from one PE to one PE, and messages in them.
    pub groups: u64,
    pub messages: u64,
    /// Messages to wait for: objects of the sending array on a PE.
    pub count: u64,
    /// Ticks after which what is there is sent: `1.5 (count - 1)` median gaps, and no more than the smallest slack of a group that is not critical.
    pub timeout: i64,
    /// Ticks of PEs that are saved, `(n - 1) (o_s + o_r)` for each group of `n`, less what the first message of a critical group waits.
    pub gain: f64,
}

/// By type; only what gains enough. O(E log E), and the critical path.
pub fn combining(graph: &EventGraph, machine: &Machine, options: &Options) -> Vec<Combining> {
    let path = CriticalPath::new(graph, |id| machine.way(graph, id));
    let (executions, messages) = (graph.executions(), graph.messages());
    let key = |id: MessageId| {
        let pes = [messages.source[id], messages.destination[id]].map(|end| executions.pe[end]);
        (messages.message_type[id], pes[0], pes[1])
    };
    let apart = |&id: &MessageId| {
        let (_, from, to) = key(id);
        messages.kind[id] == Kind::Message && from != to
    };
    let mut all: Vec<MessageId> = messages.kind.ids().filter(apart).collect();
    all.sort_by_key(|&id| (key(id), messages.sent[id], id));
    let mut found = Vec::new();
    for of_type in all.chunk_by(|&a, &b| key(a).0 == key(b).0) {
        let mut groups: Vec<&[MessageId]> = Vec::new();
        for same in of_type.chunk_by(|&a, &b| key(a) == key(b)) {
            let mut rest = same;
            while !rest.is_empty() {
                let (group, others) = rest.split_at(together(graph, rest));
                groups.extend((group.len() >= options.least).then_some(group));
                rest = others;
            }
        }
        found.extend(judge(graph, machine, &path, &groups, options));
    }
    found
}

/// How many of the first messages are sent before any of them is looked at.
fn together(graph: &EventGraph, rest: &[MessageId]) -> usize {
    let messages = graph.messages();
    let mut looked_at = i64::MAX;
    let later = rest.iter().position(|&id| {
        let is_later = messages.sent[id] > looked_at;
        looked_at = looked_at.min(graph.executions().begin[messages.destination[id]]);
        is_later
    });
    later.unwrap_or(rest.len())
}

fn judge(
    graph: &EventGraph,
    machine: &Machine,
    path: &CriticalPath,
    groups: &[&[MessageId]],
    options: &Options,
) -> Option<Combining> {
    let messages = graph.messages();
    let first = *groups.first()?.first()?;
    let object = graph.executions().object[messages.source[first]];
    let array = graph.objects()[object].array;
    let senders = graph.objects().iter().filter(|object| object.array == array).count() as u64;
    let count = senders.div_ceil(u64::from(graph.pes().max(1)));
    let sent = |id: &MessageId| messages.sent[*id];
    let gaps = groups.iter().flat_map(|group| group.windows(2).map(|pair| sent(&pair[1]) - sent(&pair[0])));
    let mut gaps: Vec<i64> = gaps.collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
    let mut timeout = options.patience * count.saturating_sub(1) as f64 * median as f64;
    let mut gain = 0.0;
    for group in groups {
        let slack = group.iter().map(|&id| path.slack_of(graph, id)).min().unwrap_or(0);
        gain += (group.len() - 1) as f64 * (machine.send + machine.receive) as f64;
        if path.is_critical(slack, &options.criticality) {
            // It is waited for: what the first message waits for the last one is lost.
            gain -= (sent(&group[group.len() - 1]) - sent(&group[0])) as f64;
        } else {
            timeout = timeout.min(slack as f64);
        }
    }
    let in_groups = groups.iter().map(|group| group.len() as u64).sum();
    let (message_type, timeout) = (messages.message_type[first], timeout as i64);
    let found = Combining { message_type, groups: groups.len() as u64, messages: in_groups, count, timeout, gain };
    (gain > options.gain).then_some(found)
}
