//! The matching itself: receivers in parallel, no hash.
//!
//! Sends are bucketed by receiver by counting. At each receiver, receives are put in order of their posts and then of sender;
//! if the sequences of communicators and tags between two endpoints are equal on both sides, as they mostly are, that is the
//! match; else both sides are sorted by communicator and tag, and by what ties the ends of a message together where the source
//! told that. Cost: linear but for those sorts. Memory while it runs: 8 bytes a
//! send, 32 a receive.

use partune_base::{GroupId, Id, PeId, Time};
use partune_trace::{NO_MATCHING, Recv, Send, Stream, Trace};
use rayon::prelude::*;

use crate::endpoints::Endpoints;
use crate::requests::{Fates, Origin, Posts};
use crate::stretches::Stretches;

/// For each PE, for each of its receives: the packed send it got; `u64::MAX` for none.
pub(super) fn partners(
    trace: &Trace,
    endpoints: &Endpoints,
    stretches: Option<&Stretches>,
    (posts, fates): (&[Posts], &[Fates]),
) -> Vec<Vec<u64>> {
    let sends = Buckets::new(trace, endpoints, fates);
    let found: Vec<Vec<(PeId, Vec<u64>)>> = trace
        .pes()
        .as_slice()
        .par_iter()
        .enumerate()
        .map(|(index, _)| {
            let endpoint = PeId::from_index(index);
            Receiver { trace, endpoints, stretches, posts, endpoint }.match_all(sends.of(endpoint))
        })
        .collect();
    let mut partners: Vec<Vec<u64>> = vec![Vec::new(); trace.pes().len()];
    for (pe, found) in found.into_iter().flatten() {
        partners[pe.index()] = found;
    }
    partners
}

/// A send in 8 bytes: PE and row.
fn pack(pe: usize, row: usize) -> u64 {
    (pe as u64) << 32 | row as u64
}

pub(super) fn unpack(send: u64) -> Option<(usize, usize)> {
    (send != u64::MAX).then_some(((send >> 32) as usize, (send & 0xffff_ffff) as usize))
}

/// All sends with a known receiver that were not cancelled, packed, by receiving endpoint, in order of (sender, row).
struct Buckets {
    /// Those of neighbouring senders each.
    parts: Vec<Bucket>,
}

/// The sends of some PEs by receiving endpoint, and where those to each begin.
struct Bucket {
    sends: Vec<u64>,
    offsets: Vec<usize>,
}

impl Buckets {
    fn new(trace: &Trace, endpoints: &Endpoints, fates: &[Fates]) -> Buckets {
        let streams = trace.streams().as_slice();
        let share = streams.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts = streams.par_chunks(share).zip(fates.par_chunks(share)).enumerate();
        let part = |(part, (streams, fates))| Bucket::new(part * share, streams, fates, endpoints);
        Buckets { parts: parts.map(part).collect() }
    }

    fn of(&self, endpoint: PeId) -> Vec<u64> {
        let parts: Vec<&[u64]> = self.parts.iter().map(|part| part.of(endpoint)).collect();
        parts.concat()
    }
}

impl Bucket {
    /// The sends of PEs from `first` on.
    fn new(first: usize, streams: &[Stream], fates: &[Fates], endpoints: &Endpoints) -> Bucket {
        let mut offsets = vec![0; endpoints.len() + 1];
        let each = |visit: &mut dyn FnMut(usize, u64)| {
            for (pe, (stream, fates)) in streams.iter().zip(fates).enumerate() {
                for (row, send) in stream.sends.iter().enumerate() {
                    let receiver = endpoints.of(send.peer);
                    if receiver.is_some() && !fates.is_cancelled(row) {
                        visit(receiver.index(), pack(first + pe, row));
                    }
                }
            }
        };
        each(&mut |receiver, _| offsets[receiver + 1] += 1);
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut sends = vec![0; next[next.len() - 1]];
        each(&mut |receiver, send| {
            sends[next[receiver]] = send;
            next[receiver] += 1;
        });
        Bucket { sends, offsets }
    }

    fn of(&self, endpoint: PeId) -> &[u64] {
        &self.sends[self.offsets[endpoint.index()]..self.offsets[endpoint.index() + 1]]
    }
}

/// What the messages of one receiver are matched from.
struct Receiver<'a> {
    trace: &'a Trace,
    endpoints: &'a Endpoints,
    stretches: Option<&'a Stretches>,
    posts: &'a [Posts],
    endpoint: PeId,
}

/// A receive: which of the endpoint's streams, and the row there.
#[derive(Clone, Copy)]
struct Posted {
    origin: Origin,
    stream: u32,
    row: u32,
}

impl Receiver<'_> {
    fn match_all(&self, sends: Vec<u64>) -> Vec<(PeId, Vec<u64>)> {
        let pes = self.endpoints.pes(self.endpoint);
        let stream = |pe: PeId| &self.trace.streams()[pe];
        let mut partners: Vec<(PeId, Vec<u64>)> =
            pes.iter().map(|&pe| (pe, vec![u64::MAX; stream(pe).recvs.len()])).collect();
        let recvs = self.posted(pes);
        if sends.is_empty() || recvs.is_empty() {
            return partners;
        }
        // Receives in order of sender, then of post; those of unknown senders come last and meet nobody.
        let sender_of =
            |recv: &Posted| self.endpoints.of(stream(pes[recv.stream as usize]).recvs[recv.row as usize].peer);
        let by_sender = self.by_sender_of(&recvs, sender_of);
        let sends = self.by_sender(sends);

        let lost = pes.iter().filter_map(|pe| self.posts[pe.index()].first_lost).min();
        let (trace, stretches, keys) = (self.trace, self.stretches, (Vec::new(), Vec::new()));
        let mut channel = Channel { trace, stretches, pes, recvs: &recvs, keys, pairs: Vec::new() };
        let sender_of_send = |send: &u64| self.endpoints.of(PeId::from_index((*send >> 32) as usize)).0;
        let mut rest = &sends[..];
        for recvs_of_one in by_sender.chunk_by(|a, b| a >> 32 == b >> 32) {
            let sender = (recvs_of_one[0] >> 32) as u32;
            rest = &rest[rest.partition_point(|send| sender_of_send(send) < sender)..];
            let (sends_of_one, others) = rest.split_at(rest.partition_point(|send| sender_of_send(send) <= sender));
            rest = others;
            channel.match_pair(sends_of_one, recvs_of_one, lost);
        }
        for &(send, recv) in &channel.pairs {
            let recv = recvs[recv as usize];
            partners[recv.stream as usize].1[recv.row as usize] = send;
        }
        partners
    }

    /// All receives of the endpoint in the order of their posts.
    fn posted(&self, pes: &[PeId]) -> Vec<Posted> {
        let mut recvs = Vec::with_capacity(pes.iter().map(|pe| self.posts[pe.index()].origins.len()).sum());
        for (stream, pe) in pes.iter().enumerate() {
            let posts = &self.posts[pe.index()];
            let posted = |&row: &u32| Posted { origin: posts.origins[row as usize], stream: stream as u32, row };
            recvs.extend(posts.order.iter().map(posted));
        }
        if pes.len() > 1 {
            recvs.sort_by_key(|recv| recv.origin);
        }
        recvs
    }

    /// Positions of receives, packed with their senders, in order of (sender, post): by counting where that is linear.
    fn by_sender_of(&self, recvs: &[Posted], sender_of: impl Fn(&Posted) -> PeId) -> Vec<u64> {
        let none = self.trace.pes().len();
        let packed = recvs.iter().enumerate().map(|(i, recv)| pack(sender_of(recv).index().min(none), i));
        if recvs.len() < none {
            let mut sorted: Vec<u64> = packed.collect();
            sorted.sort_unstable();
            return sorted;
        }
        let mut next = vec![0_u32; none + 2];
        let packed: Vec<u64> = packed.inspect(|recv| next[(recv >> 32) as usize + 1] += 1).collect();
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut sorted = vec![0; packed.len()];
        for recv in packed {
            let next = &mut next[(recv >> 32) as usize];
            sorted[*next as usize] = recv;
            *next += 1;
        }
        sorted
    }

    /// The sends in order of sending endpoint, then of time. They are already, unless threads send for their process.
    fn by_sender(&self, mut sends: Vec<u64>) -> Vec<u64> {
        let key = |send: &u64| {
            let (pe, row) = ((*send >> 32) as usize, (*send & 0xffff_ffff) as usize);
            let pe = PeId::from_index(pe);
            let endpoint = self.endpoints.of(pe);
            let alone = self.endpoints.pes(endpoint).len() == 1;
            // Rows of one stream are in program order, which equal times must not disturb.
            (endpoint, if alone { Time::ZERO } else { self.trace.streams()[pe].sends[row].time }, *send)
        };
        if !sends.is_sorted_by_key(key) {
            sends.sort_unstable_by_key(key);
        }
        sends
    }
}

/// The position of a receive that is packed with its sender.
fn position_of(recv: u64) -> u32 {
    (recv & 0xffff_ffff) as u32
}

/// Everything between one sender and one receiver.
struct Channel<'a> {
    trace: &'a Trace,
    stretches: Option<&'a Stretches>,
    pes: &'a [PeId],
    recvs: &'a [Posted],
    /// Scratch: keys of sends and of receives.
    keys: (Vec<Key>, Vec<Key>),
    /// (send, position in `recvs`).
    pairs: Vec<(u64, u32)>,
}

/// What the ends of a message have in common: communicator, tag, and what ties them together if anything does.
type Common = (GroupId, u32, u64);

/// The same, and the place among those between the two endpoints.
type Key = (Common, u32);

impl Channel<'_> {
    fn match_pair(&mut self, sends: &[u64], recvs: &[u64], lost: Option<Time>) {
        let same = sends.len() == recvs.len()
            && sends.iter().zip(recvs).all(|(&send, &recv)| {
                self.send_key(send) == self.recv_key(recv)
                    && (self.stretches.is_none() || self.is_possible(send, position_of(recv)))
            });
        if same {
            self.pairs.extend(sends.iter().zip(recvs).map(|(&send, &recv)| (send, position_of(recv))));
            return;
        }
        let mut keys = std::mem::take(&mut self.keys);
        let numbered = |(i, common): (usize, Common)| (common, i as u32);
        keys.0.clear();
        keys.0.extend(sends.iter().map(|&send| self.send_key(send)).enumerate().map(numbered));
        keys.0.sort_unstable();
        keys.1.clear();
        keys.1.extend(recvs.iter().map(|&recv| self.recv_key(recv)).enumerate().map(numbered));
        keys.1.sort_unstable();

        let mut rest = &keys.0[..];
        for of_key in keys.1.chunk_by(|a, b| a.0 == b.0) {
            let key = of_key[0].0;
            rest = &rest[rest.partition_point(|send| send.0 < key)..];
            let (meeting, others) = rest.split_at(rest.partition_point(|send| send.0 <= key));
            rest = others;
            let meeting: Vec<u64> = meeting.iter().map(|send| sends[send.1 as usize]).collect();
            let of_key: Vec<u32> = of_key.iter().map(|recv| position_of(recvs[recv.1 as usize])).collect();
            match self.stretches {
                // What is tied together belongs together, whatever the clocks say.
                Some(stretches) if key.2 == NO_MATCHING => self.match_stretches(stretches, &meeting, of_key, lost),
                _ => self.match_in_order(&meeting, &of_key, lost),
            }
        }
        self.keys = keys;
    }

    /// The k-th send meets the k-th receive, but for those that are in doubt.
    fn match_in_order(&mut self, sends: &[u64], recvs: &[u32], lost: Option<Time>) {
        for (send, recv) in sends.iter().zip(recvs) {
            let posted = self.recvs[*recv as usize].origin.time;
            let in_doubt = sends.len() > recvs.len() && lost.is_some_and(|lost| posted > lost)
                || sends.len() != recvs.len() && self.trace.is_partial();
            if !in_doubt {
                self.pairs.push((*send, *recv));
            }
        }
    }

    /// The same in each stretch of recording, unless all are there.
    fn match_stretches(&mut self, stretches: &Stretches, sends: &[u64], mut recvs: Vec<u32>, lost: Option<Time>) {
        let all_are_there = sends.len() == recvs.len() && self.are_possible(sends, &recvs);
        if all_are_there {
            return self.match_in_order(sends, &recvs, lost);
        }
        let sender = |send: &u64| PeId::from_index((send >> 32) as usize);
        let receiver = |recv: &u32| self.pes[self.recvs[*recv as usize].stream as usize];
        let of_send = |send: &u64| stretches.at(sender(send), self.send_row(*send).time);
        let of_recv = |recv: &u32| stretches.at(receiver(recv), self.recv_row(*recv).time);
        recvs.sort_by_key(of_recv);
        let mut met: Vec<(&[u64], &[u32])> = Vec::new();
        for recvs in recvs.chunk_by(|a, b| of_recv(a) == of_recv(b)) {
            let stretch = of_recv(&recvs[0]);
            let first_of = |stretch: u32| sends.partition_point(|send| of_send(send) < stretch);
            let sends = &sends[first_of(stretch)..first_of(stretch + 1)];
            let Some(first) = sends.first() else { continue };
            let spans = (stretches.span(sender(first), stretch), stretches.span(receiver(&recvs[0]), stretch));
            let ahead = self.ahead(sends, recvs, spans);
            met.push((&sends[ahead.max(0) as usize..], recvs.get((-ahead).max(0) as usize..).unwrap_or_default()));
        }
        met.into_iter().for_each(|(sends, recvs)| self.match_in_order(sends, recvs, lost));
    }

    /// By how many messages of one kind the sends of a stretch begin before the receives; below zero, as many had been sent when it began and were received later.
    ///
    /// Nothing is received before it is sent. Of what was sent before the receiver recorded, nothing is known; the least of it was still under way then, since a
    /// receive that waits ends when its message comes: with less the wait would have no cause. What was sent later was received in the stretch, or after it.
    fn ahead(&self, sends: &[u64], recvs: &[u32], (sender, receiver): ((Time, Time), (Time, Time))) -> i64 {
        /// So many messages more may have been under way, if that is what their sizes say.
        const MOST: i64 = 16;
        let sent = |send: &u64| self.send_row(*send).time;
        let received = |recv: &u32| self.recv_row(*recv).time;
        let sent_before = |recv: &u32| sends.partition_point(|send| sent(send) <= received(recv));
        // The last ones may have had any of those that were sent later.
        let counts = (0..).zip(recvs.iter().map(sent_before)).filter(|(_, count)| *count < sends.len());
        let possible = counts.map(|(at, count): (i64, _)| count as i64 - 1 - at);
        let before = sends.partition_point(|send| sent(send) < receiver.0) as i64;
        let after = recvs.iter().filter(|recv| received(recv) >= sender.1).count() as i64;
        let more = sends.len() as i64 - recvs.len() as i64;
        let most = possible.min().unwrap_or(before).min(before).min(more + after);
        let pairs =
            |ahead: i64| sends.iter().skip(ahead.max(0) as usize).zip(recvs.iter().skip((-ahead).max(0) as usize));
        // Where all would meet but for clocks that may be apart, and by less than messages would have taken otherwise, it is the clocks.
        let least = |ahead: i64| pairs(ahead).map(|(send, recv)| received(recv).since(sent(send))).min();
        let apart = || least(0).zip(least(most)).is_none_or(|(first, takes)| -first.0 < takes.0);
        if more == 0 && most < 0 && !self.share_a_node(sends[0], recvs[0]) && apart() {
            return 0;
        }
        let as_long = |ahead: &i64| {
            let equal = |(send, recv): (&u64, &u32)| self.send_row(*send).bytes == self.recv_row(*recv).bytes;
            let (pairs, equal) =
                pairs(*ahead).map(equal).fold((0, 0), |(all, of), equal| (all + 1, of + u64::from(equal)));
            // In millionths.
            1_000_000 * equal / u64::max(pairs, 1)
        };
        (most - MOST..=most).max_by_key(as_long).unwrap_or(most)
    }

    /// Whether the two are known to have had one clock.
    fn share_a_node(&self, send: u64, recv: u32) -> bool {
        let node = |pe: PeId| self.trace.processes().get(self.trace.pes().get(pe)?.process).map(|process| process.node);
        let sender = node(PeId::from_index((send >> 32) as usize));
        let receiver = node(self.pes[self.recvs[recv as usize].stream as usize]);
        sender == receiver && sender.is_some_and(partune_base::StringId::is_some)
    }

    /// Whether none of those would be received before it is sent.
    fn are_possible(&self, sends: &[u64], recvs: &[u32]) -> bool {
        sends.iter().zip(recvs).all(|(&send, &recv)| self.is_possible(send, recv))
    }

    fn is_possible(&self, send: u64, recv: u32) -> bool {
        self.send_row(send).time <= self.recv_row(recv).time
    }

    fn send_key(&self, send: u64) -> Common {
        let row = self.send_row(send);
        (row.group, row.tag, row.matching)
    }

    fn send_row(&self, send: u64) -> &Send {
        &self.trace.streams().as_slice()[(send >> 32) as usize].sends[(send & 0xffff_ffff) as usize]
    }

    /// The receive at a position in `recvs`.
    fn recv_row(&self, position: u32) -> &Recv {
        let recv = self.recvs[position as usize];
        &self.trace.streams()[self.pes[recv.stream as usize]].recvs[recv.row as usize]
    }

    fn recv_key(&self, recv: u64) -> Common {
        let row = self.recv_row(position_of(recv));
        (row.group, row.tag, row.matching)
    }
}
