//! Whether this process is recorded, and whether the program wants it to be now.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::user::phases;

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
    /// It is outside of the phases or of the time that the user chose.
    Outside = 2,
}

/// Whether this process is recorded now.
#[inline]
pub fn is_recorded() -> bool {
    STATE.load(Ordering::Relaxed) == RECORDED
}

/// Added to the reasons: the time has come to look whether one of them has ended or begun.
const DUE: u8 = 128;

/// Whether recording is turned off, by the program or by the user. If it is time, the calling thread turns it off or on before: who calls this has its
/// lane in no other hands.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub fn is_paused() -> bool {
    is_quiet() && is_still_paused()
}

/// The same for handlers of signals, which turn nothing.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn is_quiet() -> bool {
    PAUSED.load(Ordering::Relaxed) != 0
}

#[cold]
fn is_still_paused() -> bool {
    if PAUSED.load(Ordering::Relaxed) & DUE != 0 {
        phases::look();
    }
    is_off()
}

/// Whether recording is turned off, whatever it may be time for.
pub(crate) fn is_off() -> bool {
    PAUSED.load(Ordering::Relaxed) & !DUE != 0
}

/// Says that it is time. For handlers and other threads.
pub(crate) fn set_due() {
    PAUSED.fetch_or(DUE, Ordering::Relaxed);
}

/// Whether it was time; it is not any more.
pub(crate) fn take_due() -> bool {
    PAUSED.fetch_and(!DUE, Ordering::Relaxed) & DUE != 0
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
    let others = PAUSED.load(Ordering::Relaxed) & !(why as u8 | DUE);
    others != 0 || !on
}

pub(crate) fn turn(why: Why, on: bool) {
    if on {
        PAUSED.fetch_and(!(why as u8), Ordering::Relaxed);
    } else {
        PAUSED.fetch_or(why as u8, Ordering::Relaxed);
    }
}
