//! A recorded call: from the enter to the leave of a wrapped function.
//!
//! For the wrappers. `enter` before the real function, [`Call::returned`] after it, [`Call::leave`] at last; facts (see [`crate::facts`])
//! are told in between and get the time of the enter or of the return. While a call is open, calls of the same thread are not recorded:
//! what a library does inside is its own business.

use crate::encode::At;
use crate::frame::Frame;
use crate::lane::Lane;
use crate::paths::{self, Path};
use crate::process::{self, lane};
use crate::region::Region;
use crate::stack::Open;
use crate::{clock, facts};

const ENTER: u8 = 12;
const LEAVE: u8 = 13;
const CONTEXT_ENTER: u8 = 66;
const CONTEXT_LEAVE: u8 = 67;
/// The frame that is entered is new; whether its callers are is not known.
const UNWOUND: u32 = 1;

/// A call that is being recorded.
pub struct Call {
    pub(crate) lane: &'static mut Lane,
    pub(crate) time: u64,
    path: Path,
    is_flat: bool,
}

/// Begins to record a call of a construct; `None` if it is not to be recorded: then the real function is all that there is to do.
#[allow(clippy::inline_always, reason = "the hot path of every wrapper")]
#[inline(always)]
pub fn enter(region: &'static Region, frame: Frame) -> Option<Call> {
    let lane = lane()?;
    if lane.depth != 0 || process::is_paused() {
        return None;
    }
    lane.depth = 1;
    let is_flat = frame.return_address == 0;
    let path = if is_flat { flat(region) } else { lane.cache.find(frame, region, &lane.stack) };
    let time = clock::now();
    let mut call = Call { lane, time, path, is_flat };
    call.mark(true);
    Some(call)
}

/// Runs something of which nothing is recorded: the recorder's own communication.
pub fn suspend<T>(act: impl FnOnce() -> T) -> T {
    let Some(lane) = lane() else { return act() };
    lane.depth += 1;
    let result = act();
    if let Some(lane) = process::lane() {
        lane.depth -= 1;
    }
    result
}

/// Begins a marked region of the program.
pub fn enter_region(region: &'static Region, frame: Frame) {
    let Some(lane) = lane() else { return };
    if lane.depth != 0 || process::is_paused() {
        return;
    }
    // Regions are flat where calls are: OTF2 does not mix both kinds of events.
    let is_flat = frame.return_address == 0;
    let path = if is_flat { flat(region) } else { lane.cache.find(frame, region, &lane.stack) };
    let frames = lane.cache.frames(frame, region);
    lane.stack.0.push(Open { region, path, is_flat, frames });
    let time = clock::now();
    Call { lane, time, path, is_flat }.mark(true);
}

/// Ends the innermost marked region, if it is this one; else the inner ones first, if it is among them. Returns whether it was open.
pub fn leave_region(region: &'static Region) -> bool {
    let Some(lane) = lane() else { return true };
    if lane.depth != 0 || process::is_paused() {
        return true;
    }
    let Some(at) = lane.stack.0.iter().rposition(|open| std::ptr::eq(open.region, region)) else { return false };
    let time = clock::now();
    while lane.stack.0.len() > at {
        let Some(open) = lane.stack.0.pop() else { break };
        let Some(lane) = process::lane() else { break };
        Call { lane, time, path: open.path, is_flat: open.is_flat }.mark(false);
    }
    true
}

/// Paths of constructs without frames, by address: recording without call paths must not pay for the tree.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn flat(region: &'static Region) -> Path {
    region.flat().unwrap_or_else(|| {
        let path = paths::flat(region);
        region.set_flat(path);
        path
    })
}

impl Call {
    /// The real function has returned: what is told from here on happened now.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn returned(&mut self) {
        self.time = clock::now();
    }

    /// Ends the call, at the time of [`Call::returned`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn leave(mut self) {
        self.mark(false);
        self.lane.depth = 0;
    }

    /// A number that no other request, operation or file access of this process has.
    pub fn next_id(&mut self) -> u64 {
        self.lane.next_id()
    }

    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn mark(&mut self, enter: bool) {
        if self.lane.profile.is_some() {
            return self.count(enter);
        }
        if !enter && self.lane.counters.is_some() {
            facts::counters(self.lane, self.time);
        }
        let path = self.path.0;
        if self.is_flat {
            let kind = if enter { ENTER } else { LEAVE };
            self.lane.event(self.time, |at: At| at.byte(kind).c32(path));
        } else if enter {
            self.lane.event(self.time, |at: At| at.record(CONTEXT_ENTER, |at| at.c32(path).c32(UNWOUND)));
        } else {
            self.lane.event(self.time, |at: At| at.record(CONTEXT_LEAVE, |at| at.c32(path)));
        }
        if enter && self.lane.counters.is_some() {
            facts::counters(self.lane, self.time);
        }
    }

    #[inline(never)]
    fn count(&mut self, enter: bool) {
        if let Some(profile) = &mut self.lane.profile {
            if enter { profile.enter(self.path, self.time, self.is_flat) } else { profile.leave(self.path, self.time) }
        }
    }
}
