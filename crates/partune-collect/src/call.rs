//! A recorded call: from the enter to the leave of a wrapped function.
//!
//! For the wrappers. `enter` before the real function, [`Call::returned`] after it, [`Call::leave`] at last; facts (see [`crate::facts`])
//! are told in between and get the time of the enter or of the return. While a call is open, calls of the same thread are not recorded:
//! what a library does inside is its own business.

use crate::draft::Half;
use crate::encode::Message;
use crate::frame::Frame;
use crate::lane::{Keep, Lane};
use crate::paths::{self, Path, SiteId};
use crate::process::{self, lane};
use crate::region::Region;
use crate::stack::Open;
use crate::{clock, facts};

/// A call that is being recorded. What is known of it is in the thread's lane, so that a wrapper passes one word about.
pub struct Call<'a> {
    pub(crate) lane: &'a mut Lane,
}

/// The call that a lane records, or the last one.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    /// Of its enter, later of its return.
    pub(crate) time: u64,
    pub(crate) path: Path,
    pub(crate) is_flat: bool,
    state: State,
    /// Where the wrapper's frame is.
    base: usize,
    site: SiteId,
}

/// What is written of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// What is known.
    Written,
    /// Nothing yet.
    Late,
    /// Nothing yet; its enter is a draft, with the message that it sends.
    LateSent,
    /// All but its leave, which is or was a draft, with the message that it received.
    Left,
}

impl Current {
    pub(crate) const NONE: Current = Current::region(0, Path::NONE, true);

    /// A marked region, which has no wrapper.
    const fn region(time: u64, path: Path, is_flat: bool) -> Current {
        Current { time, path, is_flat, state: State::Written, base: 0, site: SiteId::NONE }
    }
}

/// Begins to record a call of a construct; `None` if it is not to be recorded: then the real function is all that there is to do.
#[allow(clippy::inline_always, reason = "the hot path of every wrapper")]
#[inline(always)]
pub fn enter(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    let lane = lane()?;
    if !is_free(lane, frame) {
        return None;
    }
    settle(lane);
    Some(begin(lane, region, frame))
}

/// As [`enter`], for a call that sends a message and does little else before: as far as it can be, it is written when the real function
/// has returned, see [`crate::draft`].
#[allow(clippy::inline_always, reason = "the hot path of messages")]
#[inline(always)]
pub fn enter_late(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    let lane = lane()?;
    if !is_free(lane, frame) {
        return None;
    }
    let known = if lane.can_draft() { lane.sites.known(frame, region, &lane.stack) } else { None };
    let Some((site, path)) = known else {
        settle(lane);
        return Some(begin(lane, region, frame));
    };
    lane.depth = 1;
    lane.current = Current { time: clock::now(), path, is_flat: false, state: State::Late, base: frame.base, site };
    Some(Call { lane })
}

/// Whether a call can begin: none is open, and the program did not ask for silence.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn is_free(lane: &mut Lane, frame: Frame) -> bool {
    (lane.depth == 0 || is_abandoned(lane, frame)) && !process::is_paused()
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn begin(lane: &'static mut Lane, region: &'static Region, frame: Frame) -> Call<'static> {
    lane.depth = 1;
    let (site, path, is_flat) = find(lane, region, frame);
    lane.current = Current { time: clock::now(), path, is_flat, state: State::Written, base: frame.base, site };
    mark(lane, true);
    Call { lane }
}

/// Where a construct is called from: its site, its path, and whether that is flat.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn find(lane: &mut Lane, region: &'static Region, frame: Frame) -> (SiteId, Path, bool) {
    if frame.return_address == 0 {
        return (SiteId::NONE, flat(region), true);
    }
    let (site, path) = lane.sites.find(frame, region, &lane.stack);
    (site, path, false)
}

/// Writes what could wait, before anything else is written.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn settle(lane: &mut Lane) {
    if lane.has_drafts() || lane.current.state == State::Late {
        settle_now(lane);
    }
}

#[inline(never)]
fn settle_now(lane: &mut Lane) {
    let state = std::mem::replace(&mut lane.current.state, State::Written);
    lane.write_drafts();
    match state {
        State::Late => mark(lane, true),
        State::Left => lane.current.state = State::Left,
        State::LateSent | State::Written => {}
    }
}

/// Whether the open call was left behind: an exception or a long jump took the program out of it, to a caller of its wrapper. Ends it then.
#[cold]
fn is_abandoned(lane: &mut Lane, frame: Frame) -> bool {
    let base = lane.current.base;
    // Stacks grow downwards: what the open call runs lies below its wrapper.
    let is_outside = lane.depth == 1 && base != 0 && frame.base > base;
    if is_outside {
        settle(lane);
        lane.current.time = clock::now();
        mark(lane, false);
    }
    is_outside
}

/// Runs something of which nothing is recorded: the recorder's own communication.
pub fn suspend<T>(act: impl FnOnce() -> T) -> T {
    let Some(lane) = lane() else { return act() };
    settle(lane);
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
    settle(lane);
    // Regions are flat where calls are: OTF2 does not mix both kinds of events.
    let (site, path, is_flat) = find(lane, region, frame);
    let frames = lane.sites.frames(site);
    lane.stack.push(Open { region, path, is_flat, frames });
    lane.current = Current::region(clock::now(), path, is_flat);
    mark(lane, true);
}

/// Ends the innermost marked region, if it is this one; else the inner ones first, if it is among them. Returns whether it was open.
pub fn leave_region(region: &'static Region) -> bool {
    let Some(lane) = lane() else { return true };
    if lane.depth != 0 || process::is_paused() {
        return true;
    }
    let Some(at) = lane.stack.find(region) else { return false };
    settle(lane);
    let time = clock::now();
    while lane.stack.len() > at {
        let Some(open) = lane.stack.pop() else { break };
        lane.current = Current::region(time, open.path, open.is_flat);
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
        let time = clock::now();
        if matches!(self.lane.current.state, State::Late | State::LateSent) {
            settle_now(self.lane);
        }
        self.lane.current.time = time;
    }

    /// Ends the call, at the time of [`Call::returned`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn leave(self) {
        if self.lane.current.state != State::Left {
            mark(self.lane, false);
        }
        self.lane.depth = 0;
    }

    /// A message that leaves now, before the real function is called.
    #[allow(clippy::inline_always, reason = "the hot path of messages")]
    #[inline(always)]
    pub fn send(&mut self, message: Message) {
        if self.lane.current.state == State::Late {
            self.lane.draft(Half::Sent, message);
            self.lane.current.state = State::LateSent;
        } else {
            self.sent(message);
        }
    }

    /// The message that this call received, if nothing else will be told of it.
    #[allow(clippy::inline_always, reason = "the hot path of messages")]
    #[inline(always)]
    pub fn recv_at_last(&mut self, message: Message) {
        if self.lane.can_draft() {
            self.lane.draft(Half::Received, message);
            self.lane.current.state = State::Left;
        } else {
            self.recv(message);
        }
    }

    /// What two handles mean, asked for if they are not those of the last call from the same place. A new `generation` makes void what
    /// is known.
    #[allow(clippy::inline_always, reason = "the hot path of messages")]
    #[inline(always)]
    pub fn meaning(
        &mut self,
        handles: [usize; 2],
        generation: u64,
        ask: impl FnOnce() -> Option<[u64; 2]>,
    ) -> Option<[u64; 2]> {
        self.lane.sites.meaning(self.lane.current.site, handles, generation, ask)
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
    let at = lane.room(time);
    lane.append(if enter { at.enter(path, is_flat) } else { at.leave(path, is_flat) });
}
