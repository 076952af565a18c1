//! A run as front ends see it: facts, names of places, visits, waits, transfers, pictures. Rows are plain values; what they are made from stays
//! in here.
//!
//! What a front end asks for is answered when it asks. What many answers are made from (sums of call paths, levels of detail) is made once,
//! when it is first needed, and kept; see [`Run::prepare`].

mod arrays;
mod beside;
mod code;
mod doing;
mod facts;
mod measured;
mod parts;
mod pictures;
mod search;
mod source_lines;
mod transfers;
mod visits;
mod waits;

use partune_analysis::{Input, Options, Shared as Asked, Waits};
use partune_base::{Clock, PeId, Span, Time};
use partune_index::Index;
use partune_index::clock_repair::Repair;
use partune_picture::Sketch;
use partune_trace::Trace;

pub use arrays::{Distributed, Shared};
pub use beside::InBoth;
pub use code::{Frame, Location, Region, Site};
pub use doing::{Doing, Meeting, Passed, Way};
pub use facts::{Clocks, Counts, Group, Matched, Metric, Pe, Process, Provenance};
pub use measured::{Amount, Amounts, Measure};
pub use source_lines::LineCost;
pub use transfers::{Collective, Member, Transfer, TransferKind};
pub use visits::{Operation, Sample, Visit};
pub use waits::Wait;

use pictures::Made;
pub use pictures::{Blocks, Selected};

/// What was recorded of a run, with what belongs together in it and who waited for whom. Times are of one clock, [`Run::clock`].
pub struct Run {
    pub(crate) trace: Trace,
    pub(crate) index: Index,
    pub(crate) waits: Waits,
    pub(crate) repair: Repair,
    /// What is asked after the analyses, as far as somebody asked.
    asked: Box<Asked>,
    /// What pictures show where there are no events, since it was looked at in slices.
    sketch: Option<Sketch>,
    matched: Matched,
    active: Vec<PeId>,
    made: Made,
}

impl Run {
    pub(crate) fn new(
        (trace, index, waits): (Trace, Index, Waits),
        shared: Option<Asked>,
        sketch: Option<Sketch>,
        (repair, matched): (Repair, Matched),
    ) -> Run {
        let active = trace.active_pes().collect();
        Run {
            trace,
            index,
            waits,
            repair,
            asked: Box::new(shared.map(|asked| asked.for_later(sketch.is_some())).unwrap_or_default()),
            sketch,
            matched,
            active,
            made: Made::default(),
        }
    }

    /// As comparisons take it. The options are those that it was analysed with.
    pub(crate) fn input<'a>(&'a self, options: &'a Options) -> Input<'a> {
        Input { trace: &self.trace, index: &self.index, waits: &self.waits, options, shared: &self.asked }
    }

    /// An answer to what analyses ask.
    fn known<T>(&self, answer: impl FnOnce(&Input<'_>) -> T) -> T {
        answer(&self.input(&Options::default()))
    }

    /// Whether single events are known: visits, waits, messages. Else it is a profile, or was looked at in slices.
    pub fn has_events(&self) -> bool {
        !self.is_profile() && !self.is_in_slices()
    }

    /// Whether it was looked at in slices, of which sums are known.
    pub fn is_in_slices(&self) -> bool {
        self.trace.summed().is_some()
    }

    pub fn clock(&self) -> Clock {
        self.trace.clock()
    }

    pub fn seconds(&self, span: Span) -> f64 {
        self.trace.clock().seconds(span)
    }

    /// Seconds since the first event; of a piece since that of the whole run.
    pub fn since_origin(&self, time: Time) -> f64 {
        self.seconds(time - self.trace.origin())
    }

    /// When it begins, or the piece of it that is looked at.
    pub fn begin(&self) -> Time {
        self.trace.begin()
    }

    pub fn end(&self) -> Time {
        self.trace.end()
    }

    pub fn duration(&self) -> Span {
        self.trace.duration()
    }

    /// The PEs that recorded something, sources of metrics excepted, in order.
    pub fn active_pes(&self) -> &[PeId] {
        &self.active
    }

    /// What measured and ran no code: sensors of a node or of a device.
    pub fn metric_sources(&self) -> impl Iterator<Item = PeId> + '_ {
        let measured = self.trace.streams().iter_ids().filter(|(_, stream)| !stream.metrics.is_empty());
        measured.map(|(pe, _)| pe).filter(|pe| self.active.binary_search(pe).is_err())
    }
}
