//! The collectors, which travel inside partune: one file to install, nothing to find at run time.
//!
//! Whoever can write to the library, or to a folder on the way to it, can run code in the program. So it lies in the archive's folder only if
//! that is this user's and nobody else can change the way to it; other nodes see it there. Otherwise, and where the path has what the
//! loader's list of libraries takes for separators, it lies in a folder of its own in the home folder, which other nodes mostly see, else in a temporary
//! one.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::RecordError;

/// The library that is loaded into programs; built and packed by `build.rs`.
static COLLECTORS: &[u8] = include_bytes!(env!("PARTUNE_COLLECTORS"));
const NAME: &str = "libpartune_collectors.so";
/// The library's folder in the parts.
const FOLDER: &str = "library";
const STICKY: u32 = 0o1000;
const ANYBODY_WRITES: u32 = 0o002;

/// The unpacked library. It goes when this does.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Unpacks the library for the programs of this run.
pub(crate) fn unpack(parts: &Path) -> Result<Library, RecordError> {
    if is_fit(parts) {
        let folder = parts.join(FOLDER);
        DirBuilder::new().mode(0o700).create(&folder).map_err(RecordError::file(&folder))?;
        return write(&folder, None);
    }
    // Other nodes mostly see the home folder as well, if none of the others.
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let others = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
    let places = home.into_iter().chain(others).filter_map(|place| place.canonicalize().ok());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partune-").permissions(Permissions::from_mode(0o700));
    let made = places.filter(|place| is_fit(place)).find_map(|place| builder.tempdir_in(place).ok());
    let folder = made.ok_or(RecordError::NoPlace)?;
    let path = folder.path().to_owned();
    write(&path, Some(folder))
}

fn write(folder: &Path, temporary: Option<tempfile::TempDir>) -> Result<Library, RecordError> {
    let path = folder.join(NAME);
    let unpacked = File::create_new(&path).and_then(|mut file| io::copy(&mut GzDecoder::new(COLLECTORS), &mut file));
    unpacked.map_err(RecordError::file(&path))?;
    Ok(Library { path, _temporary: temporary })
}

/// Whether the loader takes a library from this folder, which has no links in its path, and nobody else's.
fn is_fit(folder: &Path) -> bool {
    let is_one_word = folder.to_str().is_some_and(|path| !path.contains([' ', ':', ';', '\t', '\n', '$']));
    is_one_word && is_private(folder).unwrap_or(false) && !forbids_programs(folder)
}

/// Whether the folder and all around it are this user's or the system's, and those that anybody may write to let nobody rename
/// what belongs to others. Who lets a group write trusts it: it could change the program as well.
fn is_private(folder: &Path) -> io::Result<bool> {
    // SAFETY: a system call without arguments.
    #[allow(unsafe_code, reason = "who this is")]
    let user = unsafe { libc::geteuid() };
    let trusted = |about: &Metadata| {
        let is_closed = about.mode() & ANYBODY_WRITES == 0 || about.mode() & STICKY != 0;
        about.is_dir() && is_closed && (about.uid() == user || about.uid() == 0)
    };
    for folder in folder.ancestors() {
        if !trusted(&fs::symlink_metadata(folder)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether what lies there cannot be run: the file system is mounted so.
#[allow(unsafe_code, reason = "a question to the system")]
fn forbids_programs(folder: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_bytes()) else { return true };
    // SAFETY: a structure of numbers, filled by the call below.
    let mut about: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and the structure.
    let known = unsafe { libc::statvfs(path.as_ptr(), &raw mut about) } == 0;
    known && about.f_flag & libc::ST_NOEXEC != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("it is there").mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("its own folder");
    }

    /// A folder with the parts' name in one that is called so, without links in its path.
    fn parts(around: &Path, name: &str) -> PathBuf {
        let parts = around.canonicalize().expect("it is there").join(name).join("parts");
        DirBuilder::new().recursive(true).mode(0o755).create(&parts).expect("a folder");
        parts
    }

    #[test]
    fn the_library_lies_in_the_archives_folder_and_goes_with_the_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let parts = parts(folder.path(), "out");
        let library = unpack(&parts).expect("room");
        assert_eq!(library.path, parts.join(FOLDER).join(NAME));
        assert_eq!(mode(&parts.join(FOLDER)), 0o700);
        assert!(
            fs::read(&library.path).expect("it is there") == fs::read(env!("PARTUNE_LIBRARY")).expect("it was built")
        );
        drop(library);
        assert!(!parts.join(FOLDER).exists());
    }

    #[test]
    fn paths_that_the_loader_would_cut_are_left_for_a_folder_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a b", "a:b", "a;b", "$ORIGIN"] {
            let library = unpack(&parts(folder.path(), name)).expect("room");
            let own = library.path.parent().expect("it has a folder").to_owned();
            assert!(!own.starts_with(folder.path()), "{own:?}");
            assert_eq!(mode(&own), 0o700);
            let other = unpack(&parts(folder.path(), name)).expect("room");
            assert_ne!(other.path, library.path, "nobody can know the name");
            drop(library);
            assert!(!own.exists());
        }
    }

    #[test]
    fn a_folder_that_others_can_change_is_not_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let parts = parts(folder.path(), "out");
        let out = parts.parent().expect("it has one");
        for (mode, fits) in [(0o755, true), (0o777, false), (0o1777, true), (0o775, true)] {
            set_mode(out, mode);
            assert_eq!(is_fit(&parts), fits, "{mode:o}");
        }
        // The way to it may not be another's either: a link is followed by whoever asks.
        let link = folder.path().canonicalize().expect("it is there").join("link");
        std::os::unix::fs::symlink(out, &link).expect("a link");
        assert!(!is_fit(&link.join("parts")));
    }

    #[test]
    fn what_was_put_there_before_is_not_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let parts = parts(folder.path(), "out");
        let target = folder.path().join("target");
        fs::write(&target, "mine").expect("a file");
        fs::create_dir(parts.join(FOLDER)).expect("a folder");
        std::os::unix::fs::symlink(&target, parts.join(FOLDER).join(NAME)).expect("a link");
        unpack(&parts).expect_err("it is not made anew");
        assert_eq!(fs::read(&target).expect("it is there"), b"mine");
    }
}
