//! Streams of the C library. What they do with the system is done inside of it, and is not seen: a buffered access of a few bytes costs no call of it.
//!
//! Where an access begins is added up. Functions that are not recorded (those of one character) move a stream too; its own pointers, which are where
//! every program has them compiled in, say whether one did.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::atomic::Ordering;

use libc::{FILE, off_t, size_t, ssize_t};
use partune_collect::definitions::Interface;
use partune_collect::facts::Io;
use partune_collect::frame::Frame;

use crate::access::{closing, created, tell};
use crate::descriptors::leave_to_stream;
use crate::function::{Function, wrapper};
use crate::names;
use crate::table::{self, NOWHERE, Open};
use partune_collect::errno;

wrapper! {
    fopen as "fopen" (path: *const c_char, mode: *const c_char) -> *mut FILE
        => |function, frame, real| opening(function, frame, names::may_be_file(path), None, real);
    fopen64 as "fopen" (path: *const c_char, mode: *const c_char) -> *mut FILE
        => |function, frame, real| opening(function, frame, names::may_be_file(path), None, real);
    freopen as "freopen" (path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE
        => |function, frame, real| opening(function, frame, names::may_be_file(path), Some(stream), real);
    freopen64 as "freopen" (path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE
        => |function, frame, real| opening(function, frame, names::may_be_file(path), Some(stream), real);
    fdopen as "fdopen" (descriptor: c_int, mode: *const c_char) -> *mut FILE
        => |function, frame, real| stream_of(function, frame, descriptor, real);
    fclose as "fclose" (stream: *mut FILE) -> c_int
        => |function, frame, real| closing(function, frame, descriptor(stream), Interface::Streams, real);

    fread as "fread" (to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Read, size.saturating_mul(count), real, |done| done * size);
    fread_unlocked as "fread" (to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Read, size.saturating_mul(count), real, |done| done * size);
    __fread_chk as "fread" (to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Read, size.saturating_mul(count), real, |done| done * size);
    __fread_unlocked_chk as "fread" (to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Read, size.saturating_mul(count), real, |done| done * size);
    fgets as "fgets" (to: *mut c_char, room: c_int, stream: *mut FILE) -> *mut c_char
        => |function, frame, real| access(function, frame, stream, Io::Read, room.max(0) as usize, real, length);
    __fgets_chk as "fgets" (to: *mut c_char, size: size_t, room: c_int, stream: *mut FILE) -> *mut c_char
        => |function, frame, real| access(function, frame, stream, Io::Read, room.max(0) as usize, real, length);
    getline as "getline" (to: *mut *mut c_char, room: *mut size_t, stream: *mut FILE) -> ssize_t
        => |function, frame, real| access(function, frame, stream, Io::Read, 0, real, positive);
    getdelim as "getdelim" (to: *mut *mut c_char, room: *mut size_t, until: c_int, stream: *mut FILE) -> ssize_t
        => |function, frame, real| access(function, frame, stream, Io::Read, 0, real, positive);
    __getdelim as "getdelim" (to: *mut *mut c_char, room: *mut size_t, until: c_int, stream: *mut FILE) -> ssize_t
        => |function, frame, real| access(function, frame, stream, Io::Read, 0, real, positive);
    fwrite as "fwrite" (from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Write, size.saturating_mul(count), real, |done| done * size);
    fwrite_unlocked as "fwrite" (from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t
        => |function, frame, real| access(function, frame, stream, Io::Write, size.saturating_mul(count), real, |done| done * size);
    fputs as "fputs" (from: *const c_char, stream: *mut FILE) -> c_int
        => |function, frame, real| {
            let size = length(from.cast_mut());
            access(function, frame, stream, Io::Write, size, real, |done| if done < 0 { 0 } else { size })
        };
    vfprintf as "fprintf" (stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int
        => |function, frame, real| access(function, frame, stream, Io::Write, 0, real, |done| done.max(0) as usize);
    __vfprintf_chk as "fprintf" (stream: *mut FILE, flag: c_int, format: *const c_char, list: *mut c_void) -> c_int
        => |function, frame, real| access(function, frame, stream, Io::Write, 0, real, |done| done.max(0) as usize);
    vfscanf as "fscanf" (stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int
        => |function, frame, real| scan(function, frame, stream, real);
    __isoc99_vfscanf as "fscanf" (stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int
        => |function, frame, real| scan(function, frame, stream, real);
    __isoc23_vfscanf as "fscanf" (stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int
        => |function, frame, real| scan(function, frame, stream, real);

    fseek as "fseek" (stream: *mut FILE, offset: c_long, whence: c_int) -> c_int
        => |function, frame, real| seek(function, frame, stream, (offset, whence), real, |done| done == 0);
    fseeko as "fseek" (stream: *mut FILE, offset: off_t, whence: c_int) -> c_int
        => |function, frame, real| seek(function, frame, stream, (offset, whence), real, |done| done == 0);
    fseeko64 as "fseek" (stream: *mut FILE, offset: off_t, whence: c_int) -> c_int
        => |function, frame, real| seek(function, frame, stream, (offset, whence), real, |done| done == 0);
    rewind as "rewind" (stream: *mut FILE) -> ()
        => |function, frame, real| seek(function, frame, stream, (0, libc::SEEK_SET), real, |()| true);
    fsetpos as "fsetpos" (stream: *mut FILE, place: *const c_void) -> c_int
        => |function, frame, real| seek(function, frame, stream, (0, libc::SEEK_END), real, |done| done == 0);
    fsetpos64 as "fsetpos" (stream: *mut FILE, place: *const c_void) -> c_int
        => |function, frame, real| seek(function, frame, stream, (0, libc::SEEK_END), real, |done| done == 0);
    fflush as "fflush" (stream: *mut FILE) -> c_int
        => |function, frame, real| flush(function, frame, stream, real);
}

/// The begin of a stream's structure, as the C library's macros for one character use it.
#[repr(C)]
struct Pointers {
    flags: c_int,
    read: usize,
    read_end: usize,
    read_base: usize,
    write_base: usize,
    write: usize,
}

fn pointers<'a>(stream: *mut FILE) -> &'a Pointers {
    // SAFETY: a stream of the program's, which begins with these.
    unsafe { &*stream.cast::<Pointers>() }
}

/// The descriptor below; negative if there is none.
fn descriptor(stream: *mut FILE) -> c_int {
    if stream.is_null() {
        return -1;
    }
    // SAFETY: a stream of the program's.
    errno::kept(|| unsafe { libc::fileno(stream) })
}

/// The file of a stream.
fn file(frame: Frame, stream: *mut FILE) -> Option<&'static Open> {
    table::of(descriptor(stream), frame.return_address())
}

fn opening(
    function: &'static Function,
    frame: Frame,
    may_be_file: bool,
    old: Option<*mut FILE>,
    real: impl FnOnce() -> *mut FILE,
) -> *mut FILE {
    let is_ours = table::is_own_process();
    let call = if may_be_file && is_ours { function.enter(frame) } else { None };
    let replaced = old.filter(|_| is_ours).and_then(|stream| table::forget(descriptor(stream)));
    let stream = real();
    let descriptor = descriptor(stream);
    if is_ours {
        table::closed(table::forget(descriptor));
    }
    tell(call, |call| {
        call.returned();
        replaced.iter().for_each(|open| call.io_destroy_handle(open.handle(Interface::Streams)));
        if let Some(open) = (descriptor >= 0).then(|| table::opened(descriptor)).flatten() {
            // SAFETY: a descriptor.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
            created(call, open, Interface::Streams, flags.max(0));
        }
    });
    table::closed(replaced);
    stream
}

/// `fdopen`: a stream of what is open goes on where that is.
fn stream_of(
    function: &'static Function,
    frame: Frame,
    descriptor: c_int,
    real: impl FnOnce() -> *mut FILE,
) -> *mut FILE {
    let Some(open) = table::of(descriptor, frame.return_address()) else { return real() };
    let call = function.enter(frame);
    let stream = real();
    open.stream.store(open.place.load(Ordering::Relaxed), Ordering::Relaxed);
    open.pointers.iter().for_each(|it| it.store(0, Ordering::Relaxed));
    leave_to_stream(open);
    tell(call, |call| {
        call.returned();
        if !stream.is_null() {
            // SAFETY: a descriptor.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
            created(call, open, Interface::Streams, flags.max(0));
        }
    });
    stream
}

/// An access; `bytes` says how many it moved, by what the function returned.
pub(crate) fn access<T: Copy>(
    function: &'static Function,
    frame: Frame,
    stream: *mut FILE,
    io: Io,
    asked: usize,
    real: impl FnOnce() -> T,
    bytes: impl FnOnce(T) -> usize,
) -> T {
    let Some(open) = file(frame, stream) else { return real() };
    let call = function.enter(frame);
    let begin = place(open, stream);
    let result = real();
    let done = bytes(result) as u64;
    moved(open, stream, begin.map(|begin| begin + done), io == Io::Write);
    tell(call, |call| {
        let handle = open.handle(Interface::Streams);
        let begin = begin.filter(|_| open.stream.load(Ordering::Relaxed) != NOWHERE);
        call.accessed(handle, io, begin, [(asked as u64).max(done), done]);
    });
    result
}

/// Formatted input, of which only the stream's pointers tell how many bytes it took: exactly, unless that were more than the buffer holds.
pub(crate) fn scan(
    function: &'static Function,
    frame: Frame,
    stream: *mut FILE,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if file(frame, stream).is_none() {
        return real();
    }
    let (before, rest) = (pointers(stream).read, pointers(stream).read_end - pointers(stream).read);
    let taken = |_: c_int| {
        let after = pointers(stream);
        match after.read.checked_sub(before) {
            Some(taken) if before != 0 && taken <= rest => taken,
            // The buffer was filled anew.
            Some(_) | None => rest + (after.read - after.read_base),
        }
    };
    access(function, frame, stream, Io::Read, 0, real, taken)
}

/// Where the stream is, if nothing that was not recorded has moved it.
fn place(open: &Open, stream: *mut FILE) -> Option<u64> {
    let now = pointers(stream);
    let [read, write] = &open.pointers;
    let known = [read.load(Ordering::Relaxed), write.load(Ordering::Relaxed)];
    let place = open.stream.load(Ordering::Relaxed);
    (place != NOWHERE && known == [now.read, now.write]).then_some(place)
}

fn moved(open: &Open, stream: *mut FILE, place: Option<u64>, is_write: bool) {
    let is_known = !(is_write && open.appends.load(Ordering::Relaxed));
    open.stream.store(place.filter(|_| is_known).unwrap_or(NOWHERE), Ordering::Relaxed);
    let now = pointers(stream);
    open.pointers[0].store(now.read, Ordering::Relaxed);
    open.pointers[1].store(now.write, Ordering::Relaxed);
    leave_to_stream(open);
}

fn seek<T: Copy>(
    function: &'static Function,
    frame: Frame,
    stream: *mut FILE,
    (offset, whence): (off_t, c_int),
    real: impl FnOnce() -> T,
    succeeded: impl FnOnce(T) -> bool,
) -> T {
    let Some(open) = file(frame, stream) else { return real() };
    let call = function.enter(frame);
    let before = place(open, stream);
    let result = real();
    let after = if !succeeded(result) {
        before
    } else if whence == libc::SEEK_SET {
        u64::try_from(offset).ok()
    } else {
        // SAFETY: a stream of the program's.
        u64::try_from(errno::kept(|| unsafe { libc::ftello(stream) })).ok()
    };
    moved(open, stream, after, false);
    tell(call, |call| {
        call.returned();
        if let Some(after) = after {
            call.io_seek(open.handle(Interface::Streams), offset, whence.clamp(0, 4) as u8, after);
        }
    });
    result
}

fn flush(function: &'static Function, frame: Frame, stream: *mut FILE, real: impl FnOnce() -> c_int) -> c_int {
    let Some(open) = file(frame, stream) else { return real() };
    let call = function.enter(frame);
    let place = place(open, stream);
    let result = real();
    moved(open, stream, place, false);
    tell(call, |call| call.accessed(open.handle(Interface::Streams), Io::Flush, None, [0, 0]));
    result
}

/// Bytes of a C string; none for null.
fn length(text: *mut c_char) -> usize {
    // SAFETY: the program's, or what the library has put there.
    if text.is_null() { 0 } else { unsafe { libc::strlen(text) } }
}

fn positive(done: ssize_t) -> usize {
    done.max(0) as usize
}
