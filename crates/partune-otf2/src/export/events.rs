//! The events of a PE: its visits and facts in the order in which they were recorded.

use std::collections::VecDeque;

use partune_base::{PeId, StringId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{
    HandleKind, IoKind, LockKind, NO_MATCHING, NO_REQUEST, PauseKind, RequestEvent, RequestKind, RmaCompletionKind,
    RmaSyncKind, RmaTransferKind, Role, Stream, TaskKind, TeamKind, Trace, VisitIx,
};
use rustc_hash::FxHashMap;

use super::Layout;
use super::definitions::{DISPLACEMENT, POLLS, handle};
use crate::codec::numbers::value;
use crate::codec::view::{Metric, Metrics};
use crate::codec::{Attribute, AttributeList, CodecError, Event, EventWriter, Value};
use crate::objects::{self, EXECUTION, MATCHING};
use crate::paradigms;

const NONE: u32 = u32::MAX;
/// `OTF2_PARADIGM_MEASUREMENT_SYSTEM` is the model of locks and threads whose model is not known.
const MODEL: u8 = 6;

/// Facts that OTF2 has no record for.
#[derive(Clone, Copy, Default)]
pub(super) struct Skipped {
    lock_attempts: u64,
    /// Messages whose other end is in no group that the archive could name it in.
    peers: u64,
}

impl Skipped {
    pub(super) fn add(&mut self, more: Skipped) {
        self.lock_attempts += more.lock_attempts;
        self.peers += more.peers;
    }

    pub(super) fn report(self, quality: &mut Quality) {
        let message = "attempts to get a lock were left out: OTF2 has them for windows and files only";
        quality.add(Diagnostic::info(Code::LeftOutLockAttempts, message, "").times(self.lock_attempts));
        let message = "messages to or from PEs that are in no group with the other end were left without it";
        quality.add(Diagnostic::data_loss(Code::LeftOutMessages, message, "analyse the original").times(self.peers));
    }
}

/// A record of a fact: its time, the visit it is recorded in, and the record.
struct Told {
    time: Time,
    visit: VisitIx,
    event: Event<'static>,
    /// What records hold by reference.
    beside: Beside,
}

#[derive(Clone, Copy, Default)]
enum Beside {
    #[default]
    Nothing,
    /// The value of a metric.
    Value(f64),
    /// Where an access begins.
    Offset(u64),
    /// What the ends of a message have in common.
    Matching(u64),
}

/// Writes the events of a PE.
pub(super) fn write<S: FnMut(&[u8])>(
    layout: &Layout<'_>,
    pe: PeId,
    to: &mut EventWriter<S>,
) -> Result<Skipped, CodecError> {
    let trace = layout.trace;
    let stream = &trace.streams()[pe];
    let mut skipped = Skipped::default();
    let mut facts = facts(layout, pe, &mut skipped);
    facts.sort_by_key(|told| told.time);
    let exits = exits(trace, stream, &facts);
    let mut facts = facts.into_iter().peekable();
    let mut open = Open { trace, stream, exits, visits: Vec::new(), next: 0 };
    let mut polls = stream.polls.iter().peekable();
    let mut executions = stream.executions.iter().filter(|row| row.visit.is_some()).peekable();
    let mut contributions = stream.contributions.iter().filter(|row| row.visit.is_some()).peekable();
    let mut pending = Pending::default();
    let mut last = Time::MIN;
    loop {
        let fact = if pending.is_empty() { facts.peek().map_or(Time::MAX, |told| told.time) } else { last };
        let (leave, enter) = (open.leaves(), open.enters());
        let now = fact.min(leave).min(enter);
        while let Some(told) = facts.next_if(|told| told.time <= now) {
            pending.push(told);
        }
        let leaves = leave == now && !open.visits.is_empty() && !(enter == now && open.next_is_inside());
        let enters = enter == now && open.next < stream.visits.len();
        last = last.max(now);
        if let Some(told) = pending.next(open.current(), !leaves && !enters) {
            let stamp = layout.stamp(last);
            match (told.event, told.beside) {
                (Event::Metric { metric, .. }, Beside::Value(number)) => {
                    let values = [Metric { kind: value::DOUBLE, bits: number.to_bits() }];
                    to.write(stamp, &Event::Metric { metric, values: Metrics::new(&values) })?;
                }
                (event, Beside::Offset(number) | Beside::Matching(number)) => {
                    let is_offset = matches!(told.beside, Beside::Offset(_));
                    let attribute = if is_offset { DISPLACEMENT.0 } else { MATCHING.0 };
                    let attribute = [Attribute { attribute, value: Value::U64(number) }];
                    to.write_with(stamp, &AttributeList::new(&attribute), &event)?;
                }
                (event, Beside::Nothing | Beside::Value(_)) => to.write(stamp, &event)?,
            }
        } else if leaves {
            let region = open.leave();
            to.write(layout.stamp(last), &Event::Leave { region })?;
        } else if enters {
            while polls.next_if(|row| row.visit.index() < open.next).is_some() {}
            let count = polls.next_if(|row| row.visit.index() == open.next).map(|row| {
                let (attribute, _) = POLLS[usize::from(row.found)];
                Attribute { attribute, value: Value::U64(row.count) }
            });
            while executions.next_if(|row| row.visit.index() < open.next).is_some() {}
            let number = |(attribute, _), value| Attribute { attribute, value: Value::U64(value) };
            let execution = executions.next_if(|row| row.visit.index() == open.next).into_iter().flat_map(|row| {
                let message = (row.message != NO_MATCHING).then(|| number(MATCHING, row.message));
                [Some(number(EXECUTION, objects::pack(row.object.0, row.trigger))), message].into_iter().flatten()
            });
            while contributions.next_if(|row| row.visit.index() < open.next).is_some() {}
            let part = contributions.next_if(|row| row.visit.index() == open.next);
            let part = part.map(|row| number(MATCHING, row.message));
            let attributes: Vec<Attribute> = count.into_iter().chain(execution).chain(part).collect();
            let region = open.enter();
            to.write_with(layout.stamp(last), &AttributeList::new(&attributes), &Event::Enter { region })?;
        } else {
            break;
        }
    }
    Ok(skipped)
}

/// When visits are left. The construct around the body of a lock was cut where the body begins; in the archive the body is inside, and so is the
/// release after it.
fn exits(trace: &Trace, stream: &Stream, facts: &[Told]) -> Vec<Time> {
    let visits = &stream.visits;
    let mut exits = visits.exit.clone();
    let is_body = |visit: usize| trace.paths().is_lock_body(visits.path[visit]);
    if !(0..visits.len()).any(is_body) {
        return exits;
    }
    let mut last_told = vec![Time::MIN; visits.len()];
    for told in facts.iter().filter(|told| told.visit.is_some()) {
        last_told[told.visit.index()] = told.time;
    }
    // The latest visit of each depth.
    let mut callers: Vec<usize> = Vec::new();
    for visit in 0..visits.len() {
        let path = visits.path[visit];
        let parent = trace.paths().parent(path);
        let depth = trace.paths().depth(path) as usize;
        let caller = depth.checked_sub(1).and_then(|depth| callers.get(depth)).copied();
        if let Some(caller) = caller.filter(|caller| visits.path[*caller] == parent)
            && is_body(visit)
        {
            exits[caller] = exits[caller].max(exits[visit]).max(last_told[caller]);
        }
        callers.truncate(depth);
        callers.resize(depth, visit);
        callers.push(visit);
    }
    exits
}

/// Facts of the present moment. Each waits for the visit that it belongs to, as long as something begins or ends.
#[derive(Default)]
struct Pending {
    /// In the order in which they were recorded; those that are written are gone.
    told: VecDeque<Option<Told>>,
    /// How many were taken from the front.
    taken: usize,
    of_visit: FxHashMap<VisitIx, VecDeque<usize>>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    fn push(&mut self, told: Told) {
        self.of_visit.entry(told.visit).or_default().push_back(self.taken + self.told.len());
        self.told.push_back(Some(told));
    }

    /// The next one of a visit, or of any.
    fn next(&mut self, visit: VisitIx, any: bool) -> Option<Told> {
        let mut found = None;
        if let Some(places) = self.of_visit.get_mut(&visit) {
            while found.is_none() {
                let Some(place) = places.pop_front() else { break };
                found = place.checked_sub(self.taken).and_then(|at| self.told.get_mut(at)?.take());
            }
        }
        if found.is_none() && any {
            found = self.told.iter_mut().find_map(Option::take);
        }
        while self.told.front().is_some_and(Option::is_none) {
            self.told.pop_front();
            self.taken += 1;
        }
        if self.told.is_empty() {
            self.of_visit.clear();
        }
        found
    }
}

/// The visits that are open while events are written.
struct Open<'a> {
    trace: &'a Trace,
    stream: &'a Stream,
    exits: Vec<Time>,
    /// Each with the operation that it is or is in.
    visits: Vec<(VisitIx, Option<VisitIx>)>,
    /// The visit that is entered next.
    next: usize,
}

impl Open<'_> {
    /// When the innermost visit is left.
    fn leaves(&self) -> Time {
        self.visits.last().map_or(Time::MAX, |(visit, _)| self.exits[visit.index()])
    }

    /// When the next visit is entered.
    fn enters(&self) -> Time {
        self.stream.visits.enter.get(self.next).copied().unwrap_or(Time::MAX)
    }

    /// Whether the next visit is called from the innermost one.
    fn next_is_inside(&self) -> bool {
        let path = |visit: usize| self.stream.visits.path[visit];
        let outer = self.visits.last().map(|(visit, _)| path(visit.index()));
        outer.is_some_and(|outer| self.trace.paths().parent(path(self.next)) == outer)
    }

    /// The visit that what is written now belongs to.
    fn current(&self) -> VisitIx {
        self.visits.last().map_or(VisitIx::NONE, |(visit, operation)| operation.unwrap_or(*visit))
    }

    fn enter(&mut self) -> u32 {
        let visit = VisitIx(self.next as u32);
        let path = self.stream.visits.path[self.next];
        let around = self.visits.last().and_then(|(_, operation)| *operation);
        let is_operation = self.trace.paths().operation(path) == path;
        self.visits.push((visit, around.or(is_operation.then_some(visit))));
        self.next += 1;
        self.trace.paths().region(path).0
    }

    fn leave(&mut self) -> u32 {
        let visit = self.visits.pop().map_or(VisitIx::NONE, |(visit, _)| visit);
        self.trace.paths().region(self.stream.visits.path[visit.index()]).0
    }
}

fn request(row: &RequestEvent) -> Event<'static> {
    let request_id = row.request;
    match row.kind {
        RequestKind::RecvPosted => Event::MpiIrecvRequest { request_id },
        RequestKind::SendCompleted => Event::MpiIsendComplete { request_id },
        RequestKind::CollectiveStarted => Event::NonBlockingCollectiveRequest { request_id },
        RequestKind::Tested => Event::MpiRequestTest { request_id },
        RequestKind::Cancelled => Event::MpiRequestCancelled { request_id },
    }
}

/// The operation of a collective, by its shape.
fn operation(role: Role) -> u8 {
    match role {
        Role::OneToAll => 1,
        Role::AllToOne => 12,
        Role::AllToAll => 11,
        Role::Scan => 14,
        Role::GlobalAlloc => 17,
        _ => 0,
    }
}

fn matching(number: u64) -> Beside {
    if number == NO_MATCHING { Beside::Nothing } else { Beside::Matching(number) }
}

/// The paradigm whose construct a lock was used by.
fn model_of_visit(trace: &Trace, stream: &Stream, visit: VisitIx) -> u8 {
    let region = stream.visits.get(visit).map(|visit| trace.regions()[trace.paths().region(visit.path)]);
    region.map_or(MODEL, |region| model(trace, region.paradigm))
}

/// The paradigm whose teams the threads of a PE work in.
fn model_of_teams(trace: &Trace, stream: &Stream) -> u8 {
    let team = stream.teams.iter().find_map(|row| trace.groups().get(row.group));
    team.map_or(MODEL, |team| model(trace, team.paradigm))
}

fn model(trace: &Trace, paradigm: StringId) -> u8 {
    match paradigms::number(trace.strings().get(paradigm)) {
        _ if !paradigm.is_some() => MODEL,
        paradigms::UNKNOWN | paradigms::USER => MODEL,
        known => known,
    }
}

/// The records of all facts of a PE, table after table.
fn facts(layout: &Layout<'_>, pe: PeId, skipped: &mut Skipped) -> Vec<Told> {
    let stream = &layout.trace.streams()[pe];
    let mut all: Vec<Told> = Vec::with_capacity(stream.facts());
    // What begins a request comes before what completes it, also at one time.
    let begins = |kind| matches!(kind, RequestKind::RecvPosted | RequestKind::CollectiveStarted);
    for row in stream.requests.iter().filter(|row| begins(row.kind)) {
        all.push(Told { time: row.time, visit: row.visit, event: request(row), beside: Beside::Nothing });
    }
    for row in &stream.sends {
        let (communicator, receiver) = layout.rank(row.group, row.peer, pe);
        skipped.peers += u64::from(row.peer.is_some() && receiver == NONE);
        let (msg_tag, msg_length, request_id) = (row.tag, row.bytes, row.request);
        let event = match request_id {
            NO_REQUEST => Event::MpiSend { receiver, communicator, msg_tag, msg_length },
            _ => Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id },
        };
        all.push(Told { time: row.time, visit: row.visit, event, beside: matching(row.matching) });
    }
    for row in &stream.recvs {
        let (communicator, sender) = layout.rank(row.group, row.peer, pe);
        skipped.peers += u64::from(row.peer.is_some() && sender == NONE);
        let (msg_tag, msg_length, request_id) = (row.tag, row.bytes, row.request);
        let event = match request_id {
            NO_REQUEST => Event::MpiRecv { sender, communicator, msg_tag, msg_length },
            _ => Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id },
        };
        all.push(Told { time: row.time, visit: row.visit, event, beside: matching(row.matching) });
    }
    let mut tell = |visit: VisitIx, time: Time, event: Event<'static>| {
        all.push(Told { time, visit, event, beside: Beside::Nothing });
    };
    for row in stream.requests.iter().filter(|row| !begins(row.kind)) {
        tell(row.visit, row.time, request(row));
    }
    for row in &stream.collectives {
        let (communicator, root) = layout.rank(row.group, row.root, pe);
        let root = if row.root.is_some() { root } else { NONE };
        let (collective_op, size_sent, size_received) = (operation(row.role), row.sent, row.received);
        if row.request == NO_REQUEST {
            tell(row.visit, row.begin, Event::MpiCollectiveBegin {});
            let event = Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received };
            tell(row.visit, row.end, event);
        } else {
            let request_id = row.request;
            tell(
                row.visit,
                row.end,
                Event::NonBlockingCollectiveComplete {
                    collective_op,
                    communicator,
                    root,
                    size_sent,
                    size_received,
                    request_id,
                },
            );
        }
    }
    let remote = |window: partune_base::WindowId, target: PeId| {
        let group = layout.trace.windows().get(window).map_or(partune_base::GroupId::NONE, |window| window.group);
        layout.rank(group, target, pe).1
    };
    for row in &stream.transfers {
        let (win, remote, bytes, matching_id) = (row.window.0, remote(row.window, row.target), row.bytes, row.matching);
        tell(
            row.visit,
            row.time,
            match row.kind {
                RmaTransferKind::Put => Event::RmaPut { win, remote, bytes, matching_id },
                RmaTransferKind::Get => Event::RmaGet { win, remote, bytes, matching_id },
                RmaTransferKind::Atomic => {
                    Event::RmaAtomic { win, remote, atomic_type: 0, bytes_sent: bytes, bytes_received: 0, matching_id }
                }
            },
        );
    }
    for row in &stream.completions {
        let (win, matching_id) = (row.window.0, row.matching);
        tell(
            row.visit,
            row.time,
            match row.kind {
                RmaCompletionKind::Blocking => Event::RmaOpCompleteBlocking { win, matching_id },
                RmaCompletionKind::NonBlocking => Event::RmaOpCompleteNonBlocking { win, matching_id },
                RmaCompletionKind::Tested => Event::RmaOpTest { win, matching_id },
                RmaCompletionKind::Remote => Event::RmaOpCompleteRemote { win, matching_id },
            },
        );
    }
    for row in &stream.rma_syncs {
        let (win, remote) = (row.window.0, remote(row.window, row.target));
        let sync = |sync_type| Event::RmaSync { win, remote, sync_type };
        tell(
            row.visit,
            row.time,
            match row.kind {
                RmaSyncKind::Group(group) => {
                    let group = layout.lists.get(group).copied().unwrap_or(NONE);
                    Event::RmaGroupSync { sync_level: 0, win, group }
                }
                RmaSyncKind::Memory => sync(0),
                RmaSyncKind::NotifyIn => sync(1),
                RmaSyncKind::NotifyOut => sync(2),
                RmaSyncKind::WaitChange => Event::RmaWaitChange { win },
                RmaSyncKind::WindowCreated => Event::RmaWinCreate { win },
                RmaSyncKind::WindowFreed => Event::RmaWinDestroy { win },
            },
        );
    }
    let mut acquisitions: FxHashMap<u64, u32> = FxHashMap::default();
    for row in &stream.locks {
        // A lock's number is any 64 bits; half of them name it well enough.
        let lock_id = (row.lock ^ (row.lock >> 32)) as u32;
        // How often this PE has got it: a release has the number of its acquisition.
        let order = acquisitions.entry(row.lock).or_default();
        *order += u32::from(row.kind == LockKind::Acquired);
        let (acquisition_order, model) = (*order, model_of_visit(layout.trace, stream, row.visit));
        match row.kind {
            LockKind::Acquired => {
                tell(row.visit, row.time, Event::ThreadAcquireLock { model, lock_id, acquisition_order });
            }
            LockKind::Released => {
                tell(row.visit, row.time, Event::ThreadReleaseLock { model, lock_id, acquisition_order });
            }
            LockKind::Requested | LockKind::Tried => skipped.lock_attempts += 1,
        }
    }
    let model = model_of_teams(layout.trace, stream);
    for row in &stream.teams {
        let (group, sequence_count) = (row.group.0, row.sequence);
        tell(
            row.visit,
            row.time,
            match row.kind {
                TeamKind::Fork => Event::ThreadFork { model, number_of_requested_threads: 0 },
                TeamKind::Join => Event::ThreadJoin { model },
                TeamKind::TeamBegin => Event::ThreadTeamBegin { thread_team: group },
                TeamKind::TeamEnd => Event::ThreadTeamEnd { thread_team: group },
                TeamKind::Create => Event::ThreadCreate { thread_contingent: group, sequence_count },
                TeamKind::Begin => Event::ThreadBegin { thread_contingent: group, sequence_count },
                TeamKind::Wait => Event::ThreadWait { thread_contingent: group, sequence_count },
                TeamKind::End => Event::ThreadEnd { thread_contingent: group, sequence_count },
            },
        );
    }
    for row in &stream.tasks {
        let (thread_team, creating_thread, generation_number) = (row.group.0, (row.task >> 32) as u32, row.task as u32);
        tell(
            row.visit,
            row.time,
            match row.kind {
                TaskKind::Created => Event::ThreadTaskCreate { thread_team, creating_thread, generation_number },
                TaskKind::Switched => Event::ThreadTaskSwitch { thread_team, creating_thread, generation_number },
                TaskKind::Completed => Event::ThreadTaskComplete { thread_team, creating_thread, generation_number },
            },
        );
    }
    for row in &stream.pauses {
        match row.kind {
            PauseKind::Flush => {
                tell(VisitIx::NONE, row.begin, Event::BufferFlush { stop_time: layout.stamp(row.end) });
            }
            PauseKind::Off => {
                tell(VisitIx::NONE, row.begin, Event::MeasurementOnOff { measurement_mode: 2 });
                tell(VisitIx::NONE, row.end, Event::MeasurementOnOff { measurement_mode: 1 });
            }
        }
    }
    for row in &stream.handles {
        let handle = handle(layout.trace, row.file, row.layer);
        let event = match row.kind {
            // As what it was opened is not known; both is what allows any access.
            HandleKind::Opened => Event::IoCreateHandle { handle, mode: 2, creation_flags: 0, status_flags: 0 },
            HandleKind::Closed => Event::IoDestroyHandle { handle },
            HandleKind::Positioned(offset_result) => {
                let offset_request = i64::try_from(offset_result).unwrap_or(i64::MAX);
                Event::IoSeek { handle, offset_request, whence: 0, offset_result }
            }
        };
        all.push(Told { time: row.time, visit: row.visit, event, beside: Beside::Nothing });
    }
    for (row, matching_id) in stream.io.iter().zip(0..) {
        let handle = handle(layout.trace, row.file, row.layer);
        let mode = match row.kind {
            IoKind::Read => 0,
            IoKind::Write => 1,
            IoKind::Flush => 2,
        };
        let bytes = row.bytes;
        let begin = Event::IoOperationBegin { handle, mode, operation_flags: 0, bytes_request: bytes, matching_id };
        let beside = row.offset.map_or(Beside::Nothing, Beside::Offset);
        all.push(Told { time: row.begin, visit: row.visit, event: begin, beside });
        let event = Event::IoOperationComplete { handle, bytes_result: bytes, matching_id };
        all.push(Told { time: row.end, visit: row.visit, event, beside: Beside::Nothing });
    }
    for row in &stream.metrics {
        let scale = layout.trace.metrics().get(row.metric).map_or(1.0, |metric| metric.scale);
        let event = Event::Metric { metric: row.metric.0, values: Metrics::new(&[]) };
        all.push(Told { time: row.time, visit: row.visit, event, beside: Beside::Value(row.value * scale) });
    }
    all
}
