//! Where a wrapper was called from.
//!
//! The libraries of the collector are compiled with frame pointers, so the frame of a wrapper begins with the caller's frame pointer and the
//! return address. The user's program need not have any, and neither need a runtime that calls one of our functions: [`called_from`] finds the frame
//! of the runtime's function that the program called.

use std::hint::cold_path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::process::lane;

/// The frame of a wrapper, or of a runtime's function that the program called.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The wrapper's frame pointer: its caller's frame pointer and the return address are stored here.
    pub(crate) base: usize,
    /// The return address: the instruction after the call in the user's program.
    pub(crate) return_address: usize,
    /// Where the caller's frame pointer is stored. It follows from the others.
    pub(crate) saved: usize,
}

impl PartialEq for Frame {
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn eq(&self, other: &Frame) -> bool {
        self.base == other.base && self.return_address == other.return_address
    }
}

impl Frame {
    /// No frame: the call path is the region alone.
    pub const NONE: Frame = Frame { base: 0, return_address: 0, saved: 0 };

    /// Where the caller goes on; 0 if that is not known.
    pub fn return_address(self) -> usize {
        self.return_address
    }
}

static TRUSTED: AtomicBool = AtomicBool::new(false);

/// The frame of the function that this is inlined into, which must be the one that the user's program calls.
#[allow(clippy::inline_always, reason = "it must not have a frame of its own")]
#[inline(always)]
pub fn here() -> Frame {
    if TRUSTED.load(Ordering::Relaxed) {
        read(base())
    } else {
        cold_path();
        Frame::NONE
    }
}

/// The frame of a wrapper in assembler, by its frame pointer.
pub fn at(base: usize) -> Frame {
    if TRUSTED.load(Ordering::Relaxed) { read(base) } else { Frame::NONE }
}

/// The frame of the function of a runtime that the program called, and that has called the function which this is inlined into: by the place where the
/// program goes on, which the runtime says, or 0 if it does not. None if that is not among the callers.
#[allow(clippy::inline_always, reason = "it must not have a frame of its own")]
#[inline(always)]
pub fn called_from(place: usize) -> Frame {
    if TRUSTED.load(Ordering::Relaxed) { around(read(base()), place) } else { Frame::NONE }
}

#[inline(never)]
fn around(own: Frame, place: usize) -> Frame {
    lane().map_or(Frame::NONE, |mut lane| lane.sites.around(own, place))
}

#[allow(clippy::inline_always, reason = "part of `here`")]
#[inline(always)]
pub(crate) fn base() -> usize {
    let base: usize;
    // SAFETY: reads a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("mov {}, rbp", out(reg) base, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: it reads a register, and changes neither memory nor flags.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("mov {}, x29", out(reg) base, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        base = 0;
    }
    base
}

#[allow(clippy::inline_always, reason = "part of `here`")]
#[inline(always)]
pub(crate) fn read(base: usize) -> Frame {
    // SAFETY: with frame pointers the register points to a frame of this thread's stack.
    Frame { base, return_address: unsafe { *(base as *const usize).add(1) }, saved: base }
}

/// Says whether frames are what the walker sees.
pub(crate) fn trust(trusted: bool) {
    TRUSTED.store(trusted, Ordering::Relaxed);
}

/// Whether operations can have call paths.
pub(crate) fn is_trusted() -> bool {
    TRUSTED.load(Ordering::Relaxed)
}
