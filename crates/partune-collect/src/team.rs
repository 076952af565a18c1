//! Threads that run a part of the program together, for collectors of paradigms that have teams and tasks.
//!
//! A team's region is begun by the thread that forks it, and again by each member for its part. The path of the region is found once, where
//! the program asked for the team, and paths inside of a part begin with it on every thread: what a member was started by, and what the
//! runtime does between, is no part of the program. A [`Forked`] is what one thread tells the others for that.
//!
//! Events stand in the order that other recorders have: fork; on each member team begin, enter, leave, team end; join.

use std::sync::atomic::{AtomicU32, Ordering};

use partune_parts::clock;
use partune_parts::encode::At;

use crate::call::{Call, close, enter_inside, find, is_free, mark};
use crate::current::Current;
use crate::frame::{self, Frame};
use crate::lane::{Keep, Lane};
use crate::path::Path;
use crate::process::{self, lane, lane_of_member};
use crate::records;
use crate::region::Region;
use crate::stack::Open;
use crate::state::{self, is_paused};

/// Whose threads they are, as `OTF2_Paradigm` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Model {
    OpenMp = 3,
    Pthread = 7,
}

/// Where the program asked for a team, or for a task: what its parts' paths begin with.
#[derive(Clone, Copy, Debug)]
pub struct Forked {
    pub(crate) path: Path,
    pub(crate) is_flat: bool,
}

/// A task as events name it: who created it, and the how manieth that was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    pub team: u32,
    pub creator: u32,
    pub generation: u32,
}

/// How many calls a thread was in when it took up a task: one or none.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted(u32);

/// The number of the calling thread in its process; none if it is not recorded.
pub fn thread() -> Option<u32> {
    lane().map(|lane| lane.thread())
}

/// The same of a thread that is in a team. One that the runtime made for it is that of one that it made before and that has ended, if there is one: there are
/// as many as were in teams at once, however many the runtime makes.
pub fn member(team: u32) -> Option<u32> {
    lane_of_member(team).map(|lane| lane.thread())
}

/// The calling thread's part has ended, and it will with it: its number is free for the next member of a team.
pub fn hand_on() {
    process::hand_on();
}

/// Whose life the main thread's first and last events tell: the number of a team that it is in, plus one.
static ALIVE: AtomicU32 = AtomicU32::new(0);

/// The calling thread will fork a team. If it is the process's main thread, of which nothing is recorded yet, what it did before counts too: it began
/// when the process did. Where recording is off since then, that is a pause.
pub fn began(team: u32) {
    let Some(mut lane) = lane().filter(|lane| lane.thread() == 0 && lane.last_time() == 0) else { return };
    let began = process::began();
    if process::is_main_thread() && began > 0 && ALIVE.swap(team + 1, Ordering::Relaxed) == 0 {
        tell(&mut lane, began, THREAD_BEGIN, |at| at.c32(team).c64(0));
        if state::is_off() {
            tell(&mut lane, began, records::MEASUREMENT, |at| at.byte(records::OFF));
        }
    }
}

/// The process exits. If this is its main thread, and that was told to begin, it ends now.
pub(crate) fn ends() {
    let Some(team) = ALIVE.load(Ordering::Relaxed).checked_sub(1) else { return };
    if let Some(mut lane) = lane().filter(|_| process::is_main_thread()) {
        records::samples(&mut lane);
        tell(&mut lane, clock::now(), THREAD_END, |at| at.c32(team).c64(0));
    }
}

/// The calling thread is about to fork a team for a region. None if that is not recorded: then its parts must not be either.
pub fn fork(region: &'static Region, frame: Frame, threads: u32) -> Option<Forked> {
    let forked = place(region, frame)?;
    let mut lane = lane()?;
    tell(&mut lane, clock::now(), FORK, |at| at.byte(Model::OpenMp as u8).c32(threads));
    Some(forked)
}

/// The team that it forked last has ended.
pub fn join() {
    if let Some(mut lane) = lane() {
        records::samples(&mut lane);
        tell(&mut lane, clock::now(), JOIN, |at| at.byte(Model::OpenMp as u8));
    }
}

/// The calling thread begins its part in a team. Returns whether it is recorded; then it must be ended as well.
///
/// The function that calls this must be the one that calls the program's.
#[inline(never)]
pub fn begin_part(region: &'static Region, forked: Forked, team: u32) -> bool {
    begin_part_in(region, forked, team, frame::here())
}

/// The same for a function that returns before the program's is called: inside of the frames that a function of the runtime was called from, or of
/// none that are the program's; see [`crate::runtime`].
pub fn begin_part_in(region: &'static Region, forked: Forked, team: u32, frame: Frame) -> bool {
    let Some(mut lane) = lane() else { return false };
    records::samples(&mut lane);
    lane.attention.set_calls(0);
    let time = clock::now();
    tell(&mut lane, time, TEAM_BEGIN, |at| at.c32(team));
    enter(&mut lane, time, region, forked, frame);
    true
}

/// Its part ends. Nothing is recorded of the thread until its next one begins if it `waits` for it in the runtime.
pub fn end_part(region: &'static Region, team: u32, waits: bool) {
    end_part_at(clock::now(), region, team, waits);
}

/// It ended at a time that is known only now.
pub fn end_part_at(time: u64, region: &'static Region, team: u32, waits: bool) {
    let Some(mut lane) = lane() else { return };
    records::samples(&mut lane);
    let time = time.max(lane.last_time());
    leave(&mut lane, time, region);
    tell(&mut lane, time, TEAM_END, |at| at.c32(team));
    if waits {
        lane.current = Current::NONE;
        lane.attention.set_calls(1);
    }
}

/// Where a task is created: what its path will begin with.
pub fn place(region: &'static Region, frame: Frame) -> Option<Forked> {
    let mut own = lane()?;
    if !is_free(&mut own, frame) {
        return None;
    }
    let (_, path, is_flat) = find(&mut own, region, frame);
    Some(Forked { path, is_flat })
}

/// The calling thread takes up a task. If that is in a call, which waits for tasks or creates one, the call ends here: what follows is the program's
/// code. None if it is not recorded.
///
/// The function that calls this must be the one that calls the program's.
#[inline(never)]
pub fn begin_task(region: &'static Region, forked: Forked, task: Task) -> Option<Interrupted> {
    begin_task_in(region, forked, task, frame::here())
}

/// The same for a function that returns before the program's is called, see [`begin_part_in`].
pub fn begin_task_in(region: &'static Region, forked: Forked, task: Task, frame: Frame) -> Option<Interrupted> {
    if is_paused() {
        return None;
    }
    let mut own = lane()?;
    let lane = &mut *own;
    let interrupted = Interrupted(lane.attention.calls());
    records::samples(lane);
    let time = clock::now();
    if interrupted.0 > 0 && !lane.current.is_left {
        lane.current.time = time;
        mark(lane, false);
    }
    lane.attention.set_calls(0);
    switch(lane, time, TASK_SWITCH, task);
    enter(lane, time, region, forked, frame);
    Some(interrupted)
}

/// The task has ended, and the thread goes on with the call that it was in: for other tasks it waits in `waits`, if it does. Another thread may go on
/// with the task, if none is named as `complete`.
pub fn end_task(
    region: &'static Region,
    complete: Option<Task>,
    interrupted: Interrupted,
    waits: Option<&'static Region>,
) {
    let Some(mut lane) = lane() else { return };
    records::samples(&mut lane);
    let time = clock::now();
    leave(&mut lane, time, region);
    if let Some(task) = complete {
        switch(&mut lane, time, TASK_COMPLETE, task);
    }
    let Interrupted(calls @ 1..) = interrupted else { return };
    // Whoever made the call ends it: there may be nothing left to end.
    if waits.and_then(enter_inside).is_none() {
        lane.current.is_left = true;
    }
    lane.attention.set_calls(calls);
}

/// The calling thread gives a lock back that it got, and leaves the region that only who has the lock is in, if there is one.
pub fn release(region: Option<&'static Region>, lock: u32, order: u32) {
    let Some(mut own) = lane().filter(|_| !is_paused()) else { return };
    let lane = &mut *own;
    records::samples(lane);
    let time = clock::now();
    tell(lane, time, RELEASE_LOCK, |at| at.byte(Model::OpenMp as u8).c32(lock).c32(order));
    if let Some(region) = region.filter(|_| lane.attention.calls() == 0) {
        leave(lane, time, region);
    }
}

impl Call<'_> {
    /// The call gives a lock back, that was got for the how manieth time.
    pub fn released(&mut self, model: Model, lock: u32, order: u32) {
        let time = self.lane.current.time;
        tell(&mut self.lane, time, RELEASE_LOCK, |at| at.byte(model as u8).c32(lock).c32(order));
    }

    /// The call got a lock, for the how manieth time anybody did.
    pub fn acquired(&mut self, model: Model, lock: u32, order: u32) {
        let time = self.lane.current.time;
        tell(&mut self.lane, time, ACQUIRE_LOCK, |at| at.byte(model as u8).c32(lock).c32(order));
    }

    /// It created a task.
    pub fn created(&mut self, task: Task) {
        let time = self.lane.current.time;
        switch(&mut self.lane, time, TASK_CREATE, task);
    }
}

const FORK: u8 = 53;
const JOIN: u8 = 54;
const TEAM_BEGIN: u8 = 55;
const TEAM_END: u8 = 56;
const ACQUIRE_LOCK: u8 = 57;
const RELEASE_LOCK: u8 = 58;
const TASK_CREATE: u8 = 59;
const TASK_SWITCH: u8 = 60;
const TASK_COMPLETE: u8 = 61;
pub(crate) const THREAD_BEGIN: u8 = 63;
pub(crate) const THREAD_END: u8 = 65;

fn switch(lane: &mut Lane, time: u64, kind: u8, task: Task) {
    tell(lane, time, kind, |at| at.c32(task.team).c32(task.creator).c32(task.generation));
}

pub(crate) fn tell(lane: &mut Lane, time: u64, kind: u8, data: impl FnOnce(At) -> At) {
    if matches!(lane.keep, Keep::Statistics(_)) {
        return;
    }
    lane.settle();
    let record = lane.room(time).record(kind);
    let end = record.end(data(record.data()));
    lane.append(end);
}

/// Begins a region whose path begins elsewhere.
pub(crate) fn enter(lane: &mut Lane, time: u64, region: &'static Region, forked: Forked, frame: Frame) {
    let Forked { path, is_flat } = forked;
    let has_frames = !is_flat && frame != Frame::NONE;
    let frames = if has_frames { lane.sites.frames_of(frame, &lane.stack) } else { std::rc::Rc::new([]) as _ };
    lane.stack.push(Open { region, path, is_flat, frames, is_root: true });
    lane.current = Current::region(time, path, is_flat);
    mark(lane, true);
}

/// Ends it, and what was begun inside of it and not ended.
fn leave(lane: &mut Lane, time: u64, region: &'static Region) {
    if let Some(at) = lane.stack.find(region) {
        close(lane, time, at);
    }
}
