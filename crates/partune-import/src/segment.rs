//! A segment: one run of chunks of a location, decoded without knowing what came before.
//!
//! Chunks carry their own time stamps, so they can be decoded in parallel, but not the call stack at their begin. A segment
//! therefore has paths of its own that grow from an unknown base: [`Parent::Base`]`(k)` is the k-th visit down the stack as it
//! was when the segment began. [`super::stitch`] knows the stacks and joins segments. Leaves that only the whole stack can
//! explain make a segment *irregular*; its location is then decoded again as one segment from its begin, where the stack is
//! known to be empty.

use partune_base::{CallPathId, Time};
use partune_trace::{Pause, Stream, Visit, VisitIx};
use rustc_hash::FxHashMap;

use super::addresses::Addresses;
use super::clock::LocationClock;
use super::weave::Called;

/// A region as events name it: a local id, or (sampling) already the global id of a calling context's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RegionKey(pub(super) u64);

impl RegionKey {
    const GLOBAL: u64 = 1 << 32;

    pub(super) fn local(id: u32) -> RegionKey {
        RegionKey(u64::from(id))
    }

    pub(super) fn global(id: u32) -> RegionKey {
        RegionKey(u64::from(id) | Self::GLOBAL)
    }

    /// The id if it is already global.
    pub(super) fn as_global(self) -> Option<u32> {
        (self.0 & Self::GLOBAL != 0).then_some(self.0 as u32)
    }
}

/// What a path of a segment was called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// A path of the segment.
    Node(u32),
    /// The k-th visit from the top of the stack at the begin of the segment.
    Base(u32),
}

/// A path of the segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) parent: Parent,
    pub(super) region: RegionKey,
    /// Its latest child, or `NONE`; siblings form a list, so that few children need no hash.
    child: u32,
    sibling: u32,
}

const NONE: u32 = u32::MAX;

/// What went wrong in a segment or location, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// Leaves of a region that was not entered.
    pub(super) stray_leaves: u64,
    /// Visits closed because an outer one was left, or because the trace ended.
    pub(super) missing_leaves: u64,
    /// Time stamps smaller than the one before.
    pub(super) backward_times: u64,
    /// Time stamps beyond what a [`Time`] can be, which are moved to its limits.
    pub(super) far_times: u64,
    pub(super) unknown_records: u64,
    /// Records that we read but do not analyse (calling-context samples).
    pub(super) ignored_records: u64,
}

impl Faults {
    pub(super) fn add(&mut self, other: Faults) {
        self.stray_leaves += other.stray_leaves;
        self.missing_leaves += other.missing_leaves;
        self.backward_times += other.backward_times;
        self.far_times += other.far_times;
        self.unknown_records += other.unknown_records;
        self.ignored_records += other.ignored_records;
    }
}

/// A decoded run of chunks. Ids in its rows are still the archive's; visits of its rows may be [`Segment::base_visit`]s.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) stream: Stream,
    pub(super) nodes: Vec<Node>,
    /// Leaves of visits that were open at the begin, innermost first.
    pub(super) closes: Vec<(Time, RegionKey)>,
    /// Visits still open at the end, outermost first.
    pub(super) open: Vec<VisitIx>,
    /// What visits were called in, where their enters say so.
    pub(super) called: Vec<Called>,
    /// Rows of `stream.collectives` that name a window where the others name a group.
    pub(super) on_windows: Vec<u32>,
    /// What is told of addresses; visits and windows as in the rows.
    pub(super) addresses: Addresses,
    /// The begin of a collective that ends in a later segment.
    pub(super) collective_begin: Option<Time>,
    /// Recording switched on again without having been switched off here: when.
    pub(super) resumed: Option<Time>,
    /// Recording switched off and not on again here: since when.
    pub(super) paused: Option<Time>,
    pub(super) times: Option<(Time, Time)>,
    pub(super) faults: Faults,
    pub(super) irregular: bool,
}

impl Segment {
    const BASE: u32 = 1 << 31;

    /// Stands for the k-th visit from the top of the stack at the begin of the segment.
    fn base_visit(k: usize) -> VisitIx {
        VisitIx(Self::BASE | (k as u32).min(Self::BASE - 2))
    }

    /// Which visit of the stack it stands for, if it does.
    pub(super) fn as_base(visit: VisitIx) -> Option<usize> {
        (visit.is_some() && visit.0 & Self::BASE != 0).then_some((visit.0 & !Self::BASE) as usize)
    }
}

/// Fills a [`Segment`] while events come in.
pub(super) struct Assembler<'a> {
    clock: &'a LocationClock,
    /// The stack at the begin is known to be empty.
    rooted: bool,
    pub(super) segment: Segment,
    stack: Vec<(VisitIx, u32)>,
    roots: FxHashMap<(u32, RegionKey), u32>,
    many: FxHashMap<(u32, RegionKey), u32>,
    last_stamp: u64,
    now: Time,
}

impl<'a> Assembler<'a> {
    /// `rooted`: the segment is the begin of its location.
    pub(super) fn new(clock: &'a LocationClock, rooted: bool) -> Self {
        Assembler {
            clock,
            rooted,
            segment: Segment::default(),
            stack: Vec::new(),
            roots: FxHashMap::default(),
            many: FxHashMap::default(),
            last_stamp: u64::MAX,
            now: Time::MIN,
        }
    }

    pub(super) fn finish(mut self) -> Segment {
        if let Some((_, last)) = &mut self.segment.times {
            *last = self.now;
        }
        self.segment.open = self.stack.into_iter().map(|(visit, _)| visit).collect();
        self.segment
    }

    /// Time of the trace at a time stamp; never before the one of the previous event.
    #[inline]
    pub(super) fn at(&mut self, stamp: u64) -> Time {
        if stamp != self.last_stamp {
            self.last_stamp = stamp;
            let time = self.clock.correct(stamp);
            if time.0.unsigned_abs() >= Time::LIMIT.unsigned_abs() {
                self.segment.faults.far_times += 1;
            }
            if self.segment.times.is_none() {
                self.segment.times = Some((time, time));
            }
            if time < self.now {
                self.segment.faults.backward_times += 1;
            } else {
                self.now = time;
            }
        }
        self.now
    }

    /// A time stamp inside a record.
    pub(super) fn convert(&self, stamp: u64) -> Time {
        self.clock.correct(stamp)
    }

    /// The innermost visit at this moment.
    pub(super) fn visit(&self) -> VisitIx {
        match self.stack.last() {
            Some((visit, _)) => *visit,
            None if self.rooted => VisitIx::NONE,
            None => Segment::base_visit(self.segment.closes.len()),
        }
    }

    #[inline]
    pub(super) fn enter(&mut self, time: Time, region: RegionKey) {
        let node = match self.stack.last() {
            Some(&(_, parent)) => self.child(parent, region),
            None => self.root(region),
        };
        let visits = &mut self.segment.stream.visits;
        if visits.len() >= (Segment::BASE - 2) as usize {
            return; // 2³¹ visits in one segment: more than any file we can map
        }
        let visit = visits.push(Visit { enter: time, exit: Time::MAX, path: CallPathId(node) });
        self.stack.push((visit, node));
    }

    /// The visit just entered has a calling context.
    pub(super) fn called(&mut self, context: u32, unwind_distance: u32) {
        let visit = self.visit();
        self.segment.called.push(Called { visit, context, unwind_distance });
    }

    #[inline]
    pub(super) fn leave(&mut self, time: Time, region: RegionKey) {
        match self.stack.last() {
            Some(&(visit, node)) if self.segment.nodes[node as usize].region == region => {
                self.stack.pop();
                self.segment.stream.visits.exit[visit.index()] = time;
            }
            _ => self.unusual_leave(time, region),
        }
    }

    #[cold]
    fn unusual_leave(&mut self, time: Time, region: RegionKey) {
        let nodes = &self.segment.nodes;
        if let Some(at) = self.stack.iter().rposition(|(_, node)| nodes[*node as usize].region == region) {
            self.segment.faults.missing_leaves += (self.stack.len() - at - 1) as u64;
            for (visit, _) in self.stack.drain(at..) {
                self.segment.stream.visits.exit[visit.index()] = time;
            }
        } else if self.rooted {
            self.segment.faults.stray_leaves += 1;
        } else if self.stack.is_empty() {
            self.segment.closes.push((time, region));
        } else {
            self.segment.irregular = true;
        }
    }

    /// The path `region` called from the path `parent`.
    #[inline]
    fn child(&mut self, parent: u32, region: RegionKey) -> u32 {
        const FEW: usize = 12;
        let mut node = self.segment.nodes[parent as usize].child;
        let mut seen = 0;
        while node != NONE {
            let it = &self.segment.nodes[node as usize];
            if it.region == region {
                return node;
            }
            node = it.sibling;
            seen += 1;
            if seen == FEW {
                return self.child_of_many(parent, region);
            }
        }
        self.new_child(parent, region)
    }

    #[cold]
    fn child_of_many(&mut self, parent: u32, region: RegionKey) -> u32 {
        if let Some(node) = self.many.get(&(parent, region)) {
            return *node;
        }
        let mut node = self.segment.nodes[parent as usize].child;
        while node != NONE {
            let it = &self.segment.nodes[node as usize];
            if it.region == region {
                self.many.insert((parent, region), node);
                return node;
            }
            node = it.sibling;
        }
        let node = self.new_child(parent, region);
        self.many.insert((parent, region), node);
        node
    }

    fn new_child(&mut self, parent: u32, region: RegionKey) -> u32 {
        let node = self.segment.nodes.len() as u32;
        let sibling = std::mem::replace(&mut self.segment.nodes[parent as usize].child, node);
        self.segment.nodes.push(Node { parent: Parent::Node(parent), region, child: NONE, sibling });
        node
    }

    /// The path `region` called from what is on top of the base now.
    fn root(&mut self, region: RegionKey) -> u32 {
        let base = self.segment.closes.len() as u32;
        let nodes = &mut self.segment.nodes;
        *self.roots.entry((base, region)).or_insert_with(|| {
            nodes.push(Node { parent: Parent::Base(base), region, child: NONE, sibling: NONE });
            nodes.len() as u32 - 1
        })
    }

    pub(super) fn pause(&mut self, time: Time) {
        self.segment.paused.get_or_insert(time);
    }

    pub(super) fn resume(&mut self, time: Time) {
        match self.segment.paused.take() {
            Some(begin) => {
                let pause = Pause { begin, end: time, kind: partune_trace::PauseKind::Off };
                self.segment.stream.pauses.push(pause);
            }
            None if self.segment.stream.pauses.is_empty() => {
                self.segment.resumed.get_or_insert(time);
            }
            None => {}
        }
    }
}
