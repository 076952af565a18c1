//! Shared work, as a runtime tells of it.

use partune_collect::frame;
use partune_collect::{Region, enter_region, leave_one_of, leave_region};

use super::abi::{BEGIN, Data, END, Place, Word};
use super::loops;
use super::sync::{self, at_once};
use crate::work::{LOOPS, SECTIONS};

pub(super) static SINGLE: Region = crate::construct("omp single");
static WORKSHARE: Region = crate::construct("omp workshare");
static DISTRIBUTE: Region = crate::construct("omp distribute");
static TASKLOOP: Region = crate::construct("omp taskloop");
static SCOPE: Region = crate::construct("omp scope");
static MASKED: Region = crate::construct("omp masked");
static CANCEL: Region = crate::construct("omp cancel");
static CANCELLATION_POINT: Region = crate::construct("omp cancellation point");

const SINGLE_EXECUTOR: Word = 3;
const TASK_LOOP: Word = 7;

/// A thread begins or ends its part of shared work.
pub(super) unsafe extern "C" fn work(kind: Word, endpoint: Word, _: *mut Data, _: *mut Data, _: u64, place: Place) {
    // LLVM has own numbers for schedules of loops.
    let is_loop = matches!(kind, 1 | 10..=13);
    if is_loop && endpoint == END {
        leave_one_of(&LOOPS);
        return;
    }
    let region = match kind {
        _ if is_loop => loops::told(),
        2 => &SECTIONS,
        SINGLE_EXECUTOR => &SINGLE,
        5 => &WORKSHARE,
        6 => &DISTRIBUTE,
        TASK_LOOP => &TASKLOOP,
        8 => &SCOPE,
        // Somebody else runs the `single`.
        _ => return,
    };
    let is_single = kind == SINGLE_EXECUTOR;
    if endpoint == BEGIN {
        let frame = frame::called_from(place);
        if kind != TASK_LOOP {
            sync::end_single();
        }
        enter_region(region, frame);
        if is_single {
            sync::set_single(true);
        }
    } else if endpoint == END {
        leave_region(region);
        if is_single {
            sync::set_single(false);
        }
    }
}

pub(super) unsafe extern "C" fn masked(endpoint: Word, _: *mut Data, _: *mut Data, place: Place) {
    if endpoint == BEGIN {
        enter_region(&MASKED, frame::called_from(place));
    } else if endpoint == END {
        leave_region(&MASKED);
    }
}

/// A thread cancels something, or sees that it is cancelled.
pub(super) unsafe extern "C" fn cancel(_: *mut Data, flags: Word, place: Place) {
    const ACTIVATED: Word = 0x10;
    const DETECTED: Word = 0x20;
    let frame = frame::called_from(place);
    if flags & ACTIVATED != 0 {
        at_once(&CANCEL, frame, |_| {});
    } else if flags & DETECTED != 0 {
        at_once(&CANCELLATION_POINT, frame, |_| {});
    }
}
