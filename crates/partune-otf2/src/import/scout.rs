//! Looks through the events of a location for moments at which a run can be cut: right behind a meeting of all PEs, with nothing under way.
//!
//! Of messages it is enough to know that as many were received as sent between every two PEs with each communicator and tag. So a location keeps one number: the sum of
//! a random number for each message that it sent, less those that it received, the number being a function of both ends, communicator and tag. Where the numbers of all locations add up to
//! zero, nothing is on its way, but for one chance in 2^64. Collective operations add to it too: each member of a group its number, less that of the next member, so that an operation that all have ended adds
//! nothing.
//!
//! A location counts the meetings of all and keeps at most so many of these moments, evenly: every first, every second, every fourth and so on. So what locations keep can be
//! brought together by number. One pass over the events; memory: some 64 bytes for each moment, and the call paths.

use partune_base::{GroupId, PeId, RegionId, Table, Time};
use partune_import::{RegionKey, Tree};
use partune_trace::{Completion, GroupKind, Participants, Region, RegionKind, Role};

use super::clock::LocationClock;
use super::resolve::{CommRef, Rank, Resolver, local_region};
use crate::codec::attributes::AttributeList;
use crate::codec::{Event, EventVisitor};

/// A moment at which a run can be cut, as far as one location knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Which meeting of all it is behind.
    pub(super) number: u64,
    /// The chunk, the records before it there, and those before it in the file.
    pub(super) chunk: u32,
    pub(super) in_chunk: u32,
    pub(super) events: u64,
    pub(super) time: Time,
    /// When the location came to the meeting, and the path of that.
    pub(super) came: Time,
    pub(super) meeting: u32,
    /// The innermost function, as a path of the location.
    pub(super) path: Option<u32>,
    /// What was sent and not received by this location.
    pub(super) messages: u64,
    /// The meetings around it are not two barriers one after the other: what comes between, or what the first is, shows that both are needed.
    pub(super) parts: bool,
}

/// What was found in the events of a location.
#[derive(Default)]
pub(super) struct Found {
    pub(super) moments: Vec<Moment>,
    /// Each `stride`-th meeting was kept.
    pub(super) stride: u64,
    pub(super) events: u64,
    pub(super) paths: Tree,
    /// Why the run cannot be cut.
    pub(super) unfit: Option<&'static str>,
}

/// What is known of a path.
#[derive(Clone, Copy)]
struct About {
    /// It is an operation, or lies in one.
    is_inside: bool,
    /// All members of a group wait for each other in it, and it is no more than that.
    meets: bool,
    kind: Kind,
}

/// What an operation is for the question whether two meetings are next to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Barrier,
    /// No barrier orders it.
    Neutral,
    Other,
}

/// The operation that is under way.
#[derive(Clone, Copy, Default)]
struct Operation {
    enter: Time,
    /// Collective operations that ended in it, and those of all PEs.
    collectives: u32,
    of_all: u32,
}

pub(super) struct Scout<'a> {
    clock: &'a LocationClock,
    resolver: Resolver<'a>,
    regions: &'a Table<RegionId, Region>,
    /// Whether all PEs are in a group.
    of_all: &'a Table<GroupId, bool>,
    most: usize,
    pub(super) found: Found,
    about: Vec<About>,
    stack: Vec<u32>,
    operation: Operation,
    /// Meetings of all so far: blocking operations in which everybody waits for everybody.
    met: u64,
    messages: u64,
    /// The sum of numbers of requests that have begun and not ended.
    open: u64,
    /// The group of the last collective operation, and the number of one of it here, see [`Scout::ended`].
    of_group: (GroupId, u64),
    /// The last moment is to be told whether what comes next parts it.
    is_open: bool,
    last_stamp: Option<u64>,
    now: Time,
    chunk: u64,
    before_chunk: u64,
}

impl<'a> Scout<'a> {
    /// Keeps at most `most` moments; `of_all` says whether all PEs are in a group.
    pub(super) fn new(
        clock: &'a LocationClock,
        resolver: Resolver<'a>,
        regions: &'a Table<RegionId, Region>,
        of_all: &'a Table<GroupId, bool>,
        most: usize,
    ) -> Scout<'a> {
        Scout {
            clock,
            resolver,
            regions,
            of_all,
            most,
            found: Found { stride: 1, ..Found::default() },
            about: Vec::new(),
            stack: Vec::new(),
            operation: Operation::default(),
            met: 0,
            messages: 0,
            open: 0,
            of_group: (GroupId::NONE, 0),
            is_open: false,
            last_stamp: None,
            now: Time::MIN,
            chunk: 0,
            before_chunk: 0,
        }
    }

    /// The chunk that comes next.
    pub(super) fn begin_chunk(&mut self, chunk: u64) {
        (self.chunk, self.before_chunk) = (chunk, self.found.events);
    }

    pub(super) fn unfit(&mut self, why: &'static str) {
        self.found.unfit.get_or_insert(why);
    }

    fn at(&mut self, stamp: u64) {
        self.found.events += 1;
        if self.last_stamp != Some(stamp) {
            self.last_stamp = Some(stamp);
            let time = self.clock.correct(stamp);
            if time < self.now || time.0.unsigned_abs() >= Time::LIMIT.unsigned_abs() {
                self.unfit("time stamps of a location run backwards");
            }
            self.now = time;
        }
    }

    fn enter(&mut self, key: RegionKey) {
        let parent = self.stack.last().copied();
        let paths = &mut self.found.paths;
        let node = match parent {
            Some(parent) => paths.child(parent, key),
            None => paths.root(0, key),
        };
        let around = parent.map(|parent| self.about[parent as usize]);
        if node as usize == self.about.len() {
            self.learn(key, around);
        }
        self.stack.push(node);
        let about = self.about[node as usize];
        if about.is_inside && !around.is_some_and(|around| around.is_inside) {
            self.operation = Operation { enter: self.now, ..Operation::default() };
            if self.is_open && about.kind != Kind::Neutral {
                self.is_open = false;
                if let Some(moment) = self.found.moments.last_mut() {
                    moment.parts |= about.kind == Kind::Other;
                }
            }
        }
    }

    /// A path is visited for the first time.
    fn learn(&mut self, key: RegionKey, around: Option<About>) {
        let region = &self.regions[self.resolver.region(key)];
        let is_symmetric = matches!(region.role, Role::GroupSync | Role::AllToAll);
        let of_group = matches!(region.participants, Participants::Group | Participants::World);
        let kind = if region.role.is_neutral() { Kind::Neutral } else { Kind::Other };
        let kind = if region.role == Role::GroupSync { Kind::Barrier } else { kind };
        if !matches!(region.role, Role::User) && region.role.is_transparent()
            || region.participants == Participants::Team
        {
            self.unfit("threads and their tasks are in it");
        }
        if region.kind == RegionKind::Iteration {
            // Whether blocks are cut where turns begin is a matter of the whole run.
            self.unfit("turns of a loop are marked in it");
        }
        self.about.push(About {
            is_inside: around.is_some_and(|around| around.is_inside) || !region.role.is_transparent(),
            meets: is_symmetric && of_group && region.completion == Completion::Blocking,
            kind,
        });
    }

    fn leave(&mut self, key: RegionKey) {
        let Some(node) = self.stack.pop().filter(|node| self.found.paths.region(*node) == key) else {
            return self.unfit("a region is left that was not entered");
        };
        let about = self.about[node as usize];
        let around = self.stack.last().map(|around| self.about[*around as usize]);
        let is_over = about.is_inside && !around.is_some_and(|around| around.is_inside);
        let is_one = self.operation.of_all == 1 && self.operation.collectives == 1;
        if !(is_over && is_one && about.meets) {
            return;
        }
        // All PEs have these in the same order; from an operation with a root a PE may return before others have begun it.
        self.met += 1;
        if self.open == 0 {
            self.keep(node, about.kind != Kind::Barrier);
        }
    }

    fn keep(&mut self, meeting: u32, parts: bool) {
        self.is_open = false;
        if !self.met.is_multiple_of(self.found.stride) {
            return;
        }
        self.found.moments.push(Moment {
            number: self.met,
            chunk: self.chunk as u32,
            in_chunk: (self.found.events - self.before_chunk) as u32,
            events: self.found.events,
            time: self.now,
            came: self.operation.enter,
            meeting,
            path: self.stack.last().copied(),
            messages: self.messages,
            parts,
        });
        self.is_open = !parts;
        if self.found.moments.len() > self.most {
            self.found.stride *= 2;
            let stride = self.found.stride;
            let last = self.met;
            self.found.moments.retain(|moment| moment.number.is_multiple_of(stride));
            self.is_open &= last.is_multiple_of(stride);
        }
    }

    fn begin(&mut self, request: u64) {
        self.open = self.open.wrapping_add(mixed(request));
    }

    fn end(&mut self, request: u64) {
        self.open = self.open.wrapping_sub(mixed(request));
    }

    /// A message between this PE and another; of one that is received the number is taken back.
    fn message(&mut self, comm: u32, rank: u32, tag: u32, is_sent: bool) {
        let group = self.resolver.group(CommRef(comm));
        let (own, peer) = (self.resolver.pe, self.resolver.peer(group, Rank(rank)));
        if !peer.is_some() {
            return self.unfit("messages have a partner that is not defined");
        }
        let number = |from: PeId, to: PeId| mixed(pair(from.0, to.0) ^ u64::from(group.0) << 32 ^ u64::from(tag));
        if is_sent {
            self.messages = self.messages.wrapping_add(number(own, peer));
        } else {
            self.messages = self.messages.wrapping_sub(number(peer, own));
        }
    }

    /// A collective operation. Each member of a group adds a number for it, and these add up to nothing: what is left tells that some have ended more of them than others.
    fn ended(&mut self, comm: u32) {
        let group = self.resolver.group(CommRef(comm));
        self.operation.collectives += 1;
        self.operation.of_all += u32::from(self.of_all.get(group) == Some(&true));
        if self.of_group.0 != group {
            self.of_group = (group, self.number_in(group));
        }
        self.messages = self.messages.wrapping_add(self.of_group.1);
    }

    /// Of a number for each member, the own one less that of the next.
    fn number_in(&mut self, group: GroupId) -> u64 {
        let own = self.resolver.pe;
        let Some(about) = self.resolver.groups.get(group).filter(|about| about.kind != GroupKind::SelfOnly) else {
            return 0;
        };
        let members = &about.members;
        let Some(rank) = members.rank(own) else {
            self.unfit("collective operations are of groups that do not have all who take part");
            return 0;
        };
        let next = members.get((rank + 1) % members.len()).unwrap_or(PeId::NONE);
        let number = |pe: PeId| pair(group.0, pe.0);
        number(own).wrapping_sub(number(next))
    }
}

impl EventVisitor for Scout<'_> {
    #[inline]
    fn enter(&mut self, stamp: u64, region: u32) {
        self.at(stamp);
        Scout::enter(self, local_region(region));
    }

    #[inline]
    fn leave(&mut self, stamp: u64, region: u32) {
        self.at(stamp);
        Scout::leave(self, local_region(region));
    }

    fn attributes(&mut self, attributes: AttributeList<'_>) {
        if self.resolver.tables.addresses.told(&attributes, self.resolver.mappings).is_some() {
            self.unfit("attributes tell more of its events");
        }
    }

    fn unknown(&mut self, _: u64, _: u8, _: &[u8]) {
        self.unfit("records of an unknown type are in it");
    }

    fn event(&mut self, stamp: u64, event: &Event<'_>) {
        self.at(stamp);
        match *event {
            Event::Enter { region } => Scout::enter(self, local_region(region)),
            Event::Leave { region } => Scout::leave(self, local_region(region)),
            Event::MpiSend { receiver, communicator, msg_tag, .. } => {
                self.message(communicator, receiver, msg_tag, true);
            }
            Event::MpiIsend { receiver, communicator, msg_tag, request_id, .. } => {
                self.message(communicator, receiver, msg_tag, true);
                self.begin(request_id);
            }
            Event::MpiRecv { sender, communicator, msg_tag, .. } => self.message(communicator, sender, msg_tag, false),
            Event::MpiIrecv { sender, communicator, msg_tag, request_id, .. } => {
                self.message(communicator, sender, msg_tag, false);
                self.end(request_id);
            }
            Event::MpiIrecvRequest { request_id } | Event::NonBlockingCollectiveRequest { request_id } => {
                self.begin(request_id);
            }
            Event::MpiIsendComplete { request_id } | Event::MpiRequestCancelled { request_id } => self.end(request_id),
            Event::NonBlockingCollectiveComplete { communicator, request_id, .. } => {
                self.end(request_id);
                self.ended(communicator);
                // It may have begun long before.
                self.operation.collectives += 1;
            }
            Event::MpiCollectiveEnd { communicator, .. } => self.ended(communicator),
            Event::MpiCollectiveBegin {}
            | Event::MpiRequestTest { .. }
            | Event::ParameterString { .. }
            | Event::ParameterInt { .. }
            | Event::ParameterUnsignedInt { .. }
            | Event::ProgramBegin { .. }
            | Event::ProgramEnd { .. }
            | Event::CommCreate { .. }
            | Event::CommDestroy { .. } => {}
            Event::CallingContextEnter { .. }
            | Event::CallingContextLeave { .. }
            | Event::CallingContextSample { .. } => {
                self.unfit("functions are known from the callers of operations alone");
            }
            Event::Metric { .. } => self.unfit("metrics are in it"),
            Event::BufferFlush { .. } | Event::MeasurementOnOff { .. } => self.unfit("the recorder paused"),
            Event::RmaCollectiveBegin {}
            | Event::RmaCollectiveEnd { .. }
            | Event::RmaWinCreate { .. }
            | Event::RmaWinDestroy { .. }
            | Event::RmaGroupSync { .. }
            | Event::RmaSync { .. }
            | Event::RmaWaitChange { .. }
            | Event::RmaPut { .. }
            | Event::RmaGet { .. }
            | Event::RmaAtomic { .. }
            | Event::RmaOpCompleteBlocking { .. }
            | Event::RmaOpCompleteNonBlocking { .. }
            | Event::RmaOpTest { .. }
            | Event::RmaOpCompleteRemote { .. }
            | Event::RmaRequestLock { .. }
            | Event::RmaAcquireLock { .. }
            | Event::RmaTryLock { .. }
            | Event::RmaReleaseLock { .. } => self.unfit("PEs access memory of each other"),
            Event::OmpAcquireLock { .. }
            | Event::ThreadAcquireLock { .. }
            | Event::OmpReleaseLock { .. }
            | Event::ThreadReleaseLock { .. }
            | Event::OmpFork { .. }
            | Event::ThreadFork { .. }
            | Event::OmpJoin {}
            | Event::ThreadJoin { .. }
            | Event::ThreadTeamBegin { .. }
            | Event::ThreadTeamEnd { .. }
            | Event::ThreadCreate { .. }
            | Event::ThreadBegin { .. }
            | Event::ThreadWait { .. }
            | Event::ThreadEnd { .. }
            | Event::OmpTaskCreate { .. }
            | Event::OmpTaskSwitch { .. }
            | Event::OmpTaskComplete { .. }
            | Event::ThreadTaskCreate { .. }
            | Event::ThreadTaskSwitch { .. }
            | Event::ThreadTaskComplete { .. } => self.unfit("threads and their tasks are in it"),
            Event::IoAcquireLock { .. }
            | Event::IoReleaseLock { .. }
            | Event::IoTryLock { .. }
            | Event::IoOperationBegin { .. }
            | Event::IoCreateHandle { .. }
            | Event::IoDestroyHandle { .. }
            | Event::IoSeek { .. }
            | Event::IoDuplicateHandle { .. }
            | Event::IoOperationComplete { .. }
            | Event::IoChangeStatusFlags { .. }
            | Event::IoDeleteFile { .. }
            | Event::IoOperationTest { .. }
            | Event::IoOperationIssued { .. }
            | Event::IoOperationCancelled { .. } => self.unfit("accesses to files are in it"),
        }
    }
}

/// A number that looks random and follows from two.
fn pair(one: u32, other: u32) -> u64 {
    mixed(u64::from(one) << 32 | u64::from(other))
}

/// The same of one.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
