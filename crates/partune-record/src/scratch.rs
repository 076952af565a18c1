//! Parts on the disks of nodes: they come to the folder of the recording once the program has ended, on each node by itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use partune_parts::layout::PARTS;

use crate::{RecordError, living, log};

/// Parts that are on other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// How many files, by the name of their node, as the names of parts begin.
    pub nodes: BTreeMap<String, usize>,
    /// The folder of them.
    pub scratch: PathBuf,
}

impl Elsewhere {
    pub(crate) fn files(&self) -> usize {
        self.nodes.values().sum()
    }
}

/// Brings those parts to the folder of a recording that are on this node; parts of processes that still run stay. Says how many came, and
/// what is elsewhere. It may be interrupted, and be called on several nodes at a time.
pub fn gather(folder: &Path) -> Result<(usize, Option<Elsewhere>), RecordError> {
    let parts = folder.join(PARTS);
    let entries = match fs::read_dir(&parts) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(RecordError::NoRecording { folder: folder.to_owned() });
        }
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(RecordError::file(&parts))?,
    };
    let (mut came, mut elsewhere) = (0, Elsewhere::default());
    let links = entries.iter().filter(|entry| entry.file_type().is_ok_and(|it| it.is_symlink()));
    for path in links.map(fs::DirEntry::path) {
        let there = fs::read_link(&path).map_err(RecordError::file(&path))?;
        if let Some(process) = running(&path) {
            return Err(RecordError::Living { folder: folder.to_owned(), process });
        }
        if there.is_file() {
            bring(&there, &path).map_err(RecordError::file(&path))?;
            came += 1;
        } else {
            *elsewhere.nodes.entry(node(&path)).or_default() += 1;
        }
        let scratch = there.parent().unwrap_or(Path::new("")).to_owned();
        // It goes with the last part in it.
        let _ = fs::remove_dir(&scratch);
        elsewhere.scratch = scratch;
    }
    Ok((came, (!elsewhere.nodes.is_empty()).then_some(elsewhere)))
}

/// Puts a file in the place of the link to it. Interrupted, the link still leads to it, or it is there twice.
fn bring(there: &Path, path: &Path) -> io::Result<()> {
    let new = path.with_added_extension("new");
    fs::copy(there, &new)?;
    File::open(&new)?.sync_all()?;
    fs::rename(&new, path)?;
    fs::remove_file(there)
}

/// The process that still writes a part, if it is of this node.
fn running(part: &Path) -> Option<u32> {
    let path = part.with_file_name(format!("{}.log", stem(part)?));
    let bytes = partune_files::read_regular(&path).ok()?;
    let log = log::ProcessLog::parse(&String::from_utf8_lossy(&bytes)).ok()?;
    living::writes(&log, &path).then_some(log.pid)
}

/// The name of a part without its thread: `HOST-PID`.
fn stem(part: &Path) -> Option<&str> {
    Some(part.file_stem()?.to_str()?.rsplit_once('-')?.0)
}

fn node(part: &Path) -> String {
    let stem = stem(part).unwrap_or_default();
    stem.split_once("-again").map_or(stem, |(stem, _)| stem).rsplit_once('-').map_or(stem, |(host, _)| host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_comes_and_what_is_elsewhere_is_said() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let (parts, scratch) = (folder.path().join(PARTS), folder.path().join("scratch"));
        for folder in [&parts, &scratch] {
            fs::create_dir(folder).expect("a folder");
        }
        let link = |name: &str| std::os::unix::fs::symlink(scratch.join(name), parts.join(name)).expect("a link");
        ["n-1-7-0.lane", "n-1-7-1.lane", "n-2-7-again1-0.lane"].into_iter().for_each(link);
        fs::write(parts.join("n-1-7.log"), "").expect("it can be written");
        fs::write(scratch.join("n-1-7-0.lane"), "events").expect("it can be written");
        fs::write(scratch.join("n-1-7-1.lane"), "more").expect("it can be written");
        let (came, elsewhere) = gather(folder.path()).expect("it can be read");
        let nodes = [("n-2".to_owned(), 1)].into();
        assert_eq!((came, elsewhere), (2, Some(Elsewhere { nodes, scratch: scratch.clone() })));
        assert_eq!(fs::read(parts.join("n-1-7-0.lane")).expect("it came"), b"events");
        assert!(!parts.join("n-1-7-1.lane").is_symlink() && !scratch.exists());
        // Again, there is nothing to do; and with nothing elsewhere there is nothing to say.
        assert_eq!(gather(folder.path()).expect("it can be read").0, 0);
        fs::remove_file(parts.join("n-2-7-again1-0.lane")).expect("it is there");
        assert_eq!(gather(folder.path()).expect("it can be read"), (0, None));
        assert!(matches!(gather(&scratch), Err(RecordError::NoRecording { .. })));
    }
}
