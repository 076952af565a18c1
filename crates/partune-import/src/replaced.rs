//! Visits in the place of those that were recorded: where functions have no events of their own, a source knows them from the callers of operations,
//! and puts their visits around the recorded ones.

use partune_base::{CallPathId, RegionId, Time};
use partune_trace::{CallSite, Visit, VisitIx, Visits};
use rustc_hash::FxHashMap;

/// A path of a PE: parent (a position in the same list, smaller), region, and where it is called.
pub type PePath = (Option<u32>, RegionId, CallSite);

/// A visit as events have it.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    pub enter: Time,
    pub exit: Time,
    pub region: RegionId,
    /// Number of recorded visits around it.
    pub depth: u32,
}

/// The recorded visits of a PE with those of functions, in order of their enters.
#[derive(Default)]
pub struct Replaced {
    /// Their paths are positions in `paths`.
    pub(crate) visits: Visits,
    pub(crate) paths: Vec<PePath>,
    /// Of each path, whether one of its visits was recorded.
    pub(crate) is_recorded: Vec<bool>,
    /// Where each recorded visit went.
    pub(crate) moved: Vec<VisitIx>,
    /// Those that go on where these end, outermost first.
    pub(crate) open: Vec<VisitIx>,
    known: FxHashMap<PePath, u32>,
}

/// No more visits than their numbers can count; beyond them functions are left out.
const MOST: usize = (1 << 31) - 1;

impl Replaced {
    /// Whether so many functions more can be numbered.
    pub fn has_room(&self, functions: usize) -> bool {
        self.visits.len() + functions < MOST
    }

    /// Adds a recorded visit; returns its path.
    pub fn recorded(&mut self, visit: &Recorded, parent: Option<u32>, site: CallSite) -> u32 {
        let path = self.path((parent, visit.region, site));
        self.is_recorded[path as usize] = true;
        let moved = self.visits.push(Visit { enter: visit.enter, exit: visit.exit, path: CallPathId(path) });
        self.moved.push(moved);
        path
    }

    /// A visit of this path was recorded, if not as it is now.
    pub(crate) fn mark_recorded(&mut self, path: u32) {
        self.is_recorded[path as usize] = true;
    }

    /// Enters a function; returns its visit and path.
    pub fn enter(&mut self, time: Time, path: PePath) -> (VisitIx, u32) {
        let path = self.path(path);
        (self.visits.push(Visit { enter: time, exit: time, path: CallPathId(path) }), path)
    }

    /// Leaves a function.
    pub fn leave(&mut self, function: VisitIx, time: Time) {
        self.visits.exit[function.index()] = time;
    }

    /// These functions, outermost first, are not over where the visits end: what comes next is in another slice.
    pub fn go_on(&mut self, open: Vec<VisitIx>) {
        self.open = open;
    }

    fn path(&mut self, path: PePath) -> u32 {
        let (paths, is_recorded) = (&mut self.paths, &mut self.is_recorded);
        *self.known.entry(path).or_insert_with(|| {
            paths.push(path);
            is_recorded.push(false);
            paths.len() as u32 - 1
        })
    }
}
