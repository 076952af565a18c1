//! Whether the disk has room for an archive, asked before it is begun.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files and folders take whole blocks, names take some bytes of a folder.
const BLOCK: u64 = 4096;
const NAME: u64 = 64;

/// Bytes that files will take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed(pub(crate) u64);

impl Needed {
    /// A new file of so many bytes.
    pub(crate) fn file(bytes: u64) -> Needed {
        Needed(blocks(bytes) + NAME)
    }

    /// A file of which some bytes are there already, that grows to so many.
    pub(crate) fn grown(bytes: u64, there: u64) -> Needed {
        Needed(blocks(bytes).saturating_sub(there) + NAME)
    }
}

impl std::iter::Sum for Needed {
    fn sum<I: Iterator<Item = Needed>>(all: I) -> Needed {
        Needed(all.map(|needed| needed.0).fold(0, u64::saturating_add))
    }
}

fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Bytes that this user may still write to the file system of a folder.
#[allow(unsafe_code, reason = "a question to the system")]
pub(crate) fn free(folder: &Path) -> io::Result<u64> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: a structure of numbers, filled by the call below.
    let mut about: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and the structure.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut about) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a system call without arguments.
    let all_of_it = unsafe { libc::geteuid() } == 0;
    Ok((if all_of_it { about.f_bfree } else { about.f_bavail }).saturating_mul(about.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_take_whole_blocks_and_what_is_there_is_not_asked_for_again() {
        assert_eq!(Needed::file(0), Needed(64));
        assert_eq!(Needed::file(4097), Needed(8192 + 64));
        assert_eq!(Needed::grown(4097, 4096), Needed(4096 + 64));
        assert_eq!(Needed::grown(4097, 1 << 20), Needed(64));
        assert_eq!([Needed(1), Needed(2)].into_iter().sum::<Needed>(), Needed(3));
    }
}
