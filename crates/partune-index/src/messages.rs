//! Message matching: which send belongs to which receive.
//!
//! MPI's rule: between one sender and one receiver, messages of one communicator and tag do not overtake; the k-th send meets
//! the k-th *posted* receive. The actual source and tag are in the receive's row, so wildcards need no special care.

use partune_base::{PeId, Table, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};

use crate::Place;

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
    /// The operation that posted a non-blocking receive, or the receive itself if it was blocking.
    pub recv_post: VisitIx,
    /// When the receive was posted: its row's time for the post, or the enter of the operation if it was blocking.
    pub recv_posted: Time,
}

/// All matched messages, in order of (receiver, row of the receive): 40 bytes a message.
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
}

impl Messages {
    pub(crate) fn build(trace: &Trace, quality: &mut Quality) -> Messages {
        let _ = (trace, quality);
        Messages::default()
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

    /// The message that a receive got.
    pub fn of_recv(&self, pe: PeId, recv: usize) -> Option<&Message> {
        self.rows.get(*self.by_recv.get(pe)?.get(recv)? as usize)
    }

    /// The message that a send gave.
    pub fn of_send(&self, pe: PeId, send: usize) -> Option<&Message> {
        self.rows.get(*self.by_send.get(pe)?.get(send)? as usize)
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
