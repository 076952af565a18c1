//! The definition log: what events of a process refer to, one line each, written when it is first seen.
//!
//! Lines are words between single spaces; `-` stands for none, and in texts `%`, spaces and control characters are `%XX`. A line is one
//! `write` to a file in append mode, so a killed process leaves whole lines; one that the disk has no room for is written before the next. Members are ranks in the world: `0-3,8,10-30:5`.
//!
//! ```text
//! partune VERSION                                      first line
//! process PID HOST BOOT CLOCK MODE                     BOOT tells machines apart; CLOCK counter|monotonic; MODE trace|profile
//! program PATH ARGUMENT...
//! calibrate TICKS MONOTONIC_NS WALL_NS                 at begin, at synchronisations, at the end
//! rank RANK SIZE WORLD                                 WORLD tells jobs apart that meet at run time
//! paradigm NAME VERSION                                the library that was intercepted
//! thread NUMBER TID NAME                               its lane is NAME-NUMBER.lane
//! module NUMBER BIAS PATH                              address in the file = address in memory - BIAS
//! region NUMBER KIND NAME                              KIND is a paradigm, or code, phase, loop, iteration
//! path NUMBER PARENT frame MODULE ADDRESS              a return address, hexadecimal, in the module's file
//! path NUMBER PARENT function MODULE ADDRESS           the first instruction of an instrumented function
//! path NUMBER PARENT region REGION
//! group NUMBER MEMBERS
//! comm NUMBER SEQUENCE MEMBERS REMOTE PARENT NAME      equal SEQUENCE and lists on all members make one communicator
//! name comm NUMBER NAME
//! window NUMBER SEQUENCE COMM KIND NAME
//! file NUMBER NAME
//! metric NUMBER KIND UNIT NAME                         KIND is u64 or f64; values are accumulated
//! sync TICKS OFFSET DEVIATION                          TICKS + OFFSET is the time of rank 0
//! lost THREAD EVENTS
//! note TEXT
//! end HOW                                              finalize, abort, exit
//! ```

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, TryLockError};

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

    /// Appends a line. One that cannot be written now is kept: the program goes on, and nothing is said.
    pub(crate) fn line(&self, words: fmt::Arguments<'_>) {
        let mut text = String::with_capacity(128);
        if writeln!(text, "{words}").is_err() {
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

/// A text as one word.
pub(crate) struct Word<'a>(pub(crate) &'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() || self.0 == "-" {
            return f.write_str(if self.0.is_empty() { "-" } else { "%2d" });
        }
        for c in self.0.chars() {
            if c == '%' || c.is_whitespace() || c.is_control() {
                let mut buffer = [0; 4];
                c.encode_utf8(&mut buffer).bytes().try_for_each(|byte| write!(f, "%{byte:02x}"))?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Numbers as ranges: `0-3,8,10-30:5`; `-` if there are none. The order is kept.
pub(crate) struct Members<'a>(pub(crate) &'a [u32]);

impl fmt::Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest.is_empty() {
            return f.write_str("-");
        }
        while let [first, ..] = *rest {
            let step = rest.get(1).map_or(1, |second| i64::from(*second) - i64::from(first));
            let follows = |i: usize| i64::from(rest[i]) == i64::from(first) + step * i as i64;
            let run = if step > 0 { (1..rest.len()).take_while(|i| follows(*i)).count() + 1 } else { 1 };
            // Two numbers that are apart by chance are no range.
            let run = if run == 2 && step != 1 { 1 } else { run };
            if rest.len() != self.0.len() {
                f.write_char(',')?;
            }
            match (run, step) {
                (1, _) => write!(f, "{first}")?,
                (_, 1) => write!(f, "{first}-{}", rest[run - 1])?,
                _ => write!(f, "{first}-{}:{step}", rest[run - 1])?,
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

/// Something that whoever reads the archive should know.
pub fn note(text: &str) {
    crate::process::log(format_args!("note {}", Word(text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_finds_no_room_comes_before_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let mut log = Log::create(&path).expect("room");
        log.line(format_args!("one"));
        // As if the disk were full: a descriptor that cannot be written.
        let file = std::mem::replace(&mut log.file, File::open(&path).expect("it is there"));
        log.line(format_args!("two"));
        log.line(format_args!("three"));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "one\n");
        log.file = file;
        log.line(format_args!("four"));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn words_and_members() {
        assert_eq!(Word("a b%\n").to_string(), "a%20b%25%0a");
        assert_eq!((Word("").to_string(), Word("-").to_string()), ("-".to_owned(), "%2d".to_owned()));
        let members = |list: &[u32]| Members(list).to_string();
        assert_eq!(members(&[]), "-");
        assert_eq!(members(&[0, 1, 2, 3, 8, 10, 15, 20, 25, 30]), "0-3,8,10-30:5");
        assert_eq!(members(&[5, 4, 3]), "5,4,3");
        assert_eq!(members(&[7, 9]), "7,9");
    }
}
