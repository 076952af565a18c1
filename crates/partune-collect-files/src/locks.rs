//! Locks of whole files, by which processes wait for each other. Locks of a part of a file are calls as others: two of them need not meet.

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use partune_collect::definitions::Interface;
use partune_collect::facts::Lock;
use partune_collect::frame::Frame;

use crate::access::{plain, tell};
use crate::descriptors::copied;
use crate::function::Function;
use crate::table;

/// What is done to the lock of a file.
enum Step {
    Acquire(Lock),
    Release,
}

pub(crate) fn flock(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    operation: c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let step = match operation & !libc::LOCK_NB {
        libc::LOCK_SH => Step::Acquire(Lock::Shared),
        libc::LOCK_EX => Step::Acquire(Lock::Exclusive),
        _ => Step::Release,
    };
    lock(function, frame, descriptor, &step, real)
}

/// `fcntl`: locks, and copies of descriptors. All else is no business of files.
pub(crate) fn control(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    (command, argument): (c_int, usize),
    real: impl FnOnce() -> c_int,
) -> c_int {
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => copied(descriptor, real),
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW if argument != 0 => {
            // SAFETY: what these commands take.
            let what = unsafe { &*(argument as *const libc::flock) };
            let is_whole = (what.l_whence, what.l_start, what.l_len) == (libc::SEEK_SET as i16, 0, 0);
            match c_int::from(what.l_type) {
                _ if !is_whole => plain(function, frame, descriptor, real),
                libc::F_RDLCK => lock(function, frame, descriptor, &Step::Acquire(Lock::Shared), real),
                libc::F_WRLCK => lock(function, frame, descriptor, &Step::Acquire(Lock::Exclusive), real),
                _ => lock(function, frame, descriptor, &Step::Release, real),
            }
        }
        _ => real(),
    }
}

fn lock(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    step: &Step,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(open) = table::of(descriptor, frame.return_address()) else { return real() };
    let mut call = function.enter_unless_in_handler(frame);
    // It is given back before others may get it.
    let was_locked = open.is_locked.load(Ordering::Relaxed);
    if let (Some(call), Step::Release, true) = (&mut call, step, was_locked) {
        call.io_release_lock(open.handle(Interface::Posix), Lock::Exclusive);
        open.is_locked.store(false, Ordering::Relaxed);
    }
    let result = real();
    tell(call, |call| {
        call.returned();
        if let (Step::Acquire(kind), 0) = (step, result) {
            call.io_acquire_lock(open.handle(Interface::Posix), *kind);
            open.is_locked.store(true, Ordering::Relaxed);
        }
    });
    result
}
