//! A recorded run, executed anew: what messages cost is fitted to the run itself, and the run as it was says how far that is off.
//!
//! What lies between two executions of a PE is what taking the second one's message cost, if the PE was not idle in between; what lies between sending a
//! message and the end of a PE's idling for it is what it took on the way. The least usual costs are the machine's; what an execution took beyond
//! them stays with it. Ways keep the ticks that they took while both ends are where they were; else they get those of a message like them that
//! was measured, drawn at random, since times on the way vary and what waits for several waits for the slowest.

use std::collections::{BTreeMap, BTreeSet};

use partune_base::Table;

use crate::graph::{EventGraph, ExecutionId, GraphError, Kind, MessageId, ObjectId};
use crate::random::Random;
use crate::simulate::{Machine, Outcome, Plan, Roots, SimulateError, simulate, without_costs};

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
    /// Ticks on the way of each message to another PE.
    travel: Table<MessageId, i64>,
    /// The same, all drawn.
    drawn: Table<MessageId, i64>,
    /// Messages whose way was measured.
    pub measured: u64,
    /// Ticks of the run as recorded, …
    pub run: i64,
    /// … and executed anew: as placed and with ways as they were, …
    pub replayed: i64,
    /// … and with ways that are drawn.
    pub redrawn: i64,
}

/// How a message came to the PE of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// From the same PE, or with a copy of a multicast that another one of its messages stands for.
    Local,
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
        let ways = measured(graph, &machine, &came, &trigger, &gaps, known);
        let bare = without_costs(graph, &machine)?;
        let mut made = bare.into_builder();
        for (id, gap) in gaps.iter_ids().filter(|it| it.1.taken > i64::MIN) {
            if trigger[id] != MessageId::NONE {
                made.executions_mut().begin[id] -= (gap.taken - takes[id].cost(&machine)).max(0);
            }
        }
        let graph = made.seal()?;
        let drawn = draw(&graph, &ways);
        let travel = ways.iter_ids().map(|(id, way)| if *way == UNKNOWN { drawn[id] } else { *way }).collect();
        let travel = bounded(&graph, travel, (&trigger, &gaps));
        let (begin, end) = graph.span();
        let mut found = Recorded {
            measured: ways.iter().filter(|way| **way != UNKNOWN).count() as u64,
            graph,
            machine,
            travel,
            drawn,
            run: end - begin,
            replayed: 0,
            redrawn: 0,
        };
        let same = found.plan(None);
        let redrawn = Plan { travel: Some(found.drawn.clone()), ..same.clone() };
        // Everything is placed as it was: there is a PE for all.
        let makespan = |plan: &Plan| simulate(&found.graph, &found.machine, plan).map_or(0, |done| done.makespan);
        (found.replayed, found.redrawn) = (makespan(&same), makespan(&redrawn));
        Ok(found)
    }

    /// By which share of the run it is off, as it was or with ways that are drawn.
    pub fn off(&self) -> f64 {
        let most = (self.replayed - self.run).abs().max((self.redrawn - self.run).abs());
        most as f64 / self.run.max(1) as f64
    }

    /// The same number of PEs, first come first served; objects where they were, or placed anew.
    pub fn plan(&self, placement: Option<Table<ObjectId, u32>>) -> Plan {
        let travel = match &placement {
            None => self.travel.clone(),
            Some(placement) => {
                let executions = self.graph.executions();
                let stays = |id: ExecutionId| placement[executions.object[id]] == executions.pe[id].0;
                let messages = self.graph.messages();
                let of = |id| {
                    let both = stays(messages.source[id]) && stays(messages.destination[id]);
                    if both { self.travel[id] } else { self.drawn[id] }
                };
                messages.source.ids().map(of).collect()
            }
        };
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

/// No way was measured.
const UNKNOWN: i64 = i64::MIN;

/// The message of each execution that was sent last, which made it run.
fn triggers(graph: &EventGraph) -> Table<ExecutionId, MessageId> {
    let messages = graph.messages();
    let of = |id| {
        let all = graph.needed_by(id).filter(|&it| messages.kind[it] != Kind::Dependence);
        all.max_by_key(|&it| (messages.sent[it], it)).unwrap_or(MessageId::NONE)
    };
    graph.executions().object.ids().map(of).collect()
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
            Came::Local => takes.local += 1,
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
                let key = (messages.sent[message], messages.message_type[message], messages.kind[message] as u8, pe);
                let copy = copies.entry(key).or_insert((0, message));
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
    /// Ticks that are not idle; `i64::MIN` where nobody can tell.
    taken: i64,
}

fn gaps(graph: &EventGraph, trigger: &Table<ExecutionId, MessageId>, known: &Known) -> Table<ExecutionId, Gap> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.pe[id], executions.begin[id], id));
    let mut gaps = Table::filled(order.len(), Gap { free: i64::MIN, idle: i64::MIN, taken: i64::MIN });
    for of_pe in order.chunk_by(|a, b| executions.pe[*a] == executions.pe[*b]) {
        let mut free = i64::MIN;
        for &id in of_pe {
            let begin = executions.begin[id];
            let sent = messages.sent.get(trigger[id]).copied();
            let (idle, taken) = match &known.idle_until {
                Some(until) => (until[id], begin.saturating_sub(free.max(until[id]))),
                None if sent.is_some_and(|sent| sent >= free) => (begin, i64::MIN),
                None => (i64::MIN, begin.saturating_sub(free)),
            };
            let taken = if free == i64::MIN && idle == i64::MIN { i64::MIN } else { taken };
            gaps[id] = Gap { free, idle, taken };
            free = free.max(executions.end[id]);
        }
    }
    gaps
}

/// Ticks on the way, from sending to the end of idling for it; of a copy of a multicast for all of its messages.
fn measured(
    graph: &EventGraph,
    machine: &Machine,
    came: &Table<MessageId, Came>,
    trigger: &Table<ExecutionId, MessageId>,
    gaps: &Table<ExecutionId, Gap>,
    known: &Known,
) -> Table<MessageId, i64> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut ways = Table::filled(messages.source.len(), UNKNOWN);
    for (id, gap) in gaps.iter_ids() {
        let message = trigger[id];
        let Some(came) = came.get(message).copied().filter(|came| *came != Came::Local) else { continue };
        let sent = messages.sent[message];
        if gap.idle == i64::MIN || sent > gap.idle {
            continue;
        }
        // Where nobody recorded the end of idling, taking the message is in between.
        let taking = match (&known.idle_until, came) {
            (Some(_), _) => 0,
            (None, Came::First) => machine.receive + machine.local,
            (None, _) => machine.receive,
        };
        let way = (gap.idle - sent - taking).max(0);
        let source = messages.source[message];
        let key = |it| (messages.sent[it], messages.message_type[it], executions.pe[messages.destination[it]]);
        for other in graph.sent_by(source).filter(|&it| key(it) == key(message)) {
            ways[other] = way;
        }
    }
    ways
}

/// A way for each message, of those that were measured: of messages of its type, else of its kind and as many bytes within a factor of two, where there
/// are some; else of its kind, for what creates objects waits for what programs do when they start. A copy of a multicast counts once.
fn draw(graph: &EventGraph, ways: &Table<MessageId, i64>) -> Table<MessageId, i64> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let likes = |id: MessageId| {
        let is_creation = u64::from(messages.kind[id] == Kind::Creation);
        let class = u64::from(64 - messages.bytes[id].leading_zeros());
        [(0, messages.message_type[id].0.into(), 0), (1, is_creation, class), (2, is_creation, 0), (3, 0, 0)]
    };
    let copy = |id: MessageId| {
        let pe = executions.pe[messages.destination[id]];
        (messages.source[id], messages.sent[id], messages.message_type[id], pe)
    };
    let mut seen = BTreeSet::new();
    let mut by_like: BTreeMap<(u8, u64, u64), Vec<i64>> = BTreeMap::new();
    for (id, &way) in ways.iter_ids().filter(|(id, way)| **way != UNKNOWN && seen.insert(copy(*id))) {
        likes(id).into_iter().for_each(|like| by_like.entry(like).or_default().push(way));
    }
    let mut random = Random::new(1);
    let of = |id: MessageId| {
        let [own, alike @ .., every] = likes(id).map(|like| by_like.get(&like));
        let enough = [own, alike[0]].into_iter().flatten().find(|like| like.len() >= FEW);
        let like = enough.or(alike[1]).or(every)?;
        like.get(random.below(like.len())).copied()
    };
    messages.source.ids().map(of).map(Option::unwrap_or_default).collect()
}

/// Fewer ways than this say nothing of others like them.
const FEW: usize = 8;

/// What a PE was not idle for had come before it was free.
fn bounded(
    graph: &EventGraph,
    mut travel: Table<MessageId, i64>,
    (trigger, gaps): (&Table<ExecutionId, MessageId>, &Table<ExecutionId, Gap>),
) -> Table<MessageId, i64> {
    let messages = graph.messages();
    for (id, gap) in gaps.iter_ids().filter(|(_, gap)| gap.idle == i64::MIN && gap.free > i64::MIN) {
        if let Some(way) = travel.get(trigger[id]).copied() {
            travel[trigger[id]] = way.min(gap.free - messages.sent[trigger[id]]).max(0);
        }
    }
    travel
}
