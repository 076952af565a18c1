//! From the marks of a lane to its stream: visits, and the functions around them.
//!
//! Extrae records the callers of a call, not that functions begin and end. A function is therefore entered where the first call inside of
//! it is entered, stays open while the next call has it among its callers too, and is left where the last one inside of it was left: its
//! visit is a lower bound of its time. Where the program's functions were recorded themselves, callers only say the line of a call.

use partune_base::{GroupId, RegionId, Table, Time};
use partune_trace::{
    CallSite, Collective, Completion, LockKind, NO_REQUEST, Region, Role, Stream, TeamEvent, TeamKind, Visit, VisitIx,
    Visits,
};
use rustc_hash::FxHashMap;

use super::kinds::Action;
use super::lanes::{CollectivePart, Detail, Lane, NONE, Step};
use super::messages;
use super::names::Nesting;
use super::people::{NOBODY, People};

/// The callers of a call, outermost first, and the line of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) frames: Box<[Frame]>,
    pub(super) site: CallSite,
}

/// A function among callers, and where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) region: RegionId,
    pub(super) site: CallSite,
}

/// What lanes refer to.
pub(super) struct Context<'a> {
    pub(super) people: &'a People,
    pub(super) chains: &'a [Chain],
    pub(super) actions: &'a [Action],
    /// What a begin means while the same family is open, by family.
    pub(super) nestings: &'a [Nesting],
    /// Regions that stand for states.
    pub(super) states: &'a FxHashMap<u64, RegionId>,
    pub(super) regions: &'a Table<RegionId, Region>,
}

/// A call path of a lane; its parent comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) parent: Option<u32>,
    pub(super) region: RegionId,
    pub(super) site: CallSite,
}

/// What was wrong in a lane, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) disorder: u64,
    pub(super) stray_ends: u64,
    pub(super) missing_ends: u64,
    /// States that begin before the one before has ended.
    pub(super) overlapping_states: u64,
    /// Non-blocking collectives, whose completion is not recorded.
    pub(super) open_collectives: u64,
    pub(super) unknown_communicators: u64,
}

/// A lane as a stream; its paths are positions in `nodes`.
pub(super) struct Assembled {
    pub(super) stream: Stream,
    pub(super) nodes: Vec<Node>,
    pub(super) faults: Faults,
    /// There are states in place of events.
    pub(super) of_states: bool,
}

/// A visit that is not over.
struct Open {
    visit: VisitIx,
    node: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    /// A function that callers tell of.
    Caller,
    Recorded {
        action: u32,
        collective: Option<CollectivePart>,
    },
}

struct Assembler<'a> {
    context: &'a Context<'a>,
    application: u64,
    task: u64,
    stream: Stream,
    nodes: Vec<Node>,
    known: FxHashMap<Node, u32>,
    stack: Vec<Open>,
    /// Visits that are operations, in order.
    operations: Vec<VisitIx>,
    /// When the last recorded visit ended.
    left: Time,
    faults: Faults,
}

pub(super) fn assemble(mut lane: Lane, context: &Context<'_>) -> Assembled {
    lane.finish();
    let mut assembler = Assembler {
        context,
        application: lane.application,
        task: lane.task,
        stream: Stream { events: lane.events, present: lane.present, ..Stream::default() },
        nodes: Vec::new(),
        known: FxHashMap::default(),
        stack: Vec::new(),
        operations: Vec::new(),
        left: Time::MIN,
        faults: Faults { disorder: lane.disorder, ..Faults::default() },
    };
    let end = lane.present.map_or(Time::ZERO, |(_, end)| end);
    let of_states = lane.marks.is_empty() && !lane.states.is_empty();
    if of_states {
        assembler.states(&lane, end);
    } else {
        for mark in &lane.marks {
            match mark.step() {
                Step::Begin { action, detail } => {
                    assembler.begin(mark.time, action, detail.map(|detail| lane.details[detail as usize]));
                }
                Step::End { family } => assembler.end(mark.time, family),
            }
        }
        assembler.close(0, end, 0);
    }
    assembler.rows(lane);
    let Assembler { stream, nodes, faults, .. } = assembler;
    Assembled { stream, nodes, faults, of_states }
}

impl Assembler<'_> {
    fn begin(&mut self, time: Time, action: u32, detail: Option<Detail>) {
        let begun = self.context.actions[action as usize];
        match begun.nesting {
            Nesting::Stacked => {}
            Nesting::Single | Nesting::Replaced => {
                if let Some(at) = self.open(begun.family) {
                    self.close(at, time, u64::from(begun.nesting == Nesting::Replaced));
                }
            }
        }
        let chain = detail.and_then(|detail| self.context.chains.get(detail.chain as usize));
        debug_assert!(detail.is_none_or(|detail| detail.chain == NONE || chain.is_some()), "chains have numbers");
        let is_operation = !begun.role.is_transparent();
        let inside = self.innermost();
        let in_operation = inside.is_some_and(|action| !action.role.is_transparent());
        if !in_operation && !inside.is_some_and(|action| action.is_function) {
            let callers = if is_operation { chain.map(|chain| &chain.frames[..]) } else { None };
            self.callers(callers.unwrap_or_default(), time);
        }
        let visit = self.enter(time, begun.region, chain.map_or(CallSite::NONE, |chain| chain.site));
        let collective = detail.and_then(|detail| detail.collective);
        if let Some(open) = self.stack.last_mut() {
            open.what = What::Recorded { action, collective };
        }
        if is_operation && !in_operation {
            self.operations.push(visit);
        }
        if begun.forks {
            self.team(visit, time, TeamKind::Fork);
        }
    }

    fn end(&mut self, time: Time, family: u16) {
        match self.open(family) {
            Some(at) => self.close(at, time, 1),
            // What replaces the one before may be over already.
            None => {
                let replaced = self.context.nestings.get(usize::from(family)) == Some(&Nesting::Replaced);
                self.faults.stray_ends += u64::from(!replaced);
            }
        }
    }

    /// The innermost recorded visit.
    fn innermost(&self) -> Option<&Action> {
        self.stack.iter().rev().find_map(|open| match open.what {
            What::Caller => None,
            What::Recorded { action, .. } => Some(&self.context.actions[action as usize]),
        })
    }

    /// Position of the innermost open visit of a family.
    fn open(&self, family: u16) -> Option<usize> {
        let is_of = |open: &Open| match open.what {
            What::Caller => false,
            What::Recorded { action, .. } => self.context.actions[action as usize].family == family,
        };
        self.stack.iter().rposition(is_of)
    }

    fn enter(&mut self, time: Time, region: RegionId, site: CallSite) -> VisitIx {
        let key = Node { parent: self.stack.last().map(|open| open.node), region, site };
        let nodes = &mut self.nodes;
        let node = *self.known.entry(key).or_insert_with(|| {
            nodes.push(key);
            nodes.len() as u32 - 1
        });
        let path = partune_base::CallPathId(node);
        let visit = self.stream.visits.push(Visit { enter: time, exit: time, path });
        self.stack.push(Open { visit, node, what: What::Caller });
        visit
    }

    /// Opens these functions, and closes those that are open and not among them.
    fn callers(&mut self, frames: &[Frame], time: Time) {
        let first = self.stack.iter().rposition(|open| !matches!(open.what, What::Caller)).map_or(0, |at| at + 1);
        let is_same = |(open, frame): &(&Open, &Frame)| {
            let node = self.nodes[open.node as usize];
            node.region == frame.region && node.site == frame.site
        };
        let kept = self.stack[first..].iter().zip(frames).take_while(is_same).count();
        self.close_callers(first + kept);
        for frame in &frames[kept..] {
            self.enter(time, frame.region, frame.site);
        }
    }

    /// Closes the functions from a position of the stack on.
    fn close_callers(&mut self, from: usize) {
        for open in self.stack.drain(from..) {
            let exit = &mut self.stream.visits.exit[open.visit.index()];
            *exit = (*exit).max(self.left);
        }
    }

    /// Closes everything from a position of the stack on. So many of the recorded visits among it end as they should.
    fn close(&mut self, from: usize, time: Time, expected: u64) {
        let mut recorded = 0;
        while self.stack.len() > from {
            let Some(open) = self.stack.pop() else { return };
            let exit = &mut self.stream.visits.exit[open.visit.index()];
            let What::Recorded { action, collective } = open.what else {
                *exit = (*exit).max(self.left);
                continue;
            };
            recorded += 1;
            *exit = (*exit).max(time);
            let (enter, exit) = (self.stream.visits.enter[open.visit.index()], *exit);
            self.left = exit;
            let action = self.context.actions[action as usize];
            if action.forks {
                self.team(open.visit, exit, TeamKind::Join);
            }
            if let Some(part) = collective {
                self.collective(open.visit, (enter, exit), &action, part);
            }
        }
        self.faults.missing_ends += u64::saturating_sub(recorded, expected);
    }

    fn team(&mut self, visit: VisitIx, time: Time, kind: TeamKind) {
        self.stream.teams.push(TeamEvent { visit, time, kind, group: GroupId::NONE, sequence: 0 });
    }

    fn collective(&mut self, visit: VisitIx, (begin, end): (Time, Time), action: &Action, part: CollectivePart) {
        if !action.role.is_collective() {
            return;
        }
        if action.completion != Completion::Blocking {
            self.faults.open_collectives += 1;
            return;
        }
        let group = self.context.people.group(self.application, part.communicator);
        self.faults.unknown_communicators += u64::from(!group.is_some());
        // Who the root is, only the root itself knows.
        let root = if part.is_root { self.context.people.main(self.application, self.task) } else { NOBODY };
        let (sent, received) = (part.sent, part.received);
        let request = NO_REQUEST;
        self.stream.collectives.push(Collective {
            visit,
            begin,
            end,
            role: action.role,
            group,
            root,
            sent,
            received,
            request,
        });
    }

    /// Visits of states.
    fn states(&mut self, lane: &Lane, last: Time) {
        let mut free = Time::MIN;
        for span in &lane.states {
            let end = if span.end == Time::MAX { last } else { span.end };
            if span.begin < free {
                self.faults.overlapping_states += 1;
            }
            let begin = span.begin.max(free);
            let Some(region) = self.context.states.get(&span.state).filter(|_| begin < end) else { continue };
            let visit = self.enter(begin, *region, CallSite::NONE);
            self.stream.visits.exit[visit.index()] = end;
            self.operations.push(visit);
            self.stack.clear();
            free = end;
        }
    }

    /// The rows of facts, with the visits they belong to.
    fn rows(&mut self, mut lane: Lane) {
        let operations = Operations {
            visits: &self.stream.visits,
            operations: &self.operations,
            regions: self.context.regions,
            nodes: &self.nodes,
        };
        let acquires = |role: Role, _: Completion| role == Role::LockAcquire;
        for row in &mut lane.locks {
            row.visit = match row.kind {
                LockKind::Acquired => operations.ending(row.time, acquires),
                LockKind::Requested | LockKind::Tried | LockKind::Released => {
                    operations.beginning(row.time, |_, _| true)
                }
            };
        }
        let messages = messages::rows(&lane, &operations, self.context.people);
        innermost(&self.stream.visits, lane.metrics.iter_mut().map(|row| (row.time, &mut row.visit)));
        self.stream.locks = lane.locks;
        self.stream.metrics = lane.metrics;
        self.stream.pauses = lane.pauses;
        self.stream.sends = messages.sends;
        self.stream.recvs = messages.recvs;
        self.stream.requests = messages.requests;
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
    operations: &'a [VisitIx],
    regions: &'a Table<RegionId, Region>,
    nodes: &'a [Node],
}

impl Operations<'_> {
    /// The operation that begins at a time, or else one around it; those of the wanted kind first.
    pub(super) fn beginning(&self, time: Time, wanted: impl Fn(Role, Completion) -> bool) -> VisitIx {
        self.best(time, |visit| (self.is(visit, &wanted), self.visits.enter[visit.index()] == time))
    }

    /// The operation that ends at a time, or else one around it; those of the wanted kind first.
    pub(super) fn ending(&self, time: Time, wanted: impl Fn(Role, Completion) -> bool) -> VisitIx {
        self.best(time, |visit| (self.is(visit, &wanted), self.visits.enter[visit.index()] < time))
    }

    fn is(&self, visit: VisitIx, wanted: &impl Fn(Role, Completion) -> bool) -> bool {
        let region = self.region(visit);
        wanted(region.role, region.completion)
    }

    pub(super) fn region(&self, visit: VisitIx) -> &Region {
        &self.regions[self.nodes[self.visits.path[visit.index()].0 as usize].region]
    }

    /// The best of the operations around a time, the last of those that are equal. More than four meet at no moment.
    fn best<K: Ord>(&self, time: Time, key: impl Fn(VisitIx) -> K) -> VisitIx {
        const MOST: usize = 4;
        let after = self.operations.partition_point(|visit| self.visits.enter[visit.index()] <= time);
        let around = self.operations[after.saturating_sub(MOST)..after].iter().copied();
        let around = around.filter(|visit| self.visits.exit[visit.index()] >= time);
        around.max_by_key(|visit| key(*visit)).unwrap_or(VisitIx::NONE)
    }
}
