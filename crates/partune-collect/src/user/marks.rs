//! Begin and end of marked regions, and what is said where they do not fit together.
//!
//! Events nest on each thread, so an end first ends what was begun inside and is still open, and an end without a begin is
//! no event.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use super::names::{self, Named};
use super::phases;
use crate::frame::Frame;
use crate::region::{Kind, Region};
use crate::{call, process};

/// Kinds of misuse, as bits: each is said once for each region.
const NOT_BEGUN: u8 = 1;
const CROSSED: u8 = 2;
const NO_LOOP: u8 = 4;

/// Begins a region.
///
/// # Safety
///
/// `name` is a C string or null.
#[allow(clippy::inline_always, reason = "the frame is that of the exported function")]
#[inline(always)]
pub(super) unsafe fn begin(name: *const c_char, kind: Kind, frame: Frame) {
    if is_awake() && !name.is_null() {
        // SAFETY: not null, so a C string.
        begin_named(names::find(unsafe { CStr::from_ptr(name) }.to_bytes(), kind), frame);
    }
}

/// Begins an iteration of the innermost loop of this thread.
#[allow(clippy::inline_always, reason = "the frame is that of the exported function")]
#[inline(always)]
pub(super) fn begin_iteration(frame: Frame) {
    if is_awake() {
        iterate(frame);
    }
}

#[inline(never)]
fn iterate(frame: Frame) {
    if is_silent() {
        return;
    }
    match innermost(|kind| matches!(kind, Kind::Loop | Kind::Iteration)) {
        Some(region) if region.kind == Kind::Iteration => {
            end_named(named(region));
            iterate(frame);
        }
        Some(region) => begin_named(named_as(region, Kind::Iteration), frame),
        None => {
            let iteration = names::find(b"", Kind::Iteration);
            tell(iteration, NO_LOOP, || {
                "iterations were marked outside of a marked loop of their thread: not recorded".to_owned()
            });
        }
    }
}

#[inline(never)]
fn begin_named(named: &'static Named, frame: Frame) {
    if is_inside_call() {
        return;
    }
    if let Some(phases::Over) = phases::begins(named) {
        return end_named(named_as(&named.region, Kind::Loop));
    }
    if !is_silent() {
        call::enter_region(&named.region, frame);
        named.opened();
    }
}

/// Ends the region of a name, or the innermost one of the kind.
///
/// # Safety
///
/// `name` is a C string or null.
pub(super) unsafe fn end(name: *const c_char, kind: Kind) {
    if !is_awake() || is_silent() {
        return;
    }
    if !name.is_null() {
        // SAFETY: not null, so a C string.
        end_named(names::find(unsafe { CStr::from_ptr(name) }.to_bytes(), kind));
    } else if let Some(region) = innermost(|open| open == kind) {
        end_named(named(region));
    } else if kind != Kind::Iteration {
        // An iteration may have been refused, or ended by the next one.
        tell(names::find(b"", kind), NOT_BEGUN, || format!("a {} ended that was not begun on its thread", what(kind)));
    }
}

fn end_named(named: &'static Named) {
    let Some(lane) = process::lane() else { return };
    let begun = lane.stack.find(&named.region);
    let inside: Vec<&'static Region> = begun.map_or_else(Vec::new, |at| lane.stack.regions().skip(at + 1).collect());
    if !call::leave_region(&named.region) {
        let what = what(named.region.kind);
        let name = named.region.name;
        return tell(named, NOT_BEGUN, || match named.count() {
            0 => format!("{what} {name} ended without a begin, or was begun while recording was off"),
            _ => format!("{what} {name} ended on a thread that did not begin it"),
        });
    }
    named.closed();
    phases::ended(named);
    for region in inside {
        if matches!(region.kind, Kind::Function(_)) {
            continue;
        }
        let inner = self::named(region);
        inner.closed();
        // The end of a loop may end its iteration.
        if region.kind != Kind::Iteration || named.region.kind != Kind::Loop {
            tell(inner, CROSSED, || {
                let (outer, name) = (named.region.name, region.name);
                format!("{} {name} was ended by the end of {outer} around it", what(region.kind))
            });
        }
    }
}

/// The program turns recording off or on.
pub(super) fn turn(on: bool) {
    if is_awake() && !is_inside_call() {
        process::switch(on);
    }
}

/// The innermost open region whose kind is asked for.
fn innermost(is: impl Fn(Kind) -> bool) -> Option<&'static Region> {
    let lane = process::lane()?;
    lane.stack.regions().rev().find(|region| is(region.kind))
}

/// What the program named this region.
fn named(region: &'static Region) -> &'static Named {
    named_as(region, region.kind)
}

fn named_as(region: &'static Region, kind: Kind) -> &'static Named {
    names::find(region.name.as_bytes(), kind)
}

/// Whether marks are not recorded now: inside of recorded calls (callbacks), and where the program turned recording off.
pub(super) fn is_silent() -> bool {
    crate::is_paused() || is_inside_call()
}

fn is_inside_call() -> bool {
    process::lane().is_none_or(|lane| lane.attention.calls() != 0)
}

/// Whether this process is recorded; the first mark starts that.
#[allow(clippy::inline_always, reason = "the hot path of every mark")]
#[inline(always)]
pub(super) fn is_awake() -> bool {
    crate::is_recorded() || wake()
}

#[cold]
fn wake() -> bool {
    // No `Once`: what starts may call an instrumented function, and another thread may go on unrecorded until it has.
    static TRIED: AtomicBool = AtomicBool::new(false);
    if !TRIED.swap(true, Ordering::Relaxed) {
        process::begin("user", env!("CARGO_PKG_VERSION"));
        phases::record_in_phases();
    }
    crate::is_recorded()
}

/// Says at the end of the process what was not right. Called when there is something that may not be.
pub(super) fn say_at_exit() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    if !ASKED.swap(true, Ordering::Relaxed) {
        // SAFETY: a function without arguments that touches this crate's statics only. It runs before the log is closed,
        // since that was registered before it.
        unsafe { libc::atexit(at_exit) };
    }
}

extern "C" fn at_exit() {
    super::functions::say();
    for (named, times) in names::open() {
        let (what, name) = (what(named.region.kind), named.region.name);
        crate::note(&format!("{what} {name} was begun and not ended, {times} times"));
    }
}

/// The word for people.
fn what(kind: Kind) -> &'static str {
    if kind == Kind::Code { "region" } else { kind.word() }
}

fn tell(named: &Named, misuse: u8, text: impl FnOnce() -> String) {
    if named.is_first(misuse) {
        crate::note(&text());
    }
}
