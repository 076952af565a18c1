//! Whether this process is recorded, and whether the program wants it to be now.

use std::sync::atomic::{AtomicU8, Ordering};

const UNDECIDED: u8 = 0;
const RECORDED: u8 = 1;
const LEFT_ALONE: u8 = 2;
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
/// Bits of [`Why`].
static PAUSED: AtomicU8 = AtomicU8::new(0);

/// Why nothing is recorded now. Both may be true at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Why {
    /// The program wants it so.
    Program = 1,
    /// It is outside of the phases that the user chose.
    Outside = 2,
}

/// Whether this process is recorded now.
#[inline]
pub fn is_recorded() -> bool {
    STATE.load(Ordering::Relaxed) == RECORDED
}

/// Whether recording is turned off, by the program or by the user.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub fn is_paused() -> bool {
    PAUSED.load(Ordering::Relaxed) != 0
}

/// Decides, once, whether it is recorded.
pub(crate) fn decide(start: impl FnOnce() -> bool) {
    if STATE.load(Ordering::Acquire) == UNDECIDED {
        let state = if start() { RECORDED } else { LEFT_ALONE };
        let _ = STATE.compare_exchange(UNDECIDED, state, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// From now on it is not.
pub(crate) fn leave_alone() {
    STATE.store(LEFT_ALONE, Ordering::Relaxed);
}

/// Whether it would be turned off, if it were on or off for this reason.
pub(crate) fn would_pause(why: Why, on: bool) -> bool {
    let others = PAUSED.load(Ordering::Relaxed) & !(why as u8);
    others != 0 || !on
}

pub(crate) fn turn(why: Why, on: bool) {
    if on {
        PAUSED.fetch_and(!(why as u8), Ordering::Relaxed);
    } else {
        PAUSED.fetch_or(why as u8, Ordering::Relaxed);
    }
}
