//! Files of an archive from a folder: opened one by one, read piece by piece.
//!
//! Only regular files are read. What a file claims to hold and does not (a hole at its end) is left out.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partune_files::open_regular;
use partune_import::{Bytes, Contents, Files};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// The folder of an archive's anchor.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn of(anchor: &Path) -> Folder {
        let parent = anchor.parent().filter(|parent| !parent.as_os_str().is_empty());
        Folder { path: parent.unwrap_or(Path::new(".")).to_owned() }
    }
}

impl Files for Folder {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let file = open_regular(&self.path.join(name))?;
        let size = data_end(&file)?;
        Ok(Arc::new(Plain { file, size }))
    }
}

/// A regular file.
struct Plain {
    file: File,
    size: u64,
}

impl Contents for Plain {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(into, at)
    }
}

/// Holes that a file may have between its data, beside as much as it has data: padding may have become holes when it was copied.
const HOLES: u64 = 1 << 20;

/// Where the data of a file end: a hole after them is nothing that anybody wrote. A file that is mostly holes is refused; to read it would cost
/// time and memory that nothing in it is worth.
fn data_end(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    let size = metadata.len();
    if metadata.blocks().saturating_mul(512) >= size {
        return Ok(size);
    }
    let (mut end, mut holes) = (0, 0);
    while end < size {
        let begin = match seek(file, SeekFrom::Data(end)) {
            Ok(begin) => begin,
            // Nothing follows.
            Err(Errno::NXIO) => break,
            // A file system that knows nothing of holes.
            Err(_) => return Ok(size),
        };
        holes += begin.saturating_sub(end);
        // The end of a file counts as a hole, so there is one; it moves on.
        end = seek(file, SeekFrom::Hole(begin)).map_or(size, |hole| hole.clamp(begin + 1, size.max(begin + 1)));
    }
    if holes > (end - holes) + HOLES {
        let message = format!("{holes} of its {end} bytes are holes: it was not written or copied whole");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// As much as a file may have, sparse.
    const TIB: u64 = 1 << 40;

    fn folder() -> (tempfile::TempDir, Folder) {
        let folder = tempfile::tempdir().expect("there is room for files");
        let files = Folder { path: folder.path().to_owned() };
        (folder, files)
    }

    /// A file with data at these places, and a size.
    fn sparse(folder: &Path, name: &str, data: &[(u64, usize)], size: u64) {
        let file = File::create(folder.join(name)).expect("a file is made");
        for (at, count) in data {
            file.write_all_at(&vec![7; *count], *at).expect("data are written");
        }
        file.set_len(size).expect("files may be sparse");
    }

    #[test]
    fn only_regular_files_are_opened() {
        let (folder, files) = folder();
        std::fs::create_dir(folder.path().join("folder")).expect("a folder is made");
        let error = files.open("folder").err().expect("it is refused").to_string();
        assert_eq!(error, "it is a folder and not a file");
        std::fs::write(folder.path().join("file"), "seven").expect("a file is written");
        let file = files.open("file").expect("it is there");
        let mut bytes = [0; 9];
        assert_eq!((file.size(), file.read_at(1, &mut bytes).expect("it is read")), (5, 4));
        assert_eq!(&bytes[..4], b"even");
    }

    #[test]
    fn a_file_that_shrinks_ends_and_does_not_end_the_process() {
        let (folder, files) = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 100_000]).expect("a file is written");
        let open = files.open("file").expect("it is there");
        File::options().write(true).open(&path).expect("it is there").set_len(10).expect("it is cut");
        let mut bytes = vec![0; 100_000];
        assert_eq!(open.size(), 100_000);
        assert_eq!(open.read_at(0, &mut bytes).expect("it is read"), 10);
        assert_eq!(open.read_at(50_000, &mut bytes).expect("it is read"), 0);
    }

    #[test]
    fn of_a_sparse_file_only_data_count() {
        let (folder, files) = folder();
        let size = |name: &str| files.open(name).map(|file| file.size());
        sparse(folder.path(), "full", &[(0, 70_000)], 70_000);
        assert_eq!(size("full").expect("no hole"), 70_000);
        sparse(folder.path(), "after", &[(0, 70_000)], TIB);
        // A file system counts in blocks, none larger than a mebibyte.
        assert!((70_000..1 << 21).contains(&size("after").expect("a hole after the data")));
        sparse(folder.path(), "nothing", &[], TIB);
        assert_eq!(size("nothing").expect("nothing is in it"), 0);
        sparse(folder.path(), "little", &[(0, 300_000), (1 << 20, 300_000)], (1 << 20) + 300_000);
        assert_eq!(size("little").expect("a little hole"), (1 << 20) + 300_000);
        sparse(folder.path(), "between", &[(0, 70_000), (TIB, 10)], TIB + 10);
        assert!(size("between").expect_err("it is mostly holes").to_string().contains("holes"));
        let mut file = File::create(folder.path().join("plain")).expect("a file is made");
        file.write_all(b"x").expect("it is written");
        assert_eq!(size("plain").expect("a file"), 1);
    }
}
