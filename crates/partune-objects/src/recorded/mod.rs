//! A recorded run, executed anew: what messages cost is fitted to the run itself, and the run as it was says how far that is off.
//!
//! What lies between two executions of a PE is what taking the second one's message cost, if the PE was not idle in between; what lies between sending a
//! message and the end of a PE's idling for it is what it took on the way. The least usual costs are the machine's; what an execution took beyond
//! them stays with it. Ways keep the ticks that they took while both ends are where they were; else they get those of a message like them that
//! was measured, dealt out at random, since times on the way vary and what waits for several waits for the slowest.

mod ways;

use std::collections::BTreeMap;

use partune_base::Table;

use crate::graph::{EventGraph, ExecutionId, GraphError, Kind, MessageId, ObjectId};
use crate::simulate::{Machine, Outcome, Plan, Roots, SimulateError, simulate, without_costs};

use self::ways::Ways;

/// What a recording knows beyond its event graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Until when the PE of each execution was idle after it had executed something last; `i64::MIN` where it was not. None where nobody recorded it: a PE
    /// is taken for idle when a message is sent to it after it executed something last.
    pub idle_until: Option<Table<ExecutionId, i64>>,
    /// Ticks that sending a message to another PE takes, which are part of executions.
    pub send: i64,
}

/// A run to be executed anew.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Executions without the costs of their messages.
    pub graph: EventGraph,
    pub machine: Machine,
    /// Each message for itself, and at once what one step of the program sends to a PE: first what follows the run better.
    ways: [Ways; 2],
    /// Messages whose way was measured.
    pub measured: u64,
    /// Ticks of the run as recorded, …
    pub run: i64,
    /// … and executed anew: as placed and with ways as they were, …
    pub replayed: i64,
    /// … and with ways that are drawn, on average of several draws.
    pub redrawn: i64,
}

/// How a message came to the PE of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// From the same PE.
    Local,
    /// From another PE, with a copy of a multicast that another one of its messages stands for.
    Along,
    /// From another PE, alone.
    Alone,
    /// From another PE, the first of several in a copy of a multicast.
    First,
}

impl Recorded {
    /// O((V + E) log). An error where the graph, without what messages cost, is none.
    pub fn new(graph: &EventGraph, known: &Known) -> Result<Recorded, GraphError> {
        let came = came(graph);
        let trigger = triggers(graph);
        let gaps = gaps(graph, &trigger, known);
        let takes = takes(graph, &came, &gaps);
        let machine = Machine { send: known.send, ..fitted(&gaps, &takes) };
        let bare = without_costs(graph, &machine)?;
        let mut made = bare.into_builder();
        for (id, gap) in gaps.iter_ids().filter(|it| it.1.taken > i64::MIN) {
            if trigger[id] != MessageId::NONE {
                made.executions_mut().begin[id] -= (gap.taken - takes[id].cost(&machine)).max(0);
            }
        }
        let bare = made.seal()?;
        let ways = [false, true]
            .map(|at_once| Ways::new((graph, &bare), &machine, &came, (&trigger, &gaps), (known, at_once)));
        let (begin, end) = graph.span();
        let (measured, run) = (ways[0].measured, end - begin);
        let mut found = Recorded { graph: bare, machine, ways, measured, run, replayed: 0, redrawn: 0 };
        let each = found.tried();
        found.ways.swap(0, 1);
        // Nobody knows which messages come together.
        if found.tried() >= each {
            found.ways.swap(0, 1);
            found.tried();
        }
        Ok(found)
    }

    /// Executes the run as it was; by how many ticks that is off. Everything is placed as it was: there is a PE for all.
    fn tried(&mut self) -> i64 {
        let same = self.plan(None);
        self.replayed = self.under(&same).map_or(0, |done| done.makespan);
        self.redrawn = self.drawn(&same).map_or(0, |drawn| drawn[0]);
        (self.replayed - self.run).abs().max((self.redrawn - self.run).abs())
    }

    /// Ticks under a plan whose ways are all drawn instead, on average of several draws: by what follows the run better, and by the other.
    pub fn drawn(&self, plan: &Plan) -> Result<[i64; 2], SimulateError> {
        let pe = |id: ExecutionId| self.pe(plan.placement.as_ref(), id);
        let mut means = [0; 2];
        for (ways, mean) in self.ways.iter().zip(&mut means) {
            let mut sum = 0;
            for draw in 0..ways.draws() {
                let travel = ways.on(&self.graph, pe, |_| false, draw);
                let done = self.under(&Plan { travel: Some(travel), ..plan.clone() })?;
                sum += i128::from(done.makespan);
            }
            *mean = (sum / ways.draws().max(1) as i128) as i64;
        }
        Ok(means)
    }

    fn pe(&self, placement: Option<&Table<ObjectId, u32>>, id: ExecutionId) -> u32 {
        let executions = self.graph.executions();
        placement.map_or(executions.pe[id].0, |it| it[executions.object[id]])
    }

    /// By which share of the run it is off, as it was or with ways that are drawn.
    pub fn off(&self) -> f64 {
        let most = (self.replayed - self.run).abs().max((self.redrawn - self.run).abs());
        most as f64 / self.run.max(1) as f64
    }

    /// The same number of PEs, first come first served; objects where they were, or placed anew.
    pub fn plan(&self, placement: Option<Table<ObjectId, u32>>) -> Plan {
        let executions = self.graph.executions();
        let pe = |id: ExecutionId| self.pe(placement.as_ref(), id);
        let travel = self.ways[0].on(&self.graph, pe, |id| pe(id) == executions.pe[id].0, 0);
        Plan { pes: self.graph.pes(), placement, roots: Roots::AsRecorded, travel: Some(travel), ..Plan::default() }
    }

    pub fn under(&self, plan: &Plan) -> Result<Outcome, SimulateError> {
        simulate(&self.graph, &self.machine, plan)
    }

    /// The PE on which each object executed most; PE 0 where it executed nothing.
    pub fn homes(&self) -> Table<ObjectId, u32> {
        let executions = self.graph.executions();
        let home = |id: ObjectId| {
            let mut on: BTreeMap<u32, i64> = BTreeMap::new();
            for it in self.graph.executed_by(id) {
                *on.entry(executions.pe[it].0).or_default() += self.graph.duration(it) + 1;
            }
            on.into_iter().max_by_key(|&(pe, time)| (time, std::cmp::Reverse(pe))).map_or(0, |(pe, _)| pe)
        };
        self.graph.objects().ids().map(home).collect()
    }
}

/// The message of each execution that was sent last, which made it run; of one without any, what it depends on that was done last on another PE: what joins
/// several is told from the runtime's own messages, which are none of the graph's.
fn triggers(graph: &EventGraph) -> Table<ExecutionId, MessageId> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let is_message = |&it: &MessageId| messages.kind[it] != Kind::Dependence;
    let is_apart = |it: MessageId, id| executions.pe[messages.source[it]] != executions.pe[id];
    let of = |id| {
        let last = |all: &mut dyn Iterator<Item = MessageId>| all.max_by_key(|&it| (messages.sent[it], it));
        last(&mut graph.needed_by(id).filter(is_message))
            .or_else(|| last(&mut graph.needed_by(id).filter(|&it| is_apart(it, id))))
            .unwrap_or(MessageId::NONE)
    };
    executions.object.ids().map(of).collect()
}

/// How many messages a PE took before an execution, after it had executed something last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Takes {
    local: i64,
    alone: i64,
    first: i64,
}

impl Takes {
    fn cost(self, machine: &Machine) -> i64 {
        let (local, remote) = (self.local + self.first, self.alone + self.first);
        machine.local.saturating_mul(local).saturating_add(machine.receive.saturating_mul(remote))
    }
}

fn takes(
    graph: &EventGraph,
    came: &Table<MessageId, Came>,
    gaps: &Table<ExecutionId, Gap>,
) -> Table<ExecutionId, Takes> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut takes = Table::filled(gaps.len(), Takes::default());
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    let key = |id: ExecutionId| (executions.pe[id], executions.begin[id], id);
    order.sort_by_key(|&id| key(id));
    for id in messages.kind.ids().filter(|&id| messages.kind[id] != Kind::Dependence) {
        let destination = messages.destination[id];
        // Where nobody recorded when a message was taken, it was where its execution begins.
        let time = messages.received[id].min(executions.begin[destination]);
        let until = (executions.pe[destination], time, destination);
        let at = order.partition_point(|&it| (executions.pe[it], executions.begin[it], it) < until);
        let Some(&before) = order.get(at).filter(|&&it| executions.pe[it] == until.0) else { continue };
        let takes = &mut takes[before];
        match came[id] {
            Came::Local | Came::Along => takes.local += 1,
            Came::Alone => takes.alone += 1,
            Came::First => takes.first += 1,
        }
    }
    takes
}

/// What is usual at the lower end for a message: gaps have what else a PE did in them.
fn fitted(gaps: &Table<ExecutionId, Gap>, takes: &Table<ExecutionId, Takes>) -> Machine {
    let known = || gaps.iter_ids().filter(|it| it.1.taken > i64::MIN).map(|(id, gap)| (takes[id], gap.taken));
    let quartile = |each: &dyn Fn(Takes, i64) -> Option<i64>| {
        let mut all: Vec<i64> = known().filter_map(|(takes, taken)| each(takes, taken)).collect();
        all.sort_unstable();
        all.get(all.len() / 4).copied()
    };
    let local = quartile(&|it, taken| (it.local > 0 && it.alone + it.first == 0).then(|| taken / it.local));
    let usual = local.unwrap_or(0);
    let remote = quartile(&|it, taken| {
        let own = usual.saturating_mul(it.local + it.first);
        (it.alone + it.first > 0).then(|| (taken - own) / (it.alone + it.first))
    });
    let receive = remote.or(local).unwrap_or(0).max(0);
    Machine { receive, local: local.unwrap_or(receive).max(0), ..Machine::default() }
}

/// Messages of one type and kind that leave an execution for one PE at one tick are one copy; it is taken up where its first execution begins.
fn came(graph: &EventGraph) -> Table<MessageId, Came> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut came = Table::filled(messages.source.len(), Came::Local);
    let mut copies: BTreeMap<_, (u32, MessageId)> = BTreeMap::new();
    for id in executions.object.ids() {
        copies.clear();
        for message in graph.sent_by(id).filter(|&it| messages.kind[it] != Kind::Dependence) {
            let destination = messages.destination[message];
            let pe = executions.pe[destination];
            if pe != executions.pe[id] {
                came[message] = Came::Along;
                let copy = copies.entry(graph.copy(message)).or_insert((0, message));
                let begin = |it: MessageId| (executions.begin[messages.destination[it]], it);
                *copy = (copy.0 + 1, if begin(message) < begin(copy.1) { message } else { copy.1 });
            }
        }
        copies.values().for_each(|&(count, first)| came[first] = if count > 1 { Came::First } else { Came::Alone });
    }
    came
}

/// What lies before an execution.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// When its PE had executed what it did before; `i64::MIN` for the first one.
    free: i64,
    /// When its PE was idle last before it; `i64::MIN` where it was not since.
    idle: i64,
    /// When its PE was idle last, be it before what it executed before; `i64::MIN` for never. Nothing had come until then.
    woken: i64,
    /// Ticks that are not idle; `i64::MIN` where nobody can tell.
    taken: i64,
}

fn gaps(graph: &EventGraph, trigger: &Table<ExecutionId, MessageId>, known: &Known) -> Table<ExecutionId, Gap> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.pe[id], executions.begin[id], id));
    let mut gaps = Table::filled(order.len(), Gap { free: i64::MIN, idle: i64::MIN, woken: i64::MIN, taken: i64::MIN });
    for of_pe in order.chunk_by(|a, b| executions.pe[*a] == executions.pe[*b]) {
        let (mut free, mut woken) = (i64::MIN, i64::MIN);
        for &id in of_pe {
            let begin = executions.begin[id];
            let sent = messages.sent.get(trigger[id]).copied();
            let (idle, taken) = match &known.idle_until {
                Some(until) => (until[id], begin.saturating_sub(free.max(until[id]))),
                None if sent.is_some_and(|sent| sent >= free) => (begin, i64::MIN),
                None => (i64::MIN, begin.saturating_sub(free)),
            };
            let taken = if free == i64::MIN && idle == i64::MIN { i64::MIN } else { taken };
            woken = if known.idle_until.is_some() { woken.max(idle) } else { idle };
            gaps[id] = Gap { free, idle, woken, taken };
            free = free.max(executions.end[id]);
        }
    }
    gaps
}
