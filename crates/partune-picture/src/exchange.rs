//! Exchanges: who gave how much to whom, rows and columns folded alike.

use partune_index::Index;
use partune_trace::{RmaTransferKind, Trace};

use crate::Fold;

/// What went from one row to another: messages and one-sided accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    pub count: u64,
    pub bytes: u64,
}

/// A square of exchanges, from the row that gives to the one that gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    side: usize,
    cells: Vec<Exchange>,
}

impl Exchanges {
    /// Linear in messages and accesses. Counts as the analysis `matrix` does: at the sender, at the origin of puts and atomics, at the
    /// target of gets.
    pub fn new(trace: &Trace, index: &Index, fold: &Fold) -> Exchanges {
        let side = fold.len();
        let mut cells = vec![Exchange::default(); side * side];
        let mut add = |from: Option<usize>, to: Option<usize>, bytes: u64| {
            if let (Some(from), Some(to)) = (from, to) {
                let cell = &mut cells[from * side + to];
                cell.count += 1;
                cell.bytes = cell.bytes.saturating_add(bytes);
            }
        };
        for pe in fold.pes() {
            let Some(stream) = trace.streams().get(*pe) else { continue };
            let own = fold.row_of(*pe);
            for send in stream.sends.iter().filter(|send| send.peer.is_some()) {
                add(own, fold.row_of(send.peer), send.bytes);
            }
            for transfer in index.rma.of_pe(*pe) {
                let access = stream.transfers.get(transfer.row as usize).filter(|access| access.target.is_some());
                let Some(access) = access else { continue };
                let target = fold.row_of(access.target);
                let gets = access.kind == RmaTransferKind::Get;
                if gets { add(target, own, access.bytes) } else { add(own, target, access.bytes) }
            }
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
        self.cells.iter().fold(Exchange::default(), |sum, cell| Exchange {
            count: sum.count + cell.count,
            bytes: sum.bytes.saturating_add(cell.bytes),
        })
    }
}
