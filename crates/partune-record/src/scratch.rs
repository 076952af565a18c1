//! Parts on the disks of nodes: they come to the folder of the recording once the program has ended, on each node by itself.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use partune_parts::layout::PARTS;
use rustc_hash::FxHashMap;

use crate::archive::is_published;
use crate::logs::{self, Logs};
use crate::{RecordError, parts};

/// Parts that are on other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// How many files, by the name of their node.
    pub nodes: BTreeMap<String, usize>,
    /// The folder of them.
    pub scratch: PathBuf,
}

impl Elsewhere {
    pub(crate) fn files(&self) -> usize {
        self.nodes.values().sum()
    }
}

/// Brings those parts to the folder of a recording that are on this node, where all processes have ended. Says how many files came, and what
/// is elsewhere; none if the recording is complete already. It may be interrupted, and be called on several nodes at a time.
pub fn gather(folder: &Path) -> Result<Option<(usize, Option<Elsewhere>)>, RecordError> {
    if folder.join(PARTS).is_dir() {
        return bring(folder, &logs::ended(folder, Duration::ZERO)?).map(Some);
    }
    if is_published(folder)? { Ok(None) } else { Err(RecordError::NoRecording { folder: folder.to_owned() }) }
}

/// The same, by logs of processes that have ended.
pub(crate) fn bring(folder: &Path, logs: &Logs) -> Result<(usize, Option<Elsewhere>), RecordError> {
    let parts = folder.join(PARTS);
    let entries = fs::read_dir(&parts).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(RecordError::file(&parts))?;
    let hosts: FxHashMap<_, _> =
        logs.all.iter().filter_map(|(path, log)| Some((path.file_stem()?, log.host.as_str()))).collect();
    let (mut came, mut elsewhere) = (0, Elsewhere::default());
    let links = entries.iter().filter(|entry| entry.file_type().is_ok_and(|it| it.is_symlink()));
    for path in links.map(fs::DirEntry::path) {
        let there = fs::read_link(&path).map_err(RecordError::file(&path))?;
        let scratch = there.parent().unwrap_or(Path::new(""));
        if there.is_file() {
            // Interrupted, the link still leads to it, or it is there twice.
            let moved = parts::put(&path, |new| fs::copy(&there, new).map(drop)).and_then(|()| fs::remove_file(&there));
            moved.map_err(RecordError::file(&path))?;
            came += 1;
        } else {
            // `HOST-PID-THREAD`, where the log is `HOST-PID`.
            let stem = path.file_stem().and_then(|stem| stem.to_str()?.rsplit_once('-')).map_or("", |(stem, _)| stem);
            let host = hosts.get(OsStr::new(stem)).copied().unwrap_or(stem);
            *elsewhere.nodes.entry(host.to_owned()).or_default() += 1;
            scratch.clone_into(&mut elsewhere.scratch);
        }
        // It goes with the last part in it.
        let _ = fs::remove_dir(scratch);
    }
    Ok((came, (!elsewhere.nodes.is_empty()).then_some(elsewhere)))
}

#[cfg(test)]
mod tests {
    use partune_parts::layout::VERSION;

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
        let log = format!("partune {VERSION}\nprocess 7 n-2 ff monotonic trace\n");
        fs::write(parts.join("n-2-7-again1.log"), log).expect("it can be written");
        fs::write(scratch.join("n-1-7-0.lane"), "events").expect("it can be written");
        fs::write(scratch.join("n-1-7-1.lane"), "more").expect("it can be written");
        let here = || gather(folder.path()).expect("it can be read").expect("it is not complete");
        let (came, elsewhere) = here();
        let nodes = [("n-2".to_owned(), 1)].into();
        assert_eq!((came, elsewhere), (2, Some(Elsewhere { nodes, scratch: scratch.clone() })));
        assert_eq!(fs::read(parts.join("n-1-7-0.lane")).expect("it came"), b"events");
        assert!(!parts.join("n-1-7-1.lane").is_symlink() && !scratch.exists());
        // Again, there is nothing to do; and with nothing elsewhere there is nothing to say.
        assert_eq!(here().0, 0);
        fs::remove_file(parts.join("n-2-7-again1-0.lane")).expect("it is there");
        assert_eq!(here(), (0, None));
        assert!(matches!(gather(&scratch), Err(RecordError::NoRecording { .. })));
    }
}
