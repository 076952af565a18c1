//! Reads files of operations: the one that is asked for, and the one beside an archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use partune_diag::{Code, Diagnostic, Quality};
use partune_files::open_regular;
use partune_operations::{Operations, ReadError};
use partune_trace::Trace;

use crate::formats::OPERATIONS;

/// Why a file of operations cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OperationsError {
    #[error("{}: {error}\n  remedy: give a file that says what functions do; the page operations of the manual has an example", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: ReadError },
}

/// Bytes of a file that people write.
const LONGEST: u64 = 1 << 20;

/// Reads a file of operations.
pub fn read_operations(path: &Path) -> Result<Operations, OperationsError> {
    let unreadable = |error| OperationsError::Open { path: path.to_owned(), error };
    let mut text = String::new();
    let length = open_regular(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    if length.map_err(unreadable)? as u64 > LONGEST {
        return Err(unreadable(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 1 MiB")));
    }
    partune_operations::read(&text).map_err(|error| OperationsError::Read { path: path.to_owned(), error })
}

/// What lies beside the entry of an archive, if anything does.
pub(crate) fn beside(entry: &Path) -> Option<Result<Operations, OperationsError>> {
    let path = entry.with_file_name(OPERATIONS);
    crate::formats::has_operations(entry).then(|| read_operations(&path))
}

/// What holds for a trace: what is asked for, or else what lay beside the archive. If that cannot be used, the trace says so.
pub(crate) fn chosen(
    asked: &Operations,
    beside: Option<Result<Operations, OperationsError>>,
    trace: &mut Trace,
) -> Operations {
    match beside {
        Some(Ok(beside)) if asked.is_empty() => beside,
        Some(Err(error)) if asked.is_empty() => {
            let error = error.to_string();
            let (message, remedy) = error.split_once("\n  remedy: ").unwrap_or((&error, ""));
            let mut quality = Quality::default();
            quality.add(Diagnostic::error(Code::DamagedOperations, format!("not used: {message}"), remedy));
            trace.add_quality(quality);
            Operations::default()
        }
        Some(_) | None => asked.clone(),
    }
}
