//! A recorded call: from the enter to the leave of a wrapped function.
//!
//! For the wrappers. `enter` before the real function, [`Call::returned`] after it, [`Call::leave`] at last; facts (see [`crate::facts`])
//! are told in between and get the time of the enter or of the return. While a call is open, calls of the same thread are not recorded:
//! what a library does inside is its own business.

use crate::frame::Frame;
use crate::lane::{Keep, Lane};
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

/// A call that is being recorded. What is known of it is in the thread's lane, so that a wrapper passes one word about.
pub struct Call<'a> {
    pub(crate) lane: &'a mut Lane,
}

/// The call that a lane records, or the last one.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    /// Of its enter, later of its return.
    pub(crate) time: u64,
    path: Path,
    is_flat: bool,
    /// Where the wrapper's frame is.
    base: usize,
}

impl Current {
    pub(crate) const NONE: Current = Current { time: 0, path: Path::NONE, is_flat: true, base: 0 };
}

/// Begins to record a call of a construct; `None` if it is not to be recorded: then the real function is all that there is to do.
#[allow(clippy::inline_always, reason = "the hot path of every wrapper")]
#[inline(always)]
pub fn enter(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    let lane = lane()?;
    if (lane.depth != 0 && !is_abandoned(lane, frame)) || process::is_paused() {
        return None;
    }
    lane.depth = 1;
    let is_flat = frame.return_address == 0;
    let path = if is_flat { flat(region) } else { lane.cache.find(frame, region, &lane.stack) };
    lane.current = Current { time: clock::now(), path, is_flat, base: frame.base };
    mark(lane, true);
    Some(Call { lane })
}

/// Whether the open call was left behind: an exception or a long jump took the program out of it, to a caller of its wrapper. Ends it then.
#[cold]
fn is_abandoned(lane: &mut Lane, frame: Frame) -> bool {
    // Stacks grow downwards: what the open call runs lies below its wrapper.
    let is_outside = lane.depth == 1 && lane.current.base != 0 && frame.base > lane.current.base;
    if is_outside {
        lane.current.time = clock::now();
        mark(lane, false);
    }
    is_outside
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
    lane.stack.push(Open { region, path, is_flat, frames });
    lane.current = Current { time: clock::now(), path, is_flat, base: 0 };
    mark(lane, true);
}

/// Ends the innermost marked region, if it is this one; else the inner ones first, if it is among them. Returns whether it was open.
pub fn leave_region(region: &'static Region) -> bool {
    let Some(lane) = lane() else { return true };
    if lane.depth != 0 || process::is_paused() {
        return true;
    }
    let Some(at) = lane.stack.find(region) else { return false };
    let time = clock::now();
    while lane.stack.len() > at {
        let Some(open) = lane.stack.pop() else { break };
        lane.current = Current { time, path: open.path, is_flat: open.is_flat, base: 0 };
        mark(lane, false);
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

impl Call<'_> {
    /// The same call, for somebody who tells facts: a word again, and not the place where this one is kept.
    #[allow(clippy::inline_always, reason = "nothing")]
    #[inline(always)]
    pub fn again(&mut self) -> Call<'_> {
        Call { lane: &mut *self.lane }
    }

    /// The real function has returned: what is told from here on happened now.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn returned(&mut self) {
        self.lane.current.time = clock::now();
    }

    /// Ends the call, at the time of [`Call::returned`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn leave(self) {
        mark(self.lane, false);
        self.lane.depth = 0;
    }

    /// A number that no other request, operation or file access of this process has.
    pub fn next_id(&mut self) -> u64 {
        self.lane.next_id()
    }
}

/// Writes that the lane's current call begins, or ends.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn mark(lane: &mut Lane, enter: bool) {
    match lane.keep {
        Keep::Events => write(lane, enter),
        Keep::EventsAndCounters(_) | Keep::Statistics(_) => mark_with_more(lane, enter),
    }
}

#[inline(never)]
fn mark_with_more(lane: &mut Lane, enter: bool) {
    let Current { time, path, is_flat, .. } = lane.current;
    match &mut lane.keep {
        Keep::Statistics(profile) if enter => profile.enter(path, time, is_flat),
        Keep::Statistics(profile) => profile.leave(path, time),
        // Counters are read on the inner side.
        Keep::Events | Keep::EventsAndCounters(_) if enter => {
            write(lane, enter);
            facts::counters(lane, time);
        }
        Keep::Events | Keep::EventsAndCounters(_) => {
            facts::counters(lane, time);
            write(lane, enter);
        }
    }
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn write(lane: &mut Lane, enter: bool) {
    let Current { time, path: Path(path), is_flat, .. } = lane.current;
    if is_flat {
        let at = lane.room(time);
        lane.append(at.byte(if enter { ENTER } else { LEAVE }).c32(path));
    } else if enter {
        let record = lane.room(time).record(CONTEXT_ENTER);
        lane.append(record.end(record.data().c32(path).c32(UNWOUND)));
    } else {
        let record = lane.room(time).record(CONTEXT_LEAVE);
        lane.append(record.end(record.data().c32(path)));
    }
}
