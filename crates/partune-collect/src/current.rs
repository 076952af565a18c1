//! What a lane knows of the call that it records.

use crate::path::Path;
use crate::paths::SiteId;

/// The call that a lane records, or the last one.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    /// Of its enter, later of its return.
    pub(crate) time: u64,
    /// Where the wrapper's frame is.
    pub(crate) base: usize,
    pub(crate) site: SiteId,
    pub(crate) path: Path,
    pub(crate) is_flat: bool,
    /// Its leave, with the message that it received, is written already or a draft.
    pub(crate) is_left: bool,
    /// It is a poll, and nothing of it is written until it is known whether it found something.
    pub(crate) is_poll: bool,
}

impl Current {
    pub(crate) const NONE: Current = Current::region(0, Path::NONE, true);

    /// A marked region, which has no wrapper.
    pub(crate) const fn region(time: u64, path: Path, is_flat: bool) -> Current {
        Current { time, base: 0, site: SiteId::NONE, path, is_flat, is_left: false, is_poll: false }
    }
}

/// The places that functions of MPI were last called from inside of MPI.
#[derive(Default)]
pub(crate) struct Inner {
    places: [usize; 16],
    next: usize,
}

impl Inner {
    pub(crate) fn has(&self, place: usize) -> bool {
        self.places.contains(&place)
    }

    pub(crate) fn add(&mut self, place: usize) {
        self.places[self.next] = place;
        self.next = (self.next + 1) % self.places.len();
    }
}
