//! From the marks and facts of a lane to the one segment of its PE.

use partune_base::{GroupId, RegionId, Table, Time};
use partune_import::{Assembler, Beside, RegionKey, Segment, UNKNOWN_BEGIN};
use partune_trace::{
    Collective, Completion, LockKind, NO_REQUEST, Region, Role, Stream, TeamEvent, TeamKind, VisitIx, Visits,
};
use rustc_hash::FxHashMap;

use super::kinds::Action;
use super::lanes::{CollectivePart, Detail, Lane, NONE, Step};
use super::messages;
use super::names::Nesting;
use super::people::{NOBODY, People};

/// What lanes refer to.
pub(super) struct Context {
    pub(super) people: People,
    pub(super) actions: Vec<Action>,
    /// What a begin means while the same family is open, by family.
    pub(super) nestings: Vec<Nesting>,
    /// Regions that stand for states.
    pub(super) states: FxHashMap<u64, RegionId>,
    pub(super) regions: Table<RegionId, Region>,
}

/// What is kept of a lane beside its rows.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) called: Vec<Called>,
    pub(super) faults: Faults,
}

/// A visit whose callers are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) visit: VisitIx,
    /// Position among the chains of the trace.
    pub(super) chain: u32,
}

/// What was wrong in a lane, besides what every reader counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) disorder: u64,
    /// Calls that begin while one of the same kind has not ended.
    pub(super) missing_ends: u64,
    /// States that begin before the one before has ended.
    pub(super) overlapping_states: u64,
    /// Non-blocking collectives, whose completion is not recorded.
    pub(super) open_collectives: u64,
    pub(super) unknown_communicators: u64,
    /// Lanes with states in place of events.
    pub(super) of_states: u64,
}

impl Faults {
    pub(super) fn add(&mut self, other: &Faults) {
        self.disorder += other.disorder;
        self.missing_ends += other.missing_ends;
        self.overlapping_states += other.overlapping_states;
        self.open_collectives += other.open_collectives;
        self.unknown_communicators += other.unknown_communicators;
        self.of_states += other.of_states;
    }
}

impl Beside for Kept {
    fn map_visits(&mut self, map: &dyn Fn(VisitIx) -> VisitIx) {
        self.called.iter_mut().for_each(|called| called.visit = map(called.visit));
    }

    fn append(&mut self, later: Kept, _: &mut Stream) {
        self.called.extend(later.called);
        self.faults.add(&later.faults);
    }
}

/// Something that has begun.
struct Open {
    visit: VisitIx,
    action: u32,
    collective: Option<CollectivePart>,
}

struct Decoder<'a> {
    context: &'a Context,
    application: u64,
    task: u64,
    assembler: Assembler<Kept>,
    stack: Vec<Open>,
    /// Visits that are operations, in order, with their regions.
    operations: Vec<(VisitIx, RegionId)>,
}

/// Everything that a lane holds.
pub(super) fn segment(mut lane: Lane, context: &Context) -> Segment<Kept> {
    lane.finish();
    let mut decoder = Decoder {
        context,
        application: lane.application,
        task: lane.task,
        assembler: Assembler::new(true),
        stack: Vec::new(),
        operations: Vec::new(),
    };
    decoder.faults().disorder = lane.disorder;
    let end = lane.present.map_or(Time::ZERO, |(_, end)| end);
    if lane.marks.is_empty() {
        decoder.states(&lane, end);
    } else {
        decoder.marks(&lane);
    }
    // What is open is so until the last record.
    decoder.assembler.at(end.max(decoder.assembler.now()));
    decoder.rows(lane);
    decoder.assembler.finish()
}

impl Decoder<'_> {
    fn faults(&mut self) -> &mut Faults {
        &mut self.assembler.segment.beside.faults
    }

    fn marks(&mut self, lane: &Lane) {
        for mark in &lane.marks {
            let time = self.assembler.at(mark.time);
            match mark.step() {
                Step::Begin { action, detail } => {
                    self.begin(time, action, detail.map(|detail| lane.details[detail as usize]));
                }
                Step::End { family } => self.end(time, family),
            }
        }
    }

    fn begin(&mut self, time: Time, action: u32, detail: Option<Detail>) {
        let begun = self.context.actions[action as usize];
        match begun.nesting {
            Nesting::Stacked => {}
            Nesting::Single | Nesting::Replaced => {
                if let Some(at) = self.open(begun.family) {
                    self.faults().missing_ends += u64::from(begun.nesting == Nesting::Single);
                    self.close(at, time);
                }
            }
        }
        let in_operation =
            self.stack.iter().any(|open| !self.context.actions[open.action as usize].role.is_transparent());
        self.assembler.enter(time, RegionKey(begun.region.0.into()));
        let visit = self.assembler.visit();
        if !begun.role.is_transparent() && !in_operation {
            self.operations.push((visit, begun.region));
        }
        if let Some(Detail { chain, .. }) = detail.filter(|detail| detail.chain != NONE) {
            self.assembler.segment.beside.called.push(Called { visit, chain });
        }
        if begun.forks {
            self.team(visit, time, TeamKind::Fork);
        }
        self.stack.push(Open { visit, action, collective: detail.and_then(|detail| detail.collective) });
    }

    fn end(&mut self, time: Time, family: u16) {
        match self.open(family) {
            Some(at) => self.close(at, time),
            // What replaces the one before may be over already.
            None if self.context.nestings.get(usize::from(family)) == Some(&Nesting::Replaced) => {}
            None => self.assembler.leave(time, RegionKey(u64::MAX)),
        }
    }

    /// Position of the innermost that is open of a family.
    fn open(&self, family: u16) -> Option<usize> {
        self.stack.iter().rposition(|open| self.context.actions[open.action as usize].family == family)
    }

    /// Ends what is open from a position on.
    fn close(&mut self, from: usize, time: Time) {
        let region = self.context.actions[self.stack[from].action as usize].region;
        for open in self.stack.split_off(from).into_iter().rev() {
            let action = self.context.actions[open.action as usize];
            if action.forks {
                self.team(open.visit, time, TeamKind::Join);
            }
            if let Some(part) = open.collective {
                self.collective(open.visit, time, &action, part);
            }
        }
        // The assembler leaves the innermost visit to the region: there may be another one of it further in.
        while self.assembler.visit().some().is_some_and(|visit| self.stack.last().is_none_or(|open| visit > open.visit))
        {
            let innermost = self.assembler.visit();
            self.assembler.leave(time, RegionKey(region.0.into()));
            if self.assembler.visit() == innermost {
                return;
            }
        }
    }

    fn team(&mut self, visit: VisitIx, time: Time, kind: TeamKind) {
        let row = TeamEvent { visit, time, kind, group: GroupId::NONE, sequence: 0 };
        self.assembler.segment.stream.teams.push(row);
    }

    fn collective(&mut self, visit: VisitIx, end: Time, action: &Action, part: CollectivePart) {
        if !action.role.is_collective() {
            return;
        }
        if action.completion != Completion::Blocking {
            self.faults().open_collectives += 1;
            return;
        }
        let people = &self.context.people;
        let group = people.group(self.application, part.communicator);
        // Who the root is, only the root itself knows.
        let root = if part.is_root { people.main(self.application, self.task) } else { NOBODY };
        self.faults().unknown_communicators += u64::from(!group.is_some());
        let (role, begin, request) = (action.role, UNKNOWN_BEGIN, NO_REQUEST);
        let CollectivePart { sent, received, .. } = part;
        let row = Collective { visit, begin, end, role, group, root, sent, received, request };
        self.assembler.segment.stream.collectives.push(row);
    }

    /// Visits of states, where there is nothing else.
    fn states(&mut self, lane: &Lane, last: Time) {
        let mut free = Time::MIN;
        self.faults().of_states = u64::from(!lane.states.is_empty());
        for span in &lane.states {
            let end = if span.end == Time::MAX { last } else { span.end };
            self.faults().overlapping_states += u64::from(span.begin < free);
            let begin = span.begin.max(free);
            let Some(&region) = self.context.states.get(&span.state).filter(|_| begin < end) else { continue };
            let begin = self.assembler.at(begin);
            self.assembler.enter(begin, RegionKey(region.0.into()));
            self.operations.push((self.assembler.visit(), region));
            let end = self.assembler.at(end);
            self.assembler.leave(end, RegionKey(region.0.into()));
            free = end;
        }
    }

    /// The rows of facts, with the visits they belong to.
    fn rows(&mut self, mut lane: Lane) {
        let stream = &mut self.assembler.segment.stream;
        let operations = Operations { visits: &stream.visits, all: &self.operations, regions: &self.context.regions };
        for row in &mut lane.locks {
            row.visit = match row.kind {
                LockKind::Acquired => operations.ending(row.time, |region| region.role == Role::LockAcquire),
                LockKind::Requested | LockKind::Tried | LockKind::Released => operations.beginning(row.time, |_| true),
            };
        }
        let messages = messages::rows(&lane, &operations, &self.context.people);
        innermost(&stream.visits, lane.metrics.iter_mut().map(|row| (row.time, &mut row.visit)));
        stream.events = lane.events;
        stream.present = lane.present;
        stream.locks = lane.locks;
        stream.metrics = lane.metrics;
        stream.pauses = lane.pauses;
        stream.sends = messages.sends;
        stream.recvs = messages.recvs;
        stream.requests = messages.requests;
    }
}

/// Gives each row, in order of time, the visit that is innermost then; of two of which one ends and one begins, the latter.
fn innermost<'a>(visits: &Visits, rows: impl Iterator<Item = (Time, &'a mut VisitIx)>) {
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for (time, visit) in rows {
        while next < visits.len() && visits.enter[next] <= time {
            while open.pop_if(|last| visits.exit[*last] <= visits.enter[next]).is_some() {}
            open.push(next);
            next += 1;
        }
        while open.pop_if(|last| visits.exit[*last] < time).is_some() {}
        *visit = open.last().map_or(VisitIx::NONE, |last| VisitIx(*last as u32));
    }
}

/// The operations of a lane, to find those around a time.
pub(super) struct Operations<'a> {
    visits: &'a Visits,
    all: &'a [(VisitIx, RegionId)],
    regions: &'a Table<RegionId, Region>,
}

/// An operation, and what it is.
pub(super) type Found<'a> = Option<(VisitIx, &'a Region)>;

impl<'a> Operations<'a> {
    /// The operation that begins at a time, or else one around it; those that are wanted first.
    pub(super) fn find_beginning(&self, time: Time, wanted: impl Fn(&Region) -> bool) -> Found<'a> {
        self.best(time, |region, enter| (wanted(region), enter == time))
    }

    /// The operation that ends at a time, or else one around it; those that are wanted first.
    pub(super) fn find_ending(&self, time: Time, wanted: impl Fn(&Region) -> bool) -> Found<'a> {
        self.best(time, |region, enter| (wanted(region), enter < time))
    }

    fn beginning(&self, time: Time, wanted: impl Fn(&Region) -> bool) -> VisitIx {
        self.find_beginning(time, wanted).map_or(VisitIx::NONE, |found| found.0)
    }

    fn ending(&self, time: Time, wanted: impl Fn(&Region) -> bool) -> VisitIx {
        self.find_ending(time, wanted).map_or(VisitIx::NONE, |found| found.0)
    }

    /// The best of the operations around a time, the last of those that are equal. More than four meet at no moment.
    fn best<K: Ord>(&self, time: Time, key: impl Fn(&Region, Time) -> K) -> Found<'a> {
        const MOST: usize = 4;
        let visits = self.visits;
        let after = self.all.partition_point(|(visit, _)| visits.enter[visit.index()] <= time);
        let around = self.all[after.saturating_sub(MOST)..after].iter();
        let around = around.filter(|(visit, _)| visits.exit[visit.index()] >= time);
        let best = around.max_by_key(|(visit, region)| key(&self.regions[*region], visits.enter[visit.index()]));
        best.map(|(visit, region)| (*visit, &self.regions[*region]))
    }
}
