//! The process: whether it is recorded, its log, its lanes, and how it ends.
//!
//! Nothing happens before [`begin`], which the first call that starts a paradigm makes; so launchers, shells and helpers that carry the
//! library are left alone. A child made by `fork` is not recorded, one that executes another program begins anew.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_int, c_void};
use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use partune_parts::clock;
use partune_parts::layout::{ANCHOR, CHUNK_SIZE, PARTS, VERSION};
use partune_parts::log::{Hex, How, Line, Mode, Text, Unit};
use partune_parts::machine::{Cpus, Ran, boot, cpus, host, memory, peak_memory};

use crate::choice;
use crate::counters::{self, Counters};
use crate::lane::{Keep, Lane, Rest};
use crate::log::{self, Log, calibrate, log};
use crate::profile::Profile;
use crate::ran::Since;
use crate::settings::Settings;
use crate::signals::{self, may_be_in_handler};
use crate::state::{self, Why, is_paused, is_recorded};
use crate::thread::AtThreadEnd;
use crate::user::phases;
use crate::{creation, death, frame, job, masks, ran, records, room, sample, scratch, team, thread_word, unwind};

/// A process that is recorded.
struct Process {
    id: u32,
    settings: Settings,
    /// Folder and first part of the names of this process's files.
    stem: PathBuf,
    threads: AtomicU32,
    /// By the numbers of their threads, what of each lane is stored when the process ends. Nobody but its thread looks at a lane itself; a thread
    /// that ends takes its lane out of the list before it closes it.
    lanes: Mutex<Lanes>,
}

#[derive(Default)]
struct Lanes {
    all: BTreeMap<u32, (Rest, Option<Since>)>,
    /// Those of threads that have ended, which are in nobody's hands, and what these threads did.
    free: BTreeMap<u32, Free>,
}

impl Lanes {
    /// What a thread of a maker's can go on with: of a team's first what was in it, so that members stay who they are.
    fn take(&mut self, maker: Maker) -> Option<(u32, Free)> {
        let free = |fits: &dyn Fn(Option<u32>) -> bool| {
            self.free.iter().find(|(_, it)| fits(it.team)).map(|(thread, _)| *thread)
        };
        let thread = match maker {
            Maker::Unknown => None,
            Maker::Program => free(&|team| team.is_none()),
            Maker::Runtime(team) => free(&|last| last == Some(team)).or_else(|| free(&|last| last.is_some())),
        }?;
        self.free.remove_entry(&thread)
    }
}

/// Who made a thread: the program, or a runtime for a team.
#[derive(Clone, Copy)]
enum Maker {
    Unknown,
    Program,
    Runtime(u32),
}

struct Free {
    lane: NonNull<Lane>,
    /// The team that its thread was in last, if a runtime made that.
    team: Option<u32>,
    ran: Ran,
}

// SAFETY: whoever takes it out of the list, which is locked, is its owner from then on.
unsafe impl Send for Free {}

/// If more lanes wait for another thread, they do so without the memory of their rings.
const WARM: usize = 64;

impl Process {
    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static PROCESS: OnceLock<Option<Process>> = OnceLock::new();

thread_word! {
    /// The address of the thread's lane; 0 while it has none.
    LaneWord, "partune_collect_lane"
}

thread_local! {
    /// Set while a lane is being made, which may itself call what is recorded.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Starts recording, if the environment asks for it; `paradigm` and the version of its library go to the log. Returns whether it is recorded.
pub fn begin(paradigm: &str, version: &str) -> bool {
    state::decide(|| {
        let begin = clock::now();
        let is_recorded = PROCESS.get_or_init(start).is_some();
        take_out(begin);
        is_recorded
    });
    if is_recorded() {
        log(&Line::Paradigm { name: paradigm.into(), version: version.into() });
        choice::said();
    }
    is_recorded()
}

/// Says who this process is in a world of a paradigm: its rank, their number, and a key that is the same for all of them and for nobody else.
/// Returns the world's number, for what is defined in it.
pub fn identify(paradigm: &str, rank: u32, size: u32, key: u64) -> u32 {
    /// Whether the room of the recording was dealt out among the processes of a job.
    static SHARED: AtomicBool = AtomicBool::new(false);
    let number = next_world();
    job::tell(key);
    // A world of threads may have come first.
    if !SHARED.swap(true, Ordering::Relaxed) {
        room::share(size);
    }
    log(&Line::World { number, paradigm: paradigm.into(), of: Unit::Process, rank, size, key: Hex(key) });
    number
}

/// Says that threads of this process are the PEs of a paradigm. Returns the number of their world, which all that have a lane are in.
pub fn identify_threads(paradigm: &str) -> u32 {
    let number = next_world();
    log(&Line::World { number, paradigm: paradigm.into(), of: Unit::Thread, rank: 0, size: 0, key: Hex(0) });
    number
}

/// The number of another world; the first one makes the process known.
fn next_world() -> u32 {
    static WORLDS: AtomicU32 = AtomicU32::new(0);
    let number = WORLDS.fetch_add(1, Ordering::Relaxed);
    // It is some time since the first reading of the clocks: with this one a process that is killed has a rate.
    calibrate();
    death::watch();
    if number == 0 {
        renew();
    }
    number
}

/// Threads begin to be measured now.
fn renew() {
    let Some(Some(process)) = PROCESS.get().filter(|_| is_recorded()) else { return };
    let mut lanes = process.lanes();
    lanes.all.values_mut().filter_map(|(_, since)| since.as_mut()).for_each(Since::renew);
}

/// Turns recording off or on, on behalf of the program.
pub fn switch(on: bool) {
    turn(Why::Program, on);
}

/// Turns it off or on for a reason; it is on where there is none to be off.
pub(crate) fn turn(why: Why, on: bool) {
    let Some(mut lane) = lane() else { return };
    let is_off = state::would_pause(why, on);
    if is_paused() == is_off {
        return state::turn(why, on);
    }
    records::samples(&mut lane);
    state::turn(why, on);
    lane.settle();
    records::measurement(&mut lane, !is_off);
}

/// The process ends, or this paradigm does, in this way. Recording may go on afterwards.
pub fn end(how: How) {
    /// Whether it was told on which processors the process ran last.
    static HAS_CPUS: AtomicBool = AtomicBool::new(false);
    /// Whether it was told that no phase was met.
    static SAID: AtomicBool = AtomicBool::new(false);
    let Some(Some(process)) = PROCESS.get() else { return };
    if !is_recorded() {
        return;
    }
    // What follows now is the recorder's: it is no sign that the program went on after its paradigm.
    for (rest, since) in process.lanes().all.values_mut() {
        since.iter_mut().for_each(|since| since.report(rest.events()));
    }
    if how == How::Exit {
        team::ends();
    }
    if !SAID.swap(true, Ordering::Relaxed) {
        phases::say();
    }
    signals::say();
    calibrate();
    // A process that exits after its paradigm has ended has told its processors then.
    if !HAS_CPUS.swap(true, Ordering::Relaxed) || how != How::Exit {
        log::OPEN.get().into_iter().for_each(log_cpus);
    }
    let lanes = process.lanes();
    // SAFETY: lanes in the list are not closed, and it is locked.
    lanes.all.values().for_each(|(rest, _)| unsafe { rest.store() });
    let recorder = (lanes.all.len() * process.settings.ring) as u64;
    log(&Line::Memory { peak: peak_memory(), recorder, limit: memory() });
    sample::report(lanes.all.values().filter_map(|(rest, _)| rest.samples()));
    log(&Line::End { how });
}

/// The process is being ended from outside, by a library of its own: however that goes about it, nothing is told of it.
pub fn killed() {
    state::leave_alone();
}

/// The process is about to end, in a way that nobody else tells.
pub(crate) fn leave() {
    if may_be_in_handler() {
        leave_in_handler();
    } else {
        end(How::Exit);
    }
}

/// The same without memory, and without locks that may be taken: of the process nothing else is told.
fn leave_in_handler() {
    let Some((Some(process), log)) = PROCESS.get().zip(log::OPEN.get()) else { return };
    let mut line = [0; 32];
    let mut rest = &mut line[..];
    let _ = writeln!(rest, "{}", Line::End { how: How::Exit });
    let used = 32 - rest.len();
    log.at_once(&line[..used]);
    if let Ok(lanes) = process.lanes.try_lock() {
        // SAFETY: lanes in the list are not closed, and it is locked.
        lanes.all.values().for_each(|(rest, _)| unsafe { rest.store() });
    }
}

/// Whether this process is recorded, and is not one that `vfork` lent the memory of that.
pub(crate) fn is_own() -> bool {
    let is_own = |process: &Process| process.id == std::process::id();
    is_recorded() && PROCESS.get().and_then(Option::as_ref).is_some_and(is_own)
}

/// The calling thread's lane. This is a place and no borrow: a step of the recorder borrows it for as long as it takes, and never while code
/// of the program or of its MPI runs, which may come back and take the lane as well.
#[derive(Debug)]
pub(crate) struct OwnLane(NonNull<Lane>);

impl OwnLane {
    /// The same place.
    #[allow(clippy::inline_always, reason = "nothing")]
    #[inline(always)]
    pub(crate) fn again(&mut self) -> OwnLane {
        OwnLane(self.0)
    }
}

impl Deref for OwnLane {
    type Target = Lane;

    #[allow(clippy::inline_always, reason = "nothing")]
    #[inline(always)]
    fn deref(&self) -> &Lane {
        // SAFETY: a lane lives until its thread gives it back, at its end. It is this thread's, which cannot send it away, and no other step of it
        // is under way: steps call nothing that is recorded, and handlers of signals find the lane busy.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for OwnLane {
    #[allow(clippy::inline_always, reason = "nothing")]
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Lane {
        // SAFETY: it lives, and is borrowed by one step at a time, see `deref`.
        unsafe { self.0.as_mut() }
    }
}

/// The calling thread's lane; none if it is not recorded.
#[inline]
pub(crate) fn lane() -> Option<OwnLane> {
    made_lane().or_else(|| make_lane(Maker::Unknown))
}

/// The same of a thread that the program has just made, which may go on with the lane of one that has ended.
pub(crate) fn lane_of_new() -> Option<OwnLane> {
    made_lane().or_else(|| make_lane(Maker::Program))
}

/// The same of a thread that is in a team. If it has no lane yet, a runtime made it.
pub(crate) fn lane_of_member(team: u32) -> Option<OwnLane> {
    let mut lane = made_lane().or_else(|| make_lane(Maker::Runtime(team)))?;
    if let Some(last) = &mut lane.team {
        *last = team;
    }
    Some(lane)
}

/// The calling thread is about to end, and another one may go on with its lane already.
pub(crate) fn hand_on() {
    if let Some(OwnLane(lane)) = made_lane() {
        LANE.set(0);
        give_back(lane.as_ptr().cast());
    }
}

/// The calling thread's lane, if it has one already.
#[allow(clippy::inline_always, reason = "the first thing that each recorded call does")]
#[inline(always)]
pub(crate) fn made_lane() -> Option<OwnLane> {
    NonNull::new(LaneWord::get() as *mut Lane).map(OwnLane)
}

#[cold]
fn make_lane(maker: Maker) -> Option<OwnLane> {
    if !is_recorded() || BUSY.get() {
        return None;
    }
    let Some(Some(process)) = PROCESS.get() else { return None };
    BUSY.set(true);
    let begin = clock::now();
    let free = process.lanes().take(maker);
    let made = match free {
        Some((thread, Free { mut lane, ran, .. })) => {
            // SAFETY: it was in the list, so nobody else has it.
            unsafe { lane.as_mut() }.go_on();
            Some((thread, lane, Some(ran)))
        }
        None => new_lane(process).map(|(thread, lane)| (thread, lane, None)),
    };
    let lane = made.map(|(thread, mut lane, before)| {
        begin_sampling(process, &mut lane);
        if let Maker::Runtime(team) = maker {
            // SAFETY: it is this thread's.
            unsafe { lane.as_mut() }.team = Some(team);
        }
        // SAFETY: as above.
        let rest = unsafe { lane.as_ref() }.rest();
        LaneWord::set(lane.as_ptr() as usize);
        LANE.set(lane.as_ptr() as usize);
        let tid = thread_id();
        // SAFETY: as above.
        unsafe { lane.as_ref() }.header().tid.store(tid as u64, Ordering::Relaxed);
        let ran = before.unwrap_or_default();
        let since = match maker {
            Maker::Program => Some(Since::begin(thread, tid, ran)),
            Maker::Unknown | Maker::Runtime(_) => Since::now(thread, tid, ran),
        };
        process.lanes().all.insert(thread, (rest, since));
        if before.is_none() {
            log(&Line::Thread { number: thread, tid, name: thread_name().into() });
        }
        take_out(begin);
        OwnLane(lane)
    });
    // A thread without a lane stays busy and is not asked again.
    BUSY.set(lane.is_none());
    lane
}

/// A lane that nobody had, and its number.
fn new_lane(process: &Process) -> Option<(u32, NonNull<Lane>)> {
    let thread = process.threads.fetch_add(1, Ordering::Relaxed);
    match create_lane(process, thread) {
        Ok(lane) => Some((thread, NonNull::from(Box::leak(Box::new(lane))))),
        Err(error) => {
            crate::note(&format!("thread {thread} is not recorded: {error}"));
            None
        }
    }
}

/// A thread's lane ends with the thread; that of the main thread ends with the process.
static LANE: AtThreadEnd = AtThreadEnd::new(give_back);

extern "C" fn give_back(lane: *mut c_void) {
    // A child made by `fork` has its parent's lane.
    let Some(Some(process)) = PROCESS.get().filter(|_| is_recorded()) else { return };
    // A signal's handler that calls what is recorded must not make another lane meanwhile.
    BUSY.set(true);
    // SAFETY: made by `Box::leak`, and this thread's own; it is closed below, or another one's then.
    let own = unsafe { &mut *lane.cast::<Lane>() };
    let has_ended = creation::end(own);
    LaneWord::set(0);
    if has_ended {
        own.rest_from_thread();
    }
    let (thread, ran) = (own.thread(), ran::own());
    // Held until the lane is closed or free: who stores all lanes must not meet half a one.
    let mut lanes = process.lanes();
    let known = lanes.all.remove(&thread);
    let ran = known.and_then(|(rest, since)| Some(since?.report_as(rest.events(), ran))).unwrap_or_default();
    if has_ended {
        if lanes.free.len() >= WARM {
            own.cool();
        }
        lanes.all.insert(thread, (own.rest(), None));
        let team = own.team;
        lanes.free.insert(thread, Free { lane: NonNull::from(own), team, ran });
    } else {
        // SAFETY: made by `Box::leak`, this thread's own, and in nobody's list any more.
        unsafe { Box::from_raw(lane.cast::<Lane>()).close() };
    }
    BUSY.set(false);
}

/// Looks from now on where the thread of a lane is, if that was asked for and if its calls have paths.
fn begin_sampling(process: &Process, lane: &mut NonNull<Lane>) {
    let Settings { sample, depth, mode, .. } = process.settings;
    if sample > 0 && depth > 0 && mode == Mode::Trace && frame::is_trusted() {
        // SAFETY: the lane stays where it is, and is this thread's, which does nothing else with it now.
        let lane = unsafe { lane.as_mut() };
        lane.sampler = match lane.sampler.take() {
            // SAFETY: it is the lane's, so it is this thread's now.
            Some(sampler) => unsafe { sample::go_on(sampler, sample) },
            None => sample::begin(sample, NonNull::from(&lane.attention), NonNull::from(lane.header())),
        };
    }
}

fn create_lane(process: &Process, thread: u32) -> std::io::Result<Lane> {
    let Settings { ring, depth, mode, counters, exact_polls, budget, keeps_newest, .. } = &process.settings;
    // In a profile it holds no events.
    let ring = if *mode == Mode::Profile { CHUNK_SIZE } else { *ring };
    let mut lane = Lane::create(&process.stem, thread, ring, *depth)?;
    budget.iter().for_each(|share| lane.sites.limit(*share));
    match mode {
        Mode::Trace => {
            (lane.joins_polls, lane.keeps_newest) = (!exact_polls, *keeps_newest);
            if let Some(counters) = Counters::open(counters) {
                lane.keep = Keep::EventsAndCounters(Box::new(counters));
            }
        }
        Mode::Profile => {
            let profile = Profile::create(&process.stem, thread, counters::of_profile(counters))?;
            lane.keep = Keep::Statistics(Box::new(profile));
        }
    }
    Ok(lane)
}

/// Run by the loader: whether frames can be trusted must be known before the first wrapper looks at its own.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        let [records, adapts] = ["PARTUNE_DIR", "PARTUNE_ADAPT"].map(|name| std::env::var_os(name).is_some());
        if records {
            clock::choose();
            masks::begin();
        }
        // Who adapts needs its callers as well: their libraries bring their runtimes.
        if records || adapts {
            unwind::probe();
        }
        if records {
            BEGAN.store(clock::now(), Ordering::Relaxed);
        }
    }
    at_load
};

/// When the program began: in ticks; 0 if nobody asked to record it. Later than it was by what the recorder took since then for its own start, of which
/// the program would seem to be that slow.
static BEGAN: AtomicU64 = AtomicU64::new(0);

pub(crate) fn began() -> u64 {
    BEGAN.load(Ordering::Relaxed)
}

/// What the calling thread did since a time was the recorder's start; of threads but the main one that delays nothing.
fn take_out(begin: u64) {
    if began() > 0 && is_main_thread() {
        BEGAN.fetch_add(clock::now().saturating_sub(begin), Ordering::Relaxed);
    }
}

pub(crate) fn is_main_thread() -> bool {
    thread_id() == i64::from(std::process::id())
}

fn start() -> Option<Process> {
    let settings = Settings::read()?;
    if let Some(words) = &settings.phase {
        phases::choose(words);
    }
    room::limit(settings.max_size.unwrap_or(u64::MAX));
    if settings.folder.join(ANCHOR).exists() {
        // The archive is complete: whoever is late is not recorded.
        return None;
    }
    let folder = settings.folder.join(PARTS);
    let _ = std::fs::create_dir_all(&folder);
    let host = host();
    let (stem, log) = open_log(&folder, &host)?;
    let log = log::OPEN.get_or_init(|| log);
    let id = std::process::id();
    let process = Process { id, settings, stem, threads: AtomicU32::new(0), lanes: Mutex::default() };
    let text = |text: &std::ffi::OsStr| Text::from(text.to_string_lossy().into_owned());
    let path = text(std::env::current_exe().unwrap_or_default().as_os_str());
    let arguments = std::env::args_os().skip(1).map(|argument| text(&argument)).collect();
    let (host, mode) = (host.as_str().into(), process.settings.mode);
    log.line(&Line::Partune { version: VERSION });
    log.line(&Line::Process { pid: id, host, boot: Hex(boot()), clock: clock::source(), mode });
    log.line(&Line::Program { path, arguments });
    log.line(&Line::Calibrate { reading: clock::calibration() });
    if let Some(Err(error)) = process.settings.scratch.clone().map(scratch::choose) {
        let text = format!("the scratch folder was not used: {error}").into();
        log.line(&Line::Note { text });
    }
    if let Some(signal) = process.settings.toggle {
        phases::choose_signal(signal);
    }
    if let Some(Err(error)) = process.settings.window.map(phases::choose_window) {
        let text = format!("no timer for the time of which a recording was wanted: {error}").into();
        log.line(&Line::Note { text });
    }
    if process.settings.depth > 0 && !frame::is_trusted() {
        let text = "call paths are not recorded: the recorder was built without frame pointers".into();
        log.line(&Line::Note { text });
    }
    log_cpus(log);
    // SAFETY: functions without arguments that touch this crate's statics only.
    unsafe {
        libc::pthread_atfork(None, None, Some(leave_child_alone));
        libc::atexit(at_exit);
        at_quick_exit(at_exit);
    }
    Some(process)
}

unsafe extern "C" {
    fn at_quick_exit(act: extern "C" fn()) -> c_int;
}

/// The log of this process: a number that was used before, in another container or before an `exec`, gets a suffix.
fn open_log(folder: &Path, host: &str) -> Option<(PathBuf, Log)> {
    (0..1000).find_map(|again| {
        let suffix = if again == 0 { String::new() } else { format!("-again{again}") };
        let stem = folder.join(format!("{host}-{}{suffix}", std::process::id()));
        let log = Log::create(&stem.with_extension("log")).ok()?;
        Some((stem, log))
    })
}

/// A child shares the parent's mapped lanes and must not write to them.
extern "C" fn leave_child_alone() {
    state::leave_alone();
    LaneWord::set(0);
}

extern "C" fn at_exit() {
    end(How::Exit);
}

/// Which processors this process may use now.
fn log_cpus(log: &Log) {
    let Cpus { allowed, online, model, quota } = cpus();
    log.line(&Line::Cpus { allowed: allowed.into(), online, model: model.into(), quota });
}

fn thread_id() -> i64 {
    // SAFETY: a system call without arguments.
    unsafe { libc::syscall(libc::SYS_gettid) }
}

fn thread_name() -> String {
    let mut name = [0_u8; 32];
    // SAFETY: the system writes at most 16 bytes, the last one 0.
    let known = unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) } == 0;
    let text = CStr::from_bytes_until_nul(&name).ok().filter(|_| known);
    text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
