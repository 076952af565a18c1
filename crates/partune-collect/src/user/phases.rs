//! Recording inside of some marks only: phases, regions or loops of one name, or so many of them.
//!
//! What is outside is switched off as the program itself could do it. Start-up and shut-down are always recorded, so that it is known how
//! long the run took. A process is in a phase when one of its threads is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::names::Named;
use crate::process;
use crate::region::Kind;
use crate::state::Why;

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
    let _ = CHOSEN.set(Chosen { name: name.to_owned(), most });
}

/// From now on everything is recorded: a paradigm begins or ends.
pub fn record_everywhere() {
    if CHOSEN.get().is_some() {
        process::turn(Why::Outside, true);
    }
}

/// From now on nothing is recorded but what is in the phases that were chosen, if some were.
pub fn record_in_phases() {
    if CHOSEN.get().is_some() && OPEN.load(Relaxed) == 0 {
        process::turn(Why::Outside, false);
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
            process::turn(Why::Outside, true);
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

/// Says at the end if there was none of them.
pub(crate) fn say() {
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
