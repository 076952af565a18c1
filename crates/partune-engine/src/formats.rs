//! The formats that can be opened, and how to tell them apart.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use partune_files::open_regular;
use partune_import::{Format, ImportError};
use partune_trace::Trace;
use thiserror::Error;

use crate::Progress;
use crate::files::Folder;

/// All formats. To add one: its crate, and one line.
pub static FORMATS: &[Format] =
    &[partune_otf2::import::FORMAT, partune_paraver::import::FORMAT, partune_projections::import::FORMAT];

/// In the folder of a recording: what the recorder leaves until it has made an archive of it, the archive in the making, and the anchor that
/// it gets last.
const PARTS: &str = "parts";
const PARTIAL: &str = "traces.partial";
const ANCHOR: &str = "traces.otf2";
/// In the folder of one of several runs: the command failed, so this run is no repeat of the others.
pub const FAILED: &str = "failed";
/// What functions do, said by who recorded; beside the entry.
pub const OPERATIONS: &str = "operations.toml";

/// Why an archive could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("{}: {error}\n  remedy: give the path of an archive, e.g. traces.otf2 or run.prv, or the folder that holds it", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error(
        "{}: not a format that partune knows ({})\n  remedy: give the file that an archive is opened by, {}",
        path.display(),
        FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", "),
        entry.as_ref().map_or_else(|| "e.g. traces.otf2 or run.prv".to_owned(), |entry| entry.display().to_string())
    )]
    Unknown {
        path: PathBuf,
        /// The only archive in its folder.
        entry: Option<PathBuf>,
    },
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
    #[error(
        "{}: no operation of the run was recorded, since recording was switched off\n  remedy: record without --phase, --window and --toggle, or \
         choose what the program comes to",
        path.display()
    )]
    Off { path: PathBuf },
    #[error("{}: {error}", path.display())]
    Import { path: PathBuf, error: ImportError },
}

/// The entry file of the archive that a path means: itself, or the only archive in that folder or one below.
pub(crate) fn entry(path: &Path) -> Result<PathBuf, OpenError> {
    let found = archives(path)?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(OpenError::many(path, &found)),
    }
}

/// The entry files of the runs that a path means: one archive, as [`entry`] has it, or those that `partune record --repeat` made in a folder, in the order
/// in which they ran. A run that failed is no repeat of the others.
pub fn runs(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let found = archives(path)?;
    if found.len() == 1 {
        return Ok(found);
    }
    let number = |entry: &Path| -> Option<u32> {
        let folder = entry.parent().filter(|_| entry.ends_with(ANCHOR))?;
        folder.file_name()?.to_str()?.parse().ok()
    };
    let numbered: Option<Vec<(u32, &PathBuf)>> = found.iter().map(|entry| Some((number(entry)?, entry))).collect();
    let mut numbered = numbered.ok_or_else(|| OpenError::many(path, &found))?;
    numbered.retain(|(_, entry)| !entry.with_file_name(FAILED).exists());
    numbered.sort();
    match numbered.as_slice() {
        [] => Err(OpenError::many(path, &found)),
        runs => Ok(runs.iter().map(|(_, entry)| (*entry).clone()).collect()),
    }
}

/// Bytes of the files of all runs that a path means, without their holes: those in the folder of each entry that begin with its name, and all in a folder of that name.
/// Cost: a look at each file.
pub fn bytes(path: &Path) -> u64 {
    let of = |entry: &PathBuf| {
        let stem = entry.file_stem().unwrap_or_default().as_encoded_bytes();
        let begins = |path: &Path| path.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(stem));
        let folder = entry.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (folders, files): (Vec<_>, Vec<_>) =
            listed(folder).into_iter().filter(|it| begins(it)).partition(|it| it.is_dir());
        let below = folders.iter().filter(|it| it.file_name() == entry.file_stem()).flat_map(|it| listed(it));
        files
            .into_iter()
            .chain(below)
            .filter_map(|it| it.metadata().ok())
            .map(|it| it.len().min(it.blocks() * 512))
            .sum::<u64>()
    };
    runs(path).iter().flatten().map(of).sum()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map_or_else(|_| Vec::new(), |files| files.flatten().map(|it| it.path()).collect())
}

/// All entry files that a path may mean, by name; at least one.
fn archives(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let read = |error| OpenError::Read { path: path.to_owned(), error };
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => {}
        Ok(_) => return Ok(vec![path.to_owned()]),
        Err(error) => {
            // The anchor that the recording will have when it is complete.
            let folder = path.parent().filter(|folder| path.ends_with(ANCHOR) && folder.join(PARTS).is_dir());
            return Err(folder.map_or_else(|| read(error), |folder| OpenError::Unfinished { path: folder.to_owned() }));
        }
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    for folder in std::fs::read_dir(path).map_err(read)?.flatten() {
        if folder.path().is_dir() && folder.file_name() != PARTIAL {
            folders.push(folder.path());
        }
    }
    folders.sort();
    for folder in &folders {
        let Ok(files) = std::fs::read_dir(folder) else { continue };
        let entries = files.flatten().map(|file| file.path());
        found.extend(entries.filter(|file| file.is_file() && is_entry(file)));
    }
    found.sort();
    if found.is_empty() {
        return Err(match folders.into_iter().find(|folder| folder.join(PARTS).is_dir()) {
            Some(path) => OpenError::Unfinished { path },
            None => OpenError::EmptyFolder { path: path.to_owned() },
        });
    }
    Ok(found)
}

impl OpenError {
    fn many(path: &Path, found: &[PathBuf]) -> OpenError {
        let first = found.first().cloned().unwrap_or_default();
        OpenError::ManyArchives { path: path.to_owned(), count: found.len(), first }
    }
}

/// The format of a file.
pub(crate) fn detect(path: &Path) -> Result<&'static Format, OpenError> {
    let mut head = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(|error| OpenError::Read { path: path.to_owned(), error })?;
    let format = FORMATS.iter().find(|format| (format.detect)(&name(path), &head));
    let folder = || path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format.ok_or_else(|| OpenError::Unknown { path: path.to_owned(), entry: entry(folder()).ok() })
}

/// Whether something is said beside an entry about what functions do.
pub(crate) fn has_operations(entry: &Path) -> bool {
    std::fs::symlink_metadata(entry.with_file_name(OPERATIONS)).is_ok()
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
    FORMATS.iter().any(|format| format.is_entry(&name))
}

/// The name of a file in its folder.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a path below a folder that holds these folders and files.
    fn said(of: &str, holds: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        for name in holds {
            let path = folder.path().join(name);
            let (around, file) = if name.ends_with('/') {
                (path.as_path(), None)
            } else {
                (path.parent().expect("it has one"), Some(&path))
            };
            std::fs::create_dir_all(around).expect("there is room for a folder");
            if let Some(file) = file {
                std::fs::write(file, "OTF2").expect("there is room for a file");
            }
        }
        let found = match entry(&folder.path().join(of)) {
            Ok(path) => path.display().to_string(),
            Err(error) => error.to_string(),
        };
        found.replace(&folder.path().display().to_string(), "AT")
    }

    #[test]
    fn a_recording_that_is_not_complete_names_what_completes_it() {
        let unfinished = "AT/run: a recording that is not complete\n  remedy: partune record --complete AT/run";
        assert_eq!(said("run", &["run/parts/"]), unfinished);
        assert_eq!(said("run/traces.otf2", &["run/parts/"]), unfinished);
        assert_eq!(said("", &["run/parts/"]), unfinished);
        // Completion was interrupted: what it had made is not an archive yet.
        assert_eq!(said("run", &["run/parts/", "run/traces.partial/traces.otf2"]), unfinished);
        // It is complete, and only its parts could not be removed.
        assert_eq!(said("run", &["run/parts/", "run/traces.otf2"]), "AT/run/traces.otf2");
        assert_eq!(said("run/traces.otf2", &["run/parts/", "run/traces.otf2"]), "AT/run/traces.otf2");
    }

    #[test]
    fn repeats_are_in_the_order_of_their_numbers_and_without_those_that_failed() {
        let found = |holds: &[&str]| {
            let folder = tempfile::tempdir().expect("there is room for a folder");
            for name in holds {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().expect("it has one")).expect("there is room for a folder");
                std::fs::write(path, "OTF2").expect("there is room for a file");
            }
            let runs = runs(folder.path()).map_err(|error| error.to_string());
            let names = |runs: Vec<PathBuf>| -> Vec<String> {
                let below = |run: &PathBuf| run.strip_prefix(folder.path()).map(|it| it.display().to_string());
                runs.iter().filter_map(|run| below(run).ok()).collect()
            };
            runs.map(names)
        };
        let three = ["10/traces.otf2", "2/traces.otf2", "9/traces.otf2", "partune.toml"];
        assert_eq!(found(&three).as_deref(), Ok(&["2", "9", "10"].map(|it| format!("{it}/traces.otf2"))[..]));
        let failed = ["1/traces.otf2", "2/traces.otf2", "2/failed"];
        assert_eq!(found(&failed).as_deref(), Ok(&["1/traces.otf2".to_owned()][..]));
        for other in [
            &["before/traces.otf2", "after/traces.otf2"][..],
            &["1/traces.otf2", "traces.otf2"],
            &["1/a.otf2", "2/a.otf2"],
            &["1/traces.otf2", "1/failed", "2/traces.otf2", "2/failed"],
        ] {
            assert!(found(other).is_err_and(|error| error.contains("holds 2 archives")), "{other:?}");
        }
    }

    #[test]
    fn other_folders_are_not_taken_for_recordings() {
        assert!(said("run", &["run/"]).contains("the folder holds no archive"));
        assert!(said("run/other.otf2", &["run/parts/"]).contains("No such file"), "nobody records into that");
        // Somebody else's folder of this name, beside an archive.
        assert_eq!(said("run", &["run/parts/", "run/b.prv"]), "AT/run/b.prv");
        assert_eq!(said("", &["run/parts/", "old/traces.otf2"]), "AT/old/traces.otf2");
    }
}
