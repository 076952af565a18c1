//! How long each message took once both sides were there: the operation that received it from then on.

use partune_base::{Span, Time};
use partune_index::{Index, Message, Ties};
use partune_trace::Trace;
use rayon::prelude::*;

use crate::Input;

/// By message, in the order of [`partune_index::Messages`]: 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Receptions {
    of: Vec<Reception>,
}

/// How one message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reception {
    /// From when send and receive had begun until the receiving operation was over.
    pub(crate) took: Span,
    /// Whether an operation of its own received it, that posted it too: all of the time is this message's.
    pub(crate) alone: bool,
}

impl Receptions {
    /// Walks along the receivers: what the senders did is in the ties.
    pub(crate) fn find(input: &Input<'_>, ties: &Ties) -> Receptions {
        let (trace, index) = (input.trace, input.index);
        let messages = index.messages.as_slice();
        let of =
            messages.par_iter().enumerate().map(|(number, message)| reception((trace, index), ties, number, message));
        Receptions { of: of.collect() }
    }

    pub(crate) fn of(&self, message: u32) -> Reception {
        self.of[message as usize]
    }
}

fn reception((trace, index): (&Trace, &Index), ties: &Ties, number: usize, message: &Message) -> Reception {
    let stream = &trace.streams()[message.receiver];
    let row = message.recv as usize;
    let visit = stream.recvs[row].visit;
    let (begin, end): (Time, Time) = match stream.visits.get(visit) {
        Some(visit) => (visit.enter, visit.exit),
        None => (message.recv_posted, stream.recvs[row].time),
    };
    let gift = ties.gift(trace, index, number as u32);
    let other = |row: Option<usize>| row.and_then(|row| stream.recvs.get(row)).is_none_or(|row| row.visit != visit);
    let known = visit.is_some() && gift.place.visit.is_some() && message.recv_post == visit;
    let alone = known && other(row.checked_sub(1)) && other(row.checked_add(1));
    Reception { took: end.since(begin.max(gift.time)), alone }
}
