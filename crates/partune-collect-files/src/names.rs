//! Which files count: regular ones that are on a file system, and what they are called.

use std::ffi::{CStr, c_char, c_int};

/// Bytes of a name that are kept.
pub(crate) const LONGEST: usize = 4096;

/// Folders whose files are none: of devices, of the system, and memory that processes share.
const NONE: [&[u8]; 5] = [b"/dev/", b"/proc/", b"/sys/", b"/memfd:", b"/run/"];

/// Whether a path may be that of a file, which is known before it is opened.
pub(crate) fn may_be_file(path: *const c_char) -> bool {
    // SAFETY: the program's C string.
    !path.is_null() && is_outside(unsafe { CStr::from_ptr(path) }.to_bytes())
}

fn is_outside(path: &[u8]) -> bool {
    !NONE.iter().any(|begin| path.starts_with(begin))
}

/// What a descriptor is.
pub(crate) enum What<'a> {
    /// A regular file, and its path.
    File(&'a [u8]),
    Other,
    /// It is closed.
    Nothing,
}

/// Finds out what a descriptor is.
pub(crate) fn of(descriptor: c_int, into: &mut [u8; LONGEST]) -> What<'_> {
    // SAFETY: a structure of numbers.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor and the structure.
    if unsafe { libc::fstat(descriptor, &raw mut about) } != 0 {
        return What::Nothing;
    }
    if about.st_mode & libc::S_IFMT != libc::S_IFREG {
        return What::Other;
    }
    let mut link = [0_u8; 40];
    // No allocation: this may be in a signal's handler.
    let _ = std::io::Write::write_fmt(&mut &mut link[..39], format_args!("/proc/self/fd/{descriptor}"));
    // SAFETY: a C string and a buffer with its length.
    let length = unsafe { libc::readlink(link.as_ptr().cast(), into.as_mut_ptr().cast(), into.len()) };
    let path = usize::try_from(length).ok().and_then(|length| into.get(..length));
    path.filter(|path| is_outside(path)).map_or(What::Other, What::File)
}
