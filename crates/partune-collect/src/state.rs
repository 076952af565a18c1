//! Whether this process is recorded, and whether the program wants it to be now.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const UNDECIDED: u8 = 0;
const RECORDED: u8 = 1;
const LEFT_ALONE: u8 = 2;
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Whether this process is recorded now.
#[inline]
pub fn is_recorded() -> bool {
    STATE.load(Ordering::Relaxed) == RECORDED
}

/// Whether the program turned recording off.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub fn is_paused() -> bool {
    PAUSED.load(Ordering::Relaxed)
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

pub(crate) fn pause(paused: bool) {
    PAUSED.store(paused, Ordering::Relaxed);
}
