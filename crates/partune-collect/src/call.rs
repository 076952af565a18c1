//! A recorded call: from the enter to the leave of a wrapped function.
//!
//! For the wrappers. `enter` before the real function, [`Call::returned`] after it, [`Call::leave`] at last; facts (see [`crate::facts`])
//! are told in between and get the time of the enter or of the return. While a call is open, calls of the same thread are not recorded:
//! what a library does inside is its own business.

use std::hint::cold_path;
use std::marker::PhantomData;

use crate::current::Current;
use crate::frame::Frame;
use crate::lane::{Keep, Lane};
use crate::path::Path;
use crate::paths::{self, SiteId};
use crate::process::{self, OwnLane, lane};
use crate::records;
use crate::region::Region;
use crate::stack::Open;
use crate::state::is_paused;
use partune_parts::clock;
use partune_parts::draft::{Draft, Half};
use partune_parts::encode::Message;
#[cfg(doc)]
use partune_parts::layout::ANYBODY;
use partune_parts::layout::AwaitedThread;

/// A call that is being recorded. What is known of it is in the thread's lane, so that a wrapper passes one word about.
pub struct Call<'a> {
    pub(crate) lane: OwnLane,
    /// Whoever tells facts has the call to itself.
    of: PhantomData<&'a mut Lane>,
}

/// Begins to record a call of a construct; `None` if it is not to be recorded: then the real function is all that there is to do.
#[inline]
pub fn enter(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    enter_after(region, frame, |_| {})
}

/// The same, with something done to the lane just before.
#[allow(clippy::inline_always, reason = "part of `enter`")]
#[inline(always)]
fn enter_after(region: &'static Region, frame: Frame, prepare: impl FnOnce(&mut Lane)) -> Option<Call<'static>> {
    if region.is_left_out() {
        return None;
    }
    let mut own = lane()?;
    if !is_free(&mut own, frame) {
        return None;
    }
    let lane = &mut *own;
    let (site, path, is_flat) = find(lane, region, frame);
    lane.attention.set_calls(1);
    lane.current =
        Current { time: clock::now(), base: frame.base, site, path, is_flat, is_left: false, is_poll: false };
    prepare(lane);
    mark(lane, true);
    Some(Call::of(own))
}

/// The same of a construct that the program does not call by itself: it is directly inside of the innermost region.
pub fn enter_inside(region: &'static Region) -> Option<Call<'static>> {
    if region.is_left_out() {
        return None;
    }
    let mut own = lane()?;
    if !is_free(&mut own, Frame::NONE) {
        return None;
    }
    let lane = &mut *own;
    let (_, path, is_flat) = find(lane, region, Frame::NONE);
    lane.attention.set_calls(1);
    lane.current = Current::region(clock::now(), path, is_flat);
    mark(lane, true);
    Some(Call::of(own))
}

/// The same of a call that may turn out not to be worth a record: then [`Call::withdraw`] ends it.
pub fn enter_tentatively(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    enter_after(region, frame, |lane| {
        lane.settle();
        lane.tell_next();
    })
}

/// The same of a poll: a call that looks whether something has come and returns in any case. Say with [`Call::found`] or
/// [`Call::found_nothing`] what came of it, and what else is to be told only then.
pub fn enter_poll(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    if region.is_left_out() {
        return None;
    }
    let mut own = lane()?;
    let lane = &mut *own;
    if !lane.can_join_polls() {
        return enter(region, frame);
    }
    if lane.attention.samples_wait() && lane.attention.calls() == 0 {
        records::drop_samples_of_polls(lane);
    }
    if !is_free(&mut own, frame) {
        return None;
    }
    let lane = &mut *own;
    let (site, path, is_flat) = find(lane, region, frame);
    lane.attention.set_calls(1);
    lane.begin_poll(Current { site, base: frame.base, ..Current::region(clock::now(), path, is_flat) });
    Some(Call::of(own))
}

/// A call that is not begun yet, from a place that the thread knows. All that is left to do is a few instructions.
pub struct Known {
    lane: OwnLane,
    base: usize,
    site: SiteId,
    path: Path,
    /// Of the handles that were given.
    pub meaning: [u64; 2],
}

/// Recognises a call from a place that was called from before. `handles` are two whose meaning must be known, and the generation of
/// meanings: they must be those of the last call from there. Otherwise nothing has happened: [`enter`] finds out what is to be done.
#[allow(clippy::inline_always, reason = "the hot path of messages")]
#[inline(always)]
pub fn known(region: &'static Region, frame: Frame, handles: Option<([usize; 2], u64)>) -> Option<Known> {
    let mut own = process::made_lane()?;
    if is_paused() || !own.attention.is_free() {
        cold_path();
        return None;
    }
    let lane = &mut *own;
    let (id, site) = lane.sites.known(frame, region, &lane.stack)?;
    let meaning = match handles {
        Some((handles, generation)) => site.meaning(handles, generation)?,
        None => [0; 2],
    };
    let path = site.path;
    Some(Known { lane: own, base: frame.base, site: id, path, meaning })
}

impl Known {
    /// Begins to record it.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn enter(self) -> Call<'static> {
        let mut call = self.begin(clock::now());
        mark(&mut call.lane, true);
        call
    }

    /// Begins to record a poll, see [`enter_poll`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn enter_poll(self) -> Call<'static> {
        if !self.lane.can_join_polls() {
            cold_path();
            return self.enter();
        }
        let mut call = self.begin(clock::now());
        let current = call.lane.current;
        call.lane.begin_poll(current);
        call
    }

    /// Begins to record a call that sends a message and tells no more than that it received one. Both are written when the real function has
    /// returned, if that is possible, see [`crate::draft`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn enter_sending(mut self, message: Message) -> Call<'static> {
        if !self.lane.can_draft() {
            cold_path();
            let mut call = self.enter();
            call.sent(message);
            return call;
        }
        let (time, path) = (clock::now(), self.path.0);
        self.lane.draft(Half::Sent, Draft { time, path, message }, false);
        self.begin(time)
    }

    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    fn begin(self, time: u64) -> Call<'static> {
        let Known { mut lane, base, site, path, .. } = self;
        lane.attention.set_calls(1);
        lane.current = Current { time, base, site, path, is_flat: false, is_left: false, is_poll: false };
        Call::of(lane)
    }
}

/// Whether a call can begin: none is open, and the program did not ask for silence.
#[inline]
pub(crate) fn is_free(own: &mut OwnLane, frame: Frame) -> bool {
    if is_paused() {
        return false;
    }
    let lane = &mut **own;
    let is_free = lane.attention.calls() == 0 || is_abandoned(lane, frame);
    if is_free && !lane.attention.is_free() {
        records::samples(lane);
    }
    is_free
}

/// Where a construct is called from: its site, its path, and whether that is flat.
#[inline]
pub(crate) fn find(lane: &mut Lane, region: &'static Region, frame: Frame) -> (SiteId, Path, bool) {
    if frame.return_address == 0 {
        // Where others have frames it is directly inside of the innermost region.
        let is_flat = lane.stack.is_flat();
        let path = if is_flat { flat(region) } else { lane.sites.inside(lane.stack.key, region) };
        return (SiteId::NONE, path, is_flat);
    }
    let (site, path) = lane.sites.find(frame, region, &lane.stack);
    (site, path, false)
}

/// Whether the open call was left behind: an exception or a long jump took the program out of it. Ends it then; what it sends was not sent.
#[cold]
fn is_abandoned(lane: &mut Lane, frame: Frame) -> bool {
    let base = lane.current.base;
    // Stacks grow downwards: what the open call runs lies below its wrapper, whose own place nobody else can have.
    let is_outside = lane.attention.calls() == 1 && base != 0 && (frame.base >= base || !is_inside(lane, frame));
    if is_outside && !lane.current.is_left {
        lane.retract();
        lane.current.time = clock::now();
        mark(lane, false);
    }
    is_outside
}

/// Whether a call that comes from below the open one is made by it, and not by the program, which came to lie deeper after it had left
/// the open one. The walker finds the open one's wrapper, or nothing in its place; where it is lost, the call counts as one from inside.
/// Places in a library that were seen to be inside are known from then on.
fn is_inside(lane: &mut Lane, frame: Frame) -> bool {
    if lane.inner.has(frame.return_address) {
        return true;
    }
    let is_inside = lane.sites.passes(lane.current.site, lane.current.base, frame) != Some(false);
    if is_inside {
        lane.inner.add(frame.return_address);
    }
    is_inside
}

/// Whether the calling thread is in a call.
#[inline]
pub fn is_in_call() -> bool {
    process::made_lane().is_some_and(|lane| lane.attention.calls() > 0)
}

/// Whether the calling thread has a lane. What a library makes for itself has none.
pub fn is_recorded_thread() -> bool {
    process::made_lane().is_some()
}

/// The call that the calling thread is in, for those who cannot keep it until it ends. They know that they began one.
#[inline]
pub fn open_call() -> Option<Call<'static>> {
    process::made_lane().filter(|lane| lane.attention.calls() > 0).map(Call::of)
}

/// Ends a call of whose return there is nothing more to tell than when it was, if it is recorded.
#[inline]
pub fn leave(call: Option<Call<'_>>) {
    if let Some(mut call) = call {
        call.returned();
        call.leave();
    }
}

/// Tells facts of what became known only now, and happened between two calls at a time, or after the last event that there is. Returns whether it could.
pub fn tell_since(time: u64, tell: impl FnOnce(&mut Call<'_>)) -> bool {
    let Some(mut own) = lane().filter(|lane| lane.attention.calls() == 0 && !is_paused()) else { return false };
    let again = own.again();
    let lane = &mut *own;
    lane.settle();
    records::samples_around(lane, time, |lane| {
        lane.current.time = time.max(lane.last_time());
        tell(&mut Call::of(again));
    });
    true
}

/// Runs something of which nothing is recorded: the recorder's own communication.
pub fn suspend<T>(act: impl FnOnce() -> T) -> T {
    let Some(mut lane) = lane() else { return act() };
    lane.settle();
    lane.attention.set_calls(lane.attention.calls() + 1);
    let result = act();
    if let Some(lane) = process::lane() {
        lane.attention.set_calls(lane.attention.calls() - 1);
    }
    result
}

/// A call that is left out, and what must be as it was when it has returned.
#[derive(Debug)]
pub struct LeftOut {
    samples_wait: bool,
}

impl LeftOut {
    /// The program calls a function of its library whose calls are left out: nothing that is called inside of it is recorded either. None if
    /// that is so already, since a call is open: then there is nothing to end.
    pub fn begin(frame: Frame) -> Option<LeftOut> {
        let mut own = process::made_lane()?;
        let lane = &mut *own;
        if lane.attention.calls() != 0 && !is_abandoned(lane, frame) {
            return None;
        }
        let samples_wait = lane.attention.samples_wait();
        lane.attention.set_calls(1);
        // Left behind by an exception, it leaves nothing to end.
        lane.current = Current { base: frame.base, site: SiteId::NONE, is_left: true, is_poll: false, ..lane.current };
        Some(LeftOut { samples_wait })
    }

    /// It has returned.
    pub fn end(self) {
        let Some(lane) = process::made_lane() else { return };
        lane.attention.set_calls(0);
        if self.samples_wait {
            lane.attention.let_wait();
        }
    }
}

/// Runs a function of the program's library whose calls are left out. Whether the program itself calls it, and not one whose call is open, is told
/// to what is run.
pub fn leave_out<T>(frame: Frame, act: impl FnOnce(bool) -> T) -> T {
    let has_lane = process::made_lane().is_some();
    let begun = LeftOut::begin(frame);
    let result = act(begun.is_some() || !has_lane);
    if let Some(begun) = begun {
        begun.end();
    }
    result
}

/// Begins a marked region of the program.
pub fn enter_region(region: &'static Region, frame: Frame) {
    if region.is_left_out() {
        return;
    }
    let Some(mut own) = lane() else { return };
    if is_paused() || own.attention.calls() != 0 {
        return;
    }
    let lane = &mut *own;
    records::samples(lane);
    push(lane, region, frame, None);
}

/// Begins a region now, or at a time that is known.
fn push(lane: &mut Lane, region: &'static Region, frame: Frame, time: Option<u64>) {
    // Regions are flat where calls are: OTF2 does not mix both kinds of events.
    let (site, path, is_flat) = find(lane, region, frame);
    let frames = lane.sites.frames(site);
    lane.stack.push(Open { region, path, is_flat, frames, is_root: false });
    lane.current = Current::region(time.unwrap_or_else(clock::now), path, is_flat);
    mark(lane, true);
}

/// Ends the innermost marked region, if it is this one; else the inner ones first, if it is among them. Returns whether it was open.
pub fn leave_region(region: &'static Region) -> bool {
    leave_one_of(&[region])
}

/// The same of whichever of some regions is the innermost.
pub fn leave_one_of(regions: &[&'static Region]) -> bool {
    let Some(mut own) = lane() else { return true };
    if is_paused() || own.attention.calls() != 0 {
        return true;
    }
    let lane = &mut *own;
    records::samples(lane);
    let open = regions.iter().filter_map(|region| lane.stack.find(region));
    let Some(at) = open.max() else { return false };
    close(lane, clock::now(), at);
    true
}

/// Ends all regions that are inside of so many.
pub(crate) fn close(lane: &mut Lane, time: u64, at: usize) {
    while lane.stack.len() > at {
        let Some(open) = lane.stack.pop() else { break };
        lane.current = Current::region(time, open.path, open.is_flat);
        mark(lane, false);
    }
}

/// Paths of constructs without frames, by address: recording without call paths must not pay for the tree.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn flat(region: &'static Region) -> Path {
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
        Call::of(self.lane.again())
    }

    #[allow(clippy::inline_always, reason = "nothing")]
    #[inline(always)]
    fn of(lane: OwnLane) -> Self {
        Call { lane, of: PhantomData }
    }

    /// The real function has returned: what is told from here on happened now.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn returned(&mut self) {
        self.lane.current.time = clock::now();
    }

    /// When it began; after [`Call::returned`] when that was.
    pub fn time(&self) -> u64 {
        self.lane.current.time
    }

    /// Ends a call that began [tentatively](enter_tentatively) as if it had not been made. One of which more is told by now, or that cannot be
    /// taken back for another reason, ends like any other.
    pub fn withdraw(mut self) {
        if matches!(self.lane.keep, Keep::Events) && self.lane.take_back(1) {
            self.lane.attention.set_calls(0);
        } else {
            self.leave();
        }
    }

    /// It has returned at a time that is known only now.
    pub fn returned_at(&mut self, time: u64) {
        self.lane.current.time = time.max(self.lane.last_time());
    }

    /// Whether it is a poll of which nothing is written yet.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub fn is_poll(&self) -> bool {
        self.lane.current.is_poll
    }

    /// The poll found something, or failed.
    #[inline(never)]
    pub fn found(&mut self) {
        self.lane.poll_found();
    }

    /// It found nothing.
    #[inline(never)]
    pub fn found_nothing(&mut self) {
        self.lane.poll_found_nothing();
    }

    /// Says what came of a call that looks whether something has come. Where polls are recorded one by one it is none.
    pub fn polled(&mut self, found: bool) {
        match (self.is_poll(), found) {
            (true, true) => self.found(),
            (true, false) => self.found_nothing(),
            (false, _) => {}
        }
    }

    /// Ends the call, at the time of [`Call::returned`].
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub fn leave(mut self) {
        if !self.lane.current.is_left {
            mark(&mut self.lane, false);
        }
        self.lane.attention.set_calls(0);
    }

    /// Ends it, and begins a region of the program that it has led to, at the same time.
    pub fn leave_into(mut self, region: &'static Region, frame: Frame) {
        let mut lane = self.lane.again();
        let time = lane.current.time;
        self.leave();
        push(&mut lane, region, frame, Some(time));
    }

    /// The message that this call received, and its end. It is written when the thread has time.
    #[allow(clippy::inline_always, reason = "the hot path of messages")]
    #[inline(always)]
    pub fn recv_at_last(&mut self, message: Message) {
        if self.lane.can_draft() {
            let Current { time, path, is_flat, .. } = self.lane.current;
            self.lane.draft(Half::Received, Draft { time, path: path.0, message }, is_flat);
            self.lane.current.is_left = true;
        } else {
            cold_path();
            self.recv(message);
        }
    }

    /// Whom the call waits for until it returns: the process with this rank in the communicator, or with [`ANYBODY`] all of it or any.
    #[inline]
    pub fn awaits(&mut self, comm: u32, rank: u32) {
        self.lane.set_awaits(comm, rank);
    }

    /// The same of several processes: communicators and ranks.
    pub fn awaits_all(&mut self, mut of: impl Iterator<Item = (u32, u32)>) {
        if let Some((comm, rank)) = of.next() {
            self.lane.set_awaits(comm, rank);
            self.lane.set_awaits_also(of);
        }
    }

    /// The call waits for a thread of this process until it returns: who is told which one must tell nothing after that.
    pub fn awaits_thread(&mut self) -> AwaitedThread {
        self.lane.header().await_thread(self.time())
    }

    /// What two handles mean, if the last call from the same place had the same ones and was in the same generation of meanings.
    pub fn meaning(&self, handles: [usize; 2], generation: u64) -> Option<[u64; 2]> {
        self.lane.sites.meaning(self.lane.current.site, handles, generation)
    }

    /// Says what two handles mean, for the next call from the same place.
    pub fn remember(&mut self, handles: [usize; 2], generation: u64, meaning: [u64; 2]) {
        let site = self.lane.current.site;
        self.lane.sites.remember(site, handles, generation, meaning);
    }

    /// The message that this call received, and its end.
    #[allow(clippy::inline_always, reason = "the hot path of messages")]
    #[inline(always)]
    pub fn recv_and_leave(&mut self, message: Message) {
        if self.lane.can_draft() {
            self.lane.mark_received(message);
            self.lane.current.is_left = true;
        } else {
            cold_path();
            self.recv(message);
        }
    }

    /// The real function failed: takes back the message that the call was said to send, or its access. False if that cannot be done.
    #[allow(clippy::inline_always, reason = "a word, and not the place where it is kept")]
    #[inline(always)]
    pub fn retract(&mut self) -> bool {
        self.lane.retract()
    }

    /// A number that no other request, operation or file access of this process has.
    pub fn next_id(&mut self) -> u64 {
        self.lane.next_id()
    }
}

/// Writes that the lane's current call begins, or ends. Not inlined: programs call many functions in turns, and what they share stays in
/// the cache.
#[inline(never)]
pub(crate) fn mark(lane: &mut Lane, enter: bool) {
    match lane.keep {
        Keep::Events => lane.mark(enter),
        Keep::EventsAndCounters(_) | Keep::Statistics(_) => mark_with_more(lane, enter),
    }
}

#[inline(never)]
fn mark_with_more(lane: &mut Lane, enter: bool) {
    let Current { time, path, is_flat, .. } = lane.current;
    // Marked regions are none, and no call is recorded inside of a call.
    let is_operation = lane.attention.calls() > 0;
    match &mut lane.keep {
        Keep::Statistics(profile) => {
            let now = profile.moment(time);
            if is_operation {
                profile.operation(enter, now);
            }
            if enter { profile.enter(path, now, is_flat) } else { profile.leave(path, now) }
        }
        // Counters are read on the inner side.
        Keep::Events | Keep::EventsAndCounters(_) if enter => {
            lane.mark(enter);
            records::counters(lane, time);
        }
        Keep::Events | Keep::EventsAndCounters(_) => {
            records::counters(lane, time);
            lane.mark(enter);
        }
    }
}
