//! The logs of all processes of a recording, once those have ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use partune_parts::layout::PARTS;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::log::{NoLog, ProcessLog, Thread};
use crate::{RecordError, living};

/// The logs that can be read, by the names of their files.
pub(crate) struct Logs {
    pub(crate) all: Vec<(PathBuf, ProcessLog)>,
    /// How many processes left events and no log.
    pub(crate) missing: usize,
}

/// Those in a folder. A process that still writes is waited for, not for long.
pub(crate) fn ended(folder: &Path, patience: Duration) -> Result<Logs, RecordError> {
    let parts = folder.join(PARTS);
    let begin = Instant::now();
    loop {
        let logs = read(&parts)?;
        let Some((_, log)) = logs.all.iter().find(|(path, log)| living::writes(log, path)) else { return Ok(logs) };
        if begin.elapsed() >= patience {
            return Err(RecordError::Living { folder: folder.to_owned(), process: log.pid });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn read(parts: &Path) -> Result<Logs, RecordError> {
    let entries = fs::read_dir(parts).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<PathBuf> = entries.map_err(RecordError::file(parts))?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let log = |path: &PathBuf| {
        let bytes = partune_files::read_regular(path).map_err(RecordError::file(path))?;
        let lanes = lanes_of(path, &paths);
        match ProcessLog::parse(&String::from_utf8_lossy(&bytes)) {
            Ok(mut log) => {
                // The line of a thread may be missing, since the disk was full when it was to be written.
                let known: FxHashSet<u32> = log.threads.iter().map(|thread| thread.number).collect();
                let missing = lanes.into_iter().filter(|number| !known.contains(number));
                log.threads.extend(missing.map(|number| Thread { number, name: String::new() }));
                log.threads.sort_by_key(|thread| thread.number);
                Ok((Some((path.clone(), log)), false))
            }
            Err(NoLog::Empty) => Ok((None, !lanes.is_empty())),
            Err(NoLog::Version(version)) => Err(RecordError::Version { path: path.clone(), version }),
        }
    };
    let is_log = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "log");
    let logs: Vec<_> = paths.par_iter().filter(is_log).map(log).collect::<Result<_, _>>()?;
    let missing = logs.iter().filter(|(_, is_missing)| *is_missing).count();
    Ok(Logs { all: logs.into_iter().filter_map(|(log, _)| log).collect(), missing })
}

/// The threads of a process whose lanes are there. `paths` are all parts, in order.
fn lanes_of(log: &Path, paths: &[PathBuf]) -> Vec<u32> {
    let Some(folder) = log.parent() else { return Vec::new() };
    let Some(stem) = log.file_stem().and_then(|stem| stem.to_str()) else { return Vec::new() };
    let first = folder.join(format!("{stem}-"));
    let from = paths.partition_point(|path| *path < first);
    let names = paths[from..].iter().map_while(|path| path.file_name()?.to_str()?.strip_prefix(stem));
    names.filter_map(|rest| rest.strip_prefix('-')?.strip_suffix(".lane")?.parse().ok()).collect()
}
