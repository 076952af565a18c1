//! The definition log of this process, which [`partune_parts::log`] describes.
//!
//! A line is one `write` to a file in append mode, so a killed process leaves whole lines; one that the disk has no room for is written before
//! the next.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, OnceLock, TryLockError};

use partune_parts::clock;
use partune_parts::log::Line;

use crate::state;

/// The open log of this process.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    /// What the disk had no room for, in order: it goes before the next line.
    pending: Mutex<Vec<u8>>,
}

impl Log {
    /// A new file; fails if it exists.
    pub(crate) fn create(path: &Path) -> io::Result<Log> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Log { file, pending: Mutex::new(Vec::new()) })
    }

    /// Appends a line that is made already. For handlers of signals.
    pub(crate) fn at_once(&self, line: &[u8]) {
        let _ = (&self.file).write_all(line);
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
            Err(TryLockError::WouldBlock) => {
                let _ = (&self.file).write_all(text.as_bytes());
                return;
            }
        };
        pending.extend_from_slice(text.as_bytes());
        while !pending.is_empty() {
            match (&self.file).write(&pending) {
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
        let note = |text| Line::Note { text: Text::from(text) };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let mut log = Log::create(&path).expect("room");
        log.line(&note("one"));
        // As if the disk were full: a descriptor that cannot be written.
        let file = std::mem::replace(&mut log.file, File::open(&path).expect("it is there"));
        log.line(&note("two"));
        log.line(&note("three"));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "note one\n");
        log.file = file;
        log.line(&note("four"));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "note one\nnote two\nnote three\nnote four\n");
    }
}
