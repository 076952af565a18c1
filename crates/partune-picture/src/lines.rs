//! Lines of a time line: messages, collectives and waits of a view, so many as can be drawn, and how many there are.
//!
//! Nothing here goes over all rows of a trace: rows are in order of time, so those of a view are found by binary search, and the largest
//! of them by a tree of largest ones. Memory: 0.3 bytes a wait, 17 a collective.

use std::ops::Range;

use partune_analysis::{Wait, Waits};
use partune_base::{PeId, Span, Time};
use partune_index::{Index, Message, Transfer};
use partune_trace::{RmaTransferKind, Trace};
use rayon::prelude::*;

use crate::Fold;
use crate::longest::Longest;

/// What is found in a view, and how many there are in it with those that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    pub rows: Vec<T>,
    pub count: usize,
}

/// What was moved from one PE to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    Message(Message),
    /// One-sided: from its origin to its target, or the other way for a get.
    Access(Transfer),
}

/// Orders of waits and collectives, made once.
#[derive(Clone, Debug)]
pub struct Lines {
    waits: Longest,
    collectives: Longest,
    /// When the last member of each collective came, and how long it took from the first enter to the last exit.
    arrivals: Vec<(Time, Span)>,
}

impl Lines {
    /// Linear in waits and members of collectives.
    pub fn new(waits: &Waits, index: &Index) -> Lines {
        let extent = |instance: &partune_index::Instance| {
            let members = index.collectives.members(instance);
            let first = members.iter().map(|member| member.enter).min().unwrap_or_default();
            let last = members.iter().map(|member| member.enter).max().unwrap_or_default();
            let end = members.iter().map(|member| member.exit).max().unwrap_or_default();
            (last, end.since(first))
        };
        let arrivals: Vec<(Time, Span)> = index.collectives.instances.par_iter().map(extent).collect();
        let rows = waits.as_slice();
        Lines {
            waits: Longest::new(rows.len(), |at| rows[at].duration().0),
            collectives: Longest::new(arrivals.len(), |at| arrivals[at].1.0),
            arrivals,
        }
    }

    /// The longest waits that touch an interval, on PEs of the picture, longest first.
    pub fn waits(&self, waits: &Waits, fold: &Fold, begin: Time, end: Time, most: usize) -> Found<Wait> {
        let part = |pe: &PeId| {
            let (rows, first) = (waits.of_pe(*pe), waits.first_of_pe(*pe));
            let from = rows.partition_point(|wait| wait.end <= begin);
            let to = from + rows[from..].partition_point(|wait| wait.begin < end);
            first + from..first + to
        };
        let parts: Vec<Range<usize>> = fold.pes().iter().map(part).collect();
        let rows = waits.as_slice();
        let found = self.waits.top(&parts, most, |at| rows[at].duration().0);
        Found { rows: found.into_iter().map(|at| rows[at]).collect(), count: parts.iter().map(Range::len).sum() }
    }

    /// The collectives whose last member came within an interval, those that took longest first: positions in the index. All PEs.
    pub fn collectives(&self, begin: Time, end: Time, most: usize) -> Found<usize> {
        let from = self.arrivals.partition_point(|(last, _)| *last < begin);
        let to = from + self.arrivals[from..].partition_point(|(last, _)| *last < end);
        let part = from..to;
        let parts = std::slice::from_ref(&part);
        Found { rows: self.collectives.top(parts, most, |at| self.arrivals[at].1.0), count: to - from }
    }
}

/// Messages and one-sided accesses of which one end is in an interval on a PE of the picture, in order of PE and time. If they are more than
/// `most`, none is listed; `count` is the number of ends then, which is more than that of lines.
pub fn moved(trace: &Trace, index: &Index, fold: &Fold, begin: Time, end: Time, most: usize) -> Found<Moved> {
    let (accesses, ends) = (of_pes(index, fold), |pe: &PeId| {
        let stream = &trace.streams()[*pe];
        let sends = part(&stream.sends, begin, end, |row| row.time);
        let recvs = part(&stream.recvs, begin, end, |row| row.time);
        (sends, recvs, part(&stream.transfers, begin, end, |row| row.time))
    });
    let parts: Vec<_> = fold.pes().iter().map(ends).collect();
    let count = parts.iter().map(|(sends, recvs, accesses)| sends.len() + recvs.len() + accesses.len()).sum();
    if count > 2 * most {
        return Found { rows: Vec::new(), count };
    }
    let inside = |pe: PeId, time: Time| time >= begin && time < end && fold.row_of(pe).is_some();
    let mut rows = Vec::new();
    for ((pe, accesses), (sends, recvs, transfers)) in fold.pes().iter().zip(accesses).zip(parts) {
        rows.extend(recvs.filter_map(|recv| index.messages.of_recv(*pe, recv)).copied().map(Moved::Message));
        // Those that are received in the view are there already, or will be.
        let sent = sends.filter_map(|send| index.messages.of_send(*pe, send)).filter(|message| {
            let received = trace.streams()[message.receiver].recvs[message.recv as usize].time;
            !inside(message.receiver, received)
        });
        rows.extend(sent.copied().map(Moved::Message));
        let from = accesses.partition_point(|access| (access.row as usize) < transfers.start);
        let some = accesses[from..].iter().take_while(|access| (access.row as usize) < transfers.end);
        let known = some.filter(|access| trace.streams()[*pe].transfers[access.row as usize].target.is_some());
        rows.extend(known.copied().map(Moved::Access));
    }
    let count = rows.len();
    if count > most { Found { rows: Vec::new(), count } } else { Found { rows, count } }
}

/// The accesses of each PE of the picture.
fn of_pes<'a>(index: &'a Index, fold: &Fold) -> Vec<&'a [Transfer]> {
    fold.pes().iter().map(|pe| index.rma.of_pe(*pe)).collect()
}

fn part<T>(rows: &[T], begin: Time, end: Time, time: impl Fn(&T) -> Time) -> Range<usize> {
    let from = rows.partition_point(|row| time(row) < begin);
    from..from + rows[from..].partition_point(|row| time(row) < end)
}

impl Moved {
    /// From whom, when, to whom, when.
    pub fn ends(&self, trace: &Trace) -> ((PeId, Time), (PeId, Time)) {
        match self {
            Moved::Message(message) => {
                let send = &trace.streams()[message.sender].sends[message.send as usize];
                let recv = &trace.streams()[message.receiver].recvs[message.recv as usize];
                ((message.sender, send.time), (message.receiver, recv.time))
            }
            Moved::Access(access) => {
                let row = &trace.streams()[access.pe].transfers[access.row as usize];
                let completed = access.completed.max(row.time);
                match row.kind {
                    RmaTransferKind::Get => ((row.target, row.time), (access.pe, completed)),
                    RmaTransferKind::Put | RmaTransferKind::Atomic => ((access.pe, row.time), (row.target, completed)),
                }
            }
        }
    }
}
