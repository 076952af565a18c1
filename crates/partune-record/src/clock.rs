//! The clocks of this machine when the command had ended, kept in the parts.
//!
//! A process that was killed read its clocks together only once, which gives no rate. The second reading is made here; it is stored before it
//! is used, so that a completion that is interrupted and done again gives the same archive.

use std::io;
use std::path::Path;

use partune_parts::clock::{self, Reading};
use partune_parts::machine::boot;

const NAME: &str = "clock";

/// A reading, and the machine that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) boot: u64,
    pub(crate) reading: Reading,
    /// Whether the command had just ended: not where it was completed by a step of its own.
    pub(crate) is_end: bool,
}

/// Makes the reading as soon as the command has ended.
pub(crate) fn keep_end(parts: &Path) {
    // Completion makes one, if this cannot be stored.
    let _ = make(parts, true);
}

/// The reading in a folder of parts; made now, if there is none.
pub(crate) fn kept(parts: &Path) -> io::Result<Kept> {
    let path = parts.join(NAME);
    match partune_files::read_regular(&path) {
        Ok(bytes) => read(&String::from_utf8_lossy(&bytes))
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{NAME} is no reading of clocks"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(parts, false),
        Err(error) => Err(error),
    }
}

fn make(parts: &Path, is_end: bool) -> io::Result<Kept> {
    let kept = Kept { boot: boot(), reading: clock::reading_beside(), is_end };
    crate::parts::replace(&parts.join(NAME), write(kept).as_bytes())?;
    Ok(kept)
}

fn write(Kept { boot, reading: Reading { ticks, monotonic, wall }, is_end }: Kept) -> String {
    format!("{boot:x} {ticks} {monotonic} {wall} {is_end}\n")
}

fn read(text: &str) -> Option<Kept> {
    let (boot, rest) = text.strip_suffix('\n')?.split_once(' ')?;
    let (numbers, is_end) = rest.rsplit_once(' ')?;
    let mut numbers = numbers.split(' ').map(|word| word.parse().ok());
    let reading = Reading { ticks: numbers.next()??, monotonic: numbers.next()??, wall: numbers.next()?? };
    Some(Kept { boot: u64::from_str_radix(boot, 16).ok()?, reading, is_end: is_end.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_reading_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = kept(folder.path()).expect("a reading");
        assert!(!first.is_end, "nobody saw the end");
        assert_eq!(kept(folder.path()).expect("the same"), first);
        keep_end(folder.path());
        let end = kept(folder.path()).expect("a reading");
        assert!(end.is_end && end.reading.ticks >= first.reading.ticks);
        fs::write(folder.path().join(NAME), "1f 2 3").expect("a file");
        assert!(kept(folder.path()).is_err(), "a torn reading is none");
    }
}
