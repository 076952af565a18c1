//! Exchanges: who gave how much to whom, rows and columns folded alike.

use partune_base::{PeId, Span};
use partune_index::Index;
use partune_trace::{RmaTransferKind, Trace};
use rayon::prelude::*;

use crate::{Fold, Moved};

/// What went from one row to another: messages and one-sided accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    pub count: u64,
    pub bytes: u64,
    /// That moving it took, as the analysis `matrix` has it: from when both sides were ready to the end; of what was matched.
    pub time: Span,
}

/// A square of exchanges, from the row that gives to the one that gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    side: usize,
    cells: Vec<Exchange>,
}

impl Exchange {
    pub(crate) fn add(&mut self, other: Exchange) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time += other.time;
    }
}

impl Exchanges {
    /// Linear in messages and accesses, parallel over PEs. Counts as the analysis `matrix` does: at the sender, at the origin of puts and
    /// atomics, at the target of gets.
    pub fn new(trace: &Trace, index: &Index, fold: &Fold) -> Exchanges {
        let side = fold.len();
        let empty = || vec![Exchange::default(); side * side];
        let of_pe = |mut cells: Vec<Exchange>, pe: &PeId| {
            if let Some(own) = fold.row_of(*pe) {
                given(trace, index, *pe, |other, gets, exchange, _| {
                    if let Some(other) = fold.row_of(other) {
                        let (from, to) = if gets { (other, own) } else { (own, other) };
                        cells[from * side + to].add(exchange);
                    }
                });
            }
            cells
        };
        let sum = |mut a: Vec<Exchange>, b: Vec<Exchange>| {
            a.iter_mut().zip(b).for_each(|(a, b)| a.add(b));
            a
        };
        // Few pieces: each has a square of its own.
        let pieces = fold.pes().par_chunks(fold.pes().len().div_ceil(4 * rayon::current_num_threads()).max(1));
        let cells = pieces.map(|pes| pes.iter().fold(empty(), of_pe)).reduce(empty, sum);
        Exchanges { side, cells }
    }

    /// Of what is known of pairs: who gave what to whom.
    pub fn of_pairs(pairs: impl Iterator<Item = (PeId, PeId, Exchange)>, fold: &Fold) -> Exchanges {
        let side = fold.len();
        let mut cells = vec![Exchange::default(); side * side];
        for (from, to, exchange) in pairs {
            if let Some((from, to)) = fold.row_of(from).zip(fold.row_of(to)) {
                cells[from * side + to].add(exchange);
            }
        }
        Exchanges { side, cells }
    }

    /// The same with so many rows as one.
    #[must_use]
    pub fn folded(&self, each: usize) -> Exchanges {
        let each = each.max(1);
        let side = self.side.div_ceil(each);
        let mut cells = vec![Exchange::default(); side * side];
        for (at, cell) in self.cells.iter().enumerate() {
            cells[at / self.side / each * side + at % self.side / each].add(*cell);
        }
        Exchanges { side, cells }
    }

    /// Rows, and columns.
    pub fn side(&self) -> usize {
        self.side
    }

    /// What each row gives to each other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Exchange]> {
        self.cells.chunks(self.side.max(1))
    }

    /// All together.
    pub fn total(&self) -> Exchange {
        self.cells.iter().fold(Exchange::default(), |mut sum, cell| {
            sum.add(*cell);
            sum
        })
    }
}

/// Reports what a PE started to give to others, or to get from them: the other, whether it gets, what, and between which ends if both are known.
pub(crate) fn given(trace: &Trace, index: &Index, pe: PeId, mut tell: impl FnMut(PeId, bool, Exchange, Option<Moved>)) {
    let Some(stream) = trace.streams().get(pe) else { return };
    for (row, send) in stream.sends.iter().enumerate().filter(|(_, send)| send.peer.is_some()) {
        let message = index.messages.of_send(pe, row);
        let time = message.map_or(Span::ZERO, |message| {
            let recv = &trace.streams()[message.receiver].recvs[message.recv as usize];
            let (got, gave) = (message.recv_place(trace), message.send_place(trace));
            let end = if got.is_some() { got.exit(trace) } else { recv.time };
            let sent = if gave.is_some() { gave.enter(trace) } else { send.time };
            let ready = if got.is_some() { got.enter(trace) } else { message.recv_posted };
            end.since(sent.max(ready))
        });
        tell(send.peer, false, Exchange { count: 1, bytes: send.bytes, time }, message.map(|it| Moved::Message(*it)));
    }
    for transfer in index.rma.of_pe(pe) {
        let access = stream.transfers.get(transfer.row as usize).filter(|access| access.target.is_some());
        let Some(access) = access else { continue };
        let begin = if transfer.start.is_some() { stream.visits.at(transfer.start).enter } else { access.time };
        let exchange = Exchange { count: 1, bytes: access.bytes, time: transfer.completed.since(begin) };
        let gets = access.kind == RmaTransferKind::Get;
        tell(access.target, gets, exchange, Some(Moved::Access(*transfer)));
    }
}
