//! From event records to rows of a segment.

use partune_base::{FileId, GroupId, MetricId, ObjectId, PeId, Time, WindowId};
use partune_import::{Assembler, RegionKey, Segment, UNKNOWN_BEGIN, lock_key};
use partune_trace::{
    Collective, Contribution, Execution, HandleEvent, HandleKind, IoKind, IoLayer, IoTransfer, LockEvent, LockKind,
    MetricSample, NO_MATCHING, NO_REQUEST, Pause, PauseKind, Polls, Recv, RequestEvent, RequestKind, RmaCompletion,
    RmaCompletionKind, RmaSync, RmaSyncKind, RmaTransfer, RmaTransferKind, Role, Send, TaskEvent, TaskKind, TeamEvent,
    TeamKind, VisitIx,
};
use rustc_hash::FxHashMap;

use super::addresses::Told;
use super::clock::LocationClock;
use super::contexts::Contexts;
use super::gaps::{Called, Sampled};
use super::offsets::{Act, Step};
use super::resolve::{
    CommRef, HandleRef, MembersRef, Rank, Resolver, UNDEFINED, UNDEFINED_FILE, WinRef, global_region, local_region,
};
use super::runs::Kept;
use crate::codec::attributes::AttributeList;
use crate::codec::{Event, EventVisitor, Mapping};
use crate::objects;

/// Receives the events of a run of chunks.
pub(super) struct Decoder<'a> {
    pub(super) assembler: Assembler<Kept>,
    clock: &'a LocationClock,
    contexts: &'a Contexts,
    resolver: Resolver<'a>,
    /// Makes ids of locks of threads unique over processes.
    process: u32,
    last_stamp: Option<u64>,
    /// Row of each file operation that is under way.
    io: FxHashMap<u64, usize>,
    /// What the attributes of the event that comes next tell.
    told: Option<Told>,
}

impl<'a> Decoder<'a> {
    /// `rooted`: the run is the begin of its location.
    pub(super) fn new(
        rooted: bool,
        clock: &'a LocationClock,
        contexts: &'a Contexts,
        resolver: Resolver<'a>,
        process: u32,
    ) -> Self {
        let assembler = Assembler::new(rooted);
        let (io, told) = (FxHashMap::default(), None);
        Decoder { assembler, clock, contexts, resolver, process, last_stamp: None, io, told }
    }

    /// What was read; file operations that are under way may complete in a later run.
    pub(super) fn finish(mut self) -> Segment<Kept> {
        let mut begun: Vec<(u64, u32)> = self.io.drain().map(|(id, row)| (id, row as u32)).collect();
        begun.sort_unstable();
        self.kept().io.begun = begun;
        self.assembler.finish()
    }

    /// The time of the event that comes next. One time stamp may be that of many.
    #[inline]
    fn at(&mut self, stamp: u64) -> Time {
        self.assembler.segment.stream.events += 1;
        if self.last_stamp == Some(stamp) {
            return self.assembler.now();
        }
        self.last_stamp = Some(stamp);
        self.assembler.at(self.clock.correct(stamp))
    }
}

/// Shape of a collective, from OTF2's operation.
fn shape(operation: u8) -> Role {
    match operation {
        0 => Role::GroupSync,
        1 | 4 | 5 => Role::OneToAll,
        2 | 3 | 12 => Role::AllToOne,
        14 | 15 => Role::Scan,
        17..=22 => Role::GlobalAlloc,
        _ => Role::AllToAll,
    }
}

pub(super) fn io_kind(mode: u8) -> IoKind {
    match mode {
        1 => IoKind::Write,
        2 => IoKind::Flush,
        _ => IoKind::Read,
    }
}

/// Space of locks of threads; windows count from zero.
const THREAD_LOCKS: u64 = 1 << 40;
const FILE_LOCKS: u64 = 2 << 40;

const SHARED: u8 = 1;

impl EventVisitor for Decoder<'_> {
    #[inline]
    fn enter(&mut self, stamp: u64, region: u32) {
        let time = self.at(stamp);
        self.assembler.enter(time, local_region(region));
        if self.told.is_some() {
            self.entered();
        }
    }

    #[inline]
    fn leave(&mut self, stamp: u64, region: u32) {
        let time = self.at(stamp);
        self.assembler.leave(time, local_region(region));
        self.told = None;
    }

    fn attributes(&mut self, attributes: AttributeList<'_>) {
        self.told = self.resolver.tables.addresses.told(&attributes, self.resolver.mappings);
    }

    fn unknown(&mut self, stamp: u64, _: u8, _: &[u8]) {
        self.at(stamp);
    }

    fn event(&mut self, stamp: u64, event: &Event<'_>) {
        let time = self.at(stamp);
        match *event {
            Event::Enter { region } => {
                self.assembler.enter(time, local_region(region));
                self.entered();
            }
            Event::Leave { region } => self.assembler.leave(time, local_region(region)),
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                let context = self.context(calling_context);
                self.assembler.enter(time, self.region(context));
                if let Some(context) = context {
                    let visit = self.assembler.visit();
                    self.kept().called.push(Called { visit, context, unwind_distance });
                }
                self.entered();
            }
            Event::CallingContextLeave { calling_context } => {
                let context = self.context(calling_context);
                self.assembler.leave(time, self.region(context));
            }
            Event::CallingContextSample { calling_context, unwind_distance, interrupt_generator } => {
                let Some(context) = self.context(calling_context) else {
                    // One without a context says that nothing is known; one whose context is missing has lost it.
                    let mapped = self.resolver.mappings.map(Mapping::CallingContext, u64::from(calling_context));
                    self.kept().lost_samples += u64::from(mapped != u64::from(UNDEFINED));
                    return;
                };
                let generator = self.resolver.mappings.map(Mapping::InterruptGenerator, interrupt_generator.into());
                let next = VisitIx(self.assembler.segment.stream.visits.len() as u32);
                let generator = generator as u32;
                self.kept().samples.push(Sampled { next, time, context, unwind_distance, generator });
            }
            Event::BufferFlush { stop_time } => {
                let end = self.clock.correct(stop_time).max(time);
                self.assembler.segment.stream.pauses.push(Pause { begin: time, end, kind: PauseKind::Flush });
            }
            Event::MeasurementOnOff { measurement_mode: 2 } => self.assembler.pause(time),
            Event::MeasurementOnOff { .. } => self.assembler.resume(time),
            Event::MpiSend { receiver, communicator, msg_tag, msg_length } => {
                self.send(time, receiver, communicator, msg_tag, msg_length, NO_REQUEST);
            }
            Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id } => {
                self.send(time, receiver, communicator, msg_tag, msg_length, request_id);
            }
            Event::MpiRecv { sender, communicator, msg_tag, msg_length } => {
                self.recv(time, sender, communicator, msg_tag, msg_length, NO_REQUEST);
            }
            Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id } => {
                self.recv(time, sender, communicator, msg_tag, msg_length, request_id);
            }
            Event::MpiIsendComplete { request_id } => self.request(time, RequestKind::SendCompleted, request_id),
            Event::MpiIrecvRequest { request_id } => self.request(time, RequestKind::RecvPosted, request_id),
            Event::MpiRequestTest { request_id } => self.request(time, RequestKind::Tested, request_id),
            Event::MpiRequestCancelled { request_id } => self.request(time, RequestKind::Cancelled, request_id),
            Event::NonBlockingCollectiveRequest { request_id } => {
                self.request(time, RequestKind::CollectiveStarted, request_id);
            }
            Event::MpiCollectiveBegin {} | Event::RmaCollectiveBegin {} => {
                self.assembler.segment.collective_begin = Some(time);
            }
            Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received } => {
                let begin = self.begin_of_collective();
                let group = self.resolver.group(CommRef(communicator));
                self.collective(begin, time, collective_op, group, root, [size_sent, size_received], NO_REQUEST);
            }
            Event::NonBlockingCollectiveComplete {
                collective_op,
                communicator,
                root,
                size_sent,
                size_received,
                request_id,
            } => {
                let group = self.resolver.group(CommRef(communicator));
                self.collective(time, time, collective_op, group, root, [size_sent, size_received], request_id);
            }
            Event::RmaCollectiveEnd { collective_op, win, root, bytes_sent, bytes_received, .. } => {
                let begin = self.begin_of_collective();
                let group = self.resolver.group_of_window(self.resolver.window(WinRef(win)));
                self.collective(begin, time, collective_op, group, root, [bytes_sent, bytes_received], NO_REQUEST);
            }
            Event::RmaWinCreate { win } => {
                if let Some(Told::Unit(unit)) = self.told {
                    let window = self.resolver.window(WinRef(win));
                    self.kept().addresses.units.push((window, unit));
                }
                self.rma_sync(time, RmaSyncKind::WindowCreated, win, UNDEFINED);
            }
            Event::RmaWinDestroy { win } => self.rma_sync(time, RmaSyncKind::WindowFreed, win, UNDEFINED),
            Event::RmaGroupSync { win, group, .. } => {
                let group = self.resolver.group_of(MembersRef(group));
                self.rma_sync(time, RmaSyncKind::Group(group), win, UNDEFINED);
            }
            Event::RmaSync { win, remote, sync_type } => {
                let kind = match sync_type {
                    1 => RmaSyncKind::NotifyIn,
                    2 => RmaSyncKind::NotifyOut,
                    _ => RmaSyncKind::Memory,
                };
                self.rma_sync(time, kind, win, remote);
            }
            Event::RmaWaitChange { win } => self.rma_sync(time, RmaSyncKind::WaitChange, win, UNDEFINED),
            Event::RmaPut { win, remote, bytes, matching_id } => {
                self.transfer(time, RmaTransferKind::Put, win, remote, bytes, matching_id);
            }
            Event::RmaGet { win, remote, bytes, matching_id } => {
                self.transfer(time, RmaTransferKind::Get, win, remote, bytes, matching_id);
            }
            Event::RmaAtomic { win, remote, bytes_sent, bytes_received, matching_id, .. } => {
                let bytes = bytes_sent.saturating_add(bytes_received);
                self.transfer(time, RmaTransferKind::Atomic, win, remote, bytes, matching_id);
            }
            Event::RmaOpCompleteBlocking { win, matching_id } => {
                self.completion(time, RmaCompletionKind::Blocking, win, matching_id);
            }
            Event::RmaOpCompleteNonBlocking { win, matching_id } => {
                self.completion(time, RmaCompletionKind::NonBlocking, win, matching_id);
            }
            Event::RmaOpTest { win, matching_id } => self.completion(time, RmaCompletionKind::Tested, win, matching_id),
            Event::RmaOpCompleteRemote { win, matching_id } => {
                self.completion(time, RmaCompletionKind::Remote, win, matching_id);
            }
            Event::RmaRequestLock { win, remote, lock_id, lock_type } => {
                self.rma_lock(time, LockKind::Requested, win, remote, lock_id, lock_type);
            }
            Event::RmaAcquireLock { win, remote, lock_id, lock_type } => {
                self.rma_lock(time, LockKind::Acquired, win, remote, lock_id, lock_type);
            }
            Event::RmaTryLock { win, remote, lock_id, lock_type } => {
                self.rma_lock(time, LockKind::Tried, win, remote, lock_id, lock_type);
            }
            Event::RmaReleaseLock { win, remote, lock_id } => {
                self.rma_lock(time, LockKind::Released, win, remote, lock_id, 0);
            }
            Event::OmpAcquireLock { lock_id, .. } => self.thread_lock(time, LockKind::Acquired, 0, lock_id),
            Event::ThreadAcquireLock { model, lock_id, .. } => {
                self.thread_lock(time, LockKind::Acquired, model, lock_id);
            }
            Event::OmpReleaseLock { lock_id, .. } => self.thread_lock(time, LockKind::Released, 0, lock_id),
            Event::ThreadReleaseLock { model, lock_id, .. } => {
                self.thread_lock(time, LockKind::Released, model, lock_id);
            }
            Event::IoAcquireLock { handle, lock_type } => self.file_lock(time, LockKind::Acquired, handle, lock_type),
            Event::IoReleaseLock { handle, lock_type } => self.file_lock(time, LockKind::Released, handle, lock_type),
            Event::IoTryLock { handle, lock_type } => self.file_lock(time, LockKind::Tried, handle, lock_type),
            Event::OmpFork { .. } | Event::ThreadFork { .. } => self.team(time, TeamKind::Fork, UNDEFINED, 0),
            Event::OmpJoin {} | Event::ThreadJoin { .. } => self.team(time, TeamKind::Join, UNDEFINED, 0),
            Event::ThreadTeamBegin { thread_team } => self.team(time, TeamKind::TeamBegin, thread_team, 0),
            Event::ThreadTeamEnd { thread_team } => self.team(time, TeamKind::TeamEnd, thread_team, 0),
            Event::ThreadCreate { thread_contingent, sequence_count } => {
                self.team(time, TeamKind::Create, thread_contingent, sequence_count);
            }
            Event::ThreadBegin { thread_contingent, sequence_count } => {
                self.team(time, TeamKind::Begin, thread_contingent, sequence_count);
            }
            Event::ThreadWait { thread_contingent, sequence_count } => {
                self.team(time, TeamKind::Wait, thread_contingent, sequence_count);
            }
            Event::ThreadEnd { thread_contingent, sequence_count } => {
                self.team(time, TeamKind::End, thread_contingent, sequence_count);
            }
            Event::OmpTaskCreate { task_id } => self.task(time, TaskKind::Created, UNDEFINED, task_id),
            Event::OmpTaskSwitch { task_id } => self.task(time, TaskKind::Switched, UNDEFINED, task_id),
            Event::OmpTaskComplete { task_id } => self.task(time, TaskKind::Completed, UNDEFINED, task_id),
            Event::ThreadTaskCreate { thread_team, creating_thread, generation_number } => {
                self.task(time, TaskKind::Created, thread_team, task_key(creating_thread, generation_number));
            }
            Event::ThreadTaskSwitch { thread_team, creating_thread, generation_number } => {
                self.task(time, TaskKind::Switched, thread_team, task_key(creating_thread, generation_number));
            }
            Event::ThreadTaskComplete { thread_team, creating_thread, generation_number } => {
                self.task(time, TaskKind::Completed, thread_team, task_key(creating_thread, generation_number));
            }
            Event::Metric { metric, values } => {
                let tables = self.resolver.tables;
                let id = self.resolver.mappings.map(Mapping::Metric, u64::from(metric));
                let Some(at) = tables.metrics.get(id) else { return self.told = None };
                let members = &tables.metric_members[at as usize];
                let visit = self.assembler.visit();
                for (metric, value) in
                    members.iter().zip(values.iter()).filter(|(metric, _)| **metric != MetricId::NONE)
                {
                    let row = MetricSample { visit, time, metric: *metric, value: value.to_f64() };
                    self.assembler.segment.stream.metrics.push(row);
                }
            }
            Event::IoOperationBegin { handle, mode, bytes_request, matching_id, .. } => {
                self.io.insert(matching_id, self.assembler.segment.stream.io.len());
                let kind = io_kind(mode);
                let offset = match self.told {
                    Some(Told::Address(offset) | Told::Displacement(offset)) => Some(offset),
                    Some(Told::Unit(_) | Told::Polls { .. } | Told::Matching(_) | Told::Execution { .. }) | None => {
                        None
                    }
                };
                let visit = self.assembler.visit();
                let (file, layer) = self.act(handle, Step::Accessed);
                let (begin, end, bytes) = (time, time, bytes_request);
                let row = IoTransfer { visit, begin, end, bytes, kind, file, layer, offset };
                self.assembler.segment.stream.io.push(row);
            }
            Event::IoCreateHandle { handle, status_flags, .. } => {
                self.handle(time, HandleKind::Opened, handle, Step::opened(status_flags));
            }
            Event::IoDestroyHandle { handle } => self.handle(time, HandleKind::Closed, handle, Step::Closed),
            Event::IoSeek { handle, offset_result, .. } => {
                let step = Step::Positioned(offset_result);
                self.handle(time, HandleKind::Positioned(offset_result), handle, step);
            }
            Event::IoDuplicateHandle { old_handle, new_handle, .. } => {
                if let Some(old) = self.resolver.handle(HandleRef(old_handle)) {
                    self.act(new_handle, Step::Duplicated(old));
                }
            }
            Event::IoOperationComplete { bytes_result, matching_id, .. } => match self.io.remove(&matching_id) {
                Some(row) => {
                    let row = &mut self.assembler.segment.stream.io[row];
                    (row.end, row.bytes) = (time, bytes_result);
                }
                None => self.kept().io.completed.push((matching_id, time, bytes_result)),
            },
            // Facts that no analysis asks for.
            Event::ParameterString { .. }
            | Event::ParameterInt { .. }
            | Event::ParameterUnsignedInt { .. }
            | Event::IoChangeStatusFlags { .. }
            | Event::IoDeleteFile { .. }
            | Event::IoOperationTest { .. }
            | Event::IoOperationIssued { .. }
            | Event::IoOperationCancelled { .. }
            | Event::ProgramBegin { .. }
            | Event::ProgramEnd { .. }
            | Event::CommCreate { .. }
            | Event::CommDestroy { .. } => {}
        }
        self.told = None;
    }
}

fn task_key(creating_thread: u32, generation: u32) -> u64 {
    u64::from(creating_thread) << 32 | u64::from(generation)
}

impl Decoder<'_> {
    fn kept(&mut self) -> &mut Kept {
        &mut self.assembler.segment.beside
    }

    /// The position of a calling context, if it is defined.
    fn context(&self, context: u32) -> Option<u32> {
        self.contexts.named(context, self.resolver.mappings)
    }

    fn region(&self, context: Option<u32>) -> RegionKey {
        global_region(context.map_or(u32::MAX, |context| self.contexts.region(context)))
    }

    /// Keeps what the attributes of an enter tell of it, or of the access in it.
    #[cold]
    fn entered(&mut self) {
        let visit = self.assembler.visit();
        match self.told.take() {
            Some(Told::Polls { count, found }) => {
                let time = self.assembler.now();
                self.assembler.segment.stream.polls.push(Polls { visit, time, count, found });
            }
            Some(Told::Execution { execution, message }) => {
                let (object, trigger) = objects::unpack(execution);
                let object = object.and_then(|object| self.resolver.tables.objects.get(object.into()));
                let (object, begin) = (object.map_or(ObjectId::NONE, ObjectId), self.assembler.now());
                let row = Execution { visit, begin, object, trigger, message };
                self.assembler.segment.stream.executions.push(row);
            }
            Some(Told::Matching(message)) => {
                let time = self.assembler.now();
                self.assembler.segment.stream.contributions.push(Contribution { visit, time, message });
            }
            Some(told) => self.kept().addresses.entered.push((visit, told)),
            None => {}
        }
    }

    fn send(&mut self, time: Time, peer: u32, comm: u32, tag: u32, bytes: u64, request: u64) {
        let visit = self.assembler.visit();
        let group = self.resolver.group(CommRef(comm));
        let peer = self.resolver.peer(group, Rank(peer));
        let row = Send { visit, time, peer, group, tag, bytes, request, matching: self.matching() };
        self.assembler.segment.stream.sends.push(row);
    }

    /// What ties the message that comes next to its other end.
    fn matching(&mut self) -> u64 {
        if let Some(Told::Matching(number)) = self.told.take() { number } else { NO_MATCHING }
    }

    fn recv(&mut self, time: Time, peer: u32, comm: u32, tag: u32, bytes: u64, request: u64) {
        let visit = self.assembler.visit();
        let group = self.resolver.group(CommRef(comm));
        let peer = self.resolver.peer(group, Rank(peer));
        let row = Recv { visit, time, peer, group, tag, bytes, request, matching: self.matching() };
        self.assembler.segment.stream.recvs.push(row);
    }

    fn request(&mut self, time: Time, kind: RequestKind, request: u64) {
        let visit = self.assembler.visit();
        self.assembler.segment.stream.requests.push(RequestEvent { visit, time, kind, request });
    }

    fn begin_of_collective(&mut self) -> Time {
        self.assembler.segment.collective_begin.take().unwrap_or(UNKNOWN_BEGIN)
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one record")]
    fn collective(
        &mut self,
        begin: Time,
        end: Time,
        op: u8,
        group: GroupId,
        root: u32,
        [sent, received]: [u64; 2],
        request: u64,
    ) {
        let visit = self.assembler.visit();
        let root = self.resolver.root(group, Rank(root));
        let row = Collective { visit, begin, end, role: shape(op), group, root, sent, received, request };
        self.assembler.segment.stream.collectives.push(row);
    }

    /// A window, and the PE of a rank in it.
    fn on_window(&self, window: u32, rank: u32) -> (WindowId, PeId) {
        let window = self.resolver.window(WinRef(window));
        (window, self.resolver.peer(self.resolver.group_of_window(window), Rank(rank)))
    }

    fn transfer(&mut self, time: Time, kind: RmaTransferKind, window: u32, target: u32, bytes: u64, matching: u64) {
        let visit = self.assembler.visit();
        let (window, target) = self.on_window(window, target);
        let segment = &mut self.assembler.segment;
        let address = match self.told.take() {
            Some(Told::Address(address)) => Some(address),
            Some(Told::Displacement(displacement)) => {
                segment.beside.addresses.displaced.push(segment.stream.transfers.len() as u32);
                Some(displacement)
            }
            Some(Told::Unit(_) | Told::Polls { .. } | Told::Matching(_) | Told::Execution { .. }) | None => None,
        };
        let row = RmaTransfer { visit, time, kind, window, target, bytes, address, matching };
        segment.stream.transfers.push(row);
    }

    fn completion(&mut self, time: Time, kind: RmaCompletionKind, window: u32, matching: u64) {
        let visit = self.assembler.visit();
        let window = self.resolver.window(WinRef(window));
        self.assembler.segment.stream.completions.push(RmaCompletion { visit, time, kind, window, matching });
    }

    fn rma_sync(&mut self, time: Time, kind: RmaSyncKind, window: u32, target: u32) {
        let visit = self.assembler.visit();
        let (window, target) = self.on_window(window, target);
        let segment = &mut self.assembler.segment;
        let has_address = matches!(kind, RmaSyncKind::WaitChange | RmaSyncKind::NotifyOut);
        let address = match self.told.take().filter(|_| has_address) {
            Some(Told::Address(address)) => Some(address),
            Some(Told::Displacement(displacement)) => {
                segment.beside.addresses.displaced_waits.push(segment.stream.rma_syncs.len() as u32);
                Some(displacement)
            }
            Some(Told::Unit(_) | Told::Polls { .. } | Told::Matching(_) | Told::Execution { .. }) | None => None,
        };
        segment.stream.rma_syncs.push(RmaSync { visit, time, kind, window, target, address });
    }

    fn rma_lock(&mut self, time: Time, kind: LockKind, window: u32, remote: u32, id: u64, lock_type: u8) {
        let window = self.resolver.mappings.map(Mapping::RmaWin, u64::from(window));
        self.lock(time, kind, lock_key([window, u64::from(remote), id]), lock_type == SHARED);
    }

    fn file_lock(&mut self, time: Time, kind: LockKind, handle: u32, lock_type: u8) {
        // PEs that open a file each have a handle, and wait for each other's locks all the same.
        let known = self.resolver.handle(HandleRef(handle));
        let lock = match self.resolver.file(known).0.some().filter(|file| *file != UNDEFINED_FILE) {
            Some(file) => lock_key([FILE_LOCKS, 0, file.0.into()]),
            None => lock_key([FILE_LOCKS, 1, self.resolver.mappings.map(Mapping::IoHandle, u64::from(handle))]),
        };
        self.lock(time, kind, lock, lock_type == SHARED);
    }

    fn handle(&mut self, time: Time, kind: HandleKind, handle: u32, step: Step) {
        let visit = self.assembler.visit();
        let (file, layer) = self.act(handle, step);
        self.assembler.segment.stream.handles.push(HandleEvent { visit, time, kind, file, layer });
    }

    /// Keeps what offsets follow from, where the archive does not tell them.
    fn act(&mut self, handle: u32, step: Step) -> (FileId, IoLayer) {
        let handle = self.resolver.handle(HandleRef(handle));
        let known = self.resolver.file(handle);
        if let Some(handle) = handle.filter(|_| !self.resolver.tables.addresses.tells_displacements()) {
            let row = self.assembler.segment.stream.io.len() as u32;
            self.kept().acts.push(Act { row, handle, step });
        }
        known
    }

    /// Models of threads count their locks each for itself.
    fn thread_lock(&mut self, time: Time, kind: LockKind, model: u8, id: u32) {
        let process = u64::from(self.process);
        self.lock(time, kind, lock_key([THREAD_LOCKS | u64::from(model), process, u64::from(id)]), false);
    }

    fn lock(&mut self, time: Time, kind: LockKind, lock: u64, shared: bool) {
        let visit = self.assembler.visit();
        self.assembler.segment.stream.locks.push(LockEvent { visit, time, kind, lock, shared });
    }

    fn team(&mut self, time: Time, kind: TeamKind, team: u32, sequence: u64) {
        let visit = self.assembler.visit();
        let group = self.resolver.group(CommRef(team));
        self.assembler.segment.stream.teams.push(TeamEvent { visit, time, kind, group, sequence });
    }

    fn task(&mut self, time: Time, kind: TaskKind, team: u32, task: u64) {
        let visit = self.assembler.visit();
        let group = self.resolver.group(CommRef(team));
        self.assembler.segment.stream.tasks.push(TaskEvent { visit, time, kind, group, task });
    }
}
