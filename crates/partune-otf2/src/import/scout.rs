//! Looks through the events of a location for moments at which a run can be cut: right behind a meeting of all processes, with nothing under way.
//!
//! Processes meet in their main threads, outside of teams. Other threads of OpenMP are looked at then, and have a moment for each such meeting, too: the place where its main thread
//! left the meeting, if no team, operation or lock of its own is under way then. A runtime may tell late that a thread has left a team; where that is told behind the meeting, the run is not cut there.
//!
//! Of messages it is enough to know that as many were received as sent between every two PEs with each communicator and tag. So a location keeps one number: the sum of
//! a random number for each message that it sent, less those that it received, the number being a function of both ends, communicator and tag. Where the numbers of all locations add up to
//! zero, nothing is on its way, but for one chance in 2^64. Collective operations add to it too: each member of a group its number, less that of the next member, so that an operation that all have ended adds
//! nothing.
//!
//! What is known of handles of files at a moment is where they are and which are other names of others, and only of archives that do not tell where accesses begin ([`super::offsets`]).
//!
//! What a sample of a metric belongs to follows from the visits that begin and end when it is taken, so the run is not cut where some of them would be in another slice. CPU time between
//! two samples has one rate, so a run of which it is counted is cut only where a location has a sample, or does nothing since the last one and up to the next; the counters as they stood
//! there are kept with the moment.
//!
//! A location counts the meetings of all and keeps at most so many of these moments, evenly: every first, every second, every fourth and so on. So what locations keep can be
//! brought together by number. One pass over the events; memory: some 100 bytes for each moment, 8 more for each counter of CPU time, 40 for each handle that was moved before it, and the call paths.
//!
//! Where functions are known from calling contexts, which went on between two operations follows from what is counted of all such gaps of the location ([`super::counts`]): the same pass
//! counts them (16 bytes for each sample, while a location is looked through). Such a run is cut only where no recorded region is open.

use std::borrow::Cow;

use partune_base::{GroupId, Id, MetricId, PeId, RegionId, Table, Time};
use partune_import::{RegionKey, Tree};
use partune_trace::{Completion, GroupKind, Metric, Participants, Region, RegionKind, Role, TraceBuilder, VisitIx};
use serde::{Deserialize, Serialize};

use super::addresses::Told;
use super::clock::LocationClock;
use super::contexts::NO_FRAME;
use super::counts::{Counted, Counts};
use super::decode::io_kind;
use super::gaps::{Called, Sampled, Walker, length};
use super::offsets::{self, Change, Followed, Step as HandleStep};
use super::resolve::{CommRef, HandleRef, Rank, Resolver, UNDEFINED, global_region, local_region};
use super::runs::Events;
use crate::codec::attributes::AttributeList;
use crate::codec::view::Metrics;
use crate::codec::{Event, EventVisitor, Mapping};

/// A moment at which a run can be cut, as far as one location knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Moment {
    /// Which meeting of all processes it is behind.
    pub(super) number: u64,
    /// The chunk, the records before it there, and those before it in the file.
    pub(super) chunk: u32,
    pub(super) in_chunk: u32,
    pub(super) events: u64,
    /// When the main thread left the meeting.
    pub(super) time: Time,
    /// When the location came to the meeting; none of a thread that is not in it.
    pub(super) came: Time,
    /// What ended last, and when: the meeting, or the last part of another thread in a team. Of the latter it matters only where functions are known from calling contexts.
    pub(super) ended: Option<(u32, Time)>,
    /// The innermost region that is open, as a path of the location.
    pub(super) path: Option<u32>,
    /// What was sent and not received by this location.
    pub(super) messages: u64,
    /// The meetings around it are not two barriers one after the other: what comes between, or what the first is, shows that both are needed.
    pub(super) parts: bool,
    /// Values of all counters of CPU time, if the location has sampled any.
    pub(super) cpu: Box<[f64]>,
}

/// What was found in the events of a location.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) moments: Vec<Moment>,
    /// Each `stride`-th meeting was kept.
    pub(super) stride: u64,
    pub(super) events: u64,
    pub(super) paths: Tree<Step>,
    /// The first and the last time, if there are events.
    pub(super) times: Option<(Time, Time)>,
    /// The same of those that are in a trace: visits and facts.
    pub(super) extent: Option<(Time, Time)>,
    /// Where functions are known from calling contexts: what is known of all gaps between operations.
    pub(super) counted: Option<Counted>,
    /// Samples, and those whose context is not defined.
    pub(super) samples: u64,
    pub(super) lost_samples: u64,
    /// It has samples of CPU time.
    pub(super) counts_cpu: bool,
    /// Whether something is measured.
    pub(super) has_metrics: bool,
    /// It would have more moments if CPU time were sampled at them.
    pub(super) cpu_unread: bool,
    /// Handles of files that were used, and where they were at the moments; where the archive does not tell offsets.
    pub(super) handles: Vec<u32>,
    pub(super) changes: Vec<Change>,
    /// Why the run cannot be cut.
    pub(super) unfit: Option<Cow<'static, str>>,
}

/// What tells a path from others that are called from the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Step {
    Region(RegionKey),
    /// A region in the functions of a calling context, see [`super::contexts`].
    Context(u32),
    /// The functions down to a frame, where a sample was taken.
    Frame(u32),
}

/// What is known of a path.
#[derive(Clone, Copy)]
struct About {
    region: RegionKey,
    /// It is an operation, or lies in one.
    is_inside: bool,
    /// All members of a group wait for each other in it, and it is no more than that.
    meets: bool,
    kind: Kind,
    /// It is user code, and no part of a team or a task.
    is_plain: bool,
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

/// The functions of a location that are known from calling contexts.
struct Chains<'a> {
    counts: Counts<'a>,
    walker: Walker,
    /// When the first region is entered and the last one is left.
    span: Option<(Time, Time)>,
}

/// Of a thread that is not the main one of its process.
struct Beside {
    /// Meetings of all processes with the times at which the main thread left them, in order.
    meetings: Vec<(u64, Time)>,
    next: usize,
    /// The chunk, the records before it there, and those before it in the file: behind the last record that is no sample.
    place: (u32, u32, u64),
    was_sample: bool,
}

/// The counters of CPU time of an archive.
pub(super) struct CpuTimes {
    pub(super) metrics: Vec<MetricId>,
    /// Where each metric is among them.
    positions: Table<MetricId, Option<usize>>,
}

impl CpuTimes {
    pub(super) fn of(builder: &TraceBuilder) -> CpuTimes {
        let counts = |metric: &Metric| metric.cpu_seconds(&builder.strings).is_some();
        let mut metrics = Vec::new();
        let position = |(id, metric): (MetricId, &Metric)| {
            counts(metric).then(|| {
                metrics.push(id);
                metrics.len() - 1
            })
        };
        let positions = builder.metrics.iter_ids().map(position).collect();
        CpuTimes { metrics, positions }
    }
}

pub(super) struct Scout<'a> {
    events: &'a Events<'a>,
    clock: &'a LocationClock,
    resolver: Resolver<'a>,
    regions: &'a Table<RegionId, Region>,
    /// Whether all main threads are in a group.
    of_all: &'a Table<GroupId, bool>,
    /// Which regions are given an offset.
    positioned: &'a Table<RegionId, bool>,
    cpu_times: &'a CpuTimes,
    most: usize,
    found: Found,
    /// None where the archive tells offsets.
    handles: Option<Followed>,
    beside: Option<Beside>,
    chains: Option<Chains<'a>>,
    /// Whether a region was entered without a calling context.
    has_plain: bool,
    about: Vec<About>,
    stack: Vec<u32>,
    operation: Operation,
    /// Regions around that are not plain, teams that were forked or begun and have not ended, and locks that are held.
    around: u32,
    teams: i64,
    locks: i64,
    /// What ended last that no region is around, and when.
    ended: Option<(u32, Time)>,
    /// Meetings of all so far: blocking operations in which everybody waits for everybody.
    met: u64,
    messages: u64,
    /// The sum of numbers of requests that have begun and not ended.
    open: u64,
    /// The group of the last collective operation, and the number of one of it here, see [`Scout::collective`].
    of_group: (GroupId, u64),
    /// When the recorder had written what it kept, the last time.
    flushed: Time,
    /// When the last visit began, and when the last metric was sampled.
    entered: Time,
    sampled: Time,
    /// The counters of CPU time, once one was sampled, when they were sampled last, and when the first visit began since then.
    cpu: Vec<f64>,
    cpu_sampled: Time,
    cpu_used: Option<Time>,
    /// The time of the last moment, and whether a visit begins at it before the moment, or begins or ends at it behind.
    cut: Time,
    is_shared: bool,
    /// The last moment is to be told whether what comes next parts it.
    is_open: bool,
    last_stamp: Option<u64>,
    now: Time,
    chunk: u64,
    before_chunk: u64,
}

impl<'a> Scout<'a> {
    /// Of a main thread. Keeps at most `most` moments; `of_all` says whether all main threads are in a group.
    pub(super) fn new(
        events: &'a Events<'a>,
        pe: PeId,
        regions: &'a Table<RegionId, Region>,
        of_all: &'a Table<GroupId, bool>,
        positioned: &'a Table<RegionId, bool>,
        cpu_times: &'a CpuTimes,
        most: usize,
    ) -> Scout<'a> {
        Scout {
            handles: (!events.tables.addresses.tells_displacements()).then(Followed::default),
            positioned,
            cpu_times,
            events,
            clock: &events.locations[pe.index()].clock,
            resolver: events.resolver(pe),
            regions,
            of_all,
            most,
            found: Found { stride: 1, ..Found::default() },
            beside: None,
            chains: None,
            has_plain: false,
            about: Vec::new(),
            stack: Vec::new(),
            operation: Operation::default(),
            around: 0,
            teams: 0,
            locks: 0,
            ended: None,
            met: 0,
            messages: 0,
            open: 0,
            of_group: (GroupId::NONE, 0),
            flushed: Time::MIN,
            entered: Time::MIN,
            sampled: Time::MIN,
            cpu: Vec::new(),
            cpu_sampled: Time::MIN,
            cpu_used: None,
            cut: Time::MIN,
            is_shared: false,
            is_open: false,
            last_stamp: None,
            now: Time::MIN,
            chunk: 0,
            before_chunk: 0,
        }
    }

    /// The same of another thread, which has moments where the main one of its process left meetings, if it can.
    pub(super) fn beside(mut self, meetings: Vec<(u64, Time)>) -> Scout<'a> {
        self.beside = Some(Beside { meetings, next: 0, place: (0, 0, 0), was_sample: false });
        self
    }

    /// The chunk that comes next.
    pub(super) fn begin_chunk(&mut self, chunk: u64) {
        (self.chunk, self.before_chunk) = (chunk, self.found.events);
    }

    pub(super) fn unfit(&mut self, why: &'static str) {
        self.found.unfit.get_or_insert(Cow::Borrowed(why));
    }

    /// All events were seen.
    pub(super) fn finish(mut self) -> Found {
        self.find_samples(Time::MAX);
        self.pass(Time::MAX);
        self.found.counts_cpu = !self.cpu.is_empty();
        if !self.stack.is_empty() {
            // What nothing ends goes on until the last event.
            self.show(self.now);
        }
        if let Some(Chains { mut counts, mut walker, span }) = self.chains {
            if self.has_plain {
                let why = "of some of its regions it is not known which functions called them";
                self.found.unfit.get_or_insert(Cow::Borrowed(why));
            }
            self.stack.iter().for_each(|_| walker.leave(self.now, &mut counts));
            walker.finish(&mut counts);
            let end = |left: Time| if self.stack.is_empty() { left } else { self.now };
            let span = span.map_or(0, |(begin, left)| length(begin, end(left)));
            self.found.counted = Some(self.events.counted(self.resolver.pe, counts, span));
        }
        if let Some(handles) = self.handles {
            let why = "too much is done while an access to a file is under way";
            match handles.finish() {
                Some(handles) => (self.found.handles, self.found.changes) = handles,
                None => _ = self.found.unfit.get_or_insert(Cow::Borrowed(why)),
            }
        }
        self.found
    }

    fn at(&mut self, stamp: u64) {
        let is_new = self.last_stamp != Some(stamp);
        let time = if is_new { self.clock.correct(stamp) } else { self.now };
        if self.beside.is_some() {
            self.pass(time);
        }
        self.found.events += 1;
        if is_new {
            self.last_stamp = Some(stamp);
            let begin = self.found.times.map_or(time, |(begin, _)| begin);
            self.found.times = Some((begin, time));
            if time < self.now || time.0.unsigned_abs() >= Time::LIMIT.unsigned_abs() {
                self.unfit("time stamps of a location run backwards");
            }
            self.now = time;
        }
    }

    /// The trace has something at a time.
    #[inline]
    fn show(&mut self, time: Time) {
        let (begin, end) = self.found.extent.unwrap_or((time, time));
        self.found.extent = Some((begin, end.max(time)));
    }

    /// Of another thread, before an event or at the end: it has moments for all meetings up to then, if nothing is under way.
    fn pass(&mut self, now: Time) {
        let in_chunk = (self.found.events - self.before_chunk) as u32;
        // What a function outside of teams does in a slice would be idle in it.
        let is_free = self.is_free() && self.stack.is_empty();
        let is_cpu_known = self.is_cpu_known();
        let before = self.found.moments.len();
        let Some(Beside { meetings, next, place, was_sample }) = &mut self.beside else { return };
        // Samples behind it belong to what comes next.
        if !std::mem::take(was_sample) {
            *place = (self.chunk as u32, in_chunk, self.found.events);
        }
        while is_free && let Some((number, left)) = meetings.get(*next).filter(|(_, left)| *left <= now) {
            let (chunk, in_chunk, events) = *place;
            *next += 1;
            let is_shared = (self.entered, self.sampled) == (*left, *left);
            // What ended later would have time in both slices.
            let can_be = self.now.max(self.flushed) <= *left && !is_shared;
            self.found.cpu_unread |= can_be && !is_cpu_known;
            if can_be && is_cpu_known {
                if let Some(handles) = &mut self.handles {
                    handles.meet(*number);
                }
                self.found.moments.push(Moment {
                    number: *number,
                    chunk,
                    in_chunk,
                    events,
                    time: *left,
                    came: Time::MIN,
                    ended: self.ended,
                    path: None,
                    messages: 0,
                    parts: true,
                    cpu: self.cpu.as_slice().into(),
                });
            }
        }
        if self.found.moments.len() > before {
            self.begin_cut();
        }
    }

    /// A moment was added.
    fn begin_cut(&mut self) {
        self.cut = self.found.moments.last().map_or(Time::MIN, |moment| moment.time);
        self.is_shared = self.entered == self.cut;
        self.keep_samples_whole();
    }

    /// A visit begins or ends behind the last moment.
    #[inline]
    fn pass_cut(&mut self) {
        if self.now == self.cut && !self.is_shared {
            self.is_shared = true;
            self.keep_samples_whole();
        }
    }

    /// Takes moments back at which visits that a sample may belong to are in two slices.
    fn keep_samples_whole(&mut self) {
        if self.is_shared && self.sampled == self.cut {
            while self.found.moments.pop_if(|moment| moment.time == self.cut).is_some() {
                self.is_open = false;
            }
        }
    }

    /// Metrics are sampled.
    fn measure(&mut self, metric: u32, values: &Metrics<'_>) {
        let Resolver { tables, mappings, .. } = self.resolver;
        let members = tables.metrics.get(mappings.map(Mapping::Metric, metric.into()));
        let members = members.map_or(&[][..], |at| &tables.metric_members[at as usize]);
        self.found.has_metrics = true;
        self.sampled = self.now;
        self.keep_samples_whole();
        let counters = self.cpu_times.metrics.len();
        if counters == 0 {
            return;
        }
        let mut counts = false;
        for (metric, value) in members.iter().zip(values.iter()) {
            if let Some(Some(position)) = self.cpu_times.positions.get(*metric) {
                self.cpu.resize(counters, 0.0);
                self.cpu[*position] = value.to_f64();
                counts = true;
            }
        }
        if counts {
            self.measure_cpu();
        }
    }

    /// CPU time is sampled. Takes moments back that are not before this sample, or after which something was done before it; of what was done before the first one nothing is known anyway.
    fn measure_cpu(&mut self) {
        let now = self.now;
        let before = std::mem::replace(&mut self.cpu_sampled, now);
        let is_late = self.cpu_used.take().is_some_and(|entered| entered < now) && before > Time::MIN;
        let is_between = |moment: &mut Moment| moment.time == now || is_late && moment.time > before;
        while self.found.moments.pop_if(is_between).is_some() {
            self.is_open = false;
            self.found.cpu_unread = true;
        }
    }

    /// Whether the last sample of CPU time was taken now, or nothing was done since then.
    fn is_cpu_known(&self) -> bool {
        match self.beside {
            _ if self.cpu.is_empty() => true,
            None => self.cpu_sampled == self.now,
            Some(_) => self.cpu_used.is_none() && self.ended.is_none_or(|(_, left)| left <= self.cpu_sampled),
        }
    }

    /// Whether nothing is under way but messages.
    fn is_free(&self) -> bool {
        // What is known of functions around an open region is not kept.
        let is_known = self.chains.is_none() || self.stack.is_empty();
        is_known && (self.around, self.teams, self.locks, self.open) == (0, 0, 0, 0)
    }

    fn enter(&mut self, key: RegionKey) {
        self.has_plain = true;
        self.step(Step::Region(key), key);
    }

    /// A region is entered that was called as a calling context says.
    fn enter_in(&mut self, context: u32, unwind_distance: u32) {
        let Some(context) = self.context(context) else { return };
        let own = Called { visit: VisitIx::NONE, context, unwind_distance };
        let now = self.now;
        self.find_samples(Time::MAX);
        let is_operation = self.events.contexts.is_operation(self.resolver.region(self.region(context)));
        let Chains { counts, walker, span } = self.chains();
        walker.enter(now, is_operation, Some(&own), Some(&own), counts);
        span.get_or_insert((now, now));
        self.step(Step::Context(context), self.region(context));
    }

    fn leave_context(&mut self, context: u32) {
        let Some(context) = self.context(context) else { return };
        let now = self.now;
        self.find_samples(now);
        let Chains { counts, walker, span } = self.chains();
        walker.leave(now, counts);
        if let Some((_, end)) = span {
            *end = now.max(*end);
        }
        self.leave(self.region(context));
    }

    fn sample(&mut self, context: u32, unwind_distance: u32, generator: u32) {
        let mappings = self.resolver.mappings;
        let Some(context) = self.events.contexts.named(context, mappings) else {
            let is_defined = mappings.map(Mapping::CallingContext, context.into()) != u64::from(UNDEFINED);
            self.found.lost_samples += u64::from(is_defined);
            return;
        };
        if self.events.generators.is_empty() {
            self.unfit("what samples stand for is not defined");
        }
        let generator = mappings.map(Mapping::InterruptGenerator, generator.into()) as u32;
        let sample = Sampled { next: VisitIx::NONE, time: self.now, context, unwind_distance, generator };
        self.found.samples += 1;
        if let Some(beside) = &mut self.beside {
            beside.was_sample = true;
        }
        self.chains().walker.sample(sample);
    }

    /// Learns the paths of functions in which samples before a time were taken, which belong to the innermost level.
    fn find_samples(&mut self, before: Time) {
        let pending = self.chains.as_ref().map_or(&[][..], |chains| chains.walker.pending());
        if pending.is_empty() {
            return;
        }
        let around = self.stack.last().map(|around| self.resolver.region(self.about[*around as usize].region));
        if around.is_some_and(|region| self.events.contexts.is_operation(region)) {
            return;
        }
        let inside = pending.iter().take_while(|sample| sample.time < before);
        let frames: Vec<u32> = inside.map(|sample| self.events.contexts.inside(sample.context)).collect();
        for frame in frames.into_iter().filter(|frame| *frame != NO_FRAME) {
            let about = About {
                region: RegionKey(u64::MAX),
                is_inside: false,
                meets: false,
                kind: Kind::Neutral,
                is_plain: true,
            };
            self.node(Step::Frame(frame), |_| about);
        }
    }

    /// The position of a context that events of the location name.
    fn context(&mut self, context: u32) -> Option<u32> {
        let found = self.events.contexts.named(context, self.resolver.mappings);
        if found.is_none() {
            self.unfit("its calling contexts are not all defined");
        }
        found
    }

    fn region(&self, context: u32) -> RegionKey {
        global_region(self.events.contexts.region(context))
    }

    fn chains(&mut self) -> &mut Chains<'a> {
        let events = self.events;
        self.chains.get_or_insert_with(|| Chains {
            counts: Counts::new(&events.contexts, &events.generators, !events.generators.is_empty()),
            walker: Walker::new(None),
            span: None,
        })
    }

    /// The path that a step leads to from where the location is.
    fn node(&mut self, step: Step, learn: impl FnOnce(&mut Self) -> About) -> u32 {
        let paths = &mut self.found.paths;
        let node = match self.stack.last() {
            Some(parent) => paths.child(*parent, step),
            None => paths.root(0, step),
        };
        if node as usize == self.about.len() {
            let about = learn(self);
            self.about.push(about);
        }
        node
    }

    fn step(&mut self, step: Step, key: RegionKey) {
        self.pass_cut();
        self.entered = self.now;
        self.cpu_used.get_or_insert(self.now);
        let around = self.stack.last().map(|parent| self.about[*parent as usize]);
        if self.beside.is_some()
            && matches!(step, Step::Context(_))
            && around.is_none()
            && self.regions[self.resolver.region(key)].role != Role::Parallel
        {
            // Between parts in teams it is in no function; between others it may be.
            self.unfit("other threads than the main ones have operations outside of teams");
        }
        let node = self.node(step, |scout| scout.learn(key, around));
        self.stack.push(node);
        let about = self.about[node as usize];
        self.around += u32::from(!about.is_plain);
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
    fn learn(&mut self, key: RegionKey, around: Option<About>) -> About {
        let region = &self.regions[self.resolver.region(key)];
        let is_symmetric = matches!(region.role, Role::GroupSync | Role::AllToAll);
        let of_group = matches!(region.participants, Participants::Group | Participants::World);
        let kind = if region.role.is_neutral() { Kind::Neutral } else { Kind::Other };
        let kind = if region.role == Role::GroupSync { Kind::Barrier } else { kind };
        if region.role == Role::TaskRun
            && self.chains.is_none()
            && around.is_some_and(|around| !self.regions[self.resolver.region(around.region)].role.is_transparent())
        {
            // What is left of the operation behind the task is a region that is made when all visits are known.
            self.unfit("tasks run inside of operations");
        }
        if region.kind == RegionKind::Iteration {
            // Whether blocks are cut where turns begin is a matter of the whole run.
            self.unfit("turns of a loop are marked in it");
        }
        About {
            region: key,
            is_inside: around.is_some_and(|around| around.is_inside) || !region.role.is_transparent(),
            meets: is_symmetric && of_group && region.completion == Completion::Blocking,
            kind,
            is_plain: region.role == Role::User,
        }
    }

    fn leave(&mut self, key: RegionKey) {
        self.pass_cut();
        let Some(node) = self.stack.pop().filter(|node| self.about[*node as usize].region == key) else {
            return self.unfit("a region is left that was not entered");
        };
        let about = self.about[node as usize];
        self.around -= u32::from(!about.is_plain);
        if self.stack.is_empty() {
            self.ended = Some((node, self.now));
        }
        let around = self.stack.last().map(|around| self.about[*around as usize]);
        let is_over = about.is_inside && !around.is_some_and(|around| around.is_inside);
        let is_one = self.operation.of_all == 1 && self.operation.collectives == 1;
        if !(is_over && is_one && about.meets) {
            return;
        }
        // All PEs have these in the same order; from an operation with a root a PE may return before others have begun it.
        self.met += 1;
        // A sample may belong to what comes next.
        let is_pending = self.chains.as_ref().is_some_and(|chains| !chains.walker.pending().is_empty());
        if self.flushed <= self.now && !is_pending && self.is_free() {
            self.keep(node, about.kind != Kind::Barrier);
        }
    }

    fn keep(&mut self, meeting: u32, parts: bool) {
        self.is_open = false;
        if !self.met.is_multiple_of(self.found.stride) {
            return;
        }
        if !self.is_cpu_known() {
            self.found.cpu_unread = true;
            return;
        }
        self.found.moments.push(Moment {
            number: self.met,
            chunk: self.chunk as u32,
            in_chunk: (self.found.events - self.before_chunk) as u32,
            events: self.found.events,
            time: self.now,
            came: self.operation.enter,
            ended: Some((meeting, self.now)),
            path: self.stack.last().copied(),
            messages: self.messages,
            parts,
            cpu: self.cpu.as_slice().into(),
        });
        if let Some(handles) = &mut self.handles {
            handles.meet(self.met);
        }
        self.is_open = !parts;
        self.begin_cut();
        if self.found.moments.len() > self.most {
            self.found.stride *= 2;
            let stride = self.found.stride;
            let last = self.met;
            self.found.moments.retain(|moment| moment.number.is_multiple_of(stride));
            self.is_open &= last.is_multiple_of(stride);
            if let Some(handles) = &mut self.handles {
                handles.thin(stride);
            }
        }
    }

    /// Not all MPI calls of threads are told apart from those of the main one.
    fn communicate(&mut self) {
        if self.beside.is_some() {
            self.unfit("other threads than the main ones communicate");
        }
    }

    fn begin(&mut self, request: u64) {
        self.communicate();
        self.open = self.open.wrapping_add(mixed(request));
    }

    fn end(&mut self, request: u64) {
        self.open = self.open.wrapping_sub(mixed(request));
    }

    /// The time of what is done with files is that of operations, which are in one slice.
    fn use_file(&mut self) {
        if !self.stack.last().is_some_and(|path| self.about[*path as usize].is_inside) {
            self.unfit("files are accessed outside of operations");
        }
    }

    fn access(&mut self, handle: u32, mode: u8, bytes: u64, matching: u64) {
        self.use_file();
        self.open = self.open.wrapping_add(mixed(!matching));
        let Some((handles, handle)) = self.handles.as_mut().zip(self.resolver.handle(HandleRef(handle))) else {
            return;
        };
        let region = self.stack.last().map(|path| self.resolver.region(self.about[*path as usize].region));
        let is_positioned = region.is_some_and(|region| self.positioned.get(region) == Some(&true));
        let moves = offsets::moves(io_kind(mode), self.resolver.file(Some(handle)).1, is_positioned);
        handles.begin(handle, moves.then_some(bytes), matching);
    }

    fn end_access(&mut self, matching: u64, bytes: Option<u64>) {
        self.open = self.open.wrapping_sub(mixed(!matching));
        if let Some(handles) = &mut self.handles {
            handles.end(matching, bytes);
        }
    }

    fn use_handle(&mut self, handle: u32, step: HandleStep) {
        if let Some((handles, handle)) = self.handles.as_mut().zip(self.resolver.handle(HandleRef(handle))) {
            handles.step(handle, step);
        }
    }

    /// A message between this PE and another; of one that is received the number is taken back.
    fn message(&mut self, comm: u32, rank: u32, tag: u32, is_sent: bool) {
        self.communicate();
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
    fn collective(&mut self, comm: u32) {
        self.communicate();
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
        self.show(self.now);
        Scout::enter(self, local_region(region));
    }

    #[inline]
    fn leave(&mut self, stamp: u64, region: u32) {
        self.at(stamp);
        self.show(self.now);
        Scout::leave(self, local_region(region));
    }

    fn attributes(&mut self, attributes: AttributeList<'_>) {
        match self.resolver.tables.addresses.told(&attributes, self.resolver.mappings) {
            // A displacement is of an access to a file, or of one to memory, which keeps the run whole anyway.
            None | Some(Told::Polls { .. } | Told::Displacement(_)) => {}
            Some(_) => self.unfit("attributes tell more of its events"),
        }
    }

    fn unknown(&mut self, _: u64, _: u8, _: &[u8]) {
        self.unfit("records of an unknown type are in it");
    }

    fn event(&mut self, stamp: u64, event: &Event<'_>) {
        self.at(stamp);
        if is_shown(event) {
            self.show(self.now);
        }
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
                self.collective(communicator);
                // It may have begun long before.
                self.operation.collectives += 1;
            }
            Event::MpiCollectiveEnd { communicator, .. } => self.collective(communicator),
            Event::MpiCollectiveBegin {}
            | Event::MpiRequestTest { .. }
            | Event::ParameterString { .. }
            | Event::ParameterInt { .. }
            | Event::ParameterUnsignedInt { .. }
            | Event::ProgramBegin { .. }
            | Event::ProgramEnd { .. }
            | Event::CommCreate { .. }
            | Event::CommDestroy { .. }
            | Event::IoTryLock { .. }
            | Event::IoChangeStatusFlags { .. }
            | Event::IoDeleteFile { .. }
            | Event::IoOperationTest { .. }
            | Event::IoOperationIssued { .. }
            // Tasks end with their team.
            | Event::OmpTaskCreate { .. }
            | Event::OmpTaskSwitch { .. }
            | Event::OmpTaskComplete { .. }
            | Event::ThreadTaskCreate { .. }
            | Event::ThreadTaskSwitch { .. }
            | Event::ThreadTaskComplete { .. } => {}
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                self.enter_in(calling_context, unwind_distance);
            }
            Event::CallingContextLeave { calling_context } => self.leave_context(calling_context),
            Event::CallingContextSample { calling_context, unwind_distance, interrupt_generator } => {
                self.sample(calling_context, unwind_distance, interrupt_generator);
            }
            Event::Metric { metric, ref values } => self.measure(metric, values),
            Event::BufferFlush { stop_time } => {
                let end = self.clock.correct(stop_time);
                self.flushed = self.flushed.max(end);
                self.show(end);
            }
            Event::MeasurementOnOff { .. } => self.unfit("recording was switched off and on"),
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
            Event::OmpAcquireLock { .. } | Event::ThreadAcquireLock { .. } | Event::IoAcquireLock { .. } => {
                self.locks += 1;
            }
            Event::OmpReleaseLock { .. } | Event::ThreadReleaseLock { .. } | Event::IoReleaseLock { .. } => {
                self.locks -= 1;
            }
            Event::OmpFork { .. } | Event::ThreadFork { .. } | Event::ThreadTeamBegin { .. } => self.teams += 1,
            Event::OmpJoin {} | Event::ThreadJoin { .. } | Event::ThreadTeamEnd { .. } => self.teams -= 1,
            Event::ThreadCreate { .. }
            | Event::ThreadBegin { .. }
            | Event::ThreadWait { .. }
            | Event::ThreadEnd { .. } => self.unfit("the program makes threads of its own"),
            Event::IoOperationBegin { handle, mode, bytes_request, matching_id, .. } => {
                self.access(handle, mode, bytes_request, matching_id);
            }
            Event::IoOperationComplete { bytes_result, matching_id, .. } => {
                self.end_access(matching_id, Some(bytes_result));
            }
            Event::IoOperationCancelled { matching_id, .. } => self.end_access(matching_id, None),
            Event::IoCreateHandle { handle, status_flags, .. } => {
                self.use_file();
                self.use_handle(handle, HandleStep::opened(status_flags));
            }
            Event::IoDestroyHandle { handle } => {
                self.use_file();
                self.use_handle(handle, HandleStep::Closed);
            }
            Event::IoSeek { handle, offset_result, .. } => {
                self.use_file();
                self.use_handle(handle, HandleStep::Positioned(offset_result));
            }
            Event::IoDuplicateHandle { old_handle, new_handle, .. } => {
                if let Some(old) = self.resolver.handle(HandleRef(old_handle)) {
                    self.use_handle(new_handle, HandleStep::Duplicated(old));
                }
            }
        }
    }
}

/// Whether a trace has a visit or a fact of an event, and not only a part of another one, or nothing.
fn is_shown(event: &Event<'_>) -> bool {
    !matches!(
        event,
        Event::CallingContextSample { .. }
            | Event::MpiCollectiveBegin {}
            | Event::ParameterString { .. }
            | Event::ParameterInt { .. }
            | Event::ParameterUnsignedInt { .. }
            | Event::ProgramBegin { .. }
            | Event::ProgramEnd { .. }
            | Event::CommCreate { .. }
            | Event::CommDestroy { .. }
            | Event::IoChangeStatusFlags { .. }
            | Event::IoDeleteFile { .. }
            | Event::IoDuplicateHandle { .. }
            | Event::IoOperationTest { .. }
            | Event::IoOperationIssued { .. }
            | Event::IoOperationCancelled { .. }
    )
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
