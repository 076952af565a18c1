//! Message matching: which send belongs to which receive.
//!
//! MPI's rule (MPI-4.0, section 3.5): between one sender and one receiver, messages of one communicator and tag do not
//! overtake; the k-th send meets the k-th *posted* receive. The actual source and tag are in the receive's row, so wildcards
//! need no special care. Where a source ties both ends of a message together, those meet and no others. Cancelled requests drop out. A receive that was posted but whose completion is not in the trace took
//! a message nobody can name: where sends are left over, receives posted after it stay unmatched rather than guessed. Where calls were left out of
//! the recording by choice, as many sends as receives have to be there, or none of them is matched. Where not
//! all of a run was recorded, that is so in each stretch of it, in which the first receives may be of messages that had been sent before.

mod matching;
mod report;

use partune_base::{Id, PeId, Table, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};
use rayon::prelude::*;

use crate::Place;
use crate::endpoints::Endpoints;
use crate::piece::Moves;
use crate::requests::{Fates, Posts};
use crate::stretches::Stretches;

/// A send and its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub sender: PeId,
    /// Row in the sender's `sends`.
    pub send: u32,
    pub receiver: PeId,
    /// Row in the receiver's `recvs`.
    pub recv: u32,
    /// The operation that completed a non-blocking send, or the send itself if it was blocking; none if it never completed.
    pub send_completion: VisitIx,
    /// The operation that posted a non-blocking receive, or the receive itself if it was blocking or its post is not recorded.
    pub recv_post: VisitIx,
    /// When the receive was posted: the time of the post, or the enter of the operation if it was blocking, or the time it
    /// completed if it was non-blocking and its post is not recorded.
    pub recv_posted: Time,
}

/// All matched messages, in order of (receiver, row of the receive): 40 bytes a message, 4 an unmatched send or receive.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    rows: Vec<Message>,
    /// Position in `rows` of each receive, `u32::MAX` if unmatched.
    by_recv: Table<PeId, Vec<u32>>,
    /// Position in `rows` of each send, `u32::MAX` if unmatched.
    by_send: Table<PeId, Vec<u32>>,
    /// Sends and receives without partner.
    pub unmatched_sends: u64,
    pub unmatched_recvs: u64,
    /// Sends and receives that were cancelled; they count as neither matched nor unmatched.
    pub cancelled_sends: u64,
}

/// Not matched.
const NOTHING: u32 = u32::MAX;

impl Messages {
    pub(crate) fn build(
        trace: &Trace,
        endpoints: &Endpoints,
        stretches: Option<&Stretches>,
        quality: &mut Quality,
    ) -> Messages {
        let streams = trace.streams().as_slice();
        let posts: Vec<Posts> = streams.par_iter().map(|stream| Posts::of(stream, trace.paths())).collect();
        let fates: Vec<Fates> = streams.par_iter().map(Fates::of).collect();
        let partners = matching::partners(trace, endpoints, stretches, (&posts, &fates));

        let mut messages = assemble(trace, &partners, &posts, &fates);
        let mut tally = report::Tally::new(trace);
        for (pe, stream) in trace.streams().iter_ids() {
            for (row, recv) in stream.recvs.iter().enumerate() {
                if messages.by_recv[pe][row] == NOTHING {
                    messages.unmatched_recvs += 1;
                    tally.recv(recv);
                }
            }
            for (row, send) in stream.sends.iter().enumerate() {
                if messages.by_send[pe][row] != NOTHING {
                    continue;
                }
                if fates[pe.index()].is_cancelled(row) {
                    messages.cancelled_sends += 1;
                } else {
                    messages.unmatched_sends += 1;
                    tally.send(send);
                }
            }
        }
        tally.lost_recvs(posts.iter().map(|posts| posts.lost).sum());
        tally.report(trace, quality);
        messages
    }

    /// Those of a piece of the run.
    pub(crate) fn within(mut self, moves: &Moves) -> Messages {
        let kept = |rows: &Table<PeId, Vec<u32>>| -> Table<PeId, Vec<u32>> {
            rows.iter().map(|rows| vec![NOTHING; rows.iter().filter(|row| **row != NOTHING).count()]).collect()
        };
        (self.by_send, self.by_recv) = (kept(&moves.sends), kept(&moves.recvs));
        self.rows.retain_mut(|row| {
            (row.send, row.recv) =
                (moves.sends[row.sender][row.send as usize], moves.recvs[row.receiver][row.recv as usize]);
            row.send_completion = moves.visit(row.sender, row.send_completion);
            row.recv_post = moves.visit(row.receiver, row.recv_post);
            row.recv_posted = moves.time(row.recv_posted);
            row.send != NOTHING && row.recv != NOTHING
        });
        for (position, row) in (0..).zip(&self.rows) {
            self.by_send[row.sender][row.send as usize] = position;
            self.by_recv[row.receiver][row.recv as usize] = position;
        }
        let alone = |rows: &Table<PeId, Vec<u32>>| rows.iter().flatten().filter(|row| **row == NOTHING).count() as u64;
        self.unmatched_sends = self.unmatched_sends.min(alone(&self.by_send));
        self.unmatched_recvs = self.unmatched_recvs.min(alone(&self.by_recv));
        self
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Message> {
        self.rows.iter()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All messages, to iterate in parallel or by position.
    pub fn as_slice(&self) -> &[Message] {
        &self.rows
    }

    /// The position of the message that a receive got.
    pub(crate) fn number_of_recv(&self, pe: PeId, recv: usize) -> Option<u32> {
        self.by_recv[pe].get(recv).copied().filter(|number| *number != NOTHING)
    }

    /// The position of the message that a send gave.
    pub fn number_of_send(&self, pe: PeId, send: usize) -> Option<u32> {
        self.by_send[pe].get(send).copied().filter(|number| *number != NOTHING)
    }

    /// The message that a receive got.
    pub fn of_recv(&self, pe: PeId, recv: usize) -> Option<&Message> {
        self.rows.get(*self.by_recv.get(pe)?.get(recv)? as usize)
    }

    /// The message that a send gave.
    pub fn of_send(&self, pe: PeId, send: usize) -> Option<&Message> {
        self.rows.get(*self.by_send.get(pe)?.get(send)? as usize)
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Message {
    /// The operation that sent it.
    pub fn send_place(&self, trace: &Trace) -> Place {
        Place { pe: self.sender, visit: trace.streams()[self.sender].sends[self.send as usize].visit }
    }

    /// The operation in which it was received (completed).
    pub fn recv_place(&self, trace: &Trace) -> Place {
        Place { pe: self.receiver, visit: trace.streams()[self.receiver].recvs[self.recv as usize].visit }
    }
}

/// Lays out the rows and the ways to find them from both sides.
fn assemble(trace: &Trace, partners: &[Vec<u64>], posts: &[Posts], fates: &[Fates]) -> Messages {
    let streams = trace.streams().as_slice();
    let found: Vec<(Vec<Message>, Vec<u32>)> = partners
        .par_iter()
        .enumerate()
        .map(|(receiver, partners)| {
            let mut rows = Vec::with_capacity(partners.iter().filter(|partner| **partner != u64::MAX).count());
            let mut positions = vec![NOTHING; partners.len()];
            for (recv, &partner) in partners.iter().enumerate() {
                if let Some((sender, send)) = matching::unpack(partner) {
                    let origin = posts[receiver].origins[recv];
                    positions[recv] = rows.len() as u32;
                    rows.push(Message {
                        sender: PeId::from_index(sender),
                        send: send as u32,
                        receiver: PeId::from_index(receiver),
                        recv: recv as u32,
                        send_completion: fates[sender].completion(&streams[sender], send),
                        recv_post: origin.visit,
                        recv_posted: origin.time,
                    });
                }
            }
            (rows, positions)
        })
        .collect();

    let mut messages =
        Messages { rows: Vec::with_capacity(found.iter().map(|(rows, _)| rows.len()).sum()), ..Messages::default() };
    messages.by_send = streams.iter().map(|stream| vec![NOTHING; stream.sends.len()]).collect();
    for (rows, mut positions) in found {
        let first = messages.rows.len() as u32;
        positions.iter_mut().filter(|position| **position != NOTHING).for_each(|position| *position += first);
        for (position, row) in (first..).zip(&rows) {
            messages.by_send[row.sender][row.send as usize] = position;
        }
        messages.rows.extend_from_slice(&rows);
        messages.by_recv.push(positions);
    }
    messages
}
