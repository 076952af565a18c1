//! Teams, as a runtime tells of them.
//!
//! A worker learns that the barrier at the end of a region is over when it is needed again, or when the program ends. The thread that forked the team
//! knows it at once, and leaves the time for the workers.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use partune_collect::Region;
use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Forked};

use super::abi::{BEGIN, Count, Data, INITIAL, LEAGUE, Place, Word};
use super::sync::{self, Doing};
use crate::awake;
use crate::team::{self as teams, Begun, Team, enter};

static PARALLEL: Region = crate::construct(teams::PARALLEL);

/// The teams that one thread forks at one level, one after the other. What changes is written by that thread while no member is in the team.
struct Fork {
    team: &'static Team,
    forker: Option<u32>,
    forked: Cell<Option<Forked>>,
    /// Where the program asked for the team.
    frame: Cell<Frame>,
    place: Cell<Place>,
    /// The how manieth it is.
    generation: AtomicU64,
    /// When the last ones were over.
    over: [AtomicU64; Fork::KEPT],
}

// SAFETY: see above; a member learns of the team, and the forking thread of its end, from the runtime, which orders what they do.
unsafe impl Sync for Fork {}

impl Fork {
    const KEPT: usize = 64;

    fn over(&self, generation: u64) -> &AtomicU64 {
        &self.over[generation as usize % Fork::KEPT]
    }

    /// When a team was over, if that is known still.
    fn was_over(&self, generation: u64) -> Option<u64> {
        let time = self.over(generation).load(Ordering::Acquire);
        let age = self.generation.load(Ordering::Acquire) - generation;
        (age < Fork::KEPT as u64 && time > 0).then_some(time)
    }
}

/// A part that the calling thread has in a team.
struct Part {
    /// None if it is not recorded.
    fork: Option<&'static Fork>,
    generation: u64,
    /// The team around.
    around: u32,
    /// What the thread was in.
    doing: Doing,
    /// When its last barrier was over; 0 if it was in none.
    over: u64,
}

thread_local! {
    /// By how many of its own teams were around.
    static FORKS: RefCell<Vec<&'static Fork>> = const { RefCell::new(Vec::new()) };
    static PARTS: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

pub(super) unsafe extern "C" fn parallel_begin(
    _: *mut Data,
    _: *const u8,
    data: *mut Data,
    requested: Count,
    flags: Word,
    place: Place,
) {
    let frame = frame::called_from(place);
    let fork = if flags & LEAGUE == 0 { fork(frame, place, requested) } else { None };
    // SAFETY: the runtime's word for this team.
    unsafe { *data = fork.map_or(0, |fork| std::ptr::from_ref(fork) as u64) };
}

fn fork(frame: Frame, place: Place, requested: Count) -> Option<&'static Fork> {
    let world = awake::known_world()?;
    let Begun { forked, team, forker, level } = teams::begin(world, &PARALLEL, frame, requested)?;
    let fork = FORKS.with_borrow_mut(|forks| {
        while forks.len() <= level {
            forks.push(Box::leak(Box::new(Fork {
                team,
                forker,
                forked: Cell::new(None),
                frame: Cell::new(Frame::NONE),
                place: Cell::new(0),
                generation: AtomicU64::new(0),
                over: [const { AtomicU64::new(0) }; Fork::KEPT],
            })));
        }
        forks[level]
    });
    let generation = fork.generation.load(Ordering::Relaxed) + 1;
    fork.over(generation).store(0, Ordering::Relaxed);
    fork.generation.store(generation, Ordering::Release);
    fork.forked.set(Some(forked));
    fork.frame.set(frame);
    fork.place.set(place);
    Some(fork)
}

pub(super) unsafe extern "C" fn parallel_end(data: *mut Data, _: *mut Data, _: Word, _: Place) {
    // SAFETY: the runtime's word for this team, which is over.
    if unsafe { fork_of(data) }.is_some() {
        teams::join();
    }
}

/// # Safety
/// The runtime's word for a team, or null.
unsafe fn fork_of(data: *mut Data) -> Option<&'static Fork> {
    // SAFETY: 0, or what `parallel_begin` wrote: it is never freed.
    unsafe { data.as_ref().and_then(|data| (*data as *const Fork).as_ref()) }
}

pub(super) unsafe extern "C" fn implicit_task(
    endpoint: Word,
    data: *mut Data,
    _: *mut Data,
    _: Count,
    _: Count,
    flags: Word,
) {
    if flags & INITIAL != 0 {
        return;
    }
    if endpoint == BEGIN {
        // SAFETY: the runtime's word for the team.
        begin_part(unsafe { fork_of(data) });
    } else {
        end_part();
    }
}

fn begin_part(fork: Option<&'static Fork>) {
    let known = fork.and_then(|fork| Some((fork, fork.forked.get()?)));
    let mut part = Part { fork: None, generation: 0, around: 0, doing: sync::switch(Doing::NOTHING), over: 0 };
    if let Some((fork, forked)) = known {
        fork.team.admit();
        part.around = enter(fork.team.number);
        part.generation = fork.generation.load(Ordering::Acquire);
        // The others do not have it around them.
        let frame = if team::thread() == fork.forker { fork.frame.get() } else { Frame::NONE };
        if team::begin_part_in(&PARALLEL, forked, fork.team.number, frame) {
            part.fork = Some(fork);
        } else {
            enter(part.around);
        }
    }
    PARTS.with_borrow_mut(|parts| parts.push(part));
}

fn end_part() {
    let Some(part) = PARTS.with_borrow_mut(Vec::pop) else { return };
    sync::switch(part.doing);
    let Some(fork) = part.fork else { return };
    let is_forker = team::thread() == fork.forker;
    let now = partune_collect::now();
    let over = if part.over > 0 { part.over } else { now };
    if is_forker {
        fork.over(part.generation).store(over, Ordering::Release);
    }
    team::end_part_at(if is_forker { now } else { over }, &PARALLEL, fork.team.number, !is_forker);
    enter(part.around);
}

/// Whether a barrier is the last one in the part that the calling thread is in: the program asks for it where it asks for the team.
pub(super) fn is_last(place: Place) -> bool {
    let is_there = |part: &Part| part.fork.is_none_or(|fork| fork.place.get() == place);
    PARTS.with_borrow(|parts| parts.last().is_some_and(|part| place == 0 || is_there(part)))
}

/// The calling thread was told just now that it is over. Returns when that was.
pub(super) fn last_is_over() -> u64 {
    let now = partune_collect::now();
    PARTS.with_borrow_mut(|parts| {
        let Some(part) = parts.last_mut() else { return now };
        let told = part.fork.filter(|fork| team::thread() != fork.forker);
        part.over = told.map_or(now, |fork| fork.was_over(part.generation).unwrap_or(now).min(now));
        part.over
    })
}
