//! Reading what a process left, which may be cut off anywhere, or not be there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The content of a part; nothing if there is none: on a file system over the network they are written when the process ends.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    match partune_files::read_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        bytes => bytes,
    }
}

/// The size of a part; 0 if there is none.
pub(crate) fn size(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        about => Ok(about?.len()),
    }
}

/// Gives a part another name besides its own; false where the file system, or the right to it, does not allow that, and for a link to a
/// file elsewhere, whose second name would lead nowhere once the parts are gone.
pub(crate) fn link(part: &Path, name: &Path) -> io::Result<bool> {
    if fs::symlink_metadata(part)?.is_symlink() {
        return Ok(false);
    }
    match fs::hard_link(part, name) {
        Ok(()) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(
                libc::EPERM
                | libc::EACCES
                | libc::EXDEV
                | libc::EMLINK
                | libc::ENOSYS
                | libc::EOPNOTSUPP
                | libc::EINVAL,
            ) => Ok(false),
            _ => Err(error),
        },
    }
}

/// Puts a part in its place, at once and for good: whoever is interrupted meanwhile leaves what was there.
pub(crate) fn replace(part: &Path, content: &[u8]) -> io::Result<()> {
    put(part, |new| fs::write(new, content))
}

/// The same of a part that somebody makes under another name.
pub(crate) fn put(part: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let new = part.with_added_extension("new");
    make(&new)?;
    File::open(&new)?.sync_all()?;
    fs::rename(&new, part)
}

/// A number of eight bytes.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A number of four bytes.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
