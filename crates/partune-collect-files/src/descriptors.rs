//! Descriptors: POSIX's functions, under the names of all feature macros and of fortified programs.
//!
//! Functions with `...` take what the callers of their kind pass: on x86-64 and ARM64 a whole number in the next register.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::Ordering;

use libc::{iovec, mode_t, off_t, size_t, ssize_t};
use partune_collect::definitions::Interface;
use partune_collect::facts::Io;
use partune_collect::frame::Frame;

use crate::access::{access, closing, named, opening, plain, tell};
use crate::function::{Function, wrapper};
use crate::locks;
use crate::table::{self, NOWHERE};
use partune_collect::errno;

wrapper! {
    open as "open" (path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    open64 as "open" (path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    __open_2 as "open" (path: *const c_char, flags: c_int) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    __open64_2 as "open" (path: *const c_char, flags: c_int) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    openat as "openat" (folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    openat64 as "openat" (folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    __openat_2 as "openat" (folder: c_int, path: *const c_char, flags: c_int) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    __openat64_2 as "openat" (folder: c_int, path: *const c_char, flags: c_int) -> c_int
        => |function, frame, real| opening(function, frame, path, flags, real);
    creat as "creat" (path: *const c_char, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, CREATES, real);
    creat64 as "creat" (path: *const c_char, mode: mode_t) -> c_int
        => |function, frame, real| opening(function, frame, path, CREATES, real);
    close as "close" (descriptor: c_int) -> c_int
        => |function, frame, real| closing(function, frame, descriptor, Interface::Posix, real);

    read as "read" (descriptor: c_int, to: *mut c_void, count: size_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, None), real);
    __read_chk as "read" (descriptor: c_int, to: *mut c_void, count: size_t, room: size_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, None), real);
    pread as "pread" (descriptor: c_int, to: *mut c_void, count: size_t, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, Some(at)), real);
    pread64 as "pread" (descriptor: c_int, to: *mut c_void, count: size_t, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, Some(at)), real);
    __pread_chk as "pread" (descriptor: c_int, to: *mut c_void, count: size_t, at: off_t, room: size_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, Some(at)), real);
    __pread64_chk as "pread" (descriptor: c_int, to: *mut c_void, count: size_t, at: off_t, room: size_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (count, Some(at)), real);
    readv as "readv" (descriptor: c_int, parts: *const iovec, count: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (sum(parts, count), None), real);
    preadv as "preadv" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (sum(parts, count), Some(at)), real);
    preadv64 as "preadv" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (sum(parts, count), Some(at)), real);
    write as "write" (descriptor: c_int, from: *const c_void, count: size_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (count, None), real);
    pwrite as "pwrite" (descriptor: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (count, Some(at)), real);
    pwrite64 as "pwrite" (descriptor: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (count, Some(at)), real);
    writev as "writev" (descriptor: c_int, parts: *const iovec, count: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (sum(parts, count), None), real);
    pwritev as "pwritev" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (sum(parts, count), Some(at)), real);
    pwritev64 as "pwritev" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (sum(parts, count), Some(at)), real);

    preadv2 as "preadv2" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (sum(parts, count), place(descriptor, at, flags)), real);
    preadv64v2 as "preadv2" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Read, (sum(parts, count), place(descriptor, at, flags)), real);
    pwritev2 as "pwritev2" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (sum(parts, count), place(descriptor, at, flags)), real);
    pwritev64v2 as "pwritev2" (descriptor: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t
        => |function, frame, real| access(function, frame, descriptor, Io::Write, (sum(parts, count), place(descriptor, at, flags)), real);

    fsync as "fsync" (descriptor: c_int) -> c_int
        => |function, frame, real| access(function, frame, descriptor, Io::Flush, (0, None), || real() as ssize_t) as c_int;
    fdatasync as "fdatasync" (descriptor: c_int) -> c_int
        => |function, frame, real| access(function, frame, descriptor, Io::Flush, (0, None), || real() as ssize_t) as c_int;
    lseek as "lseek" (descriptor: c_int, offset: off_t, whence: c_int) -> off_t
        => |function, frame, real| seek(function, frame, descriptor, (offset, whence), real);
    lseek64 as "lseek" (descriptor: c_int, offset: off_t, whence: c_int) -> off_t
        => |function, frame, real| seek(function, frame, descriptor, (offset, whence), real);
    ftruncate as "ftruncate" (descriptor: c_int, size: off_t) -> c_int
        => |function, frame, real| plain(function, frame, descriptor, real);
    ftruncate64 as "ftruncate" (descriptor: c_int, size: off_t) -> c_int
        => |function, frame, real| plain(function, frame, descriptor, real);
    mmap as "mmap" (at: *mut c_void, size: size_t, protection: c_int, flags: c_int, descriptor: c_int, offset: off_t) -> *mut c_void
        => |function, frame, real| if descriptor < 0 { real() } else { plain(function, frame, descriptor, real) };
    mmap64 as "mmap" (at: *mut c_void, size: size_t, protection: c_int, flags: c_int, descriptor: c_int, offset: off_t) -> *mut c_void
        => |function, frame, real| if descriptor < 0 { real() } else { plain(function, frame, descriptor, real) };

    flock as "flock" (descriptor: c_int, operation: c_int) -> c_int
        => |function, frame, real| locks::flock(function, frame, descriptor, operation, real);
    lockf as "lockf" (descriptor: c_int, command: c_int, size: off_t) -> c_int
        => |function, frame, real| plain(function, frame, descriptor, real);
    lockf64 as "lockf" (descriptor: c_int, command: c_int, size: off_t) -> c_int
        => |function, frame, real| plain(function, frame, descriptor, real);
    fcntl as "fcntl" (descriptor: c_int, command: c_int, argument: usize) -> c_int
        => |function, frame, real| locks::control(function, frame, descriptor, (command, argument), real);
    fcntl64 as "fcntl" (descriptor: c_int, command: c_int, argument: usize) -> c_int
        => |function, frame, real| locks::control(function, frame, descriptor, (command, argument), real);

    dup as "dup" (descriptor: c_int) -> c_int
        => |_function, _frame, real| copied(descriptor, real);
    dup2 as "dup2" (descriptor: c_int, new: c_int) -> c_int
        => |_function, _frame, real| if descriptor == new { real() } else { copied(descriptor, real) };
    dup3 as "dup3" (descriptor: c_int, new: c_int, flags: c_int) -> c_int
        => |_function, _frame, real| copied(descriptor, real);
}

wrapper! {
    unlink as "unlink" (path: *const c_char) -> c_int
        => |function, frame, real| named(function, frame, path, real);
    unlinkat as "unlinkat" (folder: c_int, path: *const c_char, flags: c_int) -> c_int
        => |function, frame, real| if flags & libc::AT_REMOVEDIR == 0 { named(function, frame, path, real) } else { real() };
    remove as "remove" (path: *const c_char) -> c_int
        => |function, frame, real| named(function, frame, path, real);
    rename as "rename" (path: *const c_char, new: *const c_char) -> c_int
        => |function, frame, real| named(function, frame, path, real);
    renameat as "renameat" (folder: c_int, path: *const c_char, new_folder: c_int, new: *const c_char) -> c_int
        => |function, frame, real| named(function, frame, path, real);
    renameat2 as "renameat2" (folder: c_int, path: *const c_char, new_folder: c_int, new: *const c_char, flags: c_uint) -> c_int
        => |function, frame, real| named(function, frame, path, real);
}

const CREATES: c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;

/// Bytes of all parts.
fn sum(parts: *const iovec, count: c_int) -> usize {
    let Ok(count) = usize::try_from(count) else { return 0 };
    if parts.is_null() {
        return 0;
    }
    // SAFETY: the program says that there are so many.
    let parts = unsafe { std::slice::from_raw_parts(parts, count) };
    parts.iter().map(|part| part.iov_len).fold(0, usize::saturating_add)
}

/// Where an access of `preadv2` or `pwritev2` begins: none where the last one ended, and less than 0 if nobody knows.
fn place(descriptor: c_int, at: off_t, flags: c_int) -> Option<off_t> {
    const WHERE_IT_IS: off_t = -1;
    if flags & libc::RWF_APPEND == 0 {
        return (at != WHERE_IT_IS).then_some(at);
    }
    if let Some(open) = table::of(descriptor, 0).filter(|_| at == WHERE_IT_IS) {
        open.place.store(NOWHERE, Ordering::Relaxed);
    }
    Some(-1)
}

/// Positions a descriptor.
fn seek(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    (offset, whence): (off_t, c_int),
    real: impl FnOnce() -> off_t,
) -> off_t {
    let Some(open) = table::of(descriptor, frame.return_address()) else { return real() };
    let call = function.enter(frame);
    let result = real();
    if let Ok(place) = u64::try_from(result) {
        open.place.store(place, Ordering::Relaxed);
    }
    tell(call, |call| {
        call.returned();
        if let Ok(place) = u64::try_from(result) {
            call.io_seek(open.handle(Interface::Posix), offset, whence.clamp(0, 4) as u8, place);
        }
    });
    result
}

/// A copy is a handle of the same, and is not recorded by itself.
pub(crate) fn copied(old: c_int, real: impl FnOnce() -> c_int) -> c_int {
    let new = real();
    if new >= 0 && table::is_own_process() {
        errno::kept(|| {
            table::closed(table::forget(new));
            table::copied(old, new);
        });
    }
    new
}

/// What is not moved by an access any more, as a stream moves it.
pub(crate) fn leave_to_stream(open: &table::Open) {
    open.place.store(NOWHERE, Ordering::Relaxed);
}
