//! Teams: who forks them, the parts of their members, and the barrier at their ends.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Forked};
use partune_collect::{Region, definitions, leave};

use crate::adapt::{self, dealt};
use crate::runtime::call;
use crate::sync::IMPLICIT_BARRIER;
use crate::{awake, bodies};

pub(crate) const PARALLEL: &str = "omp parallel";
const PARALLEL_FOR: &str = "omp parallel for";
const PARALLEL_RUNTIME_FOR: &str = "omp parallel for schedule(runtime)";
const PARALLEL_SECTIONS: &str = "omp parallel sections";

/// The code of a region or task.
pub(crate) type Body = unsafe extern "C" fn(*mut c_void);

/// A team as the archive knows it: of one forking thread at one level. Who was in it is known when they come.
pub(crate) struct Team {
    pub(crate) number: u32,
    world: u32,
    members: Mutex<Vec<u32>>,
}

impl Team {
    fn new(world: u32, first: u32) -> &'static Team {
        let number = definitions::team(None, world, &[first]);
        Box::leak(Box::new(Team { number, world, members: Mutex::new(vec![first]) }))
    }

    /// The team that the calling thread forks where it is.
    fn next(world: u32, forker: Option<u32>) -> &'static Team {
        let level = LEVEL.get();
        FORKED.with_borrow_mut(|teams| {
            if teams.len() <= level {
                teams.push(Team::of(world, forker.unwrap_or_default(), teams.len()));
            }
            teams[level.min(teams.len() - 1)]
        })
    }

    /// The one that a thread with this number forked there before, if there was one.
    fn of(world: u32, forker: u32, level: usize) -> &'static Team {
        static TEAMS: Mutex<BTreeMap<(u32, usize), &'static Team>> = Mutex::new(BTreeMap::new());
        let mut teams = TEAMS.lock().unwrap_or_else(PoisonError::into_inner);
        teams.entry((forker, level)).or_insert_with(|| Team::new(world, forker))
    }

    /// The calling thread is a member.
    pub(crate) fn admit(&self) {
        thread_local! {
            static LAST: Cell<u32> = const { Cell::new(u32::MAX) };
        }
        if LAST.replace(self.number) == self.number {
            return;
        }
        let Some(thread) = team::member(self.number) else { return };
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(at) = members.binary_search(&thread) {
            members.insert(at, thread);
            definitions::team(Some(self.number), self.world, &members);
        }
    }
}

thread_local! {
    /// The teams that this thread has forked, by how many of its own were around.
    static FORKED: RefCell<Vec<&'static Team>> = const { RefCell::new(Vec::new()) };
    /// How many of its own teams this thread is in.
    static LEVEL: Cell<usize> = const { Cell::new(0) };
    /// The number of the team that it is in.
    static CURRENT: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// The number of the team that the calling thread is in.
pub(crate) fn current() -> Option<u32> {
    Some(CURRENT.get()).filter(|team| *team != u32::MAX)
}

/// The calling thread is in a team, or in none again. Returns what it was in.
pub(crate) fn enter(team: u32) -> u32 {
    CURRENT.replace(team)
}

/// What members get instead of the program's data.
struct Fork {
    body: Body,
    data: *mut c_void,
    region: &'static Region,
    forked: Forked,
    team: &'static Team,
    /// Which thread forks.
    forker: Option<u32>,
}

/// Begins a team whose members run `body(data)`: what the runtime is to be given instead, and what must stay until it returns.
fn fork(name: &'static str, frame: Frame, body: usize, data: usize, threads: usize) -> Option<Fork> {
    let world = awake::world()?;
    let region = bodies::of(name, body);
    let Begun { forked, team, forker, .. } = begin(world, region, frame, threads as u32)?;
    // SAFETY: the program's function, which it gives as the body of the region.
    let body = unsafe { std::mem::transmute::<usize, Body>(body) };
    Some(Fork { body, data: data as *mut c_void, region, forked, team, forker })
}

/// A team that the calling thread forks.
pub(crate) struct Begun {
    pub(crate) forked: Forked,
    pub(crate) team: &'static Team,
    /// Which thread forks it.
    pub(crate) forker: Option<u32>,
    /// How many of its own it is in.
    pub(crate) level: usize,
}

/// Forks a team. None if that is not recorded.
pub(crate) fn begin(world: u32, region: &'static Region, frame: Frame, threads: u32) -> Option<Begun> {
    let forker = team::thread();
    let (team, level) = (Team::next(world, forker), LEVEL.get());
    team::began(team.number);
    let forked = team::fork(region, frame, threads)?;
    LEVEL.set(level + 1);
    Some(Begun { forked, team, forker, level })
}

/// The runtime has returned from it.
pub(crate) fn join() {
    LEVEL.set(LEVEL.get() - 1);
    team::join();
}

/// A member's part.
unsafe extern "C" fn part(fork: *mut c_void) {
    // SAFETY: it stays until the runtime returns to the thread that forked, which waits for all members.
    let fork = unsafe { &*fork.cast::<Fork>() };
    fork.team.admit();
    let around = enter(fork.team.number);
    let is_recorded = team::begin_part(fork.region, fork.forked, fork.team.number);
    // SAFETY: the program's function with its own data.
    unsafe { (fork.body)(fork.data) };
    if is_recorded {
        let frame = frame::here();
        wait_for_all(frame);
        let is_forker = team::thread() == fork.forker;
        team::end_part(fork.region, fork.team.number, !is_forker);
        // The runtime keeps the threads of teams that are in no other one.
        if !is_forker && call!(frame, omp_get_level()) as u32 > 1 {
            team::hand_on();
        }
    }
    enter(around);
}

/// The barrier at the end. A member of a cancelled region may not come to one.
fn wait_for_all(frame: Frame) {
    if IMPLICIT_BARRIER.is_left_out() {
        return;
    }
    let threads = call!(frame, omp_get_num_threads()) as u32;
    if threads < 2 || call!(frame, omp_get_cancellation()) as u32 != 0 {
        return;
    }
    let call = partune_collect::enter_inside(&IMPLICIT_BARRIER);
    call!(frame, GOMP_barrier());
    leave(call);
}

/// The functions that fork a team: the body, its data, how many threads, and more words.
macro_rules! forks {
    ($($region:ident $name:ident($($more:ident),*) $(dealt by $deal:ident)?;)*) => {$(
        /// Forks a team.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, unused_variables, reason = "it is the runtime's, and only some are dealt")]
        pub unsafe extern "C" fn $name(body: usize, data: usize, threads: usize, $($more: usize),*) -> usize {
            let frame = frame::here();
            match fork($region, frame, body, data, threads) {
                Some(fork) => {
                    let (body, data) = (part as *const () as usize, std::ptr::from_ref(&fork) as usize);
                    let result = call!(frame, $name(body, data, threads, $($more),*));
                    join();
                    result
                }
                None => {
                    let Some(fork) = adapt::Fork::begin(frame, body, data, threads) else {
                        return call!(frame, $name(body, data, threads, $($more),*));
                    };
                    let (given, words) = (fork.given(threads), [$($more),*]);
                    let [body, data, threads] = given;
                    $(if let Some(result) = $deal(frame, &fork, given, words) {
                        fork.turn.end();
                        return result;
                    })?
                    let result = call!(frame, $name(body, data, threads, $($more),*));
                    fork.turn.end();
                    result
                }
            }
        }
    )*};
}

/// A region that is a loop with the environment's schedule, with the one that it is tried with.
fn deal(
    frame: Frame,
    fork: &adapt::Fork,
    [body, data, threads]: [usize; 3],
    [start, end, step, flags]: [usize; 4],
) -> Option<usize> {
    let schedule = fork.turn.schedule(frame, || adapt::iterations(start, end, step));
    dealt!(frame, schedule, GOMP_parallel_loop_static GOMP_parallel_loop_guided GOMP_parallel_loop_dynamic(
        body, data, threads, start, end, step; flags
    ))
}

forks! {
    PARALLEL GOMP_parallel(flags);
    PARALLEL GOMP_parallel_reductions(flags);
    PARALLEL_FOR GOMP_parallel_loop_static(start, end, step, chunk, flags);
    PARALLEL_FOR GOMP_parallel_loop_dynamic(start, end, step, chunk, flags);
    PARALLEL_FOR GOMP_parallel_loop_guided(start, end, step, chunk, flags);
    PARALLEL_RUNTIME_FOR GOMP_parallel_loop_runtime(start, end, step, flags) dealt by deal;
    PARALLEL_FOR GOMP_parallel_loop_nonmonotonic_dynamic(start, end, step, chunk, flags);
    PARALLEL_FOR GOMP_parallel_loop_nonmonotonic_guided(start, end, step, chunk, flags);
    PARALLEL_RUNTIME_FOR GOMP_parallel_loop_nonmonotonic_runtime(start, end, step, flags) dealt by deal;
    PARALLEL_RUNTIME_FOR GOMP_parallel_loop_maybe_nonmonotonic_runtime(start, end, step, flags) dealt by deal;
    PARALLEL_SECTIONS GOMP_parallel_sections(count, flags);
}
