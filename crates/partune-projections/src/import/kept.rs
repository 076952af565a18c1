//! What is kept of a log beside visits and rows, until all logs are read.

use std::collections::BTreeSet;

use partune_base::Time;
use partune_import::{Beside, RegionKey};
use partune_trace::{Stream, VisitIx};

use super::messages::{Creation, Receipt};
use super::objects::Objects;
use super::reductions::Asked;

/// What is kept of a log beside visits and rows.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) creations: Vec<Creation>,
    pub(super) receipts: Vec<Receipt>,
    /// Receipts of which it is not known yet what they are of.
    pub(super) results: Vec<Asked>,
    pub(super) objects: Objects,
    /// Regions of numbers that no table has.
    pub(super) unknown: BTreeSet<RegionKey>,
    pub(super) faults: Faults,
    /// What befell the file, if anything did.
    pub(super) ended: Ended,
}

/// What was wrong in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) malformed: u64,
    pub(super) unknown_records: u64,
    pub(super) endless_lines: u64,
    /// Numbers of entry methods, events and statistics that are in no table.
    pub(super) undefined: u64,
    /// Ends of what has not begun.
    pub(super) stray_ends: u64,
    /// What was open when something began that cannot begin inside of it, or when the log ended.
    pub(super) missing_ends: u64,
    /// Events of the user's that overlap others.
    pub(super) crossing: u64,
    /// Messages of a PE that there is none of.
    pub(super) nobody: u64,
    pub(super) far_times: u64,
}

impl Faults {
    pub(super) fn add(&mut self, other: &Faults) {
        let Faults {
            malformed,
            unknown_records,
            endless_lines,
            undefined,
            stray_ends,
            missing_ends,
            crossing,
            nobody,
            far_times,
        } = other;
        self.malformed += malformed;
        self.unknown_records += unknown_records;
        self.endless_lines += endless_lines;
        self.undefined += undefined;
        self.stray_ends += stray_ends;
        self.missing_ends += missing_ends;
        self.crossing += crossing;
        self.nobody += nobody;
        self.far_times += far_times;
    }
}

/// How a log ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// Why it could not be read to its end.
    pub(super) failed: Option<String>,
    /// It is no log.
    pub(super) refused: bool,
    /// Inside of a line, before the computation did, or with fewer records than it says.
    pub(super) early: bool,
    /// Until when it recorded.
    pub(super) last: Option<Time>,
}

impl Beside for Kept {
    fn map_visits(&mut self, map: &dyn Fn(VisitIx) -> VisitIx) {
        let move_to = |visit: &mut VisitIx| {
            if visit.is_some() {
                *visit = map(*visit);
            }
        };
        self.creations.iter_mut().for_each(|it| {
            move_to(&mut it.visit);
            it.woken.iter_mut().for_each(|woken| move_to(&mut woken.0));
        });
        self.receipts.iter_mut().flat_map(|it| &mut it.woken).for_each(|woken| move_to(&mut woken.0));
    }

    /// A log is one segment.
    fn append(&mut self, _: Kept, _: &mut Stream) {}
}
