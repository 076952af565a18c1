//! Opens regular files, and nothing else.
//!
//! For whoever reads what a user or another program left in a folder. A pipe or a device in place of a file may never answer, or never end, so it is
//! refused before it is opened.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file to read it, and nothing else; never waits for another process.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check(&std::fs::metadata(path)?)?;
    // It may be another one by now, and opening a pipe without the flag waits for its writer.
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// What a regular file holds.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what} and not a file")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("there is room for files");
        let path = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(path("pipe")).status().expect("mkfifo runs").success());
        let _socket = UnixListener::bind(path("socket")).expect("a socket is made");
        symlink("/dev/zero", path("device")).expect("a link is made");
        symlink("pipe", path("link")).expect("a link is made");
        std::fs::create_dir(path("folder")).expect("a folder is made");
        for (name, what) in [
            ("pipe", "a pipe"),
            ("link", "a pipe"),
            ("socket", "a socket"),
            ("device", "a device"),
            ("folder", "a folder"),
        ] {
            let error = open_regular(&path(name)).expect_err("it is refused").to_string();
            assert_eq!(error, format!("it is {what} and not a file"));
            assert!(read_regular(&path(name)).is_err());
        }
        assert_eq!(open_regular(&path("none")).err().map(|error| error.kind()), Some(io::ErrorKind::NotFound));
        std::fs::write(path("file"), "seven").expect("a file is written");
        symlink("file", path("good")).expect("a link is made");
        assert_eq!(read_regular(&path("good")).expect("a link to a file is a file"), b"seven");
    }
}
