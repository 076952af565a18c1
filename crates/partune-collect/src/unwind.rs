//! The stack of the calling thread, walked by the tables that every binary carries for exceptions (`.eh_frame`).
//!
//! Slow (about a microsecond a frame) and right for code without frame pointers; [`crate::paths`] remembers the result and proves by a few
//! loads that it still holds, so this runs once a call path. The walker is that of the compiler's runtime library (`_Unwind_Backtrace`).

use std::ffi::{c_int, c_void};

use crate::frame::Frame;

/// A frame of the user's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Where it goes on: a return address.
    pub(crate) address: usize,
    /// Just above where that address is stored (the canonical frame address of what it called).
    pub(crate) below: usize,
    /// The first instruction of its function; 0 if unknown.
    pub(crate) function: usize,
    /// Its frame pointer register.
    pub(crate) base: usize,
}

#[repr(C)]
struct Context(c_void);

unsafe extern "C" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut Context, *mut c_void) -> c_int, argument: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetGR(context: *mut Context, register: c_int) -> usize;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
}

/// The frame pointer's number in DWARF.
#[cfg(target_arch = "x86_64")]
const BASE: c_int = 6;
#[cfg(not(target_arch = "x86_64"))]
const BASE: c_int = 29;

const GO_ON: c_int = 0;
/// Ends the walk (`_URC_NORMAL_STOP`).
const STOP: c_int = 4;

struct Walk<'a> {
    /// Frames below this address are the recorder's own.
    from: usize,
    limit: usize,
    steps: &'a mut Vec<Step>,
}

extern "C" fn step(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the argument is the walk given below; the context is valid during this call.
    let (walk, address, below) =
        unsafe { (&mut *walk.cast::<Walk<'_>>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if below < walk.from {
        return GO_ON;
    }
    if address == 0 || walk.steps.len() == walk.limit {
        return STOP;
    }
    // SAFETY: the unwinder's context, which it gives to this callback for this frame.
    let (base, function) = unsafe { (_Unwind_GetGR(context, BASE), _Unwind_GetRegionStart(context)) };
    walk.steps.push(Step { address, below, function, base });
    GO_ON
}

/// The frames of the program from the caller of a wrapper outwards, at most `limit`.
pub(crate) fn walk(frame: Frame, limit: usize, steps: &mut Vec<Step>) {
    steps.clear();
    // The wrapper's return address is stored in its second word.
    let from = frame.base + 2 * size_of::<usize>();
    let mut walk = Walk { from, limit, steps };
    // SAFETY: the callback matches its argument.
    unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
}

/// Whether [`Frame`]s are what the walker sees: the library was compiled with frame pointers.
#[inline(never)]
pub(crate) fn agrees(frame: Frame, top: usize) -> bool {
    let here = &raw const top as usize;
    let mut steps = Vec::new();
    walk(Frame { base: here.wrapping_sub(4096), return_address: 0 }, 8, &mut steps);
    let stored = frame.base.wrapping_add(2 * size_of::<usize>());
    steps.iter().any(|step| step.below == stored && step.address == frame.return_address)
}
