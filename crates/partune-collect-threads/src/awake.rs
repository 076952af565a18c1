//! Whether threads of this process are recorded: decided when the program makes the first one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partune_collect::{definitions, is_recorded, microsecond, team};

use crate::waits::watch_forks;

/// The threads of this process, as the archive knows them.
pub(crate) struct World {
    pub(crate) number: u32,
    /// All threads that are recorded, as a team.
    pub(crate) contingent: u32,
    /// Where conditions, semaphores and locks of readers and writers have their numbers.
    pub(crate) window: u32,
    /// Waits of fewer nanoseconds are not recorded.
    shortest: u64,
    /// The same in ticks, plus one; 0 before the first wait.
    ticks: AtomicU64,
}

impl World {
    /// Waits of fewer ticks are not recorded.
    pub(crate) fn shortest(&self) -> u64 {
        if let Some(ticks) = self.ticks.load(Ordering::Relaxed).checked_sub(1) {
            return ticks;
        }
        let ticks = self.shortest.saturating_mul(microsecond()) / 1000;
        self.ticks.store(ticks.saturating_add(1), Ordering::Relaxed);
        ticks
    }
}

static WORLD: OnceLock<Option<World>> = OnceLock::new();
static IS_AWAKE: AtomicBool = AtomicBool::new(false);

/// Nanoseconds below which a wait is not recorded, unless said otherwise.
const SHORTEST: u64 = 5000;

/// What starts processes on other machines, and makes threads for that.
const LAUNCHERS: [&str; 16] = [
    "aprun",
    "hydra_pmi_proxy",
    "jsrun",
    "mpiexec",
    "mpiexec.hydra",
    "mpirun",
    "orted",
    "orterun",
    "oshrun",
    "palsd",
    "prte",
    "prted",
    "prterun",
    "sbatch",
    "srun",
    "ssh",
];

/// Whether threads are recorded now: not before there are some, and not in a child made by `fork`.
#[inline]
pub(crate) fn is_awake() -> bool {
    IS_AWAKE.load(Ordering::Relaxed) && is_recorded()
}

/// Whether this is a child made by `fork` of a process whose threads are recorded: what its threads had locked stays locked in it.
#[inline]
pub(crate) fn is_child() -> bool {
    IS_AWAKE.load(Ordering::Relaxed) && !is_recorded()
}

/// Those that are recorded.
#[inline]
pub(crate) fn world() -> Option<&'static World> {
    WORLD.get()?.as_ref().filter(|_| is_recorded())
}

/// The program makes a thread.
pub(crate) fn wake() -> Option<&'static World> {
    WORLD.get_or_init(begin).as_ref().filter(|_| is_recorded())
}

#[cold]
fn begin() -> Option<World> {
    std::env::var_os("PARTUNE_DIR")?;
    let program = std::env::current_exe().unwrap_or_default();
    if program.file_name().is_some_and(|name| LAUNCHERS.iter().any(|launcher| name == *launcher)) {
        return None;
    }
    let asked = std::env::var("PARTUNE_SHORTEST_WAIT").ok().and_then(|text| text.parse().ok());
    let shortest: u64 = asked.unwrap_or(SHORTEST);
    // SAFETY: a text of the C library's own.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    let version = format!("glibc {}, waits from {} µs on", version.to_string_lossy(), shortest as f64 / 1000.0);
    if !partune_collect::begin(crate::NAME, &version) {
        return None;
    }
    let number = partune_collect::identify_threads(crate::NAME);
    let thread = team::thread()?;
    let contingent = definitions::team(None, number, &[thread]);
    team::began(contingent);
    let window = definitions::window(contingent, 0, crate::NAME, "");
    watch_forks();
    IS_AWAKE.store(true, Ordering::Relaxed);
    Some(World { number, contingent, window, shortest, ticks: AtomicU64::new(0) })
}
