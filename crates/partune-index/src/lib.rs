//! What is derived once from a trace, for all analyses: who talked to whom, who acted together, who held what.
//!
//! Each module reads the sealed [`Trace`] and makes one part of the [`Index`]. Parts hold positions (PE, visit, row), never
//! copies of facts. What could not be matched is counted and reported as a diagnostic; nothing is guessed: where an archive does
//! not say who belongs together, the operations themselves must prove it (teams, barriers without a group), and times of
//! different processes may be compared only if [`Index::clocks`] says that their clocks are aligned.

mod apart;
mod blocks;
pub mod clock_repair;
mod collectives;
mod creations;
mod endpoints;
mod locks;
mod messages;
mod piece;
mod polls;
mod requests;
mod rma;
mod scan;
mod stretches;
mod teams;
mod ties;
mod unseen;

use partune_base::{PeId, Time};
use partune_diag::Quality;
use partune_trace::{Trace, VisitIx};

pub use blocks::{Block, Blocks};
pub use clock_repair::ClockQuality;
pub use collectives::{Collectives, Instance, Member};
pub use creations::{Creation, creations};
pub use locks::{Grant, Locks, handed_on};
pub use messages::{Message, Messages};
pub use piece::{Moves, cut};
pub use polls::Polls;
pub use rma::{EpochEnd, RmaIndex, Transfer, ValueWait};
pub use teams::{Fork, Teams};
pub use ties::{Binding, End, Gift, Part, Programs, TieKind, Ties, Turns, later};
pub use unseen::shares_unseen;

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
    pub polls: Polls,
    /// Whether times of different processes can be compared.
    pub clocks: ClockQuality,
    /// What could not be matched.
    pub quality: Quality,
}

impl Index {
    /// Builds all parts. Cost: linear in operations and rows, but for sorting what is out of order (grants, accesses and instances
    /// by time, messages between two PEs whose tags are mixed); about 30 ns an event of a dense exchange on one core. Memory:
    /// stated at each part. The result does not depend on the number of threads.
    pub fn build(trace: &Trace) -> Index {
        let endpoints = endpoints::Endpoints::new(trace);
        let scans = scan::Scan::all(trace);
        let stretches = stretches::Stretches::of(trace);
        let stretches = stretches.as_ref();
        // Each has steps that one thread does.
        let (messages, (teams, collectives, (locks, rma))) = rayon::join(
            || noting(|quality| Messages::build(trace, &endpoints, stretches, quality)),
            || {
                let teams = noting(|quality| Teams::build(trace, quality));
                let build = |quality: &mut Quality| {
                    Collectives::build(trace, &endpoints, &teams.0, (&scans, stretches), quality)
                };
                let (collectives, others) = rayon::join(
                    || noting(build),
                    || {
                        let locks = noting(|quality| Locks::build(trace, quality));
                        (locks, noting(|quality| RmaIndex::build(trace, &scans, quality)))
                    },
                );
                (teams, collectives, others)
            },
        );
        let mut quality = messages.1;
        apart::report(trace, &mut quality);
        [teams.1, collectives.1, locks.1, rma.1].into_iter().for_each(|noted| quality.merge(noted));
        if trace.is_partial() || trace.was_off() {
            quality.expect_parts(
                "the others may be calls that were left out of the recording, or made while it was switched off",
            );
        } else if trace.begins_late() {
            quality.expect_parts(
                "the others were made before the first event that was kept, or had not ended with the last one",
            );
        }
        let (messages, teams, collectives, locks, rma) = (messages.0, teams.0, collectives.0, locks.0, rma.0);
        let (polls, (blocks, clocks)) = rayon::join(
            || Polls::build(trace),
            || {
                rayon::join(
                    || Blocks::build(trace, &collectives),
                    || clock_repair::quality(trace, &messages, &collectives, &rma.epoch_ends),
                )
            },
        );
        Index { messages, collectives, locks, rma, teams, blocks, polls, clocks, quality }
    }
}

/// A part, and what was noticed while it was made.
fn noting<T>(make: impl FnOnce(&mut Quality) -> T) -> (T, Quality) {
    let mut quality = Quality::default();
    let made = make(&mut quality);
    (made, quality)
}
