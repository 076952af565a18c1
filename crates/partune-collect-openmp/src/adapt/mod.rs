//! Regions that run with other settings than the program's own where that is faster, for `partune run --adapt`: nothing is recorded then.
//!
//! What is adapted are regions that one thread forks, the first that forks any, from outside of all others. Loops whose schedule is the environment's get one from here, without a change
//! of what the program can ask for; the runtime deals the rest of their iterations out by what such a loop was begun with. All members of a team have the same: they find it with the team's
//! turn. Which setting a region gets, [`Choice`] says by what its executions take.

mod settings;
mod told;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use partune_adapt::Choice;
use partune_collect::frame::{self, Frame};

use crate::runtime::call;
use crate::team::Body;
pub(crate) use settings::Schedule;
use settings::{Known, Setting};

/// What the environment says of it.
struct Wanted {
    /// Where to say what came of it.
    folder: PathBuf,
    /// Regions may have fewer threads, also where the program does not say so.
    shrinks: bool,
    process: u32,
}

/// None: nothing is adapted.
#[inline]
fn wanted() -> Option<&'static Wanted> {
    static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
    WANTED
        .get_or_init(|| {
            let folder = std::env::var_os("PARTUNE_ADAPT").filter(|_| std::env::var_os("PARTUNE_DIR").is_none())?;
            // SAFETY: a function that may be called at the end.
            unsafe { libc::atexit(tell) };
            let shrinks = std::env::var_os("PARTUNE_ADAPT_THREADS").is_some();
            Some(Wanted { folder: folder.into(), shrinks, process: std::process::id() })
        })
        .as_ref()
}

/// Whether something may be adapted in this process.
pub(crate) fn is_wanted() -> bool {
    wanted().is_some()
}

/// A parallel region.
struct Region {
    /// Its code, or what its call returns to.
    code: usize,
    is_call: bool,
    known: Known,
    /// Executions before there was something to try.
    seen: u32,
    choice: Option<(Choice, Vec<Setting>)>,
}

impl Region {
    fn new(code: usize, is_call: bool) -> Region {
        let known = Known { threads: 0, may_shrink: false, iterations: 0, time: 0.0, own: (0, 0) };
        Region { code, is_call, known, seen: 0, choice: None }
    }

    /// Whether the next execution is only looked at. The first one starts threads; from the second on each is that has twice the number of the one before, until there is something to
    /// choose: a loop may come late.
    fn is_looked_at(&self) -> bool {
        self.seen > 0 && (self.seen + 1).is_power_of_two()
    }

    fn took(&mut self, turn: &Turn) {
        let time = turn.begun.elapsed().as_nanos() as f64;
        if let Some((choice, _)) = &mut self.choice {
            choice.took(time);
            return;
        }
        let own = turn.own.load(Ordering::Relaxed);
        self.known = Known {
            threads: turn.threads,
            may_shrink: turn.may_shrink,
            iterations: turn.iterations.load(Ordering::Relaxed),
            time,
            own: ((own >> 32) as u32, own as u32 as usize),
        };
        let settings = settings::settings(self.known);
        self.choice = (settings.len() > 1).then(|| (Choice::new(settings.len()), settings));
    }
}

/// By their code.
static REGIONS: Mutex<Option<HashMap<usize, Region>>> = Mutex::new(None);

/// The program says a schedule itself, on which it may rely: from then on it has that.
static IS_SET: AtomicBool = AtomicBool::new(false);

macro_rules! sets {
    ($($name:ident)*) => {$(
        /// Says the schedule of loops that leave it to the environment.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(kind: usize, chunk: usize) -> usize {
            IS_SET.store(true, Ordering::Relaxed);
            call!(frame::here(), $name(kind, chunk))
        }
    )*};
}

sets! { omp_set_schedule omp_set_schedule_ omp_set_schedule_8_ }

/// One execution of a region.
pub(crate) struct Turn {
    code: usize,
    setting: Setting,
    begun: Instant,
    threads: usize,
    may_shrink: bool,
    /// The longest of its loops that leave their schedule to the environment.
    iterations: AtomicU64,
    /// The environment's schedule as the runtime has it, where that is to be found out.
    own: AtomicU64,
    is_first: bool,
}

thread_local! {
    /// The turn that the calling thread has a part in. It outlives that.
    static TURN: Cell<*const Turn> = const { Cell::new(std::ptr::null()) };
    /// How many teams it has forked that are not over.
    static FORKED: Cell<u32> = const { Cell::new(0) };
}

impl Turn {
    /// Begins an execution of a region in so many threads; whether it may have fewer depends on whether those who run the program said so. None: it is not adapted.
    pub(crate) fn begin(code: usize, is_call: bool, threads: usize, may_shrink: impl Fn(bool) -> bool) -> Option<Turn> {
        let wanted = wanted()?;
        if !is_first_to_fork() || !TURN.get().is_null() || IS_SET.load(Ordering::Relaxed) {
            return None;
        }
        let mut regions = REGIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let region = regions.get_or_insert_with(HashMap::new).entry(code).or_insert_with(|| Region::new(code, is_call));
        if region.choice.is_none() {
            let is_looked_at = region.is_looked_at();
            region.seen = region.seen.saturating_add(1);
            if !is_looked_at {
                return None;
            }
        }
        let (setting, is_first) = region.choice.as_ref().map_or((Setting::OWN, true), |(choice, settings)| {
            (settings.get(choice.next()).copied().unwrap_or(Setting::OWN), false)
        });
        drop(regions);
        let [iterations, own] = [const { AtomicU64::new(0) }; 2];
        let may_shrink = may_shrink(wanted.shrinks);
        let setting = if may_shrink || setting.threads == 0 { setting } else { Setting::OWN };
        Some(Turn { code, setting, threads, may_shrink, iterations, own, is_first, begun: Instant::now() })
    }

    /// All members have come to its end.
    pub(crate) fn end(self) {
        let mut regions = REGIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(region) = regions.as_mut().and_then(|regions| regions.get_mut(&self.code)) {
            region.took(&self);
        }
    }

    /// The calling thread has a part in a turn, or none any longer. Returns what it had before.
    pub(crate) fn enter(turn: *const Turn) -> *const Turn {
        TURN.replace(turn)
    }

    /// The schedule for a loop that leaves it to the environment, and how many iterations it has, where that is asked.
    pub(crate) fn schedule(&self, frame: Frame, iterations: impl Fn() -> u64) -> Schedule {
        if self.is_first {
            self.iterations.fetch_max(iterations(), Ordering::Relaxed);
            let (mut kind, mut chunk) = (0_u32, 0_u32);
            call!(frame, omp_get_schedule(&raw mut kind as usize, &raw mut chunk as usize));
            // A bit says that iterations come in order.
            self.own.store(u64::from(kind & 0x7fff_ffff) << 32 | u64::from(chunk), Ordering::Relaxed);
        }
        self.setting.schedule
    }
}

/// The schedule for a loop that the calling thread begins.
pub(crate) fn schedule(frame: Frame, iterations: impl Fn() -> u64) -> Schedule {
    // SAFETY: it stays until all members are through.
    let Some(turn) = (unsafe { TURN.get().as_ref() }) else { return Schedule::Own };
    // Whoever begins a team inside of a turn is a member of that as well, the others of which know nothing of the turn.
    if call!(frame, omp_get_level()) as u32 == 1 { turn.schedule(frame, iterations) } else { Schedule::Own }
}

/// How many iterations a loop has that ends before its `end`.
pub(crate) fn iterations(start: usize, end: usize, step: usize) -> u64 {
    let (length, step) = ((end as i64).wrapping_sub(start as i64), step as i64);
    if step == 0 || length.signum() != step.signum() { 0 } else { length.unsigned_abs().div_ceil(step.unsigned_abs()) }
}

/// Calls the function of the runtime that deals iterations out as a schedule says, of three whose words are those before the size of the chunks and those after it. None: the program's own is to
/// be called.
macro_rules! dealt {
    ($frame:expr, $schedule:expr, $fixed:ident $guided:ident $dynamic:ident($($before:expr),+; $($after:expr),+)) => {{
        let schedule = $schedule;
        let chunk = schedule.chunk();
        match schedule {
            $crate::adapt::Schedule::Own => None,
            $crate::adapt::Schedule::Static => Some(call!($frame, $fixed($($before),+, chunk, $($after),+))),
            $crate::adapt::Schedule::Guided => Some(call!($frame, $guided($($before),+, chunk, $($after),+))),
            $crate::adapt::Schedule::Dynamic(_) => Some(call!($frame, $dynamic($($before),+, chunk, $($after),+))),
        }
    }};
}

pub(crate) use dealt;

/// A region of GCC's runtime: what it gets instead of the program's body and data.
pub(crate) struct Fork {
    body: Body,
    data: *mut c_void,
    pub(crate) turn: Turn,
}

impl Fork {
    pub(crate) fn begin(frame: Frame, body: usize, data: usize, threads: usize) -> Option<Fork> {
        if wanted().is_none() || call!(frame, omp_get_level()) as u32 > 0 {
            return None;
        }
        let threads = threads as u32 as usize;
        let all = if threads > 0 { threads } else { call!(frame, omp_get_max_threads()) as u32 as usize };
        let may_shrink = |shrinks: bool| threads == 0 && (shrinks || call!(frame, omp_get_dynamic()) as u32 != 0);
        let turn = Turn::begin(body, false, all, may_shrink)?;
        // SAFETY: the program's function, which it gives as the body of the region.
        let body = unsafe { std::mem::transmute::<usize, Body>(body) };
        Some(Fork { body, data: data as *mut c_void, turn })
    }

    /// What to give to the runtime: a body, its data, and how many threads.
    pub(crate) fn given(&self, threads: usize) -> [usize; 3] {
        // Never more than the program wants by now.
        let tried = self.turn.setting.threads;
        let threads = if (1..self.turn.threads).contains(&tried) { tried } else { threads };
        [part as *const () as usize, std::ptr::from_ref(self) as usize, threads]
    }
}

/// A member's part.
unsafe extern "C" fn part(fork: *mut c_void) {
    // SAFETY: it stays until the runtime returns to the thread that forked, which waits for all members.
    let fork = unsafe { &*fork.cast::<Fork>() };
    let around = Turn::enter(&raw const fork.turn);
    // SAFETY: the program's function with its own data.
    unsafe { (fork.body)(fork.data) };
    Turn::enter(around);
}

/// Whether the calling thread is the first that forked a team.
fn is_first_to_fork() -> bool {
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    let own = FORKED.with(|it| std::ptr::from_ref(it) as usize);
    match FIRST.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(first) => first == own,
    }
}

/// The runtime tells of teams from outside of their bodies, so they are counted.
pub(crate) fn count_forked(by: i32) -> u32 {
    let before = FORKED.get();
    FORKED.set(before.saturating_add_signed(by));
    before
}

/// The process ends.
extern "C" fn tell() {
    // A child of `fork` has its parent's executions.
    let Some(wanted) = wanted().filter(|wanted| wanted.process == std::process::id()) else { return };
    let Ok(regions) = REGIONS.try_lock() else { return };
    let Some(regions) = regions.as_ref() else { return };
    let mut regions: Vec<&Region> = regions.values().collect();
    regions.sort_by_key(|region| region.code);
    told::write(&wanted.folder, &regions);
}
