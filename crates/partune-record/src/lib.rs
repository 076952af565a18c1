//! Records a program: starts it with the collectors and completes the archive after the run.
//!
//! For the command line. [`launch`] runs the command, [`complete`] turns what its processes left into an OTF2 archive; the second half can
//! be done later, on another machine that sees the folder, after any kind of end.

mod adapted;
mod archive;
mod charm;
mod choice;
mod clock;
mod command;
mod complete;
mod contexts;
mod cut;
mod deaths;
mod definitions;
mod filter;
mod handing;
mod lanes;
mod launch;
mod library;
mod living;
mod lock;
mod log;
mod logs;
mod meetings;
mod newest;
mod parts;
mod places;
mod program;
mod properties;
mod records;
mod roles;
mod scratch;
mod signals;
mod so_far;
mod space;
mod statistics;
mod unify;
mod worlds;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

pub use adapted::{Adapted, AdaptedRegion, run_adapted};
pub use charm::{Hinted, run_hinted};
pub use choice::{Kind, UnknownKind, word_of};
pub use command::{in_words, words_of};
pub use complete::{Summary, complete, complete_as_is};
pub use launch::{Launched, Mode, Request, Toggle, launch};
pub use lock::Holder;
use partune_otf2::codec::CodecError;
pub use partune_parts::layout::PARTS;
use partune_symbols::FilterError;
pub use scratch::{Elsewhere, gather};
pub use so_far::{SoFar, so_far};

/// Removes the archive of a recording, and leaves what else lies in its folder.
pub fn remove(summary: &Summary) -> Result<(), RecordError> {
    archive::remove(summary.archive.parent().unwrap_or(Path::new("")))
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("there is no command to run: write it after `--`, for example `partune record -- mpirun -n 4 ./app`")]
    NoCommand,
    #[error("{program} cannot be started: {error}{}", how_to_start(program, error))]
    Start { program: String, error: io::Error },
    #[error("{} holds something already: choose another folder with -o, or remove it", folder.display())]
    Occupied { folder: PathBuf },
    #[error(
        "{} holds a recording that is not complete: partune record --complete {}, or choose another folder with -o",
        folder.display(), folder.display()
    )]
    Incomplete { folder: PathBuf },
    #[error(
        "no folder can be found that the loader takes a library from: it must have no space or colon in its path, allow programs to be \
         run, and be writable by nobody else; choose such a folder with -o, or set TMPDIR"
    )]
    NoPlace,
    #[error("no process was recorded in {}: {}", folder.display(), why_nothing(*ended))]
    Nothing { folder: PathBuf, ended: Option<ExitStatus> },
    #[error(
        "no process was recorded in {}: {}the MPI library is linked into {} statically, so that nothing can be put in front of it: link with the shared \
         library",
        folder.display(), how_failed(*ended), program.display()
    )]
    Inside { folder: PathBuf, ended: ExitStatus, program: PathBuf },
    #[error(
        "nothing is known of the {processes} processes that were recorded in {}: they could not write what their events mean: free some \
         space, and record again",
        folder.display()
    )]
    Unwritten { folder: PathBuf, processes: usize },
    #[error("{}: the filter cannot be read: {error}\n  remedy: name a file with --filter; partune analyze ARCHIVE --write-filter FILE makes one", path.display())]
    NoFilter { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Filter { path: PathBuf, error: FilterError },
    #[error("{}: {error}", path.display())]
    FilterWord { path: PathBuf, error: UnknownKind },
    #[error("no program of the command can be read that {} could be about: name it in the command", path.display())]
    NoModule { path: PathBuf },
    #[error("there is no recording in {}", folder.display())]
    NoRecording { folder: PathBuf },
    #[error(
        "{} is in use: {holder} records into it, or completes what is in it\n  remedy: name another folder with -o. Of a parallel program one partune record records all processes, and starts the launcher itself: \
         partune record -- mpirun -n 4 PROGRAM",
        folder.display()
    )]
    Held { folder: PathBuf, holder: Holder },
    #[error(
        "process {process} of the program still runs and is recorded: when it has ended, partune record --complete {}",
        folder.display()
    )]
    Living { folder: PathBuf, process: u32 },
    #[error(
        "events are still on the disks of {}, in {}: on each of these nodes partune record --gather {}, in a job of Slurm \
         srun --ntasks-per-node=1 partune record --gather {}; where they are lost, --complete {} --as-is",
        nodes(elsewhere), elsewhere.scratch.display(), folder.display(), folder.display(), folder.display()
    )]
    Scattered { folder: PathBuf, elsewhere: Elsewhere },
    #[error(
        "the disk is full: {} are needed in {}, {} are free: free some, then partune record --complete {}",
        megabytes(*needed), folder.display(), megabytes(*free), folder.display()
    )]
    NoRoom { folder: PathBuf, needed: u64, free: u64 },
    #[error("{} was written by another version of partune ({version}): complete it with that one", path.display())]
    Version { path: PathBuf, version: String },
    #[error("{}: cannot be made: {error}\n  remedy: {}", path.display(), how_to_make(error))]
    Unmade { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{} cannot be written: {error}", path.display())]
    Codec { path: PathBuf, error: CodecError },
}

impl RecordError {
    fn file(path: &Path) -> impl Fn(io::Error) -> RecordError {
        move |error| RecordError::File { path: path.to_owned(), error }
    }

    /// The same where the recording's folder and what is in it are made.
    fn unmade(self) -> RecordError {
        match self {
            RecordError::File { path, error } => RecordError::Unmade { path, error },
            error => error,
        }
    }

    fn codec(path: &Path) -> impl Fn(CodecError) -> RecordError {
        move |error| RecordError::Codec { path: path.to_owned(), error }
    }
}

/// Some nodes by name, the others by number.
fn nodes(elsewhere: &Elsewhere) -> String {
    const NAMED: usize = 4;
    let names: Vec<&str> = elsewhere.nodes.keys().take(NAMED).map(String::as_str).collect();
    let more = elsewhere.nodes.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// What a script lacks that cannot be started.
fn how_to_start(program: &str, error: &io::Error) -> String {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOEXEC) => "a script begins with the line #!/bin/sh, or is given to what runs it: sh SCRIPT",
        Some(libc::ENOENT) if Path::new(program).is_file() => {
            "the file is there, but not what runs it: look at its first line, or, if it is no script, at readelf -l"
        }
        _ => return String::new(),
    };
    format!("\n  remedy: {remedy}")
}

/// What helps where a folder of a recording, or a file in it, cannot be made.
fn how_to_make(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "a file is in the way: choose another folder with -o, or remove it"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or choose a folder on another disk with -o"
        }
        _ => "choose a folder with -o where you may write",
    }
}

/// Why a command that ended so, or in a way that nobody knows any more, left nothing: first what is known, then what may be.
fn why_nothing(ended: Option<ExitStatus>) -> String {
    const REST: &str = "or OpenSHMEM, came to no parallel region of OpenMP and made no thread";
    const UNSEEN: &str = "linked statically, so that no library can be put in front of theirs";
    match ended {
        Some(status) if status.success() => format!("the program did not initialise MPI {REST}, or it is {UNSEEN}"),
        Some(status) => format!(
            "the command failed ({status}) before a process of it initialised MPI or OpenSHMEM, came to a parallel region of OpenMP or made a thread; if one did, its program is {UNSEEN}"
        ),
        None => format!(
            "the command failed before a process of it initialised MPI, or its program did not initialise MPI {REST}, or is {UNSEEN}"
        ),
    }
}

/// How a command ended, if not well: the first words of a reason.
fn how_failed(ended: ExitStatus) -> String {
    if ended.success() { String::new() } else { format!("the command failed ({ended}), and ") }
}

/// A number of bytes, rounded up.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}
