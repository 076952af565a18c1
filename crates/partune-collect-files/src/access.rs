//! What all wrappers do around the function of the library.

use std::ffi::c_int;

use partune_collect::definitions::Interface;
use partune_collect::facts::{Io, Lock};
use partune_collect::frame::Frame;
use partune_collect::{Call, leave};

use crate::function::Function;
use crate::names;
use crate::table::{self, Open};
use partune_collect::errno;

/// Tells, when the real function has returned, what only that knows.
pub(crate) fn tell(call: Option<Call<'static>>, what: impl FnOnce(&mut Call<'_>)) {
    if let Some(mut call) = call {
        errno::kept(|| {
            what(&mut call);
            call.leave();
        });
    }
}

/// An access by a descriptor: where the last one ended, or at an offset.
pub(crate) fn access(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    io: Io,
    (asked, offset): (usize, Option<i64>),
    real: impl FnOnce() -> isize,
) -> isize {
    let Some(open) = table::of(descriptor, frame.return_address()) else { return real() };
    let call = function.enter_unless_in_handler(frame);
    let result = real();
    let done = result.max(0) as u64;
    let begin = match offset {
        Some(offset) => u64::try_from(offset).ok(),
        None if result < 0 => None,
        None => open.advance(done, io == Io::Write),
    };
    let asked = if io == Io::Flush { 0 } else { asked as u64 };
    let done = if io == Io::Flush { 0 } else { done };
    tell(call, |call| {
        let handle = open.handle(Interface::Posix);
        if result < 0 { call.returned() } else { call.accessed(handle, io, begin, [asked, done]) }
    });
    result
}

/// A call about a file that moves nothing and of which no more is told than that it was made.
pub(crate) fn plain<T>(function: &'static Function, frame: Frame, descriptor: c_int, real: impl FnOnce() -> T) -> T {
    let Some(_) = table::of(descriptor, frame.return_address()) else { return real() };
    let call = function.enter_unless_in_handler(frame);
    let result = real();
    errno::kept(|| leave(call));
    result
}

/// A call about a file that is given its path and opens nothing: no more is told than that it was made.
pub(crate) fn named(
    function: &'static Function,
    frame: Frame,
    path: *const std::ffi::c_char,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let counts = table::is_own_process() && names::may_be_file(path);
    let call = if counts { function.enter_unless_in_handler(frame) } else { None };
    let result = real();
    errno::kept(|| leave(call));
    result
}

/// What opens a file by its path.
pub(crate) fn opening(
    function: &'static Function,
    frame: Frame,
    path: *const std::ffi::c_char,
    flags: c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    const NOT_OPENED: c_int = libc::O_PATH | libc::O_DIRECTORY;
    let is_ours = table::is_own_process();
    let counts = is_ours && flags & NOT_OPENED == 0 && names::may_be_file(path);
    let call = if counts { function.enter_unless_in_handler(frame) } else { None };
    let descriptor = real();
    if is_ours && descriptor >= 0 {
        table::closed(table::forget(descriptor));
    }
    tell(call, |call| {
        call.returned();
        if let Some(open) = (descriptor >= 0).then(|| table::opened(descriptor)).flatten() {
            created(call, open, Interface::Posix, flags);
        }
    });
    descriptor
}

/// Tells of a handle, by the flags of an open.
pub(crate) fn created(call: &mut Call<'_>, open: &Open, by: Interface, flags: c_int) {
    let has = |flag: c_int, number: u32| if flags & flag == flag { number } else { 0 };
    let access = match flags & libc::O_ACCMODE {
        libc::O_RDONLY => 0,
        libc::O_WRONLY => 1,
        _ => 2,
    };
    let creation = has(libc::O_CREAT, 1) | has(libc::O_TRUNC, 2) | has(libc::O_EXCL, 8);
    let status = has(libc::O_CLOEXEC, 1) | has(libc::O_APPEND, 2) | has(libc::O_NONBLOCK, 4) | has(libc::O_SYNC, 16);
    call.io_create_handle(open.handle(by), access, [creation, status]);
}

/// What closes a descriptor or a stream.
pub(crate) fn closing<T>(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    by: Interface,
    real: impl FnOnce() -> T,
) -> T {
    if table::of(descriptor, 0).is_none() || !table::is_own_process() {
        if table::is_own_process() {
            table::closed(table::forget(descriptor));
        }
        return real();
    }
    let call = function.enter_unless_in_handler(frame);
    // Before the system may give the number to another thread.
    let open = table::forget(descriptor);
    let result = real();
    tell(call, |call| {
        call.returned();
        if let Some(open) = open {
            if open.is_locked.swap(false, std::sync::atomic::Ordering::Relaxed) {
                call.io_release_lock(open.handle(Interface::Posix), Lock::Exclusive);
            }
            call.io_destroy_handle(open.handle(by));
        }
    });
    table::closed(open);
    result
}
