//! Ends of ties in the making; those of messages.

use partune_base::{Id, PeId, Table, Time};
use partune_trace::{Completion, NO_REQUEST, Trace, VisitIx};
use rayon::prelude::*;

use super::{End, Gift, Part};
use crate::messages::Message;
use crate::{Index, Place};

/// Ties and their ends, by PE.
pub(crate) struct Points {
    pub(super) ends: Table<PeId, Vec<End>>,
    /// Ties before the first of them: those of messages.
    first: u32,
    pub(super) gifts: Vec<Gift>,
    pub(super) givers: Vec<u32>,
}

/// Finds the ends of ties.
pub(super) struct Maker<'a> {
    pub(super) trace: &'a Trace,
    pub(super) index: &'a Index,
}

/// Nobody gave yet.
pub(super) const NOTHING: Gift = Gift { time: Time::MIN, place: Place::NONE };

impl Points {
    /// Ties are numbered after those of so many messages.
    pub(super) fn new(pes: usize, messages: usize) -> Points {
        let ends = (0..pes).map(|_| Vec::new()).collect();
        Points { ends, first: messages as u32, gifts: Vec::new(), givers: Vec::new() }
    }

    /// How many ties there are, with those of messages.
    pub(super) fn len(&self) -> u32 {
        self.first + self.gifts.len() as u32
    }

    /// A new tie that so many give to, the latest of them this.
    pub(super) fn tie(&mut self, gift: Gift, givers: u32) -> u32 {
        self.gifts.push(gift);
        self.givers.push(givers);
        self.len() - 1
    }

    pub(super) fn push(&mut self, place: Place, time: Time, tie: u32, part: Part) {
        if place.pe.index() < self.ends.len() {
            self.ends[place.pe].push(End { time, visit: place.visit, tie, part });
        }
    }

    /// A tie of one giver and one taker: what is given, where and when the giver is in its program then, and who needs it since when.
    pub(super) fn pair(&mut self, gift: Gift, (giver, at): (Place, Time), (taker, since): (Place, Time)) {
        let tie = self.tie(gift, 1);
        self.push(giver, at, tie, Part::Gives);
        self.push(taker, since, tie, Part::Takes);
    }

    /// Sends that wait for their receive to be posted: those that must, or those that may.
    pub(super) fn kept(&mut self, kept: &[Kept], synchronous: bool) {
        for it in kept.iter().filter(|it| it.synchronous == synchronous) {
            self.pair(it.gift, (it.gift.place, it.gift.time), (it.taker, it.since));
        }
    }
}

/// A message whose send the receive may have kept.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// The post.
    gift: Gift,
    /// What waits, and since when.
    taker: Place,
    since: Time,
    synchronous: bool,
}

/// Sends that cannot end before their receive is posted, and those that may wait and began to before, in order of (sender, row).
pub(super) fn late_posts(trace: &Trace, index: &Index) -> Vec<Kept> {
    let pes: Vec<PeId> = trace.streams().ids().collect();
    let found: Vec<Vec<Kept>> = pes.par_iter().map(|pe| of_sender(trace, index, *pe)).collect();
    found.concat()
}

fn of_sender(trace: &Trace, Index { messages, polls, .. }: &Index, pe: PeId) -> Vec<Kept> {
    let stream = &trace.streams()[pe];
    let some_synchronous = trace.regions().iter().any(|region| region.completion == Completion::Synchronous);
    let mut kept = Vec::new();
    for (row, send) in stream.sends.iter().enumerate() {
        let Some(number) = messages.number_of_send(pe, row) else { continue };
        let message = &messages.as_slice()[number as usize];
        let blocks = send.request == NO_REQUEST;
        let visit = if blocks {
            send.visit
        } else {
            let completion = Place { pe, visit: message.send_completion };
            polls.of_request(trace, completion, send.time).unwrap_or(completion.visit)
        };
        let Some(since) = stream.visits.enter.get(visit.index()).copied() else { continue };
        let is_late = message.recv_posted > since;
        if !is_late && !some_synchronous || !send.visit.is_some() {
            continue;
        }
        let completion = trace.region_of(pe, send.visit).completion;
        let synchronous = completion == Completion::Synchronous;
        // Only what completes a send can wait for one that did not block.
        if synchronous || is_late && (!blocks || completion == Completion::Blocking) {
            let posted = Place { pe: message.receiver, visit: message.recv_post };
            let gift = Gift { time: message.recv_posted, place: posted };
            kept.push(Kept { gift, taker: Place { pe, visit }, since, synchronous });
        }
    }
    kept
}

impl Maker<'_> {
    /// Where a row acts: at the enter of its operation, or at its own time in user code.
    pub(super) fn at(&self, pe: PeId, visit: VisitIx, time: Time) -> Time {
        let visits = &self.trace.streams()[pe].visits;
        match visits.path.get(visit.index()) {
            Some(path) if self.trace.paths().operation(*path).is_some() => visits.enter[visit.index()],
            _ => time,
        }
    }

    /// What a message gives: at the enter of its send.
    pub(super) fn given(&self, message: &Message) -> Gift {
        let send = &self.trace.streams()[message.sender].sends[message.send as usize];
        let place = Place { pe: message.sender, visit: send.visit };
        Gift { time: self.at(message.sender, send.visit, send.time), place }
    }

    /// The ends of a PE where it gives messages, by the number alone: the message lies anywhere.
    pub(super) fn sends(&self, pe: PeId) -> impl Iterator<Item = End> + '_ {
        let rows = self.trace.streams()[pe].sends.iter().enumerate();
        rows.filter_map(move |(row, send)| {
            let tie = self.index.messages.number_of_send(pe, row)?;
            Some(End { time: self.at(pe, send.visit, send.time), visit: send.visit, tie, part: Part::Gives })
        })
    }

    /// The ends of a PE where it takes them.
    pub(super) fn recvs(&self, pe: PeId) -> impl Iterator<Item = End> + '_ {
        let rows = self.trace.streams()[pe].recvs.iter().enumerate();
        rows.filter_map(move |(row, recv)| {
            let tie = self.index.messages.number_of_recv(pe, row)?;
            let visit = if self.index.polls.has(pe) { self.awaited(pe, recv.visit, tie) } else { recv.visit };
            Some(End { time: self.at(pe, visit, recv.time), visit, tie, part: Part::Takes })
        })
    }

    /// Where a message is awaited: in the operation that got it, or from the first of the polls before it on.
    fn awaited(&self, pe: PeId, completion: VisitIx, message: u32) -> VisitIx {
        let message = &self.index.messages.as_slice()[message as usize];
        let (polls, at) = (&self.index.polls, |visit| Place { pe, visit });
        polls
            .of_request(self.trace, at(completion), message.recv_posted)
            .or_else(|| polls.of_probe(self.trace, at(message.recv_post), self.given(message).time))
            .unwrap_or(completion)
    }
}
