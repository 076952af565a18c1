//! Rows of messages: which operations the two ends of each belong to. What Extrae writes there is in the words on [`super`].

use partune_trace::{Completion, NO_REQUEST, Recv, RequestEvent, RequestKind, Role, Send, VisitIx};

use super::assemble::Operations;
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
        let visit = operations.beginning(half.logical, sends_one);
        let returns_at_once = visit.is_some() && returns_at_once(operations.region(visit).completion);
        let request = if returns_at_once { request(half, 0) } else { NO_REQUEST };
        let (peer, group) = people.peer(lane.application, half.peer);
        Send { visit, time: half.logical, peer, group, tag: half.tag, bytes: half.bytes, request }
    }));
    let mut recvs: Vec<&Half> = lane.recvs.iter().collect();
    recvs.sort_unstable_by_key(|half| (half.physical, half.message));
    for half in recvs {
        let visit = operations.ending(half.physical, completes_one);
        let post = post(half, visit, operations);
        let request = if post.is_some() { request(half, 1) } else { NO_REQUEST };
        if post.is_some() {
            rows.requests.push(RequestEvent {
                visit: post,
                time: half.logical,
                kind: RequestKind::RecvPosted,
                request,
            });
        }
        let (peer, group) = people.peer(lane.application, half.peer);
        rows.recvs.push(Recv { visit, time: half.physical, peer, group, tag: half.tag, bytes: half.bytes, request });
    }
    rows.requests.sort_by_key(|row| (row.time, row.request));
    rows
}

/// The operation that posted a receive, if another one completed it.
fn post(half: &Half, completion: VisitIx, operations: &Operations<'_>) -> VisitIx {
    if half.logical > half.physical {
        return VisitIx::NONE;
    }
    // One that comes back at once posted it by its end, one that blocks at its begin.
    let blocking =
        operations.beginning(half.logical, |role, completion| receives_one(role) && !returns_at_once(completion));
    if blocking.is_some() && blocking == completion {
        return VisitIx::NONE;
    }
    let post = operations.ending(half.logical, |role, completion| receives_one(role) && returns_at_once(completion));
    if post == completion { VisitIx::NONE } else { post }
}

fn sends_one(role: Role, _: Completion) -> bool {
    matches!(role, Role::Send | Role::SendRecv)
}

fn receives_one(role: Role) -> bool {
    matches!(role, Role::Recv | Role::SendRecv)
}

fn completes_one(role: Role, completion: Completion) -> bool {
    role == Role::CommSync || receives_one(role) && !returns_at_once(completion)
}

fn returns_at_once(completion: Completion) -> bool {
    match completion {
        Completion::NonBlocking | Completion::Persistent => true,
        Completion::Blocking | Completion::Synchronous | Completion::Buffered => false,
    }
}

/// A number for one end of a message.
fn request(half: &Half, end: u64) -> u64 {
    2 * half.message + end
}
