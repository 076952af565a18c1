//! What a process dies of: a fatal signal is noted in its log, with where it struck, and then does what it would have done.
//!
//! For whoever looks for the process that died first: the launcher kills all others, so they look alike. The handler takes no lock and allocates
//! nothing. Handlers of the program and of its libraries are called after it, as they were set when it was last looked at them: when recording
//! began, and where a collector says that a runtime sets its own later. Those that are set after that take its place.

use std::ffi::{c_int, c_void};
use std::io::Write as _;
use std::sync::atomic::{AtomicPtr, Ordering};

use partune_parts::clock;

use crate::log::OPEN;
use crate::signals::{action, handle};
use crate::state::is_recorded;
use crate::unwind::Walker;

/// Signals by which programs die of themselves.
const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// Frames that are noted at most.
const FRAMES: usize = 64;

/// What was to happen at each signal before. Never freed.
static EARLIER: AtomicPtr<[libc::sigaction; FATAL.len()]> = AtomicPtr::new(std::ptr::null_mut());

/// Taken by the first that dies.
static WALKER: AtomicPtr<Walker> = AtomicPtr::new(std::ptr::null_mut());

/// Notes fatal signals from now on. Signals that the program ignores go on being ignored.
pub(crate) fn watch() {
    if earlier().is_none() {
        WALKER.store(Box::into_raw(Box::new(Walker::new())), Ordering::Release);
        take_over();
    }
}

/// The program's runtime may have set handlers since: they come after ours again.
pub fn watch_again() {
    if earlier().is_some() {
        take_over();
    }
}

fn take_over() {
    let own = died as *const () as usize;
    let Some(mut actions) = FATAL.map(action).into_iter().collect::<Option<Vec<_>>>() else { return };
    let is_ours: Vec<bool> = actions.iter().map(|action| action.sa_sigaction == own).collect();
    for (at, action) in actions.iter_mut().enumerate().filter(|(at, _)| is_ours[*at]) {
        *action = earlier().map_or(*action, |earlier| earlier[at]);
    }
    let Ok(actions) = <[libc::sigaction; FATAL.len()]>::try_from(actions) else { return };
    EARLIER.store(Box::into_raw(Box::new(actions)), Ordering::Release);
    for ((signal, action), is_ours) in FATAL.iter().zip(actions).zip(is_ours) {
        if !is_ours && action.sa_sigaction != libc::SIG_IGN {
            handle(*signal, died, libc::SA_ONSTACK, false);
        }
    }
}

fn earlier() -> Option<&'static [libc::sigaction; FATAL.len()]> {
    // SAFETY: leaked by `take_over`.
    unsafe { EARLIER.load(Ordering::Acquire).as_ref() }
}

extern "C" fn died(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let at = FATAL.iter().position(|it| *it == signal);
    if let Some((at, earlier)) = at.zip(earlier()) {
        // SAFETY: the action that was set before.
        unsafe { libc::sigaction(signal, &raw const earlier[at], std::ptr::null_mut()) };
    }
    if is_recorded() {
        note(signal, context);
    }
    // A fault strikes again when this returns; what somebody sent has to be sent again, and comes when this returns.
    // SAFETY: what the system tells of the signal.
    if unsafe { (*info).si_code } <= 0 {
        // SAFETY: a signal to the calling thread.
        unsafe { libc::raise(signal) };
    }
}

/// Writes the line, which has no text of the heap.
fn note(signal: c_int, context: *const c_void) {
    let mut line = [0_u8; 32 + 17 * FRAMES];
    let room = line.len();
    let mut rest = &mut line[..];
    let _ = write!(rest, "died {signal} {} ", clock::now());
    let mut count = 0;
    // SAFETY: leaked by `watch`, and taken by one.
    if let Some(walker) = unsafe { WALKER.swap(std::ptr::null_mut(), Ordering::AcqRel).as_mut() } {
        walker.walk_interrupted(context, |step, _| {
            let comma = if count > 0 { "," } else { "" };
            let _ = write!(rest, "{comma}{:x}", step.address);
            count += 1;
            count < FRAMES
        });
    }
    let _ = writeln!(rest, "{}", if count == 0 { "0" } else { "" });
    let used = room - rest.len();
    if let Some(log) = OPEN.get() {
        log.at_once(&line[..used]);
    }
}
