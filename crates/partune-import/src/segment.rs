//! A segment: one part of what a PE did, read without knowing what came before.
//!
//! Parts of an input can be read in parallel, but where one begins its reader does not know which visits are open. A segment
//! therefore has paths of its own that grow from an unknown base: [`Parent::Base`]`(k)` is the k-th visit down the stack as it
//! was when the segment began. [`crate::joined`] knows the stacks and joins segments. Leaves that only the whole stack can
//! explain make a segment *irregular*; its PE is then read again as one segment from its begin, where the stack is
//! known to be empty.

use partune_base::{CallPathId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Stream, Visit, VisitIx};

use crate::tree::{Node, Tree};

/// A region as events name it; the source knows what the number means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct RegionKey(pub u64);

/// What went wrong in a segment or PE, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Leaves of a region that was not entered.
    pub stray_leaves: u64,
    /// Visits closed because an outer one was left, or because the trace ended.
    pub missing_leaves: u64,
    /// Time stamps smaller than the one before.
    pub backward_times: u64,
    /// Time stamps beyond what a [`Time`] can be, which are moved to its limits.
    pub far_times: u64,
    /// Visits beyond those that can be numbered.
    pub too_many_visits: u64,
}

impl Faults {
    pub fn add(&mut self, other: Faults) {
        self.stray_leaves += other.stray_leaves;
        self.missing_leaves += other.missing_leaves;
        self.backward_times += other.backward_times;
        self.far_times += other.far_times;
        self.too_many_visits += other.too_many_visits;
    }

    /// Says what was wrong. `place` is what a PE is in the input: "location", "thread".
    pub fn report(&self, place: &str, quality: &mut Quality) {
        let mut lost = |code: Code, count: u64, message: &str, remedy: &str| {
            quality.add(Diagnostic::data_loss(code, message, remedy).times(count));
        };
        lost(
            Code::StrayLeaves,
            self.stray_leaves,
            "a region is left that was not entered; the event was ignored",
            "the recorder missed events, or recording began inside the region",
        );
        lost(
            Code::MissingLeaves,
            self.missing_leaves,
            "a region is entered and never left; it was closed where its caller ended, or at the end of the trace",
            "the recorder missed events, or the program ended inside the region",
        );
        lost(
            Code::BackwardTimes,
            self.backward_times,
            &format!("time stamps of a {place} run backwards; such events were moved to the time of their predecessor"),
            "the recorder's clock is not monotonic: record again with another timer",
        );
        lost(
            Code::FarTimes,
            self.far_times,
            "time stamps lie more than 2^61 ticks from the begin of the trace; such events were moved to that limit",
            "the time stamps, or what they count from, are damaged: copy the archive again",
        );
        lost(
            Code::TooManyVisits,
            self.too_many_visits,
            &format!("a {place} enters regions more than 2^31 times; what is beyond was left out"),
            "record a shorter run, or fewer functions",
        );
    }
}

/// What a reader keeps of a segment beside its rows.
pub trait Beside: Default + Send + Sync {
    /// Changes the visits that it names, as those of rows are changed.
    fn map_visits(&mut self, map: &dyn Fn(VisitIx) -> VisitIx);

    /// Adds that of a later segment; `before` is what the stream holds of the earlier ones, which it may complete.
    fn append(&mut self, later: Self, before: &mut Stream);
}

/// A reader that keeps nothing.
impl Beside for () {
    fn map_visits(&mut self, _: &dyn Fn(VisitIx) -> VisitIx) {}

    fn append(&mut self, (): (), _: &mut Stream) {}
}

/// What was read of a part. Visits of its rows may be [`Segment::base_visit`]s.
#[derive(Debug, Default)]
pub struct Segment<B> {
    pub stream: Stream,
    pub(crate) nodes: Vec<Node<RegionKey>>,
    /// Leaves of visits that were open at the begin, innermost first.
    pub(crate) closes: Vec<(Time, RegionKey)>,
    /// Visits still open at the end, outermost first.
    pub(crate) open: Vec<VisitIx>,
    pub beside: B,
    /// The begin of a collective that ends in a later segment.
    pub collective_begin: Option<Time>,
    /// When recording was switched on (true) and off, as this PE tells.
    pub(crate) switches: Vec<(Time, bool)>,
    pub(crate) times: Option<(Time, Time)>,
    pub(crate) faults: Faults,
    pub(crate) irregular: bool,
}

impl<B> Segment<B> {
    const BASE: u32 = 1 << 31;

    /// Stands for the k-th visit from the top of the stack at the begin of the segment.
    fn base_visit(k: usize) -> VisitIx {
        VisitIx(Self::BASE | (k as u32).min(Self::BASE - 2))
    }

    /// Which visit of the stack it stands for, if it does.
    pub(crate) fn as_base(visit: VisitIx) -> Option<usize> {
        (visit.is_some() && visit.0 & Self::BASE != 0).then_some((visit.0 & !Self::BASE) as usize)
    }
}

/// Fills a [`Segment`] while events come in.
pub struct Assembler<B> {
    /// The stack at the begin is known to be empty.
    rooted: bool,
    pub segment: Segment<B>,
    stack: Vec<(VisitIx, u32)>,
    tree: Tree,
    now: Time,
}

impl<B: Beside> Assembler<B> {
    /// `rooted`: the segment is the begin of its PE.
    pub fn new(rooted: bool) -> Self {
        Assembler { rooted, segment: Segment::default(), stack: Vec::new(), tree: Tree::default(), now: Time::MIN }
    }

    pub fn finish(mut self) -> Segment<B> {
        if let Some((_, last)) = &mut self.segment.times {
            *last = self.now;
        }
        self.segment.open = self.stack.into_iter().map(|(visit, _)| visit).collect();
        self.segment.nodes = self.tree.into_nodes();
        self.segment
    }

    /// The time of the next event: that of its time stamp, but never before the one of the previous event.
    #[inline]
    pub fn at(&mut self, time: Time) -> Time {
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
        self.now
    }

    /// The time of the previous event.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The innermost visit at this moment.
    pub fn visit(&self) -> VisitIx {
        match self.stack.last() {
            Some((visit, _)) => *visit,
            None if self.rooted => VisitIx::NONE,
            None => Segment::<B>::base_visit(self.segment.closes.len()),
        }
    }

    #[inline]
    pub fn enter(&mut self, time: Time, region: RegionKey) {
        let node = match self.stack.last() {
            Some(&(_, parent)) => self.tree.child(parent, region),
            None => self.tree.root(self.segment.closes.len() as u32, region),
        };
        let visits = &mut self.segment.stream.visits;
        if visits.len() >= (Segment::<B>::BASE - 2) as usize {
            self.segment.faults.too_many_visits += 1;
            return;
        }
        let visit = visits.push(Visit { enter: time, exit: Time::MAX, path: CallPathId(node) });
        self.stack.push((visit, node));
    }

    #[inline]
    pub fn leave(&mut self, time: Time, region: RegionKey) {
        match self.stack.last() {
            Some(&(visit, node)) if self.tree.step(node) == region => {
                self.stack.pop();
                self.segment.stream.visits.exit[visit.index()] = time;
            }
            _ => self.unusual_leave(time, region),
        }
    }

    #[cold]
    fn unusual_leave(&mut self, time: Time, region: RegionKey) {
        if let Some(at) = self.stack.iter().rposition(|(_, node)| self.tree.step(*node) == region) {
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

    /// Recording is switched off.
    pub fn pause(&mut self, time: Time) {
        self.segment.switches.push((time, false));
    }

    /// Recording is switched on.
    pub fn resume(&mut self, time: Time) {
        self.segment.switches.push((time, true));
    }
}
