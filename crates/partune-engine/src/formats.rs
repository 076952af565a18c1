//! The formats that can be opened, and how to tell them apart.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use partune_files::open_regular;
use partune_import::{Format, ImportError};
use partune_trace::Trace;
use thiserror::Error;

use crate::Progress;
use crate::files::Folder;

/// All formats. To add one: its crate, and one line.
pub static FORMATS: &[Format] = &[partune_otf2::import::FORMAT, partune_paraver::import::FORMAT];

/// Why an archive could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("{}: {error}\n  remedy: give the path of an archive, e.g. traces.otf2 or run.prv, or the folder that holds it", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error(
        "{}: not a format that partune knows ({})\n  remedy: give the file that an archive is opened by, e.g. traces.otf2 or run.prv",
        path.display(),
        FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
    )]
    Unknown { path: PathBuf },
    #[error("{}: the folder holds no archive\n  remedy: give the file that an archive is opened by, e.g. traces.otf2 or run.prv", path.display())]
    EmptyFolder { path: PathBuf },
    #[error(
        "{}: a recording that is not complete\n  remedy: partune record --complete {}",
        path.display(),
        path.display()
    )]
    Unfinished { path: PathBuf },
    #[error("{}: the folder holds {count} archives\n  remedy: give the file that one is opened by, e.g. {}", path.display(), first.display())]
    ManyArchives { path: PathBuf, count: usize, first: PathBuf },
    #[error(
        "{}: the archive holds no event{noticed}\n  remedy: {}",
        path.display(),
        if remedy.is_empty() { "record again, and see that the program comes to its end" } else { remedy }
    )]
    Empty { path: PathBuf, noticed: String, remedy: String },
    #[error("{}: {error}", path.display())]
    Import { path: PathBuf, error: ImportError },
}

/// The entry file of the archive that a path means: itself, or the only archive in that folder or one below.
pub(crate) fn entry(path: &Path) -> Result<PathBuf, OpenError> {
    let read = |error| OpenError::Read { path: path.to_owned(), error };
    if !std::fs::metadata(path).map_err(read)?.is_dir() {
        return Ok(path.to_owned());
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    for folder in std::fs::read_dir(path).map_err(read)?.flatten() {
        if folder.path().is_dir() {
            folders.push(folder.path());
        }
    }
    for folder in folders {
        let Ok(files) = std::fs::read_dir(folder) else { continue };
        let entries = files.flatten().map(|file| file.path());
        found.extend(entries.filter(|file| file.is_file() && is_entry(file)));
    }
    found.sort();
    match found.as_slice() {
        // What a recorder leaves until it has made an archive of it.
        [] if path.join("parts").is_dir() => Err(OpenError::Unfinished { path: path.to_owned() }),
        [] => Err(OpenError::EmptyFolder { path: path.to_owned() }),
        [one] => Ok(one.clone()),
        [first, ..] => Err(OpenError::ManyArchives { path: path.to_owned(), count: found.len(), first: first.clone() }),
    }
}

/// The format of a file.
pub(crate) fn detect(path: &Path) -> Result<&'static Format, OpenError> {
    let mut head = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(|error| OpenError::Read { path: path.to_owned(), error })?;
    let format = FORMATS.iter().find(|format| (format.detect)(&name(path), &head));
    format.ok_or_else(|| OpenError::Unknown { path: path.to_owned() })
}

/// Reads everything, from the entry.
pub(crate) fn read(format: &Format, entry: &Path, progress: &dyn Progress) -> Result<Trace, OpenError> {
    let advance = |done, total| progress.advance(done, total);
    (format.open)(&Folder::of(entry), &name(entry), &advance)
        .map_err(|error| OpenError::Import { path: entry.to_owned(), error })
}

/// Whether a file has a name as entries have.
fn is_entry(file: &Path) -> bool {
    let name = name(file);
    FORMATS.iter().flat_map(|format| format.endings).any(|ending| name.ends_with(ending))
}

/// The name of a file in its folder.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
