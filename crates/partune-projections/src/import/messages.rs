//! Messages: who got what was sent. A PE's log tells that it made a message and what the message calls, not for whom; the log of whoever begins an entry method for it tells
//! which PE made it, and its number there.
//!
//! A message has one row where it was sent and one where it was received for each PE that got it, however many objects there it was for. It is received when the first
//! method that it calls begins, or, if that ended an idle time, when that ended: then idle was waiting for it.
//!
//! The runtime reuses messages, and logs of their new lives can have the number of an old one. So an execution belongs to a message only if it runs the entry method
//! that the message calls, or has its length; and a message for one PE has one receiver, the first of those whose method is the one it calls, or of all.
//!
//! A broadcast to an array is passed on by the runtime: its PEs log that they send a message of the same entry method and length to themselves, outside of
//! entry methods, and nothing of whom they got it from. If on a PE there are as many of these as there are broadcasts that nobody got, and none before its broadcast,
//! the k-th is the k-th.
//!
//! A broadcast to an array can also keep its number where a PE passes it on to its objects, but they say that they got it from their own PE. If that made no message of this number
//! for their method, or what it made went to another PE, and only one other PE made one, of the same length, then it is that.

use std::collections::BTreeMap;

use partune_base::{GroupId, Id, PeId, Time};
use partune_trace::{NO_MATCHING, NO_REQUEST, Recv, Send, TraceBuilder, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::reductions::Part;
use super::tables::Tables;

/// Idle that ended with something, and when.
pub(super) type Woken = Option<(VisitIx, Time)>;

/// A message, where it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Creation {
    pub(super) visit: VisitIx,
    pub(super) time: Time,
    /// Outside of all else; then the idle before it, if nothing was between.
    pub(super) outside: bool,
    pub(super) woken: Woken,
    pub(super) event: i64,
    pub(super) entry: i64,
    pub(super) bytes: u64,
    /// How many PEs it is for.
    pub(super) pes: u32,
    pub(super) to_one: bool,
    /// It is a part of a reduction.
    pub(super) part: Option<Part>,
}

/// A message, where a method begins for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receipt {
    pub(super) source: u32,
    pub(super) event: i64,
    pub(super) entry: i64,
    pub(super) bytes: u64,
    /// Row of the execution.
    pub(super) execution: u32,
    pub(super) woken: Woken,
}

/// What has no other end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alone {
    pub(super) creations: u64,
    pub(super) receipts: u64,
}

/// Positions of a receiver and of its receipt, or of its message that it passed one on with.
type Got = (u32, u32);

/// A message of a PE, by the position of its creation, and a receipt of it.
type Sent = (u32, Got);

/// What became of the messages of a PE.
struct Met {
    /// The first receipt on each receiver: a message's rows.
    firsts: Vec<Sent>,
    /// Those of all executions.
    all: Vec<Sent>,
}

/// Makes the rows of all messages, and lets executions refer to them. Linear in messages, but for sorting those of each PE by their numbers and those of
/// broadcasts that were passed on by their times.
pub(super) fn join(
    creations: &[Vec<Creation>],
    receipts: &[Vec<Receipt>],
    tables: &Tables,
    builder: &mut TraceBuilder,
) -> Alone {
    // What was received from each PE, in order of receivers.
    let mut from: Vec<Vec<Got>> = creations.iter().map(|_| Vec::new()).collect();
    let numbers: Vec<Vec<(i64, u32)>> = creations.par_iter().map(|made| numbers(made)).collect();
    let receipt = |(pe, row): Got| &receipts[pe as usize][row as usize];
    let streams = builder.streams.as_slice();
    let execution = |got: Got| streams[got.0 as usize].executions[receipt(got).execution as usize];
    let origins = origins(creations, &numbers, receipts, &|got| execution(got).begin);
    for (pe, of_pe) in (0..).zip(receipts) {
        for (row, receipt) in (0..).zip(of_pe) {
            let source = origins.get(&(pe, row)).copied().unwrap_or(receipt.source);
            from[source as usize].push((pe, row));
        }
    }
    let met: Vec<Met> = creations
        .par_iter()
        .zip(&from)
        .zip(&numbers)
        .map(|((made, got), numbers)| {
            meet((made, numbers), got, &receipt, &|got| (execution(got).begin, origins.contains_key(&got)))
        })
        .collect();

    let mut rows = Rows::new(creations, tables.group);
    for (sender, met) in met.iter().enumerate() {
        for &(at, got) in &met.firsts {
            let (received, execution) = (receipt(got), execution(got));
            rows.push((sender, at), (got.0, received.woken, (execution.visit, execution.begin)), received.bytes);
        }
    }
    for (sender, at, (pe, forward)) in passed_on(creations, &rows.received) {
        let made = &creations[pe as usize][forward as usize];
        rows.push((sender, at), (pe, made.woken, (VisitIx::NONE, made.time)), made.bytes);
    }
    let Rows { sends, recvs, received, .. } = rows;
    let known: usize = met.iter().map(|met| met.all.len()).sum();
    let alone = Alone {
        creations: received.iter().flatten().filter(|received| !**received).count() as u64,
        receipts: (receipts.iter().map(Vec::len).sum::<usize>() - known) as u64,
    };
    let streams = builder.streams.as_mut_slice();
    for (sender, met) in met.iter().enumerate() {
        for &(at, got) in &met.all {
            let row = receipt(got).execution as usize;
            streams[got.0 as usize].executions[row].message = number(sender, creations[sender][at as usize].event);
        }
    }
    for (stream, (mut sends, mut recvs)) in streams.iter_mut().zip(sends.into_iter().zip(recvs)) {
        sends.sort_by_key(|(at, send)| (send.time, *at, send.peer));
        stream.sends = sends.into_iter().map(|(_, send)| send).collect();
        recvs.sort_by_key(|recv| (recv.time, recv.visit, recv.peer, recv.matching));
        stream.recvs = recvs;
    }
    alone
}

/// Rows in the making, by PE.
struct Rows<'a> {
    creations: &'a [Vec<Creation>],
    group: GroupId,
    /// Each with the position of its creation.
    sends: Vec<Vec<(u32, Send)>>,
    recvs: Vec<Vec<Recv>>,
    /// Which messages somebody got.
    received: Vec<Vec<bool>>,
}

impl<'a> Rows<'a> {
    fn new(creations: &'a [Vec<Creation>], group: GroupId) -> Rows<'a> {
        Rows {
            creations,
            group,
            sends: creations.iter().map(|_| Vec::new()).collect(),
            recvs: creations.iter().map(|_| Vec::new()).collect(),
            received: creations.iter().map(|made| vec![false; made.len()]).collect(),
        }
    }

    /// A message, by sender and position there, that a PE got: it ended an idle time of that, or was met in some visit. No PE idles for what it sent itself.
    fn push(&mut self, (sender, at): (usize, u32), (pe, woken, met): (u32, Woken, (VisitIx, Time)), bytes: u64) {
        let made = &self.creations[sender][at as usize];
        let (matching, group, tag, request) = (number(sender, made.event), self.group, 0, NO_REQUEST);
        let (visit, time, peer) = (made.visit, made.time, PeId(pe));
        self.sends[sender].push((at, Send { visit, time, peer, group, tag, bytes: made.bytes, request, matching }));
        let (visit, time) = woken.filter(|_| pe as usize != sender).unwrap_or(met);
        let peer = PeId::from_index(sender);
        self.recvs[pe as usize].push(Recv { visit, time, peer, group, tag, bytes, request, matching });
        self.received[sender][at as usize] = true;
    }
}

/// The number that both ends of a message have.
pub(super) fn number(sender: usize, event: i64) -> u64 {
    let number = (sender as u64) << 32 | u64::from(event as u32);
    debug_assert!(number != NO_MATCHING, "there are fewer PEs");
    number
}

/// The messages of a PE by their numbers. These grow in the order of the log, unless they ran over.
fn numbers(made: &[Creation]) -> Vec<(i64, u32)> {
    let mut numbers: Vec<(i64, u32)> = made.iter().map(|it| it.event).zip(0..).collect();
    if !numbers.is_sorted() {
        numbers.sort_unstable();
    }
    numbers
}

/// The message of a PE that has a number.
fn numbered(numbers: &[(i64, u32)], event: i64) -> Option<u32> {
    let at = numbers.partition_point(|(it, _)| *it < event);
    numbers.get(at).filter(|(it, _)| *it == event).map(|(_, at)| *at)
}

/// Receipts of what their own PE passed on, and who made that. Linear; nothing where there are none.
fn origins(
    creations: &[Vec<Creation>],
    numbers: &[Vec<(i64, u32)>],
    receipts: &[Vec<Receipt>],
    begin: &impl Fn(Got) -> Time,
) -> FxHashMap<Got, u32> {
    type Kind = (i64, i64, u64);
    let rows = || (0..).zip(receipts).flat_map(|(pe, of_pe)| (0..).zip(of_pe).map(move |(row, of)| ((pe, row), of)));
    let made = |pe: u32, event| numbered(&numbers[pe as usize], event).map(|at| &creations[pe as usize][at as usize]);
    // What another PE got of their own PE's, which has the number, and is as long.
    let mut strange: Vec<(Got, &Receipt)> = Vec::new();
    let mut gone: FxHashMap<(u32, i64, i64), bool> = FxHashMap::default();
    for (got, of) in rows().filter(|(got, of)| of.source == got.0) {
        match made(got.0, of.event) {
            Some(made) if made.entry == of.entry => continue,
            Some(made) if made.bytes == of.bytes => {
                gone.insert((got.0, of.event, made.entry), false);
            }
            _ => {}
        }
        strange.push((got, of));
    }
    if strange.is_empty() {
        return FxHashMap::default();
    }
    for (_, of) in rows().filter(|(got, of)| of.source != got.0) {
        gone.entry((of.source, of.event, of.entry)).and_modify(|gone| *gone = true);
    }
    strange.retain(|(got, of)| {
        let made = made(got.0, of.event).filter(|made| made.bytes == of.bytes);
        made.is_none_or(|made| gone.get(&(got.0, of.event, made.entry)).is_some_and(|gone| *gone))
    });
    // Who made one of that number, method and length, and when; none if several did.
    let kind = |of: &Receipt| (of.event, of.entry, of.bytes);
    let mut makers: FxHashMap<Kind, Vec<(u32, Time)>> = strange.iter().map(|it| (kind(it.1), Vec::new())).collect();
    for (pe, made) in (0..).zip(creations) {
        for made in made {
            if let Some(makers) = makers.get_mut(&(made.event, made.entry, made.bytes)) {
                makers.push((pe, made.time));
            }
        }
    }
    let maker = |got: Got, of: &Receipt| match makers[&kind(of)][..] {
        [(maker, time)] if time <= begin(got) => Some(maker),
        _ => None,
    };
    strange.into_iter().filter_map(|(got, of)| maker(got, of).map(|maker| (got, maker))).collect()
}

/// The receipts of a PE's messages, of which it is told when they began, and whether their PE passed the message on.
fn meet<'a>(
    (made, numbers): (&[Creation], &[(i64, u32)]),
    got: &[Got],
    receipt: &impl Fn(Got) -> &'a Receipt,
    begin: &impl Fn(Got) -> (Time, bool),
) -> Met {
    let mut all: Vec<Sent> = Vec::with_capacity(got.len());
    for &got in got {
        let of = receipt(got);
        let Some(at) = numbered(numbers, of.event) else { continue };
        let message = &made[at as usize];
        if message.entry == of.entry || message.bytes == of.bytes {
            all.push((at, got));
        }
    }
    // A message for one PE is received by one: the executions on others are of another message with its number.
    let mut best: Vec<Option<(bool, Time, u32)>> = vec![None; made.len()];
    for &(at, got) in &all {
        let message = &made[at as usize];
        let (begin, is_passed_on) = begin(got);
        let key = (receipt(got).entry != message.entry, begin, got.0);
        let best = &mut best[at as usize];
        if message.to_one && !is_passed_on && best.is_none_or(|best| key < best) {
            *best = Some(key);
        }
    }
    let is_one = |at: u32, got: Got| best[at as usize].is_none_or(|(_, _, receiver)| receiver == got.0);
    all.retain(|&(at, got)| is_one(at, got) || begin(got).1);
    // Receipts of a receiver follow each other, in the order of its time.
    let mut last = vec![u32::MAX; made.len()];
    let is_first = |(at, got): &&Sent| std::mem::replace(&mut last[*at as usize], got.0) != got.0;
    Met { firsts: all.iter().filter(is_first).copied().collect(), all }
}

/// Broadcasts that the runtime passed on: sender, position there, and the PE and its message that it passed it on with.
fn passed_on(creations: &[Vec<Creation>], received: &[Vec<bool>]) -> Vec<(usize, u32, Got)> {
    type Class = (i64, u64);
    let mut broadcasts: BTreeMap<Class, Vec<(Time, usize, u32)>> = BTreeMap::new();
    for (sender, made) in creations.iter().enumerate() {
        for (at, it) in (0..).zip(made) {
            if !it.to_one && it.pes as usize == creations.len() && !received[sender][at as usize] {
                broadcasts.entry((it.entry, it.bytes)).or_default().push((it.time, sender, at));
            }
        }
    }
    broadcasts.values_mut().for_each(|of_class| of_class.sort_unstable());
    let mut passed_on = Vec::new();
    for (pe, made) in (0..).zip(creations) {
        let mut forwards: BTreeMap<Class, Vec<(Time, u32)>> = BTreeMap::new();
        for (at, it) in (0..).zip(made).filter(|(_, it)| it.outside && it.to_one) {
            let class = (it.entry, it.bytes);
            if broadcasts.contains_key(&class) {
                forwards.entry(class).or_default().push((it.time, at));
            }
        }
        for (class, forwards) in forwards {
            let broadcasts = &broadcasts[&class];
            let follows = |(sent, passed): (&(Time, usize, u32), &(Time, u32))| sent.0 <= passed.0;
            if broadcasts.len() == forwards.len() && broadcasts.iter().zip(&forwards).all(follows) {
                let pairs = broadcasts.iter().zip(forwards);
                passed_on.extend(pairs.map(|((_, sender, at), (_, forward))| (*sender, *at, (pe, forward))));
            }
        }
    }
    passed_on
}
