//! What messages take on the way: measured where a PE was idle for them, and dealt out of what others like them took to those that go elsewhere.
//!
//! A message to the sender's own PE usually takes nothing. But a runtime may bring it by way of another PE, as Charm++ does with multicasts to arrays, and then its PE
//! is idle although the message was sent: so it is measured like others.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use partune_base::Table;

use super::{Came, Gap, Known};
use crate::graph::{EventGraph, ExecutionId, Kind, MessageId};
use crate::random::Random;
use crate::simulate::Machine;

/// What messages took, and what they would take elsewhere, in ticks; indexed by message.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// With both ends where they were.
    travel: Table<MessageId, i64>,
    /// Between two PEs, of other messages, dealt several times.
    apart: Vec<Table<MessageId, i64>>,
    /// Of copies that stayed on a PE, by type of message and PE; of those of a type, where they were anywhere, by `u32::MAX`. Nothing where nobody waited for any.
    together: BTreeMap<(u32, u32), Vec<i64>>,
    /// Messages whose way was measured.
    pub(super) measured: u64,
}

/// No way was measured.
const UNKNOWN: i64 = i64::MIN;

/// Fewer ways than this say nothing of others like them.
const FEW: usize = 8;

/// So often ways are dealt, and so many of them at most in all.
const DRAWS: usize = 3;
const MOST_DEALT: usize = 1_000_000;

/// Any PE.
const ANY: u32 = u32::MAX;

impl Ways {
    /// Of a run: its graph with what messages cost, and without. `at_once`: what one step of the graph sends to a PE comes at once, as to processes that wait for
    /// a processor; else each message for itself. O(E log E).
    pub(super) fn new(
        (graph, bare): (&EventGraph, &EventGraph),
        machine: &Machine,
        came: &Table<MessageId, Came>,
        gaps: (&Table<ExecutionId, MessageId>, &Table<ExecutionId, Gap>),
        (known, at_once): (&Known, bool),
    ) -> Ways {
        let woke = measured(graph, machine, came, gaps, (known, |gap| gap.idle));
        let ways = measured(graph, machine, came, gaps, (known, |gap| gap.woken));
        let draws = (MOST_DEALT / woke.len().max(1)).clamp(1, DRAWS) as u64;
        let dealt =
            |ways: &Table<MessageId, i64>| (0..draws).map(|draw| apart(bare, ways, gaps.0, (at_once, draw))).collect();
        let alike: Vec<_> = dealt(&woke);
        let as_it_was = |ways: &Table<MessageId, i64>| {
            let of = |id| match ways[id] {
                UNKNOWN if is_local(graph, id) => 0,
                UNKNOWN => alike[0][id],
                way => way,
            };
            bounded(bare, ways.iter_ids().map(|(id, _)| of(id)).collect(), gaps)
        };
        // What nobody waited for came sooner than what was waited for: that counts, too, where each message is for itself.
        let apart = if at_once { alike.clone() } else { dealt(&as_it_was(&woke)) };
        let measured = ways.iter().filter(|way| **way != UNKNOWN).count() as u64;
        Ways { travel: as_it_was(&ways), together: together(bare, &ways), measured, apart }
    }

    /// How often ways were dealt.
    pub(super) fn draws(&self) -> usize {
        self.apart.len()
    }

    /// The way of each message where executions are on these PEs: what it took if both ends stayed, else what others took, as dealt the nth time.
    pub(super) fn on(
        &self,
        graph: &EventGraph,
        pe: impl Fn(ExecutionId) -> u32,
        stays: impl Fn(ExecutionId) -> bool,
        draw: usize,
    ) -> Table<MessageId, i64> {
        let messages = graph.messages();
        let mut random = Random::new(2 + 2 * draw as u64);
        let mut decks: BTreeMap<(u32, u32), Deck> = BTreeMap::new();
        let mut copies: BTreeMap<_, i64> = BTreeMap::new();
        let of = |id| {
            let (source, destination) = (messages.source[id], messages.destination[id]);
            if stays(source) && stays(destination) {
                return self.travel[id];
            }
            let (home, message_type) = (pe(destination), messages.message_type[id].0);
            if pe(source) != home {
                return self.apart[draw][id];
            }
            if messages.kind[id] == Kind::Dependence {
                return 0;
            }
            let Some(like) =
                [(message_type, home), (message_type, ANY)].into_iter().find(|it| self.together.contains_key(it))
            else {
                return 0;
            };
            match copies.entry((graph.multicast(id), home)) {
                Entry::Occupied(way) => *way.get(),
                Entry::Vacant(copy) => {
                    let deck =
                        decks.entry(like).or_insert_with(|| Deck { ways: self.together[&like].clone(), next: 0 });
                    *copy.insert(deck.deal(&mut random))
                }
            }
        };
        messages.source.ids().map(of).collect()
    }
}

/// Ways of messages, dealt like cards: each once before any comes again, so that together they take what they took, and no message is luckier than others were.
#[derive(Default)]
struct Deck {
    ways: Vec<i64>,
    next: usize,
}

impl Deck {
    /// 0 of no ways.
    fn deal(&mut self, random: &mut Random) -> i64 {
        if self.next == 0 {
            random.shuffle(&mut self.ways);
        }
        let way = self.ways.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1) % self.ways.len().max(1);
        way
    }
}

fn is_local(graph: &EventGraph, id: MessageId) -> bool {
    let (executions, messages) = (graph.executions(), graph.messages());
    executions.pe[messages.source[id]] == executions.pe[messages.destination[id]]
}

/// Ticks on the way, from sending to the end of idling for it; of a copy of a multicast for all of its messages. What was sent before a PE was idle last did not come before that ended,
/// though something else may have ended it: whether that counts, `idle` says.
fn measured(
    graph: &EventGraph,
    machine: &Machine,
    came: &Table<MessageId, Came>,
    (trigger, gaps): (&Table<ExecutionId, MessageId>, &Table<ExecutionId, Gap>),
    (known, idle): (&Known, fn(&Gap) -> i64),
) -> Table<MessageId, i64> {
    let messages = graph.messages();
    let mut ways = Table::filled(messages.source.len(), UNKNOWN);
    for (id, gap) in gaps.iter_ids() {
        let message = trigger[id];
        let until = idle(gap);
        let came_after = |sent: &&i64| until > i64::MIN && **sent <= until;
        let Some(&sent) = messages.sent.get(message).filter(came_after) else { continue };
        // Where nobody recorded the end of idling, taking the message is in between.
        let taking = match (came[message], &known.idle_until) {
            (Came::Along, _) | (Came::Local, None) => continue,
            (Came::Local, Some(_)) if !is_awaited(graph, id, sent.max(gap.free)) => continue,
            (_, Some(_)) => 0,
            (Came::First, None) => machine.receive + machine.local,
            (Came::Alone, None) => machine.receive,
        };
        let way = (until - sent - taking).max(0);
        for other in graph.sent_by(messages.source[message]).filter(|&it| graph.copy(it) == graph.copy(message)) {
            ways[other] = if ways[other] == UNKNOWN { way } else { way.min(ways[other]) };
        }
    }
    ways
}

/// Whether an execution waits for nothing but its messages, since a tick.
fn is_awaited(graph: &EventGraph, id: ExecutionId, since: i64) -> bool {
    let messages = graph.messages();
    graph.needed_by(id).all(|it| messages.kind[it] != Kind::Dependence || messages.sent[it] <= since)
}

/// A way for each message, of those between PEs that are known: of messages of its type, else of its kind and as many bytes within a factor of two, where there
/// are some; else of its kind, for what creates objects waits for what programs do when they start. A copy of a multicast counts once, and so does all that an execution depends on, and
/// `at_once` what one step of the graph sends to a PE.
fn apart(
    graph: &EventGraph,
    ways: &Table<MessageId, i64>,
    trigger: &Table<ExecutionId, MessageId>,
    (at_once, draw): (bool, u64),
) -> Table<MessageId, i64> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let likes = |id: MessageId| {
        if messages.kind[id] == Kind::Dependence {
            return [(4, messages.message_type[id].0.into(), 0); 4];
        }
        let is_creation = u64::from(messages.kind[id] == Kind::Creation);
        let class = u64::from(64 - messages.bytes[id].leading_zeros());
        [(0, messages.message_type[id].0.into(), 0), (1, is_creation, class), (2, is_creation, 0), (3, 0, 0)]
    };
    let mut seen = BTreeSet::new();
    let mut by_like: BTreeMap<(u8, u64, u64), Deck> = BTreeMap::new();
    let counts = |id: MessageId| messages.kind[id] != Kind::Dependence || trigger[messages.destination[id]] == id;
    let known = ways.iter_ids().filter(|&(id, way)| *way != UNKNOWN && !is_local(graph, id) && counts(id));
    for (id, &way) in known.filter(|it| seen.insert(graph.copy(it.0))) {
        likes(id).into_iter().for_each(|like| by_like.entry(like).or_default().ways.push(way));
    }
    let mut random = Random::new(1 + 2 * draw);
    let mut deal = |id: MessageId| {
        let count = |like| by_like.get(like).map_or(0, |deck| deck.ways.len());
        let likes = likes(id);
        let like = likes.iter().zip([FEW, FEW, 1, 1]).find(|(like, least)| count(like) >= *least)?.0;
        by_like.get_mut(like).map(|deck| deck.deal(&mut random))
    };
    // First those that went to another PE, so that they take together what was measured.
    let mut order: Vec<MessageId> = messages.kind.ids().collect();
    order.sort_by_key(|&id| is_local(graph, id));
    let (mut dealt, mut found) = (BTreeMap::new(), Table::filled(messages.source.len(), 0));
    for id in order {
        let step =
            (graph.depth(messages.source[id]), messages.message_type[id], executions.pe[messages.destination[id]]);
        let is_step = at_once && messages.kind[id] == Kind::Message;
        let key = if is_step { (Some(step), None) } else { (None, Some(graph.copy(id))) };
        found[id] = *dealt.entry(key).or_insert_with(|| deal(id).unwrap_or(0));
    }
    found
}

/// Ways of copies that stayed on a PE, of types of which any was waited for; nothing of those that nobody waited for.
fn together(graph: &EventGraph, ways: &Table<MessageId, i64>) -> BTreeMap<(u32, u32), Vec<i64>> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut seen = BTreeSet::new();
    let mut found: BTreeMap<(u32, u32), Vec<i64>> = BTreeMap::new();
    let is_it = |id: MessageId| messages.kind[id] != Kind::Dependence && is_local(graph, id);
    for (id, &way) in ways.iter_ids().filter(|it| is_it(it.0) && seen.insert(graph.copy(it.0))) {
        let (message_type, pe) = (messages.message_type[id].0, executions.pe[messages.destination[id]].0);
        for pe in [pe, ANY] {
            found.entry((message_type, pe)).or_default().push(way.max(0));
        }
    }
    let waited: BTreeSet<u32> = found.iter().filter(|it| it.1.iter().any(|&way| way > 0)).map(|it| it.0.0).collect();
    found.retain(|(message_type, _), _| waited.contains(message_type));
    found
}

/// What a PE was not idle for had come before it was free, and all that an execution depends on before it began.
fn bounded(
    graph: &EventGraph,
    mut travel: Table<MessageId, i64>,
    (trigger, gaps): (&Table<ExecutionId, MessageId>, &Table<ExecutionId, Gap>),
) -> Table<MessageId, i64> {
    let (executions, messages) = (graph.executions(), graph.messages());
    for (id, gap) in gaps.iter_ids().filter(|it| it.1.free > i64::MIN) {
        let is_it = |&it: &MessageId| it == trigger[id] || messages.kind[it] == Kind::Dependence;
        for message in graph.needed_by(id).filter(is_it) {
            let sent = messages.sent[message];
            let until = match gap.idle {
                i64::MIN => gap.free,
                idle if sent > idle => executions.begin[id],
                idle => idle,
            };
            travel[message] = travel[message].min(until - sent).max(0);
        }
    }
    travel
}
