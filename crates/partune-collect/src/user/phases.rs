//! Recording inside of some marks only: phases, regions or loops of one name, or so many of them; or between two times, or two signals.
//!
//! What is outside is switched off as the program itself could do it. Start-up and shut-down are always recorded, so that it is known how
//! long the run took. A process is in a phase when one of its threads is. At the two times a timer says that the next call is to switch, and so does the
//! handler of the signal: no call looks at a clock for that.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use partune_parts::clock;

use super::names::Named;
use crate::region::Kind;
use crate::state::{self, Why};
use crate::{process, signals, timer};

/// What the launcher asked for.
#[derive(Debug)]
struct Chosen {
    name: String,
    /// Visits of a phase or a region, turns of a loop; none: all of them.
    most: Option<u64>,
}

static CHOSEN: OnceLock<Chosen> = OnceLock::new();
/// Open visits now, those that were begun, and turns of loops.
static OPEN: AtomicU64 = AtomicU64::new(0);
static BEGUN: AtomicU64 = AtomicU64::new(0);
static TURNS: AtomicU64 = AtomicU64::new(0);

/// `NAME` or `NAME:COUNT`, before anything is recorded.
pub(crate) fn choose(words: &str) {
    let (name, most) = match words.rsplit_once(':').map(|(name, count)| (name, count.parse().ok())) {
        Some((name, Some(most))) => (name, Some(most)),
        _ => (words, None),
    };
    if CHOSEN.set(Chosen { name: name.to_owned(), most }).is_ok() {
        state::turn(Why::Outside, false);
    }
}

/// The two times, in nanoseconds since 1970.
static WINDOW: OnceLock<[u64; 2]> = OnceLock::new();
/// Whether a signal turns recording on and off, and how often it came: recording is on from each odd one to the next.
static IS_TOGGLED: AtomicBool = AtomicBool::new(false);
static SIGNALS: AtomicU64 = AtomicU64::new(0);
/// Whether a paradigm begins or ends, which is recorded at any time.
static EVERYWHERE: AtomicBool = AtomicBool::new(false);

/// Only what is between two times, in nanoseconds since 1970, before anything is recorded. Says what stands in the way, if the system has no timer for it.
pub(crate) fn choose_window(window: [u64; 2]) -> std::io::Result<()> {
    if WINDOW.set(window).is_ok() && !is_inside() {
        state::turn(Why::Outside, false);
    }
    let mut ahead = window.into_iter().filter(|time| *time > clock::wall() && *time < u64::MAX);
    ahead.try_for_each(|time| timer::at(time, state::set_due))
}

/// From one signal to the next, before anything is recorded.
pub(crate) fn choose_signal(signal: c_int) {
    extern "C" fn toggle(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
        SIGNALS.fetch_add(1, Relaxed);
        state::set_due();
    }
    if signals::handle(signal, toggle, libc::SA_RESTART, false) {
        IS_TOGGLED.store(true, Relaxed);
        state::turn(Why::Outside, false);
    }
}

/// Whether what is done now is wanted, of phases, times and signals.
fn is_inside() -> bool {
    let is_in_phase = CHOSEN.get().is_none() || OPEN.load(Relaxed) > 0;
    let is_in_window = WINDOW.get().is_none_or(|[begin, end]| (*begin..*end).contains(&clock::wall()));
    is_in_phase && is_in_window && (!IS_TOGGLED.load(Relaxed) || SIGNALS.load(Relaxed) % 2 == 1)
}

fn is_chosen() -> bool {
    CHOSEN.get().is_some() || WINDOW.get().is_some() || IS_TOGGLED.load(Relaxed)
}

/// From now on everything is recorded: a paradigm begins or ends.
pub fn record_everywhere() {
    if is_chosen() {
        EVERYWHERE.store(true, Relaxed);
        process::turn(Why::Outside, true);
    }
}

/// From now on nothing is recorded but what is in the phases and the time that were chosen, if they were.
pub fn record_in_phases() {
    if is_chosen() {
        EVERYWHERE.store(false, Relaxed);
        process::turn(Why::Outside, is_inside());
    }
}

/// One of the two times has come, or a signal. Inside of a call that is left to the next one.
pub(crate) fn look() {
    if process::lane().is_some_and(|lane| lane.attention.calls() == 0) && state::take_due() {
        process::turn(Why::Outside, EVERYWHERE.load(Relaxed) || is_inside());
    }
}

/// A mark is about to begin. A loop whose turns are over is to end before.
pub(super) fn begins(mark: &Named) -> Option<Over> {
    let chosen = of(mark)?;
    if mark.region.kind == Kind::Iteration {
        let is_over = OPEN.load(Relaxed) > 0 && chosen.most.is_some_and(|most| TURNS.fetch_add(1, Relaxed) >= most);
        return is_over.then_some(Over);
    }
    let is_loop = mark.region.kind == Kind::Loop;
    let before = if is_loop { TURNS.load(Relaxed) } else { BEGUN.load(Relaxed) };
    if chosen.most.is_none_or(|most| before < most) {
        BEGUN.fetch_add(1, Relaxed);
        if OPEN.fetch_add(1, Relaxed) == 0 {
            process::turn(Why::Outside, is_inside());
        }
    }
    None
}

/// All turns of the loop around that were wanted are recorded.
pub(super) struct Over;

/// A mark has ended.
pub(super) fn ended(mark: &Named) {
    if of(mark).is_some() && mark.region.kind != Kind::Iteration {
        let _ = OPEN.fetch_update(Relaxed, Relaxed, |open| open.checked_sub(1));
        record_in_phases();
    }
}

/// Says at the end if there was none of them, or if the end came before the time or the signal.
pub(crate) fn say() {
    let ahead = WINDOW.get().and_then(|window| window[0].checked_sub(clock::wall())).filter(|ahead| *ahead > 0);
    if let Some(ahead) = ahead {
        crate::note(&format!(
            "a process ended {:.3} s before the time of which a recording was wanted began, so nothing between its start-up and its shut-down was recorded",
            ahead as f64 / 1e9
        ));
    }
    if IS_TOGGLED.load(Relaxed) && SIGNALS.load(Relaxed) == 0 {
        crate::note(
            "a process never got the signal that turns recording on, so nothing between its start-up and its shut-down was recorded",
        );
    }
    if let Some(chosen) = CHOSEN.get().filter(|_| BEGUN.load(Relaxed) == 0) {
        crate::note(&format!(
            "no phase, region or loop {} was marked by the program, so nothing between start-up and shut-down was recorded",
            chosen.name
        ));
    }
}

fn of(mark: &Named) -> Option<&'static Chosen> {
    CHOSEN.get().filter(|chosen| chosen.name == mark.region.name)
}
