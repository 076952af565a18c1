//! An archive in its folder: made under another name, brought to the disk, and published by one rename.
//!
//! ```text
//! FOLDER/parts/             what processes left; nobody changes what is recorded there
//! FOLDER/traces.partial/    the archive in the making: traces.otf2, traces.def, traces/
//! FOLDER/traces.otf2        the anchor, which is published last
//! ```
//!
//! So there are two states, and whoever comes next can tell them apart. Without an anchor the parts are all that counts: whatever else lies
//! there is thrown away and made again, from the same parts into the same bytes. With an anchor the archive is all that counts, it is on the
//! disk, and parts are thrown away.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use partune_parts::layout::{ANCHOR, PARTS};
use rayon::prelude::*;

use crate::RecordError;

/// The archive's definitions, and the folder of its event files.
const DEFINITIONS: &str = "traces.def";
const EVENTS: &str = "traces";
/// From so many files on the file system is brought to the disk as a whole.
const MANY: usize = 64;
/// Where it is made.
const PARTIAL: &str = "traces.partial";

/// Whether the folder holds a complete archive.
pub(crate) fn is_published(folder: &Path) -> Result<bool, RecordError> {
    let anchor = folder.join(ANCHOR);
    anchor.try_exists().map_err(RecordError::file(&anchor))
}

/// An archive in the making.
pub(crate) struct Partial {
    folder: PathBuf,
    made: PathBuf,
}

impl Partial {
    /// Begins anew: what an earlier attempt made is thrown away.
    pub(crate) fn begin(folder: &Path) -> Result<Partial, RecordError> {
        let made = folder.join(PARTIAL);
        for folder in [&made, &folder.join(EVENTS)] {
            absent(fs::remove_dir_all(folder)).map_err(RecordError::file(folder))?;
        }
        let definitions = folder.join(DEFINITIONS);
        absent(fs::remove_file(&definitions)).map_err(RecordError::file(&definitions))?;
        let events = made.join(EVENTS);
        fs::create_dir_all(&events).map_err(RecordError::file(&events))?;
        Ok(Partial { folder: folder.to_owned(), made })
    }

    pub(crate) fn anchor(&self) -> PathBuf {
        self.made.join(ANCHOR)
    }

    pub(crate) fn definitions(&self) -> PathBuf {
        self.made.join(DEFINITIONS)
    }

    /// A file of a location.
    pub(crate) fn of_location(&self, id: u64, ending: &str) -> PathBuf {
        self.made.join(EVENTS).join(format!("{id}.{ending}"))
    }

    /// Brings everything to the disk, then gives it its names, the anchor last.
    pub(crate) fn publish(self) -> Result<(), RecordError> {
        let events = self.made.join(EVENTS);
        let entries = fs::read_dir(&events).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut files: Vec<PathBuf> =
            entries.map_err(RecordError::file(&events))?.iter().map(fs::DirEntry::path).collect();
        // The order in which a folder lists its files is nobody's; this one is the same each time.
        files.sort();
        files.extend([self.definitions(), self.anchor(), events, self.made.clone()]);
        sync_all(&self.folder, &files)?;
        for name in [EVENTS, DEFINITIONS] {
            self.rename(name)?;
        }
        sync(&self.folder)?;
        self.rename(ANCHOR)
    }

    fn rename(&self, name: &str) -> Result<(), RecordError> {
        let to = self.folder.join(name);
        fs::rename(self.made.join(name), &to).map_err(RecordError::file(&to))
    }
}

/// What is left to do when the anchor is there: nothing of the parts is needed any more.
pub(crate) fn clean(folder: &Path) -> Result<(), RecordError> {
    sync(folder)?;
    for name in [PARTIAL, PARTS] {
        let path = folder.join(name);
        absent(fs::remove_dir_all(&path)).map_err(RecordError::file(&path))?;
    }
    Ok(())
}

/// Removes a complete archive, and nothing else that lies in its folder: the anchor first, without which the rest is none.
pub(crate) fn remove(folder: &Path) -> Result<(), RecordError> {
    for name in [ANCHOR, DEFINITIONS] {
        let path = folder.join(name);
        absent(fs::remove_file(&path)).map_err(RecordError::file(&path))?;
    }
    let events = folder.join(EVENTS);
    absent(fs::remove_dir_all(&events)).map_err(RecordError::file(&events))
}

/// Waits until all files are on the disk. Many of them take less time if the whole file system is told at once (syncfs(2)), and one file after
/// the other where it cannot be.
#[allow(unsafe_code, reason = "a system call")]
fn sync_all(folder: &Path, files: &[PathBuf]) -> Result<(), RecordError> {
    if files.len() > MANY {
        use std::os::fd::AsRawFd as _;
        let system = File::open(folder).map_err(RecordError::file(folder))?;
        // SAFETY: an open descriptor.
        if unsafe { libc::syncfs(system.as_raw_fd()) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP)) {
            return Err(RecordError::file(folder)(error));
        }
    }
    files.par_iter().try_for_each(|path| sync(path))
}

/// Waits until a file, or the names in a folder, are on the disk.
fn sync(path: &Path) -> Result<(), RecordError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(RecordError::file(path))
}

/// It is no failure that there was nothing to remove.
fn absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
