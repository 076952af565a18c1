//! The definition log of this process, which [`partune_parts::log`] describes.
//!
//! A line is one `write` to a file in append mode, so a killed process leaves whole lines; one that the disk has no room for is written before
//! the next. The file is looked at before each: a program may have closed its descriptor, and opened a file of its own that has the number now.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};

use partune_parts::clock;
use partune_parts::log::Line;

use crate::descriptor::{self, Identity, out_of_the_way};
use crate::state;

/// The open log of this process.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    identity: Identity,
    /// Belongs to the program if it is another file by now.
    descriptor: AtomicI32,
    /// What could not be written, in order: it goes before the next line.
    pending: Mutex<Vec<u8>>,
}

impl Log {
    /// A new file; fails if it exists.
    pub(crate) fn create(path: &Path) -> io::Result<Log> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let identity = descriptor::identity(file.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
        let descriptor = AtomicI32::new(out_of_the_way(file).into_raw_fd());
        Ok(Log { path: path.to_owned(), identity, descriptor, pending: Mutex::new(Vec::new()) })
    }

    /// Appends a line that is made already. For handlers of signals.
    pub(crate) fn at_once(&self, line: &[u8]) {
        let _ = self.file().and_then(|mut file| file.write_all(line));
    }

    /// The file; opened again if its descriptor is no more. Fails if it is not at its path any more.
    fn file(&self) -> io::Result<ManuallyDrop<File>> {
        let mut descriptor = self.descriptor.load(Ordering::Relaxed);
        if descriptor::identity(descriptor) != Some(self.identity) {
            let file = OpenOptions::new().append(true).open(&self.path)?;
            if descriptor::identity(file.as_raw_fd()) != Some(self.identity) {
                return Err(io::ErrorKind::NotFound.into());
            }
            descriptor = out_of_the_way(file).into_raw_fd();
            self.descriptor.store(descriptor, Ordering::Relaxed);
        }
        // SAFETY: it is open, as was just seen.
        Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Appends a line. One that cannot be written now is kept: the program goes on, and nothing is said.
    pub(crate) fn line(&self, line: &Line<'_>) {
        let mut text = String::with_capacity(128);
        if writeln!(text, "{line}").is_err() {
            return;
        }
        let mut pending = match self.pending.try_lock() {
            Ok(pending) => pending,
            Err(TryLockError::Poisoned(pending)) => pending.into_inner(),
            // Another thread writes, or this one, which a signal's handler has interrupted: nobody waits here.
            Err(TryLockError::WouldBlock) => return self.at_once(text.as_bytes()),
        };
        pending.extend_from_slice(text.as_bytes());
        while !pending.is_empty() {
            match self.file().and_then(|mut file| file.write(&pending)) {
                Ok(written) => drop(pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }
}

/// The log of this process, from when its recording begins.
pub(crate) static OPEN: OnceLock<Log> = OnceLock::new();

/// Writes a line of it.
pub(crate) fn log(line: &Line<'_>) {
    // A child made by `fork` has its parent's log.
    if let Some(log) = OPEN.get().filter(|_| state::is_recorded()) {
        log.line(line);
    }
}

/// Reads the clocks together and logs them.
pub(crate) fn calibrate() {
    log(&Line::Calibrate { reading: clock::calibration() });
}

/// Something that whoever reads the archive should know.
pub fn note(text: &str) {
    log(&Line::Note { text: text.into() });
}

/// Calls of some functions are not recorded, by choice of the user; in what words.
pub(crate) fn choice(words: &str) {
    log(&Line::Choice { text: words.into() });
}

#[cfg(test)]
mod tests {
    use partune_parts::log::Text;

    use super::*;

    #[test]
    fn a_line_that_finds_no_room_comes_before_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let log = Log::create(&path).expect("room");
        log.line(&note("one"));
        // As if the disk were full: a descriptor that cannot be written.
        let unwritable = File::open(&path).expect("it is there").into_raw_fd();
        let descriptor = log.descriptor.swap(unwritable, Ordering::Relaxed);
        log.line(&note("two"));
        log.line(&note("three"));
        assert_eq!(text(&path), "note one\n");
        log.descriptor.store(descriptor, Ordering::Relaxed);
        log.line(&note("four"));
        assert_eq!(text(&path), "note one\nnote two\nnote three\nnote four\n");
    }

    #[test]
    fn a_file_of_the_program_that_has_the_number_of_the_log_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, aside, own] = ["log", "aside", "own"].map(|name| folder.path().join(name));
        let log = Log::create(&path).expect("room");
        let lose = || {
            let own = File::create(&own).expect("room");
            // SAFETY: two descriptors.
            unsafe { libc::dup2(own.as_raw_fd(), log.descriptor.load(Ordering::Relaxed)) };
        };
        log.line(&note("one"));
        lose();
        log.line(&note("two"));
        assert_eq!([text(&path), text(&own)], ["note one\nnote two\n", ""]);
        // What lies at its path is another file: lines wait until it is back.
        lose();
        std::fs::rename(&path, &aside).expect("it is there");
        log.line(&note("three"));
        std::fs::write(&path, "").expect("room");
        log.line(&note("four"));
        assert_eq!([text(&path), text(&own)], [""; 2]);
        std::fs::rename(&aside, &path).expect("it is there");
        log.line(&note("five"));
        assert_eq!(text(&path), "note one\nnote two\nnote three\nnote four\nnote five\n");
    }

    fn note(text: &str) -> Line<'_> {
        Line::Note { text: Text::from(text) }
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).expect("text")
    }
}
