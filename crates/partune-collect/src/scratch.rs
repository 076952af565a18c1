//! Files of events may lie on a disk of the node, where the folder of the recording is far away: what is there is a link then, which
//! `partune record --gather` replaces with the file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// From now on, files are made in a folder, which nobody else can look into. Fails if it cannot be made.
pub(crate) fn choose(folder: PathBuf) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let _ = FOLDER.set(folder);
    Ok(())
}

/// Makes a file for events, which must not be there yet.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    create_in(FOLDER.get().map(PathBuf::as_path), path)
}

fn create_in(scratch: Option<&Path>, path: &Path) -> io::Result<File> {
    let new = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let Some((scratch, name)) = scratch.zip(path.file_name()) else { return new(path) };
    let there = scratch.join(name);
    let file = new(&there)?;
    symlink(&there, path).inspect_err(|_| drop(std::fs::remove_file(&there)))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_where_it_was_asked_for_and_its_bytes_are_in_the_scratch_folder() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let (far, near) = (folder.path().join("far"), folder.path().join("near"));
        for folder in [&far, &near] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let path = far.join("a-0.lane");
        create_in(Some(&near), &path).expect("it is made");
        std::fs::write(&path, "events").expect("it is a file");
        assert_eq!(std::fs::read(near.join("a-0.lane")).expect("it is there"), b"events");
        // Neither is made a second time, and nothing is left where the link cannot be.
        assert!(create_in(Some(&near), &path).is_err());
        assert!(create_in(Some(&near), &folder.path().join("nowhere/b-0.lane")).is_err());
        assert_eq!(std::fs::read_dir(&near).expect("it is there").count(), 1);
        let plain = far.join("c-0.lane");
        create_in(None, &plain).expect("it is made");
        assert!(!plain.is_symlink());
    }
}
