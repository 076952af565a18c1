//! Messages: late sender and late receiver.
//!
//! Late sender: the operation that received (or completed the receive) was entered before the send operation;
//! wait = [own enter, enter of the send]. Late receiver: a send that may block, or the operation that completed a non-blocking
//! send, was entered before the operation that posted the receive, and left after (a synchronous one: not before); wait = [own
//! enter, enter of that]. Buffered sends never wait. Several messages completed by one operation: the latest counts. No wait reaches beyond the end
//! of its operation.

use partune_base::{PeId, Time};
use partune_index::{Index, Message, Place};
use partune_trace::{Completion, NO_REQUEST, Trace};

use super::{Wait, push_latest};
use crate::Pattern;

/// All waits of a PE for messages.
pub(super) fn find(trace: &Trace, index: &Index, pe: PeId) -> Vec<Wait> {
    let stream = &trace.streams()[pe];
    let mut rows = Vec::new();
    for recv in 0..stream.recvs.len() {
        if let Some(message) = index.messages.of_recv(pe, recv)
            && let Some(wait) = late_sender(trace, message)
        {
            push_latest(&mut rows, wait);
        }
    }
    for send in 0..stream.sends.len() {
        if let Some(message) = index.messages.of_send(pe, send)
            && let Some(wait) = late_receiver(trace, message)
        {
            push_latest(&mut rows, wait);
        }
    }
    rows
}

fn late_sender(trace: &Trace, message: &Message) -> Option<Wait> {
    let own = message.recv_place(trace);
    let row = trace.streams()[message.sender].sends.get(message.send as usize)?;
    // The row is no earlier than its operation: most messages are not late and need no further look.
    if !own.is_some() || row.time <= own.enter(trace) {
        return None;
    }
    let partner = Place { pe: message.sender, visit: row.visit };
    let (begin, exit) = operation(trace, own)?;
    let (end, _) = operation(trace, partner)?;
    wait(own, Pattern::LateSender, begin, end, exit, partner)
}

fn late_receiver(trace: &Trace, message: &Message) -> Option<Wait> {
    let row = trace.streams()[message.sender].sends.get(message.send as usize)?;
    let visit = if row.request == NO_REQUEST { row.visit } else { message.send_completion };
    let own = Place { pe: message.sender, visit };
    if !own.is_some() || message.recv_posted <= own.enter(trace) {
        return None;
    }
    let (begin, exit) = operation(trace, own)?;
    let completion = trace.region_of(own.pe, own.visit).completion;
    if row.request == NO_REQUEST && !may_wait(completion) {
        return None;
    }
    let partner = Place { pe: message.receiver, visit: message.recv_post };
    let (posted, _) = operation(trace, partner)?;
    // A synchronous send cannot leave before: clock repair moves its exit to the moment of posting. Others can, by buffering.
    let needs = row.request == NO_REQUEST && completion == Completion::Synchronous;
    if posted > exit || posted == exit && !needs {
        return None;
    }
    wait(own, Pattern::LateReceiver, begin, posted, exit, partner)
}

/// Whether a send of this kind can wait for its receiver.
fn may_wait(completion: Completion) -> bool {
    match completion {
        Completion::Blocking | Completion::Synchronous => true,
        Completion::Buffered | Completion::NonBlocking | Completion::Persistent => false,
    }
}

/// Enter and exit of an operation; `None` for a place outside of operations.
fn operation(trace: &Trace, place: Place) -> Option<(Time, Time)> {
    if !place.is_some() || trace.role_of(place.pe, place.visit).is_transparent() {
        return None;
    }
    Some((place.enter(trace), place.exit(trace)))
}

fn wait(own: Place, pattern: Pattern, begin: Time, end: Time, exit: Time, cause: Place) -> Option<Wait> {
    let end = end.min(exit);
    (begin < end).then_some(Wait { pe: own.pe, operation: own.visit, pattern, begin, end, cause, instance: u32::MAX })
}
