//! Pipelining: a message in pieces, so that who sends it, the network and who needs it work at the same time.
//!
//! The model of PAMELA for one message: `par(i = 1..k) seq(use(cpu1, c/k + o), use(link, α + βm/k), use(cpu2, r/k + o))`, whose time is the sum of
//! the three stages and `k - 1` times the longest one.

use crate::graph::{Builder, EventGraph, Execution, ExecutionId, GraphError, Kind, Message, MessageId, TypeId};
use crate::priority::{CriticalPath, Options as Criticality};
use crate::simulate::Machine;

/// One message and the work before and after it, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stages {
    /// Work before sending, and after receiving.
    pub sender: f64,
    pub receiver: f64,
    /// What the whole message takes on the way beyond its latency: `βm`.
    pub transfer: f64,
    /// What each piece takes at either end, and on the way.
    pub overhead: f64,
    pub latency: f64,
}

/// When pipelining pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The most pieces.
    pub most: u32,
    /// Share of the time that must be saved.
    pub least: f64,
    pub criticality: Criticality,
}

impl Default for Options {
    fn default() -> Options {
        Options { most: 64, least: 0.05, criticality: Criticality::default() }
    }
}

/// In how many pieces, and what that takes in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degree {
    pub pieces: u32,
    pub whole: f64,
    pub pieced: f64,
}

impl Stages {
    fn of(&self, pieces: f64) -> [f64; 3] {
        let ends = [self.sender, self.receiver].map(|work| work / pieces + self.overhead);
        [ends[0], self.latency + self.transfer / pieces, ends[1]]
    }

    /// Ticks from the begin of the work to its end, in so many pieces.
    pub fn time(&self, pieces: u32) -> f64 {
        let stages = self.of(f64::from(pieces));
        stages.iter().sum::<f64>() + f64::from(pieces.saturating_sub(1)) * stages.iter().copied().fold(0.0, f64::max)
    }

    /// The best number of pieces: near `√((c + βm + r - s) / o)` for a dominant stage `s` with `o` for each piece. None where too little is
    /// saved.
    pub fn degree(&self, options: &Options) -> Option<Degree> {
        let all = self.sender + self.transfer + self.receiver;
        let stages = [(self.sender, self.overhead), (self.transfer, self.latency), (self.receiver, self.overhead)];
        let near = stages.iter().flat_map(|(work, each)| {
            let best = ((all - work) / each).sqrt().clamp(1.0, f64::from(options.most.max(1)));
            let best = if best.is_nan() { 1 } else { best as u32 };
            // Its neighbours, and one more above since it is rounded down.
            best.saturating_sub(1)..=best + 2
        });
        let fits = near.filter(|&pieces| (1..=options.most).contains(&pieces));
        let pieces = fits.min_by(|&a, &b| self.time(a).total_cmp(&self.time(b)).then(a.cmp(&b)))?;
        let (whole, pieced) = (self.time(1), self.time(pieces));
        (whole - pieced > options.least * whole).then_some(Degree { pieces, whole, pieced })
    }
}

/// A type of messages that is worth sending in pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipelining {
    pub message_type: TypeId,
    /// Critical messages between PEs, whose mean stages these are.
    pub messages: u64,
    pub stages: Stages,
    pub degree: Degree,
}

/// By type. Linear, and the critical path.
pub fn pipelining(graph: &EventGraph, machine: &Machine, options: &Options) -> Vec<Pipelining> {
    let path = CriticalPath::new(graph, |id| machine.way(graph, id));
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut sums: Vec<(u64, [f64; 3])> = Vec::new();
    for id in messages.kind.ids().filter(|&id| messages.kind[id] == Kind::Message) {
        let (source, destination) = (messages.source[id], messages.destination[id]);
        let apart = executions.pe[source] != executions.pe[destination];
        if apart && path.is_critical(path.slack_of(graph, id), &options.criticality) {
            let at = messages.message_type[id].0 as usize;
            sums.resize(sums.len().max(at + 1), (0, [0.0; 3]));
            let work = [graph.offset(id) as f64, graph.duration(destination) as f64, messages.bytes[id] as f64];
            sums[at].0 += 1;
            sums[at].1.iter_mut().zip(work).for_each(|(sum, value)| *sum += value);
        }
    }
    let of = |(at, (count, sums)): (usize, &(u64, [f64; 3]))| {
        let [sender, receiver, bytes] = sums.map(|sum| sum / *count as f64);
        let [send, receive, latency] = [machine.send, machine.receive, machine.latency].map(|cost| cost.max(0) as f64);
        let transfer = bytes * (machine.send_byte.max(0.0) + machine.byte.max(0.0));
        let stages = Stages { sender, receiver, transfer, overhead: f64::midpoint(send, receive), latency };
        let degree = stages.degree(options)?;
        Some(Pipelining { message_type: TypeId(at as u32), messages: *count, stages, degree })
    };
    sums.iter().enumerate().filter(|(_, sum)| sum.0 > 0).filter_map(of).collect()
}

/// The graph with all messages of a type in pieces: their destinations work in as many parts, one after the other, and pieces are sent while
/// the source works. O(V + pieces · pipelined messages).
pub fn in_pieces(graph: &EventGraph, message_type: TypeId, pieces: u32) -> Result<EventGraph, GraphError> {
    let pieces = i64::from(pieces.max(1));
    let (executions, messages) = (graph.executions(), graph.messages());
    let is_pieced = |id: MessageId| messages.kind[id] == Kind::Message && messages.message_type[id] == message_type;
    let mut made = Builder::new(graph.pes());
    for &rank in graph.arrays() {
        made.array(rank);
    }
    for object in graph.objects() {
        made.object(object.array, &object.at);
    }
    let mut parts: Vec<(ExecutionId, i64)> = Vec::new();
    for id in executions.object.ids() {
        let count = if graph.needed_by(id).any(is_pieced) { pieces } else { 1 };
        let (begin, duration) = (executions.begin[id], graph.duration(id));
        let at = |part: i64| begin + portion(duration, part, count);
        for part in 0..count {
            let (object, method, pe) = (executions.object[id], executions.method[id], executions.pe[id]);
            let piece = made.execution(Execution { object, method, pe, begin: at(part), end: at(part + 1) });
            if part == 0 {
                parts.push((piece, count));
            } else {
                let (source, sent) = (ExecutionId(piece.0 - 1), at(part));
                let kind = Kind::Dependence;
                made.message(Message {
                    source,
                    destination: piece,
                    kind,
                    message_type,
                    bytes: 0,
                    sent,
                    received: sent,
                });
            }
        }
    }
    for (id, object) in graph.objects().iter_ids().filter(|(_, object)| object.creator != ExecutionId::NONE) {
        made.created(id, parts[object.creator.0 as usize].0);
    }
    for id in messages.source.ids() {
        let (first, count) = parts[messages.source[id].0 as usize];
        let (offset, duration) = (graph.offset(id), graph.duration(messages.source[id]));
        let of_message = if is_pieced(id) { pieces } else { 1 };
        let bytes = |piece: i64| (u128::from(messages.bytes[id]) * piece as u128 / of_message as u128) as u64;
        for piece in 0..of_message {
            let sent = portion(offset, piece + 1, of_message);
            // The first part that ends when this is sent, or later; of parts that take no time, its own or the last one.
            let until =
                (i128::from(sent) * i128::from(count) + i128::from(duration) - 1).checked_div(i128::from(duration));
            let whole = if of_message == count { piece + 1 } else { count };
            let part = until.map_or(whole, |until| until as i64).max(1) - 1;
            let sent = executions.begin[messages.source[id]] + sent;
            let destination = parts[messages.destination[id].0 as usize].0;
            made.message(Message {
                source: ExecutionId(first.0 + part as u32),
                destination: ExecutionId(destination.0 + piece as u32),
                kind: messages.kind[id],
                message_type: messages.message_type[id],
                bytes: bytes(piece + 1) - bytes(piece),
                sent,
                received: sent + (messages.received[id] - messages.sent[id]),
            });
        }
    }
    made.seal()
}

fn portion(whole: i64, part: i64, count: i64) -> i64 {
    (i128::from(whole) * i128::from(part) / i128::from(count)) as i64
}
