//! The simulation: PEs act in order of time. What one sends arrives later than it acts, so no PE is ever too early.

use std::collections::BTreeMap;

use partune_base::{PeId, Table};

use super::pe::{Clock, Item, Pe, What};
use super::{Combine, Machine, Order, Outcome, PeTimes, Plan, Priorities, Roots, SimulateError};
use crate::graph::{EventGraph, ExecutionId, Kind, MessageId};

/// Executes all. O((V + E) (log messages on their way to a PE + log PEs)); about 50 bytes a message.
pub fn simulate(graph: &EventGraph, machine: &Machine, plan: &Plan) -> Result<Outcome, SimulateError> {
    let pe = placed(graph, plan)?;
    let (executions, messages) = (pe.len(), graph.messages().source.len());
    let mut run = Run {
        graph,
        machine,
        plan,
        combined: combined(plan),
        missing: graph.executions().object.ids().map(|id| graph.needed_by(id).len() as u32).collect(),
        pes: vec![Pe::default(); plan.pes as usize],
        clock: Clock::new(plan.pes as usize),
        numbers: 0,
        next: vec![NONE; messages],
        buffers: BTreeMap::new(),
        flushes: Vec::new(),
        copies: vec![NONE; plan.pes as usize],
        done: Outcome {
            makespan: 0,
            pes: vec![PeTimes::default(); plan.pes as usize],
            pe,
            begin: Table::filled(executions, 0),
            end: Table::filled(executions, 0),
            sent: Table::filled(messages, 0),
            received: Table::filled(messages, 0),
            carried: 0,
        },
    };
    run.start();
    while let Some((now, pe)) = run.clock.first() {
        run.act(pe, now);
    }
    Ok(run.done)
}

/// No message.
const NONE: u32 = u32::MAX;

struct Run<'a> {
    graph: &'a EventGraph,
    machine: &'a Machine,
    plan: &'a Plan,
    /// By type.
    combined: Vec<Option<Combine>>,
    /// What each execution still needs.
    missing: Vec<u32>,
    pes: Vec<Pe>,
    clock: Clock,
    numbers: u64,
    /// The message that comes to a PE together with this one.
    next: Vec<u32>,
    /// By type, sender and receiver.
    buffers: BTreeMap<(u32, u32, u32), Buffer>,
    /// Where buffers are whose time is over, and their numbers.
    flushes: Vec<((u32, u32, u32), u32)>,
    /// The first message of a multicast for each PE, while it is sent.
    copies: Vec<u32>,
    done: Outcome,
}

/// Messages that wait for more.
struct Buffer {
    number: u32,
    first: u32,
    last: u32,
    count: u32,
    bytes: u64,
}

fn placed(graph: &EventGraph, plan: &Plan) -> Result<Table<ExecutionId, PeId>, SimulateError> {
    let executions = graph.executions();
    let of = |id: ExecutionId| {
        let pe = match &plan.placement {
            Some(placement) => placement.get(executions.object[id]).copied(),
            None => Some(executions.pe[id].0),
        };
        pe.filter(|&pe| pe < plan.pes).map(PeId).ok_or(SimulateError::NoPe(id))
    };
    executions.object.ids().map(of).collect::<Result<Vec<_>, _>>().map(Table::from)
}

fn combined(plan: &Plan) -> Vec<Option<Combine>> {
    let known = plan.combining.iter().filter(|it| it.message_type.0 < crate::graph::NAMES && it.count > 1);
    let mut combined = Vec::new();
    for &it in known {
        let at = it.message_type.0 as usize;
        combined.resize(combined.len().max(at + 1), None);
        combined[at] = Some(it);
    }
    combined
}

impl Priorities {
    fn of(&self, graph: &EventGraph, message: MessageId) -> u64 {
        let messages = graph.messages();
        let object = graph.executions().object[messages.destination[message]];
        let by_type = self.types.get(messages.message_type[message]).copied().unwrap_or(0);
        u64::from(by_type) << 32 | u64::from(self.objects.get(object).copied().unwrap_or(0))
    }
}

impl Run<'_> {
    fn start(&mut self) {
        let (begin, _) = self.graph.span();
        for id in self.graph.executions().object.ids() {
            if self.missing[id.0 as usize] > 0 {
                continue;
            }
            let time = match self.plan.roots {
                Roots::AtOnce => 0,
                Roots::AsRecorded => self.graph.executions().begin[id] - begin,
            };
            let object = self.graph.executions().object[id];
            let ranks = self.plan.priorities.as_ref();
            let urgency = ranks.and_then(|it| it.objects.get(object)).map_or(0, |&rank| u64::from(rank));
            self.push(self.done.pe[id].0, time, urgency, What::Ready(id.0));
        }
    }

    fn push(&mut self, pe: u32, time: i64, urgency: u64, what: What) {
        self.numbers += 1;
        let pe = pe as usize;
        let before = self.pes[pe].next();
        self.pes[pe].push(Item { time, number: self.numbers, urgency, what });
        let next = self.pes[pe].next();
        if next != before {
            self.clock.set(pe, next);
        }
    }

    fn urgency(&self, message: u32) -> u64 {
        self.plan.priorities.as_ref().map_or(0, |it| it.of(self.graph, MessageId(message)))
    }

    /// One PE takes one thing up.
    fn act(&mut self, pe: usize, now: i64) {
        let taken = self.pes[pe].take(now, self.plan.priorities.is_some());
        let end = match taken {
            Some(What::Local(message)) => self.take(pe, message, now, false),
            Some(What::Remote(message)) => self.take(pe, message, now, true),
            Some(What::Met(message)) => self.deliver(pe, message, now, now),
            Some(What::Copy(first)) => self.spread(pe, first, now),
            Some(What::Combined(first)) => self.unpack(pe, first, now),
            Some(What::Ready(id)) => self.execute(pe, ExecutionId(id), now),
            Some(What::Flush(number)) => self.time_over(pe, number, now),
            None => now,
        };
        self.pes[pe].free = end;
        self.clock.set(pe, self.pes[pe].next());
    }

    fn spend(&mut self, pe: usize, now: i64, cost: i64) -> i64 {
        let overhead = &mut self.done.pes[pe].overhead;
        *overhead = overhead.saturating_add(cost);
        self.done.makespan = self.done.makespan.max(now.saturating_add(cost));
        now.saturating_add(cost)
    }

    fn take(&mut self, pe: usize, message: u32, now: i64, remote: bool) -> i64 {
        let creation = self.graph.messages().kind[MessageId(message)] == Kind::Creation;
        let ready = self.spend(pe, now, self.machine.taking(remote, creation));
        self.deliver(pe, message, now, ready)
    }

    /// A message is there; its destination runs if that was the last one.
    fn deliver(&mut self, pe: usize, message: u32, taken: i64, now: i64) -> i64 {
        self.done.received[MessageId(message)] = taken;
        let destination = self.graph.messages().destination[MessageId(message)];
        self.missing[destination.0 as usize] -= 1;
        if self.missing[destination.0 as usize] == 0 { self.execute(pe, destination, now) } else { now }
    }

    /// A copy of a multicast becomes local messages.
    fn spread(&mut self, pe: usize, first: u32, now: i64) -> i64 {
        let now = self.spend(pe, now, self.machine.taking(true, false));
        let mut message = first;
        while message != NONE {
            self.push(pe as u32, now, self.urgency(message), What::Local(message));
            message = self.next[message as usize];
        }
        now
    }

    fn unpack(&mut self, pe: usize, first: u32, now: i64) -> i64 {
        let mut end = self.spend(pe, now, self.machine.taking(true, false));
        let mut message = first;
        while message != NONE {
            end = self.deliver(pe, message, now, end);
            message = self.next[message as usize];
        }
        end
    }

    /// Runs an execution with all that it sends, and says when it ended.
    fn execute(&mut self, pe: usize, id: ExecutionId, begin: i64) -> i64 {
        let graph = self.graph;
        let messages = graph.messages();
        let (mut now, mut worked) = (begin, 0);
        let mut sent = graph.sent_by(id).peekable();
        let mut group: Vec<u32> = Vec::new();
        while let Some(message) = sent.next() {
            let offset = graph.offset(message);
            now = now.saturating_add(offset - worked);
            worked = offset;
            let alike = |other: MessageId| {
                let columns = |id| (messages.kind[id], messages.message_type[id]);
                columns(other) == columns(message) && graph.offset(other) == offset
            };
            group.clear();
            group.push(message.0);
            if messages.kind[message] == Kind::Dependence {
                self.meet(pe, message, now);
                continue;
            }
            while let Some(other) = sent.next_if(|&other| alike(other)) {
                group.push(other.0);
            }
            now = if group.len() > 1 && self.combining(message).is_none() {
                self.multicast(pe, &group, now)
            } else {
                group.iter().fold(now, |now, &message| self.send(pe, message, now))
            };
        }
        let duration = graph.duration(id);
        let work = &mut self.done.pes[pe].work;
        *work = work.saturating_add(duration);
        let end = now.saturating_add(duration - worked);
        (self.done.begin[id], self.done.end[id]) = (begin, end);
        self.done.makespan = self.done.makespan.max(end);
        end
    }

    fn combining(&self, message: MessageId) -> Option<Combine> {
        let message_type = self.graph.messages().message_type[message];
        self.combined.get(message_type.0 as usize).copied().flatten()
    }

    /// Something that is no message costs nothing, and takes its way where that is known.
    fn meet(&mut self, pe: usize, message: MessageId, now: i64) {
        self.done.sent[message] = now;
        let destination = self.graph.messages().destination[message];
        let to = self.done.pe[destination].0;
        if to as usize != pe {
            let comes = now.saturating_add(self.known_way(message.0).unwrap_or(0));
            return self.push(to, comes, self.urgency(message.0), What::Met(message.0));
        }
        self.done.received[message] = now;
        self.missing[destination.0 as usize] -= 1;
        if self.missing[destination.0 as usize] == 0 {
            self.push(to, now, self.urgency(message.0), What::Ready(destination.0));
        }
    }

    /// One message, at once or into a buffer.
    fn send(&mut self, pe: usize, message: u32, now: i64) -> i64 {
        let id = MessageId(message);
        let to = self.done.pe[self.graph.messages().destination[id]].0;
        if to as usize == pe {
            self.stay(pe, message, now);
            return now;
        }
        self.done.sent[id] = now;
        match self.combining(id).filter(|_| self.graph.messages().kind[id] == Kind::Message) {
            Some(combine) => self.keep(pe, to, message, combine, now),
            None => self.carry(pe, to, What::Remote(message), self.graph.messages().bytes[id], now),
        }
    }

    fn known_way(&self, message: u32) -> Option<i64> {
        let travel = self.plan.travel.as_ref().and_then(|travel| travel.get(MessageId(message)));
        travel.map(|&ticks| ticks.max(0))
    }

    /// A message for an object of the same PE.
    fn stay(&mut self, pe: usize, message: u32, now: i64) {
        self.done.sent[MessageId(message)] = now;
        let comes = now.saturating_add(self.known_way(message).unwrap_or(0));
        self.push(pe as u32, comes, self.urgency(message), What::Local(message));
    }

    /// Sends something to another PE.
    fn carry(&mut self, pe: usize, to: u32, what: What, bytes: u64, now: i64) -> i64 {
        let now = self.spend(pe, now, self.machine.sending(bytes));
        let (What::Remote(first) | What::Copy(first) | What::Combined(first)) = what else { return now };
        let (mut message, mut urgency) = (first, u64::MAX);
        while message != NONE {
            self.done.sent[MessageId(message)] = now;
            urgency = urgency.min(self.urgency(message));
            message = self.next[message as usize];
        }
        self.done.carried += 1;
        let travels = self.known_way(first).unwrap_or_else(|| self.machine.travelling(bytes));
        self.push(to, now.saturating_add(travels), urgency, what);
        now
    }

    /// Messages of one type that are sent together, in the order of the plan; those for objects of this PE first.
    fn multicast(&mut self, pe: usize, group: &[u32], now: i64) -> i64 {
        let mut reached: Vec<u32> = Vec::new();
        for &message in group.iter().rev() {
            let to = self.done.pe[self.graph.messages().destination[MessageId(message)]].0;
            if self.copies[to as usize] == NONE {
                reached.push(to);
            }
            self.next[message as usize] = self.copies[to as usize];
            self.copies[to as usize] = message;
        }
        let count = self.plan.pes;
        let rank = |to: u32| match &self.plan.multicast {
            Order::Ascending => to,
            Order::FromNext => (to + count - pe as u32 - 1) % count,
            Order::Listed(ranks) => ranks.get(to as usize).copied().unwrap_or(u32::MAX),
        };
        reached.sort_unstable_by_key(|&to| (to as usize != pe, rank(to), to));
        let mut now = now;
        for to in reached {
            let first = std::mem::replace(&mut self.copies[to as usize], NONE);
            let bytes = self.graph.messages().bytes[MessageId(first)];
            if to as usize == pe {
                let mut message = first;
                while message != NONE {
                    self.stay(pe, message, now);
                    message = self.next[message as usize];
                }
            } else {
                let alone = self.next[first as usize] == NONE;
                now = self.carry(pe, to, if alone { What::Remote(first) } else { What::Copy(first) }, bytes, now);
            }
        }
        now
    }

    /// Puts a message into its buffer, which is sent when it is full.
    fn keep(&mut self, pe: usize, to: u32, message: u32, combine: Combine, now: i64) -> i64 {
        let key = (combine.message_type.0, pe as u32, to);
        let bytes = self.graph.messages().bytes[MessageId(message)];
        let Some(buffer) = self.buffers.get_mut(&key) else {
            let number = self.flushes.len() as u32;
            self.flushes.push((key, number));
            self.buffers.insert(key, Buffer { number, first: message, last: message, count: 1, bytes });
            self.push(pe as u32, now.saturating_add(combine.timeout.max(0)), 0, What::Flush(number));
            return now;
        };
        self.next[buffer.last as usize] = message;
        (buffer.last, buffer.count, buffer.bytes) = (message, buffer.count + 1, buffer.bytes.saturating_add(bytes));
        if buffer.count < combine.count { now } else { self.flush(pe, key, now) }
    }

    fn time_over(&mut self, pe: usize, number: u32, now: i64) -> i64 {
        let (key, number) = self.flushes[number as usize];
        let is_there = self.buffers.get(&key).is_some_and(|buffer| buffer.number == number);
        if is_there { self.flush(pe, key, now) } else { now }
    }

    fn flush(&mut self, pe: usize, key: (u32, u32, u32), now: i64) -> i64 {
        let Some(buffer) = self.buffers.remove(&key) else { return now };
        self.carry(pe, key.2, What::Combined(buffer.first), buffer.bytes, now)
    }
}
