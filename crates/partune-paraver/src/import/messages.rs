//! Rows of messages: which operations the two ends of each belong to. What Extrae writes there is in the words on [`super`].

use partune_trace::{Completion, NO_REQUEST, Recv, Region, RequestEvent, RequestKind, Role, Send, VisitIx};

use super::decode::Operations;
use super::lanes::{Half, Lane};
use super::people::People;

#[derive(Default)]
pub(super) struct Rows {
    pub(super) sends: Vec<Send>,
    pub(super) recvs: Vec<Recv>,
    pub(super) requests: Vec<RequestEvent>,
}

/// The ends of messages of a lane, as rows in order of time.
pub(super) fn rows(lane: &Lane, operations: &Operations<'_>, people: &People) -> Rows {
    let mut rows = Rows::default();
    let mut sends: Vec<&Half> = lane.sends.iter().collect();
    sends.sort_unstable_by_key(|half| (half.logical, half.message));
    rows.sends.extend(sends.into_iter().map(|half| {
        let found = operations.find_beginning(half.logical, sends_one);
        let returns = found.is_some_and(|(_, region)| returns_at_once(region));
        let request = if returns { request(half, 0) } else { NO_REQUEST };
        let visit = found.map_or(VisitIx::NONE, |found| found.0);
        let (peer, group) = people.peer(lane.application, half.peer);
        let Half { logical: time, tag, bytes, message: matching, .. } = *half;
        Send { visit, time, peer, group, tag, bytes, request, matching }
    }));
    let mut recvs: Vec<&Half> = lane.recvs.iter().collect();
    recvs.sort_unstable_by_key(|half| (half.physical, half.message));
    for half in recvs {
        let visit = operations.find_ending(half.physical, completes_one).map_or(VisitIx::NONE, |found| found.0);
        let post = post(half, visit, operations);
        let request = if post.is_some() { request(half, 1) } else { NO_REQUEST };
        if post.is_some() {
            let (time, kind) = (half.logical, RequestKind::RecvPosted);
            rows.requests.push(RequestEvent { visit: post, time, kind, request });
        }
        let (peer, group) = people.peer(lane.application, half.peer);
        let Half { physical: time, tag, bytes, message: matching, .. } = *half;
        rows.recvs.push(Recv { visit, time, peer, group, tag, bytes, request, matching });
    }
    rows.requests.sort_by_key(|row| (row.time, row.request));
    rows
}

/// The operation that posted a receive, if another one completed it.
fn post(half: &Half, completion: VisitIx, operations: &Operations<'_>) -> VisitIx {
    if half.logical > half.physical {
        return VisitIx::NONE;
    }
    // One that blocks posted it at its begin, one that comes back at once by its end.
    let blocking = operations.find_beginning(half.logical, |region| receives_one(region) && !returns_at_once(region));
    if blocking.is_some_and(|(visit, _)| visit == completion) {
        return VisitIx::NONE;
    }
    let post = operations.find_ending(half.logical, |region| receives_one(region) && returns_at_once(region));
    post.map(|found| found.0).filter(|visit| *visit != completion).unwrap_or(VisitIx::NONE)
}

fn sends_one(region: &Region) -> bool {
    matches!(region.role, Role::Send | Role::SendRecv)
}

fn receives_one(region: &Region) -> bool {
    matches!(region.role, Role::Recv | Role::SendRecv)
}

fn completes_one(region: &Region) -> bool {
    region.role == Role::CommSync || receives_one(region) && !returns_at_once(region)
}

fn returns_at_once(region: &Region) -> bool {
    match region.completion {
        Completion::NonBlocking | Completion::Persistent => true,
        Completion::Blocking | Completion::Synchronous | Completion::Buffered => false,
    }
}

/// A number for one end of a message.
fn request(half: &Half, end: u64) -> u64 {
    2 * half.message + end
}
