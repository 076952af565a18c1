//! The formats that can be opened, and how to tell them apart.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use partune_files::open_regular;
use partune_otf2::import::{ImportError, import};
use partune_trace::Trace;
use thiserror::Error;

use crate::Progress;
use crate::files::Folder;

/// A trace format.
pub struct Format {
    /// As people call it.
    pub name: &'static str,
    /// Whether a file that begins with these bytes (up to 64) is its entry.
    pub detect: fn(&Path, &[u8]) -> bool,
    /// Reads everything.
    pub open: fn(&Path, &dyn Progress) -> Result<Trace, OpenError>,
    /// The name of the entry file in a folder, to find it where the user names the folder.
    pub entry: fn(&Path) -> bool,
}

/// All formats. To add one: one module, one line.
pub static FORMATS: &[&Format] = &[&OTF2];

static OTF2: Format = Format {
    name: "OTF2",
    detect: |_, head| head.len() > 7 && head[0] == 3 && &head[2..7] == b"OTF2\0",
    open: |path, progress| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let files = Folder::of(path);
        let advance = |done, total| progress.advance(done, total);
        import(&files, &name, &advance).map_err(|error| OpenError::Import { path: path.to_owned(), error })
    },
    entry: |path| path.extension().is_some_and(|extension| extension == "otf2"),
};

/// Why an archive could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("{}: {error}\n  remedy: give the path of an archive, e.g. traces.otf2 or the folder that holds it", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error(
        "{}: not a format that partune knows ({})\n  remedy: give the anchor file of an archive, e.g. traces.otf2",
        path.display(),
        FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
    )]
    Unknown { path: PathBuf },
    #[error("{}: the folder holds no archive\n  remedy: give the anchor file of an archive, e.g. traces.otf2", path.display())]
    EmptyFolder { path: PathBuf },
    #[error(
        "{}: a recording that is not complete\n  remedy: partune record --complete {}",
        path.display(),
        path.display()
    )]
    Unfinished { path: PathBuf },
    #[error("{}: the folder holds {count} archives\n  remedy: give the anchor file of one, e.g. {}", path.display(), first.display())]
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
        found.extend(entries.filter(|file| file.is_file() && FORMATS.iter().any(|format| (format.entry)(file))));
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
    let format = FORMATS.iter().copied().find(|format| (format.detect)(path, &head));
    format.ok_or_else(|| OpenError::Unknown { path: path.to_owned() })
}
