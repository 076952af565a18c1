//! Descriptors that the recorder keeps while the program goes on.
//!
//! Programs close descriptors that they do not know, as daemons do, and the file that they open next gets the number. So these lie above those that
//! programs count through, and whoever uses one asks first whether it still is what it was.

use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};

/// What tells files apart: device, and number on it.
pub(crate) type Identity = (u64, u64);

/// Which file a descriptor is; none if it is closed. For handlers of signals too.
pub(crate) fn identity(descriptor: RawFd) -> Option<Identity> {
    // SAFETY: a structure of numbers.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a number and the structure.
    let is_known = unsafe { libc::fstat(descriptor, &raw mut about) } == 0;
    is_known.then_some((about.st_dev, about.st_ino))
}

/// The same file by a high number, if there is one for it.
pub(crate) fn out_of_the_way(file: File) -> File {
    /// The kernel's table of descriptors is as long as the highest one.
    const HIGHEST: u64 = 1024;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for what is asked.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let from = limit.rlim_cur.min(HIGHEST) / 16 * 15;
    // SAFETY: a descriptor and a number.
    let high = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, from as libc::c_int) };
    // SAFETY: a new descriptor that nobody else has.
    if high < 0 { file } else { unsafe { File::from_raw_fd(high) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_moved_above_those_that_programs_count_through() {
        let file = tempfile::tempfile().expect("a file");
        let before = identity(file.as_raw_fd());
        let moved = out_of_the_way(file);
        assert!(moved.as_raw_fd() >= 100, "{moved:?}");
        assert_eq!((identity(moved.as_raw_fd()), before.is_some()), (before, true));
        assert_eq!(identity(-1), None);
    }
}
