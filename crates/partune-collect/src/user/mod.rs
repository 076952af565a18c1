//! What programs mark themselves: regions, phases, loops and their iterations, and functions that a compiler instrumented.
//!
//! For users, through `include/partune.h`, `fortran/partune.f90` and the crate `partune-regions`, which find the functions of
//! this module in whatever library of the recorder is loaded, and do nothing where none is. The first mark of a program starts
//! recording, if it was asked for: who marks is no launcher. Misuse is never an error of the program: it is noted once for
//! each region, and what can be recorded is.

pub mod filter;
mod functions;
mod marks;
mod names;
pub(crate) mod phases;

use std::ffi::{c_char, c_void};

use crate::frame;
use crate::region::Kind;

pub use phases::{record_everywhere, record_in_phases};

/// A region of code begins on the calling thread.
///
/// # Safety
///
/// `name` is a C string or null; it is read, not kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partune_region_begin(name: *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { marks::begin(name, Kind::Code, frame::here()) };
}

/// The region ends; null ends the innermost one.
///
/// # Safety
///
/// As for [`partune_region_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partune_region_end(name: *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { marks::end(name, Kind::Code) };
}

/// A phase of the program begins.
///
/// # Safety
///
/// As for [`partune_region_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partune_phase_begin(name: *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { marks::begin(name, Kind::Phase, frame::here()) };
}

/// The phase ends; null ends the innermost one.
///
/// # Safety
///
/// As for [`partune_region_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partune_phase_end(name: *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { marks::end(name, Kind::Phase) };
}

/// A loop begins whose iterations will be marked.
///
/// # Safety
///
/// As for [`partune_region_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partune_loop_begin(name: *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { marks::begin(name, Kind::Loop, frame::here()) };
}

/// The innermost loop ends, and its iteration if one is open.
#[unsafe(no_mangle)]
pub extern "C" fn partune_loop_end() {
    // SAFETY: null is a name.
    unsafe { marks::end(std::ptr::null(), Kind::Loop) };
}

/// An iteration of the innermost loop begins; it ends the one before, if that is still open.
#[unsafe(no_mangle)]
pub extern "C" fn partune_iteration_begin() {
    marks::begin_iteration(frame::here());
}

/// The iteration ends.
#[unsafe(no_mangle)]
pub extern "C" fn partune_iteration_end() {
    // SAFETY: null is a name.
    unsafe { marks::end(std::ptr::null(), Kind::Iteration) };
}

/// Nothing is recorded from now on, until it is turned on again.
#[unsafe(no_mangle)]
pub extern "C" fn partune_record_off() {
    marks::turn(false);
}

/// Recording goes on.
#[unsafe(no_mangle)]
pub extern "C" fn partune_record_on() {
    marks::turn(true);
}

/// An instrumented function begins; compilers put this call into programs (`-finstrument-functions`).
#[unsafe(no_mangle)]
pub extern "C" fn __cyg_profile_func_enter(function: *mut c_void, _: *mut c_void) {
    functions::enter(function as usize, frame::here());
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __cyg_profile_func_exit(function: *mut c_void, _: *mut c_void) {
    functions::exit(function as usize);
}
