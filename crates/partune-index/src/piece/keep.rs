//! What stays of a run in a piece of it.

use partune_base::{PeId, Table, Time};
use partune_trace::{CallPaths, Stream, Trace, VisitIx, Visits};
use rayon::prelude::*;

use super::Interval;
use crate::{Index, Place};

/// Marks, one a visit, row or part of the index.
pub(super) struct Keep {
    /// Visits of which something is in the piece.
    pub(super) inside: Table<PeId, Vec<bool>>,
    /// Those, what they belong together with, and the visits around these.
    pub(super) visits: Table<PeId, Vec<bool>>,
    pub(super) sends: Table<PeId, Vec<bool>>,
    pub(super) recvs: Table<PeId, Vec<bool>>,
    pub(super) collectives: Table<PeId, Vec<bool>>,
    /// Rows of accesses to memory of others.
    pub(super) transfers: Table<PeId, Vec<bool>>,
    pub(super) instances: Vec<bool>,
    pub(super) grants: Vec<bool>,
    /// Positions in [`crate::RmaIndex::transfers`].
    pub(super) accesses: Vec<bool>,
}

impl Keep {
    pub(super) fn of(trace: &Trace, index: &Index, interval: Interval) -> Keep {
        let of_streams = |of: &(dyn Fn(&Stream) -> Vec<bool> + Sync)| -> Table<PeId, Vec<bool>> {
            trace.streams().as_slice().par_iter().map(of).collect::<Vec<_>>().into()
        };
        let inside =
            of_streams(&|stream| stream.visits.iter().map(|visit| interval.holds(visit.enter, visit.exit)).collect());
        let row = |stream: &Stream, visit: VisitIx, time: Time| {
            holds(trace.paths(), &stream.visits, interval, visit, (time, time))
        };
        let mut keep = Keep {
            visits: inside.clone(),
            sends: of_streams(&|it| it.sends.iter().map(|send| row(it, send.visit, send.time)).collect()),
            recvs: of_streams(&|it| it.recvs.iter().map(|recv| row(it, recv.visit, recv.time)).collect()),
            collectives: of_streams(&|it| it.collectives.iter().map(|part| row(it, part.visit, part.end)).collect()),
            transfers: of_streams(&|it| it.transfers.iter().map(|access| row(it, access.visit, access.time)).collect()),
            inside,
            instances: Vec::new(),
            grants: Vec::new(),
            accesses: Vec::new(),
        };
        keep.messages(trace, index);
        keep.groups(trace, index);
        keep.locks(index, interval);
        keep.accesses(trace, index);
        for fork in index.teams.forks.iter().filter(|fork| interval.holds(fork.fork, fork.join)) {
            keep.add(fork.place);
        }
        let around = keep.visits.as_mut_slice().par_iter_mut().zip(trace.streams().as_slice());
        around.for_each(|(visits, stream)| add_around(visits, stream, trace.paths()));
        keep
    }

    /// Whether an operation is in the piece. Of user code around a fact nothing follows: rows tell of that by their times.
    fn is_inside(&self, trace: &Trace, place: Place) -> bool {
        let inside = self.inside.get(place.pe).and_then(|visits| visits.get(place.visit.index()));
        inside == Some(&true) && trace.paths().operation(trace.visit(place.pe, place.visit).path).is_some()
    }

    fn add(&mut self, place: Place) {
        if place.is_some() && self.visits.get(place.pe).is_some() {
            self.visits[place.pe][place.visit.index()] = true;
        }
    }

    /// Messages with an end in the piece: where they were sent, posted, received, completed.
    fn messages(&mut self, trace: &Trace, index: &Index) {
        for message in &index.messages {
            let (send, recv) = (message.send as usize, message.recv as usize);
            let places = [
                message.send_place(trace),
                Place { pe: message.sender, visit: message.send_completion },
                message.recv_place(trace),
                Place { pe: message.receiver, visit: message.recv_post },
            ];
            let ends = self.sends[message.sender][send] || self.recvs[message.receiver][recv];
            if ends || places.iter().any(|place| self.is_inside(trace, *place)) {
                places.into_iter().for_each(|place| self.add(place));
                self.sends[message.sender][send] = true;
                self.recvs[message.receiver][recv] = true;
            }
        }
    }

    /// Operations of groups with a member in the piece.
    fn groups(&mut self, trace: &Trace, index: &Index) {
        let collectives = &index.collectives;
        self.instances.reserve(collectives.instances.len());
        for instance in &collectives.instances {
            let members = collectives.members(instance);
            let places = |pe, start, wait| [Place { pe, visit: start }, Place { pe, visit: wait }];
            let in_piece = members.iter().any(|member| {
                let row = self.collectives[member.pe].get(member.row as usize) == Some(&true);
                row || places(member.pe, member.start, member.wait).iter().any(|place| self.is_inside(trace, *place))
            });
            self.instances.push(in_piece);
            for member in members.iter().filter(|_| in_piece) {
                places(member.pe, member.start, member.wait).into_iter().for_each(|place| self.add(place));
                if let Some(row) = self.collectives[member.pe].get_mut(member.row as usize) {
                    *row = true;
                }
            }
        }
    }

    /// Grants from the request to the release, and those whose end was the begin of one of them.
    fn locks(&mut self, index: &Index, interval: Interval) {
        let grants = &index.locks.grants;
        self.grants = grants.iter().map(|grant| interval.holds(grant.requested, grant.released)).collect();
        for grant in grants.iter().filter(|grant| interval.holds(grant.requested, grant.released)) {
            if let Some(enabling) = self.grants.get_mut(grant.enabled_by as usize) {
                *enabling = true;
            }
        }
        for (at, grant) in grants.iter().enumerate() {
            if self.grants[at] {
                self.add(Place { pe: grant.pe, visit: grant.operation });
                self.add(Place { pe: grant.pe, visit: grant.release });
            }
        }
    }

    /// Accesses to memory of others that start or complete in the piece, and what waits for them.
    fn accesses(&mut self, trace: &Trace, index: &Index) {
        for access in &index.rma.transfers {
            let places = [access.start, access.completion].map(|visit| Place { pe: access.pe, visit });
            let in_piece = self.transfers[access.pe][access.row as usize] || self.is_inside(trace, places[1]);
            self.accesses.push(in_piece);
            if in_piece {
                places.into_iter().for_each(|place| self.add(place));
                self.transfers[access.pe][access.row as usize] = true;
            }
        }
        for wait in &index.rma.value_waits {
            if self.is_inside(trace, Place { pe: wait.pe, visit: wait.operation }) {
                self.add(wait.cause);
            }
        }
        for epoch in &index.rma.epoch_ends {
            if self.is_inside(trace, epoch.wait) || self.is_inside(trace, epoch.complete) {
                self.add(epoch.wait);
                self.add(epoch.complete);
            }
        }
    }
}

/// Whether a row is in the piece: with its operation; in user code, or outside of all, by its own time.
pub(super) fn holds(
    paths: &CallPaths,
    visits: &Visits,
    interval: Interval,
    visit: VisitIx,
    (begin, end): (Time, Time),
) -> bool {
    match visits.get(visit).filter(|visit| paths.operation(visit.path).is_some()) {
        Some(operation) => interval.holds(operation.enter, operation.exit),
        None => interval.holds(begin, end),
    }
}

/// Marks the visits around those that are marked.
fn add_around(marked: &mut [bool], stream: &Stream, paths: &CallPaths) {
    let mut open: Vec<usize> = Vec::new();
    for (index, path) in stream.visits.path.iter().enumerate() {
        let depth = paths.depth(*path);
        while open.last().is_some_and(|outer| paths.depth(stream.visits.path[*outer]) >= depth) {
            open.pop();
        }
        if marked[index] {
            // Those around a marked one are marked from there on outwards.
            for outer in open.iter().rev() {
                if std::mem::replace(&mut marked[*outer], true) {
                    break;
                }
            }
        }
        open.push(index);
    }
}
