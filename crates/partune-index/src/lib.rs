//! What is derived once from a trace, for all analyses: who talked to whom, who acted together, who held what.
//!
//! Each module reads the sealed [`Trace`] and makes one part of the [`Index`]. Parts hold positions (PE, visit, row), never
//! copies of facts. What could not be matched is counted and reported as a diagnostic; nothing is guessed: where an archive does
//! not say who belongs together, the operations themselves must prove it (teams, barriers without a group), and times of
//! different processes may be compared only if [`Index::clocks`] says that their clocks are aligned.

mod blocks;
pub mod clock_repair;
mod collectives;
mod endpoints;
mod locks;
mod messages;
mod piece;
mod requests;
mod rma;
mod scan;
mod teams;
mod ties;

use std::sync::OnceLock;

use partune_base::{PeId, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};

pub use blocks::{Block, Blocks};
pub use clock_repair::ClockQuality;
pub use collectives::{Collectives, Instance, Member};
pub use locks::{Grant, Locks};
pub use messages::{Message, Messages};
pub use piece::{Moves, cut};
pub use rma::{EpochEnd, RmaIndex, Transfer, ValueWait};
pub use teams::{Fork, Teams};
pub use ties::{Binding, End, Gift, Part, TieKind, Ties};

/// A place in a trace: an operation, or another visit, of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub pe: PeId,
    pub visit: VisitIx,
}

impl Place {
    pub const NONE: Place = Place { pe: PeId::NONE, visit: VisitIx::NONE };

    pub fn is_some(self) -> bool {
        self.pe.is_some() && self.visit.is_some()
    }

    pub fn enter(self, trace: &Trace) -> Time {
        trace.streams()[self.pe].visits.enter[self.visit.index()]
    }

    pub fn exit(self, trace: &Trace) -> Time {
        trace.streams()[self.pe].visits.exit[self.visit.index()]
    }
}

/// Everything derived from a trace.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub messages: Messages,
    pub collectives: Collectives,
    pub locks: Locks,
    pub rma: RmaIndex,
    pub teams: Teams,
    pub blocks: Blocks,
    /// Whether times of different processes can be compared.
    pub clocks: ClockQuality,
    /// What could not be matched.
    pub quality: Quality,
    ties: OnceLock<Ties>,
}

impl Index {
    /// Builds all parts. Cost: linear in operations and rows, but for sorting what is out of order (grants, accesses and instances
    /// by time, messages between two PEs whose tags are mixed); about 30 ns an event of a dense exchange on one core. Memory:
    /// stated at each part. The result does not depend on the number of threads.
    pub fn build(trace: &Trace) -> Index {
        let mut quality = Quality::default();
        let endpoints = endpoints::Endpoints::new(trace);
        let scans = scan::Scan::all(trace);
        let messages = Messages::build(trace, &endpoints, &mut quality);
        let teams = Teams::build(trace, &mut quality);
        let collectives = Collectives::build(trace, &endpoints, &teams, &scans, &mut quality);
        let locks = Locks::build(trace, &mut quality);
        let rma = RmaIndex::build(trace, &scans, &mut quality);
        let blocks = Blocks::build(trace, &collectives);
        let clocks = clock_repair::quality(trace, &messages, &collectives, &rma.epoch_ends);
        Index { messages, collectives, locks, rma, teams, blocks, clocks, quality, ties: OnceLock::new() }
    }

    /// Who gave what to whom; made when it is first asked for. `trace` is the one that this was built from.
    pub fn ties(&self, trace: &Trace) -> &Ties {
        self.ties.get_or_init(|| Ties::build(trace, self))
    }

    /// Gives back the memory of what can be made again.
    pub fn forget(&mut self) {
        self.ties.take();
    }
}
