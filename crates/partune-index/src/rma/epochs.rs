//! Access and exposure epochs of windows (post, start, complete, wait), and who let whom go on.
//!
//! | operation | role, completion | does |
//! |---|---|---|
//! | post | signal, non-blocking | lets the group's members access the own memory |
//! | start | group synchronisation, blocking | may wait for the posts of its group's members |
//! | complete | signal, blocking | tells the group's members that the accesses are done |
//! | wait | group synchronisation, synchronous | waits for the completes of its group's members |
//!
//! The k-th post of a PE for another in a window is for the k-th start of that one for it, and so are completes and waits (MPI-4.1,
//! section 12.5.2). A wait of which not every partner is recorded has no cause.

use partune_base::{GroupId, PeId, WindowId};
use partune_trace::{Completion, RmaSyncKind, Role, Trace, VisitIx};
use rustc_hash::FxHashMap;

use super::ValueWait;
use crate::Place;

/// What opens, or closes, an epoch of another PE.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Signal {
    Post,
    Complete,
}

/// A signal's way: window, from, to.
type Way = (WindowId, PeId, PeId, Signal);

/// All waits of epochs in order of (PE, operation). Linear in members of the groups of epochs: 12 bytes each while it runs.
pub(super) fn find(trace: &Trace) -> Vec<ValueWait> {
    let rows = rows(trace);
    let mut sent: FxHashMap<Way, Vec<VisitIx>> = FxHashMap::default();
    for row in rows.iter().filter(|row| row.sends) {
        for to in trace.groups()[row.group].members.iter().filter(|to| **to != row.place.pe) {
            sent.entry((row.window, row.place.pe, *to, row.signal)).or_default().push(row.place.visit);
        }
    }
    let mut used: FxHashMap<Way, usize> = FxHashMap::default();
    let mut waits = Vec::new();
    for row in rows.iter().filter(|row| !row.sends) {
        let pe = row.place.pe;
        let mut partners = Vec::new();
        for from in trace.groups()[row.group].members.iter().filter(|from| **from != pe) {
            let way = (row.window, *from, pe, row.signal);
            let number = used.entry(way).or_default();
            let visit = sent.get(&way).and_then(|visits| visits.get(*number));
            *number += 1;
            partners.push(visit.map(|visit| Place { pe: *from, visit: *visit }));
        }
        let all: Option<Vec<Place>> = partners.into_iter().collect();
        let last = all.unwrap_or_default().into_iter().max_by_key(|place| (place.enter(trace), *place));
        let exit = row.place.exit(trace);
        waits.push(ValueWait {
            pe,
            operation: row.place.visit,
            cause: last.unwrap_or(Place::NONE),
            fulfilled: last.map_or(exit, |last| last.enter(trace).min(exit)),
        });
    }
    waits.sort_by_key(|wait| (wait.pe, wait.operation));
    waits
}

/// A row of a group in a window.
struct Row {
    place: Place,
    window: WindowId,
    group: GroupId,
    signal: Signal,
    /// Whether it sends the signal or waits for it.
    sends: bool,
}

/// Rows in order of (PE, time).
fn rows(trace: &Trace) -> Vec<Row> {
    let mut rows = Vec::new();
    for (pe, stream) in trace.streams().iter_ids() {
        for row in &stream.rma_syncs {
            let RmaSyncKind::Group(group) = row.kind else { continue };
            if !group.is_some() || !row.visit.is_some() {
                continue;
            }
            let region = trace.region_of(pe, row.visit);
            let sends = region.role == Role::Signal;
            if !sends && region.role != Role::RmaGroupSync {
                continue;
            }
            let of_post = if sends { Completion::NonBlocking } else { Completion::Blocking };
            let signal = if region.completion == of_post { Signal::Post } else { Signal::Complete };
            rows.push(Row { place: Place { pe, visit: row.visit }, window: row.window, group, signal, sends });
        }
    }
    rows
}
