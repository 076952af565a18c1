//! Waits for a gift of another PE ([`partune_index::Ties`]): messages, collectives, values, epochs of windows.
//!
//! | tie | wait | until |
//! |---|---|---|
//! | message | late sender | the enter of the send |
//! | leave to end (synchronous, rendezvous) | late receiver | the enter of what posted the receive, if the operation returned after that (a synchronous one: not before) |
//! | collective | by its shape: late broadcast, early reduce, early scan, all others at a barrier, n-to-n or fence | the last enter of those needed |
//! | value | wait on value | the access that fulfilled the condition was done |
//! | value, named by a synchronisation (SYNC IMAGES) | late partner | the enter of the operation of those named that began last |
//! | task | wait for task | the creation of a task that it could run next, or the end of the last task that another thread ended meanwhile |
//! | creation | wait for thread, in whoever waits for a PE to end | its end |
//! | value, in an epoch of a window | late fence (Scalasca's late post, early wait, late complete) | the last post or complete that it needs |
//!
//! A loop that polls (tests, probes) waits from its first poll on, in each of its polls: what the program does between them is its own work.
//!
//! Waits begin when a PE can do nothing else (the enter of a blocking call, or of the completion of a non-blocking one) and
//! never reach beyond the exit of that operation. Of several messages completed by one operation the latest counts. Buffered
//! sends never wait. Clock repair leaves the exit of a member whose data came "before" the root sent it at
//! the root's enter, so the two may be equal; a member that left earlier got no data from the root (none was to be moved), or its
//! clock contradicts the root's: neither waited as far as anybody can tell. Instances with missing members tell nothing.
//! The moment a condition was fulfilled is PPW's estimate, where it is not recorded: the last remote write to this PE's memory that
//! ended within the operation.

use partune_base::{PeId, Time};
use partune_index::{Binding, Index, Place, TieKind, Ties};
use partune_trace::{Completion, Role, Trace, VisitIx};

use super::{Wait, push_latest};
use crate::Pattern;

/// All waits of a PE for gifts of others, in the order of its program.
pub(super) fn find(trace: &Trace, index: &Index, ties: &Ties, pe: PeId) -> Vec<Wait> {
    let mut rows = Vec::new();
    for bound in ties.binding(trace, index, pe) {
        let polls = || index.polls.from(trace, bound.taker);
        let last = polls().and_then(Iterator::last).map_or(bound.taker, |visit| Place { pe, visit });
        let wait = match bound.kind {
            TieKind::Message => late_sender(trace, &bound, last),
            TieKind::Synchronous | TieKind::Rendezvous => late_receiver(trace, &bound, last),
            TieKind::Collective => {
                ties.instance(bound.tie).and_then(|number| collective(trace, index, number, &bound, last))
            }
            TieKind::Value => value(trace, &bound, last),
            TieKind::Task => {
                span(trace, bound.taker).and_then(|(_, exit)| wait(&bound, Pattern::WaitForTask, bound.gift.time, exit))
            }
            TieKind::Creation => end_of_thread(trace, &bound),
            // Who had a lock is found from the grants; teams wait in barriers.
            TieKind::Lock | TieKind::Fork | TieKind::Join => None,
        };
        match (wait, polls()) {
            (Some(wait), Some(polls)) => rows.extend(polls.filter_map(|visit| part(trace, wait, visit))),
            (Some(wait), None) => push_latest(&mut rows, wait),
            (None, _) => {}
        }
    }
    rows
}

/// The part of a wait that lies in one of its operations.
fn part(trace: &Trace, wait: Wait, operation: VisitIx) -> Option<Wait> {
    let visit = trace.visit(wait.pe, operation);
    let (begin, end) = (wait.begin.max(visit.enter), wait.end.min(visit.exit));
    (begin < end).then_some(Wait { operation, begin, end, ..wait })
}

/// `last`: the operation that ends the wait, here and below; the taker, unless that is a poll.
fn late_sender(trace: &Trace, bound: &Binding, last: Place) -> Option<Wait> {
    let (_, exit) = operation(trace, last)?;
    operation(trace, bound.gift.place)?;
    wait(bound, Pattern::LateSender, bound.gift.time, exit)
}

fn late_receiver(trace: &Trace, bound: &Binding, last: Place) -> Option<Wait> {
    let (_, exit) = operation(trace, last)?;
    let (posted, _) = operation(trace, bound.gift.place)?;
    // A synchronous send cannot leave before: clock repair moves its exit to the moment of posting. Others can, by buffering.
    let own = trace.region_of(bound.taker.pe, bound.taker.visit).completion;
    if posted > exit || posted == exit && own != Completion::Synchronous {
        return None;
    }
    wait(bound, Pattern::LateReceiver, posted, exit)
}

fn collective(trace: &Trace, index: &Index, number: u32, bound: &Binding, last: Place) -> Option<Wait> {
    let instance = &index.collectives.instances[number as usize];
    let pattern = shape(instance.role)?;
    let (_, exit) = span(trace, last)?;
    if instance.missing > 0 || pattern == Pattern::LateBroadcast && exit < bound.gift.time {
        return None;
    }
    Some(Wait { instance: number, ..wait(bound, pattern, bound.gift.time, exit)? })
}

/// How members of a collective wait; `None` for what is none.
fn shape(role: Role) -> Option<Pattern> {
    match role {
        Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::Init | Role::Finalize => {
            Some(Pattern::WaitAtBarrier)
        }
        Role::AllToAll | Role::Io => Some(Pattern::WaitAtNxn),
        Role::GlobalAlloc => Some(Pattern::WaitAtSetUp),
        Role::RmaGroupSync => Some(Pattern::LateFence),
        Role::OneToAll => Some(Pattern::LateBroadcast),
        Role::AllToOne => Some(Pattern::EarlyReduce),
        Role::Scan => Some(Pattern::EarlyScan),
        Role::Inquiry
        | Role::Put
        | Role::Get
        | Role::Atomic
        | Role::CommSync
        | Role::DeviceWait
        | Role::RmaPost
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::Send
        | Role::Recv
        | Role::SendRecv
        | Role::Probe
        | Role::LockAcquire
        | Role::LockRelease
        | Role::WaitOnValue
        | Role::Signal
        | Role::WorkSharing
        | Role::Parallel
        | Role::TaskCreate
        | Role::TaskRun
        | Role::TaskWait
        | Role::PeManagement
        | Role::Management
        | Role::Measurement
        | Role::User => None,
    }
}

fn value(trace: &Trace, bound: &Binding, last: Place) -> Option<Wait> {
    let (_, exit) = span(trace, last)?;
    let giver = trace.role_of(bound.gift.place.pe, bound.gift.place.visit);
    let pattern = if matches!(giver, Role::RmaPost | Role::RmaComplete) {
        Pattern::LateFence
    } else if giver == Role::GroupSync {
        Pattern::LatePartner
    } else {
        Pattern::WaitOnValue
    };
    wait(bound, pattern, bound.gift.time, exit)
}

/// Whoever waits for the end of a PE does so in an operation; one that begins waits for nothing.
fn end_of_thread(trace: &Trace, bound: &Binding) -> Option<Wait> {
    let (_, exit) = operation(trace, bound.taker).filter(|_| bound.since > Time::MIN)?;
    wait(bound, Pattern::WaitForThread, bound.gift.time, exit)
}

/// Enter and exit of an operation; `None` for a place outside of operations.
fn operation(trace: &Trace, place: Place) -> Option<(Time, Time)> {
    let is_operation = place.is_some() && !trace.role_of(place.pe, place.visit).is_transparent();
    if is_operation { span(trace, place) } else { None }
}

fn span(trace: &Trace, place: Place) -> Option<(Time, Time)> {
    place.is_some().then(|| (place.enter(trace), place.exit(trace)))
}

fn wait(bound: &Binding, pattern: Pattern, end: Time, exit: Time) -> Option<Wait> {
    let (begin, end) = (bound.since, end.min(exit));
    let Binding { taker, gift, .. } = *bound;
    let row = Wait { pe: taker.pe, operation: taker.visit, pattern, begin, end, cause: gift.place, instance: u32::MAX };
    (begin < end).then_some(row)
}
